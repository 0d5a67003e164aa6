"""Damped modes, sums over modes and motion in time of arms in space, beside finite elements and planar arms."""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.driven.damping import undamped
from jaxmodal.response.modal.base_motion import exact_receptance
from tests.response.arms import bent, with_damping
from tests.response.test_in_space import damped_tables
from tests.spatial.driven_elements import DrivenChain


def damped_six_axis(**changes):
    """The six-axis example with a damper at every joint and material damping; changes are of link 2."""
    arm = jm.examples.six_axis_industrial()
    damping = {"joint_damping": 50.0, "loss_factor": 0.01, "kelvin_voigt_time": 1e-5}
    links = [link.replace(**damping) for link in arm.links]
    links[1] = links[1].replace(**changes)
    return arm.replace(links=tuple(links))


@pytest.fixture(scope="module")
def both():
    """A damped planar arm, and the same as an arm in space."""
    planar = with_damping(bent(joint_stiffness=3e4), 3)
    return planar, jm.to_spatial(planar)


@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 6), marks=pytest.mark.slow, id="more")]
)
def test_damped_modes_beside_finite_elements(seeds):
    """Where the receptance of the elements has its pole; six directions of a tip see any mode."""
    for seed in seeds:
        document, theory = damped_tables(seed)
        chain, arm = DrivenChain(document, theory, 14), jm.arm_from_dict(document)
        ports = [(("tip", len(chain.turns)), x) for x in ("x", "y", "z", "rx", "ry", "rz")]
        found = jm.damped_modes(arm, 4, theory=theory)
        assert found.ok
        for root in found.roots[found.multiplicity == 1]:
            # not at the root, where the receptance is so large that its inverse may not exist
            near = [
                np.linalg.inv(chain.response(root * (1.0 + k), ports, ports)) for k in (1e-9, 1e-6)
            ]
            here, beside = (np.linalg.svd(x)[1] for x in near)
            # the smallest singular value grows with the distance from the pole
            assert here[-1] < 1e-2 * beside[-1], (seed, root)


def test_damped_modes_of_planar_arms_in_space(both):
    planar, arm = both
    expected, found = jm.damped_modes(planar, 5), jm.damped_modes(arm, 12)
    assert expected.ok
    assert found.ok
    for root in expected.roots:
        assert np.min(np.abs(found.roots - root)) < 1e-12 * abs(root)


def test_overdamped_modes_in_space():
    """A rigid bar on a spring and a damper about an axis askew: s^2 J - i s c - k = 0."""
    inertia, stiffness, damping = 2.0, 200.0, 50.0
    body = jm.RigidBody(1.0, (0.0, 0.0, 0.0), (inertia, inertia, inertia))
    link = jm.SpatialLink(
        0.0, rigid=True, body=body, joint_axis=(1, 2, 2), joint_stiffness=stiffness
    )
    arm = jm.SpatialArm((link.replace(joint_damping=damping),))
    found = jm.damped_modes(arm, 1)
    assert found.ok
    rate = damping / (2 * inertia)
    apart = np.sqrt(rate**2 - stiffness / inertia)
    np.testing.assert_allclose(
        np.sort(found.decay_rate), [rate - apart, rate + apart], rtol=1e-12, atol=0.0
    )


def test_damped_modes_of_many_arms(both):
    _, arm = both
    cells = {
        "link2.joint_angle": np.array([-0.6, 0.2]),
        "link2.joint_damping": np.array([10.0, 80.0]),
    }
    found = jm.damped_modes_batch(arm, cells, 3)
    assert found.ok
    for k in range(2):
        one = jm.set_parameters(arm, {name: float(x[k]) for name, x in cells.items()})
        np.testing.assert_allclose(
            found.roots[k], jm.damped_modes(one, 3).roots, rtol=1e-12, atol=0.0
        )


HELD, FREE, BRAKED = (
    {},
    {"joint_stiffness": 0.0, "joint_damping": None},
    {"joint_stiffness": 0.0, "joint_damping": 30.0},
)


