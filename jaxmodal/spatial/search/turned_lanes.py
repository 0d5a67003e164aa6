"""An arm in space in many postures in float64, by programs or in NumPy: all else is computed once, not for each posture.

A turn is linear in the sine and cosine of its angle, and so is what a base offset becomes by it. Links beyond the last
joint that varies are condensed once.
"""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, sin_cos
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.resolution import resolved
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.stiffness.condensation import evaluate_lanes
from jaxmodal.spatial.stiffness.entries import Rounding
from jaxmodal.spatial.stiffness.uniform_links import TURNED, Layout, layout_of, packed_links


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class TurnedLanes:
    """An arm whose joint angles vary.

    Attributes
    ----------
    packed : Array, shape (fields, links, 1)
        From `uniform_links.packed_links`.
    turns : Array, shape (joints, 3, 12)
        Of each joint what is constant, goes with the cosine, and with the sine of its angle.
    scale : Array, shape (1,)
        `SpatialModel.scales`.
    flags : Theory
        The theory.
    layout, places : Layout and tuple of int
        What the fields are, and the places of the joints among the links, ascending.
    """

    packed: Array
    turns: Array
    scale: Array
    flags: Theory
    layout: Layout = dataclasses.field(metadata={"static": True})
    places: tuple[int, ...] = dataclasses.field(metadata={"static": True})

    @classmethod
    def of(cls, arm: SpatialArm, joints: tuple[int, ...], flags: Theory) -> TurnedLanes:
        """Of an arm whose ``joints``, by their places among its links, vary."""
        angles = np.array([0.0, 0.5 * np.pi, np.pi])
        given = {f"link{j + 1}.joint_angle": angles for j in joints}
        model = arm.with_values(given).model_of_cells(flags)
        layout = layout_of(model.constants().links)
        packed = packed_links(*model.constants(), layout, 3, 3)
        places = tuple(packed.shape[1] - arm.num_links + j for j in joints)
        zero, quarter, half = (packed[:TURNED, list(places), k].T for k in range(3))
        middle = 0.5 * (zero + half)
        turns = np.stack([middle, 0.5 * (zero - half), quarter - middle], axis=1)
        return cls(packed[..., :1], turns, model.scales[:1], flags, layout, places)

    def evaluate(self, omega: Array, angles: Array, rounding: Rounding) -> Evaluation:
        """At frequencies that broadcast with lanes, in postures (joints, lanes)."""
        lanes = angles.shape[1:]
        moved = {}
        for place, angle, (constant, cosines, sines) in zip(
            self.places, angles, self.turns, strict=True
        ):
            ((sine, cosine, _),) = sin_cos(xp.abs(angle))
            sine = xp.where(angle < 0.0, -sine, sine)
            moved[place] = constant[:, None] + cosines[:, None] * cosine + sines[:, None] * sine
        own = [
            moved.get(k, xp.broadcast_to(self.packed[:TURNED, k], (TURNED, *lanes)))
            for k in range(self.places[-1] + 1)
        ]
        at = resolved(self.scale, omega, Arithmetic.float64)
        return evaluate_lanes(self.packed, self.layout, self.flags, at, rounding, xp.stack(own))
