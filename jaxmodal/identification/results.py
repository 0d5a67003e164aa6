"""What a fit has found, as it is shown and handed on."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm, t

from jaxmodal.arm.addresses import labelled
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.identification.measurements import (
    Measured,
    MeasuredModes,
    MeasuredResponse,
    root_mean_square,
    settings_text,
)
from jaxmodal.identification.pairing import doubts, modes_looked_at
from jaxmodal.identification.predictions import Modes
from jaxmodal.identification.residuals import Misfit, Part, spread_of
from jaxmodal.identification.uncertainty import (
    combinations,
    covariance_of,
    far_out,
    losses,
    not_determined,
    robust_factor,
)
from jaxmodal.identification.unknowns import Unknowns
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.tables import ShowsDatasets, Table
from jaxmodal.spatial.parts.parameters import unit_of

if TYPE_CHECKING:
    import xarray

Floats = NDArray[np.float64]

#: share of the intervals
_SHARE = 0.95
#: chance below which the scatter is not that of the standard deviations given
_UNLIKELY = 1e-3
#: how near to a bound, of x, a parameter is at it
_AT_BOUND = 1e-6


@dataclasses.dataclass(frozen=True)
class Pair:
    """A measured mode beside the computed one that it was paired with.

    Attributes
    ----------
    where : str
        Name of the measurement, or what was set.
    number : int
        Of the computed mode, from 1.
    how : str
        By ``"number"``, ``"order"`` or ``"shape"``.
    measured_hz, standard_deviation_hz, before_hz, after_hz : float
        Frequencies; the standard deviation as given, else as the fit leaves it.
    assurance : float
        How alike measured and computed shape are, 0 to 1; NaN without shapes.
    certified : bool
        Whether the computed frequency after the fit is certified.
    far_out : bool
        Whether the measured value is farther from the fit than chance explains.
    doubt : str
        What speaks against the pair; empty for nothing.
    """

    where: str
    number: int
    how: str
    measured_hz: float
    standard_deviation_hz: float
    before_hz: float
    after_hz: float
    assurance: float
    certified: bool
    far_out: bool
    doubt: str


@dataclasses.dataclass(frozen=True)
class ResponseFit:
    """A measured response beside the computed one.

    Attributes
    ----------
    where : str
        Name of the measurement, or what was set.
    measured : MeasuredResponse
        What was measured.
    before, after : array of complex, shape (outputs, inputs, F)
        What was computed.
    far_out : array of bool, of the same shape
        Which values are farther from the fit than chance explains.
    """

    where: str
    measured: MeasuredResponse
    before: NDArray[np.complex128]
    after: NDArray[np.complex128]
    far_out: NDArray[np.bool_]

    def misfit(self, computed: NDArray[np.complex128]) -> Floats:
        """Root mean square of what is left, in shares of that of the measured response, (outputs, inputs)."""
        left = root_mean_square(computed - self.measured.values)
        return np.asarray(left / self.measured.size[..., 0])


@dataclasses.dataclass(frozen=True, repr=False)
class ArmFit(Drawn, ShowsDatasets):
    """Parameters of an arm as what was measured says, P of them from N measured numbers.

    Attributes
    ----------
    unknowns : Unknowns
        What was fitted, from where, within which bounds.
    theory : str
        Of the beams.
    values, standard_errors, low, high : array, shape (P,)
        Values, standard errors and the ends of 95 % intervals, SI units; of sizes, the intervals are those of their
        logarithms. Infinite where the data say nothing.
    covariance, correlation : array, shape (P, P)
        Of the logarithms of sizes, of other parameters in shares of ``unknowns.scale``.
    directions, direction_errors : array, shapes (P, P) and (P,)
        Combinations of these numbers, one a row, and how well the data know each, the worst first.
    undetermined : tuple of str
        What the data cannot tell apart, in words.
    scatter : float
        Of the residuals, in standard deviations where these are given, else the share that was found.
    known : bool
        Whether standard deviations were given.
    free : int
        N - P.
    pairs, responses
        What was measured, before and after.
    jacobian : array, shape (N, P)
        Derivatives of what was measured, in standard deviations, by the same numbers as ``covariance``.
    converged, status, evaluations
        Whether the fit has converged, that in words, and how often the arm was computed.
    """

    picture: ClassVar[str] = "jaxmodal.plots.identification:draw_fit"
    unknowns: Unknowns
    measured: tuple[Measured, ...]
    theory: Any
    values: Floats
    standard_errors: Floats
    low: Floats
    high: Floats
    covariance: Floats
    directions: Floats
    direction_errors: Floats
    undetermined: tuple[str, ...]
    scatter: float
    known: bool
    free: int
    loss: str
    pairs: tuple[Pair, ...]
    responses: tuple[ResponseFit, ...]
    jacobian: Floats
    converged: bool
    status: str
    evaluations: int

    @property
    def arm(self) -> Any:
        """The arm with the values found, in the posture of the arm that was given."""
        return self.unknowns.arm_with(self.values, {})

    @property
    def addresses(self) -> tuple[str, ...]:
        """The parameters."""
        return self.unknowns.addresses

    @property
    def start(self) -> Floats:
        """Where the fit began, (P,)."""
        return self.unknowns.start

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters as tables call them, by the names of joints where they have some."""
        return tuple(labelled(self.unknowns.arm, name) for name in self.addresses)

    @property
    def units(self) -> tuple[str, ...]:
        """Their SI units."""
        return tuple(unit_of(name, self.unknowns.arm) for name in self.addresses)

    @property
    def correlation(self) -> Floats:
        """Of the parameters, (P, P); NaN where one is not determined."""
        errors = np.sqrt(np.diag(self.covariance))
        with np.errstate(all="ignore"):
            found = self.covariance / np.outer(errors, errors)
        np.fill_diagonal(found, 1.0)
        return np.asarray(found)

    @property
    def remarks(self) -> list[str]:
        """What is to be known about the result, in sentences."""
        found = [] if self.converged else [f"not converged: {self.status}"]
        found += list(self.undetermined)
        x = self.unknowns.numbers(self.values)
        for k, ends in enumerate(zip(*self.unknowns.bounds, strict=True)):
            if np.min(np.abs(x[k] - np.array(ends))) < _AT_BOUND:
                found.append(
                    f"{self.names[k]} is at its bound, {self.values[k]:.6g} {self.units[k]}, where intervals do not "
                    "hold"
                )
        if self.known and self.free > 0:
            squares = self.scatter**2 * self.free
            if self.loss == "linear" and chi2.sf(squares, self.free) < _UNLIKELY:
                found.append(
                    f"what is left is {self.scatter:.3g} times the standard deviations given: these are too small, a "
                    "pair or the arm is wrong, or values lie far out; intervals are then too narrow"
                )
        out = sum(each.far_out for each in self.pairs)
        out += sum(int(each.far_out.sum()) for each in self.responses)
        if out:
            found.append(
                f"{out} measured value{'s' * (out > 1)} lie{'s' * (out == 1)} farther out than chance explains"
            )
        doubtful = sum(bool(each.doubt) for each in self.pairs)
        if doubtful:
            found.append(
                f"{doubtful} pair{'s' * (doubtful > 1)} of modes may be wrong; give their numbers, or shapes"
            )
        if not self.certified:
            found.append("a computed frequency is not certified")
        return found

    @property
    def certified(self) -> bool:
        """Whether all frequencies computed after the fit are certified."""
        return all(each.certified for each in self.pairs)

    def tables(self) -> list[Table]:
        """Return the parameters, then modes and responses, measured, before and after."""
        from jaxmodal.identification.tables import modes_table, parameters_table, responses_table

        tables = [parameters_table(self)]
        tables += [modes_table(self)] * bool(self.pairs)
        return tables + [responses_table(self)] * bool(self.responses)

    def to_xarray(self) -> xarray.Dataset:
        """Return parameters, covariance and pairs as a dataset."""
        from jaxmodal.identification.tables import fit_dataset

        return fit_dataset(self)


