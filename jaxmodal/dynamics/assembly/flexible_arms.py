"""From an arm to the arrays of its model.

Written with `xp`: a concrete arm is assembled in NumPy and compiles nothing; the same lines are traced where a value
of the arm is. Shapes are constants either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import reals, scalar, whole
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.plain_arrays import plain
from jaxmodal.arm.quantities import NON_NEGATIVE, POSITIVE, shown
from jaxmodal.dynamics.assembly.engine_shapes import locked_arm_shapes
from jaxmodal.dynamics.assembly.links import (
    JointedLink,
    end_bodies,
    jointed_links,
)
from jaxmodal.dynamics.assembly.tables import LinkTables, padded, rotating
from jaxmodal.dynamics.frequency_equation import EndBody
from jaxmodal.dynamics.model import FlexibleArm, Layout, one_of
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

FAMILIES = ("clamped_mass", "clamped_free", "polynomial", "monomial", "locked_arm")
COORDINATES = ("as_given", "tip_deflection")


def link_shapes(
    arm: Arm,
    modes: int | Sequence[int],
    family: str = "clamped_mass",
    bodies: Sequence[EndBody] | None = None,
) -> tuple[LinkShapes, ...]:
    """Assumed shapes of every link of an arm, between joints.

    Parameters
    ----------
    arm
        The arm, concrete for shapes that depend on it.
    modes
        Number of shapes of each link, or one number for all; a rigid link has none.
    family
        ``"clamped_mass"`` (De Luca and Siciliano, eqs (14)-(22)), ``"clamped_free"``, ``"polynomial"`` (Legendre's
        polynomials as curvatures), ``"monomial"`` (xi^2, xi^3, ...) or ``"locked_arm"`` (what each link does in the
        exact modes of the arm, its joints locked in its posture: m shapes on every link hold the first m of them).
    bodies
        For clamped-mass shapes, what stands at the end of each link, instead of `end_bodies` of the arm with (MD) = 0.

    Raises
    ------
    ArmError
        If a choice is not allowed, or numbers do not fit the number of links.
    """
    links = jointed_links(arm)
    one_of("family", family, FAMILIES, "'clamped_mass' converges fastest")
    counts = _counts(modes, len(links))
    if bodies is not None:
        _check_bodies(bodies, family, len(links))
    counts = [0 if link.rigid else count for link, count in zip(links, counts, strict=True)]
    _check_size(len(links) + sum(counts))
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
    """Number of modes of each link."""
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


def _check_size(number: int) -> None:
    if number > limits.COORDINATES:
        raise ArmError(
            f"modes: the arm then has {number:,} generalised coordinates; at most {limits.COORDINATES}: take fewer "
            "modes, or fewer links."
        )


def _check_bodies(bodies: Any, family: str, n: int) -> None:
    known = isinstance(bodies, (list, tuple)) and all(isinstance(b, EndBody) for b in bodies)
    if not known or family != "clamped_mass" or len(bodies) != n:
        raise ArmError(
            f"bodies = {shown(bodies)} for family {family!r}: must be a list of {n} EndBody, one for each link, and "
            "only clamped-mass shapes know them."
        )


def _made(
    arm: Arm, modes: Any, shapes: Any, links: Sequence[JointedLink]
) -> tuple[LinkShapes, ...]:
    """The shapes of each link, by the name of a family or as they are given."""
    n = len(links)
    if isinstance(shapes, str):
        return link_shapes(arm, modes, shapes)
    if not isinstance(shapes, (list, tuple)) or not all(isinstance(s, LinkShapes) for s in shapes):
        raise ArmError(
            f"shapes = {shown(shapes)}: must be one of {', '.join(map(repr, FAMILIES))} for all links, or a list of "
            f"{n} LinkShapes, one for each; link_shapes(arm, modes, family) makes those of a family."
        )
    if len(shapes) != n:
        raise ArmError(f"shapes: {len(shapes)} of them; must be {n}, one LinkShapes for each link.")
    for number, (shape, link) in enumerate(zip(shapes, links, strict=True), start=1):
        if link.rigid and shape.count:
            raise ArmError(
                f"shapes[{number}]: has {shape.count} shapes, and link {number} between joints is rigid; must have "
                "none: take that of link_shapes(arm, modes), or leave rigid out of the link."
            )
    return tuple(shapes)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def flexible_arm(
    arm: Arm,
    modes: int | Sequence[int] = 2,
    *,
    shapes: str | Sequence[LinkShapes] = "clamped_mass",
    coordinates: str = "as_given",
    gravity: Any = (0.0, 0.0),
    kelvin_voigt_time: Any = 0.0,
    damping_ratio: Any = 0.0,
    viscous_friction: Any = 0.0,
    coulomb_friction: Any = 0.0,
    coulomb_width: Any = 0.01,
    inertia_order: str = "full",
    frames: str = "rotation",
    foreshortening: bool = True,
) -> FlexibleArm:
    """Return the model of an arm in motion.

    Parameters
    ----------
    arm
        Links, hubs, stators, rotors, tip bodies and payload. Segments make one link of several pieces, so that a
        lumped mass may stand anywhere; a finite ``joint_stiffness`` is a spring between the motor and the link. The
        rotor stands at the motor, or with ``motor="beyond_spring"`` at the link: that motor has no inertia, so that it
        can be locked or moved as given, and not be driven by a torque.
        Joint angles count for nothing but the shapes.
    modes
        Number of assumed modes of each link, or one number for all; it counts for nothing beside shapes made by hand.
    shapes
        A family of `link_shapes`, or shapes for each link, made by hand.
    coordinates
        ``"as_given"`` takes the shapes as they are scaled; ``"tip_deflection"`` scales each to 1 at the end of its
        link, so that a modal coordinate is a length that does not depend on any normalisation.
    gravity
        Acceleration of gravity in the axes of the base, m/s^2, such as (0, -9.81).
    kelvin_voigt_time
        Structural damping as a time in s: D = time K; one number or one for each link.
    damping_ratio
        Structural damping of each mode, 2 ratio sqrt(K_jj m_j) with the modal mass m_j; one number or one for each
        link.
    viscous_friction, coulomb_friction
        Of each joint, N m s/rad and N m, at the joint's side of the gear (at the motor's angle of an elastic joint).
    coulomb_width
        Rate in rad/s over which dry friction changes sign: tanh(rate/width).
    inertia_order, frames, foreshortening
        See `FlexibleArm`.

    Raises
    ------
    ArmError
        If a choice or a value is not allowed, or the arm has what these dynamics do not know.
    X64DisabledError
        If JAX's 64-bit mode is off.

    Notes
    -----
    Links are inextensible Euler-Bernoulli beams. Quadrature is Gauss's, exact to rounding for every family.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> from jaxmodal.dynamics import flexible_arm
    >>> model = flexible_arm(jm.examples.two_link_flexible(), modes=2)
    >>> model.num_links, model.num_coordinates
    (2, 6)
    """
    require_x64()
    links = jointed_links(arm)
    n = len(links)
    made = _made(arm, modes, shapes, links)
    one_of("coordinates", coordinates, COORDINATES, "'tip_deflection' needs no normalisation")
    if coordinates == "tip_deflection":
        made = tuple(shape.in_tip_deflections() if shape.count else shape for shape in made)
    counts = tuple(shape.count for shape in made)
    elastic = tuple(link.is_elastic for link in links)
    _check_size(n + sum(counts) + sum(elastic))
    layout, units = Layout(counts, elastic), np.eye(n + sum(counts) + sum(elastic))

    tables = [LinkTables(link, shape, layout) for link, shape in zip(links, made, strict=True)]
    gram = [table.gram for table in tables]
    gram[-1] = gram[-1] + arm.payload.mass * tables[-1].point(tables[-1].end)
    for i, link in enumerate(links):
        joint = link.joint
        if joint.hub_mass is not None:
            gram[i] = gram[i] + joint.hub_mass * tables[i].point(tables[i].base)
        if joint.stator_mass is not None and i > 0:
            gram[i - 1] = gram[i - 1] + joint.stator_mass * tables[i - 1].point(tables[i - 1].end)
    per_metre = xp.stack([xp.asarray(1.0 / link.length) for link in links])
    inertias, rates, bodies = rotating(links, tables, arm.payload.inertia, layout, per_metre)

    times = _per_link("kelvin_voigt_time", kelvin_voigt_time, n, "s")
    ratios = _per_link("damping_ratio", damping_ratio, n, "of critical")
    stiffness, damping = np.zeros_like(units), np.zeros_like(units)
    for i, (link, spread) in enumerate(zip(links, layout.spread, strict=True)):
        own = tables[i].stiffness
        modal_mass = padded(made[i].modal_mass, layout.width) * link.mass
        diagonal = 2.0 * ratios[i] * xp.sqrt(xp.diagonal(own) * modal_mass)
        stiffness = stiffness + spread @ own @ spread.T
        damping = damping + spread @ (times[i] * own + diagonal * np.eye(len(diagonal))) @ spread.T
        if elastic[i]:
            twist = units[i] - units[layout.driven[i]]
            stiffness = stiffness + link.joint.joint_stiffness * np.outer(twist, twist)
    friction = _per_link("viscous_friction", viscous_friction, n, "N m s/rad")
    for i, place in enumerate(layout.driven):
        damping = damping + friction[i] * np.outer(units[place], units[place])

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
        damping=damping,
        coulomb=_per_link("coulomb_friction", coulomb_friction, n, "N m"),
        coulomb_width=xp.asarray(
            scalar("coulomb_width", coulomb_width, POSITIVE, "rad/s", traced=True)
        ),
        gravity=_vector("gravity", gravity),
        modes=counts,
        elastic=elastic,
        rotor_beyond=tuple(link.rotor_beyond for link in links),
        bodies=bodies,
    )
    _check_finite(model)
    return model.posed(inertia_order, frames, foreshortening)


def _check_finite(model: FlexibleArm) -> None:
    """Refuse what overflowed: every value of the arm is finite, but not every product of them."""
    for name in ("length", "gram", "inertias", "stiffness", "damping"):
        values = getattr(model, name)
        if not is_traced(values) and not np.all(np.isfinite(values)):
            raise ArmError(
                f"arm: its {name} is not finite in float64; must be: look for lengths, masses, moduli or damping that "
                "are extremely large or small."
            )


def _per_link(name: str, value: Any, n: int, unit: str) -> Any:
    """One number for all links or joints, or one for each, shape (n,)."""
    value = plain(name, value)
    several = isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0
    entries = list(value) if several else [value] * n
    if len(entries) != n:
        raise ArmError(f"{name}: {len(entries)} values; must be one, or {n}, one for each.")
    made = []
    for number, entry in enumerate(entries, start=1):
        place = f"{name}[{number}]" if several else name
        made.append(xp.asarray(scalar(place, entry, NON_NEGATIVE, unit, traced=True)))
    return xp.stack(made)


def _vector(name: str, value: Any) -> Any:
    expected = "two numbers in m/s^2, in the axes of the base; (0, -9.81) is the Earth's on a vertical plane"
    numbers = jnp.asarray(value) if is_traced(value) else reals(name, value, expected)
    if numbers.shape != (2,):
        raise ArmError(f"{name} = {shown(value)}: must be {expected}.")
    if not is_traced(numbers) and not np.all(np.isfinite(numbers)):
        raise ArmError(f"{name} = {shown(value)}: must be finite (m/s^2).")
    return numbers
