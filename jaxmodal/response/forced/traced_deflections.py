"""Displacements of the tip under gravity and loads, of traced arms in space with axial forces, for optimisation.

Gravity g moves an arm at rest as does a ground with the steady acceleration -g. Where the ground moves by u at the
angular frequency w, the tip moves by T u, and (T - 1) g/w^2 tends to the displacement by gravity as w falls. So it is
the exact response, which knows axial forces, at three low frequencies, without the powers w^2 and w^4. Loads at the tip
act through its receptance, at the same frequencies.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import numpy as np

from jaxmodal.arm.columns import STEP
from jaxmodal.arm.link_rules import is_damping
from jaxmodal.arm.paths import unchecked, value_at
from jaxmodal.arm.solved_postures import at_postures, built
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.response.driven.damping import undamped
from jaxmodal.response.exact.frequency_response import frequency_response
from jaxmodal.response.exact.sensitivities import response_sensitivities
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError, UncertifiedError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.parts.loads import NO_LOADS

#: the largest of the frequencies, of the first natural one: what is left out is its sixth power, 1e-10 of the answer,
#: and T - 1 loses four digits
_SHARE = 0.04
#: the others, of it, and what eliminates the second and fourth power of the frequency
_PARTS, _WEIGHTS = np.array([1.0, 0.5, 0.25]), np.array([1.0, -20.0, 64.0]) / 45.0
_GROUND = ["base.x", "base.y", "base.z"]
_TIP = ["tip.x", "tip.y", "tip.z"]
_LOADED = [*_TIP, "tip.rx", "tip.ry", "tip.rz"]

#: inputs, quantity, what acts on them, and the weights of the frequencies
_Asked: TypeAlias = tuple[list[str], str, Floats, Floats]


def tips_under_gravity(
    arm: SpatialArm, postures: Any, theory: TheoryName, gravity: Sequence[float]
) -> jax.Array:
    """Displacements of the tip under gravity, of arms as axial forces left them, in each of P postures, (P, 3), in m.

    Loads of the arm are added to gravity. Along x, y and z of the ground; NaN where nothing holds the arm or the forces
    buckle it. ``postures`` as for `at_postures`.
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
    try:
        arm: SpatialArm = undamped(built(structure, values))
        first = float(natural_frequencies(arm, 1, theory=theory).omega[0])
        if first == 0.0:  # a motion that nothing holds
            return moved, slopes
        omega = _SHARE * first * _PARTS
        gravity, *at_tip = NO_LOADS if arm.loads is None else arm.loads.dead()
        asked: list[_Asked] = [
            (_GROUND, "transmissibility", gravity + np.array(pull), _WEIGHTS / omega**2)
        ]
        if arm.loads is not None:
            asked += [(_LOADED, "receptance", np.concatenate(at_tip), _WEIGHTS)]
        parts = [_known(arm, omega, each, theory) for each in asked]
        moved = np.sum([part @ each[2] for part, each in zip(parts, asked, strict=True)], axis=0)
        known = np.zeros((3, len(own)))
        if own:
            singles = [names[k] for k in own]
            for part, (ports, quantity, acting, weights) in zip(parts, asked, strict=True):
                by = response_sensitivities(
                    *(arm, omega, ports, _TIP),
                    addresses=singles,
                    quantity=quantity,
                    theory=theory,
                )
                known += np.einsum("ijwa,j,w->ia", by.derivative.real, acting, weights)
                known += part @ _rates(arm, singles, ports is _GROUND)
        slopes[:] = 0.0  # dampers count for nothing at rest
        slopes[:, own] = known
    except (ArmError, UncertifiedError):  # a search may try values that are no arm
        pass
    return moved, slopes


def _known(arm: SpatialArm, omega: Floats, asked: _Asked, theory: TheoryName) -> Floats:
    """The displacement (3, inputs) at rest for each unit of what acts."""
    ports, quantity, _, weights = asked
    found = frequency_response(arm, omega, ports, _TIP, quantity=quantity, theory=theory)
    moved: Floats = np.asarray(found.values).real
    if ports is _GROUND:
        moved = moved - np.eye(3)[..., None]
    return moved @ weights


def _rates(arm: SpatialArm, singles: Sequence[str], of_gravity: bool) -> Floats:
    """The derivatives of gravity, (3, addresses), or of the force and the moment at the tip, (6, addresses)."""
    found = np.zeros((3 if of_gravity else 6, len(singles)))
    for k, single in enumerate(singles):
        if single.startswith("loads."):
            stepped = unchecked(arm, single, np.asarray(value_at(arm, single)) + 1j * STEP)
            assert stepped.loads is not None
            gravity, *at_tip = stepped.loads.dead()
            found[:, k] = np.imag(gravity if of_gravity else np.concatenate(at_tip)) / STEP
    return found
