"""Arms side by side whose joints are turned: their determinants, whatever kind of arm they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from jaxmodal.arm.addresses import resolve_address
from jaxmodal.arm.arguments import is_whole
from jaxmodal.arm.arm import Arm, require_arm
from jaxmodal.arm.columns import columns_of, unpacked
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.refusals import refuse_loads
from jaxmodal.arm.validity import valid_cells
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, prepared_values
from jaxmodal.dynamic_stiffness.rigid_motions import number_of_zero_modes
from jaxmodal.postures.expansion_in_space import determinant_in_space, turning
from jaxmodal.postures.harmonics import Determinant, determinant, of_cells
from jaxmodal.postures.polynomial_values import is_mirrored
from jaxmodal.postures.supports_in_space import degree_of
from jaxmodal.postures.terms import IN_THE_PLANE
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.statics.beam_arrays import BeamArrays

#: values of cells by address
Values: TypeAlias = Mapping[str, np.ndarray]
_NOTHING: Values = {}


class TurnedArms(Protocol):
    """One arm, or an arm for each cell, in postures: angles (joints, N), a row for each of `joints`.

    Of a joint that slides the row has positions, m.
    """

    def degree(self, joint: int) -> int:
        """The degree of the determinant D in the angle of a joint, one of `joints`, at one frequency."""
        ...

    @property
    def joints(self) -> tuple[int, ...]:
        """Numbers, from 1, of the links whose joints the rows of angles are of: those that change frequencies."""
        ...

    @property
    def own(self) -> np.ndarray:
        """The angles of the arm itself, (joints,)."""
        ...

    @property
    def even(self) -> bool:
        """Whether the opposite posture has the same frequencies where one joint turns."""
        ...

    def determinant(
        self, cells: np.ndarray, omega: np.ndarray, angles: np.ndarray, values: Values = _NOTHING
    ) -> Determinant:
        """D and the count J in double-double of the arms of some cells (N,), at omega (N,) in postures (joints, N).

        With further ``values`` (N,) by address.
        """
        ...

    def buckled(self, cells: np.ndarray, angles: np.ndarray) -> np.ndarray:
        """Whether axial forces buckle these arms, shape (N,)."""
        ...

    @property
    def may_buckle(self) -> bool:
        """Whether there are axial forces."""
        ...

    def varied(self, address: str, values: np.ndarray) -> TurnedArms:
        """The arms with each of some values (cells,) at an address.

        Raises
        ------
        ValueError
            The arm may not have one of them.
        """
        ...


@dataclasses.dataclass(frozen=True)
class TurnedInThePlane:
    """Of planar arms, fields (n,) of one, or (n, cells); see `TurnedArms`."""

    arm: Arm
    beams: BeamArrays
    flags: Theory
    joints: tuple[int, ...]
    values: Values = dataclasses.field(default_factory=dict)

    @property
    def own(self) -> np.ndarray:
        return np.array([float(self.arm.links[k - 1].joint_angle) for k in self.joints])

    def degree(self, joint: int) -> int:
        of_base = 0 if joint == 1 and self.beams.base_xx is None else IN_THE_PLANE.degree
        return of_base + 2 * int(np.sum(_grounded(self.beams)[joint - 1 :]))

    @property
    def even(self) -> bool:
        on_ground = self.beams.base_xx is not None or bool(np.any(_grounded(self.beams)))
        return len(self.joints) == 1 and not on_ground and is_mirrored(self.beams)

    def determinant(
        self, cells: np.ndarray, omega: np.ndarray, angles: np.ndarray, values: Values = _NOTHING
    ) -> Determinant:
        beams = of_cells(self.beams, cells)
        if values and cells.size:
            every = {address: column[cells] for address, column in self.values.items()}
            every |= values
            beams = unpacked(columns_of(self.arm, [*every], np.stack([*every.values()])).packed)
        return determinant(beams, self.flags, omega, angles)

    def buckled(self, cells: np.ndarray, angles: np.ndarray) -> np.ndarray:
        if not self.may_buckle:
            return np.zeros(cells.shape, bool)
        free = number_of_zero_modes(self.beams)
        found: np.ndarray = self.determinant(cells, np.zeros(cells.size), angles).passed > free
        return found

    @property
    def may_buckle(self) -> bool:
        return self.beams.axial_force is not None

    def varied(self, address: str, values: np.ndarray) -> TurnedArms:
        packed = columns_of(self.arm, [address], values[None])
        _require_possible(self.arm, address, values, ~packed.invalid)
        return dataclasses.replace(self, beams=unpacked(packed.packed), values={address: values})


def _grounded(beams: BeamArrays) -> np.ndarray:
    """Which links of planar arms have supports at their tips that are not alike in all directions, (n,)."""
    if beams.supports is None:
        return np.zeros(beams.length.shape[0], bool)
    along, across, _ = map(np.asarray, beams.supports)
    differ = along != across
    return differ.reshape(len(differ), -1).any(axis=1)


@dataclasses.dataclass(frozen=True)
class TurnedInSpace:
    """Of arms in space; see `TurnedArms`.

    Attributes
    ----------
    arm, flags : SpatialArm and Theory
        The arm and the theory.
    joints : tuple of int
        See `TurnedArms`.
    values : dict
        Other values of the arm by address, (cells,).
    """

    arm: SpatialArm
    flags: Theory
    joints: tuple[int, ...]
    values: dict[str, np.ndarray]

    def degree(self, joint: int) -> int:
        return degree_of(self.arm.with_values(self.values), joint - 1)

    @property
    def own(self) -> np.ndarray:
        return np.array([float(self.arm.value_at(address)) for address in self._addresses])

    @property
    def even(self) -> bool:
        return False

    def determinant(
        self, cells: np.ndarray, omega: np.ndarray, angles: np.ndarray, values: Values = _NOTHING
    ) -> Determinant:
        given = {address: column[cells] for address, column in self.values.items()}
        given |= dict(zip(self._addresses, angles, strict=True))
        given |= values
        return determinant_in_space(self.arm, self.flags, omega, given)

    @property
    def _addresses(self) -> list[str]:
        return [f"link{k}.{self.arm.position_of(k)}" for k in self.joints]

    def buckled(self, cells: np.ndarray, angles: np.ndarray) -> np.ndarray:
        if not self.may_buckle:
            return np.zeros(cells.shape, bool)
        free = self.arm.model_of_cells(self.flags).zero_frequencies
        found: np.ndarray = self.determinant(cells, np.zeros(cells.size), angles).passed > free
        return found

    @property
    def may_buckle(self) -> bool:
        return any(link.axial_force is not None for link in self.arm.links)

    def varied(self, address: str, values: np.ndarray) -> TurnedArms:
        columns = dict.fromkeys(resolve_address(self.arm, address), values)
        valid = valid_cells(self.arm.with_values(columns), values.size)
        _require_possible(self.arm, address, values, valid)
        return dataclasses.replace(self, values=columns)


def _require_possible(arm: AnyArm, address: str, values: np.ndarray, valid: np.ndarray) -> None:
    """Refuse the first value that an arm may not have."""
    for place in np.flatnonzero(~valid)[:1]:
        set_parameters(arm, {address: float(values[place])})
        raise ValueError(f"values: the arm may not have {address} = {values[place]:.6g}")


def turned(arm: AnyArm, theory: TheoryName, what: str) -> TurnedArms:
    """Return an arm of either kind for ``what``, which refuses what it does not know."""
    if is_traced(require_arm(arm)):
        raise ArmError(
            f"arm: holds traced values; {what} needs known ones: call it outside jax.jit, jax.vmap and jax.grad."
        )
    if isinstance(arm, SpatialArm):
        joints = tuple(k + 1 for k in turning(arm, [k - 1 for k in arm.joints]))
        return TurnedInSpace(arm, arm.model(theory).flags, joints, {})
    refuse_loads(arm, f"{what} (axial forces have to be the same in every posture)")
    beams, flags = prepared_values(arm, theory)
    first = 1 if np.any(_grounded(beams)) else 2
    return TurnedInThePlane(arm, beams, flags, tuple(range(first, arm.num_links + 1)))


def require_joint(arm: AnyArm, joints: Sequence[int], joint: object) -> None:
    """Refuse what is not the number of one of the ``joints``, which change frequencies, or slides.

    With a `ValueError`.
    """
    turn = [k for k in joints if not arm.slides(k)]
    if is_whole(joint, 1) and joint in turn:
        return
    if not turn:
        what = "of one link" if arm.num_links == 1 else "without another joint that turns"
        raise ValueError(
            f"joint = {shown(joint)}: an arm {what} has no joint whose angle changes a frequency"
        )
    whole = turn == list(range(2, arm.num_links + 1))
    known = f"a link from 2 to {turn[-1]}" if whole else f"a link out of {turn}"
    raise ValueError(
        f"joint = {shown(joint)}; expected the number of {known}, whose base has the joint"
    )
