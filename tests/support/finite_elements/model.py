"""A whole arm: the matrix B of its masses, its supports and its geometric stiffness, from the base outwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .cases import Case
from .links import TAPER, element_fields, quadrature
from .supports import base_strains, hinges


def mass_factor(
    case: Case,
    degree: int = 16,
    elements: int | Sequence[int] = 1,
    tips: list[tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None,
) -> np.ndarray:
    """The matrix B: kinetic energy omega^2 |B q|^2 / 2 for strain energy |q|^2 / 2.

    ``degree`` is that of the strain polynomials in each element, ``elements`` the number of
    equal elements per link (one number, or one per link). The first columns are the free joints
    (stiffness 0), which have no strain energy; then come, link by link, its springs (kx, ky, kT) and
    its strains. ``tips`` receives the motion (u, v, psi) of each tip in its link's axes.
    """
    return assembled(case, degree, elements, tips).factor


@dataclass(frozen=True)
class Model:
    """B; what strains move supports by, times the root of their stiffness; what they move rigid ones by.

    And the geometric stiffness, None without forces at rest.
    """

    factor: np.ndarray
    sprung: np.ndarray
    still: np.ndarray
    geometric: np.ndarray | None


def assembled(
    case: Case,
    degree: int,
    elements: int | Sequence[int],
    tips: list[tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None,
) -> Model:
    cuts = [elements] * len(case.links) if isinstance(elements, int) else list(elements)
    cuts = [
        1 if link.rigid or link.taper else pieces
        for link, pieces in zip(case.links, cuts, strict=True)
    ]
    per_strain = {"timoshenko": 3, "bending_only": 1}.get(case.model, 2) * (degree + 1)
    springs = sum(bool(np.isfinite(k)) for link in case.links for k in (link.kT, link.kx, link.ky))
    of_base = base_strains(case)
    springs += len(of_base)
    elastic = sum(p for link, p in zip(case.links, cuts, strict=True) if not link.rigid)
    columns = springs + per_strain * elastic
    tapered = any(link.taper is not None for link in case.links)
    number = degree + (TAPER if tapered else 4)
    points, weights = quadrature(number)
    stations = np.append(points, 1.0)
    rotary = case.model in ("timoshenko", "rayleigh")
    rows: list[np.ndarray] = []
    sprung: list[np.ndarray] = []
    still: list[np.ndarray] = []
    turned = 0.0
    u0 = np.zeros(columns)
    v0, psi0 = u0.copy(), u0.copy()
    hinge, column = 0, hinges(case)
    for motion, loose in of_base:
        at = hinge if loose else column
        for field, amount in zip((u0, v0, psi0), motion, strict=True):
            field[at] = amount
        hinge, column = (hinge + 1, column) if loose else (hinge, column + 1)
    loaded = any(any(link.axial + link.turning) for link in case.links)
    geometric = np.zeros((columns, columns)) if loaded else None

    def body(mass: float, inertia: float, x: float = 0.0, y: float = 0.0) -> None:
        if mass > 0:
            rows.extend(np.sqrt(mass) * f[None] for f in (u0 - y * psi0, v0 + x * psi0))
        if inertia > 0:
            rows.append(np.sqrt(inertia) * psi0[None])

    for link, pieces in zip(case.links, cuts, strict=True):
        s, c = np.sin(link.theta), np.cos(link.theta)
        turned += link.theta
        u0, v0 = c * u0 + s * v0, -s * u0 + c * v0
        before = psi0
        body(*link.stator)
        u0, v0, psi0 = u0.copy(), v0.copy(), psi0.copy()
        for field, stiffness in ((u0, link.kx), (v0, link.ky), (psi0, link.kT)):
            if stiffness == 0.0:
                field[hinge] += 1.0
                hinge += 1
            elif np.isfinite(stiffness):
                field[column] += 1 / np.sqrt(stiffness)
                column += 1
        inertia, ratio = link.rotor
        if inertia > 0:
            rows.append(np.sqrt(inertia) * (before + ratio * (psi0 - before))[None])
        body(*link.hub)
        if geometric is not None:
            geometric += link.turning[0] * np.outer(psi0, psi0)
        u0, v0 = u0 - link.base[1] * psi0, v0 + link.base[0] * psi0
        length = link.L / pieces
        x = (stations + 1) * length / 2
        local_u, local_v, local_psi, local_slope = element_fields(
            link, length, case.model, degree, number
        )
        mass = weights * length / 2
        for piece in range(pieces):
            u = np.tile(u0, (len(x), 1))
            v = v0 + x[:, None] * psi0
            psi = np.tile(psi0, (len(x), 1))
            slope = psi.copy()
            if not link.rigid:
                block = slice(column, column + per_strain)
                u[:, block] += local_u
                v[:, block] += local_v
                psi[:, block] += local_psi
                slope[:, block] += local_slope
                column += per_strain
            whole = np.ones_like(mass)
            area, moment = link.A * whole, link.I * whole
            if link.taper is not None:
                area, moment = link.taper((points + 1) / 2)
            line = link.rho * area + link.q
            rows += [np.sqrt(mass * line)[:, None] * field[:-1] for field in (u, v)]
            if rotary:
                rows.append(np.sqrt(mass * link.rho * moment)[:, None] * psi[:-1])
            if geometric is not None:
                first, last = link.axial
                force = first + (last - first) * (piece * length + x[:-1]) / link.L
                geometric += slope[:-1].T @ ((mass * force)[:, None] * slope[:-1])
            u0, v0, psi0 = u[-1], v[-1], psi[-1]
        if geometric is not None:
            geometric += link.turning[1] * np.outer(psi0, psi0)
        u0, v0 = u0 - link.end[1] * psi0, v0 + link.end[0] * psi0
        if tips is not None:
            tips.append((u0, v0, psi0))
        body(link.M, link.J, *link.centre)
        body(*link.payload)
        c, s = np.cos(turned), np.sin(turned)
        for stiffness, row in zip(
            link.support, (c * u0 - s * v0, s * u0 + c * v0, psi0), strict=True
        ):
            if np.isinf(stiffness):
                still.append(row / np.linalg.norm(row))
            elif stiffness > 0:
                sprung.append(np.sqrt(stiffness) * row)
    nothing = np.zeros((0, columns))
    return Model(
        np.vstack(rows), np.vstack([nothing, *sprung]), np.vstack([nothing, *still]), geometric
    )
