"""Plans for responses of many arms as sums over joint angles and amounts: samples, components of ports, signs.

A port along x or y of the ground turns relative to its link. It is split into components in link axes, with weights
that depend on the posture. In a mirror image about the first link u keeps its sign, v and rotations change theirs, so
that between two components H D is even or odd in all angles together, if the arm is its own mirror image.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.response.driven.driven_arms import Arms, link_by_link, same_everywhere
from jaxmodal.response.driven.port_quantities import OF_RECEPTANCES
from jaxmodal.response.driven.ports import Port, PortRow
from jaxmodal.response.driven.systems import System
from jaxmodal.response.receptance.angle_sums import Sampling
from jaxmodal.response.receptance.answers import BLOCK
from jaxmodal.response.receptance.pieces import Terminal
from jaxmodal.response.receptance.varied_amounts import FIELDS, Varied, amounts_of, sampling_of
from jaxmodal.runtime.namespace import Array, tree_on_host
from jaxmodal.statics.beam_arrays import SUPPORTS
from jaxmodal.statics.link_parts import ASIDE

#: largest number of joints that vary: with four, 648 samples or more, the sums take longer than the recursion
_MOST_JOINTS = 3
#: smallest number of postures per sample for which sums take less time than the recursion
_WORTH = 2.0
#: fields that may vary: those that change if the arm turns, and amounts
_VARIED = frozenset(("joint_angle", "ground_angle")) | FIELDS


class Numerator(NamedTuple):
    """H D of two ports: a sum over pairs of components, with weights (cells,), or None for 1."""

    pairs: tuple[tuple[int, int], ...]
    weights: tuple[Array | None, ...]


class Plan(NamedTuple):
    """Plan for the sums that give the responses of a system.

    Attributes
    ----------
    arms
        Link by link.
    joints
        Indices of the links whose angles vary, base first.
    mirrored
        True if D and all H D, of two or more angles, are taken as even or odd.
    angles
        The angles that vary, (m, cells).
    varied
        The amounts that vary.
    terminals
        Components of ports by number: ports, or parts of ports that turn relative to their link.
    signs
        1 or -1 for each component, the factor of its motion in a mirror image.
    numerators
        Numerators by the indices of two ports in `ports`.
    ports
        All ports, each once.
    """

    arms: Arms
    joints: tuple[int, ...]
    mirrored: bool
    angles: np.ndarray
    varied: Varied
    terminals: dict[int, Terminal]
    signs: list[int]
    numerators: dict[tuple[int, int], Numerator]
    ports: tuple[Port, ...]

    @property
    def sampling(self) -> Sampling:
        return sampling_of(len(self.joints), self.mirrored, self.varied.degrees)

    def amounts(self, cells: slice) -> np.ndarray:
        """Return the products of polynomials of the amounts of some arms, (cells, products)."""
        found = np.ones((self.angles[:1, cells].shape[1], 1))
        for amount in self.varied.amounts:
            own = amount.polynomials(cells)
            found = (found[:, :, None] * own[:, None, :]).reshape(len(own), -1)
        return found

    def parity(self, pair: tuple[int, int]) -> int:
        """Return the parity of H D of two components."""
        return self.signs[pair[0]] * self.signs[pair[1]] if self.mirrored else 0


def plan_of(system: System, omega: Array) -> Plan | None:
    """Return the plan for summing the responses of a system, or None if the recursion is used.

    Sums are used if arms differ only in amounts and in joint angles, in at most three of them (and in that of joint 1);
    if the base is not elastic and no tip has support springs that turn relative to the arm; for a receptance, a
    mobility or an accelerance; with twice as many arms as samples and enough entries to save time; and if nothing is
    traced.
    """
    if not tree_on_host(system, omega) or system.cells * omega.size < BLOCK:
        return None
    if system.quantity not in OF_RECEPTANCES or system.cells == 1 or system.held:
        return None
    arms = link_by_link(system)
    if not all(
        same_everywhere(beam, _VARIED)
        and same_everywhere(damping, FIELDS)
        and (_stands(beam) or _leans_alike(beam))
        for beam, damping in zip(arms.beams, arms.damping, strict=True)
    ):
        return None
    joints = tuple(k for k, beam in enumerate(arms.beams) if k and beam.joint_angle.size > 1)
    varied = amounts_of(arms)
    if varied is None or len(joints) > _MOST_JOINTS or not (joints or varied.amounts):
        return None
    terminals, signs, numerators, ports = _components(system, arms)
    straight = all(
        not np.any(beam.joint_angle)
        for k, beam in enumerate(arms.beams)
        if k and beam.joint_angle.size == 1
    )
    level = not any(np.any(getattr(beam, name)) for beam in arms.beams for name in ASIDE)
    mirrored = len(joints) > 1 and straight and level and 0 not in signs
    mirrored = mirrored and all(map(_leans_alike, arms.beams))
    if system.cells < _WORTH * sampling_of(len(joints), mirrored, varied.degrees).size:
        return None
    angles = np.array([arms.beams[k].joint_angle for k in joints], float)
    angles = angles.reshape(len(joints), system.cells)
    return Plan(arms, joints, mirrored, angles, varied, terminals, signs, numerators, ports)


def _leans_alike(beam: Any) -> bool:
    """Return True if the support springs of a tip are equal in all directions, so that they do not turn with the arm.

    Always False for an elastic base.
    """
    if beam.base_xx is not None:
        return False
    x, y = (getattr(beam, name) for name in SUPPORTS[:2])
    return x is None or y is None or bool(np.all(x == y))


def _stands(beam: Any) -> bool:
    """Return True if a link on a rigid base does not turn, so that its supports need not be alike."""
    return beam.base_xx is None and np.size(beam.ground_angle) == 1


def _components(
    system: System, arms: Arms
) -> tuple[dict[int, Terminal], list[int], dict[tuple[int, int], Numerator], tuple[Port, ...]]:
    """Return the components of ports, their signs, the numerators, and all ports."""
    every = (*system.inputs, *system.outputs)
    ports = tuple(dict.fromkeys(every))
    terminals: dict[int, Terminal] = {}
    numbers: dict[Any, int] = {}
    signs: list[int] = []
    parts: list[dict[int, Array | None]] = []

    def component(key: Any, port: Port, row: PortRow) -> int:
        if key not in numbers:
            numbers[key] = len(terminals)
            along, sideways = bool(np.any(row.row[0])), bool(np.any(row.row[1:]))
            signs.append(0 if along and sideways else 1 if along else -1)
            terminals[numbers[key]] = Terminal(port, row)
        return numbers[key]

    for port in ports:
        place, row = system.places[every.index(port)], arms.rows[every.index(port)]
        if row.shape[1] == 1:
            parts.append({component(port, port, PortRow(*place, row[..., None])): None})
            continue
        own: dict[int, Array | None] = {}
        for axis in range(3):
            if np.any(row[axis]):
                unit = PortRow(*place, np.eye(3)[axis][:, None, None])
                own[component((place, axis), port, unit)] = row[axis]
        parts.append(own)
    wanted = {(ports.index(o), ports.index(i)) for o in system.outputs for i in system.inputs}
    if any(o != i for o, i in wanted):
        wanted |= {(k, k) for k in range(len(ports))}
    return terminals, signs, {pair: _numerator(*(parts[k] for k in pair)) for pair in wanted}, ports


def _numerator(one: Mapping[int, Array | None], other: Mapping[int, Array | None]) -> Numerator:
    found: dict[tuple[int, int], Any] = {}
    for i, x in one.items():
        for j, y in other.items():
            pair = (min(i, j), max(i, j))
            weight = y if x is None else x if y is None else x * y
            found[pair] = found[pair] + weight if pair in found else weight
    return Numerator(tuple(found), tuple(found.values()))
