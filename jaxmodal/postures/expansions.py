"""What a posture series takes of an arm: its determinant in postures and at frequencies, whatever kind of arm it is."""

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
from jaxmodal.postures.harmonics import Determinant, determinant, exact_coefficients
from jaxmodal.postures.terms import IN_THE_PLANE, Terms
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import BeamArrays

#: a count is certain where what is rounded moves it by less than 1e-4, relative to omega: as many changes of sign say
#: that no mode lies between
_NOISE = 1e-4 / CERTAIN


class Counter(Protocol):
    """What counts the modes of an arm below given frequencies in float64, in programs, too: a pytree."""

    @property
    def terms(self) -> Terms:
        """What the determinant D is made of at one frequency."""
        ...

    @property
    def joints(self) -> tuple[int, ...]:
        """The joints that vary, by their places among all."""
        ...

    def count(self, angles: Array) -> tuple[Array, Array]:
        """J in postures (joints, cells), -1 where it is not certain, and how clear it is: above 1 where it is.

        Both of shape (F, cells).
        """
        ...


class Expansion(Protocol):
    """The determinant D of an arm and a theory.

    Angles are those of the joints that vary, (joints, cells), frequencies in rad/s.
    """

    @property
    def terms(self) -> Terms:
        """As of `Counter`."""
        ...

    @property
    def joints(self) -> tuple[int, ...]:
        """As of `Counter`."""
        ...

    def counter(self, omega: np.ndarray) -> Counter:
        """What counts at some frequencies, (F,)."""
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

    def determinant(self, omega: np.ndarray, angles: np.ndarray) -> Determinant:
        """D and the count J in double-double, at as many frequencies (F,) as postures (joints, F)."""
        ...

    def counts(self, omega: np.ndarray, angles: np.ndarray) -> np.ndarray:
        """J in float64, certain or not, at frequencies (F,) in all postures; (F, cells)."""
        ...


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class PlanarCounter:
    """Of an arm in the plane at frequencies (F, 1), in programs at one; see `Counter`."""

    beams: BeamArrays
    flags: Theory
    omega: Array

    @property
    def terms(self) -> Terms:
        return IN_THE_PLANE

    @property
    def joints(self) -> tuple[int, ...]:
        return tuple(range(1, self.beams.length.shape[0]))

    def count(self, angles: Array) -> tuple[Array, Array]:
        """Clear is the largest noise of a certain count over that of this one, 0 where sign and count disagree."""
        tally = self.tally(angles)
        even = 2.0 * xp.floor(0.5 * tally.passed) == tally.passed
        agrees = (tally.sign > 0.0) == even
        clear = xp.where(agrees, _NOISE / noise_of(tally, Arithmetic.float64), 0.0)
        count = xp.where(clear > 1.0, tally.passed, -1.0)
        shape = (self.omega.shape[0], *angles.shape[1:])
        return xp.broadcast_to(count, shape), xp.broadcast_to(clear, shape)

    def tally(self, angles: Array) -> Tally:
        """What the links add up to; all that does not depend on the posture is computed once."""
        omega = self.omega if self.omega.shape[0] > 1 else self.omega[0]
        zero, one = xp.zeros_like(omega), xp.ones_like(omega)
        outboard, tally = Stiffness(*(zero,) * 6), Tally(one, zero, zero, zero, zero, zero)
        for i in reversed(range(self.beams.length.shape[0])):
            link = jax.tree_util.tree_map(lambda x, i=i: x[i : i + 1], self.beams)
            if i > 0:
                link = dataclasses.replace(link, joint_angle=angles[i - 1])
            terms = link_terms(link, self.flags, omega, Arithmetic.float64)
            outboard, share = add_terms(terms, self.flags, omega, outboard)
            tally = tally.times(share)
        return tally


@dataclasses.dataclass(frozen=True)
class PlanarExpansion:
    """Of an arm in the plane, all of whose joints but the first vary; see `Expansion`."""

    beams: BeamArrays
    flags: Theory

    def counter(self, omega: np.ndarray) -> PlanarCounter:
        return PlanarCounter(self.beams, self.flags, omega[:, None])

    @property
    def terms(self) -> Terms:
        return IN_THE_PLANE

    @property
    def joints(self) -> tuple[int, ...]:
        return tuple(range(1, self.beams.length.shape[0]))

    @property
    def scale(self) -> float:
        return float(starting_scale(self.beams))

    def turns(self, omega: np.ndarray) -> np.ndarray:
        """Of bending and axial waves."""
        links = jax.tree_util.tree_map(lambda v: v[:, None], self.beams)
        w = wave_numbers(links, self.flags, omega[None], Arithmetic.float64)
        above = np.where(w.z1 < 0.0, w.alpha, 0.0)
        return np.asarray(np.sum(w.beta + w.mu * self.flags.axial + above, axis=0) / np.pi)

    def coefficients(self, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return exact_coefficients(self.beams, self.flags, omega)

    def determinant(self, omega: np.ndarray, angles: np.ndarray) -> Determinant:
        return determinant(self.beams, self.flags, omega, angles)

    def counts(self, omega: np.ndarray, angles: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            passed = self.counter(omega).tally(angles).passed
        return np.broadcast_to(passed, (omega.size, angles.shape[1]))
