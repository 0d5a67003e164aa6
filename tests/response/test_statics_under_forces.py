"""Do static compliances know the forces at rest: against 40 digits, beam columns in closed form, arms that buckle?"""

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.driven.damping import undamped
from tests.response.arms import target
from tests.response.exact_chain import Chain
from tests.response.test_axial_forces import CRITICAL, PORTS, TIP, column, pressed
from tests.support import finite_elements, real_arms

RIGIDITY, LENGTH = 7e10 * 0.04 * 0.01**3 / 12, 1.3


def assert_exact(arm, cut, names, there, theory="timoshenko"):
    """Against 40 digits of the chain of segments, next to rest: at 1e-12 rad/s it is at rest to some 1e-27."""
    found = jm.static_compliance(arm, names, names, theory=theory).values
    np.testing.assert_array_equal(found, found.T)
    chain = Chain(undamped(cut), 1e-12, theory)
    ports = [target(cut, name) for name in there]
    exact = np.array([[float(x.real) for x in chain.response(port, ports)] for port in ports])
    own = np.sqrt(np.diag(exact))
    assert np.max(np.abs(found - exact.T) / np.outer(own, own)) <= 2e-14


@pytest.mark.parametrize(
    "forces", [(4e4, -1e4), (-2e4, 3e5), (-300.0, 20.0), (0.0, -1e-3)], ids=str
)
@pytest.mark.parametrize("theory", ["timoshenko", "rayleigh"])
def test_bent_arms_with_all_features_against_40_digits(forces, theory):
    arm = pressed(*forces)
    assert_exact(arm, arm, PORTS, PORTS, theory)


def test_a_rigid_link_under_force_against_40_digits():
    arm = pressed(-2e4, 1e4, rigid=True)
    names = (*PORTS[:3], "link_2@0.3.rotation")
    assert_exact(arm, arm, names, names)


def test_arms_under_loads_against_40_digits():
    """Each link is segments with their own forces; ports stand where they stood."""
    arm = jm.set_parameters(pressed(-2e3, 1e3, stator_mass=0.2), {"link1.joint_angle": 0.4})
    arm = arm.replace(loads=jm.Loads(gravity=9.81, tip_force_x=-900.0, pieces=3))
    names = ("tip.across", "link_1@0.5.y", "joint_2.torque", "tip_1.x", "link_2@0.rotation")
    cut = jm.preloaded(arm, gravity=(0.0, 0.0), pieces=3)
    there = ("tip.across", "link_2@0.5.y", "joint_4.torque", "tip_3.x", "link_4@0.rotation")
    assert_exact(arm, cut, names, there)


def test_beam_columns_in_closed_form():
    """Pushed across by 1: (tan(k L)/(k L) - 1) L/P with k^2 = P/(E I), tanh in tension; close to the critical load."""
    shares = [-0.999, -0.9, -0.5, -1e-3, 1e-3, 0.5, 400.0]
    for share in shares:
        force = CRITICAL * share
        with mpmath.workdps(40):
            size = mpmath.mpf(abs(force))
            k = mpmath.sqrt(size / mpmath.mpf(RIGIDITY)) * LENGTH
            bent = mpmath.tan(k) / k - 1 if share < 0 else 1 - mpmath.tanh(k) / k
            exact = bent * mpmath.mpf(LENGTH) / size
            turned = (1 / mpmath.cos(k) - 1 if share < 0 else 1 - 1 / mpmath.cosh(k)) / size
        found = jm.static_compliance(
            column(force), TIP, [TIP, "tip.rotation"], theory="euler_bernoulli"
        ).values
        # near the critical load the force's own last digit counts
        tolerance = 4e-15 / min(1.0, abs(1.0 + share))
        np.testing.assert_allclose(found[:, 0], [float(exact), float(turned)], rtol=tolerance)
    none = jm.static_compliance(column(0.0), TIP, TIP, theory="euler_bernoulli").values
    np.testing.assert_allclose(none, LENGTH**3 / (3 * RIGIDITY), rtol=1e-14)


