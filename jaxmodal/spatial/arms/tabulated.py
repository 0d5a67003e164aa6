"""Links whose stiffness and mass per length are a table at stations, as uniform pieces of equal length."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arguments import reals, whole
from jaxmodal.arm.links import Link
from jaxmodal.arm.loads import require_bound
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.sections import raw_section
from jaxmodal.arm.segments import cut
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError, suggestion
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.sections import spatial_section

Floats = NDArray[np.float64]
L = TypeVar("L", Link, SpatialLink)

_STATION = "station"
_PLANAR = ("axial_stiffness", "bending_stiffness", "mass")
_SPATIAL = (
    *("axial_stiffness", "bending_stiffness_y", "bending_stiffness_z", "torsional_stiffness"),
    *("mass", "polar_inertia"),
)
#: those that may be left out: of a planar link, of one in space
_MORE_PLANAR = ("shear_stiffness", "rotary_inertia")
_MORE_SPATIAL = ("shear_stiffness_y", "shear_stiffness_z", "twist")
#: what makes a link heavier where it grows; of all else frequencies rise
_INERTIA = ("mass", "rotary_inertia")


def tabulated(
    link: L, table: Mapping[str, Any] | str | Path, pieces: int = 16, bound: str = "middle"
) -> tuple[L, ...]:
    """Return a link with a table of stiffness and mass per length, as uniform segments of equal length.

    Parameters
    ----------
    link : Link or SpatialLink
        Its joint, bodies and length; its own section, modulus and density do not count.
    table
        Columns by name, or a CSV file of them with a row of names. ``station``: x/L, ascending from 0 to 1; between
        stations all is linear. For a planar link ``axial_stiffness`` E A, N, ``bending_stiffness`` E I, N m^2, and
        ``mass``, kg/m; ``shear_stiffness`` kappa G A, N, and ``rotary_inertia`` rho I, kg m, if known. For one in
        space ``axial_stiffness``, ``bending_stiffness_y`` and ``_z`` (about these axes), ``torsional_stiffness`` G J,
        ``mass`` and ``polar_inertia`` rho (I_y + I_z), kg m; ``shear_stiffness_y`` and ``_z``, and ``twist``, rad, the
        turn of the section about the link's axis, if there is any.
    pieces
        Number of segments, 1 or more.
    bound
        ``"middle"``: each segment has the values at its middle; the frequencies then converge with the square of the
        length of a segment. ``"lower"``: each has the least stiffness and the greatest inertia of its part of the link,
        ``"upper"`` the other way round; then every frequency is a lower, or an upper, bound of that of the link, by
        Rayleigh's principle. Of planar links alone.

    Returns
    -------
    tuple of Link or SpatialLink

    Raises
    ------
    ArmError
        A column is missing, unknown, or not as long as the others; stations do not ascend from 0 to 1; a value is not
        greater than 0; rotary inertia is more than the mass has.

    Notes
    -----
    Without ``rotary_inertia`` it is that of a section whose mass is spread as its area: mass times E I over E A. In
    space the polar one is shared out as the bending stiffnesses are.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05))
    >>> table = {"station": [0, 1], "axial_stiffness": [7e7, 3e7], "bending_stiffness": [2e3, 4e2], "mass": [3, 1.5]}
    >>> arm = jm.Arm(jm.tabulated(link, table, pieces=8))
    >>> f"{jm.natural_frequencies(arm, 1, 'euler_bernoulli').frequencies_hz[0]:.4f}"
    '16.9372'
    """
    if not isinstance(link, Link | SpatialLink):
        raise ArmError(f"link = {shown(link)}: must be a Link or a SpatialLink.")
    whole("pieces", pieces, 1, limits.LINKS)
    require_bound("bound", bound)
    in_space = isinstance(link, SpatialLink)
    stations, columns = _columns(table, in_space)
    if in_space and bound != "middle":
        raise ArmError(
            f"bound = {shown(bound)}: is of planar links alone; of one in space take bound = 'middle' and more pieces."
        )
    made = []
    for k in range(pieces):
        part = k / pieces, (k + 1) / pieces
        if in_space:
            made.append(_in_space(_middle(stations, columns, *part)))
        elif bound == "middle":
            made.append(_in_plane(_middle(stations, columns, *part)))
        else:
            made.append(_in_plane(_bounding(stations, columns, *part, lower=bound == "lower")))
    return cut(link, made)


def _columns(table: Any, in_space: bool) -> tuple[Floats, dict[str, Floats]]:
    """Stations, and the other columns by name."""
    if isinstance(table, str | Path):
        table = _read(table)
    if not isinstance(table, Mapping):
        raise ArmError(
            f"table = {shown(table)}: must be columns by name, or the path of a CSV file."
        )
    needed = _SPATIAL if in_space else _PLANAR
    known = (_STATION, *needed, *(_MORE_SPATIAL if in_space else _MORE_PLANAR))
    for name in table:
        if name not in known:
            raise ArmError(
                f"table[{shown(name)}]: known are {', '.join(known)}.{suggestion(str(name), known)}"
            )
    if missing := [name for name in (_STATION, *needed) if name not in table]:
        raise ArmError(
            f"table: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing."
        )
    found = {
        name: reals(f"table[{name!r}]", column, "a column of finite numbers")
        for name, column in table.items()
    }
    stations = found.pop(_STATION)
    ascend = stations.ndim == 1 and stations.size > 1 and bool(np.all(np.diff(stations) > 0.0))
    if not ascend or stations[0] != 0.0 or stations[-1] != 1.0:
        raise ArmError(
            f"table['station'] = {shown(table[_STATION])}: must be two or more values of x/L that ascend from 0 to 1."
        )
    for name, column in found.items():
        if column.shape != stations.shape or not np.all(np.isfinite(column)):
            raise ArmError(
                f"table[{name!r}] = {shown(table[name])}: must be {stations.size} finite numbers, one for each station."
            )
        if name != "twist" and not np.all(column > 0.0):
            raise ArmError(
                f"table[{name!r}] = {shown(table[name])}: must be greater than 0 everywhere."
            )
    return stations, found


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
    """The values at the middle of a part of a link, by name."""
    middle = 0.5 * (low + high)
    return {name: float(np.interp(middle, stations, x)) for name, x in columns.items()}


def _bounding(
    stations: Floats, columns: Mapping[str, Floats], low: float, high: float, lower: bool
) -> dict[str, float]:
    """Values of a part of a planar link that make every frequency too low, or too high."""
    inside = stations[(stations > low) & (stations < high)]
    places = np.concatenate([[low], inside, [high]])
    ends = {name: np.interp(places, stations, x) for name, x in columns.items()}
    least, most = ({name: float(f(x)) for name, x in ends.items()} for f in (np.min, np.max))
    found = {name: (most if (name in _INERTIA) == lower else least)[name] for name in ends}
    heavy, light = (most, least) if lower else (least, most)
    spread = heavy["mass"] * heavy["bending_stiffness"] / light["axial_stiffness"]
    rotary = found.setdefault("rotary_inertia", spread)
    # a section has no more than its mass spread as its stiffness: less stretching stiffness, or less rotary inertia
    possible = found["mass"] * found["bending_stiffness"] / found["axial_stiffness"]
    if rotary > possible and lower:
        found["axial_stiffness"] *= possible / rotary
    elif rotary > possible:
        found["rotary_inertia"] = possible
    return found


def _in_plane(own: Mapping[str, float]) -> dict[str, Any]:
    """The values of a link: its modulus 1 Pa, so that area and second moment are the stiffnesses."""
    area, second = own["axial_stiffness"], own["bending_stiffness"]
    rotary = own.get("rotary_inertia", own["mass"] * second / area)
    return _inertia(own["mass"], area, rotary / second) | {
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
    # a torsion constant of I_y + I_z, the most that a section may have, and the shear modulus that makes G J of it
    shear = torsion / sum(about)
    kappas = (_kappa(own, f"shear_stiffness_{x}", area * shear) for x in "yz")
    return _inertia(own["mass"], area, own["polar_inertia"] / sum(about)) | {
        "youngs_modulus": 1.0,
        "section": spatial_section(area, *about, sum(about), *kappas),
        "poisson_ratio": None,
        "shear_modulus": shear,
        "torsion_constant": None,
        "section_roll": own.get("twist"),
    }


def _kappa(own: Mapping[str, float], name: str, stiffness: float) -> float | None:
    """The shear coefficient that makes a shear stiffness of one without."""
    return own[name] / stiffness if name in own else None


def _inertia(mass: float, area: float, density: float) -> dict[str, Any]:
    """The density that gives a section its moments of inertia, and what mass it has beside."""
    beside = mass - density * area
    if beside < -1e-12 * mass:
        raise ArmError(
            f"table: the moments of inertia of a section, spread as its stiffness, make {density * area:.6g} kg/m, and "
            f"its mass is {mass:.6g} kg/m; give less rotary or polar inertia."
        )
    return {"density": density, "nonstructural_mass": beside if beside > 1e-12 * mass else None}
