"""Loads, section forces, deflections and buckling factors as tables and datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.at_rest.results import ends, how_far, title_of
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.parts.parameters import unit_of_address

if TYPE_CHECKING:
    import xarray

    from jaxmodal.at_rest.buckling import Buckling
    from jaxmodal.at_rest.static_equilibrium import StaticEquilibrium


def statics_tables(result: StaticEquilibrium) -> list[Table]:
    """Forces and moments at the ends of the links and in the joints; reactions where there are supports."""
    rows = []
    for i in range(result.arm.num_links):
        values = [
            f"{field[i, k]:.5g}"
            for k in (0, -1)
            for field in (result.axial_force, result.shear_force, result.bending_moment)
        ]
        rows.append([f"link {i + 1}", *values, f"{result.joint_torque[i]:.5g}"])
    x, y, turn = result.tip_displacement
    notes = [
        f"tip: {1e3 * x:.5g} mm along x, {1e3 * y:.5g} mm along y of the base, {turn:.4g} rad",
        how_far(result),
    ]
    headings = [
        "",
        *(f"{name}, {end}" for end in ends(result) for name in ("N [N]", "V [N]", "M [N m]")),
        "joint torque [N m]",
    ]
    tables = [Table(f"at rest: {title_of(result)}", headings, rows, notes)]
    grounds = [["base", *(f"{value + 0.0:.5g}" for value in result.base_reaction)]]  # no -0
    grounds += [
        [f"tip of link {i + 1}", *(f"{value + 0.0:.5g}" for value in row)]
        for i, row in enumerate(result.reactions)
        if np.any(row)
    ]
    headings = ["ground at", "force x [N]", "force y [N]", "moment [N m]"]
    return [*tables, Table("reactions", headings, grounds, left=("ground at",))]


def statics_dataset(result: StaticEquilibrium) -> xarray.Dataset:
    """All fields with their units."""
    import xarray

    along, joint = ("link", "station"), ("link",)
    variables: dict[str, Any] = {}
    for name, dims, unit in (
        ("axial_force", along, "N"),
        ("shear_force", along, "N"),
        ("bending_moment", along, "N m"),
        ("displacement", (*along, "axis"), "m"),
        ("rotation", along, "rad"),
        ("joint_torque", joint, "N m"),
    ):
        variables[name] = variable(dims, getattr(result, name), name.replace("_", " "), unit)
    variables["reaction"] = variable(
        ("ground", "component"),
        [result.base_reaction, *result.reactions],
        "force (N) and moment (N m) that the ground exerts",
    )
    names = ["base", *(f"tip_{i + 1}" for i in range(result.arm.num_links))]
    coordinates = {
        "link": np.arange(1, result.arm.num_links + 1),
        "station": result.stations,
        "axis": ["x", "y"],
        "ground": names,
        "component": ["force_x", "force_y", "moment"],
    }
    return xarray.Dataset(variables, coordinates, {"theory": result.theory})


def buckling_table(result: Buckling) -> list[Table]:
    """Factors with certificates, then derivatives."""
    rows = []
    for k, factor in enumerate(result.factors):
        if np.isposinf(factor):
            text, said = "none", "certified: nothing is pressed"
        elif np.isnan(factor):
            text, said = "-", f"NOT found up to {result.bracket[k, 0]:.3g}"
        else:
            repeated = int(result.multiplicity[k])
            fold = f", {repeated}-fold" if repeated > 1 else ""
            text = f"{factor:#.6g}"
            said = f"certified{fold}" if result.certified[k] else "NOT certified"
        rows.append([str(k + 1), text, said])
    title = f"buckling factors of {title_of(result)}"
    tables = [Table(title, ["number", "load factor", "certificate"], rows, left=("certificate",))]
    if result.derivatives is not None:
        headings = ["address", "unit", *(f"d factor {k + 1}" for k in range(len(rows)))]
        by = [
            [address, unit_of_address(address), *(f"{x:.6g}" for x in column)]
            for address, column in zip(result.addresses, result.derivatives.T, strict=True)
        ]
        tables.append(Table("derivatives per unit", headings, by, left=("address", "unit")))
    return tables


def buckling_dataset(result: Buckling) -> xarray.Dataset:
    """Factors, certificates, shapes and derivatives."""
    import xarray

    in_space = result.rotation.ndim == 4
    variables: dict[str, Any] = {
        "load_factor": variable("factor", result.factors, "buckling load factor", "1"),
        "certified": ("factor", result.certified),
        "multiplicity": ("factor", result.multiplicity),
        "axial_force": variable(
            ("link", "end"), result.axial_force, "axial force under the loads as given", "N"
        ),
        "displacement": (("factor", "link", "station", "axis"), result.displacement),
        "rotation": (("factor", "link", "station", *("axis",) * in_space), result.rotation),
    }
    coordinates: dict[str, Any] = {
        "factor": np.arange(1, result.factors.size + 1),
        "link": np.arange(1, result.arm.num_links + 1),
        "station": result.stations,
        "end": ["start", "end"],
        "axis": ["x", "y", "z"] if in_space else ["x", "y"],
    }
    if result.derivatives is not None:
        variables["derivative"] = (("factor", "address"), result.derivatives)
        coordinates["address"] = list(result.addresses)
    return xarray.Dataset(variables, coordinates, {"theory": result.theory})
