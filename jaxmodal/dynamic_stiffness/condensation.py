"""Condensation of the arm from the tip to the base: determinant and Wittrick-Williams count at one frequency.

Each link is added to the outboard part by its free-end description (`member`), which keeps all digits at low frequency,
where the usual condensation of two-ended stiffness matrices loses them. ``D(omega)``, the product of the factors of the
links and joints, is the determinant of the paper's characteristic matrix (eq 39) up to known non-zero factors;
``J(omega)`` is the number of natural frequencies below omega.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, leading, log, number
from jaxmodal.arithmetic.wide_programs import Begun
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.dynamic_stiffness.link_constants import LinkConstants
from jaxmodal.dynamic_stiffness.link_terms import (
    LinkResult,
    LinksOnHost,
    LinkTerms,
    all_added,
    link_terms,
    links_on_host,
    terms_of_links,
    with_outboard,
)
from jaxmodal.dynamic_stiffness.member import clamped_count
from jaxmodal.dynamic_stiffness.stiffness import Stiffness, negative_eigenvalues
from jaxmodal.runtime.namespace import Array, repeat, tree_on_host, xp
from jaxmodal.statics.beam_arrays import BeamArrays

#: one rounding of a double-double, in units of one of float64
ROUNDING = 2.0**-52
#: the determinant of the link at the base is zero at the mode where more cancels in it than this
_NEAR = 1e3


class Share(NamedTuple):
    """Contribution of a link to D and the count: ``factor * exp(growth)``, modes passed below omega, rounding errors.

    ``noise`` is the rounding in the stiffness handed on, ``tip_noise`` that in the stiffness received, ``shaken`` that
    in the factor by its joint.
    """

    factor: Array
    growth: Array
    passed: Array
    noise: Array
    tip_noise: Array
    shaken: Array

    @property
    def log_abs(self) -> Array:
        """Logarithm of the modulus of the contribution to D."""
        return log(xp.abs(self.factor)) + self.growth


class Tally(NamedTuple):
    """Running sign, logarithm and count of the factors so far, with rounding errors.

    ``last`` is the rounding in the stiffness that the last link hands on, ``shaken`` that in the factor of its joint.
    """

    sign: Array
    log_abs: Array
    passed: Array
    noise: Array
    last: Array
    shaken: Array

    def times(self, share: Share, log_abs: Array | None = None) -> Tally:
        """Return the tally with the share of one more link, of which the logarithm may be known."""
        return Tally(
            sign=self.sign * xp.sign(share.factor),
            log_abs=self.log_abs + (share.log_abs if log_abs is None else log_abs),
            passed=self.passed + share.passed,
            noise=self.noise + (self.last + share.tip_noise),
            last=share.noise,
            shaken=share.shaken,
        )


def evaluate(
    beams: BeamArrays | LinkConstants,
    theory: Theory,
    omega: Array,
    arithmetic: Arithmetic,
    num_links: Array | None = None,
) -> Evaluation:
    """Return the sign and log-modulus of D and the count J of one arm at ``omega``.

    Parameters
    ----------
    beams : BeamArrays
        Link values, each of shape (n,) or (n, ...) where ... broadcasts with ``omega``; or their `LinkConstants` in
        this arithmetic, to share them among many frequencies.
    omega : Array
        Angular frequencies > 0 in rad/s, any shape; evaluated elementwise.
    num_links : Array, optional
        Number of links in use when ``beams`` is padded to a longer shape.

    Notes
    -----
    ``(-1)**count == sign`` at every frequency. Zero frequency is not allowed: D tends to a
    constant, but the members' formulas divide by omega.
    """
    most, *cells = beams.length.shape
    if cells and not xp.shape(omega):  # results have the shape of the cells
        omega = xp.broadcast_to(omega, cells)
    links = most if num_links is None or most == 1 else num_links
    if isinstance(links, int) and tree_on_host(beams, theory, omega):
        every = links_on_host(beams, theory, omega, arithmetic)
        if every.begun is not None and links == most:
            return _condensed_at_once(every, every.begun, theory, omega, arithmetic)
        return _condensed(every.at, links, theory, omega, arithmetic)
    return _condensed(
        terms_of_links(beams, theory, omega, arithmetic), links, theory, omega, arithmetic
    )


def evaluate_links(
    link_at: Callable[[Array], BeamArrays | LinkConstants],
    links: Array | int,
    theory: Theory,
    omega: Array,
    arithmetic: Arithmetic,
) -> Evaluation:
    """Return `evaluate` for ``links`` links; ``link_at(i)`` is the link at place i from the base."""

    def terms_at(i: Any) -> LinkTerms:
        return link_terms(link_at(i), theory, omega, arithmetic)

    return _condensed(terms_at, links, theory, omega, arithmetic)


def _condensed(
    terms_at: Callable[[Any], LinkTerms],
    links: Array | int,
    theory: Theory,
    omega: Array,
    arithmetic: Arithmetic,
) -> Evaluation:
    """Add all links, from the tip to the base."""
    start = _free_tip(omega, arithmetic), _empty_tally(omega)

    def step(i: Any, state: tuple[Stiffness, Tally]) -> tuple[Stiffness, Tally]:
        stiffness, share = add_terms(terms_at(links - 1 - i), theory, omega, state[0])
        return stiffness, state[1].times(share)

    if isinstance(links, int) and links == 1:
        _, tally = step(0, start)
    else:
        _, tally = repeat(0, links, step, start, tree_on_host(omega, theory))
    return _evaluation(tally, arithmetic)


def _free_tip(omega: Array, arithmetic: Arithmetic) -> Stiffness:
    return Stiffness(*(number(xp.zeros_like(omega), arithmetic),) * 6)


def _empty_tally(omega: Array) -> Tally:
    ones, zeros = xp.ones_like(omega), xp.zeros_like(omega)
    return Tally(ones, zeros, zeros, zeros, zeros, zeros)


def _evaluation(tally: Tally, arithmetic: Arithmetic) -> Evaluation:
    count, noise = tally.passed.astype(np.int64), noise_of(tally, arithmetic)
    return Evaluation(tally.sign, tally.log_abs, count, noise)


def noise_of(tally: Tally, arithmetic: Arithmetic) -> Array:
    """Return `Evaluation.noise` of the links so far.

    Cancellation in the determinant of the link at the base, where that is zero at the mode, changes only its sign: in
    proportion to it over the distance to the mode, which is that at which searches put the ends of enclosures. The same
    holds for cancellation in the pivots of springs at the base.
    """
    extended = arithmetic is Arithmetic.double_double
    end = 1e-12 if extended else 1e-8
    found = tally.noise + xp.where(tally.last > _NEAR, end * tally.last, tally.last)
    found = found + end * tally.shaken
    return ROUNDING * found if extended else found


def _condensed_at_once(
    links: LinksOnHost, begun: Begun, theory: Theory, omega: np.ndarray, arithmetic: Arithmetic
) -> Evaluation:
    """Return `_condensed` on the host; only the stiffness that is handed on is computed link by link."""
    result = all_added(links, begun, _free_tip(omega, arithmetic))
    shares, tally = share_of(result, links.terms, theory, omega), _empty_tally(omega)
    logs = shares.log_abs
    for i in reversed(range(shares.growth.shape[0])):
        tally = tally.times(Share(*(x[i] for x in shares)), logs[i])
    return _evaluation(tally, arithmetic)


#: limit of log|D| at zero frequency for each link: it contributes a factor of 4, its joint 1
LOG_AT_ZERO = math.log(4.0)


def log_at_zero(num_links: Array | int) -> Array:
    """Return the limit of log|D| at zero frequency, as a JAX array."""
    return np.float64(LOG_AT_ZERO) * xp.asarray(num_links, np.float64)


def add_terms(
    terms: LinkTerms, theory: Theory, omega: Array, outboard: Stiffness
) -> tuple[Stiffness, Share]:
    """Add a link, its tip body and the joint at its base to the ``outboard`` stiffness (in this link's axes).

    Returns the stiffness at the previous link's tip, in the previous link's axes, and the share of this link.
    """
    result = with_outboard(terms, outboard)
    return result.stiffness, share_of(result, terms, theory, omega)


def share_of(result: LinkResult, terms: LinkTerms, theory: Theory, omega: Array) -> Share:
    """Return the contribution of a link to the determinant and the count from its results."""
    growth = leading(terms.growth)
    own = clamped_count(result.tests, terms.turns, theory.axial)
    own = own + negative_eigenvalues(result.receptance, theory.axial)
    if "flexible" in terms.features:
        flexible = leading(terms.features["flexible"]) > 0.0
        own, growth = (xp.where(flexible, x, 0.0) for x in (own, growth))
    pivots = [leading(x) for x in result.pivots]
    held = [leading(x) for x in result.supports]
    at_base = []
    if result.base is not None:
        at_base = [leading(result.base.det_full)]
        own = own + negative_eigenvalues(result.base, xp.ones_like(omega))
    passed = own + sum((p < 0.0).astype(omega.dtype) for p in pivots)
    if held:
        passed = passed - sum((p < 0.0).astype(omega.dtype) for p in held)
    factor = leading(result.delta) * leading(result.det) * math.prod(pivots + held + at_base)
    rounded = (leading(x) for x in (result.noise, result.tip_noise, result.shaken))
    return Share(factor, growth, passed, *rounded)
