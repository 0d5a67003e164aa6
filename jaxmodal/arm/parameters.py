"""One address for every physical value of an arm.

``link2.joint_angle``, ``link1.section.wall_thickness`` and ``payload.mass`` each name one value;
``link*.thickness_factor`` names that of every link. Links count from 1 at the base.
"""

import re
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from jaxmodal.arm.arm import Arm, Link, Payload
from jaxmodal.arm.links import JOINT_FIELDS
from jaxmodal.arm.quantities import Record, Scalar, quantities
from jaxmodal.arm.shapes import SHAPES, RawSection
from jaxmodal.runtime.errors import ArmError, suggestion, within

_ADDRESS = re.compile(r"(?:link(?P<link>[1-9][0-9]*|\*)|payload)\.(?P<field>.+)", re.ASCII)


def _declared() -> dict[str, tuple[str, str]]:
    """Return unit and meaning of every field, by its address without the link."""
    table: dict[str, tuple[str, str]] = {}
    for prefix, kinds in (
        ("link.", [Link]),
        ("link.section.", [*SHAPES.values(), RawSection]),
        ("payload.", [Payload]),
    ):
        for kind in kinds:
            for item in quantities(kind):
                about = (item.metadata["unit"], item.metadata["meaning"])
                table.setdefault(prefix + item.name, about)
    return table


_DECLARED = _declared()


def addresses(arm: Arm) -> list[str]:
    """Return the address of every value of an arm that can be read and set, base to tip.

    A value that the arm does not have (a shear modulus where the Poisson ratio is given, a shear
    coefficient that follows a rule) has no address, nor has the thickness factor of a link whose
    shape does not take one.

    Examples
    --------
    >>> from jaxmodal.arm.sections import circle
    >>> addresses(Arm((Link(1.0, 7e10, 2700.0, circle(0.01)),)))[:4]
    ['link1.length', 'link1.youngs_modulus', 'link1.density', 'link1.section.diameter']
    """
    found = []
    for number, link in enumerate(arm.links, start=1):
        own = [name for name in _present(link) if _settable(link, name)]
        before = own.index("density") + 1
        section = [f"section.{name}" for name in _present(link.section)]
        found += [f"link{number}.{name}" for name in own[:before] + section + own[before:]]
    return found + [f"payload.{name}" for name in _present(arm.payload)]


def _present(record: Record) -> list[str]:
    return [item.name for item in quantities(record) if getattr(record, item.name) is not None]


def _settable(link: Link, name: str) -> bool:
    if link.segment and name in JOINT_FIELDS:
        return False
    return name != "thickness_factor" or link.section.scalable


def resolve(arm: Arm, address: str) -> list[str]:
    """Return the single addresses that an address stands for: n of them for ``link*``.

    Parameters
    ----------
    arm
        The arm.
    address
        An address; ``link*`` stands for every link, for what belongs to a joint for every link but segments.

    Raises
    ------
    ArmError
        If the arm has no such value in any, or with ``link*`` in every, link; the message
        suggests addresses that are near.

    Examples
    --------
    >>> from jaxmodal.arm.sections import circle
    >>> link = Link(1.0, 7e10, 2700.0, circle(0.01))
    >>> resolve(Arm((link, link)), "link*.tip_mass")
    ['link1.tip_mass', 'link2.tip_mass']
    """
    if not isinstance(address, str):
        raise ArmError(f"address = {address!r}: must be text such as 'link1.length'.")
    if address.startswith("link*."):
        field = address.removeprefix("link*.")
        numbers = arm.joints if field in JOINT_FIELDS else range(1, arm.num_links + 1)
        singles = [f"link{number}.{field}" for number in numbers]
    else:
        singles = [address]
    for single in singles:
        if not _has(arm, single):
            raise ArmError(_unknown(arm, address, single, addresses(arm)))
    return singles


def _has(arm: Arm, single: str) -> bool:
    """Whether a single address is one of `addresses`, without the list of all."""
    parts = _ADDRESS.fullmatch(single)
    if parts is None or parts["link"] == "*":
        return False
    if parts["link"] is None:
        return parts["field"] in _present(arm.payload)
    number = int(parts["link"])
    if number > arm.num_links:
        return False
    link = arm.links[number - 1]
    owner, _, name = parts["field"].rpartition(".")
    if owner:
        return owner == "section" and name in _present(link.section)
    return name in _present(link) and _settable(link, name)


