"""The determinant of an arm in space in some joint angles, of each of which it is a trigonometric polynomial.

Its degree is 4. Beyond a joint six independent solutions of twelve enter the determinant as a product of six; a
rotation turns each with weights -1, 0 and 1, four of each, so that the product has weights up to 4. In the values of
`values_in_space` it is a polynomial as well; supports are in `supports_in_space`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np

from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.arithmetic.operations import Arithmetic, Number, leading
from jaxmodal.arm.descriptions import Jointed, first_angle_matters
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, theory_flags, waves_at
from jaxmodal.dynamic_stiffness.evaluation import CERTAIN, Evaluation
from jaxmodal.frequencies.resolution import resolved
from jaxmodal.postures.counters_in_space import CounterInSpace, CounterOnSupports
from jaxmodal.postures.expansions import Counter
from jaxmodal.postures.harmonics import Determinant
from jaxmodal.postures.polynomial_values import Quantity
from jaxmodal.postures.supports_in_space import (
    MORE,
    degree_of,
    on_supports,
    unit_loads,
    without_supports,
)
from jaxmodal.postures.terms import IN_SPACE, Terms
from jaxmodal.postures.value_nodes import fitted_in_turn
from jaxmodal.postures.value_ranges import Ranges
from jaxmodal.postures.values_in_space import is_of_a_support, shares_of
from jaxmodal.runtime.devices import available_cores
from jaxmodal.runtime.namespace import product
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.search.turned_lanes import TurnedArm, Varying
from jaxmodal.spatial.stiffness.condensation import Condensed, condensed
from jaxmodal.spatial.stiffness.constants import ReducedLink
from jaxmodal.spatial.stiffness.matrices import stacked
from jaxmodal.spatial.stiffness.uniform_links import numbers_with_loads

_DD = Arithmetic.double_double
#: cells from which on a table pays that takes half a second, one, and ten, by how many joints vary, for each
#: coefficient of what varies beside them
_ENOUGH = {0: 300.0, 1: 300.0, 2: 1000.0, 3: 70_000.0}
#: the same on supports, where a table of degree 6 takes two seconds, five, and fifteen, and a cell by itself fourteen
#: milliseconds; of higher degrees as many times more as they have terms. And the most terms of angles of a table
_ENOUGH_ON_SUPPORTS, MOST_TERMS = {0: 200.0, 1: 200.0, 2: 500.0, 3: 1200.0}, 5000
#: the logarithm of 2
_LN2 = 0.6931471805599453, 2.3190468138462996e-17
#: lanes of double-double side by side in NumPy
_LANES = 1024
#: the same of counts in float64
_COUNTED = 2048
#: what evaluations in double-double may have rounded at most (relative, of omega^2): that is an estimate some thousand
#: times too large. Near resonances of links that are alike it is more, and nodes there are moved
_DIGITS = 1e-13
#: the ways to round of a count: both have to find the same
_WAYS, _USUAL = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros((1, 2))
#: the same on supports, with relative distances of the frequency: what is rounded in loads is not moved to and fro
_ASIDE = (1, 1e-12), (2, -1e-12)


def has_series_in_space(arm: SpatialArm) -> bool:
    """Whether the arm has a series: no free joint, axial force or loads, and not all links are rigid."""
    bare = without_supports(arm)  # which may hold free joints
    if bare.is_solved_alone:
        return False
    model = bare.model_of_cells(theory_flags("euler_bernoulli"))
    return model.zero_frequencies == 0 and model.sections is not None


def turning(arm: Jointed, joints: Sequence[int]) -> tuple[int, ...]:
    """Those of the joints, ascending, whose angles change frequencies; the first turns all, but against the ground."""
    first = 0 if first_angle_matters(arm) else 1
    return tuple(sorted(j for j in joints if j >= first))


def with_supports_that_vary(arm: SpatialArm, quantities: Sequence[Quantity]) -> SpatialArm:
    """Return the arm with the supports whose stiffnesses vary, which may be 0 in itself."""
    return arm.with_values({a: 1.0 for q in quantities if is_of_a_support(q) for a in q.addresses})


def terms_in_space(arm: SpatialArm, joints: Sequence[int], quantities: Sequence[Quantity]) -> Terms:
    """What D is made of: of all angles the highest degree of them."""
    held = with_supports_that_vary(arm, quantities)
    degree = max((degree_of(held, joint) for joint in joints), default=IN_SPACE.degree)
    return Terms(degree, mirrored=False, powers=tuple(q.degree for q in quantities))


def enough_in_space(
    arm: SpatialArm, joints: Sequence[int], quantities: Sequence[Quantity]
) -> float:
    """Cells that pay for the table of such joints and values; of more than there are tables for, none do."""
    held, number = with_supports_that_vary(arm, quantities), len(joints)
    terms = terms_in_space(arm, joints, quantities).of_angles
    if number not in _ENOUGH or terms.number(number) > MOST_TERMS:
        return math.inf
    values = math.prod(q.degree + 1 for q in quantities)
    if not any(link.supports for link in held.links):
        return _ENOUGH[number] * values
    usual = IN_SPACE.points + 2 * MORE
    return _ENOUGH_ON_SUPPORTS[number] * values * max(1.0, terms.points / usual) ** number


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
        self._arm, self._joints = with_supports_that_vary(arm, quantities), joints
        self._model = arm.model_of_cells(theory_flags(theory))
        self._quantities, self._ranges = quantities, ranges
        self._varying, self._in_links = Varying(), list[int]()
        if ranges is not None:
            sizes = np.abs(ranges.far)
            self._in_links = [k for k, q in enumerate(quantities) if not is_of_a_support(q)]
            given = [(quantities[k].sets, quantities[k].spring, sizes[k]) for k in self._in_links]
            sets, springs, each = zip(*given, strict=True) if given else ((), (), ())
            self._varying = Varying(sets, springs, np.array(each))

    @property
    def terms(self) -> Terms:
        found = terms_in_space(self._arm, self._joints, self._quantities)
        return found if self._ranges is None else found.over(self._ranges.signed)

    @property
    def on_host(self) -> bool:
        return self._model.supported

    @property
    def joints(self) -> tuple[int, ...]:
        return self._joints

    @property
    def in_space(self) -> bool:
        return True

    @property
    def estimated(self) -> bool:
        return False

    @property
    def ranges(self) -> Ranges | None:
        return self._ranges

    @property
    def scale(self) -> float:
        return float(self._model.scale)

    def counter(self, omega: np.ndarray) -> Counter:
        if self.on_host:
            given = self._both_ways, self.determinant, omega, self._joints, self.terms
            return CounterOnSupports(*given)
        return CounterInSpace(self._turned.at(omega, _WAYS), self._joints, self.terms)

    @functools.cached_property
    def _turned(self) -> TurnedArm:
        return TurnedArm.of(self._arm, self._joints, self._model.flags, self._varying)

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
        loads = sum(len(link.supports) for link in self._loaded(self._model.constants().links))
        found, last = Condensed.nothing(omega.size, _DD, loads), self._arm.num_links
        # axes of the cells, from that on which they follow one another: numbers of values, and -1 - k of joint k
        axes, sizes = dict[int, np.ndarray](), list[int]()
        for number, joint in enumerate((None, *self._joints[::-1])):
            at_base = number == joints
            inner = 0 if at_base else self._joints[::-1][number] + 1
            # values of several links go on, and directions of the ground depend on all angles
            every = at_base and self.on_host
            own = [k for k in axes if every or (k >= 0 and len(self._quantities[k].parts) > 1)]
            more = [k for k, place in enumerate(self._places) if inner <= place < last]
            axes |= {k: self._nodes[k] for k in more}
            if joint is not None:
                axes[-1 - joint] = one
                more.append(-1 - joint)
            here, sizes = dict[str, np.ndarray](), [x.size for x in axes.values()]
            for place, (k, x) in enumerate(axes.items()):
                if k in own or k in more:
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
        rows = fitted_in_turn(rows, self._shares, terms)
        return rows, growth.hi[:, 0], growth.lo[:, 0]

    def _named(self, number: int, column: np.ndarray) -> dict[str, np.ndarray]:
        """A column of the value of this number, or of the joint -1 - number, by address."""
        if number < 0:
            return {_angle(-1 - number): column}
        return self._quantities[number].columns(column)

    @functools.cached_property
    def _places(self) -> list[int]:
        """Of each value the link, from 0, that it is a part of; a support counts at the base."""
        found = [0] * len(self._quantities)
        bare = without_supports(self._arm)
        for k, place in zip(
            self._in_links, self._varying.places(bare, self._model.flags), strict=True
        ):
            found[k] = place
        return found

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
        """Some links of the arm, with values that each take all that is outboard, added to that at frequencies (F,).

        With the first of them the arm is complete, on its supports.
        """
        model = self._arm.with_values(values).model_of_cells(self._model.flags)
        known, numbers, grounded = model.constants(_DD), model.numbers(_DD), self.on_host
        links = self._loaded(known.links)
        if grounded:
            numbers = [stacked(each) for each in numbers_with_loads(links)]
        loads = sum(len(link.supports) for link in links)
        # springs of a base are in links of their own before the first one
        own = slice(part.start and part.start + self._of_base, part.stop + self._of_base)
        cells = next((x.size for x in values.values()), outboard.passed.shape[1])
        at = resolved(self._model.scales, omega, _DD)[:, None]

        def added(some: np.ndarray) -> Condensed:
            given = links[own], numbers[own], known.beams, model.flags, at[some], _DD
            with np.errstate(all="ignore"):
                found = condensed(*given, outboard.spread(some, cells), links[0], loads)
                if grounded and not part.start:
                    found = on_supports(found, known.links, self._arm)
                return found

        blocks = _blocks(omega.size, cells, _LANES)
        with ThreadPoolExecutor(available_cores()) as pool:
            parts = list(pool.map(added, blocks))
        return Condensed.joined(parts)

    def _loaded(self, links: list[ReducedLink]) -> list[ReducedLink]:
        """The links with unit loads in place of supports."""
        return unit_loads(links, self._arm) if self.on_host else links

    @property
    def _of_base(self) -> int:
        return len(self._model.constants().links) - self._arm.num_links

    def determinant(self, omega: np.ndarray, places: np.ndarray) -> Determinant:
        return determinant_in_space(self._arm, self._model.flags, omega, self._columns(places))

    def _columns(self, places: np.ndarray) -> dict[str, np.ndarray]:
        """Places of cells by address."""
        numbers = [*(-1 - joint for joint in self._joints), *range(len(self._quantities))]
        found = dict[str, np.ndarray]()
        for number, column in zip(numbers, places, strict=True):
            found |= self._named(number, column)
        return found

    def counts(self, omega: np.ndarray, places: np.ndarray) -> np.ndarray:
        if self.on_host:
            return np.asarray(self._on_supports(omega, places, ((0, 0.0),)).count[0])
        blocks = _blocks(omega.size, places.shape[1], _COUNTED)
        with np.errstate(all="ignore"):
            found = [self._turned.at(omega[x], _USUAL).evaluate(places).count[0] for x in blocks]
        return np.concatenate(found)

    def _both_ways(self, omega: np.ndarray, places: np.ndarray) -> Evaluation:
        return self._on_supports(omega, places, _ASIDE)

    def _on_supports(
        self, omega: np.ndarray, places: np.ndarray, ways: Sequence[tuple[int, float]]
    ) -> Evaluation:
        """D in float64 about frequencies (F,) and at places of cells, rounded in some ways: (ways, F, cells)."""
        flags, at = self._model.flags, resolved(self._model.scales, omega, Arithmetic.float64)

        def of(cells: np.ndarray) -> Evaluation:
            model = self._arm.with_values(self._columns(places[:, cells])).model_of_cells(flags)
            lanes = at[:, None] + np.zeros(cells.size)
            blocks = _blocks(omega.size, cells.size, _COUNTED)

            def rounded(way: int, aside: float) -> Evaluation:
                moved = lanes * (1.0 + aside)
                each = [model.evaluate_cells(moved[x], Arithmetic.float64, way) for x in blocks]
                return _joined(np.concatenate, each)

            return _joined(np.stack, [rounded(*way) for way in ways])

        with np.errstate(all="ignore"):
            parts = [of(x) for x in _blocks(places.shape[1], 1, _COUNTED)]
        return _joined(functools.partial(np.concatenate, axis=-1), parts)


def _joined(join: Callable[..., np.ndarray], parts: Sequence[Evaluation]) -> Evaluation:
    whole: Evaluation = jax.tree_util.tree_map(lambda *x: join(x), *parts)
    return whole


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
        with np.errstate(all="ignore"):  # threads have their own: constants may be infinite, too
            known, numbers = model.constants(_DD), model.numbers(_DD)
            supports = [support for link in known.links for support in link.supports]
            at = resolved(model.scales, omega[some][None], _DD)
            beyond = Condensed.nothing(1, _DD, len(supports)).spread(np.zeros(1, int), some.size)
            given = known.links, numbers, known.beams, flags, at, _DD
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
