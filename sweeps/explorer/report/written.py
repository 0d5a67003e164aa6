"""`report`: write the report of an arm to a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jaxmodal.arm.arguments import positive_integer
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.runtime import limits
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.arms.plausibility import most_modes
from sweeps.definition.errors import SweepError
from sweeps.explorer.report.page import report_html
from sweeps.explorer.report.parts import Asked
from sweeps.store.export import write_text_or_refuse

#: default number of modes of a report
MODES = 6
#: default number of postures at which the search for the lowest frequency starts
STARTS = 256
SUFFIXES = (".html", ".htm")


def report(
    arm: AnyArm,
    path: str | Path,
    *,
    theory: TheoryName = "timoshenko",
    num_modes: int | None = None,
    starts: int = STARTS,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write the report of an arm: one page with static pictures, to print and to send, which loads nothing.

    The report shows the arm with its masses, frequencies with certificates and shapes, the largest sensitivities, a
    map of postures, the lowest and the highest posture of the first mode above zero, remarks of `jaxmodal.check`, and
    the versions.

    Parameters
    ----------
    arm
        Planar arm or arm in space.
    path
        Path of the file; must end in ``.html`` or ``.htm``.
    theory
        As for `jaxmodal.natural_frequencies`.
    num_modes
        Number of modes; by default 6, or fewer if the arm has fewer (rigid links).
    starts
        As for `jaxmodal.extremes`.
    progress
        Called with (parts done, number of parts).

    Returns
    -------
    pathlib.Path
        Path of the file.

    Raises
    ------
    ArmError, ValueError
        See `jaxmodal.mode_shapes`.
    SweepError
        ``arm`` is not an arm, ``path`` does not end in ``.html`` or ``.htm`` or cannot be written, or matplotlib is
        missing.

    Examples
    --------
    >>> import jaxmodal as jm, sweeps, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> sweeps.report(jm.examples.two_link_flexible(), path, num_modes=2, starts=16).name
    'report.html'
    """
    place = Path(path)
    if not isinstance(arm, SerialArm):
        raise SweepError(f"arm = {shown(arm)}: must be an Arm or a SpatialArm; give one of these.")
    if place.suffix.lower() not in SUFFIXES:
        raise SweepError(
            f"path = {str(path)!r}: must be the name of a page, which ends in .html; give one such as 'report.html'."
        )
    modes = (
        usual_modes(arm)
        if num_modes is None
        else positive_integer(num_modes, "num_modes", limits.MODES)
    )
    starts = positive_integer(starts, "starts")
    theory_flags(theory)
    write_text_or_refuse(place, report_html(Asked(arm, theory, modes, starts), progress))
    return place


def usual_modes(arm: AnyArm) -> int:
    """Return the default number of modes of a report."""
    return int(min(MODES, most_modes(arm)))
