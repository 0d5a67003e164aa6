"""Compilation of programs: XLA settings that suit these solvers, and a cache on disk.

Nothing here runs on import. Call these functions at the top of a program, where double precision is enabled.
"""

from __future__ import annotations

import functools
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.experimental.compilation_cache import compilation_cache

from jaxmodal.runtime.cache_files import entries, prune
from jaxmodal.runtime.namespace import is_traced

#: one kernel for a loop and all that is in it, whatever its size, and the widest vectors that the processor has
CPU_FLAGS = (
    "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=1000000000",
    "--xla_cpu_prefer_vector_width=512",
)
#: what XLA writes into a program beside a loop that it made one kernel
_MARK = "xla_cpu_small_call"
#: the older of XLA's two ways to make one kernel of several operations: of long programs in less time, as fast to run
_OLDER_KERNELS: dict[str, str | bool] = {"xla_cpu_use_fusion_emitters": False}
#: these, and machine code as it comes: in a third of the time, a few times as slow to run
_RUN_ONCE: dict[str, str | bool] = {**_OLDER_KERNELS, "xla_backend_optimization_level": "0"}

Function = TypeVar("Function", bound=Callable[..., Any])


class CompilationError(RuntimeError):
    """Raised for a compile setting that cannot take effect."""


def tune_cpu() -> None:
    """Let XLA compile each loop for the CPU into one kernel; solving one arm becomes about three times faster.

    Adds `CPU_FLAGS` to the environment variable ``XLA_FLAGS`` of this process and its subprocesses; existing flags are
    kept. Results of jaxmodal do not change. The command line does this by default. In your own programs, do not use
    ``jnp.arctan`` and ``jnp.arctan2(x, 1.0)`` with these flags: XLA computes them wrongly (jax 0.10.2) for vectors of
    512 bits, which one of the flags selects. Sixteen other elementary functions were tested and are correct.

    Raises
    ------
    CompilationError
        If JAX has already compiled a program (XLA reads its flags only once), or ``XLA_FLAGS`` has other
        ``xla_backend_extra_options``.

    Notes
    -----
    Without these flags, XLA's CPU runtime dispatches each of the many small loops of these programs separately. The
    runtime of JAX 0.12 compiles most of them into kernels by default, so that a late call raises no error there.

    Examples
    --------
    At the top of a program::

        import jax; jax.config.update("jax_enable_x64", True)
        import jaxmodal as jm
        jm.tune_cpu()
    """
    before = os.environ.get("XLA_FLAGS")
    add_cpu_flags()
    if CPU_FLAGS[0] not in os.environ["XLA_FLAGS"].split():
        raise CompilationError(
            f"XLA_FLAGS is {before!r} and sets xla_backend_extra_options to something else;"
            f" expected {CPU_FLAGS[0]!r} or nothing of this name"
        )
    if not loops_are_kernels():
        raise CompilationError(
            "tune_cpu() came too late: JAX has compiled a program in this process already, and XLA"
            " reads its flags only once. Call it at the top, before the first JAX array"
        )


def add_cpu_flags() -> None:
    """Add `CPU_FLAGS` to ``XLA_FLAGS``, except those that are set; without effect once JAX has compiled."""
    before = os.environ.get("XLA_FLAGS", "").split()
    names = {flag.split("=")[0] for flag in before}
    added = [flag for flag in CPU_FLAGS if flag.split("=")[0] not in names]
    os.environ["XLA_FLAGS"] = " ".join([*before, *added])


def compiled_sooner(function: Function, runs_once: bool = False, **options: Any) -> Function:
    """Apply `jax.jit` to a long program, with options for which a CPU compiles it in two thirds of the time.

    A program that ``runs_once``, next to another that takes much longer, compiles in a third of the time and runs
    slower. Other processors are not affected.
    """
    inner = jax.jit(function, **options)
    outer = functools.cache(
        lambda: jax.jit(
            function, compiler_options=_sooner(runs_once), **options
        )  # not before JAX has begun
    )

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        # options are those of a whole program: within another one there are none
        within = is_traced(args, kwargs) or is_traced(jnp.zeros(()))
        return (inner if within else outer())(*args, **kwargs)

    return call  # type: ignore[return-value]


