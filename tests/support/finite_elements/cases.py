"""Arms as the finite elements take them: every value of each link, in SI units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

THEORIES = ("timoshenko", "rayleigh", "euler_bernoulli", "bending_only")


@dataclass(frozen=True)
class FELink:
    """One link in SI units, in the letters of the oracle's file; kT = inf is a rigid joint."""

    L: float
    E: float
    I: float  # noqa: E741
    A: float
    rho: float
    kG: float
    M: float
    J: float
    theta: float
    kT: float
    kx: float = np.inf
    ky: float = np.inf
    hub: tuple[float, float] = (0.0, 0.0)
    """Mass and inertia on the joint's axis beyond the springs."""
    stator: tuple[float, float] = (0.0, 0.0)
    """The same before the springs."""
    rotor: tuple[float, float] = (0.0, 1.0)
    """Inertia and gear ratio."""
    base: tuple[float, float] = (0.0, 0.0)
    end: tuple[float, float] = (0.0, 0.0)
    centre: tuple[float, float] = (0.0, 0.0)
    payload: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    """Mass, inertia about the centre of gravity, and where that lies."""
    q: float = 0.0
    """Non-structural mass per length."""
    rigid: bool = False
    support: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Stiffnesses from the tip to the ground, along its x and y axes and about the tip."""
    axial: tuple[float, float] = (0.0, 0.0)
    """Axial force at both ends of the link, tension positive, linear between."""
    turning: tuple[float, float] = (0.0, 0.0)
    """What the forces at rest resist a turn of the offset at the base and of the rigid parts at the tip with."""
    taper: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None
    """Area and second moment at shares 0 to 1 of the length, in place of A and I; one element."""


@dataclass(frozen=True)
class Case:
    """An arm (links from the base outwards) together with the theory it is computed by."""

    links: tuple[FELink, ...]
    model: str
    base: tuple[tuple[float, ...], ...] | None = None
    """Stiffness of an elastic base over x, y and rotation of the ground: inf on the diagonal is rigid, 0 free."""

    def __post_init__(self) -> None:
        if self.model not in THEORIES:
            raise ValueError(f"model is {self.model!r}, expected one of {THEORIES}")


def case_from_dict(entry: Mapping[str, Any]) -> Case:
    """A case from an entry of ``data/cases_public.json`` (null joint stiffness = rigid)."""
    links = []
    for link in entry["links"]:
        values = {key: np.inf if value is None else float(value) for key, value in link.items()}
        links.append(FELink(**values))
    return Case(tuple(links), entry["model"])


def case_from_arm(arm: Any, model: str) -> Case:
    """A case from a jaxmodal Arm: its parameters, read one by one; no numerics of the library."""

    def value(record: Any, name: str, absent: float = 0.0) -> float:
        given = getattr(record, name)
        return absent if given is None else float(given)

    def pair(record: Any, *names: str) -> tuple[float, ...]:
        return tuple(value(record, name) for name in names)

    links = []
    for link in arm.links:
        last = link is arm.links[-1]
        body = pair(arm.payload, "mass", "inertia", "centre_x", "centre_y")
        force = value(link, "axial_force")
        links.append(
            FELink(
                L=float(link.length),
                E=float(link.youngs_modulus),
                I=float(link.second_moment),
                A=float(link.area),
                rho=float(link.density),
                kG=float(link.shear_modulus_effective),
                M=float(link.tip_mass),
                J=float(link.tip_inertia),
                theta=float(link.joint_angle),
                kT=float(link.joint_stiffness),
                kx=value(link, "joint_axial_stiffness", np.inf),
                ky=value(link, "joint_shear_stiffness", np.inf),
                hub=pair(link, "hub_mass", "hub_inertia"),
                stator=pair(link, "stator_mass", "stator_inertia"),
                rotor=(
                    value(link, "rotor_inertia"),
                    # a held rotor turns with the link that carries it, whatever the joint does
                    0.0 if link.motor == "held" else value(link, "gear_ratio", 1.0),
                ),
                base=pair(link, "base_offset_x", "base_offset_y"),
                end=pair(link, "end_offset_x", "end_offset_y"),
                centre=pair(link, "tip_centre_x", "tip_centre_y"),
                payload=body if last else (0.0, 0.0, 0.0, 0.0),
                q=value(link, "nonstructural_mass"),
                rigid=link.rigid,
                support=pair(
                    link,
                    *("support_x_stiffness", "support_y_stiffness", "support_torsional_stiffness"),
                ),
                axial=(force, force),
                turning=(force * value(link, "base_offset_x"), force * value(link, "end_offset_x")),
            )
        )
    base = arm.base_stiffness
    rows = None if base is None else tuple(tuple(map(float, row)) for row in base.rows())
    return Case(tuple(links), model, rows)
