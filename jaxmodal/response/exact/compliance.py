"""Static compliance between ports, from the exact static stiffness."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

from jaxmodal.arm.refusals import require_concrete
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.response.driven.labels import port_labels
from jaxmodal.response.driven.port_quantities import unit_of_pair
from jaxmodal.response.driven.ports import Port, Ports, ports
from jaxmodal.response.exact.kinds import RESPONSES
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.results import ResolvedResult
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm

if TYPE_CHECKING:
    import xarray


@dataclasses.dataclass(frozen=True, repr=False)
class StaticCompliance(ResolvedResult):
    """Static displacements of an arm under unit forces; result of `static_compliance`.

    Attributes
    ----------
    values : array, shape (p, m)
        Displacements of the outputs, m or rad, for 1 N or 1 N m at each input.
    inputs, outputs : tuple of Port
        Ports of the forces and of the displacements.
    theory : str
        Name of the theory.
    """

    values: Floats
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    theory: TheoryName

    def tables(self) -> list[Table]:
        """Return a table with one row per output."""
        units = [[unit_of_pair("receptance", o, i) for i in self.inputs] for o in self.outputs]
        rows = [
            [str(output), *(f"{x:.6g} {unit}" for x, unit in zip(*pair, strict=True))]
            for output, *pair in zip(self.outputs, self.values, units, strict=True)
        ]
        headings = ("output", *(f"for 1 of {each.force_name}" for each in self.inputs))
        return [Table(f"static compliance ({self.theory})", headings, rows, (), ("output",))]

    def to_xarray(self) -> xarray.Dataset:
        """Return a dataset with the dims output and input; units are a coordinate."""
        import xarray

        unit = functools.partial(unit_of_pair, "receptance")
        about = "displacement of the output at rest for a unit force"
        return xarray.Dataset(
            {"compliance": variable(("output", "input"), self.values, about)},
            port_labels(self.outputs, self.inputs, unit),
            {"theory": self.theory},
        )


def static_compliance(
    arm: AnyArm,
    inputs: Ports,
    outputs: Ports,
    *,
    theory: TheoryName = "timoshenko",
) -> StaticCompliance:
    """Return static displacements of an arm under unit forces.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm, with concrete values. Its axial forces and loads are taken into account.
    inputs, outputs
        Names of ports or `Port`, one or several; not the base.
    theory
        As for `natural_frequencies`.

    Returns
    -------
    StaticCompliance
        ``values`` of shape (outputs, inputs), in m or rad for 1 N or 1 N m: the limit of the receptance at zero
        frequency. For the six directions of a point in space it is the 6 x 6 compliance; its inverse is the Cartesian
        stiffness.

    Raises
    ------
    ArmError
        If the arm has no such port, or if a free joint or a free base lets a port move and neither supports nor forces
        hold it.
    UncertifiedError
        If static forces buckle the arm.

    Notes
    -----
    The coordinates are the deflections of the joints and, for each link, its stretching and bending. The exact
    stiffness over these coordinates carries the unit forces; no mesh is made. Without static forces the strain energy
    is half the sum of their squares, so that this is Castigliano's theorem. Axial forces and loads of the arm stiffen
    or soften it (docs/preload.md) and are constant. Supports hold tips by additional forces.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(2.0, 3.0, 1.0, jm.raw_section(1.0, 1.0))
    >>> found = jm.static_compliance(jm.Arm((link,)), "tip.across", "tip.across", theory="euler_bernoulli")
    >>> round(float(found.values[0, 0]), 14)   # L^3/(3 E I)
    0.88888888888889
    >>> arm = jm.examples.six_axis_industrial()
    >>> six = ["tip.x", "tip.y", "tip.z", "tip.rx", "tip.ry", "tip.rz"]
    >>> jm.static_compliance(arm, six, six).values.shape
    (6, 6)
    """
    theory_flags(theory)  # refuses an unknown one
    require_concrete(arm, "a static compliance")
    driven, read = ports(inputs, arm, "inputs"), ports(outputs, arm, "outputs")
    for each in (*driven, *read):
        if each.place == "base":
            raise ArmError(f"port {str(each)!r}: the base is held; give a port of the arm.")
    values = RESPONSES.of(arm).compliance(arm, theory, driven, read)
    return StaticCompliance(values, driven, read, theory)
