"""The cache of compiled programs that commands use by themselves: real processes with one small program."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from jaxmodal.runtime import default_cache
from tests.support.commands import run_command

try:
    import resource
except ImportError:  # not Unix
    resource = None

ROOT = Path(__file__).parent.parent.parent

#: the command line with two commands more: `tiny` compiles a small program and says where programs are kept, `damage`
#: spoils what is kept. Several commands, with "then" between, run one after the other: what one sets or compiles is put
#: back and forgotten before the next, and NAME=VALUE before a command stands in its environment
TINY = """
import click, contextlib, io, jax, json, os, pathlib, sys
from jax.experimental.compilation_cache import compilation_cache
from jaxmodal.cli.commands import main

told = {}

@main.command()
@click.argument("words", nargs=-1)
def tiny(words):
    import jax.numpy as jnp
    events = []
    jax.monitoring.register_event_listener(lambda event, **_: events.append(event.rpartition("/")[2]))
    values = jax.jit(lambda x: jnp.sin(x) * 2.0 + jnp.cumsum(x))(jnp.arange(3.0)).tolist()
    folder = jax.config.jax_compilation_cache_dir
    told.update(values=values, words=words, folder=folder, hits=events.count("cache_hits"))

@main.command()
@click.argument("folder")
def damage(folder):
    for number, path in enumerate(sorted(it for it in pathlib.Path(folder).rglob("*") if it.is_file())):
        whole = path.read_bytes()
        path.write_bytes((b"not a program", whole[: len(whole) // 2], b"")[number % 3])

at_first = jax.config.jax_compilation_cache_dir
for command in " ".join(sys.argv[1:]).split(" then "):
    jax.config.update("jax_enable_compilation_cache", True)
    jax.config.update("jax_compilation_cache_dir", at_first)
    compilation_cache.reset_cache()
    jax.clear_caches()
    told.clear()
    words = command.split()
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        os.environ[name] = value
        if name == "JAX_COMPILATION_CACHE_DIR":  # as JAX reads it when it is imported
            at_first = value or None
            jax.config.update("jax_compilation_cache_dir", at_first)
        if name == "LARGEST_FILE":
            import resource
            sys.dont_write_bytecode = True  # Python would keep half a file of it
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(value), resource.RLIM_INFINITY))
    with contextlib.redirect_stderr(io.StringIO()) as said:
        main(words, prog_name="jaxmodal", standalone_mode=False)
    print(json.dumps({**told, "said": said.getvalue()}))
"""


def start(*commands, cache, variables=None):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("JAX_COMPILATION_CACHE")}
    environment = kept | {"PYTHONPATH": str(ROOT), default_cache.VARIABLE: str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", TINY, " then ".join(commands)],
        env=environment | (variables or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """What each command of the process told."""
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    assert stderr == ""
    return [json.loads(line) for line in stdout.splitlines()]


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture(autouse=True)
def no_cache_of_the_tests(monkeypatch):
    """Commands that run in this process find JAX as users have it: without a folder."""
    settings = SimpleNamespace(jax_compilation_cache_dir=None, jax_enable_compilation_cache=True)
    monkeypatch.setattr(default_cache, "_settings", settings)
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(default_cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


WITHOUT = ("--no-cache tiny a", "tiny a --no-cache", "tiny --no-cache -- --no-cache")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What three processes tell, by question, and the programs that the first two keep; a process costs a second.

    Two begin at once with one empty cache, of which one goes on without any. The third is started with a folder of
    JAX's.
    """
    place = tmp_path_factory.mktemp("told")
    shared, full, mine, file = (place / name for name in ("shared", "full", "mine", "file"))
    file.write_text("")
    variable = f"{default_cache.VARIABLE}="
    off = [f"{variable}{place / 'none'} {command}" for command in WITHOUT]
    off += [f"{variable}off tiny b", f"{variable}{file} tiny c"]
    at_once = [start("tiny", cache=shared), start("tiny", *off, cache=shared)]
    (first,), (other, *off) = (finish(process) for process in at_once)
    programs, mode = files(shared), shared.stat().st_mode & 0o777
    again = f"JAX_COMPILATION_CACHE_DIR= {variable}{shared} tiny"
    later = [again, f"damage {shared}", "tiny", "tiny"]
    small = [f"LARGEST_FILE=100 {variable}{full} tiny", "LARGEST_FILE=-1 tiny"]
    commands = ["tiny", *later, *(small if resource else ())]
    third = start(
        *commands, cache=place / "none", variables={"JAX_COMPILATION_CACHE_DIR": str(mine)}
    )
    of_jax, again, _, damaged, mended, *small = finish(third)
    return SimpleNamespace(
        place=place, programs=programs, mode=mode, at_once=(first, other), off=off,
        of_jax=of_jax, later=(again, damaged, mended), small=small,
    )  # fmt: skip


def test_two_processes_at_once_then_one_that_compiles_nothing_then_damaged_programs(told):
    first, other = told.at_once
    assert first["values"] == other["values"]
    assert first["said"] == other["said"] == ""
    assert told.programs
    assert told.mode == 0o700
    again, *later = told.later
    assert again["said"] == ""
    assert again["hits"] == len(told.programs)
    assert again["values"] == first["values"]
    # compiled and kept anew
    assert later == [again | {"hits": hits} for hits in (0, len(told.programs))]


def test_no_cache_stands_before_or_after_the_command_and_what_is_wrong_is_one_line(told):
    """Also where the cache is off, and where its folder is a file."""
    words = (["a"], ["a"], ["--no-cache"], ["b"], ["c"])
    for found, own in zip(told.off, words, strict=True):
        assert (found["folder"], found["words"]) == (None, own)
    assert not (told.place / "none").exists()
    *silent, wrong = told.off
    assert not any(found["said"] for found in silent)
    (line,) = wrong["said"].splitlines()
    assert line.startswith("warning: compiled programs are not kept: ")
    assert "is a file; expected a folder" in line
    assert default_cache.VARIABLE in line


def test_a_cache_of_jax_is_the_one(told):
    assert told.of_jax["folder"] == str(told.place / "mine")
    assert not (told.place / "none").exists()


@pytest.mark.skipif(resource is None, reason="only Unix limits the size of files")
def test_a_full_disk_is_one_line_and_no_more(told):
    """The limit on the size of files makes the operating system refuse the write."""
    found, after = told.small
    assert found["values"] == told.at_once[0]["values"]
    (line,) = found["said"].splitlines()
    assert "cannot be written (OSError: [Errno 27] File too large)" in line
    assert (after["hits"], after["said"]) == (0, "")  # what is there is cut off
    assert after["folder"] == found["folder"]


# ---- jaxmodal cache ----


def programs_in(folder, count=2):
    below = folder / default_cache.subfolder()
    below.mkdir(parents=True)
    for number in range(count):
        (below / f"jit_f-{number:064x}-cache").write_bytes(bytes(600_000))


def test_cache_says_where_and_how_large(folder):
    programs_in(folder)
    result = run_command("cache")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        str(folder),
        "2 programs, 1.2 MB; at most 500 MB when a command starts",
    ]
    assert run_command("cache", "where").stdout == f"{folder}\n"


