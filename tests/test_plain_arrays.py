"""Do masks and labels of arrays count, or are refused, wherever values are given?

Under a mask stands a number that is none, and NumPy drops masks in silence; columns of pandas and xarray belong
together by their labels.
"""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import design_opt
import jaxmodal as jm
import sweeps
from jaxmodal import dynamics

ARM = jm.examples.three_link_industrial()
DAMPED = jm.Arm(tuple(link.replace(loss_factor=0.01) for link in ARM.links), ARM.payload)
IN_SPACE = jm.examples.six_axis_industrial()
TWO = jm.examples.two_link_flexible()
FLEXIBLE = dynamics.flexible_arm(TWO, 1)
PORTS = "tip.across", "tip.across"
INVALID = int(jm.Status.invalid_input)

ANGLES, OTHERS = np.array([0.1, 0.2, 0.3]), np.array([0.6, 0.5, 0.4])


def first(arm, *angles) -> float:
    return float(jm.natural_frequencies(arm.with_posture(list(angles)), 1).omega[0])


# ---- masks


@pytest.mark.parametrize("kind", [np.float64, np.int64], ids=["floats", "whole numbers"])
def test_masked_cells_of_a_batch_are_invalid(kind):
    angles = np.ma.array([1, 2, 0], dtype=kind, mask=[False, True, False])
    found = jm.natural_frequencies_batch(ARM, {"theta_2": angles, "theta_3": OTHERS}, 1)
    assert found.status[:, 0].tolist() == [0, INVALID, 0]
    assert np.isnan(found.omega[1, 0])
    assert float(found.omega[0, 0]) == pytest.approx(first(ARM, 1.0, 0.6), rel=1e-12)
    assert float(found.omega[2, 0]) == pytest.approx(first(ARM, 0.0, 0.4), rel=1e-12)


def test_masked_cells_in_space_and_in_long_series_are_invalid():
    angles = np.ma.array(ANGLES, mask=[False, True, False])
    for arm, column in ((IN_SPACE, angles), (TWO, np.ma.concatenate([angles] * 50_000))):
        found = jm.natural_frequencies_batch(arm, {"theta_2": column}, 1)
        masked = np.ma.getmaskarray(column)
        status = np.asarray(found.status)[:, 0]
        assert np.all(status[masked] == INVALID)
        assert np.all(status[~masked] == 0)
        assert np.array_equal(np.isnan(np.asarray(found.omega)[:, 0]), masked)


def test_masked_cells_of_responses_and_of_damped_and_modal_quantities_are_invalid():
    cells = {"theta_2": np.ma.array(ANGLES, mask=[False, True, False])}
    where = [False, True, False]
    response = jm.frequency_response(DAMPED, [1.0], *PORTS, parameters=cells)
    assert np.isnan(np.asarray(response.values).ravel()).tolist() == where
    damped = jm.damped_modes_batch(DAMPED, cells, 1)
    assert np.isnan(np.asarray(damped.damping_ratio)[:, 0]).tolist() == where
    frequencies = jm.natural_frequencies_batch(ARM, {"theta_2": ANGLES}, 1)
    modal = jm.modal_quantities_batch(ARM, cells, frequencies, addresses=["payload.mass"])
    assert np.isnan(np.asarray(modal.derivative)[:, 0, 0]).tolist() == where


def test_masked_values_of_an_arm_are_no_numbers():
    arm = jm.set_parameters(ARM, {"theta_2": np.ma.array(ANGLES, mask=[True, False, False])})
    angle = arm.links[1].joint_angle
    assert not isinstance(angle, np.ma.MaskedArray)
    assert np.isnan(angle).tolist() == [True, False, False]
    with pytest.raises(jm.ArmError, match=r"link2\.joint_angle = nan"):
        jm.set_parameters(ARM, {"theta_2": np.ma.masked})


