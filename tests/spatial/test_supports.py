"""Supports at the tips of arms in space: closed forms, finite elements, planar arms, and what is refused."""

import itertools
import warnings

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics
from tests.spatial.cases import bent_arm, tube
from tests.spatial.held_elements import held_frequencies, held_response
from tests.spatial.random_arms import random_arm
from tests.support.supported_arms import TIPS, held_arm

S = jm.Support
E, RHO, G = 7e10, 2700.0, 2.6e10
DEPTH, WIDTH, LENGTH = 0.03, 0.02, 0.9
BEAM = jm.SpatialLink(LENGTH, E, RHO, jm.rectangle(DEPTH, WIDTH), shear_modulus=G)
MASS = RHO * DEPTH * WIDTH
#: E I of bending in the x-z and in the x-y plane
STIFFNESS = E * WIDTH**3 * DEPTH / 12.0, E * DEPTH**3 * WIDTH / 12.0
#: squares of b L of a clamped beam on a pin, cos b sinh b = sin b cosh b; and of one clamped at both ends
PROPPED = 3.9266023120479187, 7.0685827456287321
CLAMPED = 4.7300407448627039, 7.8532046240958375
#: relative; both sides round, and references are given to 17 digits
LAST_DIGITS = 1e-13


def holding(*directions, kind="translation", stiffness=np.inf):
    return tuple(S(kind, direction, stiffness) for direction in directions)


def held(arm, supports):
    """The arm with supports as `held_elements` takes them."""
    links = list(arm.links)
    for number, kind, direction, k in supports:
        link = links[number - 1]
        links[number - 1] = link.replace(supports=(*link.supports, S(kind, direction, k)))
    return arm.replace(links=tuple(links))


X, Y, Z = np.eye(3)


@pytest.mark.parametrize(
    ("supports", "roots"),
    [
        (holding(Y, Z), PROPPED),
        (holding(Y, Z) + holding(Y, Z, kind="rotation"), CLAMPED),
    ],
)
def test_a_clamped_beam_on_a_support_in_both_planes(supports, roots):
    arm = jm.SpatialArm((BEAM.replace(supports=supports),))
    expected = sorted(
        (root / LENGTH) ** 2 * np.sqrt(own / MASS)
        for root, own in itertools.product(roots, STIFFNESS)
    )
    found = jm.natural_frequencies(arm, 4, theory="bending_only")
    assert bool(found.certified.all())
    np.testing.assert_allclose(found.omega, expected, rtol=LAST_DIGITS, atol=0.0)


def test_torsion_and_stretching_between_two_clamped_ends():
    """k pi/L times the speeds of both waves, and no bending: a rod that is short and thick."""
    thick = tube(
        length=0.3, section=jm.hollow_circle(0.28, 0.002, 0.9), shear_modulus=G, poisson_ratio=None
    )
    arm = jm.SpatialArm((thick.replace(supports=holding(X) + holding(X, kind="rotation")),))
    omega = np.asarray(jm.natural_frequencies(arm, 16, theory="euler_bernoulli").omega)
    waves = np.pi / 0.3 * np.sqrt(np.array([G, 7e10]) / 2700.0)  # of a circle J = I_y + I_z
    for expected in waves:
        assert np.min(np.abs(omega / expected - 1.0)) < LAST_DIGITS
    free = np.asarray(
        jm.natural_frequencies(jm.SpatialArm((thick,)), 16, theory="euler_bernoulli").omega
    )
    for expected in 0.5 * waves:
        assert np.min(np.abs(free / expected - 1.0)) < LAST_DIGITS
        assert np.min(np.abs(omega / expected - 1.0)) > 1e-3


def test_a_spring_along_the_axis_of_a_rod():
    """E A/L mu cot mu = -k, by the first mode of a rod without bending below it."""
    k, rigidity = 3e8, 7e10 * DEPTH * WIDTH
    arm = jm.SpatialArm((BEAM.replace(supports=holding(X, stiffness=k)),))
    omega = np.asarray(jm.natural_frequencies(arm, 24, theory="euler_bernoulli").omega)
    mu = omega * LENGTH * np.sqrt(MASS / rigidity)
    misfit = np.abs(rigidity / LENGTH * mu * np.cos(mu) + k * np.sin(mu)) / k
    assert misfit.min() < 1e-12
    mode, name = int(np.argmin(misfit)), "link1.support1.stiffness"
    x, own = mu[mode], rigidity / LENGTH
    rate = -np.sin(x) / (own * (np.cos(x) - x * np.sin(x)) + k * np.cos(x)) * omega[mode] / x
    found = jm.sensitivities(arm, mode + 1, theory="euler_bernoulli", addresses=[name])
    hertz = found.derivative_hz[mode, 0]
    np.testing.assert_allclose(hertz, rate / (2.0 * np.pi), rtol=1e-10, atol=0.0)


