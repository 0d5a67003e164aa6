"""Time integration of oscillators with slowly varying frequencies and arbitrary forces."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmodal.runtime.array_types import Floats

#: steps per period of the fastest oscillator; with three Gauss points in each step the error is of order h^6
_STEPS = 12
#: Gauss points on [0, 1], and their weights
_POINTS = 0.5 + np.sqrt(0.15) * np.array([-1.0, 0.0, 1.0])
_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0


class Oscillation(NamedTuple):
    """Coordinates and rates at times, (T, K, S), for K oscillators with S separate forces each."""

    times: Floats
    place: Floats
    rate: Floats


def steps_between(knots: Floats, fastest: float) -> Floats:
    """Return step times from the first knot to the last, with steps short enough for the fastest oscillator.

    Every knot is a step time, so that no step crosses a jump of the force.
    """
    longest = 2.0 * np.pi / (_STEPS * fastest)
    counts = np.maximum(np.ceil(np.diff(knots) / longest), 2).astype(int)
    parts = [
        low + (high - low) * np.arange(count) / count
        for low, high, count in zip(knots[:-1], knots[1:], counts, strict=True)
    ]
    return np.concatenate([*parts, knots[-1:]])


def number_of_steps(knots: Floats, fastest: float) -> float:
    """Return the number of steps that `steps_between` would make."""
    longest = 2.0 * np.pi / (_STEPS * fastest)
    return float(np.sum(np.maximum(np.ceil(np.diff(knots) / longest), 2)))


def inner_times(times: Floats) -> Floats:
    """Return the times within the steps at which `oscillation` needs the forces, (T - 1, 3)."""
    return np.asarray(times[:-1, None] + np.diff(times)[:, None] * _POINTS)


def oscillation(
    times: Floats,
    omega: Floats,
    ratio: Floats,
    forces: Floats,
    place: Floats,
    rate: Floats,
) -> Oscillation:
    """Solve ``eta'' + 2 zeta omega eta' + omega^2 eta = force`` from initial coordinates and rates.

    Parameters
    ----------
    times : array, shape (T,)
        Ends of the steps.
    omega : array, shape (T - 1, K)
        Frequencies in each step, rad/s.
    ratio : array, shape (K,)
        Damping ratios, below 1.
    forces : array, shape (T - 1, 3, K, S)
        Forces at `inner_times`.
    place, rate : array, shape (K, S)
        Coordinates and rates at the first time.

    Notes
    -----
    The frequency is constant within a step, and the solution is Duhamel's integral. If the frequency is constant
    throughout, the error is that of the quadrature, of sixth order in the step.
    """
    step = np.diff(times)[:, None]
    state = np.stack([place, rate], axis=1)
    whole = _propagator(step, omega, ratio)
    pushes = [_propagator(step * (1.0 - x), omega, ratio)[..., 1] for x in _POINTS]
    gained = sum(
        weight * step[:, :, None, None] * push[..., None] * forces[:, k, :, None, :]
        for k, (weight, push) in enumerate(zip(_WEIGHTS, pushes, strict=True))
    )
    found = np.empty((times.size, *state.shape))
    found[0] = state
    for k in range(times.size - 1):
        state = whole[k] @ state + gained[k]
        found[k + 1] = state
    return Oscillation(times, found[:, :, 0], found[:, :, 1])


def _propagator(time: Floats, omega: Floats, ratio: Floats) -> Floats:
    """Return the free-vibration propagator of coordinates and rates over a time, (T, K, 2, 2)."""
    root = np.sqrt(1.0 - ratio**2)
    turned = omega * root
    decay, cosine = np.exp(-ratio * omega * time), np.cos(turned * time)
    sine = np.sin(turned * time)
    rows = [
        [cosine + ratio / root * sine, sine / turned],
        [-omega / root * sine, cosine - ratio / root * sine],
    ]
    return np.stack([np.stack([decay * x for x in row], axis=-1) for row in rows], axis=-2)
