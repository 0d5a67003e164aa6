"""Settings of the compiler: they take effect or say why not, and change no number."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.runtime import compilation

ANGLES = np.linspace(0.0, 3.0, 600)

PROGRAM = """
import sys
import jax; jax.config.update("jax_enable_x64", True)
import numpy as np, jaxmodal as jm
arm, angles = jm.examples.two_link_flexible(), np.linspace(0.0, 3.0, 600)
if sys.argv[1] == "plain":
    found = jm.natural_frequencies_batch(arm, {"link2.joint_angle": angles}, 3, kernel="portable")
else:
    jm.tune_cpu()
    jm.use_compilation_cache(sys.argv[1])
    found = jax.jit(jax.vmap(lambda x: jm.natural_frequencies(arm.with_posture([x]), 3)))(angles[::10])
print(bool(found.certified.all()), *(x.hex() for x in np.asarray(found.omega).ravel().tolist()))
"""


def run(*arguments, **flags):
    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"} | flags
    return subprocess.run(
        [sys.executable, "-c", *arguments], capture_output=True, text=True, env=environment
    )


@pytest.mark.slow
def test_frequencies_do_not_depend_on_the_settings_or_the_cache(tmp_path):
    """The programs of batches as they are, those of single arms tuned and from a cache: both give what NumPy gives."""
    cache = str(tmp_path / "cache")
    runs = [run(PROGRAM, name) for name in ("plain", cache, cache)]
    assert all(r.returncode == 0 for r in runs), runs[0].stderr + runs[1].stderr
    at_once = jm.natural_frequencies_batch(
        jm.examples.two_link_flexible(), {"link2.joint_angle": ANGLES}, 3
    )
    truth = np.asarray(at_once.omega)
    for result, expected in zip(runs, (truth, truth[::10], truth[::10]), strict=True):
        certified, *omega = result.stdout.split()
        assert certified == "True"
        found = np.array([float.fromhex(x) for x in omega]).reshape(expected.shape)
        assert np.max(np.abs(found / expected - 1.0)) < 1e-13
    assert runs[1].stdout == runs[2].stdout
    assert any((tmp_path / "cache").iterdir())


KEPT = """
import sys
import jax; jax.config.update("jax_enable_x64", True)
import numpy as np, jaxmodal as jm
jm.use_compilation_cache(sys.argv[1])
arm = jm.Arm(jm.examples.two_link_flexible().links[:1])
print(jax.jit(lambda x: jm.count_below(jm.set_parameters(arm, {"link1.length": x}), 5.0))(0.5))
"""


def told_of_programs(text):
    """Names of programs that JAX's log says were loaded from its cache, and of those that were not found there."""
    words = "Persistent compilation cache hit", "PERSISTENT COMPILATION CACHE MISS"
    return [set(re.findall(rf"{each} for '(.*?)'", text)) for each in words]


def test_a_program_compiled_once_is_loaded_by_the_next_process(tmp_path):
    """By what JAX itself says in its log; compiled as fast as can be, as in this process."""
    told, printed = [], []
    for _ in range(2):
        told_all = {"JAX_LOG_COMPILES": "1", "JAX_EXPLAIN_CACHE_MISSES": "1"}
        told_all["XLA_FLAGS"] = os.environ["XLA_FLAGS"]
        result = run(KEPT, str(tmp_path / "cache"), **told_all)
        assert result.returncode == 0, result.stderr
        told.append(told_of_programs(result.stderr))
        printed.append(result.stdout)
    (loaded_first, compiled_first), (loaded, compiled) = told
    assert compiled_first >= {"jit__lambda", "jit_double_double_check"}
    assert not loaded_first
    assert loaded == compiled_first
    assert not compiled
    assert printed[0] == printed[1]


def test_tuning_takes_effect_before_the_first_program(monkeypatch):
    """It sets the flags; XLA has read them in time in this process (tests/conftest.py), so that they are seen."""
    monkeypatch.delenv("XLA_FLAGS")
    jm.tune_cpu()
    assert os.environ["XLA_FLAGS"].split() == list(compilation.CPU_FLAGS)
    assert compilation.loops_are_kernels()


