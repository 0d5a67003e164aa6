"""Contribution of one link to the condensation: its terms at a frequency, and the formula that adds it.

The terms (wave numbers and their functions) do not depend on the outboard part. The formula is plain arithmetic, which
is recorded for evaluation in double-double.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.arithmetic.operations import (
    Arithmetic,
    Number,
    absolute,
    evaluate_formula,
    leading,
    number,
    select,
)
from jaxmodal.arithmetic.wide_programs import Begun
from jaxmodal.dynamic_stiffness.beams import (
    Theory,
    WaveNumbers,
    waves_at,
)
from jaxmodal.dynamic_stiffness.foundation import shaken_base, with_base
from jaxmodal.dynamic_stiffness.joints import (
    Attachments,
    rigid_or,
    shifted,
    through_axial_spring,
    through_shear_spring,
    with_body,
)
from jaxmodal.dynamic_stiffness.link_constants import (
    GROUND,
    LinkConstants,
    features_of,
    fixed_of,
    link_constants,
)
from jaxmodal.dynamic_stiffness.member import (
    FunctionTurns,
    MemberFunctions,
    SymmetryTests,
    free_end_member,
    member_functions,
)
from jaxmodal.dynamic_stiffness.preload import member_waves
from jaxmodal.dynamic_stiffness.stiffness import (
    Receptance,
    Sizes,
    Stiffness,
    condensed,
    lost,
    receptance_of,
    rotated,
    rounding,
    rounding_of,
    rounding_of_shift,
    rounding_of_waves,
    sizes_of,
    through_joint,
)
from jaxmodal.dynamic_stiffness.supports import (
    directions,
    where_not_held,
    with_springs,
    with_supports,
)
from jaxmodal.runtime.namespace import Array, is_complex, take_first, tree_on_host, xp
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.link_parts import Body

#: what follows the features of a link under an axial force, see `preload`
_LEVER = "lever"


class LinkResult(NamedTuple):
    """Result of adding a link: the stiffness at the previous link, and the numbers for the tally."""

    stiffness: Stiffness
    det: Number
    delta: Number
    tests: SymmetryTests
    receptance: Receptance
    #: of the springs of the joint, each a mode where negative: torsional, and where it has them along u and v
    pivots: list[Number]
    #: of links with supports: their pivots, each a mode less where negative
    supports: list[Number]
    #: what is rounded in the stiffness handed on (`stiffness.rounding`), 0 of complex numbers
    noise: Number
    #: what the stiffness at the tip brings, from outboard, and what functions of small wave numbers lose
    tip_noise: Number
    #: what is rounded in the pivots of the joint and in the determinant of the base, over these: in roundings
    shaken: Number
    #: of links with an elastic base: the signs that count there
    base: Receptance | None


class _LinkInputs(NamedTuple):
    length: Number
    axial: Number
    omega: Number
    tip_mass: Number
    tip_inertia: Number
    joint_unit: Number
    joint_compliance: Number
    sin_angle: Number
    cos_angle: Number


def _inputs(
    numbers: Sequence[Number],
) -> tuple[_LinkInputs, WaveNumbers, MemberFunctions, Stiffness, Sequence[Number]]:
    """Return the flat inputs of a formula of one link in groups, followed by the values of its features."""
    left = iter(numbers)

    def first(group: Any) -> list[Number]:
        return list(itertools.islice(left, len(group._fields)))

    return (
        _LinkInputs(*first(_LinkInputs)),
        WaveNumbers(*first(WaveNumbers)),
        MemberFunctions(*first(MemberFunctions)),
        Stiffness(*first(Stiffness)),
        list(left),
    )


@functools.cache
def formula_of(features: tuple[str, ...]) -> Callable[..., list[Number]]:
    """Return the arithmetic of one link as a function from flat inputs to flat outputs.

    The ``features`` (fields of `Attachments`, the angle to the ground, the lever) follow the other inputs. Absent
    features are not computed.
    """
    supported, loaded = GROUND[0] in features, _LEVER in features

    def formula(*numbers: Number) -> list[Number]:
        link, waves, functions, outboard, rest = _inputs(numbers)
        given = dict(zip(features, rest, strict=True))
        turn = [given.pop(name) for name in GROUND] if supported else []
        lever = given.pop(_LEVER) if loaded else link.length
        more = Attachments(given)
        member, tests = free_end_member(waves, functions, lever, link.axial, loaded)
        omega2 = link.omega * link.omega
        body = Body(link.tip_mass, link.tip_inertia, more.tip_moment_x, more.tip_moment_y)
        tip = with_body(outboard, omega2, body)
        if more.end_turning_stiffness is not None:
            tip = tip._replace(pp=tip.pp + more.end_turning_stiffness)
        if supported:
            laws = [
                (more.support_x_unit, more.support_x_spring),
                (more.support_y_unit, more.support_y_spring),
                (more.support_turn_unit, more.support_turn_spring),
            ]
            tip = where_not_held(tip, turn[0], turn[1], [unit for unit, _ in laws])
        noise = tip_noise = shaken = link.omega * 0.0
        real, sizes = not is_complex(link.omega), (waves.mass_term, link.length)
        if real:
            waved = waves.beta * waves.beta
            tip_noise = rounding_of(outboard, *sizes) + rounding_of_waves(waved)
            if more.foundation_xx is not None:
                tip_noise = tip_noise + waved * rounding_of(outboard, *sizes)
            if loaded:  # near buckling a link is soft beside the forces that it bears
                bent = absolute(member.f_vv) + absolute(member.f_pp) / (link.length * link.length)
                tip_noise = tip_noise + bent / waves.mass_term
        if more.end_offset is not None:
            if real:
                tip_noise = tip_noise + rounding_of_shift(tip, *more.end_offset, *sizes)
            tip = shifted(tip, *more.end_offset)
            if real:  # what levers make stiff in one direction hides the others, the more the shorter the waves
                tip_noise = tip_noise + waved * rounding_of(tip, *sizes)
        inner, q, a, det, by_det = condensed(member, tip)
        receptance, delta = receptance_of(member, q, a.uu, det), member.delta
        if real:
            grown, terms = lost(member, tip, q, a, by_det), sizes_of(member, inner)
            noise = rounding(member, grown)
        held: list[Number] = []
        if supported:
            along = directions(turn[0], turn[1], *(more.end_offset or (None, None)))
            inner, held = with_supports(inner, member, tip, along, laws)
            tip = with_springs(tip, along, laws) if more.flexible is not None else tip
        if more.flexible is not None:
            one = link.omega * 0.0 + 1.0
            held = [select(more.flexible, x, one) for x in held]
            rotary = (waves.sum_rs - waves.g) * 0.5 * waves.flexural_rigidity
            inner = rigid_or(more.flexible, inner, tip, link.length, waves.mass_term, rotary)
            det, delta = (select(more.flexible, x, one * c) for x, c in ((det, 1.0), (delta, 4.0)))
            noise, tip_noise = (select(more.flexible, x, one) for x in (noise, tip_noise))
            if real:
                plain = Sizes(absolute(inner.uu), absolute(inner.vv), absolute(inner.pp))
                grown = select(more.flexible, grown, one)
                terms = Sizes(*(select(more.flexible, *x) for x in zip(terms, plain, strict=True)))
        if more.base_offset is not None:
            if real:
                noise = noise + rounding_of_shift(inner, *more.base_offset, *sizes)
                terms = terms.shifted(*more.base_offset)
            inner = shifted(inner, *more.base_offset)
        if more.base_turning_stiffness is not None:
            inner = inner._replace(pp=inner.pp + more.base_turning_stiffness)
        if more.hub is not None:
            inner = with_body(inner, omega2, more.hub)
        unit = link.joint_unit
        if more.relative_inertia is not None:
            inner = inner._replace(pp=inner.pp - omega2 * more.driven_inertia)
            unit = unit - omega2 * more.relative_inertia * link.joint_compliance
        inner, *pivots = through_joint(inner, unit, link.joint_compliance)
        if real:
            shaken = link.joint_compliance * terms.p / absolute(pivots[0])
        if more.axial_compliance is not None:
            inner, along_u = through_axial_spring(inner, more.axial_unit, more.axial_compliance)
            inner, along_v = through_shear_spring(inner, more.shear_unit, more.shear_compliance)
            pivots += [along_u, along_v]
            if real:
                shaken = shaken + more.axial_compliance * terms.u / absolute(along_u)
                shaken = shaken + more.shear_compliance * terms.v / absolute(along_v)
        if more.carried_inertia is not None:
            inner = inner._replace(pp=inner.pp - omega2 * more.carried_inertia)
        stiffness = rotated(inner, link.sin_angle, link.cos_angle)
        base = None if more.foundation_xx is None else with_base(stiffness, more)
        if base is not None and real:
            shaken = shaken + shaken_base(base, more, terms)
        return [
            *stiffness,
            det,
            delta,
            *tests,
            *receptance,
            *pivots,
            *held,
            noise,
            tip_noise,
            shaken * grown if real else shaken,
            *(base or ()),
        ]

    return formula


def link_result(values: Sequence[Number], features: Container[str]) -> LinkResult:
    """Return the outputs of `formula_of` these features as a `LinkResult`."""
    left = iter(values)

    def first(number: int) -> list[Number]:
        return list(itertools.islice(left, number))

    stiffness, (det, delta) = Stiffness(*first(len(Stiffness._fields))), first(2)
    tests = SymmetryTests(*first(len(SymmetryTests._fields)))
    receptance = Receptance(*first(len(Receptance._fields)))
    pivots = first(3 if "axial_compliance" in features else 1)
    supports = first(3 if GROUND[0] in features else 0)
    noise, tip_noise, shaken = first(3)
    base = list(left)
    of_base = Receptance(*base) if base else None
    return LinkResult(
        stiffness,
        det,
        delta,
        tests,
        receptance,
        pivots,
        supports,
        noise,
        tip_noise,
        shaken,
        of_base,
    )


class LinkTerms(NamedTuple):
    """Terms of a link that do not depend on the outboard part.

    ``numbers`` are the arguments of `formula_of` except the outboard stiffness, ``features`` those that follow it, by
    their names in `Attachments`; ``growth`` is the logarithm of the divisor of the hyperbolic functions.
    """

    numbers: list[Number]
    features: dict[str, Number]
    turns: FunctionTurns
    growth: Number
    #: where ``numbers`` are used already, the flat outputs of the formula for an outboard stiffness
    added: Callable[[Stiffness], list[Number]] | None = None


def link_terms(
    link: BeamArrays | LinkConstants, theory: Theory, omega: Array, arithmetic: Arithmetic
) -> LinkTerms:
    """Return wave numbers and functions of one link, its tip body and the joint at its base.

    `LinkConstants` must be in this arithmetic or, for registers, in float64.
    """
    nothing = xp.zeros_like(omega)
    flag, at = number(theory.axial, arithmetic), number(omega, arithmetic)
    if isinstance(link, LinkConstants):
        known: LinkConstants = link
        if arithmetic is Arithmetic.registers:
            known = jax.tree_util.tree_map(lambda x: number(x, arithmetic), link)
        w, fixed, features = waves_at(known.member, at), known.fixed, dict(known.features)
    else:
        w, lever, shear_share = member_waves(link, theory, omega, arithmetic)
        fixed, features = fixed_of(link, arithmetic), features_of(link, arithmetic, nothing)
        if shear_share is not None:
            features[_LEVER] = lever
    functions, turns = member_functions(w)
    length, *others = fixed
    return LinkTerms(
        numbers=[length, flag, at, *others, *w, *functions],
        features=features,
        turns=turns,
        growth=select(w.z1, w.alpha, number(nothing, arithmetic)),
    )


def terms_of_links(
    beams: BeamArrays | LinkConstants, theory: Theory, omega: Array, arithmetic: Arithmetic
) -> Callable[[Any], LinkTerms]:
    """Return a function that gives the terms of the link at a place from the base.

    On the host, the terms of all links are computed at once. For the compiler, one link is the smaller program.
    """
    if not tree_on_host(beams, theory, omega):
        return lambda i: link_terms(take_first(beams, i), theory, omega, arithmetic)
    return links_on_host(beams, theory, omega, arithmetic).at


class LinksOnHost(NamedTuple):
    """Terms of all NumPy links at once, in a few calls whatever their number.

    All numbers of ``terms`` have the links first. ``begun`` is the formula of the links up to their outboard stiffness.
    """

    terms: LinkTerms
    begun: Begun | None

    def at(self, i: int) -> LinkTerms:
        """Return the terms of one link."""
        terms, begun = self.terms, self.begun
        return LinkTerms(
            numbers=[] if begun else [x[i] for x in terms.numbers],
            features={name: x[i] for name, x in terms.features.items()},
            turns=FunctionTurns(*(x[i] for x in terms.turns)),
            growth=terms.growth[i],
            added=functools.partial(_added, begun, i) if begun else None,
        )


def _added(begun: Begun, i: int, outboard: Stiffness) -> list[Number]:
    begun.go_on(i, outboard)
    return begun.outputs(i)


def links_on_host(
    beams: BeamArrays | LinkConstants, theory: Theory, omega: Array, arithmetic: Arithmetic
) -> LinksOnHost:
    """Return the terms of all links."""
    if isinstance(beams, BeamArrays):
        beams = link_constants(beams, theory, arithmetic)
    shape = (beams.length.shape[0], *np.shape(omega))

    def wide(x: Array) -> Array:
        # joint angles may vary along axes where the frequencies do not
        return x.reshape(x.shape + (1,) * (len(shape) - x.ndim))

    every = jax.tree_util.tree_map(wide, beams)
    flags = Theory(*(np.full(every.length.shape, x) for x in dataclasses.astuple(theory)))
    terms = link_terms(every, flags, np.broadcast_to(omega, shape), arithmetic)
    return LinksOnHost(terms, _begun(terms, shape, _AT_ONCE[arithmetic]))


#: lanes of all links together of which what does not need the outboard stiffness is computed at once: beyond, the
#: registers of the formula (some hundred for each lane) fill the caches
_AT_ONCE = {Arithmetic.float64: 256, Arithmetic.double_double: 4096}


def _begun(terms: LinkTerms, shape: tuple[int, ...], most: int) -> Begun | None:
    """Return the formula of the links up to their outboard stiffness, for few lanes and real numbers."""
    inputs = [*terms.numbers, *[None] * len(Stiffness._fields), *terms.features.values()]
    known = [leading(x) for x in inputs if x is not None]
    # angles may vary where frequencies do not: they enter last
    others = [x for i, x in enumerate(known) if i not in _TURNS]
    shape = np.broadcast_shapes(shape, *(x.shape for x in others))
    if math.prod(shape) > most or any(is_complex(x) for x in known):
        return None
    return Begun(formula_of(tuple(terms.features)), inputs, shape)


#: places of the functions of the joint angle among the inputs
_TURNS = tuple(_LinkInputs._fields.index(name) for name in ("sin_angle", "cos_angle"))


def all_added(links: LinksOnHost, begun: Begun, outboard: Stiffness) -> LinkResult:
    """Add all links, from the tip to the base; the results have the links first."""
    last = len(Stiffness._fields)
    for i in reversed(range(leading(links.terms.growth).shape[0])):
        begun.go_on(i, outboard)
        outboard = Stiffness(*begun.outputs(i, 0, last))
    return link_result(begun.outputs(), links.terms.features)


def with_outboard(terms: LinkTerms, outboard: Stiffness) -> LinkResult:
    """Add the link to the ``outboard`` stiffness, which is in this link's axes."""
    if terms.added is not None:
        values: Sequence[Number] = terms.added(outboard)
    else:
        inputs = [*terms.numbers, *outboard, *terms.features.values()]
        values = evaluate_formula(formula_of(tuple(terms.features)), inputs)
    return link_result(values, terms.features)
