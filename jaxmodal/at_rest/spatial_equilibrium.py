"""Arms in space at rest under dead loads: results of `static_equilibrium`."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from jaxmodal.at_rest.results import ALONG, AtRest, ends, how_far, title_of
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.preload.equilibrium import deflections
from jaxmodal.spatial.preload.loaded import SpatialLoadedArm

#: headings of the section forces, in the order of `AtRest.section_forces`
_SIX = ("N [N]", "Vy [N]", "Vz [N]", "Mx [N m]", "My [N m]", "Mz [N m]")
#: values below this share of the largest in their group are rounding, and are shown as 0
_NOISE = 1e-13
_OF_GROUND = ("force_x", "force_y", "force_z", "moment_x", "moment_y", "moment_z")


@dataclasses.dataclass(frozen=True, repr=False)
class SpatialEquilibrium(AtRest):
    """Forces and deflections of one arm in space at rest, at S stations of each of its n links.

    Section forces are exerted by the part towards the tip. They are in section axes: x along the link, y and z the
    principal axes.

    Attributes
    ----------
    stations : array, shape (S,)
        Places along each link, as shares of its length.
    axial_force, torque : array, shape (n, S)
        Force along the link (tension positive), N, and moment about it, N m.
    shear_force, bending_moment : array, shape (n, S, 2)
        Forces along y and z, N, and moments about y and z, N m.
    displacement, rotation : array, shape (n, S, 3)
        Displacements and rotations of the sections, in ground axes, m and rad.
    joint_torque : array, shape (n,)
        Torque of the motor or spring of each joint about its axis, N m; the force along it for a sliding joint, N.
    joint_force, joint_moment : array, shape (n, 3)
        Total force and moment in each joint, in the axes of its link, N and N m.
    joint_give : array, shape (n, 6)
        Deflections of the springs of each joint: along x, y, z of its link (m) and about them (rad).
    base_reaction : array, shape (6,)
        Reaction of the ground at joint 1: force along x, y and z of the ground, N, and moment about them, N m.
    reactions : array, shape (n, 6)
        Reactions of the supports at each tip, in the same components; 0 if there are none.
    tip_displacement : array, shape (6,)
        Displacement of the last link's tip along x, y and z of the ground, m, and rotation about them, rad.
    positions : array, shape (n, S, 3)
        Positions of the stations in the undeformed posture, m.
    arm : SpatialArm
    theory : str
    """

    variables: ClassVar[dict[str, tuple[tuple[str, ...], str]]] = {
        "axial_force": (ALONG, "N"),
        "torque": (ALONG, "N m"),
        "shear_force": ((*ALONG, "across"), "N"),
        "bending_moment": ((*ALONG, "across"), "N m"),
        "displacement": ((*ALONG, "axis"), "m"),
        "rotation": ((*ALONG, "axis"), "rad"),
        "joint_torque": (("link",), "N m"),
        "joint_force": (("link", "axis"), "N"),
        "joint_moment": (("link", "axis"), "N m"),
    }
    labels: ClassVar[dict[str, tuple[str, ...]]] = {
        "axis": ("x", "y", "z"),
        "across": ("y", "z"),
        "component": _OF_GROUND,
    }

    torque: Floats
    joint_moment: Floats

    @property
    def turned(self) -> Floats:
        found: Floats = np.linalg.norm(self.rotation, axis=-1)
        return found

    @property
    def section_forces(self) -> Floats:
        parts = (self.axial_force, self.shear_force, self.torque, self.bending_moment)
        return np.concatenate([x if x.ndim == 3 else x[..., None] for x in parts], axis=-1)

    def tables(self) -> list[Table]:
        """Return forces and moments at the links' ends, joint torques, and the reaction of the ground."""
        return _tables(self)


def equilibrium_in_space(
    arm: SpatialArm, theory: TheoryName, problem: SpatialLoadedArm, shares: Floats
) -> SpatialEquilibrium:
    """Return the arm at rest, to first order in its deflections; see `static_equilibrium`."""
    modal, found = problem.chain.model, problem.chain.rest
    bent = deflections(modal, found, shares)
    forces = np.array([found.forces(k, shares) for k in range(arm.num_links)])
    at = [place.start + shares[:, None] * (place.end - place.start) for place in found.places]
    axes = np.array([link.directions[-1, 3:] for link in modal.values.links])
    about = np.sum(axes * found.joints[:, 3:], axis=1)
    slides = np.array([link.prismatic for link in arm.links])
    return SpatialEquilibrium(
        stations=shares,
        axial_force=forces[..., 0],
        torque=forces[..., 3],
        shear_force=forces[..., 1:3],
        bending_moment=forces[..., 4:],
        displacement=bent.along[..., :3],
        rotation=bent.along[..., 3:],
        joint_torque=np.where(slides, found.joints[:, 0], about),
        joint_force=found.joints[:, :3],
        joint_moment=found.joints[:, 3:],
        joint_give=found.gives,
        base_reaction=-found.base,
        reactions=found.pushes,
        tip_displacement=bent.tips[-1],
        positions=np.array(at),
        arm=arm,
        theory=theory,
    )


def _without_noise(values: Floats, beside: Floats | None = None) -> Floats:
    """Return values with rounding errors set to 0, judged by the largest value, or by the largest of ``beside``."""
    largest = np.abs(values if beside is None else beside).max(initial=0.0)
    return np.where(np.abs(values) > _NOISE * largest, values, 0.0)


def _tables(result: SpatialEquilibrium) -> list[Table]:
    """Return tables of the section forces at both ends of the links with joint torques, and of the reactions."""
    forces = _without_noise(result.section_forces)
    torques, rows = _without_noise(result.joint_torque), []
    for i, link in enumerate(result.arm.links):
        held = f"{torques[i] + 0.0:.5g}" + (" N" if link.prismatic else "")
        for k, end in zip((0, -1), ends(result), strict=True):
            values = (f"{x + 0.0:.5g}" for x in forces[i, k])
            rows.append([f"link {i + 1}, {end}", *values, held if k == 0 else ""])
    moved, turned = np.split(result.tip_displacement, 2)
    moved, turned = (
        _without_noise(moved, result.displacement),
        _without_noise(turned, result.rotation),
    )
    notes = [
        f"tip: {', '.join(f'{1e3 * x + 0.0:.5g}' for x in moved)} mm along x, y and z of the ground, "
        f"{', '.join(f'{x + 0.0:.4g}' for x in turned)} rad about them",
        how_far(result),
    ]
    title, headings = f"at rest: {title_of(result)}", ["", *_SIX, "joint torque [N m]"]
    names = ["base", *(f"tip of link {i + 1}" for i in range(len(result.reactions)))]
    grounds = np.vstack([result.base_reaction, result.reactions])
    shown = np.hstack([_without_noise(x) for x in np.split(grounds, 2, axis=1)])
    ground = [
        [name, *(f"{x + 0.0:.5g}" for x in row)]
        for name, row, real in zip(names, shown, grounds, strict=True)
        if name == "base" or np.any(real)
    ]
    units = [
        f"{name.replace('_', ' ')} [{'N m' if 'moment' in name else 'N'}]" for name in _OF_GROUND
    ]
    return [
        Table(title, headings, rows, notes),
        Table("reaction", ["ground at", *units], ground, left=("ground at",)),
    ]
