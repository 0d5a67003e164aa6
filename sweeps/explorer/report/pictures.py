"""Pictures of a report: figures as SVG inside the page."""

from __future__ import annotations

import base64
import dataclasses
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.modes.sensitivity_results import Sensitivities
from jaxmodal.plots.arms import draw_arm
from jaxmodal.plots.bent_arms import VIEWS, AnyShapes, draw_mode, mode_title, views_of
from jaxmodal.plots.figures import finished, new_figure
from jaxmodal.plots.sensitivities import draw_sensitivities
from jaxmodal.plots.spatial_arms import draw_spatial_arm
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from sweeps.plots.maps import posture_maps
from sweeps.plots.pictures import branches
from sweeps.plots.style import style

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

#: characters that XML forbids; names may contain them
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclasses.dataclass(frozen=True)
class Picture:
    """A picture inside the page.

    Attributes
    ----------
    source : str
        The picture as an address that begins with ``data:``.
    text : str
        Description in words.
    """

    source: str
    text: str


def of_arm(arm: AnyArm, text: str) -> Picture:
    """Return the arm in its posture, to scale; in space an oblique view and three views along the ground axes."""
    with _drawing():
        if isinstance(arm, SpatialArm):
            figure = new_figure(9.6, 2.9)
            for place, view in zip(figure.subplots(1, len(VIEWS)).flat, VIEWS, strict=True):
                draw_spatial_arm(arm, place, view).set_title(view, fontsize=9)
        else:
            figure = new_figure(5.2, 3.9)
            draw_arm(arm, figure.add_subplot()).set_title("")
        return _embedded(figure, text)


def of_modes(shapes: AnyShapes) -> list[Picture]:
    """Return a picture of each mode that has a shape, drawn on the arm at rest."""
    views, found = views_of(shapes), []
    for mode in drawable(shapes):
        with _drawing():
            figure = new_figure(2.4 * len(views) if len(views) > 1 else 3.0, 2.5)
            for place, view in zip(
                figure.subplots(1, len(views), squeeze=False).flat, views, strict=True
            ):
                draw_mode(place, shapes, mode, view)
                place.set_title(view if len(views) > 1 else "", fontsize=9)
            title = mode_title(shapes, mode)
            found.append(_embedded(finished(figure, None, title), f"Shape of {title}"))
    return found


def drawable(shapes: AnyShapes) -> list[int]:
    """Return the indices, from 0, of modes that have a shape."""
    moved = np.asarray(shapes.displacement)
    return [k for k in range(len(moved)) if np.isfinite(moved[k]).all()]


def of_sensitivities(table: Sensitivities, top: int) -> Picture:
    """Return the sensitivities as bars, the largest first."""
    with _drawing():
        figure = new_figure(7.6, 1.8 + 0.34 * top)
        draw_sensitivities(table, figure.add_subplot(), top).set_title("")
        return _embedded(figure, "Sensitivities as bars, those of the table below")


def of_postures(ds: xr.Dataset, names: tuple[str, ...]) -> Picture:
    """Return frequencies over the angles of two joints as maps, one colour scale per mode; over one joint as curves."""
    with _drawing():
        figure = (
            posture_maps(ds, *names) if len(names) == 2 else branches(ds, *names, tracked=False)
        )
        if len(names) == 2:
            figure.suptitle("")
        else:
            figure.axes[0].set_title("")
        return _embedded(figure, f"Frequencies over {' and '.join(names)}")


@contextmanager
def _drawing() -> Iterator[None]:
    """Set the style of pictures; warnings about letters that the font lacks are ignored (they become boxes)."""
    with warnings.catch_warnings(), style():
        warnings.filterwarnings("ignore", message="Glyph ", category=UserWarning)
        yield


def _embedded(figure: Figure, text: str) -> Picture:
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None}, dpi=130)
    plain = _NO_XML.sub("", file.getvalue())
    source = base64.b64encode(plain.encode()).decode()
    return Picture(f"data:image/svg+xml;base64,{source}", text)
