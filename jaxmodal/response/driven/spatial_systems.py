"""An arm in space with its ports, ready for any frequency: links in series, their dampers, and the loads."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.dual import Dual, value_of
from jaxmodal.arithmetic.nothing import NOTHING
from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.response.driven.held_tips import STIFF, beside_force
from jaxmodal.response.driven.loaded_chains import LoadedChain
from jaxmodal.response.driven.port_quantities import read_ports
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.driven.spatial_readings import Reading, motion_of_base, reading_of
from jaxmodal.response.driven.stepped_arms import Cell, cells_of, entry, parts_of, with_slopes
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.namespace import to_host
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.preload.model import LoadedModel
from jaxmodal.spatial.stiffness.constants import ReducedLink, Spring, reduced_links
from jaxmodal.spatial.stiffness.link_entries import LinkEntries, LoadEntries
from jaxmodal.spatial.stiffness.matrices import doubles
from jaxmodal.spatial.stiffness.members import Sections, sections_of
from jaxmodal.spatial.stiffness.model import SpatialModel
from jaxmodal.spatial.stiffness.uniform_links import numbers_of


class DrivenLink(NamedTuple):
    """A link or part of a link: its entries, the addresses of its springs, their dampers, and the loads on it.

    ``springs`` and ``dampers`` are empty for the springs of a base; ``place`` is the index of a flexible link among the
    flexible ones.
    """

    entries: LinkEntries
    springs: tuple[str, ...]
    dampers: tuple[Any, ...]
    loads: tuple[LoadEntries, ...]
    place: int | None

    def planes(self, members: FreeEndMember | None) -> list[FreeEndMember]:
        """Return both planes of the link from the members of all flexible links, (2, links, ...).

        Empty for a rigid link.
        """
        if members is None or self.place is None:
            return []
        return [FreeEndMember(*(x[plane, self.place] for x in members)) for plane in range(2)]


@dataclasses.dataclass(frozen=True)
class SpatialSystem:
    """An arm in space, its ports and the quantity between them.

    Attributes
    ----------
    links
        Links from the base to the tip, those of an elastic base first, cut at the stations of ports.
    sections
        Sections of the flexible links, each value of shape (links, 1); None if there are none.
    loss_factor, kelvin_voigt_time
        Damping of the flexible links, shape (links, 1); None if no link has any.
    loads
        The ports with a load or an output, each once, without those of the base.
    gives
        Compliances of the supports whose forces follow the loads: 0 of a rigid one. Under loads these are the rigid
        supports alone.
    base_motions
        Motion of joint 1, (6,), in ground axes, by port of the base.
    known
        Cached members by frequencies, shared with arms in other postures.
    alike, outboard
        The number of outermost links that another posture has as well, and what is cached of them by frequencies.
    part
        Whether the system is the outer part of another one, of which all is read.
    at_rest
        The arm under its loads; None without loads.
    """

    links: tuple[DrivenLink, ...]
    sections: Sections | None
    loss_factor: Any
    kelvin_voigt_time: Any
    theory: Theory
    quantity: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    loads: tuple[Port, ...]
    base_motions: dict[Port, list[Any]]
    gives: tuple[Any, ...] = ()
    known: dict[bytes, FreeEndMember] = dataclasses.field(default_factory=dict, compare=False)
    at_rest: LoadedChain | None = None
    alike: int = 0
    part: bool = False
    outboard: dict[bytes, Any] = dataclasses.field(default_factory=dict, compare=False)

    def sharing(self, other: SpatialSystem | None) -> SpatialSystem:
        """Return the system with what is cached of another one, if the links are the same."""
        if other is None or self.theory != other.theory:
            return self
        own, others = (
            [*(x.sections or ()), x.loss_factor, x.kelvin_voigt_time] for x in (self, other)
        )
        if len(own) != len(others) or not all(map(_alike, own, others)):
            return self
        alike = _links_alike(self.links, other.links)
        return dataclasses.replace(self, known=other.known, outboard=other.outboard, alike=alike)

    @property
    def size(self) -> int:
        """Size of the stiffness with loads, including the six directions."""
        return 6 + len(self.loads) + self.forces

    @property
    def forces(self) -> int:
        """Number of supports whose forces follow the loads."""
        return len(self.gives)

    @property
    def rigid(self) -> bool:
        """Whether a support is rigid."""
        return any(not isinstance(give, Dual) and give == 0.0 for give in self.gives)

    @functools.cached_property
    def read_pairs(self) -> frozenset[tuple[int, int]]:
        """Pairs of loads, the smaller number first, between which a response is read; an input with itself, too."""
        read = read_ports(self.quantity, self.inputs, self.outputs)
        number = {each: place for place, each in enumerate(self.loads)}
        pairs = [(x, y) for x in self.inputs if x in number for y in (x, *read)]
        return frozenset((min(number[x], number[y]), max(number[x], number[y])) for x, y in pairs)


def spatial_system(
    arm: SpatialArm,
    lowered: SpatialModel | LoadedModel,
    quantity: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
) -> SpatialSystem:
    """Return the system of an arm of concrete values with its model.

    ``lowered`` is the model of the arm; for a stepped arm that without steps, and entries that depend on a step are
    dual numbers.
    """
    arm, model = to_host(arm), lowered.bare if isinstance(lowered, LoadedModel) else lowered
    vibrating = lowered.vibrating if isinstance(lowered, LoadedModel) else None
    every = (*inputs, *read_ports(quantity, inputs, outputs))
    loads = tuple(dict.fromkeys(each for each in every if each.place != "base"))
    cells = cells_of(arm)
    parts = _parts(arm.links, loads)
    given = [part.link for part in parts], arm.payload, arm.base_stiffness
    reduced = reduced_links(*given, model.flags, Arithmetic.float64)
    acting = [_acting(_readings(each, cells), parts) for each in loads]
    base = len(reduced) - len(parts)
    links = [_driven(link, None if k < base else parts[k - base]) for k, link in enumerate(reduced)]
    nowhere = LoadEntries([NOTHING] * 6, [NOTHING] * 6, NOTHING)
    links = [
        link._replace(loads=tuple(nowhere if at != k - base else load for at, load in acting))
        for k, link in enumerate(links)
    ]
    bending = [part.link for part in parts if not part.link.rigid]
    sections = sections_of(bending)
    least = np.inf if vibrating is not None else STIFF
    links, gives = _on_supports(links, reduced, sections, least)
    return SpatialSystem(
        links=tuple(links),
        sections=_with_slopes(sections),
        loss_factor=_column(bending, "loss_factor"),
        kelvin_voigt_time=_column(bending, "kelvin_voigt_time"),
        theory=model.flags,
        quantity=quantity,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        loads=loads,
        base_motions={
            each: _entries([motion_of_base(each, one.frames[0]) for one in cells])
            for each in inputs
            if each.place == "base"
        },
        gives=gives,
        at_rest=None if vibrating is None else LoadedChain.of(vibrating.loaded.chain, arm, loads),
    )


def _links_alike(links: Sequence[DrivenLink], others: Sequence[DrivenLink]) -> int:
    """Return how many of the outermost links two arms share, the turn at the inmost joint left out; never all."""
    found = 0
    for x, y in zip(reversed(links[1:]), reversed(others[1:]), strict=False):
        still, same = (
            (each.entries._replace(rotation=[], offset=[]), each.dampers, each.place)
            for each in (x, y)
        )
        if still != same:
            break
        found += 1
        if (x.entries.rotation, x.entries.offset) != (y.entries.rotation, y.entries.offset):
            break
    return found


def _alike(x: Floats | None, y: Floats | None) -> bool:
    return x is y if x is None or y is None else bool(np.array_equal(x, y))


def _on_supports(
    links: Sequence[DrivenLink],
    reduced: Sequence[ReducedLink],
    sections: Sections | None,
    least: float,
) -> tuple[list[DrivenLink], tuple[Any, ...]]:
    """Return the links with a spring for each support, a load for each rigid or stiff one, and the loads' compliances.

    A spring beside a rigid support has no effect on the arm. Without it the arm without its rigid supports swings
    freely at low frequencies, and their forces, found from its responses, have no digits. A support more than ``least``
    times as stiff is such a force, too: its stiffness, added to the others, would leave no digits for what is soft. The
    spring beside is a part of it, and the compliance of the force that of the rest.
    """
    nothing, gives = [NOTHING] * 6, []
    found = list(links)
    for k, link in enumerate(reduced):
        for support in link.supports:
            load, stiffness = [entry(x) for x in support.load], entry(support.root * support.root)
            if stiffness is NOTHING:
                continue
            beside, rigid = _beside(sections, links[k].place, load), not support.unit.any()
            if rigid or value_of(stiffness) > least * beside:
                gives.append(0.0 if rigid else 1.0 / (stiffness - beside))
                stiffness = beside
                found = [
                    one._replace(
                        loads=(
                            *one.loads,
                            LoadEntries(load if at == k else nothing, nothing, NOTHING),
                        )
                    )
                    for at, one in enumerate(found)
                ]
            entries = found[k].entries
            entries = entries._replace(supports=[*entries.supports, (load, stiffness)])
            found[k] = found[k]._replace(entries=entries)
    return found, tuple(gives)


def _beside(sections: Sections | None, place: int | None, load: Sequence[Any]) -> float:
    """Return `beside_force` of a flexible link; of a rigid one that of the softest other, infinite if all are rigid."""
    if sections is None:
        return np.inf
    s = Sections(*(np.real(x[..., :1]).ravel() for x in sections))
    bending = s.youngs_modulus * np.minimum(s.second_moment_y, s.second_moment_z)
    found = beside_force(s.length, bending, all(x is NOTHING for x in load[:3]))
    return float(found.min() if place is None else found[place])


class _Part(NamedTuple):
    """A part of a link: the link, its index from 0, and the share of its length at which the part ends."""

    link: SpatialLink
    owner: int
    end: float


def _parts(links: Sequence[SpatialLink], loads: Sequence[Port]) -> list[_Part]:
    """Return the links, with flexible ones cut at the stations of ports."""
    found = []
    for owner, link in enumerate(links):
        stations = {
            each.station for each in loads if (each.place, each.link) == ("link", owner + 1)
        }
        ends = sorted({x for x in stations if x is not None and 0.0 < x < 1.0} | {1.0})
        if link.rigid:
            ends = [1.0]
        shares = np.diff([0.0, *ends])
        pieces = parts_of(link, shares.tolist())
        found += [_Part(piece, owner, end) for piece, end in zip(pieces, ends, strict=True)]
    return found


def _readings(each: Port, cells: Sequence[Cell]) -> list[Reading]:
    """Return the `Reading` of a port in every cell of an arm."""
    owner = -1 if each.link is None else each.link - 1
    return [reading_of(each, one.arm, one.frames[owner]) for one in cells]


def _acting(readings: Sequence[Reading], parts: Sequence[_Part]) -> tuple[int, LoadEntries]:
    """Return the index of the part on which a load acts, and the entries of the load there."""
    reading = readings[0]
    mine = [k for k, part in enumerate(parts) if part.owner == reading.link]
    zero, seen = [NOTHING] * 6, _entries([each.row for each in readings])
    torque = entry(reading.give)
    if not reading.station:
        return mine[0], LoadEntries(zero, seen, torque)
    part = next(k for k in mine if parts[k].end == reading.station)
    return part, LoadEntries(seen, zero, torque)


def _driven(link: ReducedLink, part: _Part | None) -> DrivenLink:
    """Return a link without its supports and loads; ``part`` is None for the springs of a base."""
    size, has_rotor = len(link.springs), link.rotor is not None
    numbers = iter([entry(x) for x in numbers_of(link, size, has_rotor)])
    springs = [] if part is None else _springs(part)
    return DrivenLink(
        entries=LinkEntries.of(numbers, size, has_rotor)._replace(supports=[]),
        springs=tuple(name for name, _ in springs),
        dampers=tuple(damper for _, damper in springs),
        loads=(),
        place=link.place,
    )


def _springs(part: _Part) -> list[tuple[str, Any]]:
    """Return address and damper of the joint springs that `reduced_links` keeps, in its order."""
    link = part.link
    found = [
        (f"joint_spring{number}.stiffness", spring.damping)
        for number, spring in enumerate(link.joint_springs, start=1)
        if not np.all(np.isinf(spring.stiffness))
    ]
    if (link.rotor is not None and np.any(link.rotor.inertia)) or not np.all(
        np.isinf(link.joint_stiffness)
    ):
        found.append(("joint_stiffness", link.joint_damping))
    prefix = f"link{part.owner + 1}."
    return [(prefix + name, _number(damper)) for name, damper in found]


def is_free(spring: Spring) -> bool:
    """Return True for a free joint spring."""
    unit = spring.unit
    return unit is NOTHING or (isinstance(unit, Dual) and not unit.value.any())


def stiffness_of(spring: Spring) -> float:
    """Return the stiffness of a joint spring: 0 if free, inf if rigid."""
    if spring.compliance is NOTHING:
        return np.inf
    return 0.0 if is_free(spring) else spring.unit / spring.compliance


def _column(links: Sequence[SpatialLink], name: str) -> Any:
    values = [getattr(link, name) for link in links]
    if all(value is None for value in values):
        return None
    columns = [doubles(0.0 if value is None else value) for value in values]
    return with_slopes(np.stack(np.broadcast_arrays(*columns))[:, None])


def _number(value: Any) -> Any:
    """Return a value; 0 for None."""
    found = with_slopes(doubles(0.0 if value is None else value))
    return found if isinstance(found, Dual) else float(found)


def _entries(cells: Sequence[Floats]) -> list[Any]:
    """Return the entries of a vector, each for all cells."""
    return [entry(x) for x in np.stack(cells, axis=-1)]


def _with_slopes(sections: Sections | None) -> Sections | None:
    return None if sections is None else Sections(*map(with_slopes, sections))
