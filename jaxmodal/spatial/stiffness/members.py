"""Straight members in space: bending in two planes, stretching and torsion, all by the planar functions.

A member in space is two planar ones side by side: (u, v, phi_z) with the second moment I_z, and (phi_x, w, -phi_y) with
I_y, where torsion takes the place of stretching.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmodal.arithmetic.operations import (
    Arithmetic,
    Number,
    evaluate_formula,
    leading,
    number,
    select,
    sqrt,
)
from jaxmodal.dynamic_stiffness.beams import Theory, WaveNumbers, wave_numbers
from jaxmodal.dynamic_stiffness.member import (
    FreeEndMember,
    MemberFunctions,
    SymmetryTests,
    clamped_count,
    free_end_member,
    member_functions,
)
from jaxmodal.spatial.stiffness.matrices import stacked, transposed
from jaxmodal.spatial.stiffness.transformations import PARTNERS
from jaxmodal.statics.beam_arrays import BeamArrays


class Sections(NamedTuple):
    """What members are made of, each of shape (flexible links, 1, cells); SI units."""

    length: np.ndarray
    youngs_modulus: np.ndarray
    shear_modulus: np.ndarray
    density: np.ndarray
    area: np.ndarray
    second_moment_y: np.ndarray
    second_moment_z: np.ndarray
    torsion_constant: np.ndarray
    shear_coefficient_y: np.ndarray
    shear_coefficient_z: np.ndarray
    nonstructural_mass: np.ndarray


class Member(NamedTuple):
    """Free-end description of one member over the six directions.

    ``force`` is F, (6, 6, ...); ``motion`` is H: its diagonal, and to each direction of the inner end the part of the
    partner's motion at the outer end, (2, 6, ...); ``receptances`` and ``determinants`` are R and det R of the pairs of
    directions. ``factor`` and ``growth`` belong to the determinant, ``passed`` is the number of modes of the
    member with both ends clamped.
    """

    force: Number
    motion: Number
    receptances: tuple[Number, Number, Number]
    determinants: tuple[Number, Number, Number]
    factor: np.ndarray
    growth: np.ndarray
    passed: np.ndarray


_WAVES, _FUNCTIONS = len(WaveNumbers._fields), len(MemberFunctions._fields)
_MEMBER = len(FreeEndMember._fields)


def _member_formula(length: Number, axial: Number, *numbers: Number) -> list[Number]:
    """`free_end_member` from flat inputs to flat outputs."""
    waves, functions = numbers[:_WAVES], numbers[_WAVES:]
    member, tests = free_end_member(WaveNumbers(*waves), MemberFunctions(*functions), length, axial)
    return [*member, *tests]


def _torsion_formula(
    length: Number,
    modulus: Number,
    constant: Number,
    density: Number,
    iy: Number,
    iz: Number,
    omega: Number,
) -> list[Number]:
    """Wave number times length and stiffness over length of torsion."""
    rigidity = modulus * constant
    return [omega * length * sqrt(density * (iy + iz) / rigidity), rigidity / length]


def members(
    sections: Sections, theory: Theory, omega: np.ndarray, arithmetic: Arithmetic
) -> list[Member]:
    """All flexible members of an arm at frequencies of shape (trials, cells)."""
    shape = (sections.length.shape[0], *np.broadcast_shapes(omega.shape, sections.length.shape[1:]))
    at = np.broadcast_to(omega, shape)
    w = member_waves(sections, theory, at, arithmetic)
    functions, turns = member_functions(w)
    axial = np.stack([np.full(shape, theory.axial), np.ones(shape)])
    length = np.broadcast_to(sections.length, (2, *shape))
    values = [number(length, arithmetic), number(axial, arithmetic), *w, *functions]
    found = list(evaluate_formula(_member_formula, values))
    member = FreeEndMember(*found[:_MEMBER])
    count = clamped_count(SymmetryTests(*found[_MEMBER:]), turns, axial)
    growth = leading(select(w.z1, w.alpha, number(np.zeros((2, *shape)), arithmetic)))
    factor = leading(member.delta)
    every = _member(member, factor[0] * factor[1], growth[0] + growth[1], count[0] + count[1])
    return [_one(every, i) for i in range(shape[0])]


def _one(every: Member, i: int) -> Member:
    """One of members side by side."""
    first, second, third = (x[:, :, i] for x in every.receptances)
    return Member(
        force=every.force[:, :, i],
        motion=every.motion[:, :, i],
        receptances=(first, second, third),
        determinants=(every.determinants[0][i], every.determinants[1][i], every.determinants[2][i]),
        factor=every.factor[i],
        growth=every.growth[i],
        passed=every.passed[i],
    )


def plane_beams(s: Sections, shape: tuple[int, ...]) -> BeamArrays:
    """Bending in the two planes as planar beams, shape (2, *shape)."""

    def both(x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(x, (2, *shape))

    zero = np.zeros((2, *shape))
    return BeamArrays(
        length=both(s.length),
        youngs_modulus=both(s.youngs_modulus),
        area=both(s.area),
        second_moment=both(np.stack([s.second_moment_z, s.second_moment_y])),
        density=both(s.density),
        shear_modulus_effective=both(
            np.stack([s.shear_coefficient_y, s.shear_coefficient_z]) * s.shear_modulus
        ),
        tip_mass=zero,
        tip_inertia=zero,
        joint_angle=zero,
        joint_stiffness=zero,
        has_shear=True,
        nonstructural_mass=both(s.nonstructural_mass) if np.any(s.nonstructural_mass) else None,
    )


def member_waves(
    s: Sections, theory: Theory, omega: np.ndarray, arithmetic: Arithmetic
) -> WaveNumbers:
    """Wave numbers of the two planes, shape (2, links, trials, cells), torsion as the second one's axial motion."""
    shape = (2, *omega.shape)
    planes = plane_beams(s, omega.shape)
    w = wave_numbers(planes, theory, np.broadcast_to(omega, shape), arithmetic)
    values = (
        s.length,
        s.shear_modulus,
        s.torsion_constant,
        s.density,
        s.second_moment_y,
        s.second_moment_z,
        omega,
    )
    inputs = [number(np.broadcast_to(x, omega.shape), arithmetic) for x in values]
    mu, rigidity = evaluate_formula(_torsion_formula, inputs)
    return w._replace(
        mu=stacked([w.mu[0], mu]), axial_rigidity=stacked([w.axial_rigidity[0], rigidity])
    )


