"""Limit and objective of arms that loads may buckle."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from jax import Array

from design_opt.problem.constraints import where
from design_opt.problem.designs import OWN, Design, check_number
from design_opt.problem.errors import ProblemError
from design_opt.problem.objectives import worst_of
from design_opt.problem.statics import STANDARD_GRAVITY
from design_opt.problem.structural_constraints import AtRest
from jaxmodal.arm.arguments import is_finite
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.quantities import shown
from jaxmodal.at_rest.in_space import LoadsInSpace
from jaxmodal.at_rest.traced import inverse_buckling_factor
from jaxmodal.at_rest.traced_in_space import inverse_factors
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.spatial.arms.arm import SpatialArm

#: what acts at the tip, in the plane the first two alone
_AT_TIP = (
    *("tip_force_x", "tip_force_y", "tip_force_z"),
    *("tip_moment_x", "tip_moment_y", "tip_moment_z"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Pressed(AtRest):
    """Dead loads in the postures of a set; the parameters are those of `BucklingLimit`."""

    gravity: float | Sequence[float] | None = None
    tip_force_x: float = 0.0
    tip_force_y: float = 0.0
    tip_force_z: float = 0.0
    tip_moment_x: float = 0.0
    tip_moment_y: float = 0.0
    tip_moment_z: float = 0.0
    postures: str = OWN
    theory: TheoryName = "timoshenko"

    _kind = "constraint buckling"

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in (*_AT_TIP, *(("gravity",) * (not isinstance(self.gravity, Sequence | None)))):
            if not is_finite(getattr(self, key)):
                raise ProblemError(
                    f"{self._kind}: {key} = {shown(getattr(self, key))}: must be a finite number."
                )
        pulls = np.any(self.gravity if self.gravity is not None else STANDARD_GRAVITY)
        if not (pulls or any(self._at_tip)):
            raise ProblemError(
                f"{self._kind}: there is no load; give gravity, tip_force_x or tip_force_y, or of an arm in space "
                "tip_force_z, tip_moment_x, tip_moment_y or tip_moment_z."
            )

    @property
    def _at_tip(self) -> list[float]:
        return [getattr(self, key) for key in _AT_TIP]

    def check_arm(self, arm: Arm | SpatialArm) -> None:
        super().check_arm(arm)
        for key in _AT_TIP[2:]:
            if getattr(self, key) and "z" not in arm.directions:
                raise ProblemError(
                    f"{self._kind}: {key} = {shown(getattr(self, key))}: is of arms in space; leave it out, or make "
                    "one of the planar arm (jaxmodal.to_spatial)."
                )

    def shares(self, design: Design) -> Array:
        """1 over the buckling factor in each posture, shape (P, 1); 0 where nothing is pressed."""
        if isinstance(design.arm, SpatialArm):
            force, moment = np.split(np.array(self._at_tip), 2)
            loads = LoadsInSpace(self._gravity_in_space(), force, moment)
            postures = design.positions(self.postures)
            return inverse_factors(design.arm, postures, self.theory, loads)[:, None]
        gravity = self.gravity_on(design.arm)

        def one(arm: Arm) -> Array:
            return inverse_buckling_factor(
                arm,
                self.theory,
                gravity=(0.0, -gravity),
                tip_force=(self.tip_force_x, self.tip_force_y),
            )

        return design.at_each_posture(self.postures, one)[:, None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class BucklingLimit(_Pressed):
    """Dead loads may grow by at least this factor before the arm buckles, at every posture of a set.

    Parameters
    ----------
    at_least
        Least buckling factor (`jaxmodal.buckling`).
    gravity
        m/s^2, along -y; joint 1's angle is that of link 1 to the horizontal. Left out, it is standard gravity, or none
        where the arm has `loads` of its own. These always count. On an arm in space it acts along -z of the ground, or
        is three numbers along x, y and z.
    tip_force_x, tip_force_y, tip_force_z, tip_moment_x, tip_moment_y, tip_moment_z
        Force at the tip, N, and moment there, N m; in the plane the first two alone.

    Notes
    -----
    The margin is ``1 - at_least/factor``: 1 where nothing is pressed.
    """

    at_least: float = dataclasses.field(kw_only=False)

    equality = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self._kind, "at_least", self.at_least)

    @property
    def label(self) -> str:
        return f"buckling factor >= {self.at_least:g}{where(self.postures)}"

    def margins(self, design: Design, today: Design) -> Array:
        return 1.0 - self.at_least * self.shares(design)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MaximiseBuckling(_Pressed):
    """Make the lowest buckling factor as large as possible, at the worst posture of a set.

    Parameters are those of `BucklingLimit` but for its limit, and ``weight``, the factor in a weighted sum.

    Notes
    -----
    What is made small, and shown, is 1 over the factor: the share of the buckling loads that the loads are, 0 where
    nothing is pressed.
    """

    weight: float = 1.0

    sign = -1.0
    _kind = "objective buckling"

    @property
    def label(self) -> str:
        return f"share of the buckling loads [1]{worst_of(self.postures)}"

    def terms(self, design: Design) -> Array:
        return -self.shares(design)
