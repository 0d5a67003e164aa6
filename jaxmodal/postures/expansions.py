"""The determinant of an arm of any kind over postures and frequencies, for the posture series."""

from __future__ import annotations

import dataclasses
from typing import Protocol

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.beams import Theory, wave_numbers
from jaxmodal.dynamic_stiffness.condensation import Tally, add_terms, noise_of
from jaxmodal.dynamic_stiffness.evaluation import CERTAIN
from jaxmodal.dynamic_stiffness.link_terms import link_terms
from jaxmodal.dynamic_stiffness.stiffness import Stiffness
from jaxmodal.frequencies.resolution import starting_scale
from jaxmodal.postures.harmonics import Determinant, determinant, exact_values
from jaxmodal.postures.polynomial_values import Quantity, VaryingBeams, usual
from jaxmodal.postures.terms import Terms
from jaxmodal.postures.value_nodes import (
    bernstein_coefficients,
    coefficients_on_grid,
    shares_of_range,
)
from jaxmodal.postures.value_ranges import Ranges, unscaled
from jaxmodal.runtime.namespace import Array, product, xp
from jaxmodal.statics.beam_arrays import BeamArrays

#: a count is certain where what is rounded moves it by less than 1e-4, relative to omega: as many changes of sign say
#: that no mode lies between
_NOISE = 1e-4 / CERTAIN


class Counter(Protocol):
    """Count of the modes of an arm below given frequencies in float64; a pytree, for programs."""

    @property
    def terms(self) -> Terms:
        """The terms of the determinant D at one frequency."""
        ...

    @property
    def joints(self) -> tuple[int, ...]:
        """The joints that vary, by their places among all."""
        ...

    def count(self, places: Array) -> tuple[Array, Array]:
        """J at places of cells, -1 where it is not certain, and how clear it is: above 1 where it is.

        Both of shape (F, cells).
        """
        ...


