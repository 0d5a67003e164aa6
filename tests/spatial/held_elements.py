"""Supports at the tips of arms in space by the finite elements of `finite_elements`.

Supports are (number of a link from 1, kind, direction in the axes of the ground, stiffness or inf).
"""

import numpy as np

from tests.spatial.driven_elements import DrivenChain
from tests.spatial.finite_elements import Chain, moved, turn


class HeldChain(Chain):
    """With the motions of all tips over all coordinates, in the axes of the ground."""

    def __init__(self, entry, theory, degree):
        super().__init__(entry, theory, degree)
        self.turns, self.tips = [], []
        self.inertia = self.rows()

    def joint(self, link, place, before, blocks):
        rotation = turn(link["joint"]["axis"], link["joint"]["angle"])
        for part in link["joint"]["frame"]:
            rotation = rotation @ turn(part["axis"], part["angle"])
        self.turns.append((self.turns[-1] if self.turns else np.eye(3)) @ rotation)
        return super().joint(link, place, before, blocks)

    def beam(self, link, place, start, blocks):
        end = super().beam(link, place, start, blocks)
        tip = moved(end, link.get("end_offset", [0, 0, 0]))
        self.tips.append(np.vstack([self.turns[-1] @ tip[:3], self.turns[-1] @ tip[3:]]))
        return end

    def row(self, number, kind, direction):
        unit = np.asarray(direction, float) / np.linalg.norm(direction)
        rows = slice(0, 3) if kind == "translation" else slice(3, 6)
        return unit @ self.tips[number - 1][rows]


def held_frequencies(entry, theory, supports, degree=20):
    """Natural frequencies in rad/s, ascending, of an arm without free joints."""
    chain = HeldChain(entry, theory, degree)
    assert not chain.free
    stiffness, rigid = np.eye(chain.size), []
    for number, kind, direction, k in supports:
        row = chain.row(number, kind, direction)
        if np.isinf(k):
            rigid.append(row)
        else:
            stiffness += k * np.outer(row, row)
    basis = np.eye(chain.size)
    if rigid:
        basis = np.linalg.svd(np.array(rigid))[2][len(rigid) :].T
    factor = np.linalg.cholesky(basis.T @ stiffness @ basis)
    values = np.linalg.svd(np.linalg.solve(factor, (chain.inertia @ basis).T), compute_uv=False)
    return 1.0 / values[values > 0.0]


def held_response(entry, theory, supports, omega, driven, read, degree=14):
    """As `driven_elements.DrivenChain.response`, of an arm on supports."""
    chain = DrivenChain(entry, theory, degree)
    square = np.diag(chain.stiffness(omega)) - omega**2 * (chain.inertia.T @ chain.inertia)
    rigid = []
    for number, kind, direction, k in supports:
        unit = np.asarray(direction, float) / np.linalg.norm(direction)
        axes = ("x", "y", "z") if kind == "translation" else ("rx", "ry", "rz")
        row = sum(x * chain.row(("tip", number), axis) for x, axis in zip(unit, axes, strict=True))
        if np.isinf(k):
            rigid.append(row)
        else:
            square = square + k * np.outer(row, row)
    into, out = (np.array([chain.row(*each) for each in ports]) for ports in (driven, read))
    basis = np.eye(chain.size)
    if rigid:
        basis = np.linalg.svd(np.array(rigid))[2][len(rigid) :].T
    return out @ basis @ np.linalg.solve(basis.T @ square @ basis, basis.T @ into.T)
