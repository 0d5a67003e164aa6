"""Arms in space that lean on supports, under loads: beside closed forms, elements and planar arms."""

import math

import numpy as np
import pytest

import jaxmodal as jm
from tests.at_rest.bars import DOWN, EB, E, straight
from tests.at_rest.loaded_elements import (
    LoadedChain,
    held_arm,
    loads,
    require_same_factors_and_frequencies,
    require_same_motions,
)
from tests.spatial.cases import tube
from tests.spatial.finite_elements import tables
from tests.spatial.test_supports import held
from tests.support.supported_arms import TIPS
from tests.support.supported_arms import held_arm as hinged_arm

X, Y, Z = np.eye(3)


def holding(*directions, kind="translation", stiffness=math.inf):
    return tuple(jm.Support(kind, direction, stiffness) for direction in directions)


TURNS = holding(X, Y, Z, kind="rotation")


@pytest.mark.parametrize(
    ("supports", "joint", "roots"),
    [
        (holding(Y, Z), {}, (4.493409457909064, 7.725251836937707)),
        (holding(Y, Z) + TURNS, {}, (2.0 * math.pi, 8.986818915818128)),
        (TURNS, {}, (math.pi, 2.0 * math.pi)),
        (holding(Y, Z), {"joint_axis": Y, "joint_stiffness": 0.0}, (math.pi, 2.0 * math.pi)),
    ],
)
def test_columns_with_two_ends(supports, joint, roots):
    """Propped (tan x = x), clamped at both ends, clamped and guided, hinged: in the weak plane, 1 m long."""
    arm = jm.SpatialArm((straight(supports=supports, **joint),))
    found = jm.buckling(arm, 2, theory=EB, tip_force=(-1.0, 0.0, 0.0))
    assert found.certified.all()
    np.testing.assert_allclose(found.factors, np.square(roots) * E * 1e-9, rtol=1e-12, atol=0)
    # the shape keeps what the supports keep
    for each in supports:
        moved = found.displacement if each.kind == "translation" else found.rotation
        at_tip = moved[:, -1, -1] @ np.array(list(each.direction))
        np.testing.assert_allclose(at_tip, 0.0, rtol=0, atol=1e-12 * np.abs(moved).max())


@pytest.mark.parametrize("share", [2.0 / 3.0, 0.6])
def test_parts_that_are_critical_where_the_whole_is(share):
    """A cantilever in two parts: at its second or third load the outer one, held at its base, is critical, too."""
    parts = straight(length=share), straight(length=1.0 - share, segment=True)
    found = jm.buckling(jm.SpatialArm(parts), 3, theory=EB, tip_force=(-1.0, 0.0, 0.0))
    assert found.certified.all()
    expected = np.square([0.5 * math.pi, 1.5 * math.pi, 2.5 * math.pi]) * E * 1e-9
    np.testing.assert_allclose(found.factors, expected, rtol=1e-12, atol=0)


def test_the_propped_cantilever_under_its_weight():
    """3 w L/8 on the prop, w L^2/8 in the clamp; with a spring (w L^4/(8 E I))/(L^3/(3 E I) + 1/k)."""
    link = tube(length=1.2)
    w = 9.81 * float(link.mass) / 1.2
    rigidity = 7e10 * float(link.section_values.second_moment_y)
    for stiffness in (math.inf, 3e4):
        arm = jm.SpatialArm((link.replace(supports=holding(Z, stiffness=stiffness)),))
        found = jm.static_equilibrium(arm, theory=EB, gravity=DOWN)
        prop = w * 1.2**4 / 8.0 / (1.2**3 / 3.0 + rigidity / stiffness)
        np.testing.assert_allclose(found.reactions[0, 2], prop, rtol=1e-13, atol=0)
        np.testing.assert_allclose(found.base_reaction[2], 1.2 * w - prop, rtol=1e-13, atol=0)
        own = 0.5 * w * 1.2**2 - 1.2 * prop
        np.testing.assert_allclose(found.bending_moment[0, 0, 0], own, rtol=1e-12, atol=0)
        sag = -prop / stiffness
        np.testing.assert_allclose(found.tip_displacement[2], sag, rtol=1e-12, atol=1e-18)


