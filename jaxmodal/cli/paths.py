"""Files and folders that a command is to write: their options, refused before it works rather than after."""

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

#: where a command keeps whether it may replace files
_FORCE = "jaxmodal.cli.paths.force"


def file_option(
    *names: str,
    remark: str,
    suffixes: Sequence[str] = (),
    check: Callable[[str, Path | None, Sequence[str]], None] | None = None,
    required: bool = False,
    new: bool = False,
) -> Callable[..., Any]:
    """An option that takes a file to write; with suffixes it is refused as by `require_file`, or another check.

    A ``new`` one may not exist, unless the `force_option` is given: pictures are drawn again, other files are not.
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
    """The flag ``--force``, which `require_new` asks for."""

    def kept(ctx: click.Context, _: click.Parameter, given: bool) -> None:
        ctx.meta[_FORCE] = given

    settings: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False}
    return click.option("--force", **settings, callback=kept, help="Replace files that exist.")(
        command
    )


def picture_option(
    *names: str, remark: str, suffixes: Sequence[str] = PICTURES
) -> Callable[..., Any]:
    """An option that takes a picture to write; refused as by `require_picture`."""
    return file_option(*names, remark=remark, suffixes=suffixes, check=require_picture)


def folder_option(*names: str, remark: str, **settings: Any) -> Callable[..., Any]:
    """An option that takes a folder to write files into; refused as by `require_folder`."""

    def checked(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
        require_folder(param.opts[0], path)
        return path

    kind = click.Path(file_okay=False, path_type=Path)
    return click.option(
        *names, type=kind, callback=checked, show_default=True, help=remark, **settings
    )


@contextlib.contextmanager
def writing(place: str, remedy: str = "") -> Iterator[None]:
    """Say in one message that a place, an option with its value, cannot be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadInput(f"{place}: cannot be written ({reason}){remedy}.") from error


def save_picture(option: str, path: Path, save: Callable[[Path], Any]) -> None:
    """Let ``save`` write a picture, and say so."""
    with refusing(), writing(f"{option} {path}"):
        save(path)
    click.echo(f"wrote {path}", err=True)


def require_picture(option: str, path: Path | None, suffixes: Sequence[str] = PICTURES) -> None:
    """Refuse a picture that could not be written or drawn. None passes."""
    require_file(option, path, suffixes)
    if path is not None and importlib.util.find_spec("matplotlib") is None:
        raise BadInput(f"{option}: pictures need matplotlib; install jaxmodal[plots].")


def require_file(option: str, path: Path | None, suffixes: Sequence[str] = ()) -> None:
    """Refuse a file that could not be written: a folder, in no folder, without permission, of another suffix.

    Nothing is written. ``path`` None, an option that was left out, passes.
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
    """Refuse a FIFO, at which writing waits for someone who reads. None passes."""
    if path is not None and is_named_pipe(path):
        raise BadInput(f"{option} {path}: is a FIFO; give the name of a file.")


def require_new(option: str, path: Path | None) -> None:
    """Refuse a file that exists, unless the command was given ``--force``. None passes."""
    if path is not None and path.exists() and not click.get_current_context().meta.get(_FORCE):
        raise BadInput(f"{option} {path}: exists already; give --force to replace it.")


def require_folder(option: str, path: Path | None) -> None:
    """Refuse a folder that could not be made or written to; nothing is made. None passes."""
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
