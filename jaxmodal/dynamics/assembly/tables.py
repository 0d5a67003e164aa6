"""Constants of each link: integrals over its pieces, values of its shapes at bodies, and what of it turns.

All in units of the link's length, in NumPy, so that lengths, masses and stiffnesses may be traced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from jaxmodal.arm.quantities import as_scalar
from jaxmodal.dynamics.assembly.links import JointedLink
from jaxmodal.dynamics.model import Layout
from jaxmodal.dynamics.shapes import LinkShapes
from jaxmodal.eigenspaces.modal_mass import quadrature
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced, xp

#: equally spaced places along a link, both ends included, at which a model knows where its points are
STATIONS = 21


class Blank:
    """Where things stand in q, and in the functions of a link: 1, x, shapes, pairs."""

    def __init__(self, counts: tuple[int, ...], elastic: tuple[bool, ...]) -> None:
        layout = Layout(counts, elastic)
        self.size, self.driven = layout.size, layout.driven
        self.width = max(counts, default=0)
        self.pairs = np.triu_indices(self.width)
        self.zeros = np.zeros((self.size, self.size))
        self.spread = [np.eye(self.size + 1)[: self.size, places] for places in layout.places]
        functions = 2 + self.width + len(self.pairs[0])
        self.at_base = np.zeros((functions, functions))
        self.at_base[0, 0] = 1.0

    def unit(self, place: int) -> np.ndarray:
        return np.eye(self.size)[place]

    def spring(self, i: int) -> np.ndarray:
        difference = self.unit(i) - self.unit(self.driven[i])
        return np.outer(difference, difference)

    def padded(self, values: np.ndarray) -> np.ndarray:
        """Values for each mode, with zeros for the modes that a link has fewer; the last axis."""
        missing = self.width - values.shape[-1]
        return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, missing)])


class LinkTables:
    """Constants of one link: integrals over its pieces and values at bodies, in units of its length."""

    def __init__(self, blank: Blank) -> None:
        self.blank = blank
        self.piece_grams: list[np.ndarray] = []
        self.piece_curvatures: list[np.ndarray] = []
        self.bodies: list[np.ndarray] = []
        self.slopes: list[np.ndarray] = []
        self.tip = self.tip_slope = np.zeros(blank.width)
        self.drawn = np.zeros((STATIONS, 2 + blank.width + len(blank.pairs[0])))
        self.shortening = np.zeros((blank.width, blank.width))

    @property
    def end(self) -> np.ndarray:
        return self.bodies[-1]

    def _scale(self, link: JointedLink) -> Any:
        width, pairs = self.blank.width, len(self.blank.pairs[0])
        ones = np.concatenate([[1.0, 0.0], np.ones(width), np.zeros(pairs)])
        along = np.concatenate([[0.0, 1.0], np.zeros(width + pairs)])
        across = np.concatenate([np.zeros(2 + width), np.ones(pairs)])
        return ones + along * link.length + across / link.length

    def stations(self, link: JointedLink) -> Any:
        """The functions at equally spaced stations, shape (STATIONS, k)."""
        return self.drawn * self._scale(link)

    def point(self, link: JointedLink, values: np.ndarray) -> Any:
        """Scalar products of the functions at one place."""
        scaled = self._scale(link) * values
        return scaled[:, None] * scaled[None, :]

    def gram(self, link: JointedLink) -> Any:
        scale = self._scale(link)
        own = sum(
            piece.line_mass * piece.length * table
            for piece, table in zip(link.pieces, self.piece_grams, strict=True)
        )
        total = own * scale[:, None] * scale[None, :]
        for piece, values in zip(link.pieces, self.bodies, strict=True):
            total = total + piece.body_mass * self.point(link, values)
        return total

    def stiffness(self, link: JointedLink) -> Any:
        own = sum(
            piece.bending * piece.length * table
            for piece, table in zip(link.pieces, self.piece_curvatures, strict=True)
        )
        return own / link.length**4


def link_tables(link: JointedLink, shape: LinkShapes, blank: Blank) -> LinkTables:
    """Gauss's rule on every piece; Gamma by integrating slopes exactly between its nodes."""
    tables = LinkTables(blank)
    size = 24 + 6 * shape.count
    nodes, weights = quadrature(size)
    inner = _integration(nodes, np.append(nodes, 1.0))
    starts, spans = _fractions(link)
    rows, columns = blank.pairs
    before = np.zeros((blank.width, blank.width))
    for start, span in zip(starts, spans, strict=True):
        xi = np.append(start + span * nodes, start + span)
        phi, slope, curvature = map(blank.padded, shape.evaluate(xi))
        squares = slope[:-1, :, None] * slope[:-1, None, :]
        shortening = before + span * np.einsum("gh,hjk->gjk", inner, squares)
        functions = np.concatenate(
            [np.ones((size + 1, 1)), xi[:, None], phi, shortening[:, rows, columns]], axis=1
        )
        tables.piece_grams.append(np.einsum("g,gj,gk->jk", weights, *[functions[:-1]] * 2))
        tables.piece_curvatures.append(np.einsum("g,gj,gk->jk", weights, *[curvature[:-1]] * 2))
        tables.bodies.append(functions[-1])
        tables.slopes.append(slope[-1])
        before = shortening[-1]
    tables.tip, tables.tip_slope, tables.shortening = phi[-1], slope[-1], before

    xi = np.linspace(0.0, 1.0, STATIONS)
    _, slope, _ = map(blank.padded, shape.evaluate(nodes))
    squares = slope[:, rows] * slope[:, columns]
    phi = blank.padded(shape.evaluate(xi)[0])
    shortening = _integration(nodes, xi) @ squares
    tables.drawn = np.concatenate([np.ones((STATIONS, 1)), xi[:, None], phi, shortening], axis=1)
    return tables


