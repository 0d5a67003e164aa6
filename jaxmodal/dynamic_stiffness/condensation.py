"""Condensation of the arm from the tip to the base: determinant and Wittrick-Williams count at one frequency.

Each link is added to what is outboard of it by its free-end description (`member`), which keeps all digits at low
frequency where the usual condensation of two-ended stiffness matrices loses them. ``D(omega)``,
the product of the factors of the
links and joints, is the determinant of the paper's characteristic matrix (eq 39) up to known
non-zero factors; ``J(omega)`` is the number of natural frequencies below omega.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np
from jax import Array, lax

from jaxmodal.arithmetic.operations import (
    Kind,
    Number,
    evaluate_formula,
    keep,
    leading,
    log,
    number,
    select,
    sin_cos,
)
from jaxmodal.arm.arrays import BeamArrays
from jaxmodal.dynamic_stiffness.beams import Theory, WaveNumbers, wave_numbers
from jaxmodal.dynamic_stiffness.joints import (
    Attachments,
    attachments,
    rigid_or,
    shifted,
    through_axial_spring,
    through_shear_spring,
    torsional_spring,
    with_body,
)
from jaxmodal.dynamic_stiffness.member import (
    MemberFunctions,
    SymmetryTests,
    clamped_count,
    free_end_member,
    member_functions,
)
from jaxmodal.dynamic_stiffness.stiffness import (
    Receptance,
    Stiffness,
    negative_eigenvalues,
    rotated,
    through_joint,
    through_member,
)
from jaxmodal.runtime.namespace import on_host, repeat, xp


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Determinant and count at one frequency.

    Attributes
    ----------
    sign, log_abs : Array
        Sign (+1, -1) and natural logarithm of the modulus of D(omega).
    count : Array
        J(omega), the number of natural frequencies below omega, int64.
    smallest : Array
        The smallest product of two successive denominators on the way, of order 1 unless omega is close to a resonance
        of a single link or of the outer links alone: there float64 loses digits, about its square.
    """

    sign: Array
    log_abs: Array
    count: Array
    smallest: Array


class Tally(NamedTuple):
    """Running sign, logarithm and count of the factors met so far, and the last factor, 1 at most."""

    sign: Array
    log_abs: Array
    passed: Array
    smallest: Array
    factor: Array

    def times(self, factor: Array, growth: Array, denominator: Array) -> Tally:
        """Multiply by ``factor * exp(growth)``; the previous factor has become a denominator."""
        return Tally(
            sign=self.sign * xp.sign(factor),
            log_abs=self.log_abs + (log(xp.abs(factor)) + growth),
            passed=self.passed,
            smallest=xp.minimum(self.smallest, self.factor * xp.abs(denominator)),
            factor=xp.minimum(xp.abs(factor), 1.0),
        )

    def plus(self, count: Array) -> Tally:
        return self._replace(passed=self.passed + count)


def evaluate(
    beams: BeamArrays, theory: Theory, omega: Array, extended: Kind, num_links: Array | None = None
) -> Evaluation:
    """Sign, log-modulus of D and the count J of one arm at ``omega``.

    Parameters
    ----------
    beams : BeamArrays
        Link values, each of shape (n,) or (n, ...) where ... broadcasts with ``omega``.
    theory : Theory
        Flags of the theory.
    omega : Array
        Angular frequencies > 0 in rad/s, any shape; evaluated elementwise.
    extended : bool
        Double-double arithmetic, or in a kernel ``"registers"``.
    num_links : Array, optional
        Number of links in use when ``beams`` is padded to a longer shape.

    Notes
    -----
    ``(-1)**count == sign`` at every frequency. Zero frequency is no argument: D tends to a
    constant, the members' formulas divide by omega.
    """

    def link_at(i: Array) -> BeamArrays:
        link: BeamArrays = jax.tree_util.tree_map(
            lambda x: x[i] if on_host(x, i) else lax.dynamic_index_in_dim(x, i, keepdims=False),
            beams,
        )
        return link

    most = beams.length.shape[0]
    links = most if num_links is None or most == 1 else num_links
    return evaluate_links(link_at, links, theory, omega, extended)