@pytest.mark.parametrize(
    ("changes", "damped"),
    [
        pytest.param(HELD, True, id="held"),
        pytest.param(FREE, False, id="free, undamped"),
        pytest.param(BRAKED, True, id="braked"),
        pytest.param(HELD, False, id="held, undamped", marks=pytest.mark.slow),
        pytest.param(FREE, True, id="free", marks=pytest.mark.slow),
    ],  # without its dampers what is braked is free
)
def test_sums_over_modes_become_the_exact_response(changes, damped):
    """Between forces, torques and the base; what is held does not move.

    Twice the modes leave less than an eighth without damping. With it the static residual, which has none, leaves more.
    """
    arm = damped_six_axis(**changes)
    if not damped:
        arm = undamped(arm)
    inputs = ["tip.force_x", "joint_2.torque", "link_3@0.3.moment_link_y", "base.z"]
    outputs = ["tip.x", "payload.link_z", "tip.ry", "joint_3.relative_rotation", "joint_1.x"]
    few, many = (jm.modal_superposition(arm, inputs, outputs, count) for count in (20, 40))
    omega = np.linspace(0.3, 1.5, 7) * few.omega[2]
    exact = exact_receptance(arm, omega, few.inputs, few.outputs, "timoshenko")
    size = np.abs(exact).max(axis=-1)
    assert not np.any(size[-1])
    for model in (few, many):
        assert not np.any(model.receptance(omega)[-1])
    wrong = [np.abs(x.receptance(omega) - exact)[:-1].max(axis=-1) / size[:-1] for x in (few, many)]
    assert wrong[0].max() < 2e-3
    assert np.all(wrong[1] < wrong[0] / (1.2 if damped else 8))
    assert wrong[1].max() < (1e-3 if damped else 1e-4)


def test_sums_over_modes_of_planar_arms_in_space(both):
    """Modes out of the plane add nothing: the same response from the same modes."""
    planar, arm = both
    expected = jm.modal_superposition(
        planar, ["tip.x", "joint_2.torque"], ["tip.y", "link_1@0.4.across"], 6
    )
    found = jm.modal_superposition(
        arm, ["tip.x", "joint_2.torque"], ["tip.y", "link_1@0.4.link_y"], 11
    )
    places = [int(np.argmin(np.abs(found.omega - w))) for w in expected.omega]
    np.testing.assert_allclose(
        found.damping_ratio[places], expected.damping_ratio, rtol=1e-10, atol=0.0
    )
    theirs = np.einsum("kp,km->kpm", found.read, found.driven)
    ours = np.einsum("kp,km->kpm", expected.read, expected.driven)
    scale = np.abs(ours).max(axis=0)
    assert np.max(np.abs(theirs[places] - ours) / scale) < 1e-10
    assert np.max(np.abs(np.delete(theirs, places, axis=0)) / scale) < 1e-10
    np.testing.assert_allclose(found.static, expected.static, rtol=1e-10, atol=0.0)


def test_motion_seen_from_the_ground():
    """A base that is accelerated carries the tip along as one with it: along, and about a lever."""
    arm = damped_six_axis()
    found = jm.modal_superposition(
        arm, ["base.x", "base.rz"], ["tip.y", "tip.rz"], 6, seen_from="ground"
    )
    tip = arm.tip_position()
    np.testing.assert_allclose(found.carried, [[0.0, tip[0]], [0.0, 1.0]], rtol=1e-14, atol=1e-15)


def test_state_space_in_space():
    model = jm.state_space(damped_six_axis(), "joint_2.torque", ["tip.x", "tip.rz"], 20)
    assert model.error.worst < 0.1
    assert (model.inputs, model.outputs) == (("joint_2.torque",), ("tip_6.x", "tip_6.rz"))
    omega = np.array([0.5, 1.5]) * 90.0
    exact = jm.frequency_response(
        damped_six_axis(), omega, "joint_2.torque", ["tip.x", "tip.rz"]
    ).values
    np.testing.assert_allclose(model.frequency_response(omega), exact, rtol=3e-3, atol=0.0)


