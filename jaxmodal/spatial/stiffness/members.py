"""Straight members in space: bending in two planes, stretching and torsion, all by the functions of planar members.

A member in space consists of two planar ones: (u, v, phi_z) with the second moment I_z, and (phi_x, w, -phi_y) with
I_y, where torsion takes the place of stretching.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.arithmetic.operations import (
    Arithmetic,
    Number,
    evaluate_formula,
    leading,
    number,
    select,
    sqrt,
)
from jaxmodal.dynamic_stiffness.beams import (
    MemberConstants,
    Theory,
    WaveNumbers,
    member_constants,
    waves_at,
)
from jaxmodal.dynamic_stiffness.member import (
    FreeEndMember,
    MemberFunctions,
    SymmetryTests,
    clamped_count,
    free_end_member,
    member_functions,
)
from jaxmodal.dynamic_stiffness.preload import member_waves
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.stiffness.matrices import shaped, stacked
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.link_parts import TIP, named


class Sections(NamedTuple):
    """Section properties of members, SI units: scalars for one link, shape (links, 1, cells) for several."""

    length: Any
    youngs_modulus: Any
    shear_modulus: Any
    density: Any
    area: Any
    second_moment_y: Any
    second_moment_z: Any
    torsion_constant: Any
    shear_coefficient_y: Any
    shear_coefficient_z: Any
    nonstructural_mass: Any
    axial_force: Any


def section_of(link: SpatialLink) -> Sections:
    """Return the section properties of a link; unneeded moduli are 1, unneeded shear coefficients inf.

    A rigid link without a section has only its nonstructural mass per length: its density is 0.
    """
    values, shear_modulus = link.section_values, link.shear_modulus_value
    kappa_y, kappa_z = (
        np.inf if k is None else k for k in (values.shear_coefficient_y, values.shear_coefficient_z)
    )
    return Sections(
        link.length,
        1.0 if link.youngs_modulus is None else link.youngs_modulus,
        1.0 if shear_modulus is None else shear_modulus,
        0.0 if link.density is None else link.density,
        values.area,
        values.second_moment_y,
        values.second_moment_z,
        values.torsion_constant,
        kappa_y,
        kappa_z,
        0.0 if link.nonstructural_mass is None else link.nonstructural_mass,
        0.0 if link.axial_force is None else link.axial_force,
    )


def sections_of(links: Sequence[SpatialLink]) -> Sections | None:
    """Return the section properties of links, whose values are numbers or columns (cells,)."""
    if not links:
        return None
    columns = zip(*map(section_of, links), strict=True)
    return Sections(
        *(np.stack(np.broadcast_arrays(*(np.atleast_1d(x) for x in c)))[:, None] for c in columns)
    )


class Beams(NamedTuple):
    """Flexible links as planar beams: lengths, (links, 1, cells), and both planes of each, (2, links, 1, cells).

    ``pressed`` has both planes of all links if any bears an axial force, else None.
    """

    length: Number
    planes: MemberConstants
    pressed: BeamArrays | None = None


class Members(NamedTuple):
    """Flexible links at frequencies of shape (trials, cells).

    ``numbers`` are the fields of `FreeEndMember` for both planes: (fields, 2, links, trials, cells). ``factor`` and
    ``growth``, (links, trials, cells), belong to the determinant; ``passed`` is the number of modes with both ends
    clamped. For rounding estimates: ``length`` of the links, (links, 1, cells); ``mass_term``, omega^2 times their
    mass, (links, trials, cells); and ``waved``, beta^2 of both planes, (2, links, trials, cells).
    """

    numbers: Number
    length: np.ndarray
    mass_term: np.ndarray
    waved: np.ndarray
    factor: Number
    growth: Number
    passed: np.ndarray

    def numbers_of(self, place: int) -> Number:
        """Return the numbers of one link, with the two planes of each field adjacent."""
        one = self.numbers[:, :, place]
        return shaped(one, lambda x: x.reshape(-1, *x.shape[2:]))


_WAVES, _FUNCTIONS = len(WaveNumbers._fields), len(MemberFunctions._fields)
_MEMBER = len(FreeEndMember._fields)


def member_formula(length: Number, axial: Number, *numbers: Number) -> list[Number]:
    """Return `free_end_member` as a function of flat inputs to flat outputs."""
    return _member(length, axial, numbers, loaded=False)


def pressed_formula(lever: Number, axial: Number, *numbers: Number) -> list[Number]:
    """Return `member_formula` for members under an axial force."""
    return _member(lever, axial, numbers, loaded=True)


def _member(length: Number, axial: Number, numbers: Any, loaded: bool) -> list[Number]:
    waves, functions = WaveNumbers(*numbers[:_WAVES]), MemberFunctions(*numbers[_WAVES:])
    member, tests = free_end_member(waves, functions, length, axial, loaded)
    return [*member, *tests]


def frequency_scale(s: Sections) -> Array:
    """Return the frequency scale ``sqrt(E I/(rho A))/L^2`` of each member, rad/s, in its softer bending plane."""
    softer = xp.minimum(s.second_moment_y, s.second_moment_z)
    found: Array = xp.sqrt(s.youngs_modulus * softer / (s.density * s.area)) / s.length**2
    return found


def torsion_waves(
    length: Number,
    modulus: Number,
    constant: Number,
    density: Number,
    iy: Number,
    iz: Number,
    area: Number,
    force: Number,
) -> list[Number]:
    """Return the torsional wave number times length at 1 rad/s, and torsional stiffness over length.

    The stiffness includes the contribution of the axial force.
    """
    rigidity = modulus * constant + force * (iy + iz) / area
    return [length * sqrt(density * (iy + iz) / rigidity), rigidity / length]


def beams_of(sections: Sections, theory: Theory, arithmetic: Arithmetic) -> Beams:
    """Return the flexible links as beams, with torsion as the second plane's axial motion."""
    s = Sections(*np.broadcast_arrays(*sections))
    planes = member_constants(plane_beams(s), theory, arithmetic)
    twist = s.length, s.shear_modulus, s.torsion_constant, s.density
    values = (*twist, s.second_moment_y, s.second_moment_z, s.area, s.axial_force)
    mu, rigidity = evaluate_formula(torsion_waves, [number(x, arithmetic) for x in values])
    planes = planes._replace(
        mu=stacked([planes.mu[0], mu]), axial_rigidity=stacked([planes.axial_rigidity[0], rigidity])
    )
    pressed = plane_beams(s) if np.any(s.axial_force) else None
    return Beams(number(s.length, arithmetic), planes, pressed)


