"""`explore`: write or show the page of an arm or of the result of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, overload

from jaxmodal.arm.quantities import shown
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.spatial.arms.arm import AnyArm
from sweeps.definition.errors import SweepError
from sweeps.explorer.data import ordered
from sweeps.explorer.notebook import NotebookPage
from sweeps.explorer.on_datasets import when_imported
from sweeps.explorer.page import arm_page_html, page_html
from sweeps.store.export import write_text_or_refuse

if TYPE_CHECKING:
    import xarray as xr

_SUFFIXES = (".html", ".htm")


@overload
def explore(
    what: AnyArm | xr.Dataset, path: str | Path, *, theory: TheoryName | None = None
) -> Path: ...


@overload
def explore(
    what: AnyArm | xr.Dataset, path: None = None, *, theory: TheoryName | None = None
) -> NotebookPage: ...


def explore(
    what: AnyArm | xr.Dataset,
    path: str | Path | None = None,
    *,
    theory: TheoryName | None = None,
) -> Path | NotebookPage:
    """Write the page of an arm or of a sweep, one file for a browser, or show it in a notebook.

    The page of an arm solves the arm exactly while sliders move, and animates its modes; an arm in space can be rotated
    with the mouse. The page of a sweep has maps, curves and spectra.

    Parameters
    ----------
    what
        Arm, or dataset of `sweeps.run` or `sweeps.open_result`.
    path
        Path of the file; must end in ``.html`` or ``.htm``. Without a path the page is returned for a notebook.
    theory
        Beam theory of an arm, ``"timoshenko"`` by default (see `jaxmodal.natural_frequencies`); not for a sweep.

    Returns
    -------
    pathlib.Path, or sweeps.explorer.notebook.NotebookPage
        Path of the file; without a path the page itself, which a notebook shows as the last value of a cell.

    Raises
    ------
    ArmError
        The page does not support the forces at rest, such as loads in space, or `jaxmodal.natural_frequencies` refuses
        the arm.
    SweepError
        ``what`` is neither an arm nor a dataset of a sweep, ``path`` has another ending or cannot be written, or
        ``theory`` is given for a sweep.

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
    else:
        text = _page_of_dataset(what, theory)
    if place is None:
        name = what.name if isinstance(what, SerialArm) else str(what.attrs["title"])
        return NotebookPage(name or "an arm", text)
    write_text_or_refuse(place, text)
    return place


def _page_of_dataset(what: xr.Dataset, theory: str | None) -> str:
    import xarray as xr

    if not isinstance(what, xr.Dataset):
        raise SweepError(
            f"what = {shown(what)}: must be an Arm, a SpatialArm or the dataset of a sweep; give one of these."
        )
    if theory is not None:
        raise SweepError(f"theory = {theory!r}: is for an arm; a sweep has its own, leave it out.")
    return page_html(ordered(what))


class _Explored:
    """The accessor ``ds.explore()``: the page of a dataset for a notebook, or written to a path."""

    def __init__(self, ds: xr.Dataset) -> None:
        self._ds = ds

    def __call__(self, path: str | Path | None = None) -> Path | NotebookPage:
        return explore(self._ds) if path is None else explore(self._ds, path)


def _register() -> None:
    import xarray as xr

    xr.register_dataset_accessor("explore")(_Explored)  # type: ignore[no-untyped-call]


when_imported(_register)
