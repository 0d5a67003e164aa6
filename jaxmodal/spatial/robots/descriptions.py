"""Parsing of the links and joints of a URDF file.

The file is untrusted XML. It is read by the standard library's expat, and any document type declaration is refused
before its content is processed: no entity can be defined or expanded, and no other file is opened. Meshes are not read.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

import numpy as np

from jaxmodal.arm.documents import first_element, read_text
from jaxmodal.arm.files import place_of
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError, suggestion, within

#: kinds of joints that turn, that have a position, and all kinds in URDF
TURNING = ("revolute", "continuous")
MOVING = (*TURNING, "prismatic")
KINDS = (*MOVING, "fixed", "floating", "planar")
_XACRO = "is xacro, a program that writes a URDF; run it first: xacro robot.urdf.xacro > robot.urdf"
_REMEDY = "give a URDF file."


class Element(NamedTuple):
    """An element of a document, with the number of the line where it begins."""

    tag: str
    attributes: dict[str, str]
    children: list[Element]
    line: int

    def all(self, tag: str) -> list[Element]:
        """Return the child elements with a tag."""
        return [child for child in self.children if child.tag == tag]

    def one(self, tag: str) -> Element | None:
        """Return the only child element with a tag; None if there is none."""
        found = self.all(tag)
        if len(found) > 1:
            raise ArmError(f"line {found[1].line}: <{tag}> stands twice in <{self.tag}>; keep one.")
        return found[0] if found else None

    def text(self, name: str) -> str:
        """Return a required, non-empty attribute."""
        value = self.attributes.get(name, "").strip()
        if not value:
            raise ArmError(f"line {self.line}: <{self.tag}> has no {name}; give it one.")
        if "${" in value:
            raise ArmError(f"line {self.line}: {name} = {value[:60]!r} {_XACRO}.")
        if len(value) > limits.TEXT:
            raise ArmError(
                f"line {self.line}: {name} has {len(value):,} characters; at most {limits.TEXT:,}."
            )
        return value

    def numbers(self, name: str, default: tuple[float, ...]) -> np.ndarray:
        """Return an attribute with as many finite numbers as the default has."""
        if name not in self.attributes:
            return np.array(default, float)
        text = self.text(name)
        try:
            found = np.array([float(part) for part in text.split()])
        except ValueError:
            found = np.array([np.nan])
        if found.shape != (len(default),) or not np.all(np.isfinite(found)):
            many = "a finite number" if len(default) == 1 else f"{len(default)} finite numbers"
            raise ArmError(
                f"line {self.line}: {name} = {text[:60]!r}: must be {many} in <{self.tag}>."
            )
        return found

    def number(self, name: str, default: float | None = None) -> float:
        """Return an attribute with one number; required if there is no default."""
        if default is None:
            self.text(name)
        return float(self.numbers(name, (0.0 if default is None else default,))[0])


class Inertial(NamedTuple):
    """Mass, centre of gravity and inertia tensor about it, in the axes of the link."""

    mass: float
    centre: np.ndarray
    tensor: np.ndarray


class UrdfLink(NamedTuple):
    """A link: its inertial, None if the file has none, and whether it has meshes or other shapes."""

    name: str
    inertial: Inertial | None
    has_shapes: bool


class UrdfJoint(NamedTuple):
    """A joint: ``place`` (4, 4) is its frame relative to its parent's; ``mimic`` is (joint, multiplier, offset).

    The largest ``velocity`` is in rad/s, for prismatic joints in m/s.
    """

    name: str
    kind: str
    parent: str
    child: str
    place: np.ndarray
    axis: np.ndarray
    lower: float | None
    upper: float | None
    velocity: float | None
    mimic: tuple[str, float, float] | None

    @property
    def limits(self) -> tuple[float, float] | None:
        """Lower and upper limit of the position; None if not given, or if they leave no range."""
        low, high = self.lower, self.upper
        return (low, high) if low is not None and high is not None and low < high else None

    @property
    def speed(self) -> float | None:
        """The largest velocity; None if not given, or not positive."""
        return self.velocity if self.velocity is not None and self.velocity > 0.0 else None


class Robot(NamedTuple):
    """Contents of a URDF file: links and joints by name, in the order of the file."""

    name: str
    links: dict[str, UrdfLink]
    joints: dict[str, UrdfJoint]

    def mimic_of(self, joint: str) -> tuple[str, float, float] | None:
        """Return the joint that a joint mimics; None if it mimics none, or one that does not exist."""
        mimic = self.joints[joint].mimic
        return mimic if mimic is not None and mimic[0] in self.joints else None


def read_robot(path: str | Path) -> Robot:
    """Read a URDF file.

    Raises
    ------
    ArmError
        If the file cannot be read or is not URDF; the message names the file and the line.
    """
    path = place_of(path)
    text = read_text(path, ArmError, _REMEDY)
    with within(f"{path}: "):
        first = first_element(text)
        if first not in ("", "robot") and not first.startswith("xacro:"):
            raise ArmError(
                f"is XML (its first element is <{first}>), and no URDF, whose first is <robot>; {_REMEDY}"
            )
        return _robot(_document(text))


def transform(xyz: np.ndarray, rpy: np.ndarray) -> np.ndarray:
    """Return the transform (4, 4) with a translation and a rotation by roll, pitch and yaw about fixed axes."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    found = np.eye(4)
    found[:3, :3] = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    found[:3, 3] = xyz
    return found