HELD = [
    (1, "translation", (1.0, 2.0, 0.5), 2e6),
    (3, "translation", (0.0, 0.0, 1.0), np.inf),
    (3, "rotation", (1.0, 0.0, 1.0), 3e3),
    (2, "translation", (1.0, 0.0, 0.0), 5e4),
]


def random_supports(seed, links):
    rng = np.random.default_rng([seed, 7])
    found = []
    for _ in range(rng.integers(1, 4)):
        kind = ("translation", "rotation")[rng.integers(2)]
        power = rng.uniform(3, 8) if kind == "translation" else rng.uniform(1, 5)
        k = np.inf if rng.random() < 0.3 else float(10.0**power)
        found.append((links, kind, tuple(rng.normal(size=3)), k))
    return found


def compare(document, theory, supports, modes=6):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm = held(jm.arm_from_dict(document), supports)
    expected = held_frequencies(document, theory, supports)[:modes]
    found = jm.natural_frequencies(arm, modes, theory=theory)
    assert bool(found.certified.all())
    # of the witness: stiff springs and slender links
    np.testing.assert_allclose(found.omega, expected, rtol=2e-10, atol=0.0)
    return arm, found


def entry_of(seed):
    document, theory = random_arm(seed, 4)
    joints = [link["joint"] for link in document["links"]]
    free = any(0.0 in (j["stiffness"], *(s["stiffness"] for s in j["springs"])) for j in joints)
    return document, theory, free


def test_finite_elements_on_supports():
    seeds = [seed for seed in range(40) if not entry_of(seed)[2]][:6]
    for seed in seeds:
        document, theory, _ = entry_of(seed)
        compare(document, theory, random_supports(seed, len(document["links"])))


@pytest.mark.slow
def test_finite_elements_of_many_arms_on_supports():
    seeds = [seed for seed in range(40, 140) if not entry_of(seed)[2]][:40]
    for seed in seeds:
        document, theory, _ = entry_of(seed)
        compare(document, theory, random_supports(seed, len(document["links"])))


def test_a_planar_arm_on_supports_has_its_frequencies_in_space():
    link = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.03, 0.02, "cowper"), poisson_ratio=0.33)
    last = link.replace(
        tip_mass=1.0, end_offset_x=0.05, support_x_stiffness=1e5,
        support_y_stiffness=np.inf, support_torsional_stiffness=300.0,
    )  # fmt: skip
    planar = jm.Arm((link, last)).with_posture([0.4, 1.0])
    space = jm.to_spatial(planar)
    assert len(space.links[1].supports) == 3
    omega = np.asarray(jm.natural_frequencies(space, 8).omega)
    for expected in np.asarray(jm.natural_frequencies(planar, 3).omega):
        assert np.min(np.abs(omega / expected - 1.0)) < LAST_DIGITS


def test_supports_hinder_motions_of_free_joints():
    """A beam on two pins in both planes; on one that holds one plane alone a motion of zero frequency is left."""
    hinge = {"joint_stiffness": 0.0, "joint_springs": (jm.Spring("rotation", (0, 1, 0), 0.0),)}
    two, one = (
        jm.natural_frequencies(
            jm.SpatialArm((BEAM.replace(**hinge, supports=holding(*held)),)),
            3,
            theory="bending_only",
        )
        for held in ((Y, Z), (Y,))
    )
    pinned = np.sort((np.pi / LENGTH) ** 2 * np.sqrt(np.array(STIFFNESS) / MASS))
    np.testing.assert_allclose(two.omega[:2], pinned, rtol=LAST_DIGITS, atol=0.0)
    assert float(one.omega[0]) == 0.0
    np.testing.assert_allclose(one.omega[1], pinned[1], rtol=LAST_DIGITS, atol=0.0)
    assert bool(two.certified.all())
    assert bool(one.certified.all())


