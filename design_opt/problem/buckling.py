"""Constraint and objective on the buckling factor."""

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
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.spatial.arms.arm import AnyArm

#: loads at the tip; planar arms have the first two only
_AT_TIP = (
    *("tip_force_x", "tip_force_y", "tip_force_z"),
    *("tip_moment_x", "tip_moment_y", "tip_moment_z"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Pressed(AtRest):
    """Dead loads at the postures of a set; parameters as for `BucklingLimit`."""

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

    def check_arm(self, arm: AnyArm) -> None:
        super().check_arm(arm)
        for key in _AT_TIP[2:]:
            if getattr(self, key) and "z" not in arm.directions:
                raise ProblemError(
                    f"{self._kind}: {key} = {shown(getattr(self, key))}: is of arms in space; leave it out, or make "
                    "one of the planar arm (jaxmodal.to_spatial)."
                )

    def shares(self, design: Design) -> Array:
        """Return 1 over the buckling factor at each posture, shape (P, 1); 0 where no load can buckle the arm."""
        found: Array = self._statics(design, self.postures).inverse_factors(self._at_tip)
        return found[:, None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class BucklingLimit(_Pressed):
    """Lower limit of the buckling factor of dead loads, at every posture of a set.

    Parameters
    ----------
    at_least
        Smallest allowed buckling factor (see `jaxmodal.buckling`).
    gravity
        Acceleration in m/s^2 along -y; the angle of joint 1 is that of link 1 to the horizontal. Default: standard
        gravity, or 0 if the arm has `loads`, which always act. For an arm in space along -z of the ground, or three
        numbers along x, y and z.
    tip_force_x, tip_force_y, tip_force_z, tip_moment_x, tip_moment_y, tip_moment_z
        Force (N) and moment (N m) at the tip; planar arms have only the first two.

    Notes
    -----
    The margin is ``1 - at_least/factor``: 1 where no load can buckle the arm.
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
    """Objective: maximise the lowest buckling factor, at the worst posture of a set.

    Parameters as for `BucklingLimit` without the limit, and ``weight``, the factor in a weighted sum.

    Notes
    -----
    The minimised (and reported) quantity is 1 over the factor: the loads as a share of the buckling loads, 0 where no
    load can buckle the arm.
    """

    weight: float = 1.0

    sign = -1.0
    is_size = True
    _kind = "objective buckling"

    @property
    def label(self) -> str:
        return f"share of the buckling loads [1]{worst_of(self.postures)}"

    def terms(self, design: Design) -> Array:
        return -self.shares(design)
