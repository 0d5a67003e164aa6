"""Assembly of the arrays of a model from an arm in space."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import reals, scalar
from jaxmodal.arm.quantities import NON_NEGATIVE, shown
from jaxmodal.arm.refusals import require_concrete
from jaxmodal.dynamics.assembly.arguments import check_size, friction_of, per_link, require_finite
from jaxmodal.dynamics.assembly.bases import base_of, least_moment
from jaxmodal.dynamics.assembly.pieces_in_space import Piece, pieces_of, supports_of
from jaxmodal.dynamics.assembly.shapes_in_space import FAMILIES, NONE, shapes_of
from jaxmodal.dynamics.assembly.tables_in_space import LinkTablesInSpace
from jaxmodal.dynamics.layout_in_space import (
    FIXED,
    SLIDES,
    LayoutInSpace,
)
from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.values import LinkValues, arm_values
from jaxmodal.spatial.parts.bases import BaseStiffness
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.statics.link_parts import Rotor


def arm_in_space(
    arm: SpatialArm,
    modes: Any,
    shapes: Any,
    in_tip_values: bool,
    gravity: Any,
    damping: Mapping[str, Any],
    torsional_inertia: Any,
    base: Any,
    joint_position: Any,
) -> SpatialFlexibleArm:
    """Return the model of an arm in space with the default formulation of `SpatialFlexibleArm`.

    ``damping`` holds the damping arguments of `flexible_arm` by name.
    """
    require_concrete(
        arm, "flexible_arm of an arm in space", "gradients are those of the model's arrays"
    )
    pieces = pieces_of(arm, driven=base == "driven")
    straight = [piece.link for piece in pieces]
    values = arm_values(straight, arm.payload, None).links
    own = [float(link.beam.polar[0]) for link in values]
    body = pseudo_inertia(values[0].stator[..., 0], np.eye(3))
    carrying = base_of(base, joint_position, arm, body)
    of_links = shapes_of(arm, modes, FAMILIES[0] if shapes is None else shapes, in_tip_values)
    made = [of_links[piece.number - 1] if piece.is_link else NONE for piece in pieces]
    counts = tuple((a.count, b.count, c.count, d.count) for a, b, c, d in made)
    jointed = [piece.link for piece in pieces if piece.kind != FIXED]
    elastic = tuple(bool(np.isfinite(float(link.joint_stiffness))) for link in jointed)
    springs = tuple(len(link.joint_springs) for link in straight)
    kinds, numbers = tuple(p.kind for p in pieces), tuple(p.number for p in pieces)
    sizes = tuple(sum(count) + extra for count, extra in zip(counts, springs, strict=True))
    layout = LayoutInSpace(sizes, elastic, counts, springs, kinds, numbers, carrying.kind)
    check_size(layout.size)
    n, rows = len(jointed), len(pieces)
    links = layout.links
    polar = np.zeros(rows)
    polar[links] = _torsional_inertias(torsional_inertia, [own[piece] for piece in links])
    tables = [
        LinkTablesInSpace(link.beam, each, layout.functions, inertia)
        for link, each, inertia in zip(values, made, polar.tolist(), strict=True)
    ]
    rolls = [link.roll[..., 0] for link in values]
    more = max(springs)
    before = [np.eye(3), *rolls[:-1]]  # axes of the previous link, in the axes of its section
    known = layout.functions.number
    gram = np.zeros((rows, known + 8, known + 8))
    for i, (parts, table) in enumerate(zip(values, tables, strict=True)):
        gram[i, :known, :known] = table.gram
        tip = parts.tip[..., 0]
        if i + 1 < rows:
            tip = tip + values[i + 1].stator[..., 0]
        for start, matrix in ((known, parts.hub[..., 0]), (known + 4, tip)):
            here = slice(start, start + 4)
            gram[i, here, here] = pseudo_inertia(matrix, rolls[i])
    stiffness, losses = _matrices(straight, layout, tables, damping, arm.base_stiffness)
    rotors = [link.moving_rotor or Rotor(0.0, 1.0) for link in jointed]
    beyond = [  # also without a rotor: the motor then has no inertia
        spring and (link.motor == "beyond_spring" or not rotor.inertia)
        for link, rotor, spring in zip(jointed, rotors, elastic, strict=True)
    ]
    orientation = [
        b.T @ link.rotation[..., 0] @ roll
        for b, link, roll in zip(before, values, rolls, strict=True)
    ]
    model = SpatialFlexibleArm(
        gram=gram,
        ends=np.stack([table.ends for table in tables]),
        tip_slope=np.stack([np.pad(table.slopes, [(0, more), (0, 0)]) for table in tables]),
        tip_turn=np.stack(
            [np.pad(table.turns, [(0, 0), (0, more), (0, more)]) for table in tables]
        ),
        gives=np.stack([_gives(link, r, more) for link, r in zip(values, rolls, strict=True)]),
        axis=np.stack(
            [
                turned[:, 0] if kind == SLIDES else b.T @ _unit(link)
                for b, link, turned, kind in zip(before, straight, orientation, kinds, strict=True)
            ]
        ),
        orientation=np.stack(orientation),
        start=np.stack(
            [r.T @ link.base_offset[:, 0] for r, link in zip(rolls, values, strict=True)]
        ),
        offset=np.stack(
            [r.T @ link.end_offset[:, 0] for r, link in zip(rolls, values, strict=True)]
        ),
        roll=rolls[-1].T,
        spin=np.stack([table.spin for table in tables]),
        rotor=np.array([rotor.inertia for rotor in rotors]),
        gear=np.array([rotor.ratio for rotor in rotors]),
        stations=np.stack([table.stations for table in tables]),
        stiffness=stiffness,
        damping=losses,
        **friction_of(damping, n),
        gravity=_vector("gravity", (0.0, 0.0, 0.0) if gravity is None else gravity),
        base_gram=carrying.gram,
        joint_position=carrying.joint_position,
        **_supports(arm, pieces, carrying.joint_position),
        counts=counts,
        springs=springs,
        kinds=kinds,
        numbers=numbers,
        elastic=elastic,
        rotor_beyond=tuple(beyond),
        base=carrying.kind,
    )
    _check_inertia(model)
    model = dataclasses.replace(model, idle_base=_idle_base(model))
    require_finite(model, "gram", "stiffness", "damping", "spin", "base_gram")
    return model


def _supports(
    arm: SpatialArm, pieces: Sequence[Piece], joint_position: np.ndarray
) -> dict[str, Any]:
    """The springs between tips and the ground, by names of the model; unstrained in the posture of the arm."""
    found, frames = supports_of(arm), arm.frames()
    last = {piece.number: place for place, piece in enumerate(pieces)}
    at = [frames[number - 1] for number, _ in found]
    direction = np.array([[float(x) for x in support.direction] for _, support in found])
    direction = direction.reshape(-1, 3)
    return {
        "support_stiffness": np.array([float(support.stiffness) for _, support in found]),
        "support_direction": direction / np.linalg.norm(direction, axis=1, keepdims=True),
        "support_place": np.array([each.tip + joint_position for each in at]).reshape(-1, 3),
        "support_axes": np.array([each.section for each in at]).reshape(-1, 3, 3),
        "supported": tuple((last[number], support.kind) for number, support in found),
    }


def _check_inertia(model: SpatialFlexibleArm) -> None:
    """Refuse joints that move nothing with mass: their accelerations would not be determined."""
    moved = np.abs(model.gram).sum(axis=(1, 2)) + np.abs(model.spin).sum(axis=(1, 2))
    at_link = model.rotor * ~(np.asarray(model.elastic) & ~np.asarray(model.rotor_beyond))
    for joint, piece in reversed(list(enumerate(model.layout.moving))):
        if not (moved[piece:].sum() + at_link[joint:].sum() > 0.0):
            raise ArmError(
                f"link{model.numbers[piece]}: joint {joint + 1} moves nothing that has mass; must move a link with a "
                "density, a body or a rotor: leave the link out, or give what it carries."
            )


def _idle_base(model: SpatialFlexibleArm) -> str:
    """Return `SpatialFlexibleArm.idle_base`: the motor motion that an elastic base without inertia rules out."""
    if 0 not in model.numbers or model.base == "driven":
        return ""
    known, axis = model.layout.functions.number, model.axis[1]
    body = model.gram[0, known + 4 :, known + 4 :]
    if least_moment(body) > 0.0:
        return ""
    if model.springs[1]:
        return "as given"
    mass, second = body[0, 0], body[1:, 1:]
    along = mass if model.kinds[1] == SLIDES else np.trace(second) - axis @ second @ axis
    if along > 0.0:
        return ""
    carries = bool(model.rotor[0] > 0.0) and model.kinds[1] != SLIDES
    if not model.elastic[0]:
        return "" if carries else "freely"
    return "freely" if carries and not model.rotor_beyond[0] else "as given"


def _gives(link: LinkValues, roll: np.ndarray, room: int) -> np.ndarray:
    """Return the directions of the joint springs, shape (room, 6), in the axes of the section."""
    own = link.directions[:-1, :, 0]
    turned = np.concatenate([own[:, :3] @ roll, own[:, 3:] @ roll], axis=1)
    return np.pad(turned, [(0, room - len(own)), (0, 0)])


def _or(value: Any, other: float) -> float:
    return other if value is None else float(value)


def _unit(link: SpatialLink) -> np.ndarray:
    axis = np.array([float(x) for x in link.joint_axis])
    return np.asarray(axis / np.linalg.norm(axis))


def pseudo_inertia(matrix: np.ndarray, roll: np.ndarray) -> np.ndarray:
    """Return the pseudo-inertia of a body, shape (4, 4), from its 6 x 6 mass matrix about the point.

    It holds the mass integrals of the products of (1, x, y, z), with x, y and z along the axes of the section. The mass
    matrix is in the axes of the link, and ``roll`` holds the axes of the section in those of the link.
    """
    mass, moment, inertia = matrix[0, 0], matrix[3:, :3], matrix[3:, 3:]
    first = np.array([moment[2, 1], moment[0, 2], moment[1, 0]])
    found = np.empty((4, 4))
    found[0, 0], found[0, 1:], found[1:, 0] = mass, first, first
    found[1:, 1:] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    turn = np.eye(4)
    turn[1:, 1:] = roll.T
    return np.asarray(turn @ found @ turn.T)


def _torsional_inertias(given: Any, own: list[float]) -> list[float]:
    """Return the inertia of each link about its line per length, kg m."""
    entries = list(given) if isinstance(given, (list, tuple, np.ndarray)) else [given] * len(own)
    if len(entries) != len(own):
        raise ArmError(
            f"torsional_inertia: {len(entries)} values; must be one, or {len(own)}, one for each link; None is "
            "density times (I_y + I_z) of the section."
        )
    return [
        value
        if entry is None
        else float(scalar(f"torsional_inertia[{number}]", entry, NON_NEGATIVE, "kg m"))
        for number, (entry, value) in enumerate(zip(entries, own, strict=True), start=1)
    ]


def _matrices(
    straight: Sequence[SpatialLink],
    layout: LayoutInSpace,
    tables: Sequence[LinkTablesInSpace],
    damping: Mapping[str, Any],
    base: BaseStiffness | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return K and D over all rates, with 0 for the rates of a free base."""
    n, units, links = len(layout.elastic), np.eye(layout.size), layout.links
    times, ratios = np.zeros((2, len(tables)))
    times[links] = per_link("kelvin_voigt_time", damping["kelvin_voigt_time"], len(links), "s")
    ratios[links] = per_link("damping_ratio", damping["damping_ratio"], len(links), "of critical")
    friction = per_link("viscous_friction", damping["viscous_friction"], n, "N m s/rad")
    stiffness, losses = np.zeros_like(units), np.zeros_like(units)
    for i, (link, spread) in enumerate(zip(straight, layout.spread, strict=True)):
        room = spread.shape[1] - len(tables[i].modal_mass)
        own = np.pad(tables[i].stiffness, [(0, room), (0, room)])
        time = times[i] + _or(link.kelvin_voigt_time, 0.0)
        diagonal = 2.0 * ratios[i] * np.sqrt(np.diag(own) * np.pad(tables[i].modal_mass, (0, room)))
        stiffness += spread @ own @ spread.T
        losses += spread @ (time * own + np.diag(diagonal)) @ spread.T
        first = len(tables[i].modal_mass)
        sprung = spread[:, first : first + layout.springs[i]]
        own = np.diag([float(spring.stiffness) for spring in link.joint_springs])
        if base is not None and i == 0:
            own = np.array([[float(x) for x in row] for row in base.rows()])
        stiffness += sprung @ own @ sprung.T
        lossy = np.diag([_or(spring.damping, 0.0) for spring in link.joint_springs])
        losses += sprung @ lossy @ sprung.T
    for joint, piece in enumerate(layout.moving):
        link, place = straight[piece], units[layout.driven[joint]]
        losses += friction[joint] * np.outer(place, place)
        if layout.elastic[joint]:
            twist = units[joint] - place
            stiffness += float(link.joint_stiffness) * np.outer(twist, twist)
            losses += _or(link.joint_damping, 0.0) * np.outer(twist, twist)
    more = [(0, 6 * layout.floats)] * 2
    return np.pad(stiffness, more), np.pad(losses, more)


def _vector(name: str, value: Any) -> np.ndarray:
    expected = "three finite numbers in m/s^2, in the axes of the base, such as (0, 0, -9.81)"
    numbers = reals(name, value, expected)
    if numbers.shape != (3,) or not np.all(np.isfinite(numbers)):
        raise ArmError(f"{name} = {shown(value)}: must be {expected}.")
    return numbers