def members(beams: Beams, theory: Theory, omega: Number) -> Members:
    """Return all flexible links at frequencies of shape (trials, cells)."""
    formula: Callable[..., list[Number]] = member_formula
    lever = beams.length
    if beams.pressed is None:
        w = waves_at(beams.planes, omega)
    else:
        extended = isinstance(omega, DoubleDouble)
        arithmetic = Arithmetic.double_double if extended else Arithmetic.float64
        found = member_waves(beams.pressed, theory, leading(omega), arithmetic)
        formula, lever = pressed_formula, found.lever
        w = found.waves._replace(
            mu=beams.planes.mu * omega, axial_rigidity=beams.planes.axial_rigidity
        )
    functions, turns = member_functions(w)
    zero = leading(w.mu) * 0.0
    axial = zero + np.array([theory.axial, 1.0])[:, None, None, None]
    values = [lever, w.mu * 0.0 + axial, *w, *functions]
    numbers = list(evaluate_formula(formula, values))
    member = FreeEndMember(*numbers[:_MEMBER])
    count = clamped_count(SymmetryTests(*numbers[_MEMBER:]), turns, axial)
    growth = select(w.z1, w.alpha, w.alpha * 0.0)
    return Members(
        stacked(list(member)),
        leading(beams.length),
        leading(w.mass_term)[0],
        leading(w.beta) ** 2,
        member.delta[0] * member.delta[1],
        growth[0] + growth[1],
        count[0] + count[1],
    )


def plane_beams(s: Sections) -> BeamArrays:
    """Return the bending in both planes as planar beams, shape (2, links, 1, cells)."""
    shape = s.length.shape

    def both(x: Array) -> Array:
        return xp.broadcast_to(x, (2, *shape))

    zero = np.zeros((2, *shape))
    return BeamArrays(
        length=both(s.length),
        youngs_modulus=both(s.youngs_modulus),
        area=both(s.area),
        second_moment=both(xp.stack([s.second_moment_z, s.second_moment_y])),
        density=both(s.density),
        shear_modulus_effective=both(
            xp.stack([s.shear_coefficient_y, s.shear_coefficient_z]) * s.shear_modulus
        ),
        **named(TIP, (zero, zero)),
        joint_angle=zero,
        joint_stiffness=zero,
        has_shear=True,
        nonstructural_mass=both(s.nonstructural_mass) if np.any(s.nonstructural_mass) else None,
        axial_force=both(s.axial_force) if np.any(s.axial_force) else None,
    )
