"""Default cache of compiled programs, used by the command line and the workers of sweeps.

The cache is optional: any problem with it is reported in one line, and the program continues.
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
    """Return the folder of the cache, whether or not it exists; None if `VARIABLE` turns the cache off.

    Raises
    ------
    CompilationError
        If there is no home folder for it.
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
    """Return the name of the subfolder for this process, from the versions of JAX and the processor.

    Programs are machine code for the processor that compiled them, and home folders are shared between machines.
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
    """Return True if JAX may use a cache on disk; False with ``--no-cache``."""
    return bool(_settings.jax_enable_compilation_cache)


def use_default_cache(say: Callable[[str], None] = _say) -> Path | None:
    """Cache compiled programs in the user's cache folder, with a limited size.

    Does nothing if `VARIABLE` turns it off, if JAX's own cache is turned off, or if that already has a folder, for
    example from the environment variable ``JAX_COMPILATION_CACHE_DIR``. Problems are reported through ``say``; none is
    raised.

    Returns
    -------
    Path or None
        The folder with the programs of this machine, if this call set one.
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
    """Handle JAX's warnings about this cache: remove damaged programs, and report once if it cannot be written."""
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
    """Return the subfolders of the cache, one per set of versions and kind of processor; others are ignored."""
    folder = root()
    below = folder.iterdir() if folder is not None and folder.is_dir() else ()
    return [it for it in below if _PART.fullmatch(it.name) and it.is_dir() and not it.is_symlink()]


def kept() -> list[cache_files.Entry]:
    """Return all programs of the cache: of all versions and machines, and those in the folder itself."""
    folder = root()
    places = _parts() if folder is None else [folder, *_parts()]
    return [entry for place in places for entry in cache_files.entries(place)]


def clear() -> list[cache_files.Entry]:
    """Remove all programs of the cache, and nothing else in its folder; return them."""
    found = kept()
    for entry in found:
        cache_files.remove(entry.path)
    for part in _parts():
        shutil.rmtree(part, ignore_errors=True)
    return found
