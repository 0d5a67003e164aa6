"""Ports: a place and a direction at which an arm is driven or its motion is read.

As an input, a port is a force (or moment); as an output, the displacement (or rotation) on which that force does
work. Responses between ports are therefore symmetric in input and output. Input and output have different names,
``tip_2.force_x`` and ``tip_2.x``, so that connecting systems by name does not close a loop.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arm.arguments import is_finite, is_whole
from jaxmodal.arm.arm import Arm, require_arm
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.runtime.errors import ArmError, suggestion, within
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.spatial.arms.arm import SpatialArm

#: directions of every place, in the plane and in space
DIRECTIONS, IN_SPACE = Arm.directions, SpatialArm.directions
#: angle between the two sides of a joint; as an input, the torque of a motor there
RELATIVE = "relative_rotation"
#: rotations in space, whose inputs are moments, about x, y, z of the ground or of the link
_ROTATIONS = {name: name.replace("r", "", 1) for name in IN_SPACE if name[-2:-1] == "r"}
#: name of the force or moment of an input by its direction
FORCES = (
    {name: f"force_{name}" for name in (*DIRECTIONS, *IN_SPACE)}
    | {name: f"moment_{axis}" for name, axis in _ROTATIONS.items()}
    | {"rotation": "moment", RELATIVE: "torque"}
)
_IMPOSED = "imposed_"
#: alternative names of directions, as used for inputs
SYNONYMS = {force: name for name, force in FORCES.items()} | {f"{_IMPOSED}{x}": x for x in FORCES}
#: kinds of places
PLACES = ("base", "joint", "link", "tip", "payload")

_NAME = re.compile(
    r"(?P<place>base|joint(?=_)|link(?=_[0-9]+@)|tip|payload)(?:_(?P<number>[1-9][0-9]*))?(?:@(?P<station>[^@]+?))?"
    r"\.(?P<direction>[a-z_]+)",
    re.ASCII,
)
_NUMBER = re.compile(r"[0-9.eE+-]+", re.ASCII)


@dataclasses.dataclass(frozen=True)
class Port:
    """A place on an arm and a direction; `port` makes one from a short name such as ``"tip.across"``.

    Parameters
    ----------
    place
        ``"base"``: the ground, whose motion is imposed. ``"joint"``: the axis of a joint, beyond its springs.
        ``"link"``: a station of a link. ``"tip"``: the tip of a link, where its body and the next joint are.
        ``"payload"``: the payload's centre of gravity.
    direction
        Planar arms: ``"along"`` and ``"across"`` the link (to its left), ``"x"`` and ``"y"`` in ground axes, and
        ``"rotation"`` (counter-clockwise; as an input a moment). Arms in space: ``"x"``, ``"y"``, ``"z"`` in ground
        axes, ``"rx"``, ``"ry"``, ``"rz"`` about them (as inputs moments), and ``"link_x"`` to ``"link_rz"`` in link
        axes, at the last tip in tool axes. Joints also have ``"relative_rotation"``: the deflection of the spring about
        the joint's axis; as an input the torque of a motor between the link and the previous one.
    link
        Number of the link, from 1; for a joint, the link that begins there. None for the base and the payload.
    station
        x/L in [0, 1] of a station on a link, otherwise None.

    Raises
    ------
    ArmError
        If the values are not a valid combination.

    Examples
    --------
    >>> str(Port("link", "across", 2, 0.5)), str(Port("payload", "x"))
    ('link_2@0.5.across', 'payload.x')
    """

    place: str
    direction: str
    link: int | None = None
    station: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.place, str) or self.place not in PLACES:
            raise ArmError(
                f"place = {shown(self.place)}: must be one of {', '.join(map(repr, PLACES))}."
            )
        every = tuple(dict.fromkeys((*DIRECTIONS, *IN_SPACE)))
        known = (*every, RELATIVE) if self.place == "joint" else every
        if isinstance(self.direction, str):
            if self.place == "base" and self.direction in FORCES.values():
                raise ArmError(
                    f"direction = {shown(self.direction)}: no force acts at the base, whose motion is imposed; must be "
                    f"one of {', '.join(map(repr, every))}."
                )
            object.__setattr__(self, "direction", SYNONYMS.get(self.direction, self.direction))
        if not isinstance(self.direction, str) or self.direction not in known:
            more = " (only a joint has it)" if self.direction == RELATIVE else ""
            near = suggestion(str(self.direction), (*known, *SYNONYMS))
            every_one = f"must be one of {', '.join(map(repr, known))} at a {self.place}."
            what = f"is none at a {self.place}.{near}" if near else every_one
            raise ArmError(f"direction = {shown(self.direction)}{more}: {what}")
        numbered = self.place in ("joint", "link", "tip")
        if numbered:
            if self.link is None or not is_whole(self.link, 1):
                raise ArmError(
                    f"link = {shown(self.link)}: must be the number of a link, from 1, for a {self.place}."
                )
            object.__setattr__(self, "link", int(self.link))
        if not numbered and self.link is not None:
            raise ArmError(
                f"link = {shown(self.link)}: the {self.place} has no number; leave it out."
            )
        if self.place != "link" and self.station is not None:
            raise ArmError(
                f"station = {shown(self.station)}: only a place on a link has one; leave it out."
            )
        if self.place == "link":
            station = self.station
            if station is None or not is_finite(station) or not 0.0 <= station <= 1.0:
                raise ArmError(
                    f"station = {shown(station)}: must be x/L, from 0 at the link's base to 1 at its end."
                )
            object.__setattr__(self, "station", float(station))

    def __str__(self) -> str:
        number = "" if self.link is None else f"_{self.link}"
        station = "" if self.station is None else f"@{self.station!r}".removesuffix(".0")
        return f"{self.place}{number}{station}.{self.direction}"

    @property
    def force_name(self) -> str:
        """Name of the force or moment at this port; for the base, the name of its motion.

        Examples
        --------
        >>> Port("tip", "x", 1).force_name, Port("joint", "torque", 2).force_name
        ('tip_1.force_x', 'joint_2.torque')
        """
        return self._named(FORCES[self.direction])

    @property
    def imposed_name(self) -> str:
        """Name of an imposed motion, such as ``tip_1.imposed_x``; for the base ``base.x``."""
        return self._named(_IMPOSED + self.direction)

    def _named(self, word: str) -> str:
        own = str(self)
        return own if self.place == "base" else f"{own.removesuffix(self.direction)}{word}"

    @property
    def turns(self) -> bool:
        """True if the motion is a rotation, and the input a moment."""
        return self.direction in ("rotation", RELATIVE, *_ROTATIONS)

    @property
    def motion_unit(self) -> str:
        """Unit of the output: ``"m"`` or ``"rad"``."""
        return "rad" if self.turns else "m"

    @property
    def force_unit(self) -> str:
        """Unit of the input: ``"N"`` or ``"N m"``."""
        return "N m" if self.turns else "N"


def port(name: str | Port, arm: SerialArm) -> Port:
    """Return the port with a short name, or the given `Port`, if the arm has it.

    Parameters
    ----------
    name
        ``PLACE.DIRECTION``: places are ``base``, ``joint_2``, ``link_2@0.5`` (x/L), ``tip`` (of the last link),
        ``tip_1`` and ``payload``; directions ``along``, ``across``, ``x``, ``y`` (or ``force_x`` and so on),
        ``rotation`` (or ``moment``), in space ``x`` to ``rz`` and ``link_x`` to ``link_rz`` (or ``force_x``,
        ``moment_x``, ``force_link_x`` and so on), and of joints ``relative_rotation`` (or ``torque``).

    Raises
    ------
    ArmError
        If the arm has no such port; the message lists its ports.

    Examples
    --------
    >>> from jaxmodal import examples
    >>> arm = examples.two_link_flexible()
    >>> port("tip.moment", arm)
    Port(place='tip', direction='rotation', link=2, station=None)
    >>> port("link_1@0.5.across", arm).station
    0.5
    """
    require_arm(arm)
    found = name if isinstance(name, Port) else _read(name, arm)
    given = f"port {str(name)!r}"
    if found.direction not in (*arm.directions, RELATIVE):
        where = "in a plane" if "across" in arm.directions else "in space"
        raise ArmError(
            f"{given}: this arm has no direction {found.direction!r}; arms {where} have the directions "
            f"{_directions(arm)}."
        )
    if found.link is not None and found.link > arm.num_links:
        raise ArmError(
            f"{given}: the arm has {arm.num_links} link(s), counted from 1. {_known(arm)}"
        )
    if found.place == "joint" and found.link not in arm.joints:
        raise ArmError(
            f"{given}: link {found.link} is a segment and begins without a joint; its start is "
            f"'link_{found.link}@0'. {_known(arm)}"
        )
    if found.direction == RELATIVE and found.link is not None and arm.slides(found.link):
        raise ArmError(f"{given}: this joint slides and does not turn. {_known(arm)}")
    return found


#: one port or several, each as a name or a `Port`
Ports = str | Port | Sequence[str | Port]


def ports(names: Any, arm: SerialArm, role: str) -> tuple[Port, ...]:
    """Return the ports of one name or of a sequence of names, in their order.

    Parameters
    ----------
    names
        A name or a `Port`, or a sequence or an array of them.
    role
        Their name in messages: ``"inputs"`` or ``"outputs"``.

    Raises
    ------
    ArmError
        If there are none, one is given twice, or the arm has no such port.
    """
    if isinstance(names, np.ndarray):
        names = names.tolist()
    if isinstance(names, str | Port):
        names = (names,)
    if not isinstance(names, Sequence) or not names:
        raise ArmError(
            f"{role} = {shown(names)}: must be one port or more, such as 'tip.across'. {_known(arm)}"
        )
    with within(f"{role}: "):
        found = tuple(port(name, arm) for name in names)
    for place, each in enumerate(found):
        if each in found[:place]:
            raise ArmError(f"{role}: the port {str(names[place])!r} is given twice; give it once.")
    return found


def port_names(arm: SerialArm) -> tuple[str, ...]:
    """Return the names of the places of an arm, from base to tip, with ``@s`` for a station, without directions.

    Examples
    --------
    >>> from jaxmodal import examples
    >>> port_names(examples.two_link_flexible())
    ('base', 'joint_1', 'link_1@s', 'tip_1', 'joint_2', 'link_2@s', 'tip_2', 'tip', 'payload')
    """
    names = ["base"]
    for number in range(1, require_arm(arm).num_links + 1):
        names += [f"joint_{number}"] * (number in arm.joints)
        names += [f"link_{number}@s", f"tip_{number}"]
    return (*names, "tip", "payload")


def _read(name: object, arm: SerialArm) -> Port:
    name = str(name) if isinstance(name, str) else name  # a string of NumPy is shown otherwise
    parts = _NAME.fullmatch(name) if isinstance(name, str) else None
    if parts is None:
        words = [
            f"{place}.{direction}"
            for place in port_names(arm)
            for direction in (*arm.directions, *_synonyms(arm))
            if "@" not in place
        ]
        near = suggestion(name, words) if isinstance(name, str) else ""
        raise ArmError(f"port {shown(name)}: is no port.{near} {_known(arm)}")
    place, number = parts["place"], parts["number"]
    station: Any = parts["station"]
    # float() also accepts spaces and underscores
    if station is not None and _NUMBER.fullmatch(station):
        with contextlib.suppress(ValueError):
            station = float(station)
    link = int(number) if number else arm.num_links if place == "tip" else None
    with within(f"port {name!r}: "):
        return Port(place, parts["direction"], link, station)


def _synonyms(arm: SerialArm) -> list[str]:
    """Return the alternative names of the directions of an arm."""
    return [word for word, name in SYNONYMS.items() if name in (*arm.directions, RELATIVE)]


def _directions(arm: SerialArm) -> str:
    """Return the directions of an arm as text, each with its alternative name."""
    return ", ".join(
        name if FORCES[name] == f"force_{name}" else f"{name} ({FORCES[name]})"
        for name in arm.directions
    )


def _known(arm: SerialArm) -> str:
    """Return a sentence that lists the places and directions of this arm."""
    joints = ", ".join(f"joint_{number}" for number in arm.joints[:6])
    more = ", ..." if len(arm.joints) > 6 else ""
    return (
        f"Its places are base, {joints}{more}, link_1@s to link_{arm.num_links}@s with s from 0 to 1, tip (tip_1 to "
        f"tip_{arm.num_links}) and payload; directions {_directions(arm)}, and of joints "
        "relative_rotation (torque)."
    )


class PortRow(NamedTuple):
    """Output of a port as ``row @ (u, v, psi)`` at one place of one link, in that link's axes, m and rad.

    Attributes
    ----------
    link : int
        Index of the link from 0.
    place : str
        ``"joint"`` (its axis, beyond the springs), ``"link"`` (the station) or ``"tip"`` (beyond its offset).
    station : float
        x/L of a station; 0 for a joint, 1 for a tip.
    row : Array, shape (3, ...)
        Coefficients, with the axes of columns of values if the arm has any.
    """

    link: int
    place: str
    station: float
    row: Array


def port_row(found: Port, arm: Arm) -> PortRow:
    """Return the row of a port.

    For a relative rotation it is the row of the link's side, from which the rotation of the previous tip is subtracted.
    """
    last = arm.num_links - 1
    index = last if found.link is None else found.link - 1
    place = "tip" if found.place == "payload" else found.place
    x: Any = 0.0
    y: Any = 0.0
    if found.place == "payload":
        x, y = (0.0 if c is None else c for c in (arm.payload.centre_x, arm.payload.centre_y))
    # for a point at (x, y) from the place: u - y psi along, v + x psi across
    if found.turns:
        row: Any = np.array([0.0, 0.0, 1.0])
    else:
        along, across = shares_of_axes(found.direction, arm, index)
        shares = (along, across, x * across - y * along)
        row = xp.stack(xp.broadcast_arrays(*(xp.asarray(z) + 0.0 for z in shares)))
    station = {"joint": 0.0, "tip": 1.0}.get(place, found.station)
    return PortRow(index, place, 1.0 if station is None else station, row)


def shares_of_axes(direction: str, arm: Arm, index: int) -> tuple[Any, Any]:
    """Return the coefficients of u and v in link axes (``index`` of the link from 0) for a direction."""
    if direction in ("along", "across"):
        return (1.0, 0.0) if direction == "along" else (0.0, 1.0)
    angle = sum((link.joint_angle for link in arm.links[1 : index + 1]), arm.links[0].joint_angle)
    sine, cosine = xp.sin(angle), xp.cos(angle)
    return (cosine, -sine) if direction == "x" else (sine, cosine)
