"""Pages written by name from Python: of an arm or of the result of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import overload

import xarray as xr

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.whole_files import write_text
from jaxmodal.spatial.arms.arm import SpatialArm
from sweeps.definition.errors import SweepError
from sweeps.explorer.data import ordered
from sweeps.explorer.notebook import NotebookPage
from sweeps.explorer.page import arm_page_html, page_html

_SUFFIXES = (".html", ".htm")


@overload
def explore(
    what: Arm | SpatialArm | xr.Dataset, path: str | Path, *, theory: TheoryName | None = None
) -> Path: ...


@overload
def explore(
    what: Arm | SpatialArm | xr.Dataset, path: None = None, *, theory: TheoryName | None = None
) -> NotebookPage: ...


def explore(
    what: Arm | SpatialArm | xr.Dataset,
    path: str | Path | None = None,
    *,
    theory: TheoryName | None = None,
) -> Path | NotebookPage:
    """Write the page of an arm or of a sweep, one file for a browser, or show it in a notebook.

    The page of an arm solves it as its sliders move, exactly, and shows its modes moving; an arm in space turns under
    the mouse. The page of a sweep has maps, curves and spectra.

    Parameters
    ----------
    what
        An arm, or a dataset of `sweeps.run` or `sweeps.open_result`.
    path
        Where to write it, a name that ends in ``.html``; left out, the page is for a notebook, which shows it.
    theory
        Of an arm, as for `jaxmodal.natural_frequencies`, ``"timoshenko"`` if left out; a sweep has those of its own.

    Returns
    -------
    pathlib.Path, or sweeps.explorer.notebook.NotebookPage
        Where it is; without a path the page itself, the last value of a cell of a notebook.

    Raises
    ------
    ArmError
        Forces at rest that the page has not, or the arm is refused by `jaxmodal.natural_frequencies`, too.
    SweepError
        ``what`` is neither, or the file or the theory is not for it.

    Examples
    --------
    >>> import jaxmodal as jm, sweeps, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "arm.html"
    >>> sweeps.explore(jm.examples.six_axis_industrial(), path).name
    'arm.html'
    """
    place = None if path is None else Path(path)
    if place is not None and place.suffix.lower() not in _SUFFIXES:
        raise SweepError(
            f"path = {str(path)!r}: must be the name of a page, which ends in .html; give one such as 'arm.html'."
        )
    if isinstance(what, SerialArm):
        text = arm_page_html(what, theory or "timoshenko")
    elif not isinstance(what, xr.Dataset):
        raise SweepError(
            f"what = {shown(what)}: must be an Arm, a SpatialArm or the dataset of a sweep; give one of these."
        )
    elif theory is not None:
        raise SweepError(f"theory = {theory!r}: is for an arm; a sweep has its own, leave it out.")
    else:
        text = page_html(ordered(what))
    if place is None:
        name = what.name if isinstance(what, SerialArm) else str(what.attrs["title"])
        return NotebookPage(name or "an arm", text)
    write_text(place, text)
    return place


@xr.register_dataset_accessor("explore")  # type: ignore[no-untyped-call]
class _Explored:
    """``ds.explore()``: the page of a dataset for a notebook, or written to a path."""

    def __init__(self, ds: xr.Dataset) -> None:
        self._ds = ds

    def __call__(self, path: str | Path | None = None) -> Path | NotebookPage:
        return explore(self._ds) if path is None else explore(self._ds, path)
