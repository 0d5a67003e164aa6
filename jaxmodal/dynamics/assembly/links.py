"""Links between joints, each of one or several pieces, and the bodies at their ends."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from jaxmodal.arm.arm import Arm, require_planar
from jaxmodal.arm.link_rules import DAMPING_FIELDS, JOINT_SPRINGS
from jaxmodal.arm.links import Link
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.refusals import refuse_base, refuse_loads
from jaxmodal.dynamics.frequency_equation import EndBody
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.statics.beam_arrays import SUPPORTS
from jaxmodal.statics.link_parts import BASE_OFFSET, END_OFFSET, ROTOR, SLIDES

#: values of an arm that inextensible Euler-Bernoulli links between joints on their axes do not support
_NOT_HERE = (
    *(*BASE_OFFSET, *END_OFFSET),
    *("tip_centre_x", "tip_centre_y", *SLIDES),
    "axial_force",
)
#: what takes an arm with such a value
_IN_SPACE = ", or give jm.to_spatial(arm), whose dynamics take it"


@dataclasses.dataclass(frozen=True)
class Piece:
    """Uniform piece of a link: its start and length, m; EI in N m^2; kg/m; the body at its end.

    ``supports`` are the springs from its end to the ground, each by its name in `SUPPORTS` with its stiffness.
    """

    start: Any
    length: Any
    bending: Any
    line_mass: Any
    body_mass: Any
    body_inertia: Any
    supports: tuple[tuple[str, Any], ...]


@dataclasses.dataclass(frozen=True)
class JointedLink:
    """Link with the joint at its base: all parts between two joints.

    Attributes
    ----------
    pieces
        One piece, or one for each segment of the link.
    joint
        First `Link`, whose hub, stator, rotor and spring belong to the joint.
    rigid
        True if all pieces are rigid.
    """

    pieces: tuple[Piece, ...]
    joint: Link
    rigid: bool

    @property
    def length(self) -> Any:
        return sum(piece.length for piece in self.pieces)

    @property
    def mass(self) -> Any:
        """Mass of the pieces without the bodies at their ends, kg."""
        return sum(piece.line_mass * piece.length for piece in self.pieces)

    @property
    def is_elastic(self) -> bool:
        """True if a spring acts between the motor and the link."""
        return _has_spring(self.joint)

    @property
    def rotor_beyond(self) -> bool:
        """True if the rotor of an elastic joint is beyond its spring."""
        return self.is_elastic and self.joint.motor == "beyond_spring"


def jointed_links(arm: Arm) -> tuple[JointedLink, ...]:
    """Return the links of an arm from joint to joint.

    Raises
    ------
    ArmError
        If the arm has features that the dynamics do not support: offsets, bodies off the axis, springs along or across
        a link, a free hinge, a spring without a rotor, a rigid support, damping as a value of a link.
    """
    refuse_loads(arm, "jaxmodal.dynamics (whose gravity is an argument)")
    refuse_base(arm)
    groups: list[list[Link]] = []
    for link in require_planar(arm).links:
        if link.segment:
            groups[-1].append(link)
        else:
            groups.append([link])
    number = 0
    made = []
    for group in groups:
        start: Any = 0.0
        pieces = []
        for link in group:
            number += 1
            with within(f"link{number}."):
                _check(link)
            bending = link.youngs_modulus * link.second_moment
            line_mass = link.mass / link.length
            springs = tuple((name, k) for name in SUPPORTS if not absent(k := getattr(link, name)))
            body = link.body[:2]
            pieces.append(Piece(start, link.length, bending, line_mass, *body, springs))
            start = start + link.length
        rigid = [link.rigid for link in group]
        if any(rigid) and not all(rigid):
            raise ArmError(
                f"link{number}.rigid = {rigid[-1]}: in the dynamics all segments of a link bend or none does; make the "
                "rigid part a link with a joint, or make it stiff."
            )
        made.append(JointedLink(tuple(pieces), group[0], all(rigid)))
    for name in ("centre_x", "centre_y"):
        value = getattr(arm.payload, name)
        if not absent(value):
            raise ArmError(
                f"payload.{name} = {shown(value)}: the dynamics of planar arms support only bodies on the link axis; "
                f"leave it out{_IN_SPACE}."
            )
    return tuple(made)


def absent(value: Any) -> bool:
    """Return True if a value of an arm is missing or a concrete 0."""
    return value is None or (isinstance(value, float) and value == 0.0)


def _has_spring(link: Link) -> bool:
    stiffness = link.joint_stiffness
    return not (isinstance(stiffness, float) and math.isinf(stiffness))


def _check(link: Link) -> None:
    for name in SUPPORTS:
        value = getattr(link, name)
        if isinstance(value, float) and math.isinf(value):
            unit = "N m/rad" if name == SUPPORTS[-1] else "N/m"
            raise ArmError(
                f"{name} = inf: in motion the tip of an arm stands on springs; must be finite ({unit}), such as a "
                "thousand times the stiffness of the arm there."
            )
    for name in _NOT_HERE:
        value = getattr(link, name)
        harmless = math.inf if name in JOINT_SPRINGS else 0.0  # 0 would be a free slide
        if value is not None and not (isinstance(value, float) and value == harmless):
            remedy = "leave it out" + (_IN_SPACE if name != "axial_force" else "")
            raise ArmError(
                f"{name} = {shown(value)}: the dynamics of planar arms know joints and bodies on the axis of a "
                f"link, links that do not stretch, and no axial forces; {remedy}."
            )
    for name in DAMPING_FIELDS:
        value = getattr(link, name)
        if not absent(value):
            raise ArmError(
                f"{name} = {shown(value)}: the dynamics take damping as arguments of flexible_arm or keys of "
                "[dynamics] (kelvin_voigt_time, damping_ratio, viscous_friction); leave it out of the link."
            )
    if link.segment:
        return
    if absent(link.joint_stiffness):
        raise ArmError(
            "joint_stiffness = 0.0: every joint turns in the dynamics, and this spring lies between the motor and "
            "the link; leave it out for a joint that the motor moves directly."
        )
    if _has_spring(link) and (link.rotor is None or absent(link.rotor.inertia)):
        raise ArmError(
            f"{ROTOR[0]} is missing: joint_stiffness = {shown(link.joint_stiffness)} puts a spring between the "
            "rotor and the link, so the rotor needs an inertia; give "
            f"{' and '.join(ROTOR)}, or leave joint_stiffness out."
        )


def end_bodies(arm: Arm, first_moments: bool = False) -> tuple[EndBody, ...]:
    """Return the bodies at the ends of the links with the joints locked in the posture of the arm.

    Parameters
    ----------
    arm
        Concrete arm; its joint angles are the posture.
    first_moments
        If True, (MD) is included, eq (28) of De Luca and Siciliano without deflections; otherwise it is 0, as in their
        section VI.

    Returns
    -------
    tuple of EndBody
        One for each link between joints: mass, moment of inertia about the end of the link, first moment along the
        link. Hubs, stators, rotors carried by the link, tip bodies and the payload are included.
    """
    links = jointed_links(arm)
    angles = np.cumsum([0.0] + [float(link.joint.joint_angle) for link in links[1:]])
    mass, inertia, centre = float(arm.payload.mass), float(arm.payload.inertia), 0.0 + 0.0j
    found = []
    for i in reversed(range(len(links))):
        link = links[i]
        last = link.pieces[-1]
        mass += float(last.body_mass)
        inertia += float(last.body_inertia)
        if i + 1 < len(links):
            joint = links[i + 1].joint
            bodies = [x for x in (joint.stator, joint.hub) if x is not None]
            mass += sum(float(body.mass) for body in bodies)
            inertia += sum(float(body.inertia) for body in bodies)
            inertia += 0.0 if joint.rotor is None else float(joint.rotor.inertia)
        along = (centre * np.exp(-1j * angles[i])).real
        found.append(EndBody(mass, inertia, float(along) if first_moments else 0.0))
        # move to the base of this link: its own pieces, the bodies within, and everything beyond
        length = float(link.length)
        direction = np.exp(1j * angles[i])
        inertia += mass * length**2 + 2.0 * length * float(along)
        centre = centre + mass * length * direction
        for k, piece in enumerate(link.pieces):
            own = float(piece.line_mass) * float(piece.length)
            start, end = float(piece.start), float(piece.start) + float(piece.length)
            mass += own
            centre += own * 0.5 * (start + end) * direction
            inertia += own * (start**2 + start * end + end**2) / 3.0
            if k + 1 < len(link.pieces):
                mass += float(piece.body_mass)
                centre += float(piece.body_mass) * end * direction
                inertia += float(piece.body_inertia) + float(piece.body_mass) * end**2
    return tuple(reversed(found))
