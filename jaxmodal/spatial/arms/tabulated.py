"""Links with tabulated stiffness and mass per length, as uniform segments of equal length."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from jaxmodal.arm.arguments import reals, whole
from jaxmodal.arm.links import Link
from jaxmodal.arm.loads import require_bound
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.sections import raw_section
from jaxmodal.arm.segments import cut
from jaxmodal.runtime import limits
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError, suggestion
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.sections import spatial_section

L = TypeVar("L", Link, SpatialLink)


class _Kind(NamedTuple):
    """Links of one kind: required and optional columns with their units, values that bound, and fields of a link."""

    needed: dict[str, str]
    more: dict[str, str]
    bounding: Callable[[_Range, bool], dict[str, float]]
    values: Callable[[Mapping[str, float]], dict[str, Any]]


_STATION, _PLACE, _AXIAL = "station", "x", "axial_stiffness"
#: required columns, for a planar link and a link in space, with their units as name suffixes
_PLANAR = {"bending_stiffness": "nm2", "mass_per_length": "kg_m"}
_SPATIAL = {
    **dict.fromkeys(("bending_stiffness_y", "bending_stiffness_z", "torsional_stiffness"), "nm2"),
    **dict.fromkeys(("mass_per_length", "polar_inertia"), "kg_m"),
}
#: optional columns
_MORE_PLANAR = {_AXIAL: "n", "shear_stiffness": "n", "rotary_inertia": "kg_m"}
_MORE_SPATIAL = {
    **dict.fromkeys((_AXIAL, "shear_stiffness_y", "shear_stiffness_z"), "n"),
    "twist": "rad",
}
#: default axial stiffness, in units of the largest bending stiffness over the square of the length
_HARDLY_STRETCHES = 1e8
#: columns that lower frequencies when they grow; all others raise them
_INERTIA = ("mass_per_length", "rotary_inertia")


def tabulated(
    link: L, table: Mapping[str, Any] | str | Path, pieces: int = 16, bound: str = "middle"
) -> tuple[L, ...]:
    """Return a link with tabulated stiffness and mass per length, as uniform segments of equal length.

    Parameters
    ----------
    link : Link or SpatialLink
        The link whose joint, bodies and length are used; its own section, modulus and density are ignored.
    table
        Columns by name, or the path of a CSV file with a header; values are linear between stations. ``station``, x/L,
        ascends from 0 to 1, or ``x``, m, from 0 to the length. A planar link needs ``bending_stiffness`` E I, N m^2,
        and ``mass_per_length``, kg/m; optional are ``axial_stiffness`` E A and ``shear_stiffness`` kappa G A, N, and
        ``rotary_inertia`` rho I, kg m. A link in space needs ``bending_stiffness_y`` and ``_z`` (about these axes),
        ``torsional_stiffness`` G J, ``mass_per_length`` and ``polar_inertia`` rho (I_y + I_z), kg m; optional are
        ``axial_stiffness``, ``shear_stiffness_y`` and ``_z``, and ``twist``, rad, the rotation of the section about the
        link's axis. Names may end in SI units: ``x_m``, ``bending_stiffness_nm2``, ``mass_per_length_kg_m``,
        ``axial_stiffness_n``.
    pieces
        Number of segments, 1 or more.
    bound
        ``"middle"``: each segment has the values at its middle; the frequency error decreases with the square of the
        segment length. ``"lower"``: each segment has the least stiffness and the greatest inertia of its part of the
        link, so that every frequency is a lower bound by Rayleigh's principle. ``"upper"``: the opposite, with upper
        bounds. With ``twist`` the bounds converge with the rotation within a segment.

    Returns
    -------
    tuple of Link or SpatialLink

    Raises
    ------
    ArmError
        If a column is missing, unknown, or of another length than the others; if stations do not ascend from 0 to 1; if
        a value is not greater than 0; or if the rotary inertia is too large for the mass.

    Notes
    -----
    Without ``axial_stiffness`` a link is nearly inextensible: the stiffness is 1e8 times its largest bending stiffness
    divided by the square of its length. Without ``rotary_inertia`` the mass is assumed to be distributed as the area of
    the section: mass times E I over E A. In space the polar inertia is divided in proportion to the bending
    stiffnesses.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05))
    >>> table = {"station": [0, 1], "axial_stiffness": [7e7, 3e7], "bending_stiffness": [2e3, 4e2]}
    >>> table["mass_per_length"] = [3.0, 1.5]
    >>> arm = jm.Arm(jm.tabulated(link, table, pieces=8))
    >>> f"{jm.natural_frequencies(arm, 1, theory='euler_bernoulli').frequencies_hz[0]:.4f}"
    '16.9372'
    """
    kind = _KINDS.get(type(link))
    if kind is None:
        raise ArmError(f"link = {shown(link)}: must be a Link or a SpatialLink.")
    whole("pieces", pieces, 1, limits.LINKS)
    require_bound("bound", bound)
    stations, columns = _columns(table, kind, link.length)
    made = []
    for k in range(pieces):
        part = k / pieces, (k + 1) / pieces
        if bound == "middle":
            own = _middle(stations, columns, *part)
        else:
            own = kind.bounding(_Range.of(stations, columns, *part), bound == "lower")
        made.append(kind.values(own))
    return cut(link, made)


def _columns(table: Any, kind: _Kind, length: Any) -> tuple[Floats, dict[str, Floats]]:
    """Return relative stations, and the other columns by name."""
    if isinstance(table, str | Path):
        table = _read(table)
    if not isinstance(table, Mapping):
        raise ArmError(
            f"table = {shown(table)}: must be columns by name, or the path of a CSV file."
        )
    units = {_STATION: "1", _PLACE: "m"} | kind.needed | kind.more
    found = {}
    for key, column in table.items():
        name = next((x for x, unit in units.items() if key in (x, f"{x}_{unit}")), None)
        if name is None:
            known = ", ".join(units)
            near = suggestion(str(key), list(units))
            raise ArmError(f"table[{shown(key)}]: known are {known}.{near}")
        if name in found:
            raise ArmError(f"table[{shown(key)}]: {name} is given twice; give it once.")
        found[name] = reals(f"table[{name!r}]", column, "a column of finite numbers")
    if missing := [name for name in kind.needed if name not in found]:
        are = "is" if len(missing) == 1 else "are"
        raise ArmError(f"table: {', '.join(missing)} {are} missing.")
    stations = _stations(found, length)
    for name, column in found.items():
        if column.shape != stations.shape or not np.all(np.isfinite(column)):
            raise ArmError(
                f"table[{name!r}] = {shown(column.tolist())}: must be {stations.size} finite numbers, one for each "
                "station."
            )
        if name != "twist" and not np.all(column > 0.0):
            raise ArmError(
                f"table[{name!r}] = {shown(column.tolist())}: must be greater than 0 everywhere."
            )
    if _AXIAL not in found:
        stiffest = max(
            float(found[name].max()) for name in kind.needed if name.startswith("bending")
        )
        found[_AXIAL] = np.full(stations.shape, _HARDLY_STRETCHES * stiffest / float(length) ** 2)
    return stations, found


def _stations(found: dict[str, Floats], length: Any) -> Floats:
    """Return relative stations x/L, removed from the columns."""
    given = [name for name in (_STATION, _PLACE) if name in found]
    if len(given) != 1:
        raise ArmError("table: must have one of station, x/L, and x, m.")
    column = found.pop(given[0])
    end = 1.0 if given[0] == _STATION else float(length)
    ascend = column.ndim == 1 and column.size > 1 and bool(np.all(np.diff(column) > 0.0))
    if not ascend or column[0] != 0.0 or abs(column[-1] - end) > 1e-9 * end:
        raise ArmError(
            f"table[{given[0]!r}] = {shown(column.tolist())}: must be two or more values that ascend from 0 to "
            f"{end:g}{'' if given[0] == _STATION else ', the length of the link'}."
        )
    return column / column[-1]


def _read(path: str | Path) -> dict[str, Floats]:
    try:
        rows = np.genfromtxt(path, delimiter=",", names=True, dtype=float, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ArmError(f"table = {shown(str(path))}: cannot be read as CSV: {error}") from error
    if rows.dtype.names is None:
        raise ArmError(f"table = {shown(str(path))}: has no row of names, such as station,mass,...")
    return {name: np.atleast_1d(rows[name]) for name in rows.dtype.names}


def _middle(
    stations: Floats, columns: Mapping[str, Floats], low: float, high: float
) -> dict[str, float]:
    """Return values at the middle of a part of a link, by name."""
    middle = 0.5 * (low + high)
    return {name: float(np.interp(middle, stations, x)) for name, x in columns.items()}


class _Range(NamedTuple):
    """Minimum and maximum of each column along a part of a link."""

    least: dict[str, float]
    most: dict[str, float]

    @classmethod
    def of(cls, stations: Floats, columns: Mapping[str, Floats], low: float, high: float) -> _Range:
        """Return the range between two relative stations."""
        inside = stations[(stations > low) & (stations < high)]
        places = np.concatenate([[low], inside, [high]])
        ends = {name: np.interp(places, stations, x) for name, x in columns.items()}
        return cls(*({name: float(f(x)) for name, x in ends.items()} for f in (np.min, np.max)))


def _bounding_in_plane(part: _Range, lower: bool) -> dict[str, float]:
    """Return values of a part of a planar link that make every frequency a lower, or an upper, bound."""
    least, most = part
    found = {name: (most if (name in _INERTIA) == lower else least)[name] for name in least}
    heavy, light = (most, least) if lower else (least, most)
    spread = heavy["mass_per_length"] * heavy["bending_stiffness"] / light["axial_stiffness"]
    rotary = found.setdefault("rotary_inertia", spread)
    # the rotary inertia of a section is limited by its mass: reduce either axial stiffness or rotary inertia
    possible = found["mass_per_length"] * found["bending_stiffness"] / found["axial_stiffness"]
    if rotary > possible and lower:
        found["axial_stiffness"] *= possible / rotary
    elif rotary > possible:
        found["rotary_inertia"] = possible
    return found


def _bounding_in_space(part: _Range, lower: bool) -> dict[str, float]:
    """Return values of a part of a link in space that make every frequency a lower, or an upper, bound."""
    least, most = part
    soft, heavy, light = (least, most, least) if lower else (most, least, most)
    found = dict(soft) | {"mass_per_length": heavy["mass_per_length"]}
    turn = 0.0
    if "twist" in least:
        found["twist"] = 0.5 * (least["twist"] + most["twist"])
        turn = 0.5 * (most["twist"] - least["twist"])
    bending, shear = (tuple(f"{name}_stiffness_{x}" for x in "yz") for name in ("bending", "shear"))
    for pair in (bending, shear):
        if all(name in soft for name in pair):
            turned = _whatever_turn((soft[pair[0]], soft[pair[1]]), turn, lower)
            found |= dict(zip(pair, turned, strict=True))
    # the polar inertia is divided in proportion to the bending stiffnesses; take the largest or smallest parts
    about = []
    for own, other in (bending, bending[::-1]):
        share = heavy[own] / (heavy[own] + light[other])
        about.append(heavy["polar_inertia"] * share)
    rotary = _whatever_turn((about[0], about[1]), turn, not lower)
    ratios = [inertia / found[name] for inertia, name in zip(rotary, bending, strict=True)]
    density = max(ratios) if lower else min(ratios)
    if density * found["axial_stiffness"] > found["mass_per_length"]:  # more than its mass allows
        if lower:
            found["axial_stiffness"] = found["mass_per_length"] / density
        else:
            density = found["mass_per_length"] / found["axial_stiffness"]
    return found | {"polar_inertia": density * (found[bending[0]] + found[bending[1]])}


def _whatever_turn(values: tuple[float, float], turn: float, lower: bool) -> tuple[float, float]:
    """Return values about two axes that bound those about axes rotated by up to ``turn``, from below or above.

    In terms of matrices: A rotated by any angle, minus the returned diagonal D, is positive semidefinite, or negative
    semidefinite. With p > q in A, its entries are p - (p - q) s^2 and q + (p - q) s^2 on the diagonal and (p - q) s c
    off it. The off-diagonal part is bounded by the diagonal (p - q) s c (t, 1/t), by the inequality of arithmetic and
    geometric means.
    """
    first = 0 if values[0] >= values[1] else 1
    p, q = values[first], values[1 - first]
    sine = math.sin(min(turn, 0.5 * math.pi))
    across, t = 0.5 * (p - q) * math.sin(min(2.0 * turn, 0.5 * math.pi)), math.sqrt(p / q)
    if lower:
        found = p - (p - q) * sine * sine - across * t, q - across / t
        if found[1] <= 0.0 or found[0] * found[1] <= q * q:
            found = q, q
    else:
        found = p + across * t, q + (p - q) * sine * sine + across / t
        if found[0] * found[1] >= p * p:
            found = p, p
    return (found[0], found[1]) if first == 0 else (found[1], found[0])


def _in_plane(own: Mapping[str, float]) -> dict[str, Any]:
    """Return the values of a planar link with modulus 1 Pa, so that area and second moment equal the stiffnesses."""
    area, second = own["axial_stiffness"], own["bending_stiffness"]
    rotary = own.get("rotary_inertia", own["mass_per_length"] * second / area)
    return _inertia(own["mass_per_length"], area, rotary / second) | {
        "youngs_modulus": 1.0,
        "section": raw_section(area, second, _kappa(own, "shear_stiffness", area)),
        "poisson_ratio": None,
        "shear_modulus": 1.0,
        "thickness_factor": 1.0,
    }


def _in_space(own: Mapping[str, float]) -> dict[str, Any]:
    area = own["axial_stiffness"]
    about = own["bending_stiffness_y"], own["bending_stiffness_z"]
    torsion = own["torsional_stiffness"]
    # the torsion constant is I_y + I_z, the largest possible, and the shear modulus follows from G J
    shear = torsion / sum(about)
    kappas = (_kappa(own, f"shear_stiffness_{x}", area * shear) for x in "yz")
    return _inertia(own["mass_per_length"], area, own["polar_inertia"] / sum(about)) | {
        "youngs_modulus": 1.0,
        "section": spatial_section(area, *about, sum(about), *kappas),
        "poisson_ratio": None,
        "shear_modulus": shear,
        "torsion_constant": None,
        "section_roll": own.get("twist"),
    }


def _kappa(own: Mapping[str, float], name: str, stiffness: float) -> float | None:
    """Return the shear coefficient that gives the tabulated shear stiffness."""
    return own[name] / stiffness if name in own else None


def _inertia(mass: float, area: float, density: float) -> dict[str, Any]:
    """Return the density that gives a section its moments of inertia, and the remaining mass per length."""
    beside = mass - density * area
    if beside < -1e-12 * mass:
        raise ArmError(
            f"table: the moments of inertia of a section, spread as its stiffness, make {density * area:.6g} kg/m, and "
            f"its mass is {mass:.6g} kg/m; give less rotary or polar inertia."
        )
    return {"density": density, "nonstructural_mass": beside if beside > 1e-12 * mass else None}


_KINDS = {
    Link: _Kind(_PLANAR, _MORE_PLANAR, _bounding_in_plane, _in_plane),
    SpatialLink: _Kind(_SPATIAL, _MORE_SPATIAL, _bounding_in_space, _in_space),
}
