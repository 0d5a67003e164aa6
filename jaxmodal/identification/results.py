"""Result of `fit_arm`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2

from jaxmodal.arm.addresses import labelled
from jaxmodal.identification.compared import Pair, ResponseFit, modes_table, responses_table
from jaxmodal.identification.measurements import Measured
from jaxmodal.identification.uncertainty import UNKNOWN
from jaxmodal.identification.unknowns import Unknowns
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.parts.parameters import unit_of_address

if TYPE_CHECKING:
    import xarray


#: probability below which the scatter disagrees with the given standard deviations
_UNLIKELY = 1e-3
#: least correlation that is reported
_CORRELATED = 0.95
#: distance, in x, at which a parameter counts as at its bound
_AT_BOUND = 1e-6


@dataclasses.dataclass(frozen=True, repr=False)
class ArmFit(Drawn, Result):
    """Result of a fit of P parameters of an arm to N measured numbers.

    Attributes
    ----------
    unknowns : Unknowns
        The fitted parameters with their initial values and bounds.
    theory : str
        Beam theory.
    values, standard_errors, low, high : array, shape (P,)
        Values, standard errors and limits of 95 % intervals, SI units. The intervals of positive quantities are those
        of their logarithms. Infinite if the data do not determine the parameter.
    covariance, correlation : array, shape (P, P)
        Covariance and correlation of the logarithms of positive quantities, and of other parameters in units of
        ``unknowns.scale``.
    directions, direction_errors : array, shapes (P, P) and (P,)
        Principal combinations of these numbers, one per row, and their standard errors, largest first.
    undetermined : tuple of str
        Parameter combinations that the data do not determine, in words.
    scatter : float
        Standard deviation of the residuals in units of the given standard deviations; if none are given, the estimated
        relative standard deviation.
    known : bool
        Whether standard deviations were given.
    free : int
        N - P.
    pairs, responses
        Measured modes and responses with the computed ones before and after the fit.
    jacobian : array, shape (N, P)
        Derivatives of the measured quantities, in standard deviations, with respect to the numbers of ``covariance``.
    status, message, evaluations
        Whether the fit has converged (`Status`), a message, and the number of evaluations of the arm.
    """

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
    status: Status
    message: str
    evaluations: int

    @property
    def arm(self) -> Any:
        """The arm with the fitted values, in the posture of the given arm."""
        return self.unknowns.arm_with(self.values, {})

    @property
    def addresses(self) -> tuple[str, ...]:
        """Addresses of the parameters."""
        return self.unknowns.addresses

    @property
    def start(self) -> Floats:
        """Initial values of the fit, (P,)."""
        return self.unknowns.start

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters in tables, with the names of joints if they have any."""
        return tuple(labelled(self.unknowns.arm, name) for name in self.addresses)

    @property
    def units(self) -> tuple[str, ...]:
        """SI units of the parameters."""
        return tuple(unit_of_address(name, self.unknowns.arm) for name in self.addresses)

    @property
    def correlation(self) -> Floats:
        """Correlation matrix of the parameters, (P, P); NaN if a parameter is not determined."""
        errors = np.sqrt(np.diag(self.covariance))
        with np.errstate(all="ignore"):
            found = self.covariance / np.outer(errors, errors)
        np.fill_diagonal(found, 1.0)
        return np.asarray(found)

    @property
    def ok(self) -> bool:
        """Whether the fit has converged, all parameters are determined, and all paired frequencies certified."""
        return self.status.usable and self.certified and not self.undetermined

    def explain(self) -> str:
        """Return a text on how the fit ended, with all remarks on the result."""
        return "\n".join([f"{self.status.name}: {self.message}", *self.remarks])

    @property
    def remarks(self) -> list[str]:
        """Remarks on the result, one sentence each."""
        found = [] if self.status.usable else [f"{self.status.name}: {self.message}"]
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
                    f"residuals are {self.scatter:.3g} times the standard deviations given: these are too small, a "
                    "pair or the arm is wrong, or there are outliers; intervals are then too narrow"
                )
        out = sum(each.far_out for each in self.pairs)
        out += sum(int(each.far_out.sum()) for each in self.responses)
        if out:
            found.append(
                f"{out} measured value{'s' * (out > 1)} {'are outliers' if out > 1 else 'is an outlier'}"
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
        """Return tables of the parameters, and of measured and computed modes and responses before and after."""
        tables = [self._parameters_table()]
        tables += [modes_table(self.pairs)] * bool(self.pairs)
        return tables + [responses_table(self.responses)] * bool(self.responses)

    def _parameters_table(self) -> Table:
        """Return a row for each parameter: initial value, fitted value, uncertainty."""
        rows = []
        determined = np.diag(self.covariance) <= UNKNOWN**2
        for k, name in enumerate(self.names):
            value, error = self.values[k], self.standard_errors[k]
            share = 100.0 * error / abs(value) if value else 0.0
            rows.append(
                [
                    name,
                    self.units[k],
                    f"{self.start[k]:.6g}",
                    f"{value:.6g}",
                    f"{error:.3g}" if determined[k] else "-",
                    f"{share:.2g}" if determined[k] and value else "-",
                    f"{self.low[k]:.6g} to {self.high[k]:.6g}" if determined[k] else "not known",
                ]
            )
        count = self.jacobian.shape[0]
        arm = f"{self.unknowns.arm.name}: " if self.unknowns.arm.name else ""
        title = (
            f"{arm}{len(rows)} parameter{'s' * (len(rows) > 1)} from {count} measured numbers "
            f"({self.theory}), {self.status.name}"
        )
        if np.isfinite(self.scatter):
            unit = "times the standard deviations" if self.known else "of what was measured"
            notes = [f"residuals scatter by {self.scatter:.3g} {unit}"]
        else:
            notes = ["as many parameters as measured numbers: residuals say nothing of the scatter"]
        correlation = self.correlation
        for i, j in zip(*np.triu_indices(len(rows), 1), strict=True):
            if determined[i] and determined[j] and abs(correlation[i, j]) > _CORRELATED:
                notes.append(
                    f"{self.names[i]} and {self.names[j]} are hard to tell apart: their errors have a correlation of "
                    f"{correlation[i, j]:.3f}"
                )
        headings = (
            "parameter",
            "unit",
            "before",
            "after",
            "standard error",
            "%",
            "95 % interval",
        )
        return Table(title, headings, rows, [*notes, *self.remarks], ("parameter", "unit"))

    def to_xarray(self) -> xarray.Dataset:
        """Return parameters, covariance, pairs and responses as a dataset."""
        import xarray

        own = "parameter"
        variables = {
            "before": variable(own, self.start, "value at the start, SI"),
            "value": variable(own, self.values, "fitted value, SI"),
            "standard_error": variable(own, self.standard_errors, "standard error, SI"),
            "low": variable(own, self.low, "lower end of the 95 % interval, SI"),
            "high": variable(own, self.high, "upper end of the 95 % interval, SI"),
            "parameter_units": variable(own, list(self.units), "unit of the parameter"),
            "correlation": variable((own, "other_parameter"), self.correlation, "correlation"),
            "covariance": variable(
                (own, "other_parameter"),
                self.covariance,
                "of logarithms of positive quantities, else in units of scale",
            ),
        }
        if self.pairs:
            for name, meaning in (
                ("measured_hz", "measured frequency"),
                ("standard_deviation_hz", "standard deviation of the measured frequency"),
                ("before_hz", "computed frequency before the fit"),
                ("after_hz", "computed frequency after the fit"),
            ):
                column = [getattr(each, name) for each in self.pairs]
                variables[name] = variable("pair", column, meaning, "Hz")
            for name, meaning in (
                ("where", "measurement"),
                ("number", "number of the computed mode"),
                ("how", "criterion of the pairing"),
                ("assurance", "modal assurance criterion of the shapes"),
                ("certified", "whether the computed frequency is certified"),
                ("far_out", "whether the measured value is an outlier"),
                ("doubt", "possible error of the pair"),
            ):
                column = [getattr(each, name) for each in self.pairs]
                variables[name] = variable("pair", column, meaning)
        labels: dict[str, Any] = {
            own: list(self.addresses),
            "other_parameter": list(self.addresses),
        }
        for k, each in enumerate(self.responses, start=1):
            dims = (f"output{k}", f"input{k}", f"frequency{k}")
            sides = each.measured.outputs, each.measured.inputs
            labels |= {dim: list(map(str, side)) for dim, side in zip(dims[:2], sides, strict=True)}
            labels[dims[2]] = (dims[2], each.measured.frequencies_hz, {"units": "Hz"})
            for name, values, meaning in (
                ("measured", each.measured.values, "as measured"),
                ("before", each.before, "computed before the fit"),
                ("after", each.after, "computed after the fit"),
                ("far_out", each.far_out, "whether each value is an outlier"),
            ):
                variables[f"response{k}_{name}"] = variable(
                    dims, values, f"{each.measured.quantity} with {each.where}, {meaning}"
                )
        about = {
            "theory": self.theory,
            "status": self.status.name,
            "scatter": self.scatter,
            "undetermined": "\n".join(self.undetermined),
        }
        return xarray.Dataset(variables, labels, about)