@functools.cache
def _sooner(runs_once: bool = False) -> dict[str, str | bool]:
    """Return the options of `compiled_sooner` that the installed XLA supports; compiles a small program."""
    if jax.default_backend() != "cpu":
        return {}
    chosen = _RUN_ONCE if runs_once else _OLDER_KERNELS
    try:
        jax.jit(jnp.sin).lower(1.0).compile(chosen)
    except jax.errors.JaxRuntimeError:  # no such option
        return {}
    return chosen


def loops_are_kernels() -> bool:
    """Return True if XLA compiles a loop into one kernel, or programs do not run on a CPU; compiles a small program."""
    if jax.default_backend() != "cpu":
        return True

    def loop(x: Array) -> Array:
        def body(i: Array, total: Array) -> Array:
            return total + jnp.sin(total + x * i)

        return lax.fori_loop(0, 64, body, x)

    return _MARK in (jax.jit(loop).lower(jnp.ones(4096)).compile().as_text() or "")


def use_compilation_cache(folder: str | os.PathLike[str], max_bytes: int | None = None) -> Path:
    """Cache compiled programs in a folder, so that later processes need not compile them again.

    The command line and the workers of sweeps use a cache in the user's cache folder by default.

    Parameters
    ----------
    folder : path
        The folder; created if it does not exist, with access for this user only.
    max_bytes : int, optional
        Largest size of the folder at the time of this call; the least recently used programs are removed. If left out,
        no program is removed.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    CompilationError
        If the folder is a file, belongs to another user or is writable for others, or if ``max_bytes`` is negative.

    Notes
    -----
    Security: the cache holds machine code that runs with your rights. Anyone who can write to the folder can run code
    as you; keep it private, and do not use a cache from an untrusted source. Entries are specific to the version of
    jaxlib, the settings of XLA and the processor on which they were compiled: machines that share a home folder need
    a folder each.

    Examples
    --------
    >>> import jaxmodal as jm, tempfile
    >>> cache = jm.use_compilation_cache(tempfile.mkdtemp(), max_bytes=500_000_000)
    """
    if max_bytes is not None and max_bytes < 0:
        raise CompilationError(
            f"max_bytes = {max_bytes!r}: expected a number of bytes, 0 or more, or None for no bound"
        )
    path = private_folder(folder)
    if max_bytes is not None:
        prune(entries(path), max_bytes)
    for name, value in (
        ("jax_compilation_cache_dir", str(path)),
        ("jax_persistent_cache_min_compile_time_secs", 0.0),
        ("jax_persistent_cache_min_entry_size_bytes", -1),
    ):
        jax.config.update(name, value)  # type: ignore[no-untyped-call]
    compilation_cache.reset_cache()  # JAX stays with the first folder otherwise
    return path


def private_folder(folder: str | os.PathLike[str]) -> Path:
    """Return a folder for compiled programs, created if missing, that only this user can write to."""
    try:
        path = Path(folder).expanduser().resolve()
    except RuntimeError as error:
        raise CompilationError(
            f"compilation cache {folder}: the home folder of this user is unknown; name a folder without ~"
        ) from error
    if path.exists() and not path.is_dir():
        raise CompilationError(f"compilation cache {path} is a file; expected a folder")
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = path.stat()
    except OSError as error:
        raise CompilationError(
            f"compilation cache {path} cannot be created ({error.strerror}); name a folder that you"
            " can write to"
        ) from error
    if os.name != "posix":  # elsewhere the bits and the number of the owner say nothing
        return path
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CompilationError(
            f"compilation cache {path} can be written to by others (mode {stat.S_IMODE(state.st_mode):o}),"
            " who could then run code as you; take the right away with chmod go-w, or name another"
        )
    if state.st_uid not in (0, os.geteuid()):
        raise CompilationError(
            f"compilation cache {path} belongs to another user (number {state.st_uid}), who could then run code as"
            " you; name a folder of your own"
        )
    return path
