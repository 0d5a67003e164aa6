"""The strongest rival: a p-version finite-element model in chain form, NumPy's batched eigvalsh.

A clamped chain is statically determinate. With the strains of the links as unknowns, expanded in
Legendre polynomials and scaled to unit energy, the stiffness matrix is the identity in every
posture; the displacements of a link are those of a cantilever, relative to the link before. Only
the mass matrix depends on the cell: one standard symmetric eigenproblem, its eigenvalues
1 / omega^2, and no factorisation. It is assembled from the tip inwards by composite inertias, and
since the motion of a tip and the momentum of a link involve the lowest polynomials alone, what
depends on the posture are blocks of nine by nine. Nothing here is shared with jaxmodal.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import legendre

Beams = Mapping[str, np.ndarray]
FIELDS = (
    "length", "youngs_modulus", "area", "second_moment", "density", "shear_modulus_effective",
    "tip_mass", "tip_inertia", "joint_angle", "joint_stiffness",
)  # fmt: skip
#: unknowns of curvature, shear strain and axial strain in which a link's momentum is not zero
_LOW = (4, 3, 2)
#: cells assembled side by side, so that their matrices stay in cache
_CHUNK = 64


@dataclass(frozen=True)
class ChainForm:
    """Timoshenko arms with rigid joints.

    ``curvature``, ``shear`` and ``axial`` are the numbers of Legendre polynomials of each strain
    in each link, at least 4, 3 and 2.
    """

    curvature: int = 11
    shear: int = 11
    axial: int = 11

    def __post_init__(self) -> None:
        numbers = (self.curvature, self.shear, self.axial)
        if any(number < least for number, least in zip(numbers, _LOW, strict=True)):
            raise ValueError(f"{numbers} polynomials; expected at least {_LOW}")

    @property
    def unknowns(self) -> int:
        """Unknowns of one link."""
        return self.curvature + self.shear + self.axial

    def frequencies(self, beams: Beams, num_modes: int = 10, threads: int = 1) -> np.ndarray:
        """Lowest frequencies in rad/s, shape (cells, num_modes), of beams of shape (cells, n)."""
        if np.isfinite(beams["joint_stiffness"]).any():
            raise ValueError("a joint_stiffness is finite; expected rigid joints (inf)")
        cells = beams["length"].shape[0]
        omega = np.empty((cells, num_modes))

        def solve(start: int) -> None:
            part = slice(start, start + _CHUNK)
            mass = self.mass({name: beams[name][part] for name in FIELDS})
            omega[part] = np.linalg.eigvalsh(mass)[:, : -num_modes - 1 : -1] ** -0.5

        if threads == 1:
            for start in range(0, cells, _CHUNK):
                solve(start)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(solve, range(0, cells, _CHUNK)))
        return omega

    @cached_property
    def _order(self) -> np.ndarray:
        """Unknowns of a link, the low ones first, in terms of (curvature, shear, axial)."""
        low: list[int] = []
        high: list[int] = []
        start = 0
        for number, few in zip((self.curvature, self.shear, self.axial), _LOW, strict=True):
            low += range(start, start + few)
            high += range(start + few, start + number)
            start += number
        return np.array(low + high)

    @cached_property
    def _reference(self) -> tuple[np.ndarray, ...]:
        """Fields of unit scale on 0 <= t <= 1: inertia of translation and of rotation, momenta, tip.

        A curvature moves v by sk b(t) and psi by sk / L a(t), a shear strain v by sg a(t), an axial
        strain u by se a(t), a and b being the first and second antiderivatives.
        """
        most = max(self.curvature, self.shear, self.axial)
        points, weights = legendre.leggauss(most + 4)
        t = np.append((points + 1) / 2, 1.0)
        weights = weights / 2
        norm = np.sqrt(2 * np.arange(most) + 1.0)
        a, b = (
            legendre.legval(2 * t - 1, legendre.legint(np.eye(most), m=m, lbnd=-1.0)).T
            * norm
            / 2**m
            for m in (1, 2)
        )
        counts = (self.curvature, self.shear, self.axial)
        zero = [np.zeros((t.size, number)) for number in counts]
        u = np.hstack([zero[0], zero[1], a[:, : self.axial]])[:, self._order]
        v = np.hstack([b[:, : self.curvature], a[:, : self.shear], zero[2]])[:, self._order]
        psi = np.hstack([a[:, : self.curvature], zero[1], zero[2]])[:, self._order]
        low = sum(_LOW)
        inner = slice(0, -1)
        translation = (u[inner].T * weights) @ u[inner] + (v[inner].T * weights) @ v[inner]
        rotation = (psi[inner].T * weights) @ psi[inner]
        first = np.stack([weights @ u[inner], weights @ v[inner], (weights * t[inner]) @ v[inner]])
        momenta = np.vstack([first, weights @ psi[inner]])[:, :low]
        tip = np.stack([u[-1], v[-1], psi[-1]])[:, :low]
        return translation, rotation, momenta, tip

    def mass(self, beams: Beams) -> np.ndarray:
        """Mass matrices for unit stiffness, the lower triangles, shape (cells, n size, n size)."""
        cells, links = beams["length"].shape
        size, low = self.unknowns, sum(_LOW)
        translation, rotation, momenta, tip = self._reference
        matrix = np.zeros((cells, links * size, links * size))
        composite = np.zeros((cells, 3, 3))
        reactions: dict[int, np.ndarray] = {}
        for i in reversed(range(links)):
            b = {name: beams[name][:, i] for name in FIELDS}
            length = b["length"]
            mass = b["density"] * b["area"] * length
            rotary = b["density"] * b["second_moment"] * length
            scale = self._scales(b)
            own = slice(i * size, (i + 1) * size)
            block = matrix[:, own, own]
            weighted = np.sqrt(mass)[:, None] * scale
            np.multiply(weighted[:, :, None], weighted[:, None, :], out=block)
            block *= translation
            rows, columns = np.nonzero(np.abs(rotation) > 1e-15)
            turning = rotary * (scale[:, 0] / length) ** 2
            block[:, rows, columns] += turning[:, None] * rotation[rows, columns]
            at_tip = tip * scale[:, None, :low]
            at_tip[:, 2] /= length[:, None]
            beyond = composite.copy()
            beyond[:, 0, 0] += b["tip_mass"]
            beyond[:, 1, 1] += b["tip_mass"]
            beyond[:, 2, 2] += b["tip_inertia"]
            carried = beyond @ at_tip
            block[:, :low, :low] += at_tip.transpose(0, 2, 1) @ carried
            # momentum about the base per unknown, and the composite inertia there
            momentum = momenta[:3] * (mass[:, None] * scale[:, :low])[:, None]
            momentum[:, 2] *= length[:, None]
            momentum[:, 2] += momenta[3] * (rotary / length)[:, None] * scale[:, :low]
            momentum += _to_base(carried, length)
            for j, reaction in reactions.items():
                reach = slice(j * size, j * size + low)
                matrix[:, reach, i * size : i * size + low] = reaction.transpose(0, 2, 1) @ at_tip
                reactions[j] = _turned(_to_base(reaction, length), b["joint_angle"])
            reactions[i] = _turned(momentum, b["joint_angle"])
            inertia = _to_base(_to_base(beyond, length).transpose(0, 2, 1), length)
            inertia[:, 0, 0] += mass
            inertia[:, 1, 1] += mass
            inertia[:, 1, 2] += mass * length / 2
            inertia[:, 2, 1] += mass * length / 2
            inertia[:, 2, 2] += mass * length**2 / 3 + rotary
            turned = _turned(inertia, b["joint_angle"]).transpose(0, 2, 1)
            composite = _turned(turned, b["joint_angle"])
        return matrix

    def _scales(self, b: Beams) -> np.ndarray:
        """Displacement per unknown, shape (cells, unknowns)."""
        length = b["length"]
        bend = length * np.sqrt(length / (b["youngs_modulus"] * b["second_moment"]))
        shear = np.sqrt(length / (b["shear_modulus_effective"] * b["area"]))
        axial = np.sqrt(length / (b["youngs_modulus"] * b["area"]))
        kind = np.repeat([0, 1, 2], [self.curvature, self.shear, self.axial])[self._order]
        return np.stack([bend, shear, axial], axis=1)[:, kind]


def _to_base(force: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Forces and moment at the tip, shape (cells, 3, m), as seen at the base of the link."""
    moved = force.copy()
    moved[:, 2] += length[:, None] * force[:, 1]
    return moved


def _turned(force: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Forces and moment in the frame of the link before, that this one is turned against by angle."""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    turned = np.empty_like(force)
    turned[:, 0] = c * force[:, 0] - s * force[:, 1]
    turned[:, 1] = s * force[:, 0] + c * force[:, 1]
    turned[:, 2] = force[:, 2]
    return turned
