"""The cells of a batch: variants of an arm, their columns, zero modes and buckling."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.addresses import resolve_address
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.columns import Columns, columns_of, unpacked
from jaxmodal.arm.link_rules import JOINT_SPRINGS
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.rigid_motions import number_of_zero_modes
from jaxmodal.frequencies.stability import number_unstable
from jaxmodal.statics.beam_arrays import SUPPORTS

#: cells per call, for the count of zero modes and for the check of stability: limits memory
_COUNTED, _JUDGED = 10_240, 2048


@dataclasses.dataclass(frozen=True)
class Variants:
    """Variants of an arm, with ``values``, shape (addresses, cells), at some addresses."""

    arm: Arm
    addresses: tuple[str, ...]
    values: np.ndarray

    @property
    def number(self) -> int:
        """Number of cells."""
        return self.values.shape[1]

    def columns(self, cells: np.ndarray | slice) -> Columns:
        """Return the columns of some cells, as input of the equations."""
        return columns_of(self.arm, self.addresses, self.values[:, cells])

    @property
    def supported(self) -> bool:
        """True if supports (springs to the ground) hold the arm."""
        links = self.arm.links
        return any(getattr(link, name) is not None for link in links for name in SUPPORTS)

    def zero_modes(self) -> np.ndarray:
        """Return the number of zero frequencies of each cell, int32, shape (cells,)."""
        links = self.arm.links
        stiffness = {
            f"link{number}.{name}": np.asarray(np.inf if value is None else value)
            for number, link in enumerate(links, start=1)
            for name, value in ((name, getattr(link, name)) for name in JOINT_SPRINGS)
        }
        for address, column in zip(self.addresses, self.values, strict=True):
            singles = resolve_address(self.arm, address) if address.endswith(JOINT_SPRINGS) else []
            stiffness |= dict.fromkeys(singles, column)
        free = np.zeros(self.number, np.int32)
        for value in stiffness.values():
            free += value == 0.0
        held = self.supported or any(link.axial_force is not None for link in links)
        elastic = self.arm.base_stiffness is not None
        held = held or elastic or self.arm.loads is not None
        if not held or not (elastic or free.any()):
            return free
        for start in range(0, free.size, _COUNTED):  # supports and axial forces may hold some
            some = slice(start, start + _COUNTED)
            beams = unpacked(self.columns(some).packed)
            free[some] = number_of_zero_modes(beams)
        return free


@dataclasses.dataclass(frozen=True)
class Cells:
    """Cells that are searched together, with columns and features."""

    numbers: np.ndarray
    packed: np.ndarray
    features: np.ndarray | None

    def columns(self, cells: np.ndarray) -> np.ndarray:
        """Return the packed columns of some of the cells, by their numbers; ``numbers`` ascend."""
        first, last = self.numbers[[0, -1]]
        every = last - first + 1 == self.numbers.size
        at = cells - first if every else np.searchsorted(self.numbers, cells)
        return np.take(self.packed, at, axis=-1)


def buckled(columns: Columns, flags: Theory, free: np.ndarray) -> np.ndarray:
    """Return True for cells that buckle under axial forces; float64 results are confirmed in double-double.

    ``free`` is the number of zero frequencies of each cell. Results for invalid cells have no meaning.
    """
    found = np.zeros(free.size, bool)
    if unpacked(columns.packed).axial_force is None:
        return found
    for start in range(0, free.size, _JUDGED):
        some = np.arange(start, min(start + _JUDGED, free.size))
        for arithmetic in (Arithmetic.float64, Arithmetic.double_double):
            beams = unpacked(columns.packed[..., some])
            with np.errstate(all="ignore"):
                count = number_unstable(beams, flags, free[some], arithmetic)
            some = some[count > 0]
            if not some.size:
                break
        found[some] = True
    return found
