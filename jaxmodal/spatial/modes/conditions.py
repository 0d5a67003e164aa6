"""Conditions on the fields of an arm in space at its joints and tips: a matrix whose null vectors are the modes.

The unknowns are twelve constants for each link, the deflection of each spring that is not rigid, the motion of an
elastic base, and the force of each support. The conditions are six of continuity at the joint and six of balance at the
tip for each link, one for each such spring, six at the base, and one for each support.
"""

from __future__ import annotations

import numpy as np

from jaxmodal.spatial.modes.modal_model import ModalModel


def conditions(
    model: ModalModel,
    omega: np.ndarray,
    inner: np.ndarray,
    outer: np.ndarray,
    sizes: bool = False,
) -> np.ndarray:
    """Return the matrix of the conditions in the unknowns.

    Parameters
    ----------
    omega : np.ndarray, shape (m,)
        Angular frequencies in rad/s.
    inner, outer : np.ndarray, shape (m, n, 12, 12)
        Fields at both ends of each link for unit values of its constants.
    sizes : bool
        If True, entries are sums of magnitudes of their terms, for fields that are given positive.

    Returns
    -------
    np.ndarray, shape (m, size, size)
        Rows: for each link, continuity at its joint and balance at its tip; then springs, base and supports.
    """
    sign = np.abs if sizes else np.asarray
    plus = 1.0 if sizes else -1.0
    square = (omega * omega)[:, None, None]
    n, links = len(model.transfers), model.values.links
    matrix = np.zeros((omega.size, model.size, model.size))
    for i, (link, t) in enumerate(zip(links, model.transfers, strict=True)):
        own = slice(12 * i, 12 * i + 12)
        give = slice(model.place[i], model.place[i] + len(model.springs[i]))
        direction = sign(link.directions[list(model.springs[i])])
        # displacements before the joint, in this link's axes, from the previous link or the base
        before, back = None, sign(t.turn.T)
        if i > 0:
            before = slice(12 * i - 12, 12 * i)
            moved = back @ sign(model.transfers[i - 1].end) @ outer[:, i - 1, :6]
        elif model.base is not None:
            before = slice(model.base, model.base + 6)
            moved = back
        joint = sign(t.start) @ inner[:, i, :6]
        hub = sign(link.hub)
        force = sign(t.start_force) @ inner[:, i, 6:] + square * (hub @ joint)
        rows = slice(12 * i, 12 * i + 6)
        matrix[:, rows, own] += joint
        matrix[:, rows, give] += plus * direction.T
        # the force of link and rotor on the previous link: for this link's constants, the deflections, previous
        # unknowns
        felt = {own.start: (own, force)}
        if before is not None:
            matrix[:, rows, before] += plus * moved
        matrix[:, give, own] += plus * direction @ force
        stiffness = link.stiffness[list(model.springs[i])]
        matrix[:, give, give] += np.diag(stiffness)
        inertia, ratio = link.rotor
        if inertia != 0.0:
            axis = sign(link.directions[-1])
            spun = square[:, 0] * inertia
            last = model.place[i] + len(model.springs[i]) - 1
            turns = np.isfinite(link.stiffness[-1])
            if turns:
                column = (spun * sign(ratio) * axis)[..., None]
                felt[last] = (slice(last, last + 1), column)
                matrix[:, last, last] += plus * spun[:, 0] * ratio * ratio
            if before is not None:
                carried = spun[..., None] * (axis[:, None] * (axis @ moved)[..., None, :])
                felt[before.start] = (before, carried)
                if turns:
                    matrix[:, last, before] += plus * spun * sign(ratio) * (axis @ moved)
        tip = slice(12 * i - 6, 12 * i)
        if i == 0 and model.base is not None:
            tip = slice(model.base, model.base + 6)
            matrix[:, tip, tip] += sign(model.values.base)  # type: ignore[arg-type]
            matrix[:, tip, tip] += plus * square * sign(link.stator)
        if i > 0 or model.base is not None:
            for columns, values in felt.values():
                matrix[:, tip, columns] += plus * sign(t.turn) @ values
        rows = slice(12 * i + 6, 12 * i + 12)
        mass = sign(link.tip)
        if i + 1 < n:
            mass = mass + sign(links[i + 1].stator)
        tip_motion = sign(t.end) @ outer[:, i, :6]
        matrix[:, rows, own] += sign(t.end_force) @ outer[:, i, 6:] + plus * square * (
            mass @ tip_motion
        )
        if link.supports is not None and link.held is not None:
            along, rigid = sign(link.supports), np.isinf(link.held)
            matrix[:, rows, model.held[i]] += along.T
            law = np.where(rigid, 1.0, link.held)[:, None] * along
            matrix[:, model.held[i], own] += law @ tip_motion
            matrix[:, model.held[i], model.held[i]] += plus * np.diag(np.where(rigid, 0.0, 1.0))
    return matrix
