"""Energies of modes, and the derivative of a frequency as a balance of them.

A mode makes the difference of strain energy and omega^2 times the mass form stationary. The derivative of
omega^2 with respect to a parameter is therefore the derivative of that difference at fixed displacements,
divided by the modal mass: an exact formula in section forces and displacements of the mode, for every parameter
of every link at once.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax

from jaxmodal.dynamic_stiffness.attachments import (
    at_joint,
    at_tip,
    before_joint,
    joint_law,
    spring_gives,
)
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.foundation import base_moves
from jaxmodal.eigenspaces.modal_mass import ModeFields, quadrature, tip_coordinates
from jaxmodal.eigenspaces.preload_energies import LinkIntegrals, loaded_squares, turned_parts
from jaxmodal.eigenspaces.support_gives import SupportGives, support_gives
from jaxmodal.runtime.namespace import Array, placed, xp
from jaxmodal.statics.beam_arrays import BASE, SUPPORTS, BeamArrays
from jaxmodal.statics.laws import flexibility, line_mass
from jaxmodal.statics.link_parts import BASE_OFFSET, END_OFFSET, SLIDES, Motions, mutual, named


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Energies:
    """Distribution of the energy of a mode: peak values in J per link, over one period at unit modal amplitude.

    Attributes
    ----------
    bending, shear, axial, joint : Array, shape (..., n)
        Strain energy of the link, and (``joint``) of the springs at its base and the supports at its tip; an elastic
        base is included in the springs of joint 1.
    translation, rotation : Array, shape (..., n)
        Kinetic energy of the link's mass and of the rotary inertia of its sections.
    body_translation, body_rotation : Array, shape (..., n)
        Kinetic energy of the body at its tip, including the payload and the next joint's stator.
    hub : Array, shape (..., n)
        Kinetic energy of the hub and the rotor at its base.
    preload : Array, shape (..., n), or None
        Contribution of static forces to the strain energy, negative under compression; None if no arm has any.
    """

    bending: Array
    shear: Array
    axial: Array
    joint: Array
    translation: Array
    rotation: Array
    body_translation: Array
    body_rotation: Array
    hub: Array
    preload: Array | None = None

    @property
    def strain(self) -> Array:
        """Strain energy of the whole arm in J, shape (...,)."""
        own = self.bending + self.shear + self.axial + self.joint
        return xp.sum(own if self.preload is None else own + self.preload, axis=-1)

    @property
    def kinetic(self) -> Array:
        """Kinetic energy of the whole arm in J, shape (...,); equal to ``strain`` for a mode."""
        links = self.translation + self.rotation + self.hub
        return xp.sum(links + self.body_translation + self.body_rotation, axis=-1)


def link_integrals(beams: BeamArrays, a: ModeFields, b: ModeFields) -> LinkIntegrals:
    """Return integrals along links by Gauss's rule, with enough nodes for rounding accuracy (`quadrature_size`)."""
    weights = quadrature(a.nodes.shape[1])[1]
    alike = xp.einsum("nqf,nqf,q->nf", a.nodes, b.nodes, weights) * beams.length[:, None]
    turning = 0.5 * (a.nodes[..., 4] * b.nodes[..., 2] + b.nodes[..., 4] * a.nodes[..., 2])
    return LinkIntegrals(alike, xp.einsum("nq,q->n", turning, weights))


def mode_energies(
    beams: BeamArrays,
    theory: Theory,
    omega: Array,
    a: ModeFields,
    b: ModeFields,
    integrals: LinkIntegrals | None = None,
) -> Energies:
    """Return mutual energies of two modes of one frequency; with ``a = b`` the energies of one mode.

    If ``integrals`` are given, only the ends of the links are used.
    """
    known = link_integrals(beams, a, b) if integrals is None else integrals
    return _energies(
        beams, theory, omega, known, _at_ends(beams, omega, a), _at_ends(beams, omega, b)
    )


