"""Response peaks, static compliances and buckling factors of cells, computed arm by arm."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.serial_arms import ArmKind
from jaxmodal.at_rest.buckling import buckling
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.exact.compliance import static_compliance
from jaxmodal.response.forced.peaks import InfiniteResponseError, response_peaks
from jaxmodal.runtime.array_types import Floats, Integers
from jaxmodal.runtime.errors import ArmError, UncertifiedError
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.arms.arm import AnyArm

#: possible statuses of the highest peak, of the static compliance and of the buckling factor of a cell
OF_PEAKS = (Status.resolved, Status.resonance, Status.no_peak, Status.no_value)
OF_COMPLIANCES = (Status.resolved, Status.no_value)
OF_BUCKLING = (Status.certified, Status.uncertified, Status.nothing_pressed, Status.no_value)


class ComplianceCells(NamedTuple):
    """Static compliances of the tips of N arms.

    Attributes
    ----------
    values : array, shape (N, d, d)
        Compliances in m/N: displacement (first index) per force (second index), along x, y and in space z; NaN where
        the compliance does not exist.
    status : array of int, shape (N,)
        `Status` codes.
    """

    values: Floats
    status: Integers


class PeakCells(NamedTuple):
    """Highest response peaks of N arms, arrays of shape (N,).

    Attributes
    ----------
    size : array
        Absolute value of the response; inf at an undamped resonance, NaN without a peak.
    frequency : array
        Frequency in Hz.
    status : array of int
        `Status` codes.
    """

    size: Floats
    frequency: Floats
    status: Integers


class BucklingCells(NamedTuple):
    """Lowest buckling factors of N arms, arrays of shape (N,).

    Attributes
    ----------
    factor : array
        The factor; inf if no load can buckle the arm, NaN if none was found.
    status : array of int
        `Status` codes.
    """

    factor: Floats
    status: Integers


def _arms(arm: ArmKind, values: Mapping[str, Floats]) -> Iterator[ArmKind | None]:
    """Yield the arm of each cell; None if its values are inconsistent."""
    for row in zip(*values.values(), strict=True):
        try:
            yield set_parameters(arm, dict(zip(values, map(float, row), strict=True)))
        except ArmError:
            yield None


def peak_cells(
    arm: AnyArm,
    values: Mapping[str, Floats],
    theory: TheoryName,
    response: Mapping[str, Any],
) -> PeakCells:
    """Return the highest response peaks of cells.

    Parameters
    ----------
    arm, values
        Arm, and the values of N cells for each address, in SI units.
    response
        Further arguments of `jaxmodal.response_peaks`, by name: ports, band, motions.
    """
    rows = [_peak(each, theory, response) for each in _arms(arm, values)]
    return PeakCells(*map(np.array, zip(*rows, strict=True)))


def _peak(
    arm: AnyArm | None, theory: TheoryName, response: Mapping[str, Any]
) -> tuple[float, float, Status]:
    if arm is None:
        return math.nan, math.nan, Status.no_value
    try:
        found = response_peaks(arm, **response, theory=theory)
    except InfiniteResponseError:
        return math.inf, math.nan, Status.resonance
    except (ArmError, UncertifiedError):
        return math.nan, math.nan, Status.no_value
    if found.omega.size == 0:
        return math.nan, math.nan, Status.no_peak
    highest = int(np.argmax(np.abs(found.values)))
    size = float(np.abs(found.values[highest]))
    return size, float(found.frequencies_hz[highest]), Status.resolved


def compliance_cells(
    arm: AnyArm, values: Mapping[str, Floats], theory: TheoryName
) -> ComplianceCells:
    """Return the static compliances of the tips of cells; arguments as for `peak_cells`."""
    names = [f"tip.{name}" for name in "xyz" if name in arm.directions]
    rows = [_compliance(each, names, theory) for each in _arms(arm, values)]
    return ComplianceCells(*map(np.array, zip(*rows, strict=True)))


def _compliance(arm: AnyArm | None, names: list[str], theory: TheoryName) -> tuple[Floats, Status]:
    if arm is not None:
        with contextlib.suppress(ArmError, UncertifiedError):
            return static_compliance(arm, names, names, theory=theory).values, Status.resolved
    return np.full((len(names), len(names)), np.nan), Status.no_value


def buckling_cells(arm: AnyArm, values: Mapping[str, Floats], theory: TheoryName) -> BucklingCells:
    """Return the lowest buckling factors of cells under their own loads; arguments as for `peak_cells`."""
    rows = [_buckling(each, theory) for each in _arms(arm, values)]
    return BucklingCells(*map(np.array, zip(*rows, strict=True)))


def _buckling(arm: AnyArm | None, theory: TheoryName) -> tuple[float, Status]:
    if arm is None:
        return math.nan, Status.no_value
    try:
        found = buckling(arm, 1, theory=theory)
    except ArmError:
        return math.nan, Status.no_value
    factor = float(found.factors[0])
    if math.isnan(factor):
        return factor, Status.no_value
    if not found.certified[0]:
        return factor, Status.uncertified
    pressed = math.isfinite(factor)
    return factor, Status.certified if pressed else Status.nothing_pressed
