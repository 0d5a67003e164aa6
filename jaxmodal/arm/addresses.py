"""Addresses of the physical values of an arm, with the unit and the meaning of each.

``link2.joint_angle``, ``link1.section.wall_thickness`` and ``payload.mass`` each address one value;
``link*.thickness_factor`` addresses the value of every link. Links count from 1 at the base.
"""

import re
from collections.abc import Iterable, Mapping

from jaxmodal.arm.arm import Link, Payload, require_arm
from jaxmodal.arm.bases import BaseStiffness
from jaxmodal.arm.link_rules import JOINT_FIELDS
from jaxmodal.arm.loads import Loads
from jaxmodal.arm.quantities import Record, quantities, shown
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.arm.shapes import SHAPES, RawSection
from jaxmodal.runtime.errors import ArmError, suggestion

#: short names of parameters; ``theta_2`` and so on are understood as well
ALIASES = {
    "thickness_factor": "link*.thickness_factor",
    "payload_mass": "payload.mass",
    "payload_inertia": "payload.inertia",
}
_THETA = re.compile(r"theta_([1-9][0-9]*)", re.ASCII)
#: what an address by number begins with, which is never taken for the name of a joint
_NUMBERED = re.compile(
    r"(link([1-9][0-9]*|\*)|theta_[1-9][0-9]*|payload|loads|base_stiffness)(\.|$)", re.ASCII
)


_ADDRESS = re.compile(
    r"(?:link(?P<link>[1-9][0-9]*|\*)|(?P<other>payload|loads|base_stiffness))\.(?P<field>.+)",
    re.ASCII,
)


def declared(kinds: Iterable[tuple[str, type[Record], str]]) -> dict[str, tuple[str, str]]:
    """Return unit and meaning of every field of some records, keyed by address without link numbers.

    Each of ``kinds`` is the prefix of the addresses, the record type, and a suffix appended to every meaning.
    """
    found: dict[str, tuple[str, str]] = {}
    for prefix, kind, where in kinds:
        for item in quantities(kind):
            about = (item.metadata["unit"], item.metadata["meaning"] + where)
            found.setdefault(prefix + item.name, about)
    return found


#: unit and meaning of every value of a planar arm, by its address without the link
DECLARED = declared(
    [
        ("link.", Link, ""),
        *(("link.section.", shape, "") for shape in (*SHAPES.values(), RawSection)),
        ("payload.", Payload, ""),
        ("loads.", Loads, ""),
        ("base_stiffness.", BaseStiffness, ""),
    ]
)


def full_address(parameter: str, arm: SerialArm | None = None) -> str:
    """Return the full address of a parameter name, resolving ``theta_2`` and the other `ALIASES`.

    A full address is returned unchanged. With an arm in space, joint names are resolved as well: ``elbow`` and
    ``elbow.joint_position`` are the angle of the joint with this name (its position if it slides), and
    ``elbow.joint_stiffness`` is another value of the same link.

    Raises
    ------
    ArmError
        If ``parameter`` is not text, or several joints of the arm have the name.

    Examples
    --------
    >>> full_address("theta_2"), full_address("payload_mass"), full_address("link1.length")
    ('link2.joint_angle', 'payload.mass', 'link1.length')
    """
    if not isinstance(parameter, str):
        raise ArmError(f"address = {shown(parameter)}: must be text such as 'link1.length'.")
    theta = _THETA.fullmatch(parameter)
    if theta:
        return f"link{theta[1]}.joint_angle"
    if parameter in ALIASES:
        return ALIASES[parameter]
    return parameter if arm is None else _by_number(arm, parameter)


def may_name_joint(address: str) -> bool:
    """Return True if an address is not one by number, so that it can only be the name of a joint of an arm."""
    return not _NUMBERED.match(address)


