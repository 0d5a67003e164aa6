"""Certified frequencies of many postures of one arm, by matrix products.

The determinant of every cell at a few hundred common frequencies, the separators, is the product of a matrix of
harmonics with a table of coefficients (`posture_tables`). Its changes of sign are roots, each between two separators,
and one count at the last of them proves that there are no others. Each root is refined on the polynomial of its panel
and enclosed by two frequencies at which the determinant is beyond the error of the series. Cells with two roots between
two separators pass a finer set of separators; what is left goes to the general search.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmodal.arm import Arm, BeamArrays
from jaxmodal.beams import Theory, prepared
from jaxmodal.frequencies import NaturalFrequencies
from jaxmodal.parameters import resolve
from jaxmodal.posture_harmonics import num_harmonics
from jaxmodal.posture_tables import tabulate
from jaxmodal.series_roots import (
    Grid,
    Panels,
    changes_of_sign,
    count_at,
    counts_of,
    grid_of,
    panels_of,
    product,
    refined,
    terms_of,
)
from jaxmodal.status import Status

#: cells of one chunk: its tables of values stay in cache
_CHUNK, _SECOND_CHUNK = 2048, 256
#: lanes (cells times modes) of one compiled repetition with bracketed steps
_SLOW_LANES = 256
#: separators per panel: those of the series, or as many as leave fewer than this share open; in the second pass
_SEPARATORS, _OPEN, _FINE = (None, 40, 80), 0.1, 160
#: half-width of an enclosure that is accepted, relative to omega
_WIDE = 1e-12
#: the count is taken where denominators are no smaller
_DENOMINATOR = 1e-5
_PILOTS, _RANGE_ROUNDS = 1024, 13
#: the series reaches from this share of the lowest sqrt(omega) of the pilots to this multiple of the highest
_BELOW, _ABOVE = 0.6, 1.01
#: series of more terms, and smaller batches, are left to the general search
_MOST_TERMS, _CELLS_PER_TERM = 400, 500
_ANGLE = re.compile(r"link(\d+|\*)\.joint_angle", re.ASCII)


@dataclasses.dataclass
class _Results:
    """Output arrays while they fill, cells first."""

    omega: np.ndarray
    width: np.ndarray
    noise: np.ndarray
    open: np.ndarray

    @classmethod
    def empty(cls, cells: int, modes: int) -> _Results:
        shape = (cells, modes)
        return cls(np.empty(shape), np.empty(shape), np.empty(shape), np.ones(cells, bool))


@dataclasses.dataclass(frozen=True)
class _Tables:
    """What the passes of one call share."""

    beams: BeamArrays
    flags: Theory
    modes: int
    top: Array
    panels: Panels


def _solve_chunk(
    tables: _Tables, grid: Grid, results: _Results, angles: np.ndarray, at: np.ndarray, safe: bool
) -> None:
    """Solve the cells ``at``; those that are not proven stay open."""
    size, modes = _SECOND_CHUNK if safe else _CHUNK, tables.modes
    padded = jnp.asarray(angles[:, np.resize(at, size)])
    terms = terms_of(padded)
    changes, weak = changes_of_sign(product(terms, grid.table), grid.weak)
    polynomials = product(terms, tables.panels.table)
    count, smallest = count_at(tables.beams, tables.flags, tables.top, padded)
    changed = np.asarray(changes)
    roots = np.count_nonzero(changed, axis=1)
    good = (roots == np.asarray(count)) & (roots >= modes)
    good &= ~np.asarray(weak) & (np.asarray(smallest) > _DENOMINATOR)
    changes_at = np.flatnonzero(changed)
    first = np.concatenate([[0], np.cumsum(roots)[:-1]])
    chosen = np.minimum(first[:, None] + np.arange(modes), changes_at.size - 1)
    chosen = changes_at[chosen] if changes_at.size else chosen
    cells = np.arange(size)[:, None]
    interval = np.where(good[:, None], chosen - cells * changed.shape[1], 0)
    lanes = np.broadcast_to(cells, interval.shape).ravel()
    interval = interval.ravel()
    found = _refine_lanes(tables, grid, polynomials, lanes, interval, safe, lanes.size)
    slow = np.flatnonzero((found[1] > _WIDE) & good[lanes])
    if not safe and slow.size:
        again = _refine_lanes(
            tables, grid, polynomials, lanes[slow], interval[slow], True, _SLOW_LANES
        )
        found[:, slow] = again
    omega, width, noise = found.reshape(3, size, modes)
    good &= (width <= _WIDE).all(axis=1)
    # neighbouring enclosures do not touch
    good &= (omega[:, 1:] * (1.0 - 2.0 * _WIDE) > omega[:, :-1]).all(axis=1)
    n = at.size
    results.omega[at], results.width[at], results.noise[at] = omega[:n], width[:n], noise[:n]
    results.open[at] = ~good[:n]


def _pass(
    tables: _Tables, grid: Grid, results: _Results, angles: np.ndarray, left: np.ndarray, safe: bool
) -> None:
    """Solve the cells ``left`` chunk by chunk, on all cores."""
    size = _SECOND_CHUNK if safe else _CHUNK
    parts = [left[start : start + size] for start in range(0, left.size, size)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(
            pool.map(
                functools.partial(_solve_chunk, tables, grid, results, angles, safe=safe), parts
            )
        )


def _refine_lanes(
    tables: _Tables,
    grid: Grid,
    polynomials: Array,
    cell: np.ndarray,
    interval: np.ndarray,
    safe: bool,
    size: int,
) -> np.ndarray:
    """`refined` for any number of lanes, ``size`` at a time: shape (3, lanes)."""
    found = np.empty((3, cell.size))
    for start in range(0, cell.size, size):
        part = slice(start, start + size)
        one, two = (jnp.asarray(np.resize(x[part], size), jnp.int32) for x in (cell, interval))
        part_found = refined(polynomials, one, two, grid, tables.panels, safe=safe)
        for row, x in zip(found, part_found, strict=True):
            row[part] = np.asarray(x)[: row[part].size]
    return found


def pays(arm: Arm, addresses: Sequence[str], cells: int) -> bool:
    """Whether a batch varies joint angles alone, each once, and has enough cells to pay for the table."""
    if not all(_ANGLE.fullmatch(address) for address in addresses):
        return False
    singles = [single for address in addresses for single in resolve(arm, address)]
    terms = num_harmonics(arm.num_links)
    enough = 1 < terms <= _MOST_TERMS and cells >= _CELLS_PER_TERM * terms
    return enough and len(set(singles)) == len(singles)


def _postures(arm: Arm, addresses: Sequence[str], values: np.ndarray) -> np.ndarray:
    """Joint angles of all links, shape (n, cells), from values of shape (addresses, cells)."""
    own = [float(link.joint_angle) for link in arm.links]
    angles = np.repeat(np.array(own)[:, None], values.shape[1], axis=1)
    for address, column in zip(addresses, values, strict=True):
        for single in resolve(arm, address):
            angles[int(single.removeprefix("link").partition(".")[0]) - 1] = column
    return angles


def solve(
    arm: Arm,
    addresses: Sequence[str],
    values: np.ndarray,
    modes: int,
    theory: str,
    general: Callable[[np.ndarray, int], NaturalFrequencies],
) -> NaturalFrequencies:
    """Frequencies of an arm in many postures.

    Parameters
    ----------
    arm : Arm
        The arm.
    addresses : sequence of str
        Addresses of joint angles, for which `pays` holds.
    values : np.ndarray, shape (addresses, cells)
        Their values in every cell, rad.
    modes : int
        How many frequencies, from the lowest.
    theory : str
        As for `natural_frequencies`.
    general : Callable
        Solves cells with given ``values``, so many at a time; called for those that the series leaves open.

    Returns
    -------
    NaturalFrequencies
        As of `natural_frequencies_batch`; ``by_sign_changes`` says which cells the series proved.
    """
    every = _postures(arm, addresses, values)
    angles, valid = every[1:], np.isfinite(every).all(axis=0)
    results = _by_series(arm, angles, valid, modes, theory)
    left = np.flatnonzero(results.open & valid)
    found = None
    if left.size:
        padded = left if left.size >= _SECOND_CHUNK else np.resize(left, _SECOND_CHUNK)
        found = general(values[:, padded], _SECOND_CHUNK)
    return _merged(results, valid, left, found, theory)


def _by_series(
    arm: Arm, angles: np.ndarray, valid: np.ndarray, modes: int, theory: str
) -> _Results:
    """Both passes over the ``valid`` cells."""
    beams, flags = prepared(arm, theory)
    results = _Results.empty(angles.shape[1], modes)
    ends = _range(beams, flags, angles[:, valid], modes)
    if ends is not None:
        series = tabulate(beams, flags, *ends, theory)
        top = series.edges[-1:] ** 2
        tables = _Tables(beams, flags, modes, top, panels_of(series))
        usable = np.where(valid, angles, 0.0)
        left = np.flatnonzero(valid)
        for fine in _SEPARATORS:
            grid = grid_of(series, fine)
            _solve_chunk(tables, grid, results, usable, left[:_CHUNK], safe=False)
            if results.open[left[:_CHUNK]].mean() < _OPEN:
                break
        _pass(tables, grid, results, usable, left[_CHUNK:], safe=False)
        left = np.flatnonzero(results.open & valid)
        _pass(tables, grid_of(series, _FINE), results, usable, left, safe=True)
    return results


def _range(
    beams: BeamArrays, flags: Theory, angles: np.ndarray, modes: int
) -> tuple[float, float] | None:
    """Values of sqrt(omega) below the first mode and above the last, of nearly all cells, from a sample of them."""
    if angles.shape[1] == 0:
        return None
    sample = np.random.default_rng(0).permutation(angles.shape[1])
    sample = np.resize(sample[:_PILOTS], _PILOTS)
    pilots = jnp.asarray(np.tile(angles[:, sample], 2))
    wanted = np.repeat([1, modes], _PILOTS)
    rigidity = beams.youngs_modulus * beams.second_moment / (beams.density * beams.area)
    scale = float(jnp.min(jnp.sqrt(rigidity) / (beams.length * beams.length)))
    low, high = np.log(scale * 1e-5), np.log(scale * 1e4 * modes**2)
    low, high = np.full(wanted.size, low), np.full(wanted.size, high)
    for _ in range(_RANGE_ROUNDS):
        middle = 0.5 * (low + high)
        passed = np.asarray(counts_of(beams, flags, jnp.exp(jnp.asarray(middle)), pilots)) >= wanted
        low, high = np.where(passed, low, middle), np.where(passed, middle, high)
    first, last = low[:_PILOTS].min(), high[_PILOTS:].max()
    return math.exp(0.5 * first) * _BELOW, math.exp(0.5 * last) * _ABOVE


def _merged(
    results: _Results,
    valid: np.ndarray,
    left: np.ndarray,
    found: NaturalFrequencies | None,
    theory: str,
) -> NaturalFrequencies:
    """The result; the cells ``left`` open by the series from what the general search found."""
    cells, modes = results.omega.shape
    numbers = np.arange(modes, dtype=np.int32)
    merged = {
        "omega": results.omega,
        "status": np.full((cells, modes), int(Status.certified), np.uint8),
        "count_below": np.tile(numbers, (cells, 1)),
        "count_above": np.tile(numbers + 1, (cells, 1)),
        "bracket": results.omega[..., None] * (1.0 + results.width[..., None] * [-1.0, 1.0]),
        "group": np.tile(numbers, (cells, 1)),
        "residual_ratio": (results.noise / 2.0**-52).astype(np.float32),
        "evaluations": np.ones(cells, np.int32),
    }
    for name, column in merged.items():
        if found is not None:
            column[left] = np.asarray(getattr(found, name))[: left.size]
        if name in ("omega", "bracket", "residual_ratio"):
            column[~valid] = np.nan
        elif name != "group":
            column[~valid] = int(Status.invalid_input) if name == "status" else 0
    columns = {name: jnp.asarray(column) for name, column in merged.items()}
    by_sign_changes = jnp.asarray(~results.open & valid)
    return NaturalFrequencies(**columns, by_sign_changes=by_sign_changes, theory=theory)
