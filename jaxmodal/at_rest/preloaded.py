"""Planar arms with the axial forces of dead loads in their links, and their frequencies with bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import is_whole, positive_integer, whole
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.links import Link
from jaxmodal.arm.loaded import constant_force
from jaxmodal.arm.loads import require_bound
from jaxmodal.arm.refusals import refuse_loaded_slides
from jaxmodal.arm.segments import cut
from jaxmodal.at_rest.buckling import buckling
from jaxmodal.at_rest.loads import Asked
from jaxmodal.at_rest.planar import PlanarAtRest
from jaxmodal.at_rest.resting import resting
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.bounded import BoundedFrequencies
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.frequencies.tapers import tapered_frequencies
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import UncertifiedError, within
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.statics.beam_arrays import TURNING
from jaxmodal.statics.equilibrium import turning_stiffness


def preloaded(
    arm: Arm,
    *,
    theory: TheoryName = "timoshenko",
    gravity: Sequence[float] | None = None,
    tip_force: Sequence[float] | None = None,
    base_acceleration: Sequence[float] | None = None,
    pieces: int = 1,
    bound: str = "middle",
) -> Arm:
    """Return the arm with the axial forces that dead loads cause at its posture.

    Parameters
    ----------
    arm : Arm
        The arm, with concrete values. Its own axial forces and loads are added.
    theory
        As for `natural_frequencies`. It matters only if supports make the arm statically indeterminate.
    gravity, tip_force, base_acceleration
        As for `static_equilibrium`: along x and y of the base, in m/s^2, N and m/s^2.
    pieces
        Number of segments of each link along which the axial force varies, 1 or more; it is constant in each segment.
    bound
        ``"middle"``: the force at the middle of each segment; the error of frequencies falls with the square of its
        length. ``"lower"``: the least force along it, ``"upper"`` the greatest; by Rayleigh's principle, every
        frequency is then a lower or an upper bound.

    Returns
    -------
    Arm
        The arm with `Link.axial_force` and, for rigid parts that are offset or carry weight, the two turning
        stiffnesses of links. Segments count as links: links beyond a segmented one have higher numbers.

    Raises
    ------
    ArmError
        If there is no load, a free joint is not held, a joint other than the first has springs along or across its
        link, or the compression of a link exceeds its shear stiffness.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.01, 0.05))
    >>> hanging = jm.preloaded(jm.Arm((link,)), theory="rayleigh", gravity=(9.81, 0.0), pieces=2)
    >>> [f"{x.axial_force:.3f}" for x in hanging.links]
    ['9.933', '3.311']
    """
    asked = Asked(gravity, tip_force, None, base_acceleration)
    at_rest = PlanarAtRest.of(arm, theory, "preloaded", asked)
    refuse_loaded_slides(arm, "under dead loads")
    whole("pieces", pieces, 1, limits.LINKS)
    require_bound("bound", bound)
    arm = arm.replace(loads=None)
    rest = at_rest.rest
    start, outer = (np.asarray(x[0], np.float64) for x in (rest.forces.start, rest.forces.outer))
    turning = [
        np.asarray(x, np.float64)
        for x in turning_stiffness(at_rest.beams, at_rest.loads, rest.forces)
    ]
    made: list[Link] = []
    for k, link in enumerate(arm.links):
        own = 0.0 if link.axial_force is None else float(link.axial_force)
        # static forces of a rigid link are among the stiffnesses; its own axial force acts along it, too
        ends = np.zeros(2) if link.rigid else np.array([start[k], outer[k]])
        count = 1 if ends[0] == ends[1] else pieces
        cuts = np.linspace(0.0, 1.0, count + 1)
        forces = own + constant_force(ends[0], ends[1], cuts[:-1], cuts[1:], bound)
        changes: list[dict[str, Any]] = [{"axial_force": x} for x in forces]
        along = [0.0 if x is None else x[0] for x in (link.base_offset, link.end_offset)]
        for name, place, total, offset in zip(TURNING, (0, -1), turning, along, strict=True):
            given = getattr(link, name)
            rest_of = total[k] + ((given or 0.0) + own * offset - forces[place] * offset)
            if rest_of != 0.0 or given is not None:
                changes[place][name] = rest_of
        with within(f"link{k + 1}."):
            made += cut(link, changes)
    return arm.replace(links=tuple(made))


def preloaded_frequencies(
    arm: AnyArm,
    num_modes: int = 10,
    *,
    theory: TheoryName = "timoshenko",
    gravity: Sequence[float] | None = None,
    tip_force: Sequence[float] | None = None,
    tip_moment: Sequence[float] | None = None,
    base_acceleration: Sequence[float] | None = None,
    tolerance: float = 1e-6,
    pieces: int = 4,
    max_pieces: int = 64,
) -> BoundedFrequencies:
    """Return the lowest natural frequencies of an arm under dead loads, with an error estimate and bounds.

    Parameters
    ----------
    arm, theory, gravity, tip_force, tip_moment, base_acceleration
        As for `buckling`.
    num_modes
        Number of frequencies.
    tolerance, pieces, max_pieces
        As for `tapered_frequencies`: links of planar arms are cut into more and more segments until the estimated
        relative error is below ``tolerance``. Pieces of arms in space are exact, and their number is chosen
        automatically.

    Returns
    -------
    BoundedFrequencies
        Frequencies (extrapolated for planar arms), their estimated error, and bounds.

    Raises
    ------
    UncertifiedError
        If the loads buckle the arm, or are so near to the critical ones that the segmented arm buckles.
    ArmError, ValueError
        As for `preloaded` and `tapered_frequencies`.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> arm = jm.Arm((jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.005, 0.05)),))
    >>> found = jm.preloaded_frequencies(arm, 1, theory="euler_bernoulli", gravity=(-9.81, 0.0), tolerance=1e-2)
    >>> bool(found.lower[0] < found.omega[0] < found.upper[0])
    True
    """
    asked = Asked(gravity, tip_force, tip_moment, base_acceleration)
    at_rest = resting(arm, theory, "preloaded_frequencies", asked, or_axial=True)
    number = positive_integer(num_modes, "num_modes", limits.MODES)
    if (exact := at_rest.frequencies(number)) is not None:
        return exact
    own: Any = arm
    loads: Mapping[str, Any] = {
        "gravity": gravity,
        "tip_force": tip_force,
        "base_acceleration": base_acceleration,
    }

    preloaded(own, theory=theory, **loads)  # checks the arguments before links are cut

    def build(number: int, bound: str) -> Arm:
        return preloaded(own, theory=theory, **loads, pieces=number, bound=bound)

    if is_whole(pieces, 1) and is_whole(max_pieces, 1):  # few segments may buckle
        while 8 * pieces <= max_pieces and _buckled(build(pieces, "middle"), theory):
            pieces *= 2
        if _buckled(build(pieces, "middle"), theory):
            _refuse_coarse(own, theory, loads, max_pieces)
    return tapered_frequencies(
        build,
        num_modes,
        theory=theory,
        tolerance=tolerance,
        pieces=pieces,
        max_pieces=max_pieces,
        what="under dead loads",
    )


def _refuse_coarse(arm: Arm, theory: TheoryName, loads: Mapping[str, Any], max_pieces: int) -> None:
    """Refuse too few segments: the arm is stable, by the exact count of buckling factors, but its segments buckle.

    Raises
    ------
    UncertifiedError
        If the segments buckle; the message gives the margin to the critical loads.
    """
    found = buckling(arm, 1, theory=theory, **loads)
    if not (found.certified[0] and found.bracket[0, 0] > 1.0):
        return
    raise UncertifiedError(
        f"the loads are {found.factors[0] - 1.0:.1e} below the critical ones: the arm is stable, but in so few "
        f"segments it buckles; give max_pieces = {4 * max_pieces} (four times as many segments reach sixteen times "
        "nearer to the critical loads)"
    )


def _buckled(arm: Arm, theory: TheoryName) -> bool:
    found = natural_frequencies(arm, 1, theory=theory, throw=False)
    return bool(np.all(np.asarray(found.status) == Status.unstable))
