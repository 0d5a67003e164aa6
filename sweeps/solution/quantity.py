"""An output of a sweep: name, unit, meaning and formula."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.array_types import Numbers
from jaxmodal.runtime.statuses import Status
from sweeps.solution.cells import SolvedCells

#: value of ``status`` and other statuses in cells that have not been computed; larger than every `Status`
NOT_COMPUTED = 127

Formula = Callable[[SolvedCells, Mapping[str, SolvedCells]], Any]


@dataclasses.dataclass(frozen=True)
class Quantity:
    """An output of a sweep: an array over (theory, cell), in most cases mode, and possibly further dimensions.

    Attributes
    ----------
    name : str
        Name of the variable.
    units : str
        Unit as CF conventions write it; ``"1"`` for a pure number.
    long_name : str
        Short name, for the labels of plots.
    description : str
        Meaning of the value.
    formula : callable
        Function of the solved cells of one theory and of those of all theories; returns an array of shape (N, K, ...),
        or (N, ...) without modes.
    dtype : str
        NumPy type in the dataset.
    fill : float, int or bool
        Value of cells that have not been computed.
    dims, dims_in_space : tuple of str
        Dimensions after mode, and those of arms in space if they differ.
    needs : tuple of str, names of theories
        Theories that must be solved in addition to those of the sweep.
    part : str
        Computation that the formula needs in addition to frequencies: ``"modal"`` (quantities from mode shapes),
        ``"damped"`` (damped modes), ``"peak"`` (of a response), ``"compliance"`` (static), ``"buckling"`` (factor);
        else empty.
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
        """Name of the status output that accompanies this output; empty for outputs that ``status`` describes."""
        return f"{self.part}_status" if self.part else ""

    @property
    def per_mode(self) -> bool:
        """True for one value per mode; False for one value per cell."""
        return self.part not in ("peak", "compliance", "buckling")

    def dims_for(self, in_space: bool) -> tuple[str, ...]:
        """Return the dimensions after mode, for planar arms or for arms in space."""
        return self.dims_in_space if in_space and self.dims_in_space is not None else self.dims

    def evaluate(
        self, solved: Mapping[str, SolvedCells], theories: tuple[TheoryName, ...]
    ) -> Numbers:
        """Return the values for the given theories, of shape (theories, N, K, ...), or (theories, N, ...)."""
        columns = [self.formula(solved[theory], solved) for theory in theories]
        return np.stack(columns).astype(self.dtype)


def of_part(part: str, *quantities: Quantity) -> tuple[Quantity, ...]:
    """Return outputs with a common `Quantity.part`."""
    return tuple(dataclasses.replace(entry, part=part) for entry in quantities)


def flags(statuses: Iterable[Status]) -> dict[str, Any]:
    """Return type, fill value and attributes of a CF flag variable; the last flag is not_computed."""
    every = {each.name: int(each) for each in statuses} | {"not_computed": NOT_COMPUTED}
    attributes = {"flag_values": list(every.values()), "flag_meanings": " ".join(every)}
    return {"dtype": "uint8", "fill": NOT_COMPUTED, "attributes": attributes}
