"""Equations as a LaTeX document: nomenclature with values, intermediate quantities, entries of every quantity."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

import numpy as np

from jaxmodal.symbolic.equations import WrittenEquations
from jaxmodal.symbolic.graph import ADD, MULTIPLY
from jaxmodal.symbolic.headings import heading
from jaxmodal.symbolic.nomenclature import Symbol
from jaxmodal.symbolic.schedule import Language, Schedule, scheduled

#: number of visible characters in a line, and of operations in a formula, beyond which it is broken
_LINE, _LONGEST = 85, 10

_LABEL = re.compile(
    r"(?P<letter>[A-Za-z]+)_(?P<link>\d+)(_(?P<axis>[xyz]{1,2}))?(_(?P<order>[01]))?"
)
_LETTERS = {"zeta": r"\zeta", "Omega": r"\Omega"}
#: quantities that are symmetric if they contain no rate: entries below the diagonal are not written
_SYMMETRIC = frozenset({"B", "K", "D", "M"})
_FUNCTIONS = {"sin": r"\sin", "cos": r"\cos", "tanh": r"\tanh"}

_ABOUT = r"""Each link $i$ has a frame that turns without stretching; vectors of a link are in its frame, with parts $x$
(along the link) and $y$ (across). In the intermediate quantities $e_i$ is the direction of frame $i$ in the frame
before, $\zeta_i$ the end of link $i$ as seen from its base, $S_i$ and $I_i$ the first and second moment, about joint
$i$, of all that lies beyond that joint, $\Omega_i$ the rate of the frame, $a_i$ the acceleration of its origin without
second derivatives of the coordinates, and $g_i$ gravity turned into the frame, with its sign changed. A last index $0$
or $1$ parts what is free of the deflections from what is linear in them. All $t_k$ are auxiliary: what occurs more than
once is written once. Integrals of a link are over all mass that moves with it: hub, bodies, stator, payload."""

_ABOUT_SPACE = r"""Each link $i$ has a frame at its joint and one at its tip; vectors are in the axes of their frame. In
the intermediate quantities $R_i$ turns the axes of link $i$ into those of the tip before, $E_i$ those of its tip into
its own. All $t_k$ are auxiliary: what occurs more than once is written once. Integrals of a link are over its own mass,
with its functions of $x$: $1$, $x$, the shapes $u_j$ of stretch, $v_j$ and $w_j$ of bending, products of these for what
they shorten, and products with $t_j$, shapes of torsion. Rigid links are one body with all that rides on them."""


@dataclasses.dataclass(frozen=True)
class Formula:
    """Sum of signed terms, each a product without its sign; ``name`` is set if the formula is one symbol."""

    terms: tuple[tuple[str, str], ...]
    name: str = ""

    @property
    def text(self) -> str:
        """Formula in one line."""
        first, *rest = self.terms
        start = first[1] if first[0] == "+" else f"-{first[1]}"
        return " ".join([start, *(f"{sign} {term}" for sign, term in rest)])

    @property
    def factor(self) -> str:
        """Formula as a factor: in brackets if it is a sum or has a sign."""
        if len(self.terms) == 1 and self.terms[0][0] == "+":
            return self.text
        return rf"\left({self.text}\right)"


def _flipped(form: Formula) -> tuple[tuple[str, str], ...]:
    return tuple(("-" if sign == "+" else "+", term) for sign, term in form.terms)


def _infix(operation: str, left: Formula, right: Formula) -> Formula:
    if operation == MULTIPLY:
        if left.text == "0.5" or left.text == r"\tfrac{1}{2}":
            return Formula((("+", rf"\tfrac{{1}}{{2}} {right.factor}"),))
        if left == right:
            root = left.factor if "'" not in left.text else rf"\left({left.text}\right)"
            return Formula((("+", f"{root}^{{2}}"),))
        return Formula((("+", rf"{left.factor}\,{right.factor}"),))
    return Formula(left.terms + (right.terms if operation == ADD else _flipped(right)))


def number(value: float) -> str:
    """Return a number in the notation of a formula."""
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    mantissa, _, exponent = f"{value:.6g}".partition("e")
    return mantissa if not exponent else rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def _number(value: float) -> Formula:
    return Formula((("+" if value >= 0.0 else "-", number(abs(value))),))


def _language(symbols: dict[str, Symbol]) -> Language[Formula]:
    def named(name: str) -> Formula:
        return Formula((("+", shown(name, symbols)),), name)

    return Language(
        number=_number,
        name=named,
        infix=_infix,
        negate=lambda form: Formula(_flipped(form)),
        function=lambda name, form: Formula(
            (("+", rf"{_FUNCTIONS[name]}\left({form.text}\right)"),)
        ),
    )


def shown(name: str, symbols: dict[str, Symbol]) -> str:
    """Return a name of the code in the notation of a formula."""
    if name in symbols:
        return symbols[name].latex
    if re.fullmatch(r"t\d+", name):
        return f"t_{{{name[1:]}}}"
    match = _LABEL.fullmatch(name)
    if match is None:
        return rf"\mathit{{{name}}}".replace("_", r"\_")
    letter = _LETTERS.get(match["letter"], match["letter"])
    axis = None if letter == r"\Omega" else match["axis"]
    index = ",".join(part for part in (match["link"], axis, match["order"]) if part)
    return f"{letter}_{{{index}}}"


def _visible(text: str) -> int:
    """Return the approximate number of visible characters in a formula."""
    plain = re.sub(r"\\[a-zA-Z]+", "x", text)
    return len(re.sub(r"[{}_^\\, ]", "", plain))


def _equation(left: str, form: Formula) -> str:
    """Return one equation of an align* environment, broken into lines."""
    lines, current = [], ""
    for place, (sign, term) in enumerate(form.terms):
        piece = term if place == 0 and sign == "+" else f"{sign} {term}"
        if current and _visible(current) + _visible(piece) > _LINE:
            lines.append(current)
            current = ""
        current = f"{current} {piece}".strip()
    lines.append(current)
    return f"{left} &= " + "\\\\\n&\\quad ".join(lines)


def _aligned(equations: list[str]) -> list[str]:
    return ["\\begin{align*}", "\\\\\n".join(equations), "\\end{align*}"] if equations else []


def _only_entries(plan: Schedule[Formula]) -> dict[str, Formula]:
    """Return intermediate results that occur only as an entry of a quantity, which are written in place."""
    steps = dict([*plan.constants, *plan.steps])
    entries = [entry for row in plan.results.values() for entry in row]
    texts = [form.text for form in steps.values()]
    texts += [entry.text for entry in entries if not entry.name]
    used = set(re.findall(r"t_\{\d+\}", " ".join(texts)))
    return {
        entry.name: steps[entry.name]
        for entry in entries
        if re.fullmatch(r"t\d+", entry.name) and entry.text not in used
    }


def _moves(equations: WrittenEquations, quantity: str) -> bool:
    """Return True if a quantity contains a rate: derivatives of velocity-dependent forces are not symmetric."""
    graph = equations.graph
    rates = {graph.symbol(name, True).index for name in equations.rates}
    return not rates.isdisjoint(graph.needed(equations.quantities[quantity]))


def _unit(unit: str) -> str:
    return re.sub(r"\^(\d)", r"$^{\1}$", unit)


def _how(posed: Mapping[str, str | bool]) -> list[str]:
    """Return sentences on the formulation of the equations."""

    def with_or_without(name: str) -> str:
        return "with" if posed[name] else "without"

    lines = [
        f"Posed with the inertia matrix of {posed.get('inertia_order', 'full')} order, {posed['frames']} frames, "
        f"{with_or_without('foreshortening')} foreshortening; integrals are {posed['integrals']}. SI units and radians."
    ]
    if "second_order" in posed:
        lines.append(
            f"Links bend and twist {with_or_without('second_order')} the terms of second order, rotors are "
            f"{posed['rotor_motion']}, the spin of sections is {posed['torsion_spin']}."
        )
    return lines


def latex_document(equations: WrittenEquations) -> str:
    """Return a document that compiles with the packages amsmath, geometry and longtable."""
    symbols = equations.symbols
    plan = scheduled(equations, _language(symbols), _LONGEST)
    posed = equations.posed
    lines = [
        r"\documentclass[a4paper,10pt]{article}",
        r"\usepackage[margin=22mm]{geometry}",
        r"\usepackage{amsmath}",
        r"\usepackage{longtable}",
        r"\allowdisplaybreaks",
        r"\begin{document}",
        r"\section*{Equations of motion of an arm with flexible links}",
        r"\[ B(q)\,\ddot{q} + h(q, \dot{q}) + K q + D \dot{q} + c(\dot{q}) + g(q) = Q u \]",
        "% " + heading(equations, "LaTeX")[0],
        *_how(posed),
        "",
        _ABOUT_SPACE if "second_order" in posed else _ABOUT,
        r"\section*{Nomenclature}",
        r"\begin{longtable}{llll}",
        r"symbol & meaning & unit & value \\ \hline \endhead",
    ]
    for symbol in symbols.values():
        value = "" if symbol.value is None else f"${_number(symbol.value).text}$"
        lines.append(
            rf"${symbol.latex}$ & {symbol.meaning.replace('^', '')} & {_unit(symbol.unit)} & {value} \\"
            if "$" not in symbol.meaning
            else rf"${symbol.latex}$ & {symbol.meaning} & {_unit(symbol.unit)} & {value} \\"
        )
    lines.append(r"\end{longtable}")
    coordinates = ", ".join(symbols[name].latex for name in equations.coordinates)
    lines += ["The coordinates are", rf"$q = ({coordinates})$."]
    if len(equations.rates) != len(equations.coordinates):
        rates = ", ".join(symbols[name].latex for name in equations.rates[-6:])
        lines += [
            rf"For the pose of the base the rates have ${rates}$, in its axes; the quaternion must have length 1."
        ]
    alone = _only_entries(plan)
    for title, all_steps in (("Of constants", plan.constants), ("Of the state", plan.steps)):
        steps = [(name, form) for name, form in all_steps if name not in alone]
        if steps:
            lines.append(rf"\section*{{Intermediate quantities: {title.lower()}}}")
            lines += _aligned([_equation(shown(name, symbols), form) for name, form in steps])
    for quantity, entries in plan.results.items():
        symmetric = quantity in _SYMMETRIC and not _moves(equations, quantity)
        note = "; it is symmetric" if symmetric else ""
        lines.append(rf"\section*{{{_title(equations.meanings[quantity])}}}")
        lines.append(f"Entries that are not written are 0{note}.")
        rows = []
        for place, entry in zip(np.ndindex(equations.shapes[quantity]), entries, strict=True):
            if entry.text == "0" or (symmetric and place[0] > place[1]):
                continue
            index = ",".join(str(k + 1) for k in place)
            letter = r"\tau" if quantity == "tau" else quantity
            rows.append(_equation(f"{letter}_{{{index}}}", alone.get(entry.name, entry)))
        lines += _aligned(rows)
    return "\n".join([*lines, r"\end{document}"]) + "\n"


def _title(meaning: str) -> str:
    """Return a meaning in title form, with formulas in math mode and a capital first letter."""
    text = re.sub(
        r"[BCKDhcgq]'* - 2 C|C q' = h|B q'' \+ .* \+ g", lambda found: f"${found[0]}$", meaning
    )
    return text[0].upper() + text[1:]
