"""What a search needs of an arm, whatever its kind: determinant and count at frequencies, and where to look."""

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
        What is rounded on the way, in units of one rounding (2**-53): the sign and the count are those of a frequency
        that differs from omega by no more than `CERTAIN` of these, relative. Some ten for each link, unless omega is
        close to a resonance of a single link or of the outer links alone; in double-double 2**-52 of that.
    """

    sign: Array
    log_abs: Array
    count: Array
    noise: Array


class Model(Protocol):
    """A concrete arm and a theory, as the searches of NumPy see them.

    Attributes
    ----------
    scale : np.float64
        A frequency in rad/s about which the lowest modes lie.
    log_at_zero : np.float64
        Limit of log|D| at zero frequency.
    zero_frequencies : int
        How many modes have frequency zero.
    invalid : bool
        A value is one that construction would have refused.
    unstable : bool
        The forces at rest buckle the arm.
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
        """What may be solved in its place where it is invalid or unstable."""
        ...

    def otherwise(self) -> Model | None:
        """The same arm by formulas that lose their digits at other frequencies, None where there are none."""
        ...

    def evaluate(self, omega: np.ndarray, arithmetic: Arithmetic) -> Evaluation:
        """Determinant and count at frequencies > 0 in rad/s, any shape."""
        ...
