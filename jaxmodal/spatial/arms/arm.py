"""Arms in space: links in series, joints about any axes, a payload with an inertia tensor."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import jax
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import require_one_arm
from jaxmodal.arm.descriptions import value_texts
from jaxmodal.arm.paths import leaf_numbers, value_at, with_values
from jaxmodal.arm.quantities import Scalar, frozen_pytree, shown, static
from jaxmodal.arm.refusals import refuse_loads
from jaxmodal.arm.segments import split, with_pieces
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.arm.shapes import Section
from jaxmodal.arm.twins import twin_of
from jaxmodal.arm.validity import valid_cells
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.modes.gradients import frequency_gradients
from jaxmodal.spatial.modes.modal_model import modal_model
from jaxmodal.spatial.modes.motions import Frame, frames
from jaxmodal.spatial.modes.values import LinkValues, arm_values
from jaxmodal.spatial.parts.bases import BaseStiffness
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.descriptions import links_table
from jaxmodal.spatial.parts.facts import SpatialLinkFacts, facts_of
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.loads import SpatialLoads
from jaxmodal.spatial.parts.tables import DIMENSIONS, body_table, link_table
from jaxmodal.spatial.preload.derivatives import frequency_derivatives
from jaxmodal.spatial.preload.model import LoadedModel
from jaxmodal.spatial.stiffness.model import SpatialModel, spatial_model


@frozen_pytree
class SpatialArm(Drawn, SerialArm):
    """An arm in space: links in series from the base to the tip, each rotated relative to the previous one.

    Parameters
    ----------
    links
        The links (`SpatialLink`) from base to tip, at least one; numbered from 1.
    payload
        Rigid body carried at the tip of the last link, in the axes of this link.
    name
        Free text.
    base_stiffness
        6 x 6 stiffness of an elastic base over the motion (u, v, w, phi_x, phi_y, phi_z) of joint 1, in the axes of the
        ground, N/m, N/rad and N m/rad; or the six values of its diagonal. By default the base is clamped.
    loads
        Static loads on the arm (`SpatialLoads`), the same in every posture; the forces and moments they cause stiffen
        or soften it.

    Raises
    ------
    ArmError
        If there is no link, or something other than a `SpatialLink` among them.
    X64DisabledError
        If JAX's 64-bit mode is off.

    Notes
    -----
    Like `Arm`, an immutable pytree of float64 values. The springs of joint 1 are between the base and link 1.

    Examples
    --------
    >>> from jaxmodal.arm.sections import hollow_circle
    >>> tube = hollow_circle(0.1, 0.004, "cowper")
    >>> link = SpatialLink(0.8, 7e10, 2700.0, tube, poisson_ratio=0.33, joint_axis=(0, 1, 0))
    >>> arm = SpatialArm((link, link), payload=RigidBody(5.0)).with_posture([1.2])
    >>> float(arm.links[1].joint_angle)
    1.2
    """

    link_kind: ClassVar[type[SpatialLink]] = SpatialLink
    payload_kind: ClassVar[type[RigidBody]] = RigidBody
    base_kind: ClassVar[type[BaseStiffness]] = BaseStiffness
    marks: ClassVar[dict[str, Any]] = dict([DIMENSIONS])
    other_links: ClassVar[str] = "; jaxmodal.to_spatial makes them of planar links"
    directions: ClassVar[tuple[str, ...]] = (
        *("x", "y", "z", "rx", "ry", "rz"),
        *("link_x", "link_y", "link_z", "link_rx", "link_ry", "link_rz"),
    )
    loads_kind: ClassVar[type[SpatialLoads]] = SpatialLoads
    some_loads: ClassVar[str] = "SpatialLoads(gravity_z=-9.81)"
    know_loads: ClassVar[str] = (
        "natural_frequencies, natural_frequencies_batch, frequencies_in_band, count_below, certify, sensitivities, "
        "directional_derivatives, mode_shapes, modal_quantities_batch, responses, damped_modes, their "
        "sensitivities, modal_superposition, state_space, static_compliance, extremes, share_below, fits, sweeps, "
        "pages that solve the arm, optimisation, static_equilibrium, buckling and preloaded_frequencies"
    )
    links: tuple[SpatialLink, ...]
    payload: RigidBody = dataclasses.field(default_factory=lambda: RigidBody())
    name: str = static(default="")
    base_stiffness: BaseStiffness | None = None
    loads: SpatialLoads | None = None

    def position_of(self, number: int) -> str:
        return self.links[number - 1].position

    @property
    def total_mass(self) -> Scalar:
        """Mass of all links, their bodies and the payload, kg."""
        bodies = [getattr(link, name) for link in self.links for name in SpatialLink.bodies]
        masses = [link.mass for link in self.links] + [b.mass for b in bodies if b is not None]
        return sum(masses[1:], start=masses[0]) + self.payload.mass

    def link_facts(self) -> list[SpatialLinkFacts]:
        payloads = [None] * (self.num_links - 1) + [self.payload]
        each = enumerate(zip(self.links, payloads, strict=True), start=1)
        return [facts_of(link, number, payload) for number, (link, payload) in each]

    def frames(self) -> list[Frame]:
        """Return the rest positions and axes of all links, base to tip.

        Returns
        -------
        list
            For each link: ``axes``, its axes as columns (3, 3); ``section``, the axes of its section; and the positions
            of its ``joint``, of ``start`` and ``end`` of its elastic part, and of its ``tip``, (3,) in m. All are in
            the axes of the ground, relative to joint 1.

        Raises
        ------
        ArmError
            If a value is traced or batched.

        Examples
        --------
        >>> from jaxmodal import examples
        >>> [round(float(x), 3) for x in examples.six_axis_industrial().frames()[1].joint]
        [0.15, 0.0, 0.35]
        """
        return self._at_rest()[1]

    def _at_rest(self) -> tuple[list[LinkValues], list[Frame]]:
        self.to_dict()  # refuses values that are not numbers
        values = arm_values(self.links, self.payload, self.base_stiffness)
        links = [jax.tree_util.tree_map(lambda x: x[..., 0], link) for link in values.links]
        return links, frames(links)

    def tip_position(self) -> np.ndarray:
        """Return the rest position of the tip of the last link, (3,) in m, relative to joint 1 as in `frames`.

        Raises
        ------
        ArmError
            As for `frames`.
        """
        return self.frames()[-1].tip

    def jacobian(self) -> np.ndarray:
        """Return the geometric Jacobian of the tip of the rigid arm.

        Returns
        -------
        numpy.ndarray
            (6, n), a column for each joint, including joints without springs: the velocity of the tip along x, y and z,
            m/s, and the angular velocity of the last link about them, rad/s, if this joint alone turns at 1 rad/s, or
            slides at 1 m/s. In the axes of the ground. ``jacobian().T @ [force, moment]`` are the torques, N m, or
            forces, N, that a load at the tip exerts about or along the joints; the holding torques are the opposite.

        Raises
        ------
        ArmError
            As for `frames`.

        Examples
        --------
        >>> from jaxmodal import examples
        >>> [round(float(x), 3) for x in examples.six_axis_industrial().jacobian()[:, 1]]  # joint 2, about y
        [0.543, 0.0, -1.174, 0.0, 1.0, 0.0]
        """
        links, places = self._at_rest()
        axes = np.array(
            [at.axes @ link.directions[-1, 3:] for link, at in zip(links, places, strict=True)]
        )
        arms = places[-1].tip - np.array([at.joint for at in places])
        columns = np.concatenate([np.cross(axes, arms), axes], axis=1)
        for k, link in enumerate(self.links):
            if link.prismatic:
                columns[k] = [*places[k].axes[:, 0], 0.0, 0.0, 0.0]
        return columns[np.array(self.joints) - 1].T

    def with_body(self, link: int, position: Any, body: RigidBody) -> "SpatialArm":
        """Return the arm with a rigid body fixed along a link, which becomes two rigidly joined links.

        Parameters
        ----------
        link
            Number of the link, from 1.
        position
            Position along the link, m from the base of its elastic part; greater than 0 and less than its length.
        body
            The body, its centre relative to that point, in the axes of the link.

        Raises
        ------
        ArmError
            If there is no such link, or a value is invalid.

        Notes
        -----
        The part beyond the body is a segment, which has no joint and no angle in a posture. The numbers of the links
        beyond increase by one.
        """
        if not isinstance(body, RigidBody):
            raise ArmError(f"body = {shown(body)}: must be a RigidBody(mass, centre, inertia).")
        return with_pieces(self, link, lambda own: split(own, position, {"body": body}, "body"))

    def with_taper(self, link: int, tip_section: Section, pieces: int = 16) -> "SpatialArm":
        """Return the arm with a link whose section varies linearly along it, as uniform links of equal length.

        Parameters
        ----------
        link
            Number of the link, from 1; its own section is the one at the base.
        tip_section
            Section at the tip, of the same shape; the dimensions vary linearly.
        pieces
            Number of uniform links, each with the section at its middle. The frequency error decreases with the square
            of their length.

        Raises
        ------
        ArmError
            If there is no such link, or the two sections differ in shape or in how their shear coefficient is given.

        Notes
        -----
        All pieces but the first are segments, which have no joint and no angle in a posture. The numbers of the links
        beyond increase accordingly.
        """
        return with_pieces(self, link, lambda own: own.tapered(tip_section, pieces))

    def tables(self) -> list[Table]:
        """Return the table that `print` shows: links with joints, sections, offsets and masses."""
        title = f"{self.name or 'arm in space'}: {self.num_links} link{'s' * (self.num_links > 1)}"
        base = ["on an elastic base"] if self.base_stiffness is not None else []
        held = [str(k) for k, link in enumerate(self.links, start=1) if link.supports]
        base += [] if self.loads is None else [f"loads: {', '.join(value_texts(self.loads))}"]
        base += [f"supports at the tip of link {', '.join(held)}"] if held else []
        return [links_table(self.links, self.payload, self.total_mass, title, ", ".join(base))]

    def refuse_supports(self, what: str) -> None:
        """Raise an error if a tip has a support; ``what`` (subject of the sentence) does not support it."""
        for number, link in enumerate(self.links, start=1):
            link.refuse_supports(number, what)

    @property
    def is_solved_alone(self) -> bool:
        """Whether the arm has supports, axial forces or loads, so that NumPy solves each cell without programs."""
        return self.loads is not None or any(
            link.supports or link.axial_force is not None for link in self.links
        )

    def model(self, theory: TheoryName) -> SpatialModel:
        """Return the model of an arm without loads for a theory; refuse one with loads."""
        refuse_loads(self, "what is asked here")
        return self.unloaded_model(theory)

    def search_model(self, theory: TheoryName) -> SpatialModel | LoadedModel:
        """Return the model of the arm for the searches of `natural_frequencies` and others, in equilibrium."""
        if self.loads is None:
            return self.unloaded_model(theory)
        require_one_arm(self)
        return LoadedModel.of(self.unloaded_model(theory), self.loads)

    def unloaded_model(self, theory: TheoryName) -> SpatialModel:
        """Return the model of the arm without its loads."""
        found = spatial_model(self.links, self.payload, self.base_stiffness, theory)
        return found if self.possible() else dataclasses.replace(found, invalid=True)

    def model_of_cells(self, flags: Theory) -> SpatialModel:
        """Return the model of arms in parallel, whose values may be columns (cells,); refuse loads."""
        refuse_loads(self, "what is asked here")
        return SpatialModel(self.links, self.payload, flags, self.base_stiffness)

    def possible(self) -> bool:
        """Return whether all values are allowed.

        Arms made of traced or batched values were not checked before.
        """
        with np.errstate(all="ignore"):
            return bool(valid_cells(self, 1)[0])

    def frequency_gradients(
        self,
        theory: TheoryName,
        omega: np.ndarray,
        first: np.ndarray,
        multiplicity: np.ndarray,
    ) -> np.ndarray:
        """Return the derivatives of its frequencies with respect to its leaves; used under `jax.grad`."""
        if self.loads is None:
            bare = modal_model(self.unloaded_model(theory))
            return frequency_gradients(bare, omega, first, multiplicity)
        model, places = LoadedModel.of(self.unloaded_model(theory), self.loads), leaf_numbers(self)
        found = np.zeros((omega.size, len(jax.tree_util.tree_leaves(self))))
        given = np.asarray(omega), np.asarray(first), np.asarray(multiplicity)
        known = self.addresses()
        found[:, [places[x] for x in known]] = frequency_derivatives(model, self, *given, known)
        return found

    def _link_table(self, link: SpatialLink) -> dict[str, Any]:
        return link_table(link)

    def _payload_table(self) -> dict[str, Any]:
        with within("payload."):
            return body_table(self.payload)

    def _is_fixed(self, single: str) -> bool:
        link, _, field = single.partition(".")
        turning = field in ("joint_angle", "joint_stiffness", "joint_damping")
        if not turning and not field.startswith("joint_axis."):
            return False
        own = self.links[int(link.removeprefix("link")) - 1]
        return own.segment or (turning and own.prismatic)

    def _why_without(self, link: int, owner: str, field: str) -> str:
        twin = twin_of("space", link, field) if link else ""
        return twin or super()._why_without(link, owner, field)

    def value_at(self, single: str) -> Scalar:
        """Return the value at an address; see `jaxmodal.get_parameter`."""
        return value_at(self, single)

    def with_values(self, values: Mapping[str, Any]) -> "SpatialArm":
        """Return the arm with other values at some addresses; see `jaxmodal.set_parameters`."""
        return with_values(self, values)


#: an arm of either kind
AnyArm = Arm | SpatialArm
