"""Response whose peaks a sweep computes: two ports, a frequency band, and the kinds of motion."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jaxmodal.arm.addresses import list_addresses
from jaxmodal.arm.documents import check_keys, table
from jaxmodal.arm.link_rules import is_damping
from jaxmodal.arm.parameters import get_parameter
from jaxmodal.arm.quantities import shown
from jaxmodal.response.driven.port_quantities import unit_of_transfer
from jaxmodal.response.driven.ports import Port, ports
from jaxmodal.response.forced.transfer import band_of_hertz, check_motions
from jaxmodal.spatial.arms.arm import AnyArm
from sweeps.definition.errors import SweepError, about
from sweeps.solution.outputs import QUANTITIES

_KEYS = ("input", "output", "band_hz", "motion", "base_motion")


@dataclasses.dataclass(frozen=True)
class Response:
    """The response whose highest peak a sweep finds in every cell, for ``peak_response`` and other outputs.

    Parameters
    ----------
    input, output
        Ports such as ``"tip.across"``; an input at the base is a ground motion.
    band_hz
        Ends of the band in Hz, 0 < lower < upper.
    motion
        Kind of output: ``"displacement"``, ``"velocity"`` or ``"acceleration"``.
    base_motion
        Kind of an input at the base, one of the same three.

    Raises
    ------
    SweepError
        If the band is empty or a motion is unknown.

    Examples
    --------
    >>> Response("tip.across", "tip.across", (1.0, 60.0)).motion
    'displacement'
    """

    input: str | Port
    output: str | Port
    band_hz: tuple[float, float]
    motion: str = "displacement"
    base_motion: str = "acceleration"

    def __post_init__(self) -> None:
        for name in ("input", "output"):
            if not isinstance(getattr(self, name), str | Port):
                raise SweepError(
                    f"response: {name} = {shown(getattr(self, name))}: must be one port, such as 'tip.across'."
                )
        with about("response"):
            object.__setattr__(self, "band_hz", band_of_hertz(self.band_hz))
            check_motions(self.motion, self.base_motion)

    def of(self, arm: AnyArm, varied: Iterable[str]) -> Response:
        """Return this response with checked ports of an arm.

        Parameters
        ----------
        arm
            The arm.
        varied
            Addresses varied by the sweep.

        Raises
        ------
        SweepError
            If the arm has no such port, or no damping, so that peaks are infinite.
        """
        with about("response"):
            (driven,), (read,) = ports(self.input, arm, "input"), ports(self.output, arm, "output")
        if read.place == "base":
            raise SweepError(
                f"response: output = {str(read)!r}: is the ground, whose motion is imposed; take it as the input."
            )
        damped = any(get_parameter(arm, x) for x in list_addresses(arm) if is_damping(x))
        if not damped and not any(map(is_damping, varied)):
            raise SweepError(
                "response: the arm has no damping, so its peaks are infinite; give its links a loss_factor, a "
                "kelvin_voigt_time or a joint_damping, or an axis over one of these."
            )
        return dataclasses.replace(self, input=driven, output=read)

    @property
    def units(self) -> str:
        """Unit of the peak of a response with the ports of an arm."""
        assert isinstance(self.input, Port)
        assert isinstance(self.output, Port)
        return unit_of_transfer(self.output, self.motion, self.input, self.base_motion)

    @property
    def title(self) -> str:
        """The pair of ports in words, for a response with the ports of an arm."""
        low, high = self.band_hz
        assert isinstance(self.input, Port)
        return f"{self.motion} {self.output} for {self.input.force_name}, {low:g} to {high:g} Hz"

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `jaxmodal.response_peaks`, by name."""
        low, high = (2.0 * math.pi * end for end in self.band_hz)
        ends = {"omega_min": low, "omega_max": high}
        ports = {"inputs": self.input, "outputs": self.output}
        return ends | ports | {"motion": self.motion, "base_motion": self.base_motion}

    def description(self) -> dict[str, Any]:
        """Return the response as plain values."""
        found = {name: getattr(self, name) for name in _KEYS}
        return found | {
            "input": str(self.input),
            "output": str(self.output),
            "band_hz": list(self.band_hz),
        }


def response_from_dict(entry: object) -> Response:
    """Return the response described by a table of a sweep file.

    Raises
    ------
    SweepError
        If a key is missing or unknown, or a value is not allowed.
    """
    keys: Mapping[str, Any] = table("response", entry, SweepError)
    with about("response", SweepError):
        check_keys(keys, _KEYS, ("input", "output", "band_hz"), SweepError)
    return Response(**keys)


def asked_response(
    given: Response | None, outputs: Sequence[str], arm: AnyArm, varied: Sequence[str]
) -> Response | None:
    """Return the response for the outputs, with the ports of the arm; None if no output needs it.

    Raises
    ------
    SweepError
        If the response is missing or no output refers to it; or as for `Response.of`.
    """
    if given is not None and not isinstance(given, Response):
        raise SweepError(
            f"response = {shown(given)}: must be a Response, such as "
            "sweeps.Response('tip.across', 'tip.across', (1.0, 60.0))."
        )
    asked = [name for name in outputs if QUANTITIES[name].part == "peak"]
    if given is None:
        if asked:
            raise SweepError(
                f"outputs: {asked[-1]!r} needs a response; give response with input, output and band_hz."
            )
        return None
    if not asked:
        raise SweepError(
            "response is given, but no output refers to it; add 'peak_response' or 'peak_frequency' to outputs, or "
            "leave it out."
        )
    return given.of(arm, varied)
