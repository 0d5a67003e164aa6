"""Arms at rest under dead loads: section forces, deflections, joint torques, reactions."""

from __future__ import annotations

from collections.abc import Sequence

from jaxmodal.arm.arguments import station_shares
from jaxmodal.arm.quantities import shown
from jaxmodal.at_rest.loads import Asked
from jaxmodal.at_rest.planar_equilibrium import StaticEquilibrium
from jaxmodal.at_rest.resting import resting
from jaxmodal.at_rest.results import warn_of_large_deflections
from jaxmodal.at_rest.spatial_equilibrium import SpatialEquilibrium
from jaxmodal.at_rest.stability import judge_stability
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm


def static_equilibrium(
    arm: AnyArm,
    *,
    theory: TheoryName = "timoshenko",
    gravity: Sequence[float] | None = None,
    tip_force: Sequence[float] | None = None,
    tip_moment: Sequence[float] | None = None,
    base_acceleration: Sequence[float] | None = None,
    stations: Sequence[float] | int = 21,
) -> StaticEquilibrium | SpatialEquilibrium:
    """Return section forces, deflections and reactions of an arm at its posture under dead loads.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm, with concrete values. Its own loads are added to those given here.
    theory
        As for `natural_frequencies`.
    gravity
        Acceleration in m/s^2 along x and y of the base, or for an arm in space along x, y and z of the ground; it acts
        on links, bodies, hubs and payload. It is (0.0, -9.81) if the arm moves in a vertical plane with y upwards.
    tip_force
        Force at the tip of the last link in N, in the same axes.
    tip_moment
        Moment there in N m, about x, y and z of the ground; only for arms in space.
    base_acceleration
        Steady acceleration of the base, m/s^2; it acts like gravity in the opposite direction.
    stations
        Places along each link as shares of its length, or the number of equally spaced ones from 0 to 1.

    Returns
    -------
    StaticEquilibrium or SpatialEquilibrium

    Raises
    ------
    ArmError
        If there is no load, a free joint is not held against the loads, the loads buckle the arm or are critical within
        rounding, a value does not suit the theory, or a link has an axial force, which would stiffen or soften the arm
        (`static_compliance` takes it into account).

    Warns
    -----
    LargeDeflectionWarning
        If a section rotates by more than 0.1 rad or a point moves by more than 5 % of the arm's length: the relative
        error of the linear theory is about the square of the rotation. Also if the critical load is less than 10 times
        the loads: their second-order effect, which the linear theory neglects, is then not small.

    Notes
    -----
    Deflections are small: loads act at the undeformed posture. Along a uniform link under its own weight the deflection
    is a polynomial of degree 4, and results are exact to rounding. Reactions of supports follow from the compatibility
    of displacements.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> beam = jm.Arm((jm.Link(2.0, 1e5, 1.0, jm.raw_section(1.0, 1.0)),))
    >>> found = jm.static_equilibrium(beam, theory="euler_bernoulli", gravity=(0.0, -10.0))
    >>> f"{found.joint_torque[0]:.1f} N m, {1e3 * found.tip_displacement[1]:.3f} mm"     # w L^2/2, w L^4/(8 E I)
    '-20.0 N m, -0.200 mm'
    """
    asked = Asked(gravity, tip_force, tip_moment, base_acceleration)
    at_rest = resting(arm, theory, "static_equilibrium", asked)
    _refuse_second_order(arm)
    shares = station_shares(stations)
    judge_stability(at_rest.problem)  # before warnings about large deflections
    found = at_rest.equilibrium(shares)
    warn_of_large_deflections(found)
    return found


def _refuse_second_order(arm: AnyArm) -> None:
    """Refuse axial forces: their second-order effect is not part of the linear theory."""
    for number, link in enumerate(arm.links, start=1):
        if link.axial_force is not None:
            raise ArmError(
                f"link{number}.axial_force = {shown(link.axial_force)}: would stiffen or soften the arm, which the "
                "linear theory of section forces and deflections neglects; leave it out, or use "
                "static_compliance, which includes it: its product with forces at ports is the deflection."
            )
