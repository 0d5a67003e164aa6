"""What an arm with certain values would have shown, with derivatives by these values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arm import Arm
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.identification.measurements import MeasuredResponse
from jaxmodal.identification.unknowns import Unknowns
from jaxmodal.modes.sensitivities import sensitivities
from jaxmodal.response.exact.frequency_response import frequency_response
from jaxmodal.response.exact.sensitivities import response_sensitivities

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
#: steps of differences of responses of arms in space, relative: a third of the digits
_STEP = 6e-6


class Modes(NamedTuple):
    """K modes of one arm: frequencies in Hz, their derivatives (K, P) by x, certificates, and which stand alone."""

    hertz: Floats
    slopes: Floats
    certified: NDArray[np.bool_]
    alone: NDArray[np.bool_]


def modes_of(
    unknowns: Unknowns, values: Floats, arm: Any, num_modes: int, theory: TheoryName
) -> Modes:
    """The lowest modes; of a group that coincides the derivative of its mean."""
    found = sensitivities(
        arm, num_modes, theory, addresses=unknowns.addresses, repeated="mean", throw=False
    )
    return Modes(
        np.asarray(found.frequencies.frequencies_hz),
        np.asarray(found.derivative_hz) * unknowns.rates(values),
        np.asarray(found.frequencies.certified),
        np.asarray(found.individual),
    )


def response_of(
    unknowns: Unknowns, values: Floats, arm: Any, asked: MeasuredResponse, theory: TheoryName
) -> tuple[Complexes, Complexes]:
    """The response (outputs, inputs, F), and its derivatives (outputs, inputs, F, P) by x.

    In the plane by dual numbers; in space by differences on both sides, whose error is some 1e-10 of a derivative and
    moves no minimum, since the responses themselves are exact.
    """
    omega = 2.0 * np.pi * asked.frequencies_hz
    options: Any = {"quantity": asked.quantity, "theory": theory}
    rates = unknowns.rates(values)
    if isinstance(arm, Arm):
        slopes = response_sensitivities(
            arm, omega, asked.inputs, asked.outputs, addresses=unknowns.addresses, **options
        )
        return np.asarray(slopes.response.values), np.asarray(slopes.derivative) * rates
    count = len(unknowns.addresses)
    steps = _STEP * rates
    moved = np.tile(values, (2 * count + 1, 1))
    for k in range(count):
        moved[2 * k + 1, k] += steps[k]
        moved[2 * k + 2, k] -= steps[k]
    cells = dict(zip(unknowns.addresses, moved.T, strict=True))
    found = np.asarray(
        frequency_response(
            arm, omega, asked.inputs, asked.outputs, parameters=cells, **options
        ).values
    )
    slopes = (found[1::2] - found[2::2]) / (2.0 * _STEP)
    return found[0], np.moveaxis(slopes, 0, -1)
