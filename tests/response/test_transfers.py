"""Stiffness and loads carried to the previous link, beside products of full matrices."""

import types

import numpy as np
import pytest

from jaxmodal.arithmetic.nothing import NOTHING
from jaxmodal.response.receptance.transfers import to_previous
from jaxmodal.spatial.stiffness.symmetric import Symmetric, places, shifted, turned

SIZE, LANES = 8, 5


def full(w):
    zero = np.zeros(LANES)
    rows = [[w[i, j] for j in range(SIZE)] for i in range(SIZE)]
    return np.array([[zero if x is NOTHING else x + zero for x in row] for row in rows])


@pytest.mark.parametrize("kind", [float, complex])
def test_a_transfer_is_a_congruence_by_the_motion_of_the_joint(kind):
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    offset = rng.normal(size=3)
    motion = np.eye(SIZE)
    motion[:3, :3] = motion[3:6, 3:6] = turn
    motion[3:6, :3] = np.cross(offset, turn.T).T  # a force at the offset has a moment
    w = Symmetric(
        [rng.normal(size=LANES) + (1j * rng.normal(size=LANES) if kind is complex else 0.0)
         for _ in places(SIZE)]
    )  # fmt: skip
    link = types.SimpleNamespace(rotation=list(turn.ravel()), offset=list(offset))
    found = full(to_previous(w, link, np.arange(1.0, 1.0 + LANES)))
    expected = np.einsum("ik,klf,jl->ijf", motion, full(w), motion)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_what_is_nothing_stays_nothing():
    c, s = 0.6, 0.8
    rotation = [c, -s, NOTHING, s, c, NOTHING, NOTHING, NOTHING, 1.0]
    link = types.SimpleNamespace(rotation=rotation, offset=[0.5, NOTHING, NOTHING])
    w = Symmetric([NOTHING] * len(places(SIZE)))
    for i, j in ((0, 0), (0, 1), (1, 1), (5, 5), (1, 5), (0, 5)):  # motions in the plane
        w[i, j] = np.full(LANES, 1.0 + i + j)
    w[1, 6] = 3.0  # a number serves all frequencies
    w[2, 7] = np.ones(LANES)  # a load across the plane
    w[6, 6] = np.full(LANES, 2.0)
    found = to_previous(w, link, np.ones(LANES))
    there = {(i, j) for i in range(SIZE) for j in range(i, SIZE) if found[i, j] is not NOTHING}
    in_plane = {(i, j) for i in (0, 1, 5, 6) for j in (0, 1, 5, 6) if i <= j}
    assert there == in_plane | {(2, 7), (4, 7)}
    np.testing.assert_allclose(found[0, 6], -s * 3.0, rtol=1e-15, atol=0.0)
    np.testing.assert_allclose(found[5, 6], 0.5 * c * 3.0, rtol=1e-15, atol=0.0)
    np.testing.assert_allclose(found[4, 7], -0.5, rtol=1e-15, atol=0.0)
    np.testing.assert_allclose(found[6, 6], 2.0, rtol=0.0, atol=0.0)


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("place", [(1, 1), (0, 7)])
def test_an_infinite_entry_leaves_those_finite_that_it_does_not_enter(place, kind):
    """As at a resonance, at one of the frequencies: 0 times infinity is no number."""
    link = types.SimpleNamespace(
        rotation=[1.0, *[NOTHING] * 3, 1.0, *[NOTHING] * 3, 1.0], offset=[0.5, NOTHING, NOTHING]
    )
    w = Symmetric([np.full(LANES, 1.0 + k, kind) for k in range(len(places(SIZE)))])
    w[2, 2] = 7.0  # a number serves all frequencies
    without = full(to_previous(w, link, np.ones(LANES)))
    w[place][3] = np.inf
    with np.errstate(invalid="ignore"):
        found = full(to_previous(w, link, np.ones(LANES)))
        summed = full(shifted(turned(w, link.rotation), link.offset))
    # a force along y has a moment about z at the other end of a link along x
    entered = {(1, 1): {(1, 1), (1, 5), (5, 1), (5, 5)}, (0, 7): {(0, 7), (7, 0)}}[place]
    spoilt = {(i, j) for i, j in np.argwhere(~np.isfinite(found).all(axis=2)).tolist()}
    assert spoilt == entered
    left = np.array([[(i, j) not in entered for j in range(SIZE)] for i in range(SIZE)])
    np.testing.assert_allclose(found[left], without[left], rtol=1e-14, atol=0.0)
    np.testing.assert_allclose(found[..., :3], without[..., :3], rtol=0.0, atol=0.0)
    np.testing.assert_allclose(found[..., 3], summed[..., 3], rtol=0.0, atol=0.0)
    assert kind is complex or np.isposinf(
        found[place][3]
    )  # 1 times a complex infinity is no number
