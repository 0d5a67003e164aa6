"""A word, before an integration, that a method with explicit steps will need very many of them.

Explicit steps are held by the fastest small motion, excited or not. It is looked for at the start, in the accelerations
of states beside the first one, which the program that describes a trajectory computes for all of them at once. So
motors, laws, dampers and springs to the ground are in it, and no program is compiled for it.
"""

from __future__ import annotations

import warnings

import numpy as np

from jaxmodal.dynamics.integration.flow import Driven
from jaxmodal.dynamics.integration.trajectories import accelerations_at
from jaxmodal.runtime.errors import StiffMotionWarning

#: longest steps, times rate, of each method with explicit, adaptive steps: where damping, whatever it is, stops what is
#: fast and stability alone limits them, steps that are taken again included
_REACH = {"dopri8": 4.5, "tsit5": 3.2}
#: shortest ones: where a motion without damping is excited and has to be followed to the usual tolerances
_FOLLOWED = {"dopri8": 0.39, "tsit5": 0.049}
#: steps up to which nothing is said, also for each interval between output times
_FEW, _FEW_BETWEEN = 10_000, 4
#: difference of states, over 1 plus their size
_ASIDE = 1e-6


def fastest_rate(system: Driven, state: np.ndarray, times: np.ndarray) -> float:
    """Return the largest magnitude of the eigenvalues of small motions at the first time, 1/s; NaN if unknown."""
    model = system.model
    own, rates = model.layout.size, model.num_rates
    places = [*range(own), *range(model.num_coordinates, model.num_coordinates + rates)]
    aside = _ASIDE * (1.0 + np.abs(state[places]))
    states = np.repeat(state[None], len(places) + 1, axis=0)
    states[np.arange(len(places)), places] += aside
    found = accelerations_at(system, states, times)
    table = np.zeros((own + rates, own + rates))
    table[np.arange(own), own + np.arange(own)] = 1.0
    table[own:] = ((found[:-1] - found[-1]) / aside[:, None]).T
    if not np.all(np.isfinite(table)):
        return float("nan")
    return float(np.abs(np.linalg.eigvals(table)).max())


def warn_of_short_steps(
    system: Driven, state: np.ndarray, times: np.ndarray, per_run: int, method: str, max_steps: int
) -> None:
    """Warn if a method with explicit, adaptive steps takes very many of them from a state over ascending times.

    One run of the integration has ``per_run`` of the times, and at most ``max_steps`` steps.
    """
    if method not in _REACH:
        return
    span, intervals = float(times[-1] - times[0]), times.size - 1
    fastest = fastest_rate(system, state, times[:per_run])
    least = span * fastest / _REACH[method]
    if not least > max(_FEW, _FEW_BETWEEN * intervals):
        return
    most = span * fastest / _FOLLOWED[method]
    runs = intervals / (per_run - 1)
    ended = "; it ends before that, at max_steps" if least > runs * max_steps else ""
    warnings.warn(
        f"method = {method!r}: takes at least {_rounded(least)} steps here, and up to {_rounded(most)} where it must "
        f"follow what moves fastest, at {fastest:.3g} rad/s at the start{ended}. Where links, springs, dampers or "
        "supports are stiff, give method = 'linearly_implicit' with a step that the slow motion wants, such as 1e-3 s: "
        "it damps what is faster. Where the torques of a law are stiff, give method = 'kvaerno5'. Arms in space are "
        "slower without shapes in stretch and torsion.",
        StiffMotionWarning,
        stacklevel=3,
    )


def _rounded(steps: float) -> str:
    """Return a number to two digits."""
    return f"{float(f'{steps:.2g}'):,.0f}"
