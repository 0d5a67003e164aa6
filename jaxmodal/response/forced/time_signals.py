"""Response of an arm to a time signal, by Fourier synthesis of its exact frequency response."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from jaxmodal.arm.arguments import real_array, real_number
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.counts import count_below
from jaxmodal.response.driven.damping import viscous_alone
from jaxmodal.response.driven.labels import driven_names, output_labels
from jaxmodal.response.driven.port_quantities import unit_of_motion
from jaxmodal.response.driven.ports import Port, Ports
from jaxmodal.response.forced.transfer import Transfer
from jaxmodal.response.modal.superposition import modal_superposition
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.runtime.results import ResolvedResult
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm

if TYPE_CHECKING:
    import xarray

#: share of a motion that may remain when the signal with its zeros repeats
_SETTLED = 1e-10
#: mean of a signal, relative to its largest sample, below which it is rounding
_NO_MEAN = 1e-12
#: number of modes among which the slowest decay determines the waiting time
_MODES_LOOKED_AT = 60
#: largest number of samples of a signal including the decay time
_MOST_SAMPLES = 2**24


@dataclasses.dataclass(frozen=True, repr=False)
class TimeResponse(ResolvedResult):
    """Motions of an arm under a time signal; result of `time_response`.

    Attributes
    ----------
    time : array, shape (N,)
        In s, from 0.
    values : array, shape (p, N)
        The outputs, in their units.
    inputs, outputs : tuple of Port
        The ports.
    motion : str
        Kind of the outputs.
    """

    time: Floats
    values: Floats
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    motion: str

    def tables(self) -> list[Table]:
        """Return a table of the largest absolute value of each output and its time."""
        place = np.argmax(np.abs(self.values), axis=1)
        rows = [
            [str(each), f"{self.values[k, at]:.6g}", f"{self.time[at]:.6g}"]
            for k, (each, at) in enumerate(zip(self.outputs, place, strict=True))
        ]
        title = f"{self.motion} over {self.time[-1]:g} s under {driven_names(self.inputs)}"
        return [Table(title, ("output", "largest", "at [s]"), rows, (), ("output",))]

    def to_xarray(self) -> xarray.Dataset:
        """Return the motions, named after their kind, as a dataset with dims output and time.

        Units are a coordinate.
        """
        import xarray

        return xarray.Dataset(
            {self.motion: variable(("output", "time"), self.values, f"{self.motion} of the port")},
            {
                **output_labels(self.outputs, lambda port: unit_of_motion(port, self.motion)),
                "time": variable("time", self.time, "time", "s"),
            },
            {"inputs": driven_names(self.inputs)},
        )


def time_response(
    arm: AnyArm,
    signal: ArrayLike,
    time_step: float,
    inputs: Ports,
    outputs: Ports,
    *,
    theory: TheoryName = "timoshenko",
    motion: str = "displacement",
    base_motion: str = "acceleration",
    periodic: bool = False,
) -> TimeResponse:
    """Return the motions of an arm, initially at rest, under a time signal, by Fourier synthesis.

    Parameters
    ----------
    arm : Arm
        The arm, with concrete values, and with damping unless the signal is periodic.
    signal : array, shape (N,) or (m, N)
        The force or base motion at equal time steps from time 0; for several inputs, one row each.
    time_step
        The step in s.
    inputs, outputs, theory, motion, base_motion
        As for `response_peaks`; there may be several of each.
    periodic
        If True, the signal repeats for ever and the motion is the steady one. Otherwise zeros are appended to the
        signal until the motion has died out. If a free joint or base lets the arm drift, the signal must have zero
        mean, and the motion returned is the steady one with zero mean (the others differ by a rigid motion).
        Accelerations are also available for a signal with a mean, unless there is a damper at the free joint; they are
        valid until the arm has moved far.

    Returns
    -------
    TimeResponse
        Motions over the duration of the signal.

    Raises
    ------
    ArmError
        If a frequency of the signal is an undamped resonance. For a signal that is not periodic also: if the arm has
        no damping, or has a loss factor, which would not be causal; if an input at the base is not its acceleration;
        or if ``motion`` is not the acceleration for an output that moves with the base.
    UncertifiedError
        If axial forces or loads buckle the arm, or a mode that determines the decay time is not certified.
    ValueError
        If the signal is not finite, if it has a mean that moves a base or an unconstrained arm without bound, or if
        the motion needs more than 16,777,216 samples to die out.

    Notes
    -----
    Between samples the signal is interpolated by its Fourier series. Sample finely enough that the signal has no
    content at half the sampling frequency. The wrap-around error is below 1e-10 of the motion for the lowest 60 modes.
    """
    samples = real_array(signal, "signal")
    if samples.ndim not in (1, 2) or samples.shape[-1] < 2 or not np.all(np.isfinite(samples)):
        raise ValueError(
            f"signal = {shown(signal)}: expected at least 2 finite numbers at equal steps"
        )
    samples = np.atleast_2d(samples)
    step = real_number(time_step, "time_step", "a time in s greater than 0")
    if not 0.0 < step < np.inf:
        raise ValueError(f"time_step = {shown(time_step)}: expected a time in s greater than 0")
    if is_traced(periodic) or np.ndim(periodic) or np.asarray(periodic).dtype.kind != "b":
        raise ArmError(f"periodic = {shown(periodic)}: must be True or False.")
    transfer = Transfer(arm, inputs, outputs, theory, motion, base_motion)
    rows, length = samples.shape
    if len(transfer.inputs) != rows:
        raise ArmError(
            f"inputs = {shown(inputs)}: {len(transfer.inputs)} ports for a signal of {rows} rows; give a row of the "
            "signal for each."
        )
    count = length if periodic else _with_time_to_settle(transfer, motion, length, step)
    loose = periodic and transfer.first == 0.0
    endless = transfer.drifting | (loose and not transfer.accelerates)
    means = samples.mean(axis=1)
    moving = endless & (np.abs(means) > _NO_MEAN * np.abs(samples).max(axis=1))
    if np.any(moving):
        row = int(np.argmax(moving))
        mean = float(means[row])
        if transfer.drifting[row]:
            raise ValueError(
                f"signal: has the mean {mean!r}, with which the base moves on without end; take the mean away, or ask "
                f"for motion={base_motion!r}."
            )
        asked = "" if motion == "acceleration" else ", ask for motion='acceleration'"
        raise ValueError(
            f"signal: has the mean {mean!r}, with which an arm with a motion without a restoring force (a free joint, "
            f"a free base) moves on without end; take the mean away{asked}, or give the joint or the base a stiffness "
            "greater than 0."
        )
    spectrum = np.fft.rfft(samples, count, axis=1)
    omega: Floats = 2.0 * np.pi * np.fft.rfftfreq(count, step).astype(np.float64)
    answer = np.empty((len(transfer.outputs), rows, omega.size), np.complex128)
    answer[..., 1:] = transfer(omega[1:])
    if not np.all(endless):
        answer[..., 0] = transfer.steady_acceleration() if loose else transfer.at_rest()
    answer[:, endless, 0] = 0.0
    lost = ~np.isfinite(answer).all(axis=(0, 1))
    if np.any(lost):
        raise ArmError(
            f"signal: is a sum of waves, of which that at {float(omega[lost][0])!r} rad/s has no finite answer: an "
            "undamped resonance, or beyond what double precision holds; give the arm damping, or another time_step or "
            "number of samples."
        )
    if count % 2 == 0:
        answer[..., -1] = answer[..., -1].real
    values = np.fft.irfft(np.einsum("pif,if->pf", answer, spectrum), count, axis=1)[:, :length]
    time = step * np.arange(length, dtype=np.float64)
    return TimeResponse(time, values, transfer.inputs, transfer.outputs, motion)


def _with_time_to_settle(transfer: Transfer, motion: str, count: int, step: float) -> int:
    """Return the number of samples until the slowest mode within the sampled frequencies has died out."""
    if not transfer.damped:
        raise ArmError(
            "the arm has no damping, so its motion never dies out: give its links a kelvin_voigt_time or a "
            "joint_damping, or say periodic=True for a signal that repeats."
        )
    if not viscous_alone(transfer.arm):
        raise ArmError(
            "loss_factor: is a law of harmonic motions only; in time it would move the arm before the force acts. "
            "Take kelvin_voigt_time or joint_damping instead, or say periodic=True for a signal that repeats."
        )
    if transfer.base_power != 2 and any(each.place == "base" for each in transfer.inputs):
        raise ArmError(
            "base_motion: a motion of the base that ends elsewhere than it began leaves the arm there; give its "
            "acceleration and ask for motion='acceleration', or say periodic=True."
        )
    if np.any(transfer.drifting):
        raise ArmError(
            f"motion = {motion!r}: a base that is accelerated leaves with the arm, whose {motion} does not come to "
            "rest; ask for motion='acceleration' and integrate it from rest."
        )
    within = int(count_below(transfer.arm, np.pi / step, theory=transfer.theory))
    port, modes = transfer.outputs[0], min(max(within, 1), _MODES_LOOKED_AT)
    model = modal_superposition(transfer.arm, port, port, modes, theory=transfer.theory)
    one = np.eye(model.omega.size)
    poles = np.linalg.eigvals(
        np.block([[0.0 * one, one], [-np.diag(model.omega**2), -model.damping]])
    )
    slowest = -float(poles.real.max())
    settle = -np.log(_SETTLED) / slowest / step if slowest > 0.0 else np.inf
    if count + settle > _MOST_SAMPLES:
        raise ValueError(
            f"time_step = {step!r}: the slowest mode needs {settle * step:.3g} s to die out, more than "
            f"{_MOST_SAMPLES:,} steps with the signal; give a larger step, more damping, or say periodic=True"
        )
    from scipy import fft

    return int(fft.next_fast_len(int(np.ceil(count + settle)), real=True))
