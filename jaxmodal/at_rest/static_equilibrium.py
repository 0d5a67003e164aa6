"""Arms at rest under dead loads: section forces, deflections, joint torques, reactions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

import jax
import numpy as np

from jaxmodal.arm.arguments import station_shares
from jaxmodal.arm.arm import Arm, require_arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.arm.quantities import shown
from jaxmodal.at_rest.loaded_arms import LoadedArm
from jaxmodal.at_rest.loaded_in_space import loaded_in_space
from jaxmodal.at_rest.loads import loads_in_space, refuse_moment, under_loads
from jaxmodal.at_rest.results import (
    ALONG,
    AtRest,
    ends,
    how_far,
    title_of,
    warn_of_large_deflections,
)
from jaxmodal.at_rest.shapes import positions
from jaxmodal.at_rest.spatial_equilibrium import SpatialEquilibrium, equilibrium_in_space
from jaxmodal.at_rest.stability import judge_stability
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.chain import bent, geometry
from jaxmodal.statics.equilibrium import Equilibrium, held_equilibrium


@dataclasses.dataclass(frozen=True, repr=False)
class StaticEquilibrium(AtRest):
    """Forces and deflections of one planar arm at rest, at S stations of each of its n links.

    Section forces are exerted by the part towards the tip.

    Attributes
    ----------
    stations : array, shape (S,)
        Places along each link, as shares of its length.
    axial_force, shear_force, bending_moment : array, shape (n, S)
        Force along the link (tension positive), N, force across it (to its left), N, and moment, counter-clockwise, N
        m.
    displacement : array, shape (n, S, 2)
        Displacements in base axes, m.
    rotation : array, shape (n, S)
        Rotations of the sections, rad.
    joint_torque, joint_force : array, shape (n,) and (n, 2)
        Load in each joint: the torque of its motor or spring, N m, and the force along and across its link, N.
    joint_give : array, shape (n, 3)
        Deflections of the springs of each joint along its link, across it (m) and about the joint (rad); those of joint
        1 include an elastic base.
    base_reaction : array, shape (3,)
        Reaction of the ground: force along x and y of the base, N, and moment about joint 1, N m.
    reactions : array, shape (n, 3)
        Reaction of the support at each tip: force along x and y of the base, N, and moment, N m; 0 if there is none.
    tip_displacement : array, shape (3,)
        Displacement of the last link's tip along x and y of the base, m, and its rotation, rad.
    positions : array, shape (n, S, 2)
        Positions of the stations in the undeformed posture, m.
    arm : Arm
    theory : str
    """

    variables: ClassVar[dict[str, tuple[tuple[str, ...], str]]] = {
        "axial_force": (ALONG, "N"),
        "shear_force": (ALONG, "N"),
        "bending_moment": (ALONG, "N m"),
        "displacement": ((*ALONG, "axis"), "m"),
        "rotation": (ALONG, "rad"),
        "joint_torque": (("link",), "N m"),
    }
    labels: ClassVar[dict[str, tuple[str, ...]]] = {
        "axis": ("x", "y"),
        "component": ("force_x", "force_y", "moment"),
    }

    @property
    def turned(self) -> Floats:
        return np.abs(self.rotation)

    @property
    def section_forces(self) -> Floats:
        none = np.zeros_like(self.axial_force)
        own = (self.axial_force, self.shear_force, none, none, none, self.bending_moment)
        return np.stack(own, axis=-1)

    def tables(self) -> list[Table]:
        """Return forces and moments at the links' ends, joint torques, and the reactions of supports."""
        rows = []
        for i in range(self.arm.num_links):
            values = [
                f"{field[i, k]:.5g}"
                for k in (0, -1)
                for field in (self.axial_force, self.shear_force, self.bending_moment)
            ]
            rows.append([f"link {i + 1}", *values, f"{self.joint_torque[i]:.5g}"])
        x, y, turn = self.tip_displacement
        notes = [
            f"tip: {1e3 * x:.5g} mm along x, {1e3 * y:.5g} mm along y of the base, {turn:.4g} rad",
            how_far(self),
        ]
        headings = [
            "",
            *(f"{name}, {end}" for end in ends(self) for name in ("N [N]", "V [N]", "M [N m]")),
            "joint torque [N m]",
        ]
        tables = [Table(f"at rest: {title_of(self)}", headings, rows, notes)]
        grounds = [["base", *(f"{value + 0.0:.5g}" for value in self.base_reaction)]]  # no -0
        grounds += [
            [f"tip of link {i + 1}", *(f"{value + 0.0:.5g}" for value in row)]
            for i, row in enumerate(self.reactions)
            if np.any(row)
        ]
        headings = ["ground at", "force x [N]", "force y [N]", "moment [N m]"]
        return [*tables, Table("reactions", headings, grounds, left=("ground at",))]


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
    require_arm(arm)
    if isinstance(arm, SpatialArm):
        asked = gravity, tip_force, tip_moment, base_acceleration
        given = loads_in_space(arm, "static_equilibrium", *asked)
        _refuse_second_order(arm)
        problem = loaded_in_space(arm, theory, given)
        judge_stability(problem)
        in_space = equilibrium_in_space(arm, theory, problem, station_shares(stations))
        warn_of_large_deflections(in_space)
        return in_space
    refuse_moment(tip_moment)
    flags, loads = under_loads(
        arm, theory, "static_equilibrium", gravity, tip_force, base_acceleration
    )
    _refuse_second_order(arm)
    shares = station_shares(stations)
    beams = beam_values(arm.replace(loads=None))
    found = held_equilibrium(beams, flags.shear, flags.axial, loads)
    # before warnings about large deflections
    judge_stability(LoadedArm.at_rest(beams, flags, loads, found))
    result = _along(arm, beams, flags, found, shares, theory)
    warn_of_large_deflections(result)
    return result


