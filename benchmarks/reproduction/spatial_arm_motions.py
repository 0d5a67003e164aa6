"""Two examples of the paper on flexible links and joints in space, and the second one on a floating base.

A beam is spun up with and without its shortening by bending, and an arm of a space station falls under gravity with
light and heavy rotors. The features that the paper's text states are measured, since its figures are not in the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jaxmodal.dynamics import (
    RestToRest,
    SpatialFlexibleArm,
    SpinUp,
    base_pose,
    flexible_arm,
    simulate,
)
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.files.examples import space_station_arm
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.sections import spatial_section

if TYPE_CHECKING:
    import xarray

#: rad/s, of which the text says 3 is near the first frequency of the beam at rest
RATES = (0.6, 2.0, 3.0, 8.0, 10.0)
#: s, in which the rate is reached, and the end of each run
SPIN_UP, END = 15.0, 20.0
#: kg m^2 at the joint, as the text varies them; the arm has the second
ROTORS = (2.0, 5.0, 10.0, 15.0)
#: the beam counts as unstable when its tip is away by more than its length
_LENGTH = 8.0
#: shapes of each boom; without stretch, whose waves would set the step
SHAPES = {"bending_xy": 2, "bending_xz": 2, "torsion": 1, "stretch": 0}
#: and of the arm on a station that floats, whose motors are given their motion
SHAPES_AFLOAT = {"bending_xy": 1, "bending_xz": 1, "torsion": 0, "stretch": 0}
#: of the station that floats with its arm, seen from joint 1
STATION = RigidBody(20_000.0, (-3.0, 0.0, 0.0), (5e4, 2e5, 2e5))  # type: ignore[arg-type]
#: what the motors of the floating arm turn by in so many seconds, rad
TURN, MOVE = np.array([0.0, 1.0, -0.5, 0.8, 0.0, 0.0, 0.0]), 10.0
FALL = np.linspace(0.0, 2.0, 201)

CHOICES = """\
- The law of the rate, which the text has lost, is omega_0 (t/T - sin(2 pi t/T)/(2 pi)); three shapes, bending in the
  plane of rotation alone, no gravity. Without shortening is the text's zero-order model.
- The station's arm: E I, E A, G, the torsional inertia of a boom, the offset between booms, the first angles and the
  stiffness of joints are printed. Lengths, masses, E and the payload are chosen, see the file of
  `examples.space_station_arm`. Shapes are polynomials, two in each plane and one in torsion, none in stretch.
- The rotors' inertia at the joint, J_r n^2, is 2, 5, 10 and 15 kg m^2, as the text numbers its curves.
- The station that floats, of 20 t, and what its motors do are chosen; the text holds the base. Its booms have one shape
  in each plane."""


class SpunUp(NamedTuple):
    """A beam spun up to a rate, rad/s: its largest deflection, m (NaN if unbounded), and the remaining vibration."""

    rate: float
    peak: float
    left: float
    deflection: np.ndarray


TIMES = np.linspace(0.0, END, 401)


def beam(shortened: bool) -> SpatialFlexibleArm:
    """The beam of 8 m of the paper, bending in the plane of rotation."""
    area, second = 7.2968e-5, 8.2189e-9
    section = spatial_section(area, second, second, 2.0 * second)
    link = SpatialLink(_LENGTH, 6.8952e10, 2.7667e3, section, poisson_ratio=0.3)
    shapes = {"bending_xy": 3, "bending_xz": 0, "torsion": 0, "stretch": 0}
    made = flexible_arm(SpatialArm((link,)), shapes, foreshortening=shortened)
    assert isinstance(made, SpatialFlexibleArm)
    return made


def spun_up(rate: float, shortened: bool) -> SpunUp:
    """Motion of the beam during spin-up, in the axes rotating with its root."""
    motion = simulate(beam(shortened), TIMES, motion=SpinUp([rate], SPIN_UP))
    angle, tip = motion["joint_angle"].values[:, 0], motion["tip_position"].values
    away = np.cos(angle) * tip[:, 1] - np.sin(angle) * tip[:, 0]
    largest = float(np.max(np.abs(away), where=np.isfinite(away), initial=0.0))
    if motion.attrs["status"] != "finished" or largest > _LENGTH:
        return SpunUp(rate, np.nan, np.nan, away)
    return SpunUp(rate, largest, float(np.abs(away[TIMES > SPIN_UP]).max()), away)


def station_arm(rotor: float, base: str = "clamped") -> SpatialFlexibleArm:
    """The arm with a rotor inertia at each joint, kg m^2, fixed to the ground or on the floating station."""
    arm = space_station_arm()
    links = [
        link.replace(rotor_inertia=rotor / float(link.gear_ratio) ** 2)  # type: ignore[arg-type]
        for link in arm.links
    ]
    shapes, gravity = SHAPES, (0.0, 0.0, -9.81)
    if base == "free":
        links[0] = links[0].replace(stator=STATION)
        shapes, gravity = SHAPES_AFLOAT, (0.0, 0.0, 0.0)
    made = flexible_arm(arm.replace(links=tuple(links)), shapes, gravity=gravity, base=base)
    assert isinstance(made, SpatialFlexibleArm)
    return made


class Fall(NamedTuple):
    """The arm dropped with free motors: largest twist of each joint's spring, rad, and the motion."""

    rotor: float
    twist: np.ndarray
    motion: xarray.Dataset


def dropped(rotor: float) -> Fall:
    """Release the arm in its posture under gravity."""
    model = station_arm(rotor)
    # twists are told to two digits
    motion = simulate(model, FALL, _start(model), rtol=1e-6, atol=1e-8)
    twist = np.abs(motion["joint_angle"].values - motion["motor_angle"].values).max(axis=0)
    return Fall(rotor, twist, motion)


def floating() -> xarray.Dataset:
    """Motion of the arm from rest to rest, and afterwards, while the station floats."""
    model = station_arm(ROTORS[1], "free")
    start = _start(model)
    angles = start[: model.num_links]
    motion = RestToRest(angles, angles + TURN, MOVE)
    return simulate(model, np.linspace(0.0, 1.5 * MOVE, 151), start, motion=motion, rtol=1e-7)


def _start(model: SpatialFlexibleArm) -> np.ndarray:
    """Initial state: unstrained arm in the posture of its file."""
    angles = np.array([float(link.joint_angle) for link in space_station_arm().links])
    q = np.zeros(model.num_coordinates)
    q[: angles.size] = q[model.layout.driven] = angles
    if model.base == "free":
        q[-7:] = base_pose()
    return q
