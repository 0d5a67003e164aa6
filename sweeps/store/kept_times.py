"""Times of cells that an earlier process measured for the same sweep, kept with the compiled programs.

To measure them takes seconds and hundreds of megabytes, most of it for programs; a second look needs neither.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import jax

from jaxmodal.runtime.default_cache import allowed
from jaxmodal.runtime.devices import available_cores
from jaxmodal.runtime.whole_files import write_text
from sweeps.definition.sweep import Sweep
from sweeps.store.dataset import provenance

_settings: Any = jax.config


def kept(sweep: Sweep, chunk: tuple[int, ...]) -> list[float] | None:
    """Return the numbers that `keep` has stored for a sweep and the shape of its chunks; None if there are none."""
    file = _file(sweep, chunk)
    if file is None:
        return None
    try:
        found = [float(number) for number in json.loads(file.read_text(encoding="utf-8"))]
    except (
        OSError,
        ValueError,
        TypeError,
        OverflowError,
    ):  # none, or another process is writing it
        return None
    return found if all(map(math.isfinite, found)) else None


def keep(sweep: Sweep, chunk: tuple[int, ...], numbers: list[float]) -> None:
    """Store numbers about a sweep for later processes, if compiled programs are kept, too."""
    file = _file(sweep, chunk)
    if file is not None:
        with contextlib.suppress(OSError):
            write_text(file, json.dumps(numbers))


def _file(sweep: Sweep, chunk: tuple[int, ...]) -> Path | None:
    """Return the file for a sweep, named after all that its times depend on; None if nothing is kept on disk."""
    folder = _folder()
    if folder is None:
        return None
    facts = [sweep.description(), chunk, provenance(), available_cores()]
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]
    return folder / f"cells-{digest}.json"


def _folder() -> Path | None:
    """Return the folder of compiled programs; None without one, or in a bucket."""
    folder = _settings.jax_compilation_cache_dir
    return Path(folder) if folder and "://" not in folder and allowed() else None
