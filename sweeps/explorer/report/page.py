"""The page of a report: one file of text, tables and still pictures, which runs no script and loads nothing."""

from __future__ import annotations

import base64
import hashlib
import html
import string
from collections.abc import Callable
from importlib import resources

from jaxmodal.runtime.tables import Table, printable
from sweeps.explorer.report.parts import NUMBER, Asked, Part, parts
from sweeps.explorer.report.pictures import Picture


def report_html(asked: Asked, progress: Callable[[int, int], None] | None = None) -> str:
    """The page of a report.

    Parameters
    ----------
    asked
        Of what.
    progress
        Called with (parts done, parts in all).

    Raises
    ------
    ArmError, ValueError
        As `sweeps.explorer.report.parts.parts`.
    PlotsUnavailableError
        Matplotlib is not installed.
    """
    tell = progress or (lambda done, total: None)
    tell(0, NUMBER)
    made: list[str] = []
    for part in parts(asked):
        made.append(_part(part))
        tell(len(made), NUMBER)
    style = _source("report.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return string.Template(_source("report.html")).substitute(
        policy=f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        title=_text(f"{asked.arm.name or 'arm'}, {asked.theory}"),
        style=style,
        body="\n".join(made),
    )


def _part(part: Part) -> str:
    inside = [f"<h2>{_text(part.heading)}</h2>", *(f"<p>{_text(text)}</p>" for text in part.texts)]
    if part.pictures:
        inside.append(f'<div class="pictures">{"".join(map(_picture, part.pictures))}</div>')
    inside += map(_table, part.tables)
    return f"<section>\n{chr(10).join(inside)}\n</section>"


def _picture(picture: Picture) -> str:
    return f'<img src="{html.escape(picture.source)}" alt="{_text(picture.text)}">'


def _table(table: Table) -> str:
    """A table of the library with classes in place of styles of its elements, which the policy does not allow."""

    def row(kind: str, cells: tuple[str, ...]) -> str:
        classes = ("" if name in table.left else ' class="number"' for name in table.headings)
        each = (f"<{kind}{own}>{_text(x)}</{kind}>" for own, x in zip(classes, cells, strict=True))
        return f"<tr>{''.join(each)}</tr>"

    body = "".join(row("td", tuple(cells)) for cells in table.rows)
    notes = "".join(f'<p class="note">{_text(note)}</p>' for note in table.notes)
    head = row("th", tuple(table.headings))
    return (
        f'<div class="wide"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>{notes}'
    )


def _text(text: str) -> str:
    """Text within the page: names from files are no markup, and turn no letters around."""
    return html.escape(printable(text))


def _source(name: str) -> str:
    return resources.files("sweeps.explorer").joinpath("web", name).read_text("utf-8")
