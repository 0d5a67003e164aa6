"""The registry of problems with proven answers, and every tolerance of the numerical tests.

``data/cases_public.json`` holds 44 arms with 812 natural frequencies to 22 digits, each proven
from both sides by a count in ball arithmetic. Here each gets one difficulty tag, an arm built
from raw sections (the doubles of the file reach the engine bit for bit), and exact comparison.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

from tests.support import finite_elements

DATA = Path(__file__).parent.parent / "data"

# ---- tolerances (all relative) ---------------------------------------------------------------
ORACLE = 1e-12
"""What the engine promises for every certified frequency; the digits of the oracle go to 1e-22."""

SAME = 2 * ORACLE
"""Two calls of the engine on inputs that describe one arm: each may be off by ORACLE."""

CLOSED_FORM = ORACLE
"""Closed forms are evaluated in 40 digits, so that only the engine's own promise remains."""

FINITE_ELEMENTS = 2e-14
"""The p-elements in float64: the singular values of a matrix of a few hundred columns, graded
before they are computed, measured at 5e-15 or better on all 812 frequencies."""

PRINTED_DIGITS = 0.5
"""A printed number is right when it differs by at most half a unit of its last digit."""

COUNT_DISTANCE = 1e-6
"""Counts are compared at frequencies at least this far from a natural frequency: nearer to one,
the inertia of a float64 matrix is a statement about rounding (omega^2 / omega_1^2 times eps)."""

GROUPED = 1e-12
"""Frequencies nearer to each other than this form one group with a multiplicity."""

KNOWN_EXCEPTIONS: dict[tuple[str, int], str] = {}
"""(problem, mode from 1) -> why float64 cannot reach ORACLE there. Meant to stay empty."""

TAGS = {
    "P01": "smooth", "P02": "smooth", "P03": "smooth", "P04": "slender", "P05": "smooth",
    "P06": "smooth", "P07": "near_cutoff", "P08": "smooth", "P09": "smooth", "P10": "smooth",
    "P11": "heavy_tips", "P12": "smooth", "P13": "smooth", "P14": "many_links",
    "P15": "many_links", "P16": "many_links", "P17": "slender", "P18": "slender",
    "P19": "stocky", "P20": "stocky", "P21": "stocky", "P22": "near_cutoff", "P23": "smooth",
    "P24": "heavy_tips", "P25": "clustered", "P26": "still_joint", "P27": "still_joint",
    "P28": "soft_joint", "P29": "soft_joint", "P30": "stiff_joint", "P31": "soft_joint",
    "P32": "soft_joint", "P33": "repeated", "P34": "repeated", "P35": "clustered",
    "P36": "clustered", "P37": "repeated", "P38": "folded", "P39": "smooth",
    "P40": "many_links", "P41": "micro", "P42": "many_modes", "P43": "many_modes",
    "P44": "smooth",
}  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """One arm with proven frequencies (Hz, as strings of 22 digits, repeated by multiplicity)."""

    name: str
    description: str
    model: str
    tag: str
    digits: tuple[str, ...]
    multiplicities: tuple[int, ...]
    entry: dict[str, Any]

    @property
    def num_modes(self) -> int:
        return len(self.digits)

    @property
    def case(self) -> finite_elements.Case:
        return finite_elements.case_from_dict(self.entry)

    @property
    def arm(self) -> Any:
        return arm_from_entry(self.entry)

    @property
    def omega(self) -> np.ndarray:
        """The proven frequencies in rad/s, each rounded once to float64."""
        with mpmath.workdps(40):
            return np.array([float(2 * mpmath.pi * mpmath.mpf(text)) for text in self.digits])

    def relative_error(self, omega: np.ndarray) -> np.ndarray:
        """Signed relative errors of computed frequencies [rad/s], the difference formed exactly."""
        with mpmath.workdps(40):
            exact = [2 * mpmath.pi * mpmath.mpf(text) for text in self.digits]
            pairs = zip(omega, exact, strict=True)
            return np.array([float(mpmath.mpf(float(value)) / true - 1) for value, true in pairs])

    @property
    def degree(self) -> int:
        """A degree of the p-elements at which all listed modes have converged to rounding."""
        links = len(self.entry["links"])
        return min(10 + 2 * self.num_modes, 90) if links == 1 else 42 if links < 4 else 24


def arm_from_entry(entry: dict[str, Any]) -> Any:
    """The jaxmodal Arm of an oracle entry: raw sections, kappa 1 and shear modulus kG."""
    import jaxmodal as jm

    links = []
    for link in entry["links"]:
        section = jm.raw_section(link["A"], link["I"], shear_coefficient=1.0)
        links.append(
            jm.Link(
                link["L"],
                link["E"],
                link["rho"],
                section,
                shear_modulus=link["kG"],
                tip_mass=link["M"],
                tip_inertia=link["J"],
                joint_angle=link["theta"],
                joint_stiffness=link["kT"],
            )
        )
    return jm.Arm(tuple(links), name=entry["id"])


@cache
def problems() -> dict[str, Problem]:
    """All problems by name, in the order of the file."""
    entries = json.loads((DATA / "cases_public.json").read_text())["cases"]
    return {entry["id"]: _problem(entry) for entry in entries}


def _problem(entry: dict[str, Any]) -> Problem:
    multiplicities = [
        group["multiplicity"] for group in entry["distinct"] for _ in range(group["multiplicity"])
    ]
    return Problem(
        name=entry["id"],
        description=entry.get("description", entry["category"]),
        model=entry["model"],
        tag=TAGS[entry["id"]],
        digits=tuple(entry["f_hz"]),
        multiplicities=tuple(multiplicities),
        entry=entry,
    )


def named(*names: str) -> list[Problem]:
    """Some problems by name."""
    return [problems()[name] for name in names]
