"""Are the modal quantities of many cells those of each arm alone, and honest where frequencies coincide?"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.modes import planar_batches as modal_batches
from tests.support.problems import problems

SAME = 1e-9
"""Two paths to the same numbers; the frequencies of a batch are right to about 1e-13."""

EIGENSPACES = 1e-10
"""Of the largest logarithmic derivative of a mode: what `sensitivities` is right to."""

DOUBLE_ROOT = np.deg2rad([-155.009952919027194, -64.1983428536445678])
"""Posture of the three-link arm at which modes 2 and 3 coincide."""

ANGLES = np.array([[0.7, -0.5], DOUBLE_ROOT, [np.nan, 0.0], [-1.0, 2.0]])
ADDRESSES = ("link1.section.depth", "link*.density", "link3.tip_mass", "link2.joint_stiffness")
MODES = 3
"""As many as in the tests of sweeps, whose programs then serve."""

VALID = np.array([0, 1, 3])


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """The programs of many cells are tested; few cells have none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modal_batches, "_HOST_MODES", 0)
        yield


@pytest.fixture(scope="module")
def arm():
    return jm.examples.three_link_industrial()


@pytest.fixture(scope="module")
def cells():
    return {"link2.joint_angle": ANGLES[:, 0], "link3.joint_angle": ANGLES[:, 1]}


@pytest.fixture(scope="module")
def found(arm, cells):
    return jm.natural_frequencies_batch(arm, cells, MODES)


@pytest.fixture(scope="module")
def table(arm, cells, found):
    return jm.modal_quantities_batch(arm, cells, found, addresses=ADDRESSES)


@pytest.mark.parametrize("cell", [0, 3])
def test_simple_modes_have_the_numbers_of_the_arm_alone(arm, table, cell):
    posed = arm.with_posture(ANGLES[cell])
    alone = jm.sensitivities(posed, MODES, addresses=ADDRESSES)
    np.testing.assert_allclose(table.logarithmic[cell], alone.logarithmic, rtol=SAME, atol=1e-12)
    np.testing.assert_allclose(table.derivative[cell], alone.derivative, rtol=SAME, atol=1e-12)
    shapes = jm.mode_shapes(posed, MODES, stations=2)
    for name in ("participation", "effective_mass", "total_mass"):
        expected = np.asarray(getattr(shapes, name))
        np.testing.assert_allclose(getattr(table, name)[cell], expected, rtol=SAME, atol=1e-9)
    for field in dataclasses.fields(table.energies):
        if (
            getattr(table.energies, field.name) is None
        ):  # of an axial force, which the arm does not have
            continue
        expected = np.asarray(getattr(shapes.energies, field.name))
        own = getattr(table.energies, field.name)[cell]
        np.testing.assert_allclose(own, expected, rtol=SAME, atol=1e-9 * shapes.omega[0] ** 2)
    assert table.individual[cell].all()


def test_a_double_root_gets_means_and_a_flag(arm, table):
    posed = arm.with_posture(DOUBLE_ROOT)
    mean = jm.sensitivities(posed, MODES, addresses=ADDRESSES, repeated="mean")
    assert table.individual[1].tolist() == [True, False, False]
    np.testing.assert_allclose(table.logarithmic[1], mean.logarithmic, rtol=1e-7, atol=1e-12)
    shapes = jm.mode_shapes(posed, MODES, stations=2)
    pair = np.mean(np.asarray(shapes.effective_mass)[1:3], axis=0)
    np.testing.assert_allclose(table.effective_mass[1, 1], pair, rtol=1e-7)
    np.testing.assert_array_equal(table.effective_mass[1, 1], table.effective_mass[1, 2])


def test_few_cells_have_the_numbers_of_the_programs_and_need_none(
    arm, cells, found, table, monkeypatch
):
    """Among them a double root and a cell that is invalid; a cell alone has the same bits."""
    monkeypatch.setattr(modal_batches, "_HOST_MODES", found.omega.size)
    monkeypatch.setattr(modal_batches, "block", lambda *_, **__: pytest.fail("a program"))
    few = jm.modal_quantities_batch(arm, cells, found, addresses=ADDRESSES)
    one = {address: values[3:] for address, values in cells.items()}
    last = jax.tree_util.tree_map(lambda x: np.asarray(x)[3:], found)
    alone = jm.modal_quantities_batch(arm, one, last, addresses=ADDRESSES)
    for name in ("derivative", "logarithmic", "effective_mass", "total_mass"):
        ours, theirs = np.asarray(getattr(few, name)), np.asarray(getattr(table, name))
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9, err_msg=name)
        np.testing.assert_array_equal(ours[3], getattr(alone, name)[0], err_msg=name)
    scale = 0.5 * np.asarray(found.omega)[..., None] ** 2  # the energy of a mode
    for name in ("bending", "shear", "axial", "translation", "rotation", "body_translation"):
        ours, theirs = (np.asarray(getattr(x.energies, name)) for x in (few, table))
        np.testing.assert_allclose(ours / scale, theirs / scale, rtol=0.0, atol=1e-8)
    # a mode of a pair has no participation of its own
    simple = np.asarray(table.individual) & (np.arange(4) != 2)[:, None]
    ours, theirs = (np.asarray(x.participation)[simple] for x in (few, table))
    np.testing.assert_allclose(ours, theirs, rtol=SAME, atol=1e-9)


