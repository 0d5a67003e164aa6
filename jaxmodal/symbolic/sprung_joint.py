"""The springs at the start of a link in space, as expressions: where they move its frame, and by which velocities."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jaxmodal.symbolic.bent_link import Motion, turned_motion
from jaxmodal.symbolic.graph import Expression, Graph
from jaxmodal.symbolic.vectors import Turn, Vector


class SprungJoint:
    """The frame after some springs, seen from that before them, as a place ``reach`` and a ``turn``.

    ``gives`` are displacement and rotation by each of the springs' deflections ``deltas``; ``pushes`` and ``turns`` the
    velocity and angular velocity of the frame by each, in its axes.
    """

    def __init__(
        self,
        graph: Graph,
        gives: Sequence[tuple[Vector, Vector]],
        deltas: Sequence[Expression],
        factorial: Callable[[int], Expression],
    ) -> None:
        self.gives, self._still = gives, Vector(*(graph.zero,) * 3)
        self.reach, vector = self.sums(deltas)
        self.turn = Turn(graph, vector, factorial)
        back = self.turn.axes.transposed
        self.pushes = [back.of(along) for along, _ in gives]
        self.turns = [self.turn.rate(about) for _, about in gives]

    def sums(self, values: Sequence[Expression]) -> tuple[Vector, Vector]:
        """Place and rotation vector of deflections, or what is linear in them."""
        place, vector = self._still, self._still
        for (along, about), value in zip(self.gives, values, strict=True):
            place, vector = place + along.times(value), vector + about.times(value)
        return place, vector

    def moved(
        self, before: Motion, rates: Sequence[Expression], more: Sequence[Expression]
    ) -> Motion:
        """The motion of the frame, by that before the springs and by rates and accelerations of the deflections."""
        (end, speed), (faster, growth) = self.sums(rates), self.sums(more)
        return turned_motion(before.at(self.reach, end, faster), self.turn, speed, growth)
