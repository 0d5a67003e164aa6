"""TOML files inside a package that users may name in place of a path of their own."""

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
    """The files of one kind.

    Attributes
    ----------
    folder : tuple of str
        Package, and folders inside it.
    kind : str
        What they are, in messages.
    error : type
        What is raised.
    """

    folder: tuple[str, ...]
    kind: str
    error: type[ValueError]

    def names(self) -> list[str]:
        """The names of the files, sorted."""
        files = resources.files(self.folder[0]).joinpath(*self.folder[1:]).iterdir()
        return sorted(f.name.removesuffix(".toml") for f in files if f.name.endswith(".toml"))

    def text(self, name: str) -> str:
        """The text of one file, with its comments; an unknown name is refused with suggestions."""
        known = self.names()
        if name not in known:
            raise self.error(
                f"{self.kind} {name!r} is unknown; known are {', '.join(known)}."
                f"{suggestion(str(name), known)}"
            )
        file = resources.files(self.folder[0]).joinpath(*self.folder[1:], f"{name}.toml")
        return file.read_text(encoding="utf-8")

    def source(self, source: str | Path) -> tuple[str, str, Path]:
        """Text of a path or of ``"example:NAME"``, how messages name it, and the folder that its paths start from."""
        if isinstance(source, str) and source.startswith(EXAMPLE_PREFIX):
            return self.text(source.removeprefix(EXAMPLE_PREFIX)), source, Path()
        path, hint = Path(source), ""
        if str(source) in self.names():
            hint = f" For the {self.kind} of this name write {EXAMPLE_PREFIX}{source}."
        return read_text(path, self.error, f"give a TOML file.{hint}"), str(path), path.parent
