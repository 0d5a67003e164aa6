"""Elastic bases of planar arms: a 3 x 3 stiffness, and the restrictions that it puts on link 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from jaxmodal.arm.links import Link
from jaxmodal.arm.quantities import (
    BASE,
    Constraint,
    Scalar,
    frozen_pytree,
    quantity,
)
from jaxmodal.arm.symmetric import REMEDY, SymmetricStiffness, mixed, positive_definite
from jaxmodal.runtime.namespace import xp
from jaxmodal.statics.beam_arrays import BASE as COLUMNS
from jaxmodal.statics.beam_arrays import SUPPORTS
from jaxmodal.statics.link_parts import ROTOR, SLIDES, STATOR


def _own(unit: str, direction: str) -> Any:
    return quantity(unit, f"stiffness of the base, {direction}", BASE, REMEDY)


@frozen_pytree
class BaseStiffness(SymmetricStiffness):
    """Symmetric 3 x 3 stiffness of the base over (x, y, rotation), in ground axes.

    It relates displacements of the base at joint 1 to forces, N, and a moment, N m. On the diagonal, inf is rigid and
    0 is free; a rigid or free direction must not be coupled with another. The rest must be positive definite.
    """

    size: ClassVar[int] = 3
    needed: ClassVar[str] = (
        "three rows of three numbers, or the three of a diagonal, over x, y and rotation"
    )
    k11: Scalar = _own("N/m", "x")
    k22: Scalar = _own("N/m", "y")
    k33: Scalar = _own("N m/rad", "rotation")
    k12: Scalar = mixed("N/m", "x with y")
    k13: Scalar = mixed("N/rad", "x with rotation")
    k23: Scalar = mixed("N/rad", "y with rotation")

    def entries(self) -> tuple[Scalar, ...]:
        """In the order of `beam_arrays.BASE`."""
        return self.k11, self.k12, self.k13, self.k22, self.k23, self.k33

    def constraints(self) -> tuple[Constraint, ...]:
        own = (self.k11, self.k22, self.k33)
        springs = [(k > 0.0) & (k < math.inf) for k in own]
        scales = [xp.sqrt(xp.where(s, k, 1.0)) for s, k in zip(springs, own, strict=True)]
        found = []
        couplings = []
        for i, j in ((0, 1), (0, 2), (1, 2)):
            name = f"k{i + 1}{j + 1}"
            value: Any = getattr(self, name)
            both = springs[i] & springs[j]
            found.append(
                Constraint(
                    name,
                    value,
                    both | (value == 0.0),
                    f"0, since k{i + 1}{i + 1} or k{j + 1}{j + 1} is 0 or inf",
                    "a direction that is free or rigid is coupled with no other",
                )
            )
            couplings.append(xp.where(both, value / (scales[i] * scales[j]), 0.0))
        a, b, c = couplings
        one = xp.ones_like(a)
        free = "; a base that is free in a direction of the ground has a 0 on the diagonal"
        found.append(positive_definite([one, a, b, a, one, c, b, c, one], 3, "", free))
        return tuple(found)


def base_rules(
    links: Sequence[Link], base: BaseStiffness | None, loads: object | None
) -> tuple[Constraint, ...]:
    """Return the constraints of an arm with an elastic base: no inertia between the base and joint 1."""
    if base is None:
        return ()
    first, found = links[0], []
    for name in (*STATOR, ROTOR[0]):
        value: Any = getattr(first, name)
        if value is not None:
            found.append(
                Constraint(
                    f"link1.{name}",
                    value,
                    value == 0.0,
                    "0 with a base_stiffness, which moves without inertia",
                    "make the foundation a rigid first link, and this joint that of link 2",
                )
            )
    loaded = loads is not None or any(link.axial_force is not None for link in links)
    for name in SLIDES:
        value = getattr(first, name)
        if value is None:
            continue
        least, allowed = (math.inf, "inf") if loaded else (5e-324, "greater than 0")
        found.append(
            Constraint(
                f"link1.{name}",
                value,
                value >= least,
                f"{allowed} with a base_stiffness{' under forces at rest' if loaded else ''}",
                "leave it out, and give the base_stiffness what gives way",
            )
        )
    hinge: Any = first.joint_stiffness
    found.append(
        Constraint(
            "link1.joint_stiffness",
            hinge,
            (hinge > 0.0) | (base.k33 > 0.0),
            "greater than 0 where base_stiffness.k33 is 0, or the part between them turns freely",
            "give one of them a stiffness, or inf",
        )
    )
    if loaded:
        for name in ("k11", "k22", "k33"):
            value = getattr(base, name)
            found.append(
                Constraint(
                    f"base_stiffness.{name}",
                    value,
                    value > 0.0,
                    "greater than 0 with forces at rest, which have to be held",
                    "give it a stiffness",
                )
            )
    return tuple(found)


def with_base(columns: dict[str, Any], base: BaseStiffness | None) -> dict[str, Any]:
    """Add the columns of the elastic base; the base is rigid at every joint except the first.

    Support stiffnesses of 0 are added where the arm has none, because both need the ground axes.
    """
    if base is None:
        return columns
    zero = xp.zeros_like(columns["length"])
    own = {}
    for name, value in zip(COLUMNS, base.entries(), strict=True):
        rigid = np.inf if name[-2] == name[-1] else 0.0
        at_base = (zero[:1] + xp.asarray(value)).astype(zero.dtype)
        own[name] = xp.concatenate([at_base, zero[1:] + rigid])
    return dict.fromkeys(SUPPORTS, np.zeros(zero.shape)) | columns | own
