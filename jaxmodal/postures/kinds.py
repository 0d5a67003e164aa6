"""What posture series know of planar arms and of arms in space, with the same methods of both."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from jaxmodal.arm.addresses import resolve_address
from jaxmodal.arm.arm import Arm, require_arm
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.arm.descriptions import first_angle_matters
from jaxmodal.arm.kinds import ByKind
from jaxmodal.arm.refusals import refuse_loads
from jaxmodal.dynamic_stiffness.beams import TheoryName, prepared_values, theory_flags
from jaxmodal.postures.expansion_in_space import (
    ExpansionInSpace,
    enough_in_space,
    has_series_in_space,
    terms_in_space,
    turning,
)
from jaxmodal.postures.expansions import Expansion, PlanarExpansion
from jaxmodal.postures.polynomial_values import (
    Quantity,
    Tie,
    Varied,
    quantity_of,
    terms_of_beams,
    usual,
    varying,
)
from jaxmodal.postures.series import is_polynomial
from jaxmodal.postures.tied_values import ties_of
from jaxmodal.postures.turned_arms import TurnedArms, TurnedInSpace, TurnedInThePlane, grounded
from jaxmodal.postures.value_ranges import Ranges
from jaxmodal.postures.values_in_space import (
    impossible_tensors,
    is_of_a_support,
    may_be_rigid,
    quantity_in_space,
    usual_in_space,
)
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm

#: series of more terms, and smaller batches, are left to the general search
_MOST_TERMS, _CELLS_PER_TERM = 400, 500


class Kind(Protocol):
    """Protocol of an arm of one kind, and of the values in which its determinant D is a polynomial."""

    def may_be_zero(self, quantity: Quantity) -> bool:
        """Whether 0 is a value of a quantity, that is no spring of a joint, among others."""
        ...

    def quantity(self, address: str) -> Quantity | None:
        """Return the quantity at an address if D is a polynomial in it, else None."""
        ...

    def usual(self, quantity: Quantity) -> float:
        """As `places.usual_of`; nan of rigid links alone."""
        ...

    def may_be_rigid(self, quantity: Quantity) -> bool:
        """Whether inf is a value of a quantity."""
        ...

    def terms(self, asked: Varied) -> int:
        """How many terms D has in what varies."""
        ...

    def why_too_many(self, asked: Varied, number: int) -> str:
        """Why a table does not have so many terms, in words; empty where it does."""
        ...

    def cells_that_pay(self, asked: Varied, number: int) -> float:
        """How many cells pay for a table of so many terms."""
        ...

    def has_series(self) -> bool:
        """Whether D is a polynomial at all."""
        ...

    def expansion(self, asked: Varied, values: np.ndarray, theory: TheoryName) -> Expansion | None:
        """As `places.expansion_of`."""
        ...

    def possible_tensors(self, asked: Varied, given: np.ndarray) -> np.ndarray:
        """Whether the values (values, cells) beside angles make inertia tensors that bodies have, of each cell."""
        ...

    def ties(self, singles: Mapping[int, str], values: np.ndarray) -> list[Tie]:
        """Return which rows of values (rows, cells), at single addresses, are one value."""
        ...

    def turned(self, theory: TheoryName) -> TurnedArms:
        """Return the arm, which has no loads, with its joints turned."""
        ...


@dataclasses.dataclass(frozen=True)
class _InThePlane:
    """A planar arm."""

    arm: Arm

    def quantity(self, address: str) -> Quantity | None:
        return quantity_of(self.arm, address)

    def usual(self, quantity: Quantity) -> float:
        return usual(beam_arrays(self.arm), [quantity])[0]

    def may_be_rigid(self, quantity: Quantity) -> bool:
        return quantity.spring

    def may_be_zero(self, quantity: Quantity) -> bool:
        return True

    def terms(self, asked: Varied) -> int:
        given = asked.joints, asked.quantities, first_angle_matters(self.arm)
        return terms_of_beams([beam_arrays(self.arm)], *given).number(len(asked.joints))

    def why_too_many(self, asked: Varied, number: int) -> str:
        if number <= _MOST_TERMS:
            return ""
        return f"{number} terms are more than the {_MOST_TERMS} of a table"

    def cells_that_pay(self, asked: Varied, number: int) -> float:
        return float(_CELLS_PER_TERM * number)

    def has_series(self) -> bool:
        return is_polynomial(beam_arrays(self.arm))

    def expansion(self, asked: Varied, values: np.ndarray, theory: TheoryName) -> Expansion | None:
        beams = varying(self.arm, asked.joints, asked.quantities, theory)
        if beams is None:
            return None
        if not asked.quantities:
            return PlanarExpansion(beams, theory_flags(theory))
        ranges = Ranges.of(values, asked.quantities, usual(beams.beams, asked.quantities))
        if not np.isfinite(ranges.far).all():  # springs so soft that their compliance is no number
            return None
        beams = dataclasses.replace(beams, terms=beams.terms.over(ranges.signed))
        return PlanarExpansion(beams, theory_flags(theory), ranges, asked.quantities)

    def possible_tensors(self, asked: Varied, given: np.ndarray) -> np.ndarray:
        return np.ones(given.shape[1], bool)

    def ties(self, singles: Mapping[int, str], values: np.ndarray) -> list[Tie]:
        return []

    def turned(self, theory: TheoryName) -> TurnedArms:
        beams, flags = prepared_values(self.arm, theory)
        first = 1 if np.any(grounded(beams)) else 2
        joints = tuple(range(first, self.arm.num_links + 1))
        return TurnedInThePlane(self.arm, flags, joints, {}, beams)


@dataclasses.dataclass(frozen=True)
class _InSpace:
    """An arm in space; a body of it without a mass may have no inertia."""

    arm: SpatialArm

    def quantity(self, address: str) -> Quantity | None:
        return quantity_in_space(self.arm, address, resolve_address(self.arm, address))

    def usual(self, quantity: Quantity) -> float:
        rigid = all(link.rigid for link in self.arm.links)
        return math.nan if rigid else usual_in_space(self.arm, [quantity])[0]

    def may_be_rigid(self, quantity: Quantity) -> bool:
        return may_be_rigid(quantity)

    def may_be_zero(self, quantity: Quantity) -> bool:
        return is_of_a_support(quantity)

    def terms(self, asked: Varied) -> int:
        return terms_in_space(self.arm, asked.joints, asked.quantities).number(len(asked.joints))

    def why_too_many(self, asked: Varied, number: int) -> str:
        if math.isfinite(enough_in_space(self.arm, asked.joints, asked.quantities)):
            return ""
        return f"{len(asked.joints)} angles have {number} terms, more than a table has in space"

    def cells_that_pay(self, asked: Varied, number: int) -> float:
        return enough_in_space(self.arm, asked.joints, asked.quantities)

    def has_series(self) -> bool:
        return has_series_in_space(self.arm)

    def expansion(self, asked: Varied, values: np.ndarray, theory: TheoryName) -> Expansion | None:
        given = self.arm, asked.joints, theory
        if not asked.quantities:
            return ExpansionInSpace(*given)
        ranges = Ranges.of(values, asked.quantities, usual_in_space(self.arm, asked.quantities))
        if not np.isfinite(ranges.far).all():
            return None
        return ExpansionInSpace(*given, asked.quantities, ranges)

    def possible_tensors(self, asked: Varied, given: np.ndarray) -> np.ndarray:
        return ~impossible_tensors(self.arm, asked.quantities, given)

    def ties(self, singles: Mapping[int, str], values: np.ndarray) -> list[Tie]:
        return ties_of(singles, values)

    def turned(self, theory: TheoryName) -> TurnedArms:
        joints = turning(self.arm, [k - 1 for k in self.arm.joints])
        flags = self.arm.model(theory).flags
        return TurnedInSpace(self.arm, flags, tuple(k + 1 for k in joints), {})


_KINDS: ByKind[Callable[[Any], Kind]] = ByKind(_InThePlane, _InSpace)


def kind_of(arm: AnyArm) -> Kind:
    """Return an arm with what its kind knows."""
    return _KINDS.of(arm)(arm)


def known_kind(arm: AnyArm, what: str) -> Kind:
    """Return `kind_of` what is an arm of concrete values; refuse anything else for ``what``."""
    if is_traced(require_arm(arm)):
        raise ArmError(
            f"arm: holds traced values; {what} needs known ones: call it outside jax.jit, jax.vmap and jax.grad."
        )
    return kind_of(arm)


def turned(arm: AnyArm, theory: TheoryName, what: str) -> TurnedArms:
    """Return an arm of concrete values with its joints turned; refuse anything else, and loads, for ``what``."""
    kind = known_kind(arm, what)
    refuse_loads(arm, f"{what} (forces at rest have to be the same in every posture)")
    return kind.turned(theory)
