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
    damped_links,
    known_of,
    link_by_link,
    link_members,
    some_cells,
    wide,
    with_known,
)
from jaxmodal.response.driven.members import members_of_links
from jaxmodal.response.driven.port_quantities import in_quantity, read_ports
from jaxmodal.response.driven.ports import PortRow
from jaxmodal.response.driven.systems import System
from jaxmodal.response.receptance.circle_means import kept_digits
from jaxmodal.response.receptance.lost_digits import LARGE_GROWTH
from jaxmodal.response.receptance.margins import margin_of
from jaxmodal.response.receptance.parts import Condensed
from jaxmodal.response.receptance.pieces import Terminal, pieces_of
from jaxmodal.response.receptance.recursion import inward, inward_traced
from jaxmodal.runtime.namespace import Array, constant, tree_on_host, xp

#: numbers of frequencies, and of entries (frequencies times cells), that NumPy processes at a time, so that arrays fit
#: into the cache
BLOCK_FREQUENCIES, BLOCK = 1024, 8192
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
#: a smooth value changes by less than the first factor over this distance; at a pole the value is larger by at least
#: the second
_SMOOTH, _POLE = 1.01, 2.0**22
#: share of its terms below which a sum is their rounding error
_ROUNDING = 2.0**-49


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
        broad = wide(system)
        damped = damped_beams(broad.beams, broad.damping, every)
        members = members_of_links(damped, broad.theory, every, broad.cut)
        motions, margin, _ = _motions(broad, by_links(broad), members, every)
        values, *beside = xp.split(_in_quantity(broad, motions, every), 4, axis=-1)
        return values, infinite_among(values, *beside) & (
            margin[..., : omega.size] < _SUSPECT_TRACED
        )
    arms = link_by_link(system)
    several = system.cells > 1
    width = min(omega.size, BLOCK_FREQUENCIES if several else BLOCK)
    height = max(1, BLOCK // width)
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
                each = [
                    member
                    for link, shared in enumerate(known)
                    for member in shared.members or link_members(system, broad, link, some)
                ]
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
    shifts = (0.0, _NUDGE, -_NUDGE, AWAY)
    return xp.concatenate([omega * (1.0 + shift) for shift in shifts])


def infinite_among(values: Array, above: Array, below: Array, away: Array) -> Array:
    """Return a mask of infinite values, from the values at the frequencies `around` theirs."""
    size, far = xp.abs(values), xp.abs(away)
    least = xp.minimum(xp.abs(above), xp.abs(below))
    changes = ~(xp.abs(above - below) <= 0.5 * least) | (size > _POLE * far)
    return ((changes & ~(size < far)) | xp.isinf(values)) & ~xp.isnan(values)


def grows_towards(values: np.ndarray, away: np.ndarray) -> np.ndarray:
    """Return a mask (...) of lanes where a value (outputs, inputs, ...) exceeds that at a frequency away from it."""
    grows: np.ndarray = ~(np.abs(values) <= _SMOOTH * np.abs(away)).all(axis=(0, 1))
    return grows


def _numbered(
    system: System, rows: Sequence[Array]
) -> tuple[dict[int, Terminal], list[int], list[int]]:
    """Return the ports, each once, by number, and the numbers of inputs and of read ports; -1 for the ground."""
    every = (*system.inputs, *read_ports(system.quantity, system.inputs, system.outputs))
    once = list(dict.fromkeys(each for each in every if each.place != "base"))
    terminals = {
        once.index(each): Terminal(each, PortRow(*place, row))
        for each, place, row in zip(every, system.places, rows, strict=True)
        if each.place != "base"
    }
    numbers = [-1 if each.place == "base" else once.index(each) for each in every]
    return terminals, numbers[: len(system.inputs)], numbers[len(system.inputs) :]


def condensed_arms(
    system: System,
    arms: Arms,
    members: Sequence[FreeEndMember] | FreeEndMember,
    omega: Array,
) -> tuple[Condensed, Any]:
    """Return the arms condensed onto the ground and, for traced arms, their margin.

    Axes of the arms broadcast with ``omega``. ``members`` is a list or, for traced arms, one object with a first axis.
    """
    terminals, inputs, read = _numbered(system, arms.rows)
    beams = damped_links(arms, omega)
    pairs = sorted({(min(i, j), max(i, j)) for i in inputs for j in read if i >= 0})
    if isinstance(members, FreeEndMember):
        pieces = pieces_of(beams, [None] * len(system.cut.links), system.cut, terminals)
        return inward_traced(pieces, members, omega, pairs)
    pieces = pieces_of(beams, members, system.cut, terminals)
    at_ground = min(inputs, default=0) < 0
    # if everything is in NumPy, entries that lose digits are recomputed
    watched = isinstance(omega, np.ndarray)
    return inward(pieces, omega, pairs, loads_at_ground=at_ground, watched=watched), None


def _of_ground(load: Sequence[Any], place: Sequence[Any], base_x: Any, base_y: Any) -> Any:
    """Return the work of the force on the ground on the ground's motion; 0 in a direction in which the base is free.

    The force is in the axes of link 1, and its rounding would otherwise be taken for a response.
    """
    parts = [q * d for q, d in zip(load, place, strict=True)]
    whole = sum(parts)
    if base_x is None:
        return whole
    rounding = xp.abs(whole) < _ROUNDING * sum(xp.abs(part) for part in parts)
    return xp.where(rounding & ((base_x == 0.0) | (base_y == 0.0)), 0.0, whole)


def motions_of(system: System, arms: Arms, found: Condensed, shape: tuple[int, ...]) -> Any:
    """Return the motions of the read ports for unit inputs, shape (read, inputs, *shape)."""
    _, inputs, read = _numbered(system, arms.rows)
    first = arms.beams[0]
    columns = []
    for into, place in zip(inputs, arms.rows, strict=False):
        readings = [
            _of_ground(found.loads[out], place, first.base_xx, first.base_yy)
            if into < 0
            else found.responses[min(into, out), max(into, out)]
            for out in read
        ]
        columns.append(xp.stack([xp.broadcast_to(x, shape) for x in readings]))
    return xp.stack(columns, axis=1)


def _in_quantity(system: System, motions: Any, omega: Array) -> Any:
    """Return the quantity (outputs, inputs, ...) of a system from the motions of its ports."""
    return in_quantity(system.quantity, system.inputs, system.outputs, motions, omega)


def _motions(
    system: System,
    arms: Arms,
    members: Sequence[FreeEndMember] | FreeEndMember,
    omega: Array,
) -> tuple[Any, Any, Any]:
    """Return motions (read, inputs, ...), the margin and, in NumPy, the growth (...) of arms.

    Arms and members are as for `condensed_arms`.
    """
    found, margin = condensed_arms(system, arms, members, omega)
    if margin is None:
        # near its own resonance a part moves more than within the whole; growth alone detects one beyond a part at rest
        margin = margin_of(found.last, omega * omega)
        margin = margin if found.growth is None else margin / found.growth
    shapes = [np.shape(x) for x in (omega, margin, *(row[0] for row in arms.rows))]
    shape = np.broadcast_shapes(*shapes)
    motions = motions_of(system, arms, found, shape)
    # substitutes for quotients or inverses at a resonance are not zeros of the determinant of the arm
    anywhere = system.quantity in ("transmissibility", "dynamic_stiffness")
    margin = 0.0 * margin if anywhere else margin
    growth = None if found.growth is None else np.broadcast_to(found.growth, shape)
    return motions, xp.broadcast_to(margin, shape), growth


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
    motions, margin, growth = _motions(system, broad, members, omega)
    values = _in_quantity(system, motions, omega)
    lost = ~(growth <= LARGE_GROWTH)
    suspect = ~(margin >= _SUSPECT) & ~lost
    infinite = _infinite(system, arms, omega, values, suspect, _own_answers)
    return values, infinite, np.nonzero(lost)


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
    answer: Callable[[System, Arms, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Return a mask of infinite values (outputs, inputs, ...); ``suspect`` ones are checked at nearby frequencies."""
    infinite = np.zeros(values.shape, bool)
    places = np.nonzero(suspect)
    if places[0].size:
        some, own = some_cells(arms, places[0]), omega[places[-1]]
        at: Any = (slice(None), slice(None), *places)
        # away from resonances the recursion itself is accurate enough
        away = _own_answers(system, some, own * (1.0 + AWAY))
        larger = np.flatnonzero(grows_towards(values[at], away))
        if larger.size:
            few, there = some_cells(some, larger), own[larger]
            above, below = (answer(system, few, there * (1.0 + x)) for x in (_NUDGE, -_NUDGE))
            beside = (above, below, away[:, :, larger])
            at = (slice(None), slice(None), *(place[larger] for place in places))
            infinite[at] = infinite_among(values[at], *beside)
    return infinite


def own_motions(system: System, arms: Arms, omega: np.ndarray) -> tuple[Any, Any, Any]:
    """Return `_motions` of arms, each at its own frequency."""
    links = range(len(arms.beams))
    members = [member for link in links for member in link_members(system, arms, link, omega)]
    return _motions(system, arms, members, omega)


def _own_answers(system: System, arms: Arms, omega: np.ndarray) -> np.ndarray:
    found: np.ndarray = _in_quantity(system, own_motions(system, arms, omega)[0], omega)
    return found


def _answered_anew(
    system: System, arms: Arms, cells: np.ndarray, omega: np.ndarray, places: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]]:
    """Yield cells that may lose digits, the indices of their frequencies, and their recomputed results.

    These are values (outputs, inputs, L) and a mask of infinite ones.
    """

    def answer(system: System, arms: Arms, omega: np.ndarray) -> np.ndarray:
        return _with_digits(system, arms, omega)[0]

    for start in range(0, cells.size, _BLOCK_OF_CIRCLES):
        at = slice(start, start + _BLOCK_OF_CIRCLES)
        some, own = some_cells(arms, cells[at]), omega[places[at]]
        values, margin = _with_digits(system, some, own)
        infinite = _infinite(system, some, own, values, ~(margin >= _SUSPECT), answer)
        yield cells[at], places[at], (values, infinite)


def _with_digits(system: System, arms: Arms, omega: np.ndarray) -> tuple[Any, Any]:
    """Return the quantity of arms at one frequency each, by `circle_means` where digits are lost, and the margin."""

    def motions_at(places: np.ndarray, moved: np.ndarray) -> Any:
        return own_motions(system, some_cells(arms, places), moved)[0]

    motions, margin, growth = own_motions(system, arms, omega)
    motions = kept_digits(motions_at, motions, growth, omega)
    return _in_quantity(system, motions, omega), margin
