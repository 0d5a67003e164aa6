"""Values of an arm, read and set by their addresses."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from jaxmodal.arm.addresses import Addressed, ArmKind, full_address, resolve
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.documents import table
from jaxmodal.arm.quantities import Scalar
from jaxmodal.runtime.errors import ArmError, within


def get_parameter(arm: Arm | Addressed, address: str) -> Scalar | Float[Array, " n"]:
    """Return the value at an address, in SI units; for ``link*`` an array over the links.

    Raises
    ------
    ArmError
        If the address is unknown.
    """
    values = [_get(arm, single) for single in resolve(arm, address)]
    if not full_address(address).startswith("link*."):
        return values[0]
    return jnp.stack([jnp.asarray(value, jnp.float64) for value in values])


def _get(arm: Arm | Addressed, single: str) -> Scalar:
    if isinstance(arm, Addressed):
        return arm.value_at(single)
    head, *path = single.split(".")
    value: Any = arm.links[_index(head)] if head.startswith("link") else getattr(arm, head)
    for name in path:
        value = getattr(value, name)
    return value


def _index(head: str) -> int:
    return int(head.removeprefix("link")) - 1


def set_parameters(arm: ArmKind, values: Mapping[str, Any]) -> ArmKind:
    """Return the arm with other values at the given addresses.

    Parameters
    ----------
    arm
        The arm, planar or in space.
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
    single_values: dict[str, Any] = {}
    changes: dict[str, dict[str, Any]] = {}
    for address, value in table("values", values, ArmError).items():
        for single in resolve(arm, address):
            if single in given:
                raise ArmError(
                    f"{single!r} is set twice, by {given[single]!r} and by {address!r}; give one."
                )
            given[single] = address
            single_values[single] = value
    if isinstance(arm, Addressed):
        return arm.with_values(single_values)
    for single, value in single_values.items():
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
    loads = None if arm.loads is None else arm.loads.replace(**changes.get("loads", {}))
    base = arm.base_stiffness
    base = None if base is None else base.replace(**changes.get("base_stiffness", {}))
    return arm.replace(links=tuple(links), payload=payload, loads=loads, base_stiffness=base)
