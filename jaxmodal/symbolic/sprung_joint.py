"""Springs at the start of a link in space, as expressions: displacement and velocity of its frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jaxmodal.symbolic.bent_link import Motion, turned_motion
from jaxmodal.symbolic.graph import Expression, Graph
from jaxmodal.symbolic.vectors import Turn, Vector


class SprungJoint:
    """Frame after some springs relative to the frame before them, with position ``reach`` and rotation ``turn``.

    ``gives`` are displacement and rotation per unit of each spring deflection in ``deltas``; ``pushes`` and ``turns``
    are velocity and angular velocity of the frame per unit rate of each, in its axes.
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
        """Return displacement and rotation vector from deflections; the same linear map applies to their rates."""
        place, vector = self._still, self._still
        for (along, about), value in zip(self.gives, values, strict=True):
            place, vector = place + along.times(value), vector + about.times(value)
        return place, vector

    def moved(
        self, before: Motion, rates: Sequence[Expression], more: Sequence[Expression]
    ) -> Motion:
        """Return the motion of the frame after the springs, from the motion before and the rates and accelerations."""
        (end, speed), (faster, growth) = self.sums(rates), self.sums(more)
        return turned_motion(before.at(self.reach, end, faster), self.turn, speed, growth)
