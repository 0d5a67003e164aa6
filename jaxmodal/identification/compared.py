"""Measured modes and responses with the computed ones, before and after a fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.identification.measurements import MeasuredResponse, root_mean_square
from jaxmodal.runtime.array_types import Bools, Complexes, Floats
from jaxmodal.runtime.tables import Table, shortened


@dataclasses.dataclass(frozen=True)
class Pair:
    """A measured mode and the computed mode paired with it.

    Attributes
    ----------
    where : str
        Name of the measurement, or its settings.
    number : int
        Number of the computed mode, from 1.
    how : str
        Criterion of the pairing: ``"number"``, ``"order"`` or ``"shape"``.
    measured_hz, standard_deviation_hz, before_hz, after_hz : float
        Frequencies, and the standard deviation as given, or as estimated from the residuals.
    assurance : float
        Modal assurance criterion of the measured and computed shapes, 0 to 1; NaN without shapes.
    certified : bool
        Whether the computed frequency after the fit is certified.
    far_out : bool
        Whether the measured value is an outlier.
    doubt : str
        Possible error of the pair in words; empty if there is none.
    """

    where: str
    number: int
    how: str
    measured_hz: float
    standard_deviation_hz: float
    before_hz: float
    after_hz: float
    assurance: float
    certified: bool
    far_out: bool
    doubt: str


@dataclasses.dataclass(frozen=True)
class ResponseFit:
    """A measured response and the computed one.

    Attributes
    ----------
    where : str
        Name of the measurement, or its settings.
    measured : MeasuredResponse
        The measured response.
    before, after : array of complex, shape (outputs, inputs, F)
        Computed responses before and after the fit.
    far_out : array of bool, of the same shape
        Whether each value is an outlier.
    """

    where: str
    measured: MeasuredResponse
    before: Complexes
    after: Complexes
    far_out: Bools

    def misfit(self, computed: Complexes) -> Floats:
        """Return the root mean square of the residuals relative to that of the measured response, (outputs, inputs)."""
        left = root_mean_square(computed - self.measured.values)
        return np.asarray(left / self.measured.size[..., 0])


def modes_table(pairs: Sequence[Pair]) -> Table:
    """Return a row for each measured mode: its pair, the criterion, and frequencies measured, before and after."""
    shapes = any(np.isfinite(each.assurance) for each in pairs)
    rows = []
    for each in pairs:
        left = each.after_hz - each.measured_hz
        remarks = [each.doubt] * bool(each.doubt) + ["far out"] * each.far_out
        remarks += ["not certified"] * (not each.certified)
        rows.append(
            [
                each.where,
                str(each.number),
                each.how,
                *([f"{each.assurance:.2f}"] if shapes else []),
                hertz_text(each.measured_hz),
                hertz_text(each.before_hz),
                hertz_text(each.after_hz),
                f"{left / each.standard_deviation_hz:.2f}" if each.standard_deviation_hz else "-",
                "; ".join(remarks),
            ]
        )
    headings = (
        "measured with",
        "mode",
        "paired by",
        *(("MAC",) if shapes else ()),
        "measured [Hz]",
        "before [Hz]",
        "after [Hz]",
        "residual / deviation",
        "remark",
    )
    words = ("measured with", "paired by", "remark")
    return Table("modes, measured and computed", headings, shortened(rows), [], words)


def responses_table(responses: Sequence[ResponseFit]) -> Table:
    """Return a row for each pair of ports: the residual of the response before and after."""
    rows = []
    for each in responses:
        before, after = each.misfit(each.before), each.misfit(each.after)
        for o, output in enumerate(each.measured.outputs):
            for i, into in enumerate(each.measured.inputs):
                rows.append(
                    [
                        each.where,
                        f"{output} / {into}",
                        each.measured.quantity,
                        str(each.measured.frequencies_hz.size),
                        f"{100.0 * before[o, i]:.3g}",
                        f"{100.0 * after[o, i]:.3g}",
                        str(int(each.far_out[o, i].sum())),
                    ]
                )
    titles = (
        *("measured with", "response", "quantity", "frequencies"),
        *("residual before [%]", "residual after [%]", "far out"),
    )
    words = ("measured with", "response", "quantity")
    return Table("responses, measured and computed", titles, shortened(rows), [], words)
