"""Cowper's shear coefficient from its definition, by solving Saint-Venant's flexure problem.

Cowper (1966) defines the coefficient of a symmetric section, bent in the direction of x, as

    K = 2 (1 + nu) Iy / [ nu (Ix - Iy)/2 - (A/Iy) integral of x (chi + x y^2) dA ],

Iy the integral of x^2 and Ix that of y^2, with the harmonic flexure function chi, whose normal
derivative on the boundary is that of -(nu x^2/2 + (1 - nu/2) y^2, (2 + nu) x y). Here chi comes
from a Galerkin solution with spectral elements on the quarter x, y >= 0 of the section: chi is
odd in x and even in y. Nothing in it knows the closed formulas that it is held against.
"""

import numpy as np
from numpy.polynomial import legendre


def straight(u, v):
    """Identity map: position, then its derivatives (x_u, x_v, y_u, y_v)."""
    one, zero = np.ones_like(u), np.zeros_like(u)
    return u, v, one, zero, zero, one


def polar(radius, angle):
    """Polar map, x along angle 0."""
    c, s = np.cos(angle), np.sin(angle)
    return radius * c, radius * s, c, -radius * s, s, radius * c


def box_quarter(depth, width, wall):
    """Elements of a quarter of a box on its outer dimensions: web, corner, flange."""
    x1, x0, y1, y0 = depth / 2, depth / 2 - wall, width / 2, width / 2 - wall
    return [(0.0, x0, y0, y1), (x0, x1, y0, y1), (x0, x1, 0.0, y0)]


def shear_coefficient(elements, poisson_ratio, mapping=straight, degree=10):
    """Return K of the section whose quarter the elements (u0, u1, v0, v1) fill."""
    nu = poisson_ratio
    inner = np.sort(legendre.Legendre.basis(degree).deriv().roots().real)
    nodes = np.concatenate([[-1.0], inner, [1.0]])
    points, weights = legendre.leggauss(degree + 2)
    inverse = np.linalg.inv(legendre.legvander(nodes, degree))
    values = legendre.legvander(points, degree) @ inverse
    slopes = legendre.legval(points, legendre.legder(np.eye(degree + 1))).T @ inverse

    number = {}
    quadrature = []
    for u0, u1, v0, v1 in elements:
        us, vs = (u0 + (nodes + 1) / 2 * (u1 - u0), v0 + (nodes + 1) / 2 * (v1 - v0))
        ids = [number.setdefault((round(u, 9), round(v, 9)), len(number)) for u in us for v in vs]
        grid = np.meshgrid(
            u0 + (points + 1) / 2 * (u1 - u0), v0 + (points + 1) / 2 * (v1 - v0), indexing="ij"
        )
        x, y, x_u, x_v, y_u, y_v = (a.reshape(-1, 1) for a in mapping(*grid))
        jacobian = x_u * y_v - x_v * y_u
        d_u = np.kron(slopes * 2 / (u1 - u0), values)
        d_v = np.kron(values, slopes * 2 / (v1 - v0))
        d_x = (y_v * d_u - y_u * d_v) / jacobian
        d_y = (x_u * d_v - x_v * d_u) / jacobian
        area = np.outer(weights, weights).reshape(-1, 1) * (u1 - u0) * (v1 - v0) / 4 * jacobian
        quadrature.append((np.array(ids), np.kron(values, values), d_x, d_y, area, x, y))

    stiffness, load = np.zeros((len(number), len(number))), np.zeros(len(number))
    for ids, shape, d_x, d_y, area, x, y in quadrature:
        stiffness[np.ix_(ids, ids)] += d_x.T @ (area * d_x) + d_y.T @ (area * d_y)
        flux_x, flux_y = -(nu / 2 * x**2 + (1 - nu / 2) * y**2), -(2 + nu) * x * y
        divergence = -(2 + 2 * nu) * x
        load[ids] += np.sum(area * (d_x * flux_x + d_y * flux_y + shape * divergence), axis=0)
    free = [i for uv, i in number.items() if abs(mapping(*map(np.asarray, uv))[0]) > 1e-9]
    chi = np.zeros(len(number))
    chi[free] = np.linalg.solve(stiffness[np.ix_(free, free)], load[free])

    area_total = 4 * sum(np.sum(q[4]) for q in quadrature)
    i_y = 4 * sum(np.sum(area * x * x) for *_, area, x, y in quadrature)
    i_x = 4 * sum(np.sum(area * y * y) for *_, area, x, y in quadrature)
    warping = 4 * sum(
        np.sum(area[:, 0] * x[:, 0] * (shape @ chi[ids] + (x * y * y)[:, 0]))
        for ids, shape, _, _, area, x, y in quadrature
    )
    return 2 * (1 + nu) * i_y / (nu / 2 * (i_x - i_y) - area_total / i_y * warping)
