"""Implausible joints and bodies: springs in N m/arcmin, rotors in g cm^2, masses in grams, offsets in mm."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.links import Link
from jaxmodal.arm.payloads import Payload
from jaxmodal.arm.units import ARCMINUTES
from jaxmodal.statics.link_parts import ROTOR, Rotor

#: A body heavier than all links of the arm by more than this is probably given in grams.
HEAVIEST_BODY_RATIO = 1e3
#: A body's radius of gyration beyond this many lengths of its link is probably a wrong unit.
WIDEST_BODY_RATIO = 10.0
#: A spring is suspect where the arm swings on it more slowly than this, Hz, ...
SLOWEST_SWING = 1.0
#: ... it is softer than the link, k L/(E I), by this, and would not be if it were in N m/arcmin.
SOFTEST_JOINT_RATIO = 1e-2
#: A rotor that resists the joint this many times as much as the arm beyond it is probably a wrong unit.
HEAVIEST_ROTOR_RATIO = 100.0
#: Units in which makers print inertias of rotors, in kg m^2.
ROTOR_UNITS = ((1e-4, "kg cm^2"), (1e-7, "g cm^2"))
#: Offsets and centres of gravity farther away than this, m, are in millimetres, as the lengths probably are.
FARTHEST_OFFSET = 10.0
#: Joint angles beyond this many turns are probably in degrees.
MOST_TURNS = 1.0

Finding = tuple[str, float, str]


def in_another_unit(
    value: float, units: Iterable[tuple[float, str]], plausible: Callable[[float], bool]
) -> str:
    """Return ``; if this is in mm, write 0.5`` for the first unit that makes the value plausible, or ``""``."""
    for size, unit in units:
        if plausible(value * size):
            return f"; if this is in {unit}, write {value * size:.6g}"
    return ""


def joint_findings(arm: Arm, number: int) -> Iterator[Finding]:
    """Yield implausible values of the joint at the base of a link: angle, spring, rotor."""
    link = arm.links[number - 1]
    yield from angle_findings(float(link.joint_angle))
    beyond = inertia_beyond(arm, number)
    if 0.0 < beyond < math.inf:
        rigidity = float(link.youngs_modulus) * float(link.second_moment) / float(link.length)
        if not link.rigid:
            yield from spring_findings(float(link.joint_stiffness), rigidity, beyond)
        yield from rotor_findings(link, beyond)


def angle_findings(angle: float) -> Iterator[Finding]:
    """Yield an angle that is probably in degrees."""
    if abs(angle) > 2.0 * math.pi * MOST_TURNS:
        message = "rad expected, more than a full turn; if this is in degrees, use joint_angle_deg"
        yield "joint_angle", angle, message


def spring_findings(stiffness: float, of_link: float, beyond: float) -> Iterator[Finding]:
    """Yield a spring that is probably in N m/arcmin, judged by E I/L of its link and the inertia beyond."""
    if not 0.0 < stiffness < math.inf:
        return
    swing = math.sqrt(stiffness / beyond) / (2.0 * math.pi)
    meant = stiffness * ARCMINUTES
    soft = stiffness < SOFTEST_JOINT_RATIO * of_link
    if swing < SLOWEST_SWING and soft and SOFTEST_JOINT_RATIO * of_link <= meant:
        message = (
            f"N m/rad expected; it is {of_link / stiffness:.3g} times softer than the link (E I/L), and the arm "
            f"swings on it at {swing:.2g} Hz; if this is in N m/arcmin, write {meant:.6g}, or use "
            "joint_stiffness_nm_per_arcmin"
        )
        yield "joint_stiffness", stiffness, message


class Geared(Protocol):
    """Protocol of a link that may have a rotor."""

    @property
    def rotor(self) -> Rotor | None: ...

    @property
    def moving_rotor(self) -> Rotor | None: ...


def felt_inertia(link: Geared) -> float:
    """Return the inertia of the rotor at the joint, kg m^2: rotor inertia times gear ratio squared.

    It is 0 for a held rotor, and without a rotor.
    """
    return 0.0 if link.rotor is None else float(link.rotor.inertia) * float(link.rotor.ratio) ** 2


def rotor_findings(link: Geared, beyond: float) -> Iterator[Finding]:
    """Yield a rotor whose inertia at the joint would far exceed that of everything beyond it."""
    if link.moving_rotor is None:
        return
    rotor, ratio = map(float, link.moving_rotor)
    felt = rotor * ratio**2
    if felt > HEAVIEST_ROTOR_RATIO * beyond:
        message = (
            f"kg m^2 expected; times {ROTOR[1]}^2 = {ratio:g}^2 it is {felt:.3g} kg m^2 at the joint, where all beyond "
            f"has {beyond:.3g} kg m^2"
        )
        other = in_another_unit(rotor, ROTOR_UNITS, lambda x: x * ratio**2 <= beyond)
        yield ROTOR[0], rotor, message + other


def inertia_beyond(arm: Arm, number: int) -> float:
    """Return the moment of inertia about a joint of everything beyond it, kg m^2.

    The arm is taken as stretched out, and bodies as points.
    """
    start = found = 0.0
    for link in arm.links[number - 1 :]:
        length, mass = float(link.length), float(link.mass)
        hub = 0.0 if link.hub is None else float(link.hub.mass)
        middle = start + length / 2.0
        found += mass * (length * length / 12.0 + middle * middle) + hub * start * start
        start += length
        found += float(link.body.mass) * start * start + float(link.body.inertia)
    return found + float(arm.payload.mass) * start * start + float(arm.payload.inertia)


def body_findings(
    record: Link | Payload, prefix: str, links_mass: float, length: float
) -> Iterator[Finding]:
    """Yield implausible mass and inertia of a rigid body, judged by the links' mass and a length."""
    mass, inertia = (float(getattr(record, prefix + name) or 0.0) for name in ("mass", "inertia"))
    yield from mass_findings(f"{prefix}mass", mass, links_mass)
    yield from inertia_findings(f"{prefix}inertia", inertia, mass, length)


def mass_findings(name: str, mass: float, links_mass: float) -> Iterator[Finding]:
    """Yield a mass that is probably in grams."""
    if mass > HEAVIEST_BODY_RATIO * links_mass:
        message = (
            f"more than {HEAVIEST_BODY_RATIO:g} times the mass of all links ({links_mass:.4g} kg); "
            f"if this is in grams, write {mass / 1e3:.6g}"
        )
        yield name, mass, message


def inertia_findings(name: str, inertia: float, mass: float, length: float) -> Iterator[Finding]:
    """Yield an inertia too large for its mass on a link of this length."""
    if mass > 0.0:
        radius = math.sqrt(inertia / mass)
        if radius > WIDEST_BODY_RATIO * length:
            message = (
                f"kg m^2 expected; with its mass of {mass:.6g} kg the body has a radius of "
                f"gyration of {radius:.4g} m on a link of {length:.6g} m"
            )
            yield name, inertia, message


def offset_findings(
    record: Link | Payload, names: tuple[str, ...], reach: float
) -> Iterator[Finding]:
    """Yield offsets and centres of gravity that exceed the length of the arm."""
    for name in (f"{name}_{axis}" for name in names for axis in "xy"):
        value = getattr(record, name)
        if value is not None and abs(float(value)) > min(reach, FARTHEST_OFFSET):
            far = f"; it is farther than the arm is long ({reach:.6g} m)"
            message = (
                f"m expected{far if abs(float(value)) > reach else ''}; if this is in mm, "
                f"write {float(value) / 1e3:.6g}"
            )
            yield name, float(value), message
