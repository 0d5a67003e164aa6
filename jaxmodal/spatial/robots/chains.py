"""The kinematic chain from a base to a tip in the tree of a robot: links that move with each joint, and held joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from jaxmodal.runtime.errors import ArmError, suggestion
from jaxmodal.spatial.robots.descriptions import MOVING, TURNING, Robot, UrdfJoint, UrdfLink


class Part(NamedTuple):
    """A link that moves with a chain joint: its frame (4, 4) in the moving frame, and the joint that holds it."""

    link: UrdfLink
    place: np.ndarray
    held_by: UrdfJoint | None


class Moving(NamedTuple):
    """A moving joint of the chain; ``place`` (4, 4) is its frame at position 0 in the previous moving frame."""

    joint: UrdfJoint
    place: np.ndarray
    parts: list[Part]

    @property
    def slides(self) -> bool:
        """Whether the joint is prismatic."""
        return self.joint.kind not in TURNING


class Chain(NamedTuple):
    """The moving joints from base to tip, the links fixed to the base, and the tip in the last moving frame.

    ``other_tips`` are links equally suitable as the default tip; ``left_out`` are links not connected to the base.
    """

    base: str
    tip: str
    moving: list[Moving]
    ground: list[Part]
    tip_place: np.ndarray
    other_tips: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def turning(self) -> list[Moving]:
        """The joints that turn."""
        return [each for each in self.moving if not each.slides]

    @property
    def sliding(self) -> list[Moving]:
        """The joints that slide."""
        return [each for each in self.moving if each.slides]


def chain_of(
    robot: Robot, base: str | None, tip: str | None, positions: Mapping[str, float]
) -> Chain:
    """Return the chain from ``base`` to ``tip``; joints outside the chain are held at their positions.

    Without a given tip, prismatic joints beyond the last turning joint, mostly of grippers, are held as well.

    Raises
    ------
    ArmError
        If the links do not form a tree, a name is not that of a link, the tip is not a descendant of the base, no joint
        between the two moves, or a joint between them is neither turning nor prismatic.
    """
    parents = _parents(robot)
    root = _root(robot, parents) if base is None else _known(robot, "base", base)
    if tip is None:
        end, others = _farthest(robot, parents, root)
    else:
        end, others = _known(robot, "tip", tip), ()
    path = _path(parents, root, end)
    if path is None:
        raise ArmError(
            f"tip = {end!r}: is not a descendant of the base {root!r}; choose a base between the file's root and "
            "the tip."
        )
    moves = [joint for joint in path if joint.kind in MOVING]
    if not moves:
        raise ArmError(
            f"no joint turns or slides between the base {root!r} and the tip {end!r}; name others with base and tip."
        )
    if tip is None and any(joint.kind in TURNING for joint in moves):
        while moves[-1].kind not in TURNING:
            moves.pop()
    for joint in path:
        if joint.kind in ("floating", "planar"):
            raise ArmError(
                f"joint {joint.name!r} is {joint.kind}, between the base {root!r} and the tip {end!r}; choose its "
                f"child {joint.child!r} as base."
            )
    names = [joint.name for joint in moves]
    return _gathered(robot, root, end, names, positions, others)


def _known(robot: Robot, name: str, link: str) -> str:
    if link not in robot.links:
        near = suggestion(str(link), robot.links)
        raise ArmError(
            f"{name} = {link!r}: there is no such link; there are {_few(robot.links)}.{near}"
        )
    return link


def _few(names: Mapping[str, object] | list[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:12]) + (f" and {len(listed) - 12} more" if len(listed) > 12 else "")


def _parents(robot: Robot) -> dict[str, UrdfJoint]:
    """Return the parent joint of each link."""
    found: dict[str, UrdfJoint] = {}
    for joint in robot.joints.values():
        if joint.child in found:
            raise ArmError(
                f"link {joint.child!r} is the child of two joints, {found[joint.child].name!r} and {joint.name!r}: "
                "an arm is a chain, and loops are not supported; take one of them away."
            )
        found[joint.child] = joint
    sound = {name for name in robot.links if name not in found}
    for name in robot.links:
        way: list[str] = []
        while name not in sound:
            if name in way:
                raise ArmError(
                    f"joints {_few([found[link].name for link in way[way.index(name) :]])} form a loop, which no base "
                    "stands outside of; take one of them away."
                )
            way.append(name)
            name = found[name].parent
        sound.update(way)
    return found


def _root(robot: Robot, parents: Mapping[str, UrdfJoint]) -> str:
    roots = [name for name in robot.links if name not in parents]
    if len(roots) > 1:
        raise ArmError(
            f"{len(roots)} links have no parent: {_few(roots)}; choose one of them, or another link, with base."
        )
    return roots[0]


def _path(parents: Mapping[str, UrdfJoint], base: str, tip: str) -> list[UrdfJoint] | None:
    """Return the joints from base to tip; None if the tip is not a descendant of the base."""
    path: list[UrdfJoint] = []
    while tip != base:
        if tip not in parents:
            return None
        path.insert(0, parents[tip])
        tip = path[0].parent
    return path


def _farthest(
    robot: Robot, parents: Mapping[str, UrdfJoint], base: str
) -> tuple[str, tuple[str, ...]]:
    """Return the outermost link after the most turning joints, and other links after the same last joint.

    If no joint turns, sliding joints are counted instead.
    """
    inner = {joint.parent for joint in robot.joints.values()}
    found: dict[str, list[str]] = {}
    most = 0
    for kinds in (TURNING, MOVING):
        for name in robot.links:
            path = None if name in inner else _path(parents, base, name)
            if path is not None:
                found[name] = [joint.name for joint in path if joint.kind in kinds]
        most = max(map(len, found.values()), default=0)
        if most:
            break
    if most == 0:
        raise ArmError(
            f"no joint turns or slides beyond the base {base!r}; choose another with base."
        )
    ends = {name: turning for name, turning in found.items() if len(turning) == most}
    if len({turning[-1] for turning in ends.values()}) > 1:
        raise ArmError(
            f"several links are {most} joints from the base {base!r}: {_few(ends)}; choose one with tip."
        )
    first, *others = ends
    return first, tuple(others)


def _gathered(
    robot: Robot,
    base: str,
    tip: str,
    moves: list[str],
    positions: Mapping[str, float],
    others: tuple[str, ...],
) -> Chain:
    """Return the links that move with each joint of the chain, from the base outwards."""
    below: dict[str, list[UrdfJoint]] = {}
    for joint in robot.joints.values():
        below.setdefault(joint.parent, []).append(joint)
    ground: list[Part] = []
    moving: dict[str, Moving] = {}
    tip_place = np.eye(4)
    waiting: list[tuple[str, np.ndarray, list[Part], UrdfJoint | None]] = [
        (base, np.eye(4), ground, None)
    ]
    reached = set()
    while waiting:
        name, place, parts, held_by = waiting.pop()
        reached.add(name)
        parts.append(Part(robot.links[name], place, held_by))
        if name == tip:
            tip_place = place
        for joint in reversed(below.get(name, [])):
            at = place @ joint.place
            if joint.name in moves:
                moving[joint.name] = Moving(joint, at, [])
                waiting.append((joint.child, np.eye(4), moving[joint.name].parts, None))
            else:
                held = at @ _moved(joint, positions.get(joint.name, 0.0))
                waiting.append((joint.child, held, parts, joint))
    left_out = tuple(name for name in robot.links if name not in reached)
    chain = [moving[name] for name in moves]
    return Chain(base, tip, chain, ground, tip_place, others, left_out)


def _moved(joint: UrdfJoint, position: float) -> np.ndarray:
    """Return the transform of the child frame of a joint at a position."""
    found = np.eye(4)
    if joint.kind in TURNING:
        x, y, z = joint.axis
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        found[:3, :3] += (
            np.sin(position) * cross + 2.0 * np.sin(0.5 * position) ** 2 * cross @ cross
        )
    elif joint.kind == "prismatic":
        found[:3, 3] = position * joint.axis
    return found
