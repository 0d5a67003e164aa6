"""Functions of joint angles that are trigonometric polynomials of degree 2 in each angle, from samples.

Six samples per angle are one more than the five coefficients need. The remainder, the share of cos 3 theta or sin 3
theta, measures the error of the samples. Functions of two or more angles that are even or odd in all angles together
need only half of the samples of the last angle.
"""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

import numpy as np

from jaxmodal.runtime.array_types import Floats

#: number of samples of each angle
NODES = 6
#: 1 for the odd functions among 1, cos, sin, cos 2, sin 2
_ODD = np.array([0, 0, 1, 0, 1])


class Sampling(NamedTuple):
    """Samples of functions of angles, and the matrices for them; S samples in the order of the angles' axes.

    Attributes
    ----------
    nodes
        Samples of each angle, rad, and of further values.
    coefficients
        Matrices from samples to coefficients, shape (K, S), by parity (0 for a function without parity).
    left_over
        Matrices from samples to remainders that no polynomial of degree 2 explains, shape (R, S), by parity. The root
        of their sum of squares is the size of the remainder at all 6^m nodes.
    """

    nodes: tuple[Floats, ...]
    coefficients: dict[int, Floats]
    left_over: dict[int, Floats]

    @property
    def size(self) -> int:
        """Number of samples."""
        return int(np.prod([x.size for x in self.nodes]))


@functools.lru_cache(maxsize=16)
def sampling(joints: int, mirrored: bool) -> Sampling:
    """Return the sampling of functions of ``joints`` angles; ``mirrored`` functions have a parity, 1 or -1."""
    # no sample is 0 or pi, so that half of the samples are mirror images of the other half
    nodes: Floats = 2.0 * np.pi / NODES * (np.arange(NODES, dtype=np.float64) + 0.5 * mirrored)
    third = np.round(np.sin(3.0 * nodes) if mirrored else np.cos(3.0 * nodes))
    functions = np.concatenate([_functions(nodes), third[:, None]], axis=1)
    kinds = np.array([*_ODD, mirrored])
    sizes = np.sum(functions * functions, axis=0)
    inverse, root = functions.T / sizes[:, None], np.sqrt(sizes)
    to_terms, roots = np.ones((1, 1)), np.ones(1)
    for _ in range(joints):
        to_terms, roots = np.kron(to_terms, inverse), np.kron(roots, root)
    every = list(itertools.product(range(NODES), repeat=joints))
    which = np.array(every, int).reshape(len(every), joints)
    odd, over = kinds[which].sum(axis=1) % 2, (which == len(_ODD)).any(axis=1)
    if not mirrored:
        coefficients, left_over = {0: to_terms[~over]}, {0: (roots[:, None] * to_terms)[over]}
        return Sampling((nodes,) * joints, coefficients, left_over)
    # index, within the half, of each node or of its mirror image
    half = NODES // 2
    image = which[:, -1] >= half
    held = np.where(image[:, None], NODES - 1 - which, which)
    place = np.ravel_multi_index(tuple(held.T), (*(NODES,) * (joints - 1), half))
    coefficients, left_over = {}, {}
    for parity in (1, -1):
        own = odd == (parity < 0)
        spread = np.zeros((odd.size, place.max() + 1))
        spread[np.arange(odd.size), place] = np.where(image, parity, 1)
        coefficients[parity] = to_terms[own & ~over] @ spread
        left_over[parity] = (roots[:, None] * to_terms)[own & over] @ spread
    return Sampling((*(nodes,) * (joints - 1), nodes[:half]), coefficients, left_over)


def _functions(angles: Floats) -> Floats:
    """Return 1, cos, sin, cos 2, sin 2 of angles, along a last axis."""
    c, s = np.cos(angles), np.sin(angles)
    return np.stack([np.ones_like(c), c, s, c * c - s * s, 2.0 * s * c], axis=-1)


def terms(angles: Floats, parity: int) -> Floats:
    """Return the terms that belong to the coefficients of a `sampling`, shape (cells, K), at postures (m, cells)."""
    found, odd = np.ones((angles.shape[1], 1)), np.zeros(1, int)
    for angle in angles:
        found = (found[:, :, None] * _functions(angle)[:, None, :]).reshape(angle.size, -1)
        odd = (odd[:, None] + _ODD).reshape(-1)
    return found if parity == 0 else np.ascontiguousarray(found[:, odd % 2 == (parity < 0)])
