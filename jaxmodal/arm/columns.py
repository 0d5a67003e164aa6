"""Many variants of an arm as columns: the inputs of the equations for each cell.

They are computed once, in NumPy, before any compiled program. Programs therefore do not depend on an arm, its name, or
which values vary.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import (
    arm_values,
    fields_of,
    invalid_values,
    require_one_arm,
)
from jaxmodal.arm.loaded import bears
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.paths import unchecked, value_at
from jaxmodal.arm.refusals import require_known
from jaxmodal.arm.validity import valid_cells
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import BASE, PLAIN, SUPPORTS, WITHOUT_EFFECT, BeamArrays

#: imaginary part of a value whose derivative is sought: with its square nothing of it is left
STEP = 1e-100
#: the fields of `BeamArrays` in the order of packed columns, those that only arms with supports at tips, under axial
#: forces and on elastic bases have last
_SUPPORTS = (*SUPPORTS, "ground_angle")
_PRELOAD = ("axial_force", "base_turning_stiffness", "end_turning_stiffness")
_FEATURES = tuple(
    f.name
    for f in dataclasses.fields(BeamArrays)
    if f.name not in (*PLAIN, *_SUPPORTS, *_PRELOAD, *BASE, "has_shear")
)
_LAYOUTS = (
    PLAIN,
    PLAIN + _FEATURES,
    PLAIN + _FEATURES + _SUPPORTS,
    PLAIN + _FEATURES + _SUPPORTS + _PRELOAD,
    PLAIN + _FEATURES + _SUPPORTS + BASE,
    PLAIN + _FEATURES + _SUPPORTS + _PRELOAD + BASE,
)


@dataclasses.dataclass(frozen=True)
class Columns:
    """Inputs of the equations for many cells.

    Attributes
    ----------
    packed : np.ndarray, shape (fields, links, cells)
        The fields of `BeamArrays`. The plain fields only, if no link of any cell has a feature; otherwise all, with the
        fields of supports and axial forces only where they occur. A link without a feature has a value without effect.
        Links that loads cut into segments count as several. All entries are 1 where the cell is invalid.
    invalid : np.ndarray, shape (cells,)
        True for cells with a value that an arm may not have.
    """

    packed: np.ndarray
    invalid: np.ndarray


def columns_of(arm: Arm, addresses: Sequence[str], values: np.ndarray) -> Columns:
    """Return the `Columns` of an arm with other ``values``, shape (addresses, cells), at some addresses."""
    cells = values.shape[1]
    require_one_arm(arm)
    with np.errstate(all="ignore"):
        varied = set_parameters(arm, dict(zip(addresses, values, strict=True)))
        fields = _fields(varied, cells)
        packed = _packed(fields, fields["length"].shape)
        invalid = ~valid_cells(varied, cells)
        if arm.loads is not None:
            invalid |= ~np.asarray(bears(unpacked(packed)))
    if invalid.any():
        packed[..., invalid] = 1.0
    return Columns(packed, invalid)


def columns_on_device(
    arm: Arm, addresses: Sequence[str], values: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return packed columns and invalid cells as a traceable function of ``values`` (see `columns_of`).

    For arms without loads. The values of the arm may be traced as well.
    """

    def one(cell: jax.Array) -> tuple[BeamArrays, jax.Array]:
        varied = set_parameters(arm, dict(zip(addresses, cell, strict=True)))
        return arm_values(varied), jnp.asarray(invalid_values(varied))

    beams, invalid = jax.vmap(one, in_axes=1, out_axes=-1)(values)
    given = ((f.name, getattr(beams, f.name)) for f in dataclasses.fields(BeamArrays))
    fields = {name: x for name, x in given if x is not None and name != "has_shear"}
    shape = fields["length"].shape
    rows = [jnp.broadcast_to(_filled(name, fields.get(name)), shape) for name in _layout_of(fields)]
    return jnp.where(invalid[None, None], 1.0, jnp.stack(rows)), invalid


def require_variants(arm: Arm, theory: str, values: Mapping[str, np.ndarray]) -> None:
    """Apply `refusals.require_known` to an arm and its variants, with ``values`` by address."""
    supports = {address: column for address, column in values.items() if ".support_" in address}
    require_known(set_parameters(arm, supports) if supports else arm, theory)


def rates_of(
    arm: Arm, addresses: Sequence[str], values: np.ndarray, singles: Sequence[str]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for each single-value address, its value, (cells,), and the derivative of the packed columns by it.

    Derivatives are taken by complex steps: the formulas are analytic, so no difference is formed.

    W. Squire and G. Trapp, SIAM Review 40 (1998) 110-112.
    """
    cells = values.shape[1]
    with np.errstate(all="ignore"):
        varied = set_parameters(arm, dict(zip(addresses, values, strict=True)))
        for single in singles:
            value, moved = stepped(varied, single)
            fields = _fields(moved, cells, np.complex128)
            packed = _packed(fields, fields["length"].shape)
            yield np.broadcast_to(value, (cells,)), packed.imag / STEP


def stepped(arm: Arm, single: str) -> tuple[Any, Any]:
    """Return the value at an address, and the arm, unchecked, with the imaginary part `STEP` added to it."""
    value = value_at(arm, single)
    return value, unchecked(arm, single, np.atleast_1d(value) + 1j * STEP)


def unpacked(packed: Any) -> BeamArrays:
    """Return `BeamArrays` from packed columns of JAX or NumPy, one field per entry of the first axis."""
    names = next(layout for layout in _LAYOUTS if len(layout) == packed.shape[0])
    return BeamArrays(**dict(zip(names, packed, strict=True)), has_shear=True)


def repacked(beams: BeamArrays) -> Array:
    """Return the fields of beams from `unpacked`, stacked along a new first axis."""
    fields = (getattr(beams, name) for name in _LAYOUTS[-1])
    return xp.stack([field for field in fields if field is not None])


def _layout_of(fields: Mapping[str, Any]) -> tuple[str, ...]:
    return next(layout for layout in _LAYOUTS if fields.keys() <= set(layout))


def _filled(name: str, value: Any) -> Any:
    return WITHOUT_EFFECT[name] if value is None else value


def _packed(fields: Mapping[str, Any], shape: tuple[int, ...]) -> np.ndarray:
    names = _layout_of(fields)
    packed = np.empty((len(names), *shape), fields["length"].dtype)
    for place, name in enumerate(names):
        packed[place] = _filled(name, fields.get(name))
    return packed


def _fields(arm: Arm, cells: int, dtype: type = np.float64) -> dict[str, Any]:
    """Return the `BeamArrays` fields, shape (links, cells), of an arm whose values are numbers or columns (cells,)."""

    def rows(name: str, absent: float) -> np.ndarray:
        found: np.ndarray = np.empty((arm.num_links, cells), dtype)
        for row, link in zip(found, arm.links, strict=True):
            value = getattr(link, name)
            row[:] = absent if value is None else value
        return found

    return fields_of(arm, rows)[0]
