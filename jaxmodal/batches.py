"""Certified natural frequencies of many arms that differ in some parameters: float64 where it suffices, else exact.

Cells are solved in chunks that stay in cache, on all cores. A few hundred pilot cells are solved first; they give every
other cell a guess (`pilots`) from which six float64 evaluations enclose a mode (`guided_search`). What that leaves open
is gathered and goes on: with more evaluations, then with two double-double evaluations of the modes whose rounding
noise is too large, then through the general search, cell by cell. No finished cell waits for a slow one.
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

from jaxmodal.arm import Arm, BeamArrays, beam_arrays, invalid_values, require_shear
from jaxmodal.beams import Theory, theory_flags
from jaxmodal.condensation import Evaluation, evaluate, log_at_zero
from jaxmodal.frequencies import NaturalFrequencies, natural_frequencies, positive_integer
from jaxmodal.guided_search import WIDTH, Enclosure, enclose, improve
from jaxmodal.parameters import resolve, set_parameters
from jaxmodal.pilots import Guess, fit
from jaxmodal.precision import require_x64
from jaxmodal.root_search import find_brackets, grid_trials
from jaxmodal.status import Status

#: lanes (cells times modes) of one chunk: their working set stays in cache
_LANES = 16384
#: cells of one compiled second pass, and modes of one compiled double-double pass
_OPEN_CELLS, _OPEN_MODES = 128, 128
_PILOTS = 256
#: modes beyond the last that pilots provide: they shape the interpolation of the last ones
_EXTRA = 5
_GRID_ROUNDS = 60
#: a float64 frequency is accepted when the last evaluation, at a converged estimate, changed it by less, and when no
#: denominator on the way was smaller (the lost digits go with its square)
_NOISE, _DENOMINATOR = 2e-14, 1.0 / 100.0
#: half-width of the enclosures in double-double
_POLISH = 2e-9


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
    solver = _Solver(arm, addresses, flags, modes)
    results = _Results.empty(cells, modes)
    guess = _guess(solver, values)
    parts = _parts(np.arange(cells), size)
    _in_parallel(lambda at: _float_pass(solver, results, values, guess, at, size), parts)
    if guess is not None:
        again = _parts(results.open_cells(), _OPEN_CELLS)
        _in_parallel(lambda at: _float_pass(solver, results, values, None, at, _OPEN_CELLS), again)
    _solve_exactly(solver, results, values, theory)
    return results.frozen(theory)


def _parts(cells: np.ndarray, size: int) -> list[np.ndarray]:
    return [cells[start : start + size] for start in range(0, cells.size, size)]


def _in_parallel(work: Callable[[np.ndarray], None], parts: list[np.ndarray]) -> None:
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(work, parts))


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


def _padded(values: np.ndarray, size: int) -> np.ndarray:
    """Repeat the last cell until there are ``size`` of them."""
    return np.concatenate(
        [values, np.repeat(values[:, -1:], size - values.shape[1], axis=1)], axis=1
    )


@dataclasses.dataclass(frozen=True)
class _Solver:
    """What every pass of one call shares."""

    arm: Arm
    addresses: tuple[str, ...]
    flags: Theory
    modes: int


def _float_pass(
    solver: _Solver,
    results: _Results,
    values: np.ndarray,
    guess: Guess | None,
    at: np.ndarray,
    size: int,
) -> None:
    """Solve one chunk in float64, and what it leaves open by `improve` and in double-double.

    Without a guess every cell searches from a grid first.
    """
    chunk = _padded(values[:, at], size)
    beams, invalid, rough = _start(
        solver.arm,
        solver.flags,
        jnp.asarray(chunk),
        guess,
        addresses=solver.addresses,
        modes=solver.modes,
    )
    enclosed = _enclose(beams, solver.flags, rough, modes=solver.modes)
    bad = np.asarray(invalid)[: at.size]
    evaluations = np.full(at.size, 6 * solver.modes)
    e = jax.tree_util.tree_map(lambda x: np.array(x[:, : at.size]), enclosed)
    unproven = ~_proven(e)
    left = np.flatnonzero(unproven.any(axis=0) & ~bad)
    for start in range(0, left.size, _OPEN_CELLS):
        columns = left[start : start + _OPEN_CELLS]
        wide = jnp.asarray(_padded(columns[None], _OPEN_CELLS)[0])
        better = _improve(beams, solver.flags, enclosed, rough, wide)
        for field in dataclasses.fields(Enclosure):
            new = np.asarray(getattr(better, field.name))[:, : columns.size]
            old = getattr(e, field.name)
            old[:, columns] = np.where(unproven[:, columns], new, old[:, columns])
        evaluations[columns] += 4 * solver.modes
    results.store(at, e, bad, evaluations)
    _polish(solver, results, beams, at, e)


def _accepted(e: Enclosure) -> np.ndarray:
    return _proven(e) & (e.error <= _NOISE) & (e.smallest >= _DENOMINATOR)


def _proven(e: Enclosure) -> np.ndarray:
    """Modes that the counts at both ends of a narrow enclosure prove, the ends clear of the noise at the mode."""
    number = np.arange(1, e.omega.shape[0] + 1)[:, None]
    return np.asarray(
        (e.lower_count == number - 1)
        & (e.upper_count == number)
        & e.consistent
        & (e.upper - e.lower <= WIDTH * e.upper)
        & (np.minimum(e.omega - e.lower, e.upper - e.omega) > 0.1 * WIDTH * e.omega)
    )


def _polish(
    solver: _Solver, results: _Results, beams: BeamArrays, at: np.ndarray, e: Enclosure
) -> None:
    """Modes with too much rounding noise: counts and the chord of the determinant in double-double."""
    isolated = (e.upper_count - e.lower_count == 1) & (e.omega > 0.0)
    modes, columns = np.nonzero(isolated & ~_accepted(e))
    for start in range(0, modes.size, _OPEN_MODES):
        mode, column = modes[start : start + _OPEN_MODES], columns[start : start + _OPEN_MODES]
        wide = jnp.asarray(_padded(column[None], _OPEN_MODES)[0])
        omega = jnp.asarray(_padded(e.omega[mode, column][None], _OPEN_MODES)[0])
        nearest = jnp.asarray(_padded(_neighbours(e, mode, column), _OPEN_MODES))
        found = _chord(beams, solver.flags, omega, nearest, wide)
        refined, lower, upper = (np.asarray(x)[..., : mode.size] for x in found)
        cell = at[column]
        proven = (lower[1] == mode) & (upper[1] == mode + 1)
        cell, mode, refined, lower, upper = (
            x[..., proven] for x in (cell, mode, refined, lower, upper)
        )
        results.omega[cell, mode] = refined
        results.bracket[cell, mode] = np.stack([lower[0], upper[0]], axis=-1)
        results.status[cell, mode] = int(Status.certified)
        results.residual[cell, mode] = 1.0
        np.add.at(results.evaluations, cell, 2)


def _cell_beams(arm: Arm, addresses: tuple[str, ...], values: Array) -> tuple[BeamArrays, Array]:
    """Beams of shape (n, 1, cells) and which cells are invalid, from values of shape (addresses, cells)."""

    def one(cell: Array) -> tuple[BeamArrays, Array]:
        varied = set_parameters(arm, dict(zip(addresses, cell, strict=True)))
        return beam_arrays(varied), jnp.asarray(invalid_values(varied))

    beams, invalid = jax.vmap(one, in_axes=1)(values)
    beams = jax.tree_util.tree_map(lambda x: jnp.where(invalid, 1.0, x.T)[:, None], beams)
    return beams, invalid


def _neighbours(e: Enclosure, mode: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The modes below and above each given mode, shape (2, modes); far away where there is none."""
    last = e.omega.shape[0] - 1
    below = np.where(mode > 0, e.omega[np.maximum(mode - 1, 0), column], 0.0)
    above = np.where(
        mode < last, e.omega[np.minimum(mode + 1, last), column], 1e3 * e.omega[last, column]
    )
    return np.stack([below, above])


