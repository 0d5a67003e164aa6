"""Responses by sums beside those of the recursion and of 40 digits."""

import mpmath
import numpy as np

import jaxmodal as jm
from jaxmodal.response.driven.ports import ports
from jaxmodal.response.driven.systems import system_of
from jaxmodal.response.receptance import posture_sums
from jaxmodal.response.receptance.answers import responses
from jaxmodal.response.receptance.posture_plans import plan_of
from tests.response.arms import target
from tests.response.exact_chain import Chain


def both_ways(arm, omega, names, columns, quantity="receptance", theory="timoshenko"):
    """Values and infinities by sums and by the recursion, and whether sums are taken."""
    found = ports(names, arm, "inputs")
    given = (tuple(columns), np.array(list(columns.values())))
    system = system_of(arm, theory, quantity, found, found, given)
    taken = plan_of(system, omega) is not None
    return *posture_sums.responses_of_postures(system, omega), *responses(system, omega), taken


def differences(found, truth):
    """Relative to the receptances of both ports."""
    own = np.sqrt(np.abs(np.einsum("iicf->icf", truth)))
    return np.abs(found - truth) / (own[:, None] * own[None])


def check_against_40_digits(arm, omega, names, columns, values, recursion, theory="timoshenko"):
    """Where both ways differ most the sums are right to 1e-11 of both ports' receptances.

    Near a resonance both lose what rounding moves it by: there both are right to 1e-8, the sums about as the recursion.
    """
    apart = differences(values, recursion)
    assert np.quantile(apart, 0.9) < 1e-13
    o, i, cell, at = np.unravel_index(np.argmax(apart), apart.shape)
    here = jm.set_parameters(arm, {name: float(x[cell]) for name, x in columns.items()})
    with mpmath.workdps(250):  # transfer matrices lose what their exponentials grow by
        chain = Chain(here, omega[at], theory)
        one, other = target(here, names[i]), target(here, names[o])
        (own, exact), (_, last) = (
            chain.response(one, [one, other]),
            chain.response(other, [one, other]),
        )
        scale = mpmath.sqrt(abs(own * last))
        errors = [
            float(abs(mpmath.mpmathify(complex(x[o, i, cell, at])) - exact) / scale)
            for x in (values, recursion)
        ]
    assert errors[1] < 1e-8
    assert errors[0] <= max(1e-11, 2.0 * errors[1])


class Counted:
    """How many entries the recursion answers after the sums, while this stands in the place of `answers_at`."""

    def __init__(self, answered):
        self.entries, self._answered = 0, answered

    def __call__(self, system, arms, members, cells, omega):
        self.entries += cells.size
        return self._answered(system, arms, members, cells, omega)
