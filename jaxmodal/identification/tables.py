"""Tables and labelled datasets of fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.identification.uncertainty import UNKNOWN
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.tables import Table, shortened

if TYPE_CHECKING:
    import xarray

    from jaxmodal.identification.results import ArmFit

#: correlations that are told
_CORRELATED = 0.95


def parameters_table(found: ArmFit) -> Table:
    """Return a row for each parameter: initial value, fitted value, uncertainty."""
    rows = []
    determined = np.diag(found.covariance) <= UNKNOWN**2
    for k, name in enumerate(found.names):
        value, error = found.values[k], found.standard_errors[k]
        share = 100.0 * error / abs(value) if value else 0.0
        rows.append(
            [
                name,
                found.units[k],
                f"{found.start[k]:.6g}",
                f"{value:.6g}",
                f"{error:.3g}" if determined[k] else "-",
                f"{share:.2g}" if determined[k] and value else "-",
                f"{found.low[k]:.6g} to {found.high[k]:.6g}" if determined[k] else "not known",
            ]
        )
    count = found.jacobian.shape[0]
    arm = f"{found.unknowns.arm.name}: " if found.unknowns.arm.name else ""
    title = (
        f"{arm}{len(rows)} parameter{'s' * (len(rows) > 1)} from {count} measured numbers "
        f"({found.theory}), {found.status.name}"
    )
    if np.isfinite(found.scatter):
        unit = "times the standard deviations" if found.known else "of what was measured"
        notes = [f"residuals scatter by {found.scatter:.3g} {unit}"]
    else:
        notes = ["as many parameters as measured numbers: residuals say nothing of the scatter"]
    correlation = found.correlation
    for i, j in zip(*np.triu_indices(len(rows), 1), strict=True):
        if determined[i] and determined[j] and abs(correlation[i, j]) > _CORRELATED:
            notes.append(
                f"{found.names[i]} and {found.names[j]} are hard to tell apart: their errors have a correlation of "
                f"{correlation[i, j]:.3f}"
            )
    headings = (
        "parameter",
        "unit",
        "before",
        "after",
        "standard error",
        "%",
        "95 % interval",
    )
    return Table(title, headings, rows, [*notes, *found.remarks], ("parameter", "unit"))


def modes_table(found: ArmFit) -> Table:
    """Return a row for each measured mode: its pair, the criterion, and frequencies measured, before and after."""
    shapes = any(np.isfinite(each.assurance) for each in found.pairs)
    rows = []
    for each in found.pairs:
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


def responses_table(found: ArmFit) -> Table:
    """Return a row for each pair of ports: the residual of the response before and after."""
    rows = []
    for each in found.responses:
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


def fit_dataset(found: ArmFit) -> xarray.Dataset:
    """Return the fit as a dataset with dims parameter, other_parameter, pair, and those of each response."""
    import xarray

    own = "parameter"
    variables = {
        "before": variable(own, found.start, "value at the start, SI"),
        "value": variable(own, found.values, "value found, SI"),
        "standard_error": variable(own, found.standard_errors, "standard error, SI"),
        "low": variable(own, found.low, "lower end of the 95 % interval, SI"),
        "high": variable(own, found.high, "upper end of the 95 % interval, SI"),
        "parameter_units": variable(own, list(found.units), "unit of the parameter"),
        "correlation": variable((own, "other_parameter"), found.correlation, "correlation"),
        "covariance": variable(
            (own, "other_parameter"), found.covariance, "of logarithms of sizes, else of shares"
        ),
    }
    if found.pairs:
        for name, meaning in (
            ("measured_hz", "measured frequency"),
            ("standard_deviation_hz", "standard deviation of the measured frequency"),
            ("before_hz", "computed frequency before the fit"),
            ("after_hz", "computed frequency after the fit"),
        ):
            column = [getattr(each, name) for each in found.pairs]
            variables[name] = variable("pair", column, meaning, "Hz")
        for name, meaning in (
            ("where", "measurement"),
            ("number", "number of the computed mode"),
            ("how", "what it was paired by"),
            ("assurance", "how alike the shapes are"),
            ("certified", "whether the computed frequency is certified"),
            ("far_out", "whether it lies farther out than chance explains"),
            ("doubt", "what speaks against the pair"),
        ):
            column = [getattr(each, name) for each in found.pairs]
            variables[name] = variable("pair", column, meaning)
    labels: dict[str, Any] = {own: list(found.addresses), "other_parameter": list(found.addresses)}
    for k, each in enumerate(found.responses, start=1):
        dims = (f"output{k}", f"input{k}", f"frequency{k}")
        sides = each.measured.outputs, each.measured.inputs
        labels |= {dim: list(map(str, side)) for dim, side in zip(dims[:2], sides, strict=True)}
        labels[dims[2]] = (dims[2], each.measured.frequencies_hz, {"units": "Hz"})
        for name, values, meaning in (
            ("measured", each.measured.values, "as measured"),
            ("before", each.before, "computed before the fit"),
            ("after", each.after, "computed after the fit"),
            ("far_out", each.far_out, "whether it lies farther out than chance explains"),
        ):
            variables[f"response{k}_{name}"] = variable(
                dims, values, f"{each.measured.quantity} with {each.where}, {meaning}"
            )
    about = {
        "theory": found.theory,
        "status": found.status.name,
        "scatter": found.scatter,
        "undetermined": "\n".join(found.undetermined),
    }
    return xarray.Dataset(variables, labels, about)