def test_pinned_beam_columns_and_pendulums_in_closed_form():
    """Middle of a pinned column: (tan(k L/2)/(k L/2) - 1) L/(4 P); the tip of a hinged rod in tension: L/N."""
    pins = {"joint_stiffness": 0.0, "support_y_stiffness": np.inf}
    for share in (-0.95, 0.3):
        force = 4.0 * share * CRITICAL
        k = np.sqrt(abs(force) / RIGIDITY) * LENGTH / 2
        exact = (np.tan(k) / k - 1 if share < 0 else 1 - np.tanh(k) / k) * LENGTH / 4 / abs(force)
        middle = "link_1@0.5.across"
        arm = column(force, **pins)
        found = jm.static_compliance(arm, middle, middle, theory="euler_bernoulli").values
        np.testing.assert_allclose(found, exact, rtol=1e-13)
    force = 3e3
    found = jm.static_compliance(
        column(force, joint_stiffness=0.0),
        "tip.y",
        ["tip.y", "link_1@0.4.y"],
        theory="euler_bernoulli",
    ).values
    # a string from its pin: straight under a force at its tip, in bending too
    np.testing.assert_allclose(found[:, 0], np.array([1.0, 0.4]) * LENGTH / force, rtol=1e-13)


@pytest.mark.parametrize("force", [None, -0.5 * CRITICAL, 3e3])
@pytest.mark.parametrize("spring", [1e-6, 1e-11])
def test_springs_that_hold_next_to_nothing(force, spring):
    """A column on one at its tip is nearly free; it was refused as buckled under any force, 0 too."""
    free = jm.static_compliance(column(force), TIP, TIP, theory="rayleigh").values
    found = jm.static_compliance(
        column(force, support_y_stiffness=spring), TIP, TIP, theory="rayleigh"
    ).values
    np.testing.assert_allclose(found, free / (1.0 + spring * free), rtol=1e-14)


@pytest.mark.parametrize("spring", [1e2, 1e-6, 1e-13])
def test_springs_far_softer_than_the_arm(spring):
    """In series and beside others in closed form: they were lost in rounding, or free joints on them called unheld."""
    beam = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05))
    bent = 1.0 / (3.0 * 7e10 * 0.05 * 0.02**3 / 12.0)
    series = 1.0 / spring + bent
    beside = 1.0 / (1e3 + 1.0 / series)
    for link, truth in (
        (beam.replace(joint_stiffness=0.0, support_y_stiffness=spring), 1.0 / spring),
        (beam.replace(joint_shear_stiffness=0.0, support_y_stiffness=spring), 1.0 / spring),
        (beam.replace(joint_stiffness=0.0, support_torsional_stiffness=spring), series),
        (beam.replace(joint_stiffness=spring), series),
        (beam.replace(joint_stiffness=spring, support_y_stiffness=1e3), beside),
        (beam.replace(joint_shear_stiffness=spring, support_y_stiffness=1e3), beside),
    ):
        found = jm.static_compliance(jm.Arm((link,)), TIP, TIP, theory="rayleigh").values
        np.testing.assert_allclose(found, truth, rtol=1e-14)
    base = jm.Arm((beam.replace(support_y_stiffness=1e3),), base_stiffness=[np.inf, spring, np.inf])
    np.testing.assert_allclose(
        jm.static_compliance(base, TIP, TIP, theory="rayleigh").values, beside, rtol=1e-14
    )


def test_the_first_joint_on_an_elastic_base_turns_against_the_base():
    """Not against the ground: the turn of the base was among its own."""
    link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05), joint_stiffness=400.0)
    arm = jm.Arm((link,), base_stiffness=[1e5, 1e5, 1e3])
    names = ["joint_1.relative_rotation", "joint_1.rotation"]
    found = jm.static_compliance(arm, "joint_1.torque", names, theory="rayleigh").values
    np.testing.assert_allclose(found[:, 0], 1.0 / 400.0, rtol=1e-14)


def test_engessers_shear_in_closed_form():
    """With shear k^2 = P/(E I (1 - P/S)), S = kappa G A: the tip turns the force by 1/(1 - P/S) more."""
    link = jm.Link(
        0.2, 7e10, 2700.0, jm.rectangle(0.05, 0.04, 0.85), poisson_ratio=0.3, axial_force=-1.2e6
    )
    shear = 0.85 * 7e10 / 2.6 * 0.05 * 0.04
    left = 1.0 - 1.2e6 / shear
    rigidity = 7e10 * 0.04 * 0.05**3 / 12
    k = np.sqrt(1.2e6 / (rigidity * left)) * 0.2
    # psi' = 0 at the tip: E I psi'' + P psi/left + F/left = 0, w' = (psi + F/S)/left
    exact = (np.tan(k) / k - 1.0) * 0.2 / 1.2e6 / left + 0.2 / (shear * left)
    found = jm.static_compliance(jm.Arm((link,)), TIP, TIP).values
    np.testing.assert_allclose(found, exact, rtol=1e-13)


