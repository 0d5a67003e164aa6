"""The page as one file: its sources put together with the data, under a policy that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import string
from importlib import resources
from typing import Any

import xarray as xr

from sweeps.explorer.data import page_data

#: in the order in which they need each other
SCRIPTS = (
    "scales.js",
    "reading.js",
    "state.js",
    "slice.js",
    "map.js",
    "curves.js",
    "arm.js",
    "files.js",
    "page.js",
)


def page_html(ds: xr.Dataset, served: bool = False) -> str:
    """The page of a dataset.

    Parameters
    ----------
    ds
        The result of a sweep, `sweeps.explorer.data.ordered`.
    served
        Whether a server of `sweeps.explorer.server` answers what the page asks; a file asks nothing.

    Raises
    ------
    SweepError
        As `page_data`.
    """
    return assembled(page_data(ds) | {"served": served})


def assembled(data: dict[str, Any]) -> str:
    """The page of data as `page_data` returns them: names in them are text, and only its own script runs."""
    script, style = code()
    asked = "'self'" if data["served"] else "'none'"
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        f"connect-src {asked}; base-uri 'none'; form-action 'none'"
    )
    plain = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for mark in "<>&":  # none of them ends the element that holds the data
        plain = plain.replace(mark, f"\\u{ord(mark):04x}")
    return string.Template(_source("page.html")).substitute(
        policy=policy, title=html.escape(data["title"]), style=style, data=plain, script=script
    )


def code() -> tuple[str, str]:
    """The script and the style of the page."""
    body = "\n".join(_source(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{body}}})();\n', _source("page.css")


def _source(name: str) -> str:
    return resources.files("sweeps.explorer").joinpath("web", name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
