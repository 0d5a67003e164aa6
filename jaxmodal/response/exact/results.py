"""Result of a frequency response: values with units and statuses, as a table and as a dataset."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.driven.labels import cell_labels, port_labels
from jaxmodal.response.driven.port_quantities import QUANTITIES, signal_names, unit_of_pair
from jaxmodal.response.driven.ports import Port
from jaxmodal.runtime.datasets import in_hertz
from jaxmodal.runtime.namespace import Array, at_once, xp
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import OF_RESPONSES, remarks_on, status_variable
from jaxmodal.runtime.tables import Table, shortened

if TYPE_CHECKING:
    import xarray

#: largest number of pairs of ports in a table
_MOST_PAIRS = 4


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class FrequencyResponse(Result, Drawn):
    """Frequency response of one arm, or of C arms with an axis of cells, at F frequencies.

    The time factor is ``exp(i omega t)``: a lagging response has a negative phase.

    Attributes
    ----------
    omega : Array, shape (F,)
        Angular frequencies, rad/s; shape () where one number was given.
    values : Array of complex, shape (outputs, inputs, F) or (C, outputs, inputs, F)
        The quantity, SI units; inf at an undamped resonance, NaN where it is not resolved, the input is invalid, or
        static forces buckle the arm.
    status : Array of int8, of the same shape
        `Status` codes.
    cells : Array, shape (addresses, C), or None
        Values of the parameters that vary from cell to cell.
    quantity : str
        Name of the quantity.
    inputs, outputs : tuple of Port
        Input and output ports.
    addresses : tuple of str
        Addresses of the parameters that vary.
    theory : str
        Name of the theory.
    """

    omega: Array
    values: Array
    status: Array
    cells: Array | None
    quantity: str = dataclasses.field(metadata={"static": True})
    inputs: tuple[Port, ...] = dataclasses.field(metadata={"static": True})
    outputs: tuple[Port, ...] = dataclasses.field(metadata={"static": True})
    addresses: tuple[str, ...] = dataclasses.field(metadata={"static": True})
    theory: TheoryName = dataclasses.field(metadata={"static": True})

    @property
    def frequencies_hz(self) -> Array:
        """Frequencies in Hz, shape (F,)."""
        return at_once(lambda omega: omega / (2.0 * np.pi), self.omega)

    @property
    def magnitude(self) -> Array:
        """Absolute values, of the shape of ``values``."""
        return at_once(xp.abs, self.values)

    @property
    def phase(self) -> Array:
        """Phases in rad, from -pi to pi, of the shape of ``values``."""
        return at_once(xp.angle, self.values)

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs, such as ``tip_2.force_x``; an imposed motion is ``tip_2.imposed_x``."""
        return signal_names(self.quantity, self.inputs, self.outputs)[0]

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs, such as ``tip_2.x``; for a dynamic stiffness they are forces."""
        return signal_names(self.quantity, self.inputs, self.outputs)[1]

    def pair(self, output: int = 0, into: int = 0) -> str:
        """Return the names of an output and an input, by index from 0: ``tip_2.x / joint_2.torque``."""
        return f"{self.output_names[output]} / {self.input_names[into]}"

    def unit(self, output: int = 0, into: int = 0) -> str:
        """Return the unit of the entries of an output and an input, by index from 0."""
        return unit_of_pair(self.quantity, self.outputs[output], self.inputs[into])

    def tables(self) -> list[Table]:
        """Return a table of magnitudes and phases by frequency; for many arms, of the largest magnitude of each."""
        omega, values = np.atleast_1d(np.asarray(self.omega)), np.asarray(self.values)
        hertz = omega / (2.0 * np.pi)
        values = values.reshape(*values.shape[: 3 if self.cells is not None else 2], omega.size)
        pairs = [(o, i) for o in range(len(self.outputs)) for i in range(len(self.inputs))]
        shown, left = pairs[:_MOST_PAIRS], len(pairs) - _MOST_PAIRS
        names = [f"{self.pair(o, i)} [{self.unit(o, i)}]" for o, i in shown]
        notes = [f"and {left} more pairs of ports"] * (left > 0) + self.remarks()
        arms = f" of {values.shape[0]:,} arms" if self.cells is not None else ""
        title = (
            f"{self.quantity.replace('_', ' ')}{arms} at {omega.size:,} frequencies ({self.theory})"
        )
        if self.cells is not None:
            headings = ["cell", *(f"largest {name}, at [Hz]" for name in names)]
            rows = [
                [str(k + 1), *(_peak(cell[o, i], hertz) for o, i in shown)]
                for k, cell in enumerate(values)
            ]
            return [Table(title, headings, shortened(rows), notes)]
        headings = ["frequency [Hz]", *(x for name in names for x in (name, "phase [°]"))]
        rows = []
        for k, frequency in enumerate(hertz.tolist()):
            row = [f"{frequency:.6g}"]
            for o, i in shown:
                value = values[o, i, k]
                row += [f"{abs(value):.5g}", f"{np.degrees(np.angle(value)):.2f}"]
            rows.append(row)
        return [Table(title, headings, shortened(rows), notes)]

    def remarks(self) -> list[str]:
        """Return one line per status of unresolved entries: its cause and remedy."""
        return remarks_on(self.status)

    def to_xarray(self) -> xarray.Dataset:
        """Return the values with ports, frequencies in Hz, units and statuses as a dataset.

        The dims are ``output``, ``input`` and ``frequency``, preceded by ``cell`` for many arms.
        """
        import xarray

        dims = ("cell",) * (self.cells is not None) + ("output", "input", "frequency")
        omega = np.atleast_1d(np.asarray(self.omega))
        shape = (*np.shape(self.values)[: len(dims) - 1], omega.size)
        unit = functools.partial(unit_of_pair, self.quantity)
        coordinates: dict[str, Any] = {
            **port_labels(self.outputs, self.inputs, unit, self.quantity),
            "frequency": in_hertz("frequency", omega),
        }
        if self.cells is not None:
            coordinates |= cell_labels(self.addresses, self.cells)
        about = {"long_name": QUANTITIES[self.quantity], "convention": "exp(i omega t)"}
        return xarray.Dataset(
            {
                self.quantity: (dims, np.asarray(self.values).reshape(shape), about),
                "status": status_variable(
                    dims, np.asarray(self.status).reshape(shape), OF_RESPONSES, "response"
                ),
            },
            coordinates,
            {"theory": self.theory},
        )


def _peak(values: np.ndarray, hertz: np.ndarray) -> str:
    size = np.where(np.isnan(values), -1.0, np.abs(values))
    k = int(np.argmax(size))
    return f"{size[k]:.5g}, {hertz[k]:.6g}" if size[k] >= 0.0 else "-"
