"""What lies outboard of the joints that change: links that are the same in all postures, under unit loads.

A stiffness in the axes of a link does not depend on the angle of its joint. Loads in the axes of the ground do, but
each is a sum of unit loads in the axes of the link on which it acts. So the outermost links, up to the first joint that
changes, are added once for all postures, with a unit load in place of each component that any load has on them. Where
such a sum nearly cancels, they are added again under the loads themselves.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.nothing import NOTHING
from jaxmodal.arithmetic.operations import size_of
from jaxmodal.response.driven.spatial_systems import DrivenLink, SpatialSystem
from jaxmodal.response.receptance.denominators_in_space import Told
from jaxmodal.response.receptance.transfers import combined
from jaxmodal.runtime.array_types import Bools, Floats, Numbers
from jaxmodal.spatial.stiffness.link_entries import LoadEntries
from jaxmodal.spatial.stiffness.symmetric import Symmetric, places

#: numbers of a load on a link: six at the outer end of its elastic part, six at the inner end, and a torque
_PARTS = 13
#: ratio of the terms of a response to it beyond which 2e-13 of it may be lost
_CANCELLED = 1e3


class Outboard(NamedTuple):
    """The outermost links under unit loads: stiffness up to the inmost of their joints, and what denominators tell.

    ``links`` are these links, as in `under_unit_loads`.
    """

    links: tuple[DrivenLink, ...]
    stiffness: Symmetric
    told: Told

    def kept(self) -> Outboard:
        """Return the same in memory of its own."""
        own = [x.copy() if isinstance(x, np.ndarray) else x for x in self.stiffness.entries]
        return self._replace(stiffness=Symmetric(own))


def under_unit_loads(system: SpatialSystem, count: int) -> tuple[SpatialSystem, Floats]:
    """Return the ``count`` outermost links as an arm by themselves, and what its loads are to those of the system.

    Its loads are unit loads, its first joint has no place. The second, of shape (loads, unit loads), has the share of
    each unit load in a load of the system.
    """
    links = system.links[-count:]
    parts = np.array([[_parts(load) for load in link.loads] for link in links])
    parts = parts.reshape(count, len(system.loads), _PARTS)
    acting = np.argwhere(parts.any(axis=1)).tolist()
    shares = np.zeros((len(system.loads), len(acting)))
    for unit, (at, part) in enumerate(acting):
        shares[:, unit] = parts[at, :, part]
    alone = under_own_loads(system, count)
    own = [
        link._replace(loads=tuple(_unit(part if at == k else None) for at, part in acting))
        for k, link in enumerate(alone.links)
    ]
    loads = system.loads[:1] * len(acting)  # only their number counts
    return dataclasses.replace(alone, links=tuple(own), loads=loads), shares


def _parts(load: LoadEntries) -> list[float]:
    return [0.0 if x is NOTHING else x for x in (*load.outer, *load.inner, load.torque)]


def _unit(part: int | None) -> LoadEntries:
    every: list[Any] = [NOTHING] * _PARTS
    if part is not None:
        every[part] = 1.0
    return LoadEntries(every[:6], every[6:12], every[12])


def under_own_loads(system: SpatialSystem, count: int) -> SpatialSystem:
    """Return the ``count`` outermost links as an arm by themselves, its first joint without a place."""
    links = list(system.links[-count:])
    links[0] = links[0]._replace(entries=links[0].entries._replace(rotation=[], offset=[]))
    return dataclasses.replace(
        system, links=tuple(links), inputs=(), outputs=(), base_motions={}, part=True
    )


def under_loads_of(
    system: SpatialSystem, w: Symmetric, shares: Floats, omega: Numbers
) -> tuple[Symmetric, Bools]:
    """Return a stiffness with unit loads with the loads of a system in their place, and where it has lost digits.

    Of responses between loads those that the system reads; others are `NOTHING`. Arrays of forces and of responses are
    new ones. The mask (F,) is True where the response to a load is a small difference of those to unit loads, as of a
    load that passes through the axis of a free joint, and where a number is not finite.
    """
    units, loads = range(6, w.size), range(len(system.loads))
    given = [[w[i, unit] for unit in units] for i in range(6)]
    forces, finite = combined(shares, given, omega)
    lost = np.zeros(omega.shape, bool)
    if not finite:
        for x in itertools.chain(*given):
            lost |= False if x is NOTHING else ~np.isfinite(x)
    found = Symmetric([NOTHING] * len(places(system.size)))
    for i in range(6):
        for j in range(i, 6):
            found[i, j] = w[i, j]
        for load, force in enumerate(forces[i]):
            found[i, 6 + load] = force
    both = list(itertools.combinations_with_replacement(range(len(units)), 2))
    if not both:
        return found, lost
    column = [w[6 + u, 6 + v] for u, v in both]
    own = [(x, x) for x in loads]
    (sizes,), _ = combined(abs(_between(shares, own, both)), [list(map(_size, column))], omega)
    pairs = sorted(system.read_pairs.union(own))
    (responses,), _ = combined(_between(shares, pairs, both), [column], omega)
    for (x, y), response in zip(pairs, responses, strict=True):
        if (x, y) in system.read_pairs:
            found[6 + x, 6 + y] = response
        if x == y and sizes[x] is not NOTHING:
            lost |= ~(sizes[x] <= _CANCELLED * size_of(response))
    return found, lost


def _between(
    shares: Floats, pairs: Sequence[tuple[int, int]], units: Sequence[tuple[int, int]]
) -> Floats:
    """Return the shares of responses between unit loads in those between pairs of loads, (pairs, units)."""
    x, y = np.array(pairs).T
    u, v = np.array(units).T
    straight = shares[x][:, u] * shares[y][:, v]
    # each pair of different units counts both ways
    found: Floats = straight + (u != v) * (shares[x][:, v] * shares[y][:, u])
    return found


def _size(x: Any) -> Any:
    return x if x is NOTHING else size_of(x)