def test_free_joints_that_a_support_holds():
    """A beam on a hinge and a prop: half the weight on either, 5 w L^4/(384 E I) in the middle."""
    link = tube(length=1.2, joint_axis=(0, 1, 0), joint_stiffness=0.0, supports=holding(Z))
    w = 9.81 * float(link.mass) / 1.2
    rigidity = 7e10 * float(link.section_values.second_moment_y)
    found = jm.static_equilibrium(jm.SpatialArm((link,)), theory=EB, gravity=DOWN, stations=3)
    np.testing.assert_allclose(found.reactions[0, 2], 0.6 * w, rtol=1e-13, atol=0)
    middle = -5.0 * w * 1.2**4 / (384.0 * rigidity)
    np.testing.assert_allclose(found.displacement[0, 1, 2], middle, rtol=1e-12, atol=0)
    turned = w * 1.2**3 / (24.0 * rigidity)
    np.testing.assert_allclose(found.joint_give[0, 4], turned, rtol=1e-12, atol=0)
    assert abs(found.joint_torque[0]) < 1e-13 * w


def test_rigid_bars_that_a_pin_closes():
    """Two rigid bars on hinges in an A, a weight at the top: half of it on each foot, and the thrust of the slope."""

    def bar(**more):
        return jm.SpatialLink(0.5, rigid=True, joint_axis=(0, 1, 0), joint_stiffness=0.0, **more)

    bars = (
        bar(joint_angle=-1.0, body=jm.RigidBody(2.0)),
        bar(joint_angle=2.0, body=jm.RigidBody(0.0, inertia=(1e-9,) * 3), supports=holding(X, Z)),
    )
    found = jm.static_equilibrium(jm.SpatialArm(bars), theory=EB, gravity=DOWN)
    half = 9.81
    feet = [[half / math.tan(1.0), 0.0, half], [-half / math.tan(1.0), 0.0, half]]
    forces = [found.base_reaction[:3], found.reactions[1, :3]]
    np.testing.assert_allclose(forces, feet, rtol=0, atol=1e-13 * half)
    with pytest.raises(jm.ArmError, match="rigid throughout"):
        jm.buckling(jm.SpatialArm(bars), 1, theory=EB, gravity=DOWN)


def supported(seed):
    """`held_arm` on one to three supports, springs and rigid ones, at its last tip and another."""
    document, theory, gravity, tip = held_arm(seed)
    rng = np.random.default_rng([seed, 41])
    supports, number = [], len(document["links"])
    for at in (number, number, 1 + int(rng.integers(number)))[: rng.integers(1, 4)]:
        kind = ("translation", "rotation")[rng.integers(2)]
        power = rng.uniform(3, 7) if kind == "translation" else rng.uniform(1, 4)
        k = math.inf if rng.random() < 0.4 else float(10.0**power)
        supports.append((at, kind, tuple(rng.normal(size=3)), k))
    return document, theory, gravity, tip, supports


class SupportedChain(LoadedChain):
    """Elements on supports: springs to the ground, and coordinates that move no rigid one."""

    def __init__(self, document, theory, degree, supports):
        super().__init__(document, theory, degree)
        rows = [self.row(*each[:3]) for each in supports]
        self.springs = [
            (row, k) for row, (*_, k) in zip(rows, supports, strict=True) if k < math.inf
        ]
        rigid = np.array(
            [row for row, (*_, k) in zip(rows, supports, strict=True) if k == math.inf]
        )
        self.stiffness = np.eye(self.size) + sum(k * np.outer(r, r) for r, k in self.springs)
        self.basis = np.eye(self.size)
        if rigid.size:
            self.basis = np.linalg.svd(rigid)[2][len(rigid) :].T

    def row(self, number, kind, direction):
        unit = np.asarray(direction) / np.linalg.norm(direction)
        rows = self.tips(number - 1)[slice(0, 3) if kind == "translation" else slice(3, 6)]
        return unit @ self.turns[number - 1] @ rows

    def reduced(self, matrix):
        return self.basis.T @ matrix @ self.basis

    def at_rest(self, gravity, tip):
        load = self.basis.T @ super().at_rest(gravity, tip)
        return self.basis @ np.linalg.solve(self.reduced(self.stiffness), load)


