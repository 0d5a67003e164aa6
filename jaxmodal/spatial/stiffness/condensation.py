"""Condensation of an arm in space from the tip to the base: determinant and Wittrick-Williams count.

As in the plane (`dynamic_stiffness.condensation`) each link is added to what is outboard of it by its free-end
description. Its outer end is released two directions at a time; by the additivity of inertia of E. V. Haynsworth
(Linear Algebra Appl. 1, 1968, 73-81) the negative eigenvalues of the steps add up to those of the whole.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, Number, leading, log, number
from jaxmodal.arithmetic.wide_programs import run_stacked
from jaxmodal.dynamic_stiffness.beams import Theory, waves_at
from jaxmodal.dynamic_stiffness.condensation import ROUNDING
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.dynamic_stiffness.member import (
    FreeEndMember,
    clamped_count,
    free_end_member,
    member_functions,
)
from jaxmodal.runtime.namespace import Array, repeat, take_first, tree_on_host, xp
from jaxmodal.spatial.stiffness.constants import ReducedLink
from jaxmodal.spatial.stiffness.entries import Release, Rounding, with_link
from jaxmodal.spatial.stiffness.link_entries import LinkEntries
from jaxmodal.spatial.stiffness.members import Beams, Members, members
from jaxmodal.spatial.stiffness.rounding import Sizes, rounding_of_link, rounding_of_springs
from jaxmodal.spatial.stiffness.symmetric import PLACES, Symmetric
from jaxmodal.spatial.stiffness.uniform_links import Layout, UniformLink, unpacked

_ENTRIES, _INNER = len(PLACES), len(PLACES) + 6
#: places of the mass and of the inertia of the outer body among the numbers of a link
BODY_MASS, BODY_INERTIA = 12, list(range(16, 22))
#: lanes up to which NumPy runs the recorded formula of a link in float64: beyond, its registers fill the caches. Of 512
#: lanes it takes 0.7 of the time of operations one by one, of 1,024 1.1
_RECORDED = 768


def evaluate(
    links: Sequence[ReducedLink],
    numbers: Sequence[Number],
    beams: Beams | None,
    theory: Theory,
    omega: np.ndarray,
    arithmetic: Arithmetic,
    rounding: int = 0,
) -> Evaluation:
    """Sign, log-modulus of D and the count J at frequencies > 0 in rad/s, shape (trials, cells), by NumPy.

    ``numbers`` are those of each link by `numbers_of`, ``beams`` the flexible links, None where there is none.
    ``(-1)**count == sign`` at every frequency.
    ``rounding`` is that of `entries.with_link`.
    """
    at = number(omega, arithmetic)
    squared = (at * at)[None]
    w = number(np.zeros((_ENTRIES, *omega.shape)), arithmetic)
    flexible = None if beams is None else members(beams, theory, at)
    sign, log_abs, count = np.ones(omega.shape), np.zeros(omega.shape), np.zeros(omega.shape)
    noise, extended = np.zeros(omega.shape), arithmetic is Arithmetic.double_double
    for link, own in reversed(list(zip(links, numbers, strict=True))):
        inputs, factors, outboard = [squared, own, w], [], w
        springs, has_rotor = len(link.springs), link.rotor is not None
        if flexible is not None and link.place is not None:
            inputs.append(flexible.numbers_of(link.place))
            factors.append(flexible.factor[link.place])
            log_abs = log_abs + flexible.growth[link.place]
            count = count + flexible.passed[link.place]
        formula = link_formula(springs, has_rotor, len(inputs) == 4, rounding, extended)
        found = run_stacked(formula, inputs, _RECORDED)
        w, inner, rest = found[:_ENTRIES], leading(found[_ENTRIES:_INNER]), leading(found[_INNER:])
        pivots = rest[:springs]
        count = count + np.sum(pivots < 0.0, axis=0)
        if len(inputs) == 4:
            releases = Release(*rest[springs:].reshape(-1, 3, *omega.shape))
            count = count + np.sum(releases.passed(), axis=0)
            factors += [*releases.factor]
            if extended and flexible is not None and link.place is not None:
                sizes = _sizes(flexible, link.place, leading(squared)[0], leading(own))
                outer = leading(outboard)
                noise = noise + rounding_of_link(sizes, outer, releases.lost, inner)
                if link is not links[0]:
                    noise = noise + rounding_of_springs(sizes, outer, inner, pivots)
        for factor in (*factors, *pivots):
            sign, log_abs = sign * np.sign(factor), log_abs + np.log(np.abs(factor))
    return Evaluation(sign, log_abs, count.astype(np.int64), ROUNDING * noise)


def _sizes(flexible: Members, place: int, squared: np.ndarray, own: np.ndarray) -> Sizes:
    """Of one link, from the members and the numbers of `numbers_of`."""
    m = FreeEndMember(*leading(flexible.numbers[:, :, place]))
    return Sizes(
        squared,
        flexible.mass_term[place],
        flexible.length[place],
        own[BODY_MASS],
        own[BODY_INERTIA],
        m.delta,
        m.r_vv,
        m.r_pp,
        flexible.waved[:, place],
    )


@functools.cache
def link_formula(
    springs: int, has_rotor: bool, flexible: bool, rounding: int, with_terms: bool
) -> Callable[..., list[Number]]:
    """`with_link` from flat inputs to flat outputs: the fields of `Added`, of the releases field by field, last."""

    def formula(squared: Number, *numbers: Number) -> list[Number]:
        left = iter(numbers)
        link = LinkEntries.of(left, springs, has_rotor)
        w = Symmetric([next(left) for _ in range(_ENTRIES)])
        rest = list(left)
        planes = [FreeEndMember(*rest[plane::2]) for plane in range(2)] if flexible else []
        added = with_link(link, planes, squared, w, rounding, with_terms)
        fields = zip(*added.releases, strict=True)
        by_field = (x for every in fields for x in every if x is not None)
        return [*added.stiffness.entries, *added.inner, *added.pivots, *by_field]

    return formula


#: sign and logarithm of the factors met so far, and the count
_Tally = tuple[Array, Array, Array]


def evaluate_lanes(
    packed: Array,
    layout: Layout,
    theory: Theory,
    omega: Array,
    rounding: Rounding,
) -> Evaluation:
    """Sign, log-modulus of D and the count J at frequencies > 0 in rad/s, over links of one kind: for programs.

    Parameters
    ----------
    packed : Array, shape (fields, links, ...)
        From `uniform_links.packed_links`; what follows broadcasts with ``omega``.
    layout : Layout
        What the fields are.
    omega : Array
        Any shape.
    rounding
        As for `entries.with_link`.
    """
    links = packed.shape[1]
    by_link = xp.swapaxes(packed, 0, 1)
    zero, one = xp.zeros_like(omega), xp.ones_like(omega)

    def step(i: Any, state: tuple[list[Array], _Tally]) -> tuple[list[Array], _Tally]:
        link = unpacked(take_first(by_link, links - 1 - i), layout)
        w, tally = _with_uniform_link(link, theory, omega, Symmetric(state[0]), state[1], rounding)
        return w.entries, tally

    start = ([zero] * 21, (one, zero, zero))
    _, tally = repeat(0, links, step, start, tree_on_host(omega, theory, packed))
    sign, log_abs, count = tally
    return Evaluation(sign, log_abs, count.astype(np.int64), zero)


def _with_uniform_link(
    link: UniformLink,
    theory: Theory,
    omega: Array,
    w: Symmetric,
    tally: _Tally,
    rounding: Rounding,
) -> tuple[Symmetric, _Tally]:
    """One link added; what the link before feels at the outer end of its elastic part."""
    planes = [_plane(link, k, theory, omega) for k in range(2)]
    members = [plane.member for plane in planes]
    count = planes[0].count + planes[1].count
    growth = planes[0].growth + planes[1].growth
    factor = members[0].delta * members[1].delta
    if link.flexible is not None:
        flexible = link.flexible > 0.0
        members = [_rigid_unless(flexible, m) for m in members]
        count, growth = xp.where(flexible, count, 0.0), xp.where(flexible, growth, 0.0)
        factor = xp.where(flexible, factor, 1.0)
    added = with_link(link.entries, members, omega * omega, w, rounding)
    for release in added.releases:
        factor, count = factor * release.factor, count + release.passed()
    for pivot in added.pivots:
        factor, count = factor * pivot, count + (pivot < 0.0).astype(count.dtype)
    sign, log_abs, passed = tally
    return added.stiffness, (
        sign * xp.sign(factor),
        log_abs + (log(xp.abs(factor)) + growth),
        passed + count,
    )


class _Plane(NamedTuple):
    member: FreeEndMember
    count: Array
    growth: Array


def _plane(link: UniformLink, number: int, theory: Theory, omega: Array) -> _Plane:
    """The member of one plane; in the second torsion takes the place of stretching."""
    w = waves_at(link.planes[number], omega)
    functions, turns = member_functions(w)
    axial = theory.axial if number == 0 else xp.ones_like(theory.axial)
    member, tests = free_end_member(w, functions, link.length, axial)
    growth = xp.where(w.z1 > 0.0, w.alpha, 0.0)
    return _Plane(member, clamped_count(tests, turns, axial), growth)


def _rigid_unless(flexible: Array, m: FreeEndMember) -> FreeEndMember:
    one = {"h_uu", "h_vv", "h_pp", "delta"}
    return FreeEndMember(
        **{
            name: xp.where(flexible, x, 1.0 if name in one else 0.0)
            for name, x in m._asdict().items()
        }
    )