MASKED = np.ma.array([0.1, 0.2], mask=[True, False])
REFUSED_MASKS = {
    "a posture": lambda x: ARM.with_posture(x),
    "a posture in degrees": lambda x: ARM.with_posture_deg(x),
    "a posture in space": lambda x: IN_SPACE.with_posture(np.ma.concatenate([x, x, x])),
    "frequencies of a response": lambda x: jm.frequency_response(DAMPED, x, *PORTS),
    "frequencies of harmonic forces": lambda x: jm.harmonic_response(DAMPED, x, {PORTS[0]: 1.0}, PORTS[1]).values,
    "counted frequencies": lambda x: jm.count_below(ARM, x),
    "certified frequencies": lambda x: jm.certify(ARM, x),
    "a grid": lambda x: jm.determinant_scan(ARM, x),
    "a signal": lambda x: jm.time_response(DAMPED, x, 1e-3, *PORTS),
    "a spectrum": lambda x: jm.random_response(DAMPED, ([1.0, 9.0], x), 2.0, 9.0, *PORTS),
    "stations": lambda x: jm.mode_shapes(ARM, 1, stations=x),
    "gravity": lambda x: jm.static_equilibrium(ARM, gravity=x),
    "damping ratios": lambda x: jm.modal_superposition(ARM, *PORTS, 2, damping_ratio=x),
    "an elastic base": lambda x: ARM.replace(base_stiffness=np.ma.concatenate([x, x[1:]])),
    "an axis": lambda x: sweeps.axis("theta_2", x),
    "a posture set": lambda x: design_opt.Problem(
        ARM,
        [design_opt.Variable("payload.mass", 1.0, 2.0)],
        design_opt.MaximiseFrequency(1, postures="few"),
        postures={"few": [x]},
    ),
    "a state": lambda x: dynamics.static_state(FLEXIBLE, x),
    "damping of links": lambda x: dynamics.flexible_arm(TWO, 1, kelvin_voigt_time=x),
    "torques": lambda x: dynamics.forward_dynamics(FLEXIBLE, [0.0] * 4, [0.0] * 4, x),
}  # fmt: skip


@pytest.mark.parametrize("where", REFUSED_MASKS)
def test_masked_values_are_refused_where_all_must_be_numbers(where):
    with pytest.raises(ValueError, match=r"finite|nan|0 to 1|ascending|at least 0"):
        REFUSED_MASKS[where](MASKED)


def test_masked_entries_of_lists_are_no_numbers():
    with pytest.raises(jm.ArmError, match=r"link2\.joint_angle = nan"):
        ARM.with_posture(list(MASKED))
    with pytest.raises(ValueError, match="not finite"):
        jm.postures_at(ARM, [30.0, 30.0], 3, [MASKED, MASKED])


def test_a_mask_that_hides_nothing_changes_nothing():
    posed = ARM.with_posture(np.ma.array([0.1, 0.2]))
    assert [float(link.joint_angle) for link in posed.links] == [0.0, 0.1, 0.2]


# ---- labels

BACKWARDS = [2, 1, 0]
LABELLED = {
    "pandas": lambda values: pd.Series(values, index=BACKWARDS[: len(values)]),
    "xarray": lambda values: xr.DataArray(values, {"cell": BACKWARDS[: len(values)]}),
}


@pytest.mark.parametrize("kind", LABELLED)
def test_columns_with_one_order_of_labels_belong_together(kind):
    make = LABELLED[kind]
    cells = {"theta_2": make(ANGLES), "theta_3": make(OTHERS)}
    found = jm.natural_frequencies_batch(ARM, cells, 1)
    for k, angles in enumerate(zip(ANGLES, OTHERS, strict=True)):
        assert float(found.omega[k, 0]) == pytest.approx(first(ARM, *angles), rel=1e-12)


