"""Can every program of a batch be lowered for a GPU, in float64 throughout and without the host in it?"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.columns import columns_of, unpacked
from jaxmodal.batches import kernels as batch_kernels
from jaxmodal.batches import pilots, resident
from jaxmodal.batches import resident_passes as passes
from jaxmodal.batches.fused_search import Kernel
from jaxmodal.batches.guided_search import Enclosure, Purpose
from jaxmodal.dynamic_stiffness.beams import prepared_values
from jaxmodal.postures import harmonics as posture_harmonics
from jaxmodal.postures import series_roots, series_search
from jaxmodal.postures.expansions import PlanarCounter
from jaxmodal.postures.polynomial_values import VaryingBeams
from jaxmodal.postures.terms import IN_THE_PLANE
from tests.batches.test_many_arms import random_cells

CELLS, MODES = 32, 4
THREE = jm.examples.three_link_industrial()


def lowered_for_cuda(program, *arguments, **options):
    """StableHLO of a program for CUDA, without a GPU."""
    leaves, structure = jax.tree_util.tree_flatten(arguments)

    @jax.jit
    def run(*leaves):
        return jax.tree_util.tree_leaves(
            program(*jax.tree_util.tree_unflatten(structure, leaves), **options)
        )

    return run.trace(*leaves).lower(lowering_platforms=("cuda",)).as_text()


def problem_and_columns():
    _, flags = prepared_values(THREE, "timoshenko")
    cells = random_cells(CELLS)
    addresses, values = tuple(cells), np.stack(list(cells.values()))
    features = pilots.Scaling.of(values, addresses).features(values)
    # a guess from the cells themselves, whatever their frequencies
    omega = np.linspace(10.0, 90.0, MODES + batch_kernels.EXTRA)[:, None] * np.ones(CELLS)
    return (
        batch_kernels.BatchProblem(flags, MODES),
        columns_of(THREE, addresses, values).packed,
        features,
        pilots.Centres.of(values, addresses).pilots(omega, CELLS).guess,
    )


def batch_program(name):
    problem, packed, features, guess = problem_and_columns()
    rows = jnp.ones((MODES + batch_kernels.EXTRA, CELLS))
    one = jnp.ones(CELLS)
    beams = jax.tree.map(lambda x: x[:, None], unpacked(packed))
    used = jnp.int64(1)
    names = [field.name for field in dataclasses.fields(Enclosure)]
    e = Enclosure(**{name: one > 0.0 if name == "consistent" else one for name in names})
    lanes = packed, e, one, rows[:MODES], rows
    arguments = {
        "searched": (problem, (packed, features), used, guess),
        "grid_guess": (problem, packed),
        "enclosed": (problem, beams, rows),
        "improved": (problem, lanes, used, jnp.int64(Purpose.halve)),
        "extended": (problem, (packed, one), used),
    }[name]
    program = getattr(batch_kernels, name)
    if name in ("improved", "extended"):
        program = functools.partial(program, blocks=2)
    if name == "searched":
        program = functools.partial(program, kernel=Kernel(False, False), blocks=2)
    return program, arguments


def assert_suits_a_gpu(text, singles=0):
    """Only so many arrays are single, made of double numbers: the residual that results hold, and first signs."""
    assert "f64" in text
    if singles:
        single = [
            line for line in text.splitlines() if "f64>) -> tensor<" in line and "f32>" in line
        ]
        assert len(single) == singles
        assert all("stablehlo.convert" in line for line in single)
    else:
        assert "f32" not in text, "something is computed in single precision"
    assert "callback" not in text, "the host is asked in the middle of a program"
    assert "custom_call" not in text, "a library call that another platform may lack"


@pytest.mark.parametrize("name", ["searched", "grid_guess", "enclosed", "improved", "extended"])
def test_programs_of_the_general_path(name):
    program, arguments = batch_program(name)
    assert_suits_a_gpu(lowered_for_cuda(program, *arguments))


def nothing_like(program):
    """Zeros of the structure of what a program gives, which is not run."""
    structures = []

    def leaves():
        found, structure = jax.tree_util.tree_flatten(program())
        structures.append(structure)
        return found

    zeros = [np.zeros(x.shape, x.dtype) for x in jax.eval_shape(leaves)]
    return jax.tree_util.tree_unflatten(structures[0], zeros)


def test_the_passes_that_stay_on_the_device():
    """Those in float64 and in double-double; of the last, which goes on until all is settled, see the slow one."""
    problem, packed, features, guess = problem_and_columns()
    begin = functools.partial(
        passes.begun, problem, packed, np.ones(CELLS, bool), features, guess,
        kernel=Kernel(False, False),
    )  # fmt: skip
    assert_suits_a_gpu(lowered_for_cuda(begin))
    between = nothing_like(begin)
    for later in passes.later_passes(passes.Lanes())[-3:-1]:
        assert_suits_a_gpu(lowered_for_cuda(later, problem, between))
    assert_suits_a_gpu(lowered_for_cuda(passes.finished, between), singles=1)


@pytest.mark.slow
def test_the_pass_until_all_is_settled():
    problem, packed, features, guess = problem_and_columns()
    given = problem, packed, np.ones(CELLS, bool), features, guess
    between = nothing_like(functools.partial(passes.begun, *given, kernel=Kernel(False, False)))
    assert_suits_a_gpu(lowered_for_cuda(passes.later_passes(passes.Lanes())[-1], problem, between))


def test_columns_are_made_on_the_device():
    cells = random_cells(CELLS)
    values, count = np.stack(list(cells.values())), len(cells)
    flags = {"angular": (True, True, False), "logarithmic": (False,) * count}
    program = functools.partial(resident.prepared, addresses=tuple(cells), **flags)
    own = np.zeros(count), np.ones(count)
    assert_suits_a_gpu(lowered_for_cuda(program, THREE, values, *own))


@pytest.mark.parametrize(("safe", "singles"), [(True, 1), (False, 3)])
def test_the_posture_series_is_float64_matrix_products(safe, singles):
    series = jm.posture_series(THREE, 200.0)
    panels = series_roots.panels_of(series)
    postures = jnp.zeros((2, CELLS))
    text = lowered_for_cuda(
        *(series_roots.roots_of, postures, panels),
        terms=IN_THE_PLANE,
        modes=MODES,
        intervals=20,
        safe=safe,
    )
    assert_suits_a_gpu(text, singles)
    products = [line for line in text.splitlines() if "dot_general" in line]
    assert len(products) == 1
    assert all("precision = [HIGHEST, HIGHEST]" in line and "f64" in line for line in products)


def test_the_first_pass_of_the_series_on_the_device():
    angles = np.zeros((2, 600))
    addresses = ["link2.joint_angle", "link3.joint_angle"]
    tables = series_search.prepare(THREE, addresses, angles, MODES, "timoshenko", 600)
    block = series_search.block_on_device(tables, THREE, addresses)
    assert_suits_a_gpu(lowered_for_cuda(block, angles[:, :CELLS]), singles=1)


def test_the_first_pass_of_the_series_in_space_on_the_device():
    arm, angles = jm.examples.six_axis_industrial(), np.random.default_rng(0).normal(size=(2, 600))
    addresses = ["link2.joint_angle", "link4.joint_angle"]
    tables = series_search.prepare(arm, addresses, angles, MODES, "timoshenko", 600)
    block = series_search.block_on_device(tables, arm, addresses)
    assert_suits_a_gpu(lowered_for_cuda(block, angles[:, :CELLS]), singles=1)


def test_what_the_series_rests_on():
    beams, flags = prepared_values(THREE, "timoshenko")
    lanes = beams, flags, jnp.ones(8), jnp.zeros((2, 8))
    assert_suits_a_gpu(lowered_for_cuda(posture_harmonics._factors, *lanes))
    arm = VaryingBeams(beams, (1, 2), IN_THE_PLANE)
    top = PlanarCounter(arm, flags, jnp.ones((1, 1))), jnp.zeros((2, 8))
    assert_suits_a_gpu(lowered_for_cuda(series_roots.count_at, *top))
