"""Constraints: vectors of margins, relative to a limit; a constraint is satisfied if all its margins are >= 0."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

import jax.numpy as jnp
from jax import Array

from design_opt.problem.designs import OWN, Design, Part, check_function, check_mode, check_number
from design_opt.problem.errors import ProblemError
from design_opt.problem.variables import FixedReach
from design_opt.problem.zero_modes import ZeroModes
from jaxmodal.arm.arguments import is_whole
from jaxmodal.arm.quantities import shown


class Constraint(Part, Protocol):
    """Protocol of constraints, also for user-defined classes."""

    @property
    def equality(self) -> bool:
        """True if the margins must be 0."""

    def margins(self, design: Design, today: Design) -> Array:
        """Return the margins, shape (P, m), P the number of postures or 1; ``today`` is the given arm as a design."""


@dataclasses.dataclass(frozen=True)
class FrequencyLimit:
    """Lower or upper limit of a frequency, at every posture of a set.

    Parameters
    ----------
    mode
        Mode number from 1.
    at_least_hz, at_most_hz
        Limits in Hz; one or both.
    at_least_today
        Lower limit as a multiple of the frequency of the given arm at the same posture; 1 forbids a decrease.
    postures
        Name of a posture set.
    """

    mode: int = 1
    at_least_hz: float | None = None
    at_most_hz: float | None = None
    at_least_today: float | None = None
    postures: str = OWN

    equality = False

    def __post_init__(self) -> None:
        check_mode("constraint frequency", self.mode)
        limits = {
            key: getattr(self, key) for key in ("at_least_hz", "at_most_hz", "at_least_today")
        }
        given = {key: value for key, value in limits.items() if value is not None}
        if not given:
            raise ProblemError(
                "constraint frequency: no limit; give at_least_hz, at_most_hz or at_least_today."
            )
        for key, value in given.items():
            check_number("constraint frequency", key, value)
        low, high = self.at_least_hz, self.at_most_hz
        if low is not None and high is not None and low > high:
            raise ProblemError(
                f"constraint frequency: at_least_hz = {low!r} is above at_most_hz = {high!r}: no design can keep both."
            )

    @property
    def label(self) -> str:
        parts = []
        if self.at_least_hz is not None:
            parts.append(f"f{self.mode} >= {self.at_least_hz:g} Hz")
        if self.at_least_today is not None:
            parts.append(f"f{self.mode} >= {self.at_least_today:g} x today's")
        if self.at_most_hz is not None:
            parts.append(f"f{self.mode} <= {self.at_most_hz:g} Hz")
        return " and ".join(parts) + where(self.postures)

    @property
    def highest_mode(self) -> int:
        return self.mode + 1  # the next mode may become as low

    def check_zero_modes(self, zeros: ZeroModes, today: ZeroModes) -> None:
        """Raise an error if the mode has frequency 0, in the designs or, for a relative limit, in the given arm."""
        what = f"constraint {self.label!r}"
        zeros.require_vibrating(what, self.mode, f"give mode = {zeros.most + 1} or higher")
        if self.at_least_today is not None:
            remedy = "give the limit in Hz, or start from an arm in which the mode vibrates"
            today.require_vibrating(f"{what}, of today's arm", self.mode, remedy)

    def margins(self, design: Design, today: Design) -> Array:
        hz = design.hz[self.postures]
        own, upper = hz[:, self.mode - 1], hz[:, self.mode - 1 : self.mode + 1]
        columns = []
        if self.at_least_hz is not None:
            columns.append(upper / self.at_least_hz - 1.0)
        if self.at_least_today is not None:
            now = today.hz[self.postures][:, self.mode - 1 : self.mode]
            columns.append(upper / (self.at_least_today * now) - 1.0)
        if self.at_most_hz is not None:
            columns.append(1.0 - own[:, None] / self.at_most_hz)
        return jnp.concatenate(columns, axis=1)


@dataclasses.dataclass(frozen=True)
class ForbiddenBand:
    """Frequency band without natural frequencies, at every posture of a set.

    Parameters
    ----------
    low_hz, high_hz
        Ends of the band in Hz.
    modes_below
        Number of modes below the band. Without it each mode may be on either side; the feasible region then has several
        separate parts, and the solver finds the best design in the part where it starts.
    modes
        Number of lowest modes that the constraint considers; the final design is checked for all modes by counts.
    """

    low_hz: float
    high_hz: float
    modes_below: int | None = None
    modes: int = 4
    postures: str = OWN

    equality = False

    def __post_init__(self) -> None:
        check_number("constraint band", "low_hz", self.low_hz)
        check_number("constraint band", "high_hz", self.high_hz)
        if not self.low_hz < self.high_hz:
            raise ProblemError(
                f"constraint band: low_hz = {self.low_hz!r} is not below high_hz = {self.high_hz!r}."
            )
        check_mode("constraint band", self.modes, "modes")
        below = self.modes_below
        if below is not None and not is_whole(below, 0, self.modes - 1):
            raise ProblemError(
                f"constraint band: modes_below = {shown(below)}: must be from 0 to {self.modes - 1} (modes - 1)."
            )

    @property
    def label(self) -> str:
        return f"no frequency in {self.low_hz:g} to {self.high_hz:g} Hz{where(self.postures)}"

    @property
    def highest_mode(self) -> int:
        return self.modes

    def check_zero_modes(self, zeros: ZeroModes, today: ZeroModes) -> None:
        """Raise an error if the band considers only zero frequencies, or requires fewer modes below than there are."""
        what = f"constraint {self.label!r}, modes = {self.modes}"
        zeros.require_vibrating(what, self.modes, f"give modes = {zeros.most + 1} or more")
        if self.modes_below is not None and self.modes_below < zeros.most:
            raise ProblemError(
                f"constraint {self.label!r}: modes_below = {self.modes_below}: {zeros.words}, which always lie below; "
                f"give modes_below = {zeros.most} or more."
            )

    def margins(self, design: Design, today: Design) -> Array:
        hz = design.hz[self.postures][:, : self.modes]
        if self.modes_below is None:
            half = 0.5 * (self.high_hz - self.low_hz)
            outside = (hz - self.low_hz) * (hz - self.high_hz) / (half * self.high_hz)
        else:
            below, above = hz[:, : self.modes_below], hz[:, self.modes_below :]
            outside = jnp.concatenate(
                [1.0 - below / self.low_hz, above / self.high_hz - 1.0], axis=1
            )
        return jnp.where(hz == 0.0, 1.0, outside)  # zero frequencies are always below the band


@dataclasses.dataclass(frozen=True)
class MassLimit:
    """Limit of the total mass in kg, including bodies and payload: an upper limit or an exact value.

    ``"today"`` stands for the mass of the given arm.
    """

    at_most: float | str | None = None
    equal: float | str | None = None
    postures: str = ""

    highest_mode = 0

    def __post_init__(self) -> None:
        if (self.at_most is None) == (self.equal is None):
            raise ProblemError("constraint mass: give one of at_most and equal.")
        key, value = ("at_most", self.at_most) if self.equal is None else ("equal", self.equal)
        if value != "today":
            check_number("constraint mass", key, value)

    @property
    def equality(self) -> bool:
        return self.equal is not None

    @property
    def label(self) -> str:
        limit = self.at_most if self.equal is None else self.equal
        text = "today's" if isinstance(limit, str) else f"{limit:g} kg"
        return f"total mass {'=' if self.equality else '<='} {text}"

    def margins(self, design: Design, today: Design) -> Array:
        limit = self.at_most if self.equal is None else self.equal
        mass = today.arm.total_mass if isinstance(limit, str) else limit
        return jnp.reshape(1.0 - design.arm.total_mass / jnp.asarray(mass, jnp.float64), (1, 1))


@dataclasses.dataclass(frozen=True)
class Require:
    """User-defined constraint: all values of a JAX function must be >= 0 (or = 0 for an equality).

    Parameters
    ----------
    function
        Takes a `Design`, returns a number or a vector, preferably of order one.
    label
        Short text for tables.
    """

    function: Callable[[Design], Any]
    label: str = "required"
    postures: str = ""
    highest_mode: int = 0
    equality: bool = False

    def __post_init__(self) -> None:
        check_function(f"constraint {self.label!r}", self.function)

    def margins(self, design: Design, today: Design) -> Array:
        return jnp.reshape(jnp.asarray(self.function(design), jnp.float64), (1, -1))


@dataclasses.dataclass(frozen=True)
class LastLength:
    """Constraint of a fixed reach: the length of the last link is within the bounds of the other lengths."""

    lengths: FixedReach

    postures = ""
    highest_mode = 0
    equality = False

    @property
    def label(self) -> str:
        return f"last length in {self.lengths.lower:g} to {self.lengths.upper:g} m, reach fixed"

    def margins(self, design: Design, today: Design) -> Array:
        lower, upper = self.lengths.lower, self.lengths.upper
        share = (design.arm.links[-1].length - lower) / (upper - lower)
        return jnp.stack([share, 1.0 - share])[None, :]


def where(postures: str) -> str:
    """Return the words for a posture set in the label of a constraint."""
    return "" if postures in ("", OWN) else f" at every posture of {postures}"
