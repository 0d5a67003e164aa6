"""Modes of arms in space at ports, and the damping between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.eigenspaces.modal_mass import quadrature, unpadded_quadrature_size
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.response.driven.ports import RELATIVE, Port
from jaxmodal.response.driven.spatial_readings import motion_of_base, reading_of
from jaxmodal.response.modal.results import ModalDamping, ModesAtPorts
from jaxmodal.response.modal.rigid_motions import modes_at_zero
from jaxmodal.response.static.in_space import still_in_space
from jaxmodal.runtime.array_types import Floats
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.eigenmodes import Eigenmodes
from jaxmodal.spatial.modes.energies import gives_way, rigidities
from jaxmodal.spatial.modes.motions import Motion, carried_motions, frames
from jaxmodal.spatial.preload.loaded_modes import eigenmodes_of


def modes_in_space(
    arm: SpatialArm, given: Sequence[Port], num_modes: int, theory: TheoryName
) -> ModesAtPorts:
    """Return `modes_at_ports` of an arm in space.

    Raises
    ------
    ArmError
        If a damper is parallel to a free spring that is not about the axis of its joint.
    UncertifiedError
        If a frequency is not certified, or there are fewer modes.
    """
    found = natural_frequencies(arm, num_modes, theory=theory)
    omega = np.asarray(found.omega)
    eigen, free = eigenmodes_of(arm.search_model(theory)), int(np.sum(omega == 0.0))
    model = eigen.model
    places, points = frames(model.values.links), unpadded_quadrature_size(num_modes)
    readings = {
        each: reading_of(
            each, arm, places[arm.num_links - 1 if each.link is None else each.link - 1]
        )
        for each in given
        if each.place != "base"
    }
    stations = np.unique([0.0, 1.0, *(reading.station for reading in readings.values())])
    groups = np.asarray(found.group)[free:] - free, np.asarray(found.multiplicity)[free:]
    modes, motions = eigen.modes(omega[free:], *groups, points, stations)
    carried, masses = carried_motions(model, points)
    inertia = motions @ (carried * masses).T
    at = np.empty((omega.size, len(given)))
    for column, each in enumerate(given):
        if each.place == "base":
            at[free:, column] = -inertia @ motion_of_base(each, places[0])
            continue
        reading = readings[each]
        if each.direction == RELATIVE:
            spring = model.values.links[reading.link].stiffness.size - 1
            at[free:, column] = reading.give * modes.gives[:, reading.link, spring]
        else:
            station = int(np.searchsorted(stations, reading.station))
            at[free:, column] = modes.at[:, reading.link, station, :6] @ reading.row
    gives = np.zeros((omega.size, *modes.gives.shape[1:]))
    gives[free:] = modes.gives
    if free:
        at[:free], hinges = modes_at_zero(arm, given, omega, theory)
        for number, values in hinges.items():
            gives[:free, number, model.values.links[number].stiffness.size - 1] = values
    own = _damping(arm, eigen, modes, gives, points, free)
    return ModesAtPorts(found, at, own, still_in_space(arm, theory, given))


def _damping(
    arm: SpatialArm, eigen: Eigenmodes, modes: Motion, gives: Floats, points: int, free: int
) -> ModalDamping:
    """Return the arm's own damping between modes; the first ``free`` modes strain no link.

    A link with complex moduli dissipates its strain energy times loss factor and Kelvin-Voigt time; a damper acts on
    the rate of the deflection of its spring.
    """
    count, model = len(gives), eigen.model
    viscous, structural = np.zeros((count, count)), np.zeros((count, count))
    weights = quadrature(points)[1]
    for i, (link, values) in enumerate(zip(arm.links, model.values.links, strict=True)):
        if link.loss_factor or link.kelvin_voigt_time:
            soft = gives_way(model, i) * values.beam.length / rigidities(values.beam)
            forces = eigen.strains.forces(i, modes.nodes[:, i])
            strain: Floats = np.einsum(
                "kqf,lqf,q,f->kl", forces, forces, weights, soft, optimize=True
            )
            structural[free:, free:] += float(link.loss_factor or 0.0) * strain
            viscous[free:, free:] += float(link.kelvin_voigt_time or 0.0) * strain
        beside = [spring.damping for spring in link.joint_springs] + [link.joint_damping]
        for k, (damper, stiffness) in enumerate(zip(beside, values.stiffness, strict=True)):
            if damper and not np.isinf(stiffness):
                viscous += float(damper) * np.outer(gives[:, i, k], gives[:, i, k])
    return ModalDamping(viscous, structural)
