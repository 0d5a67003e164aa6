"""Shape integrals of a uniform link with clamped-mass shapes, in closed form.

The shapes satisfy phi'''' = beta^4 phi in xi = x/l, so that integration by parts reduces every integral of products of
shapes or slopes to values at the ends. By eqs (19), (20) of De Luca and Siciliano (1991) a shape is

phi(xi) = c (cos beta xi - cosh beta xi + sigma (sin beta xi - sinh beta xi)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.arm.arguments import whole
from jaxmodal.arm.arm import Arm
from jaxmodal.dynamics.assembly.flexible_arms import link_shapes
from jaxmodal.dynamics.assembly.links import end_bodies, jointed_links
from jaxmodal.dynamics.frequency_equation import wave_numbers
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError
from jaxmodal.symbolic.sympy_form import package_of


def closed_form_integrals(link: int, modes: int) -> dict[str, Any]:
    """Return the shape integrals of one link as SymPy expressions, by their names in written equations.

    Parameters
    ----------
    link
        Number of the link, from 1.
    modes
        Number of its clamped-mass (or clamped-free) shapes.

    Returns
    -------
    dict of str to sympy.Expr
        ``phi``, ``dphi`` (deflection and slope at the end), ``Gamma``, ``v``, ``w``, ``z`` and ``k``, such as
        ``z_1_1_2``. Their symbols are ``rho`` (mass per length, kg/m), ``l`` (m), ``EI`` (N m^2), ``M`` (mass at the
        end that moves with the link: body, stator or payload, kg), and for each shape ``beta`` (wave number times l),
        ``sigma`` and ``c``, followed by the numbers of the link and of the shape. Hubs do not contribute.

    Raises
    ------
    ArmError
        If a number is not allowed.
    ImportError
        If SymPy is not installed.

    Notes
    -----
    For two shapes with different wave numbers the integral of their product is the difference of phi_j''' phi_k -
    phi_j'' phi_k' + phi_j' phi_k'' - phi_j phi_k''' between the ends, over beta_j^4 - beta_k^4; for one shape,
    Rayleigh's formula holds. Slopes satisfy the same equation. Integrals with Gamma in the integrand (gamma, lambda,
    mu) remain numbers.

    Examples
    --------
    >>> from jaxmodal.symbolic import closed_form_integrals
    >>> forms = closed_form_integrals(1, 2)
    >>> sorted(str(symbol) for symbol in forms["v_1_2"].free_symbols)
    ['M_1', 'beta_1_2', 'c_1_2', 'l_1', 'rho_1', 'sigma_1_2']
    """
    number = whole("link", link, 1, limits.COORDINATES)
    count = whole("modes", modes, 0, limits.LINK_MODES)
    sympy = package_of("sympy")
    rho, length, bending, mass = (
        sympy.Symbol(f"{name}_{number}", positive=True) for name in ("rho", "l", "EI", "M")
    )
    shapes = [_Shape(sympy, number, j) for j in range(1, count + 1)]
    forms: dict[str, Any] = {}
    for j, one in enumerate(shapes, start=1):
        forms[f"phi_{number}_{j}"] = one.end[0]
        forms[f"dphi_{number}_{j}"] = one.end[1] / length
        fourth = one.beta**4
        whole_area = (one.end[3] - one.base[3]) / fourth
        moment = (one.end[3] - one.end[2] + one.base[2]) / fourth
        forms[f"v_{number}_{j}"] = rho * length * whole_area + mass * one.end[0]
        forms[f"w_{number}_{j}"] = rho * length**2 * moment + mass * length * one.end[0]
        for k, other in enumerate(shapes[j - 1 :], start=j):
            index = f"{number}_{j}_{k}"
            product = _product(one, other, 0)
            forms[f"z_{index}"] = rho * length * product + mass * one.end[0] * other.end[0]
            jump = one.end[2] * other.end[1] - one.end[3] * other.end[0]
            forms[f"k_{index}"] = bending / length**3 * (jump + fourth * product)
            forms[f"Gamma_{index}"] = _product(one, other, 1) / length
    return forms


def closed_form_values(arm: Arm, modes: int) -> dict[str, float]:
    """Return the values of the symbols of `closed_form_integrals` for the clamped-mass shapes of an arm.

    Parameters
    ----------
    arm
        The arm; each link between joints must be one uniform flexible piece.
    modes
        Number of shapes of every link.

    Returns
    -------
    dict of str to float
        rho, l, EI, M, and beta, sigma and c of every shape, by name.

    Raises
    ------
    ArmError
        If a link is rigid, has several pieces or a support; also as for `jaxmodal.dynamics.link_shapes`.
    """
    count = whole("modes", modes, 1, limits.LINK_MODES)
    links = jointed_links(arm)
    found: dict[str, float] = {}
    made = zip(links, link_shapes(arm, count), end_bodies(arm), strict=True)
    for n, (link, shape, end) in enumerate(made, start=1):
        if link.rigid or len(link.pieces) > 1:
            raise ArmError(
                f"arm: link {n} between joints {'is rigid' if link.rigid else 'has several pieces'}; closed forms need "
                "one uniform piece that bends: take the numbers of written_equations."
            )
        (piece,) = link.pieces
        if piece.supports:
            raise ArmError(
                f"arm: link {n} between joints stands on a support, and closed forms know none; leave "
                f"{piece.supports[0][0]} out."
            )
        length, mass = float(piece.length), float(link.mass)
        beyond = links[n].joint.stator if n < len(links) else arm.payload
        found |= {f"rho_{n}": mass / length, f"l_{n}": length, f"EI_{n}": float(piece.bending)}
        found[f"M_{n}"] = float(piece.body_mass) + float(0.0 if beyond is None else beyond.mass)
        waves = wave_numbers(end.mass / mass, end.inertia / (mass * length**2), 0.0, count)
        tip = shape.evaluate(np.ones(1))[0][0]
        scale = -shape.evaluate(np.zeros(1))[2][0] / (2.0 * waves**2)
        even, odd = np.cos(waves) - np.cosh(waves), np.sin(waves) - np.sinh(waves)
        for name, values in (
            ("beta", waves),
            ("sigma", (tip / scale - even) / odd),
            ("c", scale),
        ):
            found |= {f"{name}_{n}_{j}": float(value) for j, value in enumerate(values, start=1)}
    return found


class _Shape:
    """Derivatives of order 0 to 4 in xi of a shape, at the end and at the base."""

    def __init__(self, sympy: Any, link: int, j: int) -> None:
        self.beta = sympy.Symbol(f"beta_{link}_{j}", positive=True)
        sigma, scale = (sympy.Symbol(f"{name}_{link}_{j}", real=True) for name in ("sigma", "c"))
        beta = self.beta
        cosine, sine = sympy.cos(beta), sympy.sin(beta)
        cosh, sinh = sympy.cosh(beta), sympy.sinh(beta)
        self.end = [
            scale * (cosine - cosh + sigma * (sine - sinh)),
            scale * beta * (-sine - sinh + sigma * (cosine - cosh)),
            scale * beta**2 * (-cosine - cosh - sigma * (sine + sinh)),
            scale * beta**3 * (sine - sinh - sigma * (cosine + cosh)),
        ]
        self.base = [0, 0, -2 * scale * beta**2, -2 * scale * beta**3 * sigma]
        self.end.append(beta**4 * self.end[0])
        self.base.append(0)


def _product(one: _Shape, other: _Shape, order: int) -> Any:
    """Return the integral over xi of the product of two shapes (order 0) or of their slopes (order 1)."""

    def jump(first: list[Any], second: list[Any]) -> Any:
        a, b = first[order : order + 4], second[order : order + 4]
        return a[3] * b[0] - a[2] * b[1] + a[1] * b[2] - a[0] * b[3]

    if one is not other:
        difference = jump(one.end, other.end) - jump(one.base, other.base)
        return difference / (one.beta**4 - other.beta**4)

    def rayleigh(values: list[Any], xi: int) -> Any:
        a = values[order : order + 4]
        inner = 3 * a[0] * a[3] - 2 * xi * a[1] * a[3] - a[1] * a[2] + xi * a[2] ** 2
        return xi * a[0] ** 2 + inner / one.beta**4

    return (rayleigh(one.end, 1) - rayleigh(one.base, 0)) / 4
