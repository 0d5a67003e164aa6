"""An independent p-version finite-element model of a planar arm, in NumPy and SciPy alone.

It shares nothing with the engine: no wave numbers, no transfer or stiffness matrices of a
member, no frequency-dependent function at all. Each link is cut into elements and the *strains*
of each element are expanded in Legendre polynomials:

    curvature psi' = kappa(x),  shear strain v' - psi = gamma(x),  axial strain u' = epsilon(x),

plus the rotation phi of every torsional spring. A clamped chain is statically determinate, so
these strains are free of constraints, and all displacements follow from them by integration from
the base outwards. The strain energy is diagonal (Legendre polynomials are orthogonal); scaled to
the identity, the whole model is one matrix B whose rows are sqrt(mass) times displacement at
Gauss points and at the tip bodies, so that

    kinetic energy = omega^2 |B q|^2 / 2,   strain energy = |q|^2 / 2,

and the singular values of B are 1 / omega.

A theory is a choice of strains and rows: Rayleigh drops gamma, Euler-Bernoulli also the rows of
the rotary inertia, bending-only also epsilon (links axially rigid). Nothing locks, no stiffness
is inverted, and a frequency loses only eps * omega_k / omega_1, where an eigensolver on (K, M)
would lose eps * (omega_max / omega_1)^2. The strains form a Ritz basis: frequencies converge from
above.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.polynomial import legendre

THEORIES = ("timoshenko", "rayleigh", "euler_bernoulli", "bending_only")


@dataclass(frozen=True)
class FELink:
    """One link in SI units, in the letters of the oracle's file; kT = inf is a rigid joint."""

    L: float
    E: float
    I: float  # noqa: E741
    A: float
    rho: float
    kG: float
    M: float
    J: float
    theta: float
    kT: float


@dataclass(frozen=True)
class Case:
    """An arm (links from the base outwards) together with the theory it is computed by."""

    links: tuple[FELink, ...]
    model: str

    def __post_init__(self) -> None:
        if self.model not in THEORIES:
            raise ValueError(f"model is {self.model!r}, expected one of {THEORIES}")


def case_from_dict(entry: Mapping[str, Any]) -> Case:
    """A case from an entry of ``data/cases_public.json`` (null joint stiffness = rigid)."""
    links = []
    for link in entry["links"]:
        values = {key: np.inf if value is None else float(value) for key, value in link.items()}
        links.append(FELink(**values))
    return Case(tuple(links), entry["model"])


def case_from_arm(arm: Any, model: str) -> Case:
    """A case from a jaxmodal Arm; only its house (section properties) is used, no numerics."""
    from jaxmodal.arm import beam_arrays

    beams = beam_arrays(arm)
    names = {
        "L": "length",
        "E": "youngs_modulus",
        "I": "second_moment",
        "A": "area",
        "rho": "density",
        "kG": "shear_modulus_effective",
        "M": "tip_mass",
        "J": "tip_inertia",
        "theta": "joint_angle",
        "kT": "joint_stiffness",
    }
    columns = {key: np.asarray(getattr(beams, name)) for key, name in names.items()}
    count = len(columns["L"])
    links = tuple(FELink(**{k: float(c[i]) for k, c in columns.items()}) for i in range(count))
    return Case(links, model)


