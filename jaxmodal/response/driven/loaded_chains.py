"""An arm in space at rest under its loads, with its ports and its damping, ready for any frequency.

Of an arm whose values are stepped, one cell per address, all that depends on a step is a dual number: the equilibrium
is found anew in every cell, as for derivatives of frequencies.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.arithmetic.dual import Dual, value_of
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.driven.spatial_readings import reading_of
from jaxmodal.response.driven.stepped_arms import cells_of, with_slopes
from jaxmodal.runtime.array_types import Floats, Numbers
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.values import BeamValues
from jaxmodal.spatial.preload.chain import PrestressedChain
from jaxmodal.spatial.preload.energies import chain_of
from jaxmodal.spatial.preload.members import (
    MOST_PIECES,
    Pieces,
    carried_states,
    pieces_of_transfer,
)
from jaxmodal.spatial.preload.parts import ChainParts
from jaxmodal.spatial.preload.series import transfer_series, transfers_at

#: shares of a link's length at which its forces, which are polynomials of second degree, are known as a whole
_THREE = np.array([0.0, 0.5, 1.0])
#: number of series kept, some 30 kB each
_KEPT = 500
#: the values of a beam that damping multiplies
RIGIDITIES = ("stretching", "shearing_y", "shearing_z", "torsion", "bending_y", "bending_z")


class Seen(NamedTuple):
    """The `Reading` of a load of the system: index of its link, station, and what it reads there and in the joint."""

    link: int
    station: float
    row: Array
    give: Array


@dataclasses.dataclass(frozen=True)
class LoadedChain:
    """The chain of an arm under loads, with what drives and damps it.

    Attributes
    ----------
    chain : PrestressedChain
        That of the arm without steps.
    cells : tuple of PrestressedChain
        Those of the cells of a stepped arm, whose values have imaginary parts; the chain itself without steps.
    readings : tuple of Seen
        Those of the loads of the system.
    dampers : tuple of array
        Dampers parallel to the springs of each joint, N s/m and N m s/rad.
    loss_factor, kelvin_voigt_time : tuple
        Damping of each link.
    """

    chain: PrestressedChain
    cells: tuple[PrestressedChain, ...]
    readings: tuple[Seen, ...]
    dampers: tuple[Array, ...]
    loss_factor: tuple[Array, ...]
    kelvin_voigt_time: tuple[Array, ...]

    @classmethod
    def of(cls, chain: PrestressedChain, arm: SpatialArm, loads: Sequence[Port]) -> LoadedChain:
        """Return the chain of an arm, which may be stepped, with loads at ports."""
        cells = cells_of(arm)
        owners = [arm.num_links - 1 if each.link is None else each.link - 1 for each in loads]
        seen = []
        for each, k in zip(loads, owners, strict=True):
            own = [reading_of(each, one.arm, one.frames[k]) for one in cells]
            row, give = (_together([getattr(x, name) for x in own]) for name in ("row", "give"))
            seen.append(Seen(own[0].link, own[0].station, row, give))

        def of_links(read: Callable[[Any], Any]) -> tuple[Array, ...]:
            every = [[read(link) for link in one.arm.links] for one in cells]
            return tuple(_together(link) for link in zip(*every, strict=True))

        return cls(
            chain,
            tuple(
                chain if one.values is None else chain_of(chain, one.values, one.arm.loads)
                for one in cells
            ),
            tuple(seen),
            of_links(
                lambda x: np.array(
                    [_number(spring.damping) for spring in x.joint_springs]
                    + [_number(x.joint_damping)]
                )
            ),
            of_links(lambda x: _number(x.loss_factor)),
            of_links(lambda x: _number(x.kelvin_voigt_time)),
        )

    def _of_cells(self, read: Callable[[PrestressedChain], Any]) -> Any:
        """Return a pytree of numbers of the arm, dual where they depend on a step."""
        return jax.tree_util.tree_map(lambda *x: _together(x), *map(read, self.cells))

    @functools.cached_property
    def parts(self) -> ChainParts:
        """What sits in the chain."""
        found: ChainParts = self._of_cells(lambda x: x.parts)
        return found

    def stations(self, number: int) -> list[float]:
        """Return the shares of a link's length at which loads act within it, from its tip to its base, with both ends.

        The link's index counts from 0.
        """
        within = {x.station for x in self.readings if x.link == number}
        return sorted(within | {0.0, 1.0}, reverse=True)

    @functools.cached_property
    def _series(self) -> dict[tuple[int, float, float, int, complex], Array]:
        return {}

    def pieces(
        self, number: int, start: float, end: float, omega: Array, share: Any = 1.0
    ) -> Pieces:
        """Return the pieces of a part of a link at frequencies (F,), along leading axes (F, pieces).

        ``share`` scales the damping, one number per frequency; for dual numbers it is 1.

        Raises
        ------
        ArmError
            If a frequency is so high that the link needs more pieces than are computed.
        """
        count = self._count(number, end - start, value_of(omega))
        starts, length = np.linspace(start, end, count + 1)[:-1], (end - start) / count
        beam, theory = self.parts.links[number].values.beam, self.chain.model.theory
        forces, square = functools.partial(self._forces, number), omega * omega
        eta, time = self.loss_factor[number], self.kelvin_voigt_time[number]
        by = np.broadcast_to(np.asarray(share), omega.shape)
        if np.any(time) and by.any():
            shares, one = np.full(count, length), np.eye(12)[None]
            every = [
                carried_states(
                    _damped(beam, s * (eta + w * time)), theory, forces, w * w, starts, shares, one
                )
                for w, s in zip(omega, by, strict=True)
            ]
            return pieces_of_transfer(np.stack(every))
        by = by if np.any(eta) else np.zeros(omega.shape)
        found: Any = None
        for each in np.unique(by) if by.size else (0.0,):
            key, mine = (number, start, end, count, complex(each)), by == each
            if key not in self._series:
                if len(self._series) >= _KEPT:
                    self._series.clear()
                self._series[key] = self._series_of(number, eta * each, starts, length)
            part = transfers_at(self._series[key], square if mine.all() else square[mine])
            if mine.all():
                return pieces_of_transfer(part)
            if found is None:
                found = np.zeros((omega.size, *part.shape[1:]), complex)
            found[mine] = part
        return pieces_of_transfer(found)

    def _count(self, number: int, part: float, omega: Numbers) -> int:
        """Return the number of pieces of a part of a link, a share of its length, at all of these frequencies."""
        largest = float(np.abs(omega * omega).max(initial=0.0))
        whole = self.chain.needed(number, largest)
        if not whole <= MOST_PIECES:
            raise ArmError(
                f"omega = {float(np.abs(omega).max()):.6g}: link {number + 1} vibrates in waves too short for a "
                f"response under loads, with more than {MOST_PIECES} pieces; give lower frequencies, or give "
                "arm.replace(loads=None)."
            )
        return max(1, int(np.ceil(whole * part)))

    def _forces(self, number: int, shares: Floats) -> Array:
        """Return the section forces at shares of a link's length, (S, 6)."""
        return self._of_cells(lambda x: x.forces(number, shares))

    def _series_of(self, number: int, lost: Array, starts: Floats, share: float) -> Array:
        """Return `transfer_series` of a link with a loss factor.

        Derivatives are computed in those directions that matter: most values change neither a link nor its forces.
        """
        beam, theory = _damped(self.parts.links[number].values.beam, lost), self.chain.model.theory
        dual = [x for x in (*beam, self._forces(number, _THREE)) if isinstance(x, Dual)]
        acting = np.zeros(len(dual[0].slopes) if dual else 0, bool)
        for each in dual:
            acting |= each.slopes.any(axis=tuple(range(1, each.slopes.ndim)))
        which = np.flatnonzero(acting)

        def own(x: Any) -> Any:
            return x.along(which) if isinstance(x, Dual) and which.size else value_of(x)

        found: Any = transfer_series(
            BeamValues(*map(own, beam)),
            theory,
            lambda shares: own(self._forces(number, shares)),
            starts,
            share,
        )
        return found.among(which, acting.size) if isinstance(found, Dual) else found


def _damped(beam: BeamValues, factor: Any) -> BeamValues:
    """Return a beam with complex moduli."""
    if not np.any(factor):
        return beam
    return beam._replace(**{name: getattr(beam, name) * (1.0 + 1j * factor) for name in RIGIDITIES})


def _number(value: Any) -> Any:
    return 0.0 if value is None else value


def _together(cells: Sequence[Any]) -> Array:
    """Return numbers of all cells as those of the arm, dual where they depend on a step."""
    if len(cells) == 1 and not np.iscomplexobj(cells[0]):
        return cells[0]
    return with_slopes(np.stack(cells, axis=-1))