@pytest.mark.parametrize(
    "arm",
    [
        column(-1.001 * CRITICAL),
        column(-CRITICAL),
        column(-20.0 * CRITICAL),
        column(None).replace(loads=jm.Loads(tip_force_x=-1.01 * CRITICAL)),
    ],
    ids=["buckled", "critical", "far beyond", "loads"],
)
def test_buckled_arms_are_refused_as_by_all_responses(arm):
    words = "the arm has no static compliance, for the forces at rest buckle the arm, or are at its"
    with pytest.raises(jm.UncertifiedError, match=words):
        jm.static_compliance(arm, TIP, TIP, theory="euler_bernoulli")


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        (column(0.0, joint_stiffness=0.0), "link1.joint_stiffness = 0: nothing holds"),
        (column(1e9), "80,000 times"),
    ],
    ids=["loose", "a wire"],
)
def test_arms_that_do_not_bear_a_load(arm, words):
    with pytest.raises(jm.ArmError, match=words):
        jm.static_compliance(arm, TIP, TIP, theory="euler_bernoulli")


def test_a_column_that_a_rigid_support_holds():
    arm = column(-6.0 * CRITICAL, support_y_stiffness=np.inf)
    near = jm.frequency_response(
        undamped(arm), 1e-3, "tip.rotation", "tip.rotation", theory="rayleigh"
    )
    found = jm.static_compliance(
        arm, ["tip.rotation", "tip.y"], "tip.rotation", theory="rayleigh"
    ).values
    np.testing.assert_allclose(found[0, 0], near.values[0, 0].real, rtol=1e-9)
    np.testing.assert_allclose(found[0, 1], 0.0, rtol=0.0, atol=1e-14 * found[0, 0])


def random_under_forces(structure, seed=0):
    """A random arm of three links with axial forces of some tenths of their critical ones."""
    rng = np.random.default_rng(seed)
    links = [
        link.replace(
            axial_force=float(0.2 * rng.normal() * link.youngs_modulus * link.second_moment)
            / float(link.length) ** 2,
            **dict.fromkeys(("joint_axial_stiffness", "joint_shear_stiffness")),
        )
        for link in real_arms.random_arm(seed, structure).links
    ]
    return undamped(real_arms.random_arm(seed, structure).replace(links=tuple(links)))


@pytest.mark.parametrize("structure", ["rotors", "offsets", "bodies", "springs"])
def test_random_arms_against_40_digits_and_finite_elements(structure):
    arm = random_under_forces(structure)
    names = ("tip.along", "tip.across", "tip.rotation", "tip_1.y", "link_3@0.3.across", "payload.y")
    assert_exact(arm, arm, names, names)
    case = finite_elements.case_from_arm(arm, "timoshenko")
    truth = finite_elements.tip_receptance(case, 0.0, 1.0).real
    found = jm.static_compliance(arm, names[:3], names[:3]).values
    own = np.sqrt(np.diag(truth))
    assert np.max(np.abs(found - truth) / np.outer(own, own)) <= 1e-9
    bare = arm.replace(links=tuple(link.replace(axial_force=None) for link in arm.links))
    assert_exact(bare, bare, names, names)


def test_what_is_free_and_held_by_supports_or_not_seen():
    """Two hinges on a spring at the tip, a slide of the base on one: statically determinate, so in closed form."""
    beam = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.01, 0.04))
    hinged = beam.replace(joint_stiffness=0.0)
    chain = jm.Arm((hinged, hinged.replace(support_y_stiffness=1e3)))
    # the elbow moves without a force, and the tip leans on its spring
    np.testing.assert_allclose(
        jm.static_compliance(chain, TIP, TIP, theory="rayleigh").values, 1e-3, rtol=1e-13
    )
    words = r"link1\.joint_stiffness, link2\.joint_stiffness = 0: nothing holds .* beyond it; give"
    with pytest.raises(jm.ArmError, match=words):
        jm.static_compliance(chain, "tip_1.y", TIP, theory="rayleigh")
    slide = jm.Arm(
        (beam.replace(support_x_stiffness=3e4),), base_stiffness=np.diag([0.0, 1e5, 1e4])
    )
    names = ["tip.x", "tip.y"]
    found = jm.static_compliance(slide, names, names, theory="rayleigh").values
    bent = 0.5**3 / (3 * RIGIDITY) + 1e-5 + 0.5**2 / 1e4
    np.testing.assert_allclose(found, np.diag([1 / 3e4, bent]), rtol=1e-13, atol=1e-18)
