"""What sits on links in the plane: bodies and offsets at their ends, rotors of their joints.

This is the one home of their fields: names, and which number means what. Other modules take a `Body`, a `Rotor` or an
offset from a `WithParts`, and ask it for what they need.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from jaxmodal.runtime.namespace import Array, xp

#: bodies on the axis of a joint, beyond its springs and before them, and at the tip of a link
HUB = ("hub_mass", "hub_inertia")
STATOR = ("stator_mass", "stator_inertia")
TIP = ("tip_mass", "tip_inertia", "tip_moment_x", "tip_moment_y")
#: the two of these that are fields of a link itself
BODY = TIP[:2]
#: rotor of a joint, and what it brings to the equations (`Rotor.reflected`)
ROTOR = ("rotor_inertia", "gear_ratio")
REFLECTED = ("relative_inertia", "driven_inertia", "carried_inertia")
#: the springs of a joint along and across its link
SLIDES = ("joint_axial_stiffness", "joint_shear_stiffness")
#: the start of a link as seen from its joint, and its tip as seen from its end; along the link and to its left
BASE_OFFSET = ("base_offset_x", "base_offset_y")
END_OFFSET = ("end_offset_x", "end_offset_y")
#: what changes sign in a mirror image of the arm
ASIDE = (BASE_OFFSET[1], END_OFFSET[1], TIP[3])

Offset = tuple[Any, Any]


class Body(NamedTuple):
    """Bodies fixed at one end of links: mass in kg, inertia about that point in kg m^2, first moments in kg m.

    Values are numbers of any arithmetic or arrays over the links; the moments are None if no link has any. Motions are
    those of the point, (u, v, psi) and further fields along the second axis of an array (n, ...).
    """

    mass: Any
    inertia: Any
    moment_x: Any = None
    moment_y: Any = None

    def along(self, fields: Array) -> Body:
        """Return values that broadcast with one of the fields."""
        more = (1,) * (fields.ndim - 2)
        return Body(*(None if x is None else x.reshape(x.shape + more) for x in self))

    def times(self, factor: Any) -> Body:
        return Body(*(None if x is None else factor * x for x in self))

    def opposed(self) -> Body:
        """Return values with which all terms of `momentum` are negative for positive motions."""
        mass, inertia, x, y = self
        more = () if x is None else (-xp.abs(x), xp.abs(y))
        return Body(-mass, -inertia, *more)

    def momentum(self, fields: Array) -> Array:
        """Return ``M d``, (n, 3, ...), for values `along` the fields."""
        u, v, psi = fields[:, 0], fields[:, 1], fields[:, 2]
        found = [self.mass * u, self.mass * v, self.inertia * psi]
        if self.moment_x is not None:
            found[0] = found[0] - self.moment_y * psi
            found[1] = found[1] + self.moment_x * psi
            found[2] = found[2] + self.moment_x * v - self.moment_y * u
        return xp.stack(found, axis=1)

    def products(self, a: Array, b: Array) -> Body:
        """Return the derivatives of ``a M b`` by the values, for two motions (n, 6)."""
        found = [a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1], a[:, 2] * b[:, 2]]
        if self.moment_x is not None:
            found += [mutual(a, b, 1), -mutual(a, b, 0)]
        return Body(*found)

    def form(self, a: Array, b: Array) -> Array:
        """Return ``a M b`` of two motions (n, 6)."""
        pairs = zip(self, self.products(a, b), strict=True)
        terms = [x * y for x, y in pairs if x is not None]
        return sum(terms[1:], start=terms[0])

    def centre(self) -> Offset:
        """Return the place of the centre of gravity; the point itself for a body without mass."""
        if self.moment_x is None:
            nothing = xp.zeros_like(self.mass)
            return nothing, nothing
        mass = xp.where(self.mass > 0.0, self.mass, 1.0)
        return self.moment_x / mass, self.moment_y / mass

    def at_centre(self, fields: Array) -> tuple[Array, Array]:
        """Return the motion of the centre of gravity and its masses, (n, 3) each."""
        u, v, psi = fields[:, 0], fields[:, 1], fields[:, 2]
        inertia = self.inertia
        if self.moment_x is not None:
            along, across = self.centre()
            u, v = u - across * psi, v + along * psi
            inertia = inertia - self.mass * (along * along + across * across)
        masses = xp.stack([self.mass, self.mass, inertia], axis=-1)
        return xp.stack([u, v, psi], axis=-1), masses


def mutual(a: Array, b: Array, field: int) -> Array:
    """Return the rotation of one motion times a field of the other, plus the reverse; a, b of shape (n, 6)."""
    return a[:, field] * b[:, 2] + b[:, field] * a[:, 2]


class Rotor(NamedTuple):
    """Rotors of joints: inertia about the axis in kg m^2, and turns for one of the joint."""

    inertia: Any
    ratio: Any

    def reflected(self) -> tuple[Any, Any, Any]:
        """Return the values of `REFLECTED`: ``N (N - 1) J``, ``N J`` and ``(1 - N) J``."""
        inertia, ratio = self
        return ratio * (ratio - 1.0) * inertia, ratio * inertia, (1.0 - ratio) * inertia

    def turns(self, moved: Motions) -> Array:
        """Return the rotation of the rotors, rad, (n,)."""
        before = moved.before[:, 2]
        return before + self.ratio * (moved.joint[:, 2] - before)


def named(names: tuple[str, ...], values: Iterable[Any]) -> dict[str, Any]:
    """Return the values of a part by the names of its fields, without those that are None."""
    return {name: x for name, x in zip(names, values, strict=False) if x is not None}


def part_of(record: Any, names: tuple[str, ...], absent: float = 0.0) -> tuple[Any, ...] | None:
    """Return the values of a record with these names, ``absent`` for what it lacks; None if it has none of them."""
    found = [getattr(record, name) for name in names]
    if all(x is None for x in found):
        return None
    return tuple(absent if x is None else x for x in found)


class WithParts:
    """What has the fields of this module; None for a part that no link has."""

    @property
    def hub(self) -> Body | None:
        """Bodies beyond the springs of the joints, on their axes."""
        values = part_of(self, HUB)
        return None if values is None else Body(*values)

    @property
    def slides(self) -> tuple[Any, Any]:
        """The springs of the joints along their links and across them."""
        along, across = (getattr(self, name) for name in SLIDES)
        return along, across

    @property
    def base_offset(self) -> Offset | None:
        """The start of the link relative to the axis of its joint."""
        values: Any = part_of(self, BASE_OFFSET)
        return values

    @property
    def end_offset(self) -> Offset | None:
        """The tip of the link, where its body and the next joint are, relative to its end."""
        values: Any = part_of(self, END_OFFSET)
        return values


class Motions(NamedTuple):
    """Motions beyond the joints, at the tips and before the joints, (n, 3), or (n, 6) with further fields."""

    joint: Array
    tip: Array
    before: Array


class ArmParts(WithParts):
    """What has the fields of all links of an arm: one array for each, link 1 first."""

    length: Any

    @property
    def tip(self) -> Body:
        """Bodies at the tips, with the payload and the next joint's stator."""
        return Body(*(getattr(self, name) for name in TIP))

    @property
    def rotor(self) -> Rotor | None:
        """Rotors of the joints, with the gear ratios that act while the arm vibrates."""
        values = part_of(self, ROTOR)
        return None if values is None else Rotor(*values)

    @property
    def start(self) -> Offset:
        """The start of each link as seen from its joint."""
        nothing = xp.zeros_like(self.length)
        return self.base_offset or (nothing, nothing)

    @property
    def end(self) -> Offset:
        """The tip of each link as seen from its end."""
        nothing = xp.zeros_like(self.length)
        return self.end_offset or (nothing, nothing)

    @property
    def reach(self) -> Offset:
        """The tip of each link as seen from its joint."""
        (x, y), (further, aside) = self.start, self.end
        return x + self.length + further, y + aside

    @property
    def hub_or_none(self) -> Body:
        """The hubs, without mass where the arm has none."""
        nothing = xp.zeros_like(self.length)
        return self.hub or Body(nothing, nothing)

    @property
    def rotor_or_none(self) -> Rotor:
        """The rotors, without inertia where the arm has none."""
        nothing = xp.zeros_like(self.length)
        return self.rotor or Rotor(nothing, nothing)

    @property
    def carries_at_joints(self) -> bool:
        """Whether hubs or rotors move with the axes of joints."""
        return self.hub is not None or self.rotor is not None

    def lumped(self, moved: Motions) -> list[tuple[Array, Array]]:
        """Return motions and masses of all bodies and rotors: at tips, at joints, of rotors."""
        found = [self.tip.at_centre(moved.tip)]
        if self.hub is not None:
            found.append(self.hub.at_centre(moved.joint))
        if self.rotor is not None:
            found.append((self.rotor.turns(moved), self.rotor.inertia))
        return found

    def form_at_joints(self, a: Motions, b: Motions) -> Array:
        """Return ``a M b`` of the hubs and rotors of each joint, (n,)."""
        total = xp.zeros_like(self.length) if self.hub is None else self.hub.form(a.joint, b.joint)
        if self.rotor is None:
            return total
        return total + self.rotor.inertia * (self.rotor.turns(a) * self.rotor.turns(b))

    def mass_rates(self, a: Motions, b: Motions) -> dict[str, Array]:
        """Return the derivatives of ``-a M b`` by the values of bodies and rotors, (n,) each, by name."""
        found = named(TIP, self.tip.products(a.tip, b.tip).times(-1.0))
        if self.hub is not None:
            found |= named(HUB, self.hub.products(a.joint, b.joint).times(-1.0))
        if self.rotor is not None:
            inertia, turns = self.rotor.inertia, (self.rotor.turns(a), self.rotor.turns(b))
            relative = [x.joint[:, 2] - x.before[:, 2] for x in (a, b)]
            by_ratio = turns[0] * relative[1] + turns[1] * relative[0]
            found |= named(ROTOR, (-(turns[0] * turns[1]), -(inertia * by_ratio)))
        return found
