"""Checks for arms that cannot be lumped, and conversion of planar arms to arms in space that stay in their plane."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jaxmodal.arm.arm import require_arm
from jaxmodal.arm.link_rules import JOINT_SPRINGS
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.refusals import refuse_loads
from jaxmodal.arm.shapes import RawSection
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.runtime.precision import require_x64
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.spatial.arms.planar import to_spatial
from jaxmodal.spatial.arms.plausibility import nothing_gives_way
from jaxmodal.spatial.parts.sections import SpatialSection, spatial_section
from jaxmodal.statics.beam_arrays import SUPPORTS

#: Poisson ratio of a planar link without one; it has no effect, because nothing twists in the plane
_POISSON = 0.3


def require_lumpable(arm: Any) -> None:
    """Raise an error for an arm that `lumped` does not support.

    Raises
    ------
    ArmError
        If the arm is not supported; the message names the value and the remedy.
    """
    require_x64()
    require_arm(arm)
    if is_traced(arm):
        raise ArmError(
            "arm: holds traced values, and a file holds numbers; give a concrete arm, outside of jax.jit, jax.vmap and "
            "jax.grad."
        )
    arm.to_dict()  # refuses values of many arms
    refuse_loads(arm, "an arm of rigid pieces")
    for number, link in enumerate(arm.links, start=1):
        _refuse_held(link, number)
        springs = [(name, getattr(link, name, None)) for name in JOINT_SPRINGS]
        springs += [
            (f"joint_spring{k}.stiffness", spring.stiffness)
            for k, spring in enumerate(getattr(link, "joint_springs", ()), start=1)
        ]
        free = [name for name, value in springs if value is not None and float(value) == 0.0]
        if free:
            raise ArmError(
                f"link{number}.{free[0]} = 0: leaves the arm free, and zero frequencies have no relative errors; "
                "give a stiffness above 0."
            )


def _refuse_held(link: Any, number: int) -> None:
    """Raise an error for supports and axial forces, which a fit could imitate only for some frequencies."""
    names = [name for name in (*SUPPORTS, "supports", "axial_force") if getattr(link, name, ())]
    if names:
        raise ArmError(
            f"link{number}.{names[0]} = {shown(getattr(link, names[0]))}: rigid pieces have neither supports nor axial "
            "forces; leave it out."
        )


def arm_in_space(arm: AnyArm) -> tuple[SpatialArm, bool]:
    """Return an arm as an arm in space, and True if it is planar; errors as of `require_lumpable`."""
    if isinstance(arm, SpatialArm):
        _require_separate_springs(arm)
        return arm, False
    links, sections = [], {}
    for number, link in enumerate(arm.links, start=1):
        known = link.poisson_ratio is not None or link.shear_modulus is not None
        links.append(link if known else link.replace(poisson_ratio=_POISSON))
        if isinstance(link.section, RawSection):
            sections[number] = _as_round(link)
    made = to_spatial(dataclasses.replace(arm, links=tuple(links)), sections)
    _require_separate_springs(made)
    return made, True


def _require_separate_springs(arm: SpatialArm) -> None:
    """Refuse an elastic base that couples its directions, and an arm in which nothing gives way."""
    if arm.base_stiffness is not None:
        matrix = np.array(arm.base_stiffness.rows(), float)
        if np.any(matrix != np.diag(np.diag(matrix))):
            raise ArmError(
                "base_stiffness: has off-diagonal entries, and springs of joints are not coupled; give the six "
                "values of a diagonal."
            )
    if nothing_gives_way(arm):
        raise ArmError(
            "arm: nothing gives way, all links and joints are rigid, so there are no frequencies to hand on; give "
            "joint_stiffness, or links a section and a material."
        )


def _as_round(link: Any) -> SpatialSection:
    """Return a section with the same second moment about every axis."""
    second = float(link.second_moment)
    return spatial_section(float(link.area), second, second, 2.0 * second)
