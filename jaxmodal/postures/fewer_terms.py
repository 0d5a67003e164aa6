"""A posture series in few combinations of its terms: between two frequencies D has far fewer shapes than terms."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from jaxmodal.postures.combinations import Combinations
from jaxmodal.postures.expansions import Expansion
from jaxmodal.postures.series import PostureSeries, confirmed
from jaxmodal.postures.terms import Terms

#: series of fewer terms stay as they are
_FEWEST = 64
#: what may be left out of any value, of the size of its panel: somewhat more than its rounding
_LEFT_OUT = 16.0 * 2.0**-52
#: the same of a cell's size where values vary beside angles: that is the sum of many terms, and larger than most values
_LEFT_OUT_OF_CELLS = 256.0 * 2.0**-52
#: how much more one power of values may weigh beside the others on one panel than on another of its group
_SPREAD = 10.0


#: values of each panel whose errors are measured; so many times the largest of them, and so much of the size of the
#: panel, is what the series states, on which `series_roots._MARGIN` comes
_MEASURED, _SURE, _LEAST = 64, 3.0, 2.0 * 2.0**-52


def measured(
    series: PostureSeries, combinations: Combinations | None, expansion: Expansion
) -> PostureSeries | None:
    """The series with errors as they are in held-back values, no larger than it says; None where it does not hold.

    What is rounded is bounded by the sum of many terms, and a fifth of that as a rule.
    """
    largest = confirmed(series, expansion, combinations, _MEASURED)
    if largest is None:
        return None
    size = np.asarray(series.size)
    largest = largest.reshape(-1, *(1,) * (size.ndim - 1))
    error = np.minimum(series.error, (_SURE * largest + _LEAST) * size)
    return dataclasses.replace(series, error=jax.device_put(error))


def in_fewer_terms(
    series: PostureSeries, terms: Terms
) -> tuple[PostureSeries, Combinations | None]:
    """The series with the error that combinations of its terms add, and these; itself and None where it has few terms.

    Over a range of frequencies with so many modes the coefficients are, to the last digit, those of about twice as
    many functions of omega: of 81 terms some 23 combinations are left. What leaves them out takes from a value is
    bounded and counts as error. Where values vary beside angles, powers of them that weigh little at one frequency
    weigh much at another: neighbouring panels share combinations where powers weigh about alike.
    """
    panels, _, number = np.shape(series.taylor)
    if number < _FEWEST:
        return series, None
    size = np.asarray(series.size).reshape(panels, -1)
    # every power beside the others, whatever the size of a panel
    each = np.exp(np.mean(np.log(size), axis=1))
    weights = size / each[:, None]
    at, error = _rows_of_panels(series), np.array(series.error).reshape(panels, -1)
    found = []
    groups = _groups(weights)
    for group in groups:
        own = np.max(weights[group], axis=0)
        columns = np.tile(own, number // own.size)
        rows = np.concatenate([at[p] / (each[p] * columns) for p in group])
        panel = np.concatenate([np.full(len(at[p]), p) for p in group])
        largest = terms.largest(number) * np.max(own / weights[panel], axis=1)
        left, singular, basis = np.linalg.svd(rows, full_matrices=False)
        out = np.cumsum(((left * singular) ** 2)[:, ::-1], axis=1)[:, ::-1]
        # of each row by how many are kept
        lost = largest[:, None] * np.sqrt(np.append(out, 0.0 * out[:, :1], axis=1))
        allowed = _LEFT_OUT_OF_CELLS if terms.powers else _LEFT_OUT
        kept = int(np.argmax(lost.max(axis=0) <= allowed))
        basis, worst = basis[:kept], np.zeros(panels)
        np.maximum.at(worst, panel, lost[:, kept])
        error += worst[:, None] * size
        found.append((basis * columns, basis / columns))
    # products with separators and polynomials, of as many rows
    rows = 2 * series.at_separators.shape[0]
    every = sum(
        len(up) * (number + rows * len(g) // panels)
        for g, (up, _) in zip(groups, found, strict=True)
    )
    if 2 * every > rows * number:
        return series, None
    up, down = zip(*found, strict=True)
    raised = jax.device_put(error.reshape(np.shape(series.error)))
    combinations = Combinations(up, down, tuple(map(len, groups)))
    return dataclasses.replace(series, error=raised), combinations


def _groups(weights: np.ndarray) -> list[list[int]]:
    """Neighbouring panels on which powers (P, polynomials) weigh about alike."""
    groups = [[0]]
    for panel in range(1, len(weights)):
        rows = weights[[*groups[-1], panel]]
        if np.max(rows.max(axis=0) / rows.min(axis=0)) <= _SPREAD:
            groups[-1].append(panel)
        else:
            groups.append([panel])
    return groups


def _rows_of_panels(series: PostureSeries) -> list[np.ndarray]:
    """Coefficients at the separators of each panel, those at both ends with the first and the last."""
    at, panels = np.asarray(series.at_separators), np.shape(series.taylor)[0]
    rows = np.split(at[1:-1], panels)
    rows[0] = np.concatenate([at[:1], rows[0]])
    rows[-1] = np.concatenate([rows[-1], at[-1:]])
    return rows