def _antiderivatives(degree: int, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and second antiderivatives from -1 of P_0 ... P_degree, (points, degree + 1)."""
    identity = np.eye(degree + 1)
    once = legendre.legval(points, legendre.legint(identity, m=1, lbnd=-1.0, axis=0)).T
    twice = legendre.legval(points, legendre.legint(identity, m=2, lbnd=-1.0, axis=0)).T
    return once, twice


def _element_fields(link: FELink, length: float, model: str, degree: int, points: np.ndarray):
    """Fields (u, v, psi) of one element relative to its base per unit-energy strain coefficient."""
    once, twice = _antiderivatives(degree, points)
    order = np.arange(degree + 1)
    zero = np.zeros_like(once)
    scale = np.sqrt(2 * order + 1.0)
    half = length / 2
    bend = scale / np.sqrt(link.E * link.I * length)
    u, v, psi = [zero], [half**2 * twice * bend], [half * once * bend]
    if model == "timoshenko":
        shear = scale / np.sqrt(link.kG * link.A * length)
        u, v, psi = [*u, zero], [*v, half * once * shear], [*psi, zero]
    if model != "bending_only":
        axial = scale / np.sqrt(link.E * link.A * length)
        u, v, psi = [*u, half * once * axial], [*v, zero], [*psi, zero]
    return np.hstack(u), np.hstack(v), np.hstack(psi)


def mass_factor(case: Case, degree: int = 16, elements: int | Sequence[int] = 1) -> np.ndarray:
    """The matrix B: kinetic energy omega^2 |B q|^2 / 2 for strain energy |q|^2 / 2.

    ``degree`` is that of the strain polynomials in each element, ``elements`` the number of
    equal elements per link (one number, or one per link).
    """
    cuts = [elements] * len(case.links) if isinstance(elements, int) else list(elements)
    per_strain = {"timoshenko": 3, "bending_only": 1}.get(case.model, 2) * (degree + 1)
    springs = sum(bool(np.isfinite(link.kT)) for link in case.links)
    columns = springs + per_strain * sum(cuts)
    points, weights = legendre.leggauss(degree + 4)
    stations = np.append(points, 1.0)
    rotary = case.model in ("timoshenko", "rayleigh")
    rows: list[np.ndarray] = []
    u0 = np.zeros(columns)
    v0, psi0 = u0.copy(), u0.copy()
    column = 0
    for link, pieces in zip(case.links, cuts, strict=True):
        s, c = np.sin(link.theta), np.cos(link.theta)
        u0, v0 = c * u0 + s * v0, -s * u0 + c * v0
        if np.isfinite(link.kT):
            psi0 = psi0.copy()
            psi0[column] += 1 / np.sqrt(link.kT)
            column += 1
        length = link.L / pieces
        x = (stations + 1) * length / 2
        local_u, local_v, local_psi = _element_fields(link, length, case.model, degree, stations)
        mass = weights * length / 2 * link.rho
        for _ in range(pieces):
            block = slice(column, column + per_strain)
            u = np.tile(u0, (len(x), 1))
            v = v0 + x[:, None] * psi0
            psi = np.tile(psi0, (len(x), 1))
            u[:, block] += local_u
            v[:, block] += local_v
            psi[:, block] += local_psi
            rows += [np.sqrt(mass * link.A)[:, None] * field[:-1] for field in (u, v)]
            if rotary:
                rows.append(np.sqrt(mass * link.I)[:, None] * psi[:-1])
            u0, v0, psi0 = u[-1], v[-1], psi[-1]
            column += per_strain
        if link.M > 0:
            rows += [np.sqrt(link.M) * u0[None], np.sqrt(link.M) * v0[None]]
        if link.J > 0:
            rows.append(np.sqrt(link.J) * psi0[None])
    return np.vstack(rows)


def frequencies(
    case: Case, num_modes: int, degree: int = 16, elements: int | Sequence[int] = 1
) -> np.ndarray:
    """The lowest natural frequencies in rad/s, ascending, repeated by multiplicity."""
    factor = mass_factor(case, degree, elements)
    singular = scipy.linalg.svdvals(_graded(factor))
    return 1 / singular[:num_modes]


def _graded(factor: np.ndarray) -> np.ndarray:
    """A triangle with the same singular values, large rows first.

    The columns of B span many orders of magnitude (a soft joint beside a stiff link). Two
    pivoted QR steps order and grade the triangle, after which the small singular values keep
    their digits relative to themselves rather than to the largest one.
    """
    triangle = scipy.linalg.qr(factor, mode="r", pivoting=True)[0][: factor.shape[1]]
    return scipy.linalg.qr(triangle.T, mode="r", pivoting=True)[0]


def count_below(
    case: Case, omega: float, degree: int = 16, elements: int | Sequence[int] = 1
) -> int:
    """Sturm count: natural frequencies below omega [rad/s], by the inertia of an LDL^T.

    The negative eigenvalues of the stiffness minus omega^2 times the mass, I - omega^2 B^T B,
    counted on the pivots of a Bunch-Kaufman factorisation (Sylvester's law); no eigenvalue of
    the pencil is computed.
    """
    factor = mass_factor(case, degree, elements)
    pencil = np.eye(factor.shape[1]) - omega**2 * (factor.T @ factor)
    _, blocks, _ = scipy.linalg.ldl(pencil)
    return int(np.sum(scipy.linalg.eigvalsh_tridiagonal(np.diag(blocks), np.diag(blocks, 1)) < 0))
