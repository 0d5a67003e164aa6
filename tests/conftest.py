"""Settings of every test: double precision first, strict promotion, annotations checked, few programs compiled."""

import atexit
import contextlib
import gc
import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from importlib.util import cache_from_source
from pathlib import Path

# matrices of a few hundred columns: several threads of BLAS wait for each other longer than they compute, the
# workers' above all. Read when the library is loaded, by the workers of xdist and by what a test starts
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("JAXMODAL_CACHE", "off")  # nothing of a test is kept in the user's cache

import pytest

from tests.support.compiled_programs import Budget

FAST = "not slow"
"""The marks that pyproject.toml selects: the fast tests."""


LONGEST = {
    "test_frequencies_do_not_depend_on_the_settings_or_the_cache",
    "test_a_single_mode_method_needs_more_iterations_and_ends_nowhere",
    *("test_a_classical_cantilever_of_32_segments", "test_the_two_methods_agree"),
    *("test_counts_of_a_thousand_random_arms", "test_the_lightest_free_beam"),
    *("test_feed_forward_moves_a_stiff_arm_as_told", "test_hundreds_of_arms"),
    "test_the_built_in_arm_in_space_becomes_lighter",
    *("test_one_core_gives_the_same_bits_as_two", "test_a_small_run_on_the_cpu_writes_a_report"),
    "test_the_command_writes_the_published_report_again_and_shows_what_the_texts_state",
    *("test_snippets", "test_events_batches_and_derivatives", "test_classical_cantilevers"),
    "test_all_that_takes_a_motion_takes_a_base_that_floats",
    *(
        "test_let_go_it_moves_as_geometrically_exact_beams_do",
        "test_damped_modes_beside_differences",
    ),
    "test_the_worst_posture_of_the_six_axis_arm_is_below_random_postures",
    *("test_quick_mode_writes_report_and_page", "test_hundreds_of_round_trips"),
    "test_hessian_against_differences_of_gradients",
}
"""Tests of half a minute and more, by name: each would be what one worker waits for while another ends the run."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest first, the others as they stand; all workers have them in one order, whatever their own was."""
    if worker_number(config) is not None:
        items.sort(key=lambda item: item.path.parts)
    items.sort(key=lambda item: getattr(item, "originalname", item.name) not in LONGEST)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Every second worker reads the test files from the last to the first.

    Where nothing has bytecode yet, workers in step would all compile all files: so they meet in the middle.
    """
    report = yield
    if is_second(collector.config) and isinstance(collector, pytest.Directory):
        report.result.reverse()
    return report


def worker_number(config: pytest.Config) -> int | None:
    """The number of this worker of xdist, None of a process that is none."""
    name = getattr(config, "workerinput", {}).get("workerid", "")
    return int(name.removeprefix("gw")) if name else None


def is_second(config: pytest.Config) -> bool:
    """Whether this is every second worker."""
    return (worker_number(config) or 0) % 2 == 1


def pytest_configure(config: pytest.Config) -> None:
    """What must stand before the library is imported, by the tests or by what they start.

    The process that only starts workers imports neither the library nor JAX: the workers wait for it.
    """
    keep_in_temporary_folders()
    starts_workers = config.getoption("dist", "no") != "no" and not config.option.collectonly
    if not starts_workers:
        if is_second(config):
            import_what_is_beside_jax()
        prepare_tests(fast=config.option.markexpr == FAST)
    config.pluginmanager.register(Budget(config, FAST), "budget of compiled programs")


def keep_in_temporary_folders() -> None:
    """Programs and bytecode are kept for all workers and subprocesses of a run, and deleted after it."""
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        os.environ["JAX_COMPILATION_CACHE_DIR"] = folder_of_this_run()
    if sys.dont_write_bytecode and not Path(cache_from_source(pytest.__file__)).exists():
        # an environment without bytecode that may get none: each process would compile all that it imports
        sys.dont_write_bytecode = False
        sys.pycache_prefix = folder_of_this_run()
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix


def folder_of_this_run() -> str:
    """A new folder, deleted when this process ends."""
    folder = tempfile.mkdtemp(prefix="jaxmodal-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def import_what_is_beside_jax() -> None:
    """Packages that the tests need and that need no JAX: while one worker compiles JAX, the next compiles these."""
    for name in (
        "scipy.stats",
        "scipy.optimize",
        "xarray",
        "matplotlib.pyplot",
        "sympy",
        "zarr",
        "hypothesis",
    ):
        with contextlib.suppress(ImportError):  # those of an extra that is not installed
            importlib.import_module(name)


def prepare_tests(fast: bool) -> None:
    """JAX and the library as all tests need them, programs compiled as fast as can be."""
    import jax

    jax.config.update("jax_enable_x64", True)  # first, before any array
    jax.config.update("jax_numpy_rank_promotion", "raise")
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    # tracing makes many objects and little garbage: collecting it is a fifth of its time
    gc.set_threshold(50_000, 20, 100)

    from jaxtyping import install_import_hook

    from tests.support import annotation_checks

    annotation_checks.install()
    modules, checker = annotation_checks.CHECKED, "checked_everywhere"
    if fast:
        modules, checker = annotation_checks.CHECKED_IN_FAST_TESTS, "checked"
    install_import_hook(modules, f"tests.support.annotation_checks.{checker}")

    from jaxmodal.runtime.compilation import add_cpu_flags

    add_cpu_flags()  # as the command line does: compiling takes half the time
    if os.environ.get("JAXMODAL_TESTS_OPTIMISE") != "1":
        # the formulas are tested, and an eighth of the compile time spent
        os.environ["XLA_FLAGS"] += " --xla_backend_optimization_level=0"
        # as workers share the cores, each runs a program's parts one after the other
        os.environ["XLA_FLAGS"] += " --xla_cpu_enable_concurrency_optimized_scheduler=false"
        if jax.__version_info__ < (0, 11):  # an XLA that does not know a flag ends the process
            os.environ["XLA_FLAGS"] += " --xla_cpu_use_fusion_emitters=false"
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    for name in (
        "compilation_cache_dir",
        "persistent_cache_min_compile_time_secs",
        "persistent_cache_min_entry_size_bytes",
    ):
        _CACHE[f"jax_{name}"] = os.environ[f"JAX_{name.upper()}"]
    share_programs()

    from hypothesis import settings

    settings.register_profile("local", deadline=None, max_examples=50)
    settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True)
    settings.load_profile("ci" if os.environ.get("CI") else "local")


def share_programs() -> None:
    """Programs are kept where the run keeps them, by the variables of the environment of its first moments."""
    import jax

    for name, text in _CACHE.items():
        kind = str if name.endswith("dir") else type(jax.config.values[name])
        jax.config.update(name, text if kind is str else kind(float(text)))


_CACHE: dict[str, str] = {}
"""Settings of JAX's cache on disk, as `prepare_tests` found them."""


