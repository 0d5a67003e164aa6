"""Arms in space under loads for the page: forces at rest and the parts of the chain, from the values of the arm.

The library's functions run on registers of tapes: its forces at rest, its stiffness against rotation, its way along
the chain. What the page does at each part is in `space_rest.js`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxmodal.arm.parameters import get_parameter, set_parameters
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import xp
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.modal_model import ModalModel, modal_model
from jaxmodal.spatial.modes.motions import Frame, frames
from jaxmodal.spatial.modes.values import BeamValues, LinkValues, arm_values, values_of_beam
from jaxmodal.spatial.parts.loads import NO_LOADS, LoadsInSpace
from jaxmodal.spatial.preload.chain import LOOKED_AT, Along, PrestressedChain
from jaxmodal.spatial.preload.equilibrium import RestInSpace, carried_loads, moved_tips
from jaxmodal.spatial.preload.held import compatibility, supports_of
from jaxmodal.spatial.preload.members import inertia_rates, pieces_needed, state_rates
from jaxmodal.spatial.stiffness.model import SpatialModel
from sweeps.explorer.solver.registers import Register, solved, tape_of_arrays
from sweeps.explorer.solver.spatial_changes import bars_of
from sweeps.explorer.solver.spatial_members import sizes_of
from sweeps.explorer.solver.tapes import tape_of_function

#: numbers of a beam
_BEAM = len(BeamValues._fields)
#: shares of a link's length that determine its section forces, which are quadratic along it
_SHARES = np.array([0.0, 0.5, 1.0])


def loads_at_rest(arm: SpatialArm) -> list[str]:
    """Return the addresses of the loads that the arm has."""
    return [name for name in arm.addresses() if name.startswith("loads.")]


def require_solved_at_rest(arm: SpatialArm) -> None:
    """Refuse what the page has not of arms under loads."""
    if arm.base_stiffness is not None and any(link.supports for link in arm.links):
        raise ArmError(
            "base_stiffness: the arm has one, and loads, and supports, which share the loads by the stiffness of arm "
            "and base; a page solves two of the three. Give arm.replace(loads=None), or clamp the base. "
            f"{arm.know_loads} take all three."
        )


def rest_programs(arm: SpatialArm, model: SpatialModel, names: list[str]) -> dict[str, Any]:
    """Return tapes and parts of an arm under loads, with values at ``names``.

    ``beams`` are the values of all beams from the values of the arm; ``parts``, from both, the numbers of `steps`;
    ``rates`` and ``needed`` those of one link, from its beam and its section forces.
    """
    modal, found = modal_model(model), {}

    def parts(given: list[Register]) -> list[Any]:
        chain, rooms = _chain(arm, modal, names, given)
        way = _Steps(chain, rooms)
        way.outwards()
        found.update(way.written())
        return way.numbers

    tape = tape_of_arrays(parts, len(names) + _BEAM * arm.num_links)
    return {
        "beams": _beams_tape(arm, names),
        "parts": tape,
        "rates": tape_of_arrays(lambda x: _rates(x, model.flags), _BEAM + 6),
        "needed": _needed_tape(model.flags),
        "beam": _BEAM,
        **found,
    }


def _beams_tape(arm: SpatialArm, names: list[str]) -> dict[str, Any]:
    own = {*sizes_of(arm), *bars_of(arm)}

    def computed(*values: Any) -> list[Any]:
        given = {name: x for name, x in zip(names, values, strict=True) if name in own}
        links = set_parameters(arm, given).links
        return [xp.ravel(x)[0] for link in links for x in values_of_beam(link)]

    return tape_of_function(computed, len(names))


def _needed_tape(theory: Theory) -> dict[str, Any]:
    def computed(*values: Any) -> list[Any]:
        forces = xp.stack(values[_BEAM:]).reshape(LOOKED_AT.size, 6)
        return list(pieces_needed(BeamValues(*values[:_BEAM]), theory, forces))

    return tape_of_function(computed, _BEAM + 6 * LOOKED_AT.size)


def _rates(given: Sequence[Register], theory: Theory) -> list[Any]:
    """Return the rates (12, 12) of states at rest, and the diagonal of those by the square of the frequency."""
    beam = BeamValues(*(np.array(x, object) for x in given[:_BEAM]))
    forces = np.array(given[_BEAM:], object)[None]
    still, inertia = state_rates(beam, theory, forces, 0.0)[0], inertia_rates(beam, theory)
    return [*still.ravel(), *(inertia[6 + k, k] for k in range(6))]


def _chain(
    arm: SpatialArm, modal: ModalModel, names: list[str], given: list[Register]
) -> tuple[PrestressedChain, Floats]:
    """Return the chain of an arm whose values, and beams, are registers, and the rooms of its supports."""
    leaves, structure = jax.tree_util.tree_flatten(arm)
    numbered = jax.tree_util.tree_unflatten(structure, np.arange(float(len(leaves))).tolist())
    of_beams = {*sizes_of(arm), *bars_of(arm)}
    for name, register in zip(names, given, strict=False):
        if name not in of_beams:
            leaves[int(get_parameter(numbered, name))] = register
    changed = jax.tree_util.tree_unflatten(structure, leaves)
    values = arm_values(changed.links, changed.payload, changed.base_stiffness)
    values = jax.tree_util.tree_map(lambda x: x[..., 0], values)
    beams = np.array(given[len(names) :], object).reshape(arm.num_links, _BEAM)
    links = [
        link._replace(beam=BeamValues(*beam))
        for link, beam in zip(values.links, beams, strict=True)
    ]
    moved = dataclasses.replace(modal, values=values._replace(links=tuple(links)))
    loads, places = changed.loads.dead(), frames(links)
    pushes, rooms = _pushes(moved, places, loads)
    carried, joints, base = carried_loads(moved, places, loads, pushes)
    rest = RestInSpace(places, carried, joints, np.zeros_like(pushes), base, pushes)
    return PrestressedChain(moved, rest, loads), rooms


def _pushes(model: ModalModel, places: list[Frame], loads: LoadsInSpace) -> tuple[Floats, Floats]:
    """Return the forces (n, 6) of supports on the tips, and how much of what each moves by the others before leave."""
    still = np.zeros((len(places), 6))
    supports = supports_of(model, places)
    if not supports:
        return still, np.zeros(0)
    tips, _ = moved_tips(model, places, loads, still)
    compliance, motion = compatibility(
        supports, tips, lambda pushes: moved_tips(model, places, NO_LOADS, pushes)[0]
    )
    forces, pivots = solved(compliance, -motion)
    pushes = still.astype(object)
    for each, force in zip(supports, forces, strict=True):
        pushes[each.link] = pushes[each.link] + force * each.direction
    return pushes, pivots / np.diag(compliance)


class _Steps(Along):
    """The parts from the base to the tip: what they are, and where their numbers begin."""

    def __init__(self, chain: PrestressedChain, rooms: Floats) -> None:
        self.chain, self.rooms = chain, iter(rooms)
        self.numbers: list[Any] = []
        self.steps: list[dict[str, Any]] = []

    def written(self) -> dict[str, Any]:
        """Return the steps, and where the section forces of elastic links begin, at three places of each."""
        model, rest = self.chain.model, self.chain.rest
        forces = [
            None if link.rigid else self._put(self.chain.forces(k, _SHARES))
            for k, link in enumerate(model.links)
        ]
        ways = [at.tip - at.joint for at in rest.places]
        reach = sum(np.sqrt(way @ way) for way in ways)
        lengths = sum(link.beam.length for link in model.values.links)
        sizes = self._put(np.array([reach, lengths], object))
        return {"steps": self.steps, "forces": forces, "sizes": sizes}

    def _put(self, given: Any) -> int:
        first = len(self.numbers)
        self.numbers += np.ravel(given).tolist()
        return first

    def _step(self, kind: str, given: Any, **more: Any) -> None:
        if any(isinstance(x, Register) or x != 0.0 for x in np.ravel(given)):
            self.steps.append({"kind": kind, "at": self._put(given), **more})

    def _rigid(self, matrix: Floats) -> None:
        self._step("rigid", matrix)

    def _bar(self, number: int, matrix: Floats) -> None:
        self._step("bar", matrix, link=number)

    def _mass(self, matrix: Floats) -> None:
        self._step("mass", matrix)

    def _turning(self, matrix: Floats) -> None:
        self._step("turning", matrix)

    def _pieces(self, number: int) -> None:
        self.steps.append({"kind": "pieces", "link": number})

    def _joint(self, number: int, link: LinkValues) -> None:
        own = self.chain.turning.links[number].joint
        springs = self.chain.model.links[number].joint_springs
        names = [f"joint_spring{k}" for k in range(1, len(springs) + 1)]
        given = link.directions, link.stiffness, own, link.rotor, self.chain.rest.joints[number]
        numbers = np.concatenate([np.ravel(x) for x in given])
        self._step(
            "joint",
            numbers,
            link=number,
            names=[*(f"{x}.stiffness" for x in names), "joint_stiffness"],
        )

    def _support(self, number: int, link: LinkValues) -> None:
        if link.supports is not None and link.held is not None:
            own = [next(self.rooms) for _ in link.held]
            names = [f"link{number + 1}.support{k}.stiffness" for k in range(1, len(own) + 1)]
            given = [np.ravel(x) for x in (link.supports, link.held, own)]
            self._step("support", np.concatenate(given), names=names)

    def _base(self, stiffness: Floats) -> None:
        self._step("base", stiffness)
