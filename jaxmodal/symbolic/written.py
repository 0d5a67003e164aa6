"""Equations as texts of files, in every form."""

from __future__ import annotations

import re

from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.model import one_of
from jaxmodal.runtime.errors import ArmError
from jaxmodal.symbolic.c_code import c_files
from jaxmodal.symbolic.equations import WrittenEquations, require_equations
from jaxmodal.symbolic.latex_document import latex_document
from jaxmodal.symbolic.matlab_code import matlab_function
from jaxmodal.symbolic.python_code import python_module

#: forms, with the suffix of their file
FORMS = {"c": ".c", "numpy": ".py", "jax": ".py", "matlab": ".m", "latex": ".tex"}

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,40}")
#: words that cannot name a function in one of the languages, or that the written code uses itself
_WORDS = """
and as assert async await auto break case catch char class const continue def default del do double elif else elseif end
enum except extern finally float for from function global goto if import in inline int is lambda long main nonlocal not
np jnp numpy jax or otherwise parfor pass persistent raise register restrict return short signed sizeof spmd static
struct switch try typedef union unsigned void volatile while with yield q rate acceleration sin cos tanh fabs fmax
memcpy printf scanf strcmp state states results expected compute difference zeros
abs labs exp exp2 expm1 log log2 log10 log1p pow sqrt cbrt hypot tan asin acos atan atan2 sinh cosh asinh acosh atanh
erf erfc tgamma lgamma gamma floor ceil round trunc rint fmod fma fmin fdim remainder frexp ldexp modf y0 y1 yn j0 j1 jn
copysign fpclassify ilogb isfinite isgreater isgreaterequal isinf isless islessequal islessgreater isnan isnormal
isunordered llrint llround logb lrint lround nan nearbyint nextafter nexttoward scalbln scalbn signbit
remove rename time clock index exit abort free malloc calloc realloc div rand srand memset memcmp strlen puts
"""
_TAKEN = frozenset(_WORDS.split())


def write(equations: WrittenEquations, form: str, name: str = "model") -> dict[str, str]:
    """Return equations as the texts of files.

    Parameters
    ----------
    equations
        Equations from `written_equations` or `linearised_equations`.
    form
        ``"c"`` (C99: source, header, test), ``"numpy"``, ``"jax"``, ``"matlab"`` or ``"latex"``.
    name
        Name of the function and of the files.

    Returns
    -------
    dict of str to str
        Text by file name.

    Raises
    ------
    ArmError
        If the form is unknown, or the name is not valid in that language.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> from jaxmodal import dynamics, symbolic
    >>> model = dynamics.flexible_arm(jm.examples.two_link_flexible(), modes=1)
    >>> sorted(symbolic.write(symbolic.written_equations(model), "c", "arm"))
    ['arm.c', 'arm.h', 'arm_test.c']
    """
    require_equations(equations)
    one_of("form", form, tuple(FORMS), "to_sympy gives matrices of SymPy")
    check_name(name, equations)
    if form == "c":
        return c_files(equations, name)
    texts = {
        "numpy": lambda: python_module(equations, "numpy", name),
        "jax": lambda: python_module(equations, "jax", name),
        "matlab": lambda: matlab_function(equations, name),
        "latex": lambda: latex_document(equations),
    }
    return {name + FORMS[form]: texts[form]()}


def check_name(name: object, equations: WrittenEquations) -> None:
    """Refuse a name that is not valid for a function in some language, or that the equations use."""
    known = isinstance(name, str) and _NAME.fullmatch(name) is not None
    if (
        not known
        or name in _TAKEN
        or re.sub("[fl]$", "", str(name)) in _TAKEN  # like sinf, sinl: for float and long double
        or name in equations.symbols
        or name in equations.quantities
        or name in equations.graph.labels.values()
        or re.fullmatch(r"t\d+", str(name))
    ):
        raise ArmError(
            f"name = {shown(name)}: must be a letter with letters, digits and underscores after it, at most 41 in "
            "all, and not a reserved word or a name in the equations; 'model' is allowed."
        )
