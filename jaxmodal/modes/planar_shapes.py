"""Mode shapes of planar arms, with section forces, energies and base excitation."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.eigenspaces.energies import Energies, mode_energies
from jaxmodal.eigenspaces.frequency_derivatives import guarded, individual_modes
from jaxmodal.eigenspaces.modal_mass import (
    carried_coordinates,
    link_starts,
    mass_points,
    padding,
    quadrature_size,
)
from jaxmodal.frequencies.models import PlanarModel, TracedModel
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.root_search import NOT_THERE
from jaxmodal.modes.exact_shapes import ExactShapes
from jaxmodal.modes.fields import fields_at
from jaxmodal.modes.shape_checks import condition_residuals
from jaxmodal.modes.shape_words import IN_THE_PLANE, ShapeWords
from jaxmodal.runtime.array_types import Integers
from jaxmodal.runtime.namespace import Array, mapped, to_device, tree_on_host, xp
from jaxmodal.runtime.statuses import Status
from jaxmodal.statics.beam_arrays import BeamArrays

_OF_THE_ARM = ("position", "total_mass", "masses", "bodies")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class ModeShapes(ExactShapes):
    """Mode shapes of one planar arm: K modes, n links, S stations per link; unit modal mass; SI units.

    The fields are given in each link's axes: x along the link from its base to its tip, y to its left. They are
    amplitudes of a harmonic motion ``sin(omega t)``. Unit modal mass means that the mass-weighted square of the
    amplitude, lumped bodies included, is 1 kg m^2.

    Attributes
    ----------
    frequencies : NaturalFrequencies
        The frequencies of the modes, with their certificates.
    stations : Array, shape (S,)
        x/L, the same on every link.
    u, v, psi : Array, shape (K, n, S)
        Axial and transverse displacement in m, rotation of the section (positive counter-clockwise) in rad.
    normal, shear, moment : Array, shape (K, n, S)
        Section forces ``N = E A u'`` and ``V = kappa G A (v' - psi)`` in N, ``M_b = E I psi'`` in N m.
    position : Array, shape (n, S, 2)
        Positions of the stations at rest, in m, x and y in base axes.
    displacement : Array, shape (K, n, S, 2)
        The displacements in the base's axes, m.
    energies : Energies
        Peak strain and kinetic energies in J, arrays of shape (K, n).
    residuals : Array, shape (K, n, 6)
        Residual of each condition, relative to its scale: continuity of u, v, psi at the base of each link, balance
        of N, V, M_b at its tip. The scale is the largest value of its kind on the arm in that mode; at a soft joint
        spring, the displacement that the forces of its link would cause.
    participation : Array, shape (K, 3)
        Participation factors of a base excitation in x, y and rotation, in sqrt(kg), sqrt(kg), m sqrt(kg).
    total_mass : Array, shape (3,)
        Mass (kg), mass (kg), moment of inertia about the base (kg m^2) that move with the base.
    orthogonality : Array, shape (K, K)
        Mass inner products of the modes; the identity but for rounding.
    motions : Array, shape (K, D)
        The modes at all points with a mass, in m and rad: at nodes along the links and at bodies.
    masses : Array, shape (D,)
        The masses (kg) and inertias (kg m^2) at these points.
    bodies : Array, shape (n, 2, 3)
        For plots: mass (kg) and centre of gravity (m, along the link and to its left) of the hub, relative to the start
        of the link, and of the body at the tip, relative to its end; the latter includes the payload and the stator of
        the next joint.
    """

    told: ClassVar[ShapeWords] = IN_THE_PLANE
    u: Array
    v: Array
    psi: Array
    normal: Array
    shear: Array
    moment: Array
    energies: Energies

    @property
    def fields(self) -> dict[str, Array]:
        return {name: getattr(self, name) for name in self.told.fields}


def planar_mode_shapes(
    model: PlanarModel | TracedModel, found: NaturalFrequencies, xi: Array
) -> ModeShapes:
    """Return `mode_shapes` of a planar arm at known frequencies ``found`` and stations ``xi``."""
    beams, flags, invalid = model.beams, model.flags, xp.asarray(model.invalid)
    num_modes = found.omega.shape[0]
    lanes, numbers = padding(num_modes)
    size = quadrature_size(lanes)
    if tree_on_host(beams):
        invalid = _without_modes(beams, invalid, found)
        with np.errstate(all="ignore"):  # what is not finite is shown so
            rows = _rows(_shapes, size, beams, flags, invalid, found, xi, np.arange(num_modes))
        return jax.device_put(ModeShapes(frequencies=found, stations=xi, **rows))
    found = to_device(found)
    invalid = _without_modes(beams, invalid, found)
    beams, invalid, xi = jax.tree_util.tree_map(jnp.asarray, (beams, invalid, xi))
    rows = _rows(_compiled_shapes, size, beams, flags, invalid, found, xi, numbers)
    shown = {name: value for name, value in rows.items() if name not in _OF_THE_ARM}
    zero = found.omega == 0.0
    omega, multiplicity = _vibrating(found, invalid | zero)
    rows |= guarded(
        "derivatives of the shapes", shown, omega, individual_modes(omega, multiplicity) | zero
    )
    return ModeShapes(frequencies=found, stations=xi, **rows)


def planar_motions(
    model: PlanarModel, omega: np.ndarray, first: np.ndarray, multiplicity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return `mode_shapes.known_motions` of a planar arm."""
    size, flags = quadrature_size(padding(omega.size)[0]), model.flags
    given = model.beams, flags, omega, first, multiplicity, np.array([0.0, 1.0]), omega.size
    modes, _ = fields_at(size, *given)
    motions, masses = mapped(lambda m: mass_points(model.beams, flags, m))(modes)
    return motions, masses[0]


