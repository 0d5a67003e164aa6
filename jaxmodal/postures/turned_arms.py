"""Arms side by side whose joints are turned: their determinants, whatever kind of arm they are."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeAlias

import numpy as np

from jaxmodal.arm.addresses import resolve_address
from jaxmodal.arm.arguments import is_whole
from jaxmodal.arm.columns import columns_of, unpacked
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.paths import value_at
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.validity import valid_cells
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.rigid_motions import number_of_zero_modes
from jaxmodal.postures.expansion_in_space import determinant_in_space
from jaxmodal.postures.harmonics import Determinant, determinant, of_cells
from jaxmodal.postures.polynomial_values import is_mirrored
from jaxmodal.postures.supports_in_space import degree_of
from jaxmodal.postures.terms import IN_THE_PLANE
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.statics.beam_arrays import BeamArrays

#: values of cells by address
Values: TypeAlias = Mapping[str, np.ndarray]
_NOTHING: Values = {}


@dataclasses.dataclass(frozen=True)
class TurnedArms(abc.ABC):
    """One arm, or an arm for each cell, in postures: angles (joints, N), a row for each of `joints`.

    Of a joint that slides the row has positions, m.

    Attributes
    ----------
    arm, flags : AnyArm and Theory
        The arm and the theory.
    joints : tuple of int
        Numbers, from 1, of the links whose joints the rows of angles are of: those that change frequencies.
    values : mapping
        Other values of the arm by address, (cells,).
    """

    arm: Any
    flags: Theory
    joints: tuple[int, ...]
    values: Values

    @abc.abstractmethod
    def degree(self, joint: int) -> int:
        """The degree of the determinant D in the angle of a joint, one of `joints`, at one frequency."""

    @property
    def own(self) -> np.ndarray:
        """The angles of the arm itself, (joints,)."""
        return np.array([float(value_at(self.arm, address)) for address in self._addresses])

    @property
    def _addresses(self) -> list[str]:
        return [f"link{k}.{self.arm.position_of(k)}" for k in self.joints]

    @property
    def even(self) -> bool:
        """Whether the opposite posture has the same frequencies where one joint turns."""
        return False

    @abc.abstractmethod
    def determinant(
        self, cells: np.ndarray, omega: np.ndarray, angles: np.ndarray, values: Values = _NOTHING
    ) -> Determinant:
        """D and the count J in double-double of the arms of some cells (N,), at omega (N,) in postures (joints, N).

        With further ``values`` (N,) by address.
        """

    def buckled(self, cells: np.ndarray, angles: np.ndarray) -> np.ndarray:
        """Whether axial forces buckle these arms, shape (N,)."""
        if not self.may_buckle:
            return np.zeros(cells.shape, bool)
        found: np.ndarray = (
            self.determinant(cells, np.zeros(cells.size), angles).passed > self._zero_frequencies
        )
        return found

    @property
    @abc.abstractmethod
    def _zero_frequencies(self) -> Any:
        """How many motions nothing holds."""

    @property
    def may_buckle(self) -> bool:
        """Whether there are axial forces."""
        return any(link.axial_force is not None for link in self.arm.links)

    def varied(self, address: str, values: np.ndarray) -> Self:
        """The arms with each of some values (cells,) at an address.

        Raises
        ------
        ValueError
            The arm may not have one of them.
        """
        made, valid = self._varied(address, values)
        for place in np.flatnonzero(~valid)[:1]:
            set_parameters(self.arm, {address: float(values[place])})
            raise ValueError(f"values: the arm may not have {address} = {values[place]:.6g}")
        return made

    @abc.abstractmethod
    def _varied(self, address: str, values: np.ndarray) -> tuple[Self, np.ndarray]:
        """Return `varied`, and which of the values the arm may have."""


@dataclasses.dataclass(frozen=True)
class TurnedInThePlane(TurnedArms):
    """Of planar arms; ``beams`` are theirs, fields (n,) of one, or (n, cells); see `TurnedArms`."""

    beams: BeamArrays

    def degree(self, joint: int) -> int:
        of_base = 0 if joint == 1 and self.beams.base_xx is None else IN_THE_PLANE.degree
        return of_base + 2 * int(np.sum(grounded(self.beams)[joint - 1 :]))

    @property
    def even(self) -> bool:
        on_ground = self.beams.base_xx is not None or bool(np.any(grounded(self.beams)))
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

    @property
    def _zero_frequencies(self) -> Any:
        return number_of_zero_modes(self.beams)

    def _varied(self, address: str, values: np.ndarray) -> tuple[Self, np.ndarray]:
        packed = columns_of(self.arm, [address], values[None])
        made = dataclasses.replace(self, beams=unpacked(packed.packed), values={address: values})
        return made, ~packed.invalid


def grounded(beams: BeamArrays) -> np.ndarray:
    """Which links of planar arms have supports at their tips that are not alike in all directions, (n,)."""
    if beams.supports is None:
        return np.zeros(beams.length.shape[0], bool)
    along, across, _ = map(np.asarray, beams.supports)
    differ = along != across
    return differ.reshape(len(differ), -1).any(axis=1)


@dataclasses.dataclass(frozen=True)
class TurnedInSpace(TurnedArms):
    """Of arms in space; see `TurnedArms`."""

    def degree(self, joint: int) -> int:
        return degree_of(self.arm.with_values(self.values), joint - 1)

    def determinant(
        self, cells: np.ndarray, omega: np.ndarray, angles: np.ndarray, values: Values = _NOTHING
    ) -> Determinant:
        given = {address: column[cells] for address, column in self.values.items()}
        given |= dict(zip(self._addresses, angles, strict=True))
        given |= values
        return determinant_in_space(self.arm, self.flags, omega, given)

    @property
    def _zero_frequencies(self) -> Any:
        return self.arm.model_of_cells(self.flags).zero_frequencies

    def _varied(self, address: str, values: np.ndarray) -> tuple[Self, np.ndarray]:
        columns = dict.fromkeys(resolve_address(self.arm, address), values)
        valid = valid_cells(self.arm.with_values(columns), values.size)
        return dataclasses.replace(self, values=columns), valid


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
