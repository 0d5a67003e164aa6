"""Pages inside a notebook."""

from __future__ import annotations

import dataclasses
import html

#: height of the frame of a page in CSS pixels
HEIGHT = 900


@dataclasses.dataclass(frozen=True, repr=False)
class NotebookPage:
    """A page that a notebook shows when it is the last value of a cell.

    It is shown in a sandboxed frame: its scripts run, but cannot reach the notebook.

    Attributes
    ----------
    title : str
        Title of the page.
    text : str
        HTML of the page.
    """

    title: str
    text: str

    def __repr__(self) -> str:
        return f"<page of {self.title}: shown by notebooks; give explore a path to write it>"

    def _repr_html_(self) -> str:
        inside, title = html.escape(self.text), html.escape(self.title)
        return (
            f'<iframe srcdoc="{inside}" title="{title}" sandbox="allow-scripts allow-downloads" '
            f'width="100%" height="{HEIGHT}" style="border: 0"></iframe>'
        )
