"""Planar arms: links in series, a posture and a payload."""

import dataclasses
import os
from typing import Any, ClassVar

from jaxmodal.arm.bases import BaseStiffness, base_rules
from jaxmodal.arm.descriptions import link_row, posture_text, value_texts
from jaxmodal.arm.facts import LinkFacts, link_facts
from jaxmodal.arm.link_rules import JOINT_FIELDS
from jaxmodal.arm.links import Link
from jaxmodal.arm.loads import Loads
from jaxmodal.arm.payloads import Payload
from jaxmodal.arm.quantities import (
    Constraint,
    Scalar,
    frozen_pytree,
    shown,
    static,
    value_text,
)
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.arm.straight_links import StraightLink
from jaxmodal.arm.tables import link_table, loads_table
from jaxmodal.arm.twins import twin_of
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.tables import Table

__all__ = ["Arm", "Link", "Payload"]


@frozen_pytree
class Arm(Drawn, SerialArm):
    """A planar arm: links in series from the clamped base to the tip.

    Parameters
    ----------
    links
        The links from base to tip, one or more, counted from 1 in addresses and messages.
    payload
        Rigid body carried at the tip of the last link.
    name
        Free text.
    loads
        Static loads on the arm, the same in every posture; the axial forces they cause stiffen or soften it.
    base_stiffness
        Elastic base: symmetric 3 x 3 stiffness over (x, y, rotation) at joint 1, in ground axes, in N/m, N/rad and
        N m/rad; or its three diagonal values. On the diagonal, inf is rigid and 0 is free. The springs of joint 1 are
        in series with the base. If left out, the base is rigid.

    Raises
    ------
    ArmError
        If there are no links, or one of them is not a `Link`.
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
    >>> from jaxmodal.arm.sections import rectangle
    >>> link = Link(0.5, 70e9, 2700.0, rectangle(depth=0.01, width=0.05), tip_mass=0.2)
    >>> arm = Arm((link, link), name="two equal links").with_posture([0.785])
    >>> float(arm.links[1].joint_angle)
    0.785
    >>> round(float(arm.total_mass), 3)
    1.75
    """

    link_kind: ClassVar[type[Link]] = Link
    payload_kind: ClassVar[type[Payload]] = Payload
    base_kind: ClassVar[type[BaseStiffness]] = BaseStiffness
    directions: ClassVar[tuple[str, ...]] = ("along", "across", "x", "y", "rotation")
    loads_kind: ClassVar[type[Loads]] = Loads
    some_loads: ClassVar[str] = "Loads(gravity=9.81)"
    know_loads: ClassVar[str] = (
        "natural_frequencies, natural_frequencies_batch, mode_shapes, sensitivities, sweeps, frequency_response, "
        "forced responses, damped_modes, their sensitivities, sums over modes and static_compliance"
    )
    links: tuple[Link, ...]
    payload: Payload = dataclasses.field(default_factory=lambda: Payload())
    name: str = static(default="")
    loads: Loads | None = None
    base_stiffness: BaseStiffness | None = None

    def constraints(self) -> tuple[Constraint, ...]:
        return base_rules(self.links, self.base_stiffness, self.loads)

    def tables(self) -> list[Table]:
        """Return the links with their joints and bodies, and the payload."""
        rows = [link_row(link, number) for number, link in enumerate(self.links, start=1)]
        count = self.num_links
        notes = [f"total mass {value_text(self.total_mass)} kg"]
        if carried := value_texts(self.payload):
            notes.insert(0, f"payload: {', '.join(carried)}")
        if self.loads is not None:
            notes.insert(0, f"loads: {', '.join(value_texts(self.loads))}")
        if self.base_stiffness is not None:
            notes.insert(0, f"base: {', '.join(value_texts(self.base_stiffness))}")
        title = f"{self.name or 'arm'}: {count} link{'s' * (count > 1)}"
        posture = posture_text(self)
        title += f", {posture}" if posture else ""
        texts = [list(row.values()) for row in rows]
        return [Table(title, list(rows[0]), texts, notes, ("section", "joint", "also"))]

    @property
    def total_mass(self) -> Scalar:
        """Mass of all links, tip bodies and the payload, kg."""
        bodies = [link.mass + link.body_mass for link in self.links]
        return sum(bodies[1:], start=bodies[0]) + self.payload.mass

    def link_facts(self) -> list[LinkFacts]:
        return link_facts(self)

    def with_thickness_factor(self, thickness_factor: Any) -> "Arm":
        """Return the arm with the same thickness factor on every link.

        Parameters
        ----------
        thickness_factor
            Factor s, greater than 0; it replaces the factors that the links have. The source paper uses its
            Table 1 with s = 1, 10, 25, 50 and 100.

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

    def _is_fixed(self, single: str) -> bool:
        owner, _, field = single.partition(".")
        if field == "thickness_factor":
            return not self._link(owner).section.scalable
        return field in JOINT_FIELDS and self._link(owner).segment

    def _link(self, owner: str) -> Link:
        """The link that ``link2`` names."""
        return self.links[int(owner.removeprefix("link")) - 1]

    def _why_without(self, link: int, owner: str, field: str) -> str:
        if link and field == "thickness_factor":
            section = self.links[link - 1].section
            return (
                f"a section of shape {section.shape!r} has no single thickness to scale; "
                f"vary 'link{link}.section.{section.dimension_to_vary}' instead."
            )
        if why := super()._why_without(link, owner, field):
            return why
        if owner == "base_stiffness":
            return (
                "it has no elastic base, or none with such a value; give it one with "
                "arm.replace(base_stiffness=[k_x, k_y, k_rotation]) or three rows, in a file base_stiffness = [...]; "
                "its values are k11, k22, k33, k12, k13 and k23."
            )
        return twin_of("plane", link, field) if link else ""

    def _link_table(self, link: Link) -> dict[str, Any]:
        return link_table(link)

    def _loads_table(self) -> dict[str, Any]:
        assert self.loads is not None
        return loads_table(self.loads)


#: what takes an arm in space as it takes a planar one
TAKE_ARMS_IN_SPACE = (
    "natural_frequencies",
    "natural_frequencies_batch",
    "frequencies_in_band",
    "count_below",
    "certify",
    "mode_shapes",
    "sensitivities",
    "modal_quantities_batch",
    "directional_derivatives",
    "posture_series",
    "postures_at",
    "resonance_free",
    "frequency_response",
    "response_sensitivities",
    "harmonic_response",
    "response_peaks",
    "random_response",
    "time_response",
    "static_compliance",
    "static_equilibrium",
    "buckling",
    "preloaded_frequencies",
    "damped_modes",
    "damped_modes_batch",
    "damped_sensitivities",
    "sums over modes",
    "write_arm",
    "the functions of parameters",
    "check",
    "jaxmodal.dynamics",
    "jaxmodal check, frequencies, modes, sensitivities, statics, buckling and simulate",
    "sweeps without responses",
    "design_opt",
)


def require_planar(arm: object) -> Arm:
    """Return ``arm`` if it is a planar arm, else raise an ArmError with a remedy.

    The remedies are for a path, a link and an arm in space.
    """
    if isinstance(arm, Arm):
        return arm
    raise ArmError(
        f"arm = {type(require_arm(arm)).__name__}(...): must be an Arm, which is planar. Arms in space are taken by "
        f"{', '.join(TAKE_ARMS_IN_SPACE)}."
    )


def require_arm(arm: object) -> SerialArm:
    """Return ``arm`` if it is an arm of either kind, else raise an ArmError with a remedy (for a path, a link)."""
    if isinstance(arm, SerialArm):
        return arm
    if isinstance(arm, (str, os.PathLike)):
        remedy = f"read a file with jaxmodal.read_arm({shown(arm)})."
    elif isinstance(arm, StraightLink):
        remedy = (
            "make one of links with Arm(links=(link, ...)), in space SpatialArm(links=(link, ...))."
        )
    elif isinstance(arm, dict):
        remedy = "make one of plain tables with jaxmodal.arm_from_dict."
    else:
        remedy = "make one with Arm(links=(Link(...), ...))."
    raise ArmError(f"arm = {shown(arm)}: must be an Arm or a SpatialArm; {remedy}")