@pytest.mark.parametrize(
    "seeds", [range(8), pytest.param(range(8, 40), marks=pytest.mark.slow, id="more")]
)
def test_random_arms_beside_finite_elements(seeds):
    """Motions and section forces at rest; 1e-9 of the largest, since springs differ by many orders."""
    _, points, _, _ = tables(4)
    for seed in seeds:
        document, theory, gravity, tip, supports = supported(seed)
        chain = SupportedChain(document, theory, 4, supports)
        q = chain.at_rest(gravity, tip)
        arm = held(jm.arm_from_dict(document), supports)
        given = {"theory": theory, "stations": 0.5 * (1.0 + points)} | loads(gravity, tip)
        found = jm.static_equilibrium(arm, **given)
        require_same_motions(found, chain, q, 1e-9)
        # virtual work of what the supports do, over all coordinates
        push = np.zeros(chain.size)
        for i, reaction in enumerate(found.reactions):
            turn, rows = chain.turns[i], chain.tips(i)
            push += np.concatenate([turn.T @ reaction[:3], turn.T @ reaction[3:]]) @ rows
        beside = LoadedChain.at_rest(chain, gravity, tip)
        size = max(np.abs(q).max(), np.abs(beside).max())
        np.testing.assert_allclose(q, beside + push, rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 36), marks=pytest.mark.slow, id="more")]
)
@pytest.mark.filterwarnings("ignore::jaxmodal.LargeDeflectionWarning")
def test_factors_and_frequencies_beside_finite_elements(seeds):
    """Of both signs, and frequencies at a third of the first: to 1e-9, what stiff supports leave of the elements."""
    for seed in seeds:
        document, theory, gravity, tip, supports = supported(seed)
        arm = held(jm.arm_from_dict(document), supports)
        chain = SupportedChain(document, theory, 12, supports)
        require_same_factors_and_frequencies(arm, chain, theory, gravity, tip, 1e-9)


def planar(**tip):
    """Two links in a bend, weak in their plane, with a weight; the second on supports at its tip."""
    section = jm.rectangle(0.01, 0.06, "cowper")
    first = jm.Link(0.5, 7e10, 2700.0, section, poisson_ratio=0.33, tip_mass=1.0, joint_angle=0.9)
    second = first.replace(joint_angle=-1.3, joint_stiffness=2e4, end_offset_x=0.05, **tip)
    return jm.Arm((first, second), jm.Payload(3.0))


@pytest.mark.parametrize(
    "tip",
    [
        {"support_y_stiffness": math.inf},
        {"support_x_stiffness": math.inf, "support_y_stiffness": math.inf},
        {
            "support_x_stiffness": 2e5,
            "support_y_stiffness": 3e4,
            "support_torsional_stiffness": 1e3,
        },
        {"support_y_stiffness": 1e5, "support_torsional_stiffness": math.inf},
    ],
)
def test_planar_arms_on_supports_as_arms_in_space(tip):
    """What happens in the plane is what the planar room finds, which has other code."""
    arm = planar(**tip)
    flat = jm.static_equilibrium(arm, gravity=(1.0, -9.81), tip_force=(30.0, 50.0))
    loads = {"gravity": (1.0, -9.81, 0.0), "tip_force": (30.0, 50.0, 0.0)}
    space = jm.to_spatial(arm)
    found = jm.static_equilibrium(space, **loads)

    def same(x, y):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-12 * np.abs(y).max())

    same(found.section_forces, flat.section_forces)
    same(found.displacement[..., :2], flat.displacement)
    same(found.rotation[..., 2], flat.rotation)
    same(found.joint_torque, flat.joint_torque)
    same(found.base_reaction[[0, 1, 5]], flat.base_reaction)
    same(found.reactions[:, [0, 1, 5]], flat.reactions)
    same(found.tip_displacement[[0, 1, 5]], flat.tip_displacement)
    own = jm.buckling(arm, 1, gravity=(-20.0, -90.0), tip_force=(-10.0, -200.0)).factors[0]
    found = jm.buckling(space, 3, gravity=(-20.0, -90.0, 0.0), tip_force=(-10.0, -200.0, 0.0))
    assert found.certified.all()
    assert np.abs(found.factors / own - 1.0).min() < 1e-12


