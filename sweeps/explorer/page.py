"""Pages as one file: their sources put together with the data, under a policy that loads nothing."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
import re
import string
from importlib import resources
from typing import Any

import xarray as xr

from jaxmodal.arm.arm import Arm
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.spatial.arms.arm import SpatialArm
from sweeps.explorer.arms import arm_page_data
from sweeps.explorer.data import page_data
from sweeps.explorer.solver import module_text
from sweeps.explorer.sparing import spared

#: in the order in which they need each other
SCRIPTS = (
    "scales.js",
    "reading.js",
    "state.js",
    "slice.js",
    "canvas.js",
    "vector.js",
    "map.js",
    "curves.js",
    "files.js",
    "address.js",
    "elements.js",
    "values.js",
    "asking.js",
    "between.js",
    "following.js",
    "branches.js",
)
#: what draws the arm at a cell, in the plane and in space
CELL_SCRIPTS = {
    False: ("arm.js",),
    True: ("turning.js", "solids.js", "space_picture.js", "cell_picture.js"),
}
#: what both pages of an arm have, and the page itself
_VIEWS = (
    "canvas.js",
    "vector.js",
    "plot.js",
    "values.js",
    "pinning.js",
    "matters.js",
    "ports.js",
    "response.js",
    "following.js",
    "along.js",
    *("reading.js", "state.js", "slice.js", "map.js", "arm_map.js"),
    "arm_page.js",
)
#: those of the page of a planar arm, and of one in space
ARM_SCRIPTS = (
    "scales.js",
    "arm.js",
    "files.js",
    "address.js",
    "elements.js",
    "asking.js",
    "moving.js",
    "plane_picture.js",
    *_VIEWS,
)
SPACE_SCRIPTS = (
    "scales.js",
    "files.js",
    "address.js",
    "elements.js",
    "asking.js",
    "turning.js",
    "solids.js",
    "space_picture.js",
    *_VIEWS,
)
#: what pages say beneath the picture of an arm in space
_TURNS = (
    "Drag to turn the arm, or its arrow keys; the wheel, + and - zoom. Bodies are ellipsoids of their mass and "
    "inertia, those without inertia spheres of 2700 kg/m^3; joints that give way are filled."
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


def arm_page_html(arm: Arm | SpatialArm, theory: TheoryName = "timoshenko") -> str:
    """The page of an arm, which solves it; whether served or a file, it asks nothing.

    Parameters
    ----------
    arm
        A planar arm, or one in space, which the page shows turning.
    theory
        As for `jaxmodal.natural_frequencies`.

    Raises
    ------
    ArmError
        As `arm_page_data`.
    """
    return arm_assembled(arm_page_data(arm, theory))


def assembled(data: dict[str, Any]) -> str:
    """The page of data as `page_data` returns them: names in them are text, and only its own script runs."""
    asked = "'self'" if data["served"] else "'none'"
    in_space = bool(data["arm"] and data["arm"].get("space"))
    solver = None if "why" in data["exact"] else data["exact"]["space"]
    picture = source_of("space_picture.html" if in_space else "plane_picture.html").rstrip()
    parts = {"picture": picture, "remarks": _TURNS if in_space else ""}
    rules = f"connect-src {asked}{'' if solver is None else '; worker-src blob:'}"
    return _put_together("page.html", code(in_space, solver), rules, data, parts)


def arm_assembled(data: dict[str, Any]) -> str:
    """The page of data as `arm_page_data` returns them; its script, which has a digest, holds its worker, too."""
    in_space = data["space"]
    picture = source_of("space_picture.html" if in_space else "plane_picture.html").rstrip()
    parts = {
        "picture": picture,
        "remarks": f"{_TURNS} A mode that turns much is drawn smaller." if in_space else "",
    }
    rules = "connect-src 'none'; worker-src blob:"
    return _put_together("arm.html", arm_code(in_space), rules, data, parts)


def code(in_space: bool = False, solver: bool | None = None) -> tuple[str, str]:
    """The script and the style of the page of a sweep, of an arm in the plane or in space.

    ``solver`` says which one is within, that of arms in space or of planar ones; None for none.
    """
    scripts = (*SCRIPTS, *CELL_SCRIPTS[in_space], "page.js")
    return _script(scripts, _worker(solver)), source_of("page.css")


def arm_code(in_space: bool = False) -> tuple[str, str]:
    """The script and the style of the page of an arm, in the plane or in space, the solver within."""
    scripts = SPACE_SCRIPTS if in_space else ARM_SCRIPTS
    return _script(scripts, _worker(in_space)), source_of("page.css")


@functools.cache
def _worker(in_space: bool | None) -> str:
    """The text that the worker of a page runs; empty for none."""
    if in_space is None:
        return 'const SOLVER = "";\n'
    # a page from a disk may start no worker that is a module
    solver = re.sub(r"^export ", "", module_text(in_space), flags=re.MULTILINE)
    worker = json.dumps(spared(f'"use strict";\n{solver}\n{source_of("worker.js")}'))
    # of what markup is, a script keeps all but what would end it
    quoted = worker.replace("</", "<\\/").replace("<!--", "<\\!--")
    return f"const SOLVER = {quoted};\n"


@functools.cache
def _script(names: tuple[str, ...], first: str) -> str:
    body = spared("\n".join(source_of(name) for name in names))
    return f'"use strict";\n(() => {{\n{first}{body}}})();\n'


def _put_together(
    body: str,
    code: tuple[str, str],
    rules: str,
    data: dict[str, Any],
    parts: dict[str, str] | None = None,
) -> str:
    script, style = code
    policy = (
        f"default-src 'none'; script-src '{digest_of(script)}'; style-src '{digest_of(style)}'; img-src data:; "
        f"{rules}; base-uri 'none'; form-action 'none'"
    )
    plain = _without_markup(json.dumps(data, allow_nan=False, separators=(",", ":")))
    title = html.escape(data["title"])
    shown = string.Template(source_of(body)).substitute(title=title, **(parts or {}))
    return framed(
        policy,
        title,
        style,
        f'{shown}<script type="application/json" id="data">{plain}</script>\n<script>{script}</script>',
    )


def framed(policy: str, title: str, style: str, body: str) -> str:
    """A whole page: what it may load, its title and body as HTML, and its style."""
    values = {"policy": policy, "title": title, "style": style, "body": body}
    return string.Template(source_of("frame.html")).substitute(values)


def _without_markup(text: str) -> str:
    """JSON in which nothing ends the element that holds it."""
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def source_of(name: str) -> str:
    """A file of the pages."""
    return resources.files("sweeps.explorer").joinpath("web", name).read_text("utf-8")


def digest_of(text: str) -> str:
    """By which a policy knows a script or a style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
