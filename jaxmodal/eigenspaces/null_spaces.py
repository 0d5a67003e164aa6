"""Constants of the fields at a natural frequency: mass-normalised null space of the characteristic matrix.

The matrix collects the conditions at the base, the joints and the tip (eq 39 of the paper) for the solutions of
`fields`. At a natural frequency its null vectors are found by a singular value decomposition. They are then solved
again from a bordered linear system that is regular at the root. JAX differentiates through this system, so that shapes
have derivatives, and not through the decomposition.

An arm has at most three modes at one frequency, because the three reactions at its base determine the motion of
everything outboard. A null space is therefore stored in three slots, of which the first ``multiplicity`` are in use and
the others are zero.
"""

from __future__ import annotations

import dataclasses
import functools

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.attachments import (
    Driven,
    at_joint,
    at_tip,
    driven_inertia,
    inertia_forces,
    joint_law,
    opposed,
    without_bodies,
)
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.fields import fields_of_links
from jaxmodal.dynamic_stiffness.foundation import base_motion
from jaxmodal.dynamic_stiffness.supports import in_ground_axes, support_forces, unsupported
from jaxmodal.eigenspaces.heavy_bodies import with_heavy_bodies
from jaxmodal.eigenspaces.modal_mass import ModeFields, mass_coordinates, quadrature
from jaxmodal.runtime.namespace import (
    Array,
    added,
    constant,
    linalg,
    mapped,
    on_host,
    placed,
    tree_on_host,
    xp,
)
from jaxmodal.statics.beam_arrays import BeamArrays

#: the greatest multiplicity of a natural frequency
SLOTS = 3
#: relative step of a derivative of the matrix by frequency, which only says where rounding leaves a residual
SLOPE_STEP = 2.0**-20


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Eigenspace:
    """Modes at one natural frequency, mass-normalised and mutually orthogonal; unused slots are zero.

    On the host, where the multiplicity m is known, there are m slots instead of 3.

    Attributes
    ----------
    inner, nodes, outer : Array
        The six fields (`fields.FIELDS`) at the base end, shape (3, n, 6), at the quadrature nodes, (3, n, q, 6), and
        at the tip end, (3, n, 6), of every link.
    at : Array, shape (3, n, s, 6)
        The fields at the requested stations.
    used : Array, shape (3,)
        1 for slots in use, otherwise 0.
    """

    inner: Array
    nodes: Array
    outer: Array
    at: Array
    used: Array


