"""Harmonic response, and random response from a power spectral density."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jaxmodal.arm.arguments import band, is_finite, real_array, real_number
from jaxmodal.arm.plain_arrays import plain
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.driven.labels import band_in_hertz, driven_names, output_labels
from jaxmodal.response.driven.port_quantities import unit_of_motion
from jaxmodal.response.driven.ports import Port, Ports
from jaxmodal.response.forced.transfer import Transfer, scaled
from jaxmodal.runtime.array_types import Complexes, Floats, Integers
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.results import ResolvedResult, Result
from jaxmodal.runtime.statuses import OF_RESPONSES, Status, remarks_on, status_variable
from jaxmodal.runtime.tables import Table, shortened
from jaxmodal.spatial.arms.arm import AnyArm

if TYPE_CHECKING:
    import xarray

Spectrum = float | tuple[ArrayLike, ArrayLike] | Callable[[Floats], ArrayLike]


@dataclasses.dataclass(frozen=True, repr=False)
class HarmonicResponse(Result):
    """Response amplitudes of an arm under harmonic forces at F frequencies; result of `harmonic_response`.

    Attributes
    ----------
    omega : array, shape (F,)
        Angular frequencies, rad/s.
    values : complex array, shape (p, F)
        Complex amplitudes A of the outputs. The motion is the real part of ``A exp(i omega t)``, and forces likewise.
        inf at an undamped resonance that a force excites, NaN where the value is not finite.
    inputs, outputs : tuple of Port
        Input and output ports.
    amplitudes : complex array, shape (m,)
        Amplitudes of the forces, N or N m; at the base of the motion, m or rad and their rates.
    motion : str
        Kind of the outputs: ``"displacement"``, ``"velocity"`` or ``"acceleration"``.
    """

    omega: Floats
    values: Complexes
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    amplitudes: Complexes
    motion: str

    @property
    def status(self) -> Integers:
        """`Status` codes, shape (p, F): resolved, resonance (undamped), or not_resolved for NaN."""
        lost = np.where(np.isnan(self.values), int(Status.not_resolved), int(Status.resolved))
        return np.where(np.isinf(self.values), int(Status.resonance), lost)

    @property
    def frequencies_hz(self) -> Floats:
        """``omega / (2 pi)`` in Hz."""
        return self.omega / (2.0 * np.pi)

    def tables(self) -> list[Table]:
        """Return a table of magnitude and phase of each output by frequency."""
        units = [unit_of_motion(each, self.motion) for each in self.outputs]
        headings = ["frequency [Hz]"]
        for each, unit in zip(self.outputs, units, strict=True):
            headings += [f"{each} [{unit}]", "phase [°]"]
        rows = [
            [f"{hertz:.6g}"]
            + [x for a in column for x in (f"{abs(a):.5g}", f"{np.degrees(np.angle(a)):.2f}")]
            for hertz, column in zip(self.frequencies_hz, self.values.T, strict=True)
        ]
        title = f"{self.motion} under {driven_names(self.inputs)}"
        return [Table(title, headings, shortened(rows), remarks_on(self.status))]

    def to_xarray(self) -> xarray.Dataset:
        """Return the amplitudes, named after the motion, as a dataset with dims output and frequency (Hz)."""
        import xarray

        dims = ("output", "frequency")
        return xarray.Dataset(
            {
                self.motion: variable(dims, self.values, f"complex amplitude of the {self.motion}"),
                "status": status_variable(dims, self.status, OF_RESPONSES, "response"),
            },
            {
                **output_labels(self.outputs, lambda port: unit_of_motion(port, self.motion)),
                "frequency": in_hertz("frequency", self.omega),
            },
            {"inputs": driven_names(self.inputs)},
        )


def harmonic_response(
    arm: AnyArm,
    omega: ArrayLike,
    forces: Mapping[Any, complex],
    outputs: Ports,
    *,
    theory: TheoryName = "timoshenko",
    motion: str = "displacement",
    base_motion: str = "acceleration",
) -> HarmonicResponse:
    """Return complex response amplitudes under harmonic forces and base motions, all at the same frequency.

    Parameters
    ----------
    arm : Arm
        The arm, with concrete values.
    omega
        Angular frequencies in rad/s, one or a list (F,), greater than 0.
    forces
        Complex amplitude by input port: N or N m; at the base m or rad and their rates.
    outputs, theory
        Output ports; the theory.
    motion, base_motion
        As for `response_peaks`.

    Returns
    -------
    HarmonicResponse
        With ``values`` of shape (outputs, F).

    Raises
    ------
    ArmError, ValueError
        As for `frequency_response`, or if an amplitude is not finite or none is given.
    UncertifiedError
        If axial forces or loads buckle the arm, which then has no steady motion.
    """
    if not isinstance(forces, Mapping) or not forces:
        raise ArmError(
            f"forces = {shown(forces)}: must be amplitudes by port, such as {{'tip.across': 10.0}}."
        )
    amplitudes = []
    for name, value in forces.items():
        amplitudes.append(_amplitude(name, value))
    transfer = Transfer(arm, list(forces), outputs, theory, motion, base_motion)
    places = np.atleast_1d(real_array(omega, "omega"))
    found = transfer(places)
    driven = [scaled(found[:, k], each) for k, each in enumerate(amplitudes) if each]
    infinite = np.any(np.isinf(driven), axis=0)
    # so that two infinite terms do not give NaN
    parts = np.where(infinite, 0.0, driven)
    values = np.where(infinite, np.inf, np.sum(parts, axis=0)).astype(np.complex128)
    return HarmonicResponse(
        places, values, transfer.inputs, transfer.outputs, np.array(amplitudes), motion
    )


def _amplitude(name: object, value: Any) -> complex:
    """Return a finite complex number of Python, NumPy or JAX."""
    value = plain(f"forces[{str(name)!r}]", value)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # traced values, lists of unequal lengths
        array = np.zeros(0)
    if array.ndim or array.dtype.kind not in "iufc" or not np.isfinite(array):
        raise ArmError(f"forces[{str(name)!r}] = {shown(value)}: must be a finite number.")
    return complex(array[()])


@dataclasses.dataclass(frozen=True, repr=False)
class RandomResponse(ResolvedResult):
    """Root mean squares of the motions of an arm under a random input; result of `random_response`.

    Attributes
    ----------
    rms : array, shape (p,)
        Root mean square of each output, in its unit.
    error : array, shape (p,)
        Error estimate of the quadrature, in the same unit.
    inputs, outputs : tuple of Port
        The input port, and the output ports.
    motion : str
        Kind of the outputs.
    omega_min, omega_max : float
        The band in rad/s.
    """

    rms: Floats
    error: Floats
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    motion: str
    omega_min: float
    omega_max: float

    def tables(self) -> list[Table]:
        """Return a table of the root mean squares."""
        rows = [
            [str(each), f"{value:.6g}", unit_of_motion(each, self.motion)]
            for each, value in zip(self.outputs, self.rms, strict=True)
        ]
        ends = [f"{w / (2 * np.pi):.4g}" for w in (self.omega_min, self.omega_max)]
        title = f"root mean squares under a random {driven_names(self.inputs)}, {ends[0]} to {ends[1]} Hz"
        return [Table(title, ("output", "rms", "unit"), rows, (), ("output", "unit"))]

    def to_xarray(self) -> xarray.Dataset:
        """Return root mean squares and errors as a dataset with the dim output; units are a coordinate."""
        import xarray

        return xarray.Dataset(
            {
                "rms": variable("output", self.rms, f"root mean square of the {self.motion}"),
                "error": variable("output", self.error, "estimated error of the quadrature"),
            },
            output_labels(self.outputs, lambda port: unit_of_motion(port, self.motion)),
            {
                "inputs": driven_names(self.inputs),
                "motion": self.motion,
                **band_in_hertz(self.omega_min, self.omega_max),
            },
        )


def random_response(
    arm: AnyArm,
    spectrum: Spectrum,
    omega_min: float,
    omega_max: float,
    inputs: str | Port,
    outputs: Ports,
    *,
    theory: TheoryName = "timoshenko",
    motion: str = "displacement",
    base_motion: str = "acceleration",
    tolerance: float = 1e-9,
) -> RandomResponse:
    """Return root mean squares of the motions of an arm under a random force or base motion.

    Parameters
    ----------
    arm : Arm
        The arm, with concrete values and with damping.
    spectrum
        One-sided power spectral density of the input, in its squared unit per Hz: a number, a function of an array of
        frequencies in Hz, or a table (frequencies in Hz, densities), interpolated linearly and zero outside.
    omega_min, omega_max
        The band in rad/s, 0 < omega_min < omega_max.
    inputs, outputs, theory, motion, base_motion
        As for `response_peaks`; one input, one or more outputs.
    tolerance
        Relative error of the mean squares.

    Raises
    ------
    ArmError
        If the arm has no damping, or no such port.
    UncertifiedError
        As for `response_peaks`.
    ValueError
        If the band is empty, a density is negative or not finite, or the tolerance is not reached.

    Notes
    -----
    The mean square is the integral of the squared response times the density, by the Gauss-Kronrod rule
    (`scipy.integrate.cubature`). Its pieces begin at the natural frequencies and at the corners of the table and are
    halved until the tolerance is met, so that no sharp peak is missed.
    """
    from scipy import integrate

    low, high = band(omega_min, omega_max)
    allowed = real_number(tolerance, "tolerance", "greater than 0")
    if not 1e-12 <= allowed < 1.0:
        raise ValueError(f"tolerance = {shown(tolerance)}: expected a number from 1e-12 to 1")
    density, corners = _density(spectrum)
    transfer = Transfer(arm, inputs, outputs, theory, motion, base_motion)
    if len(transfer.inputs) != 1:
        raise ArmError(
            f"inputs = {shown(inputs)}: give one port; add the squares for independent ones."
        )
    if not transfer.damped:
        raise ArmError(
            "the arm has no damping, so a random input moves it without bound: give its links a loss_factor, a "
            "kelvin_voigt_time or a joint_damping."
        )

    def power(hertz: Floats) -> Floats:
        hertz = hertz[:, 0]
        size = np.abs(transfer(2.0 * np.pi * hertz)[:, 0]) ** 2
        return (size * density(hertz)).T

    inside = [w for w in 2.0 * np.pi * corners if low < w < high]
    breaks = np.unique([low, *transfer.resonances(low, high), *inside, high]) / (2.0 * np.pi)
    found = integrate.cubature(
        power,
        breaks[:1],
        breaks[-1:],
        rule="gk21",
        rtol=allowed,
        atol=0.0,
        max_subdivisions=20_000,
        points=[np.array([x]) for x in breaks[1:-1]],
    )
    square = np.asarray(found.estimate)
    if found.status != "converged" or not np.all(np.isfinite(square)):
        raise ValueError(
            f"tolerance = {allowed!r}: not reached; give a larger one, or damping to the modes that have none"
        )
    rms = np.sqrt(square)
    half = np.divide(np.asarray(found.error), 2.0 * rms, out=np.zeros_like(rms), where=rms > 0.0)
    return RandomResponse(rms, half, transfer.inputs, transfer.outputs, motion, low, high)


def _density(spectrum: Any) -> tuple[Callable[[Floats], Floats], Floats]:
    """Return a spectrum as a checked function of Hz, and the positions of its corners."""

    def checked(values: Any) -> Floats:
        found = real_array(values, "spectrum")
        if not np.all(np.isfinite(found) & (found >= 0.0)):
            raise ValueError(
                f"spectrum = {shown(values)}: expected densities that are finite and at least 0, per Hz"
            )
        return found

    def of_each(hertz: Floats) -> Floats:
        found = checked(spectrum(hertz))
        if found.shape not in ((), hertz.shape):
            raise ValueError(
                f"spectrum: returned shape {found.shape}; expected a density for each of the {hertz.size} frequencies "
                "in Hz that it is given, or one number"
            )
        return np.broadcast_to(found, hertz.shape)

    if callable(spectrum):
        return of_each, np.zeros(0)
    if is_finite(spectrum):
        value = checked(spectrum)
        return (lambda hertz: np.broadcast_to(value, hertz.shape)), np.zeros(0)
    if not isinstance(spectrum, tuple | list) or len(spectrum) != 2:
        raise ValueError(
            f"spectrum = {shown(spectrum)}: expected a number, a function of Hz, or (frequencies in Hz, densities)"
        )
    places, values = real_array(spectrum[0], "spectrum"), checked(spectrum[1])
    rising = places.ndim == 1 and places.size >= 2 and bool(np.all(np.diff(places) > 0.0))
    if not rising or places.shape != values.shape or not np.all(np.isfinite(places)):
        raise ValueError(
            "spectrum: expected two lists of one length, at least 2, with ascending frequencies in Hz"
        )
    return (lambda hertz: np.interp(hertz, places, values, left=0.0, right=0.0)), places
