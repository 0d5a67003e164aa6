"""The chain form (`benchmarks.chain_form`) in space: p-version finite elements of strains, NumPy's batched eigvalsh.

A clamped chain is statically determinate. With stretch, twist, two curvatures and two shears of each link as unknowns,
expanded in Legendre polynomials, and the gives of the springs, the stiffness is the identity and the mass matrix alone
is to be formed: that of a link over its base's motion and its own strains does not depend on the posture, so that only
the motions of the bases are carried from link to link. Its eigenvalues are 1/omega^2. Timoshenko's theory.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre

from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.links import SpatialLink

_STRAINS = 6


class SpatialChainForm:
    """The rival for one arm whose joint angles vary.

    Parameters
    ----------
    arm : SpatialArm
        An arm without free joints.
    degree : int
        Of the polynomials of every strain.
    """

    def __init__(self, arm: SpatialArm, degree: int) -> None:
        self.arm, self.degree = arm, degree
        self.parts, size = [], 0
        for link in arm.links:
            springs = len(link.joint_springs) + bool(np.isfinite(float(link.joint_stiffness)))
            strains = 0 if link.rigid else _STRAINS * (degree + 1)
            self.parts.append((size, springs, strains))
            size += springs + strains
        self.unknowns = size
        self.local = [_local(link, degree) for link in arm.links]

    def frequencies(self, angles: np.ndarray, num_modes: int = 10, block: int = 64) -> np.ndarray:
        """Lowest frequencies, rad/s, shape (cells, num_modes), at joint angles of shape (cells, links)."""
        found = [
            np.linalg.eigvalsh(self.mass(angles[start : start + block]))[:, : -num_modes - 1 : -1]
            for start in range(0, len(angles), block)
        ]
        return np.asarray(1.0 / np.sqrt(np.concatenate(found)))

    def mass(self, angles: np.ndarray) -> np.ndarray:
        """Mass matrices, shape (cells, unknowns, unknowns), of strains scaled to the stiffness 1."""
        cells, size = angles.shape[0], self.unknowns
        mass = np.zeros((cells, size, size))
        motion = np.zeros((cells, 6, size))
        for number, link in enumerate(self.arm.links):
            start, springs, strains = self.parts[number]
            axis = _unit(link.joint_axis)
            frame = np.eye(3)
            for part in link.joint_frame:
                frame = frame @ _turn(_unit(part.axis), np.array([float(part.angle)]))[0]
            rotation = _turn(axis, angles[:, number]) @ frame
            if link.stator is not None:
                _add_body(mass, motion, link.stator)
            before = motion[:, 3:]
            back = np.swapaxes(rotation, 1, 2)
            motion = np.concatenate([back @ motion[:, :3], back @ motion[:, 3:]], axis=1)
            column = start
            for spring in link.joint_springs:
                rows = slice(0, 3) if spring.kind == "translation" else slice(3, 6)
                motion[:, rows, column] += _unit(spring.direction) / np.sqrt(
                    float(spring.stiffness)
                )
                column += 1
            stiffness = float(link.joint_stiffness)
            if np.isfinite(stiffness):
                motion[:, 3:, column] += (frame.T @ axis) / np.sqrt(stiffness)
            if link.rotor_inertia is not None and link.acting_gear_ratio is not None:
                spin = np.einsum("i,ciq->cq", axis, before)
                if np.isfinite(stiffness):
                    spin[:, column] += float(link.acting_gear_ratio) / np.sqrt(stiffness)
                mass += float(link.rotor_inertia) * spin[:, :, None] * spin[:, None]
            if link.hub is not None:
                _add_body(mass, motion, link.hub)
            if link.base_offset is not None:
                motion = _shift([float(x) for x in link.base_offset]) @ motion
            own, end = self.local[number]
            mass += np.swapaxes(motion, 1, 2) @ (own[:6, :6] @ motion)
            if strains:
                at = slice(start + springs, start + springs + strains)
                mixed = np.swapaxes(motion, 1, 2) @ own[:6, 6:]
                mass[:, :, at] += mixed
                mass[:, at] += np.swapaxes(mixed, 1, 2)
                mass[:, at, at] += own[6:, 6:]
                motion = end[:, :6] @ motion
                motion[:, :, at] += end[:, 6:]
            else:
                motion = end[:, :6] @ motion
        _add_body(mass, motion, self.arm.payload)
        return mass


def _local(link: SpatialLink, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Mass of a link with the body at its tip, and the motion of the tip, over (motion of its base, its strains)."""
    points, weights = legendre.leggauss(degree + 4)
    length, half = float(link.length), 0.5 * float(link.length)
    values = link.section_values
    area, iy, iz = (float(x) for x in (values.area, values.second_moment_y, values.second_moment_z))
    density, added = float(link.density), float(link.nonstructural_mass or 0.0)
    inertia = density * np.array([area] * 3 + [iy + iz, iy, iz]) + added * np.array(
        [1, 1, 1, 0, 0, 0]
    )
    turned = _roll(0.0 if link.section_roll is None else float(link.section_roll))
    own = np.zeros((6 + (0 if link.rigid else _STRAINS * (degree + 1)),) * 2)
    for point, weight in zip(points, weights, strict=True):
        at = _at(link, degree, point, turned)
        own += half * weight * (at.T @ (turned @ np.diag(inertia) @ turned.T) @ at)
    end = _at(link, degree, 1.0, turned)
    if link.end_offset is not None:
        end = _shift([float(x) for x in link.end_offset]) @ end
    if link.body is not None:
        own += end.T @ _mass(link.body) @ end
    assert length > 0.0
    return own, end


