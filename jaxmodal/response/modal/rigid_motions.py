"""Motions of zero frequency at ports, and static residuals of arms without a static limit, from the exact response."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.response.driven.damping import damped_free_joints, undamped
from jaxmodal.response.driven.ports import RELATIVE, Port
from jaxmodal.response.modal.base_motion import exact_receptance
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm

#: intervals of squared frequency, relative to the first nonzero one, at which an arm is evaluated: close to zero for
#: its motions of zero frequency, farther for residuals, from which these are subtracted
_CLOSE, _FARTHER = (1e-4, 0.05), (0.002, 0.3)
#: number of frequencies: the interpolating polynomial has an error of 1e-12
_NODES = 12
#: share of rigid motions below which they are rounding
_NONE = 1e-10


def first_vibration(arm: AnyArm, omega: Floats, theory: TheoryName) -> float:
    """Return the first nonzero frequency of an arm, rad/s; ``omega`` are its lowest frequencies."""
    while not np.any(omega > 0.0):  # more motions of zero frequency than modes requested
        omega = np.asarray(natural_frequencies(arm, omega.size + 1, theory=theory).omega)
    return float(omega[omega > 0.0][0])


def _squares(first: float, ends: tuple[float, float]) -> Floats:
    low, high = ends
    nodes = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    return first * first * (0.5 * (low + high) + 0.5 * (high - low) * nodes)


def _at_zero(squares: Floats, values: Floats) -> Floats:
    """Return the value at zero of the polynomial through values (..., F) at squares (F,), by Lagrange's formula."""
    own = np.eye(squares.size, dtype=bool)
    others = np.where(own, 1.0, squares[None, :])
    gaps = np.where(own, 1.0, squares[None, :] - squares[:, None])
    return np.asarray(values @ np.prod(others / gaps, axis=1))


def rigid_motions_at(
    arm: AnyArm,
    forces: Sequence[Port],
    bases: Sequence[Port],
    count: int,
    theory: TheoryName,
    first: float,
) -> tuple[Floats, Floats]:
    """Return the motions of zero frequency at ports, as modes of unit modal mass.

    Parameters
    ----------
    arm, theory
        An arm without damping, and its theory.
    forces, bases
        Ports of the arm; ports of the base.
    count
        Number of motions of zero frequency, Z.
    first
        The first nonzero frequency, rad/s.

    Returns
    -------
    array, shape (Z, forces), array, shape (Z, bases)
        Displacements of the modes at the ports, and the inertia force on each mode for a unit acceleration of the base.

    Notes
    -----
    Minus the squared frequency times the receptance tends to the products of these displacements. The basis of the
    motions of zero frequency is arbitrary, so the displacements are obtained by factoring the symmetric matrix of these
    products. Directions not observed at any port are zeros.
    """
    squares = _squares(first, _CLOSE)
    omega = np.sqrt(squares)

    def product(inputs: Sequence[Port]) -> tuple[Floats, Floats]:
        found = -squares * exact_receptance(arm, omega, inputs, forces, theory).real
        return _at_zero(squares, found), np.abs(found).max(axis=-1)

    products, sizes = product(forces)
    # ports that such motions do not reach, such as a torque inside a free arm, have only rounding errors
    reached = np.diag(products) > _NONE * np.diag(sizes)
    products = products * np.outer(reached, reached)
    scale = np.sqrt(np.where(reached, np.diag(products), 1.0))
    shares, directions = np.linalg.eigh(products / np.outer(scale, scale))
    seen = np.flatnonzero(shares > _NONE * max(shares.max(), 0.0))[::-1][:count]
    at = np.zeros((count, len(forces)))
    at[: seen.size] = np.sqrt(shares[seen])[:, None] * directions[:, seen].T * scale
    at_base = np.zeros((count, len(bases)))
    if bases and seen.size:
        at_base[: seen.size] = np.linalg.lstsq(
            (at[: seen.size] / scale).T, product(bases)[0] * reached[:, None] / scale[:, None]
        )[0]
    return at, at_base


def modes_at_zero(
    arm: AnyArm,
    found: Sequence[Port],
    omega: Floats,
    theory: TheoryName,
) -> tuple[Floats, dict[int, Floats]]:
    """Return the modes of zero frequency at ports, (Z, P), and the rotations of damped free joints in them.

    The rotations, (Z,), are by index of the link; ``omega`` are the arm's lowest frequencies.

    Raises
    ------
    ArmError
        If a damper is parallel to a free spring that is not about the axis of its joint.
    """
    hinges = _damped_hinges(arm)
    bases = [each for each in found if each.place == "base"]
    forces = list(dict.fromkeys([*(each for each in found if each.place != "base"), *hinges]))
    count, bare = int(np.sum(omega == 0.0)), undamped(arm)
    first = first_vibration(bare, omega, theory)
    at_forces, at_bases = rigid_motions_at(bare, forces, bases, count, theory, first)
    columns = [
        at_bases[:, bases.index(each)] if each.place == "base" else at_forces[:, forces.index(each)]
        for each in found
    ]
    turned = {(each.link or 1) - 1: at_forces[:, forces.index(each)] for each in hinges}
    return np.array(columns).reshape(-1, count).T, turned


def _damped_hinges(arm: AnyArm) -> list[Port]:
    """Return the free joints with a damper; refuse other free springs with one."""
    hinges = []
    for damper, spring in damped_free_joints(arm):
        link, _, field = damper.partition(".")
        if field != "joint_damping":
            raise ArmError(
                f"{damper}: is parallel to a free spring, and sums over modes do not damp its rigid motion; "
                f"give {link}.{spring} a value greater than 0."
            )
        hinges.append(Port("joint", RELATIVE, int(link.removeprefix("link"))))
    return hinges


def residual_at_rest(
    arm: AnyArm,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    theory: TheoryName,
    omega: Floats,
    parts: Floats,
    first: float,
) -> Floats:
    """Return the static residual of the modes, shape (p, m), for an arm that drifts or a base that moves.

    Parameters
    ----------
    arm, inputs, outputs, theory
        An arm without damping, its ports and its theory.
    omega : array, shape (K,)
        Frequencies of the modes, rad/s.
    parts : array, shape (K, p, m)
        Products of the mode's displacements at outputs and inputs.
    first
        The first nonzero frequency of the arm, rad/s.

    Notes
    -----
    Such an arm has no static compliance, but the contribution of all other modes has a limit: the deformation of the
    body under uniform acceleration (inertia relief). The exact response minus the modes is a smooth function of the
    squared frequency up to the first omitted frequency; a polynomial through its values below ``first`` gives the
    limit.
    """
    squares = _squares(first, _FARTHER)
    exact = exact_receptance(arm, np.sqrt(squares), inputs, outputs, theory).real
    kept = np.einsum("kpm,kf->pmf", parts, 1.0 / (omega[:, None] ** 2 - squares))
    return _at_zero(squares, exact - kept)