def _energies(
    beams: BeamArrays,
    theory: Theory,
    omega: Array,
    integrals: LinkIntegrals,
    first: _Ends,
    second: _Ends,
) -> Energies:
    along = 0.5 * integrals.alike
    kinetic, elastic = 0.5 * omega * omega, flexibility(beams)
    bodies = tip_coordinates(beams, first.tip) * tip_coordinates(beams, second.tip)
    shear_force: Array = along[:, 4]
    preload: Array | None = None
    if beams.axial_force is not None:
        slopes, sheared, _ = loaded_squares(beams, theory, integrals, beams.axial_force)
        shear_force, preload = 0.5 * sheared, 0.5 * beams.axial_force * slopes
        for stiffness, ends in turned_parts(beams, first.fields, second.fields):
            if stiffness is not None:
                preload = preload + 0.5 * stiffness * ends[:, 2]
    return Energies(
        bending=elastic * along[:, 5] / (beams.youngs_modulus * beams.second_moment),
        shear=elastic * theory.shear * shear_force / (beams.shear_modulus_effective * beams.area),
        axial=elastic * theory.axial * along[:, 3] / (beams.youngs_modulus * beams.area),
        joint=0.5 * _springs(beams, first, second),
        translation=omega * omega * line_mass(beams) * (along[:, 0] + along[:, 1]),
        rotation=omega
        * omega
        * theory.rotary_inertia
        * beams.density
        * beams.second_moment
        * along[:, 2],
        body_translation=kinetic * (bodies[:, 0] + bodies[:, 1]),
        body_rotation=kinetic * bodies[:, 2],
        hub=kinetic * beams.form_at_joints(first.motions, second.motions),
        preload=preload,
    )


class _Ends(NamedTuple):
    """Fields beyond the joints and at the tips, (n, 6); displacements before the joints and over springs, (n, 3).

    Also the mode itself; for arms with supports their deflections and forces; for an elastic base its motion and its
    force, (3,) each.
    """

    fields: ModeFields
    joint: Array
    tip: Array
    before: Array
    gives: Array
    supports: SupportGives | None = None
    base: tuple[Array, Array] | None = None

    @property
    def motions(self) -> Motions:
        return Motions(self.joint, self.tip, self.before)


def _at_ends(beams: BeamArrays, omega: Array, mode: ModeFields) -> _Ends:
    joint, tip = at_joint(beams, omega, mode.inner), at_tip(beams, mode.outer)
    before = before_joint(beams, tip, joint)
    gives = spring_gives(beams, omega, mode.inner, mode.outer, before)
    ends = _Ends(mode, joint, tip, before, gives)
    if beams.base_xx is not None:
        ends = ends._replace(base=base_moves(beams, joint_law(beams, 0.0), joint))
    if beams.supports is None:
        return ends
    return ends._replace(supports=support_gives(beams, omega, mode.inner, mode.outer))


def _springs(beams: BeamArrays, a: _Ends, b: _Ends) -> Array:
    """Return twice the mutual strain energy of the springs of each joint."""
    rigid = xp.isinf(beams.joint_stiffness)
    total = xp.where(rigid, 0.0, beams.joint_stiffness) * a.gives[:, 2] * b.gives[:, 2]
    for k, stiffness in enumerate(beams.slides):
        if stiffness is not None:
            finite = xp.where(xp.isinf(stiffness), 0.0, stiffness)
            total = total + finite * a.gives[:, k] * b.gives[:, k]
    if a.supports is not None and b.supports is not None:
        x, y = a.supports, b.supports
        total = total - 0.5 * xp.sum(x.pushed * y.moved + y.pushed * x.moved, axis=1)
    if a.base is not None and b.base is not None:
        work = xp.sum(a.base[0] * b.base[1] + b.base[0] * a.base[1])
        total = placed(total, 0, total[0] + 0.5 * work)
    return total


