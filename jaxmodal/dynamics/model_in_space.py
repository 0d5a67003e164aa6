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
from jaxmodal.dynamics.model import FRAMES, FlexibleModel, Layout, fixed, one_of
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array
from jaxmodal.runtime.tables import Table

BASES = ("clamped", "free")
#: displacements of a free base in its axes, as a linearisation names them
_DIRECTIONS = tuple(f"base.{name}" for name in ("x", "y", "z", "rx", "ry", "rz"))
DEFORMATIONS = ("stretch", "torsion", "bending_xy", "bending_xz")
ROTORS = ("carried", "reflected")
TORSION_SPINS = ("absolute", "relative")

#: of each deformation: how many shapes of it a link has
Counts = tuple[int, int, int, int]


@dataclasses.dataclass(frozen=True)
class Functions:
    """The functions of x of a link with so many shapes of each deformation, in their order.

    1, x, the shapes of stretch and of bending in both planes, the shortening by pairs of those of each plane, and the
    second order of torsion with bending in x-z and in x-y.
    """

    widths: Counts

    @property
    def starts(self) -> np.ndarray:
        """Where each deformation begins among the modal coordinates of a link, and their number."""
        return np.concatenate([[0], np.cumsum(self.widths)])

    def modal(self, deformation: int) -> slice:
        """Where a deformation is among the modal coordinates of a link."""
        return slice(*self.starts[deformation : deformation + 2])

    def pairs(self, deformation: int) -> tuple[np.ndarray, np.ndarray]:
        """The shapes j <= k of a deformation."""
        rows, columns = np.triu_indices(self.widths[deformation])
        return rows, columns

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many functions there are of each kind."""
        stretch, torsion, xy, xz = self.widths
        shorter = (xy * (xy + 1) // 2, xz * (xz + 1) // 2)
        return (1, 1, stretch, xy, xz, *shorter, torsion * xz, torsion * xy)

    @property
    def number(self) -> int:
        """How many functions there are in all."""
        return sum(self.sizes)

    @property
    def directions(self) -> np.ndarray:
        """Direction of each function's part of c, shape (k, 3)."""
        axes = (0, 0, 0, 1, 2, 0, 0, 1, 2)
        return np.eye(3)[np.repeat(axes, self.sizes)]

    @property
    def factors(self) -> list[tuple[tuple[int, int], ...]]:
        """Of each function the shapes, by deformation and number, whose coordinates its number s is a product of."""
        stretch, torsion, xy, xz = self.widths
        single = [(0, j) for j in range(stretch)]
        single += [(2, j) for j in range(xy)] + [(3, j) for j in range(xz)]
        made: list[tuple[tuple[int, int], ...]] = [(), (), *((each,) for each in single)]
        for d in (2, 3):
            made += [((d, int(j)), (d, int(k))) for j, k in zip(*self.pairs(d), strict=True)]
        made += [((1, j), (3, k)) for j in range(torsion) for k in range(xz)]
        made += [((1, j), (2, k)) for j in range(torsion) for k in range(xy)]
        return made

    def kept(self, foreshortening: bool, second_order: bool) -> np.ndarray:
        """Indices of the functions that the equations know, as they are posed."""
        known = (True,) * 5 + (foreshortening,) * 2 + (second_order,) * 2
        return np.flatnonzero(np.repeat(known, self.sizes))


