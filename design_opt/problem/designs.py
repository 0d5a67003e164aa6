"""Input of objectives and constraints: arm, variables, and frequencies at all postures."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import jax
import numpy as np
from jax import Array

from design_opt.problem.errors import ProblemError, about
from jaxmodal.arm.arguments import is_finite, is_whole
from jaxmodal.arm.descriptions import first_angle_matters
from jaxmodal.arm.joint_limits import warn_beyond_limits
from jaxmodal.arm.paths import value_at
from jaxmodal.arm.plain_arrays import plain
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import suggestion
from jaxmodal.spatial.arms.arm import AnyArm

#: name of the posture set that always exists: the arm's own posture
OWN = "own"
#: most postures of a set: each is solved in every step of a search
POSTURES = 1_000_000


class Part(Protocol):
    """Protocol that objectives and constraints share."""

    @property
    def postures(self) -> str:
        """Name of the posture set; empty for none."""

    @property
    def label(self) -> str:
        """Short text for tables, with the unit."""

    @property
    def highest_mode(self) -> int:
        """Highest mode number needed; 0 for none."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Design:
    """A design as the argument of objectives and constraints, with traced values.

    Attributes
    ----------
    arm : Arm or SpatialArm
        The arm, with traced values.
    variables : Array, shape (n,)
        Values of the design variables in SI units.
    hz : mapping of str to Array, shape (P, K)
        Frequencies in Hz at the P postures of each set, ascending.
    angles : mapping of str to Array, shape (P, links)
        Joint angles of the sets in rad; positions of prismatic joints in m.
    """

    arm: AnyArm
    variables: Array
    hz: dict[str, Array]
    angles: dict[str, Array]

    def positions(self, name: str) -> Array | None:
        """Return the joint positions of a set, (P, links), rad and m; None for the arm's own posture."""
        return None if name == OWN else self.angles[name]

    def at_each_posture(self, name: str, of: Callable[[Any], Array]) -> Array:
        """Return ``of(arm)`` at each posture of a set, shape (P, ...); in its own posture, angles may be variables."""
        if name == OWN:
            return of(self.arm)[None]
        turned = self.angles[name][:, np.array(self.arm.joints) - 1]
        return jax.vmap(lambda angles: of(self.arm.with_posture(angles)))(turned)