def _document(text: str) -> Element:
    """Return the root of an XML document, without elements of tools that do not belong to the robot."""
    parser = expat.ParserCreate(encoding="utf-8")
    open_elements = [Element("", {}, [], 0)]

    def refuse_doctype(*_: object) -> None:
        raise ArmError(
            f"line {parser.CurrentLineNumber}: has a document type (<!DOCTYPE>), which may define entities and name "
            "other files; take it away."
        )

    def start(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        if tag.startswith("xacro:"):
            raise ArmError(f"line {line}: <{tag[:60]}> {_XACRO}.")
        if len(open_elements) > limits.DEPTH:
            raise ArmError(
                f"line {line}: elements lie deeper than {limits.DEPTH} inside one another."
            )
        element = Element(tag, attributes, [], line)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(_: str) -> None:
        open_elements.pop()

    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(text, True)
    except expat.ExpatError as failure:
        raise ArmError(f"is not XML: {failure}; {_REMEDY}") from failure
    return open_elements[0].children[0]


def _robot(root: Element) -> Robot:
    links: dict[str, UrdfLink] = {}
    for element in root.all("link"):
        link = _link(element)
        if link.name in links:
            raise ArmError(f"line {element.line}: there are two links {link.name!r}; rename one.")
        links[link.name] = link
    if not links:
        raise ArmError(f"has no <link>; {_REMEDY}")
    joints: dict[str, UrdfJoint] = {}
    for element in root.all("joint"):
        joint = _joint(element, links)
        if joint.name in joints:
            raise ArmError(f"line {element.line}: there are two joints {joint.name!r}; rename one.")
        joints[joint.name] = joint
    return Robot(root.attributes.get("name", ""), links, joints)


def _link(element: Element) -> UrdfLink:
    name = element.text("name")
    shapes = bool(element.all("visual") or element.all("collision"))
    inertial = element.one("inertial")
    if inertial is None:
        return UrdfLink(name, None, shapes)
    with within(f"link {name!r}: "):
        mass = inertial.one("mass")
        if mass is None:
            raise ArmError(f"line {inertial.line}: <inertial> has no <mass>; give it one.")
        kilograms = mass.number("value")
        if kilograms < 0.0:
            raise ArmError(f"line {mass.line}: mass = {kilograms!r}: must be 0 or more (kg).")
        place = _place(inertial)
        tensor = np.zeros((3, 3))
        inertia = inertial.one("inertia")
        if inertia is not None:
            for i, first in enumerate("xyz"):
                for j, second in enumerate("xyz"[i:], start=i):
                    tensor[i, j] = tensor[j, i] = inertia.number(f"i{first}{second}", 0.0)
        turned = place[:3, :3] @ tensor @ place[:3, :3].T
        return UrdfLink(name, Inertial(kilograms, place[:3, 3], 0.5 * (turned + turned.T)), shapes)


def _joint(element: Element, links: dict[str, UrdfLink]) -> UrdfJoint:
    name = element.text("name")
    with within(f"joint {name!r}: "):
        kind = element.text("type")
        if kind not in KINDS:
            raise ArmError(
                f"type = {kind!r}: must be one of {', '.join(KINDS)}.{suggestion(kind, KINDS)}"
            )
        ends: dict[str, str] = {}
        for role in ("parent", "child"):
            named = element.one(role)
            if named is None:
                raise ArmError(f"line {element.line}: has no <{role}>; give it one.")
            link = ends[role] = named.text("link")
            if link not in links:
                raise ArmError(
                    f"{role} = {link!r}: is no link of the file.{suggestion(link, links)}"
                )
        axis = np.array([1.0, 0.0, 0.0])
        has_axis = kind in MOVING  # for other joints many tools write 0 0 0
        if (given := element.one("axis")) is not None and has_axis:
            axis = given.numbers("xyz", (1.0, 0.0, 0.0))
            if not np.any(axis):
                raise ArmError(f"line {given.line}: axis = 0 0 0: must have a direction.")
            axis = axis / np.max(np.abs(axis))
        lower = upper = velocity = None
        if (limit := element.one("limit")) is not None and has_axis:
            if kind != "continuous":
                lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
            velocity = limit.number("velocity", 0.0)  # many tools write 0 for unknown values
        mimic = None
        if (follows := element.one("mimic")) is not None:
            factor, offset = follows.number("multiplier", 1.0), follows.number("offset", 0.0)
            mimic = (follows.text("joint"), factor, offset)
        place, unit = _place(element), axis / np.linalg.norm(axis)
        return UrdfJoint(
            name, kind, ends["parent"], ends["child"], place, unit, lower, upper, velocity, mimic
        )


def _place(element: Element) -> np.ndarray:
    origin = element.one("origin")
    if origin is None:
        return np.eye(4)
    return transform(origin.numbers("xyz", (0.0, 0.0, 0.0)), origin.numbers("rpy", (0.0, 0.0, 0.0)))
