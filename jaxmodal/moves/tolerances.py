"""Arms within the tolerances of payload and stiffness, for which a shaped move must hold as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax

from jaxmodal.arm.arguments import listed, reals
from jaxmodal.arm.quantities import shown
from jaxmodal.moves.evaluation import KnownModes
from jaxmodal.moves.refusals import require_moving_arm
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm


class Variant(NamedTuple):
    """One arm within the tolerances: name, arm, factor of all stiffnesses, and cached modes along paths."""

    name: str
    arm: AnyArm
    stiffness: float
    known: KnownModes


def variants_of(
    arm: AnyArm,
    payload_error: Any,
    stiffness_error: Any,
    others: Sequence[AnyArm],
) -> list[Variant]:
    """Return the given arm, the arms with payload and stiffness at the limits of their tolerances, and further arms."""
    payload = _error("payload_error", payload_error)
    stiffness = _error("stiffness_error", stiffness_error)
    bodies: list[tuple[str, AnyArm]] = [("as given", arm)]
    if payload:
        if arm.payload is None or float(arm.payload.mass) == 0.0:
            raise ArmError(
                f"payload_error = {payload:g}: the arm has no payload that could be wrong; give it one, or leave "
                "payload_error out."
            )
        bodies += [
            (f"payload {100.0 * share:+g} %", _with_payload(arm, 1.0 + share))
            for share in (-payload, payload)
        ]
    found = []
    for name, body in bodies:
        known = KnownModes()
        found.append(Variant(name, body, 1.0, known))
        for share in (-stiffness, stiffness) if stiffness else ():
            words = f"stiffness {100.0 * share:+g} %"
            text = words if body is arm else f"{name}, {words}"
            found.append(Variant(text, body, 1.0 + share, known))
    for number, other in enumerate(listed("others", others, "further arms, or none"), start=1):
        require_moving_arm(other)
        if type(other) is not type(arm) or len(other.joints) != len(arm.joints):
            raise ArmError(
                f"others[{number - 1}]: must be an arm of {len(arm.joints)} joints, in the plane or in space as the "
                "first."
            )
        found.append(Variant(other.name or f"other arm {number}", other, 1.0, KnownModes()))
    return found


def _error(name: str, given: Any) -> float:
    value = reals(name, given, "a share from 0 to below 1")
    if value.shape != () or not 0.0 <= float(value) < 1.0:
        raise ArmError(
            f"{name} = {shown(given)}: must be a share from 0 to below 1, such as 0.1 for 10 %."
        )
    return float(value)


def _with_payload(arm: Any, factor: float) -> Any:
    """Return the arm with the mass and moments of inertia of its payload multiplied by a factor."""
    payload = arm.payload
    inertia = jax.tree_util.tree_map(lambda value: factor * value, payload.inertia)
    return arm.replace(payload=payload.replace(mass=factor * payload.mass, inertia=inertia))