def end_conditions(
    beams: BeamArrays, omega: Array, inner: Array, outer: Array, sizes: bool = False
) -> tuple[Array, Array, Array]:
    """Return the contributions of the fields at the ends of each link to the conditions of the arm.

    Parameters
    ----------
    sizes : bool
        Add absolute values of the terms of hubs and offsets.

    Returns
    -------
    own, previous, following : Array, shape (n, 6, ...)
        Six rows for each link i: continuity of u, v, psi at its base and balance of N, V, M_b at its tip, in the axes
        of link i; at supported tips and at an elastic base in ground axes; at a rigid support the displacement. A row
        is the sum of ``own`` of link i, ``previous`` of link i - 1 and ``following`` of link i + 1, which are stored
        under i - 1 and i + 1. There is no neighbour at the base and at the tip of the arm. For fields of a mode every
        sum is zero.

    Notes
    -----
    These are the paper's eqs 16-25, derived independently.
    """

    def expand(x: Array) -> Array:
        return x.reshape(x.shape + (1,) * (inner.ndim - 2))

    sine, cosine = expand(xp.sin(beams.joint_angle)), expand(xp.cos(beams.joint_angle))
    bare, outer = at_joint(without_bodies(beams), omega, inner, sizes), at_tip(beams, outer, sizes)
    inner = at_joint(beams, omega, inner, sizes)
    law, beyond = joint_law(beams, omega), inner[:, 3:]
    unit, give = (x.reshape(x.shape + (1,) * (inner.ndim - 2)) for x in law[:2])
    motion = unit * inner[:, :3] - give * inner[:, 3:]
    if beams.base_xx is not None:
        at_base = base_motion(beams, law, motion[:1], inner[:1, 3:], sizes)
        motion = placed(motion, 0, at_base)
    balance = outer[:, 3:] - inertia_forces(beams, omega, outer)
    if beams.carries_at_joints:
        driven = driven_inertia(beams, omega)
        balance = balance - _carried(beams, omega, law.carried, driven, outer[:, :3], sizes)
        beyond = xp.where(expand(driven.known), expand(driven.share) * bare[:, 3:], beyond)
    held = beams.supports is not None
    if held:
        pushed = support_forces(beams, outer[:, :3], sizes)
        balance = unsupported(beams, balance, sizes) + pushed
    own = xp.concatenate([motion, balance], axis=1)
    s, c = xp.roll(sine, -1, axis=0), xp.roll(cosine, -1, axis=0)
    along, across, turns = (xp.roll(unit[:, k], -1, axis=0) for k in range(3))
    zero = xp.zeros_like(inner[:, 0])
    previous = -xp.stack(
        [
            along * (c * outer[:, 0] + s * outer[:, 1]),
            across * (c * outer[:, 1] - s * outer[:, 0]),
            turns * outer[:, 2],
            zero,
            zero,
            zero,
        ],
        axis=1,
    )
    forces = [
        cosine * beyond[:, 0] - sine * beyond[:, 1],
        sine * beyond[:, 0] + cosine * beyond[:, 1],
        beyond[:, 2],
    ]
    if held:
        free = unsupported(beams, xp.stack(forces, axis=1), sizes, before=True)
        forces = [free[:, k] for k in range(3)]
    following = -xp.stack([zero, zero, zero, *forces], axis=1)
    return own, previous, following


def _carried(
    beams: BeamArrays, omega: Array, rotor: Array, driven: Driven, tip: Array, sizes: bool
) -> Array:
    """Return the inertia forces of the next joint's hub and rotor that move with the tips, (n, 3, ...)."""
    following = xp.concatenate([beams.joint_angle[1:], np.zeros(1)])
    inertia = xp.where(driven.known, driven.inertia, 0.0)
    inertia = added(inertia, np.s_[:, 2], xp.where(driven.known[:, 2], 0.0, rotor))
    inertia = placed(xp.roll(omega * omega * inertia, -1, axis=0), -1, 0.0)
    if sizes:
        inertia = -xp.abs(inertia)
    there = in_ground_axes(tip, -following, sizes)
    forces = inertia.reshape(inertia.shape + (1,) * (tip.ndim - 2)) * there
    turned: Array = in_ground_axes(forces, following, sizes)
    return turned


def _conditions_matrix(
    beams: BeamArrays, omega: Array, inner: Array, outer: Array, sizes: bool = False
) -> Array:
    """Return the (6n, 6n) matrix of `end_conditions` for the constants of the links."""
    n = beams.length.shape[0]
    own, previous, following = end_conditions(beams, omega, inner, outer, sizes)
    at = np.arange(n)
    matrix = placed(np.zeros((n, 6, n, 6)), np.s_[at, :, at, :], own)
    matrix = placed(matrix, np.s_[at[1:], :, at[:-1], :], previous[:-1])
    matrix = placed(matrix, np.s_[at[:-1], :, at[1:], :], following[1:])
    return matrix.reshape(6 * n, 6 * n)


def _equilibration(beams: BeamArrays, omega: Array, rows: Array) -> tuple[Array, Array]:
    """Return powers of two for the rows and columns of the matrix that scale its terms to about 1.

    They are computed from the largest values of the fields along the links, not from the entries: an entry that
    vanishes at a root (such as the cosine of a rod's free end) must stay small relative to similar ones. Bodies and
    springs enter with the opposite sign, so that terms of one entry add up.
    """
    amplitudes = xp.max(xp.abs(rows), axis=1)
    size = xp.abs(_conditions_matrix(opposed(beams), omega, amplitudes, amplitudes, sizes=True))
    return equilibration(size)


