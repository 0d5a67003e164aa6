"""Limits and objectives of driven arms: how much a port moves for a unit force at another, or for the base's motion."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax.numpy as jnp
from jax import Array

from design_opt.problem.constraints import where
from design_opt.problem.designs import OWN, Design, check_number
from design_opt.problem.errors import ProblemError, about
from design_opt.problem.objectives import worst_of
from jaxmodal.arm.addresses import list_addresses
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.link_rules import is_damping
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.frequencies.models import require_theory
from jaxmodal.response.driven.port_quantities import check_quantity, unit_of_transfer
from jaxmodal.response.driven.ports import Port, ports
from jaxmodal.response.forced.traced_sizes import AskedSize, response_sizes
from jaxmodal.response.forced.transfer import band_of_hertz, check_motions
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm

#: local maxima of a band that count at once: where two are as high the optimum hangs on both
_MAXIMA = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Driven:
    """One response and where its size counts; the parameters are those of `ResponseLimit`."""

    input: str | Port
    output: str | Port
    at_hz: float | None = None
    band_hz: tuple[float, float] | None = None
    motion: str = "displacement"
    base_motion: str = "acceleration"
    postures: str = OWN
    theory: TheoryName = "timoshenko"

    highest_mode = 0
    _kind = "response"

    def __post_init__(self) -> None:
        for key in ("input", "output"):
            if not isinstance(getattr(self, key), str | Port):
                raise ProblemError(
                    f"{self._kind}: {key} = {shown(getattr(self, key))}: must be one port, such as 'tip.across'."
                )
        if (self.at_hz is None) == (self.band_hz is None):
            raise ProblemError(f"{self._kind}: give one of at_hz and band_hz, in Hz.")
        with about(self._kind):
            check_motions(self.motion, self.base_motion)
            theory_flags(self.theory)
            if self.band_hz is not None:
                object.__setattr__(self, "band_hz", band_of_hertz(self.band_hz))
        if self.at_hz is not None:
            check_number(self._kind, "at_hz", self.at_hz)

    def check_arm(self, arm: Arm | SpatialArm) -> None:
        """Refuse an arm that has no such ports, or of whose peaks damping bounds none."""
        with about(self._kind, ArmError):
            require_theory(arm, self.theory)
        with about(self._kind, ArmError):
            into, out = ports(self.input, arm, "input"), ports(self.output, arm, "output")
            at_base = into[0].place == "base"
            check_quantity("transmissibility" if at_base else "receptance", into, out)
        if self.band_hz is not None and not any(map(is_damping, list_addresses(arm))):
            raise ProblemError(
                f"{self._kind}: the arm has no damping, so that its peaks are infinite; give its links a loss_factor, a"
                " kelvin_voigt_time or a joint_damping."
            )

    @property
    def unit(self) -> str:
        """Unit of the size, as far as the names of the ports tell it."""
        output, driven = _read(self.output), _read(self.input)
        return unit_of_transfer(output, self.motion, driven, self.base_motion)

    @property
    def _words(self) -> str:
        place = (
            f"at {self.at_hz:g} Hz"
            if self.band_hz is None
            else "in {:g} to {:g} Hz".format(*self.band_hz)
        )
        kind = "" if self.motion == "displacement" else f"{self.motion} "
        into = _named(self.input, _read(self.input).force_name)
        return f"{kind}{_named(self.output, str(_read(self.output)))} for {into} {place}"

    def sizes(self, design: Design) -> Array:
        """Sizes, the largest first, shape (P, 1 or 3); 0 where a band has fewer maxima."""
        ends = (self.at_hz,) if self.band_hz is None else self.band_hz
        omega: Any = tuple(2.0 * math.pi * end for end in ends)  # type: ignore[operator]
        asked = AskedSize(
            self.input, self.output, omega, self.motion, self.base_motion, self.theory
        )
        count = 1 if self.band_hz is None else _MAXIMA
        return response_sizes(design.arm, design.positions(self.postures), asked, count)


def _read(name: str | Port) -> Port:
    """A port of the direction that a name has; whether an arm has it is not asked."""
    if isinstance(name, Port):
        return name
    place, _, direction = name.rpartition(".")
    return Port("base", direction) if place == "base" else Port("joint", direction, 1)


def _named(name: str | Port, side: str) -> str:
    """The place of a port as it was given, with the direction of its force or its motion."""
    return f"{str(name).rpartition('.')[0]}.{side.rpartition('.')[2]}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ResponseLimit(_Driven):
    """The exact harmonic response between two ports at most so large, at every posture of a set.

    Parameters
    ----------
    at_most
        Limit of its size, SI units: m/N for ``"tip.across"`` by a force.
    input, output
        Ports such as ``"tip.across"``; an input at the base is a motion of the ground.
    at_hz
        One frequency in Hz.
    band_hz
        Or the ends of a band in Hz, in which the largest size counts: all peaks, found exactly, and both ends.
    motion
        What the output is: ``"displacement"``, ``"velocity"`` or ``"acceleration"``.
    base_motion
        What an input at the base is, of the same three.
    postures
        Name of a posture set.
    theory
        As for `jaxmodal.frequency_response`.

    Notes
    -----
    The margins are ``at_most/size - 1``, -1 where a peak is infinite, for the three highest maxima.
    """

    at_most: float

    equality = False
    _kind = "constraint response"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self._kind, "at_most", self.at_most)

    @property
    def label(self) -> str:
        return f"{self._words} <= {self.at_most:g} {self.unit}{where(self.postures)}"

    def margins(self, design: Design, today: Design) -> Array:
        sizes = self.sizes(design)
        some = sizes != 0.0  # NaN stays
        return jnp.where(some, self.at_most / jnp.where(some, sizes, 1.0) - 1.0, 1.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MinimiseResponse(_Driven):
    """Make the exact harmonic response between two ports as small as possible, at the worst posture of a set.

    Parameters are those of `ResponseLimit` but for its limit, and ``weight``, the factor in a weighted sum.
    """

    weight: float = 1.0

    sign = -1.0
    _kind = "objective response"

    @property
    def label(self) -> str:
        return f"{self._words} [{self.unit}]{worst_of(self.postures)}"

    def terms(self, design: Design) -> Array:
        return -self.sizes(design)