@functools.partial(jax.jit, static_argnames=("addresses", "modes"))
def _start(
    arm: Arm,
    flags: Theory,
    values: Array,
    guess: Guess | None,
    *,
    addresses: tuple[str, ...],
    modes: int,
) -> tuple[BeamArrays, Array, Array]:
    """Beams, which cells are invalid, and rough frequencies of shape (modes + extra, cells)."""
    beams, invalid = _cell_beams(arm, addresses, values)
    if guess is None:
        return beams, invalid, _from_grid(beams, flags, modes + _EXTRA)
    return beams, invalid, guess.frequencies(values)


@functools.partial(jax.jit, static_argnames=("modes",))
def _enclose(beams: BeamArrays, flags: Theory, rough: Array, *, modes: int) -> Enclosure:
    numbers = jnp.arange(1.0, modes + 1.0)[:, None]
    zero = log_at_zero(beams.length.shape[0])
    return enclose(lambda omega: evaluate(beams, flags, omega, False), numbers, rough, zero)


@functools.partial(jax.jit, static_argnames=("addresses", "modes", "theory"))
def _exact(
    arm: Arm, cells: Array, *, addresses: tuple[str, ...], modes: int, theory: str
) -> NaturalFrequencies:
    """The general search of `natural_frequencies` for cells of shape (cells, addresses)."""

    def one(cell: Array) -> NaturalFrequencies:
        varied = set_parameters(arm, dict(zip(addresses, cell, strict=True)))
        return natural_frequencies(varied, modes, theory)

    return jax.vmap(one)(cells)


