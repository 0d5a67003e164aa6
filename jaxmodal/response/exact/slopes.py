"""Driven arms with dual numbers, which have derivatives by addresses and by the frequency."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.columns import STEP, columns_of, rates_of, stepped, unpacked
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.driven.damping import Damping, damping_of
from jaxmodal.response.driven.driven_arms import Arms, by_links, link_members, wide
from jaxmodal.response.driven.members import owners
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.driven.systems import rows_of, system_of
from jaxmodal.response.receptance.circle_means import kept_digits
from jaxmodal.response.receptance.lost_digits import LARGE_GROWTH
from jaxmodal.response.receptance.port_motions import (
    OnGround,
    PortMotions,
    condensed_arms,
    own_motions,
    with_apart,
)
from jaxmodal.response.receptance.rigid_supports import OFF_AXIS, support_pivots

_ONE = (), np.empty((0, 1))
#: number of frequencies computed on circles at a time, and growth of numbers beyond which derivatives have no correct
#: digits
_LANES, _NO_DIGITS = 64, 1e7
#: relative change of a derivative, under the relative shift of frequency given last, above which digits are lost; above
#: the second value a derivative without a reliable mean is not resolved
_UNLIKE, _UNRESOLVED, _BESIDE = 1e-9, 1e-6, 2.0**-40
#: error of a mean of derivatives, relative to the largest on the circle, below which no other circle is tried
_ENOUGH = 1e-12


class PlanarSlopes:
    """A planar arm with ports, with derivatives by single-value addresses and, last, by the frequency."""

    def __init__(
        self,
        arm: Arm,
        theory: TheoryName,
        quantity: str,
        inputs: Sequence[Port],
        outputs: Sequence[Port],
        singles: Sequence[str],
    ) -> None:
        self._plain = system_of(arm, theory, quantity, inputs, outputs, _ONE)
        packed = columns_of(arm, *_ONE).packed
        rates = [rate for _, rate in rates_of(arm, *_ONE, singles)]
        moved = [stepped(arm, single)[1] for single in singles]

        def dual(value: Any, parts: Sequence[Any]) -> Dual:
            flat = [np.broadcast_to(np.imag(x) / STEP, value.shape) for x in parts]
            return Dual(value, np.stack([*flat, np.zeros(value.shape)]))

        owner = owners(arm)
        dampings = [vars(damping_of(each)) for each in moved]
        damping = {
            name: dual(value, [np.reshape(x[name], (arm.num_links, -1))[owner] for x in dampings])
            for name, value in vars(self._plain.damping).items()
            if value is not None
        }
        every = [rows_of(each, self._plain) for each in moved]
        rows = [
            dual(value, [np.reshape(x[k], value.shape) for x in every])
            for k, value in enumerate(self._plain.rows)
        ]
        self._system = dataclasses.replace(
            self._plain,
            beams=unpacked(Dual(packed, np.stack([*rates, np.zeros(packed.shape)]))),
            damping=Damping(**damping),
            rows=tuple(rows),
        )
        self._directions = len(singles) + 1

    def motions(self, omega: np.ndarray) -> tuple[Dual, Dual]:
        """Return motions of the ports that are read, (read, inputs, 1, F), and frequencies, with derivatives."""
        arms = self._with_apart()

        def motions(omega: np.ndarray) -> np.ndarray:
            """Return values and derivatives, (1 + directions, read, inputs, F)."""
            _, ports = self._condensed(arms, omega)
            with np.errstate(all="ignore"):
                made = ports.values((1, omega.size))
            shape = (*made.shape[:2], 1, omega.size)
            slopes = np.broadcast_to(made.slopes, (len(made.slopes), *shape))
            return np.concatenate([np.broadcast_to(made.value, shape)[None], slopes])[..., 0, :]

        found, dual_omega = kept_slopes(motions, self._growth, omega)
        return found.real if self._system.real else found, dual_omega

    def factors(self, roots: np.ndarray) -> list[Dual]:
        """Return the factors of the characteristic determinant at complex frequencies, with derivatives."""
        at_ground, ports = self._condensed(by_links(self._system), roots)
        return [*at_ground.found.factors, *support_pivots(ports.square)]

    def _condensed(self, arms: Arms, omega: np.ndarray) -> tuple[OnGround, PortMotions]:
        """Return the arm condensed onto the ground, and the motions of its ports, both with derivatives."""
        system, dual_omega, arms = self._system, with_rate(omega, self._directions), wide(arms)
        with np.errstate(all="ignore"):
            links = range(len(arms.beams))
            members = [x for link in links for x in link_members(system, arms, link, dual_omega)]
            found = condensed_arms(system, arms, members, dual_omega)
            return found, PortMotions(system, arms, found)

    def _with_apart(self) -> Arms:
        """Return the arm, with what its rigid supports part, of motions and of their derivatives."""
        arms, apart = by_links(self._system), with_apart(self._plain, by_links(self._plain)).apart
        if apart is None:
            return arms
        _, ports = self._condensed(arms, OFF_AXIS)
        with np.errstate(all="ignore"):
            slopes = ports.nothing_of_slopes((1, OFF_AXIS.size)).all(axis=-1)
        return arms._replace(apart=apart, apart_slopes=slopes)

    def _growth(self, omega: np.ndarray) -> np.ndarray:
        """Return the approximate ratio of numbers in the recursion to its results, shape (F,)."""
        arms = by_links(wide(self._plain))
        with np.errstate(all="ignore"):
            growth = own_motions(self._plain, arms, omega).growth
        return np.asarray(np.broadcast_to(growth, (1, omega.size))[0])


def kept_slopes(
    motions: Callable[[np.ndarray], np.ndarray],
    growth_at: Callable[[np.ndarray], np.ndarray],
    omega: np.ndarray,
) -> tuple[Dual, Dual]:
    """Return motions (read, inputs, 1, F) with derivatives, from a function that gives them at any frequencies.

    The function returns shape (1 + directions, read, inputs, F). Where the recursion loses digits, results are means
    over circles of complex frequencies, as for responses; derivatives lose twice as many digits. Where no mean is
    reliable and fewer than six digits of the largest are left, they are NaN.
    """
    found, growth = motions(omega), growth_at(omega)
    unsure = np.flatnonzero(~(growth <= LARGE_GROWTH))
    beside = motions(omega[unsure] * (1.0 + _BESIDE))
    size = np.abs(beside).max(axis=(1, 2), keepdims=True)
    moved = np.abs(beside - found[..., unsure])
    unlike = ~(moved <= _UNLIKE * size).all(axis=(0, 1, 2))
    lost, unresolved = unsure[unlike], ~(moved <= _UNRESOLVED * size)[..., unlike]
    for start in range(0, lost.size, _LANES):
        at, few = lost[start : start + _LANES], unresolved[..., start : start + _LANES]
        lanes = found[..., at].reshape(-1, found.shape[2], at.size)
        lanes[..., ~(growth[at] <= _NO_DIGITS)] = np.nan
        kept = kept_digits(
            lambda _, moved: motions(moved).reshape(-1, found.shape[2], moved.size),
            *(lanes, growth[at] ** 2, omega[at], _ENOUGH),
        )
        few = few.reshape(lanes.shape) & (kept == lanes)
        found[..., at] = np.where(few, np.nan, kept).reshape(*found.shape[:3], at.size)
    found = found[..., None, :]
    return Dual(found[0], found[1:]), with_rate(omega, len(found) - 1)


def with_rate(omega: np.ndarray, directions: int) -> Dual:
    """Return frequencies as dual numbers; the last derivative is by the frequency itself."""
    rates = np.zeros((directions, 1))
    rates[-1] = 1.0
    return Dual(omega, rates)
