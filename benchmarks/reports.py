"""Reports of benchmarks: they go into the file that ``--out`` names, and without it nowhere.

So a small run, made to try something, leaves the committed figures as they are.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def add_out(parser: argparse.ArgumentParser) -> None:
    """The option that names the file of a report."""
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write the report there; without it none is written",
    )


def write_report(report: Any, out: Path | None) -> None:
    """Write a report as JSON, so that a reader never sees half of it; nothing where no file is named."""
    if out is None:
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_suffix(".partial")
    partial.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    partial.replace(out)


def written_before(out: Path | None) -> dict[str, Any]:
    """A report that is made in parts, as the file has it; empty where there is none."""
    if out is None or not out.exists():
        return {}
    known: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return known