def posture_sets(arm: AnyArm, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return named posture sets as arrays of shape (P, links), in rad; ``own`` is the arm's posture.

    Parameters
    ----------
    given
        For each name the joint angles in rad (positions of prismatic joints in m), shape (P, joints - 1) or
        (P, joints); segments have no joint.

    Raises
    ------
    ProblemError
        If a set is empty, too large, has the wrong shape or contains an angle that is not finite.
    """
    found = {OWN: own_angles(arm)}
    own = found[OWN][0]
    for name, postures in given.items():
        if name == OWN:
            raise ProblemError(f"postures: {OWN!r} is the arm's own posture; choose another name.")
        with about(f"postures {name!r}"):
            postures = plain("angles", postures)
        try:
            angles = np.atleast_2d(np.asarray(postures, dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise ProblemError(
                f"postures {name!r} = {shown(postures)}: must be an array of joint angles in rad."
            ) from error
        n = len(arm.joints)
        if angles.shape[0] > POSTURES:
            raise ProblemError(
                f"postures {name!r}: there are {angles.shape[0]:,}; at most {POSTURES:,}."
            )
        if angles.ndim != 2 or angles.shape[0] == 0 or angles.shape[1] not in (n - 1, n):
            raise ProblemError(
                f"postures {name!r}: an array of shape {angles.shape}; expected (postures, {n - 1}) or "
                f"(postures, {n}) joint angles in rad for this arm."
            )
        if not np.isfinite(angles).all():
            raise ProblemError(f"postures {name!r}: an angle is not finite.")
        if angles.shape[1] == n - 1:
            first = np.full((angles.shape[0], 1), own[0])
            angles = np.concatenate([first, angles], axis=1)
        found[name] = np.zeros((angles.shape[0], arm.num_links))
        found[name][:, np.array(arm.joints) - 1] = angles
        columns = dict(zip(arm.joints, angles.T, strict=True))
        warn_beyond_limits(arm.links, columns, f"postures {name!r}: ", level=4)
    return found


def of_joints(arm: AnyArm, angles: np.ndarray) -> np.ndarray:
    """Return the positions of joints, (P, joints), from a set of postures (P, links), which includes segments."""
    return angles[:, np.array(arm.joints) - 1]


def degrees(arm: AnyArm, angles: Any, among: np.ndarray) -> str:
    """Return a posture as text, such as ``(45°, -90°)``: the joints on which frequencies depend.

    Joint 1 is included also if its angle varies ``among`` the set: a limit may depend on it, by gravity or a port.
    """
    joints = _mattering(arm)
    if 1 not in joints and np.ptp(among[:, 0]) > 0.0:
        joints = [1, *joints]
    shown_positions = ((i, as_degrees(arm, i, float(angles[i - 1]))) for i in joints)
    return f"({', '.join(f'{x:.4g}{unit_shown(arm, i)}' for i, x in shown_positions)})"


def as_degrees(arm: AnyArm, joint: int, position: Any) -> Any:
    """Return positions of a joint in the units of texts: angles in degrees, prismatic joints in m."""
    return position if arm.slides(joint) else np.degrees(position)


def unit_shown(arm: AnyArm, joint: int) -> str:
    """Return the unit of a joint position in texts, to follow its number."""
    return " m" if arm.slides(joint) else "°"


def own_angles(arm: AnyArm) -> np.ndarray:
    """Return the posture of an arm as a set, rad and m, shape (1, links)."""
    links = enumerate(arm.links, start=1)
    return np.array([[float(value_at(link, arm.position_of(number))) for number, link in links]])


def posture_columns(arm: AnyArm, angles: np.ndarray) -> dict[str, np.ndarray]:
    """Return the joint positions of a set (P, links) by address; joint 1 only if frequencies depend on it."""
    return {f"link{i}.{arm.position_of(i)}": angles[:, i - 1] for i in _mattering(arm)}


def _mattering(arm: AnyArm) -> list[int]:
    """Return the joints on whose positions the frequencies depend; joint 1 if there is none."""
    return [i for i in arm.joints if i > 1 or first_angle_matters(arm)] or [1]


def workspace(*ranges_deg: tuple[float, float, int], sliding: Sequence[int] = ()) -> np.ndarray:
    """Return the postures of a regular grid, in rad (prismatic joints: m), shape (P, axes).

    Parameters
    ----------
    ranges_deg
        For each joint, or each joint from the second: first and last angle in degrees, and number of points.
    sliding
        Indices, from 0, of the ranges of prismatic joints, whose first and last positions are in m.

    Examples
    --------
    >>> workspace((-90, 90, 64), (0, 120, 64)).shape
    (4096, 2)
    """
    postures = 1
    for entry in ranges_deg:
        good = isinstance(entry, Sequence) and len(entry) == 3
        if not good or not all(is_finite(x) for x in entry) or not entry[2] == int(entry[2]) >= 1:
            raise ProblemError(
                f"grid {shown(entry)}: must be (first, last, number of points) in degrees."
            )
        postures *= int(entry[2])
    if postures > POSTURES:
        raise ProblemError(
            f"grid of {shown(postures)} postures: at most {POSTURES:,}; each is solved in every step of the search."
        )
    axes = [
        np.linspace(*((a, b) if k in sliding else (math.radians(a), math.radians(b))), int(num))
        for k, (a, b, num) in enumerate(ranges_deg)
    ]
    return np.stack([x.ravel() for x in np.meshgrid(*axes, indexing="ij")], axis=1)


def check_set(where: str, name: str, known: Mapping[str, Any]) -> None:
    """Raise an error if the problem has no such posture set."""
    if not isinstance(name, str) or name not in known:
        raise ProblemError(
            f"{where}: posture set {shown(name)} is unknown; known are {', '.join(known)}."
            f"{suggestion(str(name)[:100], known)}"
        )


def check_mode(where: str, mode: Any, key: str = "mode") -> None:
    """Raise an error unless a mode number is a whole number from 1 to 40."""
    if not is_whole(mode, 1, 40):
        raise ProblemError(f"{where}: {key} = {shown(mode)}: must be a whole number from 1 to 40.")


def check_function(where: str, function: Any) -> None:
    """Raise an error unless a function is callable."""
    if not callable(function):
        raise ProblemError(
            f"{where}: function = {shown(function)}: must be a function of a Design, such as"
            " lambda design: design.arm.total_mass."
        )


def check_number(where: str, key: str, value: Any) -> None:
    """Raise an error unless a value is a finite number greater than 0."""
    if not is_finite(value) or value <= 0.0:
        raise ProblemError(
            f"{where}: {key} = {shown(value)}: must be a finite number greater than 0."
        )
