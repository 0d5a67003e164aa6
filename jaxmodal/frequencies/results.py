"""Results of the solvers: natural frequencies with their certificates."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.eigenspaces.frequency_derivatives import individual_modes
from jaxmodal.frequencies.certificate import EPS, Certificate
from jaxmodal.frequencies.tables import certificate_text, hertz_text
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.errors import UncertifiedError
from jaxmodal.runtime.namespace import Array, at_once, to_host
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.statuses import Status, remarks_on, status_variable
from jaxmodal.runtime.tables import Table, shortened

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
        many = np.ndim(self.omega) > 1
        return [_table_of_many(self) if many else _table_of_one(self)]

    def to_xarray(self) -> xarray.Dataset:
        """Return frequencies (Hz) and certificates as a dataset with dims mode, and cell for a batch."""
        import xarray

        found, dims = to_host(self), self._dims("mode")
        variables = frequency_variables(found, dims) | found._count_variables(dims)
        modes = found.first_mode + np.arange(np.shape(found.omega)[-1])
        return xarray.Dataset(variables, {"mode": modes}, {"theory": found.theory})


def _table_of_one(result: NaturalFrequencies) -> Table:
    """The frequencies of one arm with their certificates."""
    status, multiplicity = np.asarray(result.status), np.asarray(result.multiplicity)
    rows = [
        [
            str(result.first_mode + k),
            hertz_text(f),
            certificate_text(status[k], int(multiplicity[k])),
        ]
        for k, f in enumerate(np.asarray(result.frequencies_hz).tolist())
    ]
    head = f"{len(rows)} natural frequencies ({result.theory})"
    headings = ("mode", "frequency [Hz]", "certificate")
    return Table(head, headings, shortened(rows), remarks_on(status), ("certificate",))


def _table_of_many(result: NaturalFrequencies) -> Table:
    """The range of each mode in a batch, and how many of its cells are certified."""
    hertz, status = np.asarray(result.frequencies_hz), np.asarray(result.status)
    cells = hertz.reshape(-1, hertz.shape[-1])
    certified = (status == Status.certified).reshape(cells.shape).sum(axis=0)
    rows = []
    for k, column in enumerate(cells.T):
        known = column[np.isfinite(column)]
        ends = [hertz_text(x) for x in (known.min(), known.max())] if known.size else ["-", "-"]
        rows.append([str(k + 1), *ends, f"{certified[k]:,} of {len(cells):,}"])
    head = f"natural frequencies of {len(cells):,} arms ({result.theory})"
    headings = ("mode", "lowest [Hz]", "highest [Hz]", "certified")
    return Table(head, headings, shortened(rows), remarks_on(status))


def frequency_variables(
    result: NaturalFrequencies, dims: tuple[str, ...] = ("mode",)
) -> dict[str, Any]:
    """Return frequency in Hz and status as variables of a dataset."""
    return {
        "frequency": variable(dims, result.frequencies_hz, "natural frequency", "Hz"),
        "status": status_variable(dims, result.status),
    }


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
