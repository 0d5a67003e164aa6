"""A posture series in few combinations of its terms: between two frequencies D has far fewer shapes than terms."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from jaxmodal.postures.expansions import Expansion
from jaxmodal.postures.series import PostureSeries, confirmed
from jaxmodal.postures.terms import Terms

#: series of fewer terms stay as they are
_FEWEST = 64
#: what may be left out of any value, of the size of its panel: somewhat more than its rounding
_LEFT_OUT = 16.0 * 2.0**-52


#: values of each panel whose errors are measured; so many times the largest of them, and so much of the size of the
#: panel, is what the series states, on which `series_roots._MARGIN` comes
_MEASURED, _SURE, _LEAST = 64, 3.0, 2.0 * 2.0**-52


def measured(
    series: PostureSeries, basis: np.ndarray | None, expansion: Expansion
) -> PostureSeries | None:
    """The series with errors as they are in held-back values, no larger than it says; None where it does not hold.

    What is rounded is bounded by the sum of many terms, and a fifth of that as a rule.
    """
    largest = confirmed(series, expansion, basis, _MEASURED)
    if largest is None:
        return None
    size = np.asarray(series.size)
    largest = largest.reshape(-1, *(1,) * (size.ndim - 1))
    error = np.minimum(series.error, (_SURE * largest + _LEAST) * size)
    return dataclasses.replace(series, error=jax.device_put(error))


def in_fewer_terms(series: PostureSeries, terms: Terms) -> tuple[PostureSeries, np.ndarray | None]:
    """The series of combinations of terms, and these, (R, H); the series itself and None where it has few terms.

    The combinations are orthonormal. Over a range of frequencies with so many modes the coefficients are, to the last
    digit, those of about twice as many functions of omega: of 81 terms some 23 combinations are left. What leaves them
    out takes from a value is bounded and counts as error.
    """
    taylor, at = np.asarray(series.taylor), np.asarray(series.at_separators)
    panels, degrees, number = taylor.shape
    if number < _FEWEST:
        return series, None
    size = np.asarray(series.size).reshape(panels, -1)
    own = np.concatenate([[0], np.repeat(np.arange(panels), (len(at) - 2) // panels), [panels - 1]])
    # every power as large in all panels, but for how large a panel is
    each = np.exp(np.mean(np.log(size), axis=1, keepdims=True))
    column = np.max(size / each, axis=0)
    weights = np.tile(column, number // column.size)
    left, singular, basis = np.linalg.svd(at / (each[own] * weights), full_matrices=False)
    largest = terms.largest(number) * np.max(column * each / size, axis=1)[own, None]
    out = np.cumsum(((left * singular) ** 2)[:, ::-1], axis=1)[:, ::-1]
    lost = largest * np.sqrt(
        np.append(out, 0.0 * out[:, :1], axis=1)
    )  # of each row by how many are kept
    kept = int(np.argmax(lost.max(axis=0) <= _LEFT_OUT))
    if 2 * kept > number:
        return series, None
    basis, lost = basis[:kept], lost[:, kept]
    worst = np.zeros(panels)
    np.maximum.at(worst, own, lost)
    error = np.asarray(series.error)
    fewer = {
        "taylor": ((taylor / weights).reshape(-1, number) @ basis.T).reshape(panels, degrees, kept),
        "at_separators": (at / weights) @ basis.T,
        "error": error + (worst[:, None] * size).reshape(error.shape),
    }
    return dataclasses.replace(series, **jax.device_put(fewer)), basis * weights