def equilibration(size: Array) -> tuple[Array, Array]:
    """Return powers of two for rows and columns that scale the terms of matrices of sizes (..., n, n) to about 1."""
    rows = columns = np.ones(size.shape[:-1])
    for _ in range(3):
        rows = 1.0 / power_of_two(xp.max(size * columns[..., None, :], axis=-1))
        columns = 1.0 / power_of_two(xp.max(size * rows[..., :, None], axis=-2))
    return rows, columns


def power_of_two(x: Array) -> Array:
    """Return the nearest power of two; 1 for zero."""
    return xp.exp2(xp.round(xp.log2(xp.where(x > 0.0, x, 1.0))))


def null_space(matrix: Array, slope: Array, rows: Array, columns: Array, used: Array) -> Array:
    """Return null vectors of ``matrix`` as columns, one for each of ``used``.

    They are differentiable if their number is constant. The residual left by the rounding of the frequency is placed in
    the direction in which a change of frequency would move it: along ``slope``, the derivative of the matrix, times the
    null vectors. There it is small relative to the terms of each condition. Nothing else depends on the slope, which
    need not be exact.

    For several matrices, (..., n, n), with rows and columns of shape (..., n), the number of null vectors is the same.
    """
    across = rows[..., :, None], columns[..., None, :]
    scaled = matrix * across[0] * across[1]
    slots = used.shape[0]
    right = _nearly_null(constant(scaled), slots) * used[None, :]
    left = (slope * across[0] * across[1]) @ right
    largest = xp.max(xp.abs(left), axis=-2, keepdims=True)
    left = left / xp.where(largest > 0.0, largest, 1.0)
    size, lead = matrix.shape[-1], matrix.shape[:-2]
    unused = xp.broadcast_to(xp.diag(1.0 - used), (*lead, slots, slots))
    bordered = xp.concatenate(
        [
            xp.concatenate([scaled, left], axis=-1),
            xp.concatenate([xp.swapaxes(right, -1, -2), unused], axis=-1),
        ],
        axis=-2,
    )
    target = np.concatenate([np.zeros((size, slots)), np.eye(slots)])
    target = np.broadcast_to(target, (*lead, *target.shape))
    solution = linalg.solve(bordered, target)
    # one refinement makes the residual of each condition small beside its own terms
    solution = solution + constant(linalg.solve(bordered, target - bordered @ solution))
    vectors: Array = solution[..., :size, :] * columns[..., :, None] * used[None, :]
    return vectors


def _nearly_null(matrix: Array, slots: int) -> Array:
    """Return unit vectors that singular matrices (..., n, n) map to nearly zero, as columns, the best one first.

    A single one is found by inverse iteration in NumPy, in a tenth of the time of the decomposition.
    """
    if slots == 1 and on_host(matrix):
        start = np.broadcast_to(_start(matrix.shape[-1]), (*matrix.shape[:-1], 1))
        try:
            found = np.linalg.solve(matrix, start)
        except np.linalg.LinAlgError:  # singular to the last bit
            found = np.full_like(start, np.nan)
        found = found / np.max(np.abs(found), axis=-2, keepdims=True)  # its squares may overflow
        if np.isfinite(found).all():
            return np.asarray(found / np.linalg.norm(found, axis=-2, keepdims=True))
    _, _, vt = linalg.svd(matrix)
    return xp.swapaxes(vt[..., : -slots - 1 : -1, :], -1, -2)


@functools.cache
def _start(size: int) -> np.ndarray:
    """Return a column vector that is not related to any exact symmetry of an arm."""
    return np.random.default_rng(size).standard_normal((size, 1))