@jax.jit
def _improve(
    beams: BeamArrays, flags: Theory, e: Enclosure, rough: Array, columns: Array
) -> Enclosure:
    beams, e, rough = jax.tree_util.tree_map(lambda x: x[..., columns], (beams, e, rough))
    numbers = jnp.arange(1.0, e.omega.shape[0] + 1.0)[:, None]
    return improve(e, lambda omega: evaluate(beams, flags, omega, False), numbers, rough)


@jax.jit
def _chord(
    beams: BeamArrays, flags: Theory, omega: Array, nearest: Array, columns: Array
) -> tuple[Array, Array, Array]:
    """Zero of the chord of D, the nearest modes divided out, between omega (1 -+ 2e-9), in double-double.

    Returns it with (frequency, count) of the two ends; counts of -1 where the signs do not differ.
    """
    beams = jax.tree_util.tree_map(lambda x: x[:, 0, columns], beams)
    ends = jnp.stack([omega * (1.0 - _POLISH), omega * (1.0 + _POLISH)])
    value: Evaluation = jax.lax.map(lambda x: evaluate(beams, flags, x, True), ends)
    ratio = jnp.prod(jnp.abs((ends[:1] - nearest) / (ends[1:] - nearest)), axis=0)
    ratio = jnp.where((ratio > 0.0) & jnp.isfinite(ratio), ratio, 1.0)
    share = 1.0 / (1.0 + ratio * jnp.exp(value.log_abs[1] - value.log_abs[0]))
    count = value.count.astype(omega.dtype)
    opposite = value.sign[0] * value.sign[1] < 0.0
    count = jnp.where(opposite, count, -1.0)
    refined = ends[0] + share * (ends[1] - ends[0])
    return refined, jnp.stack([ends[0], count[0]]), jnp.stack([ends[1], count[1]])


def _from_grid(beams: BeamArrays, flags: Theory, modes: int) -> Array:
    """Rough frequencies of cells without a guess."""
    rigidity = beams.youngs_modulus * beams.second_moment / (beams.density * beams.area)
    scale = jnp.min(jnp.sqrt(rigidity) / (beams.length * beams.length), axis=(0, 1))
    first = grid_trials(scale, modes)
    numbers = jnp.arange(1, modes + 1)[:, None]
    zero = log_at_zero(beams.length.shape[0])
    b = find_brackets(
        lambda omega: evaluate(beams, flags, omega, False),
        numbers,
        first,
        first,
        zero,
        1e-5,
        _GRID_ROUNDS,
    )
    return b.estimate


