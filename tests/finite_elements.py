"""An independent p-version finite-element model of a planar arm, in NumPy and SciPy alone.

It shares nothing with the engine: no wave numbers, no transfer or stiffness matrices of a
member, no frequency-dependent function at all. Each link is cut into elements and the *strains*
of each element are expanded in Legendre polynomials:

    curvature psi' = kappa(x),  shear strain v' - psi = gamma(x),  axial strain u' = epsilon(x),

plus the rotation phi of every torsional spring or hinge and the give of every spring along and
across a link, free where its stiffness is zero. A clamped chain is statically determinate, so
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

A support at a tip adds its own strain energy, of a displacement that follows from the strains; a rigid one is a linear
condition on them. An axial force N(x), linear along a link, adds N v'^2/2 per length, v' = psi + gamma, and what the
forces at rest resist a turn of its rigid ends with: a geometric stiffness of either sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.polynomial import legendre

THEORIES = ("timoshenko", "rayleigh", "euler_bernoulli", "bending_only")

TAPER = 40
"""Quadrature points and degrees more where sections change along a link: the expansions converge geometrically."""


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
    kx: float = np.inf
    ky: float = np.inf
    hub: tuple[float, float] = (0.0, 0.0)
    """Mass and inertia on the joint's axis beyond the springs."""
    stator: tuple[float, float] = (0.0, 0.0)
    """The same before the springs."""
    rotor: tuple[float, float] = (0.0, 1.0)
    """Inertia and gear ratio."""
    base: tuple[float, float] = (0.0, 0.0)
    end: tuple[float, float] = (0.0, 0.0)
    centre: tuple[float, float] = (0.0, 0.0)
    payload: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    """Mass, inertia about the centre of gravity, and where that lies."""
    q: float = 0.0
    """Non-structural mass per length."""
    rigid: bool = False
    support: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Stiffnesses from the tip to the ground, along its x and y axes and about the tip."""
    axial: tuple[float, float] = (0.0, 0.0)
    """Axial force at both ends of the link, tension positive, linear between."""
    turning: tuple[float, float] = (0.0, 0.0)
    """What the forces at rest resist a turn of the offset at the base and of the rigid parts at the tip with."""
    taper: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None
    """Area and second moment at shares 0 to 1 of the length, in place of A and I; one element."""


@dataclass(frozen=True)
class Case:
    """An arm (links from the base outwards) together with the theory it is computed by."""

    links: tuple[FELink, ...]
    model: str
    base: tuple[tuple[float, ...], ...] | None = None
    """Stiffness of an elastic base over x, y and rotation of the ground: inf on the diagonal is rigid, 0 free."""

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
    """A case from a jaxmodal Arm: its parameters, read one by one; no numerics of the library."""

    def value(record: Any, name: str, absent: float = 0.0) -> float:
        given = getattr(record, name)
        return absent if given is None else float(given)

    def pair(record: Any, *names: str) -> tuple[float, ...]:
        return tuple(value(record, name) for name in names)

    links = []
    for link in arm.links:
        last = link is arm.links[-1]
        body = pair(arm.payload, "mass", "inertia", "centre_x", "centre_y")
        force = value(link, "axial_force")
        links.append(
            FELink(
                L=float(link.length),
                E=float(link.youngs_modulus),
                I=float(link.second_moment),
                A=float(link.area),
                rho=float(link.density),
                kG=float(link.shear_modulus_effective),
                M=float(link.tip_mass),
                J=float(link.tip_inertia),
                theta=float(link.joint_angle),
                kT=float(link.joint_stiffness),
                kx=value(link, "joint_axial_stiffness", np.inf),
                ky=value(link, "joint_shear_stiffness", np.inf),
                hub=pair(link, "hub_mass", "hub_inertia"),
                stator=pair(link, "stator_mass", "stator_inertia"),
                rotor=(value(link, "rotor_inertia"), value(link, "gear_ratio", 1.0)),
                base=pair(link, "base_offset_x", "base_offset_y"),
                end=pair(link, "end_offset_x", "end_offset_y"),
                centre=pair(link, "tip_centre_x", "tip_centre_y"),
                payload=body if last else (0.0, 0.0, 0.0, 0.0),
                q=value(link, "nonstructural_mass"),
                rigid=link.rigid,
                support=pair(
                    link,
                    *("support_x_stiffness", "support_y_stiffness", "support_torsional_stiffness"),
                ),
                axial=(force, force),
                turning=(force * value(link, "base_offset_x"), force * value(link, "end_offset_x")),
            )
        )
    base = arm.base_stiffness
    rows = None if base is None else tuple(tuple(map(float, row)) for row in base.rows())
    return Case(tuple(links), model, rows)


def _antiderivatives(
    degree: int, points: np.ndarray, weight: Callable[[np.ndarray], np.ndarray] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """First and second antiderivatives from -1 of P_0 ... P_degree, (points, degree + 1).

    With a weight those of weight * P_n, from the expansion of that product to TAPER degrees more.
    """
    series = np.eye(degree + 1)
    if weight is not None:
        nodes, weights = legendre.leggauss(degree + TAPER)
        basis = legendre.legvander(nodes, degree + TAPER - 1)
        product = basis[:, : degree + 1] * (weights * weight(nodes))[:, None]
        series = (basis * (np.arange(degree + TAPER) + 0.5)).T @ product
    once = legendre.legval(points, legendre.legint(series, m=1, lbnd=-1.0, axis=0)).T
    twice = legendre.legval(points, legendre.legint(series, m=2, lbnd=-1.0, axis=0)).T
    return once, twice


def _element_fields(link: FELink, length: float, model: str, degree: int, points: np.ndarray):
    """Fields (u, v, psi, v') of one element relative to its base per unit-energy strain coefficient."""

    def along(part: int) -> tuple[np.ndarray, np.ndarray]:
        """Antiderivatives of the strains that A (0) or I (1) resists, over the root of its share."""
        taper, full = link.taper, (link.A, link.I)[part]
        if taper is None:
            return _antiderivatives(degree, points)
        return _antiderivatives(degree, points, lambda x: np.sqrt(full / taper((x + 1) / 2)[part]))

    once, twice = along(1)
    stretched, _ = along(0)
    order = np.arange(degree + 1)
    zero = np.zeros_like(once)
    scale = np.sqrt(2 * order + 1.0)
    half = length / 2
    bend = scale / np.sqrt(link.E * link.I * length)
    u, v, psi = [zero], [half**2 * twice * bend], [half * once * bend]
    slope = [*psi]
    if model == "timoshenko":
        shear = scale / np.sqrt(link.kG * link.A * length)
        u, v, psi = [*u, zero], [*v, half * stretched * shear], [*psi, zero]
        slope = [*slope, legendre.legvander(points, degree) * shear]
    if model != "bending_only":
        axial = scale / np.sqrt(link.E * link.A * length)
        u, v, psi = [*u, half * stretched * axial], [*v, zero], [*psi, zero]
        slope = [*slope, zero]
    return np.hstack(u), np.hstack(v), np.hstack(psi), np.hstack(slope)


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
    return _model(case, degree, elements, tips).factor


@dataclass(frozen=True)
class _Model:
    """B; what strains move supports by, times the root of their stiffness; what they move rigid ones by.

    And the geometric stiffness, None without forces at rest.
    """

    factor: np.ndarray
    sprung: np.ndarray
    still: np.ndarray
    geometric: np.ndarray | None


def _model(
    case: Case,
    degree: int,
    elements: int | Sequence[int],
    tips: list[tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None,
) -> _Model:
    cuts = [elements] * len(case.links) if isinstance(elements, int) else list(elements)
    cuts = [
        1 if link.rigid or link.taper else pieces
        for link, pieces in zip(case.links, cuts, strict=True)
    ]
    per_strain = {"timoshenko": 3, "bending_only": 1}.get(case.model, 2) * (degree + 1)
    springs = sum(bool(np.isfinite(k)) for link in case.links for k in (link.kT, link.kx, link.ky))
    of_base = _base_strains(case)
    springs += len(of_base)
    elastic = sum(p for link, p in zip(case.links, cuts, strict=True) if not link.rigid)
    columns = springs + per_strain * elastic
    tapered = any(link.taper is not None for link in case.links)
    points, weights = legendre.leggauss(degree + (TAPER if tapered else 4))
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
        local_u, local_v, local_psi, local_slope = _element_fields(
            link, length, case.model, degree, stations
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
    return _Model(
        np.vstack(rows), np.vstack([nothing, *sprung]), np.vstack([nothing, *still]), geometric
    )


def hinges(case: Case) -> int:
    """Free joints, each of which adds a mode of zero frequency where no support hinders it."""
    of_joints = sum(k == 0.0 for link in case.links for k in (link.kT, link.kx, link.ky))
    return of_joints + sum(loose for _, loose in _base_strains(case))


def _base_strains(case: Case) -> list[tuple[np.ndarray, bool]]:
    """Motions (x, y, rotation) of the base of unit strain energy each, and those that it is free to make (True)."""
    if case.base is None:
        return []
    matrix = np.array(case.base)
    own = np.diag(matrix)
    sprung = np.flatnonzero((own > 0.0) & np.isfinite(own))
    found = [(np.eye(3)[k], True) for k in np.flatnonzero(own == 0.0)]
    factor = np.zeros((3, sprung.size))
    factor[sprung] = (
        scipy.linalg.cholesky(np.linalg.inv(matrix[np.ix_(sprung, sprung)]), lower=True)
        if sprung.size
        else factor[sprung]
    )
    return found + [(column, False) for column in factor.T]


def frequencies(
    case: Case, num_modes: int, degree: int = 16, elements: int | Sequence[int] = 1
) -> np.ndarray:
    """The lowest natural frequencies in rad/s, ascending, repeated by multiplicity."""
    model = _model(case, degree, elements)
    factor, sprung, still = model.factor, model.sprung, model.still
    if model.geometric is not None:
        return _loaded_frequencies(case, model)[:num_modes]
    free = hinges(case)
    if sprung.size or still.size:
        factor, free = _supported(factor, free, sprung, still)
    if free:  # the strained motions, each with the free ones that make its momenta vanish
        loose = scipy.linalg.qr(factor[:, :free], mode="economic")[0]
        factor = factor[:, free:]
        for _ in range(2):
            factor = factor - loose @ (loose.T @ factor)
    singular = scipy.linalg.svdvals(_graded(factor))
    return np.append(np.zeros(free), 1 / singular[: max(num_modes - free, 0)])[:num_modes]


def stiffness(case: Case, degree: int = 16, elements: int | Sequence[int] = 1) -> np.ndarray:
    """The stiffness over the strains that rigid supports allow: elastic, of supports, and geometric."""
    return _pencil(case, _model(case, degree, elements))[0]


def tip_receptance(
    case: Case, omega: float, damped: complex, degree: int = 16, elements: int | Sequence[int] = 1
) -> np.ndarray:
    """Motions (u, v, psi) of the last tip in its link's axes for unit forces there, complex, (3, 3).

    ``damped`` multiplies the elastic stiffness, as 1 + i eta of a loss factor that all links and springs have; forces
    at rest and supports are as they are.
    """
    tips: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    model = _model(case, degree, elements, tips)
    rows = np.stack(tips[-1])
    free, columns = hinges(case), model.factor.shape[1]
    full = np.diag(damped * np.append(np.zeros(free), np.ones(columns - free)))
    full = full + model.sprung.T @ model.sprung - omega**2 * model.factor.T @ model.factor
    if model.geometric is not None:
        full = full + model.geometric
    return rows @ np.linalg.solve(full, rows.T)


def _pencil(case: Case, model: _Model) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and B over the strains that rigid supports allow."""
    free, columns = hinges(case), model.factor.shape[1]
    elastic = np.append(np.zeros(free), np.ones(columns - free))
    full = np.diag(elastic) + model.sprung.T @ model.sprung
    if model.geometric is not None:
        full = full + model.geometric
    if not model.still.size:
        return full, model.factor
    allowed = scipy.linalg.null_space(model.still, rcond=1e-13)
    return allowed.T @ full @ allowed, model.factor @ allowed


def _loaded_frequencies(case: Case, model: _Model) -> np.ndarray:
    """All frequencies of an arm that its load does not buckle: 1 over the singular values of B R^-1, K = R^T R."""
    full, factor = _pencil(case, model)
    triangle = scipy.linalg.cholesky(full)
    moved = scipy.linalg.solve_triangular(triangle, factor.T, trans=1).T
    return 1 / scipy.linalg.svdvals(_graded(moved))


def _supported(
    factor: np.ndarray, free: int, sprung: np.ndarray, still: np.ndarray
) -> tuple[np.ndarray, int]:
    """B in coordinates of unit strain energy with supports, after the motions that these leave without any."""
    strain = np.vstack([np.eye(factor.shape[1])[free:], sprung])
    if still.size:
        allowed = scipy.linalg.null_space(still, rcond=1e-13)
        factor, strain = factor @ allowed, strain @ allowed
    sizes = np.linalg.norm(factor, axis=0)
    factor, strain = factor / sizes, strain / sizes
    # rows of stiff springs first, or their rounding would hide the soft ones
    order = np.argsort(-np.max(np.abs(strain), axis=1))
    triangle, places = scipy.linalg.qr(strain[order], mode="r", pivoting=True)
    size = np.abs(np.diag(triangle))
    held = int(np.sum(size > 1e-13 * size[0]))
    factor = factor[:, places]
    within = scipy.linalg.solve_triangular(triangle[:held, :held], triangle[:held, held:])
    moved = factor[:, held:] - factor[:, :held] @ within
    bent = scipy.linalg.solve_triangular(triangle[:held, :held], factor[:, :held].T, trans=1).T
    return np.hstack([moved, bent]), moved.shape[1]


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
    return counts_below(case, [omega], degree, elements)[0]


def counts_below(
    case: Case, omega: Sequence[float], degree: int = 16, elements: int | Sequence[int] = 1
) -> list[int]:
    """`count_below` at several frequencies, of one assembly."""
    full, factor = _pencil(case, _model(case, degree, elements))
    mass = factor.T @ factor
    return [_negative(full - x**2 * mass) for x in omega]


def _negative(pencil: np.ndarray) -> int:
    """Negative eigenvalues, on the pivots."""
    _, blocks, _ = scipy.linalg.ldl(pencil)
    return int(np.sum(scipy.linalg.eigvalsh_tridiagonal(np.diag(blocks), np.diag(blocks, 1)) < 0))
