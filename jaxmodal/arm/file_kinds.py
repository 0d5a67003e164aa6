"""The kind of a file, detected from its content, and the command that reads it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of file: its name, the feature that identifies it, and the command that reads it."""

    what: str
    by: str
    command: str

    def instead_of(self, expected: str, more: str = "") -> str:
        """Return the message for a file of this kind where another kind is expected."""
        return f"is {self.what}{self.reason}, where {expected} is expected{more}; {self.taken}"

    @property
    def reason(self) -> str:
        """The identifying feature, in brackets."""
        return f" (it has {self.by})" if self.by else ""

    @property
    def taken(self) -> str:
        """A sentence with the command that reads the file."""
        return f"`jaxmodal {self.command}` takes it."


#: by the key that documents of a kind have and no others
KINDS = {
    "links": Kind("an arm", "links", "frequencies"),
    "urdf": Kind("an arm", "urdf", "frequencies"),
    "axes": Kind("a sweep", "axes", "sweep run"),
    "objective": Kind("a problem of optimisation", "objective", "optimise"),
    "steps": Kind("a checkpoint of an optimisation", "steps", "optimise PROBLEM"),
}
ROBOT = Kind("a robot's URDF", "", "convert")
MEASUREMENTS = Kind("a table of measurements", "frequency_hz", "fit ARM")
UNIVERSAL = Kind("a universal file", "", "fit ARM")
MOVE = Kind("a table of numbers, such as a move", "", "move ARM")
STORE = Kind("the store of a sweep", "", "sweep status")

#: a key of a document in TOML or JSON at the beginning of a line, of a table, or of the only line
_KEY = re.compile(
    rf"^(?:\s*\[+\s*(?P<table>{'|'.join(KINDS)})\s*[].]"
    rf'|[\s{{]*"?(?P<key>{"|".join(KINDS)})"?\s*[=:])',
    re.MULTILINE,
)
_BETWEEN = re.compile(rf'[{{,]\s*"({"|".join(KINDS)})"\s*:')
#: characters in which the kind shows
_ENOUGH = 100_000


def kind_of(text: str) -> Kind | None:
    """Return the kind of a file from its text, or None if it is of no known kind."""
    text = text[:_ENOUGH]
    start = text.lstrip()
    if start.startswith("<"):
        return ROBOT if re.search(r"<robot[\s>]", text) else None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("#")]
    if not lines:
        return None
    if lines[0] == "-1":
        return UNIVERSAL
    names = [cell.strip() for cell in lines[0].split(",")]
    if "frequency_hz" in names:
        return MEASUREMENTS
    if _numbers(lines[0]) or (len(names) > 1 and all(map(_numbers, lines[1:3])) and lines[1:]):
        return MOVE
    found = _BETWEEN.search(text) if start.startswith("{") else _KEY.search(text)
    if found is None:
        return None
    return KINDS[next(name for name in found.groups() if name is not None)]


def _numbers(line: str) -> bool:
    """Return True if a line is two or more numbers separated by commas."""
    cells = line.split(",")
    try:
        return len(list(map(float, cells))) > 1
    except ValueError:
        return False


def kind_at(path: Path) -> Kind | None:
    """Return the kind of the file or store at a path, or None if there is nothing or nothing known."""
    if path.is_dir():
        return STORE if (path / "zarr.json").exists() else None
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return kind_of(file.read(_ENOUGH).decode("utf-8", "replace"))
