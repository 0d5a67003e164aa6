"""Responses of arms with ports at any frequency; values that cells share are computed once, in cache-sized blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.response.driven.damping import damped_beams
from jaxmodal.response.driven.driven_arms import (
    Arms,
    by_links,
    known_of,
    link_by_link,
    members_known,
    some_cells,
    wide,
    with_known,
)
from jaxmodal.response.driven.members import members_of_links
from jaxmodal.response.driven.port_quantities import in_quantity
from jaxmodal.response.driven.systems import System
from jaxmodal.response.receptance.circle_means import kept_digits
from jaxmodal.response.receptance.lost_digits import LARGE_GROWTH
from jaxmodal.response.receptance.port_motions import (
    Motions,
    motions,
    own_motions,
    with_apart,
)
from jaxmodal.response.receptance.rigid_supports import OFF_AXIS
from jaxmodal.runtime.freed_memory import keep_freed_memory
from jaxmodal.runtime.namespace import Array, constant, tree_on_host, xp

#: numbers of entries (frequencies times cells) that NumPy processes at a time, of one arm and of many, and of the
#: frequencies among those of many: arrays fit into the cache, and calls take less time than their numbers
BLOCK = 8192
BLOCK_OF_ARMS = 2 * BLOCK
BLOCK_FREQUENCIES = 1024
#: number of entries that are computed on circles of frequencies at a time
_BLOCK_OF_CIRCLES = 256
#: size of denominators, relative to their terms and to the preceding growth of numbers, below which a resonance is
#: checked; the second value applies if the growth is not known
_SUSPECT, _SUSPECT_TRACED = 1e-8, 1e-6
#: relative shift of the frequency within which a response at a resonance changes by more than half; rounding shifts
#: resonances by about 1e-15
_NUDGE = 2.0**-45
#: relative distance at which the response is smaller than at a resonance; near a zero it is larger
AWAY = 2.0**-20
#: the frequencies whose values tell of a resonance
_SHIFTS = (0.0, _NUDGE, -_NUDGE, AWAY)
#: what is smooth changes by less than this on the way, and a pole is where the value is larger by the second
_SMOOTH, _POLE = 1.01, 2.0**22


def responses(system: System, omega: Array) -> tuple[Array, Array]:
    """Return the quantity of a system, shape (outputs, inputs, cells, F), and a mask of infinite values.

    Parameters
    ----------
    omega
        Angular frequencies greater than 0, rad/s, shape (F,).

    Returns
    -------
    values : Array, shape (outputs, inputs, cells, F)
        Float64 without damping, otherwise complex.
    infinite : Array of bool, of the same shape
        True where the value changes by more than half for a relative change of frequency of 3e-14, except near a zero.

    Notes
    -----
    NumPy computes block by block: members that all cells share are computed once, only entries with small denominators
    are checked for a resonance, and entries that lose digits are recomputed by `circle_means`. Traced entries are the
    unmodified results of the recursion.
    """
    if not tree_on_host(system, omega):
        # one program for the frequencies and the nearby ones
        every = xp.concatenate([omega, around(constant(omega))[omega.size :]])
        if system.held:
            every = xp.concatenate([every, OFF_AXIS])
        broad = wide(system)
        damped = damped_beams(broad.beams, broad.damping, every)
        members = members_of_links(damped, broad.theory, every, broad.cut)
        found = motions(broad, by_links(broad), members, every)
        if system.held:
            found, every = found.without_apart(), every[: -len(OFF_AXIS)].real
        values, *_ = xp.split(found.in_quantity(broad, every), 4, axis=-1)
        infinite = _infinite_near(
            broad,
            every[: omega.size],
            xp.split(found.values, 4, axis=-1),
            None if found.rounding is None else xp.split(found.rounding, 4, axis=-1)[1:3],
        )
        return values, infinite & (found.margin[..., : omega.size] < _SUSPECT_TRACED)
    keep_freed_memory()
    arms = with_apart(system, link_by_link(system))
    several = system.cells > 1
    width = min(omega.size, BLOCK_FREQUENCIES if several else BLOCK)
    height = max(1, BLOCK_OF_ARMS // width)
    values = np.empty((len(system.outputs), len(system.inputs), system.cells, omega.size), complex)
    infinite = np.zeros(values.shape, bool)
    lost = []
    with np.errstate(all="ignore"):
        for start in range(0, omega.size, width):
            some = omega[start : start + width]
            every = wide(arms)
            known = [known_of(system, every, link, some) for link in range(len(arms.beams))]
            for first in range(0, system.cells, height):
                cells = np.s_[first : first + height]
                at = (slice(None), slice(None), cells, np.s_[start : start + width])
                own = some_cells(arms, cells)
                broad = wide(own)
                each = members_known(system, broad, known, cells, some)
                values[at], infinite[at], large = _looked_at(
                    system, own, with_known(broad, known), each, some
                )
                lost.append((large[0] + first, large[1] + start))
        of_cells, of_omega = (np.concatenate(each) for each in zip(*lost, strict=True))
        for here, there, redone in _answered_anew(system, arms, of_cells, omega, of_omega):
            values[:, :, here, there], infinite[:, :, here, there] = redone
    return values, infinite


def around(omega: Array) -> Array:
    """Return the frequencies (4 F,) whose values `infinite_among` needs."""
    return xp.concatenate([omega * (1.0 + shift) for shift in _SHIFTS])


def infinite_among(values: Array, above: Array, below: Array, away: Array) -> Array:
    """Return a mask of infinite values, from the values at the frequencies `around` theirs."""
    size, far = xp.abs(values), xp.abs(away)
    least = xp.minimum(xp.abs(above), xp.abs(below))
    changes = ~(xp.abs(above - below) <= 0.5 * least) | (size > _POLE * far)
    return ((changes & ~(size < far)) | xp.isinf(values)) & ~xp.isnan(values)


def _infinite_near(
    system: System, omega: Array, near: Sequence[Array], rounding: Sequence[Array] | None
) -> Array:
    """Return a mask of infinite values, from motions (read, inputs, ...) at the frequencies `around` ``omega``.

    They are complex with rigid supports: their sizes have no zero at a resonance. ``rounding`` are masks of motions
    above and below that are rounding and tell of none.
    """
    if rounding is not None:
        quiet = rounding[0] & rounding[1]
        near = [xp.where(quiet, 0.0, x) for x in near]
    return infinite_among(
        *(
            in_quantity(system.quantity, system.inputs, system.outputs, x, omega * (1.0 + shift))
            for x, shift in zip(near, _SHIFTS, strict=True)
        )
    )


def grows_towards(values: np.ndarray, away: np.ndarray) -> np.ndarray:
    """Return a mask (...) of lanes where a value (outputs, inputs, ...) exceeds that at a frequency away from it."""
    grows: np.ndarray = ~(np.abs(values) <= _SMOOTH * np.abs(away)).all(axis=(0, 1))
    return grows


def _looked_at(
    system: System,
    arms: Arms,
    broad: Arms,
    members: Sequence[FreeEndMember],
    omega: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
    """Return values, a mask of infinite values, and the indices of those that may have lost digits.

    ``broad`` are ``arms`` with an axis of frequencies, or lanes with one frequency each; their axes broadcast with
    ``omega``.
    """
    found = motions(system, broad, members, omega)
    lost = ~(found.growth <= LARGE_GROWTH)
    suspect = ~(found.margin >= _SUSPECT) & ~lost
    infinite = _infinite(system, arms, omega, found.values, suspect, own_motions)
    return found.in_quantity(system, omega), infinite, np.nonzero(lost)


def answers_at(
    system: System, arms: Arms, members: Sequence[FreeEndMember], cells: Array, omega: Array
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of `responses`, (outputs, inputs, L), of L cells at one frequency each.

    ``members`` are those of all links at these frequencies.
    """
    some = some_cells(arms, cells)
    values, infinite, (lost,) = _looked_at(system, some, some, members, omega)
    for _, at, redone in _answered_anew(system, some, lost, omega, lost):
        values[:, :, at], infinite[:, :, at] = redone
    return values, infinite