def _member(m: FreeEndMember, factor: np.ndarray, growth: np.ndarray, count: np.ndarray) -> Member:
    """The two planes, each entry of shape (2, ...), put together; in the second phi_y is turned round."""
    zero = m.f_uu[0] * 0.0
    force = [[zero] * 6 for _ in range(6)]
    diagonal, partner = [zero] * 6, [zero] * 6
    receptances, determinants = [], []
    for plane, (u, v, p) in enumerate(((0, 1, 5), (3, 2, 4))):
        sign = 1.0 if plane == 0 else -1.0
        force[u][u], force[v][v], force[p][p] = m.f_uu[plane], m.f_vv[plane], m.f_pp[plane]
        force[v][p] = force[p][v] = m.f_vp[plane] * sign
        diagonal[u], diagonal[v], diagonal[p] = m.h_uu[plane], m.h_vv[plane], m.h_pp[plane]
        # of the outer end's partner: phi for a displacement v of the inner end, v for a turn of it
        partner[v], partner[p] = m.h_pv[plane] * sign, m.h_vp[plane] * sign
        mixed = m.r_vp[plane] * sign
        receptances.append(_two_by_two(m.r_vv[plane], mixed, m.r_pp[plane]))
        determinants.append(m.det_r_flex[plane])
    receptances.insert(0, _two_by_two(m.r_uu[0], zero, m.r_uu[1]))
    determinants.insert(0, m.r_uu[0] * m.r_uu[1])
    return Member(
        force=stacked([stacked(row) for row in force]),
        motion=stacked([stacked(diagonal), stacked(partner)]),
        receptances=(receptances[0], receptances[1], receptances[2]),
        determinants=(determinants[0], determinants[1], determinants[2]),
        factor=factor,
        growth=growth,
        passed=count,
    )


def _two_by_two(first: Number, mixed: Number, second: Number) -> Number:
    return stacked([stacked([first, mixed]), stacked([mixed, second])])


def at_inner_end(member: Member, w: Number) -> Number:
    """``F + H^T W H``."""
    own, partner = member.motion[0], member.motion[1]

    def half(x: Number) -> Number:
        return own[:, None] * x + partner[:, None] * x[PARTNERS]

    return member.force + half(transposed(half(w)))
