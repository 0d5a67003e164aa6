"""Result of `move_vibration`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.arm.arguments import positive, reals
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.runtime.array_types import Bools, Floats, Integers
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import ListedResult, Result, certified_where
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table

if TYPE_CHECKING:
    import xarray


#: largest deflection, relative to the arm's length, that counts as small
_SMALL = 0.1
#: assurance in neighbouring postures below which modes may have been confused
_ALIKE = 0.8
#: sources of excitation that belong to no single joint
TURNING, GRAVITY, SUPPORTS = "rates", "gravity", "supports"


@dataclasses.dataclass(frozen=True, repr=False)
class MoveVibration(Drawn, Result):
    """Vibration that a move excites in K modes of an arm with n joints, with modes in P postures.

    Modes are numbered as at the stop.

    Attributes
    ----------
    arm, theory : str
        Name of the arm, and of the theory.
    joints : tuple of str
        Names of the joints.
    forces : tuple of str
        Sources of excitation other than joint accelerations: ``"rates"`` (centripetal and gyroscopic), ``"gravity"``,
        ``"supports"``.
    damping_ratio : array, shape (K,)
        Damping ratios of the modes.
    posture_times : array, shape (P,)
        Times of the postures, s.
    angles : array, shape (P, n)
        The postures, rad.
    omega : array, shape (P, K)
        Natural frequencies of the modes in the postures, rad/s.
    certified : array, shape (P, K)
        Whether the frequencies are certified.
    number : array, shape (P, K)
        Position of each mode's frequency among those of its posture, from 1.
    assurance : array, shape (P - 1, K)
        Similarity of a mode in neighbouring postures, 1 for the same shape.
    participation : array, shape (P, K, n)
        Mass-weighted integral of mode shape times rigid motion of each joint, m sqrt(kg); this is minus the modal force
        of an acceleration of 1 rad/s^2.
    tips : array, shape (P, K, 2 or 3)
        Mode shapes of unit modal mass at the tip, along the axes of the base, m.
    times : array, shape (T,)
        Times of the move, s.
    coordinates : array, shape (T, K)
        Modal coordinates at these times, m sqrt(kg); 1 is the amplitude of the mode of unit modal mass.
    left, rate : array, shape (K, n + forces)
        Modal coordinates at the stop relative to their rest values, and their rates, by source: each joint, then
        ``forces``.
    reach : float
        Sum of the lengths of all links, m.
    """

    arm: str
    theory: TheoryName
    joints: tuple[str, ...]
    forces: tuple[str, ...]
    damping_ratio: Floats
    posture_times: Floats
    angles: Floats
    omega: Floats
    certified: Bools
    number: Integers
    assurance: Floats
    participation: Floats
    tips: Floats
    times: Floats
    coordinates: Floats
    left: Floats
    rate: Floats
    reach: float

    @property
    def status(self) -> Integers:
        """`Status` codes, shape (P, K): whether the mode is certified; large_deflection if the arm bends too far."""
        return np.where(
            self.certified & self.is_large,
            int(Status.large_deflection),
            certified_where(self.certified),
        )

    @property
    def stop(self) -> float:
        """Time of the stop, s."""
        return float(self.times[-1])

    @property
    def frequencies_hz(self) -> Floats:
        """Frequencies at the stop, Hz, shape (K,)."""
        return np.asarray(self.omega[-1] / (2.0 * np.pi))

    @property
    def amplitudes_mm(self) -> Floats:
        """Amplitude of the tip vibration in each mode at the stop, mm, shape (K,)."""
        return self._millimetres(self.left.sum(axis=1), self.rate.sum(axis=1))

    @property
    def amplitudes_by_force_mm(self) -> Floats:
        """Amplitude due to each source alone, mm, shape (K, n + forces): each joint, then ``forces``."""
        return np.stack(
            [self._millimetres(a, b) for a, b in zip(self.left.T, self.rate.T, strict=True)], axis=1
        )

    @property
    def largest_deflection(self) -> float:
        """Upper bound of the distance of the tip from that of the rigid arm, on the way and after the stop, m."""
        tips = np.empty((self.times.size, *self.tips.shape[1:]))
        for place in np.ndindex(*self.tips.shape[1:]):
            own = self.tips[(slice(None), *place)]
            tips[(slice(None), *place)] = np.interp(self.times, self.posture_times, own)
        moving = np.linalg.norm(np.einsum("tk,tkd->td", self.coordinates, tips), axis=1).max()
        return max(float(moving), 1e-3 * float(self.amplitudes_mm.sum()))

    @property
    def is_large(self) -> bool:
        """Whether deflections are too large for the theory of small vibrations."""
        return not self.largest_deflection <= _SMALL * self.reach

    @property
    def how_large(self) -> str:
        """Description of the largest deflection in words."""
        return (
            f"the tip is up to {1e3 * self.largest_deflection:.4g} mm from that of the rigid arm, "
            f"{100.0 * self.largest_deflection / self.reach:.3g} % of the arm's length; more than "
            f"{100.0 * _SMALL:g} % is no small vibration"
        )

    @property
    def decay_times(self) -> Floats:
        """Time in which each mode decays to a tenth, s, shape (K,); inf without damping."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(10.0) / (self.damping_ratio * self.omega[-1]))

    @property
    def deflection_per_acceleration_mm(self) -> Floats:
        """Static deflection of the tip in each mode for 1 rad/s^2 of each joint, mm, shape (P, K, n)."""
        size = np.linalg.norm(self.tips, axis=-1) / self.omega**2
        return np.asarray(1e3 * size[..., None] * np.abs(self.participation))

    def tip_vibration(self, times: object) -> Floats:
        """Return the tip displacement from its rest position, m, shape (T, 2 or 3), at times after the stop, s."""
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
        """Return the time after the stop until the tip stays within a distance of its rest position, s.

        Computed from the sum of the amplitudes of all modes, an upper bound of the vibration; inf if an undamped mode
        exceeds the distance.
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
        """Return two tables: frequencies and remaining vibration of each mode, and the contribution of each joint."""
        return [self._modes_table(), self._forces_table()]

    def _modes_table(self) -> Table:
        """Return a row for each mode: frequency at the stop and along the path, residual tip amplitude, and decay."""
        hertz = self.omega / (2.0 * np.pi)
        rows = []
        for k, size in enumerate(self.amplitudes_mm):
            decay = self.decay_times[k]
            rows.append(
                [
                    str(k + 1),
                    hertz_text(hertz[-1, k]),
                    hertz_text(hertz[:, k].min()),
                    hertz_text(hertz[:, k].max()),
                    "certified" if self.certified[:, k].all() else "not certified",
                    f"{size:.4g}",
                    f"{decay:.4g}" if np.isfinite(decay) else "never",
                ]
            )
        headings = (
            "mode",
            "at the stop [Hz]",
            "lowest [Hz]",
            "highest [Hz]",
            "certificate",
            "left at the tip [mm]",
            "to a tenth [s]",
        )
        name = f"{self.arm} ({self.theory})" if self.arm else self.theory
        title = f"{name}: what a move of {self.stop - self.times[0]:g} s leaves at the tip"
        notes = [
            f"frequencies in {len(self.omega)} posture{'s' * (len(self.omega) > 1)} of the way; all modes together "
            f"leave at the most {self.amplitudes_mm.sum():.4g} mm"
        ]
        if self.is_large:
            notes.append(self.how_large)
        if self.assurance.size and self.assurance.min() < _ALIKE:
            step, mode = np.unravel_index(np.argmin(self.assurance), self.assurance.shape)
            notes.append(
                f"mode {mode + 1} changes much between the postures at {self.posture_times[step]:.4g} and "
                f"{self.posture_times[step + 1]:.4g} s (assurance {self.assurance.min():.2f}); "
                "more postures follow it better"
            )
        return Table(title, headings, rows, notes, ("certificate",))

    def _forces_table(self) -> Table:
        """Return the residual amplitude due to each joint, the rates, gravity and supports alone."""
        by_force = self.amplitudes_by_force_mm
        rows = [[str(k + 1), *(f"{value:.4g}" for value in row)] for k, row in enumerate(by_force)]
        return Table(
            "left at the tip by each alone [mm]", ("mode", *self.joints, *self.forces), rows, []
        )

    def to_xarray(self) -> xarray.Dataset:
        """Return frequencies along the path, modal coordinates and the remaining vibration; Hz, degrees and mm."""
        import xarray

        axes = ["x", "y", "z"][: self.tips.shape[-1]]
        where = ("posture", "mode")
        variables = {
            "posture_time": variable("posture", self.posture_times, "time of the posture", "s"),
            "joint_angle": variable(
                ("posture", "joint"), np.degrees(self.angles), "angles of the joints", "degree"
            ),
            "frequency": in_hertz(where, self.omega),
            "certified": variable(where, self.certified, "whether it is certified"),
            "number": variable(where, self.number, "which frequency of its posture it is"),
            "participation": variable(
                (*where, "joint"), self.participation, "mode shape times rigid motion", "m kg^0.5"
            ),
            "deflection_per_acceleration": variable(
                (*where, "joint"),
                self.deflection_per_acceleration_mm,
                "deflection of the tip by a steady acceleration of the joint",
                "mm s^2/rad",
            ),
            "tip": variable((*where, "axis"), self.tips, "mode of unit mass at the tip", "m"),
            "coordinate": variable(
                ("time", "mode"), self.coordinates, "modal coordinate", "m kg^0.5"
            ),
            "left": variable("mode", self.amplitudes_mm, "amplitude of the tip at the stop", "mm"),
            "left_by_force": variable(
                ("mode", "force"), self.amplitudes_by_force_mm, "the same by each alone", "mm"
            ),
            "damping_ratio": variable("mode", self.damping_ratio, "damping ratio", "1"),
        }
        labels = {
            "mode": np.arange(1, self.omega.shape[1] + 1),
            "joint": list(self.joints),
            "force": [*self.joints, *self.forces],
            "axis": axes,
            "time": ("time", self.times, {"units": "s"}),
        }
        return xarray.Dataset(variables, labels, {"theory": self.theory, "arm": self.arm})


class OfArms(ListedResult):
    """Base class of results with the vibration of several arms after one move."""

    vibrations: tuple[MoveVibration, ...]

    @property
    def status(self) -> Integers:
        """Worst `Status` of each arm along the path of the move that was found, shape (V,)."""
        return np.array([int(Status.worst(found.status)) for found in self.vibrations])

    @property
    def duration(self) -> float:
        """Time of the stop, s."""
        return self.vibrations[0].stop
