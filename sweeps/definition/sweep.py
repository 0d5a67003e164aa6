"""Definition of a sweep: an arm, named axes, theories, number of modes, outputs by name."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxmodal.arm.loaded import under_forces
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import THEORIES, TheoryName
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.tables import ShowsTables, Table
from jaxmodal.spatial.arms.arm import AnyArm
from sweeps.definition.axes import Axis, Column, axes_of_arm
from sweeps.definition.checks import (
    arm_of,
    check_axes,
    check_outputs,
    check_values,
    differentiated,
    known_names,
    number_of_modes,
    output_names,
)
from sweeps.definition.descriptions import described_axis
from sweeps.definition.errors import SweepError
from sweeps.definition.response import Response, asked_response
from sweeps.solution.outputs import QUANTITIES, labels_of

FORMAT = 1


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Sweep(ShowsTables):
    """Definition of a sweep, validated when it is created.

    Parameters
    ----------
    arm
        An `Arm` or a `SpatialArm`, ``"example:NAME"`` for a built-in arm, or the path of an arm file.
    axes
        The dimensions, from `axis`, `linspace`, `geomspace`, `zipped`, `random_design`; the sweep covers their full
        product. At least one, without duplicate parameters.
    theories
        Name of one theory or several; with several the dataset has a dimension ``theory``.
    num_modes
        Number of lowest frequencies, 1 or more.
    outputs
        Names of further quantities (see ``sweeps.QUANTITIES``); frequency, status and certified are always present.
    sensitivity_to
        Parameters (addresses or aliases) of the outputs ``sensitivity`` and ``frequency_derivative``; by default all of
        the arm.
    response
        The `Response` for the outputs ``peak_response`` and ``peak_frequency``, which describe its highest peak.
    name
        Title, for files and plots; not part of the fingerprint.

    Raises
    ------
    SweepError
        If a name is unknown, a parameter is set twice, or an axis has a value that is invalid for the arm.
    ArmError
        If the arm cannot be read.

    Examples
    --------
    >>> from sweeps import Sweep, linspace
    >>> sweep = Sweep("example:two_link_flexible", [linspace("theta_2", 0, 180, 5, unit="degree")])
    >>> sweep.shape, sweep.num_cells, len(sweep.fingerprint)
    ((5,), 5, 64)
    """

    arm: AnyArm
    axes: tuple[Axis, ...]
    theories: tuple[TheoryName, ...]
    num_modes: int
    outputs: tuple[str, ...]
    sensitivity_to: tuple[str, ...]
    response: Response | None
    name: str

    def __init__(
        self,
        arm: AnyArm | str | Path,
        axes: Sequence[Axis],
        *,
        theories: TheoryName | Sequence[TheoryName] = "timoshenko",
        num_modes: int = 10,
        outputs: Sequence[str] = (),
        sensitivity_to: Sequence[str] = (),
        response: Response | None = None,
        name: str = "",
    ) -> None:
        values = {
            "arm": arm_of(arm),
            "axes": tuple(axes),
            "theories": known_names("theories", theories, THEORIES),
            "num_modes": number_of_modes(num_modes),
            "outputs": output_names(outputs),
            "name": name,
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)
        object.__setattr__(
            self, "sensitivity_to", differentiated(self.arm, self.outputs, sensitivity_to)
        )
        check_axes(self.axes, self.name)
        object.__setattr__(self, "axes", axes_of_arm(self.axes, self.arm))
        check_values(self.arm, self.columns, self.solved_theories)
        check_outputs(self.arm, self.outputs, self.columns)
        varied = [column.address for column in self.columns]
        asked = asked_response(response, self.outputs, self.arm, varied)
        object.__setattr__(self, "response", asked)

    def tables(self) -> list[Table]:
        """Return a table of the axes, with theories and outputs as a note."""
        rows = [
            [entry.name, column.address, str(entry.size), *column.ends, column.unit]
            for entry in self.axes
            for column in entry.columns
        ]
        headings = ("axis", "parameter", "values", "from", "to", "unit")
        name, shape = self.name or self.arm.name or "of an arm", " x ".join(map(str, self.shape))
        title = f"sweep {name}: {shape} cells, {self.num_modes} modes"
        notes = [f"theories: {', '.join(self.theories)}; outputs: {', '.join(self.outputs)}"]
        return [Table(title, headings, rows, notes, ("axis", "parameter", "unit"))]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns (parameters that change) of all axes."""
        return tuple(column for entry in self.axes for column in entry.columns)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of points along each axis."""
        return tuple(entry.size for entry in self.axes)

    @property
    def num_cells(self) -> int:
        """Number of arms in the sweep: the product of the sizes of the axes."""
        return math.prod(self.shape)

    @property
    def dims(self) -> tuple[str, ...]:
        """Dimensions of a quantity per mode: theory if there are several, the axes, mode."""
        theory = ("theory",) if len(self.theories) > 1 else ()
        return (*theory, *(entry.name for entry in self.axes), "mode")

    def dims_of(self, output: str) -> tuple[str, ...]:
        """Return the dimensions of an output: theory (if several), axes, mode (if per mode), further ones."""
        dims = self.dims if QUANTITIES[output].per_mode else self.dims[:-1]
        return (*dims, *self.further_dims(output))

    def further_dims(self, output: str) -> tuple[str, ...]:
        """Return the dimensions of an output after mode."""
        return QUANTITIES[output].dims_for("z" in self.arm.directions)

    def units_of(self, output: str) -> str:
        """Return the unit of an output; the unit of a peak depends on the ports."""
        if output == "peak_response" and self.response is not None:
            return self.response.units
        return QUANTITIES[output].units

    def labels(self, dimension: str) -> tuple[str | int, ...]:
        """Return the labels of the points of a dimension after mode."""
        if dimension == "link":
            return tuple(range(1, self.arm.num_links + 1))
        if dimension == "parameter":
            return self.sensitivity_to
        arm = self.arm
        return labels_of(dimension, "z" in arm.directions, under_forces(arm))

    def array_shape(self, output: str, cells: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Return the shape of an output (`dims_of`) over all cells, or over ``cells``, points per axis."""
        theories = (len(self.theories),) if len(self.theories) > 1 else ()
        modes = (self.num_modes,) if QUANTITIES[output].per_mode else ()
        further = (len(self.labels(name)) for name in self.further_dims(output))
        return (*theories, *(cells or self.shape), *modes, *further)

    @property
    def parts(self) -> set[str]:
        """Computations that the outputs need in addition to frequencies, see `Quantity.part`."""
        return {QUANTITIES[name].part for name in self.outputs} - {""}

    @property
    def solved_theories(self) -> tuple[TheoryName, ...]:
        """Theories to solve: those of the sweep, and those that an output compares with."""
        needed = [theory for name in self.outputs for theory in QUANTITIES[name].needs]
        return tuple(dict.fromkeys([*self.theories, *needed]))

    def description(self) -> dict[str, Any]:
        """Return everything that determines the results, as plain values for comparison."""
        found: dict[str, Any] = {
            "format": FORMAT,
            "arm": self.arm.to_dict(),
            "axes": {entry.name: described_axis(entry) for entry in self.axes},
            "theories": list(self.theories),
            "num_modes": self.num_modes,
            "outputs": list(self.outputs),
            "sensitivity_to": list(self.sensitivity_to),
        }
        return found if self.response is None else found | {"response": self.response.description()}

    @property
    def fingerprint(self) -> str:
        """SHA-256 of `description`, 64 hexadecimal digits."""
        text = json.dumps(self.description(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def values_at(self, places: Sequence[Any]) -> dict[str, Floats]:
        """Return the values of cells by address, in SI units, from indices along each axis, shape (N,) each."""
        return {
            column.address: column.si_values[place]
            for entry, place in zip(self.axes, places, strict=True)
            for column in entry.columns
        }

    def arm_at(self, *index: int) -> AnyArm:
        """Return the arm of one cell, from its index along each axis.

        Raises
        ------
        ArmError
            If the values of the cell are inconsistent.
        SweepError
            If the indices are not one whole number within each axis; negative ones count from its end.
        """
        within = all(
            isinstance(place, int | np.integer) and -size <= place < size
            for place, size in zip(index, self.shape, strict=False)
        )
        if len(index) != len(self.shape) or not within:
            raise SweepError(
                f"index = {shown(index)}: must be a whole number for each axis, within the shape {self.shape}."
            )
        values = {name: float(value) for name, value in self.values_at(index).items()}
        return set_parameters(self.arm, values)
