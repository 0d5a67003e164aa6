"""Arms: links in series, a posture, a payload; and the arrays that the physics computes with."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from jaxmodal.errors import ArmError, within
from jaxmodal.links import Link
from jaxmodal.payloads import Payload
from jaxmodal.quantities import (
    Record,
    Scalar,
    frozen_pytree,
    quantities,
    shown,
    static,
)
from jaxmodal.tables import link_table, record_table, toml_text

__all__ = ["Arm", "BeamArrays", "Link", "Payload", "beam_arrays", "invalid_values", "require_shear"]


@frozen_pytree
class Arm(Record):
    """A planar arm: links in series from the clamped base to the tip.

    Parameters
    ----------
    links
        The links from base to tip, one or more, counted from 1 in addresses and messages.
    payload
        Rigid body carried at the tip of the last link.
    name
        Free text.

    Raises
    ------
    ArmError
        If there is no link, or something other than a `Link` among them.
    X64DisabledError
        If JAX's 64-bit mode is off.

    Notes
    -----
    An arm is immutable and a pytree whose leaves are its physical values as float64, so it
    passes through ``jax.jit``, ``jax.vmap`` and ``jax.grad``. Only concrete values are
    validated, and only when an arm is made, not when JAX rebuilds one. Arms compare equal when
    their structure and all values are equal; they are not hashable.

    Examples
    --------
    >>> from jaxmodal.sections import rectangle
    >>> link = Link(0.5, 70e9, 2700.0, rectangle(depth=0.01, width=0.05), tip_mass=0.2)
    >>> arm = Arm((link, link), name="two equal links").with_posture([0.785])
    >>> float(arm.links[1].joint_angle)
    0.785
    >>> round(float(arm.total_mass), 3)
    1.75
    """

    links: tuple[Link, ...]
    payload: Payload = dataclasses.field(default_factory=lambda: Payload())
    name: str = static(default="")

    def __post_init__(self) -> None:
        if not isinstance(self.links, (tuple, list)) or not self.links:
            raise ArmError(
                f"links = {shown(self.links)}: must be a tuple of one Link or more; give "
                "Arm(links=(Link(...), ...))."
            )
        for number, link in enumerate(self.links, start=1):
            if not isinstance(link, Link):
                raise ArmError(f"link{number} = {shown(link)}: must be a Link.")
        if self.links[0].segment:
            raise ArmError(
                "link1.segment = True: there is no link before it to continue; take it away."
            )
        if not isinstance(self.payload, Payload):
            raise ArmError(
                f"payload = {shown(self.payload)}: must be a Payload; give Payload(mass=..., "
                "inertia=...)."
            )
        if not isinstance(self.name, str):
            raise ArmError(f"name = {shown(self.name)}: must be text.")
        object.__setattr__(self, "links", tuple(self.links))
        super().__post_init__()

    @property
    def num_links(self) -> int:
        """Number of links n, segments counted."""
        return len(self.links)

    @property
    def joints(self) -> tuple[int, ...]:
        """Numbers, from 1, of the links that begin with a joint: all but the segments."""
        return tuple(i for i, link in enumerate(self.links, start=1) if not link.segment)

    @property
    def total_mass(self) -> Scalar:
        """Mass of all links, tip bodies and the payload, kg."""
        bodies = [link.mass + link.body_mass for link in self.links]
        return sum(bodies[1:], start=bodies[0]) + self.payload.mass

    def with_posture(self, angles: Any) -> "Arm":
        """Return the arm in another posture.

        Parameters
        ----------
        angles
            The n - 1 angles theta_2 .. theta_n, rad, each relative to the previous link and
            counter-clockwise; or all n. Segments have no angle and do not count. A list, or a
            one-dimensional array, traced or not; for many postures at once, map over this method
            with ``jax.vmap``.

        Raises
        ------
        ArmError
            If there are neither n - 1 nor n angles, or a concrete one is not finite.

        Notes
        -----
        theta_1 turns the whole arm, which changes no natural frequency; with n - 1 angles it
        stays as it is.
        """
        joints = self.joints
        n = len(joints)
        shape = np.shape(angles) if hasattr(angles, "shape") else None
        if not isinstance(angles, Sequence) and (shape is None or len(shape) != 1):
            what = shown(angles) if shape in (None, ()) else f"an array of shape {shape}"
            raise ArmError(
                f"posture = {what}: must be a list or one-dimensional array of {n - 1} or {n} "
                "joint angles (rad); map over many postures with jax.vmap."
            )
        if isinstance(angles, str) or len(angles) not in (n - 1, n):
            count = len(angles)
            raise ArmError(
                f"posture = {shown(angles)}: has {count} value{'s' * (count != 1)}; an arm of {n} "
                f"link{'s' * (n != 1)} takes {n - 1} (theta_2 to theta_n) or {n}, in rad."
            )
        changed = list(self.links)
        for place, number in enumerate(joints[n - len(angles) :]):
            with within(f"link{number}."):
                changed[number - 1] = changed[number - 1].replace(joint_angle=angles[place])
        return self.replace(links=tuple(changed))

    def with_thickness_factor(self, thickness_factor: Any) -> "Arm":
        """Return the arm with the same thickness factor on every link.

        Parameters
        ----------
        thickness_factor
            Factor s, greater than 0; it replaces the links' own. Table 1 of the source paper is
            used with s = 1, 10, 25, 50 and 100.

        Raises
        ------
        ArmError
            If s is not allowed, or a link's section is neither a rectangle nor raw.
        """
        changed = []
        for number, link in enumerate(self.links, start=1):
            with within(f"link{number}."):
                if not link.section.scalable:
                    raise ArmError(
                        f"thickness_factor = {shown(thickness_factor)}: a section of shape "
                        f"{link.section.shape!r} has no single thickness to scale; vary "
                        f"section.{link.section.dimension_to_vary} instead."
                    )
                changed.append(link.replace(thickness_factor=thickness_factor))
        return self.replace(links=tuple(changed))

    def with_payload(
        self, mass: Any = 0.0, inertia: Any = 0.0, centre_x: Any = None, centre_y: Any = None
    ) -> "Arm":
        """Return the arm with another `Payload`: mass in kg, inertia in kg m^2, centre of gravity in m."""
        payload = Payload(mass=mass, inertia=inertia, centre_x=centre_x, centre_y=centre_y)
        return self.replace(payload=payload)

    def to_dict(self) -> dict[str, Any]:
        """Return the arm as the plain tables of an arm file; values at their default left out.

        Raises
        ------
        ArmError
            If a value is traced or batched.
        """
        document: dict[str, Any] = {"name": self.name} if self.name else {}
        document["links"] = []
        for number, link in enumerate(self.links, start=1):
            with within(f"link{number}."):
                document["links"].append(link_table(link))
        payload = record_table(self.payload)
        return document | ({"payload": payload} if payload else {})

    def to_toml(self) -> str:
        """Return the arm as the text of a TOML file, which `read_arm` reads back unchanged."""
        return toml_text(self.to_dict())


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class BeamArrays:
    """What the physics needs of an arm: one array per quantity, link 1 first, SI units.

    Every array has shape (n,); a slice of one link is of the same type, and so is a batch, whose
    further axes broadcast with the frequencies.

    ``shear_modulus_effective`` is kappa G, inf where it is not known; ``tip_mass`` and
    ``tip_inertia`` (about the tip) hold the payload in their last entry, and the part of the next
    joint's hub that moves with the link; ``joint_stiffness`` is inf at a rigid joint, 0 at a free
    hinge. ``has_shear`` says whether kappa G is known for every link.

    The fields after it are None where no link of the arm has anything of the kind. They are those
    of `Link`; ``tip_moment_x, tip_moment_y`` are the first moments of the body at the tip, kg m,
    and ``flexible`` is 1, or 0 for a rigid link.
    """

    length: Float[Array, "..."]
    youngs_modulus: Float[Array, "..."]
    area: Float[Array, "..."]
    second_moment: Float[Array, "..."]
    density: Float[Array, "..."]
    shear_modulus_effective: Float[Array, "..."]
    tip_mass: Float[Array, "..."]
    tip_inertia: Float[Array, "..."]
    joint_angle: Float[Array, "..."]
    joint_stiffness: Float[Array, "..."]
    has_shear: bool = dataclasses.field(metadata={"static": True})
    joint_axial_stiffness: Float[Array, "..."] | None = None
    joint_shear_stiffness: Float[Array, "..."] | None = None
    hub_mass: Float[Array, "..."] | None = None
    hub_inertia: Float[Array, "..."] | None = None
    rotor_inertia: Float[Array, "..."] | None = None
    gear_ratio: Float[Array, "..."] | None = None
    base_offset_x: Float[Array, "..."] | None = None
    base_offset_y: Float[Array, "..."] | None = None
    end_offset_x: Float[Array, "..."] | None = None
    end_offset_y: Float[Array, "..."] | None = None
    tip_moment_x: Float[Array, "..."] | None = None
    tip_moment_y: Float[Array, "..."] | None = None
    nonstructural_mass: Float[Array, "..."] | None = None
    flexible: Float[Array, "..."] | None = None


_STACKED = tuple(
    f.name for f in dataclasses.fields(BeamArrays) if f.default is dataclasses.MISSING
)[:-1]
#: what an arm has together or not at all, and what stands for nothing
_OPTIONAL = (
    {"joint_axial_stiffness": np.inf, "joint_shear_stiffness": np.inf},
    {"hub_mass": 0.0, "hub_inertia": 0.0},
    {"stator_mass": 0.0, "stator_inertia": 0.0},
    {"rotor_inertia": 0.0, "gear_ratio": 1.0},
    {"base_offset_x": 0.0, "base_offset_y": 0.0, "end_offset_x": 0.0, "end_offset_y": 0.0},
    {"tip_centre_x": 0.0, "tip_centre_y": 0.0},
    {"nonstructural_mass": 0.0},
)


def beam_arrays(arm: Arm) -> BeamArrays:
    """Return an arm as arrays over its links.

    Parameters
    ----------
    arm
        One arm; its values may be traced. Batches of arms go through ``jax.vmap``.

    Returns
    -------
    BeamArrays
        Float64 arrays of shape (n,), in SI units, link 1 first. For a raw section with thickness
        factor 1 the area and second moment are the given doubles, bit for bit.

    Raises
    ------
    ArmError
        If a value has a batch axis of its own.

    Notes
    -----
    Links of equal structure are computed together, so that tracing an arm of many links costs
    few operations.
    """
    groups = _stacked(arm)
    order = np.argsort([index for indices, _ in groups for index in indices])

    def column(name: str, absent: float | None = None) -> Float[Array, " n"]:
        parts = []
        for indices, links in groups:
            value = getattr(links, name)
            parts.append(_column(absent if value is None else value, len(indices)))
        return parts[0] if len(parts) == 1 else jnp.concatenate(parts)[order]

    columns = {name: column(name) for name in _STACKED}
    for group in _OPTIONAL:
        if any(getattr(links, name) is not None for _, links in groups for name in group):
            columns |= {name: column(name, absent) for name, absent in group.items()}
    if any(link.rigid for link in arm.links):
        columns["flexible"] = jnp.array([0.0 if link.rigid else 1.0 for link in arm.links])
    columns = _with_bodies(columns, arm.payload)
    return BeamArrays(**columns, has_shear=all(link.has_shear for link in arm.links))


def _with_bodies(columns: dict[str, Any], payload: Payload) -> dict[str, Any]:
    """The bodies at each tip as mass, first moments and inertia about the tip, payload and next stator included."""
    mass, inertia = columns["tip_mass"], columns["tip_inertia"]
    carried, own = (jnp.asarray(x, jnp.float64) for x in (payload.mass, payload.inertia))
    centres = [columns.pop(name, None) for name in ("tip_centre_x", "tip_centre_y")]
    centre = [payload.centre_x, payload.centre_y]
    if any(x is not None for x in (*centres, *centre)):
        for name, along, last in zip(("x", "y"), centres, centre, strict=True):
            place = jnp.zeros_like(mass) if along is None else along
            end = jnp.asarray(0.0 if last is None else last, jnp.float64)
            inertia = (inertia + mass * place * place).at[-1].add(carried * end * end)
            columns[f"tip_moment_{name}"] = (mass * place).at[-1].add(carried * end)
    mass, inertia = mass.at[-1].add(carried), inertia.at[-1].add(own)
    if "stator_mass" in columns:  # that of link 1 stands on the ground
        mass = mass.at[:-1].add(columns.pop("stator_mass")[1:])
        inertia = inertia.at[:-1].add(columns.pop("stator_inertia")[1:])
    return columns | {"tip_mass": mass, "tip_inertia": inertia}


def _column(values: Any, count: int) -> Float[Array, " k"]:
    return jnp.broadcast_to(jnp.asarray(values, jnp.float64), (count,))


def _stacked(arm: Arm) -> list[tuple[list[int], Link]]:
    """Group the links of equal structure; each group becomes one link with leaves (k,)."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(arm):
        if np.ndim(leaf) != 0:
            raise ArmError(
                f"{jax.tree_util.keystr(path).lstrip('.')} = {shown(leaf)}: this takes one arm, "
                "whose values are numbers; map over a batch of arms with jax.vmap."
            )
    groups: dict[Any, list[int]] = {}
    for index, link in enumerate(arm.links):
        groups.setdefault(jax.tree.structure(link), []).append(index)
    return [
        (indices, jax.tree.map(_stack, *(arm.links[index] for index in indices)))
        for indices in groups.values()
    ]