def _without_modes(beams: BeamArrays, invalid: Array, found: NaturalFrequencies) -> Array:
    """Return True if the arm is invalid, or static forces buckle it."""
    if beams.axial_force is None:
        return invalid
    return invalid | xp.any(found.status == Status.unstable)


def _vibrating(found: NaturalFrequencies, replaced: Array) -> tuple[Array, Array]:
    """Return frequencies and multiplicities, with 1 where there is no shape to compute."""
    omega = xp.where(xp.isnan(found.omega), NOT_THERE, found.omega)
    return (
        xp.where(replaced, 1.0, omega),
        xp.where(replaced, 1, found.multiplicity),
    )


def _rows(
    shapes: Callable[..., dict[str, Any]],
    num_points: int,
    beams: BeamArrays,
    flags: Theory,
    invalid: Array,
    found: NaturalFrequencies,
    xi: Array,
    numbers: Integers,
) -> dict[str, Any]:
    """Return the arrays of `ModeShapes` from ``shapes`` of the modes ``numbers``.

    Free hinges and invalid arms are handled here.
    """
    num_modes = found.omega.shape[0]
    beams = jax.tree_util.tree_map(lambda x: xp.where(invalid, 1.0, x), beams)
    # zero frequencies, which come first, have no place among the lanes
    vibrates = np.arange(num_modes) >= xp.sum(found.omega == 0.0)
    there = ~xp.isnan(found.omega)
    free = xp.minimum(xp.sum(found.omega == 0.0), num_modes - 1)
    fill = xp.minimum(numbers + free, num_modes - 1)
    omega, multiplicity = _vibrating(found, invalid | ~vibrates)
    values = shapes(
        num_points,
        beams,
        flags,
        omega[fill],
        xp.maximum(found.group[fill] - free, 0),
        multiplicity[fill],
        xi,
        num_modes - free,
    )
    place = xp.maximum(np.arange(num_modes) - free, 0)
    values["orthogonality"] = xp.take(values["orthogonality"], place, axis=1)

    def row(x: Array) -> Array:
        known = (vibrates & there & ~invalid).reshape((-1,) + (1,) * (x.ndim - 1))
        return xp.where(known, xp.take(x, place, axis=0), xp.nan)

    rows: dict[str, Any] = {
        name: xp.where(invalid, xp.nan, value)
        if name in _OF_THE_ARM
        else jax.tree_util.tree_map(row, value)
        for name, value in values.items()
    }
    known = vibrates & there
    both = known[:, None] & known[None, :]
    rows["orthogonality"] = xp.where(both, rows["orthogonality"], xp.nan)
    return rows


def _shapes(
    num_points: int,
    beams: BeamArrays,
    theory: Theory,
    omega: Array,
    first: Array,
    multiplicity: Array,
    xi: Array,
    num_modes: Array,
) -> dict[str, Any]:
    modes, at = fields_at(num_points, beams, theory, omega, first, multiplicity, xi, num_modes)
    motions, masses = mapped(lambda m: mass_points(beams, theory, m))(modes)
    coordinates = motions * xp.sqrt(xp.maximum(masses, 0.0))
    angle = xp.cumsum(beams.joint_angle)
    carried = carried_coordinates(beams, theory, num_points)
    cosine, sine = xp.cos(angle)[:, None], xp.sin(angle)[:, None]
    along = beams.length[:, None] * xi[None, :]
    start = link_starts(beams)
    u, v = at[..., 0], at[..., 1]
    energies = mapped(lambda w, m: mode_energies(beams, theory, w, m, m))(omega, modes)
    residuals = mapped(lambda w, m: condition_residuals(beams, w, m))(omega, modes)
    return {name: at[..., k] for k, name in enumerate(IN_THE_PLANE.fields)} | {
        "position": start[:, None, :] + xp.stack([along * cosine, along * sine], axis=-1),
        "displacement": xp.stack(
            [cosine[None] * u - sine[None] * v, sine[None] * u + cosine[None] * v], axis=-1
        ),
        "energies": energies,
        "residuals": residuals,
        "participation": coordinates @ carried.T,
        "total_mass": xp.sum(carried * carried, axis=-1),
        "orthogonality": coordinates @ coordinates.T,
        "motions": motions,
        "masses": masses[0],
        "bodies": _bodies(beams),
    }


def _bodies(beams: BeamArrays) -> Array:
    """Return `ModeShapes.bodies`."""
    shown = [
        xp.stack([body.mass, *(x + y for x, y in zip(place, body.centre(), strict=True))], axis=-1)
        for body, place in ((beams.hub_or_none, [-x for x in beams.start]), (beams.tip, beams.end))
    ]
    return xp.stack(shown, axis=1)


_compiled_shapes = functools.partial(jax.jit, static_argnums=0)(_shapes)
