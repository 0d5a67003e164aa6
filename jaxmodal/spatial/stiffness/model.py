"""Model of an arm in space for the frequency searches."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, Number
from jaxmodal.arm.arm import TAKE_ARMS_IN_SPACE
from jaxmodal.arm.sections import hollow_circle
from jaxmodal.arm.segments import cut
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, theory_flags
from jaxmodal.dynamic_stiffness.cut_links import SHARES, cut_lengths
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.resolution import near_zero
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import to_host, tree_on_host
from jaxmodal.runtime.precision import require_x64
from jaxmodal.spatial.parts.bases import BaseStiffness
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.stiffness.condensation import evaluate, supports_give
from jaxmodal.spatial.stiffness.constants import ReducedLink, reduced_links
from jaxmodal.spatial.stiffness.free_joints import check_free_joints, hindered_motions
from jaxmodal.spatial.stiffness.matrices import stacked
from jaxmodal.spatial.stiffness.members import (
    Beams,
    Sections,
    beams_of,
    frequency_scale,
    sections_of,
)
from jaxmodal.spatial.stiffness.moved_masses import moved_masses
from jaxmodal.spatial.stiffness.uniform_links import numbers_with_loads

#: limit of log|D| at zero frequency for each flexible link: D has a factor of 4 for each plane
_LOG_AT_ZERO = 2.0 * math.log(4.0)


#: a low frequency, relative to `SpatialModel.scale`, and the relative flexibility at a support that counts as rounding
SLOWLY, NO_ROOM = 1e-4, 1e-18
_DD = Arithmetic.double_double


class Constants(NamedTuple):
    """Constants of the links, and their beams."""

    links: list[ReducedLink]
    beams: Beams | None


@dataclasses.dataclass(frozen=True)
class SpatialModel:
    """A concrete arm in space with a theory; see `evaluation.Model`."""

    links: tuple[SpatialLink, ...]
    payload: RigidBody
    flags: Theory
    base: BaseStiffness | None = None
    invalid: bool = False

    @functools.cached_property
    def sections(self) -> Sections | None:
        """Section properties of the flexible links."""
        return sections_of([link for link in self.links if not link.rigid])

    @functools.cached_property
    def _constants(self) -> dict[Arithmetic, Constants]:
        return {}

    def constants(self, arithmetic: Arithmetic = Arithmetic.float64) -> Constants:
        """Return the frequency-independent constants."""
        if arithmetic not in self._constants:
            links = reduced_links(self.links, self.payload, self.base, self.flags, arithmetic)
            s = self.sections
            beams = None if s is None else beams_of(s, self.flags, arithmetic)
            self._constants[arithmetic] = Constants(links, beams)
        return self._constants[arithmetic]

    @functools.cached_property
    def _numbers(self) -> dict[Arithmetic, list[Number]]:
        return {}

    def numbers(self, arithmetic: Arithmetic) -> list[Number]:
        """Return the links of `constants` as flat numbers for NumPy."""
        if arithmetic not in self._numbers:
            every = numbers_with_loads(self.constants(arithmetic).links)
            self._numbers[arithmetic] = [stacked(numbers) for numbers in every]
        return self._numbers[arithmetic]

    @functools.cached_property
    def scales(self) -> np.ndarray:
        """`scale` of every cell, shape (1,) or (cells,)."""
        s = self.sections
        if s is None:
            return np.ones(1)
        return np.asarray(np.min(frequency_scale(s), axis=(0, 1)))

    @property
    def scale(self) -> np.float64:
        return np.float64(self.scales[0])

    @property
    def log_at_zero(self) -> np.float64:
        flexible = 0 if self.sections is None else self.sections.length.shape[0]
        return np.float64(_LOG_AT_ZERO * flexible)

    @property
    def free(self) -> np.ndarray:
        """`zero_frequencies` of every cell, shape (1,) or (cells,)."""
        free = np.zeros(1, np.int64)
        for link in self.links:
            for stiffness in (
                link.joint_stiffness,
                *(spring.stiffness for spring in link.joint_springs),
            ):
                free = free + (np.atleast_1d(np.asarray(stiffness)) == 0.0)
        if self.supported and free.any():
            return free - hindered_motions(self.links, self.constants().links)
        return free

    @property
    def supported(self) -> bool:
        """Whether any tip has a support."""
        return any(link.supports for link in self.links)

    @property
    def zero_frequencies(self) -> int:
        return int(self.free[0])

    @property
    def unstable(self) -> bool:
        return not self.invalid and bool(self.buckled[0])

    @functools.cached_property
    def buckled(self) -> np.ndarray:
        """Whether the axial forces exceed the buckling load of the arm, for every cell, shape (1,) or (cells,)."""
        free = self.free
        if all(link.axial_force is None for link in self.links):
            return np.zeros(free.shape, bool)
        at = near_zero(self.scales, _DD)
        with np.errstate(all="ignore"):
            counts = self.evaluate_cells(at, _DD).count
        return np.asarray(np.min(counts, axis=0) > free)

    def room_of_supports(self) -> list[float]:
        """Return the flexibility at each support with the previous ones rigid, relative to that alone.

        It is computed near zero frequency.
        """
        known, at = self.constants(_DD), np.array([[self.scale * SLOWLY]])
        given = known.links, self.numbers(_DD), known.beams, self.flags, at, _DD
        with np.errstate(all="ignore"):
            return supports_give(*given)

    def otherwise(self) -> SpatialModel:
        """Return the same arm with its flexible links divided in two."""
        return dataclasses.replace(self, links=tuple(itertools.chain(*self.parts())))

    def parts(self) -> list[tuple[SpatialLink, ...]]:
        """Return the parts of `otherwise` that replace each link."""
        shares = np.resize(SHARES, len(self.links))
        return [_cut(link, float(share)) for link, share in zip(self.links, shares, strict=True)]

    def harmless(self) -> SpatialModel:
        """Return a single straight link, solved in place of an arm with invalid values."""
        section = hollow_circle(0.1, 0.01, "cowper")
        link = SpatialLink(1.0, 7e10, 2700.0, section, poisson_ratio=0.33)
        return SpatialModel((link,), RigidBody(), self.flags, invalid=True)

    @functools.cached_property
    def _most(self) -> np.ndarray | None:
        """Number of modes of the arm in every cell, shape (1,) or (cells,); None if it is unlimited."""
        if self.sections is not None:
            return None
        with np.errstate(all="ignore"):
            return moved_masses(lambda arithmetic: self.constants(arithmetic).links)

    def evaluate_cells(
        self, omega: np.ndarray, arithmetic: Arithmetic, rounding: int = 0
    ) -> Evaluation:
        """Return `evaluate` for arms in parallel, at frequencies of shape (trials, cells).

        Arms of rigid links count at most as many modes as independent motions that move a mass.
        """
        known = self.constants(arithmetic)
        given = known.links, self.numbers(arithmetic), known.beams
        found = evaluate(*given, self.flags, omega, arithmetic, rounding)
        if self._most is None or not np.any(found.count > self._most):
            return found
        count = np.minimum(found.count, self._most)
        sign = np.where(found.count > count, 1.0 - 2.0 * (count % 2), found.sign)
        return dataclasses.replace(found, sign=sign, count=count)

    def evaluate(self, omega: np.ndarray, arithmetic: Arithmetic) -> Evaluation:
        found = self.evaluate_cells(np.asarray(omega).reshape(-1, 1), arithmetic)
        return jax.tree_util.tree_map(lambda x: x.reshape(np.shape(omega)), found)


def _cut(link: SpatialLink, share: float) -> tuple[SpatialLink, ...]:
    """Return a flexible link divided in two by a share of the length; undivided if rigid, or too short in a cell."""
    lengths = cut_lengths(np.asarray(link.length), share)
    if link.rigid or not np.all(np.minimum(*lengths) > 0.0):  # a part would have length 0
        return (link,)
    return cut(link, [{"length": length} for length in lengths])


def spatial_model(
    links: Sequence[SpatialLink], payload: RigidBody, base: BaseStiffness | None, theory: TheoryName
) -> SpatialModel:
    """Return the model of an arm with numerical values.

    Raises
    ------
    ArmError
        If a value is traced or batched, the arm lacks a value that the theory needs, or a free joint moves no mass.
    """
    flags = theory_flags(theory)
    require_x64()
    parts = to_host((tuple(links), payload, base))
    if not tree_on_host(parts) or any(np.ndim(x) for x in jax.tree_util.tree_leaves(parts)):
        raise ArmError(
            "a value of this arm in space is traced or an array; under jax.jit, jax.vmap and jax.grad "
            "only natural_frequencies accepts it. Arms in space with plain numbers are accepted by "
            f"{', '.join(TAKE_ARMS_IN_SPACE)}."
        )
    if theory == "timoshenko":
        for number, link in enumerate(parts[0], start=1):
            if not (link.rigid or link.has_shear):
                raise ArmError(
                    f"link{number}.section: a shear coefficient is missing, which a theory with shear needs in both "
                    "directions; give it, or choose the theory 'rayleigh' or 'euler_bernoulli'."
                )
    model = SpatialModel(parts[0], parts[1], flags, parts[2])
    _require_room(model)
    if model.zero_frequencies:
        check_free_joints(model.links, model.constants().links[-len(model.links) :])
    return model


def _require_room(model: SpatialModel) -> None:
    """Raise an error for rigid supports where the arm is rigid, or that others make redundant."""
    rigid = [
        (number, place, support)
        for number, link in enumerate(model.links, start=1)
        for place, support in enumerate(link.supports, start=1)
    ]
    if not any(np.isinf(support.stiffness) for _, _, support in rigid):
        return
    shares = model.room_of_supports()
    for (number, place, support), share in zip(rigid, shares, strict=True):
        if np.isinf(support.stiffness) and not share > NO_ROOM:
            raise ArmError(
                f"link{number}.support{place}.stiffness = inf: the arm is rigid there, by its theory, its rigid "
                "links or other rigid supports, so a rigid support has no effect that could be computed; give a large "
                "finite stiffness, or leave the support out."
            )
