"""Do the written texts compute what the formulas say: NumPy, JAX, C as compiled here, MATLAB, LaTeX and SymPy?

C needs a compiler and LaTeX one of its programs; without, their tests are skipped. MATLAB is not at hand where tests
run: each line must be of the few forms that MATLAB and this test both know, and is then computed here; with GNU
Octave the file is run as well.
"""

import re
import shutil
import subprocess

import jax
import numpy as np
import pytest
from symbolic_arms import PAPER, USUAL, arm_with_everything, chain, own_terms, states, worst

from jaxmodal.runtime.errors import ArmError
from jaxmodal.symbolic import (
    QUANTITIES,
    function,
    linearised_equations,
    operation_counts,
    to_sympy,
    write,
    written_equations,
)

ROUNDING = 1e-13
EVERYTHING = list(QUANTITIES)
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
OCTAVE = shutil.which("octave-cli") or shutil.which("octave")
LATEX = shutil.which("pdflatex") or shutil.which("lualatex") or shutil.which("xelatex")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
needs_compiler = pytest.mark.skipif(
    COMPILER is None, reason="no C compiler: none of cc, gcc, clang"
)


def written_to(folder, texts):
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def c_program(equations, folder, *flags):
    """The test main, built with every warning an error."""
    written_to(folder, write(equations, "c", "arm"))
    command = [COMPILER, *STRICT, *flags, "arm.c", "arm_test.c", "-lm", "-o", "arm_test"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    assert built.stderr == ""
    return folder / "arm_test"


def by_program(program, equations, *vectors):
    """Results of the C code at many states, by quantity."""
    rows = np.concatenate(vectors, axis=1)
    text = "\n".join(" ".join(map(repr, row)) for row in rows.tolist())
    done = subprocess.run([program, "-"], input=text, capture_output=True, text=True, check=True)
    table = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    found, start = {}, 0
    for name, shape in equations.shapes.items():
        count = int(np.prod(shape))
        found[name] = table[:, start : start + count].reshape(len(rows), *shape)
        start += count
    assert start == table.shape[1]
    return found


def assert_same(found, expected, tolerance=1e-14):
    assert set(found) == set(expected)  # jax.jit sorts by name
    for name, value in expected.items():
        scale = max(np.abs(value).max(), 1e-300)
        assert np.abs(np.asarray(found[name]) - value).max() <= tolerance * scale, name


@needs_compiler
@pytest.mark.parametrize("integrals", ["symbolic", "numeric"])
def test_c(integrals, tmp_path):
    model = arm_with_everything()
    equations = written_equations(model, EVERYTHING, integrals=integrals)
    vectors = states(model, 30)
    program = c_program(equations, tmp_path, "-O1")
    assert_same(by_program(program, equations, *vectors), function(equations)(*vectors))
    alone = subprocess.run([program], capture_output=True, text=True)
    assert alone.returncode == 0, alone.stdout
    assert alone.stdout.count("\n") == 3 * len(EVERYTHING)
    source = (tmp_path / "arm.c").read_text()
    assert not re.search(r"\b(malloc|calloc|realloc|alloca|free)\b", source)
    assert " / " not in source.split("*/")[1]  # no division either


@needs_compiler
def test_the_test_main_notices_a_wrong_coefficient(tmp_path):
    model = chain(2)
    equations = written_equations(model, ["B", "h"])
    texts = write(equations, "c", "arm")
    line = re.search(r"static const double phi_1_1 = (\S+);", texts["arm.c"])
    texts["arm.c"] = texts["arm.c"].replace(line[0], line[0].replace(line[1], "1.00001"))
    written_to(tmp_path, texts)
    command = [COMPILER, *STRICT, "arm.c", "arm_test.c", "-lm", "-o", "arm_test"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "arm_test"], capture_output=True).returncode == 1


@needs_compiler
@pytest.mark.parametrize("quantities", [["K"], ["g"], ["Q", "D"], ["c"], ["tau"]], ids=str)
def test_c_of_a_few_quantities_builds_without_warnings(quantities, tmp_path):
    """What is not needed of the state must not be left as an unused variable."""
    c_program(written_equations(arm_with_everything(), quantities), tmp_path)


