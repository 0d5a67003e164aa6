"""Common output of commands: plain values as JSON, titles."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from jaxmodal.arm.descriptions import posture_text
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.tables import csv_text, printable
from jaxmodal.spatial.arms.arm import AnyArm


class _Terminal:
    """A stream to a terminal that shows control characters as text.

    Output of rich bypasses it: rich finds the underlying stream by the attribute ``rich_proxied_file``.
    """

    def __init__(self, stream: Any) -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        self.rich_proxied_file.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextlib.contextmanager
def terminals_obey_nothing() -> Iterator[None]:
    """Make terminals show control characters as text, because names of arms, keys and files may contain them."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        _Terminal(stream) if stream is not None and stream.isatty() else stream for stream in before
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def without_nonfinite(value: Any) -> Any:
    """Return the value with None for NaN and infinities, which JSON lacks."""
    if isinstance(value, dict):
        return {key: without_nonfinite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [without_nonfinite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_json(value: Any, **layout: Any) -> None:
    """Print a value as JSON, with null for values that are not finite."""
    click.echo(json.dumps(without_nonfinite(value), allow_nan=False, **layout))


def print_rows(
    output_format: str, headings: Sequence[str], rows: Sequence[Sequence[Any]], found: Any
) -> None:
    """Print rows as a JSON list of objects or as CSV, or the result that they are taken from as its text."""
    if output_format == "json":
        print_json([dict(zip(headings, row, strict=True)) for row in rows])
    elif output_format == "csv":
        click.echo(csv_text(headings, rows), nl=False)
    else:
        click.echo(str(found))


def print_document(text: str, output_format: str) -> None:
    """Print a TOML file unchanged, or its contents as JSON, which is also a valid arm file."""
    if output_format == "json":
        print_json(tomllib.loads(text), ensure_ascii=False, indent=2)
    else:
        click.echo(text, nl=False)


def written_files(*paths: Path | None) -> list[str]:
    """Return the entry ``wrote`` of JSON output: the files written."""
    return [str(path) for path in paths if path is not None]


def lists(result: Any, *names: str) -> dict[str, Any]:
    """Return arrays of a result as lists, by name."""
    return {name: np.asarray(getattr(result, name)).tolist() for name in names}


def title_of(name: str, arm: AnyArm, theory: TheoryName, first_angle: bool = False) -> str:
    """Return the title of tables and plots of an arm: name, posture and theory."""
    posture = posture_text(arm, first_angle)
    return f"{name} ({theory}{f', {posture}' if posture else ''})"
