"""Rigid supports in responses: their reaction forces, from the response of the arm on springs in their place.

A spring parallel to a rigid support has no effect, so its stiffness is arbitrary. The response of the arm on such
springs is corrected by forces at the supports that keep these points at rest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.response.driven.members import segments_of
from jaxmodal.response.driven.port_quantities import in_quantity, read_ports
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.exact.held_places import cannot_move
from jaxmodal.response.exact.results import FrequencyResponse
from jaxmodal.response.receptance.answers import around, infinite_among
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, is_traced, linalg, xp
from jaxmodal.runtime.statuses import Status
from jaxmodal.statics.beam_arrays import SUPPORTS, BeamArrays

#: stiffness of the springs in place of rigid supports, in stiffnesses of the link; at least one of the two arms is away
#: from its resonances
STAND_INS = (1.0, 30.0)
#: a motion below this, relative to the terms that cancel in it, has no correct digits
_NOISE = 2.0**-44
#: a dynamic stiffness below this, relative to sqrt|Z_ii Z_jj|, is rounding: the two ports are uncoupled
_APART = 1e-10


def rigid_supports(arm: Arm) -> dict[Port, tuple[int, str]]:
    """Return the directions in which tips are held in every cell, with the link index and the field of each."""
    found = {}
    for index, link in enumerate(arm.links):
        for name, direction in zip(SUPPORTS, ("x", "y", "rotation"), strict=True):
            stiffness = getattr(link, name)
            if stiffness is not None and not is_traced(stiffness) and np.isposinf(stiffness).all():
                found[Port("tip", direction, index + 1)] = (index, name)
    return found


def rigid_addresses(arm: Arm) -> list[str]:
    """Return the addresses of the rigid supports, in the order of `rigid_supports`."""
    return [f"link{index + 1}.{name}" for index, name in rigid_supports(arm).values()]


def stand_ins(arm: Arm, factor: float = 1.0) -> list[Any]:
    """Return stiffnesses of springs in place of rigid supports: ``factor`` times that of the link."""
    springs = []
    for index, name in rigid_supports(arm).values():
        link = arm.links[index]
        turning = link.youngs_modulus * link.second_moment / link.length
        own = turning if name == "support_torsional_stiffness" else turning / link.length**2
        springs.append(factor * own)
    return springs


def on_springs(beams: BeamArrays, arm: Arm, springs: Sequence[Any]) -> BeamArrays:
    """Return beams of an arm, (m, ...), with springs in place of rigid supports; static forces are unchanged."""
    last = np.cumsum(segments_of(arm)) - 1
    for (index, name), spring in zip(rigid_supports(arm).values(), springs, strict=True):
        stiffness = getattr(beams, name)
        here = (np.arange(stiffness.shape[0]) == last[index]).reshape((-1, 1))
        beams = dataclasses.replace(beams, **{name: xp.where(here, spring, stiffness)})
    return beams


def held_answers(
    respond: Callable[..., FrequencyResponse],
    arm: Arm,
    varied: Mapping[str, Any],
    omega: Array,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    quantity: str,
) -> tuple[Array, Array, Array]:
    """Return the quantity of an arm on rigid supports.

    Parameters
    ----------
    respond
        `jaxmodal.frequency_response` of the arm and its variants on ``springs``.
    arm, varied
        The arm, and the values that vary from cell to cell.
    omega, inputs, outputs, quantity
        As for `jaxmodal.frequency_response`; frequencies of shape (F,).

    Returns
    -------
    values : Array, shape (outputs, inputs, cells, F)
        The quantity.
    infinite : Array of bool, of the same shape
        True where it changes by more than half for a relative change of frequency of 3e-14, and exceeds rounding.
    invalid : Array of bool, shape (cells,)
        True for arms with invalid values.

    Raises
    ------
    ArmError
        If a parameter is one of the rigid supports.
    """
    held = rigid_supports(arm)
    for address in varied:
        if address.rpartition(".")[2] in {name for _, name in held.values()}:
            raise ArmError(
                f"parameters: {address!r} is rigid in this arm; give the arm a finite value there to vary it."
            )
    every = around(omega)
    read = read_ports(quantity, inputs, outputs)
    found = [
        _on_springs(respond, held, stand_ins(arm, factor), every, inputs, read)
        for factor in STAND_INS
    ]
    (first, rest, near, invalid), (second, other_rest, farther, _) = found
    motions = xp.where(near <= farther, first, second)
    with np.errstate(all="ignore"):  # cells with invalid values
        posed = set_parameters(arm, varied) if varied else arm
    still = [[cannot_move(a, posed) or cannot_move(b, posed) for b in inputs] for a in read]
    motions = xp.where(np.array(still)[:, :, None, None], 0.0, motions)
    values, above, below, away = xp.split(
        in_quantity(quantity, inputs, outputs, motions, every), 4, axis=-1
    )
    infinite = infinite_among(values, above, below, away)
    if quantity == "dynamic_stiffness":
        # a dynamic stiffness is infinite where a motion is 0; small entries, of uncoupled ports, are rounding
        size = xp.maximum(xp.abs(values), xp.maximum(xp.abs(above), xp.abs(below)))
        own = xp.sqrt(xp.stack([size[k, k] for k in range(len(outputs))]))
        return values, infinite & ~(size < _APART * own[:, None] * own[None]), invalid
    _, beyond, before, _ = xp.split(xp.where(near <= farther, rest, other_rest), 4, axis=-1)
    return values, infinite & ~(beyond & before)[: len(outputs)], invalid


def _on_springs(
    respond: Callable[..., FrequencyResponse],
    held: Iterable[Port],
    springs: Sequence[Any],
    omega: Array,
    inputs: Sequence[Port],
    read: Sequence[Port],
) -> tuple[Array, Array, Array, Array]:
    """Return motions (read, inputs, cells, F) with tips held, a mask of rounding, nearness, and invalid cells.

    The nearness is that of a resonance of the arm on springs.
    """
    places = tuple(dict.fromkeys((*read, *held)))
    driven_by = tuple(dict.fromkeys((*inputs, *held)))
    invalid: Any = False
    columns: dict[Port, Array] = {}
    for at_base, quantity in ((False, "receptance"), (True, "transmissibility")):
        by = [each for each in driven_by if (each.place == "base") == at_base]
        if by:
            answer = respond(omega, by, places, quantity=quantity, springs=springs)
            shape = (-1, len(places), len(by), omega.shape[0])
            status = xp.reshape(answer.status, shape)
            invalid = invalid | xp.any(status == int(Status.invalid_input), axis=(1, 2, 3))
            moved = xp.moveaxis(xp.reshape(answer.values, shape), 0, 2)
            columns |= {each: moved[:, k] for k, each in enumerate(by)}
    at = np.array([places.index(each) for each in held])
    rows = np.array([places.index(each) for each in read])
    of_supports = xp.stack([columns[each] for each in held], axis=1)  # places, supports, cells, F
    size = xp.sqrt(xp.stack([xp.abs(of_supports[k, j]) for j, k in enumerate(at)]))
    driven = xp.stack([columns[each] for each in inputs], axis=1)
    square = xp.moveaxis(of_supports[at] / (size[:, None] * size[None]), (0, 1), (-2, -1))
    known = xp.all(xp.isfinite(square), axis=(-2, -1))[..., None, None]
    inverse = linalg.inv(xp.where(known, square, np.eye(len(at))))
    inverse = xp.where(known, inverse, np.nan)
    passed, pushing = of_supports[rows] / size[None], driven[at] / size[:, None]
    pushed = xp.einsum("cfst,ticf->sicf", inverse, pushing)
    motions = driven[rows] - xp.einsum("oscf,sicf->oicf", passed, pushed)
    sizes = (xp.abs(x) for x in (passed, inverse, pushing))
    cancelled = xp.abs(driven[rows]) + xp.einsum("oscf,cfst,ticf->oicf", *sizes)
    at_rest = ~(xp.abs(motions) > _NOISE * cancelled) & ~xp.isinf(motions)
    stiffnesses = xp.stack([xp.asarray(x, np.float64) for x in springs])
    nearness = xp.max(size * size * stiffnesses[:, None, None], axis=0)
    return motions, at_rest, xp.where(xp.isnan(nearness), np.inf, nearness), invalid
