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
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.dynamic_stiffness.member import (
    FreeEndMember,
    clamped_count,
    free_end_member,
    member_functions,
)
from jaxmodal.runtime.namespace import Array, repeat, take_first, tree_on_host, xp
from jaxmodal.spatial.stiffness.constants import ReducedLink
from jaxmodal.spatial.stiffness.entries import PLACES, LinkEntries, Release, Symmetric, with_link
from jaxmodal.spatial.stiffness.members import Beams, members
from jaxmodal.spatial.stiffness.uniform_links import Layout, UniformLink, unpacked

_ENTRIES = len(PLACES)
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
    turned_round: bool = False,
) -> Evaluation:
    """Sign, log-modulus of D and the count J at frequencies > 0 in rad/s, shape (trials, cells), by NumPy.

    ``numbers`` are those of each link by `numbers_of`, ``beams`` the flexible links, None where there is none.
    ``(-1)**count == sign`` at every frequency.
    ``turned_round`` is that of `entries.with_link`; what depends on it is rounding.
    """
    at = number(omega, arithmetic)
    squared = (at * at)[None]
    w = number(np.zeros((_ENTRIES, *omega.shape)), arithmetic)
    flexible = None if beams is None else members(beams, theory, at)
    sign, log_abs, count = np.ones(omega.shape), np.zeros(omega.shape), np.zeros(omega.shape)
    for link, own in reversed(list(zip(links, numbers, strict=True))):
        inputs, factors = [squared, own, w], []
        springs, has_rotor = len(link.springs), link.rotor is not None
        if flexible is not None and link.place is not None:
            inputs.append(flexible.numbers_of(link.place))
            factors.append(flexible.factor[link.place])
            log_abs = log_abs + flexible.growth[link.place]
            count = count + flexible.passed[link.place]
        formula = _link_formula(springs, has_rotor, len(inputs) == 4, turned_round)
        found = run_stacked(formula, inputs, _RECORDED)
        w, rest = found[:_ENTRIES], leading(found[_ENTRIES:])
        pivots = rest[:springs]
        count = count + np.sum(pivots < 0.0, axis=0)
        if len(inputs) == 4:
            releases = Release(*rest[springs:].reshape(4, 3, *omega.shape))
            count = count + np.sum(releases.passed(), axis=0)
            factors += [*releases.factor]
        for factor in (*factors, *pivots):
            sign, log_abs = sign * np.sign(factor), log_abs + np.log(np.abs(factor))
    return Evaluation(sign, log_abs, count.astype(np.int64), np.zeros_like(sign))


@functools.cache
def _link_formula(
    springs: int, has_rotor: bool, flexible: bool, turned_round: bool
) -> Callable[..., list[Number]]:
    """`with_link` from flat inputs to flat outputs: the stiffness, the pivots, and the fields of all releases."""

    def formula(squared: Number, *numbers: Number) -> list[Number]:
        left = iter(numbers)
        link = LinkEntries.of(left, springs, has_rotor)
        w = Symmetric([next(left) for _ in range(_ENTRIES)])
        rest = list(left)
        planes = [FreeEndMember(*rest[plane::2]) for plane in range(2)] if flexible else []
        w, releases, pivots = with_link(link, planes, squared, w, turned_round)
        return [*w.entries, *pivots, *(x for every in zip(*releases, strict=True) for x in every)]

    return formula


#: sign and logarithm of the factors met so far, and the count
_Tally = tuple[Array, Array, Array]


def evaluate_lanes(
    packed: Array,
    layout: Layout,
    theory: Theory,
    omega: Array,
    turned_round: Array,
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
    turned_round : Array
        As for `entries.with_link`; it may be traced.
    """
    links = packed.shape[1]
    by_link = xp.swapaxes(packed, 0, 1)
    zero, one = xp.zeros_like(omega), xp.ones_like(omega)

    def step(i: Any, state: tuple[list[Array], _Tally]) -> tuple[list[Array], _Tally]:
        link = unpacked(take_first(by_link, links - 1 - i), layout)
        w, tally = _with_uniform_link(
            link, theory, omega, Symmetric(state[0]), state[1], turned_round
        )
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
    turned_round: Array,
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
    w, releases, pivots = with_link(link.entries, members, omega * omega, w, turned_round)
    for release in releases:
        factor, count = factor * release.factor, count + release.passed()
    for pivot in pivots:
        factor, count = factor * pivot, count + (pivot < 0.0).astype(count.dtype)
    sign, log_abs, passed = tally
    return w, (sign * xp.sign(factor), log_abs + (log(xp.abs(factor)) + growth), passed + count)


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
