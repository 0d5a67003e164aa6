"""Quantities between ports: receptance, mobility, accelerance, dynamic stiffness, transmissibility."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxmodal.arm.quantities import shown
from jaxmodal.response.driven.ports import Port
from jaxmodal.runtime.errors import ArmError, suggestion
from jaxmodal.runtime.namespace import Array, linalg, xp

#: quantities by name, with their meaning
QUANTITIES = {
    "receptance": "displacement for a unit force",
    "mobility": "velocity for a unit force",
    "accelerance": "acceleration for a unit force",
    "dynamic_stiffness": "forces that hold a unit displacement of one port, the others held at rest",
    "transmissibility": "displacement of the output for a unit displacement of the input",
}
#: quantities that equal a receptance times (i omega)^0, ^1 or ^2, with the motion per unit force
OF_RECEPTANCES = {
    "receptance": "displacement",
    "mobility": "velocity",
    "accelerance": "acceleration",
}
#: suffix of the unit for the time derivatives of a displacement
_RATES = {"displacement": "", "velocity": "/s", "acceleration": "/s^2"}
#: condition number of scaled receptances above which the ports of a dynamic stiffness count as dependent
_MOST_DEPENDENT = 1e11


def check_quantity(quantity: object, inputs: Sequence[Port], outputs: Sequence[Port]) -> None:
    """Refuse an unknown quantity, or one that is not defined for these ports.

    Raises
    ------
    ArmError
    """
    if not isinstance(quantity, str) or quantity not in QUANTITIES:
        hint = suggestion(str(quantity), QUANTITIES)
        raise ArmError(
            f"quantity = {shown(quantity)}: must be one of {', '.join(map(repr, QUANTITIES))}.{hint}"
        )
    for each in outputs:
        if each.place == "base":
            raise ArmError(
                f"outputs: {str(each)!r} is the ground, whose motion is imposed; take it as an input. The force that "
                "the arm hands to the ground is, by reciprocity, the transmissibility from the base to the port that "
                "is driven."
            )
    for each in inputs:
        if each.place == "base" and quantity != "transmissibility":
            raise ArmError(
                f"inputs: {str(each)!r} is a motion of the ground and no force, so there is no {quantity}; ask for "
                "quantity='transmissibility'."
            )
    if quantity == "dynamic_stiffness" and tuple(inputs) != tuple(outputs):
        raise ArmError(
            "quantity = 'dynamic_stiffness': needs the same ports as inputs and outputs, in one order, for it is the "
            f"inverse of their receptances; inputs are {_names(inputs)}, outputs {_names(outputs)}."
        )


def _names(ports: Sequence[Port]) -> str:
    return ", ".join(repr(str(each)) for each in ports)


def signal_names(
    quantity: str, inputs: Sequence[Port], outputs: Sequence[Port]
) -> tuple[list[str], list[str]]:
    """Return names of inputs and outputs, all distinct: of forces, motions, and imposed motions.

    Examples
    --------
    >>> tip = [Port("tip", "x", 1)]
    >>> signal_names("receptance", tip, tip), signal_names("dynamic_stiffness", tip, tip)
    ((['tip_1.force_x'], ['tip_1.x']), (['tip_1.imposed_x'], ['tip_1.force_x']))
    """
    if quantity in OF_RECEPTANCES:
        return [each.force_name for each in inputs], [str(each) for each in outputs]
    imposed = [each.imposed_name for each in inputs]
    stiff = quantity == "dynamic_stiffness"
    return imposed, [each.force_name if stiff else str(each) for each in outputs]


def unit_of_motion(port: Port, motion: str) -> str:
    """Return the SI unit of a ``"displacement"``, ``"velocity"`` or ``"acceleration"`` of a port."""
    return port.motion_unit + _RATES[motion]


def unit_over(above: str, below: str) -> str:
    """Return the unit of a ratio of two units.

    Examples
    --------
    >>> unit_over("rad", "N m"), unit_over("m", "m")
    ('rad/(N m)', '1')
    """
    if above == below:
        return "1"
    return f"{above}/({below})" if " " in below or "/" in below else f"{above}/{below}"


def unit_of_transfer(output: Port, motion: str, driven: Port, base_motion: str) -> str:
    """Return the unit of an output motion per force, or per base motion.

    Examples
    --------
    >>> unit_of_transfer(Port("tip", "x", 1), "velocity", Port("base", "x"), "acceleration")
    'm/s/(m/s^2)'
    """
    at_base = driven.place == "base"
    below = unit_of_motion(driven, base_motion) if at_base else driven.force_unit
    return unit_over(unit_of_motion(output, motion), below)


def compliance_unit(output: Port, driven: Port) -> str:
    """Return the unit of a receptance, such as ``"m/N"``; for an input at the base, per acceleration."""
    return unit_of_transfer(output, "displacement", driven, "acceleration")


def carried_unit(output: Port, driven: Port) -> str:
    """Return the unit of a rigid motion with the base; ``"1"`` for other inputs, where it is 0."""
    at_base = driven.place == "base"
    return unit_over(output.motion_unit, driven.motion_unit) if at_base else "1"


def modal_unit(port: Port) -> str:
    """Return the unit of a motion in a mode of unit modal mass; at the base, of the inertia force per acceleration."""
    if port.place == "base":
        return "m kg^0.5" if port.turns else "kg^0.5"
    return "rad m^-1 kg^-0.5" if port.turns else "kg^-0.5"


def unit_of_pair(quantity: str, output: Port, into: Port) -> str:
    """Return the SI unit of a quantity between two ports.

    Examples
    --------
    >>> unit_of_pair("mobility", Port("payload", "rotation"), Port("payload", "x"))
    'rad/s/N'
    """
    if quantity == "transmissibility":
        return unit_over(output.motion_unit, into.motion_unit)
    if quantity == "dynamic_stiffness":
        return unit_over(output.force_unit, into.motion_unit)
    return unit_over(unit_of_motion(output, OF_RECEPTANCES[quantity]), into.force_unit)


def read_ports(quantity: str, inputs: Sequence[Port], outputs: Sequence[Port]) -> tuple[Port, ...]:
    """Return the ports whose motions a quantity needs: outputs and, for a transmissibility, inputs moved by a force."""
    moved = [each for each in inputs if each.place != "base"] * (quantity == "transmissibility")
    return tuple(dict.fromkeys((*outputs, *moved)))


def in_quantity(
    quantity: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    values: Array,
    omega: Array,
) -> Array:
    """Return a quantity (outputs, inputs, ...) from motions (read ports, inputs, ...) for unit inputs.

    NaN if undefined.
    """
    if quantity == "transmissibility":
        read = read_ports(quantity, inputs, outputs)
        one = xp.ones_like(values[0, 0])
        own = [
            one if each.place == "base" else values[read.index(each), k]
            for k, each in enumerate(inputs)
        ]
        with np.errstate(
            all="ignore"
        ):  # division by zero if a port does not move: the status reports it
            return values[: len(outputs)] / xp.stack(own)
    if quantity == "mobility":
        return values * (1j * omega)
    if quantity == "accelerance":
        return values * -(omega * omega)
    if quantity == "dynamic_stiffness":
        with np.errstate(all="ignore"):
            return _inverse(values)
    return values


def _inverse(values: Array) -> Array:
    count = values.shape[0]
    if count == 1:
        return 1.0 / values
    size = xp.stack([xp.sqrt(xp.abs(values[k, k])) for k in range(count)])
    scale = size[:, None] * size[None, :]
    moved = xp.moveaxis(values / scale, (0, 1), (-2, -1))
    known = xp.all(xp.isfinite(moved), axis=(-2, -1))[..., None, None]
    moved = xp.where(known, moved, np.eye(count))
    singular = linalg.svd(moved, compute_uv=False)
    clear = (singular[..., 0] < _MOST_DEPENDENT * singular[..., -1])[..., None, None] & known
    inverse = linalg.inv(xp.where(clear, moved, np.eye(count)))
    return xp.moveaxis(xp.where(clear, inverse, np.nan), (-2, -1), (0, 1)) / scale
