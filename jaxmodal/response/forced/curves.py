"""Adaptive frequency grids for plots of responses, so that no peak and no dip is cut off."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.response.driven.damping import damps
from jaxmodal.response.exact.frequency_response import answered
from jaxmodal.response.exact.results import FrequencyResponse
from jaxmodal.runtime.array_types import Complexes, Floats
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.arms.arm import AnyArm

#: largest deviation of the curve from a chord, as a share of its value, for a chord to count as straight
_STRAIGHT = 5e-3
#: cosine of the largest phase change between neighbouring frequencies
_TURN = np.cos(np.pi / 4.0)
#: smallest relative distance of neighbouring frequencies with damping: sharper peaks are not resolved
_CLOSEST = 1e-12
#: the same without damping, where the flanks of a resonance rise without bound: finer than a plot can show
_FLANK = 1e-3
#: relative distances from a natural frequency at which a pole is detected
_BESIDE = (1e-5, 1e-6)
#: largest number of intervals, given ones included, that may be refined at once; more indicate rounding errors
_MOST = 20_000


def refined(arm: AnyArm, found: FrequencyResponse, places: Any = ()) -> FrequencyResponse:
    """Return a response of one arm at additional frequencies, so that it is almost straight between neighbours.

    Parameters
    ----------
    arm : Arm
        The arm of the response.
    found : FrequencyResponse
        Response at one or more frequencies, all of which are kept.
    places : array
        Natural frequencies and peaks in rad/s. Those in the band are added to the frequencies of the response. Without
        damping, only those are added at which a pair of ports has a pole, with inf there and the status ``resonance``.
    """
    damped = damps(arm)
    omega = np.unique(np.asarray(found.omega))
    wanted = np.unique(np.asarray(places, np.float64))
    wanted = wanted[(wanted > omega[0]) & (wanted < omega[-1]) & ~np.isin(wanted, omega)]
    closest = _CLOSEST if damped else _FLANK
    parts = [(omega := np.union1d(omega, wanted) if damped else omega, *_at(arm, found, omega))]
    low, high = omega[:-1], omega[1:]
    ends = parts[0][1][..., :-1], parts[0][1][..., 1:]
    while 0 < low.size < _MOST + 2 * omega.size:
        middle = np.sqrt(low * high)
        values, status = _at(arm, found, middle)
        parts.append((middle, values, status))
        with np.errstate(invalid="ignore"):
            bent = np.abs(values - 0.5 * (ends[0] + ends[1])) > _STRAIGHT * np.abs(values)
            inner, sizes = (ends[0].conj() * ends[1]).real, np.abs(ends[0]) * np.abs(ends[1])
            bent |= (
                inner < _TURN * sizes
            )  # next to an antiresonance, where a chord passes close to 0
        some = bent.any(axis=(0, 1)) & (high - low > 2.0 * closest * low)
        low, middle, high = low[some], middle[some], high[some]
        before, between, after = (x[..., some] for x in (ends[0], values, ends[1]))
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        ends = np.concatenate([before, between], -1), np.concatenate([between, after], -1)
    if not damped and wanted.size:
        parts.append(_poles(arm, found, wanted))
    omega, values, status = (np.concatenate(column, -1) for column in zip(*parts, strict=True))
    order = np.argsort(omega, kind="stable")
    entries: dict[str, Any] = {"values": values[..., order], "status": status[..., order]}
    return dataclasses.replace(found, omega=omega[order], **entries)


def _at(arm: AnyArm, found: FrequencyResponse, omega: Floats) -> tuple[Complexes, NDArray[np.int8]]:
    """Return values and statuses of a response at other frequencies, each (outputs, inputs, F)."""
    ports = found.inputs, found.outputs
    options: dict[str, Any] = {"quantity": found.quantity, "theory": found.theory}
    more = answered(arm, omega, *ports, **options, parameters=None, judge_stability=True)
    return np.asarray(more.values), np.asarray(more.status)


def _poles(
    arm: AnyArm, found: FrequencyResponse, omega: Floats
) -> tuple[Floats, Complexes, NDArray[np.int8]]:
    """Return undamped natural frequencies that are poles of some pair of ports, with values: inf at poles, else NaN.

    At a pole a response changes its sign, and its jump grows tenfold at a tenth of the distance.
    """
    jumps = []
    for share in _BESIDE:
        below, above = (_at(arm, found, omega * (1.0 + sign * share))[0] for sign in (-1.0, 1.0))
        jumps.append(np.abs(above - below))
    infinite = jumps[1] > 5.0 * jumps[0]
    some = infinite.any(axis=(0, 1))
    infinite = infinite[..., some]
    values, status = _at(arm, found, omega[some]) if some.any() else (jumps[0][..., some],) * 2
    values = np.where(infinite, np.inf + 0.0j, values)
    status = np.where(infinite, np.int8(Status.resonance), status)
    return omega[some], values.astype(np.complex128), status.astype(np.int8)
