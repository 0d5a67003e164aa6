"""Constraints of statics and manufacture: deflection of the tip, thickness of walls."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from design_opt.problem.constraints import where
from design_opt.problem.designs import OWN, Design, check_number
from design_opt.problem.errors import ProblemError, about
from design_opt.problem.statics import STANDARD_GRAVITY, STATICS
from design_opt.problem.zero_modes import ZeroModes
from jaxmodal.arm.arguments import is_finite
from jaxmodal.arm.plausible_loads import gravity_findings
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.frequencies.models import require_theory
from jaxmodal.runtime.errors import ArmError, ImplausibleWarning
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.spatial.arms.arm import AnyArm


class AtRest:
    """Base class of constraints and objectives of arms at rest under gravity; dataclasses add the fields.

    ``gravity`` is an acceleration in m/s^2: a number, along -y for planar arms and along -z of the ground in space; or,
    in space, three numbers along x, y and z of the ground.
    """

    gravity: float | Sequence[float] | None
    theory: TheoryName

    highest_mode = 0
    _kind: str

    def __post_init__(self) -> None:
        given: Any = self.gravity
        if isinstance(given, np.ndarray | Array) and not is_traced(given):
            object.__setattr__(self, "gravity", np.asarray(given).tolist())
        if isinstance(self.gravity, Sequence):
            if len(self.gravity) == 3 and all(map(is_finite, self.gravity)):
                object.__setattr__(self, "gravity", tuple(map(float, self.gravity)))
            else:
                raise ProblemError(
                    f"{self._kind}: gravity = {shown(self.gravity)}: must be one number, or of an arm in space three "
                    "along x, y and z of the ground, such as (0.0, 0.0, -9.81)."
                )
        parts: Sequence[Any] = (
            self.gravity if isinstance(self.gravity, Sequence) else (self.gravity,)
        )
        if all(map(is_finite, parts)):
            for finding in gravity_findings(math.hypot(*map(float, parts))):
                message = f"{self._kind}: gravity = {shown(self.gravity)}: {finding}"
                warnings.warn(message, ImplausibleWarning, stacklevel=3)
        with about(self._kind):
            theory_flags(self.theory)

    def check_arm(self, arm: AnyArm) -> None:
        """Raise an error if the arm does not suit the theory of this part, or the loads are for arms in space."""
        with about(self._kind, ArmError):
            require_theory(arm, self.theory)
        if isinstance(self.gravity, tuple) and "z" not in arm.directions:
            raise ProblemError(
                f"{self._kind}: gravity = {shown(self.gravity)}: three numbers are of arms in space; give one, in "
                "m/s^2 along -y of the base."
            )

    def check_zero_modes(self, zeros: ZeroModes, today: ZeroModes) -> None:
        """Raise an error if the arm has zero-frequency modes, so that nothing holds it at rest."""
        zeros.require_none(self._kind)

    def gravity_on(self, arm: AnyArm) -> float:
        """Return the acceleration of gravity in addition to the arm's own loads, m/s^2 downwards."""
        if self.gravity is None:
            return STANDARD_GRAVITY if arm.loads is None else 0.0
        assert not isinstance(self.gravity, Sequence)
        return self.gravity

    def _pull(self, arm: AnyArm) -> tuple[Any, ...]:
        """Return gravity along x and y of the base, or x, y and z of the ground."""
        if isinstance(self.gravity, Sequence):
            return tuple(self.gravity)
        return (*(0.0,) * (STATICS.of(arm).axes - 1), -self.gravity_on(arm))

    def _statics(self, design: Design, postures: str) -> Any:
        """Return the statics of a design at the postures of a set, under gravity."""
        return STATICS.of(design.arm)(design, postures, self.theory, self._pull(design.arm))


