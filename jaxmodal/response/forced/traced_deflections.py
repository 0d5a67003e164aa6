"""Displacements of the tip under gravity, of traced arms in space with axial forces, for optimisation.

Gravity g moves an arm at rest as does a ground with the steady acceleration -g. Where the ground moves by u at the
angular frequency w, the tip moves by T u, and (T - 1) g/w^2 tends to the displacement by gravity as w falls. So it is
the exact response, which knows axial forces, at three low frequencies, without the powers w^2 and w^4.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxmodal.arm.link_rules import is_damping
from jaxmodal.arm.solved_postures import at_postures, built
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.response.driven.damping import undamped
from jaxmodal.response.exact.frequency_response import frequency_response
from jaxmodal.response.exact.sensitivities import response_sensitivities
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError, UncertifiedError
from jaxmodal.spatial.arms.arm import SpatialArm

#: the largest of the frequencies, of the first natural one: what is left out is its sixth power, 1e-10 of the answer,
#: and T - 1 loses four digits
_SHARE = 0.04
#: the others, of it, and what eliminates the second and fourth power of the frequency
_PARTS, _WEIGHTS = np.array([1.0, 0.5, 0.25]), np.array([1.0, -20.0, 64.0]) / 45.0
_GROUND = ["base.x", "base.y", "base.z"]
_TIP = ["tip.x", "tip.y", "tip.z"]


def tips_under_gravity(
    arm: SpatialArm, postures: Any, theory: TheoryName, gravity: Sequence[float]
) -> jax.Array:
    """Displacements of the tip under gravity, of arms as axial forces left them, in each of P postures, (P, 3), in m.

    Along x, y and z of the ground; NaN where nothing holds the arm or the forces buckle it. ``postures`` as for
    `at_postures`.
    """
    pull = tuple(float(each) for each in gravity)
    solve = functools.partial(_solved, theory=theory, pull=pull)
    return at_postures(arm, postures, (3,), solve)


def _solved(
    structure: Any,
    values: tuple[float, ...],
    names: Sequence[str],
    *,
    theory: TheoryName,
    pull: tuple[float, ...],
) -> tuple[Floats, Floats]:
    """The displacement (3,), and its derivatives by the values at addresses, (3, addresses)."""
    moved, slopes = np.full(3, np.nan), np.full((3, len(names)), np.nan)
    own = [k for k, name in enumerate(names) if not is_damping(name)]
    known = np.zeros((3, 0))
    try:
        arm: SpatialArm = undamped(built(structure, values))
        first = float(natural_frequencies(arm, 1, theory=theory).omega[0])
        if first == 0.0:  # a motion that nothing holds
            return moved, slopes
        omega = _SHARE * first * _PARTS
        shares = np.multiply.outer(np.array(pull), _WEIGHTS / omega**2)
        found = frequency_response(
            arm, omega, _GROUND, _TIP, quantity="transmissibility", theory=theory
        )
        rigid = np.eye(3)[..., None]
        moved = np.einsum("ijw,jw->i", np.asarray(found.values).real - rigid, shares)
        if own:
            by = response_sensitivities(
                *(arm, omega, _GROUND, _TIP),
                addresses=[names[k] for k in own],
                quantity="transmissibility",
                theory=theory,
            )
            known = np.einsum("ijwa,jw->ia", by.derivative.real, shares)
        slopes[:] = 0.0  # dampers count for nothing at rest
        slopes[:, own] = known
    except (ArmError, UncertifiedError):  # a search may try values that are no arm
        pass
    return moved, slopes
