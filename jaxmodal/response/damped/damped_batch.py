"""Damped modes of many variants of an arm."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arguments import positive_integer
from jaxmodal.arm.arm import require_arm
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.batches.many_arms import columns_of, natural_frequencies_batch
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.response.damped.damped_roots import (
    BEYOND,
    ShowsRoots,
    damped_roots,
)
from jaxmodal.response.driven.damping import SPRINGS, damped_free_joints
from jaxmodal.response.driven.labels import cell_labels
from jaxmodal.runtime import limits
from jaxmodal.runtime.array_types import Bools, Complexes, Floats, Integers
from jaxmodal.runtime.statuses import OF_DAMPED_MODES, Status, present, status_variable
from jaxmodal.runtime.tables import Table, shortened
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.statics.beam_arrays import SUPPORTS

if TYPE_CHECKING:
    import xarray

#: number of cells that are followed together
_CELLS = 256
#: fields whose zeros determine which motions cost no energy, and which of those are damped
_OF_JOINTS = frozenset((*SPRINGS, *SPRINGS.values(), "damping", "stiffness"))


@dataclasses.dataclass(frozen=True, repr=False)
class DampedModesBatch(ShowsRoots):
    """Damped modes of N arms, one per undamped mode.

    Attributes
    ----------
    roots : complex array, shape (N, K)
        Complex angular frequencies, rad/s: the real part is the damped frequency, the imaginary part the decay rate.
        For an overdamped mode, the slower of its two roots. NaN where there is no root.
    fast_roots : complex array, shape (N, K)
        The faster root of an overdamped mode; otherwise the same as ``roots``.
    undamped : array, shape (N, K)
        Angular frequencies without damping, rad/s; NaN where they are not certified.
    status : array of int, shape (N, K)
        `Status` codes.
    cells : array, shape (addresses, N)
        Values of the parameters.
    addresses : tuple of str
        Addresses of the parameters.
    theory : str
        Name of the theory.
    """

    roots: Complexes
    fast_roots: Complexes
    undamped: Floats
    status: NDArray[np.uint8]
    cells: Floats
    addresses: tuple[str, ...]
    theory: TheoryName

    def tables(self) -> list[Table]:
        """Return a table of frequencies and damping ratios of all modes of the arms."""
        modes = range(1, self.roots.shape[1] + 1)
        headings = ["cell", *(f"{mode}: {what}" for mode in modes for what in ("[Hz]", "ratio"))]
        rows = [
            [
                str(number),
                *(
                    text
                    for hertz, ratio in zip(*pair, strict=True)
                    for text in (hertz_text(hertz), f"{ratio:.5g}")
                ),
            ]
            for number, pair in enumerate(
                zip(self.frequencies_hz, self.damping_ratio, strict=True), start=1
            )
        ]
        notes = [
            f"{code} ({int((self.status == code).sum())} modes): {code.cause}; {code.remedy}."
            for code in present(self.status)
            if not code.usable
        ]
        title = f"damped modes of {len(self.roots):,} arms ({self.theory})"
        return [Table(title, headings, shortened(rows), notes)]

    def to_xarray(self) -> xarray.Dataset:
        """Return a dataset with the dims cell and mode: frequencies in Hz, damping, statuses, parameters."""
        import xarray

        dims = ("cell", "mode")
        variables: dict[str, Any] = dict(self._variables(dims, self.undamped))
        variables["status"] = status_variable(dims, self.status, OF_DAMPED_MODES, "damped mode")
        coordinates: dict[str, Any] = {
            "mode": np.arange(1, self.roots.shape[1] + 1),
            **cell_labels(self.addresses, self.cells),
        }
        return xarray.Dataset(variables, coordinates, {"theory": self.theory})


def damped_modes_batch(
    arm: AnyArm,
    parameters: Mapping[str, Any],
    num_modes: int = 10,
    *,
    theory: TheoryName = "timoshenko",
) -> DampedModesBatch:
    """Return damped frequencies, damping ratios and decay rates of many variants of an arm.

    Parameters
    ----------
    arm
        The arm; cells differ from it only in ``parameters``.
    parameters
        Values by address, each of shape (N,), as for `natural_frequencies_batch`.
    num_modes, theory
        As for `natural_frequencies_batch`.

    Returns
    -------
    DampedModesBatch
        With a status for each mode of each arm; failures of single arms raise no error.

    Raises
    ------
    ArmError
        If an address is unknown, or the arm lacks what the theory needs.
    ValueError
        As for `natural_frequencies_batch`.

    Notes
    -----
    The method is that of `damped_modes`, for all arms at once in NumPy. Paths and contours of one arm do not depend on
    those of others.

    Examples
    --------
    >>> import jaxmodal as jm, numpy as np
    >>> link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05, 0.85), poisson_ratio=0.3, loss_factor=0.02)
    >>> found = jm.damped_modes_batch(jm.Arm((link,)), {"link1.loss_factor": np.array([0.02, 0.04])}, 2)
    >>> found.ok, [[f"{x:.4f}" for x in ratios] for ratios in found.damping_ratio]
    (True, [['0.0100', '0.0100'], ['0.0200', '0.0200']])
    """
    require_arm(arm)
    count = positive_integer(num_modes, "num_modes", limits.MODES)
    certified = natural_frequencies_batch(arm, parameters, count + BEYOND, theory=theory)
    addresses, values = columns_of(arm, parameters)
    omega = np.where(np.asarray(certified.certified), np.asarray(certified.omega), np.nan)
    # rigid links have no more modes than springs; missing modes and modes without certificate have no root
    known = np.isfinite(omega)
    missing = np.isnan(np.asarray(certified.omega))
    whole = known.any(axis=1) & (known | missing).all(axis=1)
    shape = (values.shape[1], count)
    slow, fast = (np.full(shape, complex(np.nan, np.nan)) for _ in range(2))
    status = np.full(shape, int(Status.no_value), np.uint8)
    for cells, names, posed, given in _groups(arm, addresses, values, omega, known, whole):
        modes = int(known[cells[0]].sum())
        own = omega[cells][:, :modes]
        if not own.any() or (own[0, 0] == 0.0 and _damps_freely(posed, names, given)):
            continue
        for start in range(0, cells.size, _CELLS):
            at = slice(start, start + _CELLS)
            found = damped_roots(posed, theory, names, given[:, at], own[at], min(count, modes))
            for cell, each in zip(cells[at], found, strict=True):
                for k in range(min(count, modes)):
                    roots = each.roots[each.mode == k + 1]
                    if roots.size == 0:
                        status[cell, k] = Status.shared
                    elif np.isfinite(roots).all():
                        slow[cell, k] = roots[np.argmin(roots.imag)]
                        fast[cell, k] = roots[np.argmax(roots.imag)]
                        sure = each.counted
                        status[cell, k] = Status.certified if sure else Status.uncertified
    return DampedModesBatch(slow, fast, omega[:, :count], status, values, tuple(addresses), theory)


def _groups(
    arm: AnyArm,
    addresses: Sequence[str],
    values: Floats,
    omega: Floats,
    known: Bools,
    whole: Bools,
) -> list[tuple[Integers, list[str], AnyArm, Floats]]:
    """Group cells with equal numbers of modes and zero frequencies, equal rigid supports and equal free dampers.

    Each group has its cells, the addresses that still vary, the arm with these supports, and the values (addresses,
    cells).
    """
    supports = [k for k, name in enumerate(addresses) if name.rpartition(".")[2] in SUPPORTS]
    joints = [k for k, name in enumerate(addresses) if name.rpartition(".")[2] in _OF_JOINTS]
    kinds = np.stack(
        [
            known.sum(axis=1),
            (omega == 0.0).sum(axis=1),
            *np.isposinf(values[supports]),
            *(values[joints] == 0.0),
        ]
    )
    found = []
    for kind in np.unique(kinds[:, whole], axis=1).T:
        cells = np.flatnonzero(whole & (kinds == kind[:, None]).all(axis=0))
        rigid = [k for k in supports if np.isposinf(values[k, cells[0]])]
        posed = set_parameters(arm, {addresses[k]: np.inf for k in rigid}) if rigid else arm
        left = [k for k in range(len(addresses)) if k not in rigid]
        found.append((cells, [addresses[k] for k in left], posed, values[left][:, cells]))
    return found


def _damps_freely(arm: AnyArm, addresses: Sequence[str], values: Floats) -> bool:
    """Return True if a damper in cells of one kind has no parallel spring."""
    first = dict(zip(addresses, values[:, 0].tolist(), strict=True))
    return bool(damped_free_joints(set_parameters(arm, first)))
