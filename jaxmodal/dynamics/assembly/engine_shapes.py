"""Exact modes of the locked arm as assumed shapes: the deflection of each link relative to its own base."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.dynamics.assembly.links import JointedLink
from jaxmodal.dynamics.shapes import LinkShapes, combined, fitted_polynomials
from jaxmodal.modes.mode_shapes import mode_shapes
from jaxmodal.runtime.errors import ArmError

#: stations to which polynomials are fitted, denser near the ends
STATIONS = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 101))
#: largest difference between polynomials and exact shapes, relative to their largest value
FIT = 1e-9
#: smallest part of a shape, relative to its size, that must be independent of the shapes before it
NEW = 1e-7


def locked_arm_shapes(
    arm: Arm, links: Sequence[JointedLink], counts: Sequence[int]
) -> tuple[LinkShapes, ...]:
    """Return shapes of every link that together represent the first exact modes of the arm with locked joints.

    Parameters
    ----------
    arm
        Concrete arm; its joint angles are the posture.
    links
        Links of the arm between joints.
    counts
        Number of shapes m of each link; its shapes come from the first m modes of the arm.

    Returns
    -------
    tuple of LinkShapes
        Shapes with orthonormal curvatures; the first m span the deflections of the link in the first m modes.

    Raises
    ------
    ArmError
        If a link consists of segments, or its deflection in a mode is a combination of those in the modes before.

    Notes
    -----
    The modes are those of inextensible beams (``bending_only``). With m shapes on every link the first m frequencies of
    the locked arm in this posture are exact; in other postures they are upper bounds.
    """
    modes = max(counts, default=0)
    if any(len(link.pieces) > 1 for link in links):
        raise ArmError(
            "family = 'locked_arm': a link consists of segments, whose exact shapes have kinks in their curvature; "
            "must be links of one piece: choose 'polynomial'."
        )
    if modes == 0:
        return tuple(combined(1, np.zeros((1, 0)), "locked_arm") for _ in links)
    found = mode_shapes(arm, modes, theory="bending_only", stations=STATIONS.tolist())
    across, turned = np.asarray(found.v), np.asarray(found.psi)
    made = []
    for i, (link, count) in enumerate(zip(links, counts, strict=True)):
        along = float(link.length) * STATIONS
        bent = across[:count, i] - across[:count, i, :1] - turned[:count, i, :1] * along
        made.append(_spanned(bent.T, i + 1))
    return tuple(made)


def _spanned(values: np.ndarray, number: int) -> LinkShapes:
    """Return shapes that span the columns of ``values``, deflections at the stations, shape (s, m)."""
    count = values.shape[1]
    if count == 0:
        return combined(1, np.zeros((1, 0)), "locked_arm")
    size, coefficients = fitted_polynomials(STATIONS, values, FIT)
    span, share = np.linalg.qr(coefficients)
    new = np.abs(np.diag(share)) / np.linalg.norm(coefficients, axis=0)
    if not np.all(new > NEW):
        mode = int(np.argmin(new)) + 1
        raise ArmError(
            f"family = 'locked_arm': in mode {mode} link {number} bends as in the modes before it, with a relative "
            f"difference of {new.min():.0e}; must bend in a new way: take fewer modes for this link, or 'polynomial'."
        )
    return combined(size, span * np.sign(span[:1] + (span[:1] == 0.0)), "locked_arm")