@dataclasses.dataclass(frozen=True)
class DeflectionLimit(AtRest):
    """Upper limit of the deflection of the tip under gravity, at every posture of a set.

    Parameters
    ----------
    at_most
        Limit of the displacement of the tip (its absolute value), in m.
    gravity
        Acceleration in m/s^2 along -y; the angle of joint 1 is that of link 1 to the horizontal. Default: standard
        gravity, or 0 if the arm has `loads`, which always act. For an arm in space along -z of the ground, or three
        numbers along x, y and z.

    Notes
    -----
    Axial forces and loads of the arm stiffen or soften it (second-order theory). ``gravity`` then acts on the arm in
    this state, and does not change its axial forces; to include its effect on them, give gravity as a load of the arm.
    The margin is NaN for a design that buckles under its forces at rest.
    """

    at_most: float
    gravity: float | Sequence[float] | None = None
    postures: str = OWN
    theory: TheoryName = "timoshenko"

    equality = False
    _kind = "constraint deflection"

    def __post_init__(self) -> None:
        check_number(self._kind, "at_most", self.at_most)
        super().__post_init__()
        if not isinstance(self.gravity, Sequence | None):
            check_number(self._kind, "gravity", self.gravity)
        if isinstance(self.gravity, Sequence) and not any(self.gravity):
            raise ProblemError(
                f"{self._kind}: gravity = {shown(self.gravity)}: bends nothing; must differ from 0 along one axis, "
                "such as (0.0, 0.0, -9.81)."
            )

    def check_arm(self, arm: AnyArm) -> None:
        """Raise an error as `AtRest`, and for supports of arms in space under axial forces."""
        super().check_arm(arm)
        with about(self._kind, ArmError):
            STATICS.of(arm).check_deflection(arm)

    @property
    def label(self) -> str:
        return f"tip deflection <= {self.at_most:g} m{where(self.postures)}"

    def margins(self, design: Design, today: Design) -> Array:
        moved = self._statics(design, self.postures).tips()
        return 1.0 - jnp.sum(moved * moved, axis=1, keepdims=True) / self.at_most**2


@dataclasses.dataclass(frozen=True)
class WallLimit:
    """Limits of wall thickness for manufacture: a smallest thickness, and a largest ratio of depth to thickness.

    Parameters
    ----------
    at_least
        Smallest allowed wall thickness in m.
    depth_over_wall
        Largest allowed ratio of outer depth (or diameter) to wall thickness.
    """

    at_least: float | None = None
    depth_over_wall: float | None = None
    postures: str = ""

    equality = False
    highest_mode = 0

    def __post_init__(self) -> None:
        if self.at_least is None and self.depth_over_wall is None:
            raise ProblemError("constraint wall: give at_least, depth_over_wall or both.")
        for key in ("at_least", "depth_over_wall"):
            if getattr(self, key) is not None:
                check_number("constraint wall", key, getattr(self, key))

    @property
    def label(self) -> str:
        parts = []
        if self.at_least is not None:
            parts.append(f"wall >= {self.at_least:g} m")
        if self.depth_over_wall is not None:
            parts.append(f"depth/wall <= {self.depth_over_wall:g}")
        return ", ".join(parts)

    def check_arm(self, arm: AnyArm) -> None:
        """Raise an error if a section of the arm has no wall."""
        links: tuple[Any, ...] = arm.links
        for number, link in enumerate(links, start=1):
            if not hasattr(link.section, "wall_thickness"):
                shape = getattr(link.section, "shape", "raw")
                raise ProblemError(
                    f"constraint wall: link {number} has a section of shape {shape!r}, without a wall."
                )

    def margins(self, design: Design, today: Design) -> Array:
        found = []
        links: tuple[Any, ...] = design.arm.links
        for link in links:
            section = link.section
            depth = getattr(section, "depth", None)
            depth = section.outer_diameter if depth is None else depth
            if self.at_least is not None:
                found.append(section.wall_thickness / self.at_least - 1.0)
            if self.depth_over_wall is not None:
                found.append(self.depth_over_wall * section.wall_thickness / depth - 1.0)
        return jnp.stack([jnp.asarray(x, jnp.float64) for x in found])[None, :]
