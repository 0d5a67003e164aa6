"""Can every program of a batch be lowered for a GPU, in float64 throughout and without the host in it?"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.batches import kernels as batch_kernels
from jaxmodal.batches.guided_search import Enclosure, Purpose
from jaxmodal.dynamic_stiffness.beams import prepared
from jaxmodal.postures import harmonics as posture_harmonics
from jaxmodal.postures import series_roots
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


def problem_and_values():
    _, flags = prepared(THREE, "timoshenko")
    cells = random_cells(CELLS)
    problem = batch_kernels.Problem(THREE, flags, tuple(cells), MODES)
    return problem, jnp.asarray(np.stack(list(cells.values())))


def a_guess(problem, values):
    """A guess from the cells themselves, whatever their frequencies."""
    omega = np.linspace(10.0, 90.0, MODES + batch_kernels.EXTRA)[:, None] * np.ones(CELLS)
    return batch_kernels.fit(np.asarray(values), omega, problem.addresses)


def batch_program(name):
    problem, values = problem_and_values()
    rows = jnp.ones((MODES + batch_kernels.EXTRA, CELLS))
    one = jnp.ones(CELLS)
    beams, _ = batch_kernels._cell_beams(problem, values)
    used = jnp.int64(1)
    e = Enclosure(*(one > 0.0 if f == "consistent" else one for f in Enclosure.__annotations__))
    arguments = {
        "first_guess": (problem, values, a_guess(problem, values)),
        "grid_guess": (problem, values),
        "enclosed": (problem, beams, rows),
        "improved": (problem, values, e, one, rows[:MODES], rows, jnp.int64(Purpose.halve), used),
        "extended": (problem, values, one, used),
    }[name]
    program = getattr(batch_kernels, name)
    if name in ("improved", "extended"):
        program = functools.partial(program, blocks=2)
    return program, arguments


def assert_suits_a_gpu(text):
    assert "f64" in text
    assert "f32" not in text, "something is computed in single precision"
    assert "callback" not in text, "the host is asked in the middle of a program"
    assert "custom_call" not in text, "a library call that another platform may lack"


@pytest.mark.parametrize("name", ["first_guess", "grid_guess", "enclosed", "improved", "extended"])
def test_programs_of_the_general_path(name):
    program, arguments = batch_program(name)
    assert_suits_a_gpu(lowered_for_cuda(program, *arguments))


def test_the_posture_series_is_float64_matrix_products():
    beams, flags = prepared(THREE, "timoshenko")
    series = jm.posture_series(THREE, 200.0)
    tables = series_roots.grid_of(series, None), series_roots.panels_of(series)
    arguments = (beams, flags, jnp.zeros((2, CELLS)), *tables, series.edges[-1:] ** 2)
    text = lowered_for_cuda(series_roots.roots_of, *arguments, modes=MODES, safe=False)
    assert_suits_a_gpu(text)
    products = [line for line in text.splitlines() if "dot_general" in line]
    assert len(products) == 2
    assert all("precision = [HIGHEST, HIGHEST]" in line and "f64" in line for line in products)


def test_what_the_series_rests_on():
    beams, flags = prepared(THREE, "timoshenko")
    lanes = beams, flags, jnp.ones(8), jnp.zeros((2, 8))
    assert_suits_a_gpu(lowered_for_cuda(posture_harmonics._factors, *lanes))
    assert_suits_a_gpu(lowered_for_cuda(series_roots.counts_of, *lanes))