CELLS = {
    "a batch": lambda x: jm.natural_frequencies_batch(ARM, x, 1),
    "a batch in space": lambda x: jm.natural_frequencies_batch(IN_SPACE, x, 1),
    "responses": lambda x: jm.frequency_response(DAMPED, [1.0], *PORTS, parameters=x),
    "damped modes": lambda x: jm.damped_modes_batch(DAMPED, x, 1),
    "modal quantities": lambda x: jm.modal_quantities_batch(
        ARM, x, jm.natural_frequencies_batch(ARM, {"theta_2": ANGLES}, 1)
    ),
}
OTHER_LABELS = {
    "another order": lambda kind, values: LABELLED[kind](values)[::-1],
    "positions": lambda _, values: values,
    "a list": lambda _, values: list(values),
}


@pytest.mark.parametrize("kind", LABELLED)
@pytest.mark.parametrize("other", OTHER_LABELS)
@pytest.mark.parametrize("where", CELLS)
def test_columns_with_other_labels_are_refused(where, other, kind):
    cells = {"theta_2": LABELLED[kind](ANGLES), "theta_3": OTHER_LABELS[other](kind, OTHERS)}
    for names in (("theta_2", "theta_3"), ("theta_3", "theta_2")):
        with pytest.raises(jm.ArmError, match="its labels") as error:
            CELLS[where]({name: cells[name] for name in names})
        assert all(f"parameters['{name}']" in str(error.value) for name in names)
        assert ".to_numpy()" in str(error.value)


def test_dimensions_of_xarray_are_labels():
    one, other = (xr.DataArray(x, dims=name) for x, name in ((ANGLES, "a"), (OTHERS, "b")))
    with pytest.raises(jm.ArmError, match="its labels"):
        jm.natural_frequencies_batch(ARM, {"theta_2": one, "theta_3": other}, 1)


def test_labels_that_count_positions_go_with_plain_arrays():
    plain = jm.natural_frequencies_batch(ARM, {"theta_2": ANGLES, "theta_3": OTHERS}, 1)
    for column in (pd.Series(OTHERS), xr.DataArray(OTHERS, dims="cell"), pd.Index(OTHERS)):
        found = jm.natural_frequencies_batch(ARM, {"theta_2": ANGLES, "theta_3": column}, 1)
        assert np.array_equal(found.omega, plain.omega)


def test_what_pandas_has_as_missing_is_an_invalid_cell():
    column = pd.Series([0.1, None, 0.3], dtype="Float64")
    found = jm.natural_frequencies_batch(ARM, {"theta_2": column}, 1)
    assert found.status[:, 0].tolist() == [0, INVALID, 0]


#: whose annotations, which are checked here at every call, have no arrays with labels; and those of three angles
TYPED = ("counted frequencies", "certified frequencies", "a grid", "stations", "a posture in space")


@pytest.mark.parametrize("kind", LABELLED)
@pytest.mark.parametrize("where", [name for name in REFUSED_MASKS if name not in TYPED])
def test_labels_are_refused_where_no_others_are_beside_them(where, kind):
    values = LABELLED[kind](np.array([0.1, 0.2]))
    if where == "an elastic base":
        values = LABELLED[kind](np.array([1e5, 1e5, 1e4]))
        with pytest.raises(ValueError, match=r"labels .* with \.to_numpy\(\)"):
            ARM.replace(base_stiffness=values)
        return
    with pytest.raises(ValueError, match=r"labels .* with \.to_numpy\(\)"):
        REFUSED_MASKS[where](values)


def test_a_frame_of_postures_is_refused():
    frame = pd.DataFrame({"theta_3": OTHERS, "theta_2": ANGLES})
    with pytest.raises(ValueError, match=r"DataFrame of pandas, whose labels"):
        jm.postures_at(ARM, [30.0] * 3, 2, frame)


def test_a_value_with_labels_is_none_of_an_arm():
    with pytest.raises(jm.ArmError, match=r"link2\.joint_angle: is a Series of pandas"):
        jm.set_parameters(ARM, {"theta_2": pd.Series(ANGLES)})


def test_a_table_is_shown_in_a_few_words():
    with pytest.raises(jm.ArmError, match=r"tip = <Series of pandas \[3\]>: must be three numbers"):
        jm.arm_from_joint_origins([jm.JointOrigin()], [{}], tip=pd.Series([0.1, 0.2, 0.3]))
