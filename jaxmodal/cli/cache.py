"""The command ``jaxmodal cache``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jaxmodal.cli.arguments import BadInput, format_option, refusing
from jaxmodal.cli.output import print_json

if TYPE_CHECKING:
    from jaxmodal.runtime.cache_files import Entry


@click.group(invoke_without_command=True)
@format_option(("table", "json"))
@click.pass_context
def cache(ctx: click.Context, output_format: str) -> None:
    """Show the folder and the size of the cache of compiled programs.

    Commands store the programs that they compile, so that later commands start sooner. The environment variable
    JAXMODAL_CACHE sets another folder, or 'off' for none; --no-cache disables the cache for one command.
    """
    if ctx.invoked_subcommand is not None:
        return
    from jaxmodal.runtime import default_cache

    folder = _folder()
    other = os.environ.get("JAX_COMPILATION_CACHE_DIR")
    if output_format == "json":
        found = [] if folder is None else default_cache.kept()
        most = default_cache.MAX_BYTES
        print_json(_plain(folder, found) | {"max_bytes": most, "in_use": other or _text(folder)})
        return
    if folder is None:
        click.echo(f"off: {default_cache.VARIABLE} is {os.environ[default_cache.VARIABLE]!r}")
    else:
        click.echo(f"{folder}")
        limit = f"at most {default_cache.MAX_BYTES / 1e6:.0f} MB when a command starts"
        click.echo(f"{_amount(default_cache.kept())}; {limit}")
    if other:
        click.echo(
            f"not in use: JAX_COMPILATION_CACHE_DIR is set, and JAX keeps programs in {other}"
        )


@cache.command()
@format_option(("table", "json"))
def where(output_format: str) -> None:
    """Print the folder of the cache, whether or not it exists."""
    folder = _needed()
    if output_format == "json":
        print_json({"folder": _text(folder)})
    else:
        click.echo(f"{folder}")


@cache.command()
@format_option(("table", "json"))
def clear(output_format: str) -> None:
    """Remove all compiled programs, including those of other versions; other files in the folder are kept."""
    from jaxmodal.runtime import default_cache

    folder = _needed()
    removed = default_cache.clear()
    left = default_cache.kept()
    if output_format == "json":
        print_json({"folder": _text(folder), "removed": _plain(None, removed), "left": len(left)})
    else:
        click.echo(f"removed {_amount(removed)} from {folder}")
    if left:
        raise BadInput(f"{folder}: {_amount(left)} could not be removed; remove the folder itself.")


def _folder() -> Path | None:
    from jaxmodal.runtime import default_cache
    from jaxmodal.runtime.compilation import CompilationError

    with refusing("", CompilationError):
        return default_cache.root()


def _needed() -> Path:
    from jaxmodal.runtime.default_cache import VARIABLE

    folder = _folder()
    if folder is None:
        raise BadInput(
            f"{VARIABLE} = {os.environ[VARIABLE]!r}: there is no cache; expected a folder, or leave the variable unset."
        )
    return folder


def _text(folder: Path | None) -> str | None:
    return None if folder is None else str(folder)


def _plain(folder: Path | None, found: list[Entry]) -> dict[str, Any]:
    place = {} if folder is None else {"folder": str(folder)}
    return {**place, "programs": len(found), "bytes": sum(entry.size for entry in found)}


def _amount(found: list[Entry]) -> str:
    return (
        f"{len(found)} program{'s' * (len(found) != 1)}, {sum(e.size for e in found) / 1e6:.1f} MB"
    )
