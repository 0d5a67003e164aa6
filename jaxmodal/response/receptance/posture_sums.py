"""Responses of many postures from those of a few: trigonometric sums where only joint angles vary.

At one frequency the characteristic determinant D is exactly a trigonometric polynomial of degree 2 in each joint angle
(`postures.harmonics`), and so is H D for a receptance H of two ports whose directions are fixed to their links. The
part beyond a joint is a three-dimensional subspace of motions, forces and ports there, with the Plücker coordinates D,
H D and so on. A turn of the joint acts on u + iv and on their forces with weights of 1 and -1, on the rotation, the
moment and the ports with 0. Coordinates are products of entries of which at most two have a weight of the same sign.

Therefore the recursion is evaluated in a few postures only. One sample per angle more than the sums need measures the
errors, whatever their cause; entries with too large errors are computed by the recursion itself.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.response.driven.damping import SPRINGS
from jaxmodal.response.driven.driven_arms import Arms, damped_links, known_of, wide, with_known
from jaxmodal.response.driven.port_quantities import in_quantity
from jaxmodal.response.driven.systems import System
from jaxmodal.response.receptance.angle_sums import Sampling, terms
from jaxmodal.response.receptance.answers import BLOCK, BLOCK_OF_ARMS, answers_at, responses
from jaxmodal.response.receptance.lost_digits import LARGE_GROWTH
from jaxmodal.response.receptance.pieces import pieces_of
from jaxmodal.response.receptance.posture_plans import Plan, plan_of
from jaxmodal.response.receptance.recursion import inward
from jaxmodal.runtime.namespace import Array
from jaxmodal.statics.beam_arrays import BeamArrays

#: errors of entries, relative to sqrt|H_ii H_jj| of their ports, beyond which the recursion is used
_TOLERANCE = 1e-12
#: factor from the remainder of the samples to the assumed error, and smallest error relative to the summed terms
_SAFETY, _ROUNDING = 2.0, 2.0**-50


def responses_of_postures(system: System, omega: Array) -> tuple[Array, Array]:
    """Return `answers.responses`, by sums over samples of the joint angles where `plan_of` returns a plan."""
    plan = plan_of(system, omega)
    if plan is None:
        return responses(system, omega)
    shape = (len(system.outputs), len(system.inputs), system.cells, omega.size)
    values, infinite = np.empty(shape, complex), np.zeros(shape, bool)
    width = max(1, BLOCK // plan.sampling.size)
    height = max(1, BLOCK_OF_ARMS // min(width, omega.size))
    with np.errstate(all="ignore"):
        for start in range(0, omega.size, width):
            places = np.s_[start : start + width]
            block = _Block(system, plan, omega[places])
            for first in range(0, system.cells, height):
                cells = np.s_[first : first + height]
                at = (slice(None), slice(None), cells, places)
                values[at], infinite[at] = block.answers(cells)
    return values, infinite


class _Sum(NamedTuple):
    """Coefficients (K, F) of a function of the angles, and the size of the remainder of its samples, (F,)."""

    coefficients: Array
    left_over: Array


class _Block:
    """Sums at F frequencies."""

    def __init__(self, system: System, plan: Plan, omega: Array) -> None:
        self.system, self.plan, self.omega = system, plan, omega
        broad: Arms = wide(plan.arms)
        known = [known_of(system, broad, link, omega) for link in range(len(broad.beams))]
        self.members = [member for found in known for member in found.members or ()]
        beams, scale = _sampled(plan, with_known(broad, known), omega)
        pieces = pieces_of(beams, self.members, system.cut, plan.terminals)
        pairs = sorted({pair for each in plan.numerators.values() for pair in each.pairs})
        found = inward(pieces, omega, pairs, loads_at_ground=False, watched=True)
        determinant = scale
        for factor in found.factors:
            determinant = determinant * factor
        samples = (*(x.size for x in plan.sampling.nodes), omega.size)
        # if all samples lose digits in the same way, the remainder may not show it
        growth = np.broadcast_to(found.growth, samples).reshape(-1, omega.size)
        self.lost = ~(growth.min(axis=0) <= LARGE_GROWTH)
        determinant = np.broadcast_to(determinant, samples).reshape(-1, omega.size)
        determinant = determinant / np.max(np.abs(determinant), axis=0)
        self.determinant = _sum(plan.sampling, determinant, 1 if plan.mirrored else 0)
        self.pairs = {
            pair: _sum(
                plan.sampling,
                np.broadcast_to(found.responses[pair], samples).reshape(determinant.shape)
                * determinant,
                plan.parity(pair),
            )
            for pair in pairs
        }

    def answers(self, cells: slice) -> tuple[Array, Array]:
        """Return the quantity (outputs, inputs, cells, F), and a mask of infinite values."""
        plan, system = self.plan, self.system
        at = plan.angles[:, cells]
        own = {parity: terms(at, parity) for parity in plan.sampling.coefficients}
        size = at.shape[1]
        if plan.varied.amounts:
            more = plan.amounts(cells)[:, None, :]
            own = {k: (x[:, :, None] * more).reshape(size, -1) for k, x in own.items()}

        determinant = _product(own[1 if plan.mirrored else 0], self.determinant.coefficients)
        below, noise_below = _size(determinant), self.determinant.left_over
        sums, sizes, noises = {}, {}, {}
        for key, numerator in plan.numerators.items():
            matrix: list[Array] = []
            noise: Any = 0.0
            for pair, weight in zip(numerator.pairs, numerator.weights, strict=True):
                part, left_over = own[plan.parity(pair)], self.pairs[pair].left_over
                if weight is not None:
                    share = weight[cells][:, None]
                    part, left_over = part * share, left_over * np.abs(share)
                matrix.append(part)
                noise = noise + left_over
            coefficients = [self.pairs[pair].coefficients for pair in numerator.pairs]
            sums[key] = _product(np.concatenate(matrix, axis=1), np.concatenate(coefficients))
            sizes[key], noises[key] = _size(sums[key]), noise
        shape = (len(system.outputs), len(system.inputs), size, self.omega.size)
        values, clear = np.empty(shape, complex), np.ones(shape[2:], bool)
        for o, output in enumerate(system.outputs):
            for i, into in enumerate(system.inputs):
                pair = (plan.ports.index(output), plan.ports.index(into))
                values[o, i] = sums[pair] / determinant
                both = sizes[pair]
                if pair[0] != pair[1]:
                    both = np.sqrt(sizes[pair[0], pair[0]] * sizes[pair[1], pair[1]])
                # the condition is multiplied by |D|, so that it also holds if ports do not move
                error = noises[pair] * below + sizes[pair] * noise_below
                clear &= error <= _TOLERANCE / _SAFETY * below * both
        values = in_quantity(system.quantity, system.inputs, system.outputs, values, self.omega)
        infinite = np.zeros(shape, bool)
        lanes = np.nonzero(~clear | self.lost)
        for start in range(0, lanes[0].size, BLOCK):
            here, there = (x[start : start + BLOCK] for x in lanes)
            members = [FreeEndMember(*(_at(x, there) for x in m)) for m in self.members]
            redone = answers_at(
                system, plan.arms, members, here + (cells.start or 0), self.omega[there]
            )
            values[:, :, here, there], infinite[:, :, here, there] = redone
        return values, infinite


def _sampled(plan: Plan, broad: Arms, omega: Array) -> tuple[list[BeamArrays], Any]:
    """Return the beams of the samples, an axis for each angle and amount, and what makes D a polynomial."""
    beams, damping = list(broad.beams), list(broad.damping)
    every = plan.sampling.nodes
    along = [
        x.reshape((1,) * axis + (-1,) + (1,) * (len(every) - axis)) for axis, x in enumerate(every)
    ]
    angles, nodes = along[: len(plan.joints)], along[len(plan.joints) :]
    for joint, angle in zip(plan.joints, angles, strict=True):
        beams[joint] = dataclasses.replace(beams[joint], joint_angle=angle)
    for k, beam in enumerate(beams):
        ground: Any = beam.ground_angle
        if np.size(ground) > 1:  # supports are equal in all directions
            beams[k] = dataclasses.replace(beam, ground_angle=np.zeros((1, 1)))
    shares = [amount.at(x) for amount, x in zip(plan.varied.amounts, nodes, strict=True)]
    for (link, name), value in plan.varied.fields(shares).items():
        changed: dict[str, Any] = {name: value}
        if name in SPRINGS:
            damping[link] = dataclasses.replace(damping[link], **changed)
        else:
            beams[link] = dataclasses.replace(beams[link], **changed)
    beams = damped_links(Arms(beams, damping, ()), omega)
    scale: Any = 1.0
    for amount, share in zip(plan.varied.amounts, shares, strict=True):
        scale = scale * (1.0 - share) ** amount.degree
    for link, name in plan.varied.springs():
        # D has the compliance of a spring as a factor, unless that is rigid or free
        spring = getattr(beams[link], name)
        scale = scale * np.where(np.isinf(spring) | (spring == 0.0), 1.0, spring)
    return beams, scale


def _sum(sampled: Sampling, values: Array, parity: int) -> _Sum:
    """Return the sum of a function from its samples (S, F)."""
    over = _product(sampled.left_over[parity], values)
    rest = np.sqrt(np.sum(over.real**2 + over.imag**2, axis=0))
    largest = np.max(np.abs(values), axis=0)
    return _Sum(
        _product(sampled.coefficients[parity], values), np.maximum(rest, _ROUNDING * largest)
    )


def _product(matrix: Array, values: Array) -> Array:
    """Return the product of a real matrix with real or complex values."""
    values = np.ascontiguousarray(values)
    if values.dtype.kind != "c":
        return matrix @ values
    return (matrix @ values.view(np.float64)).view(np.complex128)


def _size(values: Array) -> Array:
    if values.dtype.kind != "c":
        return np.abs(values)
    return np.sqrt(values.real**2 + values.imag**2)


def _at(values: Array, places: Array) -> Array:
    """Return the values of an array of shape (1, F) or smaller at some frequencies."""
    return values.reshape(-1)[places] if np.size(values) > 1 else np.reshape(values, -1)
