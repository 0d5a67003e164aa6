"""Certified natural frequencies of many arms that differ in some parameters: float64 where it suffices, else exact.

A few hundred pilot cells are solved first; they give every other cell a guess (`pilots`) from which six float64
evaluations enclose a mode (`guided_search`). What that leaves open is gathered and goes on: with more evaluations, then
with two double-double evaluations of the modes whose rounding noise is too large, then through the general search, cell
by cell. No finished cell waits for a slow one. Chunks run on all cores that stay in cache.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmodal.arm import Arm, require_shear
from jaxmodal.batch_kernels import (
    Problem,
    chord,
    enclosed,
    exact,
    first_guess,
    grid_guess,
    improved,
)
from jaxmodal.batch_results import Results, accepted, proven
from jaxmodal.beams import theory_flags
from jaxmodal.frequencies import NaturalFrequencies, positive_integer
from jaxmodal.guided_search import Enclosure
from jaxmodal.parameters import resolve
from jaxmodal.pilots import Guess, fit
from jaxmodal.precision import require_x64

#: lanes (cells times modes) of one chunk: their working set stays in the cache of a core
_LANES = 4096
#: cells of one compiled pass over what is open, and modes of one compiled double-double pass
_OPEN_CELLS, _OPEN_MODES = 128, 128
_EXACT_CELLS = 16
#: cells whose open modes are gathered before they go on
_ROUND = 65536
_PILOTS = 256


def natural_frequencies_batch(
    arm: Arm,
    parameters: Mapping[str, Any],
    num_modes: int = 10,
    theory: str = "timoshenko",
    chunk_size: int | None = None,
) -> NaturalFrequencies:
    """Lowest natural frequencies of many variants of an arm, each certified.

    Parameters
    ----------
    arm : Arm
        The arm that all cells share but for ``parameters``.
    parameters : mapping of str to array, shape (N,)
        Values by address, such as ``{"link2.joint_angle": angles}`` (rad, SI); all of one length.
        ``link*`` sets a value of every link.
    num_modes : int
        How many frequencies, from the lowest.
    theory : str
        As for `natural_frequencies`.
    chunk_size : int, optional
        Cells solved side by side on one core. The default keeps the working set in cache.

    Returns
    -------
    NaturalFrequencies
        With a leading axis: ``omega`` of shape (N, num_modes) in rad/s. ``status`` speaks for each mode: a cell
        with an impossible value gets ``invalid_input`` and NaN, and nothing is raised for it.

    Raises
    ------
    ValueError
        Lengths differ, an array is not one-dimensional, or ``num_modes``, ``theory`` or ``chunk_size`` is not usable.
    ArmError
        An address is unknown, or the arm lacks what the theory needs.

    Notes
    -----
    The bracket of a mode is at most 4e-8 wide (relative) and the counts at its ends prove the
    mode; the frequency inside it is
    the zero of the determinant, good to about 1e-13. Modes that float64 cannot part are solved in
    double-double. Memory: the chunks in work and the result.

    Examples
    --------
    >>> import jaxmodal as jm, numpy as np
    >>> arm = jm.examples.two_link_flexible()
    >>> result = jm.natural_frequencies_batch(arm, {"link2.joint_angle": np.radians([0, 45, 90])}, num_modes=2)
    >>> [[f"{f:.4f}" for f in cell] for cell in result.frequencies_hz]
    [['0.2002', '0.9557'], ['0.2114', '0.8269'], ['0.2490', '0.6531']]
    >>> bool(result.certified.all())
    True
    """
    require_x64()
    modes = positive_integer(num_modes, "num_modes")
    flags = theory_flags(theory)
    if theory == "timoshenko":
        require_shear(arm)
    addresses, values = _columns(arm, parameters)
    cells = values.shape[1]
    chunk = _LANES // modes if chunk_size is None else positive_integer(chunk_size, "chunk_size")
    size = max(1, min(chunk, cells))
    problem = Problem(arm, flags, addresses, modes)
    results = Results.empty(cells, modes)
    guess = _guess(problem, values)
    with ThreadPoolExecutor(_cores()) as pool:
        work = _Work(problem, values, results, pool)
        for start in range(0, cells, _ROUND):
            work.search(np.arange(start, min(start + _ROUND, cells)), guess, size)
        if guess is not None:
            work.search(results.open_cells(), None, _OPEN_CELLS)
        work.solve_exactly(results.open_cells(), theory)
    return results.frozen(theory)


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _columns(arm: Arm, parameters: Mapping[str, Any]) -> tuple[tuple[str, ...], np.ndarray]:
    """Addresses and their values, shape (addresses, cells)."""
    if not parameters:
        raise ValueError("parameters is empty; expected at least one address with its values")
    columns = []
    for address, value in parameters.items():
        resolve(arm, address)
        column = np.asarray(value, dtype=np.float64)
        if column.ndim != 1 or column.size == 0:
            raise ValueError(
                f"parameters[{address!r}] has shape {column.shape}; expected a one-dimensional"
                " array with a value per cell"
            )
        columns.append(column)
    if len({c.size for c in columns}) > 1:
        lengths = ", ".join(f"{a}: {c.size}" for a, c in zip(parameters, columns, strict=True))
        raise ValueError(
            f"parameters have different lengths ({lengths}); expected one value per cell in each"
        )
    return tuple(parameters), np.stack(columns)


@dataclasses.dataclass(frozen=True)
class _Open:
    """Cells that are not settled yet: their rows, enclosures (modes, cells) and rough frequencies."""

    cells: np.ndarray
    enclosure: Enclosure
    rough: np.ndarray

    def take(self, columns: np.ndarray) -> _Open:
        enclosure = jax.tree_util.tree_map(lambda x: x[:, columns], self.enclosure)
        return _Open(self.cells[columns], enclosure, self.rough[:, columns])

    @staticmethod
    def joined(parts: list[_Open]) -> _Open:
        enclosure = jax.tree_util.tree_map(
            lambda *x: np.concatenate(x, axis=1), *(p.enclosure for p in parts)
        )
        cells = np.concatenate([p.cells for p in parts])
        return _Open(cells, enclosure, np.concatenate([p.rough for p in parts], axis=1))


@dataclasses.dataclass(frozen=True)
class _Work:
    """The passes of one call, each spread over the cores."""

    problem: Problem
    values: np.ndarray
    results: Results
    pool: ThreadPoolExecutor

    def each(self, work: Callable[[np.ndarray], Any], items: np.ndarray, size: int) -> list[Any]:
        """``work`` on every part of ``items``, in any order."""
        parts = [items[start : start + size] for start in range(0, items.size, size)]
        return list(self.pool.map(work, parts))

    def search(self, cells: np.ndarray, guess: Guess | None, size: int) -> None:
        """Solve cells in float64, and what that leaves open with more evaluations and in double-double.

        Without a guess every cell searches from a grid first.
        """
        parts = self.each(lambda at: self.enclose(at, guess, size), cells, size)
        if not parts:
            return
        left = _Open.joined(parts)
        unproven = np.flatnonzero((~proven(left.enclosure)).any(axis=0))
        self.each(lambda columns: self.improve(left, columns), unproven, _OPEN_CELLS)
        e = left.enclosure
        isolated = (e.upper_count - e.lower_count == 1) & (e.omega > 0.0)
        noisy = np.flatnonzero((isolated & ~accepted(e)).ravel())
        self.each(lambda at: self.polish(left, at), noisy, _OPEN_MODES)

    def enclose(self, at: np.ndarray, guess: Guess | None, size: int) -> _Open:
        """Six evaluations of every mode; returns what they leave open."""
        values = self._values(_filled(at, size))
        start = grid_guess if guess is None else functools.partial(first_guess, guess=guess)
        beams, invalid, rough = start(self.problem, values)
        found = enclosed(self.problem, beams, rough)
        e = jax.tree_util.tree_map(lambda x: np.asarray(x)[:, : at.size], found)
        bad = np.asarray(invalid)[: at.size]
        self.results.store(at, e)
        self.results.refuse(at[bad])
        self.results.evaluations[at] += 6 * self.problem.modes
        columns = np.flatnonzero((~accepted(e)).any(axis=0) & ~bad)
        return _Open(at, e, np.asarray(rough)).take(columns)

    def improve(self, left: _Open, columns: np.ndarray) -> None:
        """Four more evaluations of the modes that are not proven."""
        part = left.take(_filled(columns, _OPEN_CELLS))
        better = improved(self.problem, self._values(part.cells), part.enclosure, part.rough)
        keep = proven(left.enclosure)[:, columns]
        for field in dataclasses.fields(Enclosure):
            new = np.asarray(getattr(better, field.name))[:, : columns.size]
            old = getattr(left.enclosure, field.name)
            old[:, columns] = np.where(keep, old[:, columns], new)
        part = left.take(columns)
        self.results.store(part.cells, part.enclosure)
        self.results.evaluations[part.cells] += 4 * self.problem.modes

    def polish(self, left: _Open, lanes: np.ndarray) -> None:
        """The chord of the determinant in double-double, for modes that float64 knows too badly."""
        modes, columns = np.divmod(_filled(lanes, _OPEN_MODES), left.cells.size)
        omega = left.enclosure.omega
        nearest = _neighbours(omega, modes, columns)
        found = chord(
            self.problem, self._values(left.cells[columns]), omega[modes, columns], nearest
        )
        size = lanes.size
        refined, lower, upper = (np.asarray(x)[..., :size] for x in found)
        cells = left.cells[columns[:size]]
        self.results.polish(cells, modes[:size], refined, lower, upper)

    def solve_exactly(self, cells: np.ndarray, theory: str) -> None:
        """The general search in double-double."""
        size = 1 if cells.size <= _EXACT_CELLS // 4 else _EXACT_CELLS

        def solve(at: np.ndarray) -> None:
            values = self._values(_filled(at, size))
            self.results.settle(at, exact(self.problem, values, theory=theory))

        self.each(solve, cells, size)

    def _values(self, cells: np.ndarray) -> Array:
        return jnp.asarray(self.values[:, cells])


def _filled(items: np.ndarray, size: int) -> np.ndarray:
    """Repeat the last item until there are ``size`` of them."""
    return np.concatenate([items, np.repeat(items[-1:], size - items.size)])


def _neighbours(omega: np.ndarray, mode: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The modes below and above each given mode, shape (2, modes); far away where there is none."""
    last = omega.shape[0] - 1
    below = np.where(mode > 0, omega[np.maximum(mode - 1, 0), column], 0.0)
    above = np.where(
        mode < last, omega[np.minimum(mode + 1, last), column], 1e3 * omega[last, column]
    )
    return np.stack([below, above])


def _guess(problem: Problem, values: np.ndarray) -> Guess | None:
    """The guess from pilot cells; None for batches too small to pay for them."""
    cells = values.shape[1]
    if cells < 2 * _PILOTS:
        return None
    pilots = np.random.default_rng(0).choice(cells, _PILOTS, replace=False)
    chosen = values[:, np.sort(pilots)]
    _, invalid, omega = grid_guess(problem, jnp.asarray(chosen))
    good = ~np.asarray(invalid) & np.isfinite(chosen).all(axis=0) & np.isfinite(omega).all(axis=0)
    if good.sum() < 8:
        return None
    return fit(chosen[:, good], np.asarray(omega)[:, good], problem.addresses)
