"""Objectives: quantities to make as large, or as small, as possible.

Every objective is a vector of values of which the least counts, to be made as large as possible: a worst case
over postures and modes, or a single number. How the least is taken is the problem's `aggregate`.
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
    """The protocol of objectives, also for classes of your own."""

    @property
    def weight(self) -> float:
        """Factor in a weighted sum."""

    @property
    def sign(self) -> float:
        """+1 if the number shown is to be large, -1 if small."""

    def terms(self, design: Design) -> Array:
        """Values, shape (P, m), P being the number of postures or 1; the least counts."""


@dataclasses.dataclass(frozen=True)
class MinimiseMass:
    """Make the total mass of the arm, bodies and payload included, as small as possible."""

    weight: float = 1.0
    postures: str = ""

    label = "total mass [kg]"
    highest_mode = 0
    sign = -1.0

    def terms(self, design: Design) -> Array:
        return -jnp.reshape(jnp.asarray(design.arm.total_mass, jnp.float64), (1, 1))


@dataclasses.dataclass(frozen=True)
class MaximiseFrequency:
    """Make a frequency as high as possible, at the worst posture of a set.

    Parameters
    ----------
    mode
        Mode number from 1.
    postures
        Name of a posture set; by default the arm's own posture.
    weight
        Factor in a weighted sum.
    cluster
        How many modes beyond are watched, since at the optimum they may coincide with this one; 0 asks for
        the single mode alone, which fails where modes coincide.
    """

    mode: int = 1
    postures: str = OWN
    weight: float = 1.0
    cluster: int = 2

    sign = 1.0

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
        """Refuse a mode that does not vibrate."""
        remedy = f"give mode = {zeros.most + 1} or higher"
        zeros.require_vibrating(f"objective {self.label!r}", self.mode, remedy)

    def terms(self, design: Design) -> Array:
        return design.hz[self.postures][:, self.mode - 1 : self.highest_mode]


@dataclasses.dataclass(frozen=True)
class MaximiseGap:
    """Make the gap between a mode and the next one above as wide as possible, in Hz, at the worst posture.

    Parameters
    ----------
    below
        Mode number at the lower edge; the upper edge is mode ``below + 1``.
    """

    below: int = 1
    postures: str = OWN
    weight: float = 1.0

    sign = 1.0

    def __post_init__(self) -> None:
        check_mode("objective gap", self.below, "below")

    @property
    def label(self) -> str:
        return f"gap f{self.below + 1} - f{self.below} [Hz]{worst_of(self.postures)}"

    @property
    def highest_mode(self) -> int:
        return self.below + 2

    def check_zero_modes(self, zeros: ZeroModes, today: ZeroModes) -> None:
        """Refuse a lower edge that does not vibrate: the gap above it is the frequency of the upper one."""
        first = zeros.most + 1
        remedy = f"give below = {first} or higher, or maximise the frequency of mode {first}"
        zeros.require_vibrating(f"objective {self.label!r}", self.below, remedy)

    def terms(self, design: Design) -> Array:
        """All differences across the gap: both edges may be clusters."""
        hz = design.hz[self.postures]
        edge = hz[:, self.below - 1 : self.below]
        lower = hz[:, max(self.below - 2, 0) : self.below]
        lower = jnp.where(lower == 0.0, edge, lower)  # one that does not vibrate is no partner
        upper = hz[:, self.below : self.below + 2]
        return (upper[:, :, None] - lower[:, None, :]).reshape(hz.shape[0], -1)


@dataclasses.dataclass(frozen=True)
class Maximise:
    """A JAX function of your own, as large as possible.

    Parameters
    ----------
    function
        Takes a `Design`, returns a number or a vector of which the least counts.
    label
        A few words for tables.
    postures, highest_mode
        The posture set that the function reads frequencies of and the highest mode number; leave out for none.
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
    """A JAX function of your own, as small as possible; of a vector the greatest value counts."""

    sign = -1.0

    def terms(self, design: Design) -> Array:
        return -super().terms(design)


def worst_of(postures: str) -> str:
    """Return the words for a posture set in a label."""
    return "" if postures == OWN else f", worst of {postures}"