@pytest.fixture
def not_compiled(monkeypatch):
    """Blocks of zeros with the shapes and types of the program, which is traced and not compiled."""

    def traced(*values, **static):
        shapes = jax.eval_shape(functools.partial(real_block, **static), *values)
        return jax.tree_util.tree_map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)

    real_block = modal_batches.block
    monkeypatch.setattr(modal_batches, "block", traced)


def test_a_pair_cut_by_the_end_of_the_list_is_marked_and_has_the_mean_of_both(arm, monkeypatch):
    """The count knows the second member; the mean over both is the same as with both in the list. In NumPy."""
    monkeypatch.setattr(modal_batches, "_HOST_MODES", 128)
    cells = {"link2.joint_angle": DOUBLE_ROOT[:1], "link3.joint_angle": DOUBLE_ROOT[1:]}
    cut, whole = (
        jm.modal_quantities_batch(
            arm, cells, jm.natural_frequencies_batch(arm, cells, number), addresses=ADDRESSES
        )
        for number in (2, MODES)
    )
    assert cut.individual[0].tolist() == [True, False]
    np.testing.assert_allclose(
        cut.logarithmic[0, 1], whole.logarithmic[0, 1], rtol=1e-7, atol=1e-12
    )


def test_modes_of_frequency_zero_beside_others_need_no_program(arm, monkeypatch):
    """They have no shape of their own; the others are those of the arm alone."""
    monkeypatch.setattr(modal_batches, "_HOST_MODES", 128)
    monkeypatch.setattr(modal_batches, "block", lambda *_, **__: pytest.fail("a program"))
    loose = jm.set_parameters(arm, {"link2.joint_stiffness": 0.0})
    cells = {"link3.joint_angle": ANGLES[[0, 3], 1]}
    found = jm.natural_frequencies_batch(loose, cells, MODES)
    assert found.omega[:, 0].tolist() == [0.0, 0.0]
    few = jm.modal_quantities_batch(loose, cells, found, addresses=ADDRESSES)
    for name in ("derivative", "effective_mass", "participation"):
        assert np.isnan(getattr(few, name)[:, 0]).all(), name
    posed = jm.set_parameters(loose, {"link3.joint_angle": ANGLES[3, 1]})
    alone = jm.sensitivities(posed, MODES, addresses=ADDRESSES)
    np.testing.assert_allclose(few.derivative[1, 1:], alone.derivative[1:], rtol=SAME, atol=1e-12)


def test_an_uncertified_group_with_more_members_than_counts_is_no_error(
    arm, cells, found, table, monkeypatch
):
    """The member without a mode of its own has what the group has."""
    monkeypatch.setattr(modal_batches, "_HOST_MODES", found.omega.size)
    group, status = (np.array(x) for x in (found.group, found.status))
    group[0], status[0] = [0, 0, 2], [jm.Status.uncertified, jm.Status.uncertified, 0]
    doubtful = dataclasses.replace(found, group=group, status=status)
    few = jm.modal_quantities_batch(arm, cells, doubtful)
    for name in ("effective_mass", "participation"):
        ours, theirs = (np.asarray(getattr(x, name))[0] for x in (few, table))
        np.testing.assert_allclose(ours, theirs[[0, 0, 2]], rtol=1e-7, err_msg=name)
    assert few.status[0, :2].tolist() == [jm.Status.uncertified] * 2


def test_invalid_cells_are_nan(table, found):
    assert np.all(np.isnan(found.omega[2]))
    assert np.all(np.isnan(table.logarithmic[2]))
    assert np.all(np.isnan(table.energies.bending[2]))
    assert np.all(table.status[2] == jm.Status.no_value)
    assert "no_value (at 2, 0" in table.explain()
    assert np.all(np.isfinite(table.logarithmic[VALID]))


def test_rigid_joints_and_laws_of_dimension(table):
    """The joint is rigid: its stiffness does not matter. Bodies and densities add up to -1/2."""
    assert np.all(table.logarithmic[VALID, :, 3] == 0.0)
    assert np.all(table.logarithmic[VALID, :, 1] < 0.0)
    assert np.all(table.logarithmic[VALID, :, 1:3].sum(axis=-1) > -0.5)


