"""The page of a report: one file with text, tables and static pictures; it runs no script and loads nothing."""

from __future__ import annotations

import html
from collections.abc import Callable

from jaxmodal.runtime.tables import Table, printable
from sweeps.explorer.page import digest_of, framed, source_of
from sweeps.explorer.report.parts import NUMBER, Asked, Part, parts
from sweeps.explorer.report.pictures import Picture


def report_html(asked: Asked, progress: Callable[[int, int], None] | None = None) -> str:
    """Return the page of a report as HTML.

    Parameters
    ----------
    asked
        Arm and settings of the report.
    progress
        Called with (parts done, number of parts).

    Raises
    ------
    ArmError, ValueError
        See `sweeps.explorer.report.parts.parts`.
    PlotsUnavailableError
        Matplotlib is not installed.
    """
    tell = progress or (lambda done, total: None)
    tell(0, NUMBER)
    made: list[str] = []
    for part in parts(asked):
        made.append(_part(part))
        tell(len(made), NUMBER)
    style, title = source_of("report.css"), _text(f"{asked.arm.name or 'arm'}, {asked.theory}")
    policy = f"default-src 'none'; img-src data:; style-src '{digest_of(style)}'; base-uri 'none'; form-action 'none'"
    return framed(policy, title, style, "\n".join([f"<h1>{title}</h1>", *made]))


def _part(part: Part) -> str:
    inside = [f"<h2>{_text(part.heading)}</h2>", *(f"<p>{_text(text)}</p>" for text in part.texts)]
    if part.pictures:
        inside.append(f'<div class="pictures">{"".join(map(_picture, part.pictures))}</div>')
    inside += map(_table, part.tables)
    return f"<section>\n{chr(10).join(inside)}\n</section>"


def _picture(picture: Picture) -> str:
    return f'<img src="{html.escape(picture.source)}" alt="{_text(picture.text)}">'


def _table(table: Table) -> str:
    """Return a table as HTML, with classes because the policy forbids styles of elements."""

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
    """Return text for HTML, escaped and without characters that change the direction of text."""
    return html.escape(printable(text))