@needs_compiler
def test_c_of_linearised_matrices(tmp_path):
    model = chain(2)
    equations = linearised_equations(model, deflections=True, rates=True)
    q, rate, _ = states(model, 5)
    program = c_program(equations, tmp_path)
    assert_same(by_program(program, equations, q, rate), function(equations)(q, rate))


def test_jax_compiles_and_differentiates():
    model = chain(1)
    equations = written_equations(model, ["B", "h", "g"])
    compute = function(equations, "jax")
    (q, rate, _), plain = states(model, 3), function(equations)
    assert_same(jax.jit(compute)(q, rate), plain(q, rate))

    def power(at):
        return compute(at, rate[0])["h"] @ rate[0]

    slope = np.asarray(jax.jit(jax.grad(power))(q[0]))
    step = 1e-6
    for k, unit in enumerate(np.eye(model.num_coordinates)):
        ends = [plain(q[0] + s * unit, rate[0])["h"] @ rate[0] for s in (step, -step)]
        difference = (ends[0] - ends[1]) / (2 * step)
        assert abs(slope[k] - difference) < 1e-7 * np.abs(slope).max()


def test_states_alone_and_in_batches_are_the_same():
    model = chain(2)
    compute = function(written_equations(model))
    q, rate, _ = states(model, 6)
    batch = compute(q.reshape(2, 3, -1), rate.reshape(2, 3, -1))
    for name, value in compute(q[4], rate[4]).items():
        np.testing.assert_array_equal(batch[name][1, 1], value)


_NAME = r"[A-Za-z]\w{0,62}"
_NUMBER = r"(?:\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+)"
_ASSIGNED = re.compile(rf"({_NAME})(?:\((\d+)(?:, (\d+))?\))? = (.+);")
_TOKEN = re.compile(rf"\s*(?:{_NUMBER}|{_NAME}|[-+*(),]|\d+)")


def run_matlab(text, **arguments):
    """Compute a MATLAB function file that is assignments of sums and products and nothing else."""
    text = re.sub(r" \.\.\.\n\s*", " ", text)
    head, *lines, last, end = text.split("\n")
    assert (last, end) == ("end", "")
    results, _, given = re.fullmatch(rf"function \[(.+)\] = ({_NAME})\((.+)\)", head).groups()
    assert given.split(", ") == list(arguments)
    names = {"sin": np.sin, "cos": np.cos, "tanh": np.tanh}
    names["zeros"] = lambda *shape: np.zeros(tuple(map(int, shape)))
    for key, vector in arguments.items():
        names[key] = lambda k, vector=vector: vector[k - 1]
    for line in lines:
        if line.startswith("%"):
            continue
        target, row, column, formula = _ASSIGNED.fullmatch(line.strip()).groups()
        position = 0
        while position < len(formula):
            token = _TOKEN.match(formula, position)
            assert token, formula[position:]
            position = token.end()
        value = eval(formula, {"__builtins__": {}}, names)
        if row is None:
            names[target] = value
        else:
            assert names[target].shape[1] == 1 or column is not None
            names[target][int(row) - 1, int(column or 1) - 1] = value
    return {name: names[name] for name in results.split(", ")}


def test_matlab():
    model = arm_with_everything()
    equations = written_equations(model, EVERYTHING)
    (text,) = write(equations, "matlab", "arm").values()
    assert max(map(len, text.splitlines())) <= 120
    q, rate, acceleration = (vector[0] for vector in states(model, 1))
    found = run_matlab(text, q=q, rate=rate, acceleration=acceleration)
    expected = function(equations)(q, rate, acceleration)
    vectors = {name: value.reshape(expected[name].shape) for name, value in found.items()}
    assert_same(vectors, expected)