def _by_number(arm: SerialArm, parameter: str) -> str:
    """Return an address with a joint name replaced by its link number; joint names may contain dots."""
    names = arm.joint_names if may_name_joint(parameter) else {}
    fits = [name for name in names if f"{parameter}.".startswith(f"{name}.")]
    if not fits:
        return parameter
    name = max(fits, key=len)
    first, *others = names[name]
    field = parameter[len(name) + 1 :] or "joint_position"
    if field == "joint_position":
        field = arm.position_of(first)
    if others:
        places = ", ".join(map(str, [first, *others[:-1]]))
        raise ArmError(
            f"{parameter!r}: joints {places} and {others[-1]} have the name {name!r}; give the number, such as "
            f"'link{first}.{field}', or other names."
        )
    return f"link{first}.{field}"


def joint_named(arm: SerialArm, address: str) -> str:
    """Return the name of the joint whose position an address refers to; empty if it has none or shares it."""
    for name, numbers in arm.joint_names.items():
        if [f"link{number}.{arm.position_of(number)}" for number in numbers] == [address]:
            return name
    return ""


def labelled(arm: SerialArm, address: str) -> str:
    """Return an address with ``link4`` replaced by the joint's name where that is unique: ``elbow.hub.mass``."""
    position = joint_named(arm, address)
    if position or not address.startswith("link"):
        return position or address
    link, _, field = address.partition(".")
    for name, numbers in arm.joint_names.items():
        if [f"link{number}" for number in numbers] == [link]:
            return f"{name}.{field}"
    return address


def list_addresses(arm: SerialArm) -> list[str]:
    """Return the addresses of all values of an arm that can be read and set, from base to tip.

    A value that the arm does not have has no address: a shear modulus where the Poisson ratio is given, a shear
    coefficient that follows a rule, the thickness factor of a link whose section cannot be scaled.

    Examples
    --------
    >>> from jaxmodal import Arm, Link
    >>> from jaxmodal.arm.sections import circle
    >>> list_addresses(Arm((Link(1.0, 7e10, 2700.0, circle(0.01)),)))[:4]
    ['link1.length', 'link1.youngs_modulus', 'link1.density', 'link1.section.diameter']
    """
    return require_arm(arm).addresses()


def resolve_address(arm: SerialArm, address: str) -> list[str]:
    """Return the list of single-value addresses that an address covers; ``link*`` covers every link.

    Parameters
    ----------
    arm
        The arm.
    address
        An address, an alias such as ``theta_2``, or an address by joint name (`full_address`). ``link*`` covers every
        link; for the fields of a joint it covers every link except segments.

    Raises
    ------
    ArmError
        If the arm does not have the value (with ``link*``: if any link does not have it). The message suggests similar
        addresses.

    Examples
    --------
    >>> from jaxmodal import Arm, Link
    >>> from jaxmodal.arm.sections import circle
    >>> link = Link(1.0, 7e10, 2700.0, circle(0.01))
    >>> resolve_address(Arm((link, link)), "link*.tip_mass")
    ['link1.tip_mass', 'link2.tip_mass']
    """
    require_arm(arm)
    if not isinstance(address, str):
        raise ArmError(f"address = {shown(address)}: must be text such as 'link1.length'.")
    given, address = address, full_address(address, arm)
    if address.startswith("link*."):
        field = address.removeprefix("link*.")
        turning = [n for n in arm.joints if arm.position_of(n) == "joint_angle"]
        numbers = turning if field in JOINT_FIELDS else range(1, arm.num_links + 1)
        singles = [f"link{number}.{field}" for number in numbers]
    else:
        singles = [address]
    for single in singles:
        if not arm.has(single):
            raise ArmError(_unknown(arm, given, single, list_addresses(arm)))
    return singles


def set_together(arm: SerialArm, addresses: Iterable[str]) -> dict[str, str]:
    """Return a dict from each single-value address to the given address that sets it.

    Raises
    ------
    ArmError
        If the arm does not have a value, or if two addresses set the same value: ``theta_2`` and ``link2.joint_angle``,
        or ``link*.tip_mass`` and ``link2.tip_mass``.

    Examples
    --------
    >>> from jaxmodal import Arm, Link
    >>> from jaxmodal.arm.sections import circle
    >>> link = Link(1.0, 7e10, 2700.0, circle(0.01))
    >>> set_together(Arm((link, link)), ["link*.tip_mass", "theta_2"])["link2.joint_angle"]
    'theta_2'
    """
    setters: dict[str, str] = {}
    for address in addresses:
        for single in resolve_address(arm, address):
            if single in setters:
                raise ArmError(
                    f"{single!r} is given twice, by {setters[single]!r} and by {address!r}; give one."
                )
            setters[single] = address
    return setters


