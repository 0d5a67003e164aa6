"""Interface between searches and arms of any kind: determinant and count at frequencies, and a starting scale."""

from __future__ import annotations

import dataclasses
from typing import Protocol

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.runtime.namespace import Array

#: the largest effect seen of what is rounded, in units of `Evaluation.noise` times 2**-53, was 220, of springs and
#: masses 1e8 times those of the links; 14 of usual ones
CERTAIN = 256.0 * 2.0**-53


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Determinant and count at one frequency.

    Attributes
    ----------
    sign, log_abs : Array
        Sign (+1, -1) and natural logarithm of the modulus of D(omega).
    count : Array
        J(omega), the number of natural frequencies below omega, int64.
    noise : Array
        Accumulated rounding error in units of 2**-53: sign and count are those of a frequency whose relative distance
        from omega is at most `CERTAIN` times this. About ten per link, unless omega is close to a resonance of a single
        link or of the outer links alone; in double-double 2**-52 of that.
    """

    sign: Array
    log_abs: Array
    count: Array
    noise: Array


class Model(Protocol):
    """Protocol of a concrete arm with a theory, for the searches in NumPy.

    Attributes
    ----------
    scale : np.float64
        A frequency in rad/s of the order of the lowest modes.
    log_at_zero : np.float64
        Limit of log|D| at zero frequency.
    zero_frequencies : int
        Number of modes with frequency zero.
    invalid : bool
        True if the arm has a value that its constructor would refuse.
    unstable : bool
        True if static forces buckle the arm.
    """

    @property
    def scale(self) -> np.float64: ...

    @property
    def log_at_zero(self) -> np.float64: ...

    @property
    def zero_frequencies(self) -> int: ...

    @property
    def invalid(self) -> bool: ...

    @property
    def unstable(self) -> bool: ...

    def harmless(self) -> Model:
        """Return a model to solve in place of an invalid or unstable one."""
        ...

    def otherwise(self) -> Model | None:
        """Return the same arm with formulas that lose digits at other frequencies, or None if there are none."""
        ...

    def evaluate(self, omega: np.ndarray, arithmetic: Arithmetic) -> Evaluation:
        """Return determinant and count at frequencies > 0 in rad/s, any shape."""
        ...
