"""A link in space and the loads on it, by the entries of their matrices."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jaxmodal.arithmetic.operations import Number
from jaxmodal.spatial.stiffness.constants import Body, Spring


class LinkEntries(NamedTuple):
    """`constants.ReducedLink` by entries, lists in place of matrices; inertias are (xx, xy, xz, yy, yz, zz).

    ``rotor`` is axis, relative, driven and carried inertia of `Rotor`; empty where there is none. ``supports`` are
    springs at the tip, each by its force on the end of what is elastic, six numbers, and its stiffness: those of
    responses alone, since counts carry supports as loads.
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
        """The next ones of ``numbers``, in the order of the fields."""

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
    """A load that acts on a link: its parts along the six directions at both ends of what is elastic, and a torque.

    The torque acts about the joint's axis, on the link and against the one before it.
    """

    outer: Sequence[Any]
    inner: Sequence[Any]
    torque: Any

    @classmethod
    def of(cls, numbers: Iterator[Number]) -> LoadEntries:
        """The next ones of ``numbers``, in the order of the fields."""
        outer, inner = ([next(numbers) for _ in range(6)] for _ in range(2))
        return cls(outer, inner, next(numbers))
