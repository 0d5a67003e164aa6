"""Parameters of an arm fitted to what was measured, by SciPy's least squares with exact derivatives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

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
from jaxmodal.runtime.errors import ArmError, UncertifiedError
from jaxmodal.runtime.precision import require_x64
from jaxmodal.runtime.statuses import Status

Floats = NDArray[np.float64]

LOSSES = ("linear", "soft_l1", "huber", "cauchy")
#: changes of the sum of squares, relative, at which a fit has converged; a rough one
_CONVERGED, _ROUGHLY = 1e-6, 1e-4
#: where standard deviations are not known, the share below which they are taken not to be
_LEAST_SHARE = 1e-4
#: how far each x is taken to be from 0, where the fit begins: combinations that the data do not determine stay near
_WIDE = 10.0
#: changes of x, relative, and gradients that are none
_STILL = 1e-12
#: what says that no arm has such values, or that its modes cannot be told; the search then steps back
_NO_ARM = (ArmError, RepeatedFrequencyError, UncertifiedError)
#: how often modes are paired anew by their shapes
_PAIRINGS = 5


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
        A concrete arm, in which everything that is not fitted is as it should be.
    measured : MeasuredModes, MeasuredResponse, or a list of them
        Each with its posture and whatever else was set. Standard deviations for all or for none.
    parameters : sequence of str
        Addresses, as in `set_parameters`; ``link*.joint_stiffness`` is one value that all joints have.
    theory
        As for `natural_frequencies`.
    start : mapping, optional
        Where the fit begins, by address; left out, at the values of the arm.
    bounds : mapping, optional
        The least and the largest value of parameters, by address.
    loss : str
        ``"linear"``, least squares; ``"soft_l1"``, ``"huber"`` and ``"cauchy"`` let values that lie far out weigh
        less, and need standard deviations, which say what is far.
    max_evaluations
        How often the arm is computed at the most, in each of the stages.
    progress
        Called with (evaluations done, the most).

    Returns
    -------
    ArmFit
        ``fitted.arm`` is the arm with the values found; ``print(fitted)`` shows them with their intervals, what each
        mode was paired with, and what the data cannot tell apart.

    Raises
    ------
    ArmError
        An address is not known, a start or a bound makes no arm, measurements do not go together, or the arm has no
        such mode or port.
    UncertifiedError
        The arm as given has modes that cannot be certified, where shapes are to be paired.

    Notes
    -----
    Sizes (stiffnesses, masses, moduli, damping) are fitted by their logarithms, so that they stay above 0; their
    intervals are those of the logarithms. Derivatives of frequencies follow from mode shapes, those of responses of
    planar arms from dual numbers. Responses are fitted in two stages: first their logarithms, which bring peaks
    together that do not overlap, then themselves. Modes paired by shape are paired anew after the fit until nothing
    changes.

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
    known = require_one_scale(seen)
    if loss != "linear" and not known:
        raise ArmError(
            f"loss = {loss!r}: needs standard deviations, which say what lies far out; give them, or take 'linear'."
        )
    search = _Search(loss, known, most, progress)
    values = asked.start
    before = misfit = Misfit.at(asked, seen, theory, values)
    first = search.parts(before, values)
    _require_finite(first, asked.addresses, values)
    if any(isinstance(each, MeasuredResponse) for each in seen):
        values = search.fitted(misfit, values, rough=True)
    for _ in range(_PAIRINGS):
        values = search.fitted(misfit, values)
        anew = Misfit.at(asked, seen, theory, values)
        settled = [p and p.numbers for p in anew.pairings] == [
            p and p.numbers for p in misfit.pairings
        ]
        misfit = anew
        if settled:
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
    """Fits, and what became of the last."""

    loss: str
    known: bool
    most: int
    progress: Callable[[int, int], None] | None
    evaluations: int = 0
    ended: tuple[Status, str] = (Status.stalled, "")
    last: tuple[Any, list[Part]] = (None, [])

    def parts(self, misfit: Misfit, values: Floats, rough: bool = False) -> list[Part]:
        """`Misfit.parts`, kept until it is asked for elsewhere: a search asks twice at each place."""
        numbers = tuple(each and each.numbers for each in misfit.pairings)
        place = values.tobytes(), numbers, rough
        if self.last[0] != place:
            self.evaluations += 1
            self.last = place, misfit.parts(values, rough)
        return self.last[1]

    def fitted(self, misfit: Misfit, values: Floats, rough: bool = False) -> Floats:
        """The values that fit best, from ``values`` on."""
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
                return np.full(count + size + 1, np.nan)  # and the search steps back
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
                f"stopped after {self.most} evaluations; give max_evaluations more, or a nearer start",
            )
        )
        return asked.values(np.asarray(found.x))