def test_batches_are_as_single_arms_and_turn_against_the_ground():
    arm = held(bent_arm(), HELD)
    cells = {
        "link1.joint_angle": np.linspace(-1.0, 1.0, 20),
        "link1.support1.stiffness": np.geomspace(1e3, 1e9, 20),
    }
    swept = jm.natural_frequencies_batch(arm, cells, 3)
    assert bool(swept.certified.all())
    for k in (0, 19):
        alone = jm.set_parameters(arm, {name: float(x[k]) for name, x in cells.items()})
        omega = jm.natural_frequencies(alone, 3).omega
        np.testing.assert_allclose(swept.omega[k], omega, rtol=LAST_DIGITS, atol=0.0)
        below, above = np.asarray(jm.count_below(alone, np.array([0.999, 1.001]) * omega[1]))
        assert (below, above) == (1, 2)
    assert float(np.ptp(swept.omega[:, 0])) > 1.0


def test_shapes_and_energies():
    """Balance, mass and energy hold."""
    arm = held(bent_arm(), HELD)
    shapes = jm.mode_shapes(arm, 3)
    assert float(np.max(shapes.residuals)) < 1e-12
    np.testing.assert_allclose(shapes.orthogonality, np.eye(3), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(
        shapes.energies.strain, shapes.energies.kinetic, rtol=1e-12, atol=0.0
    )
    cells = {"link1.support1.stiffness": np.array([1e5, 2e6])}
    found = jm.natural_frequencies_batch(arm, cells, 2)
    batch = jm.modal_quantities_batch(arm, cells, found)
    np.testing.assert_allclose(
        batch.energies.joint[1], shapes.energies.joint[:2], rtol=1e-9, atol=1e-12
    )


@pytest.mark.slow
def test_derivatives_are_differences_of_certified_frequencies():
    arm = held(bent_arm(), HELD)
    names = [
        *("link1.support1.stiffness", "link1.support1.direction.x", "link3.support1.direction.y"),
        *("link3.support2.stiffness", "link3.support2.direction.z", "link1.joint_angle"),
        *("link2.joint_axis.z", "link1.length", "link2.end_offset.x", "link3.section_roll"),
    ]
    table = jm.sensitivities(arm, 3, addresses=names)
    assert (
        float(jm.sensitivities(arm, 2, addresses=["link3.support1.stiffness"]).derivative_hz[0, 0])
        == 0.0
    )
    for k, name in enumerate(names):
        value = float(jm.get_parameter(arm, name))
        step = 1e-5 * max(abs(value), 0.1)
        beside = [
            np.asarray(
                jm.natural_frequencies(jm.set_parameters(arm, {name: value + x}), 3).frequencies_hz
            )
            for x in (step, -step)
        ]
        size = np.max(np.abs(table.derivative_hz[:, k]))
        # of the differences: the square of the step, and the rounding of frequencies over it
        allowed = 1e-8 * size + 1e-13 * float(beside[0].max()) / step
        difference = (beside[0] - beside[1]) / (2.0 * step)
        np.testing.assert_allclose(table.derivative_hz[:, k], difference, rtol=0.0, atol=allowed)


def test_files_addresses_and_pieces(tmp_path):
    arm = held(bent_arm(), HELD)
    path = tmp_path / "held.toml"
    jm.write_arm(arm, path)
    assert jm.read_arm(path) == arm
    assert jm.unit_of_address("link3.support2.stiffness", arm) == "N m/rad"
    assert (
        jm.describe_address("link1.support1.direction.x")
        == "component along x of the direction of a support (link 1)"
    )
    cut = arm.with_body(3, 0.2, jm.RigidBody(0.0))
    assert [len(link.supports) for link in cut.links] == [1, 1, 0, 2]
    np.testing.assert_allclose(
        jm.natural_frequencies(cut, 3).omega,
        jm.natural_frequencies(arm, 3).omega,
        rtol=1e-12,
        atol=0.0,
    )


def test_what_a_rigid_support_cannot_hold_is_refused():
    for supports, number in ((holding(X), 1), (holding(Y, Z, Y), 3)):
        arm = jm.SpatialArm((BEAM.replace(supports=supports),))
        with pytest.raises(jm.ArmError, match=rf"link1\.support{number}\.stiffness = inf"):
            jm.natural_frequencies(arm, 2, theory="bending_only")
    with pytest.raises(jm.ArmError, match=r"supports1 = 3.0: must be a Support"):
        BEAM.replace(supports=(3.0,))
    with pytest.raises(jm.ArmError, match=r"kind = 'along'"):
        S("along", (1, 0, 0), 1.0)
    with pytest.raises(jm.ArmError, match=r"stiffness = -1"):
        S("rotation", (1, 0, 0), -1.0)


PORTS = ["tip.x", "tip.rz", "tip_1.y"]


def compare_responses(seed):
    """Below, at and above the first modes, and at rest; to what stiff supports lose beside the largest."""
    document, theory, _ = entry_of(seed)
    number = len(document["links"])
    ports = [(("tip", number), "x"), (("tip", number), "rz"), (("tip", 1), "y")]
    supports = random_supports(seed, number)
    arm = held(jm.arm_from_dict(document), supports)
    at_rest = held_response(document, theory, supports, 0.0, ports, ports).real
    compliance = jm.static_compliance(arm, PORTS, PORTS, theory=theory).values
    np.testing.assert_allclose(compliance, at_rest, rtol=0.0, atol=1e-10 * np.abs(at_rest).max())
    for link in document["links"]:
        link["loss_factor"] = 0.02
    arm = held(jm.arm_from_dict(document), supports)
    modes = np.asarray(jm.natural_frequencies(arm, 2, theory=theory).omega)
    omega = [0.3 * modes[0], modes[0], 1.1 * modes[1]]
    found = jm.frequency_response(arm, omega, PORTS, PORTS, theory=theory)
    assert found.ok
    for k, w in enumerate(omega):
        expected = held_response(document, theory, supports, w, ports, ports, 20)
        size = np.abs(expected).max()
        np.testing.assert_allclose(found.values[..., k], expected, rtol=0.0, atol=1e-9 * size)
    damped = jm.damped_modes(arm, 2, theory=theory)
    assert damped.ok
    assert np.all((damped.damping_ratio > 0.0) & (damped.damping_ratio < 0.0101))


#: arms of two links and more without free joints
ELASTIC = [s for s in range(60) if not entry_of(s)[2] and len(entry_of(s)[0]["links"]) > 1]


@pytest.mark.parametrize(
    "seeds", [ELASTIC[2:4], pytest.param(ELASTIC[4:20], marks=pytest.mark.slow)]
)
def test_responses_and_compliances_beside_finite_elements(seeds):
    for seed in seeds:
        compare_responses(seed)


def test_sums_over_modes_of_an_arm_on_springs_are_the_response():
    arm = held(bent_arm(), [each for each in HELD if np.isfinite(each[3])])
    omega = 0.4 * float(jm.natural_frequencies(arm, 1).omega[0])
    exact = jm.frequency_response(arm, [omega], "tip.x", "tip.x").values[0, 0, 0]
    many = jm.modal_superposition(arm, "tip.x", "tip.x", num_modes=12).receptance([omega])
    np.testing.assert_allclose(many[0, 0, 0], exact, rtol=1e-5, atol=0.0)


@pytest.mark.parametrize("kind", ["springs", "rigid"])
def test_static_compliances_of_free_joints_that_supports_hold(kind):
    """As in the plane, which is computed otherwise; a beam on a hinge and a prop gives L^3/(48 E I)."""
    planar = held_arm(**TIPS[kind])
    ports = ["tip.x", "tip_1.y", "link_1@0.3.y", "tip.rotation"]
    flat = jm.static_compliance(planar, ports, ports).values
    ports[-1] = "tip.rz"
    found = jm.static_compliance(jm.to_spatial(planar), ports, ports).values
    np.testing.assert_allclose(found, flat, rtol=0.0, atol=1e-13 * np.abs(flat).max())
    hinged = BEAM.replace(joint_axis=(0, 1, 0), joint_stiffness=0.0, supports=holding(Z))
    arm, middle = jm.SpatialArm((hinged,)), "link_1@0.5.z"
    given = jm.static_compliance(arm, middle, middle, theory="euler_bernoulli").values[0, 0]
    assert abs(given * 48.0 * STIFFNESS[0] / LENGTH**3 - 1.0) < LAST_DIGITS
    for supports in ((), holding(X)):
        loose = jm.SpatialArm((hinged.replace(supports=supports),))
        with pytest.raises(jm.ArmError, match=r"link1\.joint_stiffness = 0: nothing holds the arm"):
            jm.static_compliance(loose, middle, middle, theory="euler_bernoulli")


def test_a_base_that_moves_leaves_supports_where_they_are():
    """Pushed slowly, a clamped beam on a spring at its tip moves there by 3 E I/L^3 over that and the spring."""
    k, own = 2e4, 3.0 * STIFFNESS[0] / LENGTH**3
    arm = jm.SpatialArm((BEAM.replace(supports=holding(Z, stiffness=k)),))
    found = jm.frequency_response(
        arm, [1e-3], "base.z", "tip.z", quantity="transmissibility", theory="euler_bernoulli"
    )
    np.testing.assert_allclose(found.values[0, 0, 0].real, own / (own + k), rtol=1e-8, atol=0.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda arm: jm.modal_superposition(arm, "base.z", "tip.x", num_modes=2),
        lambda arm: dynamics.turning_frequencies(dynamics.flexible_arm(arm, 2), [1.0]),
    ],
)
def test_what_knows_no_supports_says_so(call):
    with pytest.raises(jm.ArmError, match="support"):
        call(held(bent_arm(), HELD[:2]))


