"""Export of lumped arms as MJCF, the format of MuJoCo."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy.spatial.transform import Rotation

from jaxmodal.arm.arguments import finite
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamics.model import one_of
from jaxmodal.exchange.chain import Chain, Piece, PieceJoint
from jaxmodal.exchange.files import commented, numbers, written
from jaxmodal.exchange.lumping import as_lumped
from jaxmodal.exchange.results import LumpedArm
from jaxmodal.exchange.vibration import Stance, mass_matrix, springs_of
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.robots.bodies import Lump

#: kinds of motors in a file: free joints with torques, or joints fixed in the first posture
MOTORS = ("free", "locked")
#: time step as a share of 1/omega of the fastest oscillation
_STEP = 0.5
#: smallest principal moment of a piece, relative to mass times 1 m^2 plus the sum of moments, that MuJoCo accepts
_LEAST = 1e-10
#: mass in kg of a body with inertia but no mass, because MuJoCo requires a mass
_LEAST_MASS = 1e-12
_OF_MOTORS = (
    "Motors act at the joints by torques. Where a joint has a spring and its motor no rotor, the control",
    "is the position [rad] of the motor, on the other side of the spring.",
)
_ROTORS = "the product of a rotor's turning and of its carrier's rotation, which an armature does not have"


def write_mjcf(
    arm: AnyArm | LumpedArm,
    path: str | Path,
    *,
    pieces: int | Sequence[int] = 4,
    num_modes: int = 5,
    postures: Any = 20,
    theory: TheoryName = "timoshenko",
    slides: bool | None = None,
    gravity: Any = (0.0, 0.0, 0.0),
    motors: str = "free",
) -> LumpedArm:
    """Write an arm for MuJoCo: rigid pieces on hinges with springs, fitted to its certified frequencies.

    Parameters
    ----------
    arm
        An arm, or a `LumpedArm` from `lumped`, for which ``pieces`` to ``slides`` are ignored.
    path
        Path of the file, such as ``arm.xml``; an existing file is replaced.
    pieces, num_modes, postures, theory, slides
        As for `lumped`.
    gravity
        Acceleration of gravity in the axes of the ground, m/s^2.
    motors
        ``"free"``: the joints move, and each has a motor of the same name. ``"locked"``: the joints are fixed in the
        first posture, as for the certified frequencies.

    Returns
    -------
    LumpedArm
        The lumped arm with the frequency errors stated in the file, for the pieces as modelled by MuJoCo.

    Raises
    ------
    ArmError
        As for `lumped`; or if the file cannot be written, or a joint moves no mass, which MuJoCo does not accept.
    """
    one_of("motors", motors, MOTORS, "as the file is to have it")
    pull = finite("gravity", gravity, (3,), "three numbers, m/s^2, such as (0, 0, -9.81)")
    made = as_lumped(arm, pieces, num_modes, postures, theory, slides)
    made = _with_armatures(made)
    chain, posture = made.chain, made.postures[0]
    if motors == "locked":
        chain, posture = chain.locked(posture), posture[:0]
    else:
        chain = _with_motors(chain)
    step = _time_step(chain, posture)
    lines = [
        f"<mujoco model={quoteattr(made.arm or 'arm')}>",
        *commented(
            [
                *made.lines(),
                "",
                *(_OF_MOTORS if chain.motors else ()),
                f"The time step is {_STEP:g} of 1/omega of the fastest oscillation of the pieces.",
            ]
        ),
        '  <compiler angle="radian" autolimits="true" inertiafromgeom="false"/>',
        f'  <option timestep="{step:.3g}" integrator="RK4" gravity="{numbers(pull)}"/>',
        "  <default>",
        '    <geom type="capsule" contype="0" conaffinity="0" group="1" rgba="0.45 0.55 0.7 1"/>',
        "  </default>",
        "  <worldbody>",
        *_bodies(chain),
        "  </worldbody>",
    ]
    if chain.motors:
        held = zip(chain.motors, posture, strict=True)
        rest = [at if math.isfinite(joint.stiffness) else 0.0 for joint, at in held]
        qpos = numbers(_positions(chain, posture))
        lines += [
            "  <actuator>",
            *(f"    {_actuator(joint)}" for joint in chain.motors),
            "  </actuator>",
            "  <keyframe>",
            f'    <key name="posture" qpos="{qpos}" ctrl="{numbers(rest)}"/>',
            "  </keyframe>",
        ]
    written(path, "\n".join([*lines, "</mujoco>"]) + "\n")
    return made


def _with_armatures(made: LumpedArm) -> LumpedArm:
    """Return the lumped arm with rotors as armatures: its frequencies, and the neglected effects."""
    if not any(joint.rotor[0] for joint in made.chain.joints):
        return made
    chain, light = _carrying_rotors(made.chain)
    stiffness, modes = springs_of(chain), made.omega.shape[1]
    stances = [Stance(chain, posture, False) for posture in made.postures]
    omega = np.array([stance.modes(stiffness)[0][:modes] for stance in stances])
    lost = [*made.lost, _ROTORS]
    if light:
        lost.append(
            f"how the rotors of {', '.join(light)} turn with the light pieces that carry them"
        )
    return dataclasses.replace(made, chain=chain, omega=omega, lost=tuple(lost))


def _carrying_rotors(chain: Chain) -> tuple[Chain, list[str]]:
    """Return the chain with rotor inertias added to carrying pieces where possible, and the names of the others."""
    pieces, light = list(chain.pieces), []
    for number, piece in enumerate(chain.pieces[1:], start=1):
        for joint in piece.joints:
            if not joint.rotor[0]:
                continue
            before, axis = pieces[number - 1], piece.turn @ joint.axis
            turning = joint.rotor[0] * np.outer(axis, axis)
            lump = before.lump._replace(tensor=before.lump.tensor + turning)
            if lump.mass and lump.possible:
                pieces[number - 1] = before._replace(lump=lump)
            else:
                light.append(joint.name)
    return chain._replace(pieces=tuple(pieces)), light


def _with_motors(chain: Chain) -> Chain:
    """Return the chain with free motor rotors in series with the springs of their joints."""

    def parts(joint: PieceJoint) -> list[PieceJoint]:
        if not joint.held or not joint.rotor[0] or not math.isfinite(joint.stiffness):
            return [joint._replace(held=False)]
        motor = joint._replace(stiffness=math.inf, damping=0.0, held=False)
        name = f"{joint.name}_spring"
        return [motor, PieceJoint(name, joint.kind, joint.axis, joint.stiffness, joint.damping)]

    pieces = [
        piece._replace(joints=tuple(part for joint in piece.joints for part in parts(joint)))
        for piece in chain.pieces
    ]
    return chain._replace(pieces=tuple(pieces))


def _actuator(joint: PieceJoint) -> str:
    """Return a torque actuator, or a position actuator if a spring connects motor and joint."""
    names = f"name={quoteattr(joint.name)} joint={quoteattr(joint.name)}"
    if math.isfinite(joint.stiffness):
        return f'<position {names} kp="{joint.stiffness!r}"/>'
    return f"<motor {names}/>"


def _time_step(chain: Chain, posture: Floats) -> float:
    """Return the time step in s for the fastest oscillation with free motors."""
    inertia = mass_matrix(chain, posture, False)
    stiffness = np.array([joint.stiffness for joint in chain.joints])
    stiffness = np.where(np.isfinite(stiffness), stiffness, 0.0)
    scale = 1.0 / np.sqrt(np.diag(inertia)) if np.all(np.diag(inertia) > 0.0) else None
    least = 0.0 if scale is None else np.linalg.eigvalsh(scale[:, None] * inertia * scale)[0]
    if scale is None or least < 1e-13:
        raise ArmError(
            "arm: has a joint or a spring that moves no inertia of its own, which MuJoCo refuses; give the part "
            "beyond it an inertia (a stator on an elastic base, a payload at the tip), or remove the joint."
        )
    root = np.linalg.cholesky(inertia)
    inner = np.linalg.solve(root, np.diag(stiffness))
    fastest = float(np.linalg.eigvalsh(np.linalg.solve(root, inner.T))[-1])
    return _STEP / math.sqrt(fastest)


def _positions(chain: Chain, posture: Floats) -> Floats:
    """Return the positions of all joints, with springs at rest."""
    positions = iter(posture)
    return np.array([next(positions) if joint.motor else 0.0 for joint in chain.joints])


class _Anchored(NamedTuple):
    """A joint and its position in its body with all joints at 0."""

    joint: PieceJoint
    place: Floats
    axis: Floats


class _Body(NamedTuple):
    """Pieces up to one with inertia, in the axes of that piece."""

    name: str
    place: Floats
    turn: Floats
    joints: list[_Anchored]
    lump: Lump
    reach: Floats


def _bodies(chain: Chain) -> list[str]:
    """Return the lines of nested MuJoCo bodies, each with all joints up to the next inertia."""
    bodies = _merged(chain)
    lines: list[str] = []
    for depth, body in enumerate(bodies, start=2):
        pad = "  " * depth
        place, turn = numbers(body.place), numbers(_quaternion(body.turn))
        lines.append(f'{pad}<body name={quoteattr(body.name)} pos="{place}" quat="{turn}">')
        lines += [f"{pad}  {_joint(anchored)}" for anchored in body.joints]
        if body.lump.mass or np.any(body.lump.tensor):
            lines.append(f"{pad}  {_inertial(body)}")
        if np.linalg.norm(body.reach) > 0.0:
            thick = 0.06 * float(np.linalg.norm(body.reach))
            lines.append(f'{pad}  <geom fromto="0 0 0 {numbers(body.reach)}" size="{thick:.4g}"/>')
    tip = "  " * (len(bodies) + 2)
    lines.append(f'{tip}<site name="tip" pos="{numbers(bodies[-1].reach)}"/>')
    lines += ["  " * depth + "</body>" for depth in range(len(bodies) + 1, 1, -1)]
    return lines


def _merged(chain: Chain) -> list[_Body]:
    """Merge pieces without inertia into the next one; MuJoCo accepts no moving body without inertia."""
    found: list[_Body] = []
    joints: list[_Anchored] = []
    place, turn = np.zeros(3), np.eye(3)
    for number, piece in enumerate(chain.pieces):
        back = piece.turn.T
        joints = [_Anchored(j.joint, back @ (j.place - piece.place), back @ j.axis) for j in joints]
        joints += [_Anchored(joint, np.zeros(3), joint.axis) for joint in piece.joints]
        place, turn = place + turn @ piece.place, turn @ piece.turn
        if piece.lump.mass or np.any(piece.lump.tensor) or (number == 0 and not joints):
            found.append(_Body(piece.name, place, turn, joints, piece.lump, piece.reach))
            joints, place, turn = [], np.zeros(3), np.eye(3)
    last: Piece = chain.pieces[-1]
    if not found or np.any(place) or np.any(turn != np.eye(3)):
        found.append(_Body(last.name, place, turn, joints, last.lump, last.reach))
    return found


def _joint(anchored: _Anchored) -> str:
    joint = anchored.joint
    text = (
        f'<joint name={quoteattr(joint.name)} type="{joint.kind}" pos="{numbers(anchored.place)}" '
        f'axis="{numbers(anchored.axis)}"'
    )
    if not joint.motor:
        text += f' stiffness="{joint.stiffness!r}"'
    if joint.damping:
        text += f' damping="{joint.damping!r}"'
    if joint.rotor[0] and not joint.held:
        text += f' armature="{joint.rotor[0] * joint.rotor[1] ** 2!r}"'
    if joint.limits is not None and np.isfinite(joint.limits).all():
        text += f' range="{numbers(joint.limits)}"'
    return text + "/>"


def _inertial(body: _Body) -> str:
    tensor = body.lump.tensor
    moments = np.linalg.eigvalsh(tensor)
    needed = _LEAST * (body.lump.mass + moments.sum())
    if min(moments[0], moments[0] + moments[1] - moments[2]) < needed:
        tensor = tensor + needed * np.eye(3)  # MuJoCo refuses points, and plates by rounding
    six = [tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    centre = numbers(body.lump.centre)
    mass = max(body.lump.mass, _LEAST_MASS)
    return f'<inertial pos="{centre}" mass="{mass!r}" fullinertia="{numbers(six)}"/>'


def _quaternion(turn: Floats) -> Floats:
    """Return the quaternion (w, x, y, z) of a rotation matrix."""
    return np.asarray(Rotation.from_matrix(turn).as_quat(scalar_first=True))
