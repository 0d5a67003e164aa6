"""Straight beams in space under static forces and moments: the response of a piece, to rounding.

Let N, V, T and M be the static forces in a section, exerted by the outer part. The second-order energy of displacements
u and the rotation vector phi is, per length, the elastic energy of the beam and

    N (v'^2 + w'^2)/2 + N r^2 phi_x'^2/2 - phi_x (V_y phi_y + V_z phi_z)/2 + phi_x (V_y gamma_z - V_z gamma_y)
    - (T, M_y, M_z) . (phi x phi')/2,

with r^2 = (I_y + I_z)/A and shear strains gamma_y = v' - phi_z, gamma_z = w' + phi_y. The last term of the first line
and N v'^2/2 are the forces on shear strains that turn with the section: a rotation about the direction of the forces
takes no energy. These are the strains of a geometrically exact beam (E. Reissner, Z. angew. Math. Phys. 32, 1981,
734-744), to second order, without other terms that are smaller by a factor of the strain; N is along the tangent of the
deflected axis, as in the plane. Moments are conjugate to rotation vectors, and so are semi-tangential (J. H. Argyris et
al., Comput. Methods Appl. Mech. Eng. 17/18, 1979, 1-51). With canonical momenta this is a linear system of twelve
equations whose coefficients vary along the beam. It is solved by collocation at Gauss points, which keeps the symmetry
of its matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.dual import zeros
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.spatial.modes.values import BeamValues

#: function from shares of a link's length to section forces (S, 6): N, V_y, V_z, M_x, M_y, M_z
Forces = Callable[[Floats], Floats]

#: number of Gauss points in a piece
STAGES = 8
#: Picard iterations in a piece; the error is a power of the size of the piece over a factorial
_SWEEPS = 26
#: largest size of a piece, a number without unit that measures static forces and inertia in it
_LARGEST = 0.7
#: largest relative change, along a piece, of the stiffness that N leaves
_MOST_CHANGED = 0.2
#: largest number of pieces of one link
MOST_PIECES = 400


class Pieces(NamedTuple):
    """Pieces of a link of equal length, base to tip, (pieces, 6, 6), in section axes.

    A piece whose inner end moves by d0, with a force f on its outer end, has the force ``F d0 - H^T f`` at its inner
    end and the motion ``H d0 + R f`` at its outer end. F is ``stiffness``, H is ``carried`` and R is ``give``.
    """

    stiffness: Floats
    carried: Floats
    give: Floats


def _collocation() -> tuple[Floats, Floats, Floats]:
    """Return Gauss points from 0 to 1, their weights, and integrals of the Lagrange polynomials up to each point."""
    points, weights = np.polynomial.legendre.leggauss(STAGES)
    points, weights = 0.5 * (points + 1.0), 0.5 * weights
    powers = np.arange(STAGES)
    values = points[:, None] ** powers
    integrals = points[:, None] ** (powers + 1) / (powers + 1)
    found = np.asarray(np.linalg.solve(values.T, integrals.T).T, np.float64)
    return points, weights, found


#: see `_collocation`
POINTS, WEIGHTS, INTEGRALS = _collocation()


def stiffness_left(beam: BeamValues, theory: Theory, normal: Array) -> Any:
    """Return the shares (3, S) of the stiffness in shear along y and z and in torsion that N leaves; may be traced."""
    shear = float(theory.shear)
    gyration = (beam.bending_y + beam.bending_z) / beam.stretching
    return xp.stack(
        [
            1.0 + shear * normal / beam.shearing_y,
            1.0 + shear * normal / beam.shearing_z,
            1.0 + normal * gyration / beam.torsion,
        ]
    )


class Needed(NamedTuple):
    """Numbers of pieces that a link needs: ``still`` at rest (inf if N leaves no stiffness), and more when it vibrates.

    They grow with the square of the frequency times ``bending``, to the power 1/4, and times ``waves`` of stretching,
    shear and torsion, to the power 1/2.
    """

    still: Any
    bending: Any
    waves: Any

    def at(self, square: float) -> float:
        """Return the number of pieces at the square of a frequency, in rad^2/s^2, not rounded."""
        return float(max(self.still, (square * self.bending) ** 0.25, (square * self.waves) ** 0.5))


def pieces_needed(beam: BeamValues, theory: Theory, forces: Array) -> Needed:
    """Return the numbers of pieces of a link under ``forces`` (S, 6) along it from its base to its tip.

    All may be traced.
    """
    longest = beam.length / _LARGEST
    bending = xp.minimum(beam.bending_y, beam.bending_z)
    mixed = xp.sqrt(bending * beam.torsion)
    n, v_y, v_z, torque, m_y, m_z = xp.max(xp.abs(forces), axis=0)
    left = stiffness_left(beam, theory, forces[:, 0])
    lowest = xp.min(left)
    least = xp.where(lowest > 0.0, xp.minimum(1.0, lowest), 1.0)
    changed = xp.max(xp.max(left, axis=1) - xp.min(left, axis=1)) / least / _MOST_CHANGED
    shear, axial = float(theory.shear), float(theory.axial)
    give = shear / xp.minimum(beam.shearing_y, beam.shearing_z)
    rotary = float(theory.rotary_inertia) * xp.maximum(beam.rotary_y, beam.rotary_z)
    sizes = [
        xp.sqrt(n / bending / least),
        xp.sqrt(xp.maximum(v_y, v_z) / mixed),
        torque / bending,
        (m_y + m_z) / mixed / least,
    ]
    at_rest = xp.maximum(1.0, xp.maximum(xp.max(xp.stack(sizes)) * longest, changed))
    waves = xp.maximum(
        beam.mass * (axial / beam.stretching + give / least),
        beam.polar / beam.torsion / least + rotary / bending,
    )
    return Needed(
        xp.where(lowest > 0.0, at_rest, np.inf),
        beam.mass / bending * longest**4,
        waves * longest**2,
    )


def pieces_of(
    beam: BeamValues, theory: Theory, forces: Forces, square: complex, count: int
) -> Pieces:
    """Return a link under static forces cut into pieces, at the square of a frequency in rad^2/s^2.

    Imaginary parts of values and of the square are kept.
    """
    starts = np.arange(count) / count
    given = starts, np.full(count, 1.0 / count), np.eye(12)[None]
    return pieces_of_transfer(carried_states(beam, theory, forces, square, *given))


def pieces_of_transfer(transfer: Floats) -> Pieces:
    """Return pieces from the matrices (..., 12, 12) that transfer displacements and momenta through them."""
    a, b, c, d = (transfer[..., i : i + 6, j : j + 6] for i in (0, 6) for j in (0, 6))
    back = np.linalg.inv(d)
    stiffness, give = back @ c, b @ back
    return Pieces(_symmetric(stiffness), a - b @ back @ c, _symmetric(give))


def carried_states(
    beam: BeamValues,
    theory: Theory,
    forces: Forces,
    square: complex,
    starts: Floats,
    shares: Floats,
    states: Floats,
) -> Floats:
    """Return states (S, 12, m), displacements above momenta, carried on from ``starts`` over ``shares`` of the length.

    A share is that of a piece at most. Imaginary parts and derivatives of dual numbers are kept.
    """
    at = forces((starts[:, None] + shares[:, None] * POINTS).ravel())
    h = (shares * beam.length)[:, None, None]
    rates = state_rates(beam, theory, at.reshape(starts.size, STAGES, 6), square)
    whole = (starts.size, STAGES, *states.shape[1:])
    first = states[:, None]
    stages = np.broadcast_to(first, whole)
    flat = (*whole[:2], -1)
    for _ in range(_SWEEPS):
        slopes = (rates @ stages).reshape(flat)
        stages = first + (h * (INTEGRALS @ slopes)).reshape(whole)
    slopes = (rates @ stages).reshape(flat)
    found: Floats = states + (h[:, 0] * (WEIGHTS @ slopes)).reshape(starts.size, *whole[2:])
    return found


def _symmetric(matrices: Floats) -> Floats:
    found: Floats = 0.5 * (matrices + matrices.swapaxes(-1, -2))
    return found


def roots(give: Floats) -> Floats:
    """Return columns whose products are the compliances (pieces, 6, 6).

    Compliances are positive semidefinite; rigid directions have zero columns.
    """
    size = np.sqrt(np.maximum(np.diagonal(give, axis1=1, axis2=2), 0.0))
    scale = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
    values, vectors = np.linalg.eigh(give * scale[:, :, None] * scale[:, None, :])
    found: Floats = size[:, :, None] * vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return found


def state_rates(beam: BeamValues, theory: Theory, forces: Floats, square: complex) -> Floats:
    """Return the matrices (..., 12, 12) of the system for displacements (u, v, w, phi) and their momenta."""
    n, v_y, v_z, torque, m_y, m_z = np.moveaxis(forces, -1, 0)
    shear_y, shear_z, twisting = stiffness_left(beam, theory, n)
    give_y, give_z = (float(theory.shear) / x for x in (beam.shearing_y, beam.shearing_z))
    found = zeros((*n.shape, 12, 12), n, *beam)
    u, v, w, x, y, z = range(6)
    p_u, p_v, p_w, p_x, p_y, p_z = range(6, 12)
    found[..., u, p_u] = float(theory.axial) / beam.stretching
    # the shear forces across the rotated sections, Q = (p - (phi x F))/(1 + N/S), and the shear strains
    q_y, q_z = (zeros((*n.shape, 12), n, *beam) for _ in range(2))
    q_y[..., p_v], q_y[..., z], q_y[..., x] = 1.0 / shear_y, -n / shear_y, v_z / shear_y
    q_z[..., p_w], q_z[..., y], q_z[..., x] = 1.0 / shear_z, n / shear_z, -v_y / shear_z
    gamma_y, gamma_z = give_y * q_y, give_z * q_z
    found[..., v, :], found[..., w, :] = gamma_y, gamma_z
    found[..., v, z] += 1.0
    found[..., w, y] -= 1.0
    torsion = beam.torsion * twisting
    found[..., x, p_x], found[..., x, z], found[..., x, y] = (
        1.0 / torsion,
        0.5 * m_y / torsion,
        -0.5 * m_z / torsion,
    )
    found[..., y, p_y], found[..., y, z], found[..., y, x] = (
        1.0 / beam.bending_y,
        -0.5 * torque / beam.bending_y,
        0.5 * m_z / beam.bending_y,
    )
    found[..., z, p_z], found[..., z, y], found[..., z, x] = (
        1.0 / beam.bending_z,
        0.5 * torque / beam.bending_z,
        -0.5 * m_y / beam.bending_z,
    )
    turns = [found[..., k, :].copy() for k in (x, y, z)]
    t, a, b = (0.5 * k[..., None] for k in (torque, m_y, m_z))
    found[..., p_x, :] = a * turns[2] - b * turns[1]
    found[..., p_x, :] += v_y[..., None] * gamma_z - v_z[..., None] * gamma_y
    found[..., p_y, :] = q_z - t * turns[2] + b * turns[0]
    found[..., p_z, :] = -q_y + t * turns[1] - a * turns[0]
    for row, column, force in ((p_x, y, v_y), (p_x, z, v_z), (p_y, x, -v_y), (p_z, x, -v_z)):
        found[..., row, column] -= 0.5 * force
    return found - square * inertia_rates(beam, theory) if square else found


def inertia_rates(beam: BeamValues, theory: Theory) -> Floats:
    """Return the matrix (12, 12) whose product with the square of the frequency `state_rates` subtracts."""
    rotary = float(theory.rotary_inertia)
    inertia = [beam.mass] * 3 + [beam.polar, rotary * beam.rotary_y, rotary * beam.rotary_z]
    found = zeros((12, 12), *beam)
    found[range(6, 12), range(6)] = np.stack(inertia)
    return found
