"""NumPy solves batches until it has done what the programs cost: what is counted, and that both answer alike."""

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.batches import first_batches, plan
from jaxmodal.batches.engines import Compiled, OnHost
from jaxmodal.batches.first_batches import Spent
from jaxmodal.batches.in_space import PlanInSpace
from jaxmodal.batches.plan import FEW

FLAT, ROBOT = jm.examples.two_link_flexible(), jm.examples.six_axis_industrial()


@pytest.fixture
def on_a_cpu():
    """Where these tests run on a machine with a GPU, too."""
    with jax.default_device(jax.devices("cpu")[0]):
        yield


@pytest.mark.usefixtures("on_a_cpu")
def test_small_batches_stay_in_numpy_and_cost_nothing():
    spent = Spent()
    for arm, cells in ((FLAT, FEW), (ROBOT, PlanInSpace.always)):
        assert all(spent.in_numpy(arm, 10, cells) for _ in range(2000))


def test_on_a_gpu_the_number_of_cells_alone_decides(monkeypatch):
    monkeypatch.setattr(first_batches, "is_gpu", lambda device: True)
    spent = Spent()
    for _ in range(3):
        assert all(spent.in_numpy(arm, 10, FEW) for arm in (FLAT, ROBOT))
        assert not any(spent.in_numpy(arm, 10, FEW + 1) for arm in (FLAT, ROBOT))


@pytest.mark.usefixtures("on_a_cpu")
@pytest.mark.parametrize(("arm", "worth"), [(FLAT, plan.Plan.worth), (ROBOT, PlanInSpace.worth)])
def test_work_is_counted_for_each_kind_of_program(arm, worth):
    spent = Spent()
    cells = int(0.3 * worth / (arm.num_links * 4))
    assert [spent.in_numpy(arm, 4, cells) for _ in range(5)] == [True] * 3 + [False] * 2
    # other programs are counted for themselves
    assert spent.in_numpy(arm, 5, cells)
    assert not spent.in_numpy(arm, 4, cells)
    spent.forget()
    assert spent.in_numpy(arm, 4, cells)
    assert not spent.in_numpy(arm, 6, int(2.0 * worth / (arm.num_links * 6)))


def test_what_is_stored_depends_on_the_number_of_cells_alone(monkeypatch):
    """Whatever was solved before, a plan for parts of a sweep is the same."""
    monkeypatch.setattr(first_batches.SPENT, "_work", {})
    values = np.linspace(0.0, 1.0, 600)[None]
    question = plan.Question(FLAT, ("link2.tip_mass",), 2, "timoshenko")
    for spent in (False, True):
        assert isinstance(plan.Plan.of(question, values, FEW).engine, OnHost)
        assert isinstance(plan.Plan.of(question, values, FEW + 1).engine, Compiled)
        assert first_batches.SPENT.in_numpy(FLAT, 2, FEW + 1) is not spent
        first_batches.SPENT.in_numpy(FLAT, 2, 10**9)


@pytest.mark.usefixtures("on_a_cpu")
def test_the_public_call_counts_and_both_ways_agree(monkeypatch):
    """As many cells as tests compile programs for; every mode within what both state."""
    engines = []
    real = plan.Plan.of.__func__

    def seen(cls, *args, **options):
        found = real(cls, *args, **options)
        engines.append(type(found.engine))
        return found

    monkeypatch.setattr(plan.Plan, "of", classmethod(seen))
    monkeypatch.setattr(plan.Plan, "always", 500)
    monkeypatch.setattr(plan.Plan, "worth", 3.0 * FLAT.num_links * 6 * 1000)
    monkeypatch.setattr(first_batches.SPENT, "_work", {})
    cells = {"payload.mass": np.linspace(0.0, 3.0, 2000)}
    first, second = (jm.natural_frequencies_batch(FLAT, cells, 6) for _ in range(2))
    assert engines == [OnHost, Compiled]
    error = np.asarray(first.omega_error) + np.asarray(second.omega_error)
    assert np.all(np.abs(np.asarray(first.omega) / np.asarray(second.omega) - 1.0) <= error)
    assert bool(first.certified.all() and second.certified.all())
