"""Common parts of equilibria in the plane and in space: deflections, status and stresses."""

from __future__ import annotations

import dataclasses
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from jaxmodal.at_rest.stresses import Stresses, stresses_of
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.errors import LargeDeflectionWarning
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status
from jaxmodal.statics.equilibrium import LARGE_DISPLACEMENT, LARGE_ROTATION

if TYPE_CHECKING:
    import xarray

ALONG = ("link", "station")


@dataclasses.dataclass(frozen=True, repr=False)
class AtRest(Drawn, Result):
    """Base class of the results for one arm at rest: what both kinds of arm have, at stations along their links.

    Classes of the two kinds say the shapes and axes of these arrays.
    """

    #: dimensions and unit of each field of the dataset, and the labels of the dimensions other than link and station
    variables: ClassVar[dict[str, tuple[tuple[str, ...], str]]]
    labels: ClassVar[dict[str, tuple[str, ...]]]

    stations: Floats
    axial_force: Floats
    shear_force: Floats
    bending_moment: Floats
    displacement: Floats
    rotation: Floats
    joint_torque: Floats
    joint_force: Floats
    joint_give: Floats
    base_reaction: Floats
    reactions: Floats
    tip_displacement: Floats
    positions: Floats
    arm: Any
    theory: TheoryName

    @property
    def turned(self) -> Floats:
        """Magnitude of the rotation of each section, (n, S), rad."""
        raise NotImplementedError

    @property
    def section_forces(self) -> Floats:
        """N, V_y, V_z, M_x, M_y, M_z in section axes, (n, S, 6), N and N m."""
        raise NotImplementedError

    @property
    def largest_rotation(self) -> float:
        """The largest rotation of a section, rad."""
        return float(np.max(self.turned))

    @property
    def relative_deflection(self) -> float:
        """The largest displacement, relative to the sum of the links' lengths."""
        length = sum(float(link.length) for link in self.arm.links)
        largest = float(np.max(np.linalg.norm(self.displacement, axis=-1)))
        return largest / length if length > 0.0 else 0.0

    @property
    def status(self) -> Status:
        """Resolved for small deflections: rotations up to 0.1 rad, displacements up to 5 % of the arm's length."""
        small = (
            self.largest_rotation <= LARGE_ROTATION
            and self.relative_deflection <= LARGE_DISPLACEMENT
        )
        return Status.resolved if small else Status.large_deflection

    def to_xarray(self) -> xarray.Dataset:
        """Return all results as a dataset with dims link and station, of vectors also an axis."""
        import xarray

        found: dict[str, Any] = {
            name: variable(dims, getattr(self, name), name.replace("_", " "), unit)
            for name, (dims, unit) in self.variables.items()
        }
        found["reaction"] = variable(
            ("ground", "component"),
            [self.base_reaction, *self.reactions],
            "force (N) and moment (N m) that the ground exerts",
        )
        links = range(1, self.arm.num_links + 1)
        coordinates = {
            "link": np.array(links),
            "station": self.stations,
            "ground": ["base", *(f"tip_{i}" for i in links)],
            **{name: list(labels) for name, labels in self.labels.items()},
        }
        return xarray.Dataset(found, coordinates, {"theory": self.theory})

    def stresses(self) -> Stresses:
        """Return the stresses in the sections of all links whose section has a shape.

        Returns
        -------
        Stresses
            Stresses at points on the outline of each section; NaN for rigid links and for sections without a shape.

        Raises
        ------
        ArmError
            If no link that deforms has a section with a shape.
        """
        return stresses_of(self.arm, self.stations, self.section_forces, self.status, self.theory)


def warn_of_large_deflections(result: AtRest) -> None:
    """Warn of deflections that are too large for the linear theory."""
    if result.ok:
        return
    warnings.warn(
        f"a section turns by {result.largest_rotation:.3g} rad and a point moves by "
        f"{100 * result.relative_deflection:.3g} % of the arm's length: too much for small deflections (0.1 rad, "
        "5 %); the result is a first estimate.",
        LargeDeflectionWarning,
        stacklevel=3,
    )


def title_of(result: Any) -> str:
    """Return the name of the arm, and the theory."""
    return f"{result.arm.name or 'the arm'} ({result.theory})"


def how_far(result: AtRest) -> str:
    """Return a text with the largest deflections, and whether they are too large."""
    return (
        f"largest rotation {result.largest_rotation:.3g} rad, largest displacement "
        f"{100 * result.relative_deflection:.3g} % of the arm's length"
        + ("" if result.ok else ": TOO LARGE for small deflections")
    )


def ends(result: AtRest) -> tuple[str, str]:
    """Return the names of the first and the last station."""
    first, last = result.stations[0], result.stations[-1]
    return (
        "start" if first == 0.0 else f"x/L = {first:g}",
        "end" if last == 1.0 else f"x/L = {last:g}",
    )
