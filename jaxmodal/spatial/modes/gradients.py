"""Derivatives of the frequencies of an arm in space as a balance of energies, for every value of it at once.

A mode makes the difference of strain energy and omega^2 times the mass form stationary, with the continuity of the
joints as conditions whose multipliers are the forces there. The derivative of omega^2 of a mode of unit mass by any
value is therefore that of twice this difference where displacements and forces are held.
"""

from __future__ import annotations

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.eigenspaces.modal_mass import quadrature
from jaxmodal.spatial.modes.conditions import Chain
from jaxmodal.spatial.modes.energies import gives_way, rigidities
from jaxmodal.spatial.modes.motions import Joint, Motion, joints_of, line_inertia
from jaxmodal.spatial.modes.values import ArmValues, BeamValues, LinkValues


def squared_frequency_gradient(
    chain: Chain, rigid: tuple[bool, ...], theory: Theory, omega: float, a: Motion, b: Motion
) -> ArmValues:
    """The derivative of omega^2 by what `values.arm_values` lists; projected on a and b where they differ.

    Parameters
    ----------
    chain, rigid, theory
        The arm, which links of it are rigid, and the flags of the theory.
    a, b : Motion
        Modes of unit modal mass, orthogonal or the same. For a basis of a repeated frequency the entries (a, b) form
        the symmetric matrix whose eigenvalues are the directional derivatives.

    Returns
    -------
    ArmValues
        Without axes of cells; to be multiplied by the rates of the values, entry by entry.

    Notes
    -----
    Held are the fields as functions of x/L, the gives of the springs and the forces in the joints. A turn then costs
    the moment of the force that crosses it, an offset the force times the rotation there, and a length the force
    ``-dE/dL`` that is constant along a link.
    """
    first, second = joints_of(chain, omega, a), joints_of(chain, omega, b)
    links = []
    for i, link in enumerate(chain.values.links):
        gives = gives_way(theory, rigid[i])
        beam = _beam_gradient(chain, theory, omega, gives, i, a.nodes[i], b.nodes[i])
        pair = (first[i], a, second[i], b), (second[i], b, first[i], a)
        halves = [_half(link, omega, i, beam, *given) for given in pair]
        links.append(jax.tree_util.tree_map(lambda x, y: 0.5 * (x + y), *halves))
    base = None if chain.values.base is None else np.outer(a.base, b.base)
    return ArmValues(tuple(links), base)


def _beam_gradient(
    chain: Chain,
    theory: Theory,
    omega: float,
    gives: np.ndarray,
    number: int,
    a: np.ndarray,
    b: np.ndarray,
) -> BeamValues:
    """By the values of a link, from the fields at the nodes, (q, 12)."""
    beam, weights = chain.values.links[number].beam, quadrature(a.shape[0])[1]
    length, rigidity = beam.length[0], rigidities(beam)
    integral = np.einsum("qf,qf,q->f", a, b, weights) * length
    strain = gives * integral[6:] / rigidity
    of_rigidity = strain / rigidity
    square = omega * omega
    kinetic = square * (line_inertia(chain, theory, number) * integral[:6]).sum()
    turning = 0.0
    for x, y in ((a, b), (b, a)):
        turning += float(np.einsum("q,q,q->", x[:, 7], y[:, 5], weights))
        turning -= float(np.einsum("q,q,q->", x[:, 8], y[:, 4], weights))
    moved, rotary = -square * integral, float(theory.rotary_inertia)
    found = (
        -(strain.sum() + kinetic) / length - turning,
        *(of_rigidity[0], of_rigidity[1], of_rigidity[2]),
        *(of_rigidity[3], of_rigidity[4], of_rigidity[5]),
        moved[:3].sum(),
        *(moved[3], rotary * moved[4], rotary * moved[5]),
    )
    return BeamValues(*(np.asarray(x) for x in found))


def _half(
    link: LinkValues,
    omega: float,
    number: int,
    beam: BeamValues,
    x: Joint,
    at_x: Motion,
    y: Joint,
    at_y: Motion,
) -> LinkValues:
    """Displacements of x with forces of y; the mean over both orders is the derivative."""
    square = omega * omega
    inertia = link.rotor[0, 0]
    inner, outer = at_x.inner[number], at_x.outer[number]
    gives = at_x.gives[number, at_x.gives.shape[1] - link.stiffness.shape[0] :]
    others = at_y.gives[number, at_y.gives.shape[1] - link.stiffness.shape[0] :]
    turn = _products(x.previous, y.carried)
    roll = _products(y.start, inner[:6]) - _products(y.end, outer[:6])
    directions = -2.0 * np.outer(gives, y.loaded)
    directions[-1] -= 2.0 * square * inertia * y.spin * x.before
    return LinkValues(
        beam=beam,
        rotation=-2.0 * turn,
        roll=2.0 * roll,
        base_offset=-2.0 * np.cross(y.start[:3], x.beyond[3:]),
        end_offset=-2.0 * np.cross(y.end[:3], x.tip[3:]),
        tip=-square * np.outer(x.tip, y.tip),
        hub=-square * np.outer(x.beyond, y.beyond),
        stator=-square * np.outer(x.previous, y.previous),
        directions=directions,
        stiffness=np.where(np.isfinite(link.stiffness[:, 0]), gives * others, 0.0),
        rotor=np.array([-square * x.spin * y.spin, -2.0 * square * inertia * y.spin * gives[-1]]),
    )


def _products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a b^T`` of translations and of rotations, added up, (3, 3)."""
    return np.outer(a[:3], b[:3]) + np.outer(a[3:], b[3:])


def by_leaves(gradient: ArmValues, rates: ArmValues) -> np.ndarray:
    """A gradient by values as one by the leaves of the arm, (leaves,), of their `values.rates`."""
    terms = jax.tree_util.tree_map(_along, gradient, rates)
    return np.asarray(sum(jax.tree_util.tree_leaves(terms)))


def _along(gradient: np.ndarray, rate: np.ndarray) -> np.ndarray:
    cells = rate.shape[-1]
    known = np.broadcast_to(rate, (*gradient.shape, cells)).reshape(-1, cells)
    return np.asarray(gradient.reshape(-1) @ known)
