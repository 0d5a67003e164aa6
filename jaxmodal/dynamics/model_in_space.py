"""Model of an arm in space as arrays, and the choices of the formulation of its equations.

A point of a link is ``p = r + R (b + c(x))``. Here r and R are the position of the joint and the axes of the link, y
and z along the principal axes of its section, and b is the start of its elastic part. The deflection ``c(x) = sum_a
f_a(x) s_a(delta) e_a`` is a sum over functions f of x (1, x, the shapes, foreshortening, and the product of twist and
bending), coefficients s that are products of modal coordinates, and fixed directions e in the axes of the link. The
scalar products of the functions weighted by the mass of the link are its *Gram matrix*. A rigid body has the same form:
its points are sums of its position and its three axes, whose Gram matrix is its pseudo-inertia.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import jax
import numpy as np

from jaxmodal.arm.quantities import value_text
from jaxmodal.dynamics.layout_in_space import (
    DEFORMATIONS,
    FIXED,
    SLIDES,
    TURNS,
    Counts,
    LayoutInSpace,
)
from jaxmodal.dynamics.model import FlexibleModel, fixed
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array
from jaxmodal.runtime.tables import Table

BASES = ("clamped", "free", "driven")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class SpatialFlexibleArm(FlexibleModel):
    """Model of an arm in space: n joints, M modal coordinates, e elastic joints, N = n + M + e.

    It has p pieces: one for each link, segments included, one more for an elastic or driven base, and one more for the
    springs of each sliding joint.

    The generalised coordinates q, shape (N,), are the joint positions, in rad for turning joints (theta_1 and so on)
    and in m for sliding joints; the modal coordinates of link 1, of link 2 and so on, for each link in the order
    stretch, torsion, bending in its x-y plane, bending in its x-z plane, and deflections of its joint springs, in m or
    rad; and for each elastic joint the angle of its motor behind the gear, in rad. The displacement, m, and the
    rotation vector, rad, of an elastic or driven base, in the axes of the ground, precede the modal coordinates.
    Created by `flexible_arm`.

    With a free base, q has N + 7 entries: the last seven are the position of the base point in the axes of the ground
    in m, and a quaternion (w, x, y, z) of its rotation (`base_pose`). The rates have N + 6 entries: the last six are
    the velocity of that point in m/s and the angular velocity of the base in rad/s, both in the axes of the base.
    Matrices and forces refer to the rates.

    Attributes
    ----------
    gram : Array, shape (p, k + 8, k + 8)
        Scalar products, weighted by mass, of the k functions of each link (`Functions`), followed by the
        pseudo-inertias of the bodies at its joint and at its tip, each over position and axes of that frame.
    ends : Array, shape (p, k)
        Values of the functions at the end of the elastic part.
    tip_slope : Array, shape (p, m, 3)
        Rotation vector of the end due to each shape, in the axes of the link.
    tip_turn : Array, shape (p, 3, m, m)
        Second-order part of this rotation vector: it adds ``delta . tip_turn delta``.
    gives : Array, shape (p, s, 6)
        Directions of the joint springs, displacement and rotation, in the axes of the link.
    axis, orientation : Array, shape (p, 3) and (p, 3, 3)
        Axis of the joint, or the direction of sliding, in the tip axes of the previous piece, and in the same axes
        those of the piece at joint angle 0. The axes of a link are here the axes of its section.
    start, offset : Array, shape (p, 3)
        Start of the elastic part relative to the joint, in the axes of the link; the tip relative to its end, in tip
        axes.
    spin : Array, shape (p, 1 + t, 1 + t)
        Inertia of each link about its line, as a matrix over the rate of its frame about x and the rates of its t
        twists.
    rotor, gear : Array, shape (n,)
        Inertia of the rotor of each joint about the axis of the joint, kg m^2, and its turns per turn of the motor
        angle.
    roll : Array, shape (3, 3)
        Axes of the last link in the axes of its section, for the rotation of the tip.
    stations : Array, shape (p, 21, k)
        Functions of `gram` at equally spaced positions along each link, for plots.
    stiffness, damping : Array, shape (N, N), or (N + 6, N + 6) with a free base
        Stiffness matrix K and damping matrix D.
    coulomb, coulomb_width : Array, shape (n,) and ()
        Coulomb friction torque of each joint in N m, and the rate in rad/s over which its sign is smoothed.
    gravity : Array, shape (3,)
        Acceleration of gravity, m/s^2, in the axes of the base; with a free base in the axes of the ground.
    base_gram : Array, shape (4, 4)
        Pseudo-inertia of a free base about its point; 0 for a clamped one.
    joint_position : Array, shape (3,)
        Joint 1 seen from the point of a free base, in its axes, m.
    support_stiffness, support_direction : Array, shape (s,) and (s, 3)
        Of each spring between a tip and the ground its stiffness, N/m or N m/rad, and its direction there.
    support_place, support_axes : Array, shape (s, 3) and (s, 3, 3)
        Where it is unstrained: place of the tip, and its axes as columns, those of the section.
    counts : tuple of (int, int, int, int)
        Number of shapes of each piece: stretch, torsion, bending in x-y, bending in x-z.
    springs : tuple of int
        Number of joint springs at the start of each piece.
    kinds : tuple of str
        Connection of each piece to the one before it: ``"turns"``, ``"slides"`` or ``"fixed"``.
    numbers : tuple of int
        The link of the arm, counted from 1, that each piece is of; 0 is a base that is elastic or driven.
    supported : tuple of (int, str)
        Of each spring between a tip and the ground the piece, from 0, and whether it is a ``"translation"`` or a
        ``"rotation"``.
    elastic, rotor_beyond : tuple of bool
        True for each joint with a spring between motor and link; True for those whose rotor is beyond the spring, at
        the link, or missing.
    frames
        ``"rotation"`` turns everything beyond a link by the rotation of its end; ``"linear"`` multiplies it by the
        matrix of small rotations, which stretches it, like the 4 x 4 matrices of the literature.
    foreshortening
        True if a bent link gets shorter. If False, rotation does not stiffen links.
    second_order
        True if the displacement of a link that twists and bends follows from its curvatures to second order.
    rotor_motion
        ``"carried"``: a rotor turns with the link that carries it, and its gyroscopic moments act. ``"reflected"``:
        only its own spin has kinetic energy.
    torsion_spin
        ``"absolute"``: the spin of a section is that of the link plus its twist. ``"relative"``: the twist alone.
    inertia_order
        ``"full"`` keeps every power of the deflections in B, including those of joint springs and of an elastic base;
        ``"first"`` keeps the first, as usual in the literature.
    base
        ``"clamped"``: the base moves only on its springs, if it has any. ``"free"``: it floats freely. ``"driven"``:
        its motion is prescribed.
    idle_base
        Motion of the motors that a base on springs without inertia rules out: ``"freely"``, or also ``"as given"``.
    """

    gram: Array
    ends: Array
    tip_slope: Array
    tip_turn: Array
    gives: Array
    axis: Array
    orientation: Array
    start: Array
    offset: Array
    spin: Array
    rotor: Array
    gear: Array
    roll: Array
    stations: Array
    stiffness: Array
    damping: Array
    coulomb: Array
    coulomb_width: Array
    gravity: Array
    base_gram: Array
    joint_position: Array
    support_stiffness: Array
    support_direction: Array
    support_place: Array
    support_axes: Array
    counts: tuple[Counts, ...] = fixed()  # type: ignore[assignment]
    springs: tuple[int, ...] = fixed()  # type: ignore[assignment]
    kinds: tuple[str, ...] = fixed()  # type: ignore[assignment]
    numbers: tuple[int, ...] = fixed()  # type: ignore[assignment]
    supported: tuple[tuple[int, str], ...] = fixed()  # type: ignore[assignment]
    elastic: tuple[bool, ...] = fixed()  # type: ignore[assignment]
    rotor_beyond: tuple[bool, ...] = fixed()  # type: ignore[assignment]
    frames: str = fixed("rotation")  # type: ignore[assignment]
    foreshortening: bool = fixed(True)  # type: ignore[assignment]
    second_order: bool = fixed(True)  # type: ignore[assignment]
    rotor_motion: str = fixed("carried")  # type: ignore[assignment]
    torsion_spin: str = fixed("absolute")  # type: ignore[assignment]
    inertia_order: str = fixed("full")  # type: ignore[assignment]
    base: str = fixed("clamped")  # type: ignore[assignment]
    idle_base: str = fixed("")  # type: ignore[assignment]
    axes: ClassVar[tuple[str, ...]] = ("x", "y", "z")
    choices: ClassVar[tuple[str, ...]] = (
        *("inertia_order", "frames", "foreshortening"),
        *("second_order", "rotor_motion", "torsion_spin"),
    )

    def tables(self) -> list[Table]:
        """Return a table of the links, with the choices of formulation."""
        on = {"free": " on a free base", "driven": " on a driven base"}
        title = (
            f"flexible arm in space: {len(self.layout.links)} links, {sum(self.modes)} modal coordinates, "
            f"{sum(self.elastic)} elastic joints, N = {self.layout.size} generalised coordinates"
            f"{on.get(self.base, ' on an elastic base' * (0 in self.numbers))}"
        )
        posed = (
            f"inertia_order {self.inertia_order!r}, frames {self.frames!r}, foreshortening {self.foreshortening}, "
            f"second_order {self.second_order}, rotor_motion {self.rotor_motion!r}, torsion_spin {self.torsion_spin!r}"
        )
        if np.ndim(self.gram) != 3:  # mapped over arms
            return [Table(title, (), (), (posed,))]
        known = self.layout.functions.number
        places = [0, known, known + 4]
        masses = np.asarray(self.gram)[:, places, places].sum(axis=1)
        elastic = (*self.elastic, False)
        said = {FIXED: "none", SLIDES: "slides"}
        rows = [
            [
                str(number or "base"),
                value_text(float(mass)),
                *map(str, counts),
                str(springs),
                said.get(kind, "elastic" if elastic[joint] else "rigid"),
            ]
            for number, mass, counts, springs, kind, joint in zip(
                self.numbers,
                masses,
                self.counts,
                self.springs,
                self.kinds,
                self.layout.joint_of.tolist(),
                strict=True,
            )
        ]
        headings = ("link", "mass with bodies [kg]", *DEFORMATIONS, "joint springs", "joint")
        gravity = ", ".join(value_text(float(x)) for x in np.asarray(self.gravity))
        note = f"{self._stands()}gravity ({gravity}) m/s^2; {posed}"
        return [Table(title, headings, rows, (note,), ("joint",))]

    @property
    def modes(self) -> tuple[int, ...]:  # type: ignore[override]
        """Number of modal coordinates of each piece."""
        return tuple(
            sum(counts) + springs for counts, springs in zip(self.counts, self.springs, strict=True)
        )

    @property
    def layout(self) -> LayoutInSpace:
        """Order of the generalised coordinates in the vector q."""
        own = (self.counts, self.springs, self.kinds, self.numbers)
        return LayoutInSpace(self.modes, self.elastic, *own, self.base)

    @property
    def first_axis(self) -> np.ndarray:
        return np.asarray(self.axis)[self.layout.moving[0]]

    @property
    def num_pieces(self) -> int:
        """Number of pieces, p."""
        return len(self.kinds)

    @property
    def slides(self) -> bool:
        """True if any joint slides."""
        return SLIDES in self.kinds

    @property
    def is_of_turning_links(self) -> bool:
        """True if every piece is a link with its own turning joint, on a clamped or free base."""
        return set(self.kinds) <= {TURNS} and self.base != "driven" and 0 not in self.numbers

    @property
    def kept(self) -> np.ndarray:
        """Indices of the functions of a link that are used in this formulation."""
        return self.layout.functions.kept(self.foreshortening, self.second_order)

    def end_deflections(self, deltas: np.ndarray) -> np.ndarray:
        functions = self.layout.functions
        values = np.asarray(self.ends)[:, 2 : 2 + sum(functions.sizes[2:5])]
        squares, start = 0.0, 0
        for deformation in (0, 2, 3):
            count = functions.widths[deformation]
            shapes = values[:, start : start + count]
            moved = np.sum(deltas[..., functions.modal(deformation)] * shapes, axis=-1)
            squares, start = squares + moved**2, start + count
        return np.sqrt(np.asarray(squares))[..., self.layout.links]

    def posed(
        self,
        frames: str | None = None,
        foreshortening: bool | None = None,
        second_order: bool | None = None,
        rotor_motion: str | None = None,
        torsion_spin: str | None = None,
        inertia_order: str | None = None,
    ) -> SpatialFlexibleArm:
        """Return the same arm with another formulation of its equations; None leaves a choice unchanged.

        The usual model of the literature is
        ``posed("linear", True, False, "reflected", "relative")``.

        Raises
        ------
        ArmError
            If a choice is not one of the allowed values, linear frames are combined with a choice that needs
            orthonormal axes, or an inertia matrix of first order with a base that is free or driven.
        """
        made = self._with(
            frames=frames,
            foreshortening=foreshortening,
            second_order=second_order,
            rotor_motion=rotor_motion,
            torsion_spin=torsion_spin,
            inertia_order=inertia_order,
        )
        if made.inertia_order == "first" and self.base != "clamped":
            raise ArmError(
                f"inertia_order = 'first': is of arms whose base does not move, and base = {self.base!r}; must be "
                "'full' with it."
            )
        rotor, spin = made.rotor_motion, made.torsion_spin
        if made.frames == "linear" and (rotor, spin) != ("reflected", "relative"):
            raise ArmError(
                f"frames = 'linear': stretches the axes of links, against which rotor_motion = {rotor!r} and "
                f"torsion_spin = {spin!r} have no rate; must be 'reflected' and 'relative' with it, or frames = "
                "'rotation'."
            )
        return made