def test_energies_balance(table, found):
    strain, kinetic = table.energies.strain, table.energies.kinetic
    np.testing.assert_allclose(strain[VALID], kinetic[VALID], rtol=1e-9)
    np.testing.assert_allclose(kinetic[VALID], np.asarray(found.omega)[VALID] ** 2 / 2, rtol=1e-9)


def test_no_addresses_are_allowed(arm, cells, found, not_compiled):
    none = jm.modal_quantities_batch(arm, cells, found)
    assert none.logarithmic.shape == (4, MODES, 0)


def test_wrong_uses_are_refused(arm, cells, found):
    with pytest.raises(jm.ArmError, match=r"link1\.length"):
        jm.modal_quantities_batch(arm, cells, found, addresses=["link1.lenght"])
    with pytest.raises(ValueError, match=r"omega has shape \(4, 3\).*joint_angle: \(2,\)"):
        jm.modal_quantities_batch(arm, {"link2.joint_angle": jnp.ones(2)}, found)
    swapped = dict(zip(cells, reversed(cells.values()), strict=True))
    with pytest.raises(jm.ArmError, match=r"cell 3 are not of this arm.*natural_frequencies_batch"):
        jm.modal_quantities_batch(arm, swapped, found)
    with pytest.raises(ValueError, match="cluster_tolerance = 1"):
        jm.modal_quantities_batch(arm, cells, found, cluster_tolerance=1.0)


def test_null_vectors_that_do_not_converge_are_replaced(arm, cells, found, table, monkeypatch):
    monkeypatch.setattr(modal_batches, "_CONVERGED", -1.0)  # none does
    again = jm.modal_quantities_batch(arm, cells, found, addresses=ADDRESSES)
    for name in ("logarithmic", "effective_mass", "participation"):
        one, other = getattr(again, name)[VALID], getattr(table, name)[VALID]
        np.testing.assert_allclose(one, other, rtol=SAME, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["P18", "P24", "P31", "P32", "P33", "P37"])
def test_reference_arms_have_the_derivatives_of_their_eigenspaces(name):
    """Those that are hardest for the elimination (it fails on P37), and one with repeated frequencies.

    The derivatives of `sensitivities` are tested against 40 digits."""
    problem = problems()[name]
    number = min(problem.num_modes, 8)
    alone = jm.sensitivities(problem.arm, number, theory=problem.model, repeated="mean")
    found = jm.natural_frequencies(problem.arm, number, theory=problem.model)
    one = jax.tree_util.tree_map(lambda x: x[None], found)
    length = {"link1.length": np.array([float(problem.arm.links[0].length)])}
    table = jm.modal_quantities_batch(problem.arm, length, one, addresses=alone.addresses)
    single = np.asarray(table.individual[0]) & (np.asarray(found.omega) > 0.0)
    own, expected = np.asarray(table.logarithmic[0])[single], np.asarray(alone.logarithmic)[single]
    assert single.any()
    largest = np.max(np.abs(expected), axis=1, keepdims=True)
    assert np.max(np.abs(own - expected) / largest) <= EIGENSPACES


def test_no_cell_depends_on_the_others():
    """What a cell's value does not change may have no derivative, which another cell, or an invalid one, must not ask
    for; and the digits are those of the cell alone.
    """
    cells, modes, fields, links = 3, 2, 5, 4
    rng = np.random.default_rng(7)
    gradient = rng.standard_normal((cells, modes, fields, links))
    rate = rng.standard_normal((fields, links, cells))
    gradient[0, :, 2, 1], rate[2, 1, 0] = (
        np.nan,
        0.0,
    )  # cell 0 has no derivative there and needs none
    rate[..., 2] = np.nan  # as of a cell whose values are not allowed
    every = np.ones((cells, modes))

    def derivative(chosen):
        own, one = modal_batches._derivative(gradient[chosen], rate[..., chosen]), every[chosen]
        known = {
            "derivative": {"link1.length": own},
            "value": {"link1.length": np.ones(len(chosen))},
            "invalid": np.isnan(rate[0, 0, chosen]),
            "energies": {},
        }
        rest = set(modal_batches.CellFields._fields) - set(known)
        found = modal_batches.CellFields(**known, **dict.fromkeys(rest, one))
        first = np.tile(np.arange(modes), (len(chosen), 1))
        return found.quantities(first, [["link1.length"]])["derivative"]

    together = derivative([0, 1, 2])
    expected = np.einsum(
        "kp,p->k", np.nan_to_num(gradient[0]).reshape(modes, -1), rate[..., 0].ravel()
    )
    np.testing.assert_allclose(together[0, :, 0], expected, rtol=1e-13)
    assert np.isnan(together[2]).all()
    for cell in (0, 1):
        np.testing.assert_array_equal(derivative([cell])[0], together[cell])
