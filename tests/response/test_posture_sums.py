"""Are responses summed over joint angles those of the recursion and of 40 digits, and known where they cannot be?"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.driven.ports import ports
from jaxmodal.response.driven.systems import system_of
from jaxmodal.response.receptance import posture_sums
from jaxmodal.response.receptance.angle_sums import sampling, terms
from jaxmodal.response.receptance.posture_plans import plan_of
from tests.response.arms import bent, with_damping
from tests.response.sums import both_ways, check_against_40_digits, differences
from tests.support import real_arms

NAMES = ("tip.across", "payload.y", "joint_2.torque", "link_2@0.3.x", "tip_1.rotation")


def postures(seed, cells, joints):
    rng = np.random.default_rng(seed)
    return {f"theta_{k + 2}": rng.uniform(-np.pi, np.pi, cells) for k in range(joints)}


@pytest.mark.parametrize("structure", real_arms.STRUCTURES)
def test_every_feature(structure, redone):
    """Joints, hubs, rotors, bodies, offsets, rigid links; stiffnesses span nine decades."""
    arm = with_damping(real_arms.random_arm(1, structure), 1)
    resonances = np.asarray(jm.natural_frequencies(arm, 5).omega)
    omega = np.geomspace(0.1 * resonances[-1], 1.3 * resonances[-1], 86)
    columns = postures(2, 96, 2)
    values, _, truth, _, taken = both_ways(arm, omega, NAMES, columns)
    assert taken
    assert redone.entries < 0.6 * values[0, 0].size
    check_against_40_digits(arm, omega, NAMES, columns, values, truth)


@pytest.mark.parametrize(
    ("joints", "level"), [(1, False), (2, True), (2, False), (3, True), (3, False)]
)
def test_any_number_of_angles(joints, level, redone):
    """With and without a mirror image; the angle of joint 1 turns ports of the ground."""
    link = bent().links[1].replace(loss_factor=0.02, end_offset_y=0.0 if level else 0.05)
    arm = jm.Arm((link.replace(joint_angle=0.0),) * 4)
    cells = 2 * sampling(joints, level and joints > 1).size
    columns = {"theta_1": np.linspace(-3.0, 3.0, cells)} | postures(1, cells, joints)
    omega = np.geomspace(10.0, 2e4, -(-8192 // cells))
    names = ("tip.x", "tip_2.across", "tip_2.y")
    values, _, truth, _, taken = both_ways(arm, omega, names, columns)
    assert taken
    assert redone.entries < 0.6 * values[0, 0].size
    check_against_40_digits(arm, omega, names, columns, values, truth)


@pytest.mark.parametrize("theory", jm.THEORIES)
def test_theories_slender_links_and_high_frequencies(theory):
    """L/h of 200, to beyond the hundredth mode; in hardly damped links rounding is felt most."""
    long = jm.Link(2.0, 7e10, 2700.0, jm.rectangle(0.01, 0.05, 0.85), poisson_ratio=0.3)
    arm = jm.Arm((long.replace(loss_factor=0.01), long, bent().links[1]))
    omega = np.geomspace(0.1, 2e5, 200)
    columns = postures(3, 50, 2)
    names = ("tip.across", "tip_2.x")
    values, _, truth, _, taken = both_ways(arm, omega, names, columns, theory=theory)
    assert taken
    check_against_40_digits(arm, omega, names, columns, values, truth, theory)


def test_resonances_without_damping_are_found():
    """At frequencies of four postures: their statuses and those of all others are those of the recursion."""
    arm = jm.examples.three_link_industrial()
    columns = postures(4, 100, 2)
    omega = []
    for cell in range(4):
        here = jm.set_parameters(arm, {name: float(x[cell]) for name, x in columns.items()})
        omega.append(np.asarray(jm.natural_frequencies(here, 25).omega))
    omega = np.concatenate(omega)
    names = ("tip.across", "joint_2.y")
    values, infinite, truth, where, taken = both_ways(arm, omega, names, columns)
    assert taken
    assert where[:, :, np.repeat(np.arange(4), 25), np.arange(100)].all()
    np.testing.assert_array_equal(infinite, where)
    found = jm.frequency_response(arm, omega, names, names, parameters=columns)
    assert (found.status == jm.Status.resonance).sum() == where.sum()
    apart = differences(values, truth)[:, :, ~where.any(axis=(0, 1))]
    assert np.quantile(apart, 0.99) < 1e-11


def test_what_is_left_over_shows_the_errors_of_samples(monkeypatch, redone):
    """A sample off by 1e-9: every entry that it reaches is answered by the recursion."""
    arm = with_damping(jm.examples.three_link_industrial(), 1)
    columns, omega = postures(5, 100, 2), np.linspace(1.0, 2e3, 100)
    inward = posture_sums.inward

    def spoilt(*arguments, **options):
        found = inward(*arguments, **options)
        (value,) = found.responses.values()
        off = np.ones(value.shape)
        off[2, 1] += 1e-9
        return found._replace(responses={(0, 0): value * off})

    both_ways(arm, omega, ("tip.across",), columns)
    assert redone.entries < 1000
    monkeypatch.setattr(posture_sums, "inward", spoilt)
    values, _, truth, _, _ = both_ways(arm, omega, ("tip.across",), columns)
    assert redone.entries > 9000
    assert differences(values, truth).max() < 1e-11


def test_where_the_sums_do_not_hold_the_recursion_answers():
    arm = with_damping(bent(joint_stiffness=2e4), 4)
    omega, angles = np.geomspace(1.0, 1e3, 900), np.linspace(-2.0, 2.0, 40)
    held = {"support_x_stiffness": 1e5, "support_torsional_stiffness": 1e3}
    unlike = arm.replace(links=(arm.links[0], arm.links[1].replace(**held)))
    alike = arm.replace(links=(arm.links[0], arm.links[1].replace(**held, support_y_stiffness=1e5)))
    angle = {"theta_2": angles}
    cases = (
        (arm, angle, "receptance", omega, True),
        (alike, angle, "accelerance", omega, True),
        (unlike, angle, "receptance", omega, False),
        (arm, angle, "transmissibility", omega, False),
        (arm, angle | {"payload.mass": 1.0 + angles}, "receptance", omega, False),
        (arm, {"theta_1": angles}, "receptance", omega, False),
        (arm, {"theta_2": angles[:5]}, "receptance", omega, False),
        (arm, angle, "receptance", omega[:10], False),
    )
    for each, columns, quantity, frequencies, wanted in cases:
        found = both_ways(each, frequencies, ("tip.x", "tip_1.across"), columns, quantity)
        assert found[-1] == wanted
        np.testing.assert_allclose(found[0], found[2], rtol=1e-9, atol=1e-18)
    system = system_of(
        jm.Arm(arm.links[1:] * 5),
        "timoshenko",
        "receptance",
        ports("tip.x", arm, "inputs"),
        ports("tip.x", arm, "outputs"),
        (
            tuple(f"theta_{k}" for k in range(2, 6)),
            np.random.default_rng(0).normal(size=(4, 40)),
        ),
    )
    assert plan_of(system, omega) is None


def test_a_port_that_stands_still_is_nothing(redone):
    """The torque of a motor on a rigid joint turns nothing; no entry is answered twice for it."""
    arm, omega = with_damping(bent(), 4), np.geomspace(1.0, 1e3, 300)
    columns = {"theta_2": np.linspace(-2.0, 2.0, 40)}
    names = ("tip.across", "joint_2.torque")
    values, _, truth, _, taken = both_ways(arm, omega, names, columns)
    assert taken
    assert redone.entries < 100
    assert not values[1].any()
    assert not values[:, 1].any()
    np.testing.assert_allclose(values[0, 0], truth[0, 0], rtol=1e-11)


def test_a_pinned_tip_over_the_workspace():
    """Held by forces found from springs that are alike in all directions: of single arms."""
    arm = with_damping(bent(joint_stiffness=2e4), 4)
    pinned = {"support_x_stiffness": np.inf, "support_y_stiffness": np.inf}
    arm = arm.replace(links=(arm.links[0], arm.links[1].replace(**pinned)))
    omega, angles = np.geomspace(5.0, 1e3, 300), np.linspace(0.3, 2.0, 30)
    found = jm.frequency_response(
        arm, omega, "tip_1.across", "tip_1.across", parameters={"theta_2": angles}
    )
    alone = jm.frequency_response(
        arm.with_posture([angles[4]]), omega, "tip_1.across", "tip_1.across"
    )
    np.testing.assert_allclose(found.values[4], alone.values, rtol=1e-9)


@pytest.mark.parametrize(
    ("joints", "mirrored"), [(1, False), (2, False), (2, True), (3, False), (3, True)]
)
def test_polynomials_of_degree_two_are_exact_and_others_left_over(joints, mirrored):
    rng = np.random.default_rng(joints)
    sampled = sampling(joints, mirrored)
    axes = np.meshgrid(*sampled.nodes, indexing="ij")
    nodes = np.stack([x.reshape(-1) for x in axes])
    anywhere = rng.uniform(-4.0, 4.0, (joints, 30))
    for parity, matrix in sampled.coefficients.items():
        assert matrix.shape[1] == sampled.size == nodes.shape[1]
        true = rng.normal(size=matrix.shape[0])
        values = terms(nodes, parity) @ true
        np.testing.assert_allclose(matrix @ values, true, rtol=0.0, atol=1e-13)
        over = sampled.left_over[parity]
        assert np.max(np.abs(over @ values)) < 1e-13
        exact = sum(
            np.sum(terms(anywhere[:, k : k + 1], parity) @ true) for k in range(anywhere.shape[1])
        )
        np.testing.assert_allclose(np.sum(terms(anywhere, parity) @ (matrix @ values)), exact)
        # an error of any one sample leaves a third of it over, and moves no value by more than twice of it
        size = np.linalg.norm(over, axis=0)
        moved = np.max(np.abs(terms(anywhere, parity) @ matrix), axis=0)
        seen = moved > 1e-12
        assert np.all(moved[seen] <= 3.0 * size[seen])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 6))
def test_random_arms_with_and_without_damping(seed):
    """From a twentieth of the first frequency to beyond the eighth; statuses are those of the recursion."""
    rng = np.random.default_rng(seed)
    moving = [name for name in NAMES if name != "joint_2.torque"]
    for structure in real_arms.STRUCTURES:
        arm = real_arms.random_arm(seed, structure)
        if seed % 2:
            arm = with_damping(arm, seed)
        resonances = np.asarray(jm.natural_frequencies(arm, 8).omega)
        resonances = resonances[resonances > 0.0]
        omega = np.geomspace(0.05 * resonances[0], 1.2 * resonances[-1], 100)
        names = tuple(str(name) for name in rng.choice(moving, 2, replace=False))
        columns = postures(seed, 90, 2)
        values, infinite, truth, where, taken = both_ways(arm, omega, names, columns)
        assert taken
        np.testing.assert_array_equal(infinite, where)
        check_against_40_digits(arm, omega, names, columns, values, truth)
