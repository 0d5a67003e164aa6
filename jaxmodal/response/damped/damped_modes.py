"""Damped modes of an arm: complex frequencies by continuation from certified undamped modes, counted by a contour."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.arm.arguments import positive_integer
from jaxmodal.arm.arm import require_arm
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.frequencies.results import raise_uncertified
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.response.damped.damped_roots import (
    BEYOND,
    ShowsRoots,
    damped_roots,
)
from jaxmodal.response.driven.damping import damped_free_joints
from jaxmodal.runtime import limits
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.statuses import OF_DAMPED_MODES, Status, status_variable
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm

if TYPE_CHECKING:
    import xarray


@dataclasses.dataclass(frozen=True, repr=False)
class DampedModes(Drawn, ShowsRoots):
    """Damped modes of one arm, in the order of the undamped modes; an overdamped mode has two entries.

    Motions vary as ``exp(i root t)``: the real part of a root is the damped angular frequency, the imaginary part the
    decay rate.

    Attributes
    ----------
    roots : np.ndarray of complex, shape (M,)
        Complex angular frequencies, rad/s. NaN where the root of a mode was lost, or the result is not a root: the
        characteristic determinant is not zero there, or the motion would grow.
    mode : np.ndarray of int, shape (M,)
        Number, from 1, of the undamped mode at which the continuation started; the lowest if several led to the root.
    multiplicity : np.ndarray of int, shape (M,)
        Number of coincident roots, from the argument principle; 2 at critical damping, 0 if unknown.
    undamped : np.ndarray, shape (M,)
        Angular frequency of the undamped mode, rad/s.
    status : np.ndarray of int, shape (M,)
        `Status` codes: certified where the number of roots in a rectangle, by the argument principle, is that of the
        roots found there, so that none to the left of its right side is missing; no_value where there is no root.
    theory : str
        Name of the theory.
    """

    roots: np.ndarray
    mode: np.ndarray
    multiplicity: np.ndarray
    undamped: np.ndarray
    status: np.ndarray
    theory: TheoryName

    @property
    def overdamped(self) -> np.ndarray:
        """True for a root that decays without oscillating, shape (M,)."""
        return (self.roots.real == 0.0) & (self.roots.imag != 0.0)

    def tables(self) -> list[Table]:
        """Return a table of the modes with their damping."""
        rows = [
            [
                str(mode),
                hertz_text(omega / (2.0 * np.pi)),
                "overdamped" if slow else hertz_text(root.real / (2.0 * np.pi)),
                f"{ratio:.5g}",
                f"{root.imag:.5g}",
            ]
            for mode, omega, root, slow, ratio in zip(
                *(self.mode, self.undamped, self.roots, self.overdamped, self.damping_ratio),
                strict=True,
            )
        ]
        counted = not (self.status == Status.uncertified).any()
        note = "certified: no root is lost" if counted else "NOT certified: a root may be lost"
        if np.isnan(self.roots).any():
            note += (
                ". nan: what was followed there is no root, or was lost on the way, as it may be next to a critical "
                "load; ask for less damping or lower loads"
            )
        headings = ("mode", "undamped [Hz]", "damped [Hz]", "damping ratio", "decay rate [1/s]")
        title = f"{len(rows)} damped modes ({self.theory})"
        return [Table(title, headings, rows, (note,))]

    def to_xarray(self) -> xarray.Dataset:
        """Return a dataset with the dim root: numbers of modes, frequencies in Hz, damping."""
        import xarray

        numbers = {
            "mode": variable("root", self.mode, "number of the undamped mode", "1"),
            **self._variables("root", self.undamped),
            "multiplicity": variable(
                "root", self.multiplicity, "roots that coincide, 0: not known", "1"
            ),
        }
        numbers["status"] = status_variable(("root",), self.status, OF_DAMPED_MODES, "damped mode")
        roots = {"root": np.arange(1, len(self.roots) + 1)}
        return xarray.Dataset(numbers, roots, {"theory": self.theory})


def damped_modes(
    arm: AnyArm, num_modes: int = 10, *, theory: TheoryName = "timoshenko"
) -> DampedModes:
    """Return damped frequencies, damping ratios and decay rates of the lowest modes of an arm.

    Parameters
    ----------
    arm
        A concrete arm; the damping is given in `Link` and `SpatialLink`.
    num_modes, theory
        As for `natural_frequencies`.

    Raises
    ------
    ArmError
        If the arm is traced, or if a damper acts at a free joint of an arm that drifts, whose modes of zero frequency
        cannot be followed.
    UncertifiedError
        As for `natural_frequencies`, for the undamped modes.

    Notes
    -----
    Every certified undamped mode is continued while the damping grows from zero, on a path through complex values and
    on its mirror image. Critical damping is a branch point between the paths, so that they lead to the two roots of an
    overdamped mode. The number of roots in a rectangle is counted by the argument principle, from the phase of the
    characteristic determinant along its sides.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05, 0.85), poisson_ratio=0.3, loss_factor=0.02)
    >>> found = jm.damped_modes(jm.Arm((link,)), 3)
    >>> found.ok, [f"{x:.4f}" for x in found.damping_ratio]
    (True, ['0.0100', '0.0100', '0.0100'])
    """
    require_arm(arm)
    count = positive_integer(num_modes, "num_modes", limits.MODES)
    if is_traced(arm):
        raise ArmError("arm: is traced; damped modes need concrete arms.")
    certified = natural_frequencies(arm, count + BEYOND, theory=theory, throw=False)
    undamped = np.asarray(certified.omega)
    undamped = undamped[np.isfinite(undamped)]  # rigid links have no more modes than springs
    if (np.asarray(certified.status) == Status.unstable).any():
        raise_uncertified(certified, arm.name)
    if undamped.size < count:
        raise ArmError(
            f"num_modes = {count}: the arm has {undamped.size} modes, because its links are rigid; ask for no more."
        )
    if not np.asarray(certified.certified)[: undamped.size].all():
        raise_uncertified(certified, arm.name)
    if not undamped.any():
        raise ArmError("arm: has only motions of zero frequency, because its links are rigid.")
    for damper, spring in damped_free_joints(arm) if undamped[0] == 0.0 else ():
        raise ArmError(
            f"{damper}: lies at a joint without a spring, whose motion of zero frequency cannot be followed while it "
            f"is damped; give {spring} a small value, or leave the damper out."
        )
    (found,) = damped_roots(arm, theory, (), np.empty((0, 1)), undamped[None], count)
    sure = int(Status.certified if found.counted else Status.uncertified)
    return DampedModes(
        roots=found.roots,
        mode=found.mode,
        multiplicity=found.multiplicity,
        undamped=undamped[found.mode - 1],
        status=np.where(np.isnan(found.roots), int(Status.no_value), sure),
        theory=theory,
    )
