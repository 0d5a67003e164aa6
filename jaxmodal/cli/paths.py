"""Options for files and folders to be written, checked before the work of a command starts."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from jaxmodal.cli.arguments import BadInput, refusing
from jaxmodal.runtime.whole_files import is_named_pipe

PICTURES = (".png", ".pdf", ".svg")

#: key in a command's context for the flag that files may be replaced
_FORCE = "jaxmodal.cli.paths.force"


def file_option(
    *names: str,
    remark: str,
    suffixes: Sequence[str] = (),
    check: Callable[[str, Path | None, Sequence[str]], None] | None = None,
    required: bool = False,
    new: bool = False,
) -> Callable[..., Any]:
    """Return an option for a file to write; with suffixes it is checked by `require_file`, or by ``check``.

    A ``new`` file must not exist, unless the `force_option` is given; pictures may always be replaced.
    """
    check = require_file if check is None else check

    def checked(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
        require_no_pipe(param.opts[0], path)
        if suffixes:
            check(param.opts[0], path, suffixes)
        if new:
            require_new(param.opts[0], path)
        return path

    kind = click.Path(dir_okay=False, path_type=Path)
    return click.option(*names, type=kind, callback=checked, help=remark, required=required)


def force_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flag ``--force``, which `require_new` uses, to a command."""

    def kept(ctx: click.Context, _: click.Parameter, given: bool) -> None:
        ctx.meta[_FORCE] = given

    settings: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False}
    return click.option("--force", **settings, callback=kept, help="Replace files that exist.")(
        command
    )


def picture_option(
    *names: str, remark: str, suffixes: Sequence[str] = PICTURES
) -> Callable[..., Any]:
    """Return an option for a picture to write, checked by `require_picture`."""
    return file_option(*names, remark=remark, suffixes=suffixes, check=require_picture)


def folder_option(*names: str, remark: str, **settings: Any) -> Callable[..., Any]:
    """Return an option for a folder for files, checked by `require_folder`."""

    def checked(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
        require_folder(param.opts[0], path)
        return path

    kind = click.Path(file_okay=False, path_type=Path)
    return click.option(
        *names, type=kind, callback=checked, show_default=True, help=remark, **settings
    )


@contextlib.contextmanager
def writing(place: str, remedy: str = "") -> Iterator[None]:
    """Convert an OSError inside the context to the message that a place (option with value) cannot be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadInput(f"{place}: cannot be written ({reason}){remedy}.") from error


def save_picture(option: str, path: Path, save: Callable[[Path], Any]) -> None:
    """Write a picture by ``save``, and print its path."""
    with refusing(), writing(f"{option} {path}"):
        save(path)
    click.echo(f"wrote {path}", err=True)


def require_picture(option: str, path: Path | None, suffixes: Sequence[str] = PICTURES) -> None:
    """Raise an error for a picture that cannot be written or drawn; None is accepted."""
    require_file(option, path, suffixes)
    if path is not None and importlib.util.find_spec("matplotlib") is None:
        raise BadInput(f"{option}: pictures need matplotlib; install jaxmodal[plots].")


def require_file(option: str, path: Path | None, suffixes: Sequence[str] = ()) -> None:
    """Raise an error for a file that cannot be written: wrong suffix, a folder, no such folder, no permission.

    Nothing is written. None (an omitted option) is accepted.
    """
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise BadInput(f"{option} {path}: give a file that ends in {' or '.join(suffixes)}.")
    require_no_pipe(option, path)
    if path.is_dir():
        raise BadInput(f"{option} {path}: is a folder; give the name of a file in it.")
    if not path.parent.is_dir():
        raise BadInput(
            f"{option} {path}: cannot be written (there is no folder {path.parent}); make it first."
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise BadInput(f"{option} {path}: cannot be written (no permission); give another place.")


def require_no_pipe(option: str, path: Path | None) -> None:
    """Raise an error for a FIFO, where writing waits for a reader; None is accepted."""
    if path is not None and is_named_pipe(path):
        raise BadInput(f"{option} {path}: is a FIFO; give the name of a file.")


def require_new(option: str, path: Path | None) -> None:
    """Raise an error for a file that exists, unless ``--force`` is given; None is accepted."""
    if path is not None and path.exists() and not click.get_current_context().meta.get(_FORCE):
        raise BadInput(f"{option} {path}: exists already; give --force to replace it.")


def require_folder(option: str, path: Path | None) -> None:
    """Raise an error for a folder that cannot be created or written to; nothing is created, and None is accepted."""
    if path is None:
        return
    known = next((place for place in (path, *path.absolute().parents) if place.exists()), path)
    if not known.is_dir():
        raise BadInput(
            f"{option} {path}: cannot be written ({known} is no folder); give another folder."
        )
    if not os.access(known, os.W_OK):
        raise BadInput(
            f"{option} {path}: cannot be written (no permission in {known}); give another folder."
        )
