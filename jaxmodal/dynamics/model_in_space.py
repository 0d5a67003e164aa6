"""The model of an arm in space as arrays, and how its equations are posed.

A point of a link is ``p = r + R (b + c(x))``: r and R are the joint and the axes of the link, y and z along the
principal axes of its section, and b is where its elastic part begins. The sum ``c(x) = sum_a f_a(x) s_a(delta) e_a`` is
over functions f of x (1, x, the shapes, what shortens the link and what a twist makes of its bending), numbers s that
are products of modal coordinates, and fixed directions e in the axes of the link. The scalar products of the functions
under the mass of the link are its *Gram matrix*. A rigid body is the same: its points are sums of its place and its
three axes, and the Gram matrix of those is its pseudo-inertia.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import jax
import numpy as np

from jaxmodal.arm.arguments import require_truth
from jaxmodal.arm.quantities import value_text
from jaxmodal.dynamics.layout_in_space import (
    DEFORMATIONS,
    FIXED,
    SLIDES,
    TURNS,
    Counts,
    LayoutInSpace,
)
from jaxmodal.dynamics.model import FRAMES, INERTIA_ORDERS, FlexibleModel, fixed, one_of
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array
from jaxmodal.runtime.tables import Table

BASES = ("clamped", "free", "driven")
ROTORS = ("carried", "reflected")
TORSION_SPINS = ("absolute", "relative")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class SpatialFlexibleArm(FlexibleModel):
    """An arm in space with flexible links in motion: n joints, M modal coordinates, e elastic joints, N = n + M + e.

    It consists of p pieces: its links, segments among them, and for an elastic base and for springs of a joint that
    slides one more each; so has a base that is driven.

    The generalised coordinates q, shape (N,), are the joint angles theta_1 .. theta_n in rad, of joints that slide
    their positions in m; the modal coordinates of
    link 1, of link 2 and so on, of each first those of stretch, then of torsion, of bending in its x-y plane and of
    bending in its x-z plane, and the deflections of further springs of its joint, in m or rad; and for each elastic
    joint the angle of its motor behind the gear, in rad. Made by `flexible_arm`. Of a base that is elastic or driven
    its displacement, m, and rotation vector, rad, in the axes of the ground stand before the modal coordinates.

    With a base that floats freely, q has N + 7 entries: last the position of the base's point in the axes of the ground
    in m, and a quaternion (w, x, y, z) of its rotation (`base_pose`). The rates have N + 6: last the velocity of that
    point in m/s and the angular velocity of the base in rad/s, both in the axes of the base. Matrices and forces are
    over the rates.

    Attributes
    ----------
    gram : Array, shape (p, k + 8, k + 8)
        Scalar products of the k functions of each link (`Functions`) under its mass, then the pseudo-inertias of the
        bodies at its joint and at its tip: of place and axes of the joint's frame and of the tip's.
    ends : Array, shape (p, k)
        The functions at the end of the elastic part.
    tip_slope : Array, shape (p, m, 3)
        Rotation vector of the end by each shape, in the axes of the link.
    tip_turn : Array, shape (p, 3, m, m)
        Its second order: the rotation vector has ``delta . tip_turn delta`` besides.
    gives : Array, shape (p, s, 6)
        Directions of the further springs of the joint, displacement and rotation, in the axes of the link.
    axis, orientation : Array, shape (p, 3) and (p, 3, 3)
        Axis of the joint, or the direction in which it slides, in the tip axes of the piece before, and the piece's
        axes at joint angle 0 in those. The axes of a link are here those of its section.
    start, offset : Array, shape (p, 3)
        Start of the elastic part seen from the joint in the axes of the link; the tip seen from its end, in tip axes.
    spin : Array, shape (p, 1 + t, 1 + t)
        Inertia about its own line of each link, over the rate of its frame about x and those of its t twists.
    rotor, gear : Array, shape (n,)
        Inertia of the rotor of each joint about the joint's axis, kg m^2, and its turns for one of the motor's angle.
    roll : Array, shape (3, 3)
        The last link's own axes in those of its section, for the rotation of the tip.
    stations : Array, shape (p, 21, k)
        The functions of `gram` at places equally spaced along each link, for pictures.
    stiffness, damping : Array, shape (N, N), or over all rates of a free base
        K and D.
    coulomb, coulomb_width : Array, shape (n,) and ()
        Torque of dry friction at each joint in N m, and the rate in rad/s over which its sign is smoothed.
    gravity : Array, shape (3,)
        Acceleration of gravity in the axes of the base, of a free base in those of the ground, m/s^2.
    base_gram : Array, shape (4, 4)
        Pseudo-inertia of a free base about its point; 0 of a clamped one.
    joint_position : Array, shape (3,)
        Joint 1 seen from the point of a free base, in its axes, m.
    support_stiffness, support_direction : Array, shape (s,) and (s, 3)
        Of each spring between a tip and the ground its stiffness, N/m or N m/rad, and its direction there.
    support_place, support_axes : Array, shape (s, 3) and (s, 3, 3)
        Where it is unstrained: place of the tip, and its axes as columns, those of the section.
    counts : tuple of (int, int, int, int)
        Number of shapes of each piece: stretch, torsion, bending in x-y, bending in x-z.
    springs : tuple of int
        Number of further springs at the start of each piece.
    kinds : tuple of str
        How each piece is joined to the one before it: ``"turns"``, ``"slides"`` or ``"fixed"``.
    numbers : tuple of int
        The link of the arm, counted from 1, that each piece is of; 0 is a base that is elastic or driven.
    supported : tuple of (int, str)
        Of each spring between a tip and the ground the piece, from 0, and whether it is a ``"translation"`` or a
        ``"rotation"``.
    elastic, rotor_beyond : tuple of bool
        Which joints have a spring between motor and link; which of these have their rotor beyond it, at the link, or
        none.
    frames
        ``"rotation"`` turns what is beyond a link by the rotation of its end; ``"linear"`` multiplies by the rotation
        of small angles, which stretches all that lies beyond: the 4 x 4 matrices of the literature.
    foreshortening
        Whether a bent link gets shorter. Without it nothing stiffens in rotation.
    second_order
        Whether a link that twists while it bends moves as curvature has it, to second order in its deflections.
    rotor_motion
        ``"carried"``: a rotor turns with the link that carries it, and its gyroscopic moments act. ``"reflected"``:
        only its own spin has energy.
    torsion_spin
        ``"absolute"``: a section spins about its line with the link and by torsion. ``"relative"``: by torsion alone.
    inertia_order
        ``"full"`` keeps every power of the deflections, those of springs of joints and of an elastic base among them,
        in B; ``"first"`` keeps the first, as usual in the literature.
    base
        ``"clamped"``: the base does not move, but for its springs if it has them. ``"free"``: it floats freely.
        ``"driven"``: it moves as it is told.
    idle_base
        How the motors may not move because a base on springs has no inertia: ``"freely"``, or not even ``"as given"``.
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
        """Return the links, and how the equations are posed."""
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
        """Which generalised coordinate stands where in q."""
        own = (self.counts, self.springs, self.kinds, self.numbers)
        return LayoutInSpace(self.modes, self.elastic, *own, self.base)

    @property
    def supported_links(self) -> tuple[int, ...]:
        return tuple(sorted({self.numbers[piece] for piece, _ in self.supported}))

    @property
    def num_pieces(self) -> int:
        """Number of pieces, p."""
        return len(self.kinds)

    @property
    def slides(self) -> bool:
        """Whether any joint slides."""
        return SLIDES in self.kinds

    @property
    def is_of_turning_links(self) -> bool:
        """Whether every piece is a link that turns at a joint of its own, on a base that is clamped or floats."""
        return set(self.kinds) <= {TURNS} and self.base != "driven" and 0 not in self.numbers

    @property
    def floats(self) -> bool:
        return self.base == "free"

    @property
    def kept(self) -> np.ndarray:
        """Indices of the functions of a link that take part, as the equations are posed."""
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
        """Return the same arm with other choices of how its equations are posed; None leaves a choice as it is.

        The usual model of the literature is
        ``posed("linear", True, False, "reflected", "relative")``.

        Raises
        ------
        ArmError
            If a choice is none of the allowed ones, linear frames meet what needs axes that are not stretched, or an
            inertia matrix of first order a base that floats or is driven.
        """
        turned = self.frames if frames is None else frames
        shorter = self.foreshortening if foreshortening is None else foreshortening
        second = self.second_order if second_order is None else second_order
        rotor = self.rotor_motion if rotor_motion is None else rotor_motion
        spin = self.torsion_spin if torsion_spin is None else torsion_spin
        order = self.inertia_order if inertia_order is None else inertia_order
        one_of("inertia_order", order, INERTIA_ORDERS, "'full' keeps all powers of the deflections")
        if order == "first" and self.base != "clamped":
            raise ArmError(
                f"inertia_order = 'first': is of arms whose base does not move, and base = {self.base!r}; must be "
                "'full' beside it."
            )
        one_of("frames", turned, FRAMES, "'rotation' turns without stretching")
        require_truth("foreshortening", shorter)
        require_truth("second_order", second)
        one_of("rotor_motion", rotor, ROTORS, "'carried' is what a rotor in a moving link does")
        one_of("torsion_spin", spin, TORSION_SPINS, "'absolute' counts the turning of the link")
        if turned == "linear" and (rotor, spin) != ("reflected", "relative"):
            raise ArmError(
                f"frames = 'linear': stretches the axes of links, against which rotor_motion = {rotor!r} and "
                f"torsion_spin = {spin!r} have no rate; must be 'reflected' and 'relative' beside it, or frames = "
                "'rotation'."
            )
        self._refuse_stretched_tips(turned)
        return dataclasses.replace(
            self,
            inertia_order=order,
            frames=turned,
            foreshortening=shorter,
            second_order=second,
            rotor_motion=rotor,
            torsion_spin=spin,
        )
