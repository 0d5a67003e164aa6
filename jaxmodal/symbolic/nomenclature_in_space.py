"""Symbols of an arm in space: named constants of its pieces, and directions of axes as numbers.

Pieces are the links of an arm, and massless pieces for springs. A link without shapes is one rigid body with the bodies
on it. A link with shapes has its functions of x, a body at its joint and one at its tip, whose masses and moments are
the pseudo-inertias over position and axes of their frames.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.symbolic.graph import Expression, Graph
from jaxmodal.symbolic.nomenclature import ACCELERATION, COORDINATE, RATE, Nomenclature, Symbol
from jaxmodal.symbolic.vectors import Matrix, Vector, matrix

#: directions closer than this to 0, 1 or -1 are rounded to it
_ROUNDED = 1e-15
#: letters of the shapes of each deformation
_LETTERS = ("u", "t", "v", "w")
_AXES = "xyz"


@dataclasses.dataclass(frozen=True)
class Function:
    """Function of x, and its coefficient ``factor`` times a product of modal coordinates of the link, along one axis.

    ``place`` is its index among the functions of the model.
    """

    mark: str
    axis: int
    factor: float
    coordinates: tuple[int, ...]
    place: int


@dataclasses.dataclass(frozen=True)
class Body:
    """Rigid body by its mass, first moments and second moments about a frame."""

    mass: Expression
    first: Vector
    second: Matrix


@dataclasses.dataclass(frozen=True)
class LinkInSpace:
    """Constants of one piece with m modal coordinates and k functions.

    ``gram`` (k, k), ``ends`` (k,), ``slopes`` (m vectors) and ``turns`` (vectors of pairs of coordinates) belong to the
    functions; ``spin`` is the inertia about the line, over the frame and the coordinates ``twists``. ``start``,
    ``offset``, ``at_joint`` and ``at_tip`` are as in `SpatialFlexibleArm`. ``kind`` is the connection to the previous
    piece, ``joint`` the number of the joint there, from 0; ``springs`` are the coordinates of the springs at its start,
    ``gives`` their directions.
    """

    kind: str
    joint: int
    springs: tuple[int, ...]
    gives: list[tuple[Vector, Vector]]
    places: tuple[int, ...]
    functions: tuple[Function, ...]
    gram: list[list[Expression]]
    ends: list[Expression]
    slopes: list[Vector]
    turns: dict[tuple[int, int], Vector]
    spin: list[list[Expression]]
    twists: tuple[int, ...]
    start: Vector
    offset: Vector
    at_joint: Body
    at_tip: Body
    axis: tuple[float, ...]
    orientation: Matrix
    rotor: Expression
    gear: Expression


class NomenclatureInSpace(Nomenclature):
    """Symbols of a model of an arm in space."""

    model: SpatialFlexibleArm  # type: ignore[assignment]

    def __init__(self, graph: Graph, model: SpatialFlexibleArm, symbolic: bool) -> None:
        super().__init__(graph, model, symbolic)  # type: ignore[arg-type]
        #: index of the coordinate that turns each rotor
        self.rotors = np.where(
            model.rotor_beyond, np.arange(model.num_links), model.layout.driven
        ).tolist()
        self._piece = "link" if model.is_of_turning_links else "piece"
        self.in_space = [self._in_space(i) for i in range(model.num_pieces)]
        if model.floats:
            self._float()

    def _float(self) -> None:
        """Add the coordinates and rates of a free base, and its constants."""

        def added(letter: str, latex: str, meaning: str, unit: str, kind: str) -> list[Expression]:
            found = []
            for part in "wxyz" if unit == "1" else "xyz":
                name = letter.format(part)
                symbol = Symbol(name, latex.format(part), f"{meaning}, {part}", unit, kind)
                self.table[name] = symbol
                found.append(self.graph.symbol(name, True))
            return found

        self.coordinates += [
            *added("base_p_{}", "p_{{{}}}", "position of the base", "m", COORDINATE),
            *added(
                "base_quaternion_{}", r"\epsilon_{{{}}}", "rotation of the base", "1", COORDINATE
            ),
        ]
        for letter, latex, meaning, unit in (
            ("base_V_{}", "V", "velocity of the base in its axes", "m/s"),
            ("base_omega_{}", r"\omega", "angular velocity of the base in its axes", "rad/s"),
        ):
            self.rates += added(letter, f"{latex}_{{{{{{}}}}}}", meaning, unit, RATE)
            given = (
                f"{letter}_dot",
                rf"\dot{{{{{latex}}}}}_{{{{{{}}}}}}",
                f"derivative of {meaning}",
            )
            self.accelerations += added(*given, f"{unit}/s", ACCELERATION)
        model = self.model
        self.base = self._body("the base", 0, "b", np.asarray(model.base_gram))
        reach = np.asarray(model.joint_position)
        self.reach = self.vector("r", "r_{", "joint 1 seen from the base", "m", reach)

    def base_axes(self) -> Matrix:
        """Return the axes of a free base as columns, from its quaternion of length 1 at the end of q."""
        w, x, y, z = self.coordinates[-4:]
        one = self.graph.one
        return matrix(
            [
                [one - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
                [2.0 * (x * y + w * z), one - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
                [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), one - 2.0 * (x * x + y * y)],
            ]
        )

    def _link(self, i: int) -> Any:
        """Return None: the constants of planar links are not used in space."""

    def vector(self, name: str, latex: str, meaning: str, unit: str, values: Any) -> Vector:
        """Return three named constants."""
        return Vector(
            *(
                self.constant(f"{name}_{a}", f"{latex}{a}}}", f"{meaning}, {a}", unit, value)
                for a, value in zip(_AXES, np.asarray(values).tolist(), strict=True)
            )
        )

    def _in_space(self, i: int) -> LinkInSpace:
        model, n = self.model, i + 1
        known, link = model.layout.functions, f"{self._piece} {n}"
        joint = int(model.layout.joint_of[i])
        width = sum(known.widths)
        springs = [p for p in model.layout.places[i][width:].tolist() if p < model.layout.size]
        shapes = [
            range(start, start + count)
            for start, count in zip(known.starts, model.counts[i], strict=False)
        ]
        rows = [row for each in shapes for row in each]
        functions = self._functions(i) if rows else ()
        bodies = np.asarray(model.gram)[i][known.number :, known.number :]
        at_joint, tip = bodies[:4, :4], bodies[4:, 4:]
        start, offset = np.asarray(model.start)[i], np.asarray(model.offset)[i]
        ends = np.asarray(model.ends)[i]
        if not rows:
            at_joint, start, tip = self._one_body(i, at_joint, tip, ends)
            ends = np.zeros(0)
        gram = np.asarray(model.gram)[i][
            np.ix_([f.place for f in functions], [f.place for f in functions])
        ]
        turning = {}
        if model.second_order:
            tables = np.asarray(model.tip_turn)[i]
            for a, row in enumerate(rows):
                for b, column in enumerate(rows):
                    turning[a, b] = self.vector(
                        f"turn_{n}_{a + 1}_{b + 1}",
                        rf"\Psi_{{{n},{a + 1},{b + 1},",
                        f"second order of the rotation of the end of {link} by coordinates {a + 1} and {b + 1}",
                        "1 per unit^2",
                        tables[:, row, column],
                    )
        twists = tuple(k for k, row in enumerate(rows) if row in shapes[1])
        spun = [0, *(1 + rows[k] - known.starts[1] for k in twists)]
        gives = np.asarray(model.gives)[i]
        return LinkInSpace(
            kind=model.kinds[i],
            joint=joint,
            springs=tuple(springs),
            gives=[(self._direction(row[:3]), self._direction(row[3:])) for row in gives][
                : len(springs)
            ],
            places=tuple(
                p for p in model.layout.places[i][:width].tolist() if p < model.layout.size
            ),
            functions=functions,
            gram=self._gram(n, link, functions, gram),
            ends=[
                self.constant(
                    f"e_{n}_{f.mark}",
                    f"e_{{{n},{f.mark}}}",
                    f"function {f.mark} at the end of {link}",
                    "m, per unit of its coordinates",
                    ends[f.place],
                )
                for f in functions
            ],
            slopes=[
                self.vector(
                    f"slope_{n}_{k + 1}",
                    rf"\psi_{{{n},{k + 1},",
                    f"rotation of the end of {link} by its coordinate {k + 1}",
                    "1 per unit",
                    np.asarray(model.tip_slope)[i, row],
                )
                for k, row in enumerate(rows)
            ],
            turns={pair: vector for pair, vector in turning.items() if not vector.is_zero},
            spin=[
                [
                    self.constant(
                        f"Jx_{n}_{min(a, b)}_{max(a, b)}",
                        f"J_{{{n},{min(a, b)},{max(a, b)}}}",
                        f"inertia of {link} about its line, by its frame (0) and its twists",
                        "kg m^2",
                        np.asarray(model.spin)[i, spun[a], spun[b]],
                    )
                    for b in range(len(spun))
                ]
                for a in range(len(spun))
            ],
            twists=twists,
            start=self.vector(
                f"b_{n}", f"b_{{{n},", f"start of {link} seen from its joint", "m", start
            ),
            offset=self.vector(
                f"o_{n}", f"o_{{{n},", f"tip of {link} seen from its end", "m", offset
            ),
            at_joint=self._body(
                link if not rows else f"what rides at the joint of {link}", n, "j", at_joint
            ),
            at_tip=self._body(f"what rides at the tip of {link}", n, "e", tip),
            axis=tuple(map(_clean, np.asarray(model.axis)[i].tolist())),
            orientation=self._numbers(np.asarray(model.orientation)[i]),
            rotor=self._of_joint(
                "Jr", "J_{r,", "inertia of the rotor", "kg m^2", joint, model.rotor
            ),
            gear=self._of_joint("N", "N_{", "gear ratio", "1", joint, model.gear),
        )

    def _of_joint(
        self, name: str, latex: str, meaning: str, unit: str, joint: int, values: Any
    ) -> Expression:
        """Return a constant of the joint of a piece; 0 for a piece without a joint."""
        if joint == self.model.num_links:
            return self.graph.zero
        n = joint + 1
        given = f"{name}_{n}", f"{latex}{n}}}", f"{meaning} of joint {n}", unit
        return self.constant(*given, np.asarray(values)[joint])

    def _direction(self, values: np.ndarray) -> Vector:
        """Return a direction as numbers."""
        return Vector(*(self.graph.number(_clean(x)) for x in values.tolist()))

    def _numbers(self, values: np.ndarray) -> Matrix:
        return matrix([[self.graph.number(_clean(x)) for x in row] for row in values.tolist()])

    def _one_body(
        self, i: int, joint: np.ndarray, tip: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a link without shapes as a body at its joint, the end of its straight part, and no body at its tip.

        At the tip the axes are those of the link.
        """
        model = self.model
        start = np.asarray(model.start)[i]
        line = np.asarray(model.gram)[i][:2, :2]
        along = np.array(
            [[1.0, *start], [0.0, 1.0, 0.0, 0.0]]
        )  # rows of 1 and x over position and axes
        spun = float(np.asarray(model.spin)[i, 0, 0]) * float(model.torsion_spin == "absolute")
        whole = joint + along.T @ line @ along
        whole = whole + 0.5 * spun * np.diag(
            [0.0, -1.0, 1.0, 1.0]
        )  # contributes to rotation about x alone
        end = start + ends[1] * np.eye(1, 3)[0]
        moved = np.eye(4)
        moved[1:, 0] = end + np.asarray(model.offset)[i]
        return whole + moved @ tip @ moved.T, end, np.zeros((4, 4))

    def _functions(self, i: int) -> tuple[Function, ...]:
        """Return the functions of a link with shapes that are used in the formulation."""
        model = self.model
        known, counts = model.layout.functions, model.counts[i]
        own = np.concatenate([[0], np.cumsum(counts)]).tolist()
        made = []
        for place in model.kept.tolist():
            factors = known.factors[place]
            if not all(j < counts[d] for d, j in factors):
                continue
            mark = "".join(f"{_LETTERS[d]}{j + 1}" for d, j in factors) or "1x"[place]
            kinds = [d for d, _ in factors]
            share = float(place == 1 or len(factors) == 1)
            if len(factors) == 2:  # foreshortening, or a twist with bending
                share = 1.0 if kinds == [1, 2] else -1.0
                share *= 0.5 if factors[0] == factors[1] else 1.0
            axis = int(np.argmax(known.directions[place]))
            made.append(Function(mark, axis, share, tuple(own[d] + j for d, j in factors), place))
        return tuple(made)

    def _gram(
        self, n: int, link: str, functions: tuple[Function, ...], table: np.ndarray
    ) -> list[list[Expression]]:
        made: list[list[Expression]] = [[self.graph.zero] * len(functions) for _ in functions]
        for a, first in enumerate(functions):
            for b, second in enumerate(functions[a:], start=a):
                made[a][b] = made[b][a] = self.constant(
                    f"G_{n}_{first.mark}_{second.mark}",
                    f"G_{{{n},{first.mark},{second.mark}}}",
                    f"integral of functions {first.mark} and {second.mark} over the mass of {link}",
                    "kg times their units",
                    table[a, b],
                )
        return made

    def _body(self, what: str, n: int, letter: str, table: np.ndarray) -> Body:
        def second(a: int, b: int) -> Expression:
            a, b = min(a, b), max(a, b)
            return self.constant(
                f"P{letter}_{n}_{_AXES[a]}{_AXES[b]}",
                f"P_{{{letter},{n},{_AXES[a]}{_AXES[b]}}}",
                f"second moment of {what}, {_AXES[a]}{_AXES[b]}",
                "kg m^2",
                table[1 + a, 1 + b],
            )

        return Body(
            mass=self.constant(
                f"m{letter}_{n}", f"m_{{{letter},{n}}}", f"mass of {what}", "kg", table[0, 0]
            ),
            first=self.vector(
                f"S{letter}_{n}",
                f"S_{{{letter},{n},",
                f"first moment of {what}",
                "kg m",
                table[0, 1:],
            ),
            second=matrix([[second(a, b) for b in range(3)] for a in range(3)]),
        )

    def factorial(self, k: int) -> Expression:
        """Return 1/k!, for the power series of rotations."""
        return self.constant(f"a_{k}", f"a_{{{k}}}", f"$1/{k}!$", "1", 1.0 / math.factorial(k))

    def weight(self) -> Vector:
        """Return the acceleration of gravity."""
        return self.vector("g", "g_{", "acceleration of gravity", "m/s^2", self.model.gravity)


def _clean(value: float) -> float:
    """Return a direction cosine without the rounding of 0, 1 and -1."""
    return float(round(value)) if abs(value - round(value)) < _ROUNDED else value
