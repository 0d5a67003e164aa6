"""Supports, elastic bases and free joints that share the loads of an arm in space: the solver in the page, in Node."""

import math

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.runtime.errors import ArmError
from tests.explorer.page_arms import case, needs_node, solved_in_page
from tests.explorer.test_answers_in_page import compare_slopes, name_of, port_of
from tests.explorer.test_rigid_supports_in_page import EVERY
from tests.explorer.test_space_in_page import BAR, SIX, random_in_space, supported
from tests.explorer.test_space_loads_in_page import (
    BASE,
    HANGING,
    HEAVY,
    TURNTABLE,
    TWO,
    at_rest,
    same_at_values,
)

#: a rigid link whose hinge, where it is free, the first of two supports holds
HINGED = supported(
    TWO.replace(links=(BAR.replace(rigid=True, joint_stiffness=3e4), BAR.replace(rigid=True))),
    {1: [("translation", (0, 0, 1), math.inf)], 2: [("translation", (0, 0, 1), 1e5)]},
)
#: springs and rigid supports, which share the loads by the stiffness of the arm; of the last one a spring feels one
HELD = {
    "one": supported(TWO, {1: [("translation", (0, 0.3, 1), 1e5)], 2: [("translation", (1, 0.3, 1), math.inf)]}),
    "springs": supported(
        SIX.replace(loads=HEAVY), {3: [("translation", (0, 0, 1), 3e5)], 6: [("rotation", (0, 1, 0), 1e5)]}
    ),
    "twice": supported(
        TWO, {1: 2 * [("translation", (0, 0.3, 1), 1e10)], 2: 2 * [("translation", (1, 0.3, 1), 1e9)]}
    ),
    "every": supported(SIX.replace(loads=HEAVY), {6: EVERY}),
    "across": supported(
        TWO.replace(links=(BAR, TWO.links[1].replace(rigid=True, joint_axis=(0, 0, 1)))),
        {2: [("translation", (0, 0, 1), math.inf), ("translation", (0, 1, 0), math.inf)]},
    ),
}  # fmt: skip


#: free joints that supports hold, and one that none resists, so that the arm has a frequency of zero
FREE = {"link1.joint_stiffness": 0.0, "link2.joint_stiffness": 0.0, "link2.joint_angle": 0.4}
LOOSE = supported(
    TURNTABLE, {1: [("translation", (0, 0, 1), 2e5)], 2: [("translation", (0, 0, 1), math.inf)]}
)
#: a stiffness of every pair of directions moves where it stands
MOVED_BASE = {"base_stiffness.k44": 3e5, "base_stiffness.k46": 1e4, "link2.joint_angle": 0.4}


@needs_node
def test_supports_share_the_loads(tmp_path):
    """A spring that becomes rigid, two rigid supports of which a spring feels one, an elastic base, free joints.

    Springs beside each other, too.
    """
    same_at_values(
        tmp_path,
        [
            (HELD["one"], {"link2.joint_angle": 0.4, "link1.support1.stiffness": math.inf}),
            (HELD["across"], {"link2.joint_angle": 0.3}),
            (HELD["one"].replace(base_stiffness=BASE), MOVED_BASE),
            (HELD["one"], FREE),
            (HELD["twice"], FREE),
            (LOOSE, {"link2.joint_angle": 0.9}),
        ],
    )


def held_by_many(seed):
    """A random arm under all loads on one to three supports, half of them rigid, and free joints; half on a base."""
    rng, arm = np.random.default_rng([seed, 77]), random_in_space(seed)
    supports = {}
    for _ in range(int(rng.integers(1, 4))):
        kind = str(rng.choice(["translation", "rotation"], p=[0.7, 0.3]))
        size = rng.uniform(3, 7) if kind == "translation" else rng.uniform(2, 5)
        given = kind, tuple(rng.normal(size=3)), math.inf if rng.random() < 0.5 else 10.0**size
        supports.setdefault(int(rng.integers(1, len(arm.links) + 1)), []).append(given)
    if arm.base_stiffness is None and rng.random() < 0.5:
        arm = arm.replace(base_stiffness=BASE)
    free = {
        f"link{k}.joint_stiffness": 0.0
        for k, link in enumerate(arm.links, start=1)
        if not link.prismatic and rng.random() < 0.5
    }
    return at_rest(supported(arm, supports), seed), free


