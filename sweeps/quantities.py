"""The quantities that a sweep can put into its dataset: unit, name, meaning and formula together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.status import Status
from sweeps.solution import SolvedCells

#: value of ``status`` in cells that have not been computed yet
NOT_COMPUTED = 127


@dataclasses.dataclass(frozen=True)
class Quantity:
    """One output of a sweep, an array over (theory, cell, mode).

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
    dtype : str
        NumPy type in the dataset.
    fill : float, int or bool
        Value of cells that have not been computed.
    formula : callable
        From the solved cells of one theory and those of all theories, an array of shape (N, K).
    needs : tuple of str
        Theories that must be solved besides those asked for.
    attributes : dict
        Further attributes of the variable.
    """

    name: str
    units: str
    long_name: str
    description: str
    dtype: str
    fill: float | int | bool
    formula: Callable[[SolvedCells, Mapping[str, SolvedCells]], NDArray[Any]]
    needs: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def evaluate(
        self, solved: Mapping[str, SolvedCells], theories: tuple[str, ...]
    ) -> NDArray[Any]:
        """Return the values for the given theories, of shape (theories, N, K)."""
        columns = [self.formula(solved[theory], solved) for theory in theories]
        return np.stack(columns).astype(self.dtype)


QUANTITIES: dict[str, Quantity] = {}
"""Every output by its name."""

#: the outputs that every dataset has
ALWAYS = ("frequency", "status", "certified")

Formula = Callable[[SolvedCells, Mapping[str, SolvedCells]], NDArray[Any]]


def quantity(
    units: str, long_name: str, description: str, dtype: str, fill: float, **more: Any
) -> Callable[[Formula], Formula]:
    """Register the decorated formula under its name."""

    def register(formula: Formula) -> Formula:
        name = formula.__name__
        QUANTITIES[name] = Quantity(
            name, units, long_name, description, dtype, fill, formula, **more
        )
        return formula

    return register


@quantity(
    "Hz",
    "natural frequency",
    "Natural frequency with blocked joints, ascending along mode, repeated by multiplicity",
    "float64",
    np.nan,
)
def frequency(own: SolvedCells, solved: Mapping[str, SolvedCells]) -> NDArray[Any]:
    """Frequency in Hz."""
    return own.frequency


@quantity(
    "1",
    "status",
    "What the frequency may be trusted for",
    "uint8",
    NOT_COMPUTED,
    attributes={
        "flag_values": [*map(int, Status), NOT_COMPUTED],
        "flag_meanings": " ".join([*(entry.name for entry in Status), "not_computed"]),
    },
)
def status(own: SolvedCells, solved: Mapping[str, SolvedCells]) -> NDArray[Any]:
    """Status code of the mode."""
    return own.status


@quantity(
    "1",
    "certified",
    "True where the Wittrick-Williams counts on both sides confirm the mode and its number",
    "bool",
    False,
)
def certified(own: SolvedCells, solved: Mapping[str, SolvedCells]) -> NDArray[Any]:
    """True for the status certified."""
    return np.asarray(own.status == int(Status.certified))


@quantity(
    "1",
    "modes below the bracket",
    "Number of natural frequencies below the lower end of the bracket of the mode's group",
    "int32",
    -1,
)
def count_below(own: SolvedCells, solved: Mapping[str, SolvedCells]) -> NDArray[Any]:
    """Wittrick-Williams count below the mode."""
    return own.count_below


@quantity(
    "1",
    "modes below the upper end of the bracket",
    "Number of natural frequencies below the upper end of the bracket of the mode's group",
    "int32",
    -1,
)
def count_above(own: SolvedCells, solved: Mapping[str, SolvedCells]) -> NDArray[Any]:
    """Wittrick-Williams count above the mode."""
    return own.count_above


@quantity(
    "1",
    "multiplicity",
    "Number of natural frequencies in the mode's bracket: more than 1 where they cannot be told apart",
    "int32",
    -1,
)
def multiplicity(own: SolvedCells, solved: Mapping[str, SolvedCells]) -> NDArray[Any]:
    """Jump of the count across the group."""
    return own.count_above - own.count_below


@quantity(
    "Hz",
    "lower end of the bracket",
    "Frequency at which count_below was taken",
    "float64",
    np.nan,
)
def bracket_lower(own: SolvedCells, solved: Mapping[str, SolvedCells]) -> NDArray[Any]:
    """Lower end of the certificate's bracket in Hz."""
    return own.bracket[..., 0]


@quantity(
    "Hz",
    "upper end of the bracket",
    "Frequency at which count_above was taken",
    "float64",
    np.nan,
)
def bracket_upper(own: SolvedCells, solved: Mapping[str, SolvedCells]) -> NDArray[Any]:
    """Upper end of the certificate's bracket in Hz."""
    return own.bracket[..., 1]


@quantity(
    "percent",
    "Euler-Bernoulli minus this theory, relative",
    "100 (f_EB - f) / f, mode number by mode number: by how much Euler-Bernoulli (with axial motion)"
    " overestimates the frequency",
    "float64",
    np.nan,
    needs=("euler_bernoulli",),
)
def difference_to_euler_bernoulli(
    own: SolvedCells, solved: Mapping[str, SolvedCells]
) -> NDArray[Any]:
    """Relative difference to Euler-Bernoulli in percent, as in the paper's Tables 2 to 6; NaN where both are zero."""
    with np.errstate(invalid="ignore"):
        return 100.0 * (solved["euler_bernoulli"].frequency - own.frequency) / own.frequency
