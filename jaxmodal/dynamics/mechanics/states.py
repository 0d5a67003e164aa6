"""Terms of the equations of motion by name, for one state or for batches of states."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import reals
from jaxmodal.dynamics.mechanics import equations
from jaxmodal.dynamics.mechanics.free_bases import require_pose
from jaxmodal.dynamics.model import FlexibleModel, require_model
from jaxmodal.runtime.compilation import compiled_sooner
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, is_traced


@functools.partial(compiled_sooner, static_argnums=(0, 1))
def _computed(term: Callable[..., Any], axes: int, model: FlexibleModel, *vectors: Array) -> Any:
    function = functools.partial(term, model)
    for _ in range(axes):
        function = jax.vmap(function)
    return function(*vectors)


def over_states(
    term: Callable[..., Any], model: FlexibleModel, names: tuple[str, ...], *vectors: Any
) -> Any:
    """Evaluate a term of one state for states with any leading axes, which all vectors share.

    Raises
    ------
    ArmError
        If the model is not one, a shape does not fit it, or a known value is not finite.
    """
    require_model(model)
    made = [_vector(model, name, value) for name, value in zip(names, vectors, strict=True)]
    try:
        batch = np.broadcast_shapes(*(value.shape[:-1] for value in made))
    except ValueError as error:
        shapes = " and ".join(str(value.shape) for value in made)
        raise ArmError(
            f"{', '.join(names)}: of shapes {shapes}; must be as many states of each, or one."
        ) from error
    # NumPy arrays are broadcast in NumPy: in JAX each shape would compile its own program
    made = [
        (jnp if is_traced(value) else np).broadcast_to(value, (*batch, value.shape[-1]))
        for value in made
    ]
    return _computed(term, len(batch), model, *made)


#: descriptions of the entries of vectors that are not over coordinates or rates
_OTHERS = {
    "torques": ", a torque for each joint.",
    "base_acceleration": ", of the displacement and of the rotation vector of the base.",
}


def _vector(model: FlexibleModel, name: str, value: Any) -> Array:
    sizes = {"torques": model.num_links, "q": model.num_coordinates, "base_acceleration": 6}
    size = sizes.get(name, model.num_rates)
    array = value if is_traced(value) else reals(name, value, f"numbers, shape (..., {size})")
    if array.ndim == 0 or array.shape[-1] != size:
        raise ArmError(
            f"{name}: of shape {array.shape}; the last axis must have {size} entries"
            + (
                _OTHERS[name]
                if name in _OTHERS
                else f": {model.num_links} joint angles, {sum(model.modes)} modal coordinates"
                f" and {sum(model.elastic)} motor angles{_of_base(model, name)}."
            )
        )
    if not is_traced(array):
        if not np.all(np.isfinite(array)):
            raise ArmError(
                f"{name}: holds a value that is not finite; all must be (SI units, radians)."
            )
        if name == "q":
            require_pose(model, name, np.asarray(array))
    return array


def _of_base(model: FlexibleModel, name: str) -> str:
    """Return the words for the part of a free base in a vector's description."""
    if not model.floats:
        return ""
    if name == "q":
        return ", position (3) and quaternion (4) of the base"
    return ", linear (3) and angular (3) of the base"


def inertia_matrix(model: FlexibleModel, q: Any) -> Array:
    """Return the inertia matrix B(q).

    Parameters
    ----------
    model
        The arm.
    q
        Generalised coordinates, shape (..., N).

    Returns
    -------
    Array, shape (..., N, N)
        Symmetric; positive definite for every q if `inertia_order` is ``"full"``. Units depend on the coordinates: kg
        m^2 between angles, kg m between an angle and a length, kg between lengths.

    Raises
    ------
    ArmError
        If a shape does not fit the model, or a value is not finite. The other functions of states raise the same error.

    Notes
    -----
    De Luca and Siciliano (1991), eq (25); eq (32) if `inertia_order` is ``"first"``.
    """
    return over_states(equations.inertia, model, ("q",), q)


def bias(model: FlexibleModel, q: Any, rate: Any) -> Array:
    """Return Coriolis and centrifugal forces h(q, q'), eq (26), shape (..., N); q and its rate have shape (..., N)."""
    return over_states(equations.velocity_forces, model, ("q", "rate"), q, rate)


def gravity(model: FlexibleModel, q: Any) -> Array:
    """Return the gravity vector g(q), shape (..., N): gradient of the gravitational energy, on the left-hand side."""
    return over_states(equations.weight, model, ("q",), q)


