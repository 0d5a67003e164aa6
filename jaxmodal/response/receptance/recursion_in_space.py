"""Stiffness and loads of arms in space at the ground, at any frequency: the frequency recursion with additional loads.

At the ground, the entries between loads are the negative responses between ports; the entries between loads and the six
directions are the motions of the ports under ground motion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.arithmetic.nothing import NOTHING
from jaxmodal.arithmetic.operations import Arithmetic, size_of
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.dynamic_stiffness.preload import member_waves
from jaxmodal.response.driven.damping import modulus_factor
from jaxmodal.response.driven.members import elastic_member
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.driven.spatial_systems import DrivenLink, SpatialSystem, is_free
from jaxmodal.response.receptance.denominators_in_space import Passed, Told, clamped_below
from jaxmodal.response.receptance.outboard import (
    Outboard,
    under_loads_of,
    under_own_loads,
    under_unit_loads,
)
from jaxmodal.response.receptance.recorded_links import (
    FEWEST,
    FEWEST_OF_MANY,
    at_joint,
    recorded_link,
)
from jaxmodal.response.receptance.rigid_supports import giving, supported
from jaxmodal.response.receptance.transfers import to_previous
from jaxmodal.response.receptance.under_loads import LoadedRecursion
from jaxmodal.runtime.array_types import Numbers
from jaxmodal.runtime.namespace import xp
from jaxmodal.spatial.stiffness.constants import Spring
from jaxmodal.spatial.stiffness.entries import with_link
from jaxmodal.spatial.stiffness.members import Sections, plane_beams, torsion_waves
from jaxmodal.spatial.stiffness.symmetric import Symmetric, places

#: number of frequencies that NumPy processes at a time, so that arrays fit into the cache
BLOCK = 3400
#: number of blocks of frequencies whose members are cached for other postures, 6 MB each for six links, and number of
#: those whose outboard links are, some MB each
_KEPT = 10


def condensed_in_space(
    system: SpatialSystem,
    omega: Numbers,
    held: frozenset[int] = frozenset(),
    asked: bool = False,
) -> tuple[Symmetric, Told]:
    """Return stiffness and loads at the ground, and what denominators tell of loads that are not held."""
    w, told = without_rigid_supports(system, omega, asked)
    if system.forces:
        w, terms = supported(w, system.forces)
        ground = {row for each in system.base_motions for row, _ in moved_rows(system, each)}
        loads = [6 + load for load in range(len(system.loads)) if load not in held]
        growth = told.growth
        for i in (*sorted(ground), *loads):
            if w[i, i] is not NOTHING:
                growth = np.maximum(growth, terms[i] / size_of(w[i, i] + 0.0 * omega))
        told = told._replace(growth=growth)
    return w, told


def without_rigid_supports(
    system: SpatialSystem, omega: Numbers, asked: bool = False
) -> tuple[Symmetric, Told]:
    """Return stiffness and loads at the ground, those of rigid supports last, and what denominators tell."""
    if system.at_rest is not None:
        found = LoadedRecursion(system.at_rest, system.size, omega)
        return found.symmetric(), Told(found.growth)
    squared = omega * omega
    below = clamped_below(system.sections, system.theory, omega) if asked else None
    told = Told(np.zeros(omega.shape), below)
    beyond, w = _outboard(system, omega, asked)
    if beyond is not None:
        told = told.beside(beyond)
    for each in inward(system, omega, 1.0, asked, w):
        told = told.beside(each.told(squared, asked))
    return each.added.stiffness, told


def _outboard(
    system: SpatialSystem, omega: Numbers, counted: bool
) -> tuple[Told | None, Symmetric | None]:
    """Return what denominators tell of links that another posture has as well, and the stiffness before them.

    Both are None where nothing is shared.
    """
    if not system.alike or system.forces or not _are_many(system, omega):
        return None, None
    key = _key(omega)
    found = system.outboard.get(key)
    if found is None and len(system.outboard) >= _KEPT:
        return None, None
    alone, shares = under_unit_loads(system, system.alike)
    if found is not None and counted and found.told.below is None:
        found = None
    if found is None or found.links != alone.links:
        told = Told(np.zeros(omega.shape), np.zeros(omega.shape) if counted else None)
        for each in inward(alone, omega, 1.0, counted):
            told = told.beside(each.told(omega * omega, counted))
        system.outboard[key] = found = Outboard(alone.links, each.added.stiffness, told).kept()
    w, lost = under_loads_of(system, found.stiffness, shares, omega)
    if lost.any():
        *_, last = inward(under_own_loads(system, system.alike), omega[lost], 1.0)
        for k, (i, j) in enumerate(places(w.size)):
            x = last.added.stiffness[i, j]
            if j >= 6 and w.entries[k] is not NOTHING:
                w.entries[k][lost] = 0.0 if x is NOTHING else x
    return found.told, to_previous(w, system.links[-system.alike].entries, omega)


def moved_rows(system: SpatialSystem, into: Port) -> Iterator[tuple[int, Any]]:
    """Yield the rows that an input moves, each with its share: that of the load, or of directions of the ground."""
    if into.place != "base":
        yield 6 + system.loads.index(into), 1.0
        return
    for row, x in enumerate(system.base_motions[into]):
        if x is not NOTHING:
            yield row, x


def inward(
    system: SpatialSystem,
    omega: Any,
    share: Any,
    counted: bool = False,
    beyond: Symmetric | None = None,
) -> Iterator[Passed]:
    """Yield the links from the tip to the ground; ``omega`` may be complex, ``share`` scales the damping.

    With the stiffness ``beyond`` at the first link that is not alike, from that on. At many frequencies entries that
    no port reads are left out, and, unless ``counted``, what only counts need.
    """
    squared = omega * omega
    members = None if system.sections is None else _known_members(system, omega, share)
    links, w = system.links, beyond
    if w is None:
        w = Symmetric([NOTHING] * len(places(system.size)))
    else:
        links = links[: -system.alike]
    many = not isinstance(omega, Dual) and _are_many(system, omega)
    for link in reversed(links):
        planes, springs = link.planes(members), list(_damped(link, omega * share))
        entries = link.entries._replace(springs=springs)
        if many:
            asked = _asked(system, link)
            added = recorded_link(entries, planes, squared, w, link.loads, asked, counted)
        else:
            with_terms = not isinstance(omega, Dual)
            added = with_link(entries, planes, squared, w, 0, with_terms, link.loads, at_joint)
        w = added.stiffness
        if link is not links[0] or system.base_motions or system.forces:
            w = to_previous(w, link.entries, omega)
        if link is links[0]:
            w = giving(w, system.gives)
        yield Passed(link, planes, springs, added._replace(stiffness=w))


def _are_many(system: SpatialSystem, omega: Numbers) -> bool:
    """Return whether links are added by recorded formulas."""
    return bool(omega.size >= (FEWEST_OF_MANY if system.alike else FEWEST))


def _asked(system: SpatialSystem, link: DrivenLink) -> frozenset[int]:
    """Return the numbers of the entries of the stiffness before a link that are needed, in the order of `places`."""
    every = enumerate(places(system.size))
    if system.forces or system.part:
        return frozenset(k for k, _ in every)
    pairs = system.read_pairs
    if link is not system.links[0] or system.base_motions:
        return frozenset(k for k, (i, j) in every if i < 6 or (i - 6, j - 6) in pairs)
    # the first three entries of the diagonal tell of lost digits behind free joints
    free = any(map(is_free, link.entries.springs))
    return frozenset(
        k for k, (i, j) in every if (i - 6, j - 6) in pairs or (free and i == j and i < 3)
    )


def _damped(link: DrivenLink, omega: Numbers) -> Iterator[Spring]:
    """Yield the joint springs with their dampers: ``k + i omega c`` in place of k."""
    dampers = link.dampers or (0.0,) * len(link.entries.springs)
    for spring, damper in zip(link.entries.springs, dampers, strict=True):
        if (isinstance(damper, float) and damper == 0.0) or spring.compliance is NOTHING:
            yield spring
        else:
            stiffness = spring.unit / spring.compliance + 1j * (omega * damper)
            law = (stiffness, 1.0) if is_free(spring) else (1.0, 1.0 / stiffness)
            yield spring._replace(unit=law[0], compliance=law[1])


def _known_members(system: SpatialSystem, omega: Any, share: Any) -> FreeEndMember:
    """Return `_members`, cached for arms with the same links; not cached for a ``share`` of the damping."""
    alone = isinstance(omega, Dual) or not isinstance(share, float) or share != 1.0
    if alone or omega.size > BLOCK:
        return _members(system, omega, share)
    key = _key(omega)
    if key not in system.known:
        found = _members(system, omega, share)
        if len(system.known) >= _KEPT:
            return found
        system.known[key] = found
    return system.known[key]


def _key(omega: Numbers) -> bytes:
    """Return what tells blocks of frequencies apart."""
    return omega.dtype.char.encode() + omega.tobytes()


def _members(system: SpatialSystem, omega: Any, damped: Any) -> FreeEndMember:
    """Return the flexible links in both planes, each field of shape (2, links, F)."""
    s = system.sections
    assert s is not None
    factor = modulus_factor(system.loss_factor, system.kelvin_voigt_time, omega, damped)
    if factor is not None:
        s = s._replace(
            youngs_modulus=s.youngs_modulus * factor, shear_modulus=s.shear_modulus * factor
        )
    shape = np.broadcast_shapes(*map(np.shape, s))
    s = Sections(*(xp.broadcast_to(x, shape) for x in s))
    found = member_waves(plane_beams(s), system.theory, omega, Arithmetic.float64)
    twist = s.length, s.shear_modulus, s.torsion_constant, s.density
    pressed = s.area, s.axial_force
    mu, rigidity = torsion_waves(*twist, s.second_moment_y, s.second_moment_z, *pressed)
    w = found.waves
    w = w._replace(
        mu=xp.stack([w.mu[0], mu * omega]), axial_rigidity=xp.stack([w.axial_rigidity[0], rigidity])
    )
    axial = np.array([float(system.theory.axial), 1.0])[:, None, None]
    return elastic_member(found._replace(waves=w), axial)
