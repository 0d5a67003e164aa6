"""Natural frequencies as text tables and as labelled datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.namespace import to_host
from jaxmodal.runtime.statuses import Status, remarks_on, status_variable
from jaxmodal.runtime.tables import Table, shortened

if TYPE_CHECKING:
    import xarray

    from jaxmodal.frequencies.certificate import Certificate
    from jaxmodal.frequencies.results import NaturalFrequencies

#: digits of a frequency in a table
DIGITS = 5


def hertz_text(hertz: float, digits: int = DIGITS) -> str:
    """Return a frequency with the given number of significant digits, trailing zeros kept."""
    return f"{hertz:#.{digits}g}".rstrip(".")


def certificate_text(status: int | np.integer, multiplicity: int = 1) -> str:
    """Return the status of a frequency as text: ``certified, 2-fold``."""
    repeated = f", {multiplicity}-fold" if multiplicity > 1 else ""
    code = Status(int(status))
    return f"certified{repeated}" if code is Status.certified else f"NOT certified: {code.name}"


def frequencies_table(result: NaturalFrequencies) -> Table:
    """Return the frequencies of one arm, or the ranges in a batch, with their certificates."""
    hertz, status = np.asarray(result.frequencies_hz), np.asarray(result.status)
    if hertz.ndim == 1:
        multiplicity = np.asarray(result.multiplicity)
        rows = [
            [
                str(result.first_mode + k),
                hertz_text(f),
                certificate_text(status[k], int(multiplicity[k])),
            ]
            for k, f in enumerate(hertz.tolist())
        ]
        head = f"{len(rows)} natural frequencies ({result.theory})"
        headings = ("mode", "frequency [Hz]", "certificate")
        return Table(head, headings, shortened(rows), remarks_on(status), ("certificate",))
    cells = hertz.reshape(-1, hertz.shape[-1])
    certified = (status == Status.certified).reshape(cells.shape).sum(axis=0)
    rows = []
    for k, column in enumerate(cells.T):
        known = column[np.isfinite(column)]
        ends = [hertz_text(x) for x in (known.min(), known.max())] if known.size else ["-", "-"]
        rows.append([str(k + 1), *ends, f"{certified[k]:,} of {len(cells):,}"])
    head = f"natural frequencies of {len(cells):,} arms ({result.theory})"
    of_range = ("mode", "lowest [Hz]", "highest [Hz]", "certified")
    return Table(head, of_range, shortened(rows), remarks_on(status))


def certificate_table(found: Certificate) -> Table:
    """Return the table of the status of each frequency of a list."""
    bracket = np.asarray(found.bracket) / (2.0 * np.pi)
    rows = [
        [
            str(k + 1),
            f"{bracket[k, 0]:.12g} to {bracket[k, 1]:.12g}",
            f"{int(found.count_below[k])}, {int(found.count_above[k])}",
            certificate_text(code),
        ]
        for k, code in enumerate(np.asarray(found.status).tolist())
    ]
    headings = ("entry", "bracket [Hz]", "modes below its ends", "certificate")
    notes = remarks_on(found.status)
    title = f"certificate of {len(rows)} frequencies"
    return Table(title, headings, shortened(rows), notes, ("certificate",))


def frequency_variables(
    result: NaturalFrequencies, dims: tuple[str, ...] = ("mode",)
) -> dict[str, Any]:
    """Return frequency in Hz and status as variables of a dataset."""
    return {
        "frequency": variable(dims, result.frequencies_hz, "natural frequency", "Hz"),
        "status": status_variable(dims, result.status),
    }


def _dims(status: Any, last: str) -> tuple[str, ...]:
    """Return the dimensions of a variable with one value per frequency: ``last``, preceded by cell for a batch."""
    leading = [f"cell_{k}" for k in range(np.ndim(status) - 1)]
    return (*(leading if len(leading) > 1 else ["cell"] * len(leading)), last)


def _count_variables(
    result: NaturalFrequencies | Certificate, dims: tuple[str, ...]
) -> dict[str, Any]:
    """Return counts and brackets of each frequency as variables of a dataset."""
    texts = {
        "certified": "whether the counts confirm the mode",
        "count_below": "natural frequencies below the bracket",
        "count_above": "natural frequencies below the upper end of the bracket",
        "multiplicity": "natural frequencies inside the bracket",
    }
    return {name: variable(dims, getattr(result, name), text) for name, text in texts.items()} | {
        "bracket_lower": in_hertz(dims, result.bracket[..., 0], "lower end of the bracket"),
        "bracket_upper": in_hertz(dims, result.bracket[..., 1], "upper end of the bracket"),
    }


def frequencies_dataset(result: NaturalFrequencies) -> xarray.Dataset:
    """Return frequencies and certificates as a dataset with dims mode, and cell for a batch."""
    import xarray

    result, dims = to_host(result), _dims(result.status, "mode")
    variables = frequency_variables(result, dims) | _count_variables(result, dims)
    modes = result.first_mode + np.arange(np.shape(result.omega)[-1])
    return xarray.Dataset(variables, {"mode": modes}, {"theory": result.theory})


def certificate_dataset(found: Certificate) -> xarray.Dataset:
    """Return the status of each frequency of a list as a dataset with the dim entry, and cell for a batch."""
    import xarray

    found, dims = to_host(found), _dims(found.status, "entry")
    variables = {"status": status_variable(dims, found.status), **_count_variables(found, dims)}
    left = variable(dims[:-1], found.left_out, "natural frequencies left out")
    entries = np.arange(1, np.shape(found.status)[-1] + 1)
    return xarray.Dataset({**variables, "left_out": left}, {"entry": entries})
