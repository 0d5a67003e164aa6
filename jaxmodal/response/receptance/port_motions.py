"""Arms condensed onto the ground, and the motions of their ports, with rigid supports at rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.response.driven.driven_arms import Arms, damped_links, link_members, wide
from jaxmodal.response.driven.held_tips import on_dampers
from jaxmodal.response.driven.port_quantities import in_quantity
from jaxmodal.response.driven.ports import PortRow
from jaxmodal.response.driven.systems import System
from jaxmodal.response.receptance.margins import margin_of
from jaxmodal.response.receptance.parts import Condensed
from jaxmodal.response.receptance.pieces import Terminal, pieces_of
from jaxmodal.response.receptance.recorded_recursion import inward_recorded
from jaxmodal.response.receptance.recursion import inward, inward_traced
from jaxmodal.response.receptance.rigid_supports import (
    APART,
    OFF_AXIS,
    Reactions,
    margin_of_supports,
)
from jaxmodal.runtime.namespace import Array, constant, xp

#: a sum below this share of its terms is their rounding
_ROUNDING = 2.0**-49
#: a motion of an arm on rigid supports below this, relative to the terms that cancel in it, has no digits
_NOISE = 2.0**-44


class Numbers(NamedTuple):
    """Numbers of ports in the recursion: of inputs (-1 for the ground), of ports that are read, and of held ones."""

    inputs: list[int]
    read: list[int]
    held: list[int]


class OnGround(NamedTuple):
    """Arms condensed onto the ground, the numbers of their ports, and the stiffnesses of dampers at held ones.

    ``margin`` is that of the recursion where it is known without its last denominators.
    """

    found: Condensed
    numbers: Numbers
    dampers: list[Any]
    margin: Any


class Motions(NamedTuple):
    """Motions (read, inputs, ...) of ports for unit inputs, and how certain they are.

    Attributes
    ----------
    values
        The motions.
    margin
        Smallest ratio of denominators to the sizes of their terms, (...); small at a resonance.
    growth
        Approximate ratio of numbers in the recursion to its results, (...); None for traced arms.
    rounding
        True for motions that are rounding; None without rigid supports.
    """

    values: Any
    margin: Any
    growth: Any
    rounding: Any

    def in_quantity(self, system: System, omega: Array) -> Any:
        """Return the quantity (outputs, inputs, ...) of a system."""
        values = self.values.real if system.real else self.values
        return in_quantity(system.quantity, system.inputs, system.outputs, values, omega)

    def apart(self) -> Any:
        """Return a mask (read, inputs, cells) of motions at `OFF_AXIS` that are nothing at all frequencies.

        The highest overflow in large arms; what is not known at the lowest is not nothing.
        """
        return xp.all(self.rounding, axis=-1) & ~xp.isnan(self.values[..., 0])

    def without_apart(self) -> Motions:
        """Return traced motions but the last, at `OFF_AXIS`: 0 where these are nothing; derivatives are as they were.

        A motion may be nothing in one posture alone.
        """
        own, beside = slice(0, -len(OFF_AXIS)), slice(-len(OFF_AXIS), None)
        apart = self._replace(
            values=self.values[..., beside], rounding=self.rounding[..., beside]
        ).apart()[..., None]
        values = self.values[..., own]
        nothing = values - jax.lax.stop_gradient(values)
        values = xp.where(apart, xp.where(xp.isfinite(values), nothing, 0.0), values)
        return Motions(values, self.margin[..., own], None, self.rounding[..., own] | apart)


def _numbered(system: System, rows: Sequence[Array]) -> tuple[dict[int, Terminal], Numbers]:
    """Return the ports, each once, by number, and their numbers."""
    once = list(dict.fromkeys(each for each in system.every if each.place != "base"))
    terminals = {
        once.index(each): Terminal(each, PortRow(*place, row))
        for each, place, row in zip(system.every, system.places, rows, strict=True)
        if each.place != "base"
    }
    inputs, read, held = (
        [-1 if each.place == "base" else once.index(each) for each in some]
        for some in (system.inputs, system.read, system.held)
    )
    return terminals, Numbers(inputs, read, held)


def condensed_arms(
    system: System,
    arms: Arms,
    members: Sequence[FreeEndMember] | FreeEndMember,
    omega: Array,
) -> OnGround:
    """Return the arms condensed onto the ground.

    Axes of the arms broadcast with ``omega``. ``members`` is a list or, for traced arms, one object with a first axis.
    """
    terminals, numbers = _numbered(system, arms.rows)
    inputs, read, held = numbers
    links, dampers = on_dampers(arms.beams, system.held_links, omega)
    beams = damped_links(arms._replace(beams=links), omega)
    driven = [(i, j) for i in (*inputs, *held) for j in (*read, *held)]
    driven += [(i, s) for i in read for s in held]
    pairs = sorted({(min(i, j), max(i, j)) for i, j in driven if min(i, j) >= 0})
    if isinstance(members, FreeEndMember):
        pieces = pieces_of(beams, [None] * len(system.cut.links), system.cut, terminals)
        found, margin = inward_traced(pieces, members, omega, pairs)
        return OnGround(found, numbers, dampers, margin)
    pieces = pieces_of(beams, members, system.cut, terminals)
    at_ground = min(inputs, default=0) < 0
    # where all is NumPy, entries that lose digits are answered anew
    watched = isinstance(omega, np.ndarray)
    recorded = inward_recorded(pieces, omega, pairs, at_ground) if watched else None
    if recorded is not None:
        return OnGround(recorded[0], numbers, dampers, recorded[1])
    found = inward(pieces, omega, pairs, loads_at_ground=at_ground, watched=watched)
    return OnGround(found, numbers, dampers, None)


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


class PortMotions:
    """Motions of ports for unit inputs: of arms condensed onto the ground, with rigid supports at rest."""

    def __init__(self, system: System, arms: Arms, at_ground: OnGround) -> None:
        self._system, self._rows, self._first = system, arms.rows, arms.beams[0]
        self._apart, self._apart_slopes = arms.apart, arms.apart_slopes
        self._found, self._numbers, self._dampers = at_ground[:3]
        inputs, read, held = self._numbers
        self.square = [[self._free(s, t) for t in held] for s in held]
        self._reactions = None
        if held:
            pushed = [[self._free(s, o) for s in held] for o in read]
            pushed += [[self._moved(s, k) for s in held] for k in range(len(inputs))]
            self._reactions = Reactions(self.square, pushed)

    def _free(self, one: int, other: int) -> Any:
        return self._found.responses[min(one, other), max(one, other)]

    def _moved(self, out: int, k: int) -> Any:
        """Return the motion of a port under the input at index k, without rigid supports."""
        into, base = self._numbers.inputs[k], self._first
        if into >= 0:
            return self._free(into, out)
        return _of_ground(self._found.loads[out], self._rows[k], base.base_xx, base.base_yy)

    def values(self, shape: tuple[int, ...]) -> Any:
        """Return the motions, (read, inputs, *shape)."""
        return self._entries(Reactions.held, shape)

    def rounding(self, values: Any, omega: Array) -> Any:
        """Return a mask of motions that are rounding, relative to the terms that cancel in them.

        Off the real axis no digits are lost: what is rounding there is nothing at all frequencies.
        """
        if self._reactions is None:
            return None
        terms = self._entries(Reactions.cancelled, values.shape[2:])
        noise = xp.where(constant(omega).imag == 0.0, _NOISE, APART)
        return ~(xp.abs(values) > noise * terms) & ~xp.isinf(values)

    def margin(self) -> Any:
        """Return how far the forces that hold the supports are from a resonance."""
        return margin_of_supports(self.square, self._dampers)

    def nothing_of_slopes(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return a mask (directions, read, inputs, *shape) of derivatives that are rounding."""
        slopes = self.values(shape).slopes
        terms = self._entries(Reactions.cancelled_slopes, (len(slopes), *shape))
        return ~(xp.abs(slopes) > APART * np.moveaxis(terms, 2, 0))

    def _parted(self, entry: Any, o: int, k: int) -> Any:
        if self._apart is None:
            return entry
        none = self._apart[o, k]
        if isinstance(entry, Dual):
            slopes = np.where(self._apart_slopes[:, o, k], 0.0, entry.slopes)
            return Dual(np.where(none, 0.0, entry.value), slopes)
        return xp.where(none, 0.0, entry)

    def _entries(self, of: Any, shape: tuple[int, ...]) -> Any:
        system, read = self._system, self._numbers.read
        rows = []
        for o, out in enumerate(read):
            row = []
            for k, into in enumerate(system.inputs):
                entry = self._moved(out, k)
                still = into in system.still or system.read[o] in system.still
                # in another posture it may move: that is in derivatives
                if still and not isinstance(entry, Dual):
                    entry = xp.where(np.True_, 0.0, constant(entry))
                elif self._reactions is not None:
                    entry = self._parted(of(self._reactions, o, len(read) + k, entry), o, k)
                row.append(xp.broadcast_to(entry, shape))
            rows.append(xp.stack(row))
        return xp.stack(rows)


