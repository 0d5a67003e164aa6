"""The postures at which an arm has a given natural frequency.

At a fixed frequency the determinant is a trigonometric polynomial of degree 2 in each joint angle
(`harmonics`), which five postures determine; `trigonometric_zeros` solves it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import numpy as np

from jaxmodal.arm.arguments import is_whole, real_array
from jaxmodal.arm.arm import Arm, require_planar
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.refusals import refuse_loads, refuse_supports
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, prepared_values
from jaxmodal.dynamic_stiffness.rigid_motions import number_of_zero_modes
from jaxmodal.frequencies.status import Status
from jaxmodal.postures.harmonics import determinant, of_cells
from jaxmodal.postures.tables import postures_dataset, postures_table
from jaxmodal.postures.trigonometric_zeros import (
    FIFTHS,
    MOST_ANGLES,
    corrected,
    repeated,
    slope_at,
    stationary,
    through_fifths,
    wrapped,
    zeros,
)
from jaxmodal.runtime.namespace import Array, at_once, xp
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.tables import ShowsDatasets, Table
from jaxmodal.statics.beam_arrays import BeamArrays

if TYPE_CHECKING:
    import xarray

#: the counts are taken at omega (1 -+ this)
_DISTANCE = 1e-12
#: a slope below this, in units of the polynomial's size, is one at which a zero may touch
_FLAT = 3e-6


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class PosturesAt(Drawn, ShowsDatasets):
    """All angles of one joint at which an arm has a natural frequency; of N arms with a leading axis.

    Attributes
    ----------
    angle : Array, shape (..., 4)
        Joint angles in rad, ascending in (-pi, pi]; NaN beyond the last.
    mode : Array, shape (..., 4)
        Number of the mode, from 1, that has the frequency there; 0 beyond the last, and where axial forces buckle the
        arm.
    count_below, count_above : Array, shape (..., 4)
        J a relative 1e-12 below and above the frequency.
    status : Array, shape (..., 4)
        `Status` codes: certified where the two counts differ; uncertified, too, where there is no angle; unstable where
        axial forces buckle the arm.
    omega : Array, shape (...)
        The frequency asked for, rad/s.
    joint : int
        Number of the link whose joint it is.
    theory : str
        Name of the theory.
    """

    angle: Array
    mode: Array
    count_below: Array
    count_above: Array
    status: Array
    omega: Array
    joint: int = dataclasses.field(metadata={"static": True})
    theory: TheoryName = dataclasses.field(metadata={"static": True})
    picture: ClassVar[str] = "jaxmodal.plots.frequencies:draw_postures_at"

    @property
    def found(self) -> Array:
        """True where there is an angle."""
        return at_once(xp.isfinite, self.angle)

    @property
    def certified(self) -> Array:
        """True where the counts confirm the angle."""
        return at_once(
            lambda found, status: found & (status == Status.certified), self.found, self.status
        )

    def tables(self) -> list[Table]:
        """Return the angles in degrees with mode and certificate."""
        return [postures_table(self)]

    def to_xarray(self) -> xarray.Dataset:
        """Return angles (degrees), modes and certificates as a dataset with dims place, and cell for many arms."""
        return postures_dataset(self)


def postures_at(
    arm: Arm, omega: Any, joint: int = 2, postures: Any = None, theory: TheoryName = "timoshenko"
) -> PosturesAt:
    """All angles of one joint at which an arm has a natural frequency ``omega``.

    Parameters
    ----------
    arm : Arm
        The arm, of at least two links.
    omega : float or array, shape (N,)
        Angular frequencies in rad/s, > 0.
    joint : int
        The joint at the base of this link, 2 to n (the angle of link 1 changes no frequency).
    postures : array, shape (n - 1,) or (N, n - 1), optional
        Angles theta_2 .. theta_n in rad, by default the arm's own; that of ``joint`` does not matter.
    theory : str
        As for `natural_frequencies`.

    Returns
    -------
    PosturesAt
        Up to four angles; with a leading axis where ``omega`` or ``postures`` has one.

    Raises
    ------
    ValueError
        A frequency is not positive and finite, an angle is not finite, the joint is not one of the
        arm's, or shapes do not fit. An `ArmError`, which is one, where the arm bears loads or has a support at a tip.

    Notes
    -----
    Five evaluations of the determinant of the paper's eq (39) in double-double give the polynomial, closed formulas
    its zeros, one more evaluation corrects each, and the counts at both sides of ``omega`` prove and number the mode.

    Examples
    --------
    >>> import numpy as np
    >>> import jaxmodal as jm
    >>> arm = jm.examples.two_link_flexible()
    >>> found = postures_at(arm, 2 * np.pi * 0.23)
    >>> np.degrees(found.angle[:2]).round(4).tolist(), found.mode[:2].tolist()
    ([-71.691, 71.691], [1, 1])
    """
    refuse_loads(
        require_planar(arm), "postures_at (axial forces have to be the same in every posture)"
    )
    refuse_supports(arm, "postures_at")
    beams, flags = prepared_values(arm, theory)
    frequencies, angles = _arguments(arm, omega, joint, postures)
    shape = (*np.broadcast_shapes(np.shape(omega), _leading(postures)), MOST_ANGLES)
    found = angles_with(beams, flags, frequencies, angles, joint)
    angle, below, above = (x.reshape(shape) for x in found)
    proven = above > below
    status = np.where(proven, int(Status.certified), int(Status.uncertified))
    bent = _buckled_there(beams, flags, angle.reshape(-1, MOST_ANGLES), angles, joint)
    bent = bent.reshape(shape)
    status = np.where(bent, int(Status.unstable), status)
    return jax.device_put(
        PosturesAt(
            angle=angle,
            mode=np.where(proven & ~bent, below + 1, 0).astype(np.int32),
            count_below=below.astype(np.int32),
            count_above=above.astype(np.int32),
            status=status.astype(np.uint8),
            omega=frequencies.reshape(shape[:-1]),
            joint=joint,
            theory=theory,
        )
    )


def buckled(beams: BeamArrays, flags: Theory, angles: np.ndarray) -> np.ndarray:
    """Whether the axial forces buckle each of N arms, shape (N,); arguments as of `angles_with`."""
    still = np.zeros(angles.shape[1])
    if beams.axial_force is None:
        return still > 0.0
    free = number_of_zero_modes(beams)
    found: np.ndarray = determinant(beams, flags, still, angles).passed > free
    return found


def _buckled_there(
    beams: BeamArrays, flags: Theory, found: np.ndarray, angles: np.ndarray, joint: int
) -> np.ndarray:
    """`buckled` in the postures that were found, angles (N, 4) of a joint; False where there is none."""
    cell, column = np.nonzero(np.isfinite(found))
    postures = angles[:, cell]
    postures[joint - 2] = found[cell, column]
    answer = np.zeros(found.shape, bool)
    answer[cell, column] = buckled(of_cells(beams, cell), flags, postures)
    return answer


def angles_with(
    beams: BeamArrays, flags: Theory, omega: np.ndarray, angles: np.ndarray, joint: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles of a joint at which N arms have frequencies ``omega`` (N,), ascending, NaN beyond the last, (N, 4).

    With the counts at both sides, which differ where the angle is certified. ``angles`` (n - 1, N) are theta_2 to
    theta_n, ``beams`` of one arm for all, fields (n,), or of N, fields (n, N).
    """
    found = _solved(beams, flags, omega, angles, joint - 2)
    order = np.argsort(found[0], axis=1)  # NaN last
    angle, below, above = (np.take_along_axis(x, order, axis=1) for x in found)
    exists = np.isfinite(angle)
    return angle, np.where(exists, below, 0), np.where(exists, above, 0)


