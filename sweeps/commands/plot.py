"""The command ``jaxmodal sweep plot``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from jaxmodal.cli.arguments import BadInput, Number, ascii_number, format_option
from jaxmodal.cli.output import print_json, written_files
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.array_types import Numbers
from sweeps.commands.base import opened, refusing

if TYPE_CHECKING:
    import xarray as xr

#: difference, relative to the value or the smallest step of an axis, up to which its nearest point is the one asked
#: for; largest number
_SAME, _LARGEST = 1e-6, 1e300


def draw(
    ds: xr.Dataset,
    out: Path,
    suffix: str,
    kind: str = "all",
    axes: Sequence[str] = (),
    say: bool = True,
    **options: Any,
) -> list[Path]:
    """Draw one kind of picture of a dataset, or all applicable kinds, and return the files.

    If ``out`` has the suffix of a picture, it is the file of a single picture; otherwise the beginning of the names of
    files. ``say`` prints the names. Without matplotlib, a message replaces all applicable kinds.
    """
    import importlib.util

    from jaxmodal.cli.compiling import late_progress
    from sweeps.plots.pictures import picture, pictures
    from sweeps.plots.style import FORMATS, save

    if kind == "all" and importlib.util.find_spec("matplotlib") is None:
        click.echo("no pictures: matplotlib is missing; install jaxmodal[plots].", err=True)
        return []
    with refusing(), late_progress("cells followed") as advance:
        figures = (
            pictures(ds, axes, progress=advance, **options)
            if kind == "all"
            else {kind: picture(ds, kind, axes, progress=advance, **options)}
        )
    with refusing():
        whole = out.suffix.removeprefix(".").lower() in FORMATS
        if whole and len(figures) > 1:
            raise BadInput(
                f"--out {out}: is one file, but {len(figures)} pictures suit; give one of them, --kind "
                f"{' or '.join(figures)}, or the beginning of their names."
            )
        paths = []
        for name, figure in figures.items():
            path = out if whole else out.with_name(f"{out.name}_{name}.{suffix}")
            save(figure, path)
            paths.append(path)
            if say:
                click.echo(f"{path}")
    return paths


@click.command()
@click.argument("store", metavar="STORE")
@click.option(
    "--kind",
    type=click.Choice(
        [
            *("all", "branches", "maps", "samples", "slenderness", "sensitivities"),
            *("peaks", "damping", "compliance", "certificates"),
        ]
    ),
    default="all",
    show_default=True,
    help="all draws what suits the axes.",
)
@click.option(
    "--axis", "axes", multiple=True, metavar="NAME", help="Axis to draw over; twice for maps."
)
@click.option(
    "--at", multiple=True, metavar="NAME=VALUE", help="Select the nearest value of an axis."
)
@click.option("--theory", help="Theory to draw; slenderness and certificates show all.")
@click.option(
    "--address",
    metavar="ADDRESS",
    help="Draw the sensitivity to this parameter, not which one matters most.",
)
@click.option(
    "--level",
    "levels",
    type=Number(),
    multiple=True,
    metavar="HZ",
    help="Draw the contour of this frequency into maps; more than once for several.",
)
@click.option(
    "--shared-scale",
    is_flag=True,
    help="One scale of colours for all modes of maps, to compare them; each has its own otherwise.",
)
@click.option(
    "--to",
    "kind_of_file",
    type=click.Choice(["png", "svg"]),
    help="The format; left out, that of the suffix of --out.  [default: png]",
)
@format_option(("table", "json"))
@click.option(
    "--out",
    metavar="FILE|STEM",
    help="The picture's file (.png, .svg), or the beginning of the files' names.  [default: the store's]",
)
def plot(
    store: str,
    kind: str,
    axes: tuple[str, ...],
    at: tuple[str, ...],
    theory: TheoryName | None,
    address: str | None,
    levels: tuple[float, ...],
    shared_scale: bool,
    output_format: str,
    out: str | None,
    kind_of_file: str | None,
) -> None:
    """Draw pictures of a STORE as PNG or SVG.

    Branches are followed along one axis by the mode shapes; other axes stay at their middle unless --at
    selects a value.
    """
    from jaxmodal.cli.paths import require_file
    from sweeps.analysis.cells import axes_of
    from sweeps.solution.quantity import NOT_COMPUTED

    suffix = _suffix(out, kind_of_file)
    if out is not None:
        whole = out.lower().endswith(f".{suffix}")
        require_file("--out", Path(out if whole else f"{out}_{kind}.{suffix}"))
    if levels and kind != "maps":
        raise BadInput(f"--level {levels[0]:g}: goes with --kind maps.")
    if shared_scale and kind != "maps":
        raise BadInput("--shared-scale: goes with --kind maps.")
    if address is not None and kind != "sensitivities":
        raise BadInput(f"--address {address}: goes with --kind sensitivities.")
    ds = opened(store).load()
    if bool((ds.status == NOT_COMPUTED).all()):
        raise BadInput(f"{store}: no cell has been computed; run the sweep first.")
    place = Path(out) if out else Path(store.rstrip("/")).with_suffix("")
    with refusing():
        ds = selected(ds, at)
    _require_axes(axes, axes_of(ds))
    names = [*axes, *(name for name in axes_of(ds) if name not in axes)]
    if len(names) < (2 if kind == "maps" else 1):
        raise BadInput(f"--kind {kind}: needs more axes than the {len(names)} that are left.")
    if kind == "slenderness" and not axes:
        names = ["thickness_factor"]
    options: dict[str, Any] = {"theory": theory}
    if kind != "all":
        options |= {"parameter": address, "levels": levels, "shared_scale": shared_scale}
    paths = draw(ds, place, suffix, kind, names, output_format == "table", **options)
    if output_format == "json":
        print_json({"store": store, "wrote": written_files(*paths)})
    if levels:
        _tell_missed(ds, names, levels, theory)


def _require_axes(axes: Sequence[str], left: Sequence[str]) -> None:
    """Raise an error for an axis that is given twice, or that is not among those left."""
    from jaxmodal.runtime.errors import suggestion

    for place, name in enumerate(axes):
        if name in axes[:place]:
            raise BadInput(f"--axis {name}: is given twice; give it once.")
        if name not in left:
            raise BadInput(
                f"--axis {name}: the axes that are left are {', '.join(left) or 'none'}."
                f"{suggestion(name, left)}"
            )


def _suffix(out: str | None, kind_of_file: str | None) -> str:
    """Return the suffix of pictures: from --out if it names a picture, else from --to, else png."""
    own = "" if out is None else Path(out).suffix.removeprefix(".").lower()
    if own in ("pdf", "gif", "jpg", "jpeg", "tif", "tiff", "webp"):
        raise BadInput(f"--out {out}: pictures of sweeps are .png or .svg; give one of these.")
    if own not in ("png", "svg"):
        return kind_of_file or "png"
    if kind_of_file not in (None, own):
        raise BadInput(f"--out {out} --to {kind_of_file}: are two formats; leave one out.")
    return own


def _tell_missed(
    ds: xr.Dataset, names: Sequence[str], levels: Sequence[float], theory: TheoryName | None
) -> None:
    """Print the levels without a contour to standard error."""
    from sweeps.plots.maps import missed_levels

    for level in missed_levels(ds, names[0], names[1], levels, theory):
        click.echo(f"no contour at {level:g} Hz: no mode drawn has this frequency.", err=True)


def selected(ds: xr.Dataset, at: tuple[str, ...]) -> xr.Dataset:
    """Return the dataset at the coordinates of the options ``--at``."""
    from jaxmodal.runtime.errors import suggestion

    known = [str(name) for name in ds.frequency.dims if name in ds.indexes and name != "mode"]
    seen: set[str] = set()
    for entry in at:
        name, given, text = entry.partition("=")
        if name in seen:
            raise BadInput(f"--at {entry}: {name} is given twice; give one value.")
        seen.add(name)
        if name in known and not given:
            raise BadInput(f"--at {entry}: has no value; give {name}=VALUE.")
        if name not in known:
            raise BadInput(
                f"--at {entry}: the axes are {', '.join(known)}.{suggestion(name, known)}"
            )
        if name == "theory":
            theories = [str(theory) for theory in ds.theory.values]
            if text not in theories:
                raise BadInput(
                    f"--at {entry}: the theories are {', '.join(theories)}.{suggestion(text, theories)}"
                )
            ds = ds.sel(theory=text)
        else:
            ds = ds.isel({name: _nearest(entry, ds[name].values, text)})
    return ds


def _nearest(entry: str, values: Numbers, text: str) -> int:
    """Return the place of the value of an axis that is nearest to a number; a value that is not equal is told."""
    try:
        wanted = ascii_number(text)
    except ValueError as error:
        raise BadInput(f"--at {entry}: {text!r} is not a number.") from error
    if math.isnan(wanted):
        raise BadInput(f"--at {entry}: {text!r} is no value of an axis; give a number.")
    # infinite values are compared as the largest ones
    there, asked = (np.clip(numbers, -_LARGEST, _LARGEST) for numbers in (values, wanted))
    place = int(np.argmin(np.abs(there - asked)))
    steps = np.diff(np.unique(there))
    rounding = _SAME * float(steps.min()) if steps.size else 0.0
    if not math.isclose(values[place], wanted, rel_tol=_SAME, abs_tol=rounding):
        click.echo(f"--at {entry}: the nearest value there is {values[place]:g}.", err=True)
    return place