def judged(
    before: tuple[Misfit, list[Part]],
    after: tuple[Misfit, list[Part]],
    values: Floats,
    known: bool,
    loss: str,
    status: str,
    converged: bool,
    evaluations: int,
) -> ArmFit:
    """The result of a fit: what was found, how well it is known, and what was paired with what."""
    misfit, parts = after
    asked = misfit.unknowns
    residuals = np.concatenate([part.residuals for part in parts])
    jacobian = np.concatenate([part.slopes for part in parts])
    free = residuals.size - len(asked.addresses)
    scatter = float(np.sqrt(np.sum(residuals**2) / free)) if free > 0 else np.nan
    sigma = 1.0 if known else scatter
    factor = np.sqrt(robust_factor(loss, residuals, free))
    directions, errors = combinations(jacobian, 1.0)
    errors = errors * (factor * sigma if np.isfinite(sigma) else np.inf)
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
        undetermined=tuple(not_determined(asked, names, jacobian, sigma, directions, errors)),
        scatter=scatter,
        known=known,
        free=free,
        loss=loss,
        pairs=tuple(pairs),
        responses=tuple(responses),
        jacobian=jacobian,
        converged=converged,
        status=status,
        evaluations=evaluations,
    )


def _student(free: int) -> Any:
    return (lambda share: t.isf(share, free)) if free > 0 else (lambda share: np.inf)


def _far_out(residuals: Floats, jacobian: Floats, loss: str, known: bool) -> NDArray[np.bool_]:
    """Which residuals lie far out, seen with the weights that the loss gave them."""
    weights = np.sqrt(losses(loss, residuals).weight)
    return far_out(residuals, weights[:, None] * jacobian, known)


def _pairs(
    place: int,
    both: tuple[Misfit, Part, Misfit, Part],
    out: NDArray[np.bool_],
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
    around = natural_frequencies(there, looked, misfit.theory, throw=False)
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


def _response(
    place: int, both: tuple[Misfit, Part, Misfit, Part], out: NDArray[np.bool_]
) -> ResponseFit:
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
