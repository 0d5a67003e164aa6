"""Are responses of arms that differ in bodies, springs and dampers right where they come from sums over a few arms?"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.receptance import posture_sums
from jaxmodal.response.receptance.angle_sums import terms
from jaxmodal.response.receptance.varied_amounts import Amount, sampling_of
from tests.response.arms import bent, with_damping
from tests.response.sums import both_ways, check_against_40_digits, differences
from tests.support import real_arms

CELLS = 100
NAMES = ("tip.across", "tip_1.x")
OMEGA = np.geomspace(1.0, 2e4, 90)


def even(low, high, seed=0):
    return np.random.default_rng(seed).uniform(low, high, CELLS)


def decades(low, high, seed=0):
    return 10.0 ** even(low, high, seed)


def full():
    """Two links with all that sits at joints and tips; the payload is beside the tip."""
    arm = with_damping(
        bent(joint_stiffness=2e4, joint_axial_stiffness=1e6, joint_shear_stiffness=1e6), 4
    )
    parts = {
        "hub_mass": 1.0,
        "hub_inertia": 0.02,
        "rotor_inertia": 1e-3,
        "gear_ratio": 20.0,
        "motor": "beyond_spring",
    }
    held = {
        "support_x_stiffness": 1e4,
        "support_y_stiffness": 2e4,
        "support_torsional_stiffness": 1e2,
    }
    first, second = arm.links
    arm = arm.replace(links=(first.replace(**held), second.replace(**parts)))
    return arm.with_payload(mass=3.0, inertia=0.2, centre_x=0.1, centre_y=-0.05)


VARIED = {
    "a payload beside the tip": {"payload.mass": even(0.0, 50.0)},
    "payloads of any inertia": {
        "payload.mass": even(1.0, 50.0),
        "payload.inertia": even(1.0, 3.0, 1),
    },
    "bodies": {"link1.tip_mass": even(0.0, 9.0), "link2.hub_mass": even(0.0, 9.0, 1)},
    "inertias": {"link1.tip_inertia": even(0.0, 1.0), "link2.hub_inertia": decades(-3.0, 0.0, 1)},
    "a joint, soft to stiff": {"link2.joint_stiffness": decades(2.0, 8.0)},
    "a spring and its damper": {
        "link2.joint_stiffness": decades(3.0, 6.0),
        "link2.joint_damping": even(0.0, 900.0, 1),
    },
    "a joint along and across": {
        "link2.joint_axial_stiffness": decades(4.0, 8.0),
        "link2.joint_shear_damping": decades(1.0, 4.0, 1),
    },
    "a motor": {"link2.rotor_inertia": even(0.0, 1e-2), "link2.gear_ratio": even(1.0, 50.0, 1)},
    "supports": {
        "link1.support_x_stiffness": decades(2.0, 8.0),
        "link1.support_torsional_stiffness": even(0.0, 1e5, 1),
    },
}


@pytest.mark.parametrize("what", VARIED)
def test_every_amount(what, redone):
    """Beside the recursion in all entries, and beside 40 digits where both differ most."""
    columns = VARIED[what]
    values, infinite, truth, where, taken = both_ways(full(), OMEGA, NAMES, columns)
    assert taken
    assert redone.entries < 0.35 * values[0, 0].size
    np.testing.assert_array_equal(infinite, where)
    assert differences(values, truth).max() < 1e-11
    check_against_40_digits(full(), OMEGA, NAMES, columns, values, truth)


def test_with_angles(redone):
    """A port along x of the ground turns; the first angle, too."""
    columns = {
        "payload.mass": even(0.0, 50.0),
        "theta_1": even(-3.0, 3.0, 1),
        "theta_2": even(-3.0, 3.0, 2),
    }
    arm = with_damping(bent(joint_stiffness=2e4), 4)
    values, _, truth, _, taken = both_ways(arm, OMEGA, NAMES, columns, "mobility")
    assert taken
    assert redone.entries < 0.1 * values[0, 0].size
    assert differences(values, truth).max() < 1e-11


def test_supports_that_are_not_alike_where_nothing_turns():
    """At the first tip, aslant to the ground: a straight arm on them is not its own mirror image."""
    link = bent().links[1].replace(joint_angle=0.0, loss_factor=0.02)
    held = {"joint_angle": 0.4, "support_x_stiffness": 1e5, "support_y_stiffness": 1e7}
    arm = jm.Arm((link.replace(**held), link, link))
    columns = {"theta_2": even(-3.0, 3.0), "theta_3": even(-3.0, 3.0, 1)}
    names = ("tip.across", "tip_2.along")
    values, _, truth, _, taken = both_ways(arm, OMEGA, names, columns)
    assert taken
    check_against_40_digits(arm, OMEGA, names, columns, values, truth)


def test_from_free_joints_to_rigid_ones(redone):
    """All of them in one call with those between; the ends are those of arms that have no other joint."""
    stiffness = decades(2.0, 8.0)
    stiffness[:2] = 0.0, np.inf
    arm = bent(joint_stiffness=2e4, loss_factor=0.03)
    found = jm.frequency_response(
        arm, OMEGA, *NAMES, parameters={"link2.joint_stiffness": stiffness}
    )
    assert redone.entries < 0.35 * found.values.size
    for cell, value in enumerate((0.0, np.inf, stiffness[2])):
        alone = bent(joint_stiffness=value, loss_factor=0.03)
        own = [jm.frequency_response(alone, OMEGA, name, name).values[0, 0] for name in NAMES]
        true = jm.frequency_response(alone, OMEGA, *NAMES).values[0, 0]
        apart = np.abs(found.values[cell, 0, 0] - true)
        assert np.max(apart / np.sqrt(np.abs(own[0] * own[1]))) < 1e-11


def test_a_rigid_arm_on_a_spring_with_a_damper():
    """Of one degree of freedom: ``H = L^2/(k + i omega c - omega^2 (J + m L^2))``, over all three amounts."""
    link = jm.Link(0.8, 7e10, 2700.0, jm.rectangle(0.03, 0.05, 0.85), poisson_ratio=0.3)
    arm = jm.Arm((link.replace(rigid=True, joint_stiffness=1e4, joint_damping=1.0),))
    mass, stiffness, damping = even(0.0, 20.0), decades(3.0, 6.0, 1), even(1.0, 90.0, 2)
    columns = {
        "payload.mass": mass,
        "link1.joint_stiffness": stiffness,
        "link1.joint_damping": damping,
    }
    area, second_moment = 0.03 * 0.05, 0.05 * 0.03**3 / 12.0
    own = 2700.0 * (area * 0.8**3 / 3.0 + second_moment * 0.8)
    found = jm.frequency_response(arm, OMEGA, "tip.across", "tip.across", parameters=columns)
    k, c, inertia = (x[:, None] for x in (stiffness, damping, own + mass * 0.64))
    true = 0.64 / (k + 1j * OMEGA * c - OMEGA**2 * inertia)
    assert both_ways(arm, OMEGA, NAMES[:1], columns)[-1]
    np.testing.assert_allclose(found.values[:, 0, 0], true, rtol=1e-11, atol=0.0)


def test_near_resonances_of_the_arm_and_of_its_parts():
    """Without damping: frequencies of four arms, and of the outer link with its joint held, where digits are lost."""
    arm = bent(joint_stiffness=2e4)
    columns = {"payload.mass": even(0.0, 20.0), "link2.joint_stiffness": decades(3.0, 6.0, 1)}
    omega = []
    for cell in range(4):
        here = jm.set_parameters(arm, {name: float(x[cell]) for name, x in columns.items()})
        omega.append(np.asarray(jm.natural_frequencies(here, 20).omega))
    held = jm.Arm(arm.links[1:]).with_payload(mass=float(columns["payload.mass"][0]))
    held = held.replace(links=(held.links[0].replace(joint_stiffness=np.inf),))
    omega = np.concatenate([*omega, np.asarray(jm.natural_frequencies(held, 10).omega)])
    values, infinite, truth, where, taken = both_ways(arm, omega, NAMES, columns)
    assert taken
    assert where[:, :, np.repeat(np.arange(4), 20), np.arange(80)].all()
    np.testing.assert_array_equal(infinite, where)
    apart = differences(values, truth)[:, :, ~where.any(axis=(0, 1))]
    assert np.quantile(apart, 0.99) < 1e-11
    at = np.s_[:, :, :, 80:]
    check_against_40_digits(arm, omega[80:], NAMES, columns, values[at], truth[at])


def test_a_sample_that_is_wrong_is_found(monkeypatch, redone):
    """By 1e-9: every entry that it reaches is answered by the recursion."""
    arm, columns = full(), VARIED["a spring and its damper"]
    inward = posture_sums.inward

    def spoilt(*arguments, **options):
        found = inward(*arguments, **options)
        off = np.ones((3, 3, 1))
        off[2, 1] += 1e-9
        return found._replace(responses={pair: x * off for pair, x in found.responses.items()})

    before, *_ = both_ways(arm, OMEGA, NAMES, columns)
    usual, redone.entries = redone.entries, 0
    monkeypatch.setattr(posture_sums, "inward", spoilt)
    values, _, truth, _, _ = both_ways(arm, OMEGA, NAMES, columns)
    assert redone.entries > 0.9 * values[0, 0].size > 3.0 * usual
    assert differences(before, truth).max() < 1e-11
    assert differences(values, truth).max() < 1e-11


@pytest.mark.parametrize(
    ("columns", "quantity"),
    [
        ({"payload.centre_x": even(0.0, 0.2)}, "receptance"),
        ({"link2.length": even(0.4, 0.6)}, "receptance"),
        ({"payload.mass": even(0.0, 9.0)}, "transmissibility"),
        ({"payload.mass": even(0.0, 9.0)[:7]}, "receptance"),
    ],
)
def test_other_values_are_left_to_the_recursion(columns, quantity):
    cells = next(iter(columns.values())).size
    omega = np.geomspace(1.0, 1e3, -(-posture_sums.BLOCK // cells))
    found = both_ways(full(), omega, NAMES, columns, quantity)
    assert not found[-1]
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize(("joints", "mirrored"), [(0, False), (1, False), (2, True)])
@pytest.mark.parametrize("degrees", [(1,), (2, 1)])
def test_polynomials_are_exact_and_others_left_over(joints, mirrored, degrees):
    """An error of any sample moves no value by more than three times what it leaves over."""
    rng = np.random.default_rng(joints)
    sampled = sampling_of(joints, mirrored, degrees)
    grid = np.meshgrid(*sampled.nodes, indexing="ij")
    nodes = np.stack([x.reshape(-1) for x in grid])
    anywhere = np.concatenate(
        [rng.uniform(-4.0, 4.0, (joints, 30)), rng.uniform(-1.0, 1.0, (len(degrees), 30))]
    )

    def functions(at, parity):
        found = terms(at[:joints], parity)
        for row, degree in zip(at[joints:], degrees, strict=True):
            shares = 0.5 + 0.5 * row
            amount = Amount(np.concatenate([shares, [0.0, 1.0]]), 1.0, degree, {})
            found = np.einsum("ca,cb->cab", found, amount.polynomials(slice(row.size))).reshape(
                row.size, -1
            )
        return found

    for parity, matrix in sampled.coefficients.items():
        assert matrix.shape[1] == sampled.size == nodes.shape[1]
        true = rng.normal(size=matrix.shape[0])
        values = functions(nodes, parity) @ true
        np.testing.assert_allclose(matrix @ values, true, rtol=0.0, atol=1e-12)
        over = sampled.left_over[parity]
        assert np.max(np.abs(over @ values)) < 1e-12
        moved = np.max(np.abs(functions(anywhere, parity) @ matrix), axis=0)
        assert np.all(moved <= 3.0 * np.linalg.norm(over, axis=0))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 7))
def test_random_arms_with_and_without_damping(seed):
    """With all that arms may have, to beyond the eighth frequency; statuses are those of the recursion."""
    rng = np.random.default_rng(seed)
    columns = {
        "payload.mass": even(0.0, 3.0, seed),
        "link1.joint_stiffness": decades(3.0, 7.0, seed + 1),
        "theta_2": even(-3.0, 3.0, seed + 2),
    }
    columns = {name: np.tile(x, 5)[:440] for name, x in columns.items()}
    columns["payload.mass"] = rng.permutation(columns["payload.mass"])
    columns["theta_2"] = rng.permutation(columns["theta_2"])
    for structure in real_arms.STRUCTURES:
        arm = real_arms.random_arm(seed, structure)
        if seed % 2:
            arm = with_damping(arm, seed)
        resonances = np.asarray(jm.natural_frequencies(arm, 8).omega)
        resonances = resonances[resonances > 0.0]
        omega = np.geomspace(0.05 * resonances[0], 1.2 * resonances[-1], 60)
        names = ("tip.across", "link_2@0.3.x")
        values, infinite, truth, where, taken = both_ways(arm, omega, names, columns)
        assert taken
        np.testing.assert_array_equal(infinite, where)
        check_against_40_digits(arm, omega, names, columns, values, truth)
