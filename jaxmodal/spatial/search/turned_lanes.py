"""An arm in space in many postures in float64, by programs or in NumPy; everything else is computed once.

A joint rotation is linear in the sine and cosine of its angle, and so is a base offset that it rotates. At given
frequencies, the links from that of the last turning joint outwards are condensed once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, sin_cos
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.resolution import resolved
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.stiffness.condensation import beyond_the_tip, condensed_lanes
from jaxmodal.spatial.stiffness.constants import Body
from jaxmodal.spatial.stiffness.entries import less_body
from jaxmodal.spatial.stiffness.symmetric import Symmetric, shifted, turned
from jaxmodal.spatial.stiffness.uniform_links import TURNED, Layout, layout_of, packed_links

#: numbers of a body
_BODY = 10
#: rotation and offset of a link that is not turned
_NOT_TURNED = np.concatenate([np.eye(3).ravel(), np.zeros(3)])


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class TurnedLanes:
    """An arm with variable joint angles at given frequencies, for several rounding variants.

    Attributes
    ----------
    packed : Array, shape (fields, links, 1, 1, 1)
        From `uniform_links.packed_links`: the links before that of the last turning joint.
    turns : Array, shape (joints, 3, 12)
        Constant part, and coefficients of cosine and sine of the angle, for each joint.
    omega : Array, shape (F, 1)
        Frequencies in rad/s.
    ways : Array, shape (2, W, 1, 1)
        Rounding variants, as for `entries.with_link`.
    entries, tally : Array, shapes (21, W, F, 1) and (3, W, F, 1)
        Condensed part outboard of the last turning joint, for an arm of which only angles vary.
    flags, layout, places : Theory, Layout and tuple of int
        The theory, the layout of the fields, and the ascending indices of the joints among the links.
    beyond, bodies : Array, shapes (fields, links, 1, 1, 1) and (values, 10), optional
        If values of the tip body vary as well: the links from that of the last joint outwards without these values, and
        the mass, moments and inertias for one unit of each value.
    """

    packed: Array
    turns: Array
    omega: Array
    ways: Array
    entries: Array
    tally: Array
    flags: Theory
    layout: Layout = dataclasses.field(metadata={"static": True})
    places: tuple[int, ...] = dataclasses.field(metadata={"static": True})
    beyond: Array | None = None
    bodies: Array | None = None

    @classmethod
    def of(
        cls,
        arm: SpatialArm,
        joints: tuple[int, ...],
        flags: Theory,
        omega: np.ndarray,
        ways: np.ndarray,
        bodies: np.ndarray | None = None,
    ) -> TurnedLanes:
        """Prepare an arm whose ``joints``, by index among its links, turn, at frequencies (F,) and variants (W, 2).

        ``bodies`` is the result of `bodies_of`, for which the arm has the value 0.
        """
        angles = np.array([0.0, 0.5 * np.pi, np.pi])
        given = {f"link{j + 1}.joint_angle": angles for j in joints}
        model = arm.with_values(given).model_of_cells(flags)
        layout = layout_of(model.constants().links)
        packed = packed_links(*model.constants(), layout, 3, 3)
        places = tuple(packed.shape[1] - arm.num_links + j for j in joints)
        zero, quarter, half = (packed[:TURNED, list(places), k].T for k in range(3))
        middle = 0.5 * (zero + half)
        turns = np.stack([middle, 0.5 * (zero - half), quarter - middle], axis=1)
        packed = packed[..., :1, None, None].copy()
        last = places[-1]
        packed[:TURNED, last] = _NOT_TURNED[:, None, None, None]
        rounding = ways.T[:, :, None, None]
        at = resolved(model.scales[:1], omega, Arithmetic.float64)[:, None]
        lanes = at * np.ones((len(ways), 1, 1))
        none = np.empty((0, len(ways), omega.size, 1))
        about = flags, layout, places
        if bodies is not None:
            own = packed[:, :last], turns, at, rounding
            return cls(*own, none, none, *about, packed[:, last:], bodies)
        with np.errstate(all="ignore"):
            beyond = condensed_lanes(
                *(packed[:, last:], layout, flags, lanes, tuple(rounding)), beyond_the_tip(lanes)
            )
        entries, tally = (np.stack(x) for x in beyond)
        return cls(packed[:, :last], turns, at, rounding, entries, tally, *about)

    def evaluate(self, places: Array) -> Evaluation:
        """Evaluate at the values of cells, (joints + values, cells); result of shape (W, F, cells)."""
        angles = places[: len(self.places)]
        entries, tally = self._outboard(places[len(self.places) :])
        moved = {}
        for place, angle, (constant, cosines, sines) in zip(
            self.places, angles, self.turns, strict=True
        ):
            ((sine, cosine, _),) = sin_cos(xp.abs(angle))
            sine, cosine = (
                x.reshape(1, 1, 1, -1) for x in (xp.where(angle < 0.0, -sine, sine), cosine)
            )
            wide = (TURNED, 1, 1, 1)
            moved[place] = (
                constant.reshape(wide) + cosines.reshape(wide) * cosine + sines.reshape(wide) * sine
            )
        last = self.places[-1]
        w = turned(Symmetric([*entries]), [*moved[last][:9]])
        w = shifted(w, [*moved[last][9:]]).kept()
        shape = w.entries[0].shape
        state = w.entries, tuple(xp.broadcast_to(x, shape) for x in tally)
        if last > 0:
            own = [moved.get(k, self.packed[:TURNED, k]) for k in range(last)]
            own = [xp.broadcast_to(x, (TURNED, 1, 1, angles.shape[1])) for x in own]
            ways = self.ways[0], self.ways[1]
            lanes = self.omega[None] * np.ones((self.ways.shape[1], 1, 1))
            given = self.packed, self.layout, self.flags, lanes, ways
            state = condensed_lanes(*given, state, xp.stack(own))
        sign, log_abs, count = state[1]
        return Evaluation(sign, log_abs, count, 0.0 * log_abs)

    def _outboard(self, values: Array) -> tuple[Sequence[Array], Sequence[Array]]:
        """Condensed part outboard of the last turning joint, for the tip body values of cells."""
        if self.beyond is None or self.bodies is None:
            return list(self.entries), list(self.tally)
        body = [xp.sum(self.bodies[:, k, None] * values, axis=0) for k in range(_BODY)]
        lanes = self.omega[None] * np.ones((self.ways.shape[1], 1, 1)) + xp.zeros_like(values[0])
        nothing, tally = beyond_the_tip(lanes)
        w = less_body(Symmetric(nothing), Body(body[0], body[1:4], body[4:]), lanes * lanes)
        ways, rows = (
            (self.ways[0], self.ways[1]),
            self.omega[None] * np.ones((self.ways.shape[1], 1, 1)),
        )
        found: tuple[Sequence[Array], Sequence[Array]] = condensed_lanes(
            self.beyond, self.layout, self.flags, rows, ways, (w.entries, tally)
        )
        return found


def bodies_of(
    arm: SpatialArm, addresses: Sequence[str], flags: Theory
) -> tuple[SpatialArm, np.ndarray] | None:
    """The arm with 0 at some addresses, and the effect of one unit there on its tip body, shape (values, 10).

    None if these values change anything else of the arm, or may not be 0.
    """
    number = len(addresses)
    columns = {a: np.eye(number + 1)[1:][k] for k, a in enumerate(addresses)}
    nothing = dict.fromkeys(addresses, 0.0)
    try:
        model, empty = arm.with_values(columns).model_of_cells(flags), arm.with_values(nothing)
    except ArmError:
        return None
    known = model.constants()
    packed = packed_links(*known, layout_of(known.links), number + 1, number + 1)
    moved = packed[..., 1:] - packed[..., :1]
    bodies = moved[TURNED : TURNED + _BODY, -1].T.copy()
    moved[TURNED : TURNED + _BODY, -1] = 0.0
    return None if moved.any() else (empty, bodies)
