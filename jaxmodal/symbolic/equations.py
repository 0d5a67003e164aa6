"""Equations of motion of one arm as expressions, with the meaning of their symbols."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.tables import ShowsTables, Table
from jaxmodal.symbolic.graph import Expression, Graph
from jaxmodal.symbolic.nomenclature import Symbol

#: meaning of every quantity of B(q) q'' + h(q, q') + K q + D q' + c(q') + g(q) = Q u
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
#: quantities that are written by default
USUAL = ("B", "h", "K", "D", "g", "Q")


@dataclasses.dataclass(frozen=True, repr=False)
class WrittenEquations(ShowsTables):
    """Equations as expressions of one graph.

    Attributes
    ----------
    quantities : dict of str to tuple of Expression
        Entries of each quantity by name, row by row.
    shapes : dict of str to tuple of int
        Shape (N, N), (N,) or (N, n) of each quantity.
    coordinates, rates, accelerations : tuple of str
        Names of the arguments, in the order of q; also those on which nothing depends.
    symbols : dict of str to Symbol
        Meaning of every name, with the values of constants.
    meanings : dict of str to str
        Meaning of each quantity.
    posed : dict of str to str or bool
        Formulation: the choices of the model by name, and whether ``"integrals"`` are symbolic or numeric.
    joints : int
        Number of joints n.
    used : frozenset of str
        Symbols that occur in a formula.
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
        """Values of all constants, by name."""
        named = ((symbol.name, symbol.value) for symbol in self.symbols.values())
        return {name: value for name, value in named if value is not None}

    def tables(self) -> list[Table]:
        """Return a table of the written quantities, with the number of names in them."""
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
    """Refuse an object that is not written equations, such as a model."""
    if not isinstance(equations, WrittenEquations):
        raise ArmError(
            f"equations = {shown(equations)}: must be WrittenEquations; written_equations(model) makes them."
        )
