"""Axial forces in the links under the loads of an arm, and the segments for links along which they vary.

They are computed from the arrays of the arm for each posture and each set of values. Derivatives by any value therefore
include the change of the equilibrium.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arm.loads import Loads
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import INNER, OUTER, TURNING, BeamArrays
from jaxmodal.statics.equilibrium import BALANCED, Equilibrium, equilibrium, turning_stiffness


class AtRest(NamedTuple):
    """The links of an arm, shape (n, ...), and their equilibrium under its loads."""

    links: BeamArrays
    found: Equilibrium


def at_rest(columns: dict[str, Any], loads: Loads) -> AtRest:
    """Return the static equilibrium of an arm under its loads.

    Parameters
    ----------
    columns : dict
        The fields of `BeamArrays` that the arm has, with its own axial forces, each of shape (n, ...).

    Notes
    -----
    Static forces are those of links that bend, stretch and, where their shear stiffness is known, shear, whatever
    theory the frequencies use. This matters only where supports make the arm statically indeterminate.
    """
    links = BeamArrays(**columns, has_shear=True)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return AtRest(links, equilibrium(links, 1.0, 1.0, loads.dead()))


def with_loads(
    columns: dict[str, Any], loads: Loads, rest: AtRest, rigid: Sequence[bool]
) -> dict[str, Any]:
    """Return the columns of an arm with the effects of its loads on the static forces added.

    Returns
    -------
    dict
        Columns of shape (m, ...), m the number of segments of all links. Axial forces are NaN where a free joint is not
        held against the loads.
    """
    found = rest.found
    held = xp.where(found.unheld <= BALANCED, 0.0, np.nan)
    turning = turning_stiffness(rest.links, loads.dead(), found.forces)
    zero = xp.zeros_like(found.forces.start[0])
    for name, added in zip(TURNING, turning, strict=True):
        columns = columns | {name: columns.get(name, zero) + added}
    number = segments(loads, rigid)
    link, place, count = _segments(number, zero.ndim)
    start, outer = (x[link] for x in (found.forces.start[0], found.forces.outer[0]))
    force = held + constant_force(start, outer, place / count, (place + 1) / count, loads.bound)
    bends = np.array([not stiff for stiff in rigid])[link].reshape(place.shape)
    own = columns.get("axial_force", zero)[link]
    first, last = place == 0, place == count - 1
    made = as_segments(columns, link, first, last)
    made["length"] = made["length"] / count
    return made | {"axial_force": own + xp.where(bends, force, held)}


def under_forces(arm: SerialArm) -> bool:
    """Return True if links have axial forces, or the arm has loads."""
    return arm.loads is not None or any(link.axial_force is not None for link in arm.links)


def as_segments(columns: dict[str, Any], link: Any, first: Any, last: Any) -> dict[str, Any]:
    """Return the columns of segments; their lengths are still those of the whole links.

    Parameters
    ----------
    columns : dict
        Fields of `BeamArrays` with values, each of shape (n, ...).
    link : array of int, shape (m,)
        The link of each segment.
    first, last : array of bool, shape (m, ...)
        True for segments that begin or end a link; these have the fields of its joint or of its tip.
    """
    made = {name: value[link] for name, value in columns.items()}
    for own, end in ((INNER, first), (OUTER, last)):
        for name, absent in own.items():
            if name in made:
                made[name] = xp.where(end, made[name], absent)
    return made


def segments(loads: Loads | None, rigid: Sequence[bool]) -> list[int]:
    """Return the number of segments of each link."""
    cut = loads.pieces if loads is not None and loads.varies else 1
    return [1 if stiff else cut for stiff in rigid]


def constant_force(start: Array, outer: Array, first: Array, last: Array, bound: str) -> Array:
    """Return the constant force used for a segment between two shares of its link; the true force is linear."""
    if bound == "middle":
        return start + (outer - start) * (0.5 * (first + last))
    ends = (start + (outer - start) * first, start + (outer - start) * last)
    falls = xp.real(outer - start) < 0.0
    lower, upper = xp.where(falls, ends[1], ends[0]), xp.where(falls, ends[0], ends[1])
    return lower if bound == "lower" else upper


def _segments(number: Sequence[int], ndim: int) -> tuple[Any, Any, Any]:
    """Return the link of each segment, its index in the link, and the number of segments of the link.

    The latter two are columns.
    """
    link = np.repeat(np.arange(len(number)), number)
    place = np.concatenate([np.arange(k, dtype=np.float64) for k in number])
    shape = (-1, *(1,) * (ndim - 1))
    return link, place.reshape(shape), np.asarray(number, np.float64)[link].reshape(shape)


def bears(columns: BeamArrays) -> Array:
    """Return True, shape (...), if the arm has an equilibrium under its loads in which no link is sheared off."""
    force, shear = columns.axial_force, columns.shear_modulus_effective
    assert force is not None
    rigidity = xp.where(xp.isfinite(shear), shear, 0.0) * columns.area
    sheared = xp.isfinite(shear) & (force + rigidity <= 0.0)
    return xp.all(xp.isfinite(force) & ~sheared, axis=0)
