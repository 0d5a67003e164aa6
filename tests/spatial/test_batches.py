"""Many variants of an arm in space: each cell is what the arm alone gives, whatever varies, and bad cells say so."""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.runtime.namespace import to_host
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.search.neighbours import Neighbours
from tests.spatial.cases import bent_arm, references, standing_arm

MODES = 5
RNG = np.random.default_rng(11)
CELLS = {
    "base_stiffness.k15": RNG.uniform(-1e4, 1e4, 6),
    "link2.joint_angle": RNG.uniform(-3.0, 3.0, 6),
    "link2.joint_axis.x": RNG.normal(size=6),
    "link3.joint_frame1.angle": RNG.uniform(-1.0, 1.0, 6),
    "link3.section_roll": RNG.uniform(-1.0, 1.0, 6),
    "link1.section.depth": RNG.uniform(0.02, 0.05, 6),
    "link2.joint_spring1.stiffness": 10.0 ** RNG.uniform(6.0, 8.0, 6),
    "link2.end_offset.y": RNG.uniform(-0.1, 0.1, 6),
    "link2.hub.inertia.xy": RNG.uniform(-2e-4, 2e-4, 6),
    "link2.gear_ratio": RNG.uniform(20.0, 60.0, 6),
    "link*.density": RNG.uniform(2600.0, 2900.0, 6),
    "payload.centre.z": RNG.uniform(-0.05, 0.05, 6),
    "payload.mass": RNG.uniform(0.5, 3.0, 6),
}


@pytest.mark.parametrize("chunk_size", [None, 4])
def test_cells_are_the_arms_one_by_one(chunk_size):
    batch = to_host(
        jm.natural_frequencies_batch(standing_arm(), CELLS, MODES, chunk_size=chunk_size)
    )
    assert batch.omega.shape == (6, MODES)
    for cell in (0, 3, 5):
        values = {address: column[cell] for address, column in CELLS.items()}
        arm = jm.set_parameters(standing_arm(), values)
        single = to_host(jm.natural_frequencies(arm, MODES))
        assert single.certified.all()
        np.testing.assert_allclose(batch.omega[cell], single.omega, rtol=2e-15)
        np.testing.assert_array_equal(batch.count_below[cell], single.count_below)
        np.testing.assert_array_equal(batch.status[cell], single.status)


def test_free_hinges_and_double_frequencies_cell_by_cell():
    tube = jm.hollow_circle(0.08, 0.004, "cowper")
    link = jm.SpatialLink(0.6, 7e10, 2700.0, tube, poisson_ratio=0.33, joint_axis=(1, 0, 0))
    arm = jm.SpatialArm((link, link))
    cells = {"link2.joint_stiffness": np.array([np.inf, 0.0, 5e3])}
    batch = to_host(jm.natural_frequencies_batch(arm, cells, MODES))
    assert batch.certified.all()
    for cell, stiffness in enumerate(cells["link2.joint_stiffness"]):
        one = jm.set_parameters(arm, {"link2.joint_stiffness": stiffness})
        single = to_host(jm.natural_frequencies(one, MODES))
        np.testing.assert_allclose(batch.omega[cell], single.omega, rtol=2e-15)
        np.testing.assert_array_equal(batch.multiplicity[cell], single.multiplicity)
    assert batch.omega[1, 0] == 0.0
    np.testing.assert_array_equal(batch.multiplicity[0, :2], 2)


def test_impossible_values_spoil_their_own_cell_alone():
    cells = {
        "payload.inertia.xx": np.array([6e-3, 1.0, 6e-3, 6e-3]),  # more than the other two together
        "link1.length": np.array([0.7, 0.7, -0.7, 0.7]),
        "link2.joint_axis.x": np.array([0.2, 0.2, 0.2, np.nan]),
    }
    batch = to_host(jm.natural_frequencies_batch(bent_arm(), cells, 3))
    invalid = int(Status.invalid_input)
    np.testing.assert_array_equal(batch.status[:, 0], [0, invalid, invalid, invalid])
    assert np.isnan(batch.omega[1:]).all()
    single = to_host(jm.natural_frequencies(bent_arm(), 3))
    np.testing.assert_allclose(batch.omega[0], single.omega, rtol=2e-15)


