"""Small motions about a state: matrices, frequencies, state space, and the static state under gravity."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics import equations
from jaxmodal.dynamics.arguments import reals
from jaxmodal.dynamics.model import FlexibleArm, one_of
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array

if TYPE_CHECKING:
    import xarray

JOINTS = ("free", "locked")


class Linearisation(NamedTuple):
    """M x'' + D x' + K x = G u for small deviations x of the coordinates that move, k of them.

    Attributes
    ----------
    mass, damping, stiffness : Array, shape (k, k)
        M, and the derivatives D and K of all else by rates and by coordinates. With rates, or where gravity and
        foreshortening take part, K need not be that of the arm at rest.
    inputs : Array, shape (k, n)
        G: where each motor's torque acts; zero with locked joints.
    names : tuple of str
        Of the coordinates: ``theta1``, ``link1.mode1``, ``motor1`` and so on.
    """

    mass: Array
    damping: Array
    stiffness: Array
    inputs: Array
    names: tuple[str, ...]

    def natural_frequencies(self) -> np.ndarray:
        """Undamped angular frequencies, ascending, rad/s, shape (k,); those of free joints are 0.

        Raises
        ------
        ArmError
            If a squared frequency is negative beyond rounding: the state is not stable. If the mass matrix is not
            positive definite, as one truncated to first order may be.
        """
        mass, stiffness = np.asarray(self.mass), np.asarray(self.stiffness)
        factor = _cholesky(mass)
        half = np.linalg.solve(factor, 0.5 * (stiffness + stiffness.T))
        squares = np.linalg.eigvalsh(np.linalg.solve(factor, half.T))
        floor = -1e-9 * np.abs(squares).max(initial=0.0)
        if np.any(squares < floor):
            raise ArmError(
                f"the state is not stable: a squared frequency is {squares[0]!r} rad^2/s^2; must be 0 or more; look at "
                "it with state_space and numpy.linalg.eigvals."
            )
        return np.sqrt(np.maximum(squares, 0.0))

    def state_space(self) -> xarray.Dataset:
        """The system x' = A x + B u as named matrices ``A`` (2 k, 2 k) and ``B`` (2 k, n).

        Raises
        ------
        ArmError
            If the mass matrix is not positive definite.
        """
        import xarray

        mass, size = np.asarray(self.mass), len(self.names)
        _cholesky(mass)
        below = [
            np.linalg.solve(mass, -np.asarray(part)) for part in (self.stiffness, self.damping)
        ]
        upper = np.concatenate([np.zeros((size, size)), np.eye(size)], axis=1)
        inputs = np.linalg.solve(mass, np.asarray(self.inputs))
        states = [*self.names, *(f"{name}.rate" for name in self.names)]
        torques = [f"torque{i}" for i in range(1, inputs.shape[1] + 1)]
        return xarray.Dataset(
            {
                "A": (("state", "of"), np.concatenate([upper, np.concatenate(below, axis=1)])),
                "B": (("state", "input"), np.concatenate([np.zeros_like(inputs), inputs])),
            },
            {"state": states, "of": states, "input": torques},
        )


def _cholesky(mass: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.cholesky(mass)
    except np.linalg.LinAlgError as error:
        smallest = float(np.linalg.eigvalsh(mass)[0])
        raise ArmError(
            f"mass: is not positive definite, its smallest eigenvalue is {smallest:.3g}; must be: deflections are too "
            "large for an inertia matrix of first order; use inertia_order = 'full', whose mass always is, or smaller "
            "deflections."
        ) from error


def linearise(model: FlexibleArm, q: Any, rate: Any = None, joints: str = "free") -> Linearisation:
    """Linearise the equations of motion about a state, with the accelerations that it needs held.

    Parameters
    ----------
    model
        The arm.
    q, rate
        Coordinates and rates, shape (N,); rates None are zero.
    joints
        ``"free"`` lets the joints move; ``"locked"`` holds what the motors hold.

    Returns
    -------
    Linearisation
        About an equilibrium if ``q`` is one; `static_state` finds that under gravity.

    Raises
    ------
    ArmError
        If an argument is not allowed.
    """
    one_of("joints", joints, JOINTS, "'locked' is the arm on its brakes")
    size = model.num_coordinates
    state = []
    for name, given in (("q", q), ("rate", rate)):
        value = np.zeros(size) if given is None else reals(name, given, f"{size} finite numbers")
        if value.shape != (size,) or not np.all(np.isfinite(value)):
            raise ArmError(f"{name}: of shape {value.shape}; must be {size} finite numbers.")
        state.append(value)
    mass, damping, stiffness = _matrices(model, *state)
    driven = np.asarray(model.layout.driven)
    inputs = np.zeros((size, model.num_links))
    inputs[driven, np.arange(model.num_links)] = 1.0
    names = [f"theta{i}" for i in range(1, model.num_links + 1)]
    for i, count in enumerate(model.modes, start=1):
        names += [f"link{i}.mode{j}" for j in range(1, count + 1)]
    names += [f"motor{i}" for i, is_so in enumerate(model.elastic, start=1) if is_so]
    kept = np.arange(size)
    if joints == "locked":
        kept = np.setdiff1d(kept, driven)
    square = np.ix_(kept, kept)
    parts = [np.asarray(part)[square] for part in (mass, damping, stiffness)]
    return Linearisation(parts[0], parts[1], parts[2], inputs[kept], tuple(names[i] for i in kept))


@jax.jit
def _matrices(model: FlexibleArm, q: Array, rate: Array) -> tuple[Array, Array, Array]:
    by_rate = jax.jacfwd(lambda it: equations.resistance(model, q, it))(rate)
    by_place = jax.jacfwd(lambda it: equations.resistance(model, it, rate))(q)
    return equations.inertia(model, q), by_rate, by_place


def static_state(model: FlexibleArm, angles: Any) -> Array:
    """Where the arm hangs at rest on locked motors: coordinates q, shape (N,).

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
    expected = f"{model.num_links} finite numbers, rad"
    given = reals("angles", angles, expected)
    if given.shape != (model.num_links,) or not np.all(np.isfinite(given)):
        raise ArmError(f"angles = {shown(angles)}: must be {expected}.")
    start = np.zeros(model.num_coordinates)
    start[: model.num_links] = given
    start[np.asarray(model.layout.driven)] = given
    found, change = _settled(model, start)
    if not float(change) < 1e-10 * (1.0 + float(np.abs(found).max())):
        raise ArmError(
            f"angles = {given.tolist()!r}: no state of rest found (Newton's last step {float(change):.1e}); must have "
            "one with small deflections: look at gravity and the stiffness of the links."
        )
    return found


@functools.partial(jax.jit)
def _settled(model: FlexibleArm, start: Array) -> tuple[Array, Array]:
    free = np.ones(model.num_coordinates)
    free[np.asarray(model.layout.driven)] = 0.0

    def force(q: Array) -> Array:
        return free * (equations.weight(model, q) + jnp.asarray(model.stiffness) @ q)

    def newton(state: tuple[Array, Array], _: Any) -> tuple[tuple[Array, Array], None]:
        q, _change = state
        table = jax.jacfwd(force)(q) * np.outer(free, free) + np.diag(1.0 - free)
        change = jnp.linalg.solve(table, force(q))
        return (q - change, jnp.max(jnp.abs(change))), None

    (q, change), _ = jax.lax.scan(
        newton, (jnp.asarray(start), jnp.asarray(jnp.inf)), None, length=25
    )
    return q, change
