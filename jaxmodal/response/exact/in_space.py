"""Frequency response of arms in space: of one arm, or of many variants, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.parameters import set_parameters
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.driven.held_places import no_motion
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.driven.spatial_systems import SpatialSystem, spatial_system
from jaxmodal.response.receptance.in_space import responses_in_space
from jaxmodal.response.receptance.still_ports import still_inputs
from jaxmodal.runtime.array_types import Bools, Complexes, Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.preload.model import LoadedModel
from jaxmodal.spatial.stiffness.model import SpatialModel

#: addresses and their values, shape (addresses, cells)
Columns = tuple[Sequence[str], Floats]


def answers_in_space(
    arm: SpatialArm,
    theory: TheoryName,
    lowered: Any,
    columns: Columns | None,
    omega: Floats,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    quantity: str,
    judge_stability: bool,
) -> tuple[Complexes, Bools, Bools, Bools]:
    """Return what `answers_in_plane` returns of a planar arm; buckled arms have no values here.

    Raises
    ------
    ArmError
        If a value or a frequency is traced, or a port with an imposed displacement cannot move.
    """
    if is_traced(omega):
        raise ArmError(
            "omega: is traced, but the response of an arm in space needs numbers; call this outside of jit, vmap and "
            "grad."
        )
    values, infinite, invalid, unstable = [], [], [], []
    before: SpatialSystem | None = None
    for one, model in _cells(arm, theory, lowered, columns):
        unstable.append(one is not None and model.unstable)
        if one is None or model.invalid or model.unstable:
            shape = (len(outputs), len(inputs), omega.size)
            found = np.full(shape, np.nan), np.zeros(shape, bool)
        else:
            system = spatial_system(one, model, quantity, inputs, outputs).sharing(before)
            before = system
            for still in still_inputs(system):
                raise no_motion(still, quantity)
            found = responses_in_space(system, omega)
        invalid.append(one is None or model.invalid)
        values.append(found[0])
        infinite.append(found[1])
    return (
        np.stack(values, axis=2),
        np.stack(infinite, axis=2),
        np.array(invalid),
        np.array(unstable),
    )


def _cells(
    arm: SpatialArm,
    theory: TheoryName,
    lowered: Any,
    columns: Columns | None,
) -> Iterator[tuple[SpatialArm | None, SpatialModel | LoadedModel]]:
    """Yield arms and their models; None in place of an arm with invalid values."""
    if columns is None:
        yield arm, lowered
        return
    base = arm.unloaded_model(theory)  # raises errors that apply to every cell
    addresses, values = columns
    for cell in values.T:
        try:
            one = set_parameters(arm, dict(zip(addresses, cell.tolist(), strict=True)))
            model = one.search_model(theory)
        except ArmError:  # an invalid value, or a free joint that nothing holds against the loads
            yield None, base
            continue
        yield one, model
