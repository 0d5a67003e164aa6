"""The passes of `work` over all modes of a block of cells, as programs whose arrays stay on the device.

The rules of acceptance are the same: six float64 evaluations of each mode, more for modes that are not proven or are
doubtful, and double-double for modes with too much rounding noise. Each pass gathers its modes in blocks.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmodal.batches.acceptance import (
    CLOSE,
    CROWDED,
    KNOWN,
    accepted,
    clear,
    corrected,
    distance_to_nearest,
    doubtful,
    enclosed,
    estimated_again,
    first_half_width,
    proven,
    stated,
    worth_refining,
)
from jaxmodal.batches.guided_search import HALVINGS, Purpose
from jaxmodal.batches.kernels import (
    BatchProblem,
    Encloser,
    extend_block,
    improve_block,
    search_block,
)
from jaxmodal.batches.pilots import Guess
from jaxmodal.frequencies.brackets import Enclosure
from jaxmodal.frequencies.refinement import refine_together
from jaxmodal.runtime.namespace import Array
from jaxmodal.runtime.statuses import Status


@dataclasses.dataclass(frozen=True)
class Lanes:
    """Modes per call: in float64, for one evaluation in double-double, and for several in double-double."""

    open: int = 2**16
    extended: int = 2**15
    polished: int = 2**13


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Passes:
    """A block of cells between two passes.

    Attributes
    ----------
    packed : Array, shape (fields, links, cells)
        Columns of the cells.
    valid : Array, shape (1, cells)
        True for cells with valid values.
    beyond : Array, shape (EXTRA, cells)
        Estimates of the modes above those requested.
    e : Enclosure
        Enclosures of the modes, (modes, cells).
    omega : Array, shape (modes, cells)
        Frequencies, including means of two estimates.
    certified : Array, shape (modes, cells)
        True for certified modes.
    evaluations : Array, shape (cells,)
        Number of evaluations so far.
    """

    packed: Array
    valid: Array
    beyond: Array
    e: Enclosure
    omega: Array
    certified: Array
    evaluations: Array


@functools.partial(jax.jit, static_argnames=("kernel",))
def begun(
    problem: BatchProblem,
    packed: Array,
    valid: Array,
    features: Array,
    guess: Guess,
    *,
    kernel: Encloser,
) -> Passes:
    """Return the block of cells after six evaluations of every mode."""
    start, e = search_block(problem, packed, features, guess, kernel)
    e = jax.tree_util.tree_map(_of_its_own_type, e)
    return Passes(
        packed=packed,
        valid=valid[None],
        beyond=start.rough[problem.modes :],
        e=e,
        omega=e.omega,
        certified=jnp.zeros(e.omega.shape, bool),
        evaluations=start.evaluations + 6 * problem.modes,
    )


@functools.partial(jax.jit, static_argnames=("lanes",), donate_argnames=("p",))
def continued(problem: BatchProblem, p: Passes, purpose: Array, *, lanes: int) -> Passes:
    """Return the block after certifying accepted modes, and a few more evaluations of modes that need the purpose."""
    e, number = p.e, _numbers(p)
    known, close, near = _judged(p)
    good = known & accepted(e, number) & ~close & ~p.certified
    e = dataclasses.replace(e, error=jnp.where(good, stated(e), e.error))
    certified = p.certified | good
    again = purpose == Purpose.estimate_again
    wanted = jnp.where(
        again,
        known & doubtful(e, number, close) & ~near & ~certified,
        ~proven(e, number) & p.valid,
    )

    def part(mode: Array, cell: Array) -> tuple[Enclosure, Array, Array]:
        own = jax.tree_util.tree_map(lambda x: x[mode, cell], e)
        others = e.omega[:, cell], p.beyond[:, cell]
        its = (mode + 1).astype(jnp.float64)
        better = improve_block(problem, p.packed[..., cell], own, its, *others, purpose)
        middle, alike = estimated_again(own, better, its)
        known = dataclasses.replace(own, error=jnp.where(alike, stated(own), own.error))
        kept = jax.tree_util.tree_map(lambda x, y: jnp.where(again, x, y), known, better)
        return kept, jnp.where(again & alike, middle, kept.omega), again & alike

    found = in_blocks(part, wanted, lanes, (e, p.omega, certified))
    each = jnp.where(again, Purpose.estimate_again.evaluations, Purpose.cut.evaluations)
    more = each * jnp.sum(wanted, axis=0)
    e, omega, certified = found
    return dataclasses.replace(
        p, e=e, omega=omega, certified=certified, evaluations=p.evaluations + more
    )


@functools.partial(jax.jit, static_argnames=("lanes",), donate_argnames=("p",))
def extended_once(problem: BatchProblem, p: Passes, *, lanes: int) -> Passes:
    """Return the block after correcting accurate float64 modes by one evaluation in double-double."""
    e = p.e
    known, _, near = _judged(p)
    wanted = known & ~p.certified & proven(e, _numbers(p)) & clear(e) & (e.error <= KNOWN) & ~near
    below, above = _beside(p.omega)

    def part(mode: Array, cell: Array) -> tuple[Enclosure, Array, Array]:
        own = jax.tree_util.tree_map(lambda x: x[mode, cell], e)
        d = extend_block(problem, p.packed[..., cell], own.omega)
        beside = jnp.stack([below[mode, cell], above[mode, cell]])
        distance = distance_to_nearest(beside[0], own.omega, beside[1])
        better, settled = corrected(own, mode.astype(jnp.float64), d, beside, distance)
        return better, better.omega, settled

    e, omega, certified = in_blocks(part, wanted, lanes, (e, p.omega, p.certified))
    more = jnp.sum(wanted, axis=0)
    return dataclasses.replace(
        p, e=e, omega=omega, certified=certified, evaluations=p.evaluations + more
    )


@functools.partial(jax.jit, static_argnames=("lanes",), donate_argnames=("p",))
def polished(problem: BatchProblem, p: Passes, *, lanes: int) -> Passes:
    """Return the block after evaluating the modes that are still open only in double-double."""
    e = p.e
    positive = (e.omega > 0.0) & jnp.isfinite(e.omega)
    wanted = p.valid & ~p.certified & worth_refining(e) & positive

    def part(mode: Array, cell: Array) -> tuple[Enclosure, Array, Array, Array]:
        own = jax.tree_util.tree_map(lambda x: x[mode, cell], e)
        packed = p.packed[..., cell]
        evaluate = functools.partial(extend_block, problem, packed)
        half = first_half_width(own)
        below = mode.astype(jnp.float64)
        found, settled, number = refine_together(evaluate, own.omega, half, below)
        better = jax.tree_util.tree_map(lambda x, y: jnp.where(settled, x, y), found, own)
        return better, better.omega, settled, number

    whole = e, p.omega, p.certified, jnp.zeros(e.omega.shape, int)
    e, omega, certified, each = in_blocks(part, wanted, lanes, whole)
    more = p.evaluations + jnp.sum(each, axis=0)
    return dataclasses.replace(p, e=e, omega=omega, certified=certified, evaluations=more)


def later_passes(lanes: Lanes) -> list[Callable[[BatchProblem, Passes], Passes]]:
    """Return the passes after `begun`, in order; all but the last two are one program."""
    purposes = (Purpose.cut, *[Purpose.halve] * HALVINGS, Purpose.estimate_again)
    return [
        *(
            functools.partial(continued, purpose=np.int64(purpose), lanes=lanes.open)
            for purpose in purposes
        ),
        functools.partial(extended_once, lanes=lanes.extended),
        functools.partial(polished, lanes=lanes.polished),
    ]


@jax.jit
def finished(p: Passes) -> tuple[dict[str, Array], Array]:
    """Return the fields of the results, with cells on the first axis, and True for open cells."""
    e, number = p.e, _numbers(p)
    inside = (e.lower < p.omega) & (p.omega < e.upper)
    ascending = jnp.all(p.omega[1:] > p.omega[:-1], axis=0)
    closed = jnp.all(p.certified & inside, axis=0) & ascending
    shape = p.omega.shape
    valid, count = p.valid, jnp.broadcast_to(number, shape).astype(jnp.int32)
    status = jnp.where(valid, int(Status.certified), int(Status.invalid_input)).astype(jnp.uint8)

    def where_valid(x: Array, otherwise: Any) -> Array:
        return jnp.where(valid, x, jnp.asarray(otherwise, x.dtype)).T

    bracket = jnp.stack([e.lower, e.upper], axis=-1)
    found = {
        "omega": where_valid(p.omega, jnp.nan),
        "status": jnp.broadcast_to(status, shape).T,
        "count_below": where_valid(count - 1, 0),
        "count_above": where_valid(count, 0),
        "bracket": jnp.moveaxis(jnp.where(valid[..., None], bracket, jnp.nan), 0, 1),
        "group": (count - 1).T,
        "residual_ratio": where_valid((e.error / 2.0**-52).astype(jnp.float32), jnp.nan),
        "evaluations": jnp.where(valid[0], p.evaluations, 0).astype(jnp.int32),
    }
    return found, valid[0] & ~closed


def in_blocks(part: Callable[[Array, Array], Any], wanted: Array, lanes: int, whole: Any) -> Any:
    """Return ``whole``, arrays (modes, cells), with ``wanted`` entries replaced by ``part(mode, cell)``, in blocks."""
    modes, cells = wanted.shape
    lanes = min(lanes, modes * cells)
    blocks = -(-modes * cells // lanes)
    (places,) = jnp.nonzero(wanted.ravel(), size=blocks * lanes, fill_value=modes * cells)

    def block(i: Array, whole: Any) -> Any:
        at = lax.dynamic_slice_in_dim(places, i * lanes, lanes)
        mode, cell = jnp.divmod(jnp.minimum(at, modes * cells - 1), cells)
        beyond = jnp.where(at < modes * cells, mode, modes)  # padding of the last block is dropped

        def put(x: Array, y: Array) -> Array:
            return x.at[beyond, cell].set(y, mode="drop")

        return jax.tree_util.tree_map(put, whole, part(mode, cell))

    used = -(-jnp.sum(wanted) // lanes)
    return lax.fori_loop(0, used, block, whole)


def _of_its_own_type(x: Array) -> Array:
    """Return the array without a weak type, which would cause another compilation of the next program."""
    return lax.convert_element_type(x, x.dtype)


def _numbers(p: Passes) -> np.ndarray:
    return np.arange(1.0, p.omega.shape[0] + 1.0)[:, None]


def _beside(omega: Array) -> tuple[Array, Array]:
    """Return the modes below and above each mode; NaN for none."""
    none = jnp.full_like(omega[:1], jnp.nan)
    return jnp.concatenate([none, omega[:-1]]), jnp.concatenate([omega[1:], none])


def _judged(p: Passes) -> tuple[Array, Array, Array]:
    """Return masks: modes of fully enclosed cells, modes with a close neighbour, modes with a very close neighbour."""
    below, above = _beside(p.e.omega)
    distance = distance_to_nearest(below, p.e.omega, above)
    known = jnp.all(enclosed(p.e, _numbers(p)), axis=0, keepdims=True) & p.valid
    return jnp.broadcast_to(known, distance.shape), distance <= CLOSE, distance <= CROWDED
