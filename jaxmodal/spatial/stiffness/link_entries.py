"""A link in space and its loads by the entries of their matrices."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jaxmodal.arithmetic.operations import Number
from jaxmodal.spatial.stiffness.constants import Body, Spring


class LinkEntries(NamedTuple):
    """`constants.ReducedLink` with lists of entries in place of matrices; inertias are (xx, xy, xz, yy, yz, zz).

    ``rotor`` is axis, relative, driven and carried inertia of `Rotor`; empty if there is none. ``supports`` are springs
    at the tip, each with its force on the end of the elastic part, six numbers, and its stiffness; only responses use
    them, since counts treat supports as loads.
    """

    rotation: list[Number]
    offset: list[Number]
    outer: Body
    inner: Body
    springs: list[Spring]
    rotor: list[Number]
    supports: Sequence[tuple[Sequence[Any], Any]] = ()

    @classmethod
    def of(cls, numbers: Iterator[Number], springs: int, has_rotor: bool) -> LinkEntries:
        """Take the fields, in their order, from the next elements of ``numbers``."""

        def some(number: int) -> list[Number]:
            return list(itertools.islice(numbers, number))

        def body() -> Body:
            return Body(next(numbers), some(3), some(6))

        return cls(
            rotation=some(9),
            offset=some(3),
            outer=body(),
            inner=body(),
            springs=[Spring(some(6), *some(2)) for _ in range(springs)],
            rotor=some(6) if has_rotor else [],
        )


class LoadEntries(NamedTuple):
    """A load on a link: its components in six directions at both ends of the elastic part, and a torque.

    The torque acts about the joint's axis, on the link and in reaction on the previous one.
    """

    outer: Sequence[Any]
    inner: Sequence[Any]
    torque: Any

    @classmethod
    def of(cls, numbers: Iterator[Number]) -> LoadEntries:
        """Take the fields, in their order, from the next elements of ``numbers``."""
        outer, inner = ([next(numbers) for _ in range(6)] for _ in range(2))
        return cls(outer, inner, next(numbers))
