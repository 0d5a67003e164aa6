"""Fits of arm parameters to measurements by SciPy's least squares with exact derivatives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from jaxmodal.arm.addresses import full_address
from jaxmodal.arm.arguments import positive_integer
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.refusals import require_concrete
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.eigenspaces.clusters import RepeatedFrequencyError
from jaxmodal.identification.judgement import judged
from jaxmodal.identification.measurements import Measured, MeasuredResponse, require_measured
from jaxmodal.identification.residuals import Misfit, Part, require_one_scale
from jaxmodal.identification.results import ArmFit
from jaxmodal.identification.unknowns import unknowns
from jaxmodal.postures.readings import warn_of_degrees
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError, UncertifiedError
from jaxmodal.runtime.precision import require_x64
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.parts.parameters import unit_of_address

LOSSES = ("linear", "soft_l1", "huber", "cauchy")
#: relative change of the sum of squares at which a fit has converged, and at which a rough fit has
_CONVERGED, _ROUGHLY = 1e-6, 1e-4
#: least relative standard deviation that is assumed if none are given
_LEAST_SHARE = 1e-4
#: prior standard deviation of each x about 0, its initial value: it keeps undetermined combinations near the start
_WIDE = 10.0
#: relative change of x, and gradient, that count as zero
_STILL = 1e-12
#: errors for values that no arm can have, or whose modes cannot be identified; the search then shortens its step
_NO_ARM = (ArmError, RepeatedFrequencyError, UncertifiedError)
#: most fits, each with the pairs by shape and the scales of the values that the last one found
_ROUNDS = 5


def fit_arm(
    arm: Any,
    measured: Measured | Sequence[Measured],
    parameters: Sequence[str],
    *,
    theory: TheoryName = "timoshenko",
    start: Mapping[str, Any] | None = None,
    bounds: Mapping[str, Any] | None = None,
    loss: str = "linear",
    max_evaluations: int = 100,
    progress: Callable[[int, int], None] | None = None,
) -> ArmFit:
    """Fit parameters of an arm to measured frequencies and frequency responses.

    Parameters
    ----------
    arm : Arm or SpatialArm
        A concrete arm; values that are not fitted are assumed to be correct.
    measured : MeasuredModes, MeasuredResponse, or a list of them
        Measurements, each with its posture and other settings. Standard deviations are given for all or for none.
    parameters : sequence of str
        Addresses, as in `set_parameters`; ``link*.joint_stiffness`` is a single value common to all joints.
    theory
        As for `natural_frequencies`.
    start : mapping, optional
        Initial values by address; by default those of the arm.
    bounds : mapping, optional
        Lower and upper bounds of parameters by address.
    loss : str
        ``"linear"`` is least squares. ``"soft_l1"``, ``"huber"`` and ``"cauchy"`` reduce the weight of outliers; they
        need standard deviations, which define what an outlier is.
    max_evaluations
        Largest number of evaluations of the arm in each stage of the fit.
    progress
        Called with (evaluations done, largest number).

    Returns
    -------
    ArmFit
        ``fitted.arm`` is the arm with the fitted values. ``print(fitted)`` shows the values with confidence intervals,
        the pairing of modes, and the parameter combinations that the data do not determine.

    Raises
    ------
    ArmError
        If an address is unknown, an initial value or a bound is invalid for the arm, measurements are inconsistent, or
        the arm has no such mode or port.
    UncertifiedError
        If modes are paired by shape and the given arm has modes that cannot be certified.

    Warns
    -----
    ImplausibleWarning
        An angle of ``settings`` is more than two turns: it is probably in degrees.

    Notes
    -----
    Positive quantities (stiffnesses, masses, moduli, damping) are fitted by their logarithms, so that they stay
    positive; their intervals are computed for the logarithms. Derivatives of frequencies follow from mode shapes, those
    of responses of planar arms from dual numbers. Responses are fitted in two stages: first their logarithms, which
    also attracts peaks that do not overlap yet, then the responses. Modes paired by shape are paired again after each
    fit until the pairs no longer change.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> from jaxmodal.identification import MeasuredModes, fit_arm
    >>> link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05), joint_stiffness=2e3)
    >>> seen = MeasuredModes([6.0, 66.0], standard_deviations_hz=0.01)
    >>> found = fit_arm(jm.Arm((link,)), seen, ["link1.joint_stiffness"], theory="euler_bernoulli")
    >>> found.ok, found.addresses
    (True, ('link1.joint_stiffness',))
    """
    require_x64()
    require_concrete(arm, "fit_arm")
    theory_flags(theory)
    if loss not in LOSSES:
        raise ArmError(f"loss = {shown(loss)}: must be one of {', '.join(map(repr, LOSSES))}.")
    most = positive_integer(max_evaluations, "max_evaluations")
    asked = unknowns(arm, parameters, start or {}, bounds or {})
    seen = require_measured(arm, measured, asked.addresses)
    for each in seen:
        for name, value in each.settings.items():
            if unit_of_address(full_address(name, arm), arm) == "rad":
                warn_of_degrees(f"settings[{name!r}]", value, np.array(value))
    known = require_one_scale(seen)
    if loss != "linear" and not known:
        raise ArmError(
            f"loss = {loss!r}: needs standard deviations, which define an outlier; give them, or use 'linear'."
        )
    search = _Search(loss, known, most, progress)
    values = asked.start
    before = misfit = Misfit.at(asked, seen, theory, values)
    first = search.parts(before, values)
    _require_finite(first, asked.addresses, values)
    if any(isinstance(each, MeasuredResponse) for each in seen):
        values = search.fitted(misfit, values, rough=True)
    for _ in range(_ROUNDS):
        values = search.fitted(misfit, values)
        anew = Misfit.at(misfit.unknowns.reaching(values), seen, theory, values)
        settled = [p and p.numbers for p in anew.pairings] == [
            p and p.numbers for p in misfit.pairings
        ]
        near, misfit = anew.unknowns is misfit.unknowns, anew
        if settled and near:
            break
    return judged(
        before=(before, first),
        after=(misfit, search.parts(misfit, values)),
        values=values,
        known=known,
        loss=loss,
        ended=search.ended
        if settled
        else (Status.stalled, "pairs by shape change from fit to fit"),
        evaluations=search.evaluations,
    )


def _require_finite(parts: list[Part], names: Sequence[str], values: Floats) -> None:
    for place, part in enumerate(parts):
        if part.is_finite:
            continue
        given = ", ".join(f"{name} = {value:g}" for name, value in zip(names, values, strict=True))
        raise ArmError(
            f"measured[{place}]: the arm at the start ({given}) has no such frequency or response, or none that "
            "changes smoothly; give another start, masses where there are springs, for responses some damping."
        )


@dataclasses.dataclass
class _Search:
    """Sequence of fits; holds the status of the last one."""

    loss: str
    known: bool
    most: int
    progress: Callable[[int, int], None] | None
    evaluations: int = 0
    ended: tuple[Status, str] = (Status.stalled, "")
    last: tuple[Any, list[Part]] = (None, [])

    def parts(self, misfit: Misfit, values: Floats, rough: bool = False) -> list[Part]:
        """Return `Misfit.parts`; caches the last result, since residuals and slopes are evaluated separately."""
        numbers = tuple(each and each.numbers for each in misfit.pairings)
        place = values.tobytes(), misfit.unknowns.scale.tobytes(), numbers, rough
        if self.last[0] != place:
            self.evaluations += 1
            self.last = place, misfit.parts(values, rough)
        return self.last[1]

    def fitted(self, misfit: Misfit, values: Floats, rough: bool = False) -> Floats:
        """Return the best-fitting values, starting from ``values``."""
        asked = misfit.unknowns
        begun = self.evaluations
        count = sum(part.residuals.size for part in self.parts(misfit, values, rough))
        share = 1.0 if self.known or rough else _LEAST_SHARE
        size = len(asked.addresses)
        # a square that does not change: less than its share of that moves no value that is known
        held = np.concatenate([np.eye(size) * share / _WIDE, np.zeros((1, size))])
        least = np.append(np.zeros(size), share)

        def residuals(x: Floats) -> Floats:
            try:
                parts = self.parts(misfit, asked.values(x), rough)
            except _NO_ARM:
                parts = []
            if not parts or not all(part.is_finite for part in parts):
                return np.full(count + size + 1, np.nan)  # and the search shortens its step
            if self.progress is not None:
                self.progress(min(self.evaluations - begun, self.most), self.most)
            return np.concatenate([*(part.residuals for part in parts), held @ x + least])

        def slopes(x: Floats) -> Floats:
            parts = self.parts(misfit, asked.values(x), rough)
            return np.concatenate([*(part.slopes for part in parts), held])

        low, high = asked.bounds
        found = least_squares(
            residuals,
            np.clip(asked.numbers(values), low, high),
            slopes,
            bounds=(low, high),
            ftol=_ROUGHLY if rough else _CONVERGED,
            xtol=_STILL,
            gtol=_STILL,
            loss="soft_l1" if rough else self.loss,
            max_nfev=self.most,
        )
        self.ended = (
            (Status.converged, Status.converged.cause)
            if found.status > 0
            else (
                Status.iteration_limit,
                f"stopped after {self.most} evaluations; increase max_evaluations, or start nearer to the fit",
            )
        )
        return asked.values(np.asarray(found.x))
