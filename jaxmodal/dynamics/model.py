"""Model of a flexible arm as arrays: the data of the equations of motion, and the choices of their formulation.

A point of link i is ``p = r + w (x - s(x) + i y(x))`` (planar vectors as complex numbers), with the deflection
``y = phi(x) . delta`` and, with foreshortening, the shortening ``s = delta . Gamma(x) delta / 2``,
``Gamma = int_0^x phi' phi'^T``. It is a combination of the functions 1, x, phi_j and Gamma_jk of x. Their scalar
products weighted by the mass of the link, lumped bodies included, are the *Gram matrix* of the link: the only place
where mass and shapes enter the translational motion. Every rotating body has a rate that is a constant combination of
the generalised velocities.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import jax
import numpy as np

from jaxmodal.arm.arguments import require_truth
from jaxmodal.arm.quantities import shown, value_text
from jaxmodal.dynamics.layout import Layout
from jaxmodal.runtime.errors import ArmError, suggestion
from jaxmodal.runtime.namespace import Array
from jaxmodal.runtime.tables import ShowsTables, Table

#: values of the choices of formulation, and what one of them does; the other choices are true or false
_CHOICES = {
    "inertia_order": (("full", "first"), "'full' keeps all powers of the deflections"),
    "frames": (("rotation", "linear"), "'rotation' turns without stretching"),
    "rotor_motion": (("carried", "reflected"), "'carried' is what a rotor in a moving link does"),
    "torsion_spin": (("absolute", "relative"), "'absolute' counts the turning of the link"),
}


def one_of(name: str, value: object, allowed: tuple[str, ...], remedy: str) -> None:
    """Raise ArmError if a value is not one of the allowed choices."""
    if not isinstance(value, str) or value not in allowed:
        hint = suggestion(value, allowed) if isinstance(value, str) else ""
        raise ArmError(
            f"{name} = {shown(value)}: must be one of {', '.join(map(repr, allowed))}; {remedy}.{hint}"
        )


def fixed(default: object = dataclasses.MISSING) -> object:
    """Return a static field of a model, which is part of the compiled program and not an array."""
    return dataclasses.field(metadata={"static": True}, default=default)


class FlexibleModel(ShowsTables):
    """Base class of the models of planar arms and of arms in space, with the data of the equations of motion.

    Attributes
    ----------
    gram : Array, shape (n, k, k)
        Scalar products, weighted by mass, of the functions of x of each link.
    tip_slope : Array, shape (n, m) or (n, m, 3)
        Rotation of the end of the link by each shape, per unit of its coordinate.
    stiffness, damping : Array, shape (N, N)
        Stiffness matrix K and damping matrix D.
    coulomb, coulomb_width : Array, shape (n,) and ()
        Coulomb friction of each joint, and the rate over which its sign is smoothed.
    gravity : Array, shape (d,)
        Acceleration of gravity in the axes of the base, m/s^2.
    modes : tuple of int
        Number of modal coordinates of each link.
    elastic, rotor_beyond : tuple of bool
        True for each joint with a spring between motor and link; True for those whose rotor is beyond the spring.
    numbers, springs : tuple of int
        Number of each link, in space of the link that each piece is of, and of joint springs at its start.
    base, idle_base
        Of an arm in space how its base moves, and what it rules out; a planar arm is clamped.
    inertia_order, frames, foreshortening
        Choices of the formulation of the equations.
    support_stiffness, support_direction : Array, shape (s,) and (s, d)
        Stiffness of each spring between a tip and the ground, N/m or N m/rad, and its direction e in the ground.
    supported : tuple of (int, str)
        Link of each spring (in space the piece), from 0, and its kind.
    """

    gram: Array
    tip_slope: Array
    stiffness: Array
    damping: Array
    coulomb: Array
    coulomb_width: Array
    gravity: Array
    modes: tuple[int, ...]
    elastic: tuple[bool, ...]
    rotor_beyond: tuple[bool, ...]
    numbers: tuple[int, ...]
    springs: tuple[int, ...]
    base: str
    idle_base: str
    inertia_order: str
    frames: str
    foreshortening: bool
    support_stiffness: Array
    support_direction: Array
    supported: tuple[tuple[int, str], ...]
    #: axis names of positions, and names of the choices of formulation
    axes: ClassVar[tuple[str, ...]]
    choices: ClassVar[tuple[str, ...]]

    @property
    def layout(self) -> Layout:
        """Order of the generalised coordinates in the vector q."""
        raise NotImplementedError

    def end_deflections(self, deltas: np.ndarray) -> np.ndarray:
        """Return the end deflections of the links, m, (T, n), from modal coordinates (T, n, m); in space magnitudes."""
        raise NotImplementedError

    @property
    def first_axis(self) -> np.ndarray:
        """Axis of joint 1 in the axes of the base, shape (d,); 0 in the plane, across which it stands."""
        raise NotImplementedError

    @property
    def supported_links(self) -> tuple[int, ...]:
        """Numbers of the links that stand on supports, from 1."""
        return tuple(sorted({self.numbers[link] for link, _ in self.supported}))

    def _stands(self) -> str:
        """Which links stand on supports, as the beginning of a note."""
        links = ", ".join(map(str, self.supported_links))
        return f"supports at the tip of link {links}; " if links else ""

    def _with(self, **chosen: Any) -> Self:
        """Return the model with other choices of formulation, each checked; None changes none."""
        given = {name: value for name, value in chosen.items() if value is not None}
        made = dataclasses.replace(self, **given)  # type: ignore[type-var]  # every kind of it is a dataclass
        for name in self.choices:
            if name in _CHOICES:
                one_of(name, getattr(made, name), *_CHOICES[name])
            else:
                require_truth(name, getattr(made, name))
        if made.frames == "linear" and any(kind == "rotation" for _, kind in self.supported):
            raise ArmError(
                "frames = 'linear': stretches the axes of tips, whose rotation strains a support; must be 'rotation' "
                "beside supports of kind 'rotation' (in the plane support_torsional_stiffness)."
            )
        return made

    @property
    def num_links(self) -> int:
        """Number of joints n; also the number of links, except in space with segments."""
        return len(self.elastic)

    @property
    def floats(self) -> bool:
        """True if the base floats freely."""
        return self.base == "free"

    @property
    def num_coordinates(self) -> int:
        """Number of generalised coordinates: N, or N + 7 with a free base."""
        return self.layout.size + 7 * self.floats

    @property
    def num_rates(self) -> int:
        """Number of rates: N, or N + 6 with a free base."""
        return self.layout.size + 6 * self.floats


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class FlexibleArm(FlexibleModel):
    """Model of a planar arm with flexible links: n links, M modes in all, e elastic joints, N = n + M + e.

    The generalised coordinates q, shape (N,), are the joint angles theta_1 .. theta_n in rad (each relative to the end
    of the previous link), the modal coordinates of link 1, of link 2 and so on, and for each elastic joint the angle of
    its motor behind the gear, in rad. Created by `flexible_arm`.

    Attributes
    ----------
    length : Array, shape (n,)
        Lengths of the links, m.
    gram : Array, shape (n, k, k)
        Scalar products, weighted by the mass of the link, of 1, x, its m shapes and the m (m + 1)/2 functions Gamma_jk,
        j <= k; m is the largest number of modes of a link, and entries for missing modes are zero.
    tip, tip_slope : Array, shape (n, m)
        Deflection and slope of each shape at the end of its link, per unit of its coordinate.
    shortening : Array, shape (n, m, m)
        Gamma at the end of each link.
    stations : Array, shape (n, 21, k)
        Functions of `gram` at equally spaced positions along each link, from its base to its end, for plots.
    inertias, rates : Array, shape (b,) and (b, N)
        Moment of inertia of each rotating body in kg m^2, and its rate as a linear combination of dq/dt.
    stiffness, damping : Array, shape (N, N)
        Stiffness matrix K in N m/rad, N/m and so on, and damping matrix D.
    coulomb, coulomb_width : Array, shape (n,) and ()
        Coulomb friction torque of each joint in N m, and the rate in rad/s over which its sign is smoothed.
    gravity : Array, shape (2,)
        Acceleration of gravity in the axes of the base, m/s^2.
    modes : tuple of int
        Number of modes of each link.
    elastic : tuple of bool
        True for each joint that has a spring between motor and link.
    rotor_beyond : tuple of bool
        True for each of these whose rotor is beyond the spring, at the link, so that the motor has no inertia.
    support_stiffness, support_direction : Array, shape (s,) and (s, 2)
        Stiffness of each spring between a tip and the ground, N/m or N m/rad, and its direction; 0 for a spring about
        the axis of rotation.
    support_functions, support_turns : Array, shape (s, k) and (s, N)
        Functions of `gram` at the spring, and its rotation per dq; each 0 for the other kind.
    support_rest : Array, shape (s,)
        Position along its direction, m, or angle, rad, in which it is unstrained.
    bodies : tuple of (int, bool)
        Link with which each rotating body turns, from 0, and whether the body is the rotor of the joint of that link.
    inertia_order
        ``"full"`` keeps every power of the deflections in B; ``"first"`` keeps the first, as in the explicit model of
        De Luca and Siciliano. The truncated B is not positive definite at large deflections.
    frames
        ``"rotation"`` turns the next link by the end slope; ``"linear"`` multiplies it by 1 + i slope, eq (1) of the
        paper, which stretches everything beyond by sqrt(1 + slope^2).
    foreshortening
        True if a bent link gets shorter. If False, rotation does not stiffen links, and the effect of gravity on the
        frequencies has the wrong sign.
    supported : tuple of (int, str)
        Of each spring the link, from 0, and its kind, ``"translation"`` or ``"rotation"``.
    """

    length: Array
    gram: Array
    tip: Array
    tip_slope: Array
    shortening: Array
    stations: Array
    inertias: Array
    rates: Array
    stiffness: Array
    damping: Array
    coulomb: Array
    coulomb_width: Array
    gravity: Array
    support_stiffness: Array
    support_direction: Array
    support_functions: Array
    support_turns: Array
    support_rest: Array
    modes: tuple[int, ...] = fixed()  # type: ignore[assignment]
    elastic: tuple[bool, ...] = fixed()  # type: ignore[assignment]
    rotor_beyond: tuple[bool, ...] = fixed()  # type: ignore[assignment]
    bodies: tuple[tuple[int, bool], ...] = fixed()  # type: ignore[assignment]
    inertia_order: str = fixed("full")  # type: ignore[assignment]
    frames: str = fixed("rotation")  # type: ignore[assignment]
    foreshortening: bool = fixed(True)  # type: ignore[assignment]
    supported: tuple[tuple[int, str], ...] = fixed(())  # type: ignore[assignment]
    base, idle_base = "clamped", ""
    axes: ClassVar[tuple[str, ...]] = ("x", "y")
    choices: ClassVar[tuple[str, ...]] = ("inertia_order", "frames", "foreshortening")

    def tables(self) -> list[Table]:
        """Return a table of the links, with the choices of formulation."""
        bent, driven = sum(self.modes), sum(self.elastic)
        title = (
            f"flexible arm: {self.num_links} links, {bent} modes, {driven} elastic joints, N = {self.num_coordinates} "
            "generalised coordinates"
        )
        posed = f"inertia_order {self.inertia_order!r}, frames {self.frames!r}, foreshortening {self.foreshortening}"
        if np.ndim(self.length) != 1:  # mapped over arms
            return [Table(title, (), (), (posed,))]
        rows = [
            [str(number), value_text(float(length)), value_text(float(mass)), str(modes), joint]
            for number, (length, mass, modes, joint) in enumerate(
                zip(
                    np.asarray(self.length),
                    np.asarray(self.gram)[:, 0, 0],
                    self.modes,
                    ("elastic" if spring else "rigid" for spring in self.elastic),
                    strict=True,
                ),
                start=1,
            )
        ]
        headings = ("link", "length [m]", "mass with bodies [kg]", "modes", "joint")
        gravity = ", ".join(value_text(float(x)) for x in np.asarray(self.gravity))
        notes = (f"{self._stands()}gravity ({gravity}) m/s^2; {posed}",)
        return [Table(title, headings, rows, notes, ("joint",))]

    @property
    def layout(self) -> Layout:
        """Order of the generalised coordinates in the vector q."""
        return Layout(self.modes, self.elastic)

    @property
    def numbers(self) -> tuple[int, ...]:  # type: ignore[override]
        """Numbers of the links, from 1."""
        return tuple(range(1, self.num_links + 1))

    @property
    def springs(self) -> tuple[int, ...]:  # type: ignore[override]
        """Number of joint springs of each link: none."""
        return (0,) * self.num_links

    @property
    def first_axis(self) -> np.ndarray:
        return np.zeros(2)

    def end_deflections(self, deltas: np.ndarray) -> np.ndarray:
        return np.asarray(np.sum(deltas * np.asarray(self.tip), axis=-1))

    def posed(
        self,
        inertia_order: str | None = None,
        frames: str | None = None,
        foreshortening: bool | None = None,
    ) -> FlexibleArm:
        """Return the same arm with another formulation of its equations; None leaves a choice unchanged.

        The model of De Luca and Siciliano is ``posed("first", "linear", False)``.

        Raises
        ------
        ArmError
            If a choice is not one of the allowed values.
        """
        return self._with(inertia_order=inertia_order, frames=frames, foreshortening=foreshortening)


def require_motor_inertia(model: FlexibleModel) -> None:
    """Raise ArmError if motors or an elastic base of a model have no inertia, so that they cannot move freely."""
    numbers = [str(k) for k, beyond in enumerate(model.rotor_beyond, start=1) if beyond]
    require_base_inertia(model, "freely")
    if numbers:
        many = len(numbers) > 1
        raise ArmError(
            f"model: motor{'s' * many} {', '.join(numbers)} must have inertia to move freely; motor = 'beyond_spring' "
            "has the rotor at the link and leaves none before the spring, and so does a joint without rotor_inertia. "
            "Lock it (linearise with joints = 'locked'; in a file kind = 'locked' in the table [dynamics.motors]), "
            "prescribe its angle (simulate with motion), or make the arm with rotor_inertia and motor = 'held', which "
            "has the rotor before the spring."
        )


def require_base_inertia(model: FlexibleModel, motors: str) -> None:
    """Raise ArmError if the idle base of a model rules out motors that move ``"freely"`` or ``"as given"``."""
    if model.idle_base == "as given" or (model.idle_base and motors == "freely"):
        raise ArmError(
            "model: its base stands on springs and has no inertia along what gives way or moves freely at joint 1, so "
            "that accelerations cannot be told from one another; must have it to move in time: give link 1 a stator "
            "with mass and inertia about every axis, the body of the base. Frequencies of locked motors need none "
            "(linearise with joints = 'locked')."
        )


def require_model(model: object) -> None:
    """Raise ArmError if an object, such as an arm, is not a model."""
    if not isinstance(model, FlexibleModel):
        raise ArmError(
            f"model = {shown(model)}: must be a FlexibleArm or SpatialFlexibleArm; "
            "jaxmodal.dynamics.flexible_arm(arm, modes) returns one."
        )