@needs_node
@pytest.mark.slow
def test_random_arms_on_supports_with_free_joints_and_bases(tmp_path):
    """Those that stand as the library has them; those that nothing holds, or that buckle, are told by both."""
    stand, fall = [], []
    for seed in range(24):
        arm, free = held_by_many(seed)
        try:
            found = jm.natural_frequencies(jm.set_parameters(arm, free), 1, throw=False)
            there = np.isfinite(np.asarray(found.omega)).all()
            (stand if there else fall).append((arm, free, "buckle"))
        except ArmError as error:
            fall.append((arm, free, str(error).split(" = ")[0]))
    assert sum(bool(free) for _, free, _ in stand) >= 5
    same_at_values(tmp_path, [(arm, free) for arm, free, _ in stand])
    cases = [case(arm, set=[[name, 0.0] for name in free]) for arm, free, _ in fall]
    for (*_, told), got in zip(fall, solved_in_page(tmp_path, cases, True, True), strict=True):
        assert told in got["error"]


@needs_node
@pytest.mark.slow
def test_supports_of_other_arms_share_the_loads(tmp_path):
    arms = [(HELD[name], {"link2.joint_angle": 0.4}) for name in ("springs", "every")]
    arms.append((HELD["one"], {"link1.support1.stiffness": 0.0, "link2.support1.stiffness": 3e5}))
    arms.append((HELD["every"].replace(base_stiffness=BASE), {"link2.joint_angle": 0.4}))
    arms.append((HELD["one"].replace(base_stiffness=BASE), FREE))
    hinge = supported(HANGING, {2: [("translation", (1, 1, 0), math.inf)]})
    arms.append((hinge, {"link1.joint_angle": 1.0, "loads.gravity_z": 100.0}))
    arms.append((hinge, {"link2.support1.stiffness": 0.0}))
    for seed in range(4):
        arm, rng = random_in_space(seed), np.random.default_rng([seed, 5])
        last = max(k for k, link in enumerate(arm.links, start=1) if not link.rigid)
        given = [("translation", tuple(rng.normal(size=3)), math.inf)]
        given += [("rotation", tuple(rng.normal(size=3)), 1e4)] * (seed % 2)
        held = supported(arm.replace(base_stiffness=None), {last: given})
        arms.append((at_rest(held, seed), {}))
    same_at_values(tmp_path, arms)


@needs_node
def test_derivatives(tmp_path):
    """The forces of the supports change with the values."""
    shared = jm.set_parameters(HELD["one"].replace(base_stiffness=BASE), FREE)
    compare_slopes(tmp_path, [shared], ["rayleigh"], True, under_loads=True)


@needs_node
def test_answers_on_rigid_supports(tmp_path):
    """A spring at a port changes how the forces of rigid supports are scaled, and no answer."""
    held = supported(
        TWO.replace(links=(BAR,)),
        {1: [("rotation", (1, 2, 2), math.inf), ("translation", (0, 3, 1), 9e5), ("translation", (2, 1, 1), math.inf)]},
    )  # fmt: skip
    shared = jm.set_parameters(HELD["one"].replace(base_stiffness=BASE), FREE)
    for arm, rigid in ((held, ((0, "z"), (0, "x"))), (shared, ((1, "y"), (0, "z")))):
        omega = (np.asarray(jm.natural_frequencies(arm, 1).omega[0]) * [0.3, 0.9, 1.4]).tolist()
        pairs = [(port, port) for port in rigid] + [rigid]
        ports = [[omega, *(port_of(*port) for port in pair)] for pair in pairs]
        (got,) = solved_in_page(tmp_path, [case(arm, modes=1, ports=ports)], True, True)
        for pair, mine in zip(pairs, got["answers"], strict=True):
            truth = jm.frequency_response(arm, np.array(omega), *(name_of(*port) for port in pair))
            rtol = 1e-8 if pair[0] == pair[1] else 2e-5
            np.testing.assert_allclose(mine, truth.magnitude.ravel(), rtol=rtol, atol=0.0)


@needs_node
def test_what_is_refused(tmp_path):
    twice = supported(TWO, {2: [(*EVERY[2][:2], x) for x in (1e5, math.inf)]})
    told = {
        "link2.support2.stiffness = Infinity: the arm is rigid there": case(
            twice, set=[["link2.support1.stiffness", "Infinity"]]
        ),
        "link2.joint_stiffness = 0: nothing holds the arm against a moment": case(
            supported(TWO, {1: [("translation", (0, 0, 1), 1e5)]}),
            set=[["link2.joint_stiffness", 0.0]],
        ),
        "link2.support1.stiffness = Infinity: the arm is rigid there": case(
            HINGED, set=[["link1.joint_stiffness", 0.0], ["link2.support1.stiffness", "Infinity"]]
        ),
    }
    for part, got in zip(
        told, solved_in_page(tmp_path, list(told.values()), True, True), strict=True
    ):
        assert part in got["error"]
    (other,) = solved_in_page(tmp_path, [case(TWO)], True)
    assert "in the format jaxmodal arm in space under loads" in other["error"]
