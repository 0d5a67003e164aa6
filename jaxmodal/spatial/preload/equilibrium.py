"""Arms in space at rest under dead loads: section forces by statics alone, and the motions they cause.

Deflections are small: loads act at the undeformed posture. Forces and moments are those exerted by the part towards the
tip. Six numbers are a force and a moment about the place where they act.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.modes.modal_model import ModalModel
from jaxmodal.spatial.modes.motions import Frame, frames, mass_and_centre
from jaxmodal.spatial.modes.values import BeamValues
from jaxmodal.spatial.parts.loads import NO_LOADS, LoadsInSpace
from jaxmodal.spatial.preload.held import held_at_rest, in_axes
from jaxmodal.spatial.stiffness.constants import base_factors
from jaxmodal.statics.equilibrium import BALANCED


class Carried(NamedTuple):
    """Forces and moments (6,) in one link, in ground axes.

    ``joint`` is in the springs of the joint, about the joint; ``end`` at the outer end of the elastic part, about that
    end; ``line`` is the weight per length, (3,).
    """

    joint: Floats
    end: Floats
    line: Floats


class RestInSpace(NamedTuple):
    """Forces and moments in an arm at rest.

    Attributes
    ----------
    places : list of Frame
    links : list of Carried
    joints : array, shape (n, 6)
        Forces and moments in the springs of each joint, in the axes of its link.
    gives : array, shape (n, 6)
        Deflections of these springs, in the same axes.
    base : array, shape (6,)
        Force and moment of the arm on the ground, about joint 1.
    pushes : array, shape (n, 6)
        Forces and moments of supports on each tip, in ground axes.
    """

    places: list[Frame]
    links: list[Carried]
    joints: Floats
    gives: Floats
    base: Floats
    pushes: Floats

    def forces(self, number: int, shares: Floats) -> Floats:
        """Return N, V_y, V_z, M_x, M_y, M_z at shares of a link's length, (S, 6), in section axes.

        The link's index counts from 0.
        """
        at, load, left = self.places[number], self.links[number], 1.0 - shares[:, None]
        along = at.end - at.start
        length = np.sqrt(along @ along)
        force = load.end[:3] + left * length * load.line
        moment = load.end[3:] + np.cross(
            left * along, load.end[:3] + 0.5 * left * length * load.line
        )
        return np.concatenate([force @ at.section, moment @ at.section], axis=1)


class Deflected(NamedTuple):
    """Deflections of an arm at rest: motions (n, S, 6) at stations and (n, 6) at the tips, in ground axes."""

    along: Floats
    tips: Floats


def rest_in_space(model: ModalModel, loads: LoadsInSpace) -> RestInSpace:
    """Return the arm at rest, to first order in its deflections.

    Raises
    ------
    ArmError
        If a free joint is not held against the loads, or the loads are beyond float64.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        found = forces_at_rest(model, loads)
    if not np.all(np.isfinite(found.joints)):
        raise ArmError(
            "the forces at rest are not finite in float64; check the loads and masses and their units (m/s^2, N, kg)."
        )
    _require_held(model, found.joints)
    return found


def forces_at_rest(model: ModalModel, loads: LoadsInSpace) -> RestInSpace:
    """Return `rest_in_space` without its checks; imaginary parts are kept."""
    places = frames(model.values.links)
    held = held_at_rest(
        model,
        places,
        lambda: moved_tips(model, places, loads, np.zeros((len(places), 6))),
        lambda pushes: moved_tips(model, places, NO_LOADS, pushes)[0],
    )
    carried, joints, base = carried_loads(model, places, loads, held.pushes)
    gives = np.array(list(_gives(model, joints))) + held.gives
    return RestInSpace(places, carried, joints, gives, base, held.pushes)


def deflections(model: ModalModel, rest: RestInSpace, shares: Floats) -> Deflected:
    """Return the motions at shares of the length of each link."""
    motion, motions, tips = _base_motion(model, rest.base), [], []
    for number, (at, give) in enumerate(zip(rest.places, rest.gives, strict=True)):
        start = _moved(motion + in_axes(at.axes, give), at.start - at.joint)
        moved = _along(model, rest, number, start, np.append(shares, 1.0))
        motions.append(moved[:-1])
        motion = _moved(moved[-1], at.tip - at.end)
        tips.append(motion)
    return Deflected(np.array(motions), np.array(tips))


def moved_tips(
    model: ModalModel, places: list[Frame], loads: LoadsInSpace, pushes: Floats
) -> tuple[Floats, Floats]:
    """Return motions of the tips, and forces and moments in the joints, (n, 6) each, with free joints locked.

    Supports only exert the given forces ``pushes``.
    """
    carried, joints, base = carried_loads(model, places, loads, pushes)
    gives = np.array(list(_gives(model, joints)))
    rest = RestInSpace(places, carried, joints, gives, base, pushes)
    found = deflections(model, rest, np.zeros(0)).tips
    return found, np.array([x.joint for x in carried])


def _moved(motion: Floats, to: Floats) -> Floats:
    """Return the motion of a rigid part at the place ``to`` relative to the place where ``motion`` is given."""
    return np.concatenate([motion[:3] + np.cross(motion[3:], to), motion[3:]])


def _about(load: Floats, seen: Floats) -> Floats:
    """Return force and moment about another place, from which the place of ``load`` is seen at ``seen``."""
    return np.concatenate([load[:3], load[3:] + np.cross(seen, load[:3])])


def _weight(matrix: Floats, axes: Floats, gravity: Floats) -> Floats:
    """Return the weight of a body as force and moment about the place of its mass matrix.

    ``axes`` are the axes of the body as columns.
    """
    mass, centre = mass_and_centre(matrix)
    return _about(np.concatenate([mass * gravity, np.zeros(3)]), axes @ centre)


