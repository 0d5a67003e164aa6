"""What a fit has found, as it is shown and handed on."""

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
class ArmFit(Drawn, Result):
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
    status, message, evaluations
        Whether the fit has converged (`Status`), that in words, and how often the arm was computed.
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
        return tuple(unit_of_address(name, self.unknowns.arm) for name in self.addresses)

    @property
    def correlation(self) -> Floats:
        """Of the parameters, (P, P); NaN where one is not determined."""
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
        """Return how the fit ended, and what is to be known about the result."""
        return "\n".join([f"{self.status.name}: {self.message}", *self.remarks])

    @property
    def remarks(self) -> list[str]:
        """What is to be known about the result, in sentences."""
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
        """Return parameters, covariance, pairs and responses as a dataset."""
        from jaxmodal.identification.tables import fit_dataset

        return fit_dataset(self)
