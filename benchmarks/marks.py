"""Figures between two marks of a page, replaced by those of a new run."""

from __future__ import annotations


def between(page: str, begin: str, end: str, text: str) -> str:
    """The page with ``text`` between its two marks.

    Raises
    ------
    ValueError
        A mark is missing.
    """
    before, first, rest = page.partition(begin)
    _, last, after = rest.partition(end)
    if not first or not last:
        raise ValueError(f"the page lacks {begin} or, after it, {end}")
    return f"{before}{begin}\n{text}\n{end}{after}"
