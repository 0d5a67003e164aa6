"""Does a batch give what the exact search gives, cell by cell, certified, whatever path a cell takes?"""

import functools
import os
import subprocess
import sys

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.columns import columns_of
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.batches import kernels as batch_kernels
from jaxmodal.batches import pilots
from jaxmodal.dynamic_stiffness.beams import theory_flags

#: asked of the float64 path: accepted estimates changed by at most 5e-14 last, and few modes reach 1e-13
BATCH_ACCURACY = 1e-12


def random_cells(count, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "link2.joint_angle": rng.uniform(-np.pi, np.pi, count),
        "link3.joint_angle": rng.uniform(-np.pi, np.pi, count),
        "link*.section.wall_thickness": rng.uniform(0.004, 0.03, count),
    }


def exact(arm, cells, at, modes, theory):
    """Frequencies of the cells ``at`` by the double-double search."""
    rows = []
    for i in at:
        cell = set_parameters(arm, {k: float(v[i]) for k, v in cells.items()})
        rows.append(jm.natural_frequencies(cell, modes, theory=theory).omega)
    return np.array(rows)


CELLS = random_cells(1200)
SOME = np.arange(0, 1200, 200)


@functools.cache
def exact_of_some(theory):
    """Of some of `CELLS`, for both kernels."""
    return exact(jm.examples.three_link_industrial(), CELLS, SOME, 6, theory)


@pytest.mark.parametrize(
    ("theory", "kernel"),
    [*((theory, "portable") for theory in jm.THEORIES), ("timoshenko", "auto")],
)
def test_a_batch_equals_the_exact_search(theory, kernel):
    """By compiled programs, the same for all theories, and in NumPy."""
    arm = jm.examples.three_link_industrial()
    result = jm.natural_frequencies_batch(arm, CELLS, 6, theory=theory, kernel=kernel)
    assert bool(result.certified.all())
    found = np.asarray(result.omega)[SOME]
    assert np.abs(found / exact_of_some(theory) - 1.0).max() < BATCH_ACCURACY
    assert np.all(np.asarray(result.count_below) < np.arange(1, 7))
    assert np.all(np.asarray(result.count_above) >= np.arange(1, 7))
    assert np.all(np.diff(np.asarray(result.omega), axis=1) > 0.0)


@pytest.mark.slow
def test_evaluations_of_most_cells_stay_near_six_per_mode():
    arm = jm.examples.two_link_flexible()
    rng = np.random.default_rng(3)
    cells = {
        "link2.joint_angle": rng.uniform(0.0, np.pi, 2000),
        "link*.thickness_factor": rng.uniform(1.0, 100.0, 2000),
    }
    result = jm.natural_frequencies_batch(arm, cells, 6)
    assert bool(result.certified.all())
    assert np.median(result.evaluations) <= 8 * 6
    reference = exact(arm, cells, range(0, 2000, 200), 6, "timoshenko")
    assert np.abs(np.asarray(result.omega)[::200] / reference - 1.0).max() < BATCH_ACCURACY


@pytest.mark.slow
def test_double_roots_are_found_twice_in_a_batch():
    arm = jm.examples.three_link_industrial()
    rng = np.random.default_rng(1)
    theta2, theta3 = np.radians([-155.009952919027194, -64.1983428536445678])
    near = np.radians(1e-3)
    cells = {
        "link2.joint_angle": theta2 + rng.uniform(-near, near, 1000) * (np.arange(1000) > 0),
        "link3.joint_angle": theta3 + rng.uniform(-near, near, 1000) * (np.arange(1000) > 0),
    }
    result = jm.natural_frequencies_batch(arm, cells, 4)
    assert bool(result.certified.all())
    pair = np.asarray(result.frequencies_hz)[:, 1:3]
    assert np.all(np.abs(pair / 37.0643031192404803 - 1.0) < 1e-3)
    assert abs(pair[0] / 37.0643031192404803 - 1.0).max() < 1e-11
    reference = exact(arm, cells, range(0, 1000, 100), 4, "timoshenko")
    assert np.abs(np.asarray(result.omega)[::100] / reference - 1.0).max() < BATCH_ACCURACY


