"""The determinant at one frequency as a trigonometric polynomial in the joint angles: its terms and their coefficients.

A rotation by theta acts on the motion and the forces of a joint with weights -1, 0 and 1, and the three independent
solutions of the outboard chain enter the determinant as a product of three, of weights -2 to 2. So at any fixed
frequency D is *exactly* a trigonometric polynomial of degree 2 in each of theta_2 .. theta_n. The mirror image of an
arm has the same frequencies, which leaves ``(5**(n - 1) + 1)/2`` terms: products of 1, cos, cos 2 (even) and sin, sin 2
(odd) with an even number of odd factors. As many postures determine D at a frequency for all postures.

Supports at tips do not turn with the arm. Those along x and y of the ground are half their sum, alike in all
directions, and half their difference, of weights -2 and 2, so that those of each tip beyond a joint add 2 to its
degree; equal ones, and one that takes the turn of the tip, add nothing. The joint at a rigid base has theirs alone.
"""

from __future__ import annotations

import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.arithmetic.operations import Arithmetic, number
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.condensation import add_terms
from jaxmodal.dynamic_stiffness.link_terms import terms_of_links
from jaxmodal.dynamic_stiffness.stiffness import Stiffness
from jaxmodal.frequencies.resolution import resolved, starting_scale
from jaxmodal.postures.terms import IN_THE_PLANE
from jaxmodal.runtime.devices import available_cores, default_device, is_gpu
from jaxmodal.runtime.namespace import Array, once, repeat, tree_on_host, xp
from jaxmodal.statics.beam_arrays import BeamArrays

#: lanes (frequencies times postures) of one compiled evaluation in double-double, for few and for many
_FEW_LANES, _LANES = 64, 1024
#: frequencies and postures of one compiled evaluation of all postures at all frequencies, on a CPU and on a GPU
_BLOCK, _GPU_BLOCK = (16, 32), (64, 128)
#: lanes that NumPy evaluates for a concrete arm; a compiled program, which takes 1.5 s to compile, pays beyond
_HOST_LANES = 8192
#: the same where there is a GPU: NumPy takes as long for so few as it does for thousands
_GPU_LANES, _GPU_HOST_LANES = 8192, 512
#: lanes of one table from which NumPy shares them out over threads: fewer take nearly as long
_SIDE_BY_SIDE = 2048
#: the stiffness at a joint, and of the links beyond it the product of factors, the sum of growths, and the count
_State = tuple[Stiffness, Array, DoubleDouble, Array]


def num_harmonics(num_links: int) -> int:
    """Number of terms of the series of an arm in the plane: 1, 3, 13, 63, 313 for 1 to 5 links."""
    return IN_THE_PLANE.number(num_links - 1)


def harmonic_names(num_links: int) -> list[str]:
    """Return the name of each term, in the order of `Terms.of`.

    Examples
    --------
    >>> harmonic_names(2)
    ['1', 'cos(theta2)', 'cos(2 theta2)']
    """
    return IN_THE_PLANE.names(range(2, num_links + 1))


def _factors_of(
    beams: BeamArrays, theory: Theory, omega: Array, angles: Array
) -> tuple[Array, DoubleDouble, Array]:
    """D without the growth of the hyperbolic functions, that growth (a logarithm), and J, at lanes (omega, angles).

    ``omega`` of shape (L,), ``angles`` (n - 1, L), or (n, L) with that of link 1; fields of ``beams`` (n,), or (n, L)
    for an arm in each lane. Also omega of shape (F, 1) and angles of (n - 1, 1, L), and fields (n, 1, L) or (n, F, L),
    so that what depends on the frequency alone is computed once for it.
    """
    links = beams.length.shape[0]
    omega = resolved(starting_scale(beams), omega, Arithmetic.double_double)
    turned = angles
    if len(angles) < links:
        first = xp.zeros_like(angles[:1] if links > 1 else omega[None])
        if beams.base_xx is not None or beams.ground_angle is not None:
            # the angle of link 1 turns all against base and ground
            own = beams.joint_angle[0]
            first = first + own.reshape((1,) * (first.ndim - own.ndim) + own.shape)
            angles = xp.broadcast_to(angles, (links - 1, *first.shape[1:])) if links > 1 else angles
        turned = xp.concatenate([first, angles]) if links > 1 else first

    def wide(x: Array) -> Array:
        missing = omega.ndim + 1 - x.ndim
        if missing == 0:
            return x
        return xp.broadcast_to(x.reshape(x.shape + (1,) * missing), (links, *omega.shape))

    lanes = jax.tree_util.tree_map(wide, beams)
    grounded = None if beams.ground_angle is None else xp.cumsum(turned, axis=0)
    lanes = dataclasses.replace(lanes, joint_angle=turned, ground_angle=grounded)
    terms_at = terms_of_links(lanes, theory, omega, Arithmetic.double_double)
    host = tree_on_host(lanes, theory, omega)
    shape = np.broadcast_shapes(omega.shape, turned.shape[1:])
    nothing = xp.broadcast_to(xp.zeros_like(omega), shape)
    zero = number(nothing, Arithmetic.double_double)
    one = xp.ones_like(nothing)

    def step(i: Any, state: _State) -> _State:
        stiffness, factors, growth, passed = state
        terms = terms_at(links - 1 - i)
        if shape != omega.shape and not host:
            terms = once(terms)
        stiffness, share = add_terms(terms, theory, omega, stiffness)
        return stiffness, factors * share.factor, growth + terms.growth, passed + share.passed

    no_growth = number(xp.zeros_like(omega), Arithmetic.double_double)
    start = (Stiffness(*(zero,) * 6), one, no_growth, nothing)
    _, *found = repeat(0, links, step, start, host)
    factors, growth, passed = found
    return factors, growth, passed


