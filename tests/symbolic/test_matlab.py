"""The MATLAB text computes what the formulas say.

MATLAB is not at hand where tests run: each line must be of the few forms that MATLAB and this test both know, and is
then computed here; with GNU Octave the file is run as well.
"""

import re
import shutil
import subprocess

import numpy as np
import pytest

from jaxmodal.symbolic import function, write, written_equations
from tests.support.symbolic_arms import arm_with_everything, chain, states
from tests.support.written_forms import EVERYTHING, assert_same, written_to

OCTAVE = shutil.which("octave-cli") or shutil.which("octave")
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
