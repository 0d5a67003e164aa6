"""What a result may be trusted for: one code per mode, with its cause and its remedy."""

from __future__ import annotations

from jaxmodal.runtime.statuses import ExplainedStatus


class Status(ExplainedStatus):
    """Status of one natural frequency; the names are what files and tables show."""

    certified = (
        0,
        "the counts on both sides confirm this mode and its number",
        "none needed",
    )
    uncertified = (
        1,
        "the counts on both sides do not confirm this mode (one was missed, invented or displaced),"
        " or they contradict the sign of the determinant",
        "do not use the value; ask jaxmodal.count_below at frequencies around it",
    )
    not_converged = (
        2,
        "the search ended before this mode was enclosed tightly enough; NaN: there is none below 1e100 rad/s",
        "check the units of the arm (jaxmodal check ARM); an arm of rigid links has no more modes than its springs"
        " allow: ask for fewer",
    )
    invalid_input = (
        3,
        "a physical value of this arm is not finite, or has a sign it cannot have (a traced or"
        " batched value, which could not be refused when the arm was made)",
        "inspect the arm of this lane with jaxmodal.invalid_values",
    )
    unstable = (
        4,
        "the forces at rest buckle the arm, or are at its critical load: the square of a frequency is not above zero",
        "lower the compression or the loads (of axial_force, tension is positive), or support the arm;"
        " jaxmodal.count_below counts the squares below zero, too",
    )


class UncertifiedError(RuntimeError):
    """A frequency could not be certified; the message lists modes, causes and remedies."""
