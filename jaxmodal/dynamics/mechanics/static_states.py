"""Static equilibrium of an arm under gravity."""

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
    """Return the coordinates q, shape (N,), of an arm in equilibrium under gravity on locked motors.

    Stability is not checked: for an unstable state, `linearise` with locked joints has no frequencies. A free base
    falls with the whole arm, so its links stay straight; the base is placed at the ground origin, aligned with its
    axes.

    Parameters
    ----------
    model
        The arm.
    angles
        Positions of the joints, or of the motors of elastic joints, rad or m, shape (n,).

    Raises
    ------
    ArmError
        If Newton's method does not converge: the arm buckles or its deflections are not small.
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
            f"angles = {given.tolist()!r}: no equilibrium found (last Newton step {float(change):.1e}); must have one "
            "with small deflections: check gravity and the stiffness of the links."
        )
    return found


@jax.jit
def _settled(model: FlexibleModel, start: Array) -> tuple[Array, Array]:
    free = model.layout.free

    def force(q: Array) -> Array:
        elastic = jnp.asarray(model.stiffness) @ q + supports.forces(model, q)
        return free * (equations.weight(model, q) + elastic)

    return zero_of(force, free, start)
