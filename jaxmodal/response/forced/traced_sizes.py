"""Magnitudes of responses of traced arms, for optimisation: computed in NumPy, with derivatives for JAX."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxmodal.arm.solved_postures import at_postures, built
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.exact.sensitivities import response_sensitivities
from jaxmodal.response.forced.peaks import InfiniteResponseError, response_peaks
from jaxmodal.response.forced.transfer import Transfer
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError, UncertifiedError
from jaxmodal.spatial.arms.arm import AnyArm

#: number of arms whose maxima are cached
_LATEST = 4096


@dataclasses.dataclass(frozen=True)
class AskedSize:
    """A response and the frequencies at which its magnitude is wanted.

    Attributes
    ----------
    input, output, motion, base_motion, theory
        As for `jaxmodal.response_peaks`.
    omega : tuple of float
        One frequency, rad/s, or the two ends of a band in which the magnitude is maximised.
    """

    input: str | Port
    output: str | Port
    omega: tuple[float, ...]
    motion: str
    base_motion: str
    theory: TheoryName

    def transfer(self, arm: AnyArm) -> Transfer:
        """Return the transfer functions of a concrete arm."""
        return Transfer(arm, self.input, self.output, self.theory, self.motion, self.base_motion)


def response_sizes(arm: AnyArm, postures: Any, asked: AskedSize, count: int) -> jax.Array:
    """Return magnitudes of a response of an arm whose values may be traced, in descending order.

    Parameters
    ----------
    postures
        Joint angles of the links, (P, n), rad, which are not differentiated; None for the angles of the arm.
    asked
        The response and its frequencies.
    count
        Number of local maxima in a band; the ends of the band count as maxima.

    Returns
    -------
    Array, shape (P, count)
        0 where there are fewer maxima; inf where no damping acts; NaN where the values are invalid, frequencies are
        not certified, or static forces buckle the arm. Differentiable once, by every value of the arm: the derivative
        of a maximum is that of the magnitude at fixed frequency.
    """
    return at_postures(
        arm, postures, (count,), functools.partial(_solved, asked=asked, count=count)
    )


def _solved(
    structure: Any,
    values: tuple[float, ...],
    names: Sequence[str],
    *,
    asked: AskedSize,
    count: int,
) -> tuple[Floats, Floats]:
    """Return the magnitudes, (count,), and their derivatives by the values at addresses, (count, addresses)."""
    sizes, slopes = np.zeros(count), np.zeros((count, len(names)))
    try:
        omega, found = _maxima(structure, values, asked)
        best = np.argsort(-found, kind="stable")[:count]
        sizes[: best.size] = found[best]
        if names and np.isfinite(sizes).all():
            slopes[: best.size] = _slopes(built(structure, values), asked, omega[best], names)
    except InfiniteResponseError:
        sizes[0] = np.inf
    except (ArmError, UncertifiedError):  # a search may try values that are not a valid arm
        sizes[:], slopes[:] = np.nan, np.nan
    return sizes, slopes


@functools.lru_cache(_LATEST)
def _maxima(structure: Any, values: tuple[float, ...], asked: AskedSize) -> tuple[Floats, Floats]:
    """Return the frequencies of the local maxima of the magnitude, rad/s, and their values; for a band with its ends.

    Results of the latest designs are cached, because a search requests values and derivatives one after the other.
    """
    arm, ends = built(structure, values), np.array(asked.omega)
    at_ends = np.abs(asked.transfer(arm)(ends)[0, 0])
    if ends.size == 1:
        return ends, at_ends
    found = response_peaks(
        arm,
        float(ends[0]),
        float(ends[1]),
        asked.input,
        asked.output,
        theory=asked.theory,
        motion=asked.motion,
        base_motion=asked.base_motion,
    )
    return np.append(found.omega, ends), np.append(np.abs(found.values), at_ends)


def _slopes(arm: AnyArm, asked: AskedSize, omega: Floats, names: Sequence[str]) -> Floats:
    """Return derivatives of the magnitude at these frequencies, (F, addresses)."""
    transfer = asked.transfer(arm)
    (into,), (out,) = transfer.inputs, transfer.outputs
    at_base = into.place == "base"
    found = response_sensitivities(
        arm,
        omega,
        into,
        out,
        addresses=names,
        quantity="transmissibility" if at_base else "receptance",
        theory=asked.theory,
    )
    rate = omega ** (transfer.power - transfer.base_power * at_base)
    slopes: Floats = found.of_magnitude[0, 0] * rate[:, None]
    return slopes
