"""Documents that people write: text in UTF-8, TOML, tables with every key checked. The caller says which error."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import suggestion


def read_text(path: Path, error: type[ValueError], remedy: str) -> str:
    """Return the text of a file, a byte order mark left out.

    Raises
    ------
    error
        The file cannot be read, or is no text; the message starts with the path and ends with ``remedy``.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as failure:
        reason = failure.strerror or str(failure)
        raise error(f"{path}: cannot be read ({reason}); {remedy}") from failure
    except UnicodeDecodeError as failure:
        raise error(f"{path}: is not text in UTF-8; {remedy}") from failure


def parse_toml(text: str, error: type[ValueError], remedy: str) -> dict[str, Any]:
    """Return the tables of a TOML document.

    Raises
    ------
    error
        The text is not TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as failure:
        raise error(f"is not TOML: {failure}; {remedy}") from failure


def table(what: str, value: object, error: type[ValueError]) -> Mapping[str, Any]:
    """Return ``value`` if it is a table; an error that names it otherwise."""
    if not isinstance(value, Mapping):
        raise error(f"{what} = {shown(value)}: must be a table of keys and values.")
    return value


def check_keys(
    entries: Mapping[str, Any],
    known: Iterable[str],
    required: Iterable[str],
    error: type[ValueError],
) -> None:
    """Refuse keys that are unknown, with a suggestion, and note those that are missing."""
    known, required = list(known), list(required)
    for key, value in entries.items():
        if key not in known:
            raise error(
                f"{key} = {shown(value)}: is not a known key; known are {', '.join(known)}."
                f"{suggestion(str(key), known)}"
            )
    for key in required:
        if key not in entries:
            raise error(f"{key} is missing; add it (required are {', '.join(required)}).")
