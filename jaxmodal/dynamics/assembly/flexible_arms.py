"""Assembly of the arrays of a model from an arm.

The code uses `xp`: a concrete arm is assembled in NumPy and compiles nothing; with traced values of the arm the same
lines are traced. Shapes are constants in both cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import reals, whole
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.kinds import ByKind
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.assembly.arguments import check_size, friction_of, per_link, require_finite
from jaxmodal.dynamics.assembly.arms_in_space import arm_in_space
from jaxmodal.dynamics.assembly.engine_shapes import locked_arm_shapes
from jaxmodal.dynamics.assembly.links import (
    JointedLink,
    end_bodies,
    jointed_links,
)
from jaxmodal.dynamics.assembly.supports import supports_of
from jaxmodal.dynamics.assembly.tables import LinkTables, padded, rotating
from jaxmodal.dynamics.frequency_equation import EndBody
from jaxmodal.dynamics.layout import Layout
from jaxmodal.dynamics.model import FlexibleArm, one_of
from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.dynamics.shapes import (
    LinkShapes,
    clamped_mass_shapes,
    monomial_shapes,
    polynomial_shapes,
)
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced, xp
from jaxmodal.runtime.precision import require_x64
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm

FAMILIES = ("clamped_mass", "clamped_free", "polynomial", "monomial", "locked_arm")
COORDINATES = ("as_given", "tip_deflection")


def link_shapes(
    arm: Arm,
    modes: int | Sequence[int],
    family: str = "clamped_mass",
    bodies: Sequence[EndBody] | None = None,
) -> tuple[LinkShapes, ...]:
    """Return assumed shapes of every link of an arm, between joints.

    Parameters
    ----------
    arm
        The arm; concrete for shapes that depend on it.
    modes
        Number of shapes of each link, or one number for all; rigid links have none.
    family
        ``"clamped_mass"`` (De Luca and Siciliano, eqs (14)-(22)), ``"clamped_free"``, ``"polynomial"`` (Legendre
        polynomials as curvatures), ``"monomial"`` (xi^2, xi^3, ...) or ``"locked_arm"`` (the deflections of each link
        in the exact modes of the arm with joints locked in its posture: m shapes on every link represent the first m
        modes).
    bodies
        Bodies at the ends of the links for clamped-mass shapes; by default `end_bodies` of the arm with (MD) = 0.

    Raises
    ------
    ArmError
        If a choice is not allowed, or the numbers do not match the number of links.
    """
    links = jointed_links(arm)
    one_of("family", family, FAMILIES, "'clamped_mass' converges fastest")
    counts = _counts(modes, len(links))
    if bodies is not None:
        _check_bodies(bodies, family, len(links))
    counts = [0 if link.rigid else count for link, count in zip(links, counts, strict=True)]
    check_size(len(links) + sum(counts))
    if family == "polynomial":
        return tuple(map(polynomial_shapes, counts))
    if family == "monomial":
        return tuple(map(monomial_shapes, counts))
    if family == "clamped_free":
        bodies = [EndBody()] * len(links)
    if is_traced(arm):
        raise ArmError(
            f"arm: holds traced values, and its {family} shapes are found in NumPy; make the shapes from a concrete "
            "arm with link_shapes and give them to flexible_arm(arm, shapes=...)."
        )
    if family == "locked_arm":
        return locked_arm_shapes(arm, links, counts)
    found = end_bodies(arm) if bodies is None else bodies
    return tuple(
        clamped_mass_shapes(count, end, float(link.mass), float(link.length))
        for count, end, link in zip(counts, found, links, strict=True)
    )


def _counts(modes: Any, n: int) -> list[int]:
    """Return the number of modes of each link."""
    rows = isinstance(modes, (list, tuple)) or (isinstance(modes, np.ndarray) and modes.ndim == 1)
    given = list(modes) if rows else [modes] * n
    if len(given) != n:
        raise ArmError(f"modes = {shown(modes)}: must be one number, or {n}, one for each link.")
    try:
        return [whole("modes", count, 0, limits.LINK_MODES) for count in given]
    except ArmError as error:
        raise ArmError(
            f"modes = {shown(modes)}: must be whole numbers from 0 (rigid) to {limits.LINK_MODES}, one for all links "
            "or a list with one for each."
        ) from error


def _check_bodies(bodies: Any, family: str, n: int) -> None:
    known = isinstance(bodies, (list, tuple)) and all(isinstance(b, EndBody) for b in bodies)
    if not known or family != "clamped_mass" or len(bodies) != n:
        raise ArmError(
            f"bodies = {shown(bodies)} for family {family!r}: must be a list of {n} EndBody, one for each link, and "
            "only clamped-mass shapes use them."
        )


def _made(
    arm: Arm, modes: Any, shapes: Any, links: Sequence[JointedLink]
) -> tuple[LinkShapes, ...]:
    """Return the shapes of each link, from the name of a family or as given."""
    n = len(links)
    if isinstance(shapes, str):
        return link_shapes(arm, modes, shapes)
    if not isinstance(shapes, (list, tuple)) or not all(isinstance(s, LinkShapes) for s in shapes):
        raise ArmError(
            f"shapes = {shown(shapes)}: must be one of {', '.join(map(repr, FAMILIES))} for all links, or a list of "
            f"{n} LinkShapes, one for each; link_shapes(arm, modes, family) creates those of a family."
        )
    if len(shapes) != n:
        raise ArmError(f"shapes: {len(shapes)} given; must be {n}, one LinkShapes for each link.")
    for number, (shape, link) in enumerate(zip(shapes, links, strict=True), start=1):
        if link.rigid and shape.count:
            raise ArmError(
                f"shapes[{number}]: has {shape.count} shapes, and link {number} between joints is rigid; must have "
                "none: use link_shapes(arm, modes), or leave rigid out of the link."
            )
    return tuple(shapes)


@overload
def flexible_arm(arm: Arm, modes: Any = ..., **choices: Any) -> FlexibleArm: ...


@overload
def flexible_arm(arm: SpatialArm, modes: Any = ..., **choices: Any) -> SpatialFlexibleArm: ...


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # type: ignore[misc]
def flexible_arm(
    arm: AnyArm,
    modes: Any = 2,
    *,
    shapes: Any = None,
    coordinates: str = "as_given",
    gravity: Any = None,
    kelvin_voigt_time: Any = 0.0,
    damping_ratio: Any = 0.0,
    viscous_friction: Any = 0.0,
    coulomb_friction: Any = 0.0,
    coulomb_width: Any = 0.01,
    inertia_order: str = "full",
    frames: str = "rotation",
    foreshortening: bool = True,
    second_order: bool = True,
    rotor_motion: str = "carried",
    torsion_spin: str = "absolute",
    torsional_inertia: Any = None,
    base: str = "clamped",
    joint_position: Any = None,
) -> FlexibleArm | SpatialFlexibleArm:
    """Return the model of an arm in motion: a `FlexibleArm` for a planar arm, a `SpatialFlexibleArm` for one in space.

    Parameters
    ----------
    arm
        Links, hubs, stators, rotors, tip bodies and payload; a finite ``joint_stiffness`` is a spring between the motor
        and the link. The rotor stands at the motor, or with ``motor="beyond_spring"`` at the link: that motor has no
        inertia, so that it can be locked or moved as given, and not be driven by a torque; in space neither has the
        motor of a spring without a rotor. In the plane segments make
        one link of several pieces, so that a lumped mass may stand anywhere. Joint angles count for nothing but the
        shapes and supports. Supports are springs, unstrained in the posture of the joint angles.
        In space joints may slide, and segments are links of their own, with shapes of their own; an elastic base gives
        way by its six springs.
    modes
        Number of assumed modes of each link, or one number for all; ignored with given shapes. In space a number means
        that many shapes of bending in each plane of a link, one of torsion and none of stretch; a dict such as
        ``{"bending_xy": 3, "bending_xz": 3, "torsion": 2, "stretch": 1}`` gives each, 0 by default. Rigid links have
        none.
    shapes
        Family of `link_shapes`, by default ``"clamped_mass"``, or given shapes for each link. In space ``"polynomial"``
        (default), ``"monomial"``, ``"clamped_free"``, ``"clamped_mass"`` or ``"locked_arm"``, for which ``modes`` is
        the number of modes of the arm from which shapes are taken; or a dict of families or given shapes by
        deformation; or a list of either, one for each link.
    coordinates
        ``"as_given"`` keeps the scale of the shapes; ``"tip_deflection"`` scales each to 1 at the end of its link, so
        that a modal coordinate is a length, or an angle, that does not depend on any normalisation.
    gravity
        Acceleration of gravity in the axes of the base (with a free base, of the ground), m/s^2, such as (0, -9.81) or
        (0, 0, -9.81); none by default.
    kelvin_voigt_time
        Structural damping as a time in s: D = time K; one number or one for each link. In space the value of the link
        itself is added, and the ``joint_damping`` of the link acts in parallel with the spring of its joint.
    damping_ratio
        Structural damping of each mode, 2 ratio sqrt(K_jj m_j) with the modal mass m_j; one number or one for each
        link.
    viscous_friction, coulomb_friction
        Friction of each joint, N m s/rad and N m, on the joint side of the gear (at the motor angle of an elastic
        joint).
    coulomb_width
        Rate in rad/s over which Coulomb friction changes sign: tanh(rate/width).
    inertia_order, frames, foreshortening
        See `FlexibleArm`; in space ``inertia_order="first"`` needs a clamped base.
    second_order, rotor_motion, torsion_spin
        For an arm in space, see `SpatialFlexibleArm`.
    torsional_inertia
        For an arm in space, inertia about the line of the links per length, kg m; one number or one for each link, None
        for density times I_y + I_z of the section.
    base
        For an arm in space: ``"clamped"``, with ``base_stiffness`` on springs; ``"driven"`` with a motion given to
        `simulate`; or ``"free"`` for a base that floats freely. A free base is a rigid body, the ``stator`` of link 1,
        and the axis and the frame of joint 1 are given in the axes of the base.
    joint_position
        For a free base: position of joint 1 relative to the point of the base whose position and velocity are
        coordinates and rates, in the axes of the base, m. By default that point is joint 1.

    Raises
    ------
    ArmError
        If a choice or a value is not allowed, or the arm has features that the dynamics do not support.
    X64DisabledError
        If JAX's 64-bit mode is off.

    Notes
    -----
    Links are Euler-Bernoulli beams; planar ones do not stretch. Gauss quadrature is used, exact to rounding for every
    family.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> from jaxmodal.dynamics import flexible_arm
    >>> model = flexible_arm(jm.examples.two_link_flexible(), modes=2)
    >>> model.num_links, model.num_coordinates
    (2, 6)
    >>> flexible_arm(jm.examples.canadarm2_like(), modes=2).num_links
    5
    """
    require_x64()
    damping = {
        "kelvin_voigt_time": kelvin_voigt_time,
        "damping_ratio": damping_ratio,
        "viscous_friction": viscous_friction,
        "coulomb_friction": coulomb_friction,
        "coulomb_width": coulomb_width,
    }
    one_of("coordinates", coordinates, COORDINATES, "'tip_deflection' needs no normalisation")
    posing = {"frames": frames, "foreshortening": foreshortening, "inertia_order": inertia_order}
    formulation = {
        "second_order": second_order,
        "rotor_motion": rotor_motion,
        "torsion_spin": torsion_spin,
    }
    parts = {"torsional_inertia": torsional_inertia, "base": base, "joint_position": joint_position}
    given = modes, shapes, coordinates == "tip_deflection", gravity, damping
    return _MADE.of(arm)(arm, given, posing, formulation, parts)


def _in_plane(
    arm: Arm, given: Any, posing: Any, formulation: dict[str, Any], parts: dict[str, Any]
) -> FlexibleArm:
    _refuse_choices_in_space(formulation | parts)
    return _planar_arm(arm, *given).posed(**posing)


def _in_space(
    arm: SpatialArm, given: Any, posing: Any, formulation: dict[str, Any], parts: dict[str, Any]
) -> SpatialFlexibleArm:
    return arm_in_space(arm, *given, **parts).posed(**posing, **formulation)


_MADE: ByKind[Callable[..., Any]] = ByKind(_in_plane, _in_space)


def _refuse_choices_in_space(given: Mapping[str, Any]) -> None:
    """Refuse choices for arms in space: in the plane a link does not twist, and a rotor turns with its link."""
    defaults = (True, "carried", "absolute", None, "clamped", None)
    for (name, value), default in zip(given.items(), defaults, strict=True):
        if value is not default and value != default:
            raise ArmError(
                f"{name} = {shown(value)}: is a choice of arms in space; must be {default!r} for a planar arm, or left "
                "out; jaxmodal.to_spatial(arm) makes it an arm in space."
            )


def _planar_arm(
    arm: Arm, modes: Any, shapes: Any, scaled: bool, gravity: Any, damping: Mapping[str, Any]
) -> FlexibleArm:
    """Return the model of a planar arm with the default formulation of `FlexibleArm`."""
    links = jointed_links(arm)
    n = len(links)
    made = _made(arm, modes, "clamped_mass" if shapes is None else shapes, links)
    if scaled:
        made = tuple(shape.in_tip_deflections() if shape.count else shape for shape in made)
    counts = tuple(shape.count for shape in made)
    elastic = tuple(link.is_elastic for link in links)
    check_size(n + sum(counts) + sum(elastic))
    layout, units = Layout(counts, elastic), np.eye(n + sum(counts) + sum(elastic))

    tables = [LinkTables(link, shape, layout) for link, shape in zip(links, made, strict=True)]
    gram = [table.gram for table in tables]
    gram[-1] = gram[-1] + arm.payload.mass * tables[-1].point(tables[-1].end)
    for i, link in enumerate(links):
        joint = link.joint
        if joint.hub is not None:
            gram[i] = gram[i] + joint.hub.mass * tables[i].point(tables[i].base)
        if joint.stator is not None and i > 0:
            gram[i - 1] = gram[i - 1] + joint.stator.mass * tables[i - 1].point(tables[i - 1].end)
    per_metre = xp.stack([xp.asarray(1.0 / link.length) for link in links])
    inertias, rates, bodies = rotating(links, tables, arm.payload.inertia, layout, per_metre)

    times = per_link("kelvin_voigt_time", damping["kelvin_voigt_time"], n, "s")
    ratios = per_link("damping_ratio", damping["damping_ratio"], n, "of critical")
    stiffness, losses = np.zeros_like(units), np.zeros_like(units)
    for i, (link, spread) in enumerate(zip(links, layout.spread, strict=True)):
        own = tables[i].stiffness
        modal_mass = padded(made[i].modal_mass, layout.width) * link.mass
        diagonal = 2.0 * ratios[i] * xp.sqrt(xp.diagonal(own) * modal_mass)
        stiffness = stiffness + spread @ own @ spread.T
        losses = losses + spread @ (times[i] * own + diagonal * np.eye(len(diagonal))) @ spread.T
        if elastic[i]:
            twist = units[i] - units[layout.driven[i]]
            stiffness = stiffness + link.joint.joint_stiffness * np.outer(twist, twist)
    friction = per_link("viscous_friction", damping["viscous_friction"], n, "N m s/rad")
    for i, place in enumerate(layout.driven):
        losses = losses + friction[i] * np.outer(units[place], units[place])

    model = FlexibleArm(
        length=1.0 / per_metre,
        gram=xp.stack(gram),
        tip=np.stack([table.tip for table in tables]),
        tip_slope=np.stack([table.tip_slope for table in tables]) * per_metre[:, None],
        shortening=np.stack([table.shortening for table in tables]) * per_metre[:, None, None],
        stations=xp.stack([table.stations for table in tables]),
        inertias=inertias,
        rates=rates,
        stiffness=stiffness,
        damping=losses,
        **friction_of(damping, n),
        gravity=_vector("gravity", (0.0, 0.0) if gravity is None else gravity),
        modes=counts,
        elastic=elastic,
        rotor_beyond=tuple(link.rotor_beyond for link in links),
        **supports_of(links, tables, layout, per_metre),
        bodies=bodies,
    )
    require_finite(model, "length", "gram", "inertias", "stiffness", "damping")
    return model


def _vector(name: str, value: Any) -> Any:
    expected = "two numbers in m/s^2, in the axes of the base; (0, -9.81) is the Earth's on a vertical plane"
    numbers = jnp.asarray(value) if is_traced(value) else reals(name, value, expected)
    if numbers.shape != (2,):
        raise ArmError(f"{name} = {shown(value)}: must be {expected}.")
    if not is_traced(numbers) and not np.all(np.isfinite(numbers)):
        raise ArmError(f"{name} = {shown(value)}: must be finite (m/s^2).")
    return numbers
