"""Numerical values of an arm in space that its energies depend on, link by link, and their derivatives.

In float64, for shapes and derivatives. Counts and determinants use `constants`, in float64 or double-double.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import numpy as np

from jaxmodal.arm.columns import STEP
from jaxmodal.runtime.namespace import xp
from jaxmodal.spatial.parts.bases import BaseStiffness
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.geometry import Direction, Position
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.stiffness.matrices import product, skew, transposed
from jaxmodal.spatial.stiffness.members import section_of


class BeamValues(NamedTuple):
    """Values of a straight link, each of shape (cells,): length, m; rigidities; mass and inertia per length.

    Stretching E A, shearing kappa G A along y and z, N; torsion G J, bending E I_y and E I_z, N m^2; mass, kg/m; rho
    (I_y + I_z), rho I_y and rho I_z, kg m. An unknown shear coefficient is 1; it is used in no theory with shear. Also
    the static axial force, N, and (I_y + I_z)/A, m^2, the factor of its contribution to the torsional stiffness.
    """

    length: np.ndarray
    stretching: np.ndarray
    shearing_y: np.ndarray
    shearing_z: np.ndarray
    torsion: np.ndarray
    bending_y: np.ndarray
    bending_z: np.ndarray
    mass: np.ndarray
    polar: np.ndarray
    rotary_y: np.ndarray
    rotary_z: np.ndarray
    force: np.ndarray
    gyration: np.ndarray

    @property
    def twisting(self) -> np.ndarray:
        """Torsional stiffness including the contribution of the axial force."""
        found: np.ndarray = self.torsion + self.force * self.gyration
        return found


class LinkValues(NamedTuple):
    """Values of the parts of one link; vectors (3, cells), matrices (3, 3, cells) and (6, 6, cells).

    ``rotation`` maps components in the link's axes to those in the axes of the previous link, ``roll`` from the
    section's axes to the link's. ``tip``, ``hub`` and ``stator`` are mass matrices. ``directions`` (springs, 6, cells)
    and ``stiffness`` (springs, cells) belong to the springs of the joint, the one about its axis last. ``rotor`` (2,
    cells) is inertia and gear ratio. ``supports`` (supports, 6, cells) are the directions of supports at the tip, in
    the link's axes, and ``held`` their stiffnesses; None without supports.
    """

    beam: BeamValues
    rotation: np.ndarray
    roll: np.ndarray
    base_offset: np.ndarray
    end_offset: np.ndarray
    tip: np.ndarray
    hub: np.ndarray
    stator: np.ndarray
    directions: np.ndarray
    stiffness: np.ndarray
    rotor: np.ndarray
    supports: np.ndarray | None = None
    held: np.ndarray | None = None


class ArmValues(NamedTuple):
    """Values of all links, and the stiffness of an elastic base, (6, 6, cells)."""

    links: tuple[LinkValues, ...]
    base: np.ndarray | None


#: the links, the payload and the base of an arm
ArmParts: TypeAlias = tuple[tuple[SpatialLink, ...], RigidBody, BaseStiffness | None]


def arm_values(
    links: Sequence[SpatialLink], payload: RigidBody, base: BaseStiffness | None
) -> ArmValues:
    """Return the values of an arm whose leaves are real or complex, numbers or columns (cells,)."""
    last = len(links) - 1
    of_links = [_link(link, payload if k == last else None) for k, link in enumerate(links)]
    if any(link.supports for link in links):
        of_links = _with_supports(links, of_links)
    stiffness = None
    if base is not None:
        stiffness = _stacked([_stacked(row) for row in base.rows()])
    return ArmValues(tuple(of_links), stiffness)


def rates(parts: ArmParts) -> ArmValues:
    """Return the derivatives of `arm_values` of these parts with respect to every leaf.

    Leaves take the place of the cells. The derivatives are computed by complex steps: the formulas are analytic, so
    there is no subtraction error (W. Squire and G. Trapp, SIAM Review 40, 1998, 110-112).
    """
    leaves, structure = jax.tree_util.tree_flatten(parts)
    steps = 1j * STEP * np.eye(len(leaves))
    moved = jax.tree_util.tree_unflatten(
        structure, [leaf + step for leaf, step in zip(leaves, steps, strict=True)]
    )
    with np.errstate(all="ignore"):
        values = arm_values(*moved)
    found: ArmValues = jax.tree_util.tree_map(lambda x: np.imag(x) / STEP, values)
    return found


def _stacked(parts: Sequence[Any]) -> np.ndarray:
    """Return numbers, columns or stacks of them along a new first axis; numbers become columns of length one."""
    if all(isinstance(part, float) for part in parts):  # the usual case, in a seventh of the time
        return np.array(parts, np.float64)[:, None]
    return np.stack(np.broadcast_arrays(*(np.atleast_1d(part) for part in parts)))


def _link(link: SpatialLink, payload: RigidBody | None) -> LinkValues:
    rotation = _turn(link.joint_axis, link.joint_angle)
    for further in link.joint_frame:
        rotation = product(rotation, _turn(further.axis, further.angle))
    axis = product(transposed(rotation), _unit(link.joint_axis)[:, None])[:, 0]
    springs = [_six(s.kind, _unit(s.direction)) for s in link.joint_springs]
    stiffness = [s.stiffness for s in link.joint_springs]
    tip = _mass(link.body)
    return LinkValues(
        beam=values_of_beam(link),
        rotation=rotation,
        roll=_turn(
            Direction(1.0, 0.0, 0.0), 0.0 if link.section_roll is None else link.section_roll
        ),
        base_offset=_place(link.base_offset),
        end_offset=_place(link.end_offset),
        tip=tip if payload is None else tip + _mass(payload),
        hub=_mass(link.hub),
        stator=_mass(link.stator),
        directions=_stacked([*springs, _six("rotation", axis)]),
        stiffness=_stacked([*stiffness, link.joint_stiffness]),
        rotor=_stacked(link.rotor or (0.0, 1.0)),
    )


def _with_supports(links: Sequence[SpatialLink], values: Sequence[LinkValues]) -> list[LinkValues]:
    """Add the supports of all links, whose directions are fixed to the ground, in the axes of the links."""
    found, to_ground = [], None
    for link, own in zip(links, values, strict=True):
        to_ground = own.rotation if to_ground is None else product(to_ground, own.rotation)
        if link.supports:
            units = [
                product(transposed(to_ground), _unit(s.direction)[:, None])[:, 0]
                for s in link.supports
            ]
            own = own._replace(
                supports=_stacked(
                    [_six(s.kind, u) for s, u in zip(link.supports, units, strict=True)]
                ),
                held=_stacked([s.stiffness for s in link.supports]),
            )
        found.append(own)
    return found


def values_of_beam(link: SpatialLink) -> BeamValues:
    """Return the values of a link, whose leaves may also be traced."""
    s = section_of(link)
    shearing = (
        xp.where(xp.isinf(k), 1.0, k) * s.shear_modulus * s.area
        for k in (s.shear_coefficient_y, s.shear_coefficient_z)
    )
    found = (
        s.length,
        s.youngs_modulus * s.area,
        *shearing,
        s.shear_modulus * s.torsion_constant,
        s.youngs_modulus * s.second_moment_y,
        s.youngs_modulus * s.second_moment_z,
        s.density * s.area + s.nonstructural_mass,
        s.density * (s.second_moment_y + s.second_moment_z),
        s.density * s.second_moment_y,
        s.density * s.second_moment_z,
        s.axial_force,
        (s.second_moment_y + s.second_moment_z) / xp.where(s.area == 0.0, 1.0, s.area),
    )
    return BeamValues(*(xp.atleast_1d(x) for x in found))


def _place(offset: Position | None) -> np.ndarray:
    return _stacked([0.0] * 3 if offset is None else list(offset))


def _unit(vector: Direction) -> np.ndarray:
    v = _stacked(list(vector))
    return np.asarray(v / np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])[None])


def _turn(axis: Direction, angle: Any) -> np.ndarray:
    """Return the rotation matrix ``1 + sin a [n] + 2 sin^2(a/2) (n n^T - 1)``."""
    n, half = _unit(axis), 0.5 * np.atleast_1d(angle)
    sine, cosine = np.sin(half), np.cos(half)
    one = np.eye(3)[..., None]
    versed = 2.0 * sine * sine
    turned = (n[:, None] * n[None] - one) * versed + skew(n) * (2.0 * sine * cosine) + one
    return np.asarray(turned)


def _six(kind: str, unit: np.ndarray) -> np.ndarray:
    zero = np.zeros_like(unit)
    return np.concatenate([zero, unit] if kind == "rotation" else [unit, zero])


def _mass(body: RigidBody | None) -> np.ndarray:
    """Return the mass matrix ``[[m 1, -m [c]], [m [c], I - m [c] [c]]]``."""
    if body is None:
        return np.zeros((6, 6, 1))
    centre = skew(_place(body.centre))
    moment = centre * np.atleast_1d(body.mass)
    own: Any = np.zeros((3, 3, 1))
    if body.inertia is not None:
        own = _stacked([_stacked(row) for row in body.inertia.rows()])
    translation = np.eye(3)[..., None] * np.atleast_1d(body.mass)
    blocks = (translation, -moment, moment, own - product(moment, centre))
    shape = np.broadcast_shapes(*(b.shape for b in blocks))
    a, b, c, d = (np.broadcast_to(x, shape) for x in blocks)
    return np.concatenate([np.concatenate([a, b], axis=1), np.concatenate([c, d], axis=1)])
