"""Constraint and objective on the frequency response: motion of a port for a unit force or a motion of the base."""

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
from jaxmodal.arm.link_rules import is_damping
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.frequencies.models import require_theory
from jaxmodal.response.driven.port_quantities import check_quantity, unit_of_transfer
from jaxmodal.response.driven.ports import Port, ports
from jaxmodal.response.forced.traced_sizes import AskedSize, response_sizes
from jaxmodal.response.forced.transfer import band_of_hertz, check_motions
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm

#: number of local maxima of a band that are considered: at an optimum two or more may be equally high
_MAXIMA = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Driven:
    """A response at a frequency or in a band; parameters as for `ResponseLimit`."""

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

    def check_arm(self, arm: AnyArm) -> None:
        """Raise an error if the arm lacks a port or, for a band, damping."""
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
        """Unit of the response, from the names of the ports."""
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
        """Return absolute values of the response, largest first, shape (P, 1 or 3); 0 where a band has fewer maxima."""
        ends = (self.at_hz,) if self.band_hz is None else self.band_hz
        omega: Any = tuple(2.0 * math.pi * end for end in ends)  # type: ignore[operator]
        asked = AskedSize(
            self.input, self.output, omega, self.motion, self.base_motion, self.theory
        )
        count = 1 if self.band_hz is None else _MAXIMA
        return response_sizes(design.arm, design.positions(self.postures), asked, count)


def _read(name: str | Port) -> Port:
    """Return a port with the direction in a name, without an arm; its place is only a stand-in."""
    if isinstance(name, Port):
        return name
    place, _, direction = name.rpartition(".")
    return Port("base", direction) if place == "base" else Port("joint", direction, 1)


def _named(name: str | Port, side: str) -> str:
    """Return the place of a port as given, with the direction of its force or motion."""
    return f"{str(name).rpartition('.')[0]}.{side.rpartition('.')[2]}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ResponseLimit(_Driven):
    """Upper limit of the exact harmonic response between two ports, at every posture of a set.

    Parameters
    ----------
    at_most
        Limit of the absolute value in SI units, for example m/N for ``"tip.across"`` and a force.
    input, output
        Ports such as ``"tip.across"``; an input at the base is a motion of the ground.
    at_hz
        Frequency in Hz.
    band_hz
        Instead of ``at_hz``: ends of a band in Hz, in which the largest value counts (exact peaks, and both ends).
    motion
        Kind of output: ``"displacement"``, ``"velocity"`` or ``"acceleration"``.
    base_motion
        Kind of an input at the base: one of the same three.
    postures
        Name of a posture set.
    theory
        As for `jaxmodal.frequency_response`.

    Notes
    -----
    The margins are ``at_most/size - 1`` for the three highest maxima; -1 where a peak is infinite.
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
    """Objective: minimise the exact harmonic response between two ports, at the worst posture of a set.

    Parameters as for `ResponseLimit` without the limit, and ``weight``, the factor in a weighted sum.
    """

    weight: float = 1.0

    sign = -1.0
    is_size = True
    _kind = "objective response"

    @property
    def label(self) -> str:
        return f"{self._words} [{self.unit}]{worst_of(self.postures)}"

    def terms(self, design: Design) -> Array:
        return -self.sizes(design)