@pytest.mark.parametrize(
    "cells", [7, pytest.param(1, marks=pytest.mark.slow), pytest.param(600, marks=pytest.mark.slow)]
)
def test_bad_values_speak_in_their_lane_only(cells):
    arm = jm.examples.two_link_flexible()
    angles, masses = np.linspace(0.1, 1.0, cells), np.full(cells, 0.3)
    angles[cells // 2] = np.nan
    masses[-1] = -1.0
    result = jm.natural_frequencies_batch(
        arm, {"link2.joint_angle": angles, "payload.mass": masses}, 2
    )
    bad = np.isnan(angles) | (masses < 0.0)
    assert np.all(np.asarray(result.status)[bad] == jm.Status.invalid_input)
    assert np.all(np.isnan(np.asarray(result.omega)[bad]))
    assert np.all(np.asarray(result.certified)[~bad])


@pytest.mark.slow
def test_the_chunk_size_changes_nothing_that_matters():
    arm, cells = jm.examples.three_link_industrial(), random_cells(700)
    one = jm.natural_frequencies_batch(arm, cells, 6, chunk_size=64).omega
    two = jm.natural_frequencies_batch(arm, cells, 6, kernel="portable").omega
    assert np.abs(np.asarray(one) / np.asarray(two) - 1.0).max() < BATCH_ACCURACY


def test_a_cell_has_the_same_bits_whatever_else_is_solved_with_it():
    """In NumPy; some cells near a double root take longer than others."""
    arm = jm.examples.three_link_industrial()
    cells = random_cells(40, seed=4)
    cells["link2.joint_angle"][3], cells["link3.joint_angle"][3] = np.radians([-155.01, -64.198])
    together = jm.natural_frequencies_batch(arm, cells, 5)
    for part in (slice(0, 1), slice(2, 9), slice(9, 40)):
        some = {address: values[part] for address, values in cells.items()}
        apart = jm.natural_frequencies_batch(arm, some, 5)
        for name in ("omega", "bracket", "evaluations", "residual_ratio"):
            both = (np.asarray(getattr(result, name)) for result in (together, apart))
            whole, alone = both
            assert np.array_equal(whole[part], alone), name


@pytest.mark.slow
def test_an_arm_of_many_links():
    link = jm.Link(0.2, 7e10, 2700.0, jm.raw_section(1e-3, 1e-7, 0.85), poisson_ratio=0.34)
    arm = jm.Arm((link,) * 6)
    cells = {"link4.joint_angle": np.linspace(0.0, 1.0, 520)}
    result = jm.natural_frequencies_batch(arm, cells, 3)
    assert bool(result.certified.all())
    reference = exact(arm, cells, [0, 519], 3, "timoshenko")
    assert np.abs(np.asarray(result.omega)[[0, 519]] / reference - 1.0).max() < BATCH_ACCURACY


@pytest.mark.slow
def test_a_wrong_guess_costs_time_but_no_mode(monkeypatch):
    arm = jm.examples.two_link_flexible()
    cells = {"link2.joint_angle": np.linspace(-3.0, 3.0, 600)}
    right = jm.natural_frequencies_batch(arm, cells, 3)
    fit = pilots.Centres.pilots

    def wrong(centres, omega):
        return fit(centres, omega * np.linspace(0.5, 3.0, omega.shape[1]))

    monkeypatch.setattr(pilots.Centres, "pilots", wrong)
    result = jm.natural_frequencies_batch(arm, cells, 3)
    assert bool(result.certified.all())
    assert np.abs(np.asarray(result.omega) / np.asarray(right.omega) - 1.0).max() < BATCH_ACCURACY


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "empty"),
        ({"link2.joint_angle": [[0.1]]}, "one-dimensional"),
        ({"link2.joint_angle": []}, "one-dimensional"),
        ({"link2.joint_angle": [0.1], "link1.tip_mass": [1.0, 2.0]}, "lengths"),
    ],
)
def test_bad_batches_are_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        jm.natural_frequencies_batch(jm.examples.two_link_flexible(), parameters, 2)


def test_unknown_addresses_are_refused_with_a_suggestion():
    with pytest.raises(jm.ArmError, match="joint_angle"):
        jm.natural_frequencies_batch(
            jm.examples.two_link_flexible(), {"link2.joint_angel": [0.1]}, 2
        )


@pytest.mark.slow
def test_ten_thousand_cells_against_the_exact_search():
    arm = jm.examples.three_link_industrial()
    cells = random_cells(10_000, seed=5)
    results = [jm.natural_frequencies_batch(arm, cells, 6, kernel=k) for k in ("portable", "auto")]
    assert all(bool(result.certified.all()) for result in results)
    at = np.arange(0, 10_000, 50)
    packed = columns_of(arm, tuple(cells), np.stack(list(cells.values()))[:, at]).packed
    worst = 0.0
    for start in range(0, at.size, 16):
        block, flags = packed[..., start : start + 16], theory_flags("timoshenko")
        reference = batch_kernels.exact(flags, block, modes=6, theory="timoshenko")
        for result in results:
            found = np.asarray(result.omega)[at[start : start + 16]]
            worst = max(worst, np.abs(found / np.asarray(reference.omega) - 1.0).max())
    assert worst < BATCH_ACCURACY


_ON_DEVICES = """
import sys
import jax

jax.config.update("jax_enable_x64", True)
import numpy as np
import jaxmodal as jm

cells = {"link2.joint_angle": np.linspace(-3.0, 3.0, 900), "payload.mass": np.linspace(0.0, 0.2, 900)}
arm = jm.examples.two_link_flexible()
kernel = sys.argv[1]
spread = jm.natural_frequencies_batch(arm, cells, 3, chunk_size=100, kernel=kernel)
with jax.default_device(jax.local_devices()[-1]):
    alone = jm.natural_frequencies_batch(arm, cells, 3, chunk_size=100, kernel=kernel)
assert len(jax.local_devices()) == 2
assert bool(spread.certified.all())
assert np.array_equal(np.asarray(spread.omega), np.asarray(alone.omega))
"""