def test_other_options_and_tuning_too_late_are_refused_and_another_cache_takes_over(tmp_path):
    """Compiles one addition, for the folder of the environment and then for another."""
    words = """
import os, sys, jax, jax.numpy as jnp, jaxmodal as jm
try:
    jm.tune_cpu()
except jm.CompilationError as error:
    print(error)
del os.environ["XLA_FLAGS"]
jax.jit(lambda x: x + 1.0)(jnp.ones(3))
jm.use_compilation_cache(sys.argv[1])
jax.jit(lambda x: x + 2.0)(jnp.ones(3))
print("before", jm.runtime.compilation.loops_are_kernels())  # jax 0.12 makes kernels of loops by itself
jm.tune_cpu()
"""
    first, second = tmp_path / "first", tmp_path / "second"
    options = "--xla_backend_extra_options=xla_cpu_disable_loop_unrolling=true"
    result = run(words, str(second), JAX_COMPILATION_CACHE_DIR=str(first), XLA_FLAGS=options)
    assert "xla_cpu_disable_loop_unrolling" in result.stdout, result.stderr
    assert any(second.iterdir()), result.stderr
    if "before True" in result.stdout:
        assert result.returncode == 0, result.stderr
    else:
        assert result.returncode != 0
        assert "CompilationError: tune_cpu() came too late" in result.stderr


def test_flags_of_the_caller_stay(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_prefer_vector_width=128")
    compilation.add_cpu_flags()
    assert os.environ["XLA_FLAGS"].split() == [
        "--xla_cpu_prefer_vector_width=128",
        compilation.CPU_FLAGS[0],
    ]


def test_a_cache_that_others_can_write_to_is_refused(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(jm.CompilationError, match="chmod go-w"):
        jm.use_compilation_cache(folder)


def test_a_file_is_no_cache(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(jm.CompilationError, match="is a file"):
        jm.use_compilation_cache(tmp_path / "file")
    with pytest.raises(jm.CompilationError, match="cannot be created"):
        jm.use_compilation_cache(tmp_path / "file" / "below")


def test_a_bound_removes_the_programs_unused_for_longest(tmp_path, monkeypatch):
    monkeypatch.setattr(compilation.jax.config, "update", lambda *_: None)
    new, middle, old = (tmp_path / f"jit_{name}-{'ab' * 32}-cache" for name in "nmo")
    for age, path in enumerate((new, middle, old)):
        path.write_bytes(bytes(100))
        os.utime(path, (1e9 - age, 1e9 - age))
    other = tmp_path / "chapter-cache"
    other.write_bytes(bytes(1000))
    assert jm.use_compilation_cache(tmp_path, max_bytes=200) == tmp_path
    assert {*tmp_path.iterdir()} == {new, middle, other}


def test_a_bound_below_zero_is_refused(tmp_path):
    with pytest.raises(jm.CompilationError, match=r"max_bytes = -1: expected .* 0 or more"):
        jm.use_compilation_cache(tmp_path, max_bytes=-1)


@pytest.mark.parametrize("once", [False, True])
def test_programs_that_compile_sooner_are_functions_as_jit_makes_them(once, monkeypatch):
    """Alone with the options, within other programs and derivatives without; numbers are the same to rounding."""
    import functools

    import jax

    options, asked = compilation._sooner(once), []
    assert options in ({}, compilation._RUN_ONCE if once else compilation._OLDER_KERNELS)
    monkeypatch.setattr(compilation, "_sooner", lambda once: asked.append(once) or options)

    @functools.partial(compilation.compiled_sooner, runs_once=once, static_argnames="power")
    def function(x, power=2):
        """What it does."""
        return (x * np.sin(1.0)) ** power

    assert function.__doc__ == "What it does."
    slope = jax.jit(jax.grad(function))(1.5)
    assert abs(slope - 3.0 * np.sin(1.0) ** 2) < 1e-14
    # in another program with values that are known
    found = jax.jit(lambda x: x + function(2.0))(1.0)
    assert abs(found - 1.0 - (2.0 * np.sin(1.0)) ** 2) < 1e-14
    squares = jax.vmap(function)(np.arange(3.0))
    np.testing.assert_allclose(squares, (np.arange(3.0) * np.sin(1.0)) ** 2, rtol=1e-14, atol=0.0)
    assert asked == []
    for _ in range(2):
        assert abs(function(2.0, power=3) - (2.0 * np.sin(1.0)) ** 3) < 1e-14
    assert asked == [once]
