"""Computed values for measurements of an arm, with derivatives with respect to the fitted parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.identification.measurements import MeasuredResponse
from jaxmodal.identification.unknowns import Unknowns
from jaxmodal.modes.sensitivities import sensitivities
from jaxmodal.response.exact.sensitivities import response_sensitivities
from jaxmodal.runtime.array_types import Bools, Complexes, Floats


class Modes(NamedTuple):
    """K modes of one arm: frequencies in Hz, derivatives (K, P) by x, certificates, and whether each is separated."""

    hertz: Floats
    slopes: Floats
    certified: Bools
    alone: Bools


def modes_of(
    unknowns: Unknowns, values: Floats, arm: Any, num_modes: int, theory: TheoryName
) -> Modes:
    """Return the lowest modes; in a group of coincident frequencies, the derivative is that of their mean."""
    found = sensitivities(
        arm, num_modes, theory=theory, addresses=unknowns.addresses, repeated="mean", throw=False
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
    """Return the response (outputs, inputs, F), and its derivatives (outputs, inputs, F, P) by x."""
    found = response_sensitivities(
        arm,
        2.0 * np.pi * asked.frequencies_hz,
        asked.inputs,
        asked.outputs,
        addresses=unknowns.addresses,
        quantity=asked.quantity,
        theory=theory,
    )
    return np.asarray(found.response.values), np.asarray(found.derivative) * unknowns.rates(values)
