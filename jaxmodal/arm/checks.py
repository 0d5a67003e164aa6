"""Summary of an arm before it is solved, as tables: derived quantities, values, and implausible values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from jaxmodal.arm.plausibility import Implausibility
from jaxmodal.arm.units import ARCMINUTES
from jaxmodal.runtime.tables import ShowsTables, Table


@dataclass(frozen=True)
class ArmCheck(ShowsTables):
    """Result of `check_arm`; `print` shows it as tables.

    Attributes
    ----------
    name : str
        Name of the arm.
    links : tuple of LinkFacts, in space of SpatialLinkFacts
        Masses, section values, slenderness and cut-off frequency of each link, SI units.
    total_mass, payload_mass : float
        kg.
    features : tuple of (str, float, str)
        Address, value and SI unit of the other values that are set: angles, springs, hubs, rotors, offsets.
    remarks : tuple of Implausibility
        Values that are probably in a wrong unit or mistyped.
    """

    name: str
    links: tuple[Any, ...]
    total_mass: float
    payload_mass: float
    features: tuple[tuple[str, float, str], ...]
    remarks: tuple[Implausibility, ...]

    def __repr__(self) -> str:
        return f"<check of {self.name or 'an arm'}: {len(self.remarks)} values look wrong>"

    def tables(self) -> list[Table]:
        """Return the tables of the links, of the other values, and of the warnings."""
        count, of_links = len(self.links), sum(fact.mass for fact in self.links)
        reach = sum(fact.length for fact in self.links)
        head = [
            f"{self.name or 'arm'}: {count} link{'s' * (count > 1)}",
            f"total mass {self.total_mass:.6g} kg (links {of_links:.6g} kg, payload "
            f"{self.payload_mass:.6g} kg), length {reach:.6g} m",
        ]
        found = [Table(head[0], (), (), head[1:]), self.links_table()]
        if self.features:
            rows = [
                (name, f"{value:.6g}", also_in(value, unit)) for name, value, unit in self.features
            ]
            found.append(Table("", ("more", "value", "unit"), rows, (), ("more", "unit")))
        warnings = [f"warning: {remark}" for remark in self.remarks]
        if not warnings:
            warnings = ["no implausible values found"]
        return [*found, Table(warnings[0], (), (), warnings[1:])]

    def links_table(self) -> Table:
        """Return the table of derived quantities of each link."""
        rows = []
        for fact in self.links:
            number, shape, *values = vars(fact).values()
            cells = ("-" if value is None else f"{value:.6g}" for value in values)
            rows.append([str(number), shape, *cells])
        kind = type(self.links[0])
        return Table("", kind.headings, rows, (kind.legend,), ("section",))


def also_in(value: float, unit: str) -> str:
    """Return the unit, followed by the value in a more familiar unit: degrees, N m/arcmin."""
    if unit == "rad":
        return f"rad ({math.degrees(value):.6g}°)"
    if unit == "N m/rad" and math.isfinite(value):
        return f"N m/rad ({value / ARCMINUTES:.4g} N m/arcmin)"
    return "" if unit == "1" else unit.replace("^2", "²")
