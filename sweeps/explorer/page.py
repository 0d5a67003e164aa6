"""Pages as one HTML file: sources and data together, under a content security policy that loads nothing."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
import re
import string
from importlib import resources
from typing import TYPE_CHECKING, Any

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.spatial.arms.arm import AnyArm
from sweeps.explorer.arms import arm_page_data
from sweeps.explorer.data import page_data
from sweeps.explorer.solver import module_text
from sweeps.explorer.sparing import spared

if TYPE_CHECKING:
    import xarray as xr

#: scripts of the page of a sweep; each needs only scripts before it
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
#: scripts that draw the arm at a cell; the key is True for arms in space
CELL_SCRIPTS = {
    False: ("arm.js",),
    True: ("turning.js", "solids.js", "space_picture.js", "cell_picture.js"),
}
#: scripts that the pages of planar arms and of arms in space share
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
#: scripts of the page of a planar arm, and of an arm in space
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
#: remark of pages below the picture of an arm in space
_TURNS = (
    "Drag to turn the arm, or its arrow keys; the wheel, + and - zoom. Bodies are ellipsoids of their mass and "
    "inertia, those without inertia spheres of 2700 kg/m^3; elastic joints are filled."
)


def page_html(ds: xr.Dataset, served: bool = False) -> str:
    """Return the page of a dataset as HTML.

    Parameters
    ----------
    ds
        Result of a sweep, `sweeps.explorer.data.ordered`.
    served
        True where a server of `sweeps.explorer.server` answers requests of the page; a file sends none.

    Raises
    ------
    SweepError
        See `page_data`.
    """
    return assembled(page_data(ds) | {"served": served})


def arm_page_html(arm: AnyArm, theory: TheoryName = "timoshenko") -> str:
    """Return the page of an arm as HTML. The page solves the arm itself and sends no requests.

    Parameters
    ----------
    arm
        Planar arm, or arm in space.
    theory
        As for `jaxmodal.natural_frequencies`.

    Raises
    ------
    ArmError
        See `arm_page_data`.
    """
    return arm_assembled(arm_page_data(arm, theory))


def assembled(data: dict[str, Any]) -> str:
    """Return the page of a sweep from `page_data`; names in the data are text, and only the page's own script runs."""
    asked = "'self'" if data["served"] else "'none'"
    in_space = bool(data["arm"] and data["arm"].get("space"))
    solver = None if "why" in data["exact"] else data["exact"]["space"]
    picture = source_of("space_picture.html" if in_space else "plane_picture.html").rstrip()
    parts = {"picture": picture, "remarks": _TURNS if in_space else ""}
    rules = f"connect-src {asked}{'' if solver is None else '; worker-src blob:'}"
    script = code(in_space, solver, bool(data["exact"].get("loads")))
    return _put_together("page.html", script, rules, data, parts)


def arm_assembled(data: dict[str, Any]) -> str:
    """Return the page of an arm from `arm_page_data`; its script, known by a digest, contains its worker."""
    in_space = data["space"]
    picture = source_of("space_picture.html" if in_space else "plane_picture.html").rstrip()
    parts = {
        "picture": picture,
        "remarks": f"{_TURNS} A mode that turns much is drawn smaller." if in_space else "",
    }
    rules = "connect-src 'none'; worker-src blob:"
    script = arm_code(in_space, bool(data["solved"].get("rest")))
    return _put_together("arm.html", script, rules, data, parts)


def code(
    in_space: bool = False, solver: bool | None = None, under_loads: bool = False
) -> tuple[str, str]:
    """Return script and style of the page of a sweep over a planar arm or an arm in space.

    ``solver`` selects the solver in the page: True for arms in space, False for planar arms, None for no solver;
    ``under_loads`` that for arms in space under loads.
    """
    scripts = (*SCRIPTS, *CELL_SCRIPTS[in_space], "page.js")
    return _script(scripts, _worker(solver, under_loads)), source_of("page.css")


def arm_code(in_space: bool = False, under_loads: bool = False) -> tuple[str, str]:
    """Return script and style, with the solver, of the page of an arm, in space also under loads."""
    scripts = SPACE_SCRIPTS if in_space else ARM_SCRIPTS
    return _script(scripts, _worker(in_space, under_loads)), source_of("page.css")


@functools.cache
def _worker(in_space: bool | None, under_loads: bool) -> str:
    """Return the script line with the source of the page's worker; an empty source for None."""
    if in_space is None:
        return 'const SOLVER = "";\n'
    # a page opened from a file cannot start a worker that is a module
    solver = re.sub(r"^export ", "", module_text(in_space, under_loads), flags=re.MULTILINE)
    worker = json.dumps(spared(f'"use strict";\n{solver}\n{source_of("worker.js")}'))
    # only markup that would end the script is escaped
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
    """Return a complete page from its content security policy, title and body as HTML, and style."""
    values = {"policy": policy, "title": title, "style": style, "body": body}
    return string.Template(source_of("frame.html")).substitute(values)


def _without_markup(text: str) -> str:
    """Return JSON without characters that could end the element around it."""
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def source_of(name: str) -> str:
    """Return the text of a source file of the pages."""
    return resources.files("sweeps.explorer").joinpath("web", name).read_text("utf-8")


def digest_of(text: str) -> str:
    """Return the SHA-256 digest by which a content security policy allows a script or a style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
