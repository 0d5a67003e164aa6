"""The determinant of an arm in space in some joint angles, of each of which it is a trigonometric polynomial.

Its degree is 4. Beyond a joint six independent solutions of twelve enter the determinant as a product of six; a
rotation turns each with weights -1, 0 and 1, four of each, so that the product has weights up to 4. In the values of
`values_in_space` it is a polynomial as well.

A support stays where it is, so that a joint between it and the ground turns the arm against it. The springs along
directions of the ground at one tip are a further factor, a product of three out of its three motions and three forces,
in which a spring has its force in the place of its motion. One force is a vector, and so are the two motions that are
left, by what is normal to both; the same holds of two forces and one motion. A rotation turns two vectors with weights
up to 2. So these springs add 2 to the degree of each such joint, however many they are, and those about directions at
this tip 2 more. Joints beyond the tip keep 4.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np

from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.arithmetic.operations import Arithmetic, Number, leading
from jaxmodal.arm.descriptions import Jointed, first_angle_matters
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, theory_flags, waves_at
from jaxmodal.dynamic_stiffness.evaluation import CERTAIN
from jaxmodal.frequencies.resolution import resolved
from jaxmodal.postures.harmonics import Determinant
from jaxmodal.postures.polynomial_values import Quantity, Ranges
from jaxmodal.postures.terms import IN_SPACE, Terms
from jaxmodal.postures.value_nodes import fitted
from jaxmodal.postures.values_in_space import shares_of
from jaxmodal.runtime.devices import available_cores
from jaxmodal.runtime.namespace import Array, product, xp
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.search.turned_lanes import TurnedLanes, Varying
from jaxmodal.spatial.stiffness.condensation import Condensed, condensed

_DD = Arithmetic.double_double
#: cells from which on a table pays that takes half a second, one, and ten, by how many joints vary, for each
#: coefficient of what varies beside them
_ENOUGH = {0: 300.0, 1: 300.0, 2: 1000.0, 3: 70_000.0}
#: the logarithm of 2
_LN2 = 0.6931471805599453, 2.3190468138462996e-17
#: lanes of double-double side by side in NumPy
_LANES = 512
#: the same of counts in float64
_COUNTED = 2048
#: what evaluations in double-double may have rounded at most (relative, of omega^2): that is an estimate some thousand
#: times too large. Near resonances of links that are alike it is more, and nodes there are moved
_DIGITS = 1e-13
#: a count is certain where what is rounded, moved to and fro, moves D by less than this
_NOISE = 1e-4
#: what is added to that: two may be equal
_LEAST = 2.0**-52
#: the ways to round of a count: both have to find the same
_WAYS, _USUAL = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros((1, 2))


def has_series_in_space(arm: SpatialArm) -> bool:
    """Whether the arm has a series: no free joint, support, axial force or loads, and not all links are rigid."""
    if arm.is_solved_alone:
        return False
    model = arm.model("euler_bernoulli")
    return model.zero_frequencies == 0 and model.sections is not None


def degree_of(arm: SpatialArm, joint: int) -> int:
    """The degree of D in the angle of the joint of a link, from 0; of an arm with supports no more than this.

    Stiffnesses may be of many cells: a support counts if it is one in any of them.
    """
    moved = arm.links[joint:]  # by the joint, with their tips
    kinds = [{s.kind for s in link.supports if np.any(s.stiffness)} for link in moved]
    return IN_SPACE.degree + 2 * sum(map(len, kinds))


def turning(arm: Jointed, joints: Sequence[int]) -> tuple[int, ...]:
    """Those of the joints, ascending, whose angles change frequencies; the first turns all, but against the ground."""
    first = 0 if first_angle_matters(arm) else 1
    return tuple(sorted(j for j in joints if j >= first))


def enough_in_space(joints: int) -> float:
    """Cells that pay for the table of so many joints; of more than there are tables for, none do."""
    return _ENOUGH.get(joints, math.inf)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class CounterInSpace:
    """See `expansions.Counter`."""

    lanes: TurnedLanes
    joints: tuple[int, ...] = dataclasses.field(metadata={"static": True})
    terms: Terms = dataclasses.field(metadata={"static": True})

    def count(self, places: Array) -> tuple[Array, Array]:
        """Certain where two ways to round count alike, with signs that say so too, and change D by little."""
        e = self.lanes.evaluate(places)
        count = e.count[0]
        sign = 1.0 - 2.0 * (count - 2.0 * xp.floor(0.5 * count))
        agrees = xp.all((e.count == count[None]) & (e.sign == sign[None]), axis=0)
        moved = xp.abs(e.log_abs[0] - e.log_abs[-1])
        clear = xp.where(agrees, _NOISE / (moved + _LEAST), 0.0)
        return xp.where(clear > 1.0, count, -1.0), clear


class ExpansionInSpace:
    """Of an arm in space, some of whose joints and values vary; see `expansions.Expansion`."""

    def __init__(
        self,
        arm: SpatialArm,
        joints: tuple[int, ...],
        theory: TheoryName,
        quantities: tuple[Quantity, ...] = (),
        ranges: Ranges | None = None,
    ) -> None:
        self._arm, self._joints = arm, joints
        self._model = arm.model_of_cells(theory_flags(theory))
        self._quantities, self._ranges = quantities, ranges
        self._varying = Varying()
        if ranges is not None:
            springs = tuple(q.spring for q in quantities)
            sizes = np.maximum(np.abs(ranges.low), np.abs(ranges.high))
            self._varying = Varying(tuple(q.sets for q in quantities), springs, sizes)

    @property
    def terms(self) -> Terms:
        return dataclasses.replace(IN_SPACE, powers=tuple(q.degree for q in self._quantities))

    @property
    def joints(self) -> tuple[int, ...]:
        return self._joints

    @property
    def in_space(self) -> bool:
        return True

    @property
    def ranges(self) -> Ranges | None:
        return self._ranges

    @property
    def scale(self) -> float:
        return float(self._model.scale)

    def counter(self, omega: np.ndarray) -> CounterInSpace:
        return CounterInSpace(self._lanes(omega, _WAYS), self._joints, self.terms)

    def _lanes(self, omega: np.ndarray, ways: np.ndarray) -> TurnedLanes:
        given = self._arm, self._joints, self._model.flags, omega, ways, self._varying
        return TurnedLanes.of(*given)

    def turns(self, omega: np.ndarray) -> np.ndarray:
        """Of bending in both planes, stretching and torsion."""
        beams, flags = self._model.constants().beams, self._model.flags
        if beams is None:
            return np.zeros(omega.shape)
        w = waves_at(beams.planes, omega[:, None])
        axial = np.array([float(flags.axial), 1.0])[:, None, None, None]
        above = np.where(w.z1 < 0.0, w.alpha, 0.0)
        return np.asarray(np.sum(w.beta + w.mu * axial + above, axis=(0, 1, 3)) / np.pi)

    def coefficients(self, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """From the tip to the base: what lies beyond a joint is condensed for the angles of the joints out there."""
        terms, joints = self.terms, len(self._joints)
        grid, to_coefficients = terms.sampling(joints)
        one = grid[joints - 1, : terms.points] if joints else np.empty(0)
        found, last = Condensed.nothing(omega.size, _DD), self._arm.num_links
        # axes of the cells, from that on which they follow one another: numbers of values, and -1 - k of joint k
        axes, sizes = dict[int, np.ndarray](), list[int]()
        for number, joint in enumerate((None, *self._joints[::-1])):
            inner = self._joints[::-1][number] + 1 if number < joints else 0
            # values of several links, whose axis there is, go on
            known = [k for k in axes if k >= 0 and len(self._quantities[k].parts) > 1]
            own = [k for k, place in enumerate(self._places) if inner <= place < last]
            axes |= {k: self._nodes[k] for k in own}
            if joint is not None:
                axes[-1 - joint] = one
                own = [*own, -1 - joint]
            here, sizes = dict[str, np.ndarray](), [x.size for x in axes.values()]
            for place, (k, x) in enumerate(axes.items()):
                if k in own or k in known:
                    column = np.repeat(x, math.prod(sizes[:place]))
                    here |= self._named(k, np.tile(column, math.prod(sizes[place + 1 :])))
            found = self._condensed(here, slice(inner, last), omega, found)
            last = inner
        lost = CERTAIN * np.max(found.noise, axis=1) > _DIGITS
        factor = np.where(lost[:, None], np.nan, leading(found.factor))
        factor, growth = _near_one(factor, found.growth)
        # joints ascend, then the values follow, of both the last one fastest
        values, at = range(len(self._places)), [*axes]
        order = [at.index(k) for k in (*values, *(-1 - j for j in self._joints))]
        factor = factor.reshape(omega.size, *sizes[::-1])
        factor = np.transpose(factor, [0, *(len(axes) - k for k in order)])
        rows = product(factor.reshape(-1, len(to_coefficients)), to_coefficients.T)
        rows = rows.reshape(*factor.shape[: 1 + len(values)], -1)
        for k in values:  # the axis of each in its turn
            own_axis = np.moveaxis(rows, 1 + k, -2)
            rows = np.moveaxis(fitted(own_axis, self._shares[k], terms.powers[k]), -2, 1 + k)
        rows = np.moveaxis(rows, -1, 1)
        return rows.reshape(omega.size, -1), growth.hi[:, 0], growth.lo[:, 0]

    def _named(self, number: int, column: np.ndarray) -> dict[str, np.ndarray]:
        """A column of the value of this number, or of the joint -1 - number, by address."""
        if number < 0:
            return {_angle(-1 - number): column}
        return self._quantities[number].columns(column)

    @functools.cached_property
    def _places(self) -> list[int]:
        """Of each value the link, from 0, that it is a part of."""
        return self._varying.places(self._arm, self._model.flags)

    @functools.cached_property
    def _shares(self) -> list[np.ndarray]:
        """Of each value shares of its range that determine the terms."""
        if self._ranges is None:
            return []
        return shares_of(self._arm, self._quantities, self._ranges)

    @functools.cached_property
    def _nodes(self) -> list[np.ndarray]:
        """The values there."""
        found = []
        for k, shares in enumerate(self._shares):
            own = Ranges(*(np.asarray(x)[k : k + 1] for x in self._ranges or ()))
            found.append(own.values(shares[None])[0])
        return found

    def _condensed(
        self, values: Mapping[str, np.ndarray], part: slice, omega: np.ndarray, outboard: Condensed
    ) -> Condensed:
        """Some links of the arm, with values that each take all that is outboard, added to that at frequencies (F,)."""
        model = self._arm.with_values(values).model_of_cells(self._model.flags)
        known, numbers = model.constants(_DD), model.numbers(_DD)
        # springs of a base are in links of their own before the first one
        own = slice(part.start and part.start + self._of_base, part.stop + self._of_base)
        cells = next((x.size for x in values.values()), outboard.passed.shape[1])
        at = resolved(self._model.scales, omega, _DD)[:, None]

        def added(some: np.ndarray) -> Condensed:
            given = known.links[own], numbers[own], known.beams, model.flags, at[some], _DD
            with np.errstate(all="ignore"):
                return condensed(*given, outboard.spread(some, cells), known.links[0])

        blocks = _blocks(omega.size, cells, _LANES)
        with ThreadPoolExecutor(available_cores()) as pool:
            parts = list(pool.map(added, blocks))
        return Condensed.joined(parts)

    @property
    def _of_base(self) -> int:
        return len(self._model.constants().links) - self._arm.num_links

    def determinant(self, omega: np.ndarray, places: np.ndarray) -> Determinant:
        numbers = [*(-1 - joint for joint in self._joints), *range(len(self._quantities))]
        given = dict[str, np.ndarray]()
        for number, column in zip(numbers, places, strict=True):
            given |= self._named(number, column)
        return determinant_in_space(self._arm, self._model.flags, omega, given)

    def counts(self, omega: np.ndarray, places: np.ndarray) -> np.ndarray:
        blocks = _blocks(omega.size, places.shape[1], _COUNTED)
        with np.errstate(all="ignore"):
            found = [self._lanes(omega[x], _USUAL).evaluate(places).count[0] for x in blocks]
        return np.concatenate(found)


def _angle(joint: int) -> str:
    return f"link{joint + 1}.joint_angle"


def determinant_in_space(
    arm: SpatialArm, flags: Theory, omega: np.ndarray, values: Mapping[str, np.ndarray]
) -> Determinant:
    """D and the count J in double-double at frequencies (F,), of an arm with other values (F,) at some addresses.

    In blocks of lanes, over threads.
    """

    def of(some: np.ndarray) -> tuple[np.ndarray, ...]:
        model = arm.with_values({a: x[some] for a, x in values.items()}).model_of_cells(flags)
        known, numbers = model.constants(_DD), model.numbers(_DD)
        supports = [support for link in known.links for support in link.supports]
        at = resolved(model.scales, omega[some][None], _DD)
        beyond = Condensed.nothing(1, _DD, len(supports)).spread(np.zeros(1, int), some.size)
        given = known.links, numbers, known.beams, flags, at, _DD
        with np.errstate(all="ignore"):
            d = condensed(*given, beyond, known.links[0], len(supports)).on(supports)
        growth = d.growth + np.zeros((1, some.size))
        growth = DoubleDouble(growth.hi.T, growth.lo.T)
        factor, growth = _near_one(leading(d.factor).T, growth)
        return (*(x[:, 0] for x in (factor, growth.hi, growth.lo)), d.passed[0], d.noise[0])

    if not omega.size:
        return Determinant(*np.zeros((5, 0)))
    blocks = _blocks(omega.size, 1, _LANES)
    with ThreadPoolExecutor(available_cores()) as pool:
        found = zip(*pool.map(of, blocks), strict=True)
    return Determinant(*map(np.concatenate, found))


def _blocks(size: int, cells: int, lanes: int) -> list[np.ndarray]:
    """Places of so many frequencies in parts, each with about so many lanes of ``cells`` for every frequency."""
    return np.array_split(np.arange(size), min(size, max(1, size * cells // lanes)))


def _near_one(factor: np.ndarray, growth: Number) -> tuple[np.ndarray, Number]:
    """Factors (F, cells) over a power of two of each frequency, whose logarithm joins the growth (F, 1)."""
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(factor), axis=1, keepdims=True)
    power = np.frexp(np.where(np.isfinite(largest), largest, 1.0))[1]
    ln2 = DoubleDouble(np.full(power.shape, _LN2[0]), np.full(power.shape, _LN2[1]))
    return np.ldexp(factor, -power), growth + ln2 * power.astype(np.float64)
