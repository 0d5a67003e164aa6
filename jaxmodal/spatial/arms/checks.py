"""Checks of planar arms and arms in space before they are solved."""

from __future__ import annotations

import numpy as np

from jaxmodal.arm.arm import require_arm
from jaxmodal.arm.checks import ArmCheck
from jaxmodal.arm.parameters import get_parameter
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.arms.plausibility import implausible_values
from jaxmodal.spatial.parts.parameters import unit_of_address

#: where 0 is no value without effect: the base is free there
_FREE_AT_ZERO = tuple(f"base_stiffness.k{k}{k}" for k in range(1, 7))


@np.errstate(all="ignore")
def check_arm(arm: AnyArm) -> ArmCheck:
    """Check an arm before it is solved: masses, slenderness, cut-offs, and values that look like wrong units.

    Parameters
    ----------
    arm : Arm or SpatialArm
        An arm with concrete values.

    Returns
    -------
    ArmCheck
        The result, which prints as a table; ``remarks`` is empty if nothing was found.

    Raises
    ------
    ArmError
        If a value is traced or batched.

    Examples
    --------
    >>> from jaxmodal import examples
    >>> check_arm(examples.two_link_flexible()).remarks, check_arm(examples.six_axis_industrial()).remarks
    ((), ())
    """
    require_arm(arm)
    arm.to_dict()  # refuses values that are not numbers
    links = arm.link_facts()
    kind, features = type(links[0]), []
    for address in arm.addresses():
        place, _, field = address.partition(".")
        if field in kind.shown or field.startswith("section."):
            continue
        value = float(get_parameter(arm, address))
        of_link = place.startswith("link")
        if (
            value != (kind.nothing.get(field, kind.otherwise) if of_link else 0.0)
            or address in _FREE_AT_ZERO
        ):
            features.append((address, value, unit_of_address(address, arm)))
    return ArmCheck(
        name=arm.name,
        links=tuple(links),
        total_mass=float(arm.total_mass),
        payload_mass=float(arm.payload.mass),
        features=tuple(features),
        remarks=tuple(implausible_values(arm)),
    )