@pytest.fixture(autouse=True)
def cache_of_the_run() -> Iterator[None]:
    """An example that takes another cache gives it back; all tests of its process after it would compile anew."""
    yield
    import jax

    if _CACHE and jax.config.jax_compilation_cache_dir != _CACHE["jax_compilation_cache_dir"]:
        from jax.experimental.compilation_cache import compilation_cache

        share_programs()
        compilation_cache.reset_cache()


@pytest.fixture(scope="module")
def on_a_cpu() -> Iterator[None]:
    """The choices of a batch are those of a CPU, also where JAX sees a GPU: what is asked is how many, not how good."""
    import jax

    with jax.default_device(jax.devices("cpu")[0]):
        yield


MEMORY_MAPS = 20_000
"""Compiled programs are dropped beyond. Linux allows a process 65,530 maps; LLVM crashes where it gets no more."""


@pytest.fixture(autouse=True)
def bounded_number_of_memory_maps() -> Iterator[None]:
    """The tests of one process compile more programs than its memory maps suffice for, those of one file may, too."""
    from jaxmodal.runtime.first_calls import programs_begun
    from jaxmodal.runtime.memory_maps import memory_maps

    before = programs_begun()
    yield
    if programs_begun() > before and memory_maps() > MEMORY_MAPS:
        import jax

        jax.clear_caches()
        gc.collect()
