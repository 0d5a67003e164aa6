"""Elastic links of an arm in space for the page: from lengths, sections and materials to the inputs of members.

Section values (second moments, torsion constant, shear coefficients) are traced; the formulas of members are recorded,
as in the plane.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.arithmetic.operations import Number
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.validity import rules_of
from jaxmodal.dynamic_stiffness import beams
from jaxmodal.dynamic_stiffness.beams import MemberConstants, Theory, WaveNumbers
from jaxmodal.dynamic_stiffness.cut_links import SHARES
from jaxmodal.dynamic_stiffness.member import MemberFunctions
from jaxmodal.dynamic_stiffness.preload import loaded_waves
from jaxmodal.runtime.namespace import xp
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.stiffness.members import (
    Sections,
    frequency_scale,
    member_formula,
    plane_beams,
    pressed_formula,
    section_of,
    torsion_waves,
)
from sweeps.explorer.solver.spatial_bodies import base_of, moments_of
from sweeps.explorer.solver.spatial_changes import bars_of
from sweeps.explorer.solver.tapes import Both, tape_of_formula, tape_of_function

#: fields of an elastic link, except its section, that its member depends on
_FIELDS = (
    *("length", "youngs_modulus", "density", "poisson_ratio", "shear_modulus", "torsion_constant"),
    "axial_force",
)
#: inputs of a member in one plane, and of its torsion; the first is the length
_PLANE, _TWIST = 8, 6
#: the same for a member under an axial force
_PRESSED_PLANE, _PRESSED_TWIST = 9, 8
#: inputs of a member formula: length or lever, axial motion, wave numbers, functions
_OF_MEMBER = 2 + len(WaveNumbers._fields) + len(MemberFunctions._fields)


def elastic_links(arm: SpatialArm) -> list[int]:
    """Return the indices of elastic links among all links."""
    return [k for k, link in enumerate(arm.links) if not link.rigid]


def sizes_of(arm: SpatialArm) -> list[str]:
    """Return the addresses of lengths, sections, materials and axial forces of elastic links."""
    owners = {f"link{k + 1}" for k in elastic_links(arm)}
    found = []
    for address in arm.addresses():
        owner, _, field = address.partition(".")
        if owner in owners and (field in _FIELDS or field.startswith("section.")):
            found.append(address)
    return found


def member_programs(arm: SpatialArm, names: list[str], theory: Theory) -> dict[str, Any]:
    """Return the tape from values to inputs of members, frequency scale and validity; and the member formulas."""
    known = {
        "sizes": _sizes_tape(arm, names, theory),
        "elastic": len(elastic_links(arm)),
        "loaded": pressed(arm),
    }
    if pressed(arm):
        plane, twist = _PRESSED_PLANE, _PRESSED_TWIST
        return known | {
            "plane": tape_of_formula(_pressed_plane, plane, False),
            "twist": tape_of_formula(_pressed_twist, plane + twist, False),
            "inputs": [plane, twist],
            "waves": Both(_pressed_waves, 1 + plane + 2).written(),
            "member": Both(pressed_formula, _OF_MEMBER).written(),
        }
    return known | {
        "plane": tape_of_formula(beams.member_formula, _PLANE, False),
        "twist": tape_of_formula(_twisted, _PLANE + _TWIST, False),
        "inputs": [_PLANE, _TWIST],
        "waves": Both(beams.waves_of_constants, 1 + len(MemberConstants._fields)).written(),
        "member": Both(member_formula, _OF_MEMBER).written(),
    }


def pressed(arm: SpatialArm) -> bool:
    """Return True if a link has an axial force."""
    return any(link.axial_force is not None for link in arm.links)


def member_of(arm: SpatialArm, owner: int, part: int, parts: int) -> dict[str, Any]:
    """Return the elastic link that a member belongs to, and its part if the link is cut."""
    return {
        "elastic": elastic_links(arm).index(owner),
        "share": None if parts == 1 else float(SHARES[owner % len(SHARES)]),
        "part": part,
    }


def _sizes_tape(arm: SpatialArm, names: list[str], theory: Theory) -> dict[str, Any]:
    own = {*sizes_of(arm), *moments_of(arm), *base_of(arm), *bars_of(arm)}

    def computed(*values: Any) -> list[Any]:
        given = {name: x for name, x in zip(names, values, strict=True) if name in own}
        changed = set_parameters(arm, given)
        links = [changed.links[k] for k in elastic_links(arm)]
        found, scale, valid = [], np.float64(np.inf), np.True_
        loaded = pressed(arm)
        for link in links:
            s = Sections(*(x if hasattr(x, "shape") else np.float64(x) for x in section_of(link)))
            force = [s.axial_force] * loaded
            inputs = beams.member_inputs(plane_beams(s._replace(axial_force=np.float64(0))), theory)
            for plane in range(2):
                found += [*(xp.broadcast_to(x, (2,))[plane] for x in inputs), *force]
            found += [s.length, s.shear_modulus, s.torsion_constant, s.density]
            found += [s.second_moment_y, s.second_moment_z, *[s.area] * loaded, *force]
            scale = xp.minimum(scale, frequency_scale(s))
        bodies = [getattr(link, kind) for link in changed.links for kind in link.bodies]
        tensors = [x.inertia for x in (*bodies, changed.payload) if x is not None and x.inertia]
        bases = [] if changed.base_stiffness is None else [changed.base_stiffness]
        for record in (*changed.links, *tensors, *bases):
            for holds in rules_of(record):
                valid = valid & xp.all(xp.asarray(holds))
        return [*found, scale if links else np.float64(1.0), ~valid]

    return tape_of_function(computed, len(names))


def _twisted(*numbers: Number) -> list[Number]:
    """Return the constants of the second plane, in which torsion replaces axial motion."""
    member = MemberConstants(*beams.member_formula(*numbers[:_PLANE]))
    nothing = 0.0 * numbers[0]  # the area has an effect only under axial forces
    twist = [*numbers[_PLANE:], nothing + 1.0, nothing]
    mu, rigidity = torsion_waves(*twist)
    return list(member._replace(mu=mu, axial_rigidity=rigidity))


def _pressed_plane(*inputs: Number) -> list[Number]:
    """Return the constants of a member under an axial force: its inputs, and the constants of axial motion."""
    member = MemberConstants(*beams.member_formula(*inputs[:_PLANE]))
    return [*inputs, member.mu, member.axial_rigidity]


def _pressed_twist(*numbers: Number) -> list[Number]:
    """Return the constants of the second plane of a member under an axial force; torsion replaces axial motion."""
    inputs, twist = numbers[:_PRESSED_PLANE], numbers[_PRESSED_PLANE:]
    return [*inputs, *torsion_waves(*twist)]


def _pressed_waves(omega: Number, *constants: Number) -> list[Number]:
    """Return `loaded_waves` from the constants of a plane: wave numbers, lever, share of shear."""
    length, modulus, area, second_moment, density, shear_modulus, *effects = constants
    beam = length, modulus, area, second_moment, density, shear_modulus
    shear, rotary, force, mu, rigidity = effects
    found = loaded_waves(*beam, omega, shear, rotary, force)
    size = len(WaveNumbers._fields)
    waves = WaveNumbers(*found[:size])._replace(mu=mu * omega, axial_rigidity=rigidity)
    return [*waves, *found[size:]]
