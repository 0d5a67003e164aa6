"""What stays on the device: right, certified, and what the passes of the host find; here a device is the CPU."""

import gc
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.batches import plan as plans
from jaxmodal.batches.engines import Compiled
from jaxmodal.batches.fused_search import Kernel
from jaxmodal.batches.plan import Plan, Question
from jaxmodal.batches.resident_passes import Lanes
from jaxmodal.postures import series_search
from jaxmodal.postures.series_on_device import postures_of_a_block
from jaxmodal.postures.series_roots import Panels
from jaxmodal.runtime.statuses import Status
from tests.batches.test_many_arms import BATCH_ACCURACY, exact, random_cells
from tests.support.compiled_programs import names_of_programs
from tests.support.problems import ORACLE
from tests.support.real_arms import random_arm

MODES, CELLS, SIZE = 6, 1300, 512
DOUBLE_ROOT = np.radians([-155.009952919027194, -64.1983428536445678])
THREE = jm.examples.three_link_industrial()
#: the same arm, of as many columns as arms with features: one set of programs serves all tests
WITH_COLUMNS = THREE.replace(links=tuple(link.replace(end_offset_x=0.0) for link in THREE.links))


@pytest.fixture
def gpu(monkeypatch):
    """Batches are solved as on a GPU that has no fused kernel, of so few lanes that passes take several blocks."""
    monkeypatch.setattr(plans, "chosen_kernel", lambda _name, _device: Kernel(False, True))
    monkeypatch.setattr(series_search, "is_gpu", lambda _device: True)
    monkeypatch.setattr(Lanes.__init__, "__defaults__", (256, 64, 16))


@pytest.fixture
def compiled():
    """Names of the programs that are compiled."""
    with names_of_programs() as names:
        yield names


def difficult_cells():
    """Random cells, one with a double root, some near it, and two with impossible values."""
    cells = random_cells(CELLS)
    offsets = np.random.default_rng(1).uniform(-1e-5, 1e-5, (2, 40))
    offsets[:, 0] = 0.0
    thickness = float(THREE.links[0].section.wall_thickness)
    cells["link*.section.wall_thickness"][:40] = thickness
    for joint, root, offset in zip((2, 3), DOUBLE_ROOT, offsets, strict=True):
        cells[f"link{joint}.joint_angle"][:40] = root + offset
    cells["link2.joint_angle"][600] = np.nan
    cells["link*.section.wall_thickness"][700] = -1.0
    return cells, np.array([600, 700])


def assert_alike(found, reference):
    """Statuses, counts and groups are the same, and frequencies as far as float64 promises."""
    for name in ("status", "count_below", "count_above", "group"):
        x, y = (np.asarray(getattr(result, name)) for result in (found, reference))
        assert x.dtype == y.dtype
        assert np.array_equal(x, y), name
    a, b = np.asarray(found.omega), np.asarray(reference.omega)
    assert np.array_equal(np.isnan(a), np.isnan(b))
    assert np.nanmax(np.abs(a / b - 1.0)) < BATCH_ACCURACY
    assert found.evaluations.dtype == reference.evaluations.dtype


@pytest.mark.slow
def test_cells_on_the_device_are_those_of_the_host(gpu, compiled):
    """Compiles what a first batch on a GPU does, everything once, while the pilots are searched."""
    cells, invalid = difficult_cells()
    found = jm.natural_frequencies_batch(WITH_COLUMNS, cells, MODES, chunk_size=SIZE)
    for name in ("begun", "continued", "extended_once", "polished", "finished"):
        assert sum(name in str(program) for program in compiled) == 1, name
    gc.collect()
    kept = [x.shape for x in jax.live_arrays() if x.shape[-1:] == (SIZE,)]
    assert not kept, "what passes over a block have made, also those that were compiled ahead"
    reference = jm.natural_frequencies_batch(THREE, cells, MODES, kernel="auto")
    assert_alike(found, reference)
    status = np.asarray(found.status)
    assert np.all(status[invalid] == Status.invalid_input)
    assert not np.delete(status, invalid, axis=0).any()
    at = [0, 1, 20, 39, *range(40, CELLS, 180)]
    truth = exact(THREE, cells, at, MODES, "timoshenko")
    assert np.abs(np.asarray(found.omega)[at] / truth - 1.0).max() < BATCH_ACCURACY
    low, high = np.moveaxis(np.asarray(found.bracket)[at], -1, 0)
    assert np.all((low < truth) & (truth < high))


