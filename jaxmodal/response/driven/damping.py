"""Damping of an arm as arrays, and the complex stiffnesses of the damped arm at one frequency each.

The time factor is ``exp(i omega t)``: a modulus becomes ``E (1 + i eta + i omega tau)``, a spring ``k + i omega c``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.link_rules import DAMPING_FIELDS, JOINT_SPRINGS
from jaxmodal.arm.paths import with_values
from jaxmodal.arm.serial_arms import ArmKind, SerialArm
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import BeamArrays

#: material damping of links
MATERIAL = ("loss_factor", "kelvin_voigt_time")
#: field of the spring that is parallel to each damper
SPRINGS = dict(zip(DAMPING_FIELDS[2:], JOINT_SPRINGS, strict=True))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Damping:
    """Damping fields of `Link` as arrays of shape (n, ...), link 1 first; None where no link has the field."""

    loss_factor: Array | None = None
    kelvin_voigt_time: Array | None = None
    joint_damping: Array | None = None
    joint_axial_damping: Array | None = None
    joint_shear_damping: Array | None = None

    @property
    def is_none(self) -> bool:
        """True if the arm has no damping field."""
        return not jax.tree_util.tree_leaves(self)

    def scaled(self, factor: float) -> Damping:
        """Return the damping times a factor."""
        return jax.tree_util.tree_map(lambda x: factor * x, self)


def damping_of(arm: Arm) -> Damping:
    """Return the damping of an arm whose values are numbers, traced, or columns (cells,)."""
    found = {}
    for name in DAMPING_FIELDS:
        values = [getattr(link, name) for link in arm.links]
        if any(value is not None for value in values):
            columns = (xp.asarray(0.0 if v is None else v) + 0.0 for v in values)
            found[name] = xp.stack(xp.broadcast_arrays(*columns))
    return Damping(**found)


def undamped(arm: ArmKind) -> ArmKind:
    """Return the arm without damping."""
    links = []
    for link in arm.links:
        beside = [spring.damping_at for spring in link.springs_of_joint]
        links.append(with_values(link, dict.fromkeys([*MATERIAL, *beside])))
    return arm.replace(links=tuple(links))


def damps(arm: SerialArm) -> bool:
    """Return True if a concrete arm has damping that dissipates energy.

    Damping of value 0, of rigid links and at rigid joints does not.
    """
    material = any(_values(link, MATERIAL) for link in arm.links if not link.rigid)
    return material or any(
        damper > 0.0 and not np.isinf(stiffness) for _, _, damper, stiffness in dampers(arm)
    )


def viscous_alone(arm: SerialArm) -> bool:
    """Return True if no flexible link of a concrete arm has a loss factor."""
    return not any(_values(link, MATERIAL[:1]) for link in arm.links if not link.rigid)


def _values(link: Any, names: Sequence[str]) -> bool:
    return any((getattr(link, name) or 0.0) > 0.0 for name in names)


def dampers(arm: SerialArm) -> Iterator[tuple[str, str, float, float]]:
    """Yield the dampers parallel to joint springs of a concrete arm: both addresses, damping and stiffness."""
    for number, link in enumerate(arm.links, start=1):
        for of, name, stiffness, damper in link.springs_of_joint:
            if damper is not None and stiffness is not None:
                yield f"link{number}.{name}", f"link{number}.{of}", float(damper), float(stiffness)


def damped_free_joints(arm: SerialArm) -> list[tuple[str, str]]:
    """Return the addresses of dampers without a parallel spring, each with the field of that spring."""
    return [
        (damper, spring.partition(".")[2])
        for damper, spring, value, stiffness in dampers(arm)
        if stiffness == 0.0 and value > 0.0
    ]


def modulus_factor(
    loss_factor: Array | None, kelvin_voigt_time: Array | None, omega: Array, share: Any = 1.0
) -> Array | None:
    """Return what damping, scaled by ``share``, multiplies the moduli of links with at ``omega``; None without damping.

    The arrays broadcast with ``omega``.
    """
    lost: Any = 0.0
    if loss_factor is not None:
        lost = lost + loss_factor
    if kelvin_voigt_time is not None:
        lost = lost + omega * kelvin_voigt_time
    if loss_factor is None and kelvin_voigt_time is None:
        return None
    factor: Array = 1.0 + 1j * (lost * share)
    return factor


def damped_beams(beams: BeamArrays, damping: Damping, omega: Array) -> BeamArrays:
    """Return the beams with their moduli and springs at ``omega``, complex where there is damping.

    Parameters
    ----------
    beams
        Arrays of shape (n, ...) whose further axes broadcast with ``omega``, like those of ``damping``.
    omega
        Angular frequencies, rad/s; complex in a search for roots.
    """
    if damping.is_none:
        return beams
    changes: dict[str, Any] = {}
    factor = modulus_factor(damping.loss_factor, damping.kelvin_voigt_time, omega)
    if factor is not None:
        known = xp.isfinite(beams.shear_modulus_effective)
        shear = xp.where(known, beams.shear_modulus_effective, 1.0) * factor
        changes["youngs_modulus"] = beams.youngs_modulus * factor
        changes["shear_modulus_effective"] = xp.where(known, shear, np.inf)
    for name, spring in SPRINGS.items():
        damper, stiffness = getattr(damping, name), getattr(beams, spring)
        if damper is not None and stiffness is not None:
            rigid = xp.isinf(stiffness)
            complex_spring = xp.where(rigid, 0.0, stiffness) + 1j * (omega * damper)
            changes[spring] = xp.where(rigid, np.inf, complex_spring)
    return dataclasses.replace(beams, **changes)