def test_arguments_are_checked():
    with pytest.raises(jm.ArmError, match="Did you mean"):
        jm.natural_frequencies_batch(bent_arm(), {"link2.joint_angel": [0.1]}, 2)
    with pytest.raises(ValueError, match="different lengths"):
        jm.natural_frequencies_batch(
            bent_arm(), {"link2.joint_angle": [0.1], "payload.mass": [1.0, 2.0]}, 2
        )


def postures(arm, cells, seed):
    rng = np.random.default_rng(seed)
    return {f"link{k}.joint_angle": rng.uniform(-3.0, 3.0, cells) for k in arm.joints}


@pytest.mark.parametrize(
    "name",
    ["six axes", "S07", "S13", *(pytest.param(x, marks=pytest.mark.slow) for x in ("S05", "S09"))],
)
def test_what_float64_finishes_is_what_double_double_finds(name):
    """Up to 16 cells are searched in double-double alone, of which `test_reference_cases` knows that it is right."""
    if name == "six axes":
        arm, theory = jm.examples.six_axis_industrial(), "timoshenko"
    else:
        arm, theory = references()[name].arm, references()[name].theory
    cells = postures(arm, 20, 4)
    quick = to_host(jm.natural_frequencies_batch(arm, cells, MODES, theory=theory))
    widths = np.diff(quick.bracket, axis=-1)[..., 0] / quick.omega
    assert np.mean(widths > 1e-9) > 0.5  # most were finished in float64
    own = slice(4, 20)
    some = {address: column[own] for address, column in cells.items()}
    exact = to_host(jm.natural_frequencies_batch(arm, some, MODES, theory=theory))
    np.testing.assert_allclose(quick.omega[own], exact.omega, rtol=1e-12)
    for field in ("status", "count_below", "count_above"):
        np.testing.assert_array_equal(getattr(quick, field)[own], getattr(exact, field))
    assert np.all(quick.bracket[own, :, 0] < exact.omega)
    assert np.all(exact.omega < quick.bracket[own, :, 1])
    assert np.all(widths <= 2.1e-8)


def test_many_cells_with_hinges_repeated_frequencies_and_impossible_values():
    """What float64 cannot finish is found among what it can, in its place."""
    arm = bent_arm()
    cells = postures(arm, 24, 6) | {"link2.joint_stiffness": np.full(24, 9e3)}
    cells["link2.joint_stiffness"][[3, 20]] = 0.0, -1.0
    result = to_host(jm.natural_frequencies_batch(arm, cells, 3))
    assert result.omega[3, 0] == 0.0
    assert np.all(result.omega[np.arange(24) != 3][:19, 0] > 0.0)
    assert np.all(result.status[20] == Status.invalid_input)
    assert result.certified[np.arange(24) != 20].all()
    tube_arm = references()["S16"].arm
    lengths = np.linspace(0.5, 0.7, 18)
    double = to_host(jm.natural_frequencies_batch(tube_arm, {"link1.length": lengths}, 4))
    assert double.certified.all()
    np.testing.assert_array_equal(double.multiplicity[:, :2], 2)


def test_cells_start_from_those_that_are_like_them():
    angles = np.array([0.1, 3.0, -3.1, 0.2])
    known = Neighbours({"link2.joint_angle": angles, "link1.length": np.array([1.0, 1, 1, 1])})
    assert known.near(np.array([3])) is None
    known.add(np.array([0, 1]), np.array([[10.0, 20.0]]))
    # a turn is no distance: -3.1 is nearest to 3.0
    np.testing.assert_array_equal(known.near(np.array([2, 3])), [[20.0, 10.0]])
