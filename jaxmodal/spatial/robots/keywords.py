"""Arguments of `read_urdf` by names of joints and links, or by patterns of names."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.arm.arguments import finite
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError, suggestion
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.spatial.arms.moving_frames import fixed_number
from jaxmodal.spatial.robots.chains import Chain
from jaxmodal.spatial.robots.descriptions import MOVING, TURNING, Robot
from jaxmodal.statics.link_parts import ROTOR as FIELDS

#: keys of the material of a flexible link
MATERIAL = (
    *("youngs_modulus", "density", "poisson_ratio", "shear_modulus"),
    *("loss_factor", "kelvin_voigt_time"),
)
#: keys of a rotor, and the arguments of the link that hold them
ROTOR = {"inertia": FIELDS[0], FIELDS[1]: FIELDS[1], "motor": "motor"}


def positions_of(robot: Robot, given: Mapping[str, float] | None) -> dict[str, float]:
    """Return the positions of joints by name: given values, and those that follow from mimicked joints."""
    movable = [joint.name for joint in robot.joints.values() if joint.kind in MOVING]
    others = {
        joint.name: f"is {joint.kind} and has no position that could be given; leave it out"
        for joint in robot.joints.values()
    }
    found = {
        name: fixed_number(f"positions[{name!r}]", value)
        for name, value in by_name("positions", given, movable, others).items()
    }
    for name in movable:
        follower, factor, offset, met = name, 1.0, 0.0, [name]
        while follower not in found and (mimic := robot.mimic_of(follower)) is not None:
            follower, offset, factor = mimic[0], offset + factor * mimic[2], factor * mimic[1]
            if follower in met:
                raise ArmError(f"joint {name!r}: its <mimic> leads back to {follower!r}.")
            met.append(follower)
        if follower != name:
            found[name] = factor * found.get(follower, 0.0) + offset
    return found


def stiffnesses_of(
    robot: Robot, chain: Chain, about: Mapping[str, Any] | None, along: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the given joint stiffnesses of the chain by name.

    They are about the axis of a revolute joint, along the axis of a prismatic one.
    """
    others = {joint.name: _no_spring(joint.kind) for joint in robot.joints.values()}
    turning = [each.joint.name for each in chain.turning]
    sliding = [each.joint.name for each in chain.sliding]
    slides = "slides, so that it has no stiffness about an axis; give slide_stiffness, N/m"
    turns = "turns; give joint_stiffness, N m/rad"
    found = by_name("joint_stiffness", about, turning, others | dict.fromkeys(sliding, slides))
    return found | by_name(
        "slide_stiffness", along, sliding, others | dict.fromkeys(turning, turns)
    )


