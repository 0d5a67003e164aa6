"""Read and set the values of an arm by address."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from jaxmodal.arm.addresses import full_address, resolve_address, set_together
from jaxmodal.arm.documents import table
from jaxmodal.arm.paths import value_at, with_values
from jaxmodal.arm.quantities import Scalar
from jaxmodal.arm.serial_arms import ArmKind, SerialArm
from jaxmodal.runtime.errors import ArmError


def get_parameter(arm: SerialArm, address: str) -> Scalar | Float[Array, " n"]:
    """Return the value at an address, in SI units; for ``link*`` an array over the links.

    Raises
    ------
    ArmError
        If the address is unknown.
    """
    values = [value_at(arm, single) for single in resolve_address(arm, address)]
    if not full_address(address, arm).startswith("link*."):
        return values[0]
    return jnp.stack([jnp.asarray(value, jnp.float64) for value in values])


def set_parameters(arm: ArmKind, values: Mapping[str, Any]) -> ArmKind:
    """Return the arm with new values at the given addresses.

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
    Each record is rebuilt once, with all its new values, so that values that are valid only together
    (a depth and its wall thickness) can be changed in one call.

    Examples
    --------
    >>> from jaxmodal.arm.sections import circle
    >>> arm = Arm((Link(1.0, 7e10, 2700.0, circle(0.01)),))
    >>> changed = set_parameters(arm, {"link1.tip_mass": 2.0, "payload.mass": 0.5})
    >>> float(changed.total_mass - arm.total_mass)
    2.5
    """
    given = table("values", values, ArmError)
    setters = set_together(arm, given)
    return with_values(arm, {single: given[address] for single, address in setters.items()})