def _stack(*values: Any) -> Any:
    if all(isinstance(value, float) for value in values):
        return np.array(values, np.float64)
    return jnp.stack([jnp.asarray(value, jnp.float64) for value in values])


def require_shear(arm: Arm) -> None:
    """Refuse an arm that lacks what a theory with shear needs.

    Raises
    ------
    ArmError
        Naming the first link without a shear coefficient or without a shear modulus, and the key
        to add.
    """
    for number, link in enumerate(arm.links, start=1):
        if link.has_shear:
            continue
        section = link.section
        if section.shear_coefficient is None and section.shear_rule is None:
            raise ArmError(
                f"link{number}.section.shear_coefficient is missing: a theory with shear needs "
                "it; give a value such as 0.85, or a rule, 'cowper' or '5/6'; or choose the "
                "theory 'rayleigh' or 'euler_bernoulli'."
            )
        raise ArmError(
            f"link{number}.poisson_ratio is missing: a theory with shear needs it, or "
            "shear_modulus; give one of them, or choose the theory 'rayleigh' or "
            "'euler_bernoulli'."
        )


def invalid_values(arm: Arm) -> Bool[Array, ""]:
    """Return whether any value of an arm is one that construction would have refused.

    Parameters
    ----------
    arm
        One arm; its values may be traced, which construction cannot look at. Batches of arms go
        through ``jax.vmap``, and give one answer per lane.

    Returns
    -------
    Bool array, shape ()
        True if a value is NaN, infinite, of the wrong sign or outside its range, if a wall does
        not fit into its section, or if a thickness factor is not 1 for a shape without one.
    """
    valid: Any = jnp.asarray(True)
    for _, links in _stacked(arm):
        valid = valid & _holds(links) & _holds(links.section)
    invalid: Bool[Array, ""] = ~(valid & _holds(arm.payload))
    return invalid


def _holds(record: Record) -> Any:
    """Return whether all rules of one record hold, over all entries of its leaves."""
    checks = [
        item.metadata["rule"].holds(getattr(record, item.name))
        for item in quantities(record)
        if getattr(record, item.name) is not None
    ]
    with np.errstate(all="ignore"):
        checks += [constraint.holds for constraint in record.constraints()]
    valid: Any = jnp.asarray(True)
    for check in checks:
        valid = valid & jnp.all(jnp.asarray(check))
    return valid
