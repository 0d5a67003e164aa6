"""What a move excites, as it is shown and handed on."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arguments import positive, reals
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import Result, certified_where
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table

if TYPE_CHECKING:
    import xarray

Floats = NDArray[np.float64]

#: share of the arm's length beyond which deflections are not small
_SMALL = 0.1
#: forces that belong to no joint alone
TURNING, GRAVITY = "rates", "gravity"


@dataclasses.dataclass(frozen=True, repr=False)
class MoveVibration(Drawn, Result):
    """What a move excites of K modes of an arm with n joints, seen in P postures; modes numbered as at the stop.

    Attributes
    ----------
    arm, theory : str
        Name of the arm, and of the theory.
    joints : tuple of str
        Names of the joints.
    forces : tuple of str
        Forces beside the accelerations of the joints: ``"rates"`` (towards the centre, and gyroscopic), ``"gravity"``.
    damping_ratio : array, shape (K,)
        Of the modes.
    posture_times : array, shape (P,)
        When the move has the postures, s.
    angles : array, shape (P, n)
        The postures, rad.
    omega : array, shape (P, K)
        Natural frequencies of the modes in them, rad/s.
    certified : array, shape (P, K)
        Whether they are certified.
    number : array, shape (P, K)
        Which of the frequencies of its posture each is, from 1.
    assurance : array, shape (P - 1, K)
        How alike a mode is in neighbouring postures, 1 for the same shape.
    participation : array, shape (P, K, n)
        The integral of mode shape times rigid motion by each joint, m sqrt(kg): minus the modal force of an
        acceleration of 1 rad/s^2.
    tips : array, shape (P, K, 2 or 3)
        The modes, of unit mass, at the tip, along the axes of the base, m.
    times : array, shape (T,)
        Times of the move, s.
    coordinates : array, shape (T, K)
        Modal coordinates then, m sqrt(kg) (1 for an amplitude of the mode of unit mass).
    left, rate : array, shape (K, n + forces)
        Coordinates at the stop, less where they come to rest, and their rates, by what has driven them: each joint,
        then ``forces``.
    reach : float
        Lengths of all links, m.
    """

    picture: ClassVar[str] = "jaxmodal.plots.moves:draw_move"
    arm: str
    theory: TheoryName
    joints: tuple[str, ...]
    forces: tuple[str, ...]
    damping_ratio: Floats
    posture_times: Floats
    angles: Floats
    omega: Floats
    certified: NDArray[np.bool_]
    number: NDArray[np.int64]
    assurance: Floats
    participation: Floats
    tips: Floats
    times: Floats
    coordinates: Floats
    left: Floats
    rate: Floats
    reach: float

    @property
    def status(self) -> NDArray[np.int64]:
        """`Status` codes, shape (P, K): certified or not, large_deflection where the arm bends too far."""
        return np.where(
            self.certified & self.is_large,
            int(Status.large_deflection),
            certified_where(self.certified),
        )

    @property
    def stop(self) -> float:
        """The time of the stop, s."""
        return float(self.times[-1])

    @property
    def frequencies_hz(self) -> Floats:
        """Frequencies at the stop, Hz, shape (K,)."""
        return np.asarray(self.omega[-1] / (2.0 * np.pi))

    @property
    def amplitudes_mm(self) -> Floats:
        """Amplitude of the tip in each mode at the stop, mm, shape (K,)."""
        return self._millimetres(self.left.sum(axis=1), self.rate.sum(axis=1))

    @property
    def amplitudes_by_force_mm(self) -> Floats:
        """The same of each force alone, mm, shape (K, n + forces): each joint, then ``forces``."""
        return np.stack(
            [self._millimetres(a, b) for a, b in zip(self.left.T, self.rate.T, strict=True)], axis=1
        )

    @property
    def largest_deflection(self) -> float:
        """How far the tip may be from that of the rigid arm, on the way and after the stop, m."""
        tips = np.empty((self.times.size, *self.tips.shape[1:]))
        for place in np.ndindex(*self.tips.shape[1:]):
            own = self.tips[(slice(None), *place)]
            tips[(slice(None), *place)] = np.interp(self.times, self.posture_times, own)
        moving = np.linalg.norm(np.einsum("tk,tkd->td", self.coordinates, tips), axis=1).max()
        return max(float(moving), 1e-3 * float(self.amplitudes_mm.sum()))

    @property
    def is_large(self) -> bool:
        """Whether deflections are no longer those of small vibrations."""
        return not self.largest_deflection <= _SMALL * self.reach

    @property
    def how_large(self) -> str:
        """That deflection in words."""
        return (
            f"the tip is up to {1e3 * self.largest_deflection:.4g} mm from that of the rigid arm, "
            f"{100.0 * self.largest_deflection / self.reach:.3g} % of the arm's length; more than "
            f"{100.0 * _SMALL:g} % is no small vibration"
        )

    @property
    def decay_times(self) -> Floats:
        """In what time a mode falls to a tenth, s, shape (K,); inf without damping."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(10.0) / (self.damping_ratio * self.omega[-1]))

    @property
    def deflection_per_acceleration_mm(self) -> Floats:
        """What a steady acceleration of each joint of 1 rad/s^2 bends the tip in each mode, mm, shape (P, K, n)."""
        size = np.linalg.norm(self.tips, axis=-1) / self.omega**2
        return np.asarray(1e3 * size[..., None] * np.abs(self.participation))

    def tip_vibration(self, times: object) -> Floats:
        """Displacement of the tip from where it comes to rest, m, shape (T, 2 or 3), at times after the stop, s."""
        after = reals("times", times, "times after the stop, s")[..., None]
        root = np.sqrt(1.0 - self.damping_ratio**2)
        omega, zeta = self.omega[-1], self.damping_ratio
        left, rate = self.left.sum(axis=1), self.rate.sum(axis=1)
        turned = omega * root * after
        swing = left * np.cos(turned) + (rate + zeta * omega * left) / (omega * root) * np.sin(
            turned
        )
        return np.asarray((np.exp(-zeta * omega * after) * swing) @ self.tips[-1])

    def settling_time(self, millimetres: float) -> float:
        """How long after the stop the tip may be farther than this from its rest, s.

        From the sum of the amplitudes of all modes, which is never less than the vibration itself; inf where a mode
        without damping keeps it beyond.
        """
        limit = positive("millimetres", millimetres, "mm")
        rates, sizes = self.damping_ratio * self.omega[-1], self.amplitudes_mm

        def left(time: float) -> float:
            return float(np.sum(sizes * np.exp(-rates * time)))

        if left(0.0) <= limit:
            return 0.0
        if sizes[rates == 0.0].sum() >= limit:
            return float("inf")
        high = 1.0 / rates[rates > 0.0].max()
        while left(high) > limit:
            high *= 2.0
        low = 0.0
        for _ in range(80):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if left(middle) > limit else (low, middle)
        return high

    def _millimetres(self, left: Floats, rate: Floats) -> Floats:
        omega, zeta = self.omega[-1], self.damping_ratio
        quarter = (rate + zeta * omega * left) / (omega * np.sqrt(1.0 - zeta**2))
        return np.asarray(1e3 * np.hypot(left, quarter) * np.linalg.norm(self.tips[-1], axis=-1))

    def tables(self) -> list[Table]:
        """Return frequencies and what is left of each mode, then what each joint leaves."""
        from jaxmodal.moves.tables import forces_table, modes_table

        return [modes_table(self), forces_table(self)]

    def to_xarray(self) -> xarray.Dataset:
        """Return frequencies along the way, modal coordinates and what is left; Hz, degrees and mm."""
        from jaxmodal.moves.tables import move_dataset

        return move_dataset(self)
