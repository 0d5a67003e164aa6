"""Pairing of measured and computed modes: by number, by shape, or in order of frequency."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.identification.measurements import MeasuredModes
from jaxmodal.response.driven.ports import ports
from jaxmodal.response.modal.participation import modes_at_ports
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.plausibility import most_modes

#: number of modes, beyond those measured, with which a shape is compared
_FURTHER = 3
#: least modal assurance criterion of a pair; a second mode above this share of the best is doubtful
_ALIKE, _SECOND = 0.7, 0.6
#: distance, in standard deviations, within which another mode may be the measured one
_NEAR = 3.0


class Pairing(NamedTuple):
    """Numbers, from 1, of the computed modes paired with M measured ones, and similarity of shapes, (M, K), or None."""

    numbers: tuple[int, ...]
    assurance: Floats | None


def paired(measured: MeasuredModes, arm: Any, theory: TheoryName) -> Pairing:
    """Pair measured modes with those of an arm."""
    count = measured.frequencies_hz.size
    modes_looked_at(arm, max(measured.numbers or (count,)))  # refuses too many
    if measured.numbers is not None:
        alike = None
        if measured.shapes is not None:
            alike = _assurance(measured, arm, modes_looked_at(arm, max(measured.numbers)), theory)
        return Pairing(measured.numbers, alike)
    if measured.shapes is None:
        order = np.argsort(measured.frequencies_hz, kind="stable")
        numbers = np.empty(count, int)
        numbers[order] = np.arange(1, count + 1) + _at_zero(arm, theory)
        modes_looked_at(arm, int(numbers.max()))
        return Pairing(tuple(numbers.tolist()), None)
    alike = _assurance(measured, arm, modes_looked_at(arm, count), theory)
    _, columns = linear_sum_assignment(-alike)
    return Pairing(tuple((columns + 1).tolist()), alike)


def _at_zero(arm: Any, theory: TheoryName) -> int:
    """Return the number of modes of zero frequency.

    Measured modes are never these. They occur if an arm floats or has free joints.
    """
    asked = 1
    while True:
        found = np.asarray(natural_frequencies(arm, asked, theory=theory, throw=False).omega)
        if found[-1] != 0.0:
            return int(np.sum(found == 0.0))
        asked = modes_looked_at(arm, asked + 1)
        if asked <= found.size:
            return int(found.size)


def modes_looked_at(arm: Any, highest: int) -> int:
    """Return the number of modes to compute, given the highest number of a measured one."""
    most = most_modes(arm)
    if highest > most:
        raise ArmError(
            f"mode {highest} is measured, but an arm of rigid links has {most:g}, one for each spring; give the "
            "numbers of the modes, or springs and links that bend."
        )
    return int(min(most, highest + _FURTHER))


def _assurance(measured: MeasuredModes, arm: Any, count: int, theory: TheoryName) -> Floats:
    """Return modal assurance criteria (M, count): squared cosines of measured and computed shapes at the places."""
    places = ports(measured.places, arm, "places")
    computed = modes_at_ports(arm, places, count, theory).at
    products = measured.shapes @ computed.T
    sizes = np.outer(np.sum(measured.shapes**2, axis=1), np.sum(computed**2, axis=1))
    return np.asarray(products**2 / np.where(sizes > 0.0, sizes, 1.0))


def doubts(
    measured: MeasuredModes, pairing: Pairing, hertz: Floats, spread: Floats
) -> tuple[str, ...]:
    """Return possible errors of each pair in words, or "": another mode is nearer, as near, or as similar.

    ``hertz`` are computed frequencies, ``spread`` the standard deviations of the measured ones, Hz.
    """
    found = []
    for m, number in enumerate(pairing.numbers):
        remarks = []
        away = np.abs(hertz - measured.frequencies_hz[m])
        away = np.where(np.isnan(away), np.inf, away)
        nearest = int(np.argmin(away)) + 1
        own = away[number - 1]
        others = np.where(np.arange(1, hertz.size + 1) == number, np.inf, away)
        if nearest != number:
            remarks.append(f"mode {nearest} is nearer ({hertz[nearest - 1]:.5g} Hz)")
        elif others.min() < own + _NEAR * spread[m]:
            other = int(np.argmin(others))
            remarks.append(f"mode {other + 1} is about as near ({hertz[other]:.5g} Hz)")
        if pairing.assurance is not None:
            alike = pairing.assurance[m]
            rest = np.where(np.arange(1, alike.size + 1) == number, 0.0, alike)
            second = int(np.argmax(rest))
            if alike[number - 1] < _ALIKE:
                remarks.append(f"its shape is no mode's here (MAC {alike[number - 1]:.2f})")
            if rest[second] > _SECOND * alike[number - 1]:
                remarks.append(f"mode {second + 1} is alike, too (MAC {rest[second]:.2f})")
        found.append("; ".join(remarks))
    return tuple(found)
