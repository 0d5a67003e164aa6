"""Implausible damping and supports: percentages, milliseconds, overcritical dampers, springs in N/mm."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.links import Link
from jaxmodal.arm.plausible_joints import (
    Finding,
    felt_inertia,
    in_another_unit,
    inertia_beyond,
)
from jaxmodal.statics.beam_arrays import SUPPORTS

#: Solids lose less than this of the energy they store, per radian; the lossiest rubbers reach it.
LARGEST_LOSS_FACTOR = 1.0
#: A support this many times softer than its link in bending carries nothing ...
SOFTEST_SUPPORT_RATIO = 1e-6
#: ... and one this many times stiffer than its link along is rigid in all but name.
STIFFEST_SUPPORT_RATIO = 1e9
#: What a support may be meant in, beside N/m and N m/rad: the factor and the unit.
_SUPPORT_UNITS = {
    "N/m": ((1e3, "N/mm"), (1e6, "kN/mm")),
    "N m/rad": ((1e3, "kN m/rad"), (1e6, "MN m/rad")),
}


def damping_findings(arm: Arm, number: int) -> Iterator[Finding]:
    """Yield implausible damping values of a link and of the joint at its base."""
    link = arm.links[number - 1]
    yield from loss_factor_findings(float(link.loss_factor or 0.0))
    time = float(link.kelvin_voigt_time or 0.0)
    period = 0.0 if link.rigid else _cantilever_period(link)
    if period and time > period:
        message = (
            f"s expected; it is longer than the slowest period of the link as a cantilever, {period:.3g} s, and damps "
            "all its vibrations beyond critical"
        )
        other = in_another_unit(time, ((1e-3, "ms"), (1e-6, "µs")), lambda x: x <= period)
        yield "kelvin_voigt_time", time, message + other
    damper, stiffness = float(link.joint_damping or 0.0), float(link.joint_stiffness)
    beyond = inertia_beyond(arm, number) + felt_inertia(link)
    if 0.0 < stiffness < math.inf and 0.0 < beyond < math.inf:
        critical = 2.0 * math.sqrt(stiffness * beyond)
        if damper > critical:
            message = (
                f"N m s/rad expected; more than critical: the joint's spring with all beyond it no longer vibrates "
                f"above {critical:.4g}; for a damping ratio of 2 % write {0.02 * critical:.4g}"
            )
            yield "joint_damping", damper, message


def loss_factor_findings(value: float) -> Iterator[Finding]:
    """Yield a loss factor that is probably in per cent."""
    if value > LARGEST_LOSS_FACTOR:
        message = (
            f"loss factors of solids lie below 1, those of metals between 1e-4 and 1e-2; if this is in per cent, write "
            f"{value / 100.0:.6g}"
        )
        yield "loss_factor", value, message


def _cantilever_period(link: Link) -> float:
    """Return the longest period of a uniform link clamped at its base, s."""
    mass = float(link.mass)
    rigidity = float(link.youngs_modulus) * float(link.second_moment)
    if not mass > 0.0 or not rigidity > 0.0:
        return 0.0
    return 2.0 * math.pi / 3.516 * math.sqrt(mass * float(link.length) ** 3 / rigidity)


def support_findings(link: Link) -> Iterator[Finding]:
    """Yield supports far softer or far stiffer than the link."""
    if link.rigid:
        return
    length = float(link.length)
    rigidity = float(link.youngs_modulus) * float(link.second_moment)
    along = float(link.youngs_modulus) * float(link.area) / length
    for name in SUPPORTS:
        value = float(getattr(link, name) or 0.0)
        if not 0.0 < value < math.inf:
            continue
        turning = name == "support_torsional_stiffness"
        unit = "N m/rad" if turning else "N/m"
        soft = rigidity / length if turning else rigidity / length**3
        stiff = soft if turning else max(along, soft)
        least = SOFTEST_SUPPORT_RATIO * soft
        if value < least:
            message = f"{unit} expected; it is {soft / value:.3g} times softer than the link and holds nothing"
            enough = functools.partial(operator.le, least)
            message += in_another_unit(value, _SUPPORT_UNITS[unit], enough)
            yield name, value, f"{message}; for no support leave it out"
        elif value > STIFFEST_SUPPORT_RATIO * stiff:
            message = f"{unit} expected; {value / stiff:.3g} times stiffer than the link; for a rigid one write inf"
            yield name, value, message