def _guess(solver: _Solver, values: np.ndarray) -> Guess | None:
    """The guess from pilot cells; None for batches too small to pay for them."""
    cells = values.shape[1]
    if cells < 2 * _PILOTS:
        return None
    pilots = np.random.default_rng(0).choice(cells, _PILOTS, replace=False)
    chosen = values[:, np.sort(pilots)]
    _, invalid, omega = _start(
        solver.arm,
        solver.flags,
        jnp.asarray(chosen),
        None,
        addresses=solver.addresses,
        modes=solver.modes,
    )
    good = ~np.asarray(invalid) & np.isfinite(chosen).all(axis=0) & np.isfinite(omega).all(axis=0)
    if good.sum() < 8:
        return None
    return fit(chosen[:, good], np.asarray(omega)[:, good], solver.addresses)


@dataclasses.dataclass
class _Results:
    """Output arrays while they fill, cells first."""

    omega: np.ndarray
    status: np.ndarray
    counts: np.ndarray
    bracket: np.ndarray
    residual: np.ndarray
    group: np.ndarray
    evaluations: np.ndarray

    @classmethod
    def empty(cls, cells: int, modes: int) -> _Results:
        return cls(
            omega=np.full((cells, modes), np.nan),
            status=np.full((cells, modes), int(Status.uncertified), np.uint8),
            counts=np.zeros((2, cells, modes), np.int32),
            bracket=np.full((cells, modes, 2), np.nan),
            residual=np.full((cells, modes), np.nan, np.float32),
            group=np.tile(np.arange(modes, dtype=np.int32), (cells, 1)),
            evaluations=np.zeros(cells, np.int32),
        )

    def store(
        self, at: np.ndarray, e: Enclosure, invalid: np.ndarray, evaluations: np.ndarray
    ) -> None:
        """Write the cells of a chunk, arrays of shape (modes, cells), to the rows ``at``."""
        self.omega[at] = np.where(invalid[:, None], np.nan, e.omega.T)
        status = np.where(_accepted(e).T, int(Status.certified), int(Status.uncertified))
        self.status[at] = np.where(invalid[:, None], int(Status.invalid_input), status)
        self.counts[0, at], self.counts[1, at] = (
            e.lower_count.T,
            np.minimum(e.upper_count.T, 2**31 - 1),
        )
        self.bracket[at] = np.where(
            invalid[:, None, None], np.nan, np.stack([e.lower.T, e.upper.T], axis=-1)
        )
        self.residual[at] = e.error.T / 2.0**-52
        self.evaluations[at] += evaluations

    def open_cells(self) -> np.ndarray:
        return np.flatnonzero((self.status == Status.uncertified).any(axis=1))

    def frozen(self, theory: str) -> NaturalFrequencies:
        return NaturalFrequencies(
            omega=jnp.asarray(self.omega),
            status=jnp.asarray(self.status),
            count_below=jnp.asarray(self.counts[0]),
            count_above=jnp.asarray(self.counts[1]),
            bracket=jnp.asarray(self.bracket),
            group=jnp.asarray(self.group),
            residual_ratio=jnp.asarray(self.residual),
            evaluations=jnp.asarray(self.evaluations),
            theory=theory,
        )


def _solve_exactly(solver: _Solver, results: _Results, values: np.ndarray, theory: str) -> None:
    """The general search in double-double for the cells left open."""
    left = results.open_cells()
    if left.size == 0:
        return

    size = 1 if left.size == 1 else 16
    for start in range(0, left.size, size):
        at = left[start : start + size]
        cells = jnp.asarray(_padded(values[:, at], size).T)
        exact = _exact(
            solver.arm, cells, addresses=solver.addresses, modes=solver.modes, theory=theory
        )
        results.omega[at] = exact.omega[: at.size]
        results.status[at] = exact.status[: at.size]
        results.counts[0, at], results.counts[1, at] = (
            exact.count_below[: at.size],
            exact.count_above[: at.size],
        )
        results.bracket[at] = exact.bracket[: at.size]
        results.group[at] = exact.group[: at.size]
        results.residual[at] = exact.residual_ratio[: at.size]
        results.evaluations[at] += np.asarray(exact.evaluations[: at.size], np.int32)