def _unknown(arm: Arm, address: str, single: str, known: list[str]) -> str:
    parts = _ADDRESS.fullmatch(single)
    message = f"{address!r} is not a parameter of this arm"
    if parts and parts["link"] and int(parts["link"]) > arm.num_links:
        return f"{message}: it has {arm.num_links} link(s), counted from 1."
    if parts and parts["link"] and parts["field"] == "thickness_factor":
        section = arm.links[int(parts["link"]) - 1].section
        return (
            f"{message}: a section of shape {section.shape!r} has no single thickness to scale; "
            f"vary 'link{parts['link']}.section.{section.dimension_to_vary}' instead."
        )
    if parts and _unset(arm, parts["link"], parts["field"]):
        return (
            f"{message}: it has no value there; give {single!r} one when the arm is made "
            "(0, or inf for a stiffness, changes nothing), then it can be read, set and swept."
        )
    if address != single:
        message += f", for it has no {single!r}"
        wild = {re.sub(r"^link\d+", "link*", name) for name in known}
        return f"{message}.{suggestion(address, sorted(wild))}"
    starred = [f"link*.{name.split('.', 1)[1]}" for name in known if name.startswith("link1.")]
    hint = suggestion(address, [*known, *starred]) or f" It has, for one, {known[0]!r}."
    return f"{message}.{hint}"


def _unset(arm: Arm, link: str | None, field: str) -> bool:
    """Whether a feature (not one of two ways to give the shear stiffness) is left out where the address looks."""
    record: Record = arm.payload if link is None else arm.links[int(link) - 1]
    known = [item.name for item in quantities(record) if item.default is None]
    known = [name for name in known if name not in ("poisson_ratio", "shear_modulus")]
    return field in known and getattr(record, field) is None


def get_parameter(arm: Arm, address: str) -> Scalar | Float[Array, " n"]:
    """Return the value at an address, in SI units; for ``link*`` an array over the links.

    Raises
    ------
    ArmError
        If the address is unknown.
    """
    values = [_get(arm, single) for single in resolve(arm, address)]
    if not address.startswith("link*."):
        return values[0]
    return jnp.stack([jnp.asarray(value, jnp.float64) for value in values])


def _get(arm: Arm, single: str) -> Scalar:
    head, *path = single.split(".")
    value: Any = arm.payload if head == "payload" else arm.links[_index(head)]
    for name in path:
        value = getattr(value, name)
    return value


def _index(head: str) -> int:
    return int(head.removeprefix("link")) - 1


def set_parameters(arm: Arm, values: Mapping[str, Any]) -> Arm:
    """Return the arm with other values at the given addresses.

    Parameters
    ----------
    arm
        The arm.
    values
        New value, in SI units, for each address; ``link*`` sets every link to the same value.
        Values may be traced or batched.

    Raises
    ------
    ArmError
        If an address is unknown or a value is given twice (``link*.tip_mass`` together with
        ``link2.tip_mass``), or if a concrete value is not allowed.

    Notes
    -----
    Each record is rebuilt once with all its new values, so that values which only fit together
    (a depth and its wall thickness) can change together.

    Examples
    --------
    >>> from jaxmodal.arm.sections import circle
    >>> arm = Arm((Link(1.0, 7e10, 2700.0, circle(0.01)),))
    >>> changed = set_parameters(arm, {"link1.tip_mass": 2.0, "payload.mass": 0.5})
    >>> float(changed.total_mass - arm.total_mass)
    2.5
    """
    given: dict[str, str] = {}
    changes: dict[str, dict[str, Any]] = {}
    for address, value in values.items():
        for single in resolve(arm, address):
            if single in given:
                raise ArmError(
                    f"{single!r} is set twice, by {given[single]!r} and by {address!r}; give one."
                )
            given[single] = address
            owner, name = single.rsplit(".", 1)
            changes.setdefault(owner, {})[name] = value
    links = list(arm.links)
    for number, link in enumerate(arm.links, start=1):
        own = changes.get(f"link{number}", {})
        section = changes.get(f"link{number}.section")
        with within(f"link{number}."):
            if section:
                own = own | {"section": link.section.replace(**section)}
            if own:
                links[number - 1] = link.replace(**own)
    payload = arm.payload.replace(**changes.get("payload", {}))
    return arm.replace(links=tuple(links), payload=payload)


def unit_of(address: str) -> str:
    """Return the SI unit of the value at an address, ``"1"`` for a pure number.

    Examples
    --------
    >>> unit_of("link2.joint_stiffness"), unit_of("link*.section.area")
    ('N m/rad', 'm^2')
    """
    return _about(address)[0]


def describe(address: str) -> str:
    """Return in words what the value at an address is.

    Examples
    --------
    >>> describe("link2.length"), describe("link*.tip_mass")
    ('length of the link (link 2)', 'mass of the body at the tip (every link)')
    """
    meaning = _about(address)[1]
    parts = _ADDRESS.fullmatch(address)
    link = parts["link"] if parts else None
    if link is None:
        return meaning
    return f"{meaning} ({'every link' if link == '*' else f'link {link}'})"


def _about(address: str) -> tuple[str, str]:
    generic = re.sub(r"^link(?:[1-9][0-9]*|\*)\.", "link.", address, flags=re.ASCII)
    if (generic == address and address.startswith("link.")) or generic not in _DECLARED:
        known = [name.replace("link.", "link1.", 1) for name in _DECLARED]
        raise ArmError(f"{address!r} is not an address.{suggestion(address, known)}")
    return _DECLARED[generic]
