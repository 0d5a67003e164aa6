"""An arm in space in many postures in float64, by programs or in NumPy, with everything else computed once.

A rotation is linear in the sine and cosine of its angle, and so is a base offset in rotated axes. Masses, inertias and
the compliances of springs, which may vary as well, are linear in the fields of a link; a gear ratio N has its square in
them, too, each times the inertia of its rotor. At given frequencies the links beyond the last varying one are condensed
once.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, sin_cos
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.resolution import resolved
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.stiffness.condensation import Lanes, beyond_the_tip, condensed_lanes
from jaxmodal.spatial.stiffness.symmetric import Symmetric, shifted, turned
from jaxmodal.spatial.stiffness.uniform_links import TURNED, Layout, layout_of, packed_links
from jaxmodal.statics.link_parts import ROTOR

#: rotation and offset of a link that is not rotated
_NOT_TURNED = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
#: a stiffness whose compliance is negligible
_AS_GOOD_AS_RIGID = 1e300


class Varying(NamedTuple):
    """Values of an arm that vary in addition to angles; springs vary by their compliances.

    Attributes
    ----------
    sets : tuple of tuples
        For each value x the addresses that it sets, each with two numbers: to ``start + slope x``.
    springs : tuple of bool
        Whether each value is a stiffness.
    sizes : np.ndarray, shape (values,)
        A large value of each; for springs a compliance.
    """

    sets: tuple[tuple[tuple[str, float, float], ...], ...] = ()
    springs: tuple[bool, ...] = ()
    sizes: np.ndarray = np.empty(0)

    def columns(self, cells: int) -> dict[str, np.ndarray]:
        """Return columns of all values by address, for a number of cells and further ones, by which `shares` are found.

        All values are 0, or rigid for springs, except that each has its size in its own further cell, a gear ratio 1
        and -1 in two of them, beside the size of the inertia of its rotor if that varies.
        """
        probes, found = self._probes, {}
        for number, (sets, spring) in enumerate(zip(self.sets, self.springs, strict=True)):
            size = float(self.sizes[number])
            for address, start, slope in sets:
                # a base cannot have an infinite stiffness, but a very large one
                rigid = _AS_GOOD_AS_RIGID if address.startswith("base_stiffness.") else np.inf
                column = np.full(cells + len(probes), rigid if spring else start)
                for place, probe in enumerate(probes):
                    if number in probe:
                        own = probe[number] * size
                        column[cells + place] = 1.0 / own if spring else start + slope * own
                found[address] = column
        return found

    @property
    def _probes(self) -> list[dict[int, float]]:
        """Return for each further cell the values that are not 0 there, in units of their sizes."""
        found = list[dict[int, float]]()
        for number in range(len(self.sets)):
            rotor = self._rotor_of(number)
            if rotor is None:
                found.append({number: 1.0})
            else:
                one = 1.0 / float(self.sizes[number])
                found += [{number: sign * one} | dict.fromkeys(rotor, 1.0) for sign in (1.0, -1.0)]
        return found

    def _rotor_of(self, number: int) -> list[int] | None:
        """Return for a gear ratio the value that is the inertia of its rotor, in a list; None for other values."""
        link, _, field = self.sets[number][0][0].partition(".")
        if field != ROTOR[1]:
            return None
        inertia = f"{link}.{ROTOR[0]}"
        return [k for k, sets in enumerate(self.sets) if inertia in {each[0] for each in sets}]

    def shares(self, fields: np.ndarray) -> list[tuple[tuple[int, ...], np.ndarray]]:
        """Return what each product of values, given by their numbers, adds to fields, (fields, links).

        ``fields`` (fields, links, cells) are those of `columns`, of one cell and the further ones.
        """
        found, probes = list[tuple[tuple[int, ...], np.ndarray]](), self._probes
        at = {
            number: 1 + k for k, probe in enumerate(probes) for number in probe if len(probe) == 1
        }
        place = 1
        for number, size in enumerate(self.sizes.tolist()):
            rotor = self._rotor_of(number)
            if rotor is None:
                found.append(((number,), (fields[..., place] - fields[..., 0]) / size))
                place += 1
                continue
            without = fields[..., at[rotor[0]] if rotor else 0]
            of = float(self.sizes[rotor[0]]) if rotor else 1.0
            plus, minus = fields[..., place], fields[..., place + 1]
            found.append(((*rotor, number), 0.5 * (plus - minus) / of))
            found.append(((*rotor, number, number), (0.5 * (plus + minus) - without) / of))
            place += 2
        return found

    def places(self, arm: SpatialArm, flags: Theory) -> list[int]:
        """Return the index of the link whose constants depend on each value.

        It is 0 for values of the base and for values without effect.
        """
        model = arm.with_values(self.columns(1)).model_of_cells(flags)
        known, cells = model.constants(), 1 + len(self._probes)
        packed = packed_links(*known, layout_of(known.links), cells, cells)
        found = [0] * len(self.sets)
        for numbers, share in self.shares(packed):
            last = int(np.max(np.flatnonzero(np.any(share, axis=0)), initial=0))
            found[numbers[-1]] = max(found[numbers[-1]], last)
        return [max(0, place - (packed.shape[1] - arm.num_links)) for place in found]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class TurnedLanes:
    """An arm with varying joint angles and other values, at given frequencies and in given rounding variants.

    Attributes
    ----------
    packed : Array, shape (fields, links, 1, 1, 1)
        From `uniform_links.packed_links`, without the varying values: the links up to the last one with a varying angle
        or value. The last link with a varying angle has no rotation and offset.
    turns : Array, shape (joints, 3, 12)
        For each joint the constant part, the factor of the cosine, and the factor of the sine of its angle.
    shares : Array, shape (entries,)
        Derivatives of fields by products of values: a field is that of ``packed`` plus these times the products.
    omega : Array, shape (F, 1)
        Frequencies in rad/s.
    ways : Array, shape (2, W, 1, 1)
        Rounding variants, as for `entries.with_link`.
    entries, tally : Array, shapes (21, W, F, 1) and (3, W, F, 1)
        The condensed part outboard of these links.
    flags, layout, places : Theory, Layout and tuple of int
        The theory, the layout of the fields, and the indices of the joints among the links, ascending.
    springs : tuple of bool
        Whether each value is a stiffness, which enters by its compliance.
    in_fields : tuple of (int, int, tuple of int)
        Field, link, and indices of the values in the product for each of ``shares``.
    """

    packed: Array
    turns: Array
    shares: Array
    omega: Array
    ways: Array
    entries: Array
    tally: Array
    flags: Theory
    layout: Layout = dataclasses.field(metadata={"static": True})
    places: tuple[int, ...] = dataclasses.field(metadata={"static": True})
    springs: tuple[bool, ...] = dataclasses.field(metadata={"static": True})
    in_fields: tuple[tuple[int, int, tuple[int, ...]], ...] = dataclasses.field(
        metadata={"static": True}
    )

    def evaluate(self, places: Array) -> Evaluation:
        """Return determinant and count for cells, shape (W, F, cells); ``places`` are angles, then values."""
        angles, values = places[: len(self.places)], places[len(self.places) :]
        moved = {}
        for place, angle, (constant, cosines, sines) in zip(
            self.places, angles, self.turns, strict=True
        ):
            ((sine, cosine, _),) = sin_cos(xp.abs(angle))
            sine, cosine = (
                x.reshape(1, 1, 1, -1) for x in (xp.where(angle < 0.0, -sine, sine), cosine)
            )
            wide = (TURNED, 1, 1, 1)
            moved[place] = (
                constant.reshape(wide) + cosines.reshape(wide) * cosine + sines.reshape(wide) * sine
            )
        state: Lanes = [*self.entries], (self.tally[0], self.tally[1], self.tally[2])
        last = self.places[-1] if self.places else 0
        state = self._added(last, self.packed.shape[1], {}, values, state)
        if self.places:
            w = turned(Symmetric([*state[0]]), [*moved[last][:9]])
            w = shifted(w, [*moved[last][9:]]).kept()
            shape = w.entries[0].shape
            first, second, third = (xp.broadcast_to(x, shape) for x in state[1])
            state = w.entries, (first, second, third)
            state = self._added(0, last, moved, values, state)
        sign, log_abs, count = state[1]
        return Evaluation(sign, log_abs, count, 0.0 * log_abs)

    def _added(
        self, first: int, end: int, moved: dict[int, Array], values: Array, outboard: Lanes
    ) -> Lanes:
        """Add the links from ``first`` to before ``end`` to the part outboard, with the values of the cells.

        ``moved`` holds the rotations and offsets of links with varying angles.
        """
        if first >= end:
            return outboard
        fields = {field for field, link, _ in self.in_fields if first <= link < end}
        changed = (*(range(TURNED) if moved else ()), *sorted(fields))
        shape = (1, 1, values.shape[1])
        rows = [
            [self._field(k, field, moved, values, shape) for field in changed]
            for k in range(first, end)
        ]
        # the part outboard has one entry for all cells, or one for each
        wide = xp.zeros(shape)
        entries, (sign, log_abs, count) = outboard
        outboard = [x + wide for x in entries], (sign + wide, log_abs + wide, count + wide)
        given = self.packed[:, first:end], self.layout, self.flags
        lanes = self.omega[None] * np.ones((self.ways.shape[1], 1, 1))
        found: Lanes = condensed_lanes(
            *(*given, lanes, (self.ways[0], self.ways[1]), outboard),
            xp.stack([xp.stack(row) for row in rows]),
            changed,
        )
        return found

    def _field(
        self, link: int, field: int, moved: dict[int, Array], values: Array, shape: Any
    ) -> Array:
        """Return a field of a link in every cell, of the given shape."""
        if field < TURNED and link in moved:
            return xp.broadcast_to(moved[link][field], shape)
        found = xp.broadcast_to(self.packed[field, link], shape)
        for number, (own, place, factors) in enumerate(self.in_fields):
            if (own, place) == (field, link):
                each = [1.0 / values[k] if self.springs[k] else values[k] for k in factors]
                found = found + self.shares[number] * math.prod(each)[None, None]
        return found


class TurnedArm(NamedTuple):
    """An arm with varying joint angles and other values, before a frequency is given.

    Fields are those of `TurnedLanes`, but for ``packed`` (fields, links), which has all links, and ``scales``, by which
    frequencies are resolved.
    """

    packed: np.ndarray
    turns: np.ndarray
    shares: np.ndarray
    scales: np.ndarray
    flags: Theory
    layout: Layout
    places: tuple[int, ...]
    springs: tuple[bool, ...]
    in_fields: tuple[tuple[int, int, tuple[int, ...]], ...]

    @classmethod
    def of(
        cls, arm: SpatialArm, joints: tuple[int, ...], flags: Theory, varying: Varying
    ) -> TurnedArm:
        """Return an arm whose ``joints``, given by their indices among its links, vary, and other values."""
        columns = varying.columns(3)
        angles = np.zeros(max((x.size for x in columns.values()), default=3))
        angles[:3] = 0.0, 0.5 * np.pi, np.pi
        given = {f"link{j + 1}.joint_angle": angles for j in joints} | columns
        model = arm.with_values(given).model_of_cells(flags)
        layout = layout_of(model.constants().links)
        packed = packed_links(*model.constants(), layout, angles.size, angles.size)
        places = tuple(packed.shape[1] - arm.num_links + j for j in joints)
        zero, quarter, half = (packed[:TURNED, list(places), k].T for k in range(3))
        middle = 0.5 * (zero + half)
        turns = np.stack([middle, 0.5 * (zero - half), quarter - middle], axis=1)
        entries = [
            (field, link, numbers, share[field, link])
            for numbers, share in varying.shares(packed[..., [0, *range(3, angles.size)]])
            for field, link in zip(*(x.tolist() for x in np.nonzero(share)), strict=True)
        ]
        shares = np.array([share for *_, share in entries])
        in_fields = tuple((field, link, numbers) for field, link, numbers, _ in entries)
        packed = packed[..., 0].copy()
        packed[:TURNED, list(places[-1:])] = _NOT_TURNED[:, None]
        scales = model.scales[:1]
        return cls(
            *(packed, turns, shares, scales, flags, layout, places, varying.springs, in_fields)
        )

    def at(self, omega: np.ndarray, ways: np.ndarray) -> TurnedLanes:
        """Return its lanes at frequencies (F,) and in rounding variants ``ways`` (W, 2)."""
        # the first link beyond which all are the same in all cells, except for the last varying rotation
        same = max([0, *self.places[-1:], *(link + 1 for _, link, _ in self.in_fields)])
        packed = self.packed[..., None, None, None]
        rounding = ways.T[:, :, None, None]
        at_omega = resolved(self.scales, omega, Arithmetic.float64)[:, None]
        lanes = at_omega * np.ones((len(ways), 1, 1))
        with np.errstate(all="ignore"):
            beyond = condensed_lanes(
                *(packed[:, same:], self.layout, self.flags, lanes, tuple(rounding)),
                beyond_the_tip(lanes),
            )
        outer, tally = (np.stack(x) for x in beyond)
        return TurnedLanes(
            *(packed[:, :same], self.turns, self.shares, at_omega, rounding, outer, tally),
            *(self.flags, self.layout, self.places, self.springs, self.in_fields),
        )
