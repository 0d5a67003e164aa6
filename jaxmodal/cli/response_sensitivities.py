"""Output of ``jaxmodal response --sensitivities``: rows and plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.cli.output import lists
from jaxmodal.runtime.tables import csv_text
from jaxmodal.spatial.parts.parameters import unit_of_address

if TYPE_CHECKING:
    from jaxmodal.response.exact.sensitivities import ResponseSensitivities

_NAMES = ("of_magnitude", "of_phase", "logarithmic")


def plain_sensitivities(slopes: ResponseSensitivities) -> dict[str, Any]:
    """Return derivatives by output, input, frequency and parameter, as plain values."""
    return {
        "parameters": [
            {"address": address, "value": float(value), "unit": unit_of_address(address)}
            for address, value in zip(slopes.addresses, slopes.values, strict=True)
        ],
        **lists(slopes, *_NAMES),
    }


def sensitivities_csv(slopes: ResponseSensitivities) -> str:
    """Return CSV text with a row for each pair of ports, frequency and parameter."""
    found = slopes.response
    hertz = np.atleast_1d(np.asarray(found.frequencies_hz)).tolist()
    parts = [getattr(slopes, name) for name in _NAMES]
    rows = [
        (
            *(hertz[k], output, into),
            *(address, slopes.values[p], unit_of_address(address)),
            *(part[o, i, k, p] for part in parts),
        )
        for o, output in enumerate(found.output_names)
        for i, into in enumerate(found.input_names)
        for k in range(len(hertz))
        for p, address in enumerate(slopes.addresses)
    ]
    place = ("frequency_hz", "output", "input", "address", "value", "unit")
    return csv_text((*place, *_NAMES), rows)
