"""Members of many arms in which one value varies, as Chebyshev polynomials in it at each frequency.

The matrices F, H, R of a member have poles at its own clamped-free frequencies. Times the determinant ``delta``, which
is zero there, they are sums of products of circular and hyperbolic functions without any pole: over the range of a
length, a modulus or a density a few polynomials have all digits. So members are computed at some values only, and for
all arms follow from one product of matrices and a division. Numbers are divided by their growth, and by the powers of
the length that all their terms have.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.response.driven.damping import Damping, damped_beams
from jaxmodal.response.driven.members import delta_by_growth, member_at, phases
from jaxmodal.runtime.namespace import Array
from jaxmodal.statics.beam_arrays import BeamArrays

#: smallest power of the length in the matrices of a slow member; the other field is not used in responses
_POWERS = {
    "f_uu": 1, "f_vv": 1, "f_vp": 2, "f_pp": 1,
    "h_uu": 0, "h_vv": 0, "h_vp": 1, "h_pv": -1, "h_pp": 0,
    "r_uu": 1, "r_vv": 1, "r_vp": 2, "r_pp": 1,
    "delta": 0,
}  # fmt: skip
#: numbers of values at which members are computed, tried in turn, and places between them where the polynomials are
#: compared with the members themselves
_NODES, _BETWEEN = (16, 24, 32, 48, 64), np.array([-1.0, -0.437, 0.291, 1.0])
#: smallest number of values, how many more for each rad by which the waves' phases change over the range, and how many
#: numbers are tried: a length takes 12 values in slow members, 32 for 46 rad and 80 for 105 rad
_LEAST, _OF_PHASE, _TRIALS = 12.0, 0.4, 3
#: smallest number of arms for each value that is computed; with four a table takes the same time as the members
_WORTH = 6
#: size of coefficients that are left out, and allowed error, relative to the largest value of a function in the range
_SMALL, _ALLOWED = 2.0**-49, 2.0**-45
#: largest ratio of two values of a range: errors are relative to the largest numbers in it
_WIDEST = 4.0
#: relative deviation of values that are in proportion
_ROUNDING = 2.0**-50


class MemberTable(NamedTuple):
    """Members of the parts of a link at F frequencies, over the range of a value.

    Attributes
    ----------
    over
        The value in each arm, from -1 to 1 over its range, (cells,).
    lengths
        The lengths of the link, (cells,) or (1,).
    coefficients
        Those of each part, (functions, terms, F or 2 F): of complex functions real and imaginary parts in turn.
    kind
        The type of the functions.
    """

    over: Array
    lengths: Array
    coefficients: list[Array]
    kind: Any

    def members(self, cells: slice) -> list[FreeEndMember]:
        """Return the members of some arms, base first, arrays of shape (cells, F)."""
        made = []
        powers = np.array(list(_POWERS.values()))[:, None, None]
        lengths = self.lengths[cells] if self.lengths.size > 1 else self.lengths
        scales = lengths[:, None] ** powers
        for coefficients in self.coefficients:
            terms = _polynomials(self.over[cells], coefficients.shape[1])
            found = np.matmul(scales * terms, coefficients).view(self.kind)
            inverse = 1.0 / found[-1]
            found[:-1] *= inverse
            fields = dict(zip(_POWERS, found, strict=True))
            made.append(FreeEndMember(**fields, det_r_flex=0.0))
        return made


def member_table(
    beam: BeamArrays,
    damping: Damping,
    theory: Theory,
    omega: Array,
    shares: Sequence[float],
    ends: frozenset[str],
) -> MemberTable | None:
    """Return the table of a link with these shares of its length as parts, or None if members are to be computed.

    That is where more than one value of the members varies, except in proportion, as E with G does, or one by more than
    a factor of 4; where there are too few arms; where a link is rigid; and where polynomials do not have the digits,
    which values between the nodes tell.

    Parameters
    ----------
    beam, damping
        Values of the link, arrays of shape (cells, 1) or (1, 1).
    omega
        Angular frequencies, rad/s, (F,).
    ends
        Names of values that have no effect on members.
    """
    if beam.flexible is not None and not np.all(beam.flexible):
        return None
    varying = _in_proportion(beam, damping, ends)
    if varying is None:
        return None
    values = next(x for tree in (beam, damping) for n, x in vars(tree).items() if n in varying)
    low, high = float(values.min()), float(values.max())
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    if not (0.0 < low < high <= _WIDEST * low):
        return None

    def at(over: Array) -> tuple[BeamArrays, Damping]:
        given = {name: (ratio * (middle + half * over))[:, None] for name, ratio in varying.items()}
        return (
            dataclasses.replace(beam, **{k: x for k, x in given.items() if k in vars(beam)}),
            dataclasses.replace(damping, **{k: x for k, x in given.items() if k in vars(damping)}),
        )

    turned = phases(damped_beams(*at(np.array([-1.0, 1.0])), omega), theory, omega)
    least = _LEAST + _OF_PHASE * np.max(np.abs(turned[1] - turned[0]))
    tried = [nodes for nodes in _NODES if least <= nodes <= values.size / _WORTH]
    if not tried:
        return None
    between = _numerators(*at(_BETWEEN), theory, omega, shares)
    for nodes in tried[:_TRIALS]:
        odd = 2 * np.arange(nodes) + 1
        places = np.cos(np.pi / (2 * nodes) * odd)
        # whole turns are taken off exactly
        angles = np.arange(nodes)[:, None] * odd % (4 * nodes)
        to_terms = np.cos(np.pi / (2 * nodes) * angles) * (2.0 / nodes)
        to_terms[0] *= 0.5
        sampled = _numerators(*at(places), theory, omega, shares)
        size = np.max(np.abs(sampled), axis=2, keepdims=True)
        terms = np.matmul(to_terms, sampled)
        error = np.abs(np.matmul(_polynomials(_BETWEEN, nodes), terms) - between)
        if np.all(error <= _ALLOWED * size):
            kept = 1 + np.max(np.nonzero(np.any(np.abs(terms) > _SMALL * size, axis=(0, 1, 3)))[0])
            made = [np.ascontiguousarray(x[:, :kept]).view(np.float64) for x in terms]
            over = (values.reshape(-1) - middle) / half
            return MemberTable(over, beam.length.reshape(-1), made, between.dtype)
    return None


def _numerators(
    beam: BeamArrays, damping: Damping, theory: Theory, omega: Array, shares: Sequence[float]
) -> Array:
    """Return F, H, R times delta, without their powers of the length, and delta, (parts, functions, values, F)."""
    damped = damped_beams(beam, damping, omega)
    powers = beam.length[None] ** np.array(list(_POWERS.values()))[:, None, None]
    made = []
    for share in shares:
        part = dataclasses.replace(damped, length=damped.length * share)
        found = member_at(part, theory, omega)._asdict()
        delta = delta_by_growth(part, theory, omega, found["delta"])
        fields = [delta if name == "delta" else found[name] * delta for name in _POWERS]
        made.append(np.stack(np.broadcast_arrays(*fields)) / powers)
    return np.stack(made)


def _in_proportion(
    beam: BeamArrays, damping: Damping, ends: frozenset[str]
) -> dict[str, float] | None:
    """Return the values of members that vary, with their ratios to the first of them; None if they vary otherwise."""
    varying = {
        name: x.reshape(-1)
        for tree in (beam, damping)
        for name, x in vars(tree).items()
        if isinstance(x, np.ndarray) and x.size > 1 and name not in ends
    }
    first = next(iter(varying.values()))
    ratios = {name: float(x[0] / first[0]) for name, x in varying.items()}
    for name, x in varying.items():
        if not np.all(np.abs(x - ratios[name] * first) <= _ROUNDING * np.abs(x)):
            return None
    return ratios


def _polynomials(over: Array, count: int) -> Array:
    """Return Chebyshev's polynomials, (values, count)."""
    return chebyshev.chebvander(over, count - 1)
