"""Modes of an arm in space under loads: motions and section forces along its links, and their energies.

A mode is the set of coordinates at which the second-order energy, less the kinetic one, is stationary. Section forces
are the canonical momenta of `members`: conjugate to the displacements, they include what the forces at rest add.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxmodal.eigenspaces.modal_mass import quadrature
from jaxmodal.runtime.array_types import Floats, Integers, Numbers
from jaxmodal.spatial.modes.eigenmodes import Eigenmodes
from jaxmodal.spatial.modes.eigenspaces import modes_of
from jaxmodal.spatial.modes.energies import Strains, gives_way, rigidities
from jaxmodal.spatial.modes.fields import rigid_fields
from jaxmodal.spatial.modes.modal_model import ModalModel, modal_model
from jaxmodal.spatial.modes.motions import (
    Joint,
    Motion,
    forces_of_supports,
    joints_of,
    line_inertia,
    no_gives,
    number_of_supports,
)
from jaxmodal.spatial.modes.turning import turned_by
from jaxmodal.spatial.preload.chain import PrestressedChain
from jaxmodal.spatial.preload.energies import Outwards, Stationary, stationary
from jaxmodal.spatial.preload.members import carried_states, state_rates
from jaxmodal.spatial.preload.model import LoadedModel
from jaxmodal.spatial.preload.parts import LinkParts
from jaxmodal.spatial.stiffness.model import SpatialModel


def eigenmodes_of(lowered: SpatialModel | LoadedModel) -> Eigenmodes:
    """Return the modes of a concrete arm from its model for searches."""
    if isinstance(lowered, LoadedModel):
        if lowered.vibrating is not None:
            return LoadedEigenmodes(lowered.vibrating.loaded.chain)
        lowered = lowered.bare
    return Eigenmodes(modal_model(lowered))


class LoadedEigenmodes(Eigenmodes):
    """Modes of an arm under its loads."""

    def __init__(self, chain: PrestressedChain) -> None:
        super().__init__(dataclasses.replace(chain.model, turning=chain.turning))
        self.chain = chain
        self.strains = _LoadedStrains(self.model, chain)

    def modes(
        self,
        omega: Floats,
        first: Integers,
        multiplicity: Integers,
        num_points: int,
        stations: Floats,
    ) -> tuple[Motion, Floats]:
        given = omega, first, multiplicity, num_points, stations
        return modes_of(self.model, *given, null_vectors=self._null_vectors)

    def _null_vectors(
        self,
        omega: Floats,
        members: Integers,
        slots: Integers,
        num_points: int,
        stations: Floats,
    ) -> Motion:
        xi = np.concatenate([[0.0], quadrature(num_points)[0], [1.0], stations])
        found = [
            self._motions(float(w), int(count), int(several), xi, num_points + 1)
            for w, count, several in zip(omega, members, slots, strict=True)
        ]
        return Motion(*(np.concatenate(x) for x in zip(*found, strict=True)))

    def _motions(self, omega: float, count: int, several: int, xi: Floats, last: int) -> Motion:
        """Return ``count`` of the ``several`` motions at a natural frequency; the tip is the place ``last`` of xi."""
        model, square = self.model, omega * omega
        at = stationary(self.chain, 1.0, square, several)
        at = Stationary(at.coordinates[:, :count], at.forces[:, :count], at.counts)
        trip = _Recording(self.chain, at, square)
        fields = np.zeros((count, len(model.links), xi.size, 12))
        fields[:, :, last, :6] = np.moveaxis(np.array(trip.ends), -1, 0)  # moves rotors beyond
        gives, held = no_gives(model, count), np.zeros((count, number_of_supports(model)))
        for number, (springs, given) in enumerate(zip(model.springs, trip.gives, strict=True)):
            gives[:, number, list(springs)] = given.T
        for number, places in enumerate(model.held):
            link, start = model.values.links[number], model.held[0].start
            if link.held is not None:
                held[:, places.start - start : places.stop - start] = trip.forces[number].T
        base = np.zeros((count, 6)) if model.base is None else at.coordinates[:6].T
        motion = Motion(
            inner=fields[:, :, 0],
            nodes=fields[:, :, 1:last],
            outer=fields[:, :, last],
            gives=gives,
            base=base,
            at=fields[:, :, last + 1 :],
            held=held,
        )
        for number in range(len(model.links) - 1, -1, -1):
            states, outer = trip.states[number], trip.outer[number]
            if model.links[number].rigid:
                end = self._end_force(number, trip.ends[number], omega, motion)
                self._along_rigid(number, states[0], end, square, xi, fields)
                continue
            if not model.theory.axial:
                # a force along a link that does not stretch is none of its coordinates
                normal = self._end_force(number, trip.ends[number], omega, motion)[0]
                outer[0] = normal
                for state in states[::-1]:
                    normal = state[6] = state[6] + normal
            fields[:, number] = _along(self.chain, 1.0, number, states, square, xi)
            fields[:, number, last, 6:] = outer.T
        return motion

    def _end_force(self, number: int, moved: Floats, omega: float, motion: Motion) -> Floats:
        """Return the forces (6, m) on the end of the elastic part of a link, whose fields beyond are known.

        ``moved`` are the motions (6, m) of this end.
        """
        model, square = self.model, omega * omega
        link, t = model.values.links[number], model.transfers[number]
        tip = moved.T @ t.end.T
        mass, force = link.tip, np.zeros_like(tip)
        if number + 1 < len(model.links):
            mass = mass + model.values.links[number + 1].stator
            carried = joints_of(model, np.full(len(tip), omega), motion)[number + 1].carried
            force = carried @ model.transfers[number + 1].turn.T
        force = force + square * (tip @ mass)
        force[:, 3:] -= tip[:, 3:] @ self.chain.turning.links[number].end
        if link.supports is not None:
            force -= forces_of_supports(model, motion, number) @ link.supports
        return np.asarray(np.linalg.solve(t.end_force, force.T))

    def _along_rigid(
        self, number: int, start: Floats, end: Floats, square: float, xi: Floats, fields: Floats
    ) -> None:
        """Fill in the fields (m, n, S, 12) of a rigid link from motions of its start and forces on its end, (6, m).

        The momenta before the forces at rest turn them are those of a rigid link without loads.
        """
        model = self.model
        length = float(model.values.links[number].beam.length)
        inertia = square * line_inertia(model, number)
        matrices, whole = (rigid_fields(length * x, inertia) for x in (xi, np.ones(1)))
        fields[:, number, :, :6] = np.einsum("sij,jm->msi", matrices[:, :6, :6], start)
        plain = np.linalg.solve(whole[0, 6:, 6:], end - whole[0, 6:, :6] @ start)
        both = np.vstack([start, plain])
        fields[:, number, :, 6:] = np.einsum("sij,jm->msi", matrices[:, 6:], both)
        at, load = self.chain.rest.places[number], self.chain.rest.links[number]
        pull, line = at.section.T @ load.end[:3], at.section.T @ load.line
        for k, share in enumerate(xi):
            ahead = np.array([(1.0 - share) * length, 0.0, 0.0])
            weight = (1.0 - share) * length * line
            turned = turned_by(pull, ahead) + turned_by(weight, 0.5 * ahead)
            fields[:, number, k, 9:] -= start[3:].T @ turned


def _along(
    chain: PrestressedChain,
    factor: float,
    number: int,
    states: Sequence[Floats],
    square: float,
    xi: Floats,
) -> Floats:
    """Return the fields (m, S, 12) of an elastic link from those at the starts of its pieces."""
    pieces = len(states)
    which = np.minimum((xi * pieces).astype(int), pieces - 1)
    starts = which / pieces
    found = carried_states(
        chain.model.values.links[number].beam,
        chain.model.theory,
        lambda shares: factor * chain.forces(number, shares),
        square,
        starts,
        xi - starts,
        np.array(states)[which],
    )
    return np.moveaxis(found, 2, 0)


def buckling_shape(
    chain: PrestressedChain, factor: float, place: int, xi: Floats
) -> tuple[Floats, Floats]:
    """Return displacements and rotations, (n, S, 3) each, in ground axes, of a buckling shape at stations xi = x/L.

    The ``factor`` has the sign of the loads; ``place`` counts the shapes of a repeated one from 0.
    """
    at = stationary(chain, factor, count=place + 1)
    one = Stationary(at.coordinates[:, place:], at.forces[:, place:], at.counts)
    trip, motions = _Recording(chain, one, 0.0, factor), []
    for number, link in enumerate(chain.model.links):
        states = trip.states[number]
        if link.rigid:
            length = float(chain.model.values.links[number].beam.length)
            motions.append((rigid_fields(length * xi, np.zeros(6))[:, :6, :6] @ states[0])[..., 0])
        else:
            motions.append(_along(chain, factor, number, states, 0.0, xi)[0, :, :6])
    axes = np.array([at.section for at in chain.rest.places])
    moved, turned = np.split(np.array(motions), 2, axis=-1)
    return moved @ axes.swapaxes(1, 2), turned @ axes.swapaxes(1, 2)


class _Recording(Outwards):
    """Goes outwards and records what is met: states at the starts of pieces, outer forces, deflections, supports."""

    def __init__(
        self, chain: PrestressedChain, at: Stationary, square: float, factor: float = 1.0
    ) -> None:
        super().__init__(chain, factor, at.counts, at.coordinates, square)
        self.pushes = list(at.forces)
        #: by link: states (12, m) at the starts of pieces, or the motion (6, m) at the start of a rigid link; motion of
        #: the outer end and forces on it; deflections of springs; forces of supports
        self.states: list[list[Numbers]] = []
        self.ends: list[Numbers] = []
        self.outer: list[Numbers] = []
        self.gives: list[Numbers] = []
        self.forces: list[Numbers] = []
        self.outwards()

    def _joint(self, number: int, part: LinkParts) -> None:
        self.gives.append(self.left[: int(np.sum(np.isfinite(part.values.stiffness)))])
        super()._joint(number, part)

    def _bar(self, number: int, matrix: Numbers) -> None:
        self.states.append([self.motion])
        self.outer.append(0.0 * self.motion)
        super()._bar(number, matrix)
        self.ends.append(self.motion)

    def _pieces(self, number: int) -> None:
        self.states.append([])
        super()._pieces(number)
        self.outer.append(self.last)
        self.ends.append(self.motion)

    def _piece(self, stiffness: Numbers, carried: Numbers, give: Numbers) -> None:
        self.last = self.left[:6].copy()
        force = carried.T @ self.last - stiffness @ self.motion
        self.states[-1].append(np.vstack([self.motion, force]))
        super()._piece(stiffness, carried, give)

    def _support(self, number: int, part: LinkParts) -> None:
        still, held = np.zeros(self.motion.shape[1]), part.values.held
        pushed = [still if k == 0.0 else self.pushes.pop(0) for k in (() if held is None else held)]
        self.forces.append(np.reshape(pushed, (-1, self.motion.shape[1])))


class _LoadedStrains(Strains):
    """Strains and energies under forces that vary along links."""

    def __init__(self, model: ModalModel, chain: PrestressedChain) -> None:
        super().__init__(model)
        self.chain = chain

    def _rates(self, number: int, nodes: Floats) -> tuple[Floats, Floats]:
        """Return derivatives of displacements (..., q, 6) along a link at nodes, and the forces at rest there."""
        beam, forces = self.model.values.links[number].beam, self._at_rest(number, nodes)
        rates = state_rates(beam, self.model.theory, forces, 0.0)[:, :6]
        found: Floats = np.einsum("qij,...qj->...qi", rates, nodes)
        return found, forces

    def _at_rest(self, number: int, nodes: Floats) -> Floats:
        return self.chain.forces(number, quadrature(nodes.shape[-2])[0])

    def forces(self, number: int, nodes: Floats) -> Floats:
        if self.model.links[number].rigid:
            return np.zeros((*nodes.shape[:-1], 6))
        strains = self._rates(number, nodes)[0].copy()
        strains[..., 1] -= nodes[..., 5]
        strains[..., 2] += nodes[..., 4]
        beam = self.model.values.links[number].beam
        found: Floats = gives_way(self.model, number) * rigidities(beam) * strains
        return found

    def preload(self, number: int, mode: Motion, joint: Joint) -> float:
        link, turning = self.model.values.links[number], self.chain.turning
        own, nodes = turning.links[number], mode.nodes[number]
        turned, ends = joint.beyond[3:], joint.tip[3:]
        gives = mode.gives[number, : link.stiffness.size] @ link.directions
        found = 0.5 * (turned @ own.start @ turned + ends @ own.end @ ends)
        found += joint.before @ own.joint @ gives
        if number == 0 and self.model.values.base is not None:
            found += 0.5 * (mode.base[3:] @ turning.base @ mode.base[3:])
        if self.model.links[number].rigid:
            turned = mode.inner[number, 3:6]
            return float(found + 0.5 * (turned @ own.along @ turned))
        rates, forces = self._rates(number, nodes)
        turns, normal = nodes[:, 3:6], forces[:, 0]
        energy = 0.5 * normal * (rates[:, 1] ** 2 + rates[:, 2] ** 2)
        energy += 0.5 * link.beam.gyration * normal * rates[:, 3] ** 2
        energy -= 0.5 * turns[:, 0] * np.sum(forces[:, 1:3] * turns[:, 1:], axis=1)
        sheared = rates[:, 1:3] + np.stack([-turns[:, 2], turns[:, 1]], axis=1)
        energy += turns[:, 0] * (forces[:, 1] * sheared[:, 1] - forces[:, 2] * sheared[:, 0])
        energy -= 0.5 * np.sum(forces[:, 3:] * np.cross(turns, rates[:, 3:]), axis=1)
        return float(found + link.beam.length * (quadrature(len(nodes))[1] @ energy))
