"""Reports written by name from Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jaxmodal.arm.arguments import positive_integer
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.runtime import limits
from jaxmodal.runtime.whole_files import write_text
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.arms.plausibility import most_modes
from sweeps.definition.errors import SweepError
from sweeps.explorer.report.page import report_html
from sweeps.explorer.report.parts import Asked

#: modes of a report where no number is given
MODES = 6
#: postures from which the lowest frequency is sought
STARTS = 256
SUFFIXES = (".html", ".htm")


def report(
    arm: Arm | SpatialArm,
    path: str | Path,
    *,
    theory: TheoryName = "timoshenko",
    num_modes: int | None = None,
    starts: int = STARTS,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write the report of an arm: one page with still pictures, to print and to send, which loads nothing.

    It has the arm with its masses, its frequencies with their certificates and shapes, what matters most, a map of
    postures, the lowest and the highest posture of mode 1, what `jaxmodal.check` remarks, and the versions.

    Parameters
    ----------
    arm
        The arm.
    path
        Where to write it, a name that ends in ``.html``.
    theory
        As for `jaxmodal.natural_frequencies`.
    num_modes
        How many modes, by default 6, and no more than an arm of rigid links has.
    starts
        As for `jaxmodal.extremes`.
    progress
        Called with (parts done, parts in all).

    Returns
    -------
    pathlib.Path
        Where it is.

    Raises
    ------
    ArmError, ValueError
        As `jaxmodal.mode_shapes`: forces at rest, for one.
    SweepError
        ``arm`` is no arm, the file is no page, or matplotlib is missing.

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
    write_text(place, report_html(Asked(arm, theory, modes, starts), progress))
    return place


def usual_modes(arm: Arm | SpatialArm) -> int:
    """How many modes a report has where no number is given."""
    return int(min(MODES, most_modes(arm)))
