"""Energies of modes, and the derivative of a frequency as a balance of them.

A mode makes the difference of strain energy and omega^2 times the mass form stationary. The derivative of
omega^2 with respect to a parameter is therefore the derivative of that difference at fixed displacements,
divided by the modal mass: an exact formula in section forces and displacements of the mode, for every parameter
of every link at once.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
from jax import Array

from jaxmodal.arm import BeamArrays
from jaxmodal.beams import Theory
from jaxmodal.eigenspaces import joint_compliance
from jaxmodal.modal_mass import ModeFields, quadrature


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Energies:
    """Where the energy of a mode is: peak values in J over one period for unit modal amplitude, an entry for each link.

    Attributes
    ----------
    bending, shear, axial, joint : Array, shape (..., n)
        Strain energy of the link, and of the spring at its base.
    translation, rotation : Array, shape (..., n)
        Kinetic energy of the link's mass and of the rotary inertia of its sections.
    body_translation, body_rotation : Array, shape (..., n)
        Kinetic energy of the body at its tip, the payload included.
    """

    bending: Array
    shear: Array
    axial: Array
    joint: Array
    translation: Array
    rotation: Array
    body_translation: Array
    body_rotation: Array

    @property
    def strain(self) -> Array:
        """Strain energy of the whole arm in J, shape (...,)."""
        return jnp.sum(self.bending + self.shear + self.axial + self.joint, axis=-1)

    @property
    def kinetic(self) -> Array:
        """Kinetic energy of the whole arm in J, shape (...,); equals ``strain`` for a mode."""
        return jnp.sum(
            self.translation + self.rotation + self.body_translation + self.body_rotation, axis=-1
        )


def mode_energies(
    beams: BeamArrays, theory: Theory, omega: Array, a: ModeFields, b: ModeFields
) -> Energies:
    """Mutual energies of two modes of one frequency; with ``a = b`` the energies of one mode.

    Parameters
    ----------
    beams, theory
        The links and the flags of the theory.
    omega : Array
        Angular frequency in rad/s.
    a, b : ModeFields
        The modes.

    Returns
    -------
    Energies
        Arrays of shape (n,).

    Notes
    -----
    Integrals by Gauss's rule, with as many nodes as resolve the mode to rounding (`modal_mass.quadrature_size`).
    """
    weights = jnp.asarray(quadrature(a.nodes.shape[1])[1])
    along = jnp.einsum("nqf,nqf,q->nf", a.nodes, b.nodes, weights) * (0.5 * beams.length[:, None])
    kinetic, ends = 0.5 * omega * omega, a.outer * b.outer
    return Energies(
        bending=along[:, 5] / (beams.youngs_modulus * beams.second_moment),
        shear=theory.shear * along[:, 4] / (beams.shear_modulus_effective * beams.area),
        axial=theory.axial * along[:, 3] / (beams.youngs_modulus * beams.area),
        joint=0.5 * joint_compliance(beams) * a.inner[:, 5] * b.inner[:, 5],
        translation=omega * omega * beams.density * beams.area * (along[:, 0] + along[:, 1]),
        rotation=omega
        * omega
        * theory.rotary_inertia
        * beams.density
        * beams.second_moment
        * along[:, 2],
        body_translation=kinetic * beams.tip_mass * (ends[:, 0] + ends[:, 1]),
        body_rotation=kinetic * beams.tip_inertia * ends[:, 2],
    )


def frequency_gradient(
    beams: BeamArrays, theory: Theory, omega: Array, a: ModeFields, b: ModeFields
) -> BeamArrays:
    """Derivative of the frequency with respect to the link values; projected on a and b where they differ.

    Parameters
    ----------
    beams, theory, omega, a, b
        As for `mode_energies`; a and b mass-normalised, and orthogonal or the same.

    Returns
    -------
    BeamArrays
        The derivatives of omega in rad/s per SI unit, each of shape (n,). For a and b of a basis of a repeated
        frequency the entries (a, b) form the symmetric matrix whose eigenvalues are the directional
        derivatives.

    Notes
    -----
    Bodies and springs enter by the displacement and the moment where they act; an angle by the moment that the
    force in the joint has about the inner end for a turn of the outboard part; a length by the force ``-dE/dL``
    that is constant along a uniform link.
    """
    e = mode_energies(beams, theory, omega, a, b)
    kinetic, rotary = e.translation, e.rotation
    own = e.bending + e.axial
    weights = jnp.asarray(quadrature(a.nodes.shape[1])[1])
    turning = 0.5 * (a.nodes[..., 4] * b.nodes[..., 2] + b.nodes[..., 4] * a.nodes[..., 2])
    sliding = jnp.einsum("nq,q->n", turning, weights)
    force, other = a.inner, b.inner
    joint = (
        force[:, 4] * other[:, 0]
        + other[:, 4] * force[:, 0]
        - force[:, 3] * other[:, 1]
        - other[:, 3] * force[:, 1]
    )
    ends = a.outer * b.outer
    twist = joint_compliance(beams) ** 2 * a.inner[:, 5] * b.inner[:, 5]
    omega2 = omega * omega
    squares = BeamArrays(
        length=-2.0 * (own + e.shear + kinetic + rotary) / beams.length - 2.0 * sliding,
        youngs_modulus=2.0 * own / beams.youngs_modulus,
        area=2.0 * (e.shear + e.axial - kinetic) / beams.area,
        second_moment=2.0 * (e.bending - rotary) / beams.second_moment,
        density=-2.0 * (kinetic + rotary) / beams.density,
        shear_modulus_effective=2.0 * e.shear / beams.shear_modulus_effective,
        tip_mass=-omega2 * (ends[:, 0] + ends[:, 1]),
        tip_inertia=-omega2 * ends[:, 2],
        joint_angle=joint.at[0].set(0.0),  # the base turns no force
        joint_stiffness=twist,
        has_shear=beams.has_shear,
    )
    gradient: BeamArrays = jax.tree_util.tree_map(lambda x: 0.5 * x / omega, squares)
    return gradient
