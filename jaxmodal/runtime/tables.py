"""Tables of results: as text for terminals and ``print``, and as HTML for notebooks."""

from __future__ import annotations

import csv
import dataclasses
import html
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np

#: columns that a table may take; a terminal that is narrower wraps lines, and nothing is cut off
WIDTH = 200
#: rows that a printed result shows at most; the last ones follow after dots
MOST_ROWS = 60


#: what a terminal does not show but obeys: control characters but tab and new line, separators of lines, marks and
#: overrides of the direction of writing, halves of surrogate pairs
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Return the text with control characters replaced by their codes; names and keys may contain any characters."""
    return _OBEYED.sub(lambda found: ascii(found[0])[1:-1], text)


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of texts.

    Parameters
    ----------
    title
        Text above the table.
    headings
        Headings of the columns; columns whose heading is in ``left`` are aligned to the left, others to the right.
    rows
        Rows with one text per column.
    notes
        Lines below the table.
    left
        Headings of the left-aligned columns.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    left: Sequence[str] = ()

    def text(self) -> str:
        """Return the table as text, with its title above and its notes below on separate lines."""
        from rich.console import Console
        from rich.table import Table as RichTable

        file = io.StringIO()
        console = Console(file=file, width=WIDTH, markup=False, highlight=False, emoji=False)
        if self.rows:
            drawn = RichTable()
            for heading in self.headings:
                drawn.add_column(heading, justify="left" if heading in self.left else "right")
            for row in self.rows:
                drawn.add_row(*map(printable, row))
            console.print(drawn)
        title, *notes = map(printable, (self.title, *self.notes))
        lines = [title, file.getvalue().rstrip(), *notes]
        return "\n".join(line.rstrip() for line in "\n".join(filter(None, lines)).splitlines())

    def html(self) -> str:
        """Return the table as HTML, with its notes below."""

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


def csv_text(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return headings and rows as CSV: numbers with all their digits, booleans as true and false."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    kinds = (bool, np.bool_)
    writer.writerows([str(x).lower() if isinstance(x, kinds) else x for x in row] for row in rows)
    return text.getvalue()


def shortened(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the rows; of a long table the first and last ones with a row of dots between."""
    rows = list(rows)
    if len(rows) <= MOST_ROWS:
        return rows
    return [*rows[: MOST_ROWS - 5], ["..."] * len(rows[0]), *rows[-4:]]


def _has_values(tree: object) -> bool:
    """Return True if a result has concrete values, not traced values or shapes."""
    kinds = (jax.core.Tracer, jax.ShapeDtypeStruct)
    return not any(isinstance(leaf, kinds) for leaf in jax.tree_util.tree_leaves(tree))


def require_values(result: object, what: str) -> None:
    """Refuse ``what`` of a result that holds traced values.

    Raises
    ------
    TypeError
        With where to ask for it.
    """
    if not _has_values(result):
        raise TypeError(
            f"{what}: the values of this {type(result).__name__} are traced, so they are not known yet; return the "
            f"result from the function that jit, vmap or grad takes, and ask for {what} of what comes back."
        )


class ShowsTables:
    """Base class of results that are printed as tables, in a terminal and in a notebook; the ``repr`` is one line."""

    def tables(self) -> list[Table]:
        """Return the tables to show, the most important first; the title of the first is used in the ``repr``."""
        raise NotImplementedError

    def __str__(self) -> str:
        if not _has_values(self):
            return repr(self)
        return "\n".join(table.text() for table in self.tables())

    def __repr__(self) -> str:
        what = self.tables()[0].title if _has_values(self) else "traced"
        return f"<{type(self).__name__}: {what}>"

    def _repr_html_(self) -> str:
        if not _has_values(self):
            return html.escape(repr(self))
        return "".join(table.html() for table in self.tables())
