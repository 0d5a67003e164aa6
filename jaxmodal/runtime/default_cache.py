"""The cache of compiled programs that the command line and the workers of sweeps use without being asked.

A cache is a help and never a condition: whatever is wrong with it is said in one line, and the work goes on.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jaxlib.version

from jaxmodal.runtime import cache_files
from jaxmodal.runtime.compilation import CompilationError, private_folder, use_compilation_cache

#: the environment variable: a folder for the cache, or ``0`` or ``off`` for none
VARIABLE = "JAXMODAL_CACHE"
#: what the cache may hold when a command starts
MAX_BYTES = 500_000_000

_settings: Any = jax.config
_OFF, _ON = ("0", "off"), ("", "1", "on")
#: what tells processors apart in /proc/cpuinfo, of x86 and of Arm
_PROCESSOR = ("vendor_id", "model name", "flags", "CPU implementer", "CPU part", "Features")
_PART = re.compile(r"jax-[^-]+-jaxlib-[^-]+-[0-9a-f]{12}")
#: how JAX's warnings begin: it goes on without the program in both cases
_READING = re.compile(r"Error reading persistent compilation cache entry for '(.*?)'")
_WRITING = "Error writing persistent compilation cache entry for "


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def root() -> Path | None:
    """The folder of the cache, whether it is there or not; None when `VARIABLE` turns it off.

    Raises
    ------
    CompilationError
        There is no home folder to put it into.
    """
    import platformdirs

    value = os.environ.get(VARIABLE, "").strip()
    if value.lower() in _OFF:
        return None
    by_default = platformdirs.user_cache_path("jaxmodal", appauthor=False)
    path = by_default if value.lower() in _ON else Path(value)
    try:
        return path.expanduser().resolve()
    except RuntimeError as error:
        raise CompilationError(
            f"the home folder of this user is unknown, so there is no place for {path};"
            f" expected a folder in the environment variable {VARIABLE}, or 'off'"
        ) from error


@functools.cache
def subfolder() -> str:
    """The name of the part of the cache that suits this process: versions of JAX, and the processor.

    Programs are machine code for the processor that compiled them; home folders are shared between machines.
    """
    known = [platform.machine(), platform.processor()]
    try:
        first, _, _ = Path("/proc/cpuinfo").read_text().partition("\n\n")
        known += [line for line in first.splitlines() if line.startswith(_PROCESSOR)]
    except OSError:
        pass  # not Linux
    digest = hashlib.sha256("\n".join(known).encode()).hexdigest()[:12]
    return f"jax-{jax.__version__}-jaxlib-{jaxlib.version.__version__}-{digest}".replace("/", "_")


def allowed() -> bool:
    """Whether JAX may use a cache on disk at all; ``--no-cache`` says no."""
    return bool(_settings.jax_enable_compilation_cache)


def use_default_cache(say: Callable[[str], None] = _say) -> Path | None:
    """Keep compiled programs in the user's cache folder, bounded in size.

    Does nothing where `VARIABLE` says so, where JAX's own cache is turned off, or has a folder already, as by the
    environment variable ``JAX_COMPILATION_CACHE_DIR``. What is wrong is said through ``say``, and nothing is raised.

    Returns
    -------
    Path or None
        The folder that holds the programs of this machine, if this call set one.
    """
    if _settings.jax_compilation_cache_dir or not allowed():
        return None
    try:
        folder = root()
        if folder is None:
            return None
        private_folder(folder)
        cache_files.prune(kept(), MAX_BYTES)
        programs = use_compilation_cache(folder / subfolder())
    except (CompilationError, OSError) as error:
        say(
            f"warning: compiled programs are not kept: {error} (environment variable {VARIABLE}:"
            " a folder, or 'off')"
        )
        return None
    _take_warnings(programs, say)
    return programs


def _take_warnings(programs: Path, say: Callable[[str], None]) -> None:
    """Let JAX's warnings of this cache remove what is damaged, and say once that it cannot be written."""
    others, said = warnings.showwarning, False

    def shown(message: Warning | str, *where: Any, **more: Any) -> None:
        nonlocal said
        text = str(message)
        unreadable = _READING.match(text)
        if unreadable:
            cache_files.forget(programs, unreadable[1])
        elif not text.startswith(_WRITING):
            others(message, *where, **more)
        elif not said:
            said = True
            reason = text.removeprefix(_WRITING).partition(": ")[2]
            say(f"warning: compiled programs are not kept: {programs} cannot be written ({reason})")

    warnings.filterwarnings("always", "Error (reading|writing) persistent compilation cache")
    warnings.showwarning = shown


def _parts() -> list[Path]:
    """The folders of the cache, one for each set of versions and kind of processor; they may lie beside others."""
    folder = root()
    below = folder.iterdir() if folder is not None and folder.is_dir() else ()
    return [it for it in below if _PART.fullmatch(it.name) and it.is_dir() and not it.is_symlink()]


def kept() -> list[cache_files.Entry]:
    """Every program of the cache, also those of other versions and machines, and any in the folder itself."""
    folder = root()
    places = _parts() if folder is None else [folder, *_parts()]
    return [entry for place in places for entry in cache_files.entries(place)]


def clear() -> list[cache_files.Entry]:
    """Remove every program of the cache, and nothing else that lies in its folder; return what was there."""
    found = kept()
    for entry in found:
        cache_files.remove(entry.path)
    for part in _parts():
        shutil.rmtree(part, ignore_errors=True)
    return found