def on_a_free_hinge(angle, stiffness):
    """Two rods, the second on a free hinge, its tip held along y, in the plane."""
    rod = jm.Link(0.7, 7e10, 2700.0, jm.circle(0.02, 0.9), poisson_ratio=0.3)
    loose = rod.replace(joint_stiffness=0.0, joint_angle=angle, support_y_stiffness=stiffness)
    return jm.Arm((rod, loose))


def test_a_hinge_whose_tip_a_support_does_not_hold_turns_freely():
    """At a right angle, to rounding, the tip moves across the support."""
    planar = on_a_free_hinge(np.pi / 2, 1e4)
    expected = jm.natural_frequencies(planar, 2).omega
    found = jm.natural_frequencies(jm.to_spatial(planar), 3)
    assert found.ok
    assert found.omega[0] == expected[0] == 0.0
    np.testing.assert_allclose(found.omega[2], expected[1], rtol=1e-12, atol=0.0)


@pytest.mark.parametrize(
    ("address", "values"),
    [
        ("link2.joint_angle", [0.0, np.pi / 2, 0.3]),
        ("link2.joint_angle", [np.pi / 2, 0.0]),
        ("link2.support1.stiffness", [0.0, 1e4]),
        ("link2.support1.stiffness", [1e4, 0.0]),
        ("link2.joint_stiffness", [0.0, 1e4]),
    ],
)
def test_each_cell_has_the_zero_frequencies_of_its_own_arm(address, values):
    arm = jm.to_spatial(on_a_free_hinge(0.0, 1e4))
    found = jm.natural_frequencies_batch(arm, {address: np.array(values)}, 3)
    assert bool(found.certified.all())
    for own, value in zip(np.asarray(found.omega), values, strict=True):
        alone = jm.natural_frequencies(jm.set_parameters(arm, {address: value}), 3).omega
        np.testing.assert_allclose(own, alone, rtol=1e-12, atol=0.0)


