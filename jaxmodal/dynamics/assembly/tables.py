"""Constants of each link: integrals over its pieces, values of its shapes at bodies, and its rotating bodies.

Integrals are in units of the length of the link, in NumPy, so that lengths, masses and stiffnesses may be traced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from jaxmodal.arm.quantities import as_scalar
from jaxmodal.dynamics.assembly.links import JointedLink, absent
from jaxmodal.dynamics.layout import Layout
from jaxmodal.dynamics.shapes import LinkShapes
from jaxmodal.eigenspaces.modal_mass import quadrature
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced, xp
from jaxmodal.statics.link_parts import ROTOR

#: number of equally spaced stations along a link, both ends included, for positions along it
STATIONS = 21


class LinkTables:
    """Constants of one link: integrals over its pieces and values at bodies.

    Gauss quadrature is used on every piece; Gamma is the exact integral of the interpolated slopes.

    Attributes
    ----------
    gram, stiffness : shape (k, k) and (m, m)
        Scalar products of the functions of the link, weighted by mass, bodies included; and of curvatures, weighted by
        EI.
    stations : shape (STATIONS, k)
        Values of the functions at equally spaced stations along the link.
    slopes : list, each of shape (m,)
        Slopes at the end of each piece, in units of the length of the link.
    tip, tip_slope, shortening : shape (m,), (m,) and (m, m)
        Deflections, slopes and Gamma at the end, the last two in units of the length of the link.
    base, end : shape (k,)
        Values of the functions at both ends, in units of the length of the link.
    ends : list, each of shape (k,)
        Values at the end of each piece.
    """

    def __init__(self, link: JointedLink, shape: LinkShapes, layout: Layout) -> None:
        width, (rows, columns) = layout.width, layout.pairs
        size = 24 + 6 * shape.count
        nodes, weights = quadrature(size)
        inner = integration(nodes, np.append(nodes, 1.0))
        mass: Any = 0.0
        bending: Any = 0.0
        self.ends, self.slopes = [], []
        self.shortening = np.zeros((width, width))
        for piece, start, span in zip(link.pieces, *_fractions(link), strict=True):
            xi = np.append(start + span * nodes, start + span)
            phi, slope, curvature = (padded(table, width) for table in shape.evaluate(xi))
            squares = slope[:-1, :, None] * slope[:-1, None, :]
            shortening = self.shortening + span * np.einsum("gh,hjk->gjk", inner, squares)
            functions = _functions(xi, phi, shortening[:, rows, columns])
            products = np.einsum("g,gj,gk->jk", weights, *[functions[:-1]] * 2)
            curvatures = np.einsum("g,gj,gk->jk", weights, *[curvature[:-1]] * 2)
            mass = mass + piece.line_mass * piece.length * products
            bending = bending + piece.bending * piece.length * curvatures
            self.ends.append(functions[-1])
            self.slopes.append(slope[-1])
            self.tip, self.tip_slope, self.shortening = phi[-1], slope[-1], shortening[-1]
        self.base, self.end = np.eye(1, functions.shape[1])[0], self.ends[-1]
        # scales of 1, x, the shapes and Gamma, which is divided by the length
        lengths = xp.stack([1.0, link.length])
        self._scale = xp.concatenate([lengths, np.ones(width), np.ones(len(rows)) / link.length])
        self.gram = mass * self._scale[:, None] * self._scale[None, :]
        for piece, values in zip(link.pieces, self.ends, strict=True):
            self.gram = self.gram + piece.body_mass * self.point(values)
        self.stiffness = bending / link.length**4

        xi = np.linspace(0.0, 1.0, STATIONS)
        _, slope, _ = shape.evaluate(nodes)
        slope, phi = padded(slope, width), padded(shape.evaluate(xi)[0], width)
        shortened = integration(nodes, xi) @ (slope[:, rows] * slope[:, columns])
        self.stations = _functions(xi, phi, shortened) * self._scale

    def scaled(self, values: np.ndarray) -> Any:
        """The functions at one place in m, from units of the link's length."""
        return self._scale * values

    def point(self, values: np.ndarray) -> Any:
        """Return scalar products of the functions at one point."""
        scaled = self.scaled(values)
        return scaled[:, None] * scaled[None, :]


def padded(values: np.ndarray, width: int) -> np.ndarray:
    """Return values with zeros for the modes that a link lacks, along the last axis."""
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, width - values.shape[-1])])


