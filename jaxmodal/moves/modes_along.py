"""Exact modes of an arm along a path, tracked from posture to posture, and the modal forces of the joint motion."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from jaxmodal.arm.kinds import ByKind
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.modes.mode_shapes import assurance, mode_shapes
from jaxmodal.moves.planar_inertia import planar_inertia, planar_tips
from jaxmodal.moves.pushing_supports import planar_support_forces, spatial_support_forces
from jaxmodal.moves.spatial_inertia import spatial_inertia, spatial_tips
from jaxmodal.runtime.array_types import Bools, Floats, Integers
from jaxmodal.runtime.errors import ImplausibleWarning
from jaxmodal.runtime.namespace import to_host
from jaxmodal.spatial.arms.arm import AnyArm


class Posture(NamedTuple):
    """Modes of an arm in one posture, and the modal forces of its joint motion.

    Attributes
    ----------
    omega, certified : array, shape (K,)
        Frequencies, rad/s, and whether they are certified.
    motions, masses : array, shape (K, D), (D,)
        Mode shapes at all points with mass, and the masses.
    tips : array, shape (K, d)
        Mode shapes at the tip, m, in the axes of the base.
    joints : array, shape (K, n)
        Modal inertia force for a unit acceleration of each joint.
    turning : array, shape (K, n, n)
        Modal inertia force for a unit product of two joint rates; symmetric.
    base : array, shape (K, d)
        Modal inertia force for a unit acceleration of the base.
    supports : array, shape (K,)
        Modal force of the supports that the rigid arm strains, from where they are unstrained to this posture.
    """

    omega: Floats
    certified: Bools
    motions: Floats
    masses: Floats
    tips: Floats
    joints: Floats
    turning: Floats
    base: Floats
    supports: Floats


class ModesAlong(NamedTuple):
    """`Posture` for P postures, each array with a leading axis of postures; modes are tracked along the path.

    ``assurance`` (P - 1, K) is the similarity of a mode in neighbouring postures; ``number`` (P, K) is the position of
    its frequency among those of the posture, from 1.
    """

    omega: Floats
    certified: Bools
    tips: Floats
    joints: Floats
    turning: Floats
    base: Floats
    supports: Floats
    assurance: Floats
    number: Integers


class _Pushes(NamedTuple):
    """What gives the inertia forces of the joints' motion, mode shapes at tips, and modal forces of supports."""

    inertia: Callable[..., Floats]
    tips: Callable[..., Floats]
    supports: Callable[..., Floats]


_PUSHES = ByKind(
    plane=_Pushes(planar_inertia, planar_tips, planar_support_forces),
    space=_Pushes(spatial_inertia, spatial_tips, spatial_support_forces),
)


def modes_in(arm: AnyArm, num_modes: int, theory: TheoryName, unstrained: Any) -> Posture:
    """Return the modes of an arm in its present posture, and the modal forces of its joint motion.

    Its supports are unstrained in the posture of ``unstrained``, an arm of the same kind.
    """
    shapes: Any = to_host(mode_shapes(arm, num_modes, theory=theory, stations=2))
    count = len(arm.joints)
    one, pairs = np.eye(count), _pairs(count)
    together = np.array([one[i] + one[j] for i, j in pairs]).reshape(-1, count)
    rates = np.concatenate([0.0 * one, one, together])
    changes = np.concatenate([one, 0.0 * one, 0.0 * together])
    pushes = _PUSHES.of(arm)
    tips = pushes.tips(arm, shapes)[:, -1]
    driven = np.asarray(shapes.motions) @ pushes.inertia(arm, shapes, rates, changes).T
    alone, turning = driven[:, count : 2 * count], np.zeros((num_modes, count, count))
    for k in range(count):
        turning[:, k, k] = alone[:, k]
    for k, (i, j) in enumerate(pairs):
        turning[:, i, j] = 0.5 * (driven[:, 2 * count + k] - alone[:, i] - alone[:, j])
        turning[:, j, i] = turning[:, i, j]
    return Posture(
        omega=np.asarray(shapes.omega),
        certified=np.asarray(shapes.frequencies.certified),
        motions=np.asarray(shapes.motions),
        masses=np.asarray(shapes.masses),
        tips=tips,
        joints=driven[:, :count],
        turning=turning,
        base=np.asarray(shapes.participation)[:, : tips.shape[1]],
        supports=pushes.supports(arm, shapes, unstrained),
    )


def _pairs(count: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(count) for j in range(i + 1, count)]


def modes_along(
    arm: AnyArm,
    postures: Floats,
    num_modes: int,
    followed: int,
    theory: TheoryName,
    progress: Callable[[int, int], None] | None = None,
) -> ModesAlong:
    """Return the lowest modes in the last of P postures (P, n), tracked backwards to the first.

    ``followed`` modes are computed in each posture, because a tracked mode may leave the lowest ``num_modes`` on the
    way.
    """
    total = len(postures)
    found: list[Posture] = []
    alike, numbers = [], [np.arange(followed)]
    for k, angles in enumerate(postures[::-1]):
        with warnings.catch_warnings():  # angles are checked once, by the caller
            warnings.simplefilter("ignore", ImplausibleWarning)
            posed = arm.with_posture(angles.tolist())
        here = modes_in(posed, followed, theory, arm)
        if found:
            before = found[-1]
            table = np.asarray(assurance(before.masses, here.masses, before.motions, here.motions))
            _, chosen = linear_sum_assignment(-table)
            alike.append(table[np.arange(followed), chosen])
            numbers.append(chosen)
            mass = 0.5 * (before.masses + here.masses)
            signs = np.sign(np.sum(before.motions * here.motions[chosen] * mass, axis=1))
            here = _ordered(here, chosen, np.where(signs == 0.0, 1.0, signs))
        found.append(here)
        if progress is not None:
            progress(k + 1, total)
    kept = slice(0, num_modes)

    def along(name: str) -> Any:
        return np.stack([getattr(one, name)[kept] for one in found[::-1]])

    return ModesAlong(
        **{
            name: along(name)
            for name in ("omega", "certified", "tips", "joints", "turning", "base", "supports")
        },
        assurance=np.array(alike[::-1]).reshape(-1, followed)[:, kept],
        number=np.array(numbers[::-1])[:, kept] + 1,
    )


def _ordered(here: Posture, chosen: Integers, signs: Floats) -> Posture:
    """Return the modes of a posture reordered and with other signs."""

    def signed(values: Floats) -> Floats:
        return values[chosen] * signs.reshape(-1, *[1] * (values.ndim - 1))

    return Posture(
        omega=here.omega[chosen],
        certified=here.certified[chosen],
        motions=signed(here.motions),
        masses=here.masses,
        tips=signed(here.tips),
        joints=signed(here.joints),
        turning=signed(here.turning),
        base=signed(here.base),
        supports=signed(here.supports),
    )
