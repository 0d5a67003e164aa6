"""Base class of planar and spatial arms: links in series, payload, posture, and their file tables."""

import math
import numbers
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from jaxmodal.arm.joint_limits import warn_beyond_limits
from jaxmodal.arm.paths import has, value_at, walk, with_values
from jaxmodal.arm.plain_arrays import plain
from jaxmodal.arm.quantities import Record, as_scalar, quantities, shown
from jaxmodal.arm.symmetric import SymmetricStiffness
from jaxmodal.arm.tables import record_table, toml_text
from jaxmodal.runtime.errors import ArmError, ImplausibleWarning, suggestion, within
from jaxmodal.runtime.namespace import xp
from jaxmodal.runtime.pages import Explored

#: angles of a posture beyond two turns, rad, are probably degrees
MOST_RADIANS = 4.0 * math.pi


class SerialArm(Explored, Record):
    """Links in series from the base to the tip, with a payload on the last link."""

    link_kind: ClassVar[type[Any]]
    payload_kind: ClassVar[type[Record]]
    base_kind: ClassVar[type[SymmetricStiffness]]
    marks: ClassVar[dict[str, Any]] = {}
    """Further entries in the file of an arm of this kind."""
    other_links: ClassVar[str] = ""
    """Remedy for links of another kind."""
    directions: ClassVar[tuple[str, ...]]
    """Directions in which the points of the arm move, as ports name them."""
    links: tuple[Any, ...]
    payload: Any
    name: str
    base_stiffness: Any
    loads: Any
    loads_kind: ClassVar[type[Record]]
    some_loads: ClassVar[str]
    """Loads of this kind, as remedies show them."""
    know_loads: ClassVar[str]
    """What takes an arm of this kind with loads."""

    def __post_init__(self) -> None:
        arm, link, payload = (
            kind.__name__ for kind in (type(self), self.link_kind, self.payload_kind)
        )
        if not isinstance(self.links, (tuple, list)) or not self.links:
            raise ArmError(
                f"links = {shown(self.links)}: must be a tuple of one {link} or more; give "
                f"{arm}(links=({link}(...), ...))."
            )
        for number, each in enumerate(self.links, start=1):
            if not isinstance(each, self.link_kind):
                raise ArmError(f"link{number} = {shown(each)}: must be a {link}{self.other_links}.")
        if not isinstance(self.payload, self.payload_kind):
            raise ArmError(
                f"payload = {shown(self.payload)}: must be a {payload}; give {payload}(mass=..., "
                "inertia=...)."
            )
        if not isinstance(self.name, str):
            raise ArmError(f"name = {shown(self.name)}: must be text.")
        object.__setattr__(self, "links", tuple(self.links))
        if self.links[0].segment:
            raise ArmError(
                "link1.segment = True: there is no link before it to continue; take it away."
            )
        if self.base_stiffness is not None:
            object.__setattr__(self, "base_stiffness", self.base_kind.of(self.base_stiffness))
        if self.loads is not None and not isinstance(self.loads, self.loads_kind):
            raise ArmError(
                f"loads = {shown(self.loads)}: must be {self.loads_kind.__name__}; give {self.some_loads}, or leave it "
                "out for none."
            )
        super().__post_init__()

    @property
    def num_links(self) -> int:
        """Number of links n, segments included."""
        return len(self.links)

    @property
    def joints(self) -> tuple[int, ...]:
        """Numbers, from 1, of the links that begin with a joint, turning or sliding: all except segments."""
        return tuple(i for i, link in enumerate(self.links, start=1) if not link.segment)

    def position_of(self, number: int) -> str:
        """Return the name of the field with the joint's position: the angle, or the travel of a sliding joint."""
        return "joint_angle"

    def slides(self, number: int) -> bool:
        """Return True if the joint at the base of a link slides."""
        return self.position_of(number) != "joint_angle"

    @property
    def joint_names(self) -> dict[str, tuple[int, ...]]:
        """Names of the joints, each with the numbers of the links that have it; empty for planar arms."""
        found: dict[str, tuple[int, ...]] = {}
        for number, link in enumerate(self.links, start=1):
            if getattr(link, "name", ""):
                found[link.name] = (*found.get(link.name, ()), number)
        return found

    def with_posture(self, angles: Any) -> Self:
        """Return the arm in another posture.

        Parameters
        ----------
        angles
            The n - 1 angles theta_2 .. theta_n, or all n, rad, as a list or one-dimensional array, traced or not. Each
            is relative to the previous link: counter-clockwise in the plane, about the joint's axis in space. Sliding
            joints take their position, m; segments have no joint and do not count. A single angle may be given as a
            number. Or a dict with some of the angles, by ``theta_2`` and so on or by joint name; the others are kept.
            For many postures, map over this method with ``jax.vmap``.

        Raises
        ------
        ArmError
            If there are neither n - 1 nor n angles, if no joint or several joints have a name, or if a concrete angle
            is not finite.

        Warns
        -----
        ImplausibleWarning
            If a concrete angle exceeds two turns (it is probably in degrees) or the limits of its joint.

        Notes
        -----
        theta_1 turns the whole arm. It changes natural frequencies only with supports, loads or an elastic base. With
        n - 1 angles it is kept.
        """
        posed = self._posed(angles, "rad")
        for number, link in enumerate(posed.links, start=1):
            angle = link.joint_angle
            if isinstance(angle, float) and abs(angle) > MOST_RADIANS:
                text = f"link{number}.joint_angle = {angle:.6g}: rad expected, more than two turns; if this is in "
                warnings.warn(
                    f"{text}degrees, use with_posture_deg", ImplausibleWarning, stacklevel=2
                )
                break
        return posed

    def with_posture_deg(self, angles: Any) -> Self:
        """Return the arm in another posture, with angles in degrees; see `with_posture`.

        Positions of sliding joints are in m.

        Examples
        --------
        >>> from jaxmodal import examples
        >>> arm = examples.two_link_flexible().with_posture_deg([90])
        >>> float(arm.links[1].joint_angle)
        1.5707963267948966
        """
        return self._posed(angles, "degrees")

    def _posed(self, angles: Any, unit: str) -> Self:
        listed = self._named if isinstance(angles, Mapping) else self._listed
        changed = list(self.links)
        for number, angle in listed(angles, unit):
            with within(f"link{number}."):
                path = self.position_of(number)
                if unit == "degrees" and not self.slides(number):
                    angle = xp.radians(as_scalar(path, angle, "finite (degrees)"))
                changed[number - 1] = with_values(changed[number - 1], {path: angle})
        positions = {
            number: value_at(link, self.position_of(number))
            for number, link in enumerate(changed, start=1)
            if link is not self.links[number - 1]
        }
        new = {number: x for number, x in positions.items() if isinstance(x, float)}
        warn_beyond_limits(changed, new, level=4)
        return self.replace(links=tuple(changed))

    def _listed(self, angles: Any, unit: str) -> list[tuple[int, Any]]:
        """Return link numbers and joint angles from a list of angles."""
        joints = self.joints
        n = len(joints)
        angles = plain("posture", angles)
        shape = np.shape(angles) if hasattr(angles, "shape") else None
        if n <= 2 and (shape == () or isinstance(angles, numbers.Real)):
            angles, shape = [angles], None
        listed = isinstance(angles, Sequence) and not isinstance(angles, str)
        if not listed and (shape is None or len(shape) != 1):
            what = shown(angles) if shape in (None, ()) else f"an array of shape {shape}"
            raise ArmError(
                f"posture = {what}: must be a list or one-dimensional array of {n - 1} or {n} "
                f"joint angles ({unit}); map over many postures with jax.vmap."
            )
        if len(angles) not in (n - 1, n):
            count = len(angles)
            of, first = f"{n} link{'s' * (n != 1)}", "theta_2 to theta_n"
            if sliding := [number for number in joints if self.slides(number)]:
                of, first = f"{n} joint{'s' * (n != 1)}", "all but the first"
                unit += f", of joint{'s' * (len(sliding) > 1)} {', '.join(map(str, sliding))} in m"
            takes = f"{n - 1} ({first}) or {n}, in {unit}"
            raise ArmError(
                f"posture = {shown(angles)}: has {count} value{'s' * (count != 1)}; an arm of {of} takes {takes}."
            )
        return [(number, angles[k]) for k, number in enumerate(joints[n - len(angles) :])]

    def _named(self, angles: Mapping[str, Any], unit: str) -> list[tuple[int, Any]]:
        """Return link numbers and joint angles from a dict of angles by joint name."""
        turning = [number for number in self.joints if not self.slides(number)]
        places = self.joint_names | {f"theta_{number}": (number,) for number in turning}
        found: dict[int, Any] = {}
        for name, angle in angles.items():
            numbers = places.get(name, ())
            if not numbers:
                known = ", ".join(places)
                raise ArmError(
                    f"posture[{shown(name)}] = {shown(angle)}: is no joint; there are {known}."
                    f"{suggestion(str(name), places)}"
                )
            if len(numbers) > 1:
                raise ArmError(
                    f"posture[{shown(name)}] = {shown(angle)}: joints {', '.join(map(str, numbers))} have this name; "
                    f"give the number, such as 'theta_{numbers[0]}', or other names."
                )
            if numbers[0] in found:
                raise ArmError(
                    f"posture[{shown(name)}] = {shown(angle)}: the angle of joint {numbers[0]} is given twice; give it "
                    "once."
                )
            found[numbers[0]] = plain("posture", angle)
        return list(found.items())

    def link_facts(self) -> list[Any]:
        """Return masses, section values, slenderness and cut-off frequency of each link, as `check_arm` shows them."""
        raise NotImplementedError

    def addresses(self) -> list[str]:
        """Return the address of every value; see `jaxmodal.list_addresses`."""
        return [address for address, _ in walk(self) if not self._is_fixed(address)]

    def has(self, single: str) -> bool:
        """Return whether an address has a value."""
        return has(self, single) and not self._is_fixed(single)

    def _is_fixed(self, single: str) -> bool:
        """Return True if a value at an address cannot be set, such as those of the joint of a segment."""
        raise NotImplementedError

    def _why_without(self, link: int, owner: str, field: str) -> str:
        """Return why a field of a link, counted from 1, or else of an owner has no value, with the remedy; or empty."""
        record: Record | None = self.links[link - 1] if link else getattr(self, owner)
        if record is not None and _is_left_out(record, field):
            single = f"{f'link{link}' if link else owner}.{field}"
            return (
                f"it has no value there; give {single!r} one when the arm is made (0, or inf for a stiffness, changes "
                "nothing), then it can be read, set and swept."
            )
        if owner == "loads" and record is None:
            return (
                f"it has no loads; give it some with arm.replace(loads={self.some_loads}), in a file with a table "
                "[loads]."
            )
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return the arm as a dict of plain values, as in an arm file; values at their defaults are left out.

        Raises
        ------
        ArmError
            If a value is traced or batched.
        """
        document: dict[str, Any] = {"name": self.name} if self.name else {}
        document |= self.marks
        if self.base_stiffness is not None:
            record_table(self.base_stiffness)  # refuses what is not one number
            rows = self.base_stiffness.rows()
            document["base_stiffness"] = [[float(x) for x in row] for row in rows]
        document["links"] = []
        for number, link in enumerate(self.links, start=1):
            with within(f"link{number}."):
                document["links"].append(self._link_table(link))
        if payload := self._payload_table():
            document["payload"] = payload
        if self.loads is not None:
            document["loads"] = self._loads_table()
        return document

    def _link_table(self, link: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _payload_table(self) -> dict[str, Any]:
        return record_table(self.payload)

    def _loads_table(self) -> dict[str, Any]:
        return record_table(self.loads)

    def to_toml(self) -> str:
        """Return the arm as TOML text, which `read_arm` reads back to an equal arm."""
        return toml_text(self.to_dict())


def _is_left_out(record: Record, field: str) -> bool:
    """Whether a record has an optional feature, which is left out; the two shear inputs do not count."""
    known = [item.name for item in quantities(record) if item.default is None]
    known = [name for name in known if name not in ("poisson_ratio", "shear_modulus")]
    return field in known and getattr(record, field) is None


#: an arm of one kind or the other; below the class, so that checks of annotations find it from any module
ArmKind = TypeVar("ArmKind", bound=SerialArm)
