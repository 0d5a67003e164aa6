"""How many programs a run of the tests compiles, whether that is more than it may, and the processor time.

Most of the time of the tests goes into compiling. Times differ between machines, numbers of programs do not: a test
that compiles what it need not raises this number, on every machine, and in a whole run of the fast tests it fails.
"""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Iterator
from typing import Any

import pytest

BUDGET = 2050
"""Programs that all fast tests together may compile, in all processes of the run but the ones that they start.

What the cache of the run returns is not counted. Two workers may both compile what neither has stored, so that the
number varies by a few in a hundred from run to run. Operations on JAX arrays outside of a program are one each, of
17 ms of processor time: `jax.jit` makes one of them, NumPy none.
"""

_COMPILED = "/jax/core/compile/backend_compile_duration"
_FROM_CACHE = "/jax/compilation_cache/cache_hits"
_KEY = "compiled_programs"
_SECONDS = "processor_seconds"


def processor_seconds() -> float:
    """Of this process and of those that it started and that have ended; other work on the machine takes nothing."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


@contextlib.contextmanager
def names_of_programs() -> Iterator[list[str]]:
    """A list that grows by the names of what is compiled, or found in the cache on disk."""
    import jax

    names: list[str] = []

    def listen(name: str, _seconds: float, **about: Any) -> None:
        if name == _COMPILED:
            names.append(str(about.get("fun_name")))

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield names
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


class Budget:
    """Counts in every process, adds up in the one that reports, and fails a whole run that is above the budget."""

    def __init__(self, config: pytest.Config, fast: str) -> None:
        self.config = config
        self.number, self.seconds = 0, 0.0
        invocation = config.invocation_params
        self.whole = (
            config.args_source is pytest.Config.ArgsSource.TESTPATHS
            and config.option.markexpr == fast
            and not config.option.keyword
            and not any(config.getoption(name, None) for name in ("lf", "stepwise", "deselect"))
            and "--collect-only" not in invocation.args
        )
        if "jax" not in sys.modules:  # this process only starts workers, and adds up
            return
        import jax

        jax.monitoring.register_event_duration_secs_listener(self._compiled)
        jax.monitoring.register_event_listener(self._found)

    def _compiled(self, name: str, _seconds: float, **_about: Any) -> None:
        self.number += name == _COMPILED

    def _found(self, name: str, **_about: Any) -> None:
        self.number -= name == _FROM_CACHE  # the time of looking it up is reported as a compilation

    @property
    def exceeded(self) -> bool:
        """Whether this was all fast tests and they compiled too much."""
        return self.whole and self.number > BUDGET

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker has ended; one that crashed has no output."""
        sent = getattr(node, "workeroutput", {})
        self.number += sent.get(_KEY, 0)
        self.seconds += sent.get(_SECONDS, 0.0)

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        """A worker sends its number; the process that reports fails the run."""
        worker = hasattr(self.config, "workeroutput")
        if worker:  # before xdist sends it
            self.config.workeroutput[_KEY] = self.number
            self.config.workeroutput[_SECONDS] = processor_seconds()
        yield
        if not worker and self.exceeded and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say the number, and of a whole run what it may be."""
        line = f"{self.number} programs compiled"
        if self.whole:
            line += f", at most {BUDGET} allowed"
        # workers of xdist are children of this process, and have told their own
        seconds = self.seconds or processor_seconds()
        line += f"; {seconds:.0f} s of processor time"
        terminalreporter.write_line(line)
        if self.exceeded:
            terminalreporter.write_line(
                "FAILED: a test compiles what it need not, or a new one is not worth its programs; find it with"
                " JAX_LOG_COMPILES=1 in single files, solve concrete arms (NumPy), share shapes, or raise"
                " BUDGET in tests/support/compiled_programs.py and say what for",
                red=True,
            )
