"""Where an arm hangs at rest under gravity."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import finite
from jaxmodal.dynamics.mechanics import equations, supports
from jaxmodal.dynamics.mechanics.free_bases import at_zero
from jaxmodal.dynamics.mechanics.solves import SETTLED, zero_of
from jaxmodal.dynamics.model import FlexibleModel, require_model
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array


def static_state(model: FlexibleModel, angles: Any) -> Array:
    """Where the arm is at rest on locked motors: coordinates q, shape (N,).

    Whether it stays there is not looked at: `linearise` with locked joints has no frequencies where it does not.
    On a base that floats freely, which gravity moves with all the rest, links are straight; the base is at the ground's
    origin with its axes.

    Parameters
    ----------
    model
        The arm.
    angles
        Angles of the joints, or of the motors of elastic joints, rad, shape (n,).

    Raises
    ------
    ArmError
        If Newton's method does not settle: the arm buckles or hangs through too far for small deflections.
    """
    require_model(model)
    n = model.num_links
    given = finite("angles", angles, (n,), f"{n} finite numbers, rad")
    start = at_zero(model)
    start[:n] = given
    start[model.layout.driven] = given
    if model.floats:
        return start
    found, change = _settled(model, start)
    if not float(change) < SETTLED * (1.0 + float(np.abs(found).max())):
        raise ArmError(
            f"angles = {given.tolist()!r}: no state of rest found (Newton's last step {float(change):.1e}); must have "
            "one with small deflections: look at gravity and the stiffness of the links."
        )
    return found


@jax.jit
def _settled(model: FlexibleModel, start: Array) -> tuple[Array, Array]:
    free = model.layout.free

    def force(q: Array) -> Array:
        elastic = jnp.asarray(model.stiffness) @ q + supports.forces(model, q)
        return free * (equations.weight(model, q) + elastic)

    return zero_of(force, free, start)
