"""Links cut in two: the same arm, by formulas that lose their digits at other frequencies.

A frequency at which a link with a free outer end resonates is a pole of its formulas. Where the poles of several links
coincide, not even double-double has digits left. The parts of a link resonate at other frequencies.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jaxmodal.statics.beam_arrays import INNER, OUTER, WITHOUT_EFFECT, BeamArrays

#: shares of the length of the inner parts, in turn, so that equal links have other parts
SHARES = (0.618, 0.437, 0.559, 0.382, 0.471)


def cut_lengths(length: np.ndarray, share: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the inner part of a length, about ``share`` of it, and the outer part; their sum is exact to the last bit.

    Near buckling, a rounding error of 1e-16 in a length moves the lowest frequency by 1e-8.
    """
    longer = np.maximum(share, 1.0 - share) * length
    shorter = length - longer  # exact, as the longer is half of it or more
    return np.where(share > 0.5, longer, shorter), np.where(share > 0.5, shorter, longer)


def cut_links(beams: BeamArrays) -> BeamArrays:
    """Return the beams, NumPy arrays of shape (n,), as 2 n beams."""
    shares = np.resize(SHARES, beams.length.shape[0])

    def parts(name: str, x: np.ndarray) -> np.ndarray:
        inner, outer = x, x
        if name == "length":
            inner, outer = cut_lengths(x, shares)
        elif name in INNER:
            outer = np.full_like(x, WITHOUT_EFFECT[name])
        elif name in OUTER:
            inner = np.full_like(x, WITHOUT_EFFECT[name])
        return np.stack([inner, outer], axis=1).ravel()

    values = {f.name: getattr(beams, f.name) for f in dataclasses.fields(beams)}
    cut: dict[str, Any] = {
        name: parts(name, x) for name, x in values.items() if isinstance(x, np.ndarray)
    }
    return dataclasses.replace(beams, **cut)
