"""Energies of static forces in modes: slopes of the axis, the shear beside them, and rigid parts that rotate."""

from __future__ import annotations

from typing import NamedTuple

from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.preload import slope_law
from jaxmodal.eigenspaces.modal_mass import ModeFields
from jaxmodal.runtime.namespace import Array
from jaxmodal.statics.beam_arrays import BeamArrays


class LinkIntegrals(NamedTuple):
    """Integrals along each link of the fields of two modes, or of one mode with itself, for energies.

    Attributes
    ----------
    alike : Array, shape (n, 6)
        Integrals over the length of the products of equal fields.
    sliding : Array, shape (n,)
        Mean of shear force times rotation, half from each mode with the other.
    """

    alike: Array
    sliding: Array


def loaded_squares(
    beams: BeamArrays, theory: Theory, integrals: LinkIntegrals, force: Array
) -> tuple[Array, Array, Array]:
    """Return integrals of v'^2 and of the squared force ``kappa G A (v' - psi)``, and the mean of that force times psi.

    Shape (n,) each. With the transverse force Q: v' = h (psi + Q give), and the shear force is h (Q - N psi).
    """
    h, give = slope_law(beams, theory)
    length, turns, loads = beams.length, integrals.alike[:, 2], integrals.alike[:, 4]
    mixed = integrals.sliding * length
    slopes = h * h * (turns + 2.0 * give * mixed + give * give * loads)
    sheared = h * h * (loads - 2.0 * force * mixed + force * force * turns)
    return slopes, sheared, h * (integrals.sliding - force * turns / length)


def turned_parts(
    beams: BeamArrays, a: ModeFields, b: ModeFields
) -> tuple[tuple[Array | None, Array], ...]:
    """Return the two geometric stiffnesses of rigid parts against rotation, and the products of the fields there."""
    return (
        (beams.base_turning_stiffness, a.inner * b.inner),
        (beams.end_turning_stiffness, a.outer * b.outer),
    )
