"""Arms that turn steadily: their relative equilibrium, and small motions about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import finite, reals, whole
from jaxmodal.dynamics.linearisation import linearise
from jaxmodal.dynamics.mechanics import equations
from jaxmodal.dynamics.mechanics.free_bases import require_held_base
from jaxmodal.dynamics.mechanics.solves import SETTLED, zero_of
from jaxmodal.dynamics.mechanics.supports import refuse_supported
from jaxmodal.dynamics.model import FlexibleModel, require_model
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array

if TYPE_CHECKING:
    import xarray


def turning_frequencies(
    model: FlexibleModel, rates: Any, angles: Any = None, num_modes: int | None = None
) -> xarray.Dataset:
    """Return frequencies of an arm whose first motor turns at constant rates, the others locked: a Campbell diagram.

    At each rate the relative equilibrium is found first, in which the arm is stretched, bent, and stiffened or
    softened; the small motions about it include gyroscopic forces.

    Parameters
    ----------
    model
        The arm, in the plane or in space. It turns about the axis of its first joint. A driven base is at rest.
    rates
        Rates of the first motor, rad/s, shape (R,). Each solution starts from the equilibrium of the previous rate.
    angles
        Angles of the motors, rad, shape (n,); 0 by default. The angle of the first motor has no effect.
    num_modes
        Number of frequencies to return, lowest first; all by default.

    Returns
    -------
    xarray.Dataset
        By ``rate``: ``frequency`` (Hz) of each mode in the rotating axes, ascending; ``real_part`` (1/s) of the same
        eigenvalue, above 0 if the mode grows; ``coordinates`` at relative equilibrium; and ``settled``, which is False
        where no equilibrium was found; the rest of that row is NaN.

    Raises
    ------
    ArmError
        If an argument is not allowed, the base is elastic or free, gravity is not along the axis, so that no motion is
        steady, or nothing can move while the motors are held.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> from jaxmodal import dynamics
    >>> beam = jm.SpatialLink(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.005), poisson_ratio=0.3)
    >>> model = dynamics.flexible_arm(jm.SpatialArm((beam,)), {"bending_xz": 10})
    >>> found = dynamics.turning_frequencies(model, [0.0, 20.0], num_modes=2)
    >>> found["frequency"].values.round(3).tolist()
    [[4.113, 25.773], [5.378, 27.017]]
    """
    import xarray

    require_model(model)
    require_held_base(model, "an arm that turns steadily")
    expected = "one finite rate or more, rad/s, shape (R,)"
    given = reals("rates", rates, expected)
    if given.ndim != 1 or not given.size or not np.all(np.isfinite(given)):
        raise ArmError(f"rates: of shape {given.shape}; must be {expected}.")
    n, layout = model.num_links, model.layout
    motors = (
        np.zeros(n)
        if angles is None
        else finite("angles", angles, (n,), f"{n} finite numbers, rad")
    )
    refuse_supported(
        model, "an arm that turns steadily, which meets them at other places all the time,"
    )
    _require_turning(model)
    _require_steady(model)
    turning = np.zeros(model.num_coordinates)
    turning[0] = turning[layout.driven[0]] = 1.0
    state = np.zeros(model.num_coordinates)
    state[:n], state[layout.driven] = motors, motors
    moving = model.num_coordinates - n - layout.given.size
    if not moving:
        raise ArmError(
            "model: nothing moves while its motors are held; must have links that bend or joints with springs: give "
            "modes, joint_stiffness or joint_springs."
        )
    count = moving if num_modes is None else whole("num_modes", num_modes, 1, moving)
    frequency, real = np.full((2, given.size, count), np.nan)
    states, settled = np.full((given.size, state.size), np.nan), np.zeros(given.size, bool)
    for row, rate in enumerate(given):
        found, change = (np.asarray(x) for x in _at_rest(model, state, rate * turning))
        settled[row] = change < SETTLED * (1.0 + np.abs(found).max())
        if not settled[row]:
            continue
        state = states[row] = found
        values = linearise(model, state, rate * turning, "locked").eigenvalues()[-moving:]
        frequency[row] = values.imag[:count] / (2.0 * np.pi)
        real[row] = values.real[:count]
    mode = ("rate", "mode")
    return xarray.Dataset(
        {
            "frequency": variable(mode, frequency, "frequency in the axes that turn", "Hz"),
            "real_part": variable(mode, real, "real part of the eigenvalue, above 0 grows", "1/s"),
            "coordinates": variable(("rate", "name"), states, "at relative rest", "SI"),
            "settled": variable(("rate",), settled, "whether relative rest was found", "1"),
        },
        {
            "rate": ("rate", given, {"units": "rad/s"}),
            "mode": np.arange(1, count + 1),
            "name": list(layout.names),
        },
    )


def _require_turning(model: FlexibleModel) -> None:
    """Raise ArmError if the arm does not turn about a fixed axis."""
    first = int(model.layout.moving[0])
    stays = first == 0 or (first == 1 and model.base == "driven")
    if stays and model.layout.turns[0]:
        return
    what, why = "has a first joint that slides", "which turns nothing"
    if 0 in model.numbers and model.base != "driven":
        what = "stands on springs"
        why = "whose directions change in the axes of a turning arm, so that no motion is steady"
    raise ArmError(
        f"model: the arm {what}, {why}; must turn about the axis of its first joint, which must be fixed: make "
        "the model with base = 'clamped' or 'driven', without base_stiffness, of an arm whose first joint turns."
    )


def _require_steady(model: FlexibleModel) -> None:
    """Raise ArmError if gravity changes direction in the axes of the arm."""
    gravity = np.asarray(model.gravity)
    across = gravity - model.first_axis * (model.first_axis @ gravity)
    if np.linalg.norm(across) > 1e-12 * np.linalg.norm(gravity):
        raise ArmError(
            f"gravity = {gravity.tolist()!r}: is not along the axis of the first joint, so that no motion is steady "
            "while the arm turns; must be 0 or along it: make the model without gravity, or turn its base."
        )


@jax.jit
def _at_rest(model: FlexibleModel, start: Array, rate: Array) -> tuple[Array, Array]:
    """Return the coordinates of relative equilibrium, and the change in the last Newton step."""
    free = model.layout.free
    still = jnp.zeros(model.num_coordinates)

    def force(q: Array) -> Array:
        return free * equations.generalised_forces(model, q, rate, still)

    return zero_of(force, free, start)
