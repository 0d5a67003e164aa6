"""Certified frequencies of many postures of one arm, by matrix products.

The determinant of every cell at a few hundred common frequencies, the separators, is the product of a table of
coefficients (`series`) with a matrix of harmonics. Its changes of sign are roots, each between two separators,
and one count at the last of them proves that there are no others. Each root is refined on the polynomial of its panel
and enclosed by two frequencies at which the determinant is beyond the error of the series (`series_roots`). Cells with
two roots between two separators pass a finer set of separators. Roots for which the series has lost too many digits
are finished by two evaluations in double-double, whose counts prove them. What is left goes to the general search.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import BeamArrays, beam_arrays
from jaxmodal.arm.parameters import resolve
from jaxmodal.dynamic_stiffness.beams import Theory, prepared_values
from jaxmodal.frequencies.programs import starting_scale
from jaxmodal.frequencies.refinement import Sample, refine
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.status import Status
from jaxmodal.postures.harmonics import determinant, num_harmonics
from jaxmodal.postures.series import has_series, tabulate
from jaxmodal.postures.series_roots import (
    WIDEST,
    Panels,
    SeparatorTable,
    count_at,
    counts_of,
    grid_of,
    panels_of,
    roots_of,
)
from jaxmodal.runtime.devices import default_device, is_gpu, on_callers_device

#: cells of one chunk, and in the second pass: its tables of values stay in cache, or fill a GPU
_CPU_CHUNKS, _GPU_CHUNKS = (2048, 256), (65536, 4096)
#: separators per panel: those of the series, or as many as leave fewer than this share open; in the second pass
_SEPARATORS, _OPEN, _FINE = (None, 40, 80), 0.1, 160
#: half-width of the first brackets in double-double, relative, at the least and at most
_LEAST, _MOST = 4e-13, 1e-9
#: cells of the sample whose first and last modes say how far the series has to reach, and halvings of the interval of
#: ln(omega) that hold them: thirteen leave 0.3 %. It goes from and, times the square of the modes sought, up to these
#: multiples of `starting_scale`
_PILOTS, _RANGE_ROUNDS = 1024, 13
_LOWEST, _HIGHEST = 1e-5, 1e4
#: the series reaches from this share of the lowest sqrt(omega) of the pilots to this multiple of the highest
_BELOW, _ABOVE = 0.6, 1.01
#: series of more terms, and smaller batches, are left to the general search
_MOST_TERMS, _CELLS_PER_TERM = 400, 500
_ANGLE = re.compile(r"link(\d+|\*)\.joint_angle", re.ASCII)


@dataclasses.dataclass
class _Results:
    """Output arrays while they fill, cells first; NaN where nothing has been found.

    ``count`` is how many modes lie below the last separator, -1 where that is not certain.
    """

    omega: np.ndarray
    bracket: np.ndarray
    noise: np.ndarray
    open: np.ndarray
    by_sign_changes: np.ndarray
    count: np.ndarray

    @classmethod
    def empty(cls, cells: int, modes: int) -> _Results:
        shape = (cells, modes)
        return cls(
            omega=np.full(shape, np.nan),
            bracket=np.full((*shape, 2), np.nan),
            noise=np.full(shape, np.nan, np.float32),
            open=np.ones(cells, bool),
            by_sign_changes=np.zeros(shape, bool),
            count=np.full(cells, -1.0),
        )


@dataclasses.dataclass(frozen=True)
class _Tables:
    """What the passes of one call share."""

    beams: BeamArrays
    flags: Theory
    modes: int
    top: np.ndarray
    panels: Panels
    angles: np.ndarray
    pool: ThreadPoolExecutor
    chunks: tuple[int, int]

    def compile_ahead(self, fine: SeparatorTable, compilers: ThreadPoolExecutor) -> None:
        """Compile what the first chunk does not begin with, while it is compiled and solved itself.

        What fails here fails again, and is reported, where the program is used.
        """
        joints = self.angles.shape[0]
        many, few = (np.zeros((joints, size)) for size in self.chunks)
        count = functools.partial(count_at, self.beams, self.flags, self.top, many)
        roots = functools.partial(roots_of, few, fine, self.panels, modes=self.modes, safe=True)
        for program in (count, roots):
            compilers.submit(on_callers_device(program))

    def solve(
        self, grid: SeparatorTable, results: _Results, cells: np.ndarray, safe: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve ``cells`` in chunks; those that are not proven stay open.

        Returns which of the cells have all their roots apart, and the widths of the enclosures, (cells, modes).
        """
        size = self.chunks[1] if safe else self.chunks[0]
        parts = [cells[start : start + size] for start in range(0, cells.size, size)]
        chunk = on_callers_device(
            functools.partial(self._chunk, grid, results, size=size, safe=safe)
        )
        none = np.empty(0, bool), np.empty((0, self.modes))
        complete, width = zip(none, *self.pool.map(chunk, parts), strict=True)
        return np.concatenate(complete), np.concatenate(width)

    def _chunk(
        self, grid: SeparatorTable, results: _Results, at: np.ndarray, *, size: int, safe: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        padded = self.angles[:, np.resize(at, size)]
        found = roots_of(padded, grid, self.panels, modes=self.modes, safe=safe)
        if not safe:
            count = count_at(self.beams, self.flags, self.top, padded)
            results.count[at] = np.asarray(count)[: at.size]
        omega, width, noise, number, apart = (np.asarray(x)[: at.size] for x in found)
        complete = apart & (number == results.count[at]) & (number >= self.modes)
        proven = complete & (width <= WIDEST).all(axis=1)
        results.omega[at] = omega
        results.bracket[at, :, 0] = omega * (1.0 - width)
        results.bracket[at, :, 1] = omega * (1.0 + width)
        results.noise[at] = np.where(complete[:, None], noise, np.nan)
        results.open[at] = ~proven
        results.by_sign_changes[at] = proven[:, None]
        return complete, width

    def finish(self, results: _Results, cells: np.ndarray, width: np.ndarray) -> None:
        """Roots for which the series has lost digits, in double-double.

        The series says where they are; `refine` proves each inside a bracket of its own.
        """
        row, mode = np.nonzero(width > WIDEST)
        if row.size == 0:
            return
        cell = cells[row]

        def evaluate(at: np.ndarray, omega: np.ndarray) -> Sample:
            d = determinant(self.beams, self.flags, omega, self.angles[:, cell[at]])
            with np.errstate(divide="ignore"):
                return Sample(np.sign(d.factor), np.log(np.abs(d.factor)), d.passed)

        half = np.maximum(_LEAST, 2.0 * width[row, mode])
        found = refine(evaluate, results.omega[cell, mode], half, mode)
        at = cell[found.settled], mode[found.settled]
        results.omega[at], results.noise[at] = (
            found.omega[found.settled],
            found.error[found.settled],
        )
        results.bracket[at] = np.stack([found.lower, found.upper], axis=-1)[found.settled]
        proven = found.settled
        failed = np.zeros(width.shape, bool)
        failed[row[~proven], mode[~proven]] = True
        good = ~failed.any(axis=1) & (np.diff(results.omega[cells], axis=1) > 0.0).all(axis=1)
        results.open[cells[good]] = False
        results.by_sign_changes[cells[good]] = width[good] <= WIDEST


def pays(arm: Arm, addresses: Sequence[str], cells: int) -> bool:
    """Whether a batch varies joint angles alone, each once, and has enough cells to pay for the table."""
    if not all(_ANGLE.fullmatch(address) for address in addresses):
        return False
    singles = [single for address in addresses for single in resolve(arm, address)]
    terms = num_harmonics(arm.num_links)
    enough = 1 < terms <= _MOST_TERMS and cells >= _CELLS_PER_TERM * terms
    return enough and len(set(singles)) == len(singles) and has_series(beam_arrays(arm))


def _chunks() -> tuple[int, int]:
    return _GPU_CHUNKS if is_gpu(default_device()) else _CPU_CHUNKS


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
    general: Callable[[np.ndarray], NaturalFrequencies],
    pool: ThreadPoolExecutor,
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
        Solves cells with given ``values``; called for those that the series leaves open.
    pool : ThreadPoolExecutor
        Where chunks are solved.

    Returns
    -------
    NaturalFrequencies
        As of `natural_frequencies_batch`; ``by_sign_changes`` says which modes the series proved.
    """
    every = _postures(arm, addresses, values)
    angles, valid = every[1:], np.isfinite(every).all(axis=0)
    results = _by_series(arm, angles, valid, modes, theory, pool)
    left = np.flatnonzero(results.open & valid)
    found = None
    if left.size:
        found = general(values[:, left])
    return _merged(results, valid, left, found, theory)


def _by_series(
    arm: Arm,
    angles: np.ndarray,
    valid: np.ndarray,
    modes: int,
    theory: str,
    pool: ThreadPoolExecutor,
) -> _Results:
    """All that the series can do for the ``valid`` cells."""
    beams, flags = prepared_values(arm, theory)
    results = _Results.empty(angles.shape[1], modes)
    ends = _range(beams, flags, angles[:, valid], modes)
    if ends is None:
        return results
    series = tabulate(beams, flags, *ends, theory)
    top, usable = np.asarray(series.edges)[-1:] ** 2, np.where(valid, angles, 0.0)
    tables = _Tables(beams, flags, modes, top, panels_of(series), usable, pool, _chunks())
    left, first, fine_grid = np.flatnonzero(valid), tables.chunks[0], grid_of(series, _FINE)
    with ThreadPoolExecutor() as compilers:
        tables.compile_ahead(fine_grid, compilers)
        for fine in _SEPARATORS:
            grid = grid_of(series, fine)
            tables.solve(grid, results, left[:first], safe=False)
            if results.open[left[:first]].mean() < _OPEN:
                break
    tables.solve(grid, results, left[first:], safe=False)
    left = np.flatnonzero(results.open & valid)
    complete, width = tables.solve(fine_grid, results, left, safe=True)
    wide = complete & results.open[left] & (2.0 * width <= _MOST).all(axis=1)
    tables.finish(results, left[wide], width[wide])
    return results


def _range(
    beams: BeamArrays, flags: Theory, angles: np.ndarray, modes: int
) -> tuple[float, float] | None:
    """Values of sqrt(omega) below the first mode and above the last, of nearly all cells, from a sample of them."""
    if angles.shape[1] == 0:
        return None
    sample = np.random.default_rng(0).permutation(angles.shape[1])
    sample = np.resize(sample[:_PILOTS], _PILOTS)
    pilots = np.tile(angles[:, sample], 2)
    wanted = np.repeat([1, modes], _PILOTS)
    scale = float(starting_scale(beams))
    low, high = (np.full(wanted.size, np.log(scale * x)) for x in (_LOWEST, _HIGHEST * modes**2))
    for _ in range(_RANGE_ROUNDS):
        middle = 0.5 * (low + high)
        with np.errstate(all="ignore"):
            passed = counts_of(beams, flags, np.exp(middle), pilots) >= wanted
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
        "bracket": results.bracket,
        "group": np.tile(numbers, (cells, 1)),
        "residual_ratio": results.noise * np.float32(2.0**52),
        "evaluations": np.ones(cells, np.int32),
    }
    for name, column in merged.items():
        if found is not None:
            column[left] = np.asarray(getattr(found, name))
        if name in ("omega", "bracket", "residual_ratio"):
            column[~valid] = np.nan
        elif name != "group":
            column[~valid] = int(Status.invalid_input) if name == "status" else 0
    proof = results.by_sign_changes
    return jax.device_put(NaturalFrequencies(**merged, by_sign_changes=proof, theory=theory))
