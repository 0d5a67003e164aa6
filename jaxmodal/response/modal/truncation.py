"""Truncation error of modal sums against the exact response."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jaxmodal.arm.arguments import band, real_number
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.response.driven.damping import undamped
from jaxmodal.response.driven.labels import port_labels
from jaxmodal.response.driven.port_quantities import compliance_unit
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.modal.base_motion import exact_receptance
from jaxmodal.response.modal.superposition import (
    ModalSuperposition,
    frequencies_of,
)
from jaxmodal.runtime.array_types import Complexes, Floats
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.results import ResolvedResult
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm

if TYPE_CHECKING:
    import xarray

#: number of frequencies between two neighbouring resonances at which the error is evaluated
_BETWEEN = 24
#: frequencies near a resonance, in half-power widths from it
_BESIDE = (-3.0, -1.0, -0.3, 0.3, 1.0, 3.0)
#: smallest reference for relative errors, as a share of the largest output of the same unit: modes and exact response
#: are accurate to about 1e-13 of that, so that a smaller output has a relative error above 1 %
_ROUNDING = 2.0**-36
#: relative distance from an undamped resonance below which two infinite numbers would be subtracted
_CLEAR = 1e-6


@dataclasses.dataclass(frozen=True, repr=False)
class TruncationError(ResolvedResult):
    """Truncation error of a modal sum over frequency; p outputs, m inputs, F frequencies.

    Attributes
    ----------
    omega : array, shape (F,)
        Angular frequencies in rad/s, ascending.
    exact : array, shape (p, m, F)
        The exact receptance that the sum approximates.
    error : array, shape (p, m, F)
        Absolute value of the difference, m or rad for 1 N or 1 N m.
    size : array, shape (p, m, F)
        Sum of the absolute values of all terms, the reference for relative errors. Unlike the receptance, it is not
        zero at an antiresonance, where modes cancel. It is at least 1.5e-11 of the largest among outputs of the same
        unit; a smaller output is only rounding.
    inputs, outputs : tuple of Port
        The ports.
    """

    omega: Floats
    exact: Complexes
    error: Floats
    size: Floats
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    @property
    def relative(self) -> Floats:
        """``error / size``, shape (p, m, F); 0 where both are 0."""
        return relative_errors(self.error, self.size)

    @property
    def worst(self) -> float:
        """The largest relative error over all pairs of ports and frequencies."""
        return float(self.relative.max())

    @property
    def worst_omega(self) -> float:
        """Frequency of the largest relative error, rad/s."""
        return float(self.omega[int(np.argmax(self.relative.max(axis=(0, 1))))])

    def tables(self) -> list[Table]:
        """Return a table of the worst error in each tenth of the band."""
        largest = self.relative.max(axis=(0, 1))
        rows = []
        ends = np.linspace(self.omega[0], self.omega[-1], 11)
        for low, high in itertools.pairwise(ends):
            inside = (self.omega >= low) & (self.omega <= high)
            if inside.any():
                span = f"{low / (2 * np.pi):.4g} to {high / (2 * np.pi):.4g}"
                rows.append([span, f"{100.0 * largest[inside].max():.3g}"])
        hertz = hertz_text(self.worst_omega / (2.0 * np.pi))
        title = f"error of the sum over modes: {100.0 * self.worst:.3g} % at most, at {hertz} Hz"
        return [Table(title, ("band [Hz]", "error [%]"), rows)]

    def to_xarray(self) -> xarray.Dataset:
        """Return receptance and errors as a dataset with dims output, input, frequency; units are a coordinate."""
        import xarray

        dims = ("output", "input", "frequency")
        return xarray.Dataset(
            {
                "exact": variable(dims, self.exact, "receptance that the sum stands for"),
                "error": variable(dims, self.error, "size of the difference"),
                "size": variable(dims, self.size, "sizes of all parts of the sum added up"),
                "relative": variable(dims, self.relative, "error over size", "1"),
            },
            {
                **port_labels(self.outputs, self.inputs, compliance_unit),
                "frequency": in_hertz("frequency", self.omega),
            },
        )


def truncation_error(
    model: ModalSuperposition,
    omega_min: float | None = None,
    omega_max: float | None = None,
    *,
    omega: ArrayLike | None = None,
) -> TruncationError:
    """Return the error of a modal sum against the exact response.

    Parameters
    ----------
    model
        From `modal_superposition`.
    omega_min, omega_max
        The band in rad/s, by default up to the last mode.
    omega
        Frequencies in rad/s, greater than 0, instead of a band.

    Returns
    -------
    TruncationError
        For a band, at frequencies beside and between all resonances and where the error is largest.

    Raises
    ------
    ValueError
        If the band is empty, or a frequency is not greater than 0.

    Notes
    -----
    A sum with the arm's own damping is compared with `frequency_response` of the arm. A sum with damping ratios or
    Rayleigh coefficients has no corresponding arm, because its damping is prescribed per mode. The omitted part is then
    the exact response of the undamped arm minus its undamped modes, and the static residual is compared with it.
    """
    if omega is not None:
        places = frequencies_of(omega)
        if np.any(places == 0.0):
            raise ValueError("omega holds 0: expected frequencies greater than 0")
        return _error_at(model, model.receptance, np.unique(places))
    high = model.omega[-1] if omega_max is None else real_number(omega_max, "omega_max", "in rad/s")
    ends = band(1e-3 * high if omega_min is None else omega_min, high)
    return error_in_band(model, model.receptance, *ends)


def error_in_band(
    model: ModalSuperposition,
    response: Callable[[Floats], Complexes],
    low: float,
    high: float,
) -> TruncationError:
    """Return the error of a response (a function from frequencies to receptances) that is computed from a modal sum."""
    places = places_between(model.omega, model.damping_ratio, low, high)
    found = _error_at(model, response, places)
    # the largest error is between two of these
    worst = int(np.argmax(found.relative.max(axis=(0, 1))))
    near = places[max(worst - 1, 0)], places[min(worst + 1, places.size - 1)]
    closer = np.linspace(*near, 34)
    return _error_at(model, response, _clear(np.unique([*places, *closer]), model.omega))


def places_between(resonances: Floats, ratios: Any, low: float, high: float) -> Floats:
    """Return frequencies beside and between all resonances of a band."""
    inside = resonances[(resonances > low) & (resonances < high)]
    nodes = 0.5 - 0.5 * np.cos(np.pi * (np.arange(_BETWEEN) + 0.5) / _BETWEEN)
    between = [a + (b - a) * nodes for a, b in itertools.pairwise(np.unique([low, *inside, high]))]
    width = (resonances * ratios)[(resonances > low) & (resonances < high)]
    beside = inside[:, None] + width[:, None] * np.array(_BESIDE)
    every = np.unique(np.concatenate([[low, high], *between, beside.reshape(-1)]))
    return _clear(every[(every >= low) & (every <= high)], resonances)


def _clear(places: Floats, resonances: Floats) -> Floats:
    """Return the frequencies that are not too close to a resonance."""
    gap = np.min(np.abs(places[:, None] - resonances), axis=1)
    return places[gap > _CLEAR * places]


def exact_part(model: ModalSuperposition, arm: AnyArm, omega: Floats) -> Complexes:
    """Return the exact receptance of an arm, relative to the base or absolute, to match the modal sum."""
    found = exact_receptance(arm, omega, model.inputs, model.outputs, model.theory)
    return found - model.carried[:, :, None] / omega**2


def relative_errors(error: Floats, size: Floats) -> Floats:
    """Return errors over sizes; 0 where both are 0, NaN where one is NaN."""
    with np.errstate(divide="ignore"):
        return np.divide(
            error, size, out=np.zeros_like(error), where=(size != 0.0) | (error != 0.0)
        )


def sizes_of(model: ModalSuperposition, omega: Floats) -> Floats:
    """Return `ModalSuperposition.sizes`, at least the rounding error of the largest output of the same unit."""
    sizes = model.sizes(omega)
    turns = np.array([each.turns for each in model.outputs])
    for kind in (turns, ~turns):
        if kind.any():
            sizes[kind] = np.maximum(sizes[kind], _ROUNDING * sizes[kind].max(axis=0))
    return sizes


def _error_at(
    model: ModalSuperposition, response: Callable[[Floats], Complexes], omega: Floats
) -> TruncationError:
    nothing = np.zeros_like(model.residual)
    if model.own:
        exact = exact_part(model, model.arm, omega)
    else:
        bare = dataclasses.replace(model, residual=nothing, damping=np.zeros_like(model.damping))
        rest = exact_part(model, undamped(model.arm), omega)
        damped = dataclasses.replace(model, residual=nothing).receptance(omega)
        left_out = (rest - bare.receptance(omega)) / (1.0 + 1j * omega * model.relaxation)
        exact = damped + left_out
    error = np.abs(response(omega) - exact)
    return TruncationError(omega, exact, error, sizes_of(model, omega), model.inputs, model.outputs)
