"""One arm at many postures as plain columns, and compiled pieces of few sizes that work through any number of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from design_opt.evaluation.spectra import beam_gradients, search
from design_opt.problem.designs import OWN
from jaxmodal.arm.arrays import BeamArrays
from jaxmodal.dynamic_stiffness.beams import Theory

#: link values by name, one row for each lane
Columns = dict[str, np.ndarray]
NAMES = tuple(field.name for field in dataclasses.fields(BeamArrays) if field.name != "has_shear")


def columns_of(beams: BeamArrays) -> Columns:
    """Return link values as plain arrays by name, those that the arm has."""
    return {name: np.asarray(value) for name, value in given(beams).items()}


def given(beams: BeamArrays) -> dict[str, Any]:
    """Return the link values that the arm has, by name."""
    values = {name: getattr(beams, name) for name in NAMES}
    return {name: value for name, value in values.items() if value is not None}


def beams_of(columns: Columns) -> BeamArrays:
    """Return link values as JAX arrays."""
    arrays = {name: jnp.asarray(values) for name, values in columns.items()}
    return BeamArrays(**arrays, has_shear=True)


def posed(own: Columns, sets: Mapping[str, np.ndarray]) -> Columns:
    """One arm at all postures of the sets, arrays (cells, n)."""
    parts = [lanes_at(own, name, angles) for name, angles in sets.items()]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def lanes_at(own: Columns, name: str, angles: np.ndarray) -> Columns:
    """One arm at given postures, arrays (lanes, n); the set ``own`` takes the design's angles."""
    count = len(angles)
    lanes = {
        key: np.broadcast_to(np.asarray(values), (count, *values.shape))
        for key, values in own.items()
    }
    return lanes if name == OWN else lanes | {"joint_angle": angles}


def pulled_back(gradient: Columns, rates: Columns, name: str) -> np.ndarray:
    """Chain rule from link values, (lanes, n) and (n, variables), to the variables: (lanes, variables)."""
    total = np.zeros((gradient["length"].shape[0], rates["length"].shape[-1]))
    for key, of_variables in rates.items():
        rate = np.asarray(of_variables)
        if rate.any() and not (key == "joint_angle" and name != OWN):
            total += gradient[key] @ rate
    return total


def solve_cells(modes: int, cells: Columns, flags: Theory) -> np.ndarray:
    """`search` over any number of cells in compiled pieces of few sizes."""
    count = cells["length"].shape[0]
    size = 1 if count == 1 else 16 if count <= 16 else 64
    parts = [np.asarray(search(modes, beams_of(piece), flags)) for piece in _pieces(cells, size)]
    return np.concatenate(parts)[:count]


def solve_gradients(
    modes: int, lanes: Columns, flags: Theory, omega: np.ndarray, multiplicity: np.ndarray
) -> Columns:
    """`beam_gradients` over any number of lanes in compiled pieces of few sizes."""
    count, links = lanes["length"].shape
    if count == 0:
        return lanes
    size = 1 if count == 1 else 4 if links > 12 or count <= 4 else 32
    parts = []
    for piece in _pieces(lanes | {"omega": omega, "multiplicity": multiplicity}, size):
        own, number = jnp.asarray(piece.pop("omega")), jnp.asarray(piece.pop("multiplicity"))
        parts.append(columns_of(beam_gradients(modes, beams_of(piece), flags, own, number)))
    return {key: np.concatenate([part[key] for part in parts])[:count] for key in parts[0]}


def _pieces(columns: Columns, size: int) -> Iterator[Columns]:
    """Rows in pieces of one size, the last row repeated to fill the last piece."""
    count = columns["length"].shape[0]
    for start in range(0, count, size):
        at = np.minimum(np.arange(start, start + size), count - 1)
        yield {key: values[at] for key, values in columns.items()}
