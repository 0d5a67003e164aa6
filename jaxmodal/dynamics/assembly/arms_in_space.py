"""From an arm in space to the arrays of its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import reals, scalar, whole
from jaxmodal.arm.quantities import NON_NEGATIVE, POSITIVE, shown
from jaxmodal.arm.refusals import require_concrete
from jaxmodal.dynamics.assembly.arguments import check_size, per_link
from jaxmodal.dynamics.assembly.bases import base_of
from jaxmodal.dynamics.assembly.tables_in_space import Deformations, LinkTablesInSpace
from jaxmodal.dynamics.frequency_equation import EndBody
from jaxmodal.dynamics.model import one_of
from jaxmodal.dynamics.model_in_space import (
    DEFORMATIONS,
    Counts,
    LayoutInSpace,
    SpatialFlexibleArm,
)
from jaxmodal.dynamics.rod_shapes import (
    RodShapes,
    fixed_free_rods,
    monomial_rods,
    polynomial_rods,
)
from jaxmodal.dynamics.shapes import (
    LinkShapes,
    clamped_mass_shapes,
    monomial_shapes,
    polynomial_shapes,
)
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.values import LinkValues, arm_values
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.springs import Spring

FAMILIES = ("polynomial", "monomial", "clamped_free")


def _clamped_free(count: int) -> LinkShapes:
    return clamped_mass_shapes(count, EndBody(), 1.0, 1.0)


_BEAMS = dict(zip(FAMILIES, (polynomial_shapes, monomial_shapes, _clamped_free), strict=True))
_RODS = dict(zip(FAMILIES, (polynomial_rods, monomial_rods, fixed_free_rods), strict=True))


def _counts(modes: Any, arm: SpatialArm) -> tuple[Counts, ...]:
    """Number of shapes of each deformation of each link."""
    n = len(arm.links)
    given = list(modes) if isinstance(modes, (list, tuple)) else [modes] * n
    if len(given) != n:
        raise ArmError(f"modes = {shown(modes)}: must be one entry, or {n}, one for each link.")
    made = []
    for number, (link, entry) in enumerate(zip(arm.links, given, strict=True), start=1):
        with within(f"modes of link{number}: "):
            found = _count(entry)
        made.append((0, 0, 0, 0) if link.rigid else found)
    return tuple(made)


def _count(entry: Any) -> Counts:
    expected = (
        "a whole number, of shapes of bending in each plane, or a dict with some of "
        f"{', '.join(map(repr, DEFORMATIONS))}"
    )
    if isinstance(entry, Mapping):
        unknown = sorted(set(entry) - set(DEFORMATIONS), key=str)
        if unknown:
            raise ArmError(
                f"modes = {shown(entry)}: {shown(unknown[0])} is unknown; must be {expected}."
            )
        stretch, torsion, xy, xz = (
            whole(name, entry.get(name, 0), 0, limits.LINK_MODES) for name in DEFORMATIONS
        )
        return stretch, torsion, xy, xz
    try:
        bending = whole("modes", entry, 0, limits.LINK_MODES)
    except ArmError as error:
        raise ArmError(f"modes = {shown(entry)}: must be {expected}.") from error
    return 0, min(bending, 1), bending, bending


def _families(shapes: Any, n: int) -> list[list[str]]:
    """The family of each deformation of each link."""
    given = list(shapes) if isinstance(shapes, (list, tuple)) else [shapes] * n
    if len(given) != n:
        raise ArmError(f"shapes: {len(given)} of them; must be one, or {n}, one for each link.")
    made = []
    for entry in given:
        named = entry if isinstance(entry, Mapping) else dict.fromkeys(DEFORMATIONS, entry)
        unknown = sorted(set(named) - set(DEFORMATIONS), key=str)
        if unknown:
            raise ArmError(
                f"shapes: {shown(unknown[0])} is no deformation; must be among "
                f"{', '.join(map(repr, DEFORMATIONS))}."
            )
        families = [named.get(name, FAMILIES[0]) for name in DEFORMATIONS]
        for family in families:
            one_of("shapes", family, FAMILIES, "'polynomial' converges fastest in space")
        made.append(families)
    return made


def _check(link: SpatialLink) -> None:
    """Refuse what motions in space do not know."""
    if link.segment:
        raise ArmError(
            "segment = True: motions in space know links of one piece, from joint to joint; give one uniform link, a "
            "body along it as its hub or body."
        )
    if link.prismatic:
        raise ArmError("prismatic = True: motions in space know joints that turn; leave it out.")
    if link.loss_factor is not None and float(link.loss_factor) != 0.0:
        raise ArmError(
            f"loss_factor = {shown(link.loss_factor)}: has no meaning in time; give kelvin_voigt_time, s."
        )
    if float(link.joint_stiffness) == 0.0:
        raise ArmError(
            "joint_stiffness = 0.0: every joint turns in the dynamics, and this spring lies between the motor and the "
            "link; leave it out for a joint that the motor moves directly."
        )


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
    """The model of an arm in space, posed as `SpatialFlexibleArm` has it by default.

    ``damping`` holds the arguments of `flexible_arm` of that kind, by name.
    """
    require_concrete(
        arm, "flexible_arm of an arm in space", "gradients are those of the model's arrays"
    )
    if arm.base_stiffness is not None:
        raise ArmError(
            "base_stiffness: the arm has one, and jaxmodal.dynamics knows no elastic base; give "
            "arm.replace(base_stiffness=None), or take it out of its file; base = 'free' floats freely."
        )
    for number, link in enumerate(arm.links, start=1):
        with within(f"link{number}."):
            _check(link)
        link.refuse_supports(number, "jaxmodal.dynamics")
        link.refuse_pressed(number, "jaxmodal.dynamics")
    counts = _counts(modes, arm)
    n = len(arm.links)
    families = _families(shapes, n)
    elastic = tuple(bool(np.isfinite(float(link.joint_stiffness))) for link in arm.links)
    yielding = [_yielding(link) for link in arm.links]
    springs = tuple(map(len, yielding))
    sizes = tuple(sum(count) + extra for count, extra in zip(counts, springs, strict=True))
    layout = LayoutInSpace(sizes, elastic, counts, springs, base == "free")
    check_size(layout.size)
    straight = [
        link.replace(joint_angle=0.0, joint_limits=None, joint_springs=given)
        for link, given in zip(arm.links, yielding, strict=True)
    ]
    values = arm_values(straight, arm.payload, None).links
    body = pseudo_inertia(values[0].stator[..., 0], np.eye(3))
    carrying = base_of(base, joint_position, arm.links[0], body)
    polar = _torsional_inertias(torsional_inertia, [float(link.beam.polar[0]) for link in values])
    tables = [
        LinkTablesInSpace(link.beam, _made(count, family, in_tip_values), layout.functions, inertia)
        for link, count, family, inertia in zip(values, counts, families, polar, strict=True)
    ]
    rolls = [link.roll[..., 0] for link in values]
    more = max(springs)
    before = [np.eye(3), *rolls[:-1]]  # own axes of the link before, in those of its section
    known = layout.functions.number
    gram = np.zeros((n, known + 8, known + 8))
    for i, (parts, table) in enumerate(zip(values, tables, strict=True)):
        gram[i, :known, :known] = table.gram
        tip = parts.tip[..., 0]
        if i + 1 < n:
            tip = tip + values[i + 1].stator[..., 0]
        for start, matrix in ((known, parts.hub[..., 0]), (known + 4, tip)):
            here = slice(start, start + 4)
            gram[i, here, here] = pseudo_inertia(matrix, rolls[i])
    stiffness, losses = _matrices(straight, layout, tables, damping)
    beyond = [  # or no rotor at all: the motor has no inertia
        spring and (link.motor == "beyond_spring" or not link.rotor_inertia)
        for link, spring in zip(arm.links, elastic, strict=True)
    ]
    model = SpatialFlexibleArm(
        gram=gram,
        ends=np.stack([table.ends for table in tables]),
        tip_slope=np.stack([np.pad(table.slopes, [(0, more), (0, 0)]) for table in tables]),
        tip_turn=np.stack(
            [np.pad(table.turns, [(0, 0), (0, more), (0, more)]) for table in tables]
        ),
        gives=np.stack([_gives(link, r, more) for link, r in zip(values, rolls, strict=True)]),
        axis=np.stack([b.T @ _unit(link) for b, link in zip(before, arm.links, strict=True)]),
        orientation=np.stack(
            [
                b.T @ link.rotation[..., 0] @ roll
                for b, link, roll in zip(before, values, rolls, strict=True)
            ]
        ),
        start=np.stack(
            [r.T @ link.base_offset[:, 0] for r, link in zip(rolls, values, strict=True)]
        ),
        offset=np.stack(
            [r.T @ link.end_offset[:, 0] for r, link in zip(rolls, values, strict=True)]
        ),
        roll=rolls[-1].T,
        spin=np.stack([table.spin for table in tables]),
        rotor=np.array([_or(link.rotor_inertia, 0.0) for link in arm.links]),
        gear=np.array([_or(link.gear_ratio, 1.0) for link in arm.links]),
        stations=np.stack([table.stations for table in tables]),
        stiffness=stiffness,
        damping=losses,
        coulomb=per_link("coulomb_friction", damping["coulomb_friction"], n, "N m"),
        coulomb_width=np.asarray(
            scalar("coulomb_width", damping["coulomb_width"], POSITIVE, "rad/s")
        ),
        gravity=_vector("gravity", gravity),
        base_gram=carrying.gram,
        joint_position=carrying.joint_position,
        counts=counts,
        springs=springs,
        elastic=elastic,
        rotor_beyond=tuple(beyond),
        base=carrying.kind,
    )
    _check_inertia(model)
    for name in ("gram", "stiffness", "damping", "spin", "base_gram"):
        if not np.all(np.isfinite(getattr(model, name))):
            raise ArmError(
                f"arm: its {name} is not finite in float64; must be: look for lengths, masses, moduli or damping that "
                "are extremely large or small."
            )
    return model


def _yielding(link: SpatialLink) -> tuple[Spring, ...]:
    """The further springs of a joint that give way: an infinite one is rigid."""
    return tuple(spring for spring in link.joint_springs if np.isfinite(float(spring.stiffness)))


def _check_inertia(model: SpatialFlexibleArm) -> None:
    """Refuse joints beyond which nothing has mass: no torque could be told from any motion."""
    moved = np.abs(model.gram).sum(axis=(1, 2)) + np.abs(model.spin).sum(axis=(1, 2))
    at_link = model.rotor * ~(np.asarray(model.elastic) & ~np.asarray(model.rotor_beyond))
    for number in range(model.num_links, 0, -1):
        if not (moved[number - 1 :].sum() + at_link[number - 1 :].sum() > 0.0):
            raise ArmError(
                f"link{number}: joint {number} moves nothing that has mass; must move a link with a density, a body or "
                "a rotor: leave the link out, or give what it carries."
            )


def _gives(link: LinkValues, roll: np.ndarray, room: int) -> np.ndarray:
    """Directions of the further springs of a joint, shape (room, 6), in the axes of the section."""
    own = link.directions[:-1, :, 0]
    turned = np.concatenate([own[:, :3] @ roll, own[:, 3:] @ roll], axis=1)
    return np.pad(turned, [(0, room - len(own)), (0, 0)])


def _or(value: Any, other: float) -> float:
    return other if value is None else float(value)


def _unit(link: SpatialLink) -> np.ndarray:
    axis = np.array([float(x) for x in link.joint_axis])
    return np.asarray(axis / np.linalg.norm(axis))


def _made(counts: Counts, families: Sequence[str], in_tip_values: bool) -> Deformations:
    """The shapes of one link."""
    rods: list[RodShapes] = []
    beams: list[LinkShapes] = []
    for count, family in zip(counts[:2], families[:2], strict=True):
        rod = _RODS[family](count)
        rods.append(rod.in_tip_values() if in_tip_values and count else rod)
    for count, family in zip(counts[2:], families[2:], strict=True):
        beam = _BEAMS[family](count)
        beams.append(beam.in_tip_deflections() if in_tip_values and count else beam)
    return rods[0], rods[1], beams[0], beams[1]


def pseudo_inertia(matrix: np.ndarray, roll: np.ndarray) -> np.ndarray:
    """Of a body: integrals of (1, x, y, z) with each other, by its 6 x 6 mass matrix about the point, shape (4, 4).

    The matrix is in the link's own axes, ``roll`` the axes of its section in those, which x, y and z are along.
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
    """Inertia about the line per length of each link, kg m."""
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
    links: Sequence[SpatialLink],
    layout: LayoutInSpace,
    tables: Sequence[LinkTablesInSpace],
    damping: Mapping[str, Any],
) -> tuple[np.ndarray, np.ndarray]:
    """K and D, of a free base with 0 for its rates."""
    n, units = len(tables), np.eye(layout.size)
    times = per_link("kelvin_voigt_time", damping["kelvin_voigt_time"], n, "s")
    ratios = per_link("damping_ratio", damping["damping_ratio"], n, "of critical")
    friction = per_link("viscous_friction", damping["viscous_friction"], n, "N m s/rad")
    stiffness, losses = np.zeros_like(units), np.zeros_like(units)
    for i, (link, spread) in enumerate(zip(links, layout.spread, strict=True)):
        room = spread.shape[1] - len(tables[i].modal_mass)
        own = np.pad(tables[i].stiffness, [(0, room), (0, room)])
        time = times[i] + _or(link.kelvin_voigt_time, 0.0)
        diagonal = 2.0 * ratios[i] * np.sqrt(np.diag(own) * np.pad(tables[i].modal_mass, (0, room)))
        stiffness += spread @ own @ spread.T
        losses += spread @ (time * own + np.diag(diagonal)) @ spread.T
        for k, spring in enumerate(link.joint_springs, start=len(tables[i].modal_mass)):
            given = np.outer(spread[:, k], spread[:, k])
            stiffness += float(spring.stiffness) * given
            losses += _or(spring.damping, 0.0) * given
        place = units[layout.driven[i]]
        losses += friction[i] * np.outer(place, place)
        if layout.elastic[i]:
            twist = units[i] - place
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
