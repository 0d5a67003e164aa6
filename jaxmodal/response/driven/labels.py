"""Labels of response datasets: ports with units of outputs or of pairs, parameters, bands in Hz."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxmodal.response.driven.port_quantities import signal_names
from jaxmodal.response.driven.ports import Port
from jaxmodal.runtime.datasets import Variable, variable
from jaxmodal.spatial.parts.parameters import describe_address, unit_of_address


def band_in_hertz(omega_min: float, omega_max: float) -> dict[str, float]:
    """Return the ends of a band in rad/s as dataset attributes, in Hz."""
    ends = {"frequency_min": omega_min, "frequency_max": omega_max}
    return {name: float(omega) / (2.0 * np.pi) for name, omega in ends.items()}


def driven_names(inputs: Sequence[Port]) -> str:
    """Return the names of the inputs for titles and attributes."""
    return ", ".join(each.force_name for each in inputs)


def output_labels(outputs: Sequence[Port], unit: Callable[[Port], str]) -> dict[str, Variable]:
    """Return the coordinates ``output`` and ``units`` of outputs."""
    return {
        "output": ("output", list(map(str, outputs))),
        "units": variable("output", list(map(unit, outputs)), "unit of the values"),
    }


def port_labels(
    outputs: Sequence[Port],
    inputs: Sequence[Port],
    unit: Callable[[Port, Port], str],
    quantity: str = "receptance",
) -> dict[str, Variable]:
    """Return the coordinates ``output``, ``input`` and ``units`` of pairs of ports."""
    units = [[unit(output, into) for into in inputs] for output in outputs]
    driven, read = signal_names(quantity, inputs, outputs)
    return {
        "output": ("output", read),
        "input": ("input", driven),
        "units": variable(("output", "input"), units, "unit of the values"),
    }


def parameter_labels(addresses: Sequence[str], values: Any) -> dict[str, Variable]:
    """Return the coordinate ``parameter`` with values and units of parameters."""
    return {
        "parameter": ("parameter", list(addresses)),
        "value": variable("parameter", values, "value of the parameter, SI"),
        "parameter_units": variable(
            "parameter", list(map(unit_of_address, addresses)), "unit of the parameter"
        ),
    }


def cell_labels(addresses: Sequence[str], cells: Any) -> dict[str, Variable]:
    """Return coordinates along ``cell`` of values (addresses, cells), named by address without full stops."""
    labels = {}
    for address, column in zip(addresses, np.asarray(cells), strict=True):
        text = {
            "long_name": describe_address(address),
            "units": unit_of_address(address),
            "address": address,
        }
        labels[address.replace(".", "_")] = ("cell", column, text)
    return labels


def parameter_rows(
    addresses: Sequence[str], values: Any, texts: Sequence[Sequence[str]], share: Any
) -> list[list[str]]:
    """Return table rows of parameters with value and unit, sorted by the largest ``share``, (..., P)."""
    size = np.abs(np.nan_to_num(share)).reshape(-1, len(addresses)).max(axis=0)
    return [
        [addresses[p], f"{values[p]:.6g}", unit_of_address(addresses[p]), *texts[p]]
        for p in np.argsort(-size, kind="stable")
    ]
