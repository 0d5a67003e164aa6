"""A call that waits for programs to be compiled says so once, at the level that is shown by default."""

import logging
import subprocess
import sys
import time
import types

import pytest

from jaxmodal.runtime import first_calls
from jaxmodal.runtime.first_calls import EVENTS, FirstCalls, line

COMPILE = f"{EVENTS}backend_compile_duration"


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(first_calls, "DELAY", 0.05)
    monkeypatch.setattr(first_calls, "GAP", 0.02)


def simulate(calls, seconds, programs=1, pause=0.0):
    """Programs that are compiled one after the other, as JAX tells of them."""
    for _ in range(programs):
        calls.began(COMPILE, 0.0)
        time.sleep(seconds)
        calls.ended(COMPILE, seconds)
        time.sleep(pause)


def of(module):
    """`simulate` as a function of another module."""
    own = simulate.__globals__ | {"__name__": module}
    return types.FunctionType(simulate.__code__, own, "simulate", simulate.__defaults__)


of_the_library = of("jaxmodal.dynamics.integration.simulation")


def said(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "jaxmodal"]


def test_a_long_wait_is_said_once(quick, caplog):
    calls = FirstCalls()
    for _ in range(2):
        of_the_library(calls, 0.3)
    assert len(said(caplog)) == 1
    assert said(caplog)[0].startswith("simulate compiles its programs")
    assert caplog.records[-1].levelno == logging.WARNING


def test_many_short_programs_are_one_wait(quick, caplog):
    of_the_library(FirstCalls(), 0.01, programs=30)
    assert len(said(caplog)) == 1


def test_programs_that_go_into_the_cache_are_counted():
    calls = FirstCalls()
    for event in ("hits", "misses", "misses"):
        calls.stored(f"/jax/compilation_cache/cache_{event}")
    assert calls.written == 2


def test_short_waits_are_not_said(quick, caplog):
    calls = FirstCalls()
    of_the_library(calls, 0.01, programs=4, pause=0.06)
    time.sleep(0.1)
    assert said(caplog) == []


def test_programs_of_others_are_not_spoken_of(quick, caplog):
    simulate(FirstCalls(), 0.3)
    assert said(caplog) == []


def test_a_command_has_a_line_of_its_own(quick, caplog):
    of("jaxmodal.cli.simulate")(FirstCalls(), 0.3)
    assert said(caplog) == []


def test_with_a_cache_the_line_says_where_the_programs_are_kept(monkeypatch, tmp_path):
    import jax

    before = jax.config.jax_compilation_cache_dir
    try:
        jax.config.update("jax_compilation_cache_dir", str(tmp_path))
        assert f"kept in {tmp_path}" in line("simulate")
        jax.config.update("jax_compilation_cache_dir", None)
        assert "jaxmodal.use_compilation_cache(folder)" in line("simulate")
    finally:
        jax.config.update("jax_compilation_cache_dir", before)


CODE = """
import jax; jax.config.update("jax_enable_x64", True); jax.config.update("jax_compilation_cache_dir", None)
import sys, numpy as np
import jaxmodal as jm, jaxmodal.dynamics as dynamics
from jaxmodal.runtime import first_calls
first_calls.DELAY = 0.05
arm = jm.examples.two_link_flexible()
jm.natural_frequencies(arm, 2)
model = dynamics.flexible_arm(arm, 1)
sys.stderr.write("|")
dynamics.linearise(model, np.zeros(4))
"""


def test_a_fresh_process_says_it_on_standard_error():
    """What NumPy computes says nothing; what compiles says which call of the user's waits."""
    answer = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    before, after = answer.stderr.split("|")
    assert "natural_frequencies" not in before
    assert after.startswith("linearise compiles its programs, which takes seconds to a minute")
    assert "jaxmodal.use_compilation_cache(folder)" in after
    assert len(after.splitlines()) == 1