def test_cache_makes_no_folder(folder):
    assert "0 programs, 0.0 MB" in run_command("cache").stdout
    assert run_command("cache", "clear").stdout == f"removed 0 programs, 0.0 MB from {folder}\n"
    assert not folder.exists()


def test_clear_removes_programs_of_all_versions_and_nothing_else(folder):
    programs_in(folder, 1)
    others = folder / "jax-0.9.1-jaxlib-0.9.1-0123456789ab"
    others.mkdir()
    (others / f"jit_g-{1:064x}-cache").write_bytes(bytes(400_000))
    (folder / f"jit_h-{1:064x}-cache").write_bytes(bytes(100_000))  # of use_compilation_cache here
    mine = folder / "thesis"
    mine.mkdir()
    (mine / "chapter-cache").write_text("years of work")
    result = run_command("cache", "clear")
    assert result.stdout == f"removed 3 programs, 1.1 MB from {folder}\n"
    assert files(folder) == [mine / "chapter-cache"]


@pytest.mark.parametrize("off", ["off", "0", "OFF"])
def test_a_cache_that_is_off(off, monkeypatch):
    monkeypatch.setenv(default_cache.VARIABLE, off)
    assert run_command("cache").stdout == f"off: JAXMODAL_CACHE is {off!r}\n"
    for command in ("where", "clear"):
        result = run_command("cache", command)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert f"JAXMODAL_CACHE = {off!r}" in result.stderr
        assert "expected a folder" in result.stderr


def test_a_folder_of_jax_is_mentioned(folder, monkeypatch):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "/elsewhere")
    assert "JAX keeps programs in /elsewhere" in run_command("cache").stdout
