"""Arms in space under loads for the page: forces at rest and the parts of the chain, from the values of the arm.

The library's functions run on registers of tapes: its forces at rest, its stiffness against rotation, its way along
the chain. What the page does at each part is in `space_rest.js`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.arm.parameters import get_parameter, set_parameters
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.namespace import xp
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.modal_model import ModalModel, modal_model
from jaxmodal.spatial.modes.motions import frames
from jaxmodal.spatial.modes.values import BeamValues, arm_values, values_of_beam
from jaxmodal.spatial.parts.loads import NO_LOADS
from jaxmodal.spatial.preload.chain import LOOKED_AT, PrestressedChain
from jaxmodal.spatial.preload.equilibrium import RestInSpace, carried_loads, moved_tips
from jaxmodal.spatial.preload.held import compatibility, give_of, moved_by_gives, supports_of
from jaxmodal.spatial.preload.members import inertia_rates, pieces_needed, state_rates
from jaxmodal.spatial.preload.parts import Along, ChainParts, LinkParts
from jaxmodal.spatial.stiffness.model import SpatialModel
from sweeps.explorer.solver.registers import Register, tape_of_arrays
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


def rest_programs(arm: SpatialArm, model: SpatialModel, names: list[str]) -> dict[str, Any]:
    """Return tapes and parts of an arm under loads, with values at ``names``.

    ``beams`` are the values of all beams from the values of the arm; ``held``, from both, how supports and free joints
    share the loads, null without supports; ``parts``, from all these and the forces of the supports, the numbers of
    `steps`; ``rates`` and ``needed`` those of one link, from its beam and its section forces.
    """
    modal, found = modal_model(model), {}
    supports = sum(len(link.supports) for link in arm.links)
    values = len(names) + _BEAM * arm.num_links

    def parts(given: list[Register]) -> list[Any]:
        way = _Steps(_chain(_Posed(arm, modal, names, given[:values]), given[values:]))
        way.outwards()
        found.update(way.written())
        return way.numbers

    def held(given: list[Register]) -> list[Any]:
        shared = _shared(_Posed(arm, modal, names, given))
        found["shared"] = [supports, len(shared.springs)]
        return [x for numbers in shared for x in np.ravel(numbers)]

    return {
        "beams": _beams_tape(arm, names),
        "held": tape_of_arrays(held, values) if supports else None,
        "parts": tape_of_arrays(parts, values + supports),
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


class _Posed:
    """The model of an arm whose values, and beams, are registers; its loads, and where its links are."""

    def __init__(
        self, arm: SpatialArm, modal: ModalModel, names: list[str], given: list[Register]
    ) -> None:
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
        links = tuple(
            link._replace(beam=BeamValues(*beam))
            for link, beam in zip(values.links, beams, strict=True)
        )
        self.model = dataclasses.replace(modal, values=values._replace(links=links))
        self.loads, self.places = changed.loads.dead(), frames(links)

    def locked(self) -> ModalModel:
        """Return the model whose free joints are rigid."""
        values = self.model.values
        links = [
            link._replace(stiffness=np.array([_unless_free(x) for x in link.stiffness], object))
            for link in values.links
        ]
        return dataclasses.replace(self.model, values=values._replace(links=tuple(links)))


def _unless_free(stiffness: Any) -> Any:
    if isinstance(stiffness, Register):
        return stiffness.unless_zero(np.inf)
    return stiffness or np.inf


def _chain(posed: _Posed, forces: Sequence[Register]) -> PrestressedChain:
    """Return the chain of an arm whose supports exert these forces."""
    pushes = np.zeros((len(posed.places), 6)).astype(object)
    for each, force in zip(supports_of(posed.model, posed.places), forces, strict=True):
        pushes[each.link] = pushes[each.link] + force * each.direction
    carried, joints, base = carried_loads(posed.model, posed.places, posed.loads, pushes)
    rest = RestInSpace(posed.places, carried, joints, np.zeros_like(pushes), base, pushes)
    return PrestressedChain(posed.model, rest, posed.loads)


class _Shared(NamedTuple):
    """What decides the forces of n supports, with f springs of joints that may be free; see `spatial.preload.held`.

    Stiffnesses of the supports and of the springs, displacements of the supports and forces in the springs under the
    loads, compliances (n, n), and displacements (n, f) of the supports for unit deflections of the springs.
    """

    supports: list[Any]
    springs: list[Any]
    motion: Floats
    load: Floats
    compliance: Floats
    moves: Floats


def _shared(posed: _Posed) -> _Shared:
    model, places, still = posed.model, posed.places, np.zeros((len(posed.places), 6))
    locked, supports = posed.locked(), supports_of(posed.model, posed.places)
    gives = [
        give_of(model, places, number, k)
        for number, link in enumerate(model.values.links)
        for k, stiffness in enumerate(link.stiffness)
        if isinstance(stiffness, Register) or stiffness == 0.0
    ]
    tips, carried = moved_tips(locked, places, posed.loads, still)
    compliance, motion = compatibility(
        supports, tips, lambda pushes: moved_tips(locked, places, NO_LOADS, pushes)[0]
    )
    links = model.values.links
    return _Shared(
        [held for link in links if link.held is not None for held in link.held],
        [links[x.link].stiffness[x.number] for x in gives],
        motion,
        np.array([x.direction @ carried[x.link] for x in gives], object),
        compliance,
        moved_by_gives(places, supports, gives),
    )


class _Steps(Along):
    """The parts from the base to the tip: what they are, and where their numbers begin."""

    def __init__(self, chain: PrestressedChain) -> None:
        self.chain, self.supports = chain, 0
        self.numbers: list[Any] = []
        self.steps: list[dict[str, Any]] = []

    @property
    def parts(self) -> ChainParts:
        return self.chain.parts

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

    def _joint(self, number: int, part: LinkParts) -> None:
        link, own = part.values, part.turning.joint
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

    def _support(self, number: int, part: LinkParts) -> None:
        link = part.values
        if link.supports is not None and link.held is not None:
            names = [f"link{number + 1}.support{k + 1}.stiffness" for k in range(len(link.held))]
            given = [np.ravel(x) for x in (link.supports, link.held)]
            self._step("support", np.concatenate(given), names=names, first=self.supports)
            self.supports += len(names)

    def _base(self, stiffness: Floats) -> None:
        self._step("base", stiffness)
