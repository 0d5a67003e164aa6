"""Transfer of a dynamic stiffness over six directions through a link: bodies, elastic ends, springs, rotations.

The stiffness is a symmetric 6 x 6 matrix over (u, v, w, phi_x, phi_y, phi_z), given by its 21 entries, which are arrays
of any shape. The formulas are plain arithmetic: a compiler fuses them into one loop, and NumPy runs them as recorded
programs (`wide_programs`).

Loads are carried along as further directions, one for each port; no step releases, rotates or shifts them. With the
stiffness W, the load vectors q of the ports and their responses G at a fixed interface, a part has the energy ``d^T W
d/2 - f^T q d - f^T G f/2`` for forces f: a symmetric matrix over (d, f), from which every step eliminates the outboard
motions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.operations import Number, absolute, keep, nonzero, select, sqrt
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.spatial.stiffness.constants import Body
from jaxmodal.spatial.stiffness.link_entries import LinkEntries, LoadEntries
from jaxmodal.spatial.stiffness.symmetric import (
    PLACES,
    TRIANGLE,
    Symmetric,
    places,
    shifted,
    total,
    turned,
)

#: pairs of directions that couple in a straight link; stretching and torsion do not couple
PAIRS = ((0, 3), (1, 5), (2, 4))
#: relative perturbation of the rounding variants: several times the usual rounding error
_ROUNDINGS = 4.0 * 2.0**-52
#: perturbation of the terms that cancel at low frequencies in members, in units of the above
_OF_MEMBERS = 4.0
#: share of the product of its diagonal that a determinant may lose before it is computed from other terms
_KEPT = 0.9
#: signs of the perturbations of the entries in rounding variants 1, 2 and 3. In the first two all inertias grow, or all
#: decrease, so that the perturbations add up
_ALL = np.array([1.0 if i == j else -1.0 for i, j in PLACES])
_MOVES = np.stack([_ALL, -_ALL, np.random.default_rng(0).choice([-1.0, 1.0], len(PLACES))])

#: a rounding variant, see `with_link`
Rounding = int | tuple[Any, Any]


class Release(NamedTuple):
    """Result of releasing a pair of directions: its factor of the determinant, and quantities that give its mode count.

    ``first`` and ``second`` are the diagonal of R + R W R of the pair, ``determinant`` is det R. ``terms``, if
    computed, is the magnitude of the terms that cancel in the factor.
    """

    factor: Number
    first: Number
    second: Number
    determinant: Number
    terms: Number | None = None

    @property
    def lost(self) -> Array:
        """Growth of rounding errors in the inversion; for releases in float64 with their terms."""
        return self.terms / xp.abs(nonzero(self.factor))

    def passed(self) -> Array:
        """Return the number of negative eigenvalues of R + R W R; for releases in float64."""
        first, second = self.first < 0.0, self.second < 0.0
        both = self.factor * self.determinant < 0.0
        kind = self.factor.dtype
        return xp.where(both, 1.0, first.astype(kind) + second.astype(kind))


class Added(NamedTuple):
    """Result of adding a link: stiffness at the outer end of the previous link's elastic part, and data for the count.

    ``pivots`` are those of the springs; each is a factor of the determinant, and a negative one counts a mode.
    ``inner`` is the diagonal of the stiffness at the inner end of the elastic part.
    """

    stiffness: Symmetric
    releases: list[Release]
    pivots: list[Number]
    inner: list[Number]


def with_link(
    link: LinkEntries,
    members: Sequence[FreeEndMember],
    squared: Number,
    w: Symmetric,
    rounding: Rounding = 0,
    with_terms: bool = False,
    loads: Sequence[LoadEntries] = (),
    onward: Callable[[Symmetric, LinkEntries], Symmetric] | None = None,
) -> Added:
    """Add one link to the stiffness at the outer end of its elastic part.

    Parameters
    ----------
    members : sequence of FreeEndMember
        Members of both planes; empty for a rigid link.
    squared : Number
        The square of the frequency.
    rounding : int or two numbers
        Rounding variant; it changes results by rounding errors only. 0 is the normal evaluation. 1, 2 and 3 perturb
        rounded quantities up or down by several roundings, each with other signs; 1 also releases the directions of
        elastic ends in the order (2, 1, 0) of `PAIRS` instead of (0, 1, 2). Two traced numbers are the amounts of the
        perturbations 1 and 3, in the normal order: (-1.0, 0.0) is the opposite of (1.0, 0.0).
    with_terms : bool
        Whether to compute ``terms`` of the releases.
    loads : sequence of LoadEntries
        The part of each load carried along in ``w`` that acts on this link.
    onward : function
        How the stiffness at the joint, in the axes of the link, becomes that of the previous link: by default `turned`
        and `shifted`.
    """
    shaken = _shaken_by(rounding)
    w = _held(less_body(w, link.outer, squared), link.supports)
    w = _less_loads(w, [x.outer for x in loads])
    releases: list[Release] = []
    if members:
        w, releases = _through_beam(w, members, rounding, with_terms, shaken)
    inner = [w[i, i] for i in range(6)]
    w = _less_loads(less_body(shaken(w), link.inner, squared), [x.inner for x in loads])
    pivots = []
    for number, spring in enumerate(link.springs, start=1):
        unit = spring.unit
        last = number == len(link.springs)
        rotor, torques = (link.rotor, [x.torque for x in loads]) if last else ([], [])
        if rotor:
            relative, driven, carried = rotor[3:]
            w = less_turning(w, rotor[:3], driven * squared)
            unit = unit - squared * (relative * spring.compliance)
        w, pivot = through_spring(w, spring.direction, unit, spring.compliance, torques, shaken)
        if rotor:
            w = less_turning(w, rotor[:3], carried * squared)
        pivots.append(pivot)
    return Added((onward or _onward)(shaken(w), link), releases, pivots, inner)


def _onward(w: Symmetric, link: LinkEntries) -> Symmetric:
    return shifted(turned(w, link.rotation), link.offset).kept()


def _shaken_by(rounding: Rounding) -> Callable[[Symmetric], Symmetric]:
    """Return a function that perturbs each entry by several roundings, up or down."""
    if isinstance(rounding, int):
        if rounding == 0:
            return lambda w: w
        factors: Sequence[Any] = (1.0 + _ROUNDINGS * _MOVES[rounding - 1]).tolist()
    else:
        first, second = (_ROUNDINGS * x for x in rounding)
        factors = [
            (first if a > 0.0 else -first) + (second if b > 0.0 else -second) + 1.0
            for a, b in zip(_MOVES[0], _MOVES[2], strict=True)
        ]
    # entries of loads, which follow, are not perturbed
    return lambda w: Symmetric(
        [x * by for x, by in zip(w.entries, factors, strict=False)] + w.entries[len(factors) :]
    ).kept()


def _shaken_member(m: FreeEndMember, rounding: Rounding) -> FreeEndMember:
    """Return a member perturbed by its rounding at low frequencies.

    There, terms of E I/L cancel to its inertia about an end. The rounding is sqrt(|f_pp r_pp|) of these terms, and
    equally of its deflection under a force.
    """
    sign = _MOVES[rounding - 1][0] if isinstance(rounding, int) else rounding[0] + rounding[1]
    by = sign * (_ROUNDINGS * _OF_MEMBERS)
    factor = keep(by / sqrt(nonzero(absolute(m.f_pp * m.r_pp))) + 1.0)
    moved = {name: getattr(m, name) * factor for name in ("f_pp", "h_pv", "r_vv")}
    return m._replace(**moved)


def _through_beam(
    w: Symmetric,
    members: Sequence[FreeEndMember],
    rounding: Rounding,
    with_terms: bool,
    shaken: Callable[[Symmetric], Symmetric],
) -> tuple[Symmetric, list[Release]]:
    if not isinstance(rounding, int) or rounding in (1, 2):
        members = [_shaken_member(m, rounding) for m in members]
    ends = [end_receptance(place, members) for place in range(3)]
    pairs = PAIRS
    if isinstance(rounding, int) and rounding == 1:
        ends, pairs = ends[::-1], pairs[::-1]
    releases = []
    for pair, receptance in zip(pairs, ends, strict=True):
        w, release = released(w, pair, receptance, with_terms, shaken)
        releases.append(release)
    return at_inner_end(shaken(w).kept(), members), releases


def end_receptance(place: int, members: Sequence[FreeEndMember]) -> list[Any]:
    """Return the receptance R of a pair of directions, (11, 12, 22), and its determinant."""
    if place == 0:
        first, second = members[0].r_uu, members[1].r_uu
        return [first, 0.0 * first, second, first * second]
    m = members[place - 1]
    # the member's own value loses digits at low frequency, the difference near a resonance of the link
    product, square = m.r_vv * m.r_pp, m.r_vp * m.r_vp
    determinant = select(product * _KEPT - square, product - square, m.det_r_flex)
    return [m.r_vv, m.r_vp if place == 1 else -m.r_vp, m.r_pp, determinant]


def released(
    w: Symmetric,
    pair: tuple[int, int],
    receptance: Sequence[Any],
    with_terms: bool,
    shaken: Callable[[Symmetric], Symmetric],
) -> tuple[Symmetric, Release]:
    """Release two directions of an elastic end: ``W (I + R W)^-1``, with the factor det(I + R W) of these directions.

    In the pair the result is (W + det W adj R)/det(I + R W), which avoids subtracting large numbers.
    """
    p, q = pair
    r11, r12, r22, determinant = receptance
    a, b, c = w[p, p], w[p, q], w[q, q]
    # each product once: NumPy computes what is written
    r11_a, r11_b, r12_a, r12_b = r11 * a, r11 * b, r12 * a, r12 * b
    r12_c, r22_b, r22_c = r12 * c, r22 * b, r22 * c
    q11, q12 = keep(r11_a + r12_b + 1.0), keep(r11_b + r12_c)
    q21, q22 = keep(r12_a + r22_b), keep(r12_b + r22_c + 1.0)
    moved = shaken(w)  # one of the two large numbers of a difference
    of_w = keep(moved[p, p] * c - b * b)
    # not q11 q22 - q12 q21, which cancels almost entirely behind soft joints
    factor = r11_a + r12_b * 2.0 + r22_c + determinant * of_w + 1.0
    factor = keep(nonzero(factor))
    terms = None
    if with_terms:  # entries cancel, too, for equal links folded on each other
        mixed = absolute(r12_b)
        own, other = absolute(r11_a) + mixed, mixed + absolute(r22_c)
        first, second = absolute(r11_b) + absolute(r12_c), absolute(r12_a) + absolute(r22_b)
        terms = (own + 1.0) * (other + 1.0) + first * second
    release = Release(factor, q11 * r11 + q12 * r12, q21 * r12 + q22 * r22, determinant, terms)
    inverse = 1.0 / factor
    z11, z12, z21, z22 = q22 * inverse, -q12 * inverse, -q21 * inverse, q11 * inverse
    # (I + R W)^-1 R = (R + det R adj W)/det(I + R W)
    y11, y12 = keep((r11 + determinant * c) * inverse), keep((r12 - determinant * b) * inverse)
    y22 = keep((r22 + determinant * a) * inverse)
    found = Symmetric(w.entries)
    found[p, p] = (a + r22 * of_w) * inverse
    found[p, q] = (b - r12 * of_w) * inverse
    found[q, q] = (c + r11 * of_w) * inverse
    others = [i for i in range(w.size) if i not in (p, q)]
    for number, i in enumerate(others):
        x, y = w[i, p], w[i, q]
        found[i, p], found[i, q] = x * z11 + y * z21, x * z12 + y * z22
        along, across = x * y11 + y * y12, x * y12 + y * y22
        for j in others[number:]:
            found[i, j] = moved[i, j] - (along * w[j, p] + across * w[j, q])
    return found.kept(), release


def at_inner_end(w: Symmetric, members: Sequence[FreeEndMember]) -> Symmetric:
    """Return the stiffness at the inner end of a beam: ``F + H^T W H``."""
    first, second = members
    own = [first.h_uu, first.h_vv, second.h_vv, second.h_uu, second.h_pp, first.h_pp]
    # add to each direction of the inner end the part of its partner at the outer end
    partner = {1: (5, first.h_pv), 5: (1, first.h_vp), 2: (4, -second.h_pv), 4: (2, -second.h_vp)}

    def moved(row: list[Any], i: int) -> Any:
        """Return the component in a direction of the inner end, from a row over the directions of the outer end."""
        if i not in partner:
            return own[i] * row[i]
        place, part = partner[i]
        return own[i] * row[i] + part * row[place]

    rows = range(w.size)
    columns = [[moved([w[i, k] for k in range(6)], j) for i in rows] for j in range(6)]  # W H
    found = Symmetric([*(moved(columns[j], i) for i, j in PLACES), *w.entries[len(PLACES) :]])
    for load in rows[6:]:
        for j in range(6):
            found[load, j] = columns[j][load]
    for place, value in (
        ((0, 0), first.f_uu),
        ((1, 1), first.f_vv),
        ((1, 5), first.f_vp),
        ((5, 5), first.f_pp),
        ((3, 3), second.f_uu),
        ((2, 2), second.f_vv),
        ((2, 4), -second.f_vp),
        ((4, 4), second.f_pp),
    ):
        found[place] = found[place] + value
    return found


def less_body(w: Symmetric, body: Body, squared: Number) -> Symmetric:
    """Subtract a body fixed at the point: the square of the frequency times its mass matrix."""
    found = Symmetric(w.entries)
    mass = squared * body.mass
    for i in range(3):
        found[i, i] = w[i, i] - mass
    x, y, z = (squared * s for s in body.moment)
    for place, value in (
        ((0, 4), -z),
        ((0, 5), y),
        ((1, 3), z),
        ((1, 5), -x),
        ((2, 3), -y),
        ((2, 4), x),
    ):
        found[place] = w[place] + value
    for (i, j), value in zip(TRIANGLE, body.inertia, strict=True):
        found[3 + i, 3 + j] = w[3 + i, 3 + j] - squared * value
    return found


def _held(w: Symmetric, supports: Sequence[tuple[Sequence[Any], Any]]) -> Symmetric:
    """Add springs to the ground, each along its own direction."""
    if not supports:
        return w
    found = Symmetric(w.entries)
    for along, stiffness in supports:
        for i, j in PLACES:
            found[i, j] = found[i, j] + along[i] * along[j] * stiffness
    return found


def _less_loads(w: Symmetric, loads: Sequence[Sequence[Any]]) -> Symmetric:
    """Subtract loads, given by their components in the six directions."""
    if not loads:
        return w
    found = Symmetric(w.entries)
    for load, parts in enumerate(loads, start=6):
        for i, part in enumerate(parts):
            found[i, load] = w[i, load] - part
    return found


def less_turning(w: Symmetric, axis: Sequence[Any], inertia: Any) -> Symmetric:
    """Subtract the inertia about an axis, times the square of the frequency."""
    found = Symmetric(w.entries)
    for i, j in TRIANGLE:
        found[3 + i, 3 + j] = w[3 + i, 3 + j] - axis[i] * axis[j] * inertia
    return found


def through_spring(
    w: Symmetric,
    direction: Sequence[Any],
    unit: Any,
    compliance: Any,
    torques: Sequence[Any],
    shaken: Callable[[Symmetric], Symmetric],
) -> tuple[Symmetric, Array]:
    """Add a spring in series along a unit vector of the six directions; returns the stiffness and the pivot.

    ``torques`` are the works of the loads on its deflection. For a soft spring the remaining stiffness along it is a
    difference of large numbers; ``shaken`` perturbs one of them.
    """
    column = [keep(total(w[i, j] * direction[j] for j in range(6))) for i in range(w.size)]
    pivot = keep(nonzero(unit + compliance * total(map(operator.mul, direction, column[:6]))))
    for load, torque in enumerate(torques, start=6):
        column[load] = column[load] - torque
    by = compliance / pivot
    scaled = [by * x for x in column]
    return Symmetric(
        [
            x - scaled[i] * column[j]
            for x, (i, j) in zip(shaken(w).entries, places(w.size), strict=True)
        ]
    ).kept(), pivot