@dataclasses.dataclass(frozen=True)
class LayoutInSpace(Layout):
    """Which generalised coordinate of an arm in space stands where in q.

    Attributes
    ----------
    counts
        Number of shapes of each link: in stretch, in torsion, in bending in its x-y and in its x-z plane.
    springs
        Number of further springs of the joint of each link (``joint_springs``), whose deflections follow its shapes.
    floats
        Whether the base floats freely: its pose then stands after all others, and its six rates after all others.
    """

    counts: tuple[Counts, ...] = ()
    springs: tuple[int, ...] = ()
    floats: bool = False

    @property
    def free(self) -> np.ndarray:
        """1 for each rate that no motor moves, 0 for the others."""
        return np.concatenate([super().free, np.ones(6 * self.floats)])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates, one for each rate; of a free base those of its displacements in its axes."""
        return (*super().names, *(_DIRECTIONS * self.floats))

    @property
    def functions(self) -> Functions:
        """The functions of x of the links, as many of each deformation as any link has."""
        stretch, torsion, xy, xz = (max(c[d] for c in self.counts) for d in range(4))
        return Functions((stretch, torsion, xy, xz))

    @property
    def width(self) -> int:
        """Number of modal coordinates that a link has room for, m, with those of its joint's springs."""
        return sum(self.functions.widths) + max(self.springs)

    @property
    def places(self) -> np.ndarray:
        """Index of each modal coordinate, shape (n, m); N where a link has fewer shapes of a deformation."""
        functions = self.functions
        found = np.full((len(self.counts), self.width), self.size)
        start = len(self.counts)
        for i, (counts, springs) in enumerate(zip(self.counts, self.springs, strict=True)):
            for first, count in zip(functions.starts, (*counts, springs), strict=True):
                found[i, first : first + count] = np.arange(start, start + count)
                start += count
        return found

    def modal_names(self, number: int) -> list[str]:
        """Names of the modal coordinates of a link, counted from 1: ``bending_xy1`` and so on."""
        counts = (*self.counts[number - 1], self.springs[number - 1])
        each = zip((*DEFORMATIONS, "spring"), counts, strict=True)
        return [f"{name}{j}" for name, count in each for j in range(1, count + 1)]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class SpatialFlexibleArm(FlexibleModel):
    """An arm in space with flexible links in motion: n links, M modal coordinates, e elastic joints, N = n + M + e.

    The generalised coordinates q, shape (N,), are the joint angles theta_1 .. theta_n in rad; the modal coordinates of
    link 1, of link 2 and so on, of each first those of stretch, then of torsion, of bending in its x-y plane and of
    bending in its x-z plane, and the deflections of further springs of its joint, in m or rad; and for each elastic
    joint the angle of its motor behind the gear, in rad. Made by `flexible_arm`.

    With a base that floats freely, q has N + 7 entries: last the position of the base's point in the axes of the ground
    in m, and a quaternion (w, x, y, z) of its rotation (`base_pose`). The rates have N + 6: last the velocity of that
    point in m/s and the angular velocity of the base in rad/s, both in the axes of the base. Matrices and forces are
    over the rates.

    Attributes
    ----------
    gram : Array, shape (n, k + 8, k + 8)
        Scalar products of the k functions of each link (`Functions`) under its mass, then the pseudo-inertias of the
        bodies at its joint and at its tip: of place and axes of the joint's frame and of the tip's.
    ends : Array, shape (n, k)
        The functions at the end of the elastic part.
    tip_slope : Array, shape (n, m, 3)
        Rotation vector of the end by each shape, in the axes of the link.
    tip_turn : Array, shape (n, 3, m, m)
        Its second order: the rotation vector has ``delta . tip_turn delta`` besides.
    gives : Array, shape (n, p, 6)
        Directions of the further springs of the joint, displacement and rotation, in the axes of the link.
    axis, orientation : Array, shape (n, 3) and (n, 3, 3)
        Axis of the joint in the tip axes of the link before, and the link's axes at joint angle 0 in those. The axes of
        a link are here those of its section.
    start, offset : Array, shape (n, 3)
        Start of the elastic part seen from the joint in the axes of the link; the tip seen from its end, in tip axes.
    spin : Array, shape (n, 1 + t, 1 + t)
        Inertia about its own line of each link, over the rate of its frame about x and those of its t twists.
    rotor, gear : Array, shape (n,)
        Inertia of the rotor of each joint about the joint's axis, kg m^2, and its turns for one of the motor's angle.
    roll : Array, shape (3, 3)
        The last link's own axes in those of its section, for the rotation of the tip.
    stations : Array, shape (n, 21, k)
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
    counts : tuple of (int, int, int, int)
        Number of shapes of each link: stretch, torsion, bending in x-y, bending in x-z.
    springs : tuple of int
        Number of further springs of the joint of each link.
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
    base
        ``"clamped"``: the base does not move. ``"free"``: it floats freely.
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
    counts: tuple[Counts, ...] = fixed()  # type: ignore[assignment]
    springs: tuple[int, ...] = fixed()  # type: ignore[assignment]
    elastic: tuple[bool, ...] = fixed()  # type: ignore[assignment]
    rotor_beyond: tuple[bool, ...] = fixed()  # type: ignore[assignment]
    frames: str = fixed("rotation")  # type: ignore[assignment]
    foreshortening: bool = fixed(True)  # type: ignore[assignment]
    second_order: bool = fixed(True)  # type: ignore[assignment]
    rotor_motion: str = fixed("carried")  # type: ignore[assignment]
    torsion_spin: str = fixed("absolute")  # type: ignore[assignment]
    base: str = fixed("clamped")  # type: ignore[assignment]
    axes: ClassVar[tuple[str, ...]] = ("x", "y", "z")
    choices: ClassVar[tuple[str, ...]] = (
        *("inertia_order", "frames", "foreshortening"),
        *("second_order", "rotor_motion", "torsion_spin"),
    )
    inertia_order: ClassVar[str] = "full"  # type: ignore[misc]

    def tables(self) -> list[Table]:
        """Return the links, and how the equations are posed."""
        title = (
            f"flexible arm in space: {self.num_links} links, {sum(self.modes)} modal coordinates, "
            f"{sum(self.elastic)} elastic joints, N = {self.layout.size} generalised coordinates"
            f"{' on a free base' if self.floats else ''}"
        )
        posed = (
            f"frames {self.frames!r}, foreshortening {self.foreshortening}, second_order "
            f"{self.second_order}, rotor_motion {self.rotor_motion!r}, torsion_spin {self.torsion_spin!r}"
        )
        if np.ndim(self.gram) != 3:  # mapped over arms
            return [Table(title, (), (), (posed,))]
        known = self.layout.functions.number
        places = [0, known, known + 4]
        masses = np.asarray(self.gram)[:, places, places].sum(axis=1)
        rows = [
            [str(number), value_text(float(mass)), *map(str, counts), str(springs), joint]
            for number, (mass, counts, springs, joint) in enumerate(
                zip(
                    masses,
                    self.counts,
                    self.springs,
                    ("elastic" if spring else "rigid" for spring in self.elastic),
                    strict=True,
                ),
                start=1,
            )
        ]
        headings = ("link", "mass with bodies [kg]", *DEFORMATIONS, "joint springs", "joint")
        gravity = ", ".join(value_text(float(x)) for x in np.asarray(self.gravity))
        return [Table(title, headings, rows, (f"gravity ({gravity}) m/s^2; {posed}",), ("joint",))]

    @property
    def modes(self) -> tuple[int, ...]:  # type: ignore[override]
        """Number of modal coordinates of each link."""
        return tuple(
            sum(counts) + springs for counts, springs in zip(self.counts, self.springs, strict=True)
        )

    @property
    def layout(self) -> LayoutInSpace:
        """Which generalised coordinate stands where in q."""
        return LayoutInSpace(self.modes, self.elastic, self.counts, self.springs, self.floats)

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
        return np.sqrt(np.asarray(squares))

    def posed(
        self,
        frames: str | None = None,
        foreshortening: bool | None = None,
        second_order: bool | None = None,
        rotor_motion: str | None = None,
        torsion_spin: str | None = None,
    ) -> SpatialFlexibleArm:
        """Return the same arm with other choices of how its equations are posed; None leaves a choice as it is.

        The usual model of the literature is
        ``posed("linear", True, False, "reflected", "relative")``.

        Raises
        ------
        ArmError
            If a choice is none of the allowed ones, or linear frames meet what needs axes that are not stretched.
        """
        turned = self.frames if frames is None else frames
        shorter = self.foreshortening if foreshortening is None else foreshortening
        second = self.second_order if second_order is None else second_order
        rotor = self.rotor_motion if rotor_motion is None else rotor_motion
        spin = self.torsion_spin if torsion_spin is None else torsion_spin
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
        return dataclasses.replace(
            self,
            frames=turned,
            foreshortening=shorter,
            second_order=second,
            rotor_motion=rotor,
            torsion_spin=spin,
        )
