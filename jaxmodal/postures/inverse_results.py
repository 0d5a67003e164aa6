"""Result of `postures_at`: angles of a joint, or values, with a given frequency."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.tables import certificate_text
from jaxmodal.postures.readings import as_read, cell_text, described, heading, in_unit
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.namespace import Array, at_once, is_traced, xp
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import OF_FREQUENCIES, Status, all_usable, explained, status_variable
from jaxmodal.runtime.tables import Table, shortened

if TYPE_CHECKING:
    import xarray


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class PosturesAt(Drawn, Result):
    """All angles of one joint, or values, at which an arm has a natural frequency; of N arms with a leading axis.

    A is the most that there may be. Of values it is the determinant's degree, 1 to 3, or up to 8 where one value is set
    in several links. Of angles it is 4 in the plane and 8 in space. It is 4 more for each tip beyond
    the joint that is supported along directions of the ground, in the plane not alike along x and y, and in space 4
    more for each that is supported about some. For joint 1 in the plane it is the latter alone.

    Attributes
    ----------
    value : Array, shape (..., A)
        Joint angles in rad, ascending in (-pi, pi], or values in SI units, ascending; NaN beyond the last. Joint angles
        are `angle`, too.
    mode : Array, shape (..., A)
        Number of the mode, from 1, that has the frequency there; 0 beyond the last, and where axial forces buckle the
        arm.
    count_below, count_above : Array, shape (..., A)
        J a relative 1e-12 below and above the frequency.
    status : Array, shape (..., A)
        `Status` codes: certified where the two counts differ; uncertified, too, where there is no angle; unstable where
        axial forces buckle the arm; every_value where the frequency does not depend on the angle or value, of which one
        is told.
    omega : Array, shape (...)
        The frequency asked for, rad/s.
    joint : int or str
        Number of the link whose joint it is, or the address of the value.
    theory : str
        Name of the theory.
    """

    value: Array
    mode: Array
    count_below: Array
    count_above: Array
    status: Array
    omega: Array
    joint: int | str = dataclasses.field(metadata={"static": True})
    theory: TheoryName = dataclasses.field(metadata={"static": True})

    @property
    def found(self) -> Array:
        """True where there is an angle, or a value: a spring's may be inf."""
        return at_once(lambda value: ~xp.isnan(value), self.value)

    @property
    def angle(self) -> Array:
        """Joint angles in rad, shape (..., A): `value`; an AttributeError if ``joint`` is the address of a value."""
        if isinstance(self.joint, str):
            raise AttributeError(
                f"angle: these are values of {self.joint}{in_unit(self.joint)}, and no angles of a joint; read value"
            )
        return self.value

    @property
    def certified(self) -> Array:
        """True where the counts confirm the angle."""
        return at_once(
            lambda found, status: found & (status == Status.certified), self.found, self.status
        )

    @property
    def ok(self) -> bool:
        """Whether every angle that was found is certified; places beyond the last do not count."""
        return all_usable(self._of_angles)

    def explain(self) -> str:
        """Return in words what the statuses of the angles mean, of those of all arms in turn."""
        codes = self._of_angles
        what = "value" if isinstance(self.joint, str) else "angle"
        return explained(codes) if np.size(codes) else f"no {what} was found."

    @property
    def _of_angles(self) -> Any:
        """The statuses of the angles, one after the other."""
        codes, found = self.status, self.found
        return codes if is_traced(codes, found) else np.asarray(codes)[np.asarray(found)]

    def tables(self) -> list[Table]:
        """Return the angles in degrees, or the values, with mode and certificate."""
        return [postures_table(self)]

    def to_xarray(self) -> xarray.Dataset:
        """Return angles (degrees), or values, modes and certificates as a dataset, dims place, and cell for many arms.

        Values are named ``value``.
        """
        import xarray

        dims = (*("cell",) * (np.ndim(self.value) - 1), "place")
        above = "natural frequencies up to just above"
        named, meaning, unit = described(self.joint)
        found, what = as_read(self.joint, self.value), "value" if named == "value" else "angle"
        variables: dict[str, Any] = {
            named: variable(dims, found, meaning, unit),
            "mode": variable(dims, self.mode, f"number of the mode, 0 for no {what}"),
            "count_below": variable(dims, self.count_below, "natural frequencies just below"),
            "count_above": variable(dims, self.count_above, above),
            "status": status_variable(dims, self.status, (*OF_FREQUENCIES, Status.every_value)),
            "frequency": in_hertz(dims[: np.ndim(self.omega)], self.omega, "frequency asked for"),
        }
        return xarray.Dataset(variables, attrs={"joint": self.joint, "theory": self.theory})


def postures_table(found: PosturesAt, title: str = "") -> Table:
    """Return the angles in degrees, or the values, with mode and certificate."""
    value = np.atleast_2d(as_read(found.joint, found.value))
    mode, status = (np.atleast_2d(np.asarray(x)) for x in (found.mode, found.status))
    hertz = np.atleast_1d(np.asarray(found.omega)) / (2.0 * np.pi)
    hertz = np.broadcast_to(hertz, value.shape[:1])
    many = np.ndim(found.value) > 1
    rows = []
    for i, k in zip(*np.nonzero(~np.isnan(value)), strict=True):
        own = [str(i + 1), f"{hertz[i]:.6g}"] if many else []
        text = cell_text(found.joint, value[i, k])
        rows.append([*own, text, str(mode[i, k] or "?"), certificate_text(status[i, k])])
    count = len(rows) or "no"
    of = f"{len(value)} frequencies and postures" if many else f"{hertz[0]:.6g} Hz"
    what = f"value{'s' * (count != 1)} of {found.joint}"
    if not isinstance(found.joint, str):
        what = f"angle{'s' * (count != 1)} of joint {found.joint}"
    head = title or f"{count} {what} with {of} ({found.theory})"
    first = ["cell", "frequency [Hz]"] if many else []
    headings = [*first, heading(found.joint), "mode", "certificate"]
    return Table(head, headings, shortened(rows), (), ("certificate",))
