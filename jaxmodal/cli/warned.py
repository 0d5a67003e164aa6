"""Warnings on standard error, each line once, and the effect of ``--strict`` on them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import click

from jaxmodal.runtime.errors import (
    ImplausibleWarning,
    LargeDeflectionWarning,
    RotorWarning,
    StiffMotionWarning,
)

_WORD = "warning: "
_OWN = (ImplausibleWarning, LargeDeflectionWarning, RotorWarning, StiffMotionWarning)


class Warned:
    """The warnings of a command."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._given)

    def say(self, line: str) -> None:
        """Print a line; a line that begins with ``warning:`` is counted, and printed only once."""
        if line not in self._given:
            click.echo(line, err=True)
            if line.startswith(_WORD):
                self._given.add(line)

    def count(self, remarks: Iterable[object]) -> None:
        """Count warnings that are printed elsewhere."""
        self._given.update(f"{_WORD}{remark}" for remark in remarks)

    @property
    def verdict(self) -> str:
        """Reason why the exit status is 1."""
        count = len(self._given)
        were = "warnings were" if count > 1 else "warning was"
        return f"--strict: {count} {were} given, so the exit status is 1."


@contextlib.contextmanager
def warnings_shown(implausible: bool) -> Iterator[Warned]:
    """Print warnings of the library inside the context as lines; those of implausible values only if wanted."""
    warned = Warned()
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, _OWN):
                for remark in str(message).splitlines():
                    warned.say(f"{_WORD}{remark}")
            else:
                warned.count([message])
                others(message, category, *where, **more)

        for kind in _OWN:
            warnings.simplefilter("always", kind)
        if not implausible:
            warnings.simplefilter("ignore", ImplausibleWarning)
        warnings.showwarning = show
        yield warned
