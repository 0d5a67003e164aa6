"""Arms in space under proportional loads: counts of buckling factors."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np

from jaxmodal.runtime.array_types import Floats
from jaxmodal.spatial.modes.motions import mass_and_centre
from jaxmodal.spatial.preload.chain import PrestressedChain
from jaxmodal.spatial.preload.condensation import Condensed, condensed
from jaxmodal.spatial.preload.held import loose_gives
from jaxmodal.spatial.preload.members import stiffness_left
from jaxmodal.statics.stability import NO_STIFFNESS

#: an eigenvalue of a pivot below this share of the largest may have the sign of a rounding error
ROUNDING = 100.0 * 2.0**-52
#: largest number of bisections between two counts that differ by more than one
_HALVINGS = 60
#: forces and moments below this share of the largest are rounding
_NOTHING = 1e-13


class Judged(NamedTuple):
    """The determinant of an arm, the logarithm of its modulus, and the number of its negative eigenvalues.

    ``clear`` is True if no eigenvalue is within rounding of zero, ``falls`` if at least one is negative beyond
    rounding.
    """

    determinant: float
    log_abs: float
    negative: int
    clear: bool
    falls: bool


@dataclasses.dataclass(frozen=True)
class SpatialLoadedArm:
    """An arm in space under proportional loads; see `statics.load_factors.Loaded`."""

    exact: ClassVar[str] = ""
    chain: PrestressedChain
    sign: float = 1.0

    def reversed(self) -> SpatialLoadedArm:
        """Return the arm under loads in the opposite direction."""
        return dataclasses.replace(self, sign=-self.sign)

    def condensed(self, factor: float) -> Condensed | None:
        """Return the steps from tip to base; None if a link would need too many pieces or a number overflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            counts = self.chain.pieces_for(self.sign * factor)
            if counts is None:
                return None
            found = condensed(self.chain, self.sign * factor, counts)
        return found if all(np.isfinite(x).all() for x in (*found.pivots, found.last)) else None

    def judged(self, factor: float) -> Judged | None:
        """Return count and determinant at a load factor, from the pivots of all releases."""
        found = self.condensed(factor)
        return None if found is None else judged(found)

    def count(self, factor: float) -> tuple[float, bool]:
        """Return the number of buckling factors below, and whether no eigenvalue is within rounding of zero."""
        found = self.judged(factor)
        return (math.inf, True) if found is None else (float(found.negative), found.clear)

    def rigid(self) -> bool:
        """Return True if no part of the arm is elastic."""
        found = self.condensed(0.0)
        return found is not None and found.moving == 0

    def moves_without_strain(self) -> bool:
        """Return True if a free joint moves without load: the arm is a mechanism."""
        return bool(self.free_joints())

    def free_joints(self) -> list[str]:
        """Return the addresses of the springs of zero stiffness that move without resistance of a support."""
        chain, found = self.chain, []
        for give in loose_gives(chain.model, chain.rest.places):
            own = len(chain.model.links[give.link].joint_springs)
            name = f"joint_spring{give.number + 1}." if give.number < own else "joint_"
            found.append(f"link{give.link + 1}.{name}stiffness")
        return found

    def unstable(self, factor: float) -> bool:
        """Return True if a factor of the loads buckles the arm, or is critical within rounding."""
        found = self.judged(factor)
        if found is None or self.moves_without_strain():
            return found is None or found.falls
        return found.negative > 0 or not found.clear

    def never(self) -> bool:
        """Return True if all forces are axial tension, so that no positive factor buckles the arm."""
        rest = self.chain.rest
        forces = self.sign * np.array(
            [self.chain.forces(k, np.array([0.0, 1.0])) for k in range(len(rest.places))]
        )
        joints = self.sign * rest.joints
        across = max(np.abs(forces[..., 1:]).max(), np.abs(joints[:, 1:]).max())
        along = max(np.abs(forces[..., 0]).max(), np.abs(joints[:, 0]).max())
        pulled = min(forces[..., 0].min(), joints[:, 0].min()) >= 0.0
        # the arm hangs along one line through all joints and centres of gravity, and nothing stands on what hangs
        return bool(across <= _NOTHING * along and pulled and self._hangs())

    def _hangs(self) -> bool:
        """Return True if no force on a rigid part pushes towards the place where the part is held."""
        links, rest = self.chain.model.values.links, self.chain.rest
        gravity = self.sign * self.chain.loads.gravity
        found = []
        for number, (link, at, carried) in enumerate(
            zip(links, rest.places, rest.links, strict=True)
        ):
            end = self.sign * carried.end[:3]
            start = end + self.sign * link.beam.length * carried.line
            found += [start @ (at.start - at.joint), end @ (at.tip - at.end)]
            before = rest.places[number - 1].axes if number else np.eye(3)
            for matrix, axes in ((link.stator, before), (link.hub, at.axes), (link.tip, at.axes)):
                mass, centre = mass_and_centre(matrix)
                found.append(mass * gravity @ (axes @ centre))
        return min(found) >= 0.0

    def limit(self) -> float:
        """Return the factor at which the axial force leaves a link no stiffness in shear or torsion."""
        model, most = self.chain.model, 0.0
        for number, link in enumerate(model.values.links):
            if not model.links[number].rigid:
                forces = self.chain.forces(number, np.array([0.0, 1.0]))
                left = stiffness_left(link.beam, model.theory, self.sign * forces[:, 0])
                most = max(most, float(np.max(1.0 - left)))
        return 1.0 / most if most > 0.0 else math.inf

    def estimates(self) -> Floats:
        """Return no estimates: counts are cheap for these arms."""
        return np.zeros(0)

    def scale(self) -> float:
        """Return a factor not far below the first buckling factor.

        It is about the factor at which static forces require more than one piece in a link, or rotate a joint spring by
        a radian.
        """
        return self._scale

    @functools.cached_property
    def _scale(self) -> float:
        model, rest = self.chain.model, self.chain.rest
        reach = sum(float(link.beam.length) for link in model.values.links)
        found = [math.inf]
        for link, load in zip(model.values.links, rest.joints, strict=True):
            turning = float(np.abs(load[3:]).max() + reach * np.abs(load[:3]).max())
            held = link.stiffness[np.isfinite(link.stiffness) & (link.stiffness > 0.0)]
            if held.size and turning > 0.0:
                found.append(float(held.min()) / turning)
        low, high = 2.0**-40, 2.0**60
        if not all(link.rigid for link in model.links):
            for _ in range(_HALVINGS):
                middle = math.sqrt(low * high)
                counts = self.chain.pieces_for(self.sign * middle)
                if counts is not None and max(counts) <= 1:
                    low = middle
                else:
                    high = middle
            found.append(low)
        least = min(found)
        return least if math.isfinite(least) else 1.0

    def crossing(self, low: float, high: float, k: int) -> float:
        """Return the k-th factor, which lies between these two."""
        return crossing(self.judged, low, high, k)


