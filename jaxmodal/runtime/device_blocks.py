"""Computation of many cells in blocks on the device; only the flags of unfinished cells are copied to the host."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jaxmodal.runtime.devices import default_device

#: arrays by name, cells first
Fields = dict[str, Array]


def in_blocks_of_cells(
    block: Callable[[np.ndarray], tuple[Fields, Array]],
    values: np.ndarray,
    size: int,
    left_open: Callable[[np.ndarray], Fields],
) -> Fields:
    """Return the results of ``block`` for all cells, on the default device; blocks are assigned to devices in turn.

    Parameters
    ----------
    block : Callable
        Function of the values of ``size`` cells that returns arrays, cells first, and a mask of unfinished cells,
        (cells,).
    values : np.ndarray, shape (..., cells)
        The values of all cells. The last block is padded, or overlaps with the previous one.
    size : int
        Number of cells of a block.
    left_open : Callable
        Function of the indices of unfinished cells that returns the same arrays for them.
    """
    cells = values.shape[-1]
    config: Any = jax.config
    devices = jax.local_devices() if config.jax_default_device is None else [default_device()]
    whole: Any = None
    starts = [max(0, min(start, cells - size)) for start in range(0, cells, size)]
    flags = []
    for number, start in enumerate(starts):
        part = values[..., start : start + size]
        short = size - part.shape[-1]
        if short:
            part = np.concatenate([part, np.repeat(part[..., -1:], short, axis=-1)], axis=-1)
        with jax.default_device(devices[number % len(devices)]):
            found, left = block(part)
        flags.append(left)
        if len(starts) == 1:
            whole = _first_cells(found, cells=cells) if short else found
            continue
        if len(devices) > 1:
            found = jax.device_put(found, devices[0])
        whole = _room(found, cells=cells) if whole is None else whole
        whole = _written(whole, found, np.int64(start))
    open_cells = np.zeros(cells, bool)
    for start, left in zip(starts, flags, strict=True):
        open_cells[start : start + size] = np.asarray(left)[: cells - start]
    at = np.flatnonzero(open_cells)
    if at.size:
        whole = _replaced(whole, *_filled(left_open(at), at, cells))
    return whole


@functools.partial(jax.jit, static_argnames=("cells",))
def _room(part: Fields, *, cells: int) -> Fields:
    """Return arrays like those of a part, for the given number of cells."""
    return {name: jnp.zeros((cells, *x.shape[1:]), x.dtype) for name, x in part.items()}


@functools.partial(jax.jit, static_argnames=("cells",))
def _first_cells(part: Fields, *, cells: int) -> Fields:
    return {name: x[:cells] for name, x in part.items()}


@functools.partial(jax.jit, donate_argnames=("whole",))
def _written(whole: Fields, part: Fields, start: Array) -> Fields:
    """Return the arrays with a part written at its place."""
    put = functools.partial(lax.dynamic_update_slice_in_dim, start_index=start, axis=0)
    return {name: put(x, part[name]) for name, x in whole.items()}


@functools.partial(jax.jit, donate_argnames=("whole",))
def _replaced(whole: Fields, part: Fields, at: Array) -> Fields:
    """Return the arrays with some cells replaced; indices beyond the end are ignored."""
    return {name: x.at[at].set(part[name], mode="drop") for name, x in whole.items()}


def _filled(found: Fields, at: np.ndarray, cells: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return arrays of the cells ``at`` and their indices, padded to a power of two to limit the number of programs.

    Padding has indices beyond the end.
    """
    size = 1 << (at.size - 1).bit_length()
    places = np.full(size, cells)
    places[: at.size] = at
    arrays = {}
    for name, x in found.items():
        arrays[name] = np.zeros((size, *x.shape[1:]), x.dtype)
        arrays[name][: at.size] = x
    return arrays, places
