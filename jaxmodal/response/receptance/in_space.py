"""Responses of arms in space with ports at any frequency: the frequency recursion with additional loads.

At the ground, the entries between loads are the negative responses between ports; the entries between loads and the six
directions are the motions of the ports under ground motion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.arithmetic.nothing import NOTHING, as_array
from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.dynamic_stiffness.preload import member_waves
from jaxmodal.response.driven.members import elastic_member
from jaxmodal.response.driven.port_quantities import OF_RECEPTANCES, in_quantity, read_ports
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.driven.spatial_systems import (
    DrivenLink,
    SpatialSystem,
    is_free,
    stiffness_of,
)
from jaxmodal.response.receptance.answers import AWAY, around, grows_towards, infinite_among
from jaxmodal.response.receptance.circle_means import kept_digits
from jaxmodal.response.receptance.denominators_in_space import (
    Passed,
    Told,
    clamped_below,
    may_resonate,
)
from jaxmodal.response.receptance.lost_digits import LARGE_GROWTH, size_of
from jaxmodal.response.receptance.rigid_supports import (
    APART,
    OFF_AXIS,
    cancelled,
    reactions_of,
    support_pivots,
    supported,
)
from jaxmodal.response.receptance.transfers import to_previous
from jaxmodal.response.receptance.under_loads import LoadedRecursion
from jaxmodal.runtime.array_types import Bools, Floats, Numbers
from jaxmodal.runtime.freed_memory import keep_freed_memory
from jaxmodal.runtime.namespace import xp
from jaxmodal.spatial.stiffness.constants import Spring
from jaxmodal.spatial.stiffness.entries import before_joint
from jaxmodal.spatial.stiffness.members import Sections, plane_beams, torsion_waves
from jaxmodal.spatial.stiffness.symmetric import Symmetric, places, total

#: number of frequencies that NumPy processes at a time, so that arrays fit into the cache
_BLOCK = 2048
#: number of blocks of frequencies whose members are cached for other postures, 4 MB each for six links
_KEPT = 16
#: a port counts as held by rigid supports if its motion is below this share of its motion without them, which is
#: rounding
_HELD = 1e-13
#: rounding error of a sum of such terms, relative to the sum of their absolute values
_ROUNDING = 2.0**-50
#: growth of numbers beyond which a resonance is checked
_SUSPECT = 1e6
#: number of the frequencies of `OFF_AXIS` at which arms under loads are looked at; at higher ones links need many
#: pieces
_MODERATE = 3


def responses_in_space(system: SpatialSystem, omega: Numbers) -> tuple[Any, Any]:
    """Return the quantity of a system, shape (outputs, inputs, F), and a mask of infinite values.

    Parameters
    ----------
    omega
        Angular frequencies greater than 0, rad/s, shape (F,).

    Notes
    -----
    As in `answers.responses` for planar arms, entries that lose digits are recomputed by `circle_means`, and entries
    near a resonance are compared with nearby frequencies.
    """
    keep_freed_memory()
    still = still_loads(system)
    with np.errstate(all="ignore"):
        found, told = _with_digits(system, omega, still, _counts_tell(system))
        if np.iscomplexobj(found) and not _has_free_joints(system):
            suspect = ~(told.growth < _SUSPECT)
        elif told.below is not None:
            suspect = may_resonate(omega, told, 2.0 * AWAY)
        else:  # near a resonance on soft springs numbers need not grow
            suspect = np.ones(omega.shape, bool)
        wrong = np.zeros(found.shape, bool)
        for some in _blocks(np.flatnonzero(suspect)):
            away, grown = _in_blocks(system, omega[some] * (1.0 + AWAY), still)
            larger = some[grows_towards(found[..., some], away) | ~(grown < _SUSPECT)]
            if larger.size:
                wrong[..., larger] = _infinite(system, omega[larger], found[..., larger], still)
    return found, wrong


def _blocks(places: np.ndarray) -> Iterator[np.ndarray]:
    """Yield places, or numbers, as many at a time as NumPy processes."""
    for start in range(0, places.size, _BLOCK):
        yield places[start : start + _BLOCK]


def still_inputs(system: SpatialSystem) -> list[Port]:
    """Return inputs with an imposed displacement that cannot move: supports hold them, or no elastic part gives."""
    if system.quantity not in ("dynamic_stiffness", "transmissibility"):
        return []
    omega = np.ones(1)
    found, _ = condensed_in_space(system, omega)
    held = still_loads(system).held
    numbers = {each: system.loads.index(each) for each in system.inputs if each in system.loads}
    return [
        each
        for each, load in numbers.items()
        if load in held or not np.any(as_array(found[6 + load, 6 + load], omega))
    ]


class Still(NamedTuple):
    """Effects of rigid supports at all frequencies, by the numbers of ports; -6 to -1 are motions of the ground.

    Attributes
    ----------
    held
        Ports that supports fix, directly or through rigid parts.
    apart
        Pairs, the smaller number first, of ports neither of which moves under a load at the other, or of a motion of
        the ground and a port that does not follow it.
    """

    held: frozenset[int] = frozenset()
    apart: frozenset[tuple[int, int]] = frozenset()

    def part(self, one: int, other: int) -> bool:
        """Return whether two ports, which may be the same, do not move under a load at the other."""
        pair = (min(one, other), max(one, other))
        return pair in self.apart or bool(self.held.intersection(pair))


def off_axis(system: SpatialSystem) -> Numbers:
    """Return frequencies that are no resonances."""
    return OFF_AXIS if system.at_rest is None else OFF_AXIS[:_MODERATE]


def still_loads(system: SpatialSystem) -> Still:
    """Return the ports that rigid supports fix, and those that they part: from frequencies that are no resonances."""
    if not system.rigid:
        return Still()
    omega = off_axis(system)
    held, apart = set(), set()
    with np.errstate(all="ignore"):
        free = _without_rigid_supports(system, omega)[0]
        left, terms = supported(free, system.rigid)
        sizes = cancelled(free, system.rigid)
        for i in range(6, left.size):
            own, whole, most = (
                size_of(x + 0.0 * omega) for x in (left[i, i], free[i, i], terms[i])
            )
            # a sum of squares over modes; the second is for supports that are oblique to the port and act in other
            # directions as well
            if own[0] <= max(_HELD * whole[0], _ROUNDING * most[0]):
                held.add(i - 6)
            for j in range(i):
                size = size_of(left[j, i] + 0.0 * omega)
                # the highest frequencies overflow in large arms
                if not (np.isnan(size[0]) or np.any(size > APART * sizes[j, i])):
                    apart.add((j - 6, i - 6))
    return Still(frozenset(held), frozenset(apart))


def _infinite(system: SpatialSystem, omega: Numbers, values: Numbers, still: Still) -> Any:
    """Return a mask of infinite values, from values at nearby frequencies."""
    beside = _with_digits(system, around(omega)[omega.size :], still)[0]
    return infinite_among(values, *np.split(beside, 3, axis=-1))


def _counts_tell(system: SpatialSystem) -> bool:
    """Return whether the natural frequencies of the arm without rigid supports are all where a quantity is infinite."""
    damped = system.loss_factor is not None or system.kelvin_voigt_time is not None
    damped |= any(damper for link in system.links for damper in link.dampers)
    held = system.rigid > 0 or system.quantity not in OF_RECEPTANCES
    return not (damped or held or system.at_rest is not None)


def _has_free_joints(system: SpatialSystem) -> bool:
    """Return True if a joint is free; its denominator is small near a resonance without growth of numbers."""
    return any(is_free(spring) for link in system.links for spring in link.entries.springs)


def _with_digits(
    system: SpatialSystem, omega: Numbers, still: Still, asked: bool = False
) -> tuple[Any, Told]:
    """Return the quantity of a system, by `circle_means` where digits are lost, and what denominators tell."""
    motions, told = _motions_in_blocks(system, omega, still, asked)
    lost = np.flatnonzero(~(told.growth < LARGE_GROWTH))

    def motions_at(_: Numbers, moved: Numbers) -> Any:
        return _motions_in_blocks(system, moved, still)[0]

    for some in _blocks(lost):
        values, growth = motions[..., some], told.growth[some]
        motions[..., some] = kept_digits(motions_at, values, growth, omega[some])
    return in_quantity(system.quantity, system.inputs, system.outputs, motions, omega), told


def _in_blocks(system: SpatialSystem, omega: Numbers, still: Still) -> tuple[Any, Floats]:
    """Return the quantity of a system as the recursion gives it, and the growth of numbers."""
    motions, told = _motions_in_blocks(system, omega, still)
    return in_quantity(system.quantity, system.inputs, system.outputs, motions, omega), told.growth


def _motions_in_blocks(
    system: SpatialSystem, omega: Numbers, still: Still, asked: bool = False
) -> tuple[Any, Told]:
    """Return motions (read, inputs, F) of the ports that are read at any number of frequencies, and what is told.

    Counts only if ``asked``.
    """
    motions, growth, below = [], [], []
    for some in _blocks(omega):
        found, told = condensed_in_space(system, some, still.held, asked)
        motions.append(_read(system, found, some, still))
        growth.append(told.growth)
        if told.below is not None:
            below.append(told.below)
    whole = Told(np.concatenate(growth), np.concatenate(below) if asked else None)
    return np.concatenate(motions, axis=-1), whole


class Parted(NamedTuple):
    """Masks of motions (read, inputs, 1) that are nothing at all frequencies, and of their derivatives.

    A motion may be nothing in one posture alone; ``slopes`` has a first axis for the directions.
    """

    values: Bools
    slopes: Bools


def dual_motions(system: SpatialSystem, omega: Dual, parted: Parted | None) -> Dual:
    """Return motions (read, inputs, F) with derivatives, the one by the frequency last."""
    left, _ = supported(_dual_stiffness(system, omega), system.rigid)
    found = _read(system, left, omega, Still())
    if parted is None:
        return found
    return Dual(
        np.where(parted.values, 0.0, found.value), np.where(parted.slopes, 0.0, found.slopes)
    )


def _dual_stiffness(system: SpatialSystem, omega: Dual) -> Symmetric:
    """Return stiffness and loads at the ground, those of rigid supports last, with derivatives."""
    if system.at_rest is not None:
        return LoadedRecursion(system.at_rest, system.size, system.rigid, omega).symmetric()
    *_, last = _inward(system, omega, 1.0)
    return last.added.stiffness


def parted_motions(plain: SpatialSystem, system: SpatialSystem, omega: Dual) -> Parted | None:
    """Return what rigid supports part, of a system and the same with derivatives, at `off_axis` as dual numbers."""
    if not (plain.rigid and plain.inputs):
        return None
    still, read = still_loads(plain), read_ports(plain.quantity, plain.inputs, plain.outputs)
    with np.errstate(all="ignore"):
        w = _dual_stiffness(system, omega)
        reactions, _ = reactions_of(w, system.rigid)
        slopes = dual_motions(system, omega, None).slopes
        nothing = np.zeros(slopes.shape[:3], bool)
        values = np.zeros((*slopes.shape[1:3], 1), bool)
        for k, into in enumerate(plain.inputs):
            for o, out in enumerate(read):
                load, moved = plain.loads.index(out), list(_moved_rows(plain, into))
                values[o, k] = all(still.part(load, row - 6) for row, _ in moved)
                terms = total(
                    size_of(x) * reactions.cancelled_slopes(6 + load, row, w[6 + load, row])
                    for row, x in moved
                )
                nothing[:, o, k] = ~np.any(size_of(slopes[:, o, k]) > APART * terms, axis=-1)
    return Parted(values, nothing[..., None])


def growth_in_space(system: SpatialSystem, omega: Numbers) -> Floats:
    """Return the approximate ratio of intermediate numbers to results, shape (F,)."""
    with np.errstate(all="ignore"):
        return condensed_in_space(system, omega, still_loads(system).held)[1].growth


def _read(system: SpatialSystem, found: Symmetric, omega: Any, still: Still) -> Any:
    """Return motions (read, inputs, F) of the ports that are read, from stiffness and loads at the ground."""
    columns = []
    for into in system.inputs:
        rows = []
        for out in read_ports(system.quantity, system.inputs, system.outputs):
            load = system.loads.index(out)
            moved = [x for x in _moved_rows(system, into) if not still.part(x[0] - 6, load)]
            motion = -sum((found[row, 6 + load] * x for row, x in moved), start=NOTHING)
            rows.append(as_array(motion, omega))
        columns.append(np.stack(rows))
    return np.stack(columns, axis=1)


def condensed_in_space(
    system: SpatialSystem,
    omega: Numbers,
    held: frozenset[int] = frozenset(),
    asked: bool = False,
) -> tuple[Symmetric, Told]:
    """Return stiffness and loads at the ground, and what denominators tell of loads that are not held."""
    w, told = _without_rigid_supports(system, omega, asked)
    if system.rigid:
        w, terms = supported(w, system.rigid)
        ground = {row for each in system.base_motions for row, _ in _moved_rows(system, each)}
        loads = [6 + load for load in range(len(system.loads)) if load not in held]
        growth = told.growth
        for i in (*sorted(ground), *loads):
            if w[i, i] is not NOTHING:
                growth = np.maximum(growth, terms[i] / size_of(w[i, i] + 0.0 * omega))
        told = told._replace(growth=growth)
    return w, told


def _without_rigid_supports(
    system: SpatialSystem, omega: Numbers, asked: bool = False
) -> tuple[Symmetric, Told]:
    """Return stiffness and loads at the ground, those of rigid supports last, and what denominators tell."""
    if system.at_rest is not None:
        found = LoadedRecursion(system.at_rest, system.size, system.rigid, omega)
        return found.symmetric(), Told(found.growth)
    growth, squared = np.zeros(omega.shape), omega * omega
    below = clamped_below(system.sections, system.theory, omega) if asked else None
    for each in _inward(system, omega, 1.0):
        growth = np.maximum(growth, each.growth(squared))
        below = None if below is None else below + each.below(omega.shape)
    return each.added.stiffness, Told(growth, below)


def _moved_rows(system: SpatialSystem, into: Port) -> Iterator[tuple[int, Any]]:
    """Yield the rows that an input moves, each with its share: that of the load, or of directions of the ground."""
    if into.place != "base":
        yield 6 + system.loads.index(into), 1.0
        return
    for row, x in enumerate(system.base_motions[into]):
        if x is not NOTHING:
            yield row, x


def characteristic_in_space(system: SpatialSystem, omega: Numbers, share: Any) -> Any:
    """Return the logarithm of the characteristic determinant at complex frequencies, shape (F,).

    Positive factors are left out. ``share`` scales the damping, one number per frequency.
    """
    total: Any = np.zeros(omega.shape, complex)
    for factor in characteristic_factors(system, omega, share):
        total = total + np.log(factor + 0j)
    return total


def characteristic_factors(system: SpatialSystem, omega: Any, share: Any = 1.0) -> list[Any]:
    """Return the factors of the characteristic determinant, except positive ones, as numbers or arrays (F,)."""
    factors: list[Any] = []
    if system.at_rest is not None:
        found = LoadedRecursion(system.at_rest, system.size, system.rigid, omega, share)
        return found.factors + _factors_of_supports(found.symmetric(), system.rigid)
    for each in _inward(system, omega, share):
        factors += [plane.delta for plane in each.planes]
        factors += [release.factor for release in each.added.releases]
        factors += each.added.pivots
        for plain, spring in zip(each.link.entries.springs, each.springs, strict=True):
            if spring is not plain and not is_free(plain):
                # the pivot of a damped spring has a pole where its complex stiffness vanishes
                factors.append(1.0 / (spring.compliance * stiffness_of(plain)))
    return factors + _factors_of_supports(each.added.stiffness, system.rigid)


def _factors_of_supports(w: Symmetric, rigid: int) -> list[Any]:
    held = range(w.size - rigid, w.size)
    return support_pivots([[-w[s, t] for t in held] for s in held])


def _inward(system: SpatialSystem, omega: Any, share: Any) -> Iterator[Passed]:
    """Yield the links from the tip to the ground; ``omega`` may be complex, ``share`` scales the damping."""
    squared = omega * omega
    members = None if system.sections is None else _known_members(system, omega, share)
    w = Symmetric([NOTHING] * len(places(system.size)))
    for link in reversed(system.links):
        planes, springs = link.planes(members), list(_damped(link, omega * share))
        entries = link.entries._replace(springs=springs)
        with_terms = not isinstance(omega, Dual)
        added = before_joint(entries, planes, squared, w, 0, with_terms, link.loads)
        if link is not system.links[0] or system.base_motions or system.rigid:
            added = added._replace(stiffness=to_previous(added.stiffness, entries, omega))
        w = added.stiffness
        yield Passed(link, planes, springs, added)


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
    if alone or omega.size > _BLOCK:
        return _members(system, omega, share)
    key = omega.dtype.char.encode() + omega.tobytes()
    if key not in system.known:
        found = _members(system, omega, share)
        if len(system.known) >= _KEPT:
            return found
        system.known[key] = found
    return system.known[key]


def _members(system: SpatialSystem, omega: Any, damped: Any) -> FreeEndMember:
    """Return the flexible links in both planes, each field of shape (2, links, F)."""
    s = system.sections
    assert s is not None
    share: Any = 0.0
    if system.loss_factor is not None:
        share = share + system.loss_factor
    if system.kelvin_voigt_time is not None:
        share = share + omega * system.kelvin_voigt_time
    if not isinstance(share, float):
        factor = 1.0 + 1j * (share * damped)
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
