"""Implausible loads of an arm in space: loads that bend it far, or are close to buckling it."""

from __future__ import annotations

import numpy as np

from jaxmodal.arm.plausible_joints import Finding
from jaxmodal.arm.plausible_loads import (
    BEYOND,
    NEAR,
    NEARLY,
    PUSHED_OUT,
    far_text,
    gravity_findings,
)
from jaxmodal.arm.quantities import quantities
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.preload.equilibrium import deflections
from jaxmodal.spatial.preload.loaded import SpatialLoadedArm
from jaxmodal.spatial.preload.model import LoadedModel


def load_findings(arm: SpatialArm) -> list[Finding]:
    """Return implausible loads of an arm, each with the address of its first load; empty without loads."""
    if arm.loads is None:
        return []
    values = {item.name: getattr(arm.loads, item.name) for item in quantities(arm.loads)}
    given = [
        (f"loads.{name}", float(x)) for name, x in values.items() if x is not None and x != 0.0
    ]
    if not given:
        return []
    found: list[Finding] = [
        (address, value, text)
        for address, value in given
        if address.startswith("loads.gravity_")
        for text in gravity_findings(value)
    ]
    sheared = all(link.rigid or link.has_shear for link in arm.links)
    try:
        model = arm.search_model("timoshenko" if sheared else "rayleigh")
    except ArmError as error:
        return [*found, (*given[0], str(error))]
    if isinstance(model, LoadedModel) and model.vibrating is not None:
        found += [(*given[0], text) for text in _texts(arm, model.vibrating.loaded)]
    return found


def _texts(arm: SpatialArm, problem: SpatialLoadedArm) -> list[str]:
    """Return what is implausible of an arm at rest."""
    chain, found = problem.chain, []
    bent = deflections(chain.model, chain.rest, np.array([0.0, 1.0]))
    moved = np.concatenate([bent.along.reshape(-1, 6), bent.tips])
    way, turn = (float(np.linalg.norm(x, axis=1).max()) for x in (moved[:, :3], moved[:, 3:]))
    length = sum(float(link.length) for link in arm.links)
    if text := far_text(turn, way / length):
        found.append(text)
    moves = problem.moves_without_strain()
    if problem.unstable(1.0):
        found.append(PUSHED_OUT if moves else BEYOND)
    elif not moves and problem.unstable(NEAR):
        found.append(NEARLY)
    return found
