"""Result of `fit_arm`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from jaxmodal.arm.addresses import labelled
from jaxmodal.identification.measurements import Measured, MeasuredResponse, root_mean_square
from jaxmodal.identification.unknowns import Unknowns
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.parts.parameters import unit_of_address

if TYPE_CHECKING:
    import xarray

Floats = NDArray[np.float64]

#: chance below which the scatter is not that of the standard deviations given
_UNLIKELY = 1e-3
#: how near to a bound, of x, a parameter is at it
_AT_BOUND = 1e-6


@dataclasses.dataclass(frozen=True)
class Pair:
    """A measured mode and the computed mode paired with it.

    Attributes
    ----------
    where : str
        Name of the measurement, or its settings.
    number : int
        Number of the computed mode, from 1.
    how : str
        Criterion of the pairing: ``"number"``, ``"order"`` or ``"shape"``.
    measured_hz, standard_deviation_hz, before_hz, after_hz : float
        Frequencies, and the standard deviation as given, or as estimated from the residuals.
    assurance : float
        Modal assurance criterion of the measured and computed shapes, 0 to 1; NaN without shapes.
    certified : bool
        Whether the computed frequency after the fit is certified.
    far_out : bool
        Whether the measured value is an outlier.
    doubt : str
        Possible error of the pair in words; empty if there is none.
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
    """A measured response and the computed one.

    Attributes
    ----------
    where : str
        Name of the measurement, or its settings.
    measured : MeasuredResponse
        The measured response.
    before, after : array of complex, shape (outputs, inputs, F)
        Computed responses before and after the fit.
    far_out : array of bool, of the same shape
        Whether each value is an outlier.
    """

    where: str
    measured: MeasuredResponse
    before: NDArray[np.complex128]
    after: NDArray[np.complex128]
    far_out: NDArray[np.bool_]

    def misfit(self, computed: NDArray[np.complex128]) -> Floats:
        """Root mean square of the residuals relative to that of the measured response, (outputs, inputs)."""
        left = root_mean_square(computed - self.measured.values)
        return np.asarray(left / self.measured.size[..., 0])


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
        """Return tables of the parameters, and of measured and computed modes and responses before and after."""
        from jaxmodal.identification.tables import modes_table, parameters_table, responses_table

        tables = [parameters_table(self)]
        tables += [modes_table(self)] * bool(self.pairs)
        return tables + [responses_table(self)] * bool(self.responses)

    def to_xarray(self) -> xarray.Dataset:
        """Return parameters, covariance, pairs and responses as a dataset."""
        from jaxmodal.identification.tables import fit_dataset

        return fit_dataset(self)