def _functions(xi: np.ndarray, phi: np.ndarray, shortening: np.ndarray) -> np.ndarray:
    """Return 1, x, shapes and Gamma at some positions, shape (places, k)."""
    return np.concatenate([np.ones((len(xi), 1)), xi[:, None], phi, shortening], axis=1)


def _fractions(link: JointedLink) -> tuple[list[float], list[float]]:
    """Return the starts and lengths of the pieces of a link, in units of its length."""
    if len(link.pieces) == 1:
        return [0.0], [1.0]
    if is_traced([piece.length for piece in link.pieces]):
        raise ArmError(
            "length: is traced in a link of several segments; the lengths of its segments must be concrete here."
        )
    whole = float(link.length)
    return (
        [float(piece.start) / whole for piece in link.pieces],
        [float(piece.length) / whole for piece in link.pieces],
    )


def integration(nodes: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the matrix (ends, nodes) from values at Gauss nodes on [0, 1] to integrals from 0 to each end."""
    size = len(nodes)
    _, weights = quadrature(size)
    degrees = np.arange(size)
    vandermonde = legendre.legvander(2.0 * nodes - 1.0, size - 1)
    coefficients = vandermonde.T * weights * (2.0 * degrees + 1.0)[:, None]
    integrals = legendre.legint(coefficients, lbnd=-1.0, scl=0.5)
    table: np.ndarray = legendre.legval(2.0 * ends - 1.0, integrals)
    return table.T


def end_turns(
    tables: Sequence[LinkTables], layout: Layout
) -> list[list[tuple[np.ndarray, np.ndarray]]]:
    """Of each piece of each link how its end turns per dq, (N,), and what of it is divided by lengths, (n, N)."""
    units, spread = np.eye(layout.size), layout.spread
    frame, turned = np.zeros(layout.size), np.zeros((len(tables), layout.size))
    found = []
    for i, table in enumerate(tables):
        frame, before, ends = frame + units[i], turned, []
        for slope in table.slopes:
            turned = before.copy()
            turned[i] = spread[i] @ slope
            ends.append((frame, turned))
        found.append(ends)
    return found


def rotating(
    links: Sequence[JointedLink],
    tables: Sequence[LinkTables],
    payload: Any,
    layout: Layout,
    per_metre: Any,
) -> tuple[Any, Any, tuple[tuple[int, bool], ...]]:
    """Return moments of inertia, rates over dq/dt, and (link, whether it is a rotor) of every rotating body.

    ``per_metre`` is 1 over the length of each link, shape (n,).
    """
    n, units = len(links), np.eye(layout.size)
    frame, turned = np.zeros(layout.size), np.zeros((n, layout.size))
    # inertia; constant part of its rate; part divided by the length of each link; link and whether it is a rotor
    bodies: list[tuple[Any, np.ndarray, np.ndarray, tuple[int, bool]]] = []

    def body(
        inertia: Any, steady: np.ndarray, slopes: np.ndarray, link: int, rotor: bool = False
    ) -> None:
        if not absent(inertia):
            bodies.append((inertia, steady, slopes, (link, rotor)))

    for i, (link, ends) in enumerate(zip(links, end_turns(tables, layout), strict=True)):
        joint = link.joint
        if i > 0 and joint.stator is not None:
            body(joint.stator.inertia, frame, turned, i - 1)
        if joint.moving_rotor is not None:
            gear = as_scalar(ROTOR[1], joint.moving_rotor.ratio, "a number")
            if is_traced(gear):
                raise ArmError(f"{ROTOR[1]}: traced; must be concrete here.")
            geared = frame + float(gear) * units[i if link.rotor_beyond else layout.driven[i]]
            body(joint.moving_rotor.inertia, geared, turned, i, rotor=True)
        if joint.hub is not None:
            body(joint.hub.inertia, frame + units[i], turned, i)
        for piece, (frame, turned) in zip(link.pieces, ends, strict=True):
            body(piece.body_inertia, frame, turned, i)
    body(payload, frame, turned, n - 1)
    if not bodies:
        return np.zeros(0), np.zeros((0, layout.size)), ()
    inertias, constant, per_length, owners = zip(*bodies, strict=True)
    rates = np.stack(constant) + xp.sum(np.stack(per_length) * per_metre[None, :, None], axis=1)
    return xp.stack([xp.asarray(inertia) for inertia in inertias]), rates, owners