@pytest.mark.parametrize("kind", ["springs", "rigid"])
def test_planar_arms_on_a_hinge_and_supports_as_arms_in_space(kind):
    """The free joint of the base, and springs beside it: what it gives, what supports exert, and at what it buckles."""
    arm = hinged_arm(**TIPS[kind])
    space = jm.to_spatial(arm)
    flat = jm.static_equilibrium(arm, gravity=(1.0, -9.81))
    found = jm.static_equilibrium(space, gravity=(1.0, -9.81, 0.0))
    for own, expected in (
        (found.reactions[:, [0, 1, 5]], flat.reactions),
        (found.joint_give[:, [0, 1, 5]], flat.joint_give),
        (found.tip_displacement[[0, 1, 5]], flat.tip_displacement),
        (found.section_forces, flat.section_forces),
    ):
        np.testing.assert_allclose(own, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    flat = jm.buckling(arm, 1, tip_force=(-1.0, 0.0))
    found = jm.buckling(space, 4, tip_force=(-1.0, 0.0, 0.0))
    assert found.certified.all()
    assert np.abs(found.factors / flat.factors[0] - 1.0).min() < 1e-11


def test_hardly_loaded_arms_have_the_frequencies_of_the_engine():
    arm = jm.to_spatial(planar(support_y_stiffness=math.inf, support_x_stiffness=2e5))
    found = jm.preloaded_frequencies(arm, 4, gravity=(0.0, 1e-9, 0.0))
    truth = jm.natural_frequencies(arm, 4)
    np.testing.assert_allclose(found.omega, truth.omega, rtol=1e-10, atol=0)


def test_two_rigid_supports_of_which_a_spring_feels_one():
    """The other is held further inwards: the engine without loads is the truth of next to none."""
    bent = {"joint_axis": Z, "joint_stiffness": 1e4, "joint_angle": 0.3}
    outer = tube(rigid=True, supports=holding(Z, Y), **bent)
    arm = jm.SpatialArm((tube(), outer), jm.RigidBody(2.0))
    found = jm.natural_frequencies(arm.replace(loads=jm.SpatialLoads(gravity_x=1e-9)), 4, theory=EB)
    truth = jm.natural_frequencies(arm, 4, theory=EB)
    assert found.certified.all()
    np.testing.assert_allclose(found.omega, truth.omega, rtol=1e-9, atol=0.0)


def test_what_is_refused():
    loose = tube(joint_axis=(0, 1, 0), joint_stiffness=0.0)
    twice = tube(supports=holding(Z, Z))
    stiff = jm.SpatialLink(0.5, rigid=True, body=jm.RigidBody(1.0), supports=holding(Z))
    for link, message in (
        (twice, r"support2\.stiffness = inf: the arm is rigid there"),
        (stiff, r"support1\.stiffness = inf: the arm is rigid there"),
        (loose.replace(supports=holding(X)), r"link1\.joint_stiffness = 0: nothing holds the arm"),
    ):
        with pytest.raises(jm.ArmError, match=message):
            jm.static_equilibrium(jm.SpatialArm((link,)), theory=EB, gravity=DOWN)
    mechanism = jm.SpatialArm((tube(joint_stiffness=0.0, supports=holding(X)),))
    with pytest.raises(jm.ArmError, match=r"\(link1\.joint_stiffness = 0\), a mechanism"):
        jm.buckling(mechanism, 1, theory=EB, tip_force=(-1.0, 0.0, 0.0))


def test_results_show_the_reactions():
    arm = jm.SpatialArm((tube(supports=holding(Z)), tube()))
    found = jm.static_equilibrium(arm, theory=EB, gravity=DOWN)
    assert "tip of link 1" in str(found)
    assert "tip of link 2" not in str(found)
    data = found.to_xarray().reaction
    assert float(data.sel(ground="tip_1", component="force_z")) == found.reactions[0, 2]