def test_forced_responses_of_planar_arms_in_space(both):
    planar, arm = (
        x.replace(links=tuple(y.replace(loss_factor=None) for y in x.links)) for x in both
    )
    step, low, high = 4e-3, 50.0, 1000.0
    signal = np.exp(-(((np.arange(50) * step - 0.05) / 0.01) ** 2))
    answers = []
    for each in (planar, arm):
        moved = jm.time_response(each, signal, step, "tip.x", "tip.y").values
        peaks = jm.response_peaks(each, low, high, "tip.x", "tip.y")
        shaken = jm.random_response(each, 1.0, low, high, "tip.x", "tip.y")
        answers.append((moved, peaks.omega, np.abs(peaks.values), shaken.rms))
    for found, expected in zip(*answers[::-1], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.max(np.abs(expected)))


def test_what_arms_in_space_refuse():
    spring = jm.Spring("rotation", (0.0, 1.0, 0.0), 0.0, 5.0)
    arm = damped_six_axis(joint_springs=(spring,))
    with pytest.raises(
        jm.ArmError, match=r"link2\.joint_spring1\.damping: is parallel to a free spring"
    ):
        jm.modal_superposition(arm, "tip.x", "tip.x", 6)
    with pytest.raises(
        jm.ArmError, match=r"link2\.joint_spring1\.damping: lies at a joint without a spring"
    ):
        jm.damped_modes(arm, 3)


def test_joints_that_slide_have_places_and_no_rotation():
    way = jm.Spring("translation", (1.0, 0.0, 0.0), 5e4, 20.0)
    slide = (
        jm.examples.six_axis_industrial()
        .links[1]
        .replace(
            prismatic=True,
            joint_stiffness=np.inf,
            rotor_inertia=None,
            gear_ratio=None,
            motor=None,
            hub=None,
            joint_angle=0.0,
            joint_springs=(way,),
        )
    )
    arm = damped_six_axis()
    arm = arm.replace(links=(arm.links[0], slide, *arm.links[2:]))
    found = jm.frequency_response(arm, [1.0, 100.0], "tip.x", "joint_2.x")
    assert found.ok
    assert np.all(np.abs(found.values) > 0.0)
    with pytest.raises(jm.ArmError, match=r"port 'joint_2\.torque': this joint slides"):
        jm.frequency_response(arm, [1.0], "joint_2.torque", "tip.x")
    with pytest.raises(jm.ArmError, match=r"joint_damping = 3\.0: belongs to a joint that turns"):
        slide.replace(joint_damping=3.0)
    assert "link2.joint_damping" not in arm.addresses()
    assert "link2.joint_spring1.damping" in arm.addresses()


@pytest.mark.parametrize(
    "support",
    [
        jm.Support("translation", (0.6, 0.8, 0.0), 1e3),
        jm.Support("translation", (0.6, 0.0, 0.8), np.inf),
        jm.Support("rotation", (0.0, 0.0, 1.0), 50.0),
    ],
)
def test_a_hinge_that_a_support_leaves_free_swings_in_the_sum(support):
    """Of two free hinges a support holds one motion; the other is in the exact response, too."""
    strip = jm.rectangle(0.03, 0.01, 0.85)
    first = jm.SpatialLink(1.0, 7e10, 2700.0, strip, poisson_ratio=0.33, joint_stiffness=0.0)
    second = first.replace(joint_angle=0.5, supports=(support,))
    arm = jm.SpatialArm((first, second), jm.RigidBody(1.0))
    lowest = np.asarray(jm.natural_frequencies(arm, 2).omega)
    assert lowest[0] == 0.0 < lowest[1]
    omega, into = np.array([5.0, 40.0]), ["tip.y", "tip.z", "joint_1.torque"]
    out = ["tip.y", "tip.z", "joint_2.relative_rotation"]
    exact = jm.frequency_response(arm, omega, into, out).values
    summed = jm.modal_superposition(arm, into, out, 10).receptance(omega)
    np.testing.assert_allclose(summed, exact, rtol=0, atol=2e-6 * np.abs(exact).max())
