"""Results of `speeds_to_avoid` and `crossings_along`."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.moves.orders import Order
from jaxmodal.runtime.array_types import Bools, Floats, Integers
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import ListedResult, certified_where
from jaxmodal.runtime.tables import Table


@dataclasses.dataclass(frozen=True, repr=False)
class SpeedsToAvoid(Drawn, ListedResult):
    """Bands of joint speeds in which R orders meet K modes; see `speeds_to_avoid`.

    Attributes
    ----------
    arm, theory, where : str
        Names of the arm and of the theory, and a description of the postures.
    orders : tuple of Order
        The orders; joints are given by number.
    joints : dict of int to str
        Names of the joints by number.
    omega : array, shape (K, 2)
        Lowest and highest frequency of each mode, rad/s.
    certified : array, shape (K,)
        Whether the frequencies are certified.
    margin : float
        Relative widening of the bands.
    speeds : array, shape (R, K, 2)
        Lowest and highest speed of the order's joint at which the order meets the mode, rad/s.
    driven_mm : array, shape (R, K), or None
        Largest static deflection of the tip in the mode for an acceleration of the order's joint of 1 rad/s^2, over
        these postures, mm; 0 for a mode that is not excited. None for ranges.
    """

    arm: str
    theory: TheoryName
    where: str
    orders: tuple[Order, ...]
    joints: dict[int, str]
    omega: Floats
    certified: Bools
    margin: float
    speeds: Floats
    driven_mm: Floats | None

    @property
    def status(self) -> Integers:
        """`Status` codes of the modes, shape (K,)."""
        return certified_where(self.certified)

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return headings and rows at full precision, for CSV and JSON; one row for each order and mode."""
        headings = (
            "joint",
            "order",
            "per_turn",
            "mode",
            "lowest_hz",
            "highest_hz",
            "certified",
            "from_deg_per_s",
            "to_deg_per_s",
            "driven_mm",
        )
        hertz, degrees = self.omega / (2.0 * np.pi), np.degrees(self.speeds)
        rows = [
            (
                self.joints[int(order.joint)],
                order.name,
                order.per_turn,
                k + 1,
                *map(float, hertz[k]),
                bool(self.certified[k]),
                *map(float, degrees[r, k]),
                None if self.driven_mm is None else float(self.driven_mm[r, k]),
            )
            for r, order in enumerate(self.orders)
            for k in range(len(hertz))
        ]
        return headings, rows

    def tables(self) -> list[Table]:
        """Return a table with one row for each order and mode."""
        rows = [
            [
                joint,
                name,
                str(mode),
                hertz_text(low),
                hertz_text(high),
                "certified" if certified else "not certified",
                f"{first:.5g}",
                f"{last:.5g}",
                "" if driven is None else f"{driven:.3g}",
            ]
            for joint, name, _, mode, low, high, certified, first, last, driven in self.rows()[1]
        ]
        headings: tuple[str, ...] = (
            "joint",
            "order",
            "mode",
            "from [Hz]",
            "to [Hz]",
            "certificate",
            "from [deg/s]",
            "to [deg/s]",
            "tip by 1 rad/s^2 [mm]",
        )
        if self.driven_mm is None:
            headings, rows = headings[:-1], [row[:-1] for row in rows]
        name = f"{self.arm} ({self.theory})" if self.arm else self.theory
        notes = [
            f"speeds within {100.0 * self.margin:g} % of meeting a mode"
            if self.margin
            else "speeds that meet a mode"
        ]
        title = f"{name}: speeds to avoid, {self.where}"
        return [Table(title, headings, rows, notes, ("joint", "order", "certificate"))]


class Crossing(NamedTuple):
    """Crossing of an order with a mode during a move.

    Attributes
    ----------
    time
        Time of the crossing, s.
    order
        The order.
    mode, number
        Number of the mode at the stop, and position of its frequency among those of the posture, from 1.
    omega, certified
        Frequency of the mode in this posture, rad/s, and whether it is certified.
    speed
        Speed of the joint, rad/s.
    angles
        The posture, rad.
    within
        Time during which the order stays within the margin around the mode, s.
    """

    time: float
    order: Order
    mode: int
    number: int
    omega: float
    certified: bool
    speed: float
    angles: Floats
    within: float


@dataclasses.dataclass(frozen=True, repr=False)
class MoveCrossings(Drawn, ListedResult):
    """Crossings of orders with modes during a move; see `crossings_along`.

    Attributes
    ----------
    arm, theory, joints, margin, orders
        As for `SpeedsToAvoid`.
    times : array, shape (T,)
        Times of the move, s.
    rates : array, shape (T, n)
        Magnitudes of the speeds of all joints at these times, rad/s.
    omega : array, shape (T, K)
        Interpolated frequencies at these times, rad/s.
    columns : tuple of int
        Index of the joint of each order, from 0.
    crossings : tuple of Crossing
        In order of time.
    """

    arm: str
    theory: TheoryName
    joints: dict[int, str]
    margin: float
    orders: tuple[Order, ...]
    times: Floats
    rates: Floats
    omega: Floats
    columns: tuple[int, ...]
    crossings: tuple[Crossing, ...]

    @property
    def status(self) -> Integers:
        """`Status` codes of the frequencies at the crossings."""
        return certified_where([met.certified for met in self.crossings])

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return headings and rows at full precision, for CSV and JSON; one row for each crossing."""
        headings = (
            "time_s",
            "joint",
            "order",
            "per_turn",
            "mode",
            "frequency_hz",
            "certified",
            "speed_deg_per_s",
            "within_s",
        )
        rows = [
            (
                met.time,
                self.joints[int(met.order.joint)],
                met.order.name,
                met.order.per_turn,
                met.mode,
                met.omega / (2.0 * np.pi),
                met.certified,
                float(np.degrees(met.speed)),
                met.within,
            )
            for met in self.crossings
        ]
        return headings, rows

    def tables(self) -> list[Table]:
        """Return a table with one row for each crossing."""
        rows = [
            [
                f"{time:.5g}",
                joint,
                name,
                str(mode),
                hertz_text(hertz),
                "certified" if certified else "not certified",
                f"{speed:.5g}",
                f"{within:.3g}",
            ]
            for time, joint, name, _, mode, hertz, certified, speed, within in self.rows()[1]
        ]
        headings = (
            "time [s]",
            "joint",
            "order",
            "mode",
            "frequency [Hz]",
            "certificate",
            "speed [deg/s]",
            f"within {100.0 * self.margin:g} % for [s]",
        )
        name = f"{self.arm} ({self.theory})" if self.arm else self.theory
        met = f"{len(rows)} crossing{'s' * (len(rows) != 1)}"
        title = (
            f"{name}: {met} of orders with modes in a move of {self.times[-1] - self.times[0]:g} s"
        )
        return [Table(title, headings, rows, [], ("joint", "order", "certificate"))]
