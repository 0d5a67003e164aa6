"""Files that are handed on: comments of XML, and writing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jaxmodal.arm.files import place_of
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.tables import printable
from jaxmodal.runtime.whole_files import write_text


def written(path: Any, text: str) -> Path:
    """Write a text to a file, whole or not at all.

    Raises
    ------
    ArmError
        It cannot be written.
    """
    place = place_of(path)
    try:
        return write_text(place, text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ArmError(
            f"{place}: cannot be written ({reason}); give a file in a folder that can."
        ) from error


def commented(lines: Iterable[str]) -> list[str]:
    """Lines as a comment of XML, in which no two hyphens stand side by side."""
    safe = (printable(line).replace("--", "- -") for line in lines)
    return ["  <!--", *(f"    {line}".rstrip() for line in safe), "  -->"]


def numbers(values: Iterable[Any]) -> str:
    """Numbers with all their digits, blanks between them."""
    return " ".join(repr(float(value) + 0.0) for value in values)