class Expansion(Protocol):
    """The determinant D of an arm and a theory, over what makes a polynomial of it (`polynomial_values`).

    Places of cells are the angles of the joints that vary and, where such values vary, these, (joints + values, cells);
    frequencies are in rad/s.
    """

    @property
    def terms(self) -> Terms:
        """As of `Counter`."""
        ...

    @property
    def joints(self) -> tuple[int, ...]:
        """As of `Counter`."""
        ...

    @property
    def in_space(self) -> bool:
        """Whether the arm is one in space."""
        ...

    @property
    def estimated(self) -> bool:
        """Whether what is rounded is as estimated, as in the plane over angles alone; else it is to be measured."""
        ...

    @property
    def on_host(self) -> bool:
        """Whether NumPy counts, and no program can."""
        ...

    @property
    def ranges(self) -> Ranges | None:
        """Where values lie that vary beside angles."""
        ...

    def counter(self, omega: np.ndarray) -> Counter:
        """Return the counter at frequencies (F,)."""
        ...

    @property
    def scale(self) -> float:
        """A frequency about which to look for the first ones."""
        ...

    def turns(self, omega: np.ndarray) -> np.ndarray:
        """The sum of all waves of all links in units of pi, (F,): about the number of modes below, and growing."""
        ...

    def coefficients(self, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coefficients of the terms (F, H), and growth and rest as in `determinant`, (F,)."""
        ...

    def determinant(self, omega: np.ndarray, places: np.ndarray) -> Determinant:
        """D and the count J in double-double, at as many frequencies (F,) as places."""
        ...

    def counts(self, omega: np.ndarray, places: np.ndarray) -> np.ndarray:
        """J in float64, certain or not, at frequencies (F,) at all places; (F, cells)."""
        ...


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class PlanarCounter:
    """Of an arm in the plane at frequencies (F, 1), in programs at one; see `Counter`."""

    arm: VaryingBeams
    flags: Theory
    omega: Array

    @property
    def terms(self) -> Terms:
        return self.arm.terms

    @property
    def joints(self) -> tuple[int, ...]:
        return self.arm.joints

    def count(self, places: Array) -> tuple[Array, Array]:
        """Clear is the largest noise of a certain count over that of this one, 0 where sign and count disagree."""
        tally = self.tally(places)
        even = 2.0 * xp.floor(0.5 * tally.passed) == tally.passed
        agrees = (tally.sign > 0.0) == even
        clear = xp.where(agrees, _NOISE / noise_of(tally, Arithmetic.float64), 0.0)
        count = xp.where(clear > 1.0, tally.passed, -1.0)
        shape = (self.omega.shape[0], *places.shape[1:])
        return xp.broadcast_to(count, shape), xp.broadcast_to(clear, shape)

    def tally(self, places: Array) -> Tally:
        """Return the tally of all links; what does not depend on the place is computed once."""
        omega = self.omega if self.omega.shape[0] > 1 else self.omega[0]
        zero, one = xp.zeros_like(omega), xp.ones_like(omega)
        outboard, tally = Stiffness(*(zero,) * 6), Tally(one, zero, zero, zero, zero, zero)
        beams, angles = self.arm.at(places)
        for i in reversed(range(beams.length.shape[0])):
            link = jax.tree_util.tree_map(
                lambda x, i=i: x[i] if x.ndim > 1 else x[i : i + 1], beams
            )
            if i > 0:
                link = dataclasses.replace(link, joint_angle=angles[i - 1])
            terms = link_terms(link, self.flags, omega, Arithmetic.float64)
            outboard, share = add_terms(terms, self.flags, omega, outboard)
            tally = tally.times(share)
        return tally


@dataclasses.dataclass(frozen=True)
class PlanarExpansion:
    """Of an arm in the plane, some of whose joints and values vary; see `Expansion`."""

    arm: VaryingBeams
    flags: Theory
    ranges: Ranges | None = None
    quantities: tuple[Quantity, ...] = ()

    @property
    def in_space(self) -> bool:
        return False

    @property
    def estimated(self) -> bool:
        return self.ranges is None

    @property
    def on_host(self) -> bool:
        return False

    def counter(self, omega: np.ndarray) -> PlanarCounter:
        return PlanarCounter(self.arm, self.flags, omega[:, None])

    @property
    def terms(self) -> Terms:
        return self.arm.terms

    @property
    def joints(self) -> tuple[int, ...]:
        return self.arm.joints

    @property
    def scale(self) -> float:
        return float(starting_scale(self.arm.beams))

    def turns(self, omega: np.ndarray) -> np.ndarray:
        """Of bending and axial waves."""
        links = jax.tree_util.tree_map(lambda v: v[:, None], self.arm.beams)
        w = wave_numbers(links, self.flags, omega[None], Arithmetic.float64)
        above = np.where(w.z1 < 0.0, w.alpha, 0.0)
        return np.asarray(np.sum(w.beta + w.mu * self.flags.axial + above, axis=0) / np.pi)

    def coefficients(self, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        angles, to_coefficients = self.terms.sampling(len(self.joints))
        if self.ranges is None:
            beams, every = self.arm.at(angles)
            beams = jax.tree_util.tree_map(lambda x: x[:, None] if x.ndim > 1 else x, beams)
            factor, growth, rest = exact_values(beams, self.flags, omega, every)
            return product(factor, to_coefficients.T), growth, rest
        logs = np.zeros((2, omega.size))

        def values(shares: np.ndarray) -> np.ndarray:
            """D at shares (values, F, N) of all ranges in all postures, (F, N, J); (values, 1, N) for all alike."""
            _, frequencies, number = shares.shape
            postures = angles.shape[1]
            given = unscaled(self.ranges, shares.reshape(len(shares), -1)).repeat(postures, axis=1)
            places = np.concatenate([np.tile(angles, given.shape[1] // postures), given])
            beams, every = self.arm.at(places)
            each: BeamArrays = jax.tree_util.tree_map(
                lambda x: x.reshape(len(x), frequencies, -1) if x.ndim > 1 else x, beams
            )
            here = every[:, : number * postures]
            alike = {  # at all frequencies
                name: x[:, :1]
                for name, x in (
                    ("joint_angle", each.joint_angle),
                    ("ground_angle", each.ground_angle),
                )
                if x is not None and x.ndim > 1
            }
            each = dataclasses.replace(each, **alike)
            factor, growth, rest = exact_values(each, self.flags, omega, here)
            if frequencies == 1:
                logs[:] = growth, rest
            else:
                factor = factor * np.exp((growth - logs[0]) + (rest - logs[1]))[:, None]
            return factor.reshape(omega.size, number, postures)

        terms = self.terms
        if max(terms.powers) <= 2 and not any(terms.signed):
            found = bernstein_coefficients(values, terms.powers, to_coefficients)
        else:
            found = coefficients_on_grid(values, self._shares(), terms, to_coefficients)
        return found, logs[0], logs[1]

    def _shares(self) -> list[np.ndarray]:
        """Of each value shares of its range that determine a polynomial."""
        ranges, found = self.ranges, []
        assert ranges is not None
        every = usual(self.arm.beams, self.quantities)
        for number, (quantity, one) in enumerate(zip(self.quantities, every, strict=True)):
            size = 1.0 / one if quantity.spring else one
            found.append(shares_of_range(ranges.ends(number), size, quantity.degree))
        return found

    def determinant(self, omega: np.ndarray, places: np.ndarray) -> Determinant:
        beams, angles = self.arm.at(places)
        return determinant(beams, self.flags, omega, angles)

    def counts(self, omega: np.ndarray, places: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            passed = self.counter(omega).tally(places).passed
        return np.broadcast_to(passed, (omega.size, places.shape[1]))
