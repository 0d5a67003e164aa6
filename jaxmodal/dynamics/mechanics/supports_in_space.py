"""Springs between tips of an arm in space and the ground, in motion.

A spring along a direction e of the ground takes ``e . (p - p0)`` of the tip's place p, one about it ``e . phi`` of the
rotation vector phi of its axes from where they were. Both are unstrained in the arm's own posture with straight links,
as they are for `natural_frequencies` and `static_equilibrium`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxmodal.dynamics.mechanics.free_bases import displacements
from jaxmodal.dynamics.mechanics.kinematics_in_space import TIP_AXES, TIP_PLACE, components
from jaxmodal.dynamics.mechanics.rotations import rotation_vector
from jaxmodal.dynamics.model import FlexibleModel
from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array


def refuse_supported(model: FlexibleModel, what: str) -> None:
    """Raise an error for a model with supports, which ``what`` (subject of the sentence) does not know."""
    if isinstance(model, SpatialFlexibleArm) and model.supported:
        links = sorted({model.numbers[piece] for piece, _ in model.supported})
        raise ArmError(
            f"model: stands on supports at the tip of link {', '.join(map(str, links))}, and {what} knows none; must "
            "be without: leave out the key supports of its links, in Python arm.replace(links=...) with supports = ()."
        )


def gives(model: SpatialFlexibleArm, parts: Array) -> Array:
    """By how much each spring is strained, m or rad, shape (s,), by the components of all pieces."""
    found = []
    for k, (piece, kind) in enumerate(model.supported):
        own = parts[piece - model.num_pieces]
        if kind == "rotation":
            moved = rotation_vector(own[TIP_AXES].T @ jnp.asarray(model.support_axes)[k].T)
        else:
            moved = own[TIP_PLACE] - jnp.asarray(model.support_place)[k]
        found.append(jnp.asarray(model.support_direction)[k] @ moved)
    return jnp.stack(found)


def energy(model: FlexibleModel, parts: Array) -> Array:
    """Energy of the springs, J; 0 without any."""
    if not isinstance(model, SpatialFlexibleArm) or not model.supported:
        return jnp.zeros(())
    return 0.5 * jnp.sum(jnp.asarray(model.support_stiffness) * gives(model, parts) ** 2)


def forces(model: FlexibleModel, q: Array) -> Array:
    """The gradient of their energy by what the rates move, (N,)."""
    if not isinstance(model, SpatialFlexibleArm) or not model.supported:
        return jnp.zeros(model.num_rates)
    moved, here = displacements(model, q)
    return jax.grad(lambda it: energy(model, components(model, moved(it))))(here)


def tangent(model: FlexibleModel, q: Array) -> Array:
    """Their stiffness (N, N) at a state, without what turns their forces and without the pose of a free base."""
    if not isinstance(model, SpatialFlexibleArm) or not model.supported:
        return jnp.zeros((model.num_rates,) * 2)
    moved, here = displacements(model, q)
    rows = jax.jacrev(lambda it: gives(model, components(model, moved(it))))(here)
    rows = rows.at[:, model.layout.size :].set(0.0)
    return rows.T @ (jnp.asarray(model.support_stiffness)[:, None] * rows)
