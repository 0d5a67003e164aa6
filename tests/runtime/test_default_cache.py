"""The cache that is used without being asked: its place, its bound, what is wrong with it, and workers of sweeps."""

import operator
import os
import pickle
import warnings
from pathlib import Path
from types import SimpleNamespace

import platformdirs
import pytest

import jaxmodal as jm
from jaxmodal.runtime import cache_files, default_cache
from sweeps.store import on_workers


@pytest.fixture
def no_setting(monkeypatch):
    """JAX's settings as at the start of a process; those of this process stay as they are."""
    used = []
    settings = SimpleNamespace(jax_compilation_cache_dir=None, jax_enable_compilation_cache=True)
    monkeypatch.setattr(default_cache, "_settings", settings)
    monkeypatch.setattr(
        default_cache, "use_compilation_cache", lambda path: used.append(path) or path
    )
    settings.used = used
    with warnings.catch_warnings():
        yield settings


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(default_cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def entry(folder, name, size, used):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{0:064x}-cache"
    path.write_bytes(bytes(size))
    os.utime(path, (used, used))
    return path


def no_words(line):
    raise AssertionError(line)


@pytest.mark.parametrize("value", ["", " ", "1", "on"])
def test_the_place_is_the_users_cache_folder(value, monkeypatch):
    monkeypatch.setenv(default_cache.VARIABLE, value)
    assert default_cache.root() == platformdirs.user_cache_path("jaxmodal", appauthor=False)


def test_a_user_without_a_home_folder(monkeypatch):
    def unknown(_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", unknown)
    monkeypatch.setenv(default_cache.VARIABLE, "~/cache")
    with pytest.raises(jm.CompilationError, match="JAXMODAL_CACHE, or 'off'"):
        default_cache.root()
    with pytest.raises(jm.CompilationError, match="name a folder without ~"):
        jm.use_compilation_cache("~/cache")


def test_the_part_of_the_cache_is_named_after_versions_and_processor():
    assert default_cache._PART.fullmatch(default_cache.subfolder())


def test_a_cache_is_used_and_bounded_and_other_files_stay(folder, no_setting, monkeypatch):
    monkeypatch.setattr(default_cache, "MAX_BYTES", 100)
    mine = entry(folder / "thesis", "chapter", 1000, used=1e9)
    entry(folder / "jax-0.9.1-jaxlib-0.9.1-0123456789ab", "old", 60, used=1e9)
    young = entry(folder / default_cache.subfolder(), "young", 60, used=1.1e9)
    assert default_cache.use_default_cache(no_words) == folder / default_cache.subfolder()
    assert no_setting.used == [folder / default_cache.subfolder()]
    assert default_cache.kept() == cache_files.entries(young.parent)
    assert [found.path for found in default_cache.kept()] == [young]
    assert mine.exists()


@pytest.mark.parametrize(
    "changed", [{"jax_compilation_cache_dir": "/mine"}, {"jax_enable_compilation_cache": False}]
)
def test_settings_of_jax_are_respected(changed, folder, no_setting):
    vars(no_setting).update(changed)
    assert default_cache.use_default_cache(no_words) is None
    assert no_setting.used == []
    assert not folder.exists()


def test_a_cache_that_others_can_write_to_is_left_alone(folder, no_setting):
    folder.mkdir()
    folder.chmod(0o770)
    said = []
    assert default_cache.use_default_cache(said.append) is None
    assert no_setting.used == []
    (line,) = said
    assert "chmod go-w" in line
    assert default_cache.VARIABLE in line


def test_the_cache_of_another_user_is_left_alone(folder, monkeypatch):
    folder.mkdir()
    os.chown(folder, 12345, -1) if os.geteuid() == 0 else monkeypatch.setattr(
        os, "geteuid", lambda: 12345
    )
    with pytest.raises(jm.CompilationError, match="belongs to another user"):
        jm.use_compilation_cache(folder)


def test_warnings_of_the_cache_are_taken_and_others_are_not(folder, no_setting, monkeypatch):
    others = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: others.append(str(message)))
    said = []
    below = default_cache.use_default_cache(said.append)
    damaged, sound = entry(below, "jit_f", 10, 1e9), entry(below, "jit_f-g", 10, 1e9)
    reading = "Error reading persistent compilation cache entry for 'jit_f': error: Error -3"
    writing = "Error writing persistent compilation cache entry for 'jit_f': OSError: no space"
    for text in (reading, writing, writing, reading):
        warnings.warn(text, UserWarning, stacklevel=1)
    warnings.showwarning("something else", UserWarning, "file.py", 1)
    assert others == ["something else"]
    assert not damaged.exists()
    assert sound.exists()
    assert said == [
        f"warning: compiled programs are not kept: {below} cannot be written (OSError: no space)"
    ]


def test_files_that_vanish_meanwhile_are_no_error(tmp_path):
    cache_files.prune([cache_files.Entry(tmp_path / "gone-cache", 1000, 0.0)], 0)


def test_workers_of_sweeps_use_it_once_unless_it_is_off(monkeypatch):
    calls, task = [], pickle.dumps(operator.neg)
    monkeypatch.setattr(on_workers, "use_default_cache", lambda: calls.append(1))
    on_workers._begin.cache_clear()
    try:
        assert on_workers.on_worker(3, task, cached=False) == -3
        assert calls == []
        assert [on_workers.on_worker(k, task, cached=True) for k in (1, 2)] == [-1, -2]
        assert calls == [1]
    finally:
        on_workers._begin.cache_clear()
