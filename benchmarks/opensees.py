"""OpenSeesPy as a rival: one model after the other, as in its manual, `eigen` with its band ARPACK solver.

A link is a chain of `ElasticTimoshenkoBeam` elements with consistent mass: the static solution of the Timoshenko beam
in bending, with rotary inertia, and a linear axial displacement. Bodies at tips are nodal masses. The axial
displacement makes the error one of second order in the size of the elements, so that two meshes and an extrapolation
do far better than one; ``elements`` takes one number or two.

The other solvers of `eigen` are no help: `-symmBandLapack` refuses mass matrices, `-fullGenLapack` is slower
from ten elements on. OpenSees holds one model for the whole process and is serial.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.chain_form import FIELDS, Beams
from jaxmodal.spatial.arms.arm import SpatialArm

#: the mesh of the source paper, and two coarser ones that are extrapolated
PLAIN = (75,)
EXTRAPOLATED = (20, 40)


@functools.cache
def module() -> Any:
    """The module ``openseespy.opensees``.

    Raises
    ------
    ImportError
        It is not installed, or does not load here; the message says which.
    """
    if importlib.util.find_spec("openseespy") is None:
        raise ImportError("openseespy is not installed")
    # the wheel for Linux carries a BLAS, and its LAPACK does not find it unless it is loaded before
    found = importlib.util.find_spec("openseespylinux")
    if found is not None and found.origin is not None:
        blas = Path(found.origin).parent / "lib" / "libblas.so.3"
        if blas.exists():
            try:
                ctypes.CDLL(str(blas))
            except OSError as error:
                raise ImportError(f"the BLAS of openseespy does not load ({error})") from error
    try:
        return importlib.import_module("openseespy.opensees")
    except (ImportError, RuntimeError) as error:
        cause = error.__context__ or error
        raise ImportError(f"openseespy does not load ({cause})") from error


def missing() -> str | None:
    """Why OpenSeesPy cannot be measured; None where it can."""
    try:
        module()
    except ImportError as error:
        return f"OpenSeesPy: skipped, {error}"
    return None


class OpenSees:
    """Timoshenko arms with rigid joints, ``elements`` per link; two numbers are two meshes, extrapolated."""

    def __init__(self, elements: tuple[int, ...] = PLAIN) -> None:
        if len(elements) not in (1, 2) or min(elements) < 1 or len(set(elements)) < len(elements):
            raise ValueError(f"elements = {elements}; expected one number, or two that differ")
        self.elements = elements
        self._ops = module()

    def frequencies(self, beams: Beams, num_modes: int = 10) -> np.ndarray:
        """Lowest frequencies in rad/s, shape (cells, num_modes), of beams of shape (cells, n)."""
        if np.isfinite(beams["joint_stiffness"]).any():
            raise ValueError("a joint_stiffness is finite; expected rigid joints (inf)")
        cells = range(beams["length"].shape[0])
        squares = np.stack(
            [self._squares({k: beams[k][i] for k in FIELDS}, num_modes) for i in cells]
        )
        return np.asarray(np.sqrt(squares))

    def _squares(self, beams: Beams, num_modes: int) -> np.ndarray:
        """Squared frequencies; with two meshes the error of second order is taken out."""
        found = []
        for elements in self.elements:
            self._build(beams, elements)
            found.append(np.sort(self._ops.eigen(num_modes)))
        if len(found) == 1:
            return found[0]
        a, b = (n * n for n in self.elements)
        return np.asarray((b * found[1] - a * found[0]) / (b - a))

    def _build(self, beams: Beams, elements: int) -> None:
        """The model of one arm in its posture, node 0 clamped."""
        ops = self._ops
        ops.wipe()
        ops.model("basic", "-ndm", 2, "-ndf", 3)
        ops.geomTransf("Linear", 1)
        ops.node(0, 0.0, 0.0)
        ops.fix(0, 1, 1, 1)
        x, y, angle, node = 0.0, 0.0, 0.0, 0
        for link in range(beams["length"].size):
            b = {name: float(beams[name][link]) for name in FIELDS}
            angle += b["joint_angle"]
            size = b["length"] / elements
            dx, dy = size * float(np.cos(angle)), size * float(np.sin(angle))
            # the shear area is the whole one: the modulus has the shear coefficient in it
            section = (
                b["youngs_modulus"],
                b["shear_modulus_effective"],
                b["area"],
                b["second_moment"],
            )
            rest = (*section, b["area"], 1, "-mass", b["density"] * b["area"], "-cMass")
            for _ in range(elements):
                x, y, node = x + dx, y + dy, node + 1
                ops.node(node, x, y)
                ops.element("ElasticTimoshenkoBeam", node, node - 1, node, *rest)
            ops.mass(node, b["tip_mass"], b["tip_mass"], b["tip_inertia"])


class OpenSeesInSpace:
    """Arms in space of round tubes on rigid joints, with bodies that have one inertia about all axes.

    ``elements`` per link; two numbers are two meshes, extrapolated. Nodal masses of OpenSees are diagonal in the axes
    of the ground, and an element turns with the inertia of its torsion constant, right for round sections alone.
    """

    def __init__(self, elements: tuple[int, ...] = (24,)) -> None:
        self._plane = OpenSees(elements)
        self._ops = self._plane._ops

    def frequencies(self, arm: SpatialArm, angles: np.ndarray, num_modes: int = 10) -> np.ndarray:
        """Lowest frequencies in rad/s, (cells, num_modes), at joint angles of shape (cells, links)."""
        _refuse_in_space(arm)
        elements, found = self._plane.elements, []
        for posture in angles:
            squares = []
            for number in elements:
                self._build(arm, posture, number)
                squares.append(np.sort(self._ops.eigen(num_modes)))
            found.append(squares[0])
            if len(elements) == 2:
                a, b = (n * n for n in elements)
                found[-1] = (b * squares[1] - a * squares[0]) / (b - a)
        return np.sqrt(np.array(found))

    def _build(self, arm: SpatialArm, posture: np.ndarray, elements: int) -> None:
        ops = self._ops
        ops.wipe()
        ops.model("basic", "-ndm", 3, "-ndf", 6)
        ops.node(0, 0.0, 0.0, 0.0)
        ops.fix(0, *[1] * 6)
        place, turned, node = np.zeros(3), Rotation.identity(), 0
        for number, (link, angle) in enumerate(zip(arm.links, posture, strict=True), start=1):
            axis = np.array([float(x) for x in link.joint_axis])
            turned = turned * Rotation.from_rotvec(float(angle) * axis / np.linalg.norm(axis))
            for further in link.joint_frame:
                about = np.array([float(x) for x in further.axis])
                about *= float(further.angle) / np.linalg.norm(about)
                turned = turned * Rotation.from_rotvec(about)
            frame = turned.as_matrix()
            ops.geomTransf("Linear", number, *frame[:, 2].tolist())
            values = link.section_values
            area, density = float(values.area), float(link.density)
            kappa_y, kappa_z = (
                float(k)  # type: ignore[arg-type]
                for k in (values.shear_coefficient_y, values.shear_coefficient_z)
            )
            section = (
                *(float(link.youngs_modulus), float(link.shear_modulus_value), area),
                *(float(values.torsion_constant), float(values.second_moment_y)),
                *(float(values.second_moment_z), kappa_y * area, kappa_z * area),
            )
            step = float(link.length) / elements * frame[:, 0]
            for _ in range(elements):
                place, node = place + step, node + 1
                ops.node(node, *place.tolist())
                rest = (*section, number, "-mass", density * area, "-cMass")
                ops.element("ElasticTimoshenkoBeam", node, node - 1, node, *rest)
            bodies = [link.body] if number < arm.num_links else [link.body, arm.payload]
            masses = np.zeros(6)
            for body in (body for body in bodies if body is not None):
                inertia = 0.0 if body.inertia is None else float(body.inertia.xx)
                masses += [float(body.mass)] * 3 + [inertia] * 3
            ops.mass(node, *masses.tolist())


def _refuse_in_space(arm: SpatialArm) -> None:
    """Refuse what the model above does not hold."""
    for number, link in enumerate(arm.links, start=1):
        bodies = [link.body, arm.payload]
        tensors = [body.inertia for body in bodies if body is not None and body.inertia is not None]
        round_inertia = all(
            float(t.xx) == float(t.yy) == float(t.zz)
            and all(float(getattr(t, name)) == 0.0 for name in ("xy", "xz", "yz"))
            for t in tensors
        )
        centred = all(
            body is None or body.centre is None or all(float(x) == 0.0 for x in body.centre)
            for body in bodies
        )
        values = link.section_values
        polar = float(values.second_moment_y) + float(values.second_moment_z)
        given = {
            "a joint spring": np.isfinite(float(link.joint_stiffness)) or link.joint_springs,
            "a rotor": link.rotor_inertia is not None,
            "a hub or stator": link.hub is not None or link.stator is not None,
            "an offset": link.base_offset is not None or link.end_offset is not None,
            "a rigid link": link.rigid,
            "a body off the axis or with unequal inertias": not (round_inertia and centred),
            "a section that is not round": abs(float(values.torsion_constant) / polar - 1.0)
            > 1e-12,
        }
        for what, there in given.items():
            if there:
                raise ValueError(f"link {number} has {what}; expected none")
    if arm.base_stiffness is not None:
        raise ValueError("the base is elastic; expected a clamped one")
