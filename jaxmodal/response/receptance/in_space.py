"""Responses of arms in space with ports at any frequency, with all digits, and where they are infinite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jaxmodal.response.driven.port_quantities import OF_RECEPTANCES, in_quantity
from jaxmodal.response.driven.spatial_systems import SpatialSystem, is_free
from jaxmodal.response.receptance.answers import AWAY, around, grows_towards, infinite_among
from jaxmodal.response.receptance.circle_means import kept_digits
from jaxmodal.response.receptance.denominators_in_space import Told, may_resonate
from jaxmodal.response.receptance.lost_digits import LARGE_GROWTH
from jaxmodal.response.receptance.recursion_in_space import BLOCK, condensed_in_space
from jaxmodal.response.receptance.still_ports import Still, read_motions, still_loads
from jaxmodal.runtime.array_types import Floats, Numbers
from jaxmodal.runtime.freed_memory import keep_freed_memory

#: growth of numbers beyond which a resonance is checked
_SUSPECT = 1e6


def responses_in_space(system: SpatialSystem, omega: Numbers) -> tuple[Any, Any]:
    """Return the quantity of a system, shape (outputs, inputs, F), and a mask of infinite values.

    Parameters
    ----------
    omega
        Angular frequencies greater than 0, rad/s, shape (F,).

    Notes
    -----
    As in `answers.responses` for planar arms, entries that lose digits are recomputed by `circle_means`, and entries
    near a resonance are compared with nearby frequencies.
    """
    keep_freed_memory()
    still = still_loads(system)
    with np.errstate(all="ignore"):
        found, told = _with_digits(system, omega, still, _counts_tell(system))
        if np.iscomplexobj(found) and not _has_free_joints(system):
            suspect = ~(told.growth < _SUSPECT)
        elif told.below is not None:
            suspect = may_resonate(omega, told, 2.0 * AWAY)
        else:  # near a resonance on soft springs numbers need not grow
            suspect = np.ones(omega.shape, bool)
        wrong = np.zeros(found.shape, bool)
        for some in _blocks(np.flatnonzero(suspect)):
            away, grown = _in_blocks(system, omega[some] * (1.0 + AWAY), still)
            larger = some[grows_towards(found[..., some], away) | ~(grown < _SUSPECT)]
            if larger.size:
                wrong[..., larger] = _infinite(system, omega[larger], found[..., larger], still)
    return found, wrong


def _blocks(places: np.ndarray) -> Iterator[np.ndarray]:
    """Yield places, or numbers, in blocks of nearly equal size, no more at a time than NumPy processes."""
    if places.size:
        yield from np.array_split(places, -(-places.size // BLOCK))


def _infinite(system: SpatialSystem, omega: Numbers, values: Numbers, still: Still) -> Any:
    """Return a mask of infinite values, from values at nearby frequencies."""
    beside = _with_digits(system, around(omega)[omega.size :], still)[0]
    return infinite_among(values, *np.split(beside, 3, axis=-1))


def _counts_tell(system: SpatialSystem) -> bool:
    """Return whether the natural frequencies of the arm without rigid supports are all where a quantity is infinite."""
    damped = system.loss_factor is not None or system.kelvin_voigt_time is not None
    damped |= any(damper for link in system.links for damper in link.dampers)
    held = system.forces > 0 or system.quantity not in OF_RECEPTANCES
    return not (damped or held or system.at_rest is not None)


def _has_free_joints(system: SpatialSystem) -> bool:
    """Return True if a joint is free; its denominator is small near a resonance without growth of numbers."""
    return any(is_free(spring) for link in system.links for spring in link.entries.springs)


def _with_digits(
    system: SpatialSystem, omega: Numbers, still: Still, asked: bool = False
) -> tuple[Any, Told]:
    """Return the quantity of a system, by `circle_means` where digits are lost, and what denominators tell."""
    motions, told = _motions_in_blocks(system, omega, still, asked)
    lost = np.flatnonzero(~(told.growth < LARGE_GROWTH))

    def motions_at(_: Numbers, moved: Numbers) -> Any:
        return _motions_in_blocks(system, moved, still)[0]

    for some in _blocks(lost):
        values, growth = motions[..., some], told.growth[some]
        motions[..., some] = kept_digits(motions_at, values, growth, omega[some])
    return in_quantity(system.quantity, system.inputs, system.outputs, motions, omega), told


def _in_blocks(system: SpatialSystem, omega: Numbers, still: Still) -> tuple[Any, Floats]:
    """Return the quantity of a system as the recursion gives it, and the growth of numbers."""
    motions, told = _motions_in_blocks(system, omega, still)
    return in_quantity(system.quantity, system.inputs, system.outputs, motions, omega), told.growth


def _motions_in_blocks(
    system: SpatialSystem, omega: Numbers, still: Still, asked: bool = False
) -> tuple[Any, Told]:
    """Return motions (read, inputs, F) of the ports that are read at any number of frequencies, and what is told.

    Counts only if ``asked``.
    """
    motions, growth, below = [], [], []
    for some in _blocks(omega):
        found, told = condensed_in_space(system, some, still.held, asked)
        motions.append(read_motions(system, found, some, still))
        growth.append(told.growth)
        if told.below is not None:
            below.append(told.below)
    whole = Told(np.concatenate(growth), np.concatenate(below) if asked else None)
    return np.concatenate(motions, axis=-1), whole


def growth_in_space(system: SpatialSystem, omega: Numbers) -> Floats:
    """Return the approximate ratio of intermediate numbers to results, shape (F,)."""
    with np.errstate(all="ignore"):
        return condensed_in_space(system, omega, still_loads(system).held)[1].growth
