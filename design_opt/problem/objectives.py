"""Objectives: quantities to be maximised or minimised.

Every objective is a vector of values whose smallest is maximised: a worst case over postures and modes, or a single
number. The `aggregate` of the problem selects the form of the smallest value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

import jax.numpy as jnp
from jax import Array

from design_opt.problem.designs import OWN, Design, Part, check_function, check_mode
from design_opt.problem.errors import ProblemError
from design_opt.problem.zero_modes import ZeroModes
from jaxmodal.arm.quantities import shown


class Objective(Part, Protocol):
    """Protocol of objectives, also for user-defined classes."""

    @property
    def weight(self) -> float:
        """Factor in a weighted sum."""

    @property
    def sign(self) -> float:
        """+1 if the reported number is maximised, -1 if it is minimised."""

    def terms(self, design: Design) -> Array:
        """Return values, shape (P, m), P the number of postures or 1; the smallest is maximised."""


@dataclasses.dataclass(frozen=True)
class MinimiseMass:
    """Objective: minimise the total mass of the arm, including bodies and payload."""

    weight: float = 1.0
    postures: str = ""

    label = "total mass [kg]"
    highest_mode = 0
    sign = -1.0
    is_size = True

    def terms(self, design: Design) -> Array:
        return -jnp.reshape(jnp.asarray(design.arm.total_mass, jnp.float64), (1, 1))


@dataclasses.dataclass(frozen=True)
class MaximiseFrequency:
    """Objective: maximise a frequency, at the worst posture of a set.

    Parameters
    ----------
    mode
        Mode number from 1.
    postures
        Name of a posture set; by default the arm's own posture.
    weight
        Factor in a weighted sum.
    cluster
        Number of higher modes that are also considered, because at the optimum they may coincide with this one; with 0
        the search fails where modes coincide.
    """

    mode: int = 1
    postures: str = OWN
    weight: float = 1.0
    cluster: int = 2

    sign = 1.0
    is_size = True

    def __post_init__(self) -> None:
        check_mode("objective frequency", self.mode)
        if self.cluster not in (0, 1, 2):
            raise ProblemError(
                f"objective frequency: cluster = {shown(self.cluster)}: must be 0, 1 or 2."
            )

    @property
    def label(self) -> str:
        return f"f{self.mode} [Hz]{worst_of(self.postures)}"

    @property
    def highest_mode(self) -> int:
        return self.mode + self.cluster

    def check_zero_modes(self, zeros: ZeroModes, today: ZeroModes) -> None:
        """Raise an error if the mode has frequency 0."""
        remedy = f"give mode = {zeros.most + 1} or higher"
        zeros.require_vibrating(f"objective {self.label!r}", self.mode, remedy)

    def terms(self, design: Design) -> Array:
        return design.hz[self.postures][:, self.mode - 1 : self.highest_mode]


@dataclasses.dataclass(frozen=True)
class MaximiseGap:
    """Objective: maximise the gap in Hz between a mode and the next, at the worst posture of a set.

    Parameters
    ----------
    below
        Mode number at the lower edge; the upper edge is mode ``below + 1``.
    """

    below: int = 1
    postures: str = OWN
    weight: float = 1.0

    sign = 1.0
    is_size = True

    def __post_init__(self) -> None:
        check_mode("objective gap", self.below, "below")

    @property
    def label(self) -> str:
        return f"gap f{self.below + 1} - f{self.below} [Hz]{worst_of(self.postures)}"

    @property
    def highest_mode(self) -> int:
        return self.below + 2

    def check_zero_modes(self, zeros: ZeroModes, today: ZeroModes) -> None:
        """Raise an error if the lower mode has frequency 0: the gap is then the frequency of the upper mode."""
        first = zeros.most + 1
        remedy = f"give below = {first} or higher, or maximise the frequency of mode {first}"
        zeros.require_vibrating(f"objective {self.label!r}", self.below, remedy)

    def terms(self, design: Design) -> Array:
        """Return all differences across the gap, because both edges may be clusters; the smallest is maximised."""
        hz = design.hz[self.postures]
        edge = hz[:, self.below - 1 : self.below]
        lower = hz[:, max(self.below - 2, 0) : self.below]
        lower = jnp.where(lower == 0.0, edge, lower)  # zero frequencies do not count
        upper = hz[:, self.below : self.below + 2]
        return (upper[:, :, None] - lower[:, None, :]).reshape(hz.shape[0], -1)


@dataclasses.dataclass(frozen=True)
class Maximise:
    """Objective: maximise a user-defined JAX function.

    Parameters
    ----------
    function
        Takes a `Design`, returns a number or a vector, whose smallest value is maximised.
    label
        Short text for tables.
    postures, highest_mode
        Posture set and highest mode number of the frequencies that the function uses; not needed without frequencies.
    """

    function: Callable[[Design], Any]
    label: str = "objective"
    postures: str = ""
    highest_mode: int = 0
    weight: float = 1.0

    sign = 1.0

    def __post_init__(self) -> None:
        check_function(f"objective {self.label!r}", self.function)

    def terms(self, design: Design) -> Array:
        return jnp.reshape(jnp.asarray(self.function(design), jnp.float64), (1, -1))


@dataclasses.dataclass(frozen=True)
class Minimise(Maximise):
    """Objective: minimise a user-defined JAX function; of a vector, its largest value."""

    sign = -1.0

    def terms(self, design: Design) -> Array:
        return -super().terms(design)


def worst_of(postures: str) -> str:
    """Return the words for a posture set in the label of an objective."""
    return "" if postures == OWN else f", worst of {postures}"