_factors = jax.jit(_factors_of)


class Determinant(NamedTuple):
    """``D = factor * exp(growth + rest)`` in double-double, rounded, and ``passed``, the count J; all of shape (F,).

    ``growth + rest`` is a logarithm to twice the digits; it depends on the frequency alone. ``noise`` is that of
    `evaluation.Evaluation`, 0 where nothing says that digits are lost.
    """

    factor: np.ndarray
    growth: np.ndarray
    rest: np.ndarray
    passed: np.ndarray
    noise: np.ndarray


def determinant(
    beams: BeamArrays, theory: Theory, omega: np.ndarray, angles: np.ndarray
) -> Determinant:
    """D and J in double-double.

    Parameters
    ----------
    beams : BeamArrays
        Of one arm, fields of shape (n,), or of an arm for each frequency, (n, F).
    angles : np.ndarray, shape (n - 1, F) or (n, F)
        Joint angles theta_2 .. theta_n, or from theta_1 on, rad, of each.
    """
    gpu = is_gpu(default_device())
    few = omega.size <= (_GPU_HOST_LANES if gpu else _HOST_LANES)
    if few and tree_on_host(beams, theory):
        with np.errstate(all="ignore"):  # a lane may overflow: it says so by what is not finite
            factor, growth, count = _factors_of(beams, theory, omega, angles)
        return Determinant(factor, growth.hi, growth.lo, count, np.zeros_like(count))
    found = []
    size = _LANES if omega.size > 2 * _FEW_LANES else _FEW_LANES
    size = _GPU_LANES if gpu else size
    for start in range(0, omega.size, size):
        at = np.arange(start, min(start + size, omega.size))
        lanes = np.resize(at, size)
        factor, growth, count = _factors(
            of_cells(beams, lanes), theory, jnp.asarray(omega[lanes]), jnp.asarray(angles[:, lanes])
        )
        found.append([np.asarray(x)[: at.size] for x in (factor, growth.hi, growth.lo, count)])
    factor, growth, rest, count = np.concatenate(found, axis=1)
    return Determinant(factor, growth, rest, count, np.zeros_like(count))


def of_cells(beams: BeamArrays, cells: np.ndarray) -> BeamArrays:
    """Some of many arms, fields (n, F); one arm for all, fields (n,), stays as it is."""
    found: BeamArrays = jax.tree_util.tree_map(lambda x: x[:, cells] if x.ndim > 1 else x, beams)
    return found


def exact_values(
    beams: BeamArrays, theory: Theory, omega: np.ndarray, angles: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """D at each ``omega`` (F,) in each of the postures ``angles`` (n - 1, L), but for its growth.

    Fields of ``beams`` (n,), or (n, 1, L) and (n, F, L) for an arm in each posture. Shape (F, L), and growth and rest
    as in `determinant`, (F,).
    """
    shape = (omega.size, angles.shape[1])
    gpu = is_gpu(default_device())
    few = math.prod(shape) <= (_GPU_HOST_LANES if gpu else _HOST_LANES)
    if few and tree_on_host(beams, theory):

        def part(some: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            each = _at_frequencies(beams, some)
            with np.errstate(all="ignore"):
                factor, log, _ = _factors_of(each, theory, omega[some, None], angles[:, None])
            wide = np.broadcast_to(factor, (some.size, angles.shape[1]))
            return wide, log.hi[:, 0], log.lo[:, 0]

        threads = min(-(-math.prod(shape) // _SIDE_BY_SIDE), available_cores())
        with ThreadPoolExecutor(threads) as pool:
            parts = np.array_split(np.arange(omega.size), threads)
            found = zip(*pool.map(part, parts), strict=True)
        factor, growth, rest = map(np.concatenate, found)
        return factor, growth, rest
    factor, growth, rest = np.empty(shape), np.empty(omega.size), np.empty(omega.size)
    rows, columns = _GPU_BLOCK if gpu else _BLOCK
    for first in range(0, shape[0], rows):
        at = np.arange(first, min(first + rows, shape[0]))
        every = _at_frequencies(beams, np.resize(at, rows))
        for start in range(0, shape[1], columns):
            places = np.arange(start, min(start + columns, shape[1]))
            d, log, _ = _block(every, theory, omega[np.resize(at, rows)], angles, places, columns)
            factor[np.ix_(at, places)] = np.asarray(d)[: at.size, : places.size]
        growth[at], rest[at] = (np.asarray(x)[: at.size, 0] for x in (log.hi, log.lo))
    return factor, growth, rest


def _at_frequencies(beams: BeamArrays, some: np.ndarray) -> BeamArrays:
    """Fields (n, F, L) at some of the frequencies; all others, (n, 1, L) and (n,), as they are."""
    found: BeamArrays = jax.tree_util.tree_map(
        lambda x: x[:, some] if x.ndim > 1 and x.shape[1] > 1 else x, beams
    )
    return found


def _block(
    beams: BeamArrays,
    theory: Theory,
    omega: np.ndarray,
    angles: np.ndarray,
    places: np.ndarray,
    columns: int,
) -> tuple[Array, DoubleDouble, Array]:
    """`_factors` at frequencies (F,) and some of the places, compiled for so many; the last ones repeat the first."""
    lanes = np.resize(places, columns)

    def some(x: np.ndarray) -> np.ndarray:
        wide = (len(x), omega.size, columns)
        return np.broadcast_to(x[:, :, lanes], wide) if x.ndim > 1 else x

    block: BeamArrays = jax.tree_util.tree_map(some, beams)
    found: tuple[Array, DoubleDouble, Array] = _factors(
        block, theory, jnp.asarray(omega[:, None]), jnp.asarray(angles[:, None, lanes])
    )
    return found
