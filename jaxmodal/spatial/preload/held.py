"""Forces X of supports at tips, and deflections q of free joints, of arms in space at rest.

Without supports and free joints an arm is statically determinate. Let u be the displacements of the supports under the
loads, G those under unit forces of the supports, C the compliances of the supports, B the displacements of the supports
for unit deflections of free joints, and t the forces of the loads in the free joints. Then ``(G + C) X + B q = -u`` is
the compatibility of displacements and ``B^T X = -t`` the equilibrium of the joints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxmodal.dynamic_stiffness.rigid_motions import STILL
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.modes.modal_model import ModalModel
from jaxmodal.spatial.modes.motions import Frame
from jaxmodal.statics.stability import NO_STIFFNESS

#: component of a unit vector of forces above which a support shares in it
_SHARES = 1e-3


class Held(NamedTuple):
    """A direction at a place: that of a support at the tip of a link, or of the deflection of a free joint.

    Attributes
    ----------
    link, number : int
        Index of the link, and of the support or the spring of its joint, from 0.
    direction : array, shape (6,)
        The direction in ground axes.
    give : float
        Deflection under a unit force.
    """

    link: int
    number: int
    direction: Floats
    give: float


class Answer(NamedTuple):
    """Forces and moments (n, 6) of the supports on the tips, and deflections (n, 6) of free joints, in link axes."""

    pushes: Floats
    gives: Floats


def supports_of(model: ModalModel, places: list[Frame]) -> list[Held]:
    """Return all supports of nonzero stiffness."""
    found = []
    for number, (link, at) in enumerate(zip(model.values.links, places, strict=True)):
        if link.supports is None or link.held is None:
            continue
        for k, (direction, stiffness) in enumerate(zip(link.supports, link.held, strict=True)):
            if stiffness != 0.0:
                give = 0.0 if np.isinf(stiffness) else 1.0 / stiffness
                found.append(Held(number, k, in_axes(at.axes, direction), give))
    return found


def free_gives(model: ModalModel, places: list[Frame]) -> list[Held]:
    """Return all joint springs of zero stiffness."""
    return [
        give_of(model, places, number, int(k))
        for number, link in enumerate(model.values.links)
        for k in np.flatnonzero(link.stiffness.real == 0.0)
    ]


def give_of(model: ModalModel, places: list[Frame], link: int, number: int) -> Held:
    """Return the deflection of a spring of a joint, by the indices of the link and of the spring."""
    direction = model.values.links[link].directions[number]
    return Held(link, number, in_axes(places[link].axes, direction), np.inf)


def in_axes(axes: Floats, six: Floats) -> Floats:
    """Return two vectors in other axes."""
    return np.concatenate([axes @ six[:3], axes @ six[3:]])


def moved_by_gives(places: list[Frame], supports: list[Held], free: list[Held]) -> Floats:
    """Return B, (supports, free joint springs): displacements of supports for unit deflections."""
    found = np.zeros((len(supports), len(free)), np.result_type(float, *(x.tip for x in places)))
    for j, give in enumerate(free):
        for i, support in enumerate(supports):
            if support.link >= give.link:
                reach = places[support.link].tip - places[give.link].joint
                turned = give.direction[3:]
                moved = np.concatenate([give.direction[:3] + np.cross(turned, reach), turned])
                found[i, j] = support.direction @ moved
    return found


def loose_gives(model: ModalModel, places: list[Frame]) -> list[Held]:
    """Return the springs of zero stiffness that take part in a motion that no support resists."""
    free = free_gives(model, places)
    moves = moved_by_gives(places, supports_of(model, places), free)
    kept = _parts(moves)[1]
    return [
        each for each, row in zip(free, kept, strict=True) if np.abs(row).max(initial=0.0) > STILL
    ]


def _parts(moves: Floats) -> tuple[Floats, Floats]:
    """Return orthonormal joint deflections (free, ...) that supports resist, and those that they do not.

    Deflections are scaled so that each moves the supports by the same amount.
    """
    moves = moves.real
    size = np.linalg.norm(moves, axis=0)
    scaled = moves / np.where(size > STILL * size.max(initial=0.0), size, np.inf)
    rows = np.linalg.svd(scaled, full_matrices=True)
    rank = int(np.sum(rows[1] > STILL))
    return rows[2][:rank].T, rows[2][rank:].T


def held_at_rest(
    model: ModalModel,
    places: list[Frame],
    loads: Callable[[], tuple[Floats, Floats]],
    under: Callable[[Floats], Floats],
) -> Answer:
    """Return the forces of supports and the motions of free joints under loads.

    Parameters
    ----------
    loads
        Motions (n, 6) of the tips under the loads without supports and with free joints locked, and forces and moments
        (n, 6) in the joints then, all in ground axes.
    under
        Motions of the tips under forces and moments (n, 6) on them, in ground axes.
    """
    n = len(places)
    supports, free = supports_of(model, places), free_gives(model, places)
    pushes, gives = np.zeros((2, n, 6))
    if not supports:
        return Answer(pushes, gives)
    moves = moved_by_gives(places, supports, free)
    tips, carried = loads()
    compliance, motion = compatibility(supports, tips, under)
    _require_shares(supports, compliance)
    load = np.array([x.direction @ carried[x.link] for x in free])
    springs = np.array([model.values.links[x.link].stiffness[x.number] for x in free])
    force, give = _solved(compliance, moves, motion, load, springs)
    pushes, gives = pushes.astype(force.dtype), gives.astype(force.dtype)
    for held, push in zip(supports, force, strict=True):
        pushes[held.link] += push * held.direction
    for held, q in zip(free, give, strict=True):
        gives[held.link] += q * model.values.links[held.link].directions[held.number]
    return Answer(pushes, gives)


def _require_shares(supports: list[Held], compliance: Floats) -> None:
    """Refuse springs that hold what others hold, so stiff that what each bears is rounding."""
    size = np.sqrt(np.maximum(np.diag(compliance).real, 0.0))
    scale = 1.0 / np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(compliance.real * scale[:, None] * scale)
    gives = np.real([each.give for each in supports])
    sharing = np.flatnonzero((gives > 0.0) & (np.abs(vectors[:, 0]) > _SHARES))
    if sharing.size and not values[0] > NO_STIFFNESS:
        stiffest = sharing[np.argmin(gives[sharing])]
        of = supports[stiffest]
        raise ArmError(
            f"link{of.link + 1}.support{of.number + 1}.stiffness = {1.0 / gives[stiffest]:.4g}: other supports hold "
            "the same motion, and what each of them bears is lost in rounding; give a smaller one, of which 1e10 times "
            "what the arm itself resists there is as good as rigid, or leave the support out."
        )


def compatibility(
    supports: list[Held], tips: Floats, under: Callable[[Floats], Floats]
) -> tuple[Floats, Floats]:
    """Return G + C and u, displacements of supports under unit forces of them and under loads, which move ``tips``."""
    answers = []
    for each in supports:
        unit = np.zeros(tips.shape, each.direction.dtype)
        unit[each.link] = each.direction
        answers.append(under(unit))
    moved = np.array([[x.direction @ y[x.link] for y in answers] for x in supports])
    own = np.diag([x.give for x in supports])
    return 0.5 * (moved + moved.T) + own, np.array([x.direction @ tips[x.link] for x in supports])


def _solved(
    compliance: Floats,
    moves: Floats,
    motion: Floats,
    load: Floats,
    springs: Floats,
) -> tuple[Floats, Floats]:
    """Return forces of supports and deflections of free joints; the latter are 0 where no support resists them.

    ``springs`` are the stiffnesses of free joints: 0, with an imaginary part if one is varied. Rigid supports that hold
    an immovable tip, or that other supports make redundant, are refused before.
    """
    size = np.linalg.norm(moves.real, axis=0)
    scale = 1.0 / np.where(size > STILL * size.max(initial=0.0), size, np.inf)
    hindered = _parts(moves)[0] * scale[:, None]
    of_gives = moves @ hindered
    own = np.sqrt(np.diag(compliance).real)
    rows = np.linalg.norm(of_gives.real, axis=1)
    row = np.where(own > 0.0, own, rows)
    row = 1.0 / np.where(row > 0.0, row, 1.0)
    square = compliance * row[:, None] * row
    across = of_gives * row[:, None]
    varied = -(hindered.T * springs) @ hindered
    matrix = np.block([[square, across], [across.T, varied]])
    known = -np.concatenate([motion * row, load @ hindered])
    found = np.linalg.solve(matrix, known)
    return row * found[: row.size], hindered @ found[row.size :]