def _refuse_second_order(arm: AnyArm) -> None:
    """Refuse axial forces: their second-order effect is not part of the linear theory."""
    for number, link in enumerate(arm.links, start=1):
        if link.axial_force is not None:
            raise ArmError(
                f"link{number}.axial_force = {shown(link.axial_force)}: would stiffen or soften the arm, which the "
                "linear theory of section forces and deflections neglects; leave it out, or use "
                "static_compliance, which includes it: its product with forces at ports is the deflection."
            )


def _along(
    arm: Arm,
    beams: BeamArrays,
    flags: Theory,
    found: Equilibrium,
    shares: Floats,
    theory: TheoryName,
) -> StaticEquilibrium:
    """Return the result with the polynomials along the links."""
    forces, shape = found.forces, geometry(beams)
    wide, stations, start = jax.tree_util.tree_map(
        lambda y: np.asarray(y)[:, None], (beams, forces, found.displacements.start)
    )
    (n, v, m), (p, q) = stations.start, stations.load
    x = shares[None, :] * wide.length
    along, across, turn = bent(wide, flags.shear, flags.axial, stations, x)
    across = start[2] * x + across
    c, s = shape.cosine[:, None], shape.sine[:, None]
    displacement = np.stack(
        [start[0] + c * along - s * across, start[1] + s * along + c * across], axis=-1
    )
    joint = [np.asarray(y) for y in forces.joint]
    first = np.array([float(shape.cosine[0]), float(shape.sine[0])])
    base = -joint[0][0] * first - joint[1][0] * np.array([-first[1], first[0]])
    return StaticEquilibrium(
        stations=shares,
        axial_force=n - p * x,
        shear_force=v - q * x,
        bending_moment=m - v * x + q * x**2 / 2,
        displacement=displacement,
        rotation=start[2] + turn,
        joint_torque=joint[2],
        joint_force=np.stack(joint[:2], axis=1),
        joint_give=np.asarray(found.gives),
        base_reaction=np.array([*base, -joint[2][0]]),
        reactions=np.asarray(found.reactions),
        tip_displacement=np.array([float(y[-1]) for y in found.displacements.tip]),
        positions=positions(beams, shares),
        arm=arm,
        theory=theory,
    )
