"""One output of a sweep: name, unit, meaning and formula."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.statuses import Status
from sweeps.solution.cells import SolvedCells

#: value of ``status`` and ``modal_status`` in cells that have not been computed yet
NOT_COMPUTED = 127

Formula = Callable[[SolvedCells, Mapping[str, SolvedCells]], Any]


@dataclasses.dataclass(frozen=True)
class Quantity:
    """One output of a sweep, an array over (theory, cell, mode), perhaps more, or without modes.

    Attributes
    ----------
    name : str
        Name of the variable.
    units : str
        Unit as CF conventions write it; ``"1"`` for a pure number.
    long_name : str
        What plots write beside the unit.
    description : str
        What the number means.
    formula : callable
        From the solved cells of one theory and those of all theories, an array of shape (N, K, ...), or (N, ...).
    dtype : str
        NumPy type in the dataset.
    fill : float, int or bool
        Value of cells that have not been computed.
    dims, dims_in_space : tuple of str
        Dimensions behind mode, and those for arms in space where these are others.
    needs : tuple of str, names of theories
        Theories that must be solved besides those asked for.
    part : str
        What the formula needs of the cells beside their frequencies: ``"modal"`` (what the mode shapes say),
        ``"damped"`` modes, the ``"peak"`` of a response, the static ``"compliance"``, the ``"buckling"`` factor; else
        empty.
    attributes : dict
        Further attributes of the variable.
    """

    name: str
    units: str
    long_name: str
    description: str
    formula: Formula
    dtype: str = "float64"
    fill: float | int | bool = math.nan
    dims: tuple[str, ...] = ()
    dims_in_space: tuple[str, ...] | None = None
    needs: tuple[TheoryName, ...] = ()
    part: str = ""
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def status(self) -> str:
        """Name of the status that goes with it and is always beside it, or empty."""
        return f"{self.part}_status" if self.part else ""

    @property
    def per_mode(self) -> bool:
        """Whether there is a value for each mode; else one for each cell."""
        return self.part not in ("peak", "compliance", "buckling")

    def dims_for(self, in_space: bool) -> tuple[str, ...]:
        """Dimensions behind mode for an arm of one kind or the other."""
        return self.dims_in_space if in_space and self.dims_in_space is not None else self.dims

    def evaluate(
        self, solved: Mapping[str, SolvedCells], theories: tuple[TheoryName, ...]
    ) -> NDArray[Any]:
        """Return the values for the given theories, of shape (theories, N, K, ...), or (theories, N, ...)."""
        columns = [self.formula(solved[theory], solved) for theory in theories]
        return np.stack(columns).astype(self.dtype)


def of_part(part: str, *quantities: Quantity) -> tuple[Quantity, ...]:
    """Outputs that need the same beside the frequencies, see `Quantity.part`."""
    return tuple(dataclasses.replace(entry, part=part) for entry in quantities)


def flags(statuses: Iterable[Status]) -> dict[str, Any]:
    """Attributes of a CF flag variable of statuses and its type; the last meaning is that of no computation."""
    every = {each.name: int(each) for each in statuses} | {"not_computed": NOT_COMPUTED}
    attributes = {"flag_values": list(every.values()), "flag_meanings": " ".join(every)}
    return {"dtype": "uint8", "fill": NOT_COMPUTED, "attributes": attributes}
