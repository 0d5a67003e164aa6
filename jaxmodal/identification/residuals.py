"""Residuals between an arm and measurements, in standard deviations, with exact derivatives."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.identification.measurements import Measured, MeasuredModes, MeasuredResponse
from jaxmodal.identification.pairing import Pairing, paired
from jaxmodal.identification.predictions import Modes, modes_of, response_of
from jaxmodal.identification.unknowns import Unknowns
from jaxmodal.runtime.array_types import Complexes, Floats
from jaxmodal.runtime.errors import ArmError

#: relative error of the model that the first, rough fit of responses allows in addition to that of the measurement
_ROUGH = 0.1


class Part(NamedTuple):
    """Residuals of one measurement, their derivatives by x, and the computed values."""

    residuals: Floats
    slopes: Floats
    computed: Modes | Complexes

    @property
    def is_finite(self) -> bool:
        """Whether all residuals and derivatives are finite."""
        return bool(np.all(np.isfinite(self.residuals)) and np.all(np.isfinite(self.slopes)))


@dataclasses.dataclass(frozen=True)
class Misfit:
    """Measurements with their pairing of modes, and the residuals of an arm.

    Attributes
    ----------
    pairings
        Pairing of each measurement of modes; None for responses.
    """

    unknowns: Unknowns
    measured: tuple[Measured, ...]
    theory: TheoryName
    pairings: tuple[Pairing | None, ...]

    @classmethod
    def at(
        cls,
        unknowns: Unknowns,
        measured: tuple[Measured, ...],
        theory: TheoryName,
        values: Floats,
    ) -> Misfit:
        """Pair the measured modes with those of the arm with these values."""
        pairings = [
            paired(each, unknowns.arm_with(values, each.settings), theory)
            if isinstance(each, MeasuredModes)
            else None
            for each in measured
        ]
        return cls(unknowns, measured, theory, tuple(pairings))

    def parts(self, values: Floats, rough: bool = False) -> list[Part]:
        """Return the residuals of each measurement.

        If ``rough``, they are those of logarithms, and a model error is allowed for.
        """
        found = []
        for each, pairing in zip(self.measured, self.pairings, strict=True):
            arm = self.unknowns.arm_with(values, each.settings)
            if isinstance(each, MeasuredModes):
                assert pairing is not None
                count = max(pairing.numbers)
                modes = modes_of(self.unknowns, values, arm, count, self.theory)
                found.append(_of_modes(each, pairing, modes, rough))
            else:
                computed, slopes = response_of(self.unknowns, values, arm, each, self.theory)
                found.append((_rough_response if rough else _of_response)(each, computed, slopes))
        return found


def spread_of(measured: MeasuredModes) -> Floats:
    """Return standard deviations of frequencies, Hz; if unknown, the frequencies (relative standard deviation 1)."""
    given = measured.standard_deviations_hz
    return np.asarray(measured.frequencies_hz if given is None else given, np.float64)


def spread_of_response(measured: MeasuredResponse) -> Floats:
    """Return standard deviations of responses; if unknown, the root mean square of each pair of ports."""
    given = measured.standard_deviations
    shape = measured.values.shape
    return np.broadcast_to(measured.size if given is None else given, shape)


def _of_modes(measured: MeasuredModes, pairing: Pairing, modes: Modes, rough: bool) -> Part:
    at = np.array(pairing.numbers) - 1
    spread = spread_of(measured)
    if rough:
        given = measured.standard_deviations_hz
        known = 0.0 if given is None else spread
        spread = np.hypot(known, _ROUGH * measured.frequencies_hz)
    residuals = (modes.hertz[at] - measured.frequencies_hz) / spread
    return Part(residuals, modes.slopes[at] / spread[:, None], modes)


def _of_response(measured: MeasuredResponse, computed: Complexes, slopes: Complexes) -> Part:
    known = np.isfinite(measured.values)
    spread = spread_of_response(measured)[known]
    away = (computed[known] - measured.values[known]) / spread
    rates = slopes[known] / spread[:, None]
    return Part(
        np.concatenate([away.real, away.imag]), np.concatenate([rates.real, rates.imag]), computed
    )


def _rough_response(measured: MeasuredResponse, computed: Complexes, slopes: Complexes) -> Part:
    """Return residuals of logarithms of responses, which attract peaks that do not overlap by their flanks."""
    known = np.isfinite(measured.values) & (measured.values != 0.0)
    size = np.abs(measured.values[known])
    given = measured.standard_deviations
    noise = 0.0 if given is None else spread_of_response(measured)[known] / size
    spread = np.hypot(noise, np.full(size.shape, _ROUGH))
    moves = computed[known] != 0.0  # a response that is zero by symmetry has no logarithm
    with np.errstate(all="ignore"):
        away = np.where(moves, np.log(computed[known] / measured.values[known]) / spread, 0.0)
        rates = slopes[known] / computed[known][:, None] / spread[:, None]
    rates = np.where(moves[:, None], rates, 0.0)
    return Part(
        np.concatenate([away.real, away.imag]), np.concatenate([rates.real, rates.imag]), computed
    )


def require_one_scale(measured: tuple[Measured, ...]) -> bool:
    """Return whether standard deviations are given; all or none must have them, and all if modes and responses mix."""
    given = [
        (
            each.standard_deviations_hz
            if isinstance(each, MeasuredModes)
            else each.standard_deviations
        )
        is not None
        for each in measured
    ]
    if any(given) and not all(given):
        place = given.index(False)
        raise ArmError(
            f"measured[{place}]: has no standard deviations, which others have; give them for all or for none."
        )
    kinds = {type(each) for each in measured}
    if not all(given) and len(kinds) > 1:
        raise ArmError(
            "measured: are frequencies and responses without standard deviations; give them, since they set the "
            "weights."
        )
    return all(given)