def test_a_place_that_a_rigid_support_holds_stays_at_rest_at_every_frequency():
    """Neither noise nor a resonance; as in the plane, and with another link rigidly joined to the place."""
    beam = {"length": 0.5, "youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.3}
    section = jm.rectangle(depth=0.02, width=0.04, shear_coefficient="cowper")
    first = jm.Link(**beam, section=section, support_x_stiffness=float("inf"))
    second = jm.Link(**beam, section=section, joint_angle=0.7)
    flat = jm.Arm((first, second))
    omega = np.linspace(20.0, 3000.0, 200)
    for output, source in (("tip.y", "tip_1.force_x"), ("tip_1.x", "tip.force_y")):
        for arm in (flat, jm.to_spatial(flat)):
            found = jm.frequency_response(arm, omega, source, output)
            assert np.all(np.asarray(found.values) == 0.0), (type(arm).__name__, output)
    soft = first.replace(support_x_stiffness=1e13)
    spring = jm.to_spatial(jm.Arm((soft, second)))
    given = np.asarray(jm.frequency_response(spring, omega, "tip.force_y", "tip_1.x").values)
    assert np.all(np.abs(given) > 0.0)
    assert np.abs(given).max() < 1e-9
    slopes = jm.response_sensitivities(
        jm.to_spatial(flat), omega[:3], "tip.force_y", "tip_1.x", addresses=["link1.density"]
    )
    assert np.all(np.asarray(slopes.derivative) == 0.0)
