"""TOML files in a package, which a user may name instead of giving a path."""

from __future__ import annotations

import dataclasses
from importlib import resources
from pathlib import Path

from jaxmodal.arm.documents import read_text
from jaxmodal.runtime.errors import suggestion

#: what stands before the name of a built-in file where a path may stand as well
EXAMPLE_PREFIX = "example:"


@dataclasses.dataclass(frozen=True)
class BuiltIn:
    """The built-in files of one kind.

    Attributes
    ----------
    folder : tuple of str
        Package, and folders inside it.
    kind : str
        Name of the kind, for messages.
    error : type
        Exception type to raise.
    """

    folder: tuple[str, ...]
    kind: str
    error: type[ValueError]

    def names(self) -> list[str]:
        """Return the names of the files, sorted."""
        files = resources.files(self.folder[0]).joinpath(*self.folder[1:]).iterdir()
        return sorted(f.name.removesuffix(".toml") for f in files if f.name.endswith(".toml"))

    def text(self, name: str) -> str:
        """Return the text of a file with its comments; an unknown name is refused with suggestions."""
        known = self.names()
        if name not in known:
            raise self.error(
                f"{self.kind} {name!r} is unknown; known are {', '.join(known)}."
                f"{suggestion(str(name), known)}"
            )
        file = resources.files(self.folder[0]).joinpath(*self.folder[1:], f"{name}.toml")
        return file.read_text(encoding="utf-8")

    def source(self, source: str | Path) -> tuple[str, str, Path]:
        """Return the text of a path or of ``"example:NAME"``, its name for messages, and its folder."""
        if isinstance(source, str) and source.startswith(EXAMPLE_PREFIX):
            return self.text(source.removeprefix(EXAMPLE_PREFIX)), source, Path()
        path, hint = Path(source), ""
        if str(source) in self.names():
            hint = f" For the {self.kind} of this name write {EXAMPLE_PREFIX}{source}."
        return read_text(path, self.error, f"give a TOML file.{hint}"), str(path), path.parent