def asked_for(
    arm: SerialArm, given: Iterable[str] | None
) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return the parameters to differentiate by, and the single-value addresses of each.

    If ``given`` is None, these are all parameters of the arm. Joint names are converted to link numbers.
    ``link*.length`` and ``link1.length`` are two different parameters and may be given together.

    Raises
    ------
    ArmError
        If ``given`` is not a list (a single string is refused as well), if the arm does not have a value, or if two
        names are the same parameter, such as ``theta_2`` and ``link2.joint_angle``.
    """
    if given is None:
        known = tuple(list_addresses(arm))
        return known, [[single] for single in known]
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ArmError(
            f"addresses = {shown(given)}: must be a list of addresses such as ['link1.length', 'payload.mass']."
        )
    given = tuple(given)
    members = [resolve_address(arm, name) for name in given]
    # a name of a joint says nothing without the arm; others stay as they are
    names = tuple(name if full_address(name) != name else full_address(name, arm) for name in given)
    first: dict[tuple[str, ...], str] = {}
    for name, singles in zip(names, members, strict=True):
        if tuple(singles) in first:
            raise ArmError(
                f"{first[tuple(singles)]!r} and {name!r} are one parameter, given twice; give it once."
            )
        first[tuple(singles)] = name
    return names, members


def _unknown(arm: SerialArm, address: str, single: str, known: list[str]) -> str:
    parts = _ADDRESS.fullmatch(single)
    message = f"{address!r} is not a parameter of this arm"
    if parts and parts["link"] and int(parts["link"]) > arm.num_links:
        return f"{message}: it has {arm.num_links} link(s), counted from 1."
    if parts and (
        why := arm._why_without(int(parts["link"] or 0), parts["other"] or "", parts["field"])
    ):
        return f"{message}: {why}"
    named = _named(arm, known)
    if address != single:
        message += f", for it has no {single!r}"
        wild = {re.sub(r"^link\d+", "link*", name) for name in known}
        return f"{message}.{suggestion(address, [*sorted(wild), *named])}"
    starred = [f"link*.{name.split('.', 1)[1]}" for name in known if name.startswith("link1.")]
    short = [*ALIASES, *(f"theta_{n}" for n in arm.joints if arm.position_of(n) == "joint_angle")]
    hint = (
        suggestion(address, [*known, *starred, *named, *short])
        or f" It has, for one, {known[0]!r}."
    )
    return f"{message}.{hint}"


def _named(arm: SerialArm, known: list[str]) -> list[str]:
    """Return the addresses by joint name."""
    found = []
    for name, (number, *others) in arm.joint_names.items():
        prefix = f"link{number}."
        own = [x.removeprefix(prefix) for x in known if x.startswith(prefix)]
        found += [] if others else [name, *(f"{name}.{field}" for field in own)]
    return found


def in_words(address: str, meaning: str) -> str:
    """Return the meaning of a value followed by its link: ``... (link 2)``."""
    parts = _ADDRESS.fullmatch(full_address(address))
    link = parts["link"] if parts else None
    if link is None:
        return meaning
    return f"{meaning} ({'every link' if link == '*' else f'link {link}'})"


def about(address: str, declared: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """Return unit and meaning of an address; ``declared`` is keyed by address without link numbers."""
    address = full_address(address)
    generic = re.sub(r"^link(?:[1-9][0-9]*|\*)\.", "link.", address, flags=re.ASCII)
    if (generic == address and address.startswith("link.")) or generic not in declared:
        known = [name.replace("link.", "link1.", 1) for name in declared]
        short = [*ALIASES, "theta_2", "theta_3"]
        raise ArmError(f"{address!r} is not an address.{suggestion(address, [*known, *short])}")
    return declared[generic]
