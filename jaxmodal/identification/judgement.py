"""Evaluation of a fit: uncertainty of the parameters, pairs of modes, outliers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm, t

from jaxmodal.arm.addresses import labelled
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.identification.compared import Pair, ResponseFit
from jaxmodal.identification.measurements import MeasuredModes, MeasuredResponse, settings_text
from jaxmodal.identification.pairing import doubts, modes_looked_at
from jaxmodal.identification.predictions import Modes
from jaxmodal.identification.residuals import Misfit, Part, spread_of
from jaxmodal.identification.results import ArmFit
from jaxmodal.identification.uncertainty import (
    combinations,
    covariance_of,
    far_out,
    losses,
    not_determined,
    robust_factor,
)
from jaxmodal.runtime.array_types import Bools, Floats
from jaxmodal.runtime.statuses import Status

#: probability of the confidence intervals
_SHARE = 0.95
#: relative scatter that is assumed for undetermined combinations if it is neither given nor can be estimated
_ASSUMED = 0.01


def judged(
    before: tuple[Misfit, list[Part]],
    after: tuple[Misfit, list[Part]],
    values: Floats,
    known: bool,
    loss: str,
    ended: tuple[Status, str],
    evaluations: int,
) -> ArmFit:
    """Return the result of a fit: values, their uncertainty, and pairs of measured and computed modes."""
    misfit, parts = after
    asked = misfit.unknowns
    residuals = np.concatenate([part.residuals for part in parts])
    jacobian = np.concatenate([part.slopes for part in parts])
    free = residuals.size - len(asked.addresses)
    scatter = float(np.sqrt(np.sum(residuals**2) / free)) if free > 0 else np.nan
    sigma = 1.0 if known else scatter
    factor = np.sqrt(robust_factor(loss, residuals, free))
    directions, errors = combinations(jacobian, factor)
    # without degrees of freedom, residuals do not show the scatter
    assumed = sigma if np.isfinite(sigma) else _ASSUMED
    openness = np.where(np.isinf(errors), np.inf, errors * assumed)
    errors = openness if np.isfinite(sigma) else np.full(errors.shape, np.inf)
    covariance = covariance_of(directions, errors)
    spread = np.sqrt(np.diag(covariance))
    width = (norm.isf if known else _student(free))(0.5 * (1.0 - _SHARE)) * spread
    rates = np.abs(asked.rates(values))
    with np.errstate(over="ignore", invalid="ignore"):
        low = np.where(asked.sizes, values * np.exp(-width), values - width * asked.scale)
        high = np.where(asked.sizes, values * np.exp(width), values + width * asked.scale)
    out = _far_out(residuals, jacobian, loss, known)
    ends = np.cumsum([part.residuals.size for part in parts])[:-1]
    names = tuple(labelled(asked.arm, name) for name in asked.addresses)
    pairs: list[Pair] = []
    responses: list[ResponseFit] = []
    for place, own in enumerate(np.split(out, ends)):
        both = before[0], before[1][place], misfit, parts[place]
        if isinstance(misfit.measured[place], MeasuredModes):
            pairs += _pairs(place, both, own, sigma, values)
        else:
            responses.append(_response(place, both, own))
    return ArmFit(
        unknowns=asked,
        measured=misfit.measured,
        theory=misfit.theory,
        values=values,
        standard_errors=rates * spread,
        low=low,
        high=high,
        covariance=covariance,
        directions=directions,
        direction_errors=errors,
        undetermined=tuple(not_determined(asked, names, jacobian, assumed, directions, openness)),
        scatter=scatter,
        known=known,
        free=free,
        loss=loss,
        pairs=tuple(pairs),
        responses=tuple(responses),
        jacobian=jacobian,
        status=ended[0],
        message=ended[1],
        evaluations=evaluations,
    )


def _student(free: int) -> Any:
    return (lambda share: t.isf(share, free)) if free > 0 else (lambda share: np.inf)


def _far_out(residuals: Floats, jacobian: Floats, loss: str, known: bool) -> Bools:
    """Return whether each residual is an outlier, judged with the weights of the loss."""
    weights = np.sqrt(losses(loss, residuals).weight)
    return far_out(residuals, weights[:, None] * jacobian, known)


def _pairs(
    place: int,
    both: tuple[Misfit, Part, Misfit, Part],
    out: Bools,
    sigma: float,
    values: Floats,
) -> list[Pair]:
    begun, first, misfit, last = both
    measured, pairing, before = (
        misfit.measured[place],
        misfit.pairings[place],
        begun.pairings[place],
    )
    assert isinstance(measured, MeasuredModes)
    assert isinstance(first.computed, Modes)
    assert isinstance(last.computed, Modes)
    assert pairing is not None
    assert before is not None
    spread = spread_of(measured) * (1.0 if measured.standard_deviations_hz is not None else sigma)
    there = misfit.unknowns.arm_with(values, measured.settings)
    looked = modes_looked_at(there, max(pairing.numbers))
    around = natural_frequencies(there, looked, theory=misfit.theory, throw=False)
    doubt = doubts(measured, pairing, np.asarray(around.frequencies_hz), spread)
    found = []
    for m, number in enumerate(pairing.numbers):
        remarks = [doubt[m]] if doubt[m] else []
        if before.numbers[m] != number:
            remarks.append(f"before the fit it was paired with mode {before.numbers[m]}")
        if not last.computed.alone[number - 1]:
            remarks.append("coincides with another mode")
        alike = np.nan if pairing.assurance is None else float(pairing.assurance[m, number - 1])
        found.append(
            Pair(
                where=measured.name or settings_text(misfit.unknowns.arm, measured.settings),
                number=number,
                how=measured.how,
                measured_hz=float(measured.frequencies_hz[m]),
                standard_deviation_hz=float(spread[m]),
                before_hz=float(first.computed.hertz[before.numbers[m] - 1]),
                after_hz=float(last.computed.hertz[number - 1]),
                assurance=alike,
                certified=bool(last.computed.certified[number - 1]),
                far_out=bool(out[m]),
                doubt="; ".join(remarks),
            )
        )
    return found


def _response(place: int, both: tuple[Misfit, Part, Misfit, Part], out: Bools) -> ResponseFit:
    _, first, misfit, last = both
    measured = misfit.measured[place]
    assert isinstance(measured, MeasuredResponse)
    assert not isinstance(first.computed, Modes)
    assert not isinstance(last.computed, Modes)
    flagged = np.zeros(measured.values.shape, bool)
    flagged[np.isfinite(measured.values)] = out.reshape(2, -1).any(axis=0)
    return ResponseFit(
        where=measured.name or settings_text(misfit.unknowns.arm, measured.settings),
        measured=measured,
        before=first.computed,
        after=last.computed,
        far_out=flagged,
    )