def evaluate_links(
    link_at: Callable[[Array], BeamArrays],
    links: Array | int,
    theory: Theory,
    omega: Array,
    extended: Kind,
) -> Evaluation:
    """`evaluate` for ``links`` links, of which ``link_at(i)`` is the one at place i from the base."""
    zero = number(xp.zeros_like(omega), extended)
    ones, zeros = xp.ones_like(omega), xp.zeros_like(omega)
    start = (Stiffness(*(zero,) * 6), Tally(ones, zeros, zeros, ones, ones))

    def step(i: Array, state: tuple[Stiffness, Tally]) -> tuple[Stiffness, Tally]:
        return add_link(link_at(links - 1 - i), theory, omega, state[0], state[1], extended)

    if isinstance(links, int) and links == 1:
        _, tally = step(0, start)
    else:
        _, tally = repeat(0, links, step, start, on_host(omega))
    return Evaluation(tally.sign, tally.log_abs, tally.passed.astype(np.int64), tally.smallest)


def log_at_zero(num_links: Array | int) -> Array:
    """Limit of log|D| at zero frequency: every link contributes a factor of 4, every joint 1."""
    return np.float64(math.log(4.0)) * xp.asarray(num_links, np.float64)


class LinkResult(NamedTuple):
    """What adding a link yields: the stiffness seen from the previous link, and the numbers that the tally needs."""

    stiffness: Stiffness
    det: Number
    pivot: Number
    delta: Number
    tests: SymmetryTests
    receptance: Receptance


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


_SPLIT = (
    len(_LinkInputs._fields),
    len(WaveNumbers._fields),
    len(MemberFunctions._fields),
    len(Stiffness._fields),
)


def _link_formula(*numbers: Number) -> list[Number]:
    """Everything about one link that is plain arithmetic, from flat inputs to flat outputs."""
    i, w, f = _SPLIT[0], _SPLIT[0] + _SPLIT[1], sum(_SPLIT[:3])
    link = _LinkInputs(*numbers[:i])
    member, tests = free_end_member(
        WaveNumbers(*numbers[i:w]), MemberFunctions(*numbers[w:f]), link.length, link.axial
    )
    outboard = Stiffness(*numbers[f:])
    omega2 = link.omega * link.omega
    mass, inertia = omega2 * link.tip_mass, omega2 * link.tip_inertia
    tip = outboard._replace(uu=outboard.uu - mass, vv=outboard.vv - mass, pp=outboard.pp - inertia)
    inner, det, receptance = through_member(member, tip)
    inner, pivot = through_joint(inner, link.joint_unit, link.joint_compliance)
    stiffness = rotated(inner, link.sin_angle, link.cos_angle)
    return [*stiffness, det, pivot, member.delta, *tests, *receptance]


