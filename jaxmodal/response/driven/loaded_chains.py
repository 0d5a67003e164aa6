"""An arm in space at rest under its loads, with its ports and its damping, ready for any frequency."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmodal.response.driven.ports import Port
from jaxmodal.response.driven.spatial_readings import Reading, reading_of
from jaxmodal.runtime.array_types import Floats, Numbers
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.values import BeamValues
from jaxmodal.spatial.preload.chain import PrestressedChain
from jaxmodal.spatial.preload.members import (
    MOST_PIECES,
    Pieces,
    carried_states,
    pieces_of_transfer,
)
from jaxmodal.spatial.preload.series import transfer_series, transfers_at

#: number of series kept, some 30 kB each
_KEPT = 500
_RIGIDITIES = ("stretching", "shearing_y", "shearing_z", "torsion", "bending_y", "bending_z")


@dataclasses.dataclass(frozen=True)
class LoadedChain:
    """The chain of an arm under loads, with what drives and damps it.

    Attributes
    ----------
    chain : PrestressedChain
    readings : tuple of Reading
        Those of the loads of the system.
    dampers : tuple of array
        Dampers parallel to the springs of each joint, N s/m and N m s/rad.
    loss_factor, kelvin_voigt_time : tuple of float
        Damping of each link.
    """

    chain: PrestressedChain
    readings: tuple[Reading, ...]
    dampers: tuple[Floats, ...]
    loss_factor: tuple[float, ...]
    kelvin_voigt_time: tuple[float, ...]

    @classmethod
    def of(cls, chain: PrestressedChain, arm: SpatialArm, loads: Sequence[Port]) -> LoadedChain:
        """Return the chain of an arm with loads at ports."""
        frames = arm.frames()
        owners = [arm.num_links - 1 if each.link is None else each.link - 1 for each in loads]
        return cls(
            chain,
            tuple(reading_of(x, arm, frames[k]) for x, k in zip(loads, owners, strict=True)),
            tuple(
                np.array(
                    [_number(spring.damping) for spring in link.joint_springs]
                    + [_number(link.joint_damping)]
                )
                for link in arm.links
            ),
            tuple(_number(link.loss_factor) for link in arm.links),
            tuple(_number(link.kelvin_voigt_time) for link in arm.links),
        )

    def stations(self, number: int) -> list[float]:
        """Return the shares of a link's length at which loads act within it, from its tip to its base, with both ends.

        The link's index counts from 0.
        """
        within = {x.station for x in self.readings if x.link == number}
        return sorted(within | {0.0, 1.0}, reverse=True)

    @functools.cached_property
    def _series(self) -> dict[tuple[int, float, float, int, complex], Numbers]:
        return {}

    def pieces(
        self, number: int, start: float, end: float, omega: Numbers, share: Any = 1.0
    ) -> Pieces:
        """Return the pieces of a part of a link at frequencies (F,), along leading axes (F, pieces).

        ``share`` scales the damping, one number per frequency.

        Raises
        ------
        ArmError
            If a frequency is so high that the link needs more pieces than are computed.
        """
        chain, square = self.chain, omega * omega
        beam, theory = chain.model.values.links[number].beam, chain.model.theory
        largest = float(np.abs(square).max(initial=0.0))
        whole = chain.needed(number, largest)
        if not whole <= MOST_PIECES:
            raise ArmError(
                f"omega = {float(np.abs(omega).max()):.6g}: link {number + 1} vibrates in waves too short for a "
                f"response under loads, with more than {MOST_PIECES} pieces; give lower frequencies, or give "
                "arm.replace(loads=None)."
            )
        count = max(1, int(np.ceil(whole * (end - start))))
        starts, length = np.linspace(start, end, count + 1)[:-1], (end - start) / count
        forces = functools.partial(chain.forces, number)
        eta, time = self.loss_factor[number], self.kelvin_voigt_time[number]
        by = np.broadcast_to(np.asarray(share), omega.shape)
        if time == 0.0 or not by.any():
            lost = eta * by
            kind = complex if lost.any() else omega.dtype
            found = np.zeros((omega.size, count, 12, 12), kind)
            for each in np.unique(lost):
                key, mine = (number, start, end, count, complex(each)), lost == each
                if key not in self._series:
                    if len(self._series) >= _KEPT:
                        self._series.clear()
                    damped = _damped(beam, each)
                    self._series[key] = transfer_series(damped, theory, forces, starts, length)
                found[mine] = transfers_at(self._series[key], square[mine])
            return pieces_of_transfer(found)
        shares, one = np.full(count, length), np.eye(12)[None]
        every = [
            carried_states(
                _damped(beam, s * (eta + w * time)), theory, forces, w * w, starts, shares, one
            )
            for w, s in zip(omega, by, strict=True)
        ]
        return pieces_of_transfer(np.array(every))


def _number(value: Any) -> float:
    return 0.0 if value is None else float(value)


def _damped(beam: BeamValues, factor: Any) -> BeamValues:
    """Return a beam with complex moduli."""
    if factor == 0.0:
        return beam
    return beam._replace(
        **{name: getattr(beam, name) * (1.0 + 1j * factor) for name in _RIGIDITIES}
    )
