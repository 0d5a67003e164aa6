"""Eigenfunctions of one beam, clamped at its base, with a rigid body at its end.

De Luca and Siciliano (1991), eqs (14)-(22). All lengths are in units of the beam length: xi = x/l in [0, 1].
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from jaxmodal.arm.arguments import finite
from jaxmodal.eigenspaces.modal_mass import quadrature
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError


@dataclasses.dataclass(frozen=True)
class EndBody:
    """Rigid body at the end of a beam, for small motion.

    Attributes
    ----------
    mass
        Mass M_L of everything beyond the end, kg.
    inertia
        Moment of inertia J_L about the end, kg m^2.
    first_moment
        First moment (MD) along the axis of the beam, kg m: mass times the distance of its centre beyond the end.
    """

    mass: float = 0.0
    inertia: float = 0.0
    first_moment: float = 0.0

    def __post_init__(self) -> None:
        for name in ("mass", "inertia"):
            value = getattr(self, name)
            if not 0.0 <= finite(name, value, (), "finite and 0 or more") < np.inf:
                raise ArmError(
                    f"{name} = {value!r}: must be finite and 0 or more; 0 is an end without a body."
                )
        finite("first_moment", self.first_moment, (), "finite; 0 is a body centred on the end")
        excess = self.first_moment * self.first_moment - self.mass * self.inertia
        if excess > 1e-12 * self.mass * self.inertia:
            raise ArmError(
                f"first_moment = {self.first_moment!r}: its square must be at most mass times inertia, "
                f"{self.mass * self.inertia!r}, as it is for every rigid body; check the inertia, which is about "
                "the end of the beam and not about the centre of gravity."
            )


def basis(wave: Any, xi: Any) -> tuple[list[Any], list[Any]]:
    """Return two functions with phi(0) = phi'(0) = 0 and their first three derivatives with respect to xi.

    The first function decays from the base. The second grows towards the end and is scaled by its value there. So
    neither overflows nor loses digits for large wave numbers. They span the same functions as sin, cos, sinh and cosh
    under the base conditions, eqs (19), (20).

    Parameters
    ----------
    wave, xi
        Wave number beta l and position x/l, numbers or arrays that broadcast.
    """
    z = wave * xi
    sine, cosine = np.sin(z), np.cos(z)
    falling, rising = np.exp(-z), np.exp(z - wave)
    small = np.exp(-wave)
    first = [
        cosine - sine - falling,
        -sine - cosine + falling,
        -cosine + sine - falling,
        sine + cosine + falling,
    ]
    second = [
        rising - small * (cosine + sine),
        rising - small * (cosine - sine),
        rising + small * (cosine + sine),
        rising + small * (cosine - sine),
    ]
    return (
        [wave**k * value for k, value in enumerate(first)],
        [wave**k * value for k, value in enumerate(second)],
    )


def end_conditions(wave: Any, mass: Any, inertia: Any, moment: Any) -> Any:
    """Return the matrix F of eq (21) at a wave number, shape (..., 2, 2).

    Parameters
    ----------
    wave
        Wave number beta l.
    mass, inertia, moment
        M/(rho l), J/(rho l^3) and (MD)/(rho l^2) of the body at the end.

    Notes
    -----
    Eq (16) with omega^2 = beta^4 EI/rho: phi'' = wave^4 (J phi' + MD phi), phi''' = -wave^4 (M phi + MD phi').
    Each row is divided by the largest power of the wave number that it can contain.
    """
    columns = []
    for phi, slope, curvature, third in basis(wave, 1.0):
        bending = curvature - wave**4 * (inertia * slope + moment * phi)
        shearing = third + wave**4 * (mass * phi + moment * slope)
        columns.append(np.stack([bending / wave**2, shearing / wave**3], axis=-1))
    return np.stack(columns, axis=-1)


def wave_numbers(mass: float, inertia: float, moment: float, count: int) -> Floats:
    """Return the first roots beta l of the frequency equation det F = 0, ascending, shape (count,).

    Notes
    -----
    The Rayleigh-Ritz method with polynomials whose curvatures are Legendre polynomials gives one estimate for each
    root. A bisection of the determinant next to each estimate refines it to rounding; a sign change there is required.
    """
    size = 2 * count + 16
    nodes, weights = quadrature(2 * size + 8)
    phi, _, _ = clamped_polynomials(nodes, size)
    inertia_matrix = (phi * weights[:, None]).T @ phi
    end, end_slope, _ = clamped_polynomials(np.ones(1), size)
    body = np.array([[mass, moment], [moment, inertia]])
    motion = np.concatenate([end, end_slope])
    inertia_matrix += motion.T @ body @ motion
    values = np.linalg.eigvalsh(inertia_matrix)[::-1][:count]  # curvatures are orthonormal
    guesses = np.sqrt(np.sqrt(1.0 / values))
    return np.array([_polished(guess, mass, inertia, moment) for guess in guesses])


def _polished(guess: float, mass: float, inertia: float, moment: float) -> float:
    def value(wave: float) -> float:
        return float(np.linalg.det(end_conditions(wave, mass, inertia, moment)))

    for width in (1e-9, 1e-7, 1e-5):
        low, high = guess * (1.0 - width), guess * (1.0 + width)
        if value(low) * value(high) < 0.0:
            break
    else:
        raise ArmError(
            f"the frequency equation has no root near beta l = {guess!r} for a body of {mass!r}, {inertia!r}, "
            f"{moment!r} times the link's mass, mass l^2 and mass l; give a body closer to the link's own values."
        )
    sign = np.sign(value(low))
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.sign(value(middle)) == sign else (low, middle)
    return 0.5 * (low + high)


def clamped_polynomials(xi: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """Return polynomials from xi^2 upwards, their slopes, and their curvatures, which are orthonormal on [0, 1].

    Returns
    -------
    tuple of arrays, each of shape (len(xi), count)
        phi, phi' and phi'' with respect to xi; phi and phi' vanish at 0. The polynomials span xi^2 .. xi^(count + 1).
    """
    if count == 0:
        none = np.zeros((len(xi), 0))
        return none, none, none
    t = 2.0 * xi - 1.0
    curvature: Floats = np.diag(
        np.sqrt(2.0 * np.arange(count) + 1.0)
    )  # a column of coefficients each
    slope = legendre.legint(curvature, lbnd=-1.0, scl=0.5)
    phi = legendre.legint(slope, lbnd=-1.0, scl=0.5)
    values: list[Any] = [legendre.legval(t, table).T for table in (phi, slope, curvature)]
    return values[0], values[1], values[2]
