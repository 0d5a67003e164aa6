"""Planar arms at rest under dead loads: results of `static_equilibrium`."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import jax
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.at_rest.results import ALONG, AtRest, ends, how_far, title_of
from jaxmodal.at_rest.shapes import positions
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.tables import Table
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.chain import bent, geometry
from jaxmodal.statics.equilibrium import Equilibrium


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


def equilibrium_in_plane(
    arm: Arm,
    beams: BeamArrays,
    flags: Theory,
    found: Equilibrium,
    shares: Floats,
    theory: TheoryName,
) -> StaticEquilibrium:
    """Return the arm at rest, with the polynomials along its links; see `static_equilibrium`."""
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
