"""Beams of many segments whose best shapes are known: problems for tests and benchmarks.

A segment has I proportional to A^p; the volume of the beam is held. Ratios are optimal to uniform first frequency in
the limit of infinitely many segments, Euler-Bernoulli, bending alone.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

import jaxmodal as jm
from design_opt import (
    Design,
    MassLimit,
    MaximiseFrequency,
    Problem,
    Require,
    Variable,
    per_link,
)

#: (tip mass over beam mass, p): ratio, for a cantilever
CANTILEVER = {
    (0.1, 1): 1.7901,
    (0.1, 2): 1.8157,
    (0.1, 3): 1.8366,
    (1.0, 1): 1.2470,
    (1.0, 2): 1.3315,
    (1.0, 3): 1.3861,
}
#: p: ratio, for a simply supported beam
SIMPLY_SUPPORTED = {1: 1.000, 2: 1.066}


def extrapolated(coarse: float, middle: float, fine: float) -> float:
    """Limit of a sequence whose differences shrink by a constant factor (Aitken)."""
    return fine - (fine - middle) ** 2 / ((fine - middle) - (middle - coarse))


def segments(number: int, base_stiffness: float | None = None) -> tuple[jm.Link, ...]:
    """Equal links in line, total length, rigidity and mass per length 1."""
    section = jm.raw_section(area=1.0, second_moment=1.0)
    plain = jm.Link(1.0 / number, 1.0, 1.0, section)
    first = plain if base_stiffness is None else plain.replace(joint_stiffness=base_stiffness)
    return (first,) + (plain,) * (number - 1)


def areas(arm: jm.Arm, power: float, **options: Any) -> list[Variable]:
    """The area of every segment, its second moment following with a power."""
    follow = {"link*.section.second_moment": float(power)}
    lower = 1e-3 if power == 1 else 1e-2
    return per_link(arm, "link*.section.area", lower, 8.0, follow=follow, **options)


def cantilever(number: int, tip_mass: float, power: float) -> Problem:
    """A clamped beam of mass 1 with a tip mass."""
    arm = jm.Arm(segments(number), jm.Payload(tip_mass), name="cantilever")
    return Problem(
        arm,
        areas(arm, power),
        MaximiseFrequency(1, cluster=0),
        [MassLimit(at_most="today")],
        theory="bending_only",
    )


def volume_left(design: Design) -> Array:
    """1 minus the volume of the beam, whose length is 1 and whose segments are equally long."""
    return 1.0 - jnp.mean(design.variables)


def simply_supported(number: int, power: float, start: float = 1.0) -> Problem:
    """A hinge is a spring of 1e-7 at the base, a support that turns freely a body of mass 1e7 at the tip.

    The first mode then is the slow turning about the base, and the second the first of the beam on two supports.
    """
    arm = jm.Arm(segments(number, base_stiffness=1e-7), jm.Payload(1e7), name="on two supports")
    return Problem(
        arm,
        areas(arm, power, start=start),
        MaximiseFrequency(2, cluster=0),
        [Require(volume_left, "volume")],
        theory="bending_only",
    )
