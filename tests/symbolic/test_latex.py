"""The LaTeX document: whole, of known words, and the same formulas as those computed.

With one of LaTeX's programs it is compiled as well.
"""

import re
import shutil
import subprocess

import numpy as np
import pytest

from jaxmodal.symbolic import function, linearised_equations, write, written_equations
from jaxmodal.symbolic.graph import Expression
from tests.support.spatial_dynamics_cases import model_of
from tests.support.symbolic_arms import PAPER, USUAL, chain, states
from tests.support.written_forms import EVERYTHING, written_to

LATEX = shutil.which("pdflatex") or shutil.which("lualatex") or shutil.which("xelatex")
LATEX_WORDS = """
documentclass usepackage allowdisplaybreaks begin end section ddot dot hline endhead theta delta chi phi
Gamma gamma lambda mu int mathrm ell cdot quad left right sin cos tanh tfrac zeta Omega epsilon tau
"""
"""The commands that LaTeX with amsmath and longtable knows, as far as documents use them."""


@pytest.mark.parametrize("posed", [USUAL, PAPER], ids=str)
def test_latex_is_whole(posed):
    """Brackets and environments close, every command is one that amsmath knows, names are the paper's."""
    equations = written_equations(chain(2, posed=posed), EVERYTHING)
    (text,) = write(equations, "latex").values()
    depth = 0
    for letter in re.sub(r"\\[{}]", "", text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0
    assert text.count(r"\left(") == text.count(r"\right)")
    opened = []
    for word, environment in re.findall(r"\\(begin|end)\{([^}]*)\}", text):
        opened.append(environment) if word == "begin" else opened.remove(environment)
    assert opened == []
    assert set(re.findall(r"\\([A-Za-z]+)", text)) <= set(LATEX_WORDS.split())
    assert text.count("$") % 2 == 0
    for name in (
        r"\ell_{1}",
        r"\phi'_{11,e}",
        r"\phi_{12,e}",
        "v_{21}",
        "w_{11}",
        "z_{212}",
        "k_{111}",
        "J_{o1}",
    ):
        assert f"${name}$ &" in text
    # what stands on the right of an equation stands on the left of one before, or in the nomenclature
    body = text[text.index("Intermediate") :]
    seen = set()
    for line in body.splitlines():
        found = re.findall(r"(?<![A-Za-z\\])t_\{(\d+)\}", line)
        if re.match(r"t_\{\d+\} &=", line):
            seen.add(found.pop(0))
        assert set(found) <= seen
    # no line runs out of the page: about 85 signs, or one long factor
    lines = [re.sub(r"\\[A-Za-z]+|[{}_^\\&, ]", "", line) for line in body.splitlines()]
    assert max(map(len, lines)) < 130


_LATEX_NAME = re.compile(
    r"(?:\\dot\{\\?[a-z]+\}|\\(?!left|right|sin|cos|tanh|tfrac|quad|cdot)[A-Za-z]+'?|\(md\)|(?<![\\A-Za-z])[A-Za-z]+)"
    r"(?:_\{[^}]*\}|_[a-z])?"
)
_LATEX_SIGNS = (
    *((r"\tfrac{1}{2} ", "0.5*"), (r"\left(", "("), (r"\right)", ")"), (r"\,", "*")),
    *((r"\sin", "np.sin"), (r"\cos", "np.cos"), (r"\tanh", "np.tanh"), ("^{2}", "**2")),
)


def read_document(equations, q, rate):
    """Entries by their names, the document read line by line as a reader would compute it from its nomenclature."""
    (text,) = write(equations, "latex").values()
    values = {symbol.latex: symbol.value for symbol in equations.symbols.values()}
    for names, vector in ((equations.coordinates, q), (equations.rates, rate)):
        values |= {equations.symbols[name].latex: x for name, x in zip(names, vector, strict=True)}
    found = {}
    for section in re.split(r"\\section\*", text)[3:]:
        for block in re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end", section, re.DOTALL):
            for line in block.replace("\\\\\n&\\quad", "").split("\\\\\n"):
                left, right = line.split(" &= ")
                places = []

                def put(match, places=places):
                    places.append(values[match[0]])
                    return f" v[{len(places) - 1}] "

                # names first: a letter of what they become is none
                formula = _LATEX_NAME.sub(put, right)
                for sign, meant in _LATEX_SIGNS:
                    formula = formula.replace(sign, meant)
                value = eval(formula, {"v": places, "np": np})
                if section.startswith("{Intermediate"):
                    values[left] = value
                else:
                    found[left] = value
    return found


def check_document(equations, model, symmetric):
    """Every entry, but those below the diagonal of what the document calls symmetric."""
    q, rate, _ = (vector[0] for vector in states(model, 1))
    found = read_document(equations, q, rate)
    for name, array in function(equations)(q, rate).items():
        for place, value in np.ndenumerate(array):
            key = f"{name}_{{{','.join(str(k + 1) for k in place)}}}"
            if name in symmetric and place[0] > place[1]:
                assert key not in found
            else:
                assert abs(found.get(key, 0.0) - value) < 1e-12 * np.abs(array).max(), key


@pytest.mark.parametrize("posed", [USUAL, PAPER], ids=str)
def test_latex_says_what_is_computed(posed):
    model = chain(2, posed=posed)
    check_document(written_equations(model, ["B", "h", "g", "c"]), model, {"B"})


def test_latex_of_an_arm_in_space_says_what_is_computed():
    model = model_of("P5")
    equations = written_equations(model, ["B", "h", "g"])
    check_document(equations, model, {"B"})
    (text,) = write(equations, "latex").values()
    assert "rotors are carried, the spin of sections is absolute" in text
    assert r"$\varphi_{11}$ & coordinate 1 of torsion of link 1" in text


@pytest.mark.parametrize("rates", [False, True])
def test_latex_of_small_motions(rates):
    """D and K of a moving arm are not symmetric: all of their entries are there."""
    model = chain(2, 1)
    equations = linearised_equations(model, deflections=True, rates=rates)
    check_document(equations, model, {"M"} if rates else {"M", "D", "K"})


@pytest.mark.parametrize("quantities", [["h"], ["tau"], ["h", "tau"]], ids=str)
def test_accelerations_of_origins_are_without_second_derivatives(quantities):
    """As the document says of a_i, also where inverse dynamics is written."""
    equations = written_equations(chain(3), quantities)
    graph, meant = equations.graph, {}
    for index, label in graph.labels.items():
        meant.setdefault(label.partition("_")[0], []).append(Expression(graph, index))
    assert "Omega" in meant
    second = {graph.symbol(f"{name}_ddot", True).index for name in equations.coordinates}
    assert second.isdisjoint(graph.needed(meant.get("a", [])))


@pytest.mark.slow
def test_latex_formulas_parse():
    """Every line of every formula, by the parser of formulas that Matplotlib has: it refuses what makes no sense."""
    mathtext = pytest.importorskip("matplotlib.mathtext")
    parser = mathtext.MathTextParser("path")
    equations = written_equations(chain(2, 1, PAPER), ["B", "K"])
    (text,) = write(equations, "latex").values()
    blocks = re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", text, re.DOTALL)
    lines = [line.removesuffix("\\\\") for block in blocks for line in block.splitlines()]
    rows = [line for line in text.splitlines() if re.match(r"\$.*\$ & .*\\\\$", line)]
    names = [row.split(" & ")[0].strip("$") for row in rows]
    assert len(lines) > 40
    assert len(names) > 20
    for line in lines + names:
        formula = line.replace("&", "").replace(r"\tfrac", r"\frac").replace("\\quad ", "").strip()
        parser.parse(f"${formula}$")
    with pytest.raises(ValueError, match="Expected"):
        parser.parse(r"$\left(a + \right$")


@pytest.mark.skipif(LATEX is None, reason="no LaTeX: none of pdflatex, lualatex, xelatex")
def test_latex_compiles(tmp_path):
    for posed in (USUAL, PAPER):
        written_to(tmp_path, write(written_equations(chain(2, posed=posed), EVERYTHING), "latex"))
        command = [LATEX, "-interaction=nonstopmode", "-halt-on-error", "model.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:]
