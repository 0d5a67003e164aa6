"""Springs between tips of an arm and the ground, in motion.

A spring along a direction e of the ground takes ``e . (p - p0)`` of the tip's place p. One about it takes in space
``e . phi`` of the rotation vector phi of its axes from where they were, in the plane the angle. All are unstrained in
the arm's own posture with straight links, as they are for `natural_frequencies` and `static_equilibrium`.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.kinds import ByKind
from jaxmodal.dynamics.mechanics.free_bases import displacements
from jaxmodal.dynamics.mechanics.kinds import kinematics_of
from jaxmodal.dynamics.mechanics.kinematics_in_space import TIP_AXES, TIP_PLACE
from jaxmodal.dynamics.mechanics.rotations import rotation_vector
from jaxmodal.dynamics.model import FlexibleArm, FlexibleModel
from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array
from jaxmodal.statics.beam_arrays import SUPPORTS


def refuse_supported(model: FlexibleModel, what: str) -> None:
    """Raise an error for a model with supports, which ``what`` (subject of the sentence) does not know."""
    if model.supported:
        links = ", ".join(map(str, model.supported_links))
        raise ArmError(
            f"model: stands on supports at the tip of link {links}, and {what} knows none; must be without: leave out "
            f"supports of its links (in the plane {', '.join(SUPPORTS[:2])} and {SUPPORTS[2]}), in Python with "
            "arm.replace(links=...)."
        )


def gives(model: FlexibleModel, q: Array, parts: Array) -> Array:
    """By how much each spring is strained, m or rad, shape (s,), with the components of all links at q."""
    return _GIVES.along(model.axes)(model, q, parts)


def _gives_in_space(model: SpatialFlexibleArm, q: Array, parts: Array) -> Array:
    found = []
    for k, (piece, kind) in enumerate(model.supported):
        own = parts[piece - model.num_pieces]
        if kind == "rotation":
            moved = rotation_vector(own[TIP_AXES].T @ jnp.asarray(model.support_axes)[k].T)
        else:
            moved = own[TIP_PLACE] - jnp.asarray(model.support_place)[k]
        found.append(jnp.asarray(model.support_direction)[k] @ moved)
    return jnp.stack(found)


def _gives_in_the_plane(model: FlexibleArm, q: Array, parts: Array) -> Array:
    own = parts[np.array([link for link, _ in model.supported])]
    functions = jnp.asarray(model.support_functions)[:, : parts.shape[1]]
    along = jnp.einsum("sk,ska,sa->s", functions, own, jnp.asarray(model.support_direction))
    return along + jnp.asarray(model.support_turns) @ q - jnp.asarray(model.support_rest)


_GIVES: ByKind[Callable[..., Array]] = ByKind(_gives_in_the_plane, _gives_in_space)


def energy(model: FlexibleModel, q: Array, parts: Array) -> Array:
    """Energy of the springs, J; 0 without any."""
    if not model.supported:
        return jnp.zeros(())
    return 0.5 * jnp.sum(jnp.asarray(model.support_stiffness) * gives(model, q, parts) ** 2)


def forces(model: FlexibleModel, q: Array) -> Array:
    """The gradient of their energy by what the rates move, (N,)."""
    if not model.supported:
        return jnp.zeros(model.num_rates)
    moved, here = displacements(model, q)

    def held(it: Array) -> Array:
        at = moved(it)
        return energy(model, at, kinematics_of(model).components(model, at))

    return jax.grad(held)(here)


def tangent(model: FlexibleModel, q: Array) -> Array:
    """Their stiffness (N, N) at a state, without what turns their forces and without the pose of a free base."""
    if not model.supported:
        return jnp.zeros((model.num_rates,) * 2)
    moved, here = displacements(model, q)

    def strained(it: Array) -> Array:
        at = moved(it)
        return gives(model, at, kinematics_of(model).components(model, at))

    rows = jax.jacrev(strained)(here)
    rows = rows.at[:, model.layout.size :].set(0.0)
    return rows.T @ (jnp.asarray(model.support_stiffness)[:, None] * rows)
