"""What an entry of a frequency response may be trusted for."""

from __future__ import annotations

from enum import IntEnum


class ResponseStatus(IntEnum):
    """Status of one entry of a frequency response; the names are what tables show."""

    resolved = 0
    resonance = 1
    not_resolved = 2
    invalid_input = 3

    @property
    def cause(self) -> str:
        """Why an entry has this status."""
        return _EXPLANATIONS[self][0]

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return _EXPLANATIONS[self][1]


_EXPLANATIONS = {
    ResponseStatus.resolved: ("the response is known", "none needed"),
    ResponseStatus.resonance: (
        "an undamped resonance: the response changes by half and more when the frequency moves by 3e-14, relative, "
        "so its size is not known (inf)",
        "give the arm damping, or another frequency",
    ),
    ResponseStatus.not_resolved: (
        "there is no finite number: the damping or the frequency is beyond what double precision holds, or the ports "
        "of a dynamic stiffness depend on each other",
        "check the units of damping and frequency; for a dynamic stiffness take ports that can move independently",
    ),
    ResponseStatus.invalid_input: (
        "a physical value of this arm is not finite, or has a sign it cannot have (a traced or batched value)",
        "inspect the arm of this lane with jaxmodal.invalid_values",
    ),
}
