"""The elastic parts of an arm in space for the page: from lengths, sections and materials to what their members are.

What a section has (second moments, torsion constant, shear coefficients) is traced, what makes a member of it is the
recorded formulas, as in the plane.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.arithmetic.operations import Number
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.validity import rules_of
from jaxmodal.dynamic_stiffness import beams
from jaxmodal.dynamic_stiffness.beams import MemberConstants, Theory
from jaxmodal.dynamic_stiffness.cut_links import SHARES
from jaxmodal.runtime.namespace import xp
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.stiffness.members import (
    Sections,
    frequency_scale,
    plane_beams,
    section_of,
    torsion_waves,
)
from sweeps.explorer.solver.spatial_bodies import base_of, moments_of
from sweeps.explorer.solver.tapes import tape_of_formula, tape_of_function

#: what of an elastic link its member is made of, beside its section
_FIELDS = (
    *("length", "youngs_modulus", "density", "poisson_ratio", "shear_modulus", "torsion_constant"),
)
#: inputs of a member in one plane, and of its torsion; both begin with the length
_PLANE, _TWIST = 8, 6


def elastic_links(arm: SpatialArm) -> list[int]:
    """Their places among all links."""
    return [k for k, link in enumerate(arm.links) if not link.rigid]


def sizes_of(arm: SpatialArm) -> list[str]:
    """The addresses of lengths, sections and materials of elastic links."""
    owners = {f"link{k + 1}" for k in elastic_links(arm)}
    found = []
    for address in arm.addresses():
        owner, _, field = address.partition(".")
        if owner in owners and (field in _FIELDS or field.startswith("section.")):
            found.append(address)
    return found


def member_programs(arm: SpatialArm, names: list[str], theory: Theory) -> dict[str, Any]:
    """From values to the inputs of members, a scale of frequency and whether a value is impossible; and formulas."""
    return {
        "sizes": _sizes_tape(arm, names, theory),
        "elastic": len(elastic_links(arm)),
        "plane": tape_of_formula(beams.member_formula, _PLANE, False),
        "twist": tape_of_formula(_twisted, _PLANE + _TWIST, False),
        "inputs": [_PLANE, _TWIST],
    }


def member_of(arm: SpatialArm, owner: int, part: int, parts: int) -> dict[str, Any]:
    """Which elastic link a member is of, and which part of it, if that is cut."""
    return {
        "elastic": elastic_links(arm).index(owner),
        "share": None if parts == 1 else float(SHARES[owner % len(SHARES)]),
        "part": part,
    }


def _sizes_tape(arm: SpatialArm, names: list[str], theory: Theory) -> dict[str, Any]:
    own = {*sizes_of(arm), *moments_of(arm), *base_of(arm)}

    def computed(*values: Any) -> list[Any]:
        given = {name: x for name, x in zip(names, values, strict=True) if name in own}
        changed = set_parameters(arm, given)
        links = [changed.links[k] for k in elastic_links(arm)]
        found, scale, valid = [], np.float64(np.inf), np.True_
        for link in links:
            s = Sections(*(x if hasattr(x, "shape") else np.float64(x) for x in section_of(link)))
            inputs = beams.member_inputs(plane_beams(s), theory)
            for plane in range(2):
                found += [xp.broadcast_to(x, (2,))[plane] for x in inputs]
            found += [s.length, s.shear_modulus, s.torsion_constant, s.density]
            found += [s.second_moment_y, s.second_moment_z]
            scale = xp.minimum(scale, frequency_scale(s))
        bodies = [getattr(link, kind) for link in changed.links for kind in link.bodies]
        tensors = [x.inertia for x in (*bodies, changed.payload) if x is not None and x.inertia]
        bases = [] if changed.base_stiffness is None else [changed.base_stiffness]
        for record in (*links, *tensors, *bases):
            for holds in rules_of(record):
                valid = valid & xp.all(xp.asarray(holds))
        return [*found, scale if links else np.float64(1.0), ~valid]

    return tape_of_function(computed, len(names))


def _twisted(*numbers: Number) -> list[Number]:
    """The constants of the second plane, in which torsion takes the place of stretching."""
    member = MemberConstants(*beams.member_formula(*numbers[:_PLANE]))
    nothing = (
        0.0 * numbers[0]
    )  # the page has no arms under axial forces, for which alone the area counts
    twist = [*numbers[_PLANE:], nothing + 1.0, nothing]
    mu, rigidity = torsion_waves(*twist)
    return list(member._replace(mu=mu, axial_rigidity=rigidity))
