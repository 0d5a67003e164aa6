"""Exact responses to forces and base motions, the basis of all forced responses."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import is_finite
from jaxmodal.arm.arrays import require_one_arm
from jaxmodal.arm.loaded import under_forces
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.refusals import require_concrete
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.evaluation import Model
from jaxmodal.frequencies.models import concrete_model
from jaxmodal.frequencies.one_arm import found_in_band, lowest_frequencies
from jaxmodal.response.driven.damping import dampers, damps
from jaxmodal.response.driven.ports import RELATIVE, Port, Ports, ports
from jaxmodal.response.exact.frequency_response import motions
from jaxmodal.response.static.buckled import require_stable
from jaxmodal.runtime.array_types import Bools, Complexes, Floats
from jaxmodal.runtime.errors import ArmError, suggestion
from jaxmodal.spatial.arms.arm import AnyArm

#: power of ``i omega`` that turns a displacement into each kind of motion
MOTIONS = {"displacement": 0, "velocity": 1, "acceleration": 2}
#: frequency for the static response, relative to the first natural frequency: accurate to 1e-12
_AT_REST = 1e-6


class Transfer:
    """Transfer functions of an arm; inputs are forces or base motions.

    Parameters
    ----------
    arm, theory
        A concrete arm, with its axial forces and loads, and a theory.
    inputs, outputs
        Names of ports or `Port`.
    motion
        Kind of the outputs: ``"displacement"``, ``"velocity"`` or ``"acceleration"``.
    base_motion
        Kind of inputs at the base: ``"displacement"``, ``"velocity"`` or ``"acceleration"``.

    Raises
    ------
    ArmError
        If the arm is traced or has no such port, or a kind of motion is unknown.
    UncertifiedError
        If static forces buckle the arm.
    """

    def __init__(
        self,
        arm: AnyArm,
        inputs: Ports,
        outputs: Ports,
        theory: TheoryName,
        motion: str = "displacement",
        base_motion: str = "acceleration",
    ) -> None:
        require_concrete(arm, "a forced response")
        require_one_arm(arm)
        check_motions(motion, base_motion)
        self.arm, self.theory = arm, theory
        self.inputs, self.outputs = ports(inputs, arm, "inputs"), ports(outputs, arm, "outputs")
        if under_forces(arm):
            require_stable(arm, self.model)
        self.power, self.base_power = MOTIONS[motion], MOTIONS[base_motion]

    @functools.cached_property
    def model(self) -> Model:
        """The model of the arm."""
        return concrete_model(self.arm, self.theory)

    @property
    def damped(self) -> bool:
        """True if the arm has any effective damping."""
        return damps(self.arm)

    @property
    def drifting(self) -> Bools:
        """True, shape (m,), for base inputs given as a rate under which outputs grow without bound."""
        return np.array([self._drifts(each) for each in self.inputs])

    def _drifts(self, base: Port) -> bool:
        if base.place != "base" or self.power >= self.base_power:
            return False
        # supports do not move, and static forces keep their directions, so the arm bends more the farther the base
        # moves
        if any(any(link.springs_to_ground.values()) for link in self.arm.links):
            return True
        if base.turns and under_forces(self.arm):
            return True
        # otherwise the springs respond only to inertia forces of the base acceleration, and a shifted base rotates
        # nothing
        return any(
            each.direction != RELATIVE and (base.turns or not each.turns) for each in self.outputs
        )

    def __call__(self, omega: Floats) -> Complexes:
        """Return the outputs for unit inputs, complex, shape (p, m, F), at frequencies greater than 0 in rad/s."""
        given = (self.arm, omega, self.inputs, self.outputs, self.theory)
        found, at_base = motions(*given, judge_stability=False, lowered=self.model)
        kinds = ((~at_base, self.power), (at_base, self.power - self.base_power))
        with np.errstate(over="ignore", invalid="ignore"):  # overflow in double precision gives NaN
            for which, power in kinds:
                found[:, which] = scaled(found[:, which], (1j * omega) ** power)
        return found

    @functools.cached_property
    def first(self) -> float:
        """The first natural frequency, rad/s; 0 for an arm with an unconstrained motion."""
        return float(self._lowest(1)[-1])

    @functools.cached_property
    def accelerates(self) -> bool:
        """True if a constant force accelerates an unconstrained arm steadily: no damper brakes its free motion."""
        braked = any(
            damper > 0.0 and stiffness == 0.0 for _, _, damper, stiffness in dampers(self.arm)
        )
        return self.first == 0.0 and self.power == MOTIONS["acceleration"] and not braked

    def steady_acceleration(self) -> Floats:
        """Return the outputs for constant unit inputs, shape (p, m), of an arm that ``accelerates``."""
        lowest = float(self._lowest(self.model.zero_frequencies + 1)[-1])
        return self(np.array([_AT_REST * lowest]))[:, :, 0].real

    def at_rest(self) -> Floats:
        """Return the outputs for constant unit inputs, shape (p, m), of an arm whose ``first`` frequency is above 0."""
        return self(np.array([_AT_REST * self.first]))[:, :, 0].real

    def resonances(self, low: float, high: float) -> Floats:
        """Return the certified undamped natural frequencies in a band, rad/s."""
        return np.asarray(found_in_band(self.model, self.arm.name, low, high, self.theory).omega)

    def _lowest(self, number: int) -> Floats:
        """Return the lowest natural frequencies, rad/s."""
        name, theory = self.arm.name, self.theory
        return np.asarray(lowest_frequencies(self.model, name, number, theory, throw=True).omega)


def scaled(found: Complexes, factor: Any) -> Complexes:
    """Return motions times a nonzero complex number; infinite ones, at undamped resonances, stay infinite."""
    infinite = np.isinf(found)
    return np.where(infinite, np.inf, np.where(infinite, 0.0, found) * factor)


def check_motions(motion: object, base_motion: object) -> None:
    """Refuse unknown kinds of motion."""
    for name, value in (("motion", motion), ("base_motion", base_motion)):
        if not isinstance(value, str) or value not in MOTIONS:
            raise ArmError(
                f"{name} = {shown(value)}: must be one of {', '.join(map(repr, MOTIONS))}."
                f"{suggestion(str(value), MOTIONS)}"
            )


def band_of_hertz(given: Any) -> tuple[float, float]:
    """Return the ends of a band in Hz, or raise an ArmError."""
    ends = isinstance(given, tuple | list) and len(given) == 2 and all(map(is_finite, given))
    if not ends or not 0.0 < given[0] < given[1]:
        raise ArmError(
            f"band_hz = {shown(given)}: must be two frequencies in Hz, 0 < lower < upper, such as [1, 60]."
        )
    return float(given[0]), float(given[1])