def _solved(
    beams: BeamArrays, flags: Theory, omega: np.ndarray, angles: np.ndarray, row: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles, NaN where there are fewer than four, and the counts at both sides, shapes (N, 4)."""
    cells = omega.size
    lanes = np.repeat(angles, 5, axis=1)
    lanes[row] = np.tile(FIFTHS, cells)
    fivefold = of_cells(beams, np.repeat(np.arange(cells), 5))
    values = determinant(fivefold, flags, np.repeat(omega, 5), lanes).factor.reshape(cells, 5)
    size = np.abs(values).max(axis=1, keepdims=True)
    size = np.where(size > 0.0, size, 1.0)
    polynomial = through_fifths(values / size)
    angle, crossing = zeros(polynomial, even=angles.shape[0] == 1)
    below, above = np.zeros((2, cells, MOST_ANGLES), np.int32)

    def proof(cell: np.ndarray, column: np.ndarray, at: np.ndarray) -> None:
        """Count at both sides of the frequency in postures with the angle ``at``, and keep what is proven."""
        posture = angles[:, cell]
        posture[row] = at
        own = of_cells(beams, cell)
        counts = [
            determinant(own, flags, omega[cell] * (1.0 + side * _DISTANCE), posture).passed
            for side in (-1.0, 1.0)
        ]
        good = counts[1] > counts[0]
        cell, column = cell[good], column[good]
        angle[cell, column] = wrapped(at[good])
        below[cell, column], above[cell, column] = counts[0][good], counts[1][good]

    # what touches zero, or crosses it twice within rounding, has its zero where the polynomial is stationary
    flat = np.abs(slope_at(polynomial[:, None], np.nan_to_num(angle))) < _FLAT
    cell, column = np.nonzero(np.isfinite(angle) & flat)
    if cell.size:
        proof(cell, column, stationary(polynomial[cell], angle[cell, column]))
    cell, column = np.nonzero(crossing & (above == below))
    if cell.size:
        posture = angles[:, cell]
        posture[row] = angle[cell, column]
        exact = (
            determinant(of_cells(beams, cell), flags, omega[cell], posture).factor / size[cell, 0]
        )
        proof(cell, column, corrected(polynomial[cell], posture[row], exact))
    proven = above > below
    angle[~(proven | crossing) | repeated(angle, proven)] = np.nan
    return angle, below, above


def _leading(postures: Any) -> tuple[int, ...]:
    return () if postures is None else np.shape(postures)[:-1]


def require_joint(arm: Arm, joint: object) -> None:
    """Refuse what is not the number of a joint whose angle changes frequencies, with a `ValueError`."""
    if not is_whole(joint, 2, arm.num_links):
        raise ValueError(
            f"joint = {shown(joint)}; expected the number of a link from 2 to {arm.num_links}, whose base has the joint"
            if arm.num_links > 1
            else f"joint = {shown(joint)}: an arm of one link has no joint whose angle changes a frequency"
        )


def _arguments(arm: Arm, omega: Any, joint: int, postures: Any) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies (N,) and angles (n - 1, N)."""
    require_joint(arm, joint)
    joints = arm.num_links - 1
    frequencies = real_array(omega, "omega")
    if frequencies.ndim > 1 or not (np.isfinite(frequencies) & (frequencies > 0.0)).all():
        raise ValueError(
            f"omega = {shown(omega)}: expected a frequency > 0 in rad/s, or a one-dimensional array of them"
        )
    own = np.array([float(link.joint_angle) for link in arm.links[1:]])
    angles = own if postures is None else real_array(postures, "postures")
    if angles.ndim not in (1, 2) or angles.shape[-1] != joints:
        raise ValueError(
            f"postures has shape {angles.shape}; expected ({joints},) or (N, {joints}): theta_2 to"
            f" theta_{arm.num_links} in rad"
        )
    others = np.delete(angles, joint - 2, axis=-1)
    if not np.isfinite(others).all():
        raise ValueError("postures holds an angle that is not finite; expected radians")
    angles = np.where(np.isfinite(angles), angles, 0.0)
    try:
        shape = np.broadcast_shapes(frequencies.shape, angles.shape[:-1])
    except ValueError:
        raise ValueError(
            f"omega has {frequencies.size} values and postures {angles.shape[0]} rows; expected as many of both, or one"
        ) from None
    frequencies = np.broadcast_to(frequencies, shape).reshape(-1).copy()
    return frequencies, np.broadcast_to(angles, (*shape, joints)).reshape(-1, joints).T.copy()
