"""Magnitudes of responses of traced arms, for optimisation: computed in NumPy, with derivatives for JAX."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arm import Arm
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.exact.sensitivities import response_sensitivities
from jaxmodal.response.forced.peaks import InfiniteResponseError, response_peaks
from jaxmodal.response.forced.transfer import Transfer
from jaxmodal.runtime.callbacks import in_numpy
from jaxmodal.runtime.errors import ArmError, UncertifiedError

Floats = NDArray[np.float64]

#: arms whose maxima are kept
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

    def transfer(self, arm: Arm) -> Transfer:
        """Return the response of a concrete arm."""
        return Transfer(arm, self.input, self.output, self.theory, self.motion, self.base_motion)


def response_sizes(arm: Arm, postures: Any, asked: AskedSize, count: int) -> jax.Array:
    """Return magnitudes of a response of an arm with possibly traced values, the largest first.

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
    if postures is not None:
        arm = arm.replace(links=tuple(link.replace(joint_angle=0.0) for link in arm.links))
    paths, structure = jax.tree_util.tree_flatten_with_path(arm)
    plain = [None if isinstance(x, jax.core.Tracer) else np.float64(x) for _, x in paths]
    varied = [k for k, value in enumerate(plain) if value is None]
    names = [_address(paths[k][0]) for k in varied]
    turning = [k for k, (path, _) in enumerate(paths) if _address(path).endswith(".joint_angle")]
    rows = 1 if postures is None else len(postures)

    def solved(arrays: Sequence[Any], gradient: bool) -> tuple[Floats, list[Floats]]:
        values, angles = arrays
        leaves = list(plain)
        for k, value in zip(varied, values, strict=True):
            leaves[k] = value
        given: Any = [None] * rows if postures is None else angles
        every = [_posed(leaves, turning, row) for row in given]
        wanted = names if gradient else ()
        found = [_solved(structure, each, asked, count, wanted) for each in every]
        return np.stack([x for x, _ in found]), [np.stack([x for _, x in found])]

    values = jnp.asarray([paths[k][1] for k in varied], jnp.float64)
    angles = jnp.asarray(() if postures is None else postures, jnp.float64)
    found: jax.Array = in_numpy(solved, (rows, count), [values], [angles])
    return found


def _address(path: Sequence[Any]) -> str:
    """Return the address of a leaf of an arm."""
    head, *rest = path
    if head.name != "links":
        return ".".join([head.name, *(key.name for key in rest)])
    return ".".join([f"link{rest[0].idx + 1}", *(key.name for key in rest[1:])])


def _posed(
    leaves: Sequence[Any], turning: Sequence[int], angles: Floats | None
) -> tuple[float, ...]:
    """Return the values of an arm in another posture."""
    found = list(map(float, leaves))
    for k, angle in zip(turning, () if angles is None else angles, strict=angles is not None):
        found[k] = float(angle)
    return tuple(found)


def _solved(
    structure: Any,
    values: tuple[float, ...],
    asked: AskedSize,
    count: int,
    names: Sequence[str],
) -> tuple[Floats, Floats]:
    """Return the magnitudes, (count,), and their derivatives by the values at addresses, (count, addresses)."""
    sizes, slopes = np.zeros(count), np.zeros((count, len(names)))
    try:
        omega, found = _maxima(structure, values, asked)
        best = np.argsort(-found, kind="stable")[:count]
        sizes[: best.size] = found[best]
        if names and np.isfinite(sizes).all():
            slopes[: best.size] = _slopes(_arm(structure, values), asked, omega[best], names)
    except InfiniteResponseError:
        sizes[0] = np.inf
    except (ArmError, UncertifiedError):  # a search may try values that are no arm
        sizes[:], slopes[:] = np.nan, np.nan
    return sizes, slopes


def _arm(structure: Any, values: tuple[float, ...]) -> Arm:
    found: Arm = jax.tree_util.tree_unflatten(structure, map(np.float64, values))
    return found


@functools.lru_cache(_LATEST)
def _maxima(structure: Any, values: tuple[float, ...], asked: AskedSize) -> tuple[Floats, Floats]:
    """Return the frequencies of the local maxima of the magnitude, rad/s, and their values; for a band with its ends.

    Results of the latest designs are cached, because a search requests values and derivatives one after the other.
    """
    arm, ends = _arm(structure, values), np.array(asked.omega)
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


def _slopes(arm: Arm, asked: AskedSize, omega: Floats, names: Sequence[str]) -> Floats:
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
