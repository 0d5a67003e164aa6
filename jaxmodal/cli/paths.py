"""Places that a command is to write to, refused before it works rather than after."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from jaxmodal.cli.arguments import BadInput


def require_file(option: str, path: Path | None, suffixes: Sequence[str] = ()) -> None:
    """Refuse a file that could not be written: a folder, in no folder, without permission, of another suffix.

    Nothing is written. ``path`` None, an option that was left out, passes.
    """
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise BadInput(f"{option} {path}: give a file that ends in {' or '.join(suffixes)}.")
    if path.is_dir():
        raise BadInput(f"{option} {path}: is a folder; give the name of a file in it.")
    if not path.parent.is_dir():
        raise BadInput(
            f"{option} {path}: cannot be written (there is no folder {path.parent}); make it first."
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise BadInput(f"{option} {path}: cannot be written (no permission); give another place.")


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
