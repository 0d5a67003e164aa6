"""The mass of an arm as a scalar product of motions: quadrature along the links, lumped bodies at their tips."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from jaxmodal.dynamic_stiffness.attachments import at_joint, at_tip, before_joint
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.runtime.namespace import Array, mapped, xp
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.laws import line_mass
from jaxmodal.statics.link_parts import Motions

#: modes are computed in multiples of this number, so that calls for other numbers need no new compilation
_LANES = 16
#: a displacement below this share of the largest one does not decide the sign of a mode
_DECISIVE = 1e-6


def padding(num_modes: int) -> tuple[int, np.ndarray]:
    """Return the number of lanes, and the mode of each lane; the last mode is repeated as padding."""
    lanes = _LANES * -(-num_modes // _LANES)
    return lanes, np.minimum(np.arange(lanes), num_modes - 1)


class ModeFields(NamedTuple):
    """The six fields (`fields.FIELDS`) of one mode: inner ends (n, 6), nodes (n, q, 6), outer ends (n, 6)."""

    inner: Array
    nodes: Array
    outer: Array


@functools.cache
def quadrature(num_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights of the Gauss-Legendre rule on [0, 1]."""
    points, weights = np.polynomial.legendre.leggauss(num_points)
    return 0.5 * (points + 1.0), 0.5 * weights


def quadrature_size(highest_mode: int) -> int:
    """Return the number of nodes that integrate products of two modes up to ``highest_mode`` over a link to rounding.

    Below the first K frequencies there are at most K clamped-clamped frequencies of a link, hence wave numbers of at
    most (K + 2) pi over its length. A product of two fields has twice that, and Gauss's rule with q nodes resolves 2 q
    radians of it, with 12 to 20 additional nodes.
    """
    lanes, _ = padding(highest_mode)
    return unpadded_quadrature_size(lanes)


def unpadded_quadrature_size(highest_mode: int) -> int:
    """Return `quadrature_size` for NumPy, and for programs that are compiled per number of modes anyway."""
    return 24 + -(-13 * (highest_mode + 2) // 4)


def mass_coordinates(beams: BeamArrays, theory: Theory, mode: ModeFields) -> Array:
    """Return a motion as a vector whose scalar products are mass products.

    Parameters
    ----------
    mode : ModeFields
        Fields of the motion, of which the displacements are used.

    Returns
    -------
    Array, shape (3 n (q + 1 + ...),)
        Square root of mass times displacement, in m sqrt(kg); three additional entries per link with a hub or a rotor.
    """
    motion, mass = mass_points(beams, theory, mode)
    return motion * _root(mass)


def mass_points(beams: BeamArrays, theory: Theory, mode: ModeFields) -> tuple[Array, Array]:
    """Return a motion at all points with a mass, and the masses, whose square roots `mass_coordinates` uses.

    Bodies with an offset centre of gravity are represented by the motion of that centre.
    """
    weights = quadrature(mode.nodes.shape[1])[1]
    mass = line_mass(beams) * beams.length
    rotary = theory.rotary_inertia * beams.density * beams.length * beams.second_moment
    density = xp.stack([mass, mass, rotary], axis=-1)
    along = density[:, None, :] * weights[None, :, None]
    motion, bodies = _lumped(beams, mode)
    return (
        xp.concatenate([mode.nodes[..., :3].reshape(-1), motion]),
        xp.concatenate([along.reshape(-1), bodies]),
    )


def lumped_coordinates(beams: BeamArrays, mode: ModeFields) -> Array:
    """Return the part of `mass_coordinates` of bodies, hubs and rotors; nodes are not used."""
    motion, mass = _lumped(beams, mode)
    return motion * _root(mass)


def _lumped(beams: BeamArrays, mode: ModeFields) -> tuple[Array, Array]:
    tip, joint = at_tip(beams, mode.outer), at_joint(beams, np.float64(0.0), mode.inner)
    parts = beams.lumped(Motions(joint, tip, before_joint(beams, tip)))
    motions, masses = ([pair[k].reshape(-1) for pair in parts] for k in (0, 1))
    return xp.concatenate(motions), xp.concatenate(masses)


def tip_coordinates(beams: BeamArrays, tip: Array) -> Array:
    """Return square root of mass times displacement of the bodies at the tips, (n, 3).

    ``tip`` are the fields there, (n, 6).
    """
    motion, mass = beams.tip.at_centre(tip)
    return motion * _root(mass)


def _root(x: Array) -> Array:
    return xp.where(x > 0.0, xp.sqrt(xp.where(x > 0.0, x, 1.0)), 0.0)


def link_starts(beams: BeamArrays) -> Array:
    """Return the start of each link at rest, in m, in base axes; shape (n, 2)."""
    angle = xp.cumsum(beams.joint_angle)
    c, s = xp.cos(angle), xp.sin(angle)
    base, (along, across) = beams.start, beams.reach
    reach = xp.stack([c * along - s * across, s * along + c * across], axis=-1)
    start = xp.stack([c * base[0] - s * base[1], s * base[0] + c * base[1]], axis=-1)
    return xp.cumsum(reach, axis=0) - reach + start


def rigid_fields(beams: BeamArrays, num_points: int) -> ModeFields:
    """Return rigid motions of the arm with its base: unit displacement in x, in y, unit rotation; leading axis 3."""
    angle = xp.cumsum(beams.joint_angle)
    c, s = xp.cos(angle), xp.sin(angle)
    step_x, step_y = beams.length * c, beams.length * s
    start_x, start_y = link_starts(beams).T

    def fields(xi: Array) -> Array:
        x = start_x[:, None] + step_x[:, None] * xi[None, :]
        y = start_y[:, None] + step_y[:, None] * xi[None, :]
        cosine, sine = c[:, None] + 0.0 * x, s[:, None] + 0.0 * x
        zero, one = xp.zeros_like(x), xp.ones_like(x)
        motions = (
            (cosine, -sine, zero),
            (sine, cosine, zero),
            (x * sine - y * cosine, x * cosine + y * sine, one),
        )
        return xp.stack(
            [xp.stack([*motion, zero, zero, zero], axis=-1) for motion in motions]
        )  # (3, n, s, 6)

    nodes = quadrature(num_points)[0]
    ends = fields(np.array([0.0, 1.0]))
    return ModeFields(ends[:, :, 0], fields(nodes), ends[:, :, 1])


def carried_coordinates(beams: BeamArrays, theory: Theory, num_points: int) -> Array:
    """Return `mass_coordinates` of the rigid motions with the base, (3, D)."""
    return mapped(lambda m: mass_coordinates(beams, theory, m))(rigid_fields(beams, num_points))


def total_mass(beams: BeamArrays, theory: Theory) -> Array:
    """Return the mass (kg), twice, and the moment of inertia about the base (kg m^2) that move with the base, (3,)."""
    carried = carried_coordinates(
        beams, theory, 3
    )  # nodes that integrate squares of linear motions exactly
    return xp.sum(carried * carried, axis=-1)


def signs_of(tips: Array) -> Array:
    """Return the signs +1 or -1 of modes, (K,), from the motions at the tips of the links, (K, n, motions).

    The first motion of the last tip decides, then its others, then those of the previous tip, skipping rounding errors.
    """
    ordered = tips[:, ::-1].reshape(tips.shape[0], -1)
    decisive = xp.abs(ordered) > _DECISIVE * xp.max(xp.abs(ordered), axis=1, keepdims=True)
    chosen = xp.take_along_axis(ordered, xp.argmax(decisive, axis=1)[:, None], axis=1)[:, 0]
    return xp.where(chosen < 0.0, -1.0, 1.0)
