"""Symbols of an arm: coordinates, rates and named constants, with the names of De Luca and Siciliano (1991).

A constant that is exactly 0 in the model is written as 0 and leaves no term. Integrals of a link cover all mass that
moves with it: hub, bodies, the stator of the next joint, the payload of the last link.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jaxmodal.dynamics.model import FlexibleArm
from jaxmodal.symbolic.graph import Expression, Graph
from jaxmodal.symbolic.naming import coordinate_names, dotted, integral_name, owner_of, parted

COORDINATE, RATE, ACCELERATION, CONSTANT = "coordinate", "rate", "acceleration", "constant"

#: relative difference below which the slope at a body is taken as the slope at the end of the link
_SAME = 1e-13


@dataclasses.dataclass(frozen=True)
class Symbol:
    """Meaning of a name in written equations.

    Attributes
    ----------
    name
        Name in code: letters, digits and underscores.
    latex
        Name in a formula.
    meaning, unit
        Entries of the nomenclature.
    kind
        ``"coordinate"``, ``"rate"``, ``"acceleration"`` or ``"constant"``.
    value
        Value of a constant, in SI units; None for other symbols.
    """

    name: str
    latex: str
    meaning: str
    unit: str
    kind: str
    value: float | None = None


@dataclasses.dataclass(frozen=True)
class ShapeConstants:
    """Constants of one link with m modes and k = 2 + m + pairs functions 1, x, phi_j, Gamma_jl (j <= l).

    ``gram`` holds their k by k scalar products, ``tip`` and ``slope`` the m values at the end, ``shortening`` the m by
    m values of Gamma there. ``pairs`` holds the two modes of each Gamma, and is empty without foreshortening.
    """

    modes: int
    pairs: tuple[tuple[int, int], ...]
    gram: list[list[Expression]]
    length: Expression
    tip: list[Expression]
    slope: list[Expression]
    shortening: list[list[Expression]]

    def function(self, j: int, k: int) -> int:
        """Return the index of Gamma_jk among the functions."""
        return 2 + self.modes + self.pairs.index((min(j, k), max(j, k)))


class Nomenclature:
    """Symbols of a model in a graph, with their meanings.

    Attributes
    ----------
    coordinates, rates, accelerations : list of Expression
        One expression for every generalised coordinate, in the order of q.
    table : dict of str to Symbol
        Symbols by their name in code.
    """

    def __init__(self, graph: Graph, model: FlexibleArm, symbolic: bool) -> None:
        self.graph, self.model, self.symbolic = graph, model, symbolic
        self.table: dict[str, Symbol] = {}
        self.names = coordinate_names(model)
        self.coordinates: list[Expression] = []
        self.rates: list[Expression] = []
        self.accelerations: list[Expression] = []
        for code, latex, meaning, unit in self.names:
            for suffix, dots, of, per, kind, found in (
                ("", "{}", "", "", COORDINATE, self.coordinates),
                ("_dot", r"\dot{{{}}}", "rate of ", "/s", RATE, self.rates),
                (
                    "_ddot",
                    r"\ddot{{{}}}",
                    "acceleration of ",
                    "/s^2",
                    ACCELERATION,
                    self.accelerations,
                ),
            ):
                shown = dotted(latex, dots)
                symbol = Symbol(code + suffix, shown, of + meaning, unit + per, kind)
                self.table[symbol.name] = symbol
                found.append(graph.symbol(symbol.name, True))
        self.links = [self._link(i) for i in range(model.num_links)]

    def constant(self, name: str, latex: str, meaning: str, unit: str, value: Any) -> Expression:
        """Return a named constant, or its number if integrals are numeric; 0 stays 0."""
        number = float(value)
        if number == 0.0 or not self.symbolic:
            return self.graph.number(number)
        self.table.setdefault(name, Symbol(name, latex, meaning, unit, CONSTANT, number))
        return self.graph.symbol(name, False)

    def _link(self, i: int) -> ShapeConstants:
        model, n, m = self.model, i + 1, self.model.modes[i]
        width = model.tip.shape[1]
        kept = [
            (p, (int(j), int(k)))
            for p, (j, k) in enumerate(zip(*model.layout.pairs, strict=True))
            if k < m and model.foreshortening
        ]
        places = [0, 1, *range(2, 2 + m), *(2 + width + p for p, _ in kept)]
        table = np.asarray(model.gram)[i][np.ix_(places, places)]
        marks = [("1", ""), ("x", "x")]
        marks += [(f"{j + 1}", rf"\phi_{{{n}{parted(n)}{j + 1}}}") for j in range(m)]
        marks += [
            (f"{j + 1}{k + 1}", rf"\Gamma_{{{n}{parted(n)}{j + 1}{k + 1}}}") for _, (j, k) in kept
        ]
        gram: list[list[Expression]] = [[self.graph.zero] * len(places) for _ in places]
        for a in range(len(places)):
            for b in range(a, len(places)):
                name, latex, meaning, unit = integral_name(n, m, a, b, marks)
                gram[a][b] = gram[b][a] = self.constant(name, latex, meaning, unit, table[a, b])
        modes = range(m)
        return ShapeConstants(
            modes=m,
            pairs=tuple(pair for _, pair in kept),
            gram=gram,
            length=self.constant(
                f"l_{n}", rf"\ell_{{{n}}}", f"length of link {n}", "m", model.length[i]
            ),
            tip=[self.end_value(i, j, "deflection") for j in modes],
            slope=[self.end_value(i, j, "slope") for j in modes],
            shortening=[
                [
                    self.constant(
                        f"Gamma_{n}_{min(j, k) + 1}_{max(j, k) + 1}",
                        rf"\Gamma_{{{n}{parted(n)}{min(j, k) + 1}{max(j, k) + 1},e}}",
                        f"integral of the product of slopes {min(j, k) + 1} and {max(j, k) + 1} along link {n}",
                        "m per unit^2",
                        model.shortening[i, j, k],
                    )
                    for k in modes
                ]
                for j in modes
            ]
            if model.foreshortening
            else [],
        )

    def end_value(self, i: int, j: int, what: str) -> Expression:
        """Return the deflection or slope of a shape at the end of its link."""
        values, letter, mark, unit = {
            "deflection": (self.model.tip, "phi", "", "m per unit"),
            "slope": (self.model.tip_slope, "dphi", "'", "1 per unit"),
        }[what]
        return self.constant(
            f"{letter}_{i + 1}_{j + 1}",
            rf"\phi{mark}_{{{i + 1}{parted(i + 1)}{j + 1},e}}",
            f"{what} of shape {j + 1} at the end of link {i + 1}",
            unit,
            values[i, j],
        )

    def gravity(self) -> tuple[Expression, Expression]:
        """Return the two components of the acceleration of gravity."""
        x, y = (
            self.constant(
                f"g_{axis}", f"g_{axis}", f"acceleration of gravity along {axis}", "m/s^2", value
            )
            for axis, value in zip("xy", np.asarray(self.model.gravity), strict=True)
        )
        return x, y

    def turning(self) -> list[tuple[Expression, list[Expression]]]:
        """Return the moment of inertia of every rotating body, and its rate as a row of constants."""
        model, layout = self.model, self.model.layout
        turning = np.where(model.rotor_beyond, np.arange(model.num_links), layout.driven)
        made = []
        for b, (link, rotor) in enumerate(model.bodies):
            values, row = np.asarray(model.rates)[b], []
            for place in range(layout.size):
                value = float(values[place])
                owner, mode = owner_of(model, place)
                at_end = mode is not None and (
                    owner < link or abs(value - model.tip_slope[owner, mode]) <= _SAME * abs(value)
                )
                if value == 0.0:
                    row.append(self.graph.zero)
                elif at_end and mode is not None:
                    row.append(self.end_value(owner, mode, "slope"))
                elif mode is not None:
                    row.append(
                        self.constant(
                            f"dphi_{owner + 1}_{mode + 1}_b{b + 1}",
                            rf"\phi'_{{{owner + 1}{parted(owner + 1)}{mode + 1},b{b + 1}}}",
                            f"slope of shape {mode + 1} of link {owner + 1} at body {b + 1}",
                            "1 per unit",
                            value,
                        )
                    )
                elif rotor and place == turning[link]:
                    row.append(
                        self.constant(
                            f"N_{link + 1}",
                            f"N_{{{link + 1}}}",
                            f"gear ratio of joint {link + 1}",
                            "1",
                            value,
                        )
                    )
                else:
                    row.append(self.graph.number(value))
            what = (
                f"rotor of joint {link + 1}"
                if rotor
                else f"body {b + 1}, which turns with link {link + 1}"
            )
            inertia = self.constant(
                f"J_{b + 1}",
                f"J_{{{b + 1}}}",
                f"moment of inertia of {what}",
                "kg m^2",
                model.inertias[b],
            )
            made.append((inertia, row))
        return made

    def matrix(self, letter: str, values: Any, meaning: str) -> list[list[Expression]]:
        """Return a constant symmetric matrix of the model with named entries."""
        size, table = self.model.num_rates, np.asarray(values)
        made = [[self.graph.zero] * size for _ in range(size)]
        for a in range(self.model.layout.size):  # no spring or damper moves with a free base
            for b in range(a, self.model.layout.size):
                (link, mode), (other, second) = (owner_of(self.model, k) for k in (a, b))
                if mode is not None and second is not None and link == other:
                    index = f"{link + 1}_{mode + 1}_{second + 1}"
                    latex = f"{link + 1}{parted(link + 1)}{mode + 1}{second + 1}"
                    what = f"of modes {mode + 1} and {second + 1} of link {link + 1}"
                else:
                    index, latex = f"q{a + 1}_q{b + 1}", f"q{a + 1},q{b + 1}"
                    what = f"of coordinates {a + 1} and {b + 1}"
                made[a][b] = made[b][a] = self.constant(
                    f"{letter}_{index}",
                    f"{letter}_{{{latex}}}",
                    f"{meaning} {what}",
                    "SI",
                    table[a, b],
                )
        return made