def energies_and_gradient(
    beams: BeamArrays,
    theory: Theory,
    omega: Array,
    a: ModeFields,
    b: ModeFields,
    integrals: LinkIntegrals | None = None,
) -> tuple[Energies, BeamArrays]:
    """Return energies and the derivative of the frequency by the link values, projected on a and b if they differ.

    Parameters
    ----------
    beams, theory, omega, a, b, integrals
        As for `mode_energies`; a and b mass-normalised, and orthogonal or the same.

    Returns
    -------
    Energies
        See `mode_energies`.
    BeamArrays
        Derivatives of omega in rad/s per SI unit, each of shape (n,). For a and b from a basis of a repeated frequency,
        the entries (a, b) form the symmetric matrix whose eigenvalues are the directional derivatives.

    Notes
    -----
    The derivative by a body uses the displacement at the body, that by a spring its deflection. The derivative by an
    angle uses the moment of the joint force about the joint for a rotation of the outboard part with its supports,
    corrected at supports, which do not rotate, by the work of their force. The derivative by a length uses the force
    ``-dE/dL``, constant along a uniform link; that by an offset the section force there times the rotation.
    """
    integrals = link_integrals(beams, a, b) if integrals is None else integrals
    first, second = _at_ends(beams, omega, a), _at_ends(beams, omega, b)
    e = _energies(beams, theory, omega, integrals, first, second)
    own, sliding = e.bending + e.axial, integrals.sliding
    if beams.axial_force is not None:
        slopes, _, sliding = loaded_squares(beams, theory, integrals, beams.axial_force)
    force, other = first.joint[:, 3:], second.joint[:, 3:]
    joint = (
        force[:, 1] * second.before[:, 0]
        + other[:, 1] * first.before[:, 0]
        - force[:, 0] * second.before[:, 1]
        - other[:, 0] * first.before[:, 1]
    )
    gives, omega2 = first.gives * second.gives, omega * omega
    line = line_mass(beams)
    translation = e.translation * beams.density * beams.area / line
    squares = BeamArrays(
        length=-2.0 * (own + e.shear + e.translation + e.rotation) / beams.length - 2.0 * sliding,
        youngs_modulus=2.0 * own / beams.youngs_modulus,
        area=2.0 * (e.shear + e.axial - translation) / beams.area,
        second_moment=2.0 * (e.bending - e.rotation) / beams.second_moment,
        density=-2.0 * (translation + e.rotation) / beams.density,
        shear_modulus_effective=2.0 * e.shear / beams.shear_modulus_effective,
        # a base that is held turns no force
        joint_angle=placed(joint, 0, 0.0) if beams.base_xx is None else joint,
        joint_stiffness=gives[:, 2],
        has_shear=beams.has_shear,
        **_gradient_of_features(beams, omega2, first, second),
    )
    if beams.nonstructural_mass is not None:
        squares = dataclasses.replace(squares, nonstructural_mass=-2.0 * e.translation / line)
    if beams.axial_force is not None:
        squares = dataclasses.replace(
            squares,
            length=squares.length - beams.axial_force * slopes / beams.length,
            axial_force=slopes,
        )
    gradient: BeamArrays = jax.tree_util.tree_map(lambda x: 0.5 * x / omega, squares)
    return e, gradient


def _gradient_of_features(
    beams: BeamArrays, omega2: Array, first: _Ends, second: _Ends
) -> dict[str, Array]:
    """Return derivatives of omega^2 with respect to optional features; shapes (n,)."""
    rates = beams.mass_rates(first.motions, second.motions)
    found: dict[str, Array] = {name: omega2 * x for name, x in rates.items()}
    a, b = first.fields, second.fields
    gives = first.gives * second.gives
    if beams.slides[0] is not None:
        found |= named(SLIDES, gives[:, :2].T)
    if beams.base_offset is not None:
        for names, x, y in ((BASE_OFFSET, a.inner, b.inner), (END_OFFSET, a.outer, b.outer)):
            found |= named(names, (-mutual(x, y, 4), mutual(x, y, 3)))
    for (stiffness, ends), name in zip(turned_parts(beams, a, b), ("base", "end"), strict=True):
        if stiffness is not None:
            found[f"{name}_turning_stiffness"] = ends[:, 2]
    if beams.flexible is not None:
        found["flexible"] = xp.zeros_like(beams.length)
    if first.supports is not None and second.supports is not None:
        x, y = first.supports, second.supports
        moved = x.moved * y.moved
        found |= {name: moved[:, k] for k, name in enumerate(SUPPORTS)}
        found["ground_angle"] = (
            x.pushed[:, 0] * y.moved[:, 1]
            + y.pushed[:, 0] * x.moved[:, 1]
            - x.pushed[:, 1] * y.moved[:, 0]
            - y.pushed[:, 1] * x.moved[:, 0]
        )
    if first.base is not None and second.base is not None:
        found |= _of_base(beams, first.base[0], second.base[0])
    return found


def _of_base(beams: BeamArrays, a: Array, b: Array) -> dict[str, Array]:
    """Return derivatives with respect to the entries of an elastic base: products of its motions, (3,) each."""
    zero = xp.zeros_like(beams.length)
    places = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    return {
        name: placed(zero, 0, a[i] * b[i] if i == j else a[i] * b[j] + a[j] * b[i])
        for name, (i, j) in zip(BASE, places, strict=True)
    }
