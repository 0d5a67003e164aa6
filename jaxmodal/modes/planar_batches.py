"""Sensitivities, energies and effective masses of many planar arms: in NumPy, or in compiled blocks of cells."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.columns import columns_of, rates_of
from jaxmodal.arm.loaded import segments
from jaxmodal.batches.sizes import filled
from jaxmodal.batches.workers import Workers, in_turn
from jaxmodal.dynamic_stiffness.beams import Theory, theory_flags
from jaxmodal.eigenspaces.null_spaces import SLOTS
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.modes.cell_fields import CellFields
from jaxmodal.modes.kernels import CellQuantities, SolvedModes, block, cells_on_host
from jaxmodal.runtime.array_types import Bools, Floats, Integers
from jaxmodal.runtime.devices import available_cores

#: cells of one compiled call, few enough to stay in cache: where modes coincide, and where all stand apart
_BLOCK = 16
_SIMPLE_BLOCK = 32
#: cells whose derivatives are held at once by all link values, before those by address are made of them
_GATHERED = 8192
#: modes of all cells together that NumPy computes, 5 ms each; a program, which takes 10 s to compile, pays beyond
_HOST_MODES = 128
#: what the last correction of a null vector may still change, relative
_CONVERGED = 1e-12
_ONE_AT_A_TIME = threading.Lock()


def planar_quantities(
    arm: Arm,
    columns: Mapping[str, Floats],
    frequencies: NaturalFrequencies,
    first: Integers,
    last: Integers,
    singles: Sequence[str],
) -> CellFields:
    """Return the results for planar arms; see `spatial_quantities` for arms in space.

    ``last`` is the index of the last mode of each mode's cluster.
    """
    parameters = tuple(columns)
    omega, group = np.asarray(frequencies.omega), np.asarray(frequencies.group, np.int64)
    values = np.stack([*columns.values()]) if columns else np.zeros((0, len(omega)))
    multiplicity = np.clip(np.asarray(frequencies.multiplicity, np.int64), 1, SLOTS)
    alone = (first == last) & (multiplicity == 1)
    theory = theory_flags(frequencies.theory)
    solve = functools.partial(block, theory)
    parts = []
    for start in range(0, len(omega), _GATHERED):
        rows = slice(start, start + _GATHERED)
        given = columns_of(arm, parameters, values[:, rows])
        invalid = given.invalid | ~np.isfinite(omega[rows]).all(axis=1)
        cells = SolvedModes(
            packed=np.moveaxis(given.packed, -1, 0),
            omega=np.take_along_axis(np.where(invalid[:, None], 1.0, omega[rows]), group[rows], 1),
            multiplicity=multiplicity[rows],
            # an uncertified group may have more members than its counts tell
            slot=np.minimum(np.arange(omega.shape[1]) - group[rows], multiplicity[rows] - 1),
        )
        if omega[rows].size <= _HOST_MODES and not invalid.all():
            found = _found_on_host(theory, cells, invalid)
        else:
            found = _found(solve, cells, alone[rows].all(axis=1))
        derivative, value = {}, {}
        rates = rates_of(arm, parameters, values[:, rows], singles)
        for single, (own, rate) in zip(singles, rates, strict=True):
            derivative[single], value[single] = _derivative(found.gradient, rate), own
        parts.append(
            CellFields(
                derivative=derivative,
                value=value,
                omega=cells.omega,
                invalid=invalid,
                effective_mass=found.effective_mass,
                energies=_by_link(arm, found.energies),
                participation=found.participation,
                total_mass=found.total_mass,
            )
        )
    joined: CellFields = jax.tree_util.tree_map(lambda *x: np.concatenate(x), *parts)
    return joined


def _derivative(gradient: Floats, rate: Floats) -> Floats:
    """Return derivatives (N, K) by an address.

    They combine derivatives by link values (N, K, fields, links) with the rates of these, (fields, links, N).
    """
    found = np.zeros(gradient.shape[:2])
    for field, link in np.argwhere(rate.any(axis=-1)):  # one by one: no cell depends on the others
        by = rate[field, link][:, None]  # what does not change may have no derivative
        found += np.where(by != 0.0, gradient[..., field, link] * by, 0.0)
    return found


def _by_link(arm: Arm, energies: Any) -> Any:
    """Return energies over (..., segments) summed over the segments of each link."""
    number = segments(arm.loads, [link.rigid for link in arm.links])
    if sum(number) == len(number):
        return energies
    starts = np.cumsum([0, *number[:-1]])
    return jax.tree_util.tree_map(lambda x: np.add.reduceat(x, starts, axis=-1), energies)


def _taken(cells: SolvedModes, rows: Integers) -> SolvedModes:
    return SolvedModes(*(x[rows] for x in cells))


def _found_on_host(theory: Theory, cells: SolvedModes, invalid: Bools) -> CellQuantities:
    """Return the results of all cells in NumPy; invalid cells repeat those of a valid cell.

    Modes of frequency zero have no shape of their own: NaN, as of the compiled program.
    """
    number, shaped = np.arange(len(invalid)), cells.omega > 0.0
    cells = cells._replace(omega=np.where(shaped, cells.omega, 1.0))
    with np.errstate(all="ignore"):
        found = cells_on_host(theory, _taken(cells, number[~invalid]))
    place = np.where(invalid, 0, np.cumsum(~invalid) - 1)
    taken: CellQuantities = jax.tree_util.tree_map(lambda x: x[place], found)

    def known(x: Any) -> Any:
        return np.where(shaped.reshape(shaped.shape + (1,) * (x.ndim - 2)), x, np.nan)

    of_arms = taken.total_mass
    kept: CellQuantities = jax.tree_util.tree_map(known, taken._replace(total_mass=None))
    return kept._replace(total_mass=of_arms)


def _found(
    solve: Callable[..., CellQuantities], cells: SolvedModes, apart: Bools
) -> CellQuantities:
    """Return the results of all cells.

    Cells with isolated modes are solved by null vectors; the others, and failures, by eigenspaces.
    """
    parts, rest = [], ~apart
    if apart.any():
        rows = np.flatnonzero(apart)
        found = _in_blocks(solve, _taken(cells, rows), True)
        converged = ~(found.change > _CONVERGED).any(axis=1)
        parts.append((rows[converged], jax.tree_util.tree_map(lambda x: x[converged], found)))
        rest[rows[~converged]] = True
    if rest.any():
        rows = np.flatnonzero(rest)
        parts.append((rows, _in_blocks(solve, _taken(cells, rows), False)))
    order = np.argsort(np.concatenate([rows for rows, _ in parts]))
    joined: CellQuantities = jax.tree_util.tree_map(
        lambda *x: np.concatenate(x)[order], *(found for _, found in parts)
    )
    return joined


def _in_blocks(
    solve: Callable[..., CellQuantities], cells: SolvedModes, simple: bool
) -> CellQuantities:
    """Solve all cells in blocks of one size: in parallel if every mode is isolated, otherwise one by one."""
    every, size = np.arange(len(cells.omega)), _SIMPLE_BLOCK if simple else _BLOCK

    def one(at: Integers) -> CellQuantities:
        # two threads that run LAPACK calls of XLA at once on a CPU can wait for each other for ever
        with contextlib.nullcontext() if simple else _ONE_AT_A_TIME:
            found = solve(_taken(cells, filled(at, size)), simple=simple)
            kept: CellQuantities = jax.tree_util.tree_map(lambda x: np.asarray(x)[: at.size], found)
            return kept

    cores = available_cores()
    with ThreadPoolExecutor(cores) as pool:
        each = Workers(pool, cores).each if simple else in_turn
        blocks = each(one, every, size, 1)
    joined: CellQuantities = jax.tree_util.tree_map(lambda *parts: np.concatenate(parts), *blocks)
    return joined