_ON_CORES = """
import hashlib, os, sys
os.sched_setaffinity(0, list(os.sched_getaffinity(0))[: int(sys.argv[1])])
import jax

jax.config.update("jax_enable_x64", True)
import numpy as np
import jaxmodal as jm

arm, rng = jm.examples.three_link_industrial(), np.random.default_rng(0)
angles = {f"link{n}.joint_angle": rng.uniform(-3.0, 3.0, 8000) for n in (2, 3)}
some = {address: values[:1500] for address, values in angles.items()} | {"payload.mass": rng.uniform(0.0, 9.0, 1500)}
for cells, kernel in ((some, "auto"), (some, "portable"), (angles, "auto")):
    found = jm.natural_frequencies_batch(arm, cells, 6, kernel=kernel)
    for column in (found.omega, found.bracket, found.residual_ratio):
        print(hashlib.sha256(np.asarray(column).tobytes()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="needs Linux and two cores",
)
def test_one_core_gives_the_same_bits_as_two(tmp_path):
    """Fresh processes, with programs compiled on as many cores: one with one thread of OpenMP, and two with two."""
    said = []
    for cores, threads in (("1", "1"), ("2", None)):
        own = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / cores)}
        own |= {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads} if threads else {}
        kept = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
        done = subprocess.run(
            [sys.executable, "-c", _ON_CORES, cores],
            capture_output=True,
            text=True,
            env=kept | own,
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said[0] == said[1]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["portable", "fused"])
def test_several_local_devices_share_a_batch_and_give_the_same_bits(kernel):
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
    done = subprocess.run(
        [sys.executable, "-c", _ON_DEVICES, kernel],
        env=os.environ | {"XLA_FLAGS": flags},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cells", [9, 600], ids=["in NumPy", "compiled"])
def test_impossible_and_infinite_values_get_a_status_and_no_warning(cells):
    """No outer diameter, a wall that fills the tube, joints from rigid to soft, an angle that is none."""
    arm = jm.Arm(
        (
            jm.Link(0.5, 7e10, 2700.0, jm.hollow_circle(0.05, 0.004, "cowper"), poisson_ratio=0.3),
            jm.Link(0.4, 7e10, 2700.0, jm.circle(0.03), joint_stiffness=1e3, shear_modulus=3e10),
        )
    )
    arm = jm.Arm((arm.links[0], jm.set_parameters(arm, {"link2.joint_angle": 0.4}).links[1]))
    columns = {
        "link1.section.outer_diameter": np.full(cells, 0.05),
        "link2.joint_stiffness": np.full(cells, 1e3),
        "link2.joint_angle": np.linspace(0.1, 2.0, cells),
    }
    columns["link1.section.outer_diameter"][[1, 2]] = 0.0, 0.008
    columns["link2.joint_stiffness"][[0, 3]] = np.inf
    columns["link2.joint_angle"][4] = np.inf
    result = jm.natural_frequencies_batch(arm, columns, 2, theory="euler_bernoulli")
    invalid = np.asarray(result.status) == jm.Status.invalid_input
    assert np.flatnonzero(invalid.all(axis=1)).tolist() == [1, 2, 4]
    assert np.asarray(result.certified)[~invalid].all()


def test_an_arm_that_holds_columns_already_is_refused():
    arm = jm.examples.two_link_flexible()
    many = jm.set_parameters(arm, {"payload.mass": np.linspace(0.0, 1.0, 5)})
    with pytest.raises(jm.ArmError, match="takes one arm"):
        jm.natural_frequencies_batch(many, {"link2.joint_angle": np.linspace(0.0, 1.0, 5)}, 2)


def test_modes_within_a_group_of_one_arm_are_certified_apart_in_a_batch():
    """A cantilever's first longitudinal mode 6e-13 below its second in bending, by their closed forms."""
    modulus, density, area, beta = 7e10, 2700.0, 1e-3, 4.694091132974175
    wave = np.pi / 2.0 * np.sqrt(modulus / density)
    second_moment = (wave / beta**2) ** 2 * density * area / modulus * (1.0 + 1.2e-12)
    section = jm.raw_section(area, second_moment)
    arm = jm.Arm((jm.Link(1.0, modulus, density, section),))
    one = jm.natural_frequencies(arm, 4, theory="euler_bernoulli")
    many = jm.natural_frequencies_batch(
        arm, {"link1.density": [density]}, 4, theory="euler_bernoulli"
    )
    apart = np.diff(np.asarray(many.omega[0]))[1] / wave
    assert 4e-13 < apart < 8e-13
    assert (one.multiplicity.tolist(), one.group.tolist()) == ([1, 2, 2, 1], [0, 1, 1, 3])
    assert (many.multiplicity.tolist(), many.group.tolist()) == ([[1] * 4], [[0, 1, 2, 3]])
    assert many.count_below.tolist() == [[0, 1, 2, 3]]
    assert one.ok
    assert many.ok
