"""What pictures say of a mode."""

from __future__ import annotations

from jaxmodal.frequencies.status import Status
from jaxmodal.modes.planar_shapes import ModeShapes
from jaxmodal.modes.spatial_shapes import SpatialModeShapes

_LABELS = {
    "timoshenko": "Timoshenko",
    "rayleigh": "Rayleigh",
    "euler_bernoulli": "Euler-Bernoulli",
    "bending_only": "bending only",
}


def check_mode(shapes: ModeShapes | SpatialModeShapes, mode: int) -> None:
    """Refuse a mode number, from 1, that the shapes do not have."""
    count = len(shapes.omega)
    if not isinstance(mode, int) or not 1 <= mode <= count:
        raise ValueError(f"mode = {mode!r}: the shapes have modes 1 to {count}")


def mode_title(shapes: ModeShapes | SpatialModeShapes, mode: int) -> str:
    """Number, frequency, certificate and theory of a mode (index from 0)."""
    hertz = float(shapes.frequencies_hz[mode])
    label = _LABELS[shapes.frequencies.theory]
    mark = "" if int(shapes.frequencies.status[mode]) == Status.certified else " (not certified)"
    return f"mode {mode + 1}: {hertz:.5g} Hz{mark}\n{label}"