def judged(condensed: Condensed) -> Judged:
    """Return the count and the determinant, from all pivots and the last matrix."""
    each = [*condensed.pivots, np.linalg.eigvalsh(condensed.last)]
    values, counts = np.concatenate(each), [x.size for x in each]
    size = np.abs(values)
    largest = np.repeat([max(1.0, float(np.abs(x).max(initial=0.0))) for x in each], counts)
    with np.errstate(divide="ignore"):
        log_abs = float(np.sum(np.log(size)))
    determinant, negative = float(np.prod(values)), int(np.sum(values < 0.0))
    clear = bool(np.all(size > ROUNDING * largest))
    fallen = int(np.sum(values < -NO_STIFFNESS * largest))
    forces = condensed.forces
    return Judged(determinant, log_abs, negative - forces, clear, fallen > forces)


def crossing(judge: Callable[[float], Judged | None], low: float, high: float, k: int) -> float:
    """Return where the number of negative eigenvalues reaches ``k``, between two values with counts on either side."""
    for _ in range(_HALVINGS):
        below, above = judge(low), judge(high)
        if below is None or above is None or above.negative - below.negative == 1:
            break
        middle = math.sqrt(low * high) if 0.0 < 4.0 * low < high else 0.5 * (low + high)
        found = judge(middle)
        if not low < middle < high or found is None:
            break
        low, high = (middle, high) if found.negative < k else (low, middle)
    from scipy.optimize import brentq

    def determinant(value: float) -> float:
        found = judge(value)
        return math.nan if found is None else found.determinant

    if not determinant(low) * determinant(high) < 0.0:  # a repeated zero
        return 0.5 * (low + high)
    return float(brentq(determinant, low, high, xtol=1e-300, rtol=4.0 * 2.0**-52))