@pytest.mark.slow
@pytest.mark.parametrize("structure", ["springs", "offsets", "everything"])
def test_features(structure, gpu):
    """By the programs of the test before; an arm with free hinges or loads goes the way of the host."""
    arm = random_arm(3, structure)
    rng = np.random.default_rng(4)
    cells = {f"link{k}.joint_angle": rng.uniform(-np.pi, np.pi, 700) for k in (2, 3)}
    values = np.stack(list(cells.values()))
    question = Question(arm, tuple(cells), MODES, "timoshenko")
    plan = Plan.of(question, values, 700, chunk=SIZE)
    with ThreadPoolExecutor(2) as pool:
        resident = plan.resident(values, pool)
        if structure == "everything":
            assert resident is None
            return
        left = []

        def left_open(at):
            left.append(at.size)
            return jm.natural_frequencies_batch(arm, {k: v[at] for k, v in cells.items()}, MODES)

        found = resident.solve(values, left_open)
    assert sum(left) < 0.02 * 700
    assert bool(found.certified.all())
    truth = exact(arm, cells, range(0, 700, 100), MODES, "timoshenko")
    assert np.abs(np.asarray(found.omega)[::100] / truth - 1.0).max() < BATCH_ACCURACY


@pytest.mark.parametrize(("modes", "size"), [(1, 2**18), (10, 2**18), (100, 2**15)])
def test_blocks_of_few_modes_have_no_more_cells(modes, size):
    """A guess takes five kilobytes a cell: as many lanes of one mode as of ten would take 19 gigabytes."""
    question = Question(THREE, ("payload.mass",), modes, "timoshenko")
    engine = Compiled(Kernel(False, True))
    assert Plan(question, engine, 10_000_000, None, "auto", None, None).size == size


@pytest.mark.parametrize(("modes", "rows"), [(10, 190), (100, 24_893)])
def test_blocks_of_postures_fit_the_memory(modes, rows):
    """As many polynomials as the three-link arm has; places in the tables are numbers of 32 bits."""
    panels = Panels((np.broadcast_to(0.0, (rows, 13)),), *(np.empty(0) for _ in range(4)))
    size = postures_of_a_block(panels, 10_000_000)
    assert size == 2**18 if modes == 10 else size >= 1024
    assert 8 * size * rows <= 2**31
    assert size * rows < 2**31


@pytest.mark.slow
def test_postures_on_the_device(gpu):
    """The first pass as one program; what it leaves open, close roots above all, as on the host."""
    angles = np.random.default_rng(2).uniform(-np.pi, np.pi, (2, 9000))
    angles[:, :30] = DOUBLE_ROOT[:, None] + np.random.default_rng(3).uniform(-1e-4, 1e-4, (2, 30))
    angles[:, 0] = DOUBLE_ROOT
    angles[0, 600], angles[1, 700] = np.nan, 2e6
    cells = {f"link{k}.joint_angle": row for k, row in zip((2, 3), angles, strict=True)}
    found = jm.natural_frequencies_batch(THREE, cells, MODES)
    status = np.asarray(found.status)
    assert np.all(status[[600, 700]] == Status.invalid_input)
    assert np.isnan(np.asarray(found.omega)[[600, 700]]).all()
    assert not np.delete(status, [600, 700], axis=0).any()
    proof = np.asarray(found.by_sign_changes)
    assert proof.mean() > 0.98
    assert not proof[[0, 600, 700]].any()
    at = [0, 1, 15, 29, *range(30, 9000, 900)]
    truth = exact(THREE, cells, at, MODES, "timoshenko")
    omega, (low, high) = np.asarray(found.omega), np.moveaxis(np.asarray(found.bracket), -1, 0)
    assert np.abs(omega[at] / truth - 1.0).max() < ORACLE
    assert np.all((low[at] < truth) & (truth < high[at]))
    assert np.all(np.asarray(found.count_below)[at][5:] == np.arange(MODES))
