"""What makes a batch compile: a new shape, and nothing else."""

import functools
import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.modes import planar_batches as modal_batches
from tests.support.compiled_programs import names_of_programs

MODES, MODAL_MODES = 6, 3
"""Those of tests/batches/test_many_arms.py and tests/sweeps/test_sensitivities.py, whose programs then serve."""

ANGLES = {"link2.joint_angle": (-3.0, 3.0), "link3.joint_angle": (-3.0, 3.0)}
PAYLOAD = {"payload.mass": (0.0, 9.0)}
ARM = jm.examples.three_link_industrial()
OTHER = jm.Arm(tuple(jm.set_parameters(ARM, {"link*.length": 0.7}).links), name="another")


@pytest.fixture(scope="module")
def compiled(on_a_cpu):
    """A function gives the number of programs compiled by what it calls, those found in the cache on disk included."""
    with names_of_programs() as programs:

        def count(function, *given, **options):
            programs.clear()
            result = function(*given, **options)
            return len(programs), result

        yield count


def cells_of(number, ranges):
    rng = np.random.default_rng(number)
    return {address: rng.uniform(*between, number) for address, between in ranges.items()}


def test_what_is_compiled_is_counted(compiled):
    assert compiled(jax.jit(lambda x: 2.0 * x + np.e), 1.0)[0] == 1


@pytest.mark.parametrize(
    ("ranges", "cells"), [(ANGLES, 20), (ANGLES | PAYLOAD, 900), (ANGLES, 7000)]
)
def test_a_batch_in_numpy_compiles_nothing(ranges, cells, compiled):
    programs, result = compiled(jm.natural_frequencies_batch, ARM, cells_of(cells, ranges), MODES)
    assert programs == 0
    assert not np.asarray(result.status).any()


@pytest.fixture(scope="module")
def batch_programs(compiled):
    """How many the first batch of this shape compiles: none where other tests have."""
    cells = cells_of(600, ANGLES | PAYLOAD)
    return compiled(jm.natural_frequencies_batch, ARM, cells, MODES, kernel="portable")[0]


@pytest.mark.parametrize(
    ("arm", "ranges", "cells", "kernel"),
    [
        pytest.param(ARM, ANGLES | PAYLOAD, 777, "portable", id="more cells"),
        pytest.param(ARM, PAYLOAD, 600, "portable", id="one address"),
        pytest.param(OTHER, ANGLES, 600, "portable", id="another arm and name"),
        pytest.param(OTHER, PAYLOAD, 511, "auto", id="few cells"),
    ],
)
def test_another_arm_name_address_or_number_of_cells_compiles_nothing_new(
    arm, ranges, cells, kernel, compiled, batch_programs
):
    assert batch_programs <= 5, "the grid, the search, open modes, double-double and its check"
    programs, result = compiled(
        jm.natural_frequencies_batch, arm, cells_of(cells, ranges), MODES, kernel=kernel
    )
    assert programs == 0
    assert not np.asarray(result.status).any()


def test_nothing_is_kept_of_the_arms_that_were_solved(compiled, batch_programs):
    """By their programs neither: the arms and their links go when the caller lets them go."""
    kept = []
    for length in (0.6, 0.8):
        arm = jm.set_parameters(ARM, {"link*.length": length})
        cells = cells_of(600, ANGLES | PAYLOAD)
        jm.natural_frequencies(arm, MODES)
        assert compiled(jm.natural_frequencies_batch, arm, cells, MODES, kernel="portable")[0] == 0
        kept += [weakref.ref(each) for each in (arm, *arm.links)]
        del arm
    gc.collect()
    assert [each() for each in kept] == [None] * 8


def test_modal_quantities_of_another_arm_by_other_addresses_compile_nothing_new(
    compiled, monkeypatch
):
    """No null vector is good enough: both programs, that of modes that stand apart and the other.

    For each a program of zeros stands in, which is compiled for the same shapes and in no time.
    """

    @functools.partial(jax.jit, static_argnames="simple")
    def zeros(*given, simple):
        shapes = jax.eval_shape(functools.partial(real_block, simple=simple), *given)
        return jax.tree_util.tree_map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)

    real_block = modal_batches.block
    monkeypatch.setattr(modal_batches, "block", zeros)
    monkeypatch.setattr(modal_batches, "_HOST_MODES", 0)
    monkeypatch.setattr(modal_batches, "_CONVERGED", -1.0)
    found = []
    for arm, addresses, number in (
        (ARM, ["link2.length"], 20),
        (OTHER, ["link*.density", "payload.mass"], 40),
    ):
        cells = cells_of(number, ANGLES | PAYLOAD)
        result = jm.natural_frequencies_batch(arm, cells, MODAL_MODES)
        found.append(
            compiled(jm.modal_quantities_batch, arm, cells, result, addresses=addresses)[0]
        )
    assert found == [2, 0]
