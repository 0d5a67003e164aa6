"""Export of lumped arms as URDF, with a separate table of the data that URDF lacks."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from jaxmodal.arm.files import place_of
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.exchange.chain import Chain, PieceJoint
from jaxmodal.exchange.files import commented, numbers, written
from jaxmodal.exchange.lumping import as_lumped
from jaxmodal.exchange.results import LumpedArm
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.robots.bodies import NOTHING, Lump

_KINDS = {"hinge": "revolute", "slide": "prismatic"}
#: effort and velocity of joints without these limits: URDF requires numbers, and 0 would block the joint
_NO_LIMIT = 1e9
#: least position limit, m, of slides without limits, because URDF requires numbers, and least ratio to their positions
_WIDE, _WIDER = 1.0, 2.0
#: cosine of the pitch below which roll and yaw cannot be distinguished
_UPRIGHT = 1e-9


def write_urdf(
    arm: AnyArm | LumpedArm,
    path: str | Path,
    *,
    pieces: int | Sequence[int] = 4,
    num_modes: int = 5,
    postures: Any = 20,
    theory: TheoryName = "timoshenko",
    slides: bool | None = None,
) -> LumpedArm:
    """Write an arm as rigid pieces in a URDF file, and a second file with springs, dampers and rotors.

    Parameters
    ----------
    arm
        An arm, or a `LumpedArm` from `lumped`, for which all other arguments except ``path`` are ignored.
    path
        Path of the URDF file, such as ``arm.urdf``; ``arm.toml`` is written next to it. Existing files are replaced.
    pieces, num_modes, postures, theory, slides
        As for `lumped`.

    Returns
    -------
    LumpedArm
        The lumped arm with the errors stated in the file. ``read_arm("arm.toml")`` returns an arm in space with the
        same frequencies.

    Raises
    ------
    ArmError
        As for `lumped`; or if the file has another suffix or cannot be written.
    """
    place = place_of(path)
    if place.suffix.lower() != ".urdf":
        raise ArmError(
            f"path = {str(path)!r}: must end in .urdf; a .toml file is written next to it."
        )
    made = as_lumped(arm, pieces, num_modes, postures, theory, slides)
    side = place.with_suffix(".toml")
    note = [*made.lines(), "", f"Springs, dampers, rotors and the posture are in {side.name}."]
    lines = [
        '<?xml version="1.0"?>',
        f"<robot name={quoteattr(made.arm or 'arm')}>",
        *commented(note),
        *_elements(_limited(made)),
        "</robot>",
    ]
    written(place, "\n".join(lines) + "\n")
    written(side, _side_table(made, place.name))
    return made


def _limited(made: LumpedArm) -> Chain:
    """Return the chain with limits for all slides, wide enough for the postures of the table."""
    farthest = dict(zip(made.joints, np.abs(made.postures).max(axis=0), strict=True))

    def limited(joint: PieceJoint) -> PieceJoint:
        if joint.kind != "slide" or joint.limits is not None:
            return joint
        wide = max(_WIDE, _WIDER * float(farthest.get(joint.name, 0.0)))
        return joint._replace(limits=(-wide, wide))

    pieces = made.chain.pieces
    return made.chain._replace(
        pieces=tuple(piece._replace(joints=tuple(map(limited, piece.joints))) for piece in pieces)
    )


def _elements(chain: Chain) -> list[str]:
    """Return links and joints from the ground to the tip; one link per joint, because URDF joints connect links."""
    first = chain.pieces[0]
    root = "ground" if first.joints else first.name
    lines = [_link(root, NOTHING if first.joints else first.lump)]
    before = root
    for number, piece in enumerate(chain.pieces):
        if number == 0 and not piece.joints:
            continue
        place, turn = piece.place, piece.turn
        steps: list[PieceJoint | None] = [*piece.joints] or [None]
        for k, joint in enumerate(steps, start=1):
            last = k == len(steps)
            name = piece.name if last else f"{piece.name}_before{k}"
            lines.append(_link(name, piece.lump if last else NOTHING))
            lines.append(_joint(joint, before, name, place, turn))
            before, place, turn = name, np.zeros(3), np.eye(3)
    return [*lines, _link("tip", NOTHING), _joint(None, before, "tip", chain.tip, np.eye(3))]


def _link(name: str, lump: Lump) -> str:
    if not lump.mass and not np.any(lump.tensor):
        return f"  <link name={quoteattr(name)}/>"
    tensor = "".join(
        f' i{a}{b}="{float(lump.tensor[i, j])!r}"'
        for (i, a), (j, b) in (
            ((0, "x"), (0, "x")),
            ((0, "x"), (1, "y")),
            ((0, "x"), (2, "z")),
            ((1, "y"), (1, "y")),
            ((1, "y"), (2, "z")),
            ((2, "z"), (2, "z")),
        )
    )
    return (
        f'  <link name={quoteattr(name)}><inertial><origin xyz="{numbers(lump.centre)}"/>'
        f'<mass value="{float(lump.mass)!r}"/><inertia{tensor}/></inertial></link>'
    )


def _joint(joint: PieceJoint | None, parent: str, child: str, place: Floats, turn: Floats) -> str:
    ends = f"<parent link={quoteattr(parent)}/><child link={quoteattr(child)}/>"
    origin = f'<origin xyz="{numbers(place)}" rpy="{numbers(_roll_pitch_yaw(turn))}"/>'
    if joint is None:
        name = quoteattr(f"{child}_mount")
        return f'  <joint name={name} type="fixed">{ends}{origin}</joint>'
    kind, positions = "continuous", ""
    if joint.limits is not None:
        kind, (low, high) = _KINDS[joint.kind], joint.limits
        positions = f'lower="{low!r}" upper="{high!r}" '
    limit = f'<limit {positions}effort="{_NO_LIMIT!r}" velocity="{joint.speed or _NO_LIMIT!r}"/>'
    if not positions and joint.speed is None:
        limit = ""
    dynamics = f'<dynamics damping="{joint.damping!r}"/>' if joint.damping else ""
    return (
        f'  <joint name={quoteattr(joint.name)} type="{kind}">{ends}{origin}'
        f'<axis xyz="{numbers(joint.axis)}"/>{limit}{dynamics}</joint>'
    )


def _roll_pitch_yaw(turn: Floats) -> Floats:
    """Return roll, pitch and yaw about fixed axes x, y and z; yaw is 0 for a pitch of 90 degrees."""
    cosine = math.hypot(turn[0, 0], turn[1, 0])
    pitch = math.atan2(-turn[2, 0], cosine)
    if cosine < _UPRIGHT:
        return np.array([math.atan2(-turn[1, 2], turn[1, 1]), pitch, 0.0])
    roll, yaw = math.atan2(turn[2, 1], turn[2, 2]), math.atan2(turn[1, 0], turn[0, 0])
    return np.array([roll, pitch, yaw])


def _side_table(made: LumpedArm, urdf: str) -> str:
    """Return the arm file that names the URDF file and contains the data it lacks."""
    joints = made.chain.joints
    kinds = {kind: [joint for joint in joints if joint.kind == kind] for kind in _KINDS}
    tables: dict[str, Mapping[str, Any]] = {
        "positions": dict(zip(made.joints, map(float, made.postures[0]), strict=True)),
        "joint_stiffness": _springs(kinds["hinge"]),
        "slide_stiffness": _springs(kinds["slide"]),
        "joint_damping": _dampers(kinds["hinge"]),
        "slide_damping": _dampers(kinds["slide"]),
    }
    lines = [
        "# Rigid pieces on springs that have the frequencies of a flexible arm; jaxmodal reads this file as an arm.",
        *(f"# {line}".rstrip() for line in made.lines()),
        f"urdf = {json.dumps(urdf)}",
        'tip = "tip"',
    ]
    for title, table in tables.items():
        if table:
            lines += ["", f"[{title}]"]
            lines += [f"{json.dumps(name)} = {value!r}" for name, value in table.items()]
    for joint in joints:
        inertia, ratio = joint.rotor
        if inertia:
            motor = "held" if joint.held else "beyond_spring"
            lines += [
                "",
                f"[rotors.{json.dumps(joint.name)}]",
                f"inertia = {inertia!r}",
                f"gear_ratio = {ratio!r}",
                f'motor = "{motor}"',
            ]
    return "\n".join(lines) + "\n"


def _springs(joints: list[PieceJoint]) -> dict[str, float]:
    return {j.name: float(j.stiffness) for j in joints if math.isfinite(j.stiffness)}


def _dampers(joints: list[PieceJoint]) -> dict[str, float]:
    return {j.name: float(j.damping) for j in joints if j.damping}
