"""Do the written texts compute what the formulas say: NumPy, JAX, C as compiled here, and SymPy?

C needs a compiler; without, its tests are skipped.
"""

import re
import shutil
import subprocess

import jax
import numpy as np
import pytest

from jaxmodal.runtime.errors import ArmError
from jaxmodal.symbolic import (
    function,
    linearised_equations,
    operation_counts,
    to_sympy,
    write,
    written_equations,
)
from tests.support.symbolic_arms import (
    PAPER,
    USUAL,
    arm_with_everything,
    chain,
    own_terms,
    states,
    worst,
)
from tests.support.written_forms import EVERYTHING, assert_same, written_to

ROUNDING = 1e-13
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
needs_compiler = pytest.mark.skipif(
    COMPILER is None, reason="no C compiler: none of cc, gcc, clang"
)


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
@pytest.mark.parametrize("links", [1, 2, 4])
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
        (lambda: write(equations, "c", "state"), "name = 'state'"),
        (lambda: write(equations, "c", "results"), "name = 'results'"),
        (lambda: write(equations, "c", "isnan"), "name = 'isnan'"),
        (lambda: write(equations, "c", "sinf"), "name = 'sinf'"),
        (lambda: write(equations, "c", "theta_1"), "name = 'theta_1'"),
        (lambda: function(equations, "c"), "form = 'c'"),
        (lambda: function(equations, ["x"]), "form = ['x']"),
        (lambda: function(model), "must be WrittenEquations"),
        (lambda: write(model, "c"), "must be WrittenEquations"),
        (lambda: operation_counts(model), "must be WrittenEquations"),
        (lambda: to_sympy(model), "must be WrittenEquations"),
        (lambda: to_sympy(equations, library="maxima"), "library = 'maxima'"),
    ):
        with pytest.raises(ArmError, match=re.escape(words)):
            call()


@pytest.mark.parametrize("form", ["numpy", "jax"])
def test_states_of_other_shapes_are_refused_and_batches_broadcast(form):
    equations = written_equations(chain(1), ["B", "h"])
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
    compute = jax.jit(compute) if form == "jax" else compute  # else each operation is a program
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
