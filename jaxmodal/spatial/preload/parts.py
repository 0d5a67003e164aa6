"""The parts of an arm in space under static loads, and the ways along them.

Where masses, offsets, springs and forces at rest sit is said here once: for counts and responses, which go inwards, and
for energies and shapes, which go outwards. Numbers may be complex, dual, or registers of a program.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from jaxmodal.runtime.namespace import Array
from jaxmodal.spatial.modes.turning import Turning
from jaxmodal.spatial.modes.values import LinkValues
from jaxmodal.spatial.stiffness.matrices import skew


class Bar(NamedTuple):
    """A rigid link: the motion (6, 6) of its end for that of its start, and its mass matrix about this."""

    motion: Array
    mass: Array


class LinkParts(NamedTuple):
    """What sits at a link, and how motions pass it.

    Attributes
    ----------
    values : LinkValues
        Its springs, rotor, supports and bodies.
    turning : Turning
        What the forces at rest do to its rigid parts and to its joint.
    turn, start, end : array, shape (6, 6)
        Motion before the joint for that of the previous tip; that of the start of the elastic part, in section axes,
        for that beyond the joint; that of the tip for that of the end of the elastic part.
    bar : Bar or None
        What a rigid link has in place of an elastic part.
    """

    values: LinkValues
    turning: Turning
    turn: Array
    start: Array
    bar: Bar | None
    end: Array


class ChainParts(NamedTuple):
    """Stiffness (6, 6) of an elastic base, or None; what forces at rest do to what sits on it, (3, 3); all links."""

    base: Array | None
    turning: Array
    links: list[LinkParts]


class Along(Protocol):
    """A way along a chain: what is done at each of its parts, inwards from the tip or outwards from the base.

    A subclass says what is done.
    """

    @property
    def parts(self) -> ChainParts:
        """The parts of the chain."""

    def inwards(self) -> None:
        """Do it at all parts, from the tip to the base."""
        for do in reversed(self._parts()):
            do()

    def outwards(self) -> None:
        """Do it at all parts, from the base to the tip."""
        for do in self._parts():
            do()

    def _parts(self) -> list[Callable[[], None]]:
        """Return what is done at each part, from the base to the tip."""
        found: list[Callable[[], None]] = []

        def at(do: Callable[..., None], *given: Any) -> None:
            found.append(functools.partial(do, *given))

        links = self.parts.links
        if self.parts.base is not None:
            at(self._base, self.parts.base)
            at(self._turning, self.parts.turning)
            at(self._mass, links[0].values.stator)
        for number, part in enumerate(links):
            at(self._rigid, part.turn)
            at(self._joint, number, part)
            at(self._mass, part.values.hub)
            at(self._turning, part.turning.start)
            at(self._rigid, part.start)
            if part.bar is None:
                at(self._pieces, number)
            else:
                at(self._mass, part.bar.mass)
                at(self._turning, part.turning.along)
                at(self._bar, number, part.bar.motion)
            at(self._rigid, part.end)
            at(self._turning, part.turning.end)
            if number + 1 < len(links):
                at(self._mass, links[number + 1].values.stator)
            at(self._support, number, part)
            at(self._mass, part.values.tip)
        return found

    def _rigid(self, matrix: Array) -> None:
        """Pass a rigid part, or turn the axes: the motion at its outer side is ``matrix`` times that at its inner."""

    def _bar(self, number: int, matrix: Array) -> None:
        """Pass a rigid link (index from 0)."""
        self._rigid(matrix)

    def _mass(self, matrix: Array) -> None:
        """Meet a body with a mass matrix (6, 6)."""

    def _turning(self, matrix: Array) -> None:
        """Meet a stiffness (3, 3) against rotation, of forces at rest."""

    def _support(self, number: int, part: LinkParts) -> None:
        """Meet the supports at the tip of a link (index from 0)."""

    def _pieces(self, number: int) -> None:
        """Pass an elastic link (index from 0)."""

    def _joint(self, number: int, part: LinkParts) -> None:
        """Pass the springs of a joint and its rotor, which has ``J (a . phi_before + N q)^2/2``.

        q is the deflection about the axis.
        """

    def _base(self, stiffness: Array) -> None:
        """Pass an elastic base."""


def shift(offset: Array) -> Array:
    """Return the motion of a place at ``offset`` for that of the place from which it is seen."""
    motion = np.eye(6, dtype=offset.dtype)
    motion[:3, 3:] = -skew(offset)
    return motion
