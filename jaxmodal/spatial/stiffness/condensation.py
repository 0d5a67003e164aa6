"""Condensation of an arm in space from the tip to the base: determinant and Wittrick-Williams count.

As in the plane (`dynamic_stiffness.condensation`), each link is added to the part outboard of it by its free-end
description. Its outer end is released two directions at a time. By the additivity of inertia of E. V. Haynsworth
(Linear Algebra Appl. 1, 1968, 73-81), the negative eigenvalues of the steps add up to those of the whole arm.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
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
from jaxmodal.spatial.stiffness.link_entries import LinkEntries, LoadEntries
from jaxmodal.spatial.stiffness.members import Beams, Members, members
from jaxmodal.spatial.stiffness.rounding import Sizes, rounding_of_link, rounding_of_springs
from jaxmodal.spatial.stiffness.supports import (
    ReducedSupport,
    support_pivots,
    support_pivots_alone,
)
from jaxmodal.spatial.stiffness.symmetric import PLACES, Symmetric, places
from jaxmodal.spatial.stiffness.uniform_links import Layout, UniformLink, unpacked

_ENTRIES = len(PLACES)
#: indices of the mass and of the inertia of the outer body among the numbers of a link
BODY_MASS, BODY_INERTIA = 12, list(range(16, 22))
#: number of lanes up to which NumPy runs the recorded formula of a link in float64; beyond, its registers exceed the
#: caches. With 512 lanes it takes 0.7 of the time of single operations, with 1,024 lanes 1.1
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
    """Return sign, log-modulus of D and the count J at frequencies > 0 in rad/s, shape (trials, cells), by NumPy.

    ``numbers`` are those of each link by `numbers_of`; ``beams`` are the flexible links, None if there is none.
    ``rounding`` is that of `entries.with_link`. ``(-1)**count == sign`` at every frequency.
    """
    sign, log_abs, count = np.ones(omega.shape), np.zeros(omega.shape), np.zeros(omega.shape)
    noise = np.zeros(omega.shape)
    supports = [support for link in links for support in link.supports]
    w = number(np.zeros((len(places(6 + len(supports))), *omega.shape)), arithmetic)
    given = links, numbers, beams, theory, omega, arithmetic, w, links[0]
    for link in _links_added(*given, rounding, len(supports)):
        w, count, noise = link.stiffness, count + link.passed, noise + link.noise
        if link.growth is not None:
            log_abs = log_abs + leading(link.growth)
        for factor in map(leading, link.factors):
            sign, log_abs = sign * np.sign(factor), log_abs + np.log(np.abs(factor))
    for pivot in map(leading, support_pivots(w, supports)):
        sign, log_abs = sign * np.sign(pivot), log_abs + np.log(np.abs(pivot))
        count = count - (pivot < 0.0)
    return Evaluation(sign, log_abs, count.astype(np.int64), ROUNDING * noise)


def supports_give(
    links: Sequence[ReducedLink],
    numbers: Sequence[Number],
    beams: Beams | None,
    theory: Theory,
    omega: np.ndarray,
    arithmetic: Arithmetic,
) -> list[float]:
    """Return the flexibility at each support with the previous ones rigid, relative to that without; one frequency."""
    supports = [support for link in links for support in link.supports]
    w = number(np.zeros((len(places(6 + len(supports))), *omega.shape)), arithmetic)
    given = links, numbers, beams, theory, omega, arithmetic, w, links[0]
    for link in _links_added(*given, 0, len(supports)):
        w = link.stiffness
    pivots = support_pivots(w, supports)
    alone = [support_pivots_alone(w, k, supports) for k in range(len(supports))]
    return [
        float(np.abs(leading(pivot) / leading(size)).ravel()[0]) if leading(size).any() else 0.0
        for pivot, size in zip(pivots, alone, strict=True)
    ]


class Condensed(NamedTuple):
    """Condensed part outboard of a joint: stiffness, (21, trials, cells), and D as factors times exp(growth).

    Both are in the arithmetic of the evaluation; ``growth`` has shape (trials, 1) and is equal for all cells. With
    loads that ride along, of supports, the stiffness is over these as well, and has more entries.
    ``passed`` is the count, ``noise`` that of `Evaluation`.
    """

    stiffness: Number
    factor: Number
    growth: Number
    passed: np.ndarray
    noise: np.ndarray

    @classmethod
    def nothing(cls, trials: int, arithmetic: Arithmetic, loads: int = 0) -> Condensed:
        """Return the empty part beyond the tip."""
        one = number(np.ones((trials, 1)), arithmetic)
        zero = np.zeros((trials, 1))
        stiffness = number(np.zeros((len(places(6 + loads)), trials, 1)), arithmetic)
        return cls(stiffness, one, one * 0.0, zero, zero)

    def on(self, supports: Sequence[ReducedSupport]) -> Condensed:
        """Return the whole arm, condensed with its supports as loads, on these supports."""
        factor, passed = self.factor, self.passed
        for pivot in support_pivots(self.stiffness, supports):
            factor, passed = factor * pivot, passed - (leading(pivot) < 0.0)
        return self._replace(factor=factor, passed=passed)

    def spread(self, trials: np.ndarray, cells: int) -> Condensed:
        """Select some of the trials, and repeat the cells up to a number of cells."""

        def of(x: np.ndarray) -> np.ndarray:
            x = x[..., trials, :]
            return np.tile(x, cells // x.shape[-1])

        wide: Condensed = jax.tree_util.tree_map(of, self)
        return wide._replace(growth=self.growth[trials])

    @classmethod
    def joined(cls, parts: Sequence[Condensed]) -> Condensed:
        """Return several parts with their trials concatenated."""
        found: Condensed = jax.tree_util.tree_map(lambda *x: np.concatenate(x, axis=-2), *parts)
        return found


def condensed(
    links: Sequence[ReducedLink],
    numbers: Sequence[Number],
    beams: Beams | None,
    theory: Theory,
    omega: np.ndarray,
    arithmetic: Arithmetic,
    outboard: Condensed,
    first: ReducedLink,
    loads: int = 0,
) -> Condensed:
    """Add links to the part ``outboard`` of them, at frequencies of shape (trials, 1) or (trials, cells).

    Cells of the links broadcast with those outboard; ``first`` is the first link of the arm. ``loads`` is the number of
    supports of the arm.
    """
    w, factor, growth, passed, noise = outboard
    given = links, numbers, beams, theory, omega, arithmetic, w, first
    for link in _links_added(*given, loads=loads):
        w, passed, noise = link.stiffness, passed + link.passed, noise + ROUNDING * link.noise
        growth = growth if link.growth is None else growth + link.growth
        for each in link.factors:
            factor = factor * each
    return Condensed(w, factor, growth, passed, noise)


class _LinkAdded(NamedTuple):
    """Result of adding a link: resulting stiffness, factors of D and their growth, increase of the count, rounding."""

    stiffness: Number
    factors: list[Number]
    growth: Number | None
    passed: Array
    noise: Array


def _links_added(
    links: Sequence[ReducedLink],
    numbers: Sequence[Number],
    beams: Beams | None,
    theory: Theory,
    omega: np.ndarray,
    arithmetic: Arithmetic,
    w: Number,
    first: ReducedLink,
    rounding: int = 0,
    loads: int = 0,
) -> Iterator[_LinkAdded]:
    """Add links one by one, from the last to the first, to the stiffness ``w`` with a number of ``loads``."""
    size = len(places(6 + loads))
    at = number(omega, arithmetic)
    squared = (at * at)[None]
    flexible = None if beams is None else members(beams, theory, at)
    extended = arithmetic is Arithmetic.double_double
    for link, own in reversed(list(zip(links, numbers, strict=True))):
        inputs, factors, outboard, growth = [squared, own, w], [], w, None
        springs, has_rotor = len(link.springs), link.rotor is not None
        count, noise = np.zeros(omega.shape), np.zeros(omega.shape)
        if flexible is not None and link.place is not None:
            inputs.append(flexible.numbers_of(link.place))
            factors.append(flexible.factor[link.place])
            growth = flexible.growth[link.place]
            count = count + flexible.passed[link.place]
        formula = link_formula(springs, has_rotor, len(inputs) == 4, rounding, extended, loads)
        found = run_stacked(formula, inputs, _RECORDED)
        w, inner, rest = found[:size], leading(found[size : size + 6]), found[size + 6 :]
        pivots = leading(rest[:springs])
        count = count + np.sum(pivots < 0.0, axis=0)
        if len(inputs) == 4:
            ends = leading(rest[springs:])
            releases = Release(*ends.reshape(-1, 3, *ends.shape[1:]))
            count = count + np.sum(releases.passed(), axis=0)
            factors += [rest[springs + k] for k in range(3)]
            if extended and flexible is not None and link.place is not None:
                sizes = _sizes(flexible, link.place, leading(squared)[0], leading(own))
                outer = leading(outboard)[:_ENTRIES]
                noise = noise + rounding_of_link(sizes, outer, releases.lost, inner)
                if link is not first:
                    noise = noise + rounding_of_springs(sizes, outer, inner, pivots)
        factors += [rest[k] for k in range(springs)]
        yield _LinkAdded(w, factors, growth, count, noise)


def _sizes(flexible: Members, place: int, squared: np.ndarray, own: np.ndarray) -> Sizes:
    """Return `Sizes` of one link, from the members and the numbers of `numbers_of`."""
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
    springs: int, has_rotor: bool, flexible: bool, rounding: int, with_terms: bool, loads: int = 0
) -> Callable[..., list[Number]]:
    """Return `with_link` with flat inputs and outputs: the fields of `Added`; those of the releases come last."""

    def formula(squared: Number, *numbers: Number) -> list[Number]:
        left = iter(numbers)
        link = LinkEntries.of(left, springs, has_rotor)
        riding = [LoadEntries.of(left) for _ in range(loads)]
        w = Symmetric([next(left) for _ in places(6 + loads)])
        rest = list(left)
        planes = [FreeEndMember(*rest[plane::2]) for plane in range(2)] if flexible else []
        added = with_link(link, planes, squared, w, rounding, with_terms, riding)
        fields = zip(*added.releases, strict=True)
        by_field = (x for every in fields for x in every if x is not None)
        return [*added.stiffness.entries, *added.inner, *added.pivots, *by_field]

    return formula


#: sign and logarithm of the product of the factors so far, and the count
_Tally = tuple[Array, Array, Array]
#: the entries of the stiffness, and the tally
Lanes = tuple[list[Array], _Tally]


def evaluate_lanes(
    packed: Array,
    layout: Layout,
    theory: Theory,
    omega: Array,
    rounding: Rounding,
) -> Evaluation:
    """Return sign, log-modulus of D and the count J at frequencies > 0 in rad/s, over links of one kind; for programs.

    Parameters
    ----------
    packed : Array, shape (fields, links, ...)
        From `uniform_links.packed_links`; the remaining axes broadcast with ``omega``.
    layout : Layout
        Layout of the fields.
    omega : Array
        Frequencies, of any shape.
    rounding
        As for `entries.with_link`.
    """
    found = condensed_lanes(packed, layout, theory, omega, rounding, beyond_the_tip(omega))
    sign, log_abs, count = found[1]
    return Evaluation(sign, log_abs, count.astype(np.int64), 0.0 * log_abs)


def beyond_the_tip(omega: Array) -> Lanes:
    """Return the empty part beyond the tip."""
    zero, one = xp.zeros_like(omega), xp.ones_like(omega)
    return [zero] * _ENTRIES, (one, zero, zero)


def condensed_lanes(
    packed: Array,
    layout: Layout,
    theory: Theory,
    omega: Array,
    rounding: Rounding,
    outboard: Lanes,
    moved: Array | None = None,
    places: tuple[int, ...] = (),
) -> Lanes:
    """Add the links ``packed``, from the last to the first, to the part ``outboard`` of them; as `evaluate_lanes`.

    ``moved``, (links, places, ...), are fields in the place of those that are packed at these ``places``.
    """
    links = packed.shape[1]
    by_link = xp.swapaxes(packed, 0, 1)

    def step(i: Any, state: Lanes) -> Lanes:
        fields = take_first(by_link, links - 1 - i)
        if moved is not None:
            own = take_first(moved, links - 1 - i)
            fields = [own[places.index(k)] if k in places else x for k, x in enumerate(fields)]
        link = unpacked(fields, layout)
        w, tally = _with_uniform_link(link, theory, omega, Symmetric(state[0]), state[1], rounding)
        return w.entries, tally

    return repeat(0, links, step, outboard, tree_on_host(omega, theory, packed, moved, outboard))


def _with_uniform_link(
    link: UniformLink,
    theory: Theory,
    omega: Array,
    w: Symmetric,
    tally: _Tally,
    rounding: Rounding,
) -> tuple[Symmetric, _Tally]:
    """Add one link; returns the stiffness at the outer end of the elastic part of the previous link."""
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
    """Return the member of one plane; in the second plane torsion takes the place of stretching."""
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
