"""Peaks of a response: the exact frequencies at which its magnitude is stationary."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.arm.arguments import band
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.response.driven.labels import driven_names
from jaxmodal.response.driven.port_quantities import unit_of_transfer
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.forced.stationary import extrema
from jaxmodal.response.forced.transfer import Transfer
from jaxmodal.runtime.array_types import Complexes, Floats
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.results import ResolvedResult
from jaxmodal.runtime.tables import Table, shortened
from jaxmodal.spatial.arms.arm import AnyArm

if TYPE_CHECKING:
    import xarray


class InfiniteResponseError(ArmError):
    """Raised for an infinite peak, where no damping acts."""


@dataclasses.dataclass(frozen=True, repr=False)
class ResponsePeaks(ResolvedResult):
    """Peaks of the response from one input to one output, and the dips between them; ascending.

    Attributes
    ----------
    omega : array, shape (P,)
        Frequencies of the local maxima of the magnitude, rad/s.
    values : complex array, shape (P,)
        The response at the maxima; an infinite one is refused.
    dips : array, shape (Q,)
        Frequencies of the local minima (antiresonances), rad/s.
    dip_values : complex array, shape (Q,)
        The response at the minima.
    inputs, outputs : tuple of Port
        The input port and the output port.
    motion : str
        Kind of the output: ``"displacement"``, ``"velocity"`` or ``"acceleration"``.
    base_motion : str
        Kind of an input at the base: ``"displacement"``, ``"velocity"`` or ``"acceleration"``.
    """

    omega: Floats
    values: Complexes
    dips: Floats
    dip_values: Complexes
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    motion: str
    base_motion: str

    @property
    def frequencies_hz(self) -> Floats:
        """``omega / (2 pi)`` in Hz."""
        return self.omega / (2.0 * np.pi)

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return unit_of_transfer(self.outputs[0], self.motion, self.inputs[0], self.base_motion)

    def tables(self) -> list[Table]:
        """Return a table of the peaks: frequency, magnitude and phase."""
        rows = [
            [hertz_text(hertz), f"{abs(value):.5g}", _phase(value)]
            for hertz, value in zip(self.frequencies_hz.tolist(), self.values, strict=True)
        ]
        title = f"{len(rows)} peaks from {driven_names(self.inputs)} to {self.outputs[0]}"
        headings = ("frequency [Hz]", f"size [{self.unit}]", "phase [°]")
        return [Table(title, headings, shortened(rows))]

    def to_xarray(self) -> xarray.Dataset:
        """Return peaks and dips, by frequency, as a dataset with the dim place: frequency in Hz, response, kind."""
        import xarray

        omega = np.concatenate([self.omega, self.dips])
        values = np.concatenate([self.values, self.dip_values])
        kinds = np.array(["peak"] * self.omega.size + ["dip"] * self.dips.size, dtype=str)
        order = np.argsort(omega, kind="stable")
        about = f"{self.motion} of the output for a unit input"
        return xarray.Dataset(
            {
                "frequency": in_hertz("place", omega[order]),
                "response": variable("place", values[order], about, self.unit),
                "size": variable("place", np.abs(values[order]), "size of the response", self.unit),
                "kind": variable("place", kinds[order], "peak or dip"),
            },
            {"place": np.arange(1, omega.size + 1)},
            {"inputs": driven_names(self.inputs), "outputs": str(self.outputs[0])},
        )


def _phase(value: complex) -> str:
    return f"{np.degrees(np.angle(value)):.1f}" if np.isfinite(value) else ""


def response_peaks(
    arm: AnyArm,
    omega_min: float,
    omega_max: float,
    inputs: str | Port,
    outputs: str | Port,
    *,
    theory: TheoryName = "timoshenko",
    motion: str = "displacement",
    base_motion: str = "acceleration",
) -> ResponsePeaks:
    """Return all peaks of the exact response in a frequency band.

    Parameters
    ----------
    arm : Arm
        The arm, with concrete values and with damping.
    omega_min, omega_max
        The band in rad/s, 0 < omega_min < omega_max.
    inputs, outputs
        One port each. An input at the base is a motion of the base.
    theory
        As for `natural_frequencies`.
    motion
        Kind of the output: ``"displacement"``, ``"velocity"`` or ``"acceleration"``. Their peaks differ slightly.
    base_motion
        Kind of an input at the base: ``"displacement"``, ``"velocity"`` or ``"acceleration"``.

    Raises
    ------
    ArmError
        If the arm has no damping, so that its peaks are infinite, or no such port.
    UncertifiedError
        If axial forces or loads buckle the arm, or a natural frequency in the band is not certified.
    ValueError
        If the band is empty.

    Notes
    -----
    The squared magnitude of the response is approximated by Chebyshev series on pieces of the band, which are halved
    until the series have full precision, however sharp a peak is. The zeros of their derivatives are the peaks, with an
    error of about 1e-8 of their half-power width. Peaks are close to the undamped natural frequencies: those of
    displacements usually below them, unless dampers stiffen the arm.
    """
    low, high = band(omega_min, omega_max)
    transfer = Transfer(arm, inputs, outputs, theory, motion, base_motion)
    if len(transfer.inputs) != 1 or len(transfer.outputs) != 1:
        raise ArmError(
            f"inputs = {shown(inputs)}, outputs = {shown(outputs)}: peaks need exactly one input and one "
            "output; give one each."
        )
    if not transfer.damped:
        raise InfiniteResponseError(
            "the arm has no damping, so its peaks are infinite, at its natural frequencies (frequencies_in_band): give "
            "its links a loss_factor, a kelvin_voigt_time or a joint_damping."
        )

    def squared(omega: Floats) -> Floats:
        value = transfer(omega)[0, 0]
        size: Floats = value.real**2 + value.imag**2
        if not np.all(np.isfinite(size)):
            wrong = float(omega[~np.isfinite(size)][0])
            raise InfiniteResponseError(
                f"the response is infinite at {wrong!r} rad/s, where no damping acts on the mode: give damping to the "
                "links or joints that move in it."
            )
        return size

    resonances = transfer.resonances(low, high)
    between = 0.5 * (resonances[1:] + resonances[:-1])
    found = extrema(squared, np.unique([low, *between, high]))
    places = (found.place[found.maximum], found.place[~found.maximum])
    values = [transfer(x)[0, 0] if x.size else np.zeros(0, np.complex128) for x in places]
    return ResponsePeaks(
        places[0],
        values[0],
        places[1],
        values[1],
        transfer.inputs,
        transfer.outputs,
        motion,
        base_motion,
    )
