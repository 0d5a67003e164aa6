"""Is double-double refused, and no number given, where sums and products are not what it rests on?"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arithmetic import double_double as dd
from jaxmodal.arithmetic import exactness
from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.arithmetic.operations import Arithmetic, number
from tests.support.commands import run_command
from tests.support.compiled_programs import names_of_programs

ARM = jm.examples.two_link_flexible()


@pytest.fixture(autouse=True)
def asked_anew():
    """What was found before stays for the other tests."""

    forget()
    yield
    forget()


def forget():
    exactness._fault_of_numpy.cache_clear()
    exactness._asked.cache_clear()


def in_numpy():
    return number(np.ones(2), Arithmetic.double_double)


def traced():
    return jax.jit(lambda x: number(x, Arithmetic.double_double).hi)(np.ones(2))


def without_error(result):
    """What an error-free operation is to a compiler of real numbers: its error is zero."""
    return result, 0.0 * result


SPOILED = {
    "sum": (dd, "_two_sum", lambda a, b: without_error(a + b)),
    "sum of a large and a small number": (dd, "_fast_two_sum", lambda a, b: without_error(a + b)),
    "parts of a factor": (dd, "_split", lambda a: without_error(1.0 * a)),
    "product": (dd, "_two_product", lambda a, b: without_error(a * b)),
    "root": (dd, "sqrt", lambda x: dd.as_double_double(x.hi**0.5)),
    "quotient": (DoubleDouble, "__truediv__", lambda x, y: dd.as_double_double(x.hi / y.hi)),
}


@pytest.mark.parametrize(
    ("begin", "where"), [(in_numpy, "in NumPy"), (traced, "on the backend 'cpu' of jax")]
)
@pytest.mark.parametrize("operation", SPOILED)
def test_an_operation_that_loses_its_rounding_error_is_found(monkeypatch, operation, begin, where):
    begin()
    forget()
    monkeypatch.setattr(*SPOILED[operation])
    for _ in range(2):  # it stays refused
        with pytest.raises(
            jm.InexactArithmeticError, match=f"fails {where} .*: a .* is off by"
        ) as e:
            begin()
    assert "where 1e-30 is allowed. No number" in str(e.value)


@pytest.mark.parametrize("name", ["root", "quotient"])
def test_the_operation_at_fault_is_named(monkeypatch, name):
    monkeypatch.setattr(*SPOILED[name])
    with pytest.raises(jm.InexactArithmeticError, match=f"a {name} is off by"):
        in_numpy()


def test_no_answer_in_numpy_rests_on_spoiled_sums(monkeypatch):
    monkeypatch.setattr(*SPOILED["sum"])
    for asked in (
        lambda: jm.natural_frequencies(ARM, 2),
        lambda: jm.natural_frequencies(ARM, 2, throw=False),
        lambda: jm.count_below(ARM, 10.0),
        lambda: jm.certify(ARM, np.ones(1)),
        lambda: jm.frequencies_in_band(ARM, 0.0, 10.0),
        lambda: jm.natural_frequencies(jm.to_spatial(ARM), 2),
        lambda: jm.posture_series(ARM, 20.0),
    ):
        with pytest.raises(jm.InexactArithmeticError):
            asked()


def test_commands_say_so_in_one_message(monkeypatch):
    monkeypatch.setattr(*SPOILED["sum"])
    result = run_command("frequencies", "example:two_link_flexible")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: double-double arithmetic fails in NumPy ")
    assert result.stdout == ""


RELAXED = """
import jax; jax.config.update("jax_enable_x64", True)
import numpy as np, jaxmodal as jm
arm = jm.examples.two_link_flexible()
print(jm.natural_frequencies(arm, 2).certified.tolist())  # in NumPy
cells = {"payload.mass": np.linspace(0.1, 0.2, 3)}
for asked in (
    lambda: jax.jit(lambda x: jm.natural_frequencies(arm.with_posture([x]), 2).omega)(0.5),
    lambda: jax.vmap(lambda x: jm.count_below(arm.with_posture([x]), 5.0))(np.array([0.1, 0.5])),
):
    try:
        print("DIGITS", asked())
    except jm.InexactArithmeticError as error:
        print(error)
"""


def test_a_compiler_that_takes_numbers_for_real_ones_is_refused():
    """XLA with the flag that relaxes arithmetic leaves 16 of 32 digits, and frequencies looked certified."""
    flags = {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true"}
    result = subprocess.run(
        [sys.executable, "-c", RELAXED], capture_output=True, text=True, env=os.environ | flags
    )
    first, *refusals = result.stdout.splitlines()
    assert first == "[True, True]", result.stderr
    assert len(refusals) == 2
    for refusal in refusals:
        assert "fails on the backend 'cpu' of jax" in refusal
        assert "take flags that relax arithmetic, such as --xla_cpu_enable_fast_math" in refusal


def test_a_backend_is_asked_once_also_inside_of_what_is_traced():
    def length(x):
        return number(x, Arithmetic.double_double).hi.sum()

    with names_of_programs() as names, ThreadPoolExecutor(3) as pool:
        for _ in pool.map(lambda n: jax.make_jaxpr(length)(np.ones(n)), (2, 3, 4)):
            pass  # programs are compiled side by side
        jaxpr = jax.make_jaxpr(jax.vmap(jax.grad(length)))(np.ones((3, 2)))
        number(jnp.ones(2), Arithmetic.double_double)
    assert names.count("double_double_check") <= 1  # none, where a cache has it
    backends = {jax.devices()[0].platform, "cpu"}  # what is traced may run on either
    assert exactness._asked.cache_info().misses == len(backends)
    assert "bitcast" not in str(jaxpr), "the check is no part of the program"


def test_numpy_needs_no_program():
    with names_of_programs() as names:
        in_numpy()
    assert names == []


def test_a_backend_that_is_not_there_is_not_asked():
    assert exactness._fault_of_backend("no such backend") == ""
