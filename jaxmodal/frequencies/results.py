"""Results of the solvers: natural frequencies with their certificates."""

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
        Angular frequencies in rad/s, ascending, repeated by multiplicity. NaN where the input is invalid
        and where the mode does not exist: an arm of rigid links has as many modes as its springs allow.
    status : Array, shape (..., K)
        `Status` codes.
    count_below, count_above : Array, shape (..., K)
        J, the number of natural frequencies below the lower and below the upper end of ``bracket``.
    bracket : Array, shape (..., K, 2)
        The two frequencies in rad/s at which the counts were taken, at most 1e-12 (relative) from the group, or 4e-8
        in batches.
    group : Array, shape (..., K)
        Index of the first mode of this mode's group; the counts are taken per group. Modes of one arm closer than 1e-12
        form a group. In batches and posture series, modes that the counts can separate are certified one by one.
    residual_ratio : Array, shape (..., K)
        Relative error estimated from the determinant at ``omega``, in units of 2.2e-16.
    evaluations : Array, shape (...)
        Number of evaluations of determinant and count.
    theory : str
        Name of the theory.
    by_sign_changes : Array, shape (..., K), or None
        True where the proof is one count above all modes and the same number of sign changes of the determinant below
        it, one of them in the bracket. Where it is False, or None, counts were taken at both ends of the bracket.
    first_mode : int
        Mode number of the first entry; 1, except for frequencies in a band.
    """

    omega: Array
    evaluations: Array
    theory: TheoryName = dataclasses.field(metadata={"static": True})
    by_sign_changes: Array | None = None
    first_mode: int = dataclasses.field(default=1, metadata={"static": True})
    picture: ClassVar[str] = "jaxmodal.plots.frequencies:draw_frequencies"

    @property
    def omega_error(self) -> Array:
        """Bound of the relative error of ``omega``, shape (..., K); at most 1e-12 for certified modes.

        It is the sum of the change in the last evaluation, the possible effect of rounding, and four units in the last
        place for the rounding of the values of the arm.
        """
        return at_once(lambda ratio: EPS * (ratio.astype(np.float64) + 4.0), self.residual_ratio)

    @property
    def individual(self) -> Array:
        """False for modes closer than 1e-9 (relative) to another in the list, which have no derivative of their own."""
        return individual_modes(self.omega, self.multiplicity)

    @property
    def frequencies_hz(self) -> Array:
        """``omega / (2 pi)`` in Hz."""
        return at_once(lambda omega: omega / (2.0 * math.pi), self.omega)

    def tables(self) -> list[Table]:
        """Return the frequencies in Hz with their certificates; for a batch, the range of each mode."""
        return [frequencies_table(self)]

    def to_xarray(self) -> xarray.Dataset:
        """Return frequencies (Hz) and certificates as a dataset with dims mode, and cell for a batch."""
        return frequencies_dataset(self)


def fields_of(found: NaturalFrequencies) -> dict[str, Array]:
    """Return the arrays of a result by name, without those that are None."""
    arrays = ((f.name, getattr(found, f.name)) for f in dataclasses.fields(found))
    return {name: x for name, x in arrays if x is not None and name not in ("theory", "first_mode")}


def raise_uncertified(result: NaturalFrequencies, name: str) -> None:
    """Raise `UncertifiedError` if a mode is not certified. ``name`` is the name of the arm in the message."""
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