def stiffness(model: FlexibleModel) -> Array:
    """Return the stiffness matrix K, shape (N, N): bending of the links and springs of the joints."""
    require_model(model)
    return model.stiffness


def damping(model: FlexibleModel) -> Array:
    """Return the damping matrix D, shape (N, N): structural damping and viscous friction of the joints."""
    require_model(model)
    return model.damping


def forward_dynamics(
    model: FlexibleModel, q: Any, rate: Any, torques: Any, base_acceleration: Any = None
) -> Array:
    """Return the accelerations q'' of a state under motor torques.

    Parameters
    ----------
    model
        The arm.
    q, rate
        Generalised coordinates and their rates, shape (..., N).
    torques
        Torque of each motor on the joint side of its gear, N m; force for sliding joints, N; shape (..., n).
    base_acceleration
        Accelerations of a driven base: second derivatives of its displacement, m/s^2, and of its rotation vector,
        rad/s^2, shape (..., 6); 0 by default.

    Returns
    -------
    Array, shape (..., N)
        NaN if the inertia matrix is not positive definite, as with a truncated matrix at large deflections, or in space
        if no inertia acts about the axis of a joint, as with a point mass on the axis.
    """
    names = ("q", "rate", "torques")
    if base_acceleration is None:
        return over_states(_accelerations, model, names, q, rate, torques)
    require_model(model)
    if not model.layout.given.size:
        raise ArmError(
            "base_acceleration: the base of this model does not move as it is told; must be left out, or be used "
            "with a model with base = 'driven' (flexible_arm of an arm in space)."
        )
    given = (*names, "base_acceleration")
    return over_states(_accelerations, model, given, q, rate, torques, base_acceleration)


def _accelerations(model: FlexibleModel, q: Array, rate: Array, *given: Array) -> Array:
    return equations.accelerations(model, q, rate, *given)[0]


def inverse_dynamics(model: FlexibleModel, q: Any, rate: Any, acceleration: Any) -> Array:
    """Return the generalised forces of a motion: B q'' + h + K q + D q' + friction + g, shape (..., N).

    The first n entries are joint torques if no joint is elastic. Entries of modal coordinates are zero if the motion
    satisfies the equations of the arm. ``q``, its ``rate`` and its ``acceleration`` have shape (..., N).
    """
    names = ("q", "rate", "acceleration")
    return over_states(equations.generalised_forces, model, names, q, rate, acceleration)


def energies(model: FlexibleModel, q: Any, rate: Any) -> equations.Energies:
    """Return kinetic, elastic and gravitational energy in J, each of shape (...,), for q and rate of shape (..., N)."""
    return over_states(equations.energies, model, ("q", "rate"), q, rate)


def momenta(model: FlexibleModel, q: Any, rate: Any) -> equations.Momenta:
    """Return the momenta of an arm on a free base, in the axes of the ground, for q and its rate.

    Returns
    -------
    NamedTuple of Array
        ``linear``, kg m/s, and ``angular`` about the ground origin, kg m^2/s, each of shape (..., 3): both are constant
        in a motion without gravity, for any motor torques. With reflected rotors or relative spin they contain only the
        terms of that model and are constant in its motion.

    Raises
    ------
    ArmError
        If the base is not free: the momenta of a clamped arm pass into the ground. Also as for `inertia_matrix`.
    """
    require_model(model)
    if not model.floats:
        raise ArmError(
            "model: its base is clamped, and the ground takes up momenta; must be a model with base = 'free' "
            "(flexible_arm of an arm in space)."
        )
    return over_states(equations.momenta, model, ("q", "rate"), q, rate)


def tip_position(model: FlexibleModel, q: Any) -> Array:
    """Return the position of the tip in state q, m, in the axes of the base, shape (..., d); d is 2, in space 3."""
    return over_states(equations.tip, model, ("q",), q)


def tip_rotation(model: FlexibleModel, q: Any) -> Array:
    """Return the axes of the tip in state q as columns in base axes, shape (..., d, d); linear frames stretch them."""
    return over_states(equations.tip_axes, model, ("q",), q)


def link_positions(model: FlexibleModel, q: Any) -> Array:
    """Return positions along every link in state q at 21 equal stations, m, in base axes, shape (..., n, 21, d)."""
    return over_states(equations.points, model, ("q",), q)


def tip_motion(
    model: FlexibleModel, q: Any, rate: Any, acceleration: Any
) -> tuple[Array, Array, Array]:
    """Return position, velocity and acceleration of the tip, each (..., d), from q, its rate and its acceleration."""
    names = ("q", "rate", "acceleration")
    return over_states(equations.tip_motion, model, names, q, rate, acceleration)
