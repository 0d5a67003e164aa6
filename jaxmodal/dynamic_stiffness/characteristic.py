"""The characteristic matrix of the arm (eq 39 of the paper), its determinant, and a plain scan of its sign.

This is the definition: 6n boundary and joint conditions for the 6n constants of the exact fields. The fast path
(`condensation`) is tested against it. A sign scan of a determinant cannot prove completeness and misses coincident
modes; use `natural_frequencies` for results and this module to study the equations.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.arguments import real_array
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.attachments import at_joint, at_tip, inertia_forces, joint_law
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, prepared_values
from jaxmodal.dynamic_stiffness.foundation import base_motion
from jaxmodal.dynamic_stiffness.preload import member_waves
from jaxmodal.dynamic_stiffness.supports import in_ground_axes, support_forces
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.runtime.precision import require_x64
from jaxmodal.statics.beam_arrays import SUPPORTS, BeamArrays

#: frequencies of a scan that are evaluated side by side; a grid is filled up to 1, 2, 4, 8 ... blocks of them
_SCAN_BLOCK = 256


def _end_fields(link: BeamArrays, theory: Theory, omega: Array) -> tuple[Array, Array]:
    """Return the fields at the inner and the outer end for each constant, shape (6, 6) each, SI units.

    The fields are u, v, psi, normal force, shear force and moment. Constants 1-4 are of bending, 5-6 axial. The two
    exponential solutions are ``v = C, psi L = e_a S`` and ``v = (z1/e_a) S, psi L = C`` with ``C = cosh(alpha xi)``,
    ``S = sinh(alpha xi)/alpha`` (circular above the cut-off), both times ``exp(-alpha)`` below it. Unlike the textbook
    pair they stay independent at the cut-off and finite at any frequency. The two circular ones are ``v = cos, psi L =
    -e_b sin/beta`` and ``v = beta sin/e_b, psi L = cos``.
    """
    w, length, _ = member_waves(link, theory, omega, Arithmetic.float64)
    zero, one = jnp.zeros_like(omega), jnp.ones_like(omega)
    above = w.z1 < 0.0
    alpha = jnp.where(w.alpha > 0.0, w.alpha, 1.0)
    decay = jnp.where(above, 1.0, jnp.exp(-w.alpha))
    cosine = jnp.where(above, jnp.cos(alpha), 0.5 * (1.0 + decay * decay))
    sine = jnp.where(above, jnp.sin(alpha) / alpha, -0.5 * jnp.expm1(-2.0 * alpha) / alpha)
    sine = jnp.where(w.alpha > 0.0, sine, 1.0)
    inner = _bending_rows(w.b2, w.z1, w.beta, w.e_a, w.e_b, decay, zero, one, zero)
    outer = _bending_rows(
        w.b2, w.z1, w.beta, w.e_a, w.e_b, cosine, sine, jnp.cos(w.beta), jnp.sin(w.beta)
    )
    # below the cut-off with alpha >= 1: cosh(alpha (1 - xi)) and cosh(alpha xi), which stay independent as alpha grows
    decaying = ~above & (w.alpha >= 1.0)
    left_in = jnp.stack([cosine, -w.e_a * sine, w.b2 * sine, w.e_a * cosine])
    left_out = jnp.stack([decay, zero, zero, w.e_a * decay])
    right_in = left_out
    right_out = jnp.stack([cosine, w.e_a * sine, -w.b2 * sine, w.e_a * cosine])
    inner = tuple(
        row.at[:2].set(jnp.where(decaying, jnp.stack([left_in[k], right_in[k]]), row[:2]))
        for k, row in enumerate(inner)
    )
    outer = tuple(
        row.at[:2].set(jnp.where(decaying, jnp.stack([left_out[k], right_out[k]]), row[:2]))
        for k, row in enumerate(outer)
    )
    axial = theory.axial > 0.0
    stiffness = w.axial_rigidity * w.mu
    u = (
        jnp.stack([one, zero]),
        jnp.stack([jnp.where(axial, jnp.cos(w.mu), one), jnp.where(axial, jnp.sin(w.mu), zero)]),
    )
    normal = (
        jnp.stack([jnp.where(axial, zero, w.mass_term), jnp.where(axial, stiffness, one)]),
        jnp.stack(
            [
                jnp.where(axial, -stiffness * jnp.sin(w.mu), zero),
                jnp.where(axial, stiffness * jnp.cos(w.mu), one),
            ]
        ),
    )
    ei_l = w.flexural_rigidity
    no4, no2 = jnp.zeros(4), jnp.zeros(2)

    def fields(rows: tuple[Array, ...], u: Array, normal: Array) -> Array:
        v, psi, shear, moment = rows
        by_constants = [
            (no4, u),
            (v, no2),
            (psi / length, no2),
            (no4, normal),
            (shear * ei_l / length**2, no2),
            (moment * ei_l / length, no2),
        ]
        return jnp.stack([jnp.concatenate(row) for row in by_constants])

    return fields(inner, u[0], normal[0]), fields(outer, u[1], normal[1])


def _bending_rows(
    b2: Array,
    z1: Array,
    beta: Array,
    e_a: Array,
    e_b: Array,
    c: Array,
    s: Array,
    co: Array,
    si: Array,
) -> tuple[Array, ...]:
    """Return v, psi L, shear L^3/(E I) and moment L^2/(E I) of the four bending solutions, one row each."""
    v = jnp.stack([c, z1 / e_a * s, co, beta / e_b * si])
    psi = jnp.stack([e_a * s, c, -e_b / beta * si, co])
    shear = -b2 * jnp.stack([s, c / e_a, si / beta, -co / e_b])
    moment = jnp.stack([e_a * c, z1 * s, -e_b * co, -beta * si])
    return v, psi, shear, moment


@jax.jit
def _matrix(beams: BeamArrays, theory: Theory, omega: Array) -> Array:
    n = beams.length.shape[0]
    ends = jax.vmap(_end_fields, in_axes=(0, None, None))(beams, theory, omega)
    rows = jnp.zeros((6 * n, n, 6))
    joint, tip = at_joint(beams, omega, ends[0]), at_tip(beams, ends[1])
    law = joint_law(beams, omega)
    carried = jnp.roll(omega * omega * law.carried, -1).at[-1].set(0.0)
    forces = tip[:, 3:] - inertia_forces(beams, omega, tip)
    forces = forces.at[:, 2].add(-carried[:, None] * tip[:, 2])
    if beams.ground_angle is not None:
        pushed = support_forces(beams, tip[:, :3])
        forces = forces + in_ground_axes(pushed, -beams.ground_angle)
    moved = law.unit[..., None] * joint[:, :3] - law.compliance[..., None] * joint[:, 3:]
    if beams.base_xx is not None:
        moved = moved.at[0].set(base_motion(beams, law, moved[:1], joint[:1, 3:], sizes=False))
    rows = rows.at[:3, 0].set(moved[0])
    for i in range(1, n):
        c, s = jnp.cos(beams.joint_angle[i]), jnp.sin(beams.joint_angle[i])
        (u, v, psi), (normal, shear, moment) = tip[i - 1, :3], joint[i, 3:]
        beyond = [*moved[i], moment, s * normal + c * shear, c * normal - s * shear]
        turned = jnp.stack([c * u + s * v, -s * u + c * v, psi])
        before = [*(law.unit[i, :, None] * turned), *forces[i - 1, ::-1]]
        at = slice(6 * i - 3, 6 * i + 3)
        rows = rows.at[at, i - 1].set(jnp.stack(before)).at[at, i].set(-jnp.stack(beyond))
    rows = rows.at[6 * n - 3 :, n - 1].set(forces[-1, ::-1])
    return rows.reshape(6 * n, 6 * n)


def characteristic_matrix(
    arm: Arm, omega: ArrayLike, *, theory: TheoryName = "timoshenko"
) -> Array:
    """Return the characteristic matrix M(omega) of the paper's eq 39, of order 6n.

    Parameters
    ----------
    arm : Arm
        The arm, n links; its values may be traced.
    omega : ArrayLike
        One angular frequency > 0 in rad/s (use vmap for several); an invalid traced one gives NaN.
    theory : str
        As for `natural_frequencies`.

    Returns
    -------
    Array, shape (6n, 6n)
        Rows: u, v, psi at the base (in ground axes for an elastic base); six conditions at each joint
        (u, v, psi, moment, shear, normal force); moment, shear, normal force at the tip; SI units.
        Columns: four bending and two axial constants of each link.

    Raises
    ------
    ArmError, ValueError, X64DisabledError
        As for `natural_frequencies`, or if the arm has a rigid link, which has no such constants, or a rigid support
        at a tip.

    Notes
    -----
    Derived independently from the paper's conditions (16)-(25), because its printed blocks contain misprints. The
    columns are scaled so that nothing overflows, and chosen to stay independent at every link's cut-off.
    """
    return _matrix(*_elastic(arm, theory), _one(omega))


def _elastic(arm: Arm, theory: TheoryName) -> tuple[BeamArrays, Theory]:
    """Return beams and theory flags for the matrix; an arm with a rigid link or support is refused."""
    _, flags = prepared_values(arm, theory)
    for number, link in enumerate(arm.links, start=1):
        if link.rigid:
            raise ArmError(
                f"link{number}.rigid = True: the characteristic matrix is that of elastic links; "
                "count_below and natural_frequencies take rigid ones."
            )
        for name in SUPPORTS:
            value = getattr(link, name)
            if value is not None and not is_traced(value) and np.any(np.isinf(value)):
                raise ArmError(
                    f"link{number}.{name} = inf: the characteristic matrix has no balance of forces at a rigid"
                    " support; count_below and natural_frequencies take rigid ones."
                )
    return beam_arrays(arm), flags


def log_determinant(
    arm: Arm, omega: ArrayLike, *, theory: TheoryName = "timoshenko"
) -> tuple[Array, Array]:
    """Return the sign of det M(omega) and log|det M(omega)|, with rows and columns equilibrated.

    Parameters
    ----------
    arm, omega, theory
        As for `characteristic_matrix`; ``omega`` one frequency in rad/s.

    Returns
    -------
    sign, log_abs : Array
        The sign is +1 below the first natural frequency and equals ``(-1)**count_below`` at every frequency. Both are
        NaN where the matrix is beyond float64.

    Notes
    -----
    Computed in float64. Close to a pair of coincident frequencies, or for short stiff links at low
    frequency, the sign is lost in rounding.
    """
    return _log_determinant(*_elastic(arm, theory), _one(omega))


@jax.jit
def _log_determinant(beams: BeamArrays, flags: Theory, omega: Array) -> tuple[Array, Array]:
    matrix = _matrix(beams, flags, omega)
    row_scale = jnp.max(jnp.abs(matrix), axis=1, keepdims=True)
    scaled = matrix / row_scale
    column_scale = jnp.max(jnp.abs(scaled), axis=0, keepdims=True)
    balanced = scaled / column_scale
    sign, log_abs = jnp.linalg.slogdet(balanced)
    # sign of det M as omega tends to zero, from the order of rows and columns
    orientation = (-1.0) ** beams.length.shape[0]
    scales = jnp.sum(jnp.log(row_scale)) + jnp.sum(jnp.log(column_scale))
    # what is not finite is factorised, too, to some sign
    unknown = jnp.where(jnp.all(jnp.isfinite(balanced)), 0.0, jnp.nan)
    return sign * orientation + unknown, log_abs + scales + unknown


@jax.jit
def _signs(beams: BeamArrays, flags: Theory, blocks: Array) -> Array:
    """Return the sign of det M at frequencies of shape (blocks, size), one block after the other."""
    at_once = jax.vmap(lambda omega: _log_determinant(beams, flags, omega)[0])
    return jax.lax.map(at_once, blocks)


def determinant_scan(arm: Arm, omega: ArrayLike, *, theory: TheoryName = "timoshenko") -> Array:
    """Return intervals of a frequency grid in which the determinant changes sign: the textbook search, without proof.

    Parameters
    ----------
    arm, theory
        As for `natural_frequencies`.
    omega : ArrayLike, shape (m,)
        Ascending grid of angular frequencies > 0 in rad/s; concrete.

    Returns
    -------
    Array, shape (found, 2)
        The grid intervals with a sign change. Two modes in one interval, or a coincident pair, are missed: compare with
        `count_below`.

    Raises
    ------
    ValueError
        If the grid is not one-dimensional, ascending and positive, or has fewer than two points.
    """
    require_x64()
    grid = real_array(omega, "omega")
    if (
        grid.ndim != 1
        or grid.shape[0] < 2
        or not np.all(np.diff(grid) > 0)
        or not grid[0] > 0
        or not np.isfinite(grid[-1])
    ):
        raise ValueError(
            "omega must be a grid of at least two positive, ascending, finite frequencies in rad/s"
        )
    blocks = 1 << ((grid.size - 1) // _SCAN_BLOCK).bit_length()
    padded = np.resize(grid, blocks * _SCAN_BLOCK)
    signs = _signs(*_elastic(arm, theory), padded.reshape(-1, _SCAN_BLOCK))
    signs = np.asarray(signs).ravel()[: grid.size]
    at = np.flatnonzero(signs[1:] * signs[:-1] < 0)
    return jax.device_put(np.stack([grid[at], grid[at + 1]], axis=-1))  # compiles nothing


def _one(omega: ArrayLike) -> Array:
    """Return one frequency, which may be traced."""
    given = omega if is_traced(omega) else real_array(omega, "omega")
    if np.ndim(given) == 0 and not is_traced(given) and not 0.0 < float(np.asarray(given)) < np.inf:
        raise ValueError(
            f"omega = {shown(omega)}: expected a finite frequency > 0 in rad/s. At 0 the fields of a link are "
            "polynomials, with other constants; below every natural frequency the sign is +1"
        )
    if np.ndim(given):
        raise ValueError(
            f"omega: has the shape {np.shape(given)}; expected one frequency in rad/s. For several use "
            "jax.vmap(lambda w: jaxmodal.log_determinant(arm, w))(omega), or characteristic_matrix alike"
        )
    found = jnp.asarray(given, jnp.float64)
    return (
        jnp.where((found > 0.0) & (found < jnp.inf), found, jnp.nan) if is_traced(found) else found
    )