def motions(
    system: System,
    arms: Arms,
    members: Sequence[FreeEndMember] | FreeEndMember,
    omega: Array,
) -> Motions:
    """Return the motions of the ports of arms; arms and members are as for `condensed_arms`."""
    at_ground = condensed_arms(system, arms, members, omega)
    found, margin, growth = at_ground.found, at_ground.margin, at_ground.found.growth
    if margin is None:
        margin = margin_of(found.last, omega * omega)
    ports = PortMotions(system, arms, at_ground)
    if system.held:
        # what is a resonance of the arm on dampers costs digits alone
        growth = None if growth is None else xp.maximum(growth, 1.0 / margin)
        margin = ports.margin()
    # near a resonance of its own a part moves more than as a whole; growth alone tells of one beyond a part at rest
    margin = margin if growth is None else margin / growth
    shapes = [np.shape(x) for x in (omega, margin, *(row[0] for row in arms.rows))]
    shape = np.broadcast_shapes(*shapes)
    values = ports.values(shape)
    # what a quotient or an inverse has in place of a resonance is no zero of the arm's own determinant
    anywhere = system.quantity in ("transmissibility", "dynamic_stiffness")
    margin = 0.0 * margin if anywhere else margin
    growth = None if growth is None else np.broadcast_to(growth, shape)
    return Motions(values, xp.broadcast_to(margin, shape), growth, ports.rounding(values, omega))


def with_apart(system: System, arms: Arms) -> Arms:
    """Return arms with `Arms.apart`, for NumPy.

    A motion is nothing at all frequencies if it is at some that are no resonances: none lies off the real axis, where
    no digits are lost.
    """
    if not system.held:
        return arms
    with np.errstate(all="ignore"):
        found = own_motions(system, wide(arms), OFF_AXIS)
    return arms._replace(apart=found.apart())


def own_motions(system: System, arms: Arms, omega: np.ndarray) -> Motions:
    """Return `motions` of arms at frequencies, whose axes broadcast."""
    links = range(len(arms.beams))
    members = [member for link in links for member in link_members(system, arms, link, omega)]
    return motions(system, arms, members, omega)
