"""Constants of a link in space: integrals of its functions, and their values at its end and along it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxmodal.dynamics.assembly.tables import STATIONS, integration, padded
from jaxmodal.dynamics.layout_in_space import Functions
from jaxmodal.dynamics.rod_shapes import RodShapes
from jaxmodal.dynamics.shapes import LinkShapes
from jaxmodal.eigenspaces.modal_mass import quadrature
from jaxmodal.spatial.modes.values import BeamValues

#: shapes of the deformations of a link: stretch, torsion, bending in x-y and in x-z
Deformations = tuple[RodShapes, RodShapes, LinkShapes, LinkShapes]


class LinkTablesInSpace:
    """Constants of one link by Gauss quadrature, exact to rounding for polynomials and nearly so for other shapes.

    Attributes
    ----------
    gram, stiffness, modal_mass : shape (k, k), (m, m) and (m,)
        Scalar products of the functions weighted by the mass of the link, without bodies; of the strains of the shapes;
        and of each shape with itself, weighted by mass, or for torsion by the inertia about the line.
    ends, stations : shape (k,) and (STATIONS, k)
        Values of the functions at the end, and at equally spaced stations.
    slopes : shape (m, 3)
        Rotation vector of the end due to each shape.
    turns : shape (3, m, m)
        Second-order part of this rotation vector.
    spin : shape (1 + t, 1 + t)
        Inertia about the line, over the rate of the frame and the rates of the twists.
    """

    def __init__(
        self, beam: BeamValues, shapes: Deformations, functions: Functions, torsional_inertia: float
    ) -> None:
        length = float(beam.length[0])
        per_metre = 1.0 / length if any(shape.count for shape in shapes) else 0.0
        nodes, weights = quadrature(24 + 6 * max(shape.count for shape in shapes))
        widths = functions.widths
        inner = integration(nodes, nodes)
        end, along = np.ones(1), np.linspace(0.0, 1.0, STATIONS)
        at_nodes = _Evaluated(shapes, widths, nodes)

        def table(xi: np.ndarray) -> np.ndarray:
            return _functions(
                _Evaluated(shapes, widths, xi), at_nodes, integration(nodes, xi), inner, functions
            )

        scale = np.repeat(
            [1.0, length, 1.0, 1.0, 1.0, per_metre, per_metre, 1.0, 1.0], functions.sizes
        )
        values = table(nodes) * scale
        self.ends, self.stations = table(end)[0] * scale, table(along) * scale
        line = float(beam.mass[0]) * length
        self.gram = line * np.einsum("g,gj,gk->jk", weights, values, values)

        # strains are slopes of stretch and torsion, and curvatures of bending
        strains = (at_nodes.slopes[0], at_nodes.slopes[1], *at_nodes.curvatures)
        rigidities = [
            float(each[0]) * per_metre**power
            for each, power in (
                (beam.stretching, 1),
                (beam.torsion, 1),
                (beam.bending_z, 3),
                (beam.bending_y, 3),
            )
        ]
        m = sum(widths)
        self.stiffness, self.modal_mass = np.zeros((m, m)), np.zeros(m)
        own = (line, torsional_inertia * length, line, line)
        for d, (strain, rigidity, inertia) in enumerate(zip(strains, rigidities, own, strict=True)):
            here = functions.modal(d)
            self.stiffness[here, here] = rigidity * np.einsum(
                "g,gj,gk->jk", weights, strain, strain
            )
            self.modal_mass[here] = inertia * (weights @ at_nodes.values[d] ** 2)

        self.slopes, self.turns = _end_turns(shapes, at_nodes, weights, functions, per_metre)
        twists = np.concatenate([np.ones((len(nodes), 1)), at_nodes.values[1]], axis=1)
        spun = np.einsum("g,gj,gk->jk", weights, twists, twists)
        self.spin = torsional_inertia * length * spun


class _Evaluated:
    """Shapes of all deformations at some positions, in units of the length of the link, each (places, width)."""

    def __init__(self, shapes: Deformations, widths: Sequence[int], xi: np.ndarray) -> None:
        rods = [shape.evaluate(xi) for shape in shapes[:2]]
        bent = [shape.evaluate(xi) for shape in shapes[2:]]
        every = [*rods, *bent]
        self.values = [padded(each[0], w) for each, w in zip(every, widths, strict=True)]
        self.slopes = [padded(each[1], w) for each, w in zip(every, widths, strict=True)]
        self.curvatures = [padded(each[2], w) for each, w in zip(bent, widths[2:], strict=True)]


def _functions(
    here: _Evaluated, nodes: _Evaluated, to_here: np.ndarray, inner: np.ndarray, known: Functions
) -> np.ndarray:
    """Return all functions at some positions, shape (places, k), up to powers of the length."""
    places = len(to_here)
    xi = to_here @ np.ones(to_here.shape[1])
    parts = [np.ones((places, 1)), xi[:, None], here.values[0], here.values[2], here.values[3]]
    for d in (2, 3):
        rows, columns = known.pairs(d)
        parts.append(to_here @ (nodes.slopes[d][:, rows] * nodes.slopes[d][:, columns]))
    for curvature in reversed(nodes.curvatures):  # with x-z first
        products = nodes.values[1][:, :, None] * curvature[:, None, :]
        parts.append(to_here @ (inner @ products.reshape(len(inner), -1)))
    return np.concatenate(parts, axis=1)


def _end_turns(
    shapes: Deformations,
    nodes: _Evaluated,
    weights: np.ndarray,
    known: Functions,
    per_metre: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotation vector of the end: first order (m, 3), second order (3, m, m)."""
    end = _Evaluated(shapes, known.widths, np.ones(1))
    m = sum(known.widths)
    twist, xy, xz = (known.modal(d) for d in (1, 2, 3))
    first, second = np.zeros((m, 3)), np.zeros((3, m, m))
    turned, v, w = end.values[1][0], per_metre * end.slopes[2][0], per_metre * end.slopes[3][0]
    first[twist, 0], first[xz, 1], first[xy, 2] = turned, -w, v
    v_curved, w_curved = (per_metre * curvature for curvature in nodes.curvatures)
    second[0][xy, xz] = np.einsum(
        "g,gj,gk->jk", weights, per_metre * nodes.slopes[2], w_curved
    ) - 0.5 * np.outer(v, w)
    second[1][twist, xy] = 0.5 * np.outer(turned, v) - np.einsum(
        "g,gj,gk->jk", weights, nodes.values[1], v_curved
    )
    second[2][twist, xz] = 0.5 * np.outer(turned, w) - np.einsum(
        "g,gj,gk->jk", weights, nodes.values[1], w_curved
    )
    return first, second
