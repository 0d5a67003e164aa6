"""Motion beyond a joint and at the outer end of a piece of a link: formulas that are recorded for the page.

The recursion gives the stiffness of the outboard part, so the outboard motion follows from the inboard motion. The page
starts at the base, at a frequency close to the mode, where the response of the arm is the mode alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from jaxmodal.arithmetic.operations import Number, nonzero, select
from jaxmodal.dynamic_stiffness.beams import WaveNumbers
from jaxmodal.dynamic_stiffness.joints import through_axial_spring
from jaxmodal.dynamic_stiffness.member import MemberFunctions, free_end_member
from jaxmodal.dynamic_stiffness.stiffness import (
    Stiffness,
    adjugate,
    identity_plus_product,
    through_joint,
)

#: inputs of `beyond_joint`: stiffness beyond the springs, laws of the springs, rotor inertia and frequency, sine and
#: cosine of the angle, motion before the joint
JOINT_INPUTS = 6 + 6 + 2 + 2 + 3
#: inputs of `along_piece`: length, axial motion or none, flexible or rigid, wave numbers, functions, stiffness, motion
PIECE_INPUTS = 3 + len(WaveNumbers._fields) + len(MemberFunctions._fields) + 6 + 3
#: inputs of `along_loaded_piece`: also the lever
LOADED_PIECE_INPUTS = PIECE_INPUTS + 1


def beyond_joint(*numbers: Number) -> list[Number]:
    """Return the motion (u, v, psi) beyond the springs of a joint from that before it; axes of the link before."""
    given = iter(numbers)
    beyond = Stiffness(*itertools.islice(given, 6))
    unit, turn, axial_unit, axial, shear_unit, shear, rotor, omega, sine, cosine, x, y, psi = given
    unit = unit - omega * omega * rotor * turn
    turned, pivot = through_joint(beyond, unit, turn)
    stretched, along = through_axial_spring(turned, axial_unit, axial)
    across = nonzero(shear * stretched.vv + shear_unit)
    u, v = cosine * x + sine * y, cosine * y - sine * x
    v = (shear_unit * v - shear * (stretched.uv * u + stretched.vp * psi)) / across
    u = (axial_unit * u - axial * (turned.uv * v + turned.up * psi)) / along
    psi = (unit * psi - turn * (beyond.up * u + beyond.vp * v)) / pivot
    return [u, v, psi]


def along_piece(*numbers: Number) -> list[Number]:
    """Return the motion at the outer end of a piece of a link from that at its inner end, in the axes of the link."""
    return _along(numbers, None)


def along_loaded_piece(*numbers: Number) -> list[Number]:
    """Return `along_piece` of a link under an axial force; the last number is the lever, see `preload`."""
    return _along(numbers[:-1], numbers[-1])


def _along(numbers: Sequence[Number], lever: Number | None) -> list[Number]:
    given = iter(numbers)
    length, axial, flexible = itertools.islice(given, 3)
    waves = WaveNumbers(*itertools.islice(given, len(WaveNumbers._fields)))
    functions = MemberFunctions(*itertools.islice(given, len(MemberFunctions._fields)))
    outboard = Stiffness(*itertools.islice(given, 6))
    u, v, psi = given
    loaded = lever is not None
    m, _ = free_end_member(waves, functions, lever if loaded else length, axial, loaded)
    q = identity_plus_product(m, outboard)
    a = adjugate(q)
    det = nonzero(q.uu * a.uu + q.uv * a.vu + q.up * a.pu)
    free = m.h_uu * u, m.h_vv * v + m.h_vp * psi, m.h_pv * v + m.h_pp * psi
    elastic = [_row(row, free) / det for row in (a[0:3], a[3:6], a[6:9])]
    rigid = [u, v + length * psi, psi]
    return [select(flexible, x, y) for x, y in zip(elastic, rigid, strict=True)]


def _row(row: Sequence[Number], x: Sequence[Number]) -> Number:
    return row[0] * x[0] + row[1] * x[1] + row[2] * x[2]