@functools.cache
def _formula_with(features: tuple[str, ...]) -> Callable[..., list[Number]]:
    """`_link_formula` for links with features (fields of `Attachments`), whose values follow the other inputs.

    Two more outputs: the pivots of the springs along u and v.
    """

    def formula(*numbers: Number) -> list[Number]:
        i, w, f = _SPLIT[0], _SPLIT[0] + _SPLIT[1], sum(_SPLIT[:3])
        link, waves = _LinkInputs(*numbers[:i]), WaveNumbers(*numbers[i:w])
        more = Attachments(**dict(zip(features, numbers[sum(_SPLIT) :], strict=True)))
        member, tests = free_end_member(
            waves, MemberFunctions(*numbers[w:f]), link.length, link.axial
        )
        omega2, zero, one = link.omega * link.omega, link.omega * 0.0, link.omega * 0.0 + 1.0
        first = (more.tip_moment_x, more.tip_moment_y)
        moments = (zero, zero) if more.tip_moment_x is None else first
        outboard = Stiffness(*numbers[f : sum(_SPLIT)])
        tip = with_body(outboard, omega2, link.tip_mass, link.tip_inertia, *moments)
        if more.end_offset_x is not None:
            tip = shifted(tip, more.end_offset_x, more.end_offset_y)
        inner, det, receptance = through_member(member, tip)
        delta = member.delta
        if more.flexible is not None:
            rotary = (waves.sum_rs - waves.g) * 0.5 * waves.flexural_rigidity
            inner = rigid_or(more.flexible, inner, tip, link.length, waves.mass_term, rotary)
            det, delta = (select(more.flexible, x, one * c) for x, c in ((det, 1.0), (delta, 4.0)))
        if more.base_offset_x is not None:
            inner = shifted(inner, more.base_offset_x, more.base_offset_y)
        if more.hub_mass is not None:
            inner = with_body(inner, omega2, more.hub_mass, more.hub_inertia, zero, zero)
        unit = link.joint_unit
        if more.relative_inertia is not None:
            inner = inner._replace(pp=inner.pp - omega2 * more.driven_inertia)
            unit = unit - omega2 * more.relative_inertia * link.joint_compliance
        inner, pivot = through_joint(inner, unit, link.joint_compliance)
        others = [one, one]
        if more.axial_compliance is not None:
            inner, others[0] = through_axial_spring(inner, more.axial_compliance)
            inner, others[1] = through_shear_spring(inner, more.shear_compliance)
        if more.carried_inertia is not None:
            inner = inner._replace(pp=inner.pp - omega2 * more.carried_inertia)
        stiffness = rotated(inner, link.sin_angle, link.cos_angle)
        return [*stiffness, det, pivot, delta, *tests, *receptance, *others]

    return formula


def _unflatten(values: list[Number]) -> LinkResult:
    k = len(Stiffness._fields)
    t = k + 3 + len(SymmetryTests._fields)
    det, pivot, delta = values[k : k + 3]
    return LinkResult(
        stiffness=Stiffness(*values[:k]),
        det=det,
        pivot=pivot,
        delta=delta,
        tests=SymmetryTests(*values[k + 3 : t]),
        receptance=Receptance(*values[t:]),
    )


def add_link(
    link: BeamArrays,
    theory: Theory,
    omega: Array,
    outboard: Stiffness,
    tally: Tally,
    extended: Kind,
) -> tuple[Stiffness, Tally]:
    """Add one link, its tip body and the joint at its base to the ``outboard`` stiffness (in this link's axes).

    Returns the stiffness that the previous link's tip feels, in the previous link's axes, and the tally.
    """
    w = wave_numbers(link, theory, omega, extended)
    functions, turns = member_functions(w)
    unit, compliance = torsional_spring(link.joint_stiffness)
    ((sine, cosine, _),) = sin_cos(number(xp.abs(link.joint_angle), extended))
    sine = keep(sine * number(xp.where(link.joint_angle < 0.0, -1.0, 1.0), extended))
    cosine = keep(cosine)
    values = (link.length, theory.axial, omega, link.tip_mass, link.tip_inertia, unit, compliance)
    inputs = [*(number(v, extended) for v in values), sine, cosine, *w, *functions, *outboard]
    more = {name: x for name, x in attachments(link)._asdict().items() if x is not None}
    if more:
        extra = [number(x + xp.zeros_like(omega), extended) for x in more.values()]
        numbers = list(evaluate_formula(_formula_with(tuple(more)), [*inputs, *extra]))
        others = [leading(x) for x in numbers[-2:]]
        result = _unflatten(numbers[:-2])
    else:
        result, others = _unflatten(list(evaluate_formula(_link_formula, inputs))), []
    pivot = leading(result.pivot)
    own = clamped_count(result.tests, turns, theory.axial)
    own = own + negative_eigenvalues(result.receptance, theory.axial)
    growth = xp.where(leading(w.z1) > 0.0, leading(w.alpha), 0.0)
    if "flexible" in more:
        own, growth = (xp.where(more["flexible"] > 0.0, x, 0.0) for x in (own, growth))
    pivots = [pivot, *others]
    tally = tally.times(
        leading(result.delta) * leading(result.det) * math.prod(pivots),
        growth,
        leading(result.delta),
    )
    tally = tally.plus(own + sum((p < 0.0).astype(omega.dtype) for p in pivots))
    return result.stiffness, tally
