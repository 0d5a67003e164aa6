"""Formulas as text with +, -, * and brackets, a notation common to Python, C and MATLAB."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from jaxmodal.symbolic.graph import ADD, MULTIPLY
from jaxmodal.symbolic.schedule import Language

_SUM, _SIGN, _PRODUCT, _ATOM = range(4)
#: length of a line in characters
_WIDTH = 110


class Text(NamedTuple):
    """Formula with the precedence of its outermost operation."""

    text: str
    binding: int

    def within(self, least: int) -> str:
        """Return the text, in brackets if its precedence is below ``least``."""
        return self.text if self.binding >= least else f"({self.text})"


def _number(value: float) -> Text:
    return Text(repr(float(value)), _ATOM if value >= 0.0 else _SIGN)


def _infix(operation: str, left: Text, right: Text) -> Text:
    if operation == MULTIPLY:
        return Text(f"{left.within(_PRODUCT)}*{right.within(_PRODUCT)}", _PRODUCT)
    sign, least = ("+", _SUM) if operation == ADD else ("-", _SIGN)
    second = right.within(_PRODUCT if right.binding == _SIGN else least)
    return Text(f"{left.within(_SUM)} {sign} {second}", _SUM)


def infix_language(sine: str = "sin", cosine: str = "cos", tanh: str = "tanh") -> Language[Text]:
    """Return the language with these names of its functions."""
    functions = {"sin": sine, "cos": cosine, "tanh": tanh}
    return Language(
        number=_number,
        name=lambda name: Text(name, _ATOM),
        infix=_infix,
        negate=lambda form: Text(f"-{form.within(_PRODUCT)}", _SIGN),
        function=lambda name, form: Text(f"{functions[name]}({form.text})", _ATOM),
    )


def wrapped(line: str, indent: str, ending: str = "") -> list[str]:
    """Return one statement broken at blanks into lines; ``ending`` is appended to each line except the last."""
    lines = textwrap.wrap(
        line,
        _WIDTH - len(ending),
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [*(part + ending for part in lines[:-1]), *lines[-1:]]