def _infinite(
    system: System,
    arms: Arms,
    omega: np.ndarray,
    values: np.ndarray,
    suspect: np.ndarray,
    answer: Callable[[System, Arms, np.ndarray], Motions],
) -> np.ndarray:
    """Return a mask of infinite quantities (outputs, inputs, ...), from motions at these frequencies.

    ``suspect`` ones are checked at nearby frequencies.
    """
    infinite = np.zeros((len(system.outputs), *values.shape[1:]), bool)
    places = np.nonzero(suspect)
    if places[0].size:
        some, own = some_cells(arms, places[0]), omega[places[-1]]
        at: Any = (slice(None), slice(None), *places)
        # so far from any resonance the recursion itself has digits enough
        away, here = own_motions(system, some, own * (1.0 + AWAY)).values, values[at]
        options = system.quantity, system.inputs, system.outputs
        larger = np.flatnonzero(
            grows_towards(*(in_quantity(*options, x, own) for x in (here, away)))
        )
        if larger.size:
            few, there = some_cells(some, larger), own[larger]
            above, below = (answer(system, few, there * (1.0 + x)) for x in (_NUDGE, -_NUDGE))
            near = (here[..., larger], above.values, below.values, away[..., larger])
            rounding = None if above.rounding is None else (above.rounding, below.rounding)
            at = (slice(None), slice(None), *(place[larger] for place in places))
            infinite[at] = _infinite_near(system, there, near, rounding)
    return infinite


def _answered_anew(
    system: System, arms: Arms, cells: np.ndarray, omega: np.ndarray, places: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]]:
    """Yield cells that may lose digits, the indices of their frequencies, and their recomputed results.

    These are values (outputs, inputs, L) and a mask of infinite ones.
    """
    for start in range(0, cells.size, _BLOCK_OF_CIRCLES):
        at = slice(start, start + _BLOCK_OF_CIRCLES)
        some, own = some_cells(arms, cells[at]), omega[places[at]]
        found = _with_digits(system, some, own)
        suspect = ~(found.margin >= _SUSPECT)
        infinite = _infinite(system, some, own, found.values, suspect, _with_digits)
        yield cells[at], places[at], (found.in_quantity(system, own), infinite)


def _with_digits(system: System, arms: Arms, omega: np.ndarray) -> Motions:
    """Return the motions of arms at one frequency each, by `circle_means` where digits are lost."""

    def motions_at(places: np.ndarray, moved: np.ndarray) -> np.ndarray:
        found: np.ndarray = own_motions(system, some_cells(arms, places), moved).values
        return found

    found = own_motions(system, arms, omega)
    return found._replace(values=kept_digits(motions_at, found.values, found.growth, omega))
