"""An arm with its ports whose values carry their derivatives by addresses, and by the frequency: dual numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
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
from jaxmodal.response.driven.systems import System, rows_of, system_of
from jaxmodal.response.receptance.answers import condensed_arms, motions_of
from jaxmodal.response.receptance.recursion import Condensed

_ONE = (), np.empty((0, 1))


def system_with_slopes(
    arm: Arm,
    theory: TheoryName,
    quantity: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    singles: Sequence[str],
) -> System:
    """One concrete arm with derivatives by single addresses, and by the frequency last, which has none here."""
    system = system_of(arm, theory, quantity, inputs, outputs, _ONE)
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
        for name, value in vars(system.damping).items()
        if value is not None
    }
    every = [rows_of(each, system) for each in moved]
    rows = [
        dual(value, [np.reshape(x[k], value.shape) for x in every])
        for k, value in enumerate(system.rows)
    ]
    return dataclasses.replace(
        system,
        beams=unpacked(Dual(packed, np.stack([*rates, np.zeros(packed.shape)]))),
        damping=Damping(**damping),
        rows=tuple(rows),
    )


def condensed_with_slopes(system: System, omega: np.ndarray) -> tuple[Arms, Dual, Condensed]:
    """The arm, the frequencies, and what is condensed onto the ground, all with their derivatives."""
    dual_omega = with_rate(omega, system.beams.length.slopes.shape[0])
    arms = by_links(wide(system))
    with np.errstate(all="ignore"):
        members = [
            member
            for link in range(len(arms.beams))
            for member in link_members(system, arms, link, dual_omega)
        ]
        found, _ = condensed_arms(system, arms, members, dual_omega)
    return arms, dual_omega, found


def motions_with_slopes(system: System, omega: np.ndarray) -> tuple[Dual, Dual]:
    """Motions of the ports that are read (read, inputs, 1, F), and the frequencies, both with their derivatives."""
    arms, dual_omega, found = condensed_with_slopes(system, omega)
    with np.errstate(all="ignore"):
        return motions_of(system, arms, found, (1, omega.size)), dual_omega


def with_rate(omega: np.ndarray, directions: int) -> Dual:
    """Frequencies with their derivatives, of which the last is by themselves."""
    rates = np.zeros((directions, 1))
    rates[-1] = 1.0
    return Dual(omega, rates)
