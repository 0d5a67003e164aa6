"""The equations of motion of one arm as expressions, with what is needed to read them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.tables import ShowsTables, Table
from jaxmodal.symbolic.graph import Expression, Graph
from jaxmodal.symbolic.nomenclature import Symbol

#: every quantity of B(q) q'' + h(q, q') + K q + D q' + c(q') + g(q) = Q u, with what it is
QUANTITIES: Mapping[str, str] = {
    "B": "inertia matrix",
    "h": "Coriolis and centrifugal forces",
    "C": "matrix with C q' = h and B' - 2 C skew",
    "K": "stiffness matrix",
    "D": "damping matrix",
    "g": "gravity",
    "c": "dry friction",
    "Q": "places of the motors' torques",
    "tau": "inverse dynamics: B q'' + h + K q + D q' + c + g",
}
#: what is written where nothing else is asked for
USUAL = ("B", "h", "K", "D", "g", "Q")


@dataclasses.dataclass(frozen=True, repr=False)
class WrittenEquations(ShowsTables):
    """Equations as expressions of one graph.

    Attributes
    ----------
    quantities : dict of str to tuple of Expression
        By name, row by row.
    shapes : dict of str to tuple of int
        (N, N), (N,) or (N, n) of each.
    coordinates, rates, accelerations : tuple of str
        Names of the arguments, in the order of q; those of which nothing depends are arguments all the same.
    symbols : dict of str to Symbol
        What every name stands for, constants with their values.
    meanings : dict of str to str
        What each quantity is.
    posed : dict of str to str or bool
        How: the choices of the model by name, and whether ``"integrals"`` are symbolic or numeric.
    joints : int
        Number of joints n.
    used : frozenset of str
        Symbols that stand in a formula.
    """

    graph: Graph
    quantities: dict[str, tuple[Expression, ...]]
    shapes: dict[str, tuple[int, ...]]
    coordinates: tuple[str, ...]
    rates: tuple[str, ...]
    accelerations: tuple[str, ...]
    symbols: dict[str, Symbol]
    meanings: dict[str, str]
    posed: dict[str, str | bool]
    joints: int
    used: frozenset[str]

    @property
    def constants(self) -> dict[str, float]:
        """The values of all symbols that are constants, by name."""
        named = ((symbol.name, symbol.value) for symbol in self.symbols.values())
        return {name: value for name, value in named if value is not None}

    def tables(self) -> list[Table]:
        """Return the quantities that are written, and how many names stand in them."""
        rows = [
            [name, " x ".join(map(str, self.shapes[name])), self.meanings[name]]
            for name in self.quantities
        ]
        notes = (
            f"coordinates: {', '.join(self.coordinates)}; {len(self.used)} of {len(self.symbols)} symbols stand in a "
            "formula",
            ", ".join(f"{name} = {value!r}" for name, value in self.posed.items()),
        )
        title = f"equations of motion of {len(self.coordinates)} coordinates, {self.joints} joints"
        return [
            Table(title, ("quantity", "shape", "meaning"), rows, notes, ("quantity", "meaning"))
        ]

    def __repr__(self) -> str:
        posed = ", ".join(f"{name}={value!r}" for name, value in self.posed.items())
        return f"WrittenEquations({', '.join(self.quantities)} of {len(self.coordinates)} coordinates; {posed})"


def require_equations(equations: object) -> None:
    """Refuse what is not written equations, such as a model."""
    if not isinstance(equations, WrittenEquations):
        raise ArmError(
            f"equations = {shown(equations)}: must be WrittenEquations; written_equations(model) makes them."
        )
