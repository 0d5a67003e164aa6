"""Notes on a robot in words: joints held, bodies lumped, data ignored, and data missing from its file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from jaxmodal.spatial.arms.plausibility import WhyStill
from jaxmodal.spatial.robots.bodies import lump_of, total_of
from jaxmodal.spatial.robots.chains import Chain, Part
from jaxmodal.spatial.robots.descriptions import TURNING, Robot


def notes_of(
    robot: Robot,
    chain: Chain,
    positions: Mapping[str, float],
    has_beams: bool,
    structural_mass: str,
) -> Iterator[str]:
    """Yield a line for each group of joints held, bodies lumped and data ignored."""
    groups = [(f"the base {chain.base!r}", chain.ground)]
    groups += [(repr(each.joint.child), each.parts) for each in chain.moving]
    for what, parts in groups:
        fixed = [repr(part.link.name) for part in parts if _kind(part) == "fixed"]
        if fixed:
            yield f"fixed to {what}: {', '.join(fixed)}"
    parts = [part for _, group in groups for part in group]
    for part in parts:
        joint = part.held_by
        if joint is None or joint.kind == "fixed":
            continue
        at = positions.get(joint.name, 0.0)
        if joint.kind in TURNING:
            yield f"joint {joint.name!r} is beside the chain and held at {at:.6g} rad"
        elif joint.kind == "prismatic":
            yield f"joint {joint.name!r} is prismatic and held at {at:.6g} m"
        else:
            yield f"joint {joint.name!r} is {joint.kind} and held where it stands"
    for joint in robot.joints.values():
        if joint.mimic is not None:
            master = joint.mimic[0]
            if robot.mimic_of(joint.name) is None:
                yield f"mimic of {master!r}, which is no joint, is passed over at joint {joint.name!r}"
            else:
                yield f"mimic of {master!r} gives joint {joint.name!r} its position, and couples no motion"
        at, limits = positions.get(joint.name, 0.0), joint.limits
        if limits is not None and not limits[0] <= at <= limits[1]:
            yield f"joint {joint.name!r} is at {at:.6g}, beyond its limits {limits[0]:.6g} to {limits[1]:.6g}"
    bare = [repr(part.link.name) for part in parts if part.link.inertial is None]
    if bare:
        yield f"without inertial, and so without mass: {', '.join(bare)}"
    odd = [repr(part.link.name) for part in parts if not lump_of(part).possible]
    if odd:
        yield f"with a principal moment greater than the sum of the other two, which no body has: {', '.join(odd)}"
    if not total_of(chain.ground).possible:
        yield "the inertia tensor of the base's bodies is impossible and ignored: it matters on an elastic base only"
    points = [
        repr(part.link.name)
        for part in parts
        if part.link.inertial is not None
        and part.link.inertial.mass > 0.0
        and not part.link.inertial.tensor.any()
    ]
    if points:
        yield f"without moments of inertia, as points: {', '.join(points)}"
    shaped = sum(link.has_shapes for link in robot.links.values())
    if shaped:
        yield f"meshes and other shapes of {shaped} links are not read"
    if chain.other_tips:
        yield f"the tip might as well be {', '.join(map(repr, chain.other_tips))}: this moves the payload alone"
    if chain.left_out:
        yield f"not on the base, and left out: {', '.join(map(repr, chain.left_out))}"
    if has_beams:
        inside = structural_mass == "inside"
        yield (
            f"the mass of beams is {structural_mass} the inertial of their links"
            f"{', which keep their mass' if inside else ''}; bodies are fixed to the nearer end"
        )


def _kind(part: Part) -> str:
    return "" if part.held_by is None else part.held_by.kind


def missing_of(
    chain: Chain, springs: Collection[str], beams: Collection[str], still: WhyStill | None
) -> Iterator[str]:
    """Yield a line for each kind of missing data, with the value assumed."""
    for keyword, joints in (("joint_stiffness", chain.turning), ("slide_stiffness", chain.sliding)):
        rigid = [each.joint.name for each in joints if each.joint.name not in springs]
        if rigid:
            yield f"{keyword} of {', '.join(rigid)}: taken as rigid"
    links = [each.joint.child for each in chain.moving if each.joint.child not in beams]
    if links:
        yield f"sections and materials of {', '.join(links)}: taken as rigid bodies"
    if still is not None:
        yield f"so {still.reason}, and there are no frequencies"