def dampings_of(
    robot: Robot,
    chain: Chain,
    about: Mapping[str, Any] | None,
    along: Mapping[str, Any] | None,
    springs: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the given joint dampers of the chain by name; each needs a spring in parallel."""
    others = {joint.name: _no_spring(joint.kind) for joint in robot.joints.values()}
    found: dict[str, Any] = {}
    for keyword, given, joints, spring in (
        ("joint_damping", about, chain.turning, "joint_stiffness"),
        ("slide_damping", along, chain.sliding, "slide_stiffness"),
    ):
        names = [each.joint.name for each in joints if each.joint.name in springs]
        rigid = {
            each.joint.name: f"has no {spring}, so that nothing moves in its damper; give it one, or leave this out"
            for each in chain.moving
            if each.joint.name not in names
        }
        found |= by_name(keyword, given, names, others | rigid)
    return found


def rotors_of(
    robot: Robot, chain: Chain, given: Mapping[str, Any] | None
) -> dict[str, dict[str, Any]]:
    """Return the rotor arguments of `SpatialLink` for joints with rotors, by joint name."""
    names = [each.joint.name for each in chain.turning]
    others = {
        joint.name: "does not turn between the base and the tip, so that no rotor turns with it; leave it out"
        for joint in robot.joints.values()
    }
    found = {}
    for name, rotor in by_name("rotors", given, names, others).items():
        _check_table(
            f"rotors[{name!r}]", rotor, tuple(ROTOR), "inertia (kg m^2), gear_ratio and motor"
        )
        if missing := [key for key in ("inertia", "gear_ratio") if key not in rotor]:
            raise ArmError(
                f"rotors[{name!r}]: {missing[0]} is missing; give inertia and gear_ratio."
            )
        found[name] = {ROTOR[key]: value for key, value in rotor.items()}
    return found


def _check_table(where: str, value: object, known: tuple[str, ...], expected: str) -> None:
    """Raise an error unless a value is a dict with known keys only."""
    if not isinstance(value, Mapping):
        raise ArmError(f"{where} = {shown(value)}: must be a dict of {expected}.")
    for key in value:
        if key not in known:
            raise ArmError(
                f"{where}[{shown(key)}]: known are {', '.join(known)}.{suggestion(str(key), known)}"
            )


def _no_spring(kind: str) -> str:
    if kind in TURNING:
        return "is not between the base and the tip, and held; choose another tip, or leave it out"
    return f"is {kind} and held, so that it has no spring about an axis; leave it out"


def by_name(
    keyword: str,
    given: Mapping[str, Any] | None,
    names: Iterable[str],
    others: Mapping[str, str],
) -> dict[str, Any]:
    """Resolve values given by exact names and patterns; ``others`` explains why known names accept no value.

    Raises
    ------
    ArmError
        If a key matches no name, or two patterns with different values match a name that has no value of its own.
    """
    names = list(names)
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ArmError(f"{keyword} = {shown(given)}: must be a dict of values by name.")
    found: dict[str, tuple[Any, Any]] = {}
    for key, value in given.items():
        exact = [key] if key in names else []
        fits = exact or [name for name in names if fnmatch.fnmatchcase(name, str(key))]
        if not fits:
            if key in others:
                raise ArmError(f"{keyword}[{key!r}] = {shown(value)}: {key!r} {others[key]}.")
            near = suggestion(str(key), [*names, *others])
            known = ", ".join(names) or "none"
            raise ArmError(
                f"{keyword}[{shown(key)}] = {shown(value)}: fits no name; there are {known}.{near}"
            )
        for name in fits:
            if exact or name not in given:
                pattern, former = found.setdefault(name, (key, value))
                if not _agree(former, value):
                    raise ArmError(
                        f"{keyword}[{pattern!r}] = {shown(former)} and {keyword}[{key!r}] = {shown(value)}: both fit "
                        f"{name!r}, and only one can hold; give {keyword}[{name!r}] itself, or patterns of which one "
                        "fits it."
                    )
    return {name: value for name, (_, value) in found.items()}


def _agree(one: Any, other: Any) -> bool:
    """Return whether two values are equal; False for traced values unless they are the same object."""
    if one is other:
        return True
    if is_traced((one, other)):
        return False
    if jax.tree.structure(one) != jax.tree.structure(other):  # type: ignore[operator]
        return False
    return all(map(np.array_equal, jax.tree.leaves(one), jax.tree.leaves(other)))


class Beam(NamedTuple):
    """Arguments of a flexible link, and the ends of its elastic part in its frame; None for from joint to joint."""

    values: dict[str, Any]
    ends: tuple[np.ndarray, np.ndarray] | None


def beams_of(
    chain: Chain,
    sections: Mapping[str, Any] | None,
    materials: Mapping[str, Any] | None,
    section_roll: Mapping[str, Any] | None = None,
    along: Mapping[str, Any] | None = None,
) -> dict[str, Beam]:
    """Return the flexible links, by name."""
    names = [each.joint.child for each in chain.moving]
    others = {
        part.link.name: f"moves with {moving.joint.child!r}; give that one"
        for moving in chain.moving
        for part in moving.parts[1:]
    }
    others |= {part.link.name: "stands with the base; leave it out" for part in chain.ground}
    others |= dict.fromkeys(chain.left_out, "is not a descendant of the base; leave it out")
    given = by_name("sections", sections, names, others)
    beside_them = {"materials": materials, "section_roll": section_roll, "along": along}
    for keyword, beside in beside_them.items():
        if beside is not None and not given:
            raise ArmError(f"{keyword}: no link has a section; give sections as well.")
    material = by_name("materials", materials, names, others)
    turned = by_name("section_roll", section_roll, names, others)
    lying = by_name("along", along, names, others)
    for keyword, by_link, what in (
        ("section_roll", turned, "that could be turned"),
        ("along", lying, "that could lie somewhere"),
    ):
        for link in beside_them[keyword] or ():
            if link in names and link not in given:
                raise ArmError(
                    f"{keyword}[{link!r}] = {shown(by_link[link])}: the link has no section {what}; give it one, or "
                    "leave it out."
                )
    found = {}
    for link, section in given.items():
        expected = (
            "youngs_modulus, density and poisson_ratio or shear_modulus, for the link has a section"
        )
        _check_table(f"materials[{link!r}]", material.get(link), MATERIAL, expected)
        values = {"section": section, **material[link]}
        if link in turned:
            values["section_roll"] = turned[link]
        found[link] = Beam(values, _ends(link, lying[link]) if link in lying else None)
    return found


def _ends(link: str, given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return two positions in the frame of a link."""
    where = f"along[{link!r}]"
    words = (
        "where the beam begins and where it ends, two places (x, y, z) of finite numbers in m in the frame of the "
        "link, such as [[0, 0, 0.1], [0.5, 0, 0.1]]"
    )
    start, end = np.asarray(finite(where, given, (2, 3), words))
    if np.array_equal(start, end):
        raise ArmError(
            f"{where} = {shown(given)}: the beam begins where it ends, and has no length; give two places."
        )
    return start, end
