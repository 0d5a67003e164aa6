"""Warnings of implausible values: wrong units, swapped or odd numbers.

Validation refuses impossible values; this module reports possible but unlikely ones. The bounds are wide: every
engineering material and every machine from a watch to a crane lies inside them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from jaxmodal.arm.addresses import list_addresses
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.facts import IN_PLANE, depth_in_plane
from jaxmodal.arm.links import Link
from jaxmodal.arm.parameters import get_parameter
from jaxmodal.arm.plausible_damping import damping_findings, support_findings
from jaxmodal.arm.plausible_joints import (
    Finding,
    body_findings,
    in_another_unit,
    joint_findings,
    offset_findings,
)
from jaxmodal.arm.plausible_loads import load_findings
from jaxmodal.arm.quantities import Scalar
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.runtime.errors import ImplausibleWarning

#: Whatever is measured lies between; powers and products of values beyond leave double precision.
MEASURABLE = (1e-50, 1e50)
#: Densities of solids in kg/m^3: rigid foams to osmium.
DENSITY_RANGE = (20.0, 23_000.0)
#: Young's moduli of solids in Pa: soft rubber to graphene.
MODULUS_RANGE = (1e6, 1.2e12)
#: Lengths of links in m.
LENGTH_RANGE = (1e-3, 50.0)
#: Largest dimension of a section in m.
LARGEST_SECTION = 2.0
#: Shear coefficients of all common sections; thin-walled I sections reach the lowest.
SHEAR_COEFFICIENT_RANGE = (0.15, 1.0)
#: Poisson ratios of ordinary solids: cork to rubber.
POISSON_RANGE = (0.0, 0.4999)

#: units that makers give, with their sizes in SI
_DENSITY_UNITS = ((1e3, "g/cm^3"), (1e12, "t/mm^3"), (1e9, "kg/mm^3"))
_MODULUS_UNITS = ((1e9, "GPa"), (1e6, "MPa (N/mm^2)"))

DIMENSIONS = ("depth", "width", "wall_thickness", "diameter", "outer_diameter")


@dataclass(frozen=True)
class Implausibility:
    """An implausible value: its address, the value in SI units, and the reason."""

    address: str
    value: float
    message: str

    def __str__(self) -> str:
        return f"{self.address} = {self.value:.6g}: {self.message}"


@np.errstate(all="ignore")
def implausible_values(arm: Arm) -> list[Implausibility]:
    """Return the values of an arm that are allowed but are probably in a wrong unit or mistyped.

    Returns
    -------
    list of Implausibility
        In the order of the links; empty if nothing looks wrong.

    Examples
    --------
    >>> from jaxmodal import examples
    >>> implausible_values(examples.three_link_industrial())
    []
    """
    found = beyond_measure(arm)
    if found:  # what follows from such values is no number
        return found
    links_mass = sum(float(link.mass) for link in arm.links)
    reach = sum(float(link.length) for link in arm.links)
    for number, link in enumerate(arm.links, start=1):
        for field, value, message in (
            *material_findings(link),
            *_geometry(link),
            *joint_findings(arm, number),
            *damping_findings(arm, number),
            *support_findings(link),
            *body_findings(link, "tip_", links_mass, float(link.length)),
            *(body_findings(link, "hub_", links_mass, reach)),
            *(body_findings(link, "stator_", links_mass, reach)),
            *offset_findings(link, ("base_offset", "end_offset", "tip_centre"), reach),
        ):
            found.append(Implausibility(f"link{number}.{field}", value, message))
    for field, value, message in (
        *body_findings(arm.payload, "", links_mass, float(arm.links[-1].length)),
        *offset_findings(arm.payload, ("centre",), reach),
    ):
        found.append(Implausibility(f"payload.{field}", value, message))
    found += [Implausibility(*finding) for finding in load_findings(arm)]
    return found


def beyond_measure(arm: SerialArm) -> list[Implausibility]:
    """Return values so large or small that results computed from them overflow; for arms of either kind."""
    low, high = MEASURABLE
    found = []
    for address in list_addresses(arm):
        value = float(get_parameter(arm, address))
        if value != 0.0 and math.isfinite(value) and not low <= abs(value) <= high:
            message = f"nothing measured is beyond {low:g} to {high:g} in size; check the unit and the exponent"
            found.append(Implausibility(address, value, message))
    return found


class Material(Protocol):
    """Protocol of the material fields that links of both kinds have."""

    @property
    def density(self) -> Scalar | None: ...

    @property
    def youngs_modulus(self) -> Scalar | None: ...

    @property
    def poisson_ratio(self) -> Scalar | None: ...

    @property
    def shear_modulus(self) -> Scalar | None: ...


def warn(remarks: Sequence[Implausibility], source: str) -> None:
    """Give one warning with all remarks, or none; it points to the call that read the arm."""
    before = f"{source}: " if source else ""
    found = [f"{before}{remark}" for remark in remarks]
    if found:
        warnings.warn("\n".join(found), ImplausibleWarning, stacklevel=4)


def material_findings(link: Material) -> Iterator[Finding]:
    """Yield implausible densities, moduli and Poisson ratios."""
    low, high = DENSITY_RANGE
    density = low if link.density is None else float(link.density)
    if not low <= density <= high:
        message = f"kg/m^3 expected, solids have {low:g} to {high:g}"
        other = in_another_unit(density, _DENSITY_UNITS, lambda x: 500.0 <= x <= high)
        yield "density", density, message + other
    odd_modulus = False
    for name in ("youngs_modulus", "shear_modulus"):
        value = getattr(link, name)
        if value is not None and not MODULUS_RANGE[0] <= float(value) <= MODULUS_RANGE[1]:
            odd_modulus, modulus = True, float(value)
            units = _MODULUS_UNITS if modulus < 1500.0 else _MODULUS_UNITS[1:]
            other = in_another_unit(modulus, units, lambda x: 1e8 <= x <= MODULUS_RANGE[1])
            yield name, modulus, f"Pa expected, solids have 1e6 to 1.2e12{other}"
    if link.poisson_ratio is not None:
        ratio = float(link.poisson_ratio)
        if not POISSON_RANGE[0] <= ratio <= POISSON_RANGE[1]:
            message = "ordinary materials have a Poisson ratio from 0 to below 0.5, metals near 0.3"
            yield "poisson_ratio", ratio, message
    if not (odd_modulus or link.shear_modulus is None or link.youngs_modulus is None):
        shear, young = float(link.shear_modulus), float(link.youngs_modulus)
        implied = young / (2.0 * shear) - 1.0
        if not -1e-6 <= implied <= 0.5:
            message = (
                f"with youngs_modulus = {young:.6g} it means a Poisson ratio of {implied:.3g}; "
                "isotropic materials have E/3 <= G <= E/2"
            )
            yield "shear_modulus", shear, message


def _geometry(link: Link) -> Iterator[Finding]:
    yield from size_findings(float(link.length), link.section)
    yield from _stockiness(link)
    kappa = link.section.shear_coefficient_value(link.poisson_ratio)
    yield from shear_findings("section.shear_coefficient", kappa)


def size_findings(length: float, section: object) -> Iterator[Finding]:
    """Yield lengths and section dimensions that are probably in millimetres."""
    low, high = LENGTH_RANGE
    if length > high:
        yield "length", length, f"m expected; if this is in mm, write {length / 1e3:.6g}"
    elif length < low:
        yield "length", length, "m expected; links shorter than a millimetre are unusual"
    for name in DIMENSIONS:
        value = float(getattr(section, name, 0.0))
        if value > LARGEST_SECTION:
            message = f"m expected; if this is in mm, write {value / 1e3:.6g}"
            yield f"section.{name}", value, message


def shear_findings(name: str, kappa: Scalar | None) -> Iterator[Finding]:
    """Yield a shear coefficient outside the range of all common sections."""
    low, high = SHEAR_COEFFICIENT_RANGE
    if kappa is not None and not low <= float(kappa) <= high:
        message = f"shear coefficients lie between {low:g} and {high:g}"
        if low <= 1.0 / float(kappa) <= high:
            message += f"; if this is a form factor, write its inverse, {1.0 / float(kappa):.6g}"
        yield name, float(kappa), message


def _stockiness(link: Link) -> Iterator[Finding]:
    """Yield sections deeper than the link is long, for which no beam theory holds."""
    length, depth = float(link.length), depth_in_plane(link)
    if depth is not None:
        if depth > length:
            factor = float(link.thickness_factor)
            with_factor = f" (thickness factor {factor:g} included)" if factor != 1.0 else ""
            message = (
                f"the section is deeper{with_factor} than the link is long ({length:.6g} m): "
                "no beam theory holds; check the units of both"
            )
            name = next(name for name in IN_PLANE if hasattr(link.section, name))
            yield f"section.{name}", depth, message
        return
    depth = math.sqrt(12.0 * float(link.second_moment) / float(link.area))
    if depth > length:
        message = (
            f"a rectangle with this area and second moment is {depth:.6g} m deep, the link only "
            f"{length:.6g} m long: no beam theory holds; check the units"
        )
        yield "section.second_moment", float(link.second_moment), message
    width = float(link.area) / depth
    if max(depth, width) > LARGEST_SECTION:
        message = (
            f"a rectangle with this area and second moment is {depth:.6g} m deep and {width:.6g} m "
            "wide; m^2 and m^4 expected"
        )
        yield "section.area", float(link.area), message
