"""A posture series in few combinations of its terms: between two frequencies D has far fewer shapes than terms."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax
import numpy as np

from jaxmodal.postures.combinations import Combinations
from jaxmodal.postures.expansions import Expansion
from jaxmodal.postures.series import PostureSeries, confirmed, holds
from jaxmodal.postures.terms import Terms

#: series of fewer terms stay as they are
_FEWEST = 64
#: what may be left out of any value, of the size of its panel: somewhat more than its rounding
_LEFT_OUT = 16.0 * 2.0**-52
#: values of each panel whose errors are measured; so many times the largest of them, and so much of the size of the
#: panel, is what the series states, on which `series_roots._MARGIN` comes
_MEASURED, _SURE, _LEAST = 64, 3.0, 2.0 * 2.0**-52
#: and this multiple at the least, whatever is estimated
_NO_LESS = 1.5
#: so many times as many in space where values vary beside angles: there errors of cells differ more
_OF_VALUES = 2


def checked(
    series: PostureSeries, combinations: Combinations | None, expansion: Expansion
) -> PostureSeries | None:
    """The series, with errors `measured` unless they are known by estimate; None where it does not hold."""
    if not expansion.estimated:
        return measured(series, combinations, expansion)
    return series if holds(series, expansion) else None


def measured(
    series: PostureSeries, combinations: Combinations | None, expansion: Expansion
) -> PostureSeries | None:
    """The series with errors as they are in held-back values; None where it does not hold.

    What is rounded is estimated by the sum of many terms, and a fifth of that as a rule; where values vary beside
    angles it may be more.
    """
    values = _MEASURED * (_OF_VALUES if expansion.in_space and expansion.terms.powers else 1)
    largest = confirmed(series, expansion, combinations, values)
    if largest is None:
        return None
    size = np.asarray(series.size)
    largest = largest.reshape(-1, *(1,) * (size.ndim - 1))
    error = np.minimum(series.error, (_SURE * largest + _LEAST) * size)
    error = np.maximum(error, _NO_LESS * largest * size)
    return dataclasses.replace(series, error=jax.device_put(error))


def in_fewer_terms(
    series: PostureSeries, terms: Terms
) -> tuple[PostureSeries, Combinations | None]:
    """The series with the error that combinations of its terms add, and these; itself and None where it has few terms.

    Over a range of frequencies with so many modes the coefficients are, to the last digit, those of about twice as
    many functions of omega: of 81 terms some 23 combinations are left. What leaves them out takes from a value is
    bounded and counts as error. Where values vary beside angles, powers of them that weigh little at one frequency
    weigh much at another: neighbouring panels share combinations where that makes the products shorter.
    """
    panels, _, number = np.shape(series.taylor)
    if number < _FEWEST or not np.isfinite(series.at_nodes).all():
        return series, None
    size = np.asarray(series.size).reshape(panels, -1)
    # every power beside the others, whatever the size of a panel
    each = np.exp(np.mean(np.log(size), axis=1))
    weights = size / each[:, None]
    at = _rows_of_panels(series)
    rows = [x / scale for x, scale in zip(at, each, strict=True)]
    first = [0] if terms.powers else list(range(panels))
    groups = [_Group.of(rows, weights, first, terms)]
    for panel in range(len(first), panels):
        alone = _Group.of(rows, weights, [panel], terms)
        both = _Group.of(rows, weights, [*groups[-1].panels, panel], terms)
        if both.cost <= groups[-1].cost + alone.cost:
            groups[-1] = both
        else:
            groups.append(alone)
    if 2 * sum(group.cost for group in groups) > number * sum(map(len, at)):
        return series, None
    lost = np.concatenate([group.lost for group in groups])
    error = np.array(series.error).reshape(panels, -1) + lost[:, None] * size
    combinations = Combinations(
        tuple(group.basis * group.columns for group in groups),
        tuple(group.basis / group.columns for group in groups),
        tuple(len(group.panels) for group in groups),
    )
    raised = jax.device_put(error.reshape(np.shape(series.error)))
    return dataclasses.replace(series, error=raised), combinations


class _Group(NamedTuple):
    """Neighbouring panels with their combinations.

    Attributes
    ----------
    panels : list of int
        Which they are.
    basis : np.ndarray, shape (R, H)
        Orthonormal combinations of terms over `columns`, (H,).
    lost : np.ndarray, shape (panels,)
        What they leave out of values, as a share of the size of a panel.
    cost : int
        Multiplications of a cell with them.
    """

    panels: list[int]
    basis: np.ndarray
    columns: np.ndarray
    lost: np.ndarray
    cost: int

    @classmethod
    def of(
        cls, rows: list[np.ndarray], weights: np.ndarray, panels: list[int], terms: Terms
    ) -> _Group:
        """Of rows of all panels (nodes, H), and how powers weigh on them (P, polynomials)."""
        number, own = rows[0].shape[1], np.max(weights[panels], axis=0)
        columns = np.tile(own, number // own.size)
        scaled = np.concatenate([rows[p] for p in panels]) / columns
        left, singular, basis = np.linalg.svd(scaled, full_matrices=False)
        out = np.cumsum(((left * singular) ** 2)[:, ::-1], axis=1)[:, ::-1]
        ends = np.cumsum([0, *(len(rows[p]) for p in panels)])[:-1]
        # of each panel by how many are kept
        out = np.maximum.reduceat(np.append(out, 0.0 * out[:, :1], axis=1), ends, axis=0)
        largest = terms.largest(number) * np.max(own / weights[panels], axis=1)
        lost = largest[:, None] * np.sqrt(out)
        kept = int(np.argmax(lost.max(axis=0) <= _LEFT_OUT))
        cost = kept * (number + len(scaled))
        return cls(panels, basis[:kept], columns, lost[:, kept], cost)


def _rows_of_panels(series: PostureSeries) -> list[np.ndarray]:
    """Coefficients at the nodes of each panel, those at both ends with the first and the last."""
    at, panels = np.asarray(series.at_nodes), np.shape(series.taylor)[0]
    rows = np.split(at[1:-1], panels)
    rows[0] = np.concatenate([at[:1], rows[0]])
    rows[-1] = np.concatenate([rows[-1], at[-1:]])
    return rows
