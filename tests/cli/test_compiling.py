"""The line that says what is being compiled, from events that JAX would send: nothing is compiled here."""

import contextlib
import io
import sys
import threading
import time

import jax.monitoring
import pytest
from rich.console import Console

from jaxmodal.cli import compiling

TRACE, BACKEND = (
    "/jax/core/compile/jaxpr_trace_duration",
    "/jax/core/compile/backend_compile_duration",
)


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def watch_of(clock, terminal):
    console = Console(
        file=io.StringIO(), force_terminal=terminal, width=80, color_system=None, _environ={}
    )
    return compiling.Watch(console, clock)


@contextlib.contextmanager
def program(watch, name, event=BACKEND):
    watch.began(event, 0.0, fun_name=name)
    yield
    watch.ended(event, 1.0, fun_name=name)


def test_a_short_wait_is_not_worth_a_line(clock):
    watch = watch_of(clock, terminal=False)
    with program(watch, "jit_searched"):
        clock.now += 1.9
        assert watch.text() == ""
        clock.now += 0.2
        assert watch.text() == "compiling searched ..., 2 s"
    assert watch.text() == ""


def test_programs_one_after_the_other_are_one_wait(clock):
    watch = watch_of(clock, terminal=False)
    for name in ("jit(first)", "jit(second)"):
        with program(watch, name):
            clock.now += 1.5
    clock.now += 0.5
    with program(watch, "third"):
        clock.now += 0.5
        assert watch.text() == "compiling third ..., 4 s"
    clock.now += 1.1  # something else ran: a new wait
    with program(watch, "fourth"):
        clock.now += 1.5
        assert watch.text() == ""


def test_the_outermost_of_nested_programs_is_named(clock):
    watch = watch_of(clock, terminal=False)
    with program(watch, "searched", TRACE):
        clock.now += 3.0
        with program(watch, "sine", TRACE):
            clock.now += 1.0
            assert watch.text() == "compiling searched ..., 4 s"
        assert watch.text() == "compiling searched ..., 4 s"


def test_small_programs_are_not_named(clock):
    watch = watch_of(clock, terminal=False)
    for _ in range(40):
        with program(watch, "jit_add"):
            clock.now += 0.1
            assert watch.text() == ""


def test_a_program_of_another_thread_and_one_without_a_name(clock):
    watch = watch_of(clock, terminal=False)
    thread = threading.Thread(target=watch.began, args=(BACKEND, 0.0))
    thread.start()
    thread.join()
    with program(watch, "jit_here"):
        clock.now += 2.5
        assert watch.text() == "compiling a program ..., 2 s"
    assert watch.text() == "compiling a program ..., 2 s"


def test_other_events_and_an_end_without_a_beginning_are_nothing(clock):
    watch = watch_of(clock, terminal=False)
    watch.ended(BACKEND, 1.0)
    watch.began("/jax/compilation_cache/cache_hits", 0.0)
    clock.now += 10.0
    assert watch.text() == ""


def test_a_file_gets_a_line_every_ten_seconds_without_control_characters(clock):
    watch = watch_of(clock, terminal=False)
    with program(watch, "jit_searched"):
        for _ in range(100):
            clock.now += 0.25
            watch.tick()
    assert watch.console.file.getvalue() == (
        "compiling searched ..., 10 s\ncompiling searched ..., 20 s\n"
    )


def test_a_terminal_gets_a_line_that_goes_with_the_program(clock):
    watch = watch_of(clock, terminal=True)
    with program(watch, "jit_searched"):
        watch.tick()
        assert watch.console.file.getvalue() == ""
        clock.now += 3.0
        watch.tick()
        watch._line.refresh()
        assert "compiling searched ..., 3 s" in watch.console.file.getvalue()
    assert watch._line is None  # at once, not with the next tick: results may be printed now
    assert watch.console.file.getvalue().endswith("\x1b[1A\x1b[2K")


def test_a_bar_shows_it_in_place_of_the_line(clock, monkeypatch):
    watch = watch_of(clock, terminal=True)
    monkeypatch.setattr(compiling, "_current", watch)
    with program(watch, "jit_searched"):
        clock.now += 3.0
        watch.tick()
        assert watch._line is not None
        with compiling.Bar(console=watch.console, auto_refresh=False) as bar:
            assert watch._line is None
            watch.tick()
            assert watch._line is None
            bar.refresh()
            assert watch.console.file.getvalue().endswith("compiling searched ..., 3 s")
        watch.tick()
        assert watch._line is not None


def test_the_events_of_jax_arrive_and_listeners_go_again(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "__stderr__", stream)
    for name, value in (("DELAY", 0.0), ("NAMED", 0.0), ("EVERY", 0.1)):
        monkeypatch.setattr(compiling, name, value)
    with compiling.watched():
        jax.monitoring.record_scalar(BACKEND, time.time(), fun_name="jit_searched")
        limit = time.monotonic() + 30.0
        while not stream.getvalue() and time.monotonic() < limit:
            time.sleep(0.02)
        jax.monitoring.record_event_duration_secs(BACKEND, 0.1, fun_name="jit_searched")
        assert compiling._current.text() == ""
    assert stream.getvalue().startswith("compiling searched ..., 0 s\n")
    printed = stream.getvalue()
    jax.monitoring.record_scalar(BACKEND, time.time(), fun_name="jit_searched")
    jax.monitoring.record_event_duration_secs(BACKEND, 0.1, fun_name="jit_searched")
    assert stream.getvalue() == printed


def test_nothing_is_said_where_python_has_taken_standard_error_over(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with compiling.watched():
        assert compiling._current is None
