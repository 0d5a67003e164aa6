"""Statuses of results: one enumeration, each member with its cause and its remedy."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

import numpy as np

from jaxmodal.runtime.array_types import Integers
from jaxmodal.runtime.namespace import is_traced


class Status(IntEnum):
    """Status of a value: how far it can be trusted. Files and tables show the names; the order has no meaning.

    Examples
    --------
    >>> Status.certified.usable, Status.resonance.usable
    (True, False)
    >>> Status.worst([Status.certified, Status.uncertified]).name
    'uncertified'
    """

    cause: str
    """Cause of the status."""
    remedy: str
    """Remedy; empty if there is nothing to do."""
    usable: bool
    """True if the value can be used as it is."""

    def __new__(cls, code: int, usable: bool = True, cause: str = "", remedy: str = "") -> Status:
        member = int.__new__(cls, code)
        member._value_ = code
        member.usable, member.cause, member.remedy = usable, cause, remedy
        return member

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)

    certified = (0, True, "counts confirm the mode and its number: none is missed, none invented")
    uncertified = (
        1,
        False,
        "the counts do not confirm this mode (one was missed, invented, displaced or lost), or they contradict the sign"
        " of the determinant",
        "do not use the value; ask jaxmodal.count_below at frequencies around it, of damped modes for more or fewer",
    )
    not_converged = (
        2,
        False,
        "the search ended before this mode was enclosed tightly enough; NaN: there is none below 1e100 rad/s",
        "check the units of the arm (jaxmodal check ARM); an arm of rigid links has no more modes than"
        " motions of its springs that move a mass: ask for fewer",
    )
    invalid_input = (
        3,
        False,
        "a physical value of this arm is not finite, or has a sign it cannot have (a traced or"
        " batched value, which could not be refused when the arm was made)",
        "make the arm of these values alone (jaxmodal.set_parameters): the error names the value",
    )
    unstable = (
        4,
        False,
        "the forces at rest buckle the arm, or are at its critical load: the square of a frequency is not above zero,"
        " and no motion about the posture is steady",
        "lower the compression or the loads (of axial_force, tension is positive), or support the arm;"
        " jaxmodal.count_below counts the squares below zero, too",
    )
    resolved = (5, True, "the value is known, and nothing was left open")
    resonance = (
        6,
        False,
        "an undamped resonance: the response changes by half and more when the frequency moves by 3e-14, relative, "
        "so its size is not known (inf)",
        "give the arm damping, or another frequency",
    )
    not_resolved = (
        7,
        False,
        "there is no finite number: the damping or the frequency is beyond what double precision holds, the ports of a "
        "dynamic stiffness depend on each other, or a derivative beside a resonance has lost its digits",
        "check the units of damping and frequency; for a dynamic stiffness take ports that can move independently",
    )
    shared = (
        8,
        False,
        "strong damping led this mode to a root of a lower one",
        "take the damping of the lower mode",
    )
    no_value = (
        9,
        False,
        "the values of the arm do not fit together, it has no such mode, nothing holds or damps what was asked for, or"
        " what the value rests on is not known: a frequency that is not certified or is 0, a root that was lost or"
        " coincides with another",
        "ask for this arm alone (jaxmodal.damped_modes, response_peaks, static_compliance), which says what is wrong",
    )
    cluster_mean = (
        10,
        True,
        "frequencies closer than 1e-9 (relative): the value is the mean over their modes",
    )
    no_peak = (
        11,
        False,
        "the response has no peak in the band",
        "take a wider band",
    )
    nothing_pressed = (12, True, "no member is pressed, so that no load factor buckles the arm")
    large_deflection = (
        13,
        False,
        "deflections are too large for the equations of small ones",
        "lower the loads, or stiffen the arm",
    )
    converged = (14, True, "the conditions of the optimum hold")
    stalled = (
        15,
        False,
        "the search made no more progress, and the conditions of the optimum do not hold",
        "start elsewhere, or take another method",
    )
    iteration_limit = (
        16,
        False,
        "the search used up its iterations",
        "allow more, or start nearer",
    )
    infeasible = (17, False, "no design was found that meets all limits", "relax limits or bounds")
    interrupted = (18, False, "the search was interrupted", "run it again to go on")
    finished = (19, True, "the end was reached")
    event = (20, True, "an event ended the motion before the last time")
    halted = (
        21,
        False,
        "the integration halted: more steps than max_steps, or a state that is not finite",
        "give more steps, a stiff method ('kvaerno5'), smaller fixed steps, or look at the torques",
    )
    inertia_not_definite = (
        22,
        False,
        "the truncated inertia matrix loses its positive definiteness: deflections are too large for it",
        "use inertia_order = 'full', which cannot, or smaller deflections",
    )
    off_path = (
        23,
        False,
        "the tip misses its path at one of the times",
        "take a path within reach of the undeflected arm and its limits, and a start near it",
    )
    every_value = (
        24,
        False,
        "the mode does not depend on what is solved for: every value, or angle, has this frequency, and one is told",
        "ask for the frequency of another mode, or solve for something that moves this one",
    )

    @classmethod
    def worst(cls, codes: Any) -> Status:
        """Return the first status that is not usable, in the order of the members; if all are, the first one present.

        Raises
        ------
        ValueError
            If there are no codes, or a code is not that of a status.
        TypeError
            If the codes are traced.
        """
        found = present(codes)
        if not found:
            raise ValueError("codes: there are none; expected at least one status")
        return next((each for each in found if not each.usable), found[0])


#: statuses that a natural frequency may have, an entry of a response, a damped mode of a batch
OF_FREQUENCIES = (
    Status.certified,
    Status.uncertified,
    Status.not_converged,
    Status.invalid_input,
    Status.unstable,
)
OF_RESPONSES = (
    Status.resolved,
    Status.resonance,
    Status.not_resolved,
    Status.invalid_input,
    Status.unstable,
)
OF_DAMPED_MODES = (Status.certified, Status.uncertified, Status.shared, Status.no_value)


def present(codes: Any) -> list[Status]:
    """Return the statuses that occur among codes of any shape, in the order of the members."""
    counts = np.bincount(_checked(codes).ravel())  # codes are small: no sorting
    return [Status(code) for code in np.flatnonzero(counts).tolist()]


def _checked(codes: Any) -> Integers:
    """Return codes as a NumPy array, each checked to be that of a status."""
    if is_traced(codes):
        raise TypeError(
            "status: is traced, so its value is not known yet; ask for ok and explain() of what jit returns, and "
            "inside compare the codes: (found.status == jaxmodal.Status.certified).all()"
        )
    found = np.asarray(codes)
    numbers = found.dtype.kind in "iuf"
    wrong = found[~np.isin(found, range(len(Status)))] if numbers or not found.size else found
    if wrong.size:
        first = wrong.ravel()[0]
        remedy = (
            "127 stands for cells of a sweep that have not been computed: leave these out, codes[codes != 127]"
            if first == 127
            else "give the status of a result or of a dataset"
        )
        raise ValueError(
            f"codes: hold {first!s}; expected codes of jaxmodal.Status, whole numbers from 0 to {len(Status) - 1}: "
            f"{remedy}"
        )
    return found.astype(np.int64, copy=False)


def all_usable(codes: Any) -> bool:
    """Return True if every code is that of a usable status."""
    return all(each.usable for each in present(codes))


def status_variable(
    dims: tuple[str, ...],
    codes: Any,
    statuses: Iterable[Status] = OF_FREQUENCIES,
    of: str = "frequency",
) -> tuple[Any, ...]:
    """Return codes as a dataset variable, with the flags of the possible statuses (CF conventions)."""
    each = tuple(statuses)
    about = {
        "long_name": f"status of the {of}",
        "flag_values": np.array(each, np.int8),
        "flag_meanings": " ".join(status.name for status in each),
    }
    return dims, np.asarray(codes, np.int8), about


def remarks_on(codes: Any) -> list[str]:
    """Return one line for each status among codes that is not usable: name, cause and remedy."""
    return [
        f"{each.name}: {each.cause}; {each.remedy}." for each in present(codes) if not each.usable
    ]


#: places of a status that `explained` lists, at the most
_MOST_PLACES = 8


def explained(codes: Any) -> str:
    """Return an explanation of status codes: a line for each status, with remedy and indices if it is not usable.

    Examples
    --------
    >>> print(explained([0, 0, 1]))
    2 of 3 certified: counts confirm the mode and its number: none is missed, none invented.
    1 of 3 uncertified (at 2): the counts do not confirm this mode (one was missed, invented, displaced or lost), or they contradict the sign of the determinant. Do not use the value; ask jaxmodal.count_below at frequencies around it, of damped modes for more or fewer.
    """  # noqa: E501
    codes = _checked(codes)
    lines = []
    for each in present(codes):
        at = np.argwhere(codes == each)
        count = f"{len(at):,} of {codes.size:,} " if codes.ndim else ""
        where = ""
        if codes.ndim and not each.usable:
            places = [", ".join(map(str, place)) for place in at[:_MOST_PLACES].tolist()]
            more = ", ..." if len(at) > _MOST_PLACES else ""
            where = f" (at {('; ' if codes.ndim > 1 else ', ').join(places)}{more})"
        remedy = f" {each.remedy[0].upper()}{each.remedy[1:]}." if each.remedy else ""
        lines.append(f"{count}{each.name}{where}: {each.cause}.{remedy}")
    return "\n".join(lines) or "there are no values, so nothing is left open."