def _fractions(link: JointedLink) -> tuple[list[float], list[float]]:
    """Where the pieces of a link begin and how long they are, in units of the link."""
    if len(link.pieces) == 1:
        return [0.0], [1.0]
    if is_traced([piece.length for piece in link.pieces]):
        raise ArmError(
            "length: traced in a link of several segments; where its pieces meet must be concrete here."
        )
    whole = float(link.length)
    return (
        [float(piece.start) / whole for piece in link.pieces],
        [float(piece.length) / whole for piece in link.pieces],
    )


def _integration(nodes: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """From values at Gauss's nodes on [0, 1] to integrals from 0 to each of some ends, shape (ends, nodes)."""
    size = len(nodes)
    _, weights = quadrature(size)
    degrees = np.arange(size)
    vandermonde = legendre.legvander(2.0 * nodes - 1.0, size - 1)
    coefficients = vandermonde.T * weights * (2.0 * degrees + 1.0)[:, None]
    integrals = legendre.legint(coefficients, lbnd=-1.0, scl=0.5)
    table: np.ndarray = legendre.legval(2.0 * ends - 1.0, integrals)
    return table.T


def rotating(
    links: Sequence[JointedLink], tables: Sequence[LinkTables], payload: Any, blank: Blank
) -> tuple[Any, Any, tuple[tuple[int, bool], ...]]:
    """Every body that turns: its moment of inertia, its rate by dq/dt, its link and whether it is a rotor."""
    n = len(links)
    frame, turned = np.zeros(blank.size), np.zeros((n, blank.size))
    inertias: list[Any] = []
    constant: list[np.ndarray] = []
    per_length: list[np.ndarray] = []  # what is divided by the length of each link
    owners: list[tuple[int, bool]] = []

    def body(
        inertia: Any, steady: np.ndarray, slopes: np.ndarray, link: int, rotor: bool = False
    ) -> None:
        if inertia is not None and not (isinstance(inertia, float) and inertia == 0.0):
            inertias.append(inertia)
            constant.append(steady)
            per_length.append(slopes)
            owners.append((link, rotor))

    for i, link in enumerate(links):
        joint = link.joint
        if i > 0:
            body(joint.stator_inertia, frame, turned, i - 1)
        if joint.rotor_inertia is not None:
            gear = as_scalar("gear_ratio", joint.gear_ratio, "a number")
            if is_traced(gear):
                raise ArmError("gear_ratio: traced; must be concrete here.")
            geared = frame + float(gear) * blank.unit(blank.driven[i])
            body(joint.rotor_inertia, geared, turned, i, rotor=True)
        frame = frame + blank.unit(i)
        body(joint.hub_inertia, frame, turned, i)
        for piece, slope in zip(link.pieces, tables[i].slopes, strict=True):
            own = turned.copy()
            own[i] = blank.spread[i] @ slope
            body(piece.body_inertia, frame, own, i)
        turned = own
    body(payload, frame, turned, n - 1)
    if not inertias:
        return np.zeros(0), np.zeros((0, blank.size)), ()
    inverse = xp.stack([xp.asarray(1.0 / link.length) for link in links])
    rates = np.stack(constant) + xp.sum(np.stack(per_length) * inverse[None, :, None], axis=1)
    return xp.stack([xp.asarray(inertia) for inertia in inertias]), rates, tuple(owners)
