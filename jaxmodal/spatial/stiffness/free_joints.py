"""Checks of free joints: each must move a mass; otherwise a motion has neither strain nor kinetic energy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jaxmodal.arithmetic.operations import Number, leading
from jaxmodal.dynamic_stiffness.rigid_motions import rank_of
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.stiffness.constants import Body, ReducedLink
from jaxmodal.spatial.stiffness.members import section_of

#: largest value of the smallest eigenvalue of a scaled mass matrix that counts as rounding of 0
_ROUNDING = 1e-12


def check_free_joints(links: Sequence[SpatialLink], reduced: Sequence[ReducedLink]) -> None:
    """Raise an error if free joints can move without moving any mass.

    Parameters
    ----------
    links
        Links with numerical values.
    reduced
        Constants of the same links by `constants.reduced_links` in float64, without an elastic base.

    Raises
    ------
    ArmError
        If there is such a joint; the message names one.
    """
    free = [
        f"link{number}.{place}.stiffness" if place else f"link{number}.joint_stiffness"
        for number, link in enumerate(links, start=1)
        for place, stiffness in _stiffnesses(link)
        if stiffness == 0.0
    ]
    if not free or all(link.density is not None for link in links):
        return
    try:
        rows = np.concatenate(list(_momenta(links, reduced, len(free))))
    except np.linalg.LinAlgError:  # NaN is reported by a status
        return
    size = np.linalg.norm(rows, axis=0)
    scaled = rows / np.where(size > 0.0, size, 1.0)
    if not np.all(np.isfinite(scaled)):
        return
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    if values[0] > _ROUNDING:
        return
    last = int(np.flatnonzero(np.abs(vectors[:, 0]) > np.sqrt(_ROUNDING))[-1])
    alone = size[last] == 0.0
    others = "" if alone else ", if other free joints turn back what it turns"
    raise ArmError(
        f"{free[last]} = 0.0: this joint moves freely and nothing of mass moves with it{others}; give what lies beyond "
        "it a body or a section and a density, or give it a stiffness."
    )


def hindered_motions(links: Sequence[SpatialLink], reduced: Sequence[ReducedLink]) -> np.ndarray:
    """Return the number of independent motions of free joints that supports restrain, in each cell, (cells,).

    They differ with all that turns or moves a place, and with the supports: shape (1,) where no such value varies.
    """

    def one(x: Number, cell: int) -> np.ndarray:
        values = leading(x)[..., 0, :]
        return np.asarray(values[..., min(cell, values.shape[-1] - 1)])

    lengths = [np.atleast_1d(np.asarray(link.length)) for link in links]
    reach = sum(length.max() for length in lengths) or 1.0
    flexible = [length for link, length in zip(links, lengths, strict=True) if not link.rigid]
    values = [
        leading(x)
        for own in reduced
        for group in ((own.rotation, own.offset), *own.springs, *own.supports)
        for x in group
    ]
    cells = max(x.shape[-1] for x in (*lengths, *values))
    springs = sum(len(own.springs) for own in reduced)
    found = []
    for cell in range(cells):
        motion, place, rows = np.zeros((6, springs)), 0, []
        for own in reduced:
            turn = np.kron(np.eye(2), one(own.rotation, cell).T)
            motion = turn @ _moved(motion, one(own.offset, cell))
            for spring in own.springs:
                if one(spring.unit, cell) == 0.0:
                    direction = one(spring.direction, cell)
                    motion[:, place] += direction * (reach if direction[:3].any() else 1.0)
                place += 1
            if own.place is not None:
                length = flexible[own.place]
                along = [length[min(cell, length.size - 1)], 0.0, 0.0]
                motion = _moved(motion, np.array(along))
            for support in own.supports:
                load = one(support.load, cell)
                holds = one(support.root, cell) > 0.0
                rows.append(holds * (load @ motion) / (reach if load[:3].any() else 1.0))
        found.append(rows)
    return np.asarray(rank_of(np.array(found)))


def _stiffnesses(link: SpatialLink) -> Iterator[tuple[str, float]]:
    """Return the address prefix and stiffness of each spring of a joint, the one about its axis last."""
    for number, spring in enumerate(link.joint_springs, start=1):
        yield f"joint_spring{number}", float(spring.stiffness)
    yield "", float(link.joint_stiffness)


def _momenta(
    links: Sequence[SpatialLink], reduced: Sequence[ReducedLink], columns: int
) -> Iterator[np.ndarray]:
    """Return rows over the motions of the free joints whose squares add up to twice the kinetic energy."""
    motion = np.zeros((6, columns))  # of the previous outer end, in its section axes
    place = 0
    for link, own in zip(links, reduced, strict=True):
        turn = np.kron(np.eye(2), np.asarray(own.rotation)[..., 0, 0].T)
        before = turn @ _moved(motion, np.asarray(own.offset)[:, 0, 0])
        motion = before.copy()
        for spring in own.springs:
            if spring.unit[0, 0] == 0.0:
                motion[:, place] += np.asarray(spring.direction)[:, 0, 0]
                place += 1
        if own.rotor is not None:
            axis = np.asarray(own.springs[-1].direction)[3:, 0, 0]
            inertia, ratio = map(float, link.rotor or (0.0, 0.0))
            spin = axis @ before[3:] + ratio * (axis @ (motion - before)[3:])
            yield np.sqrt(inertia) * spin[None]
        yield _rows(own.inner, motion)
        if not link.rigid:
            s = section_of(link)
            along = np.array([float(s.length), 0.0, 0.0])
            polar = float(s.density * (s.second_moment_y + s.second_moment_z) * s.length)
            yield np.sqrt(float(link.mass)) * np.concatenate(
                [_moved(motion, x * along)[:3] for x in (0.25, 0.75)]
            )
            yield np.sqrt(polar) * motion[3:4]
            motion = _moved(motion, along)
        if own.outer is not None:
            yield _rows(own.outer, motion)


def _moved(motion: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Return the motion of a point at ``offset`` from another one."""
    shift = np.cross(motion[3:], offset, axisa=0, axisb=0, axisc=0)
    return np.concatenate([motion[:3] + shift, motion[3:]])


def _rows(body: Body, motion: np.ndarray) -> np.ndarray:
    mass = float(body.mass[0, 0])
    moment, inertia = np.asarray(body.moment)[:, 0, 0], np.asarray(body.inertia)[..., 0, 0]
    centre = moment / mass if mass > 0.0 else moment
    at = _moved(motion, centre)
    central = inertia - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    values, vectors = np.linalg.eigh(central)
    spin = np.sqrt(np.maximum(values, 0.0))[:, None] * (vectors.T @ motion[3:])
    return np.concatenate([np.sqrt(mass) * at[:3], spin])
