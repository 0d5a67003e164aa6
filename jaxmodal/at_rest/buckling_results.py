"""Result of `buckling`: load factors with their certificates and shapes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.at_rest.results import title_of
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.array_types import Bools, Floats, Integers
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import Result, certified_where
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.parts.parameters import unit_of_address

if TYPE_CHECKING:
    import xarray


@dataclasses.dataclass(frozen=True, repr=False)
class Buckling(Drawn, Result):
    """Buckling load factors of one arm, each with its certificate and its shape.

    Attributes
    ----------
    factors : array, shape (K,)
        Factors of the loads at which the arm buckles, ascending (with ``both_signs`` by magnitude), repeated by
        multiplicity; inf if the arm does not buckle under loads in this direction, NaN if the search found none.
    certified : array of bool, shape (K,)
        True where the counts at both ends of ``bracket`` confirm the factor and its number, or where no factor exists
        because no part is under compression.
    count_below, count_above : array of int, shape (K,)
        Numbers of factors (of the same sign) below the lower and below the upper end of ``bracket``.
    bracket : array, shape (K, 2)
        Factors at which the counts were taken: at a relative distance of 1e-12, or farther where rounding requires it.
    axial_force : array, shape (n, 2)
        Axial forces at the start and the end of each link under the given loads, N, tension positive.
    stations : array, shape (S,)
        Places along each link, as shares of its length.
    displacement : array, shape (K, n, S, 2)
        Displacements of the buckling shapes in base axes, or in ground axes (K, n, S, 3) for arms in space; the largest
        component is 1.
    rotation : array, shape (K, n, S)
        Rotations of the buckling shapes, rad, (K, n, S, 3) for arms in space. Shapes are NaN where there is no factor
        or no shape was found. Those of a repeated factor span the space of its shapes.
    derivatives : array, shape (K, P), or None
        Derivatives of the factors with respect to the values at ``addresses``, per SI unit; NaN for a repeated factor,
        which has no derivative, and where there is no factor.
    addresses : tuple of str
        The P addresses.
    positions : array, shape (n, S, 2) or (n, S, 3)
        Positions of the stations in the undeformed posture, m.
    arm : Arm or SpatialArm
    theory : str
    """

    factors: Floats
    certified: Bools
    count_below: Integers
    count_above: Integers
    bracket: Floats
    axial_force: Floats
    stations: Floats
    displacement: Floats
    rotation: Floats
    derivatives: Floats | None
    addresses: tuple[str, ...]
    positions: Floats
    arm: AnyArm
    theory: TheoryName

    @property
    def status(self) -> Integers:
        """`Status` codes of the factors, shape (K,): certified, nothing_pressed if there is none, or uncertified."""
        return np.where(
            self.certified & np.isinf(self.factors),
            int(Status.nothing_pressed),
            certified_where(self.certified),
        )

    @property
    def multiplicity(self) -> Integers:
        """Number of factors inside each bracket, shape (K,)."""
        return self.count_above - self.count_below

    def tables(self) -> list[Table]:
        """Return the factors with their certificates, and the derivatives."""
        rows = []
        for k, factor in enumerate(self.factors):
            if np.isposinf(factor):
                text, said = "none", "certified: nothing is pressed"
            elif np.isnan(factor):
                text, said = "-", f"NOT found up to {self.bracket[k, 0]:.3g}"
            else:
                repeated = int(self.multiplicity[k])
                fold = f", {repeated}-fold" if repeated > 1 else ""
                text = f"{factor:#.6g}"
                said = f"certified{fold}" if self.certified[k] else "NOT certified"
            rows.append([str(k + 1), text, said])
        title = f"buckling factors of {title_of(self)}"
        tables = [
            Table(title, ["number", "load factor", "certificate"], rows, left=("certificate",))
        ]
        if self.derivatives is not None:
            headings = ["address", "unit", *(f"d factor {k + 1}" for k in range(len(rows)))]
            by = [
                [address, unit_of_address(address), *(f"{x:.6g}" for x in column)]
                for address, column in zip(self.addresses, self.derivatives.T, strict=True)
            ]
            tables.append(Table("derivatives per unit", headings, by, left=("address", "unit")))
        return tables

    def to_xarray(self) -> xarray.Dataset:
        """Return factors, certificates and shapes as a dataset with dims factor, link, station."""
        import xarray

        in_space = self.rotation.ndim == 4
        variables: dict[str, Any] = {
            "load_factor": variable("factor", self.factors, "buckling load factor", "1"),
            "certified": variable(
                "factor", self.certified, "whether the counts confirm the factor"
            ),
            "multiplicity": variable("factor", self.multiplicity, "factors inside the bracket"),
            "axial_force": variable(
                ("link", "end"), self.axial_force, "axial force under the loads as given", "N"
            ),
            "displacement": variable(
                ("factor", "link", "station", "axis"),
                self.displacement,
                "displacement of the shape, its largest component 1",
                "m",
            ),
            "rotation": variable(
                ("factor", "link", "station", *("axis",) * in_space),
                self.rotation,
                "rotation of the shape",
                "rad",
            ),
        }
        coordinates: dict[str, Any] = {
            "factor": np.arange(1, self.factors.size + 1),
            "link": np.arange(1, self.arm.num_links + 1),
            "station": self.stations,
            "end": ["start", "end"],
            "axis": ["x", "y", "z"] if in_space else ["x", "y"],
        }
        if self.derivatives is not None:
            variables["derivative"] = variable(
                ("factor", "address"), self.derivatives, "derivative of the factor, per SI unit"
            )
            coordinates["address"] = list(self.addresses)
        return xarray.Dataset(variables, coordinates, {"theory": self.theory})
