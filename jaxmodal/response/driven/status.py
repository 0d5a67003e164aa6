"""What an entry of a frequency response may be trusted for."""

from __future__ import annotations

from jaxmodal.frequencies.status import Status
from jaxmodal.runtime.statuses import ExplainedStatus


class ResponseStatus(ExplainedStatus):
    """Status of one entry of a frequency response; the names are what tables show."""

    resolved = (0, "the response is known", "none needed")
    resonance = (
        1,
        "an undamped resonance: the response changes by half and more when the frequency moves by 3e-14, relative, "
        "so its size is not known (inf)",
        "give the arm damping, or another frequency",
    )
    not_resolved = (
        2,
        "there is no finite number: the damping or the frequency is beyond what double precision holds, or the ports "
        "of a dynamic stiffness depend on each other",
        "check the units of damping and frequency; for a dynamic stiffness take ports that can move independently",
    )
    invalid_input = (3, Status.invalid_input.cause, Status.invalid_input.remedy)
    unstable = (
        4,
        "the forces at rest buckle the arm, or are at its critical load: no motion about the posture is steady",
        "lower the compression or the loads (of axial_force, tension is positive), or support the arm",
    )


class DampedStatus(ExplainedStatus):
    """What the damping of a mode of a batch may be trusted for."""

    counted = (0, "the argument principle confirms that no root is lost", "none needed")
    not_counted = (
        1,
        "the contour holds another number of roots than were followed into it, or could not be followed",
        "ask for some modes more or fewer, so that the contour passes elsewhere, or for less damping",
    )
    shared = (
        2,
        "strong damping led this mode to a root of a lower one",
        "none needed: take the damping of the lower mode",
    )
    no_value = (
        3,
        "the values of the arm do not fit together, it has no such mode, its undamped modes are not certified, or a "
        "damper lies at a free joint of an arm that drifts, or what was followed from the mode is no root",
        "try jaxmodal.damped_modes on this arm, which says what is wrong",
    )
