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
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmodal import series_search
from jaxmodal.arm import Arm, require_shear
from jaxmodal.batch_kernels import (
    Problem,
    enclosed,
    exact,
    extended,
    first_guess,
    grid_guess,
    improved,
    pilot_guess,
)
from jaxmodal.batch_results import NOISE, Results, accepted, doubtful, proven, quiet
from jaxmodal.beams import theory_flags
from jaxmodal.frequencies import NaturalFrequencies, positive_integer
from jaxmodal.frequency_derivatives import require_concrete
from jaxmodal.guided_search import Enclosure
from jaxmodal.open_modes import OpenModes, chord, parabola
from jaxmodal.parameters import resolve
from jaxmodal.pilots import Guess
from jaxmodal.precision import require_x64
from jaxmodal.status import Status

#: lanes (cells times modes) of one chunk: their working set stays in the cache of a core
_LANES = 4096
#: cells of one compiled pass without a guess; modes of one over what is open, in float64 and in double-double
_OPEN_CELLS, _OPEN_MODES, _EXTENDED_MODES = 128, 512, 128
#: a mode whose float64 error is smaller needs one evaluation in double-double
_KNOWN = 1e-11
#: half the width of the others' enclosures, in turn: near a pole float64 may be wrong by more than the first
_POLISH = (2e-9, 1e-5, 1e-7, 2e-9)
_EXACT_CELLS = 16
#: cells whose open modes are gathered before they go on
_ROUND = 65536


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
        Cells solved side by side on one core. The default keeps the working set in cache, and solves large batches
        in which only joint angles vary by the posture series (docs/posture-series.md).

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
    require_concrete((arm, dict(parameters)))
    modes = positive_integer(num_modes, "num_modes")
    flags = theory_flags(theory)
    if theory == "timoshenko":
        require_shear(arm)
    addresses, values = _columns(arm, parameters)
    cells = values.shape[1]
    if chunk_size is None and series_search.pays(arm, addresses, cells):

        def general(values: np.ndarray, size: int) -> NaturalFrequencies:
            columns = dict(zip(addresses, values, strict=True))
            return natural_frequencies_batch(arm, columns, modes, theory, size)

        with ThreadPoolExecutor(_cores()) as pool:
            return series_search.solve(arm, addresses, values, modes, theory, general, pool)
    chunk = _LANES // modes if chunk_size is None else positive_integer(chunk_size, "chunk_size")
    size = max(1, min(chunk, cells))
    free = _free_hinges(arm, addresses, values)
    problem = Problem(arm, flags, addresses, modes, hinged=bool(free.any()))
    results = Results.empty(free, modes)
    guess = pilot_guess(problem, values, free)
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
class _Work:
    """The passes of one call, each spread over the cores."""

    problem: Problem
    values: np.ndarray
    results: Results
    pool: ThreadPoolExecutor
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def each(self, work: Callable[[np.ndarray], Any], items: np.ndarray, size: int) -> list[Any]:
        """``work`` on every part of ``items``, in any order."""
        parts = [items[start : start + size] for start in range(0, items.size, size)]
        config: Any = jax.config
        device = config.jax_default_device  # chosen for the calling thread alone

        def placed(part: np.ndarray) -> Any:
            with jax.default_device(device):
                return work(part)

        return list(self.pool.map(placed, parts))

    def search(self, cells: np.ndarray, guess: Guess | None, size: int) -> None:
        """Solve cells in float64, and the modes that this leaves open with more evaluations and in double-double.

        Without a guess every cell searches from a grid first.
        """
        parts = self.each(lambda at: self.enclose(at, guess, size), cells, size)
        if not parts:
            return
        left = OpenModes.joined(parts)
        for halve in (False, True, True, True):
            unproven = np.flatnonzero(~proven(left.enclosure, left.mode + 1))
            self.each(functools.partial(self.improve, left, halve), unproven, _OPEN_MODES)
        e = left.enclosure
        unsure = np.flatnonzero(doubtful(e, left.mode + 1))
        self.each(functools.partial(self.confirm, left), unsure, _OPEN_MODES)
        isolated = (e.upper_count - e.lower_count == 1) & (e.omega > 0.0)
        noisy = isolated & (self.results.status[left.cell, left.mode] != Status.certified)
        known = noisy & proven(e, left.mode + 1) & (e.error <= _KNOWN)
        correct = functools.partial(self.correct, left)
        self.each(correct, np.flatnonzero(known), _EXTENDED_MODES)
        for half_width in _POLISH:
            noisy &= self.results.status[left.cell, left.mode] != Status.certified
            polish = functools.partial(self.polish, left, half_width)
            self.each(polish, np.flatnonzero(noisy), _EXTENDED_MODES)

    def enclose(self, at: np.ndarray, guess: Guess | None, size: int) -> OpenModes:
        """Six evaluations of every mode; returns the modes that they leave open."""
        values = self._values(_filled(at, size))
        start = grid_guess if guess is None else functools.partial(first_guess, guess=guess)
        beams, invalid, rough = start(self.problem, values)
        found = enclosed(self.problem, beams, rough)
        e = jax.tree_util.tree_map(lambda x: np.asarray(x)[:, : at.size], found)
        bad = np.asarray(invalid)[: at.size]
        self.results.store(at, e)
        self.results.refuse(at[bad])
        self.results.evaluations[at] += 6 * self.problem.modes
        still = ~accepted(e, np.arange(1, self.problem.modes + 1)[:, None]) & ~bad
        return OpenModes.of(at, e, np.asarray(rough)[:, : at.size], still)

    def improve(self, left: OpenModes, halve: bool, lanes: np.ndarray) -> None:
        """Four more evaluations of modes that are not proven."""
        e = self._improved(left, halve, lanes)
        left.replace(lanes, e)
        self.results.store_modes(left.cell[lanes], left.mode[lanes], e)

    def confirm(self, left: OpenModes, lanes: np.ndarray) -> None:
        """Four more evaluations of modes that are known, for an estimate with other rounding errors."""
        some, again = left.take(lanes), self._improved(left, False, lanes)
        change = np.abs(again.omega / some.enclosure.omega - 1.0)
        alike = quiet(again, some.mode + 1) & (change <= NOISE)
        middle = 0.5 * (again.omega + some.enclosure.omega)
        self.results.confirm(some.cell[alike], some.mode[alike], middle[alike])

    def _improved(self, left: OpenModes, halve: bool, lanes: np.ndarray) -> Enclosure:
        some = left.take(_filled(lanes, _OPEN_MODES))
        numbers = jnp.asarray(some.mode + 1.0)
        values, known = self._values(some.cell), (some.omegas, some.rough, jnp.bool_(halve))
        better = improved(self.problem, values, some.enclosure, numbers, *known)
        self._count(left.cell[lanes], 4)
        e: Enclosure = jax.tree_util.tree_map(lambda x: np.asarray(x)[: lanes.size], better)
        return e

    def correct(self, left: OpenModes, lanes: np.ndarray) -> None:
        """One evaluation in double-double at modes that float64 knows well, and the chord to an end of the enclosure.

        An error of the float64 end's D weighs as little as the step is short against the enclosure.
        """
        some = left.take(lanes)
        e = some.enclosure
        sign, log_abs, count = self._extended(some, e.omega)
        above = count > some.mode
        chosen = np.stack([~above, above])
        ends = np.where(chosen, e.omega, np.stack([e.lower, e.upper]))
        logs = np.where(chosen, log_abs, np.stack([e.lower_log, e.upper_log]))
        counts = np.where(chosen, count, np.stack([e.lower_count, e.upper_count]))
        found = chord(ends, logs, counts, some.nearest())
        short = np.abs(found.omega - e.omega) <= _KNOWN * e.omega
        sound = short & ((sign > 0.0) == (count % 2 == 0))
        kept = dataclasses.replace(found, lower_count=np.where(sound, found.lower_count, -1.0))
        self.results.polish(some.cell, some.mode, kept)

    def polish(self, left: OpenModes, half_width: float, lanes: np.ndarray) -> None:
        """The parabola through three evaluations in double-double, for modes that float64 knows badly.

        Where D changes its sign between them, the mode is known the better afterwards.
        """
        some = left.take(lanes)
        omega = some.enclosure.omega
        ends = np.stack([omega * (1.0 - half_width), omega * (1.0 + half_width)])
        signs, logs, counts = (
            np.stack(x) for x in zip(*(self._extended(some, end) for end in ends), strict=True)
        )
        found = chord(ends, logs, counts, some.nearest())
        enclosed = signs[0] * signs[1] < 0.0
        sign, log_abs, _ = self._extended(some, np.where(enclosed, found.omega, omega))
        refined = parabola(
            np.stack([ends[0], found.omega, ends[1]]),
            np.stack([signs[0], sign, signs[1]]),
            np.stack([logs[0], log_abs, logs[1]]),
        )
        left.enclosure.omega[lanes] = np.where(enclosed, refined, omega)
        if half_width == min(_POLISH):
            kept = np.where(enclosed, found.lower_count, -1.0)
            found = dataclasses.replace(found, omega=refined, lower_count=kept)
            self.results.polish(some.cell, some.mode, found)

    def _extended(self, some: OpenModes, omega: np.ndarray) -> tuple[np.ndarray, ...]:
        """Sign, log|D| and count in double-double, one frequency for each mode."""
        value = extended(
            self.problem,
            self._values(_filled(some.cell, _EXTENDED_MODES)),
            jnp.asarray(_filled(omega, _EXTENDED_MODES)),
        )
        self._count(some.cell, 1)
        numbers = (value.sign, value.log_abs, value.count.astype(jnp.float64))
        return tuple(np.asarray(x)[: some.cell.size] for x in numbers)

    def _count(self, cells: np.ndarray, evaluations: int) -> None:
        with self.lock:
            np.add.at(self.results.evaluations, cells, evaluations)

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


def _free_hinges(arm: Arm, addresses: tuple[str, ...], values: np.ndarray) -> np.ndarray:
    """How many joints of each cell turn freely, int32, shape (cells,)."""
    stiffness = {
        f"link{number}.joint_stiffness": np.asarray(link.joint_stiffness)
        for number, link in enumerate(arm.links, start=1)
    }
    for address, column in zip(addresses, values, strict=True):
        singles = resolve(arm, address) if address.endswith(".joint_stiffness") else []
        stiffness |= dict.fromkeys(singles, column)
    free = np.zeros(values.shape[1], np.int32)
    for value in stiffness.values():
        free += value == 0.0
    return free
