"""Certified frequencies of many postures of one arm, by matrix products.

The polynomials of every cell on all panels are the product of a table of coefficients (`series`) with a matrix of
harmonics. They give the determinant at a few hundred common frequencies, the separators. Its changes of sign are roots,
each between two separators, and one count at the last of them proves that there are no others. Each root is refined on
the polynomial of its panel and enclosed by two frequencies at which the determinant is beyond the error of the series
(`series_roots`). Two roots between two separators are parted by the extreme value between them. Roots for which the
series has lost too many digits are finished by two evaluations in double-double, whose counts prove them. What is left
goes to the general search.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.results import NaturalFrequencies, fields_of
from jaxmodal.postures.expansions import Expansion
from jaxmodal.postures.fewer_terms import checked, in_fewer_terms
from jaxmodal.postures.places import (
    as_in_the_table,
    expansion_of,
    own_angles,
    placed,
    possible_places,
    rows_of_angles,
    varied,
)
from jaxmodal.postures.series import tabulate
from jaxmodal.postures.series_on_device import first_pass, postures_of_a_block
from jaxmodal.postures.series_passes import Tables
from jaxmodal.postures.series_results import SeriesResults, merged
from jaxmodal.postures.series_roots import WIDEST, panels_of
from jaxmodal.postures.value_ranges import within
from jaxmodal.runtime.device_blocks import in_blocks_of_cells
from jaxmodal.runtime.devices import default_device, is_gpu
from jaxmodal.runtime.namespace import Array
from jaxmodal.spatial.arms.arm import AnyArm

#: cells of one chunk at the most, of NumPy and of a GPU, and of a block of a program for CPUs
_CPU_CHUNK, _GPU_CHUNK, _CPU_BLOCK = 2048, 65536, 128
#: coefficients of the polynomials of one chunk at the most, and of a block: they stay in cache of the second level
_CPU_VALUES, _BLOCK_VALUES = 3 << 18, 3 << 14
#: intervals of a panel: as many as leave fewer than this share open, or the last
_INTERVALS, _OPEN = (30, 40), 0.1
#: the same on a GPU, where they cost little, and what they leave open is left to the host
_GPU_INTERVALS = 40
#: cells of the sample whose first and last modes say how far the series has to reach; how often the interval of
#: ln(omega) that holds one of these is cut, and at how many places: into a ten-thousandth, which leaves 0.3 %. It goes
#: from and, times the square of the modes sought, up to these multiples of `starting_scale`
_PILOTS, _RANGE_ROUNDS, _CUTS = 1024, 4, 9
#: cells of larger samples are drawn at random, so many
_LARGE = 16_384
#: of these so many are asked first, as often; all others confirm what they say
_FIRST_PILOTS, _FIRST_ROUNDS = 32, 2
#: in space a series is not taken that leaves more than this share of so many postures open; up to so many cells with
#: such modes are finished in double-double, a millisecond for each mode, before the general path is the faster way
_TRIED, _MOST_LEFT, _MOST_FINISHED = 256, 0.5, 4096
#: the same in the plane with values beside angles: so many modes of a cell are finished in double-double, 45
#: microseconds each, in the time in which the general path solves the cell
_MOST_WIDE = 1.0
_LOWEST, _HIGHEST = 1e-5, 1e4
#: and from here where values vary beside angles: soft springs under heavy bodies
_LOWEST_OF_VALUES = 1e-9
#: the series reaches from this share of the lowest sqrt(omega) of the pilots to one of these multiples of the highest:
#: the first where this share of the pilots at the most has a count less clear than so many times what makes it certain.
#: A link's own resonance may lie there, near which no count is certain in any posture
_BELOW, _ABOVE = 0.6, (1.01, 1.02, 1.03, 1.04, 1.05, 1.06)
_UNCLEAR, _CLEAR = 0.01, 100.0
#: postures that NumPy solves, 4 microseconds each, 16 in space; programs take 0.5 and 2 and are compiled before
HOST_POSTURES = 131_072
#: first panels in space for ten modes: joints that give way have modes that no wave of a link tells of
_PANELS_OF_TEN = 8
#: postures that a GPU has left open and that NumPy solves all the same
_HOST_LEFT = 65_536


def prepare(
    arm: AnyArm,
    addresses: Sequence[str],
    sample: np.ndarray,
    modes: int,
    theory: TheoryName,
    cells: int,
) -> Tables | None:
    """Tabulate the series of an arm.

    Parameters
    ----------
    addresses : sequence of str
        Addresses for which `pays` holds.
    sample : np.ndarray, shape (addresses, samples)
        Some of their values: the range of the series is that of their frequencies.
    modes : int
        How many frequencies, from the lowest.
    cells : int
        How many postures there will be in all.

    Returns
    -------
    Tables or None
        None where no cell is possible, and where the series is not the determinant (`holds`).
    """
    asked = varied(arm, addresses, sample)
    if asked is None:
        return None
    if (
        sample.shape[1] > _LARGE
    ):  # to look at all of them would take as long as to solve them on a GPU
        few = sample[:, np.random.default_rng(0).integers(0, sample.shape[1], _LARGE)]
        sample = few if possible_places(asked, arm, addresses, few).shape[1] >= _PILOTS else sample
    places = possible_places(asked, arm, addresses, sample)
    if places.shape[1] == 0:
        return None
    expansion = expansion_of(arm, asked, places[len(asked.joints) :], theory)
    if expansion is None:
        return None
    ranges = expansion.ranges
    chosen = np.random.default_rng(0).permutation(places.shape[1])
    places = places[:, np.resize(chosen[:_PILOTS], _PILOTS)]
    least = 1 if expansion.estimated else modes * _PANELS_OF_TEN // 10
    series = tabulate(expansion, *_range(expansion, places, modes), theory, least)
    fewer = None
    if not expansion.estimated:
        series, fewer = in_fewer_terms(series, expansion.terms)
    sharper = checked(series, fewer, expansion)
    if sharper is None:
        return None
    series = sharper
    gpu, top = _on_gpu(expansion), np.asarray(series.edges)[-1:] ** 2
    tables = Tables(
        expansion=expansion,
        theory=theory,
        modes=modes,
        top=top,
        counter=expansion.counter(top),
        series=series,
        panels=panels_of(series, fewer, ranges),
        intervals=_INTERVALS[0],
        host=expansion.on_host or (cells <= HOST_POSTURES and not gpu),
        chunk=_CPU_CHUNK,
        finished=_MOST_FINISHED if expansion.in_space else None,
        varied=asked,
    )
    for intervals in (_GPU_INTERVALS,) if gpu else _INTERVALS:
        tables = dataclasses.replace(tables, intervals=intervals)
        if gpu or _open_share(tables, places) < _OPEN:
            break
    if not expansion.estimated and not _closes(tables, places):
        return None
    if gpu:
        return dataclasses.replace(tables, chunk=postures_of_a_block(tables.panels, _GPU_CHUNK))
    chunk = _cells_of(tables, _CPU_CHUNK, _CPU_VALUES)
    return dataclasses.replace(
        tables, chunk=chunk, block=_cells_of(tables, _CPU_BLOCK, _BLOCK_VALUES)
    )


def _on_gpu(expansion: Expansion) -> bool:
    return is_gpu(default_device()) and not expansion.on_host


def _cells_of(tables: Tables, most: int, values: int) -> int:
    """So many cells at the most, whose polynomials have no more than so many coefficients: a power of two."""
    rows = sum(table.shape[0] for table in tables.panels.table)
    return int(min(most, 1 << (max(values // rows, 1).bit_length() - 1)))


def _closes(tables: Tables, places: np.ndarray) -> bool:
    """Whether the series leaves few enough cells and modes open that the general path is not the faster way.

    Of arms that have each mode twice it leaves all open.
    """
    some = places[:, :_TRIED]
    found, _ = tables.solved(tables.about, some, safe=True, host=True)
    wide = found.width > WIDEST
    if tables.finished is None and np.mean(np.sum(wide, axis=1)) > _MOST_WIDE:
        return False
    left = ~found.apart if tables.finished is None else ~found.apart | wide.any(axis=1)
    return bool(np.mean(left) <= _MOST_LEFT)


def _open_share(tables: Tables, places: np.ndarray) -> float:
    """How much the first pass would leave open."""
    every = np.arange(places.shape[1])
    results = SeriesResults.empty(every >= 0, tables.modes)
    found, results.count[:] = tables.solved(tables.about, places, safe=False, host=True)
    results.store(every, found)
    return float(results.open.mean())


def solve_batch(
    tables: Tables,
    arm: AnyArm,
    addresses: Sequence[str],
    values: np.ndarray,
    general: Callable[[np.ndarray], NaturalFrequencies],
    pool: ThreadPoolExecutor,
) -> NaturalFrequencies:
    """`solve` of values (addresses, cells), or on a GPU `solve_on_device`."""
    if _on_gpu(tables.expansion):
        return solve_on_device(tables, arm, addresses, values, general, pool)
    return solve(tables, arm, addresses, values, general, pool)


def solve(
    tables: Tables,
    arm: AnyArm,
    addresses: Sequence[str],
    values: np.ndarray,
    general: Callable[[np.ndarray], NaturalFrequencies],
    pool: ThreadPoolExecutor,
) -> NaturalFrequencies:
    """Frequencies of an arm in many cells.

    Parameters
    ----------
    values : np.ndarray, shape (addresses, cells)
        What every cell has at the addresses.
    general : Callable
        Solves the cells of given numbers; called for those that the series leaves open.
    pool : ThreadPoolExecutor
        Where chunks are solved.

    Returns
    -------
    NaturalFrequencies
        As of `natural_frequencies_batch`; ``by_sign_changes`` says which modes the series proved.
    """
    places, valid = placed(tables.varied, arm, addresses, values)
    usable = valid & within(tables.panels.ranges, places)
    usable &= as_in_the_table(tables.varied, arm, values, places)
    results = tables.solve(places, usable, pool)
    left = np.flatnonzero(results.open & valid)
    found = None
    if left.size:
        found = general(left)
    return merged(results, valid, left, found, tables.theory, pool)


def solve_on_device(
    tables: Tables,
    arm: AnyArm,
    addresses: Sequence[str],
    values: np.ndarray,
    general: Callable[[np.ndarray], NaturalFrequencies],
    pool: ThreadPoolExecutor,
) -> NaturalFrequencies:
    """As `solve`, of values (addresses, cells), with the first pass and all that is found on the default device."""
    block = block_on_device(tables, arm, addresses)

    def left(at: np.ndarray) -> dict[str, Array]:
        few = dataclasses.replace(tables, host=at.size <= _HOST_LEFT)
        found = solve(few, arm, addresses, values[:, at], lambda some: general(at[some]), pool)
        return fields_of(found)

    size = postures_of_a_block(tables.panels, values.shape[1])
    rows, known = list(tables.varied.rows), values
    possible = as_in_the_table(
        tables.varied, arm, values, placed(tables.varied, arm, addresses, values)[0]
    )
    if not possible.all():  # the device leaves open what is in no range
        known = values.copy()
        known[np.ix_(rows, np.flatnonzero(~possible).tolist())] = np.nan
    found: dict[str, Any] = in_blocks_of_cells(block, known, size, left)
    return NaturalFrequencies(**found, theory=tables.theory)


def block_on_device(
    tables: Tables, arm: AnyArm, addresses: Sequence[str]
) -> Callable[[np.ndarray], tuple[dict[str, Array], Array]]:
    """`first_pass` as a function of the values of a block of cells alone, shape (addresses, cells)."""
    about = *tables.about, own_angles(arm)
    given = tuple(rows_of_angles(arm, addresses).tolist())
    return functools.partial(
        first_pass,
        *about,
        modes=tables.modes,
        intervals=tables.intervals,
        given=given,
        rows=tables.varied.rows,
    )


def _range(expansion: Expansion, places: np.ndarray, modes: int) -> tuple[float, float]:
    """Values of sqrt(omega) below the first mode and above the last, of nearly all postures, from a sample of them."""
    scale, every = expansion.scale, places
    lowest = _LOWEST if expansion.ranges is None else _LOWEST_OF_VALUES
    widest = tuple(np.log(scale * np.array([x, x])) for x in (lowest, _HIGHEST * modes**2))
    low, high = widest
    few = places[:, :_FIRST_PILOTS]
    for _ in range(_FIRST_ROUNDS):
        low, high, few = _narrowed(expansion, few, modes, low, high)
    # at both ends of both intervals, in turn: the first mode of no posture lies below, the last of none above
    count = expansion.counts(np.exp(np.stack([low, high]).T.ravel()), places)
    passed = count.reshape(2, 2, -1) >= np.array([1, modes])[:, None, None]
    rounds = _RANGE_ROUNDS
    if passed[0, 0].any() or not passed[1, 1].all():
        low, high = widest
    else:
        rounds, places = rounds - _FIRST_ROUNDS, places[:, passed[0, 1] | ~passed[1, 0]]
    for _ in range(rounds):
        low, high, places = _narrowed(expansion, places, modes, low, high)
    return math.exp(0.5 * low[0]) * _BELOW, _clear_end(expansion, every, math.exp(0.5 * high[1]))


def _narrowed(
    expansion: Expansion,
    places: np.ndarray,
    modes: int,
    low: np.ndarray,
    high: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Intervals of ln(omega), shape (2,), for the first mode in any posture and the last in all, cut once.

    With them the postures that may still have the lowest or the highest.
    """
    # both at once: fewer calls of NumPy
    cuts = np.linspace(low, high, _CUTS + 2, axis=1)
    count = expansion.counts(np.exp(cuts[:, 1:-1].ravel()), places)
    passed = count.reshape(2, _CUTS, -1) >= np.array([1, modes])[:, None, None]
    passed = np.pad(passed, ((0, 0), (1, 1), (0, 0)))
    passed[:, -1] = True
    first, last = int(passed[0].any(axis=1).argmax()), int(passed[1].all(axis=1).argmax())
    after = np.array([first, last])
    kept = places[:, passed[0, first] | ~passed[1, last - 1]]
    return cuts[[0, 1], after - 1], cuts[[0, 1], after], kept


def _clear_end(expansion: Expansion, places: np.ndarray, last: float) -> float:
    """A value of sqrt(omega) a little above ``last`` where counts are certain in nearly all postures."""
    ends = last * np.array(_ABOVE)
    with np.errstate(all="ignore"):
        _, clear = expansion.counter(ends**2).count(places)
    clearest = np.quantile(np.nan_to_num(clear), _UNCLEAR, axis=1)
    enough = clearest >= _CLEAR
    return float(ends[int(enough.argmax() if enough.any() else clearest.argmax())])
