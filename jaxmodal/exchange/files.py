"""Writing of exported files, and comments in XML."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jaxmodal.arm.files import being_written, place_of
from jaxmodal.runtime.tables import printable
from jaxmodal.runtime.whole_files import write_text


def written(path: Any, text: str) -> Path:
    """Write a text to a file atomically.

    Raises
    ------
    ArmError
        If the file cannot be written.
    """
    place = place_of(path)
    with being_written(place):
        write_text(place, text)
    return place


def commented(lines: Iterable[str]) -> list[str]:
    """Return the lines of an XML comment, in which double hyphens are avoided."""
    safe = (printable(line).replace("--", "- -") for line in lines)
    return ["  <!--", *(f"    {line}".rstrip() for line in safe), "  -->"]


def numbers(values: Iterable[Any]) -> str:
    """Return numbers as text at full precision, separated by spaces."""
    return " ".join(repr(float(value) + 0.0) for value in values)