def carried_loads(
    model: ModalModel, places: list[Frame], loads: LoadsInSpace, pushes: Floats
) -> tuple[list[Carried], Floats, Floats]:
    """Return forces and moments of each link, base first, summed from the tip inwards.

    Also those in the joints, (n, 6), in the axes of their links, and those on the ground, (6,). The supports exert the
    given forces ``pushes``.
    """
    links, found = model.values.links, []
    load = np.concatenate([loads.tip_force, loads.tip_moment])
    for number in range(len(links) - 1, -1, -1):
        link, at = links[number], places[number]
        load = load + _weight(link.tip, at.axes, loads.gravity) + pushes[number]
        end = _about(load, at.tip - at.end)
        line, along = link.beam.mass * loads.gravity, at.end - at.start
        own = np.concatenate([line * link.beam.length, np.zeros(3)])
        start = _about(end, along) + _about(own, 0.5 * along)
        joint = _about(start, at.start - at.joint) + _weight(link.hub, at.axes, loads.gravity)
        found.append(Carried(joint, end, line))
        load = joint
        if number > 0 or model.base is not None:
            before = places[number - 1].axes if number else np.eye(3)
            load = load + _weight(link.stator, before, loads.gravity)
    carried = found[::-1]
    joints = [in_axes(at.axes.T, x.joint) for at, x in zip(places, carried, strict=True)]
    return carried, np.array(joints), load


def _along(
    model: ModalModel, rest: RestInSpace, number: int, start: Floats, shares: Floats
) -> Floats:
    """Return motions (S, 6) at shares of a link's length, in ground axes, from the motion of its start."""
    at = rest.places[number]
    along = at.end - at.start
    carried_on = np.array([_moved(start, share * along) for share in shares])
    if model.links[number].rigid:
        return carried_on
    beam = model.values.links[number].beam
    (forces,) = rest.forces(number, np.zeros(1))
    bent = _bent(beam, model, forces, at.section.T @ rest.links[number].line, shares * beam.length)
    return carried_on + np.concatenate(
        [bent[:, :3] @ at.section.T, bent[:, 3:] @ at.section.T], axis=1
    )


def _bent(beam: BeamValues, model: ModalModel, start: Floats, line: Floats, x: Floats) -> Floats:
    """Return motions (S, 6) that section forces cause along a link, relative to its start, in section axes.

    ``N = n - p x``, likewise V_y and V_z; ``M_z = m - v x + q x^2/2``, and M_y with the opposite sign.
    """
    shear, axial = float(model.theory.shear), float(model.theory.axial)
    normal, v_y, v_z, torque, m_y, m_z = start
    p, q_y, q_z = line

    def across(
        v: float, m: float, q: float, bending: Floats, shearing: Floats
    ) -> tuple[Floats, Floats]:
        turn = x * (m - x * (v / 2.0 - q * x / 6.0)) / bending
        sheared = shear * x * (v - q * x / 2.0) / shearing
        return x**2 * (m / 2.0 - x * (v / 6.0 - q * x / 24.0)) / bending + sheared, turn

    v, psi_z = across(v_y, m_z, q_y, beam.bending_z, beam.shearing_y)
    w, psi_y = across(v_z, -m_y, q_z, beam.bending_y, beam.shearing_z)
    u = axial * x * (normal - p * x / 2.0) / beam.stretching
    return np.stack([u, v, w, x * torque / beam.torsion, -psi_y, psi_z], axis=1)


def _gives(model: ModalModel, joints: Floats) -> Iterator[Floats]:
    """Yield the deflections (6,) of the springs of each joint, 0 for springs of zero stiffness."""
    for link, load in zip(model.values.links, joints, strict=True):
        give = 0.0 * load
        for direction, stiffness in zip(link.directions, link.stiffness, strict=True):
            if np.real(stiffness) != 0.0 and np.isfinite(stiffness):
                give = give + (direction @ load) / stiffness * direction
        yield give


def _require_held(model: ModalModel, joints: Floats) -> None:
    """Refuse loads that exert a force in a joint spring of zero stiffness."""
    reach = sum(float(link.beam.length) for link in model.values.links)
    forces, moments = np.abs(joints[:, :3]).max(), np.abs(joints[:, 3:]).max()
    largest = forces, max(moments, forces * reach)
    for number, (link, load) in enumerate(zip(model.values.links, joints, strict=True), start=1):
        for k in np.flatnonzero(link.stiffness == 0.0):
            turns = bool(np.any(link.directions[k, 3:]))
            force = float(link.directions[k] @ load)
            if abs(force) > BALANCED * largest[turns]:
                raise ArmError(_unheld(model, number, int(k), force, turns))


def _unheld(model: ModalModel, number: int, k: int, force: float, turns: bool) -> str:
    own = len(model.links[number - 1].joint_springs)
    name = f"joint_spring{k + 1}.stiffness" if k < own else "joint_stiffness"
    what = (
        f"moment of {shown(abs(force))} N m about"
        if turns
        else f"force of {shown(abs(force))} N along"
    )
    return (
        f"link{number}.{name} = 0: nothing holds the arm against a {what} it; give it a stiffness greater than 0, or "
        "make it rigid: leave it out."
    )


def _base_motion(model: ModalModel, load: Floats) -> Floats:
    """Return the motion of the elastic base at joint 1; 0 for a clamped base."""
    stiffness = model.values.base
    if stiffness is None:
        return np.zeros(6)
    rows, pivots = (np.array(x) for x in base_factors(list(stiffness)))
    found: Floats = rows.T @ ((rows @ load) / pivots)
    return found