def _matrix_slope(beams: BeamArrays, theory: Theory, omega: Array) -> Array:
    """Return the derivative of the matrix of the conditions with respect to omega.

    On the host it is a central difference, accurate to about 1e-9. It only sets the direction in which `null_space`
    leaves a residual of 1e-16, and does not change results beyond rounding.
    """
    ends = np.array([0.0, 1.0])

    def matrix(omega: Array, rows: Array) -> Array:
        return _conditions_matrix(beams, omega, rows[:, 0], rows[:, 1])

    if tree_on_host(beams, theory, omega):
        step = SLOPE_STEP * omega
        beside = np.array([omega + step, omega - step])
        rows = fields_of_links(beams, theory, beside[:, None, None], ends)
        above, below = (matrix(w, x) for w, x in zip(beside, rows, strict=True))
        return (above - below) / (2.0 * step)
    slope: Array = jax.jvp(
        lambda w: matrix(w, fields_of_links(beams, theory, w, ends)),
        (omega,),
        (xp.ones_like(omega),),
    )[1]
    return slope


def eigenspace(
    beams: BeamArrays,
    theory: Theory,
    omega: Array,
    multiplicity: Array,
    num_points: int,
    stations: Array | None = None,
) -> Eigenspace:
    """Return the modes of one arm at one natural frequency.

    Parameters
    ----------
    omega : Array
        A natural frequency in rad/s, accurate to the last digits of float64.
    multiplicity : Array
        Number of modes, at most 3.
    num_points : int
        Number of quadrature nodes, see `quadrature_size`.
    stations : Array, shape (s,), optional
        Additional stations for the fields, x/L; none if left out.

    Returns
    -------
    Eigenspace
        The sign of a mode and the basis of a repeated one are arbitrary.
    """
    nodes = np.concatenate([[0.0], quadrature(num_points)[0], [1.0]])
    xi = nodes
    if stations is not None:
        xi = xp.concatenate([xi, stations])
    n = beams.length.shape[0]
    rows = fields_of_links(beams, theory, omega, xi)
    slots = int(multiplicity) if on_host(rows, multiplicity) else SLOTS
    used = (np.arange(slots) < multiplicity).astype(omega.dtype)
    last = num_points + 1
    matrix = _conditions_matrix(beams, omega, rows[:, 0], rows[:, last])
    scales = _equilibration(*constant((beams, omega, rows)))
    slope = _matrix_slope(*constant((beams, theory, omega)))
    constants = null_space(matrix, slope, *scales, used).T.reshape(slots, n, 6)
    fields = xp.einsum("nsfc,mnc->mnsf", rows, constants)
    largest = xp.max(xp.abs(constant(fields)), axis=2)
    inner, outer = mapped(with_heavy_bodies, (None, None, 0, 0, 0))(
        beams, omega, fields[:, :, 0], fields[:, :, last], largest
    )
    fields = placed(placed(fields, np.s_[:, :, 0], inner), np.s_[:, :, last], outer)
    modes = ModeFields(inner, fields[:, :, 1:last], outer)
    coordinates = mapped(lambda m: mass_coordinates(beams, theory, m))(modes)
    gram = coordinates @ coordinates.T
    scale = xp.sqrt(xp.where(used > 0.0, xp.diag(gram), 1.0))
    correlation = gram / scale[:, None] / scale[None, :] + xp.diag(1.0 - used)
    factor = linalg.cholesky(correlation)
    target = xp.diag(used / scale)
    to_basis: Array
    if on_host(factor):
        to_basis = np.linalg.solve(factor, target)
    else:
        to_basis = jax.scipy.linalg.solve_triangular(factor, target, lower=True)
    fields = xp.einsum("ab,b...->a...", to_basis, fields)
    return Eigenspace(
        fields[:, :, 0],
        fields[:, :, 1:last],
        fields[:, :, last],
        fields[:, :, last + 1 :],
        used,
    )