def _at(link: SpatialLink, degree: int, point: float, turned: np.ndarray) -> np.ndarray:
    """Motion of the section at a point of -1 to 1 over (motion of the base, strains), strains of stiffness 1."""
    half = 0.5 * float(link.length)
    rigid = _shift([half * (1.0 + point), 0.0, 0.0])
    if link.rigid:
        return rigid
    values, count = link.section_values, degree + 1
    modulus, shear = float(link.youngs_modulus), float(link.shear_modulus_value)
    area = float(values.area)
    once = np.array(
        [legendre.legval(point, legendre.legint(row, lbnd=-1)) for row in np.eye(count)]
    )
    twice = np.array(
        [legendre.legval(point, legendre.legint(row, 2, lbnd=-1)) for row in np.eye(count)]
    )
    norms = half * 2.0 / (2.0 * np.arange(count) + 1.0)
    stiffness = {
        "e": modulus * area,
        "t": shear * float(values.torsion_constant),
        "k": modulus * float(values.second_moment_z),
        "c": modulus * float(values.second_moment_y),
        "g": float(values.shear_coefficient_y) * shear * area,
        "h": float(values.shear_coefficient_z) * shear * area,
    }
    strains = np.zeros((6, _STRAINS, count))
    for place, (name, row, what) in enumerate(
        (
            ("e", 0, once),
            ("t", 3, once),
            ("k", 5, once),
            ("c", 4, once),
            ("g", 1, once),
            ("h", 2, once),
        )
    ):
        strains[row, place] += half * what / np.sqrt(stiffness[name] * norms)
        if name == "k":
            strains[1, place] += half * half * twice / np.sqrt(stiffness[name] * norms)
        if name == "c":
            strains[2, place] -= half * half * twice / np.sqrt(stiffness[name] * norms)
    return np.concatenate([rigid, turned @ strains.reshape(6, -1)], axis=1)


def _roll(angle: float) -> np.ndarray:
    return np.kron(np.eye(2), _turn(np.array([1.0, 0.0, 0.0]), np.array([angle]))[0])


def _unit(vector: object) -> np.ndarray:
    found = np.array([float(x) for x in vector])  # type: ignore[attr-defined]
    return np.asarray(found / np.linalg.norm(found))


def _turn(axis: np.ndarray, angles: np.ndarray) -> np.ndarray:
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    c, s = np.cos(angles)[:, None, None], np.sin(angles)[:, None, None]
    return np.asarray(np.eye(3) + s * k + (1.0 - c) * (k @ k))


def _shift(r: list[float]) -> np.ndarray:
    x, y, z = r
    found = np.eye(6)
    found[:3, 3:] = -np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return found


def _mass(body: RigidBody) -> np.ndarray:
    found = np.zeros((6, 6))
    found[:3, :3] = float(body.mass) * np.eye(3)
    if body.inertia is not None:
        found[3:, 3:] = [[float(x) for x in row] for row in body.inertia.rows()]
    at = np.eye(6) if body.centre is None else _shift([float(x) for x in body.centre])
    return np.asarray(at.T @ found @ at)


def _add_body(mass: np.ndarray, motion: np.ndarray, body: RigidBody) -> None:
    mass += np.swapaxes(motion, 1, 2) @ (_mass(body) @ motion)
