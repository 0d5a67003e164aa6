"""Equations as matrices of SymPy or SymEngine."""

from __future__ import annotations

import importlib
import operator
from typing import Any, NamedTuple

from jaxmodal.dynamics.model import one_of
from jaxmodal.symbolic.equations import WrittenEquations, require_equations
from jaxmodal.symbolic.schedule import ARITHMETIC, Language, scheduled

LIBRARIES = ("sympy", "symengine")


class SymbolicMatrices(NamedTuple):
    """Equations in a symbolic package.

    Attributes
    ----------
    replacements : list of (Symbol, Expr)
        Intermediate results, each after those that it uses; empty if they are inserted.
    matrices : dict of str to Matrix
        Every quantity by name; vectors are columns.
    symbols : dict of str to Symbol
        Coordinates, rates and constants by name.
    values : dict of Symbol to float
        Values of the constants.
    """

    replacements: list[tuple[Any, Any]]
    matrices: dict[str, Any]
    symbols: dict[str, Any]
    values: dict[Any, float]

    def _repr_html_(self) -> str:
        """Show every matrix as a formula, in terms of the replacements."""
        from sympy import latex

        shown = (f"<p>$${name} = {latex(matrix)}$$</p>" for name, matrix in self.matrices.items())
        few = f"<p>{len(self.replacements)} replacements, {len(self.values)} constants</p>"
        return "".join(shown) + few

    def __repr__(self) -> str:
        names = ", ".join(f"{name} {matrix.shape}" for name, matrix in self.matrices.items())
        return f"<SymbolicMatrices: {names}; {len(self.replacements)} replacements>"


def to_sympy(
    equations: WrittenEquations, *, intermediate: bool = True, library: str = "sympy"
) -> SymbolicMatrices:
    """Return equations as matrices of a symbolic package.

    Parameters
    ----------
    equations
        Equations from `written_equations` or `linearised_equations`.
    intermediate
        True if repeated expressions are listed separately, as by `sympy.cse`. If False they are inserted, and formulas
        grow quickly with the number of links.
    library
        ``"sympy"`` or ``"symengine"``, which is faster and has fewer functions.

    Raises
    ------
    ArmError
        If the library is not one of these.
    ImportError
        If it is not installed.
    """
    require_equations(equations)
    one_of("library", library, LIBRARIES, "'sympy' is in the extra `symbolic`")
    package = package_of(library)
    symbols = {name: package.Symbol(name) for name in equations.symbols}
    language: Language[Any] = Language(
        number=lambda value: (
            package.Integer(int(value)) if value == int(value) else package.Float(value)
        ),
        name=lambda name: symbols[name] if name in symbols else package.Symbol(name),
        infix=lambda operation, left, right: ARITHMETIC[operation](left, right),
        negate=operator.neg,
        function=lambda name, form: getattr(package, name)(form),
    )
    plan = scheduled(equations, language, intermediate=intermediate)
    matrices = {
        name: package.Matrix(*(equations.shapes[name] + (1,))[:2], entries)
        for name, entries in plan.results.items()
    }
    values = {symbols[name]: value for name, value in equations.constants.items()}
    steps = [*plan.constants, *plan.steps]
    replacements = [(package.Symbol(name), form) for name, form in steps]
    return SymbolicMatrices(replacements, matrices, symbols, values)


def package_of(library: str) -> Any:
    """Return the package of a symbolic library; an ImportError tells how to install it."""
    try:
        return importlib.import_module(library)
    except ImportError as error:
        remedy = "'jaxmodal[symbolic]'" if library == "sympy" else "symengine"
        raise ImportError(
            f"{library} is needed here and is not installed: run `pip install {remedy}`."
        ) from error