@pytest.mark.skipif(OCTAVE is None, reason="no GNU Octave: neither octave-cli nor octave")
def test_matlab_by_octave(tmp_path):
    model = chain(2)
    equations = written_equations(model)
    written_to(tmp_path, write(equations, "matlab", "arm"))
    q, rate, _ = (vector[0] for vector in states(model, 1))
    call = f"[B, h] = arm({q.tolist()}, {rate.tolist()}); printf('%.17g ', B, h)"
    done = subprocess.run(
        [OCTAVE, "--eval", call], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    expected = function(equations)(q, rate)
    values = np.array(done.stdout.split(), dtype=float)
    np.testing.assert_allclose(values[:36].reshape(6, 6), expected["B"], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(values[36:], expected["h"], rtol=1e-12, atol=1e-12)


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
    r"(?:\\dot\{\\[a-z]+\}|\\(?!left|right|sin|cos|tanh|tfrac|quad|cdot)[A-Za-z]+'?|\(md\)|(?<![\\A-Za-z])[A-Za-z]+)"
    r"(?:_\{[^}]*\}|_[a-z])?"
)
_LATEX_SIGNS = (
    *((r"\tfrac{1}{2} ", "0.5*"), (r"\left(", "("), (r"\right)", ")"), (r"\,", "*")),
    *((r"\sin", "np.sin"), (r"\cos", "np.cos"), (r"\tanh", "np.tanh"), ("^{2}", "**2")),
)


@pytest.mark.parametrize("posed", [USUAL, PAPER], ids=str)
def test_latex_says_what_is_computed(posed):
    """The document read line by line as a reader would compute it, from values of its symbols to B, h, g and c."""
    model = chain(2, posed=posed)
    equations = written_equations(model, ["B", "h", "g", "c"])
    (text,) = write(equations, "latex").values()
    q, rate, _ = (vector[0] for vector in states(model, 1))
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
    expected = function(equations)(q, rate)
    for name, array in expected.items():
        for place, value in np.ndenumerate(array):
            key = f"{name}_{{{','.join(str(k + 1) for k in place)}}}"
            if name == "B" and place[0] > place[1]:
                assert key not in found
            else:
                assert abs(found.get(key, 0.0) - value) < 1e-12 * np.abs(array).max(), key


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


@pytest.mark.parametrize("library", ["sympy", "symengine"])
def test_sympy(library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    model = chain(2, 1, PAPER)
    equations = written_equations(model, ["B", "g"])
    q, rate, _ = (vector[0] for vector in states(model, 1))
    expected = function(equations)(q, rate)
    for intermediate in (True, False):
        made = to_sympy(equations, intermediate=intermediate, library=library)
        assert bool(made.replacements) == intermediate
        values = dict(made.values)
        for k, name in enumerate(equations.coordinates):
            values[made.symbols[name]] = q[k]
        for symbol, form in made.replacements:
            values[symbol] = float(form.subs(values))
        for name, matrix in made.matrices.items():
            found = np.array(matrix.subs(values).tolist(), dtype=float)
            assert_same({name: found.reshape(expected[name].shape)}, {name: expected[name]}, 1e-13)


def test_counts_are_those_of_the_text():
    """The operations of the Python text, counted by its own parser, are those that are told."""
    import ast

    equations = written_equations(chain(3), ["B", "h", "g"])
    (text,) = write(equations, "numpy").values()
    tree = next(node for node in ast.parse(text).body if getattr(node, "name", "") == "model")
    operations = [type(node.op).__name__ for node in ast.walk(tree) if isinstance(node, ast.BinOp)]
    counts = operation_counts(equations)
    assert operations.count("Mult") == counts.multiplications
    signs = sum(isinstance(node, ast.USub) for node in ast.walk(tree))
    additions = operations.count("Add") + operations.count("Sub")
    # a sign that is used twice is written twice; the last index of the arguments is no operation
    assert additions <= counts.additions <= additions + signs
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    trigonometric = [node for node in calls if getattr(node.func, "attr", "") in ("sin", "cos")]
    assert len(trigonometric) == counts.functions == 6


@pytest.mark.slow
@pytest.mark.parametrize("posed", [USUAL, PAPER], ids=str)
@pytest.mark.parametrize("links", [1, 2, 3, 4, 5])
def test_every_form_at_a_thousand_states(links, posed, tmp_path):
    """NumPy, JAX and C against the library's own dynamics."""
    model = chain(links, 2, posed)
    equations = written_equations(model, ["B", "h", "g", "c", "tau"])
    vectors = states(model, 1000, seed=links)
    terms = {name: np.asarray(value) for name, value in own_terms(model, *vectors).items()}
    forms = {
        "numpy": function(equations)(*vectors),
        "jax": jax.jit(function(equations, "jax"))(*vectors),
    }
    if COMPILER is None:
        print("no C compiler: C is not compared")
    else:
        program = c_program(equations, tmp_path, "-O2")
        forms["c"] = by_program(program, equations, *vectors)
    for form, found in forms.items():
        for name, value in worst(found, terms, model, vectors[1]).items():
            assert value < ROUNDING, (form, name, value)


def test_bad_input_is_refused():
    model = chain(1)
    equations = written_equations(model)
    for call, words in (
        (lambda: written_equations(model, ["B", "x"]), "quantities = 'x'"),
        (lambda: written_equations(model, "B"), "must be a list"),
        (lambda: written_equations(model, []), "must be a list"),
        (lambda: written_equations("arm"), "flexible_arm"),
        (lambda: written_equations(model, integrals="float"), "integrals = 'float'"),
        (lambda: linearised_equations(model, rates=1), "rates = 1"),
        (lambda: write(equations, "fortran"), "form = 'fortran'"),
        (lambda: write(equations, "c", "2nd"), "name = '2nd'"),
        (lambda: write(equations, "c", "double"), "name = 'double'"),
        (lambda: write(equations, "c", "exp"), "name = 'exp'"),
        (lambda: write(equations, "c", "abs"), "name = 'abs'"),
        (lambda: write(equations, "c", "remove"), "name = 'remove'"),
        (lambda: write(equations, "c", "theta_1"), "name = 'theta_1'"),
        (lambda: function(equations, "c"), "form = 'c'"),
        (lambda: function(equations, ["x"]), "form = ['x']"),
        (lambda: function(model), "must be WrittenEquations"),
        (lambda: write(model, "c"), "must be WrittenEquations"),
        (lambda: operation_counts(model), "must be WrittenEquations"),
        (lambda: to_sympy(equations, library="maxima"), "library = 'maxima'"),
    ):
        with pytest.raises(ArmError, match=re.escape(words)):
            call()


@pytest.mark.parametrize("form", ["numpy", "jax"])
def test_states_of_other_shapes_are_refused_and_batches_broadcast(form):
    equations = written_equations(chain(1))
    compute, n = function(equations, form), len(equations.coordinates)
    for q, rate, words in (
        (
            np.zeros(n + 2),
            np.zeros(n),
            f"q: of shape ({n + 2},); its last axis must have {n} entries",
        ),
        (np.zeros(n), np.zeros((5, n - 1)), f"rate: of shape (5, {n - 1}); its last axis"),
        (0.0, np.zeros(n), "q: of shape ()"),
    ):
        with pytest.raises(ValueError, match=re.escape(words)):
            compute(q, rate)
    one, rates = np.linspace(0.1, 0.2, n), np.random.default_rng(0).uniform(-1.0, 1.0, (5, n))
    found = compute(one, rates)
    assert found["B"].shape == (5, n, n)
    for k in range(5):
        np.testing.assert_allclose(found["h"][k], compute(one, rates[k])["h"], rtol=1e-14)


def test_traced_values_are_refused():
    def of_length(scale):
        import dataclasses

        model = chain(1)
        return written_equations(dataclasses.replace(model, length=model.length * scale))

    with pytest.raises(ArmError, match="holds traced values"):
        jax.jit(of_length)(1.0)


def test_sympy_that_is_missing_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ImportError, match=r"jaxmodal\[symbolic\]"):
        to_sympy(written_equations(chain(1)))
