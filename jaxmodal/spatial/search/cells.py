"""Frequencies of many variants of an arm in space, solved in parallel in NumPy and certified like a single arm."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.addresses import resolve_address
from jaxmodal.arm.paths import value_at
from jaxmodal.arm.validity import valid_cells
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.certificate import TOLERANCE, Certificate, confirm
from jaxmodal.frequencies.host_solver import enclosed
from jaxmodal.frequencies.one_arm import result_of, solved_model
from jaxmodal.frequencies.programs import Solution
from jaxmodal.frequencies.resolution import resolved
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.root_search import LARGEST
from jaxmodal.frequencies.stability import refused
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.preload.model import LoadedModel
from jaxmodal.spatial.search.float64_search import search, settle
from jaxmodal.spatial.search.neighbours import Neighbours
from jaxmodal.spatial.stiffness.model import SpatialModel

#: number of cells solved in parallel in double-double: their matrices fill the cache, and few wait for the slowest
_CELLS = 32
#: number of cells up to which all are searched in double-double: float64 needs starting values from other cells
_FEW = 16
#: number of cells searched in parallel in float64
_SIDE_BY_SIDE = 128
#: number of open modes of a cell up to which they are settled one by one; with more, the cell is searched again
_MOST_OPEN = 6


def solve_cells(
    arm: SpatialArm,
    parameters: Mapping[str, np.ndarray],
    num_modes: int,
    theory: TheoryName,
    chunk: int | None = None,
) -> NaturalFrequencies:
    """Compute the lowest frequencies of many variants of an arm, each certified.

    Parameters
    ----------
    arm : SpatialArm
        The common arm of all cells; only ``parameters`` differ.
    chunk : int, optional
        Number of cells solved in parallel.

    Returns
    -------
    NaturalFrequencies
        Result with a leading axis of cells.
    """
    columns = {
        single: np.asarray(column, np.float64)
        for address, column in parameters.items()
        for single in resolve_address(arm, address)
    }
    size = next(iter(columns.values())).size
    if arm.loads is not None:
        own = [_under_loads(arm, columns, cell, num_modes, theory) for cell in range(size)]
        return jax.tree_util.tree_map(lambda *x: np.stack(x), *own)
    flags = arm.model(theory).flags
    found: list[NaturalFrequencies | None] = [None] * size
    left = np.ones(size, bool)
    if size > _FEW and not arm.is_solved_alone:
        for cell, result in _quickly(arm, columns, num_modes, flags, theory, chunk):
            found[cell], left[cell] = result, False
    rest, step = np.flatnonzero(left), chunk or _CELLS
    for start in range(0, rest.size, step):
        block = rest[start : start + step]
        piece = {address: column[block] for address, column in columns.items()}
        for cell, result in zip(block, _solved(arm, piece, num_modes, flags, theory), strict=True):
            found[cell] = result
    return jax.tree_util.tree_map(lambda *x: np.stack(x), *found)


def _under_loads(
    arm: SpatialArm,
    columns: Mapping[str, np.ndarray],
    cell: int,
    num_modes: int,
    theory: TheoryName,
) -> NaturalFrequencies:
    """Return the frequencies of one cell of an arm with loads, whose equilibrium differs in each."""
    try:
        own = arm.with_values({address: float(column[cell]) for address, column in columns.items()})
        model = own.search_model(theory)
    except ArmError:  # an invalid value, or a free joint that is not held
        bare = arm.unloaded_model(theory)
        model = LoadedModel(dataclasses.replace(bare, invalid=True), None)
    return solved_model(model, theory, 0, num_modes)


def _quickly(
    arm: SpatialArm,
    columns: Mapping[str, np.ndarray],
    num_modes: int,
    flags: Any,
    theory: TheoryName,
    chunk: int | None,
) -> Iterator[tuple[int, NaturalFrequencies]]:
    """Yield the cells that float64 solves, completed by double-double for a few modes where needed."""

    def model_of(cells: np.ndarray) -> SpatialModel:
        some = arm.with_values({address: column[cells] for address, column in columns.items()})
        return some.model_of_cells(flags)

    size, start, known = next(iter(columns.values())).size, 0, Neighbours(columns)
    numbers, parts = np.arange(1, num_modes + 1), []
    with np.errstate(all="ignore"):
        valid = valid_cells(arm.with_values(columns), size)
        usual = np.flatnonzero(
            valid & (np.broadcast_to(model_of(np.arange(size)).free, valid.shape) == 0)
        )
        while start < usual.size:
            block = usual[start : start + (chunk or (_SIDE_BY_SIDE if start else _FEW))]
            start += block.size
            part, every = search(model_of(block), block.size, num_modes, known.near(block))
            done = part.converged.all(axis=0)
            known.add(block[done], every[:, done])
            parts.append((block, part, every))
        _settled(model_of, parts, chunk or _SIDE_BY_SIDE)
    for block, part, _ in parts:
        for place in np.flatnonzero(part.converged.all(axis=0)):
            certificate = jax.tree_util.tree_map(lambda x, k=place: x[:, k], part.certificate)
            solution = Solution(
                part.omega[:, place], part.converged[:, place], certificate, part.evaluations
            )
            result = result_of(solution, numbers, np.int64(0), np.bool_(False), theory)
            yield int(block[place]), result


def _settled(
    model_of: Callable[[np.ndarray], SpatialModel],
    parts: Sequence[tuple[np.ndarray, Solution, np.ndarray]],
    step: int,
) -> None:
    """Solve the open modes of all cells in parallel in double-double, if a cell has few of them; modifies ``parts``."""
    open_modes = [
        (number, mode, cell)
        for number, (_, part, _) in enumerate(parts)
        for mode, cell in zip(*np.nonzero(~part.converged), strict=True)
        if np.sum(~part.converged[:, cell]) <= _MOST_OPEN and part.omega[mode, cell] > 0.0
    ]
    for start in range(0, len(open_modes), step):
        some = open_modes[start : start + step]
        cells = np.array([parts[number][0][cell] for number, _, cell in some])
        every = np.stack([parts[number][2][:, cell] for number, _, cell in some], axis=1)
        again = settle(model_of(cells), every, np.array([mode for _, mode, _ in some]))
        for lane, (number, mode, cell) in enumerate(some):
            for kept, new in zip(_decided(parts[number][1]), _decided(again), strict=True):
                kept[mode, cell] = new[0, lane]


def _decided(part: Solution) -> tuple[Any, ...]:
    """Return the fields of a solution that double-double replaces for a mode."""
    c = part.certificate
    return (
        *(part.omega, part.converged),
        *(c.status, c.count_below, c.count_above, c.residual_ratio),
    )


def _solved(
    arm: SpatialArm, columns: dict[str, np.ndarray], num_modes: int, flags: Any, theory: TheoryName
) -> list[NaturalFrequencies]:
    """Solve one chunk of cells; cells with an invalid value are solved as the original arm and marked as invalid."""
    cells = next(iter(columns.values())).size
    with np.errstate(all="ignore"):
        valid = valid_cells(arm.with_values(columns), cells)
    columns = {a: np.where(valid, column, value_at(arm, a)) for a, column in columns.items()}

    def model_of(some: Any) -> SpatialModel:
        return arm.with_values({a: x[some] for a, x in columns.items()}).model_of_cells(flags)

    model = model_of(slice(None))
    free, buckled = (np.broadcast_to(x, (cells,)) for x in (model.free, model.buckled))
    numbers = np.arange(1, num_modes + 1)
    modes = np.maximum(numbers[:, None], free + 1)
    stable = np.flatnonzero(~buckled)
    some = model if stable.size == cells else model_of(stable)
    solutions = _spread(
        _searched(some, modes[:, stable]) if stable.size else [], model, buckled, modes
    )
    drowned = np.flatnonzero([not _is_proven(solution) for solution in solutions])
    if drowned.size:  # by independent formulas
        again = _searched(model_of(drowned).otherwise(), modes[:, drowned])
        for cell, solution in zip(drowned, again, strict=True):
            if _is_proven(solution):
                solutions[cell] = solution
    found = [
        result_of(solution, numbers, free[cell], np.bool_(~valid[cell]), theory)
        for cell, solution in enumerate(solutions)
    ]
    return [
        refused(x, np.bool_(True)) if buckled[cell] and valid[cell] else x
        for cell, x in enumerate(found)
    ]


def _spread(
    solutions: list[Solution], model: SpatialModel, buckled: np.ndarray, modes: np.ndarray
) -> list[Solution]:
    """Return results of all cells from those of stable ones.

    A buckled arm, which is refused, is replaced by a stable one.
    """
    if not buckled.any():
        return solutions
    (harmless,) = _searched(model.harmless(), np.arange(1, len(modes) + 1)[:, None])
    left = iter(solutions)
    return [harmless if bent else next(left) for bent in buckled]


def _is_proven(solution: Solution) -> bool:
    return solution.certificate.ok and bool(np.all(solution.converged))


def _searched(model: SpatialModel, modes: np.ndarray) -> list[Solution]:
    """Return the modes (modes, cells) of every cell, as by `host_solver.solve_on_host`."""
    cells = modes.shape[1]
    scale = np.broadcast_to(model.scales, (cells,))
    tried = 0

    def evaluated(omega: np.ndarray, arithmetic: Arithmetic) -> Evaluation:
        nonlocal tried
        tried += omega.shape[0]
        return model.evaluate_cells(resolved(scale, omega, arithmetic), arithmetic)

    with np.errstate(all="ignore"):
        found, width = enclosed(evaluated, scale, model.log_at_zero, modes)
        omega = np.maximum.accumulate(found.estimate)
        certificates = _certificates(evaluated, omega, modes)
    missing = found.lower >= LARGEST
    converged = found.converged(width)
    return [
        Solution(
            np.where(missing[:, cell], np.nan, omega[:, cell]),
            converged[:, cell],
            certificates[cell],
            np.int64(tried),
        )
        for cell in range(cells)
    ]


def _certificates(
    evaluate: Callable[[np.ndarray, Arithmetic], Evaluation], omega: np.ndarray, modes: np.ndarray
) -> list[Certificate]:
    """Return the certificates of all cells; their evaluations are done together."""
    cells, size = omega.shape[1], np.int64(omega.shape[0])

    def asked(cell: int, answer: Callable[[np.ndarray], Evaluation]) -> Certificate:
        return confirm(answer, omega[:, cell], modes[:, cell], size, np.float64(TOLERANCE))

    points: list[np.ndarray] = []

    def noted(x: np.ndarray) -> Evaluation:
        points.append(x)
        return Evaluation(np.ones_like(x), np.zeros_like(x), np.zeros(x.shape, np.int64), x)

    for cell in range(cells):
        asked(cell, noted)
    shape = points[0].shape
    values = evaluate(np.stack([x.ravel() for x in points], axis=-1), Arithmetic.double_double)
    return [
        asked(cell, lambda _, c=cell: _of_cell(values, c, shape))  # type: ignore[misc]
        for cell in range(cells)
    ]


def _of_cell(values: Evaluation, cell: int, shape: tuple[int, ...]) -> Evaluation:
    return Evaluation(
        *(getattr(values, f.name)[:, cell].reshape(shape) for f in dataclasses.fields(values))
    )
