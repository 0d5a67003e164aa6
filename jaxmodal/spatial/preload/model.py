"""Model of an arm in space under its loads, for the searches of natural frequencies."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.certificate import EPS
from jaxmodal.frequencies.one_arm import solved_model
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.modes.modal_model import modal_model
from jaxmodal.spatial.parts.loads import SpatialLoads
from jaxmodal.spatial.preload.chain import PrestressedChain
from jaxmodal.spatial.preload.equilibrium import rest_in_space
from jaxmodal.spatial.preload.loaded import SpatialLoadedArm
from jaxmodal.spatial.preload.vibrating import VibratingArm
from jaxmodal.spatial.stiffness.model import SpatialModel
from jaxmodal.statics.load_factors import Factor

#: units of rounding of a count whose eigenvalues are clear, and of one in doubt or not computed
_CLEAR, _IN_DOUBT = 1.0, 1e12
#: count where a link would need more pieces than are computed
_BEYOND = 2**53


@dataclasses.dataclass(frozen=True)
class LoadedModel:
    """A concrete arm in space with a theory, at rest under its loads; see `evaluation.Model`.

    ``vibrating`` is None if a value of the arm is invalid.
    """

    bare: SpatialModel
    vibrating: VibratingArm | None

    @classmethod
    def of(cls, bare: SpatialModel, loads: SpatialLoads) -> LoadedModel:
        """Return the model of an arm from that without loads.

        Raises
        ------
        ArmError
            If nothing in the arm is elastic, or a free joint is not held against the loads.
        """
        if bare.invalid:
            return cls(bare, None)
        modal, given = modal_model(bare), loads.dead()
        problem = SpatialLoadedArm(PrestressedChain(modal, rest_in_space(modal, given), given))
        if problem.rigid():
            raise ArmError(
                "the arm is rigid throughout: under loads it has no frequencies; make a link or a joint elastic."
            )
        return cls(bare, VibratingArm(problem))

    @property
    def scale(self) -> np.float64:
        return self.bare.scale

    @property
    def log_at_zero(self) -> np.float64:
        return self.bare.log_at_zero

    @property
    def zero_frequencies(self) -> int:
        return 0 if self.vibrating is None else self.vibrating.zero_modes

    @property
    def invalid(self) -> bool:
        return self.bare.invalid

    @functools.cached_property
    def unstable(self) -> bool:
        return self.vibrating is not None and self.vibrating.unstable(1.0)

    def harmless(self) -> SpatialModel:
        return self.bare.harmless()

    def otherwise(self) -> None:
        return None

    def evaluate(self, omega: Floats, arithmetic: Arithmetic) -> Evaluation:
        """Return determinant and count, in float64 whatever the arithmetic."""
        assert self.vibrating is not None
        shape, found = np.shape(omega), []
        for each in np.ravel(omega).tolist():
            judged = self.vibrating.judged(each)
            if judged is None:
                found.append((1.0, 0.0, _BEYOND, _IN_DOUBT))
            else:
                sign, noise = (-1.0) ** judged.negative, _CLEAR if judged.clear else _IN_DOUBT
                found.append((sign, judged.log_abs, judged.negative, noise))
        columns = (np.array(x).reshape(shape) for x in zip(*found, strict=True))
        return Evaluation(*columns)

    def solved(self, theory: TheoryName, first: int, count: int) -> NaturalFrequencies:
        """Return frequencies each between two counts; see `one_arm.SolvesItself`."""
        assert self.vibrating is not None
        without = solved_model(self.bare, theory, 0, first + count).omega
        without = without[np.isfinite(without) & (without > 0.0)]
        vibrating = dataclasses.replace(self.vibrating, near=np.asarray(without))
        found = list(itertools.islice(vibrating.lowest(), first, first + count))
        return _result(found, vibrating.zero_modes, vibrating.evaluations, theory)


def _result(
    found: list[Factor], zeros: int, evaluations: int, theory: TheoryName
) -> NaturalFrequencies:
    """Return natural frequencies from entries of `factors`, whose counts leave out zero frequencies."""
    omega = np.array([x.value for x in found])
    known, sure = np.isfinite(omega), np.array([x.certified for x in found], bool)
    bracket = np.array([x.bracket for x in found]).reshape(-1, 2)
    below = np.array([x.count_below for x in found], np.int64) + zeros
    above = np.array([x.count_above for x in found], np.int64) + zeros
    status = np.where(sure, int(Status.certified), int(Status.uncertified))
    half = 0.5 * (bracket[:, 1] - bracket[:, 0]) / np.where(omega > 0.0, omega, 1.0)
    group = np.arange(omega.size)
    for k in range(1, omega.size):  # entries in one bracket
        if known[k] and sure[k] and below[k] == below[k - 1]:
            group[k] = group[k - 1]
    return NaturalFrequencies(
        omega=omega,
        status=np.where(known, status, int(Status.not_converged)),
        count_below=below,
        count_above=above,
        bracket=bracket,
        group=group,
        residual_ratio=np.where(known, half / EPS, math.nan),
        evaluations=np.int64(evaluations),
        theory=theory,
    )
