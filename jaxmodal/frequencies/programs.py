"""Compiled parts of the solvers of one arm: search, count, certificate. Shapes are padded to share compilations."""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.condensation import log_at_zero
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.dynamic_stiffness.rigid_motions import number_of_zero_modes
from jaxmodal.frequencies.certificate import EPS, TOLERANCE, Certificate, confirm
from jaxmodal.frequencies.resolution import evaluate_resolved, starting_scale
from jaxmodal.frequencies.root_search import LARGEST, find_brackets, grid_trials
from jaxmodal.runtime.namespace import Array
from jaxmodal.statics.beam_arrays import BeamArrays

#: relative width to which each mode is enclosed in double-double, and the rounds allowed for it
WIDTH = 4.0 * EPS
MAX_ROUNDS = 300
#: the highest count that is exact: sums of counts are float64
MOST = 2**53


@jax.jit
def padded_beams(beams: BeamArrays, invalid: Array) -> tuple[BeamArrays, Array]:
    """Return beams padded to a bucket of links (never evaluated), and the true number of links.

    Invalid arms are replaced by harmless values.
    """
    links = beams.length.shape[0]
    size = padded_size(links, 4, 4)

    def pad(x: Array) -> Array:
        x = jnp.where(invalid, 1.0, x)
        return jnp.concatenate([x, jnp.broadcast_to(x[-1:], (size - links,))])

    padded = jax.tree_util.tree_map(pad, beams)
    return dataclasses.replace(padded, has_shear=True), jnp.int64(links)


class PaddedProblem(NamedTuple):
    """A search problem: padded beams, mode numbers, and the number of zero frequencies.

    ``modes`` holds the numbers (lanes,) of the ``num_modes`` modes; the last one is repeated as padding. In ``search``,
    modes of zero frequency, which the search cannot find, are replaced by the lowest other mode.
    """

    beams: BeamArrays
    num_links: Array
    modes: Array
    search: Array
    num_modes: Array
    free: Array


@functools.partial(jax.jit, static_argnames="lanes")
def padded_problem(
    beams: BeamArrays, invalid: Array, first: Array | int, num_modes: Array | int, *, lanes: int
) -> PaddedProblem:
    """Return the search problem for modes ``first + 1`` to ``first + num_modes`` of an arm."""
    padded, num_links = padded_beams(beams, invalid)
    modes = first + jnp.minimum(jnp.arange(1, lanes + 1), num_modes)
    free = jnp.where(invalid, 0, number_of_zero_modes(beams))
    search = jnp.maximum(modes, free + 1)
    return PaddedProblem(padded, num_links, modes, search, jnp.asarray(num_modes), free)


def padded_size(size: int, smallest: int, factor: int) -> int:
    """Return the first of ``smallest * factor**k``, k = 0, 1, ..., that is at least ``size``."""
    while smallest < size:
        smallest *= factor
    return smallest


class Solution(NamedTuple):
    """Frequencies in rad/s, whether each was enclosed to `WIDTH`, their certificate, and the number of evaluations."""

    omega: Array
    converged: Array
    certificate: Certificate
    evaluations: Array


@jax.jit
def solve_padded(problem: PaddedProblem, flags: Theory) -> Solution:
    """Return the solution for the modes in ``problem.search``."""
    beams, num_links, modes = problem.beams, problem.num_links, problem.search

    def at(omega: Array) -> Evaluation:
        return evaluate_resolved(beams, flags, omega, Arithmetic.double_double, num_links)

    first = grid_trials(starting_scale(beams), modes.shape[0])
    brackets = find_brackets(at, modes, first, first, log_at_zero(num_links), WIDTH, MAX_ROUNDS)
    omega = lax.cummax(brackets.estimate)
    found = confirm(at, omega, modes, problem.num_modes, jnp.float64(TOLERANCE))
    evaluations = jnp.sum(brackets.evaluations).astype(jnp.int64) + 3 * omega.shape[0]
    omega = jnp.where(brackets.lower < LARGEST, omega, jnp.nan)  # there is no such mode
    return Solution(omega, brackets.converged(WIDTH), found, evaluations)


@jax.jit
def count_padded(beams: BeamArrays, num_links: Array, flags: Theory, omega: Array) -> Array:
    """Return counts below frequencies of shape (chunks, size), chunk by chunk.

    -1 for negative frequencies, and where a count is not exact.
    """

    def count(x: Array) -> Array:
        usable = (x > 0.0) & (x <= LARGEST)
        at = jnp.where(usable, x, 1.0)
        found = evaluate_resolved(beams, flags, at, Arithmetic.double_double, num_links).count
        exact = usable & (found >= 0) & (found <= MOST)
        return jnp.where(exact, found, jnp.where(x == 0.0, 0, -1))

    return lax.map(count, omega)


@jax.jit
def confirm_padded(
    beams: BeamArrays,
    num_links: Array,
    flags: Theory,
    omega: Array,
    modes: Array,
    num_modes: Array,
    tolerance: Array,
) -> Certificate:
    """Return the certificate of a list of frequencies."""
    return confirm(
        lambda x: evaluate_resolved(beams, flags, x, Arithmetic.double_double, num_links),
        omega,
        modes,
        num_modes,
        tolerance,
    )
