"""Calls of the solver by a sweep: some of its cells, for one theory."""

from __future__ import annotations

import dataclasses
import functools
import json
import threading
from collections.abc import Collection, Mapping
from typing import Any

import jax
import numpy as np

from jaxmodal.batches.in_space import PlanInSpace
from jaxmodal.batches.many_arms import columns_of, plan_of
from jaxmodal.batches.plan import Plan
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.models import require_theory
from jaxmodal.modes.batches import modal_quantities_batch
from jaxmodal.postures import places
from jaxmodal.response.damped.damped_batch import damped_modes_batch
from jaxmodal.runtime.array_types import Floats
from sweeps.definition.sweep import Sweep
from sweeps.solution.cells import SolvedCells
from sweeps.solution.responses import buckling_cells, compliance_cells, peak_cells

#: largest relative width of the brackets of certificates
BRACKET_WIDTH = 4e-8
#: number of cells from which the plan of a sweep is made: its pilots, and the range of its posture series
_SAMPLE = 4096
_PLANNING = threading.Lock()


def solve_cells(sweep: Sweep, theory: TheoryName, values: Mapping[str, Floats]) -> SolvedCells:
    """Return the solutions of some cells of a sweep.

    Parameters
    ----------
    sweep
        The sweep. All its cells share one plan, so that the numbers of a chunk do not depend on other chunks solved in
        the same process.
    values
        Values of N cells for each address of the sweep, in SI units.
    """
    _, columns = columns_of(sweep.arm, values)
    identity = _identity(sweep)
    with _PLANNING:  # one device makes the plan, and the others wait
        plan = _TAKEN.get((identity, theory)) or _plan(identity, theory)
    found = plan.solve(columns)
    return SolvedCells(jax.tree_util.tree_map(np.asarray, found))


@dataclasses.dataclass(frozen=True)
class _Identity:
    """Key of plans: sweeps with the same definition and order of axes are equal."""

    definition: str
    sweep: Sweep = dataclasses.field(compare=False)


def _identity(sweep: Sweep) -> _Identity:
    return _Identity(json.dumps(sweep.description()), sweep)


#: plans from another process, see `take_plans`
_TAKEN: dict[tuple[_Identity, TheoryName], Plan | PlanInSpace] = {}


def plans_to_send(sweep: Sweep) -> dict[TheoryName, Plan | PlanInSpace]:
    """Return the plans of a sweep that are made once for all processes: those with a table of a posture series.

    Other plans need programs, which every process must load itself; it searches the pilots at the same time.
    """
    addresses, values = sample_of(sweep)
    if not places.pays(sweep.arm, addresses, sweep.num_cells, values):
        return {}
    made = {theory: _plan(_identity(sweep), theory) for theory in sweep.solved_theories}
    return {theory: plan for theory, plan in made.items() if plan.tables is not None}


def take_plans(sweep: Sweep, plans: Mapping[TheoryName, Plan | PlanInSpace]) -> None:
    """Set the plans of a sweep in this process to those of another process."""
    identity = _identity(sweep)
    with _PLANNING:
        _TAKEN.clear()  # of the sweep before
        _TAKEN.update({(identity, theory): plan for theory, plan in plans.items()})


def sample_of(sweep: Sweep) -> tuple[tuple[str, ...], Floats]:
    """Return the addresses of a sweep, and their values in some cells, (addresses, cells), to plan it from."""
    cells = sweep.num_cells
    chosen = np.arange(min(cells, _SAMPLE))
    if cells > _SAMPLE:
        chosen = np.random.default_rng(0).choice(cells, _SAMPLE, replace=False)
    return columns_of(sweep.arm, sweep.values_at(np.unravel_index(chosen, sweep.shape)))


@functools.lru_cache(maxsize=4)
def _plan(identity: _Identity, theory: TheoryName) -> Plan | PlanInSpace:
    """Return the plan for the cells of a sweep; it is the same in every process."""
    sweep = identity.sweep
    require_theory(sweep.arm, theory)
    addresses, values = sample_of(sweep)
    return plan_of(sweep.arm, addresses, sweep.num_modes, theory, values, sweep.num_cells)


def with_parts(
    solved: SolvedCells,
    sweep: Sweep,
    theory: TheoryName,
    values: Mapping[str, Floats],
    parts: Collection[str],
) -> SolvedCells:
    """Return the cells with further parts that outputs need (`Quantity.part`), computed at their frequencies."""
    found: dict[str, Any] = {}
    if "modal" in parts:
        of = sweep.sensitivity_to
        found["modal"] = modal_quantities_batch(sweep.arm, values, solved.found, addresses=of)
    if "damped" in parts:
        found["damped"] = damped_modes_batch(sweep.arm, values, sweep.num_modes, theory=theory)
    if "peak" in parts and sweep.response is not None:
        found["peak"] = peak_cells(sweep.arm, values, theory, sweep.response.arguments())
    if "compliance" in parts:
        found["compliance"] = compliance_cells(sweep.arm, values, theory)
    if "buckling" in parts:
        found["buckling"] = buckling_cells(sweep.arm, values, theory)
    return dataclasses.replace(solved, **found)
