"""Symbolic equations of motion of arms with flexible links: formulas, documents and code."""

from jaxmodal.runtime.public_names import report_package
from jaxmodal.symbolic.closed_forms import closed_form_integrals, closed_form_values
from jaxmodal.symbolic.equations import QUANTITIES, WrittenEquations
from jaxmodal.symbolic.generation import written_equations
from jaxmodal.symbolic.linearised import linearised_equations
from jaxmodal.symbolic.nomenclature import Symbol
from jaxmodal.symbolic.python_code import function
from jaxmodal.symbolic.schedule import OperationCounts, operation_counts
from jaxmodal.symbolic.sympy_form import SymbolicMatrices, to_sympy
from jaxmodal.symbolic.written import FORMS, write

__all__ = [
    "FORMS",
    "QUANTITIES",
    "OperationCounts",
    "Symbol",
    "SymbolicMatrices",
    "WrittenEquations",
    "closed_form_integrals",
    "closed_form_values",
    "function",
    "linearised_equations",
    "operation_counts",
    "to_sympy",
    "write",
    "written_equations",
]

report_package(globals())
