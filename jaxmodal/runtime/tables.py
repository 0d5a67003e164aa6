"""Tables that results show themselves as: one text for terminals and ``print``, one HTML for notebooks."""

from __future__ import annotations

import dataclasses
import html
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import rich.table

#: columns that a table may take; a terminal that is narrower wraps lines, and nothing is cut off
WIDTH = 200
#: rows that a printed result shows at most; the last ones follow after dots
MOST_ROWS = 60


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of texts.

    Parameters
    ----------
    title
        What stands above it.
    headings
        One for each column; a column whose heading is in ``left`` is aligned to the left, others to the right.
    rows
        A text for each column.
    notes
        Lines below it.
    left
        Headings of the columns of words.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    left: Sequence[str] = ()

    def rich(self) -> rich.table.Table:
        """Return the table for a console of rich, without its notes."""
        from rich.table import Table as RichTable

        table = RichTable(title=self.title or None, title_justify="left")
        for heading in self.headings:
            table.add_column(heading, justify="left" if heading in self.left else "right")
        for row in self.rows:
            table.add_row(*row)
        return table

    def text(self) -> str:
        """Return the table as text, its notes below."""
        from rich.console import Console

        file = io.StringIO()
        console = Console(file=file, width=WIDTH, markup=False, highlight=False, emoji=False)
        if self.rows:
            console.print(self.rich())
        else:
            console.print(self.title, soft_wrap=True)
        for note in self.notes:
            console.print(note, soft_wrap=True)
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines())

    def html(self) -> str:
        """Return the table as HTML, its notes below."""

        def cells(kind: str, texts: Sequence[str]) -> str:
            sides = ("left" if name in self.left else "right" for name in self.headings)
            return "".join(
                f'<{kind} style="text-align: {side}">{html.escape(text)}</{kind}>'
                for side, text in zip(sides, texts, strict=True)
            )

        head = f"<thead><tr>{cells('th', self.headings)}</tr></thead>" if self.rows else ""
        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in self.rows)
        caption = f"<p><b>{html.escape(self.title)}</b></p>" if self.title else ""
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"{caption}<table>{head}<tbody>{body}</tbody></table>{notes}"


def shortened(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the rows, or where they are many the first and the last with a row of dots between."""
    rows = list(rows)
    if len(rows) <= MOST_ROWS:
        return rows
    return [*rows[: MOST_ROWS - 5], ["..."] * len(rows[0]), *rows[-4:]]


class ShowsTables:
    """A result that is printed as tables, in a terminal and in a notebook; its ``repr`` is one line."""

    def tables(self) -> list[Table]:
        """Return what is shown, best first."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join(table.text() for table in self.tables())

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self.tables())
