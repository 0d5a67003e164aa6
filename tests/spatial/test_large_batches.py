"""Large batches of arms in space by a compiled program: what NumPy finds, and one program for all arms of a shape."""

import dataclasses

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.batches.in_space import PlanInSpace
from jaxmodal.batches.many_arms import columns_of, plan_of
from jaxmodal.batches.spatial_search import next_guess
from jaxmodal.frequencies.brackets import Enclosure
from jaxmodal.runtime.namespace import to_host
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.stiffness.condensation import evaluate_lanes
from jaxmodal.spatial.stiffness.uniform_links import layout_of, packed_links
from tests.spatial.cases import bar, bent_arm, references, standing_arm, tube
from tests.support.compiled_programs import names_of_programs

MODES = 3


FEW = ("S07", "S13", "standing", "canadarm")


@pytest.mark.parametrize(
    "name",
    [*FEW, *(pytest.param(x, marks=pytest.mark.slow) for x in references() if x not in FEW)],
)
def test_uniform_links_are_the_arm(name):
    """Determinant and count of links of one kind, in some ways to round, beside those of each link in double-double."""
    if name in references():
        model = references()[name].arm.model(references()[name].theory)
    else:
        arm = standing_arm() if name == "standing" else jm.examples.canadarm2_like()
        model = arm.model("timoshenko")
    layout = layout_of(model.constants().links)
    packed = packed_links(*model.constants(), layout, 1, 1)
    omega = np.geomspace(0.1 * model.scale, 50.0 * model.scale, 61)[:, None]
    with np.errstate(all="ignore"):
        exact = model.evaluate_cells(omega, Arithmetic.double_double)
    for rounding in ((0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0)):
        with np.errstate(all="ignore"):
            found = evaluate_lanes(packed, layout, model.flags, omega, rounding)
        np.testing.assert_array_equal(found.count, exact.count)
        np.testing.assert_array_equal(found.sign, exact.sign)
        # near resonances of links alone float64 loses digits
        np.testing.assert_allclose(found.log_abs, exact.log_abs, rtol=0.0, atol=1e-6)
        moved = 1.0 + 4.0 * np.abs(rounding).sum()  # by so many roundings
        assert np.median(np.abs(found.log_abs - exact.log_abs)) < 1e-13 * moved


def cells_of(arm, cells, seed):
    rng = np.random.default_rng(seed)
    angles = {f"link{k}.joint_angle": rng.uniform(-2.5, 2.5, cells) for k in arm.joints}
    return angles | {"payload.mass": rng.uniform(0.5, 3.0, cells)}


def assert_alike(found, exact):
    np.testing.assert_allclose(found.omega, exact.omega, rtol=1e-12)
    for field in ("status", "count_below", "count_above", "multiplicity"):
        np.testing.assert_array_equal(getattr(found, field), getattr(exact, field))
    inside = exact.status == int(Status.certified)
    inside &= exact.omega > 0.0
    assert np.all((found.bracket[..., 0] < exact.omega)[inside])
    assert np.all((exact.omega < found.bracket[..., 1])[inside])


@pytest.fixture
def programs():
    """Names of what is compiled, or found in the cache on disk."""
    with names_of_programs() as names:
        yield names


def test_the_program_finds_what_numpy_finds_and_serves_every_arm(programs):
    """Springs, a rigid one, a rotor, offsets, bodies, a roll; then another arm, other addresses: no new program."""
    arm = bent_arm()
    cells = cells_of(arm, 40, 3) | {"link2.joint_stiffness": np.full(40, 9e3)}
    cells |= {f"link{k}.length": np.linspace(0.5, 0.6, 40) for k in (1, 2, 3)}
    cells["link2.joint_stiffness"][[3, 20, 31]] = 0.0, -1.0, np.inf
    found = to_host(jm.natural_frequencies_batch(arm, cells, MODES, chunk_size=8))
    widths = np.diff(found.bracket[4:20], axis=-1)[..., 0] / found.omega[4:20]
    assert np.median(widths) > 1e-9  # float64 finished most
    assert_alike(found, to_host(jm.natural_frequencies_batch(arm, cells, MODES)))
    assert found.omega[3, 0] == 0.0
    assert np.all(found.status[20] == Status.invalid_input)
    programs.clear()
    other = jm.set_parameters(arm, {"link*.length": 0.5, "link2.hub.mass": 0.9})
    lengths = {"link3.length": np.linspace(0.3, 0.6, 33)}
    found = to_host(jm.natural_frequencies_batch(other, lengths, MODES, chunk_size=8))
    assert_alike(found, to_host(jm.natural_frequencies_batch(other, lengths, MODES)))
    assert np.all(found.evaluations == 7 * MODES)  # the guess, made in the program, was near
    # cells none of which an arm may have, as a shard of a sweep may hold them
    addresses, values = columns_of(other, lengths)
    plan = plan_of(other, addresses, MODES, "timoshenko", values, 33, 8)
    assert isinstance(plan, PlanInSpace)
    assert plan.pilots is not None
    assert np.all(np.asarray(plan.solve(-values).status) == Status.invalid_input)
    assert not programs


def test_brackets_of_several_modes_are_cut_and_those_of_others_help():
    one = np.ones((3, 1))
    values = {
        "lower": [[1.0], [4.0], [4.0]],
        "upper": [[2.0], [16.0], [16.0]],
        "lower_count": [[0.0], [1.0], [1.0]],
        "upper_count": [[1.0], [3.0], [3.0]],
        "omega": [[1.5], [5.0], [5.0]],
    }
    rest = {f.name: one.copy() for f in dataclasses.fields(Enclosure) if f.name not in values}
    e = Enclosure(**{name: np.array(x) for name, x in values.items()}, **rest)
    rough = np.array([[1.0], [2.0], [3.0], [3.5], [40.0]])
    found = next_guess(e, rough)[:, 0]
    np.testing.assert_allclose(found[:3], [1.5, 4.0 * 4.0**0.25, 4.0 * 4.0**0.75])
    assert np.all(np.diff(found) > 0.0)
    # an end of mode 3 that has counted two modes closes mode 2 from above
    e.lower[2], e.lower_count[2] = 8.0, 2.0
    np.testing.assert_allclose(next_guess(e, rough)[:3, 0], [1.5, 5.0, 8.0 * 2.0**0.5])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["standing", "six axes", "two bars", "S16"])
def test_pilots_in_two_steps_and_close_modes(name):
    """More cells than pilots, every seventh beside NumPy; of round tubes pairs are double, and left to NumPy."""
    arms = {
        "standing": standing_arm,
        "six axes": jm.examples.six_axis_industrial,
        "two bars": lambda: jm.SpatialArm((bar(), tube(joint_axis=(0, 1, 0), joint_stiffness=9e3))),
        "S16": lambda: references()["S16"].arm,
    }
    arm, cells = arms[name](), 700 if name != "S16" else 24
    given = cells_of(arm, cells, 8)
    found = to_host(jm.natural_frequencies_batch(arm, given, MODES, kernel="portable"))
    assert found.certified.all()
    some = {address: column[::7] for address, column in given.items()}
    exact = to_host(jm.natural_frequencies_batch(arm, some, MODES))
    assert_alike(jax.tree_util.tree_map(lambda x: x[::7], found), exact)
