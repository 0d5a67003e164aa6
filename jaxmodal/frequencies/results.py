"""What the solvers return: natural frequencies with their certificates."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, ClassVar

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.eigenspaces.frequency_derivatives import individual_modes
from jaxmodal.frequencies.certificate import EPS, Certificate
from jaxmodal.frequencies.tables import frequencies_dataset, frequencies_table
from jaxmodal.runtime.errors import UncertifiedError
from jaxmodal.runtime.namespace import Array, at_once
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table

if TYPE_CHECKING:
    import xarray


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class NaturalFrequencies(Drawn, Certificate):
    """Natural frequencies of one arm (or, with leading axes, of a batch), each with its certificate.

    Attributes
    ----------
    omega : Array, shape (..., K)
        Angular frequencies in rad/s, ascending, repeated by multiplicity. NaN where the input is invalid,
        and where there is no such mode: rigid links have no more than their springs allow.
    status : Array, shape (..., K)
        `Status` codes.
    count_below, count_above : Array, shape (..., K)
        J, the number of natural frequencies below the lower and below the upper end of ``bracket``.
    bracket : Array, shape (..., K, 2)
        The two frequencies in rad/s at which the counts were taken, at most 1e-12 (relative) from the group; of
        batches 4e-8.
    group : Array, shape (..., K)
        Index of the first mode of this mode's group, whose counts were taken together. Modes of one arm that are closer
        than 1e-12 form one; batches and posture series part those that their counts tell apart, each certified alone.
    residual_ratio : Array, shape (..., K)
        Relative error that the determinant at ``omega`` suggests, in units of 2.2e-16.
    evaluations : Array, shape (...)
        Evaluations of determinant and count.
    theory : str
        Name of the theory.
    by_sign_changes : Array, shape (..., K), or None
        True where the proof is one count above all modes and as many changes of sign of the determinant below it,
        one in the bracket; otherwise, and where this is None, counts were taken at both ends of the bracket.
    first_mode : int
        Number of the first mode: 1, unless they are those of a band.
    """

    omega: Array
    evaluations: Array
    theory: TheoryName = dataclasses.field(metadata={"static": True})
    by_sign_changes: Array | None = None
    first_mode: int = dataclasses.field(default=1, metadata={"static": True})
    picture: ClassVar[str] = "jaxmodal.plots.frequencies:draw_frequencies"

    @property
    def omega_error(self) -> Array:
        """Bound of the relative error of ``omega``, shape (..., K): 1e-12 or less of certified modes.

        What the last evaluation changed, what rounding can have moved it by, and four units in the last place, by which
        the values of an arm are rounded on their way.
        """
        return at_once(lambda ratio: EPS * (ratio.astype(np.float64) + 4.0), self.residual_ratio)

    @property
    def individual(self) -> Array:
        """False for modes closer than 1e-9 (relative) to another of the list, which have no derivative of their own."""
        return individual_modes(self.omega, self.multiplicity)

    @property
    def frequencies_hz(self) -> Array:
        """``omega / (2 pi)`` in Hz."""
        return at_once(lambda omega: omega / (2.0 * math.pi), self.omega)

    def tables(self) -> list[Table]:
        """Return the frequencies in Hz with their certificates; of a batch the range of each mode."""
        return [frequencies_table(self)]

    def to_xarray(self) -> xarray.Dataset:
        """Return frequencies (Hz) and certificates as a dataset with dims mode, and cell for a batch."""
        return frequencies_dataset(self)


def fields_of(found: NaturalFrequencies) -> dict[str, Array]:
    """The arrays of a result by name, those that it has."""
    arrays = ((f.name, getattr(found, f.name)) for f in dataclasses.fields(found))
    return {name: x for name, x in arrays if x is not None and name not in ("theory", "first_mode")}


def raise_uncertified(result: NaturalFrequencies, name: str) -> None:
    """Raise `UncertifiedError` where a mode of the arm of this name is not certified."""
    codes = np.asarray(result.status)
    if codes.size == 0 or not np.any(codes):
        return
    which = f"arm {name!r}: " if name else ""
    first = result.first_mode
    lines = [
        f"modes {', '.join(str(first + k) for k in np.flatnonzero(codes == s))}: {s.name}: {s.cause}; {s.remedy}"
        for s in Status
        if s and np.any(codes == s)
    ]
    raise UncertifiedError(
        f"{which}not every frequency is certified ({result.theory})\n" + "\n".join(lines)
    )
