"""Motion of the base of an arm in space, as expressions: at rest, or free with the last six rates."""

from __future__ import annotations

from collections.abc import Sequence

from jaxmodal.symbolic.bent_link import Motion
from jaxmodal.symbolic.graph import Expression
from jaxmodal.symbolic.nomenclature_in_space import NomenclatureInSpace
from jaxmodal.symbolic.vectors import Vector


def base_motion(
    names: NomenclatureInSpace,
    rates: Sequence[Expression],
    more: Sequence[Expression],
    gravity: Vector | None,
) -> Motion:
    """Return the motion of the base at its point, in its axes; gravity is subtracted from its acceleration."""
    still = Vector(*(names.graph.zero,) * 3)
    pull = gravity.times(-1.0) if gravity else still
    if not names.model.floats:
        return Motion(still, still, pull)
    speed, spin, faster, growth = (
        Vector(*values[place])
        for values in (rates, more)
        for place in (slice(-6, -3), slice(-3, None))
    )
    pull = names.base_axes().transposed.of(pull) if gravity else pull
    return Motion(spin, growth, faster + spin.cross(speed) + pull)
