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
from jaxmodal.batches import pilots
from jaxmodal.batches.fused_search import Kernel
from jaxmodal.batches.guided_search import Enclosure, Purpose
from jaxmodal.dynamic_stiffness.beams import prepared_values
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


def problem_and_columns():
    _, flags = prepared_values(THREE, "timoshenko")
    cells = random_cells(CELLS)
    addresses, values = tuple(cells), np.stack(list(cells.values()))
    features = pilots.Scaling.of(values, addresses).features(values)
    return (
        batch_kernels.BatchProblem(flags, MODES),
        columns_of(THREE, addresses, values).packed,
        features,
    )


def a_guess(features):
    """A guess from the cells themselves, whatever their frequencies."""
    omega = np.linspace(10.0, 90.0, MODES + batch_kernels.EXTRA)[:, None] * np.ones(CELLS)
    return pilots.fit(features, omega, CELLS)


def batch_program(name):
    problem, packed, features = problem_and_columns()
    rows = jnp.ones((MODES + batch_kernels.EXTRA, CELLS))
    one = jnp.ones(CELLS)
    beams = jax.tree.map(lambda x: x[:, None], unpacked(packed))
    used = jnp.int64(1)
    names = [field.name for field in dataclasses.fields(Enclosure)]
    e = Enclosure(**{name: one > 0.0 if name == "consistent" else one for name in names})
    arguments = {
        "searched": (problem, packed, features, used, a_guess(features)),
        "grid_guess": (problem, packed),
        "enclosed": (problem, beams, rows),
        "improved": (problem, packed, e, one, rows[:MODES], rows, jnp.int64(Purpose.halve), used),
        "extended": (problem, packed, one, used),
    }[name]
    program = getattr(batch_kernels, name)
    if name in ("improved", "extended"):
        program = functools.partial(program, blocks=2)
    if name == "searched":
        program = functools.partial(program, kernel=Kernel(False, False), blocks=2)
    return program, arguments


def assert_suits_a_gpu(text):
    assert "f64" in text
    assert "f32" not in text, "something is computed in single precision"
    assert "callback" not in text, "the host is asked in the middle of a program"
    assert "custom_call" not in text, "a library call that another platform may lack"


@pytest.mark.parametrize("name", ["searched", "grid_guess", "enclosed", "improved", "extended"])
def test_programs_of_the_general_path(name):
    program, arguments = batch_program(name)
    assert_suits_a_gpu(lowered_for_cuda(program, *arguments))


def test_the_posture_series_is_float64_matrix_products():
    series = jm.posture_series(THREE, 200.0)
    tables = series_roots.grid_of(series, None), series_roots.panels_of(series)
    postures = jnp.zeros((2, CELLS))
    text = lowered_for_cuda(series_roots.roots_of, postures, *tables, modes=MODES, safe=False)
    assert_suits_a_gpu(text)
    products = [line for line in text.splitlines() if "dot_general" in line]
    assert len(products) == 2
    assert all("precision = [HIGHEST, HIGHEST]" in line and "f64" in line for line in products)


def test_what_the_series_rests_on():
    beams, flags = prepared_values(THREE, "timoshenko")
    lanes = beams, flags, jnp.ones(8), jnp.zeros((2, 8))
    assert_suits_a_gpu(lowered_for_cuda(posture_harmonics._factors, *lanes))
    top = beams, flags, jnp.ones(1), jnp.zeros((2, 8))
    assert_suits_a_gpu(lowered_for_cuda(series_roots.count_at, *top))
