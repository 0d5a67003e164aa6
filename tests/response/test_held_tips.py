"""Driven arms on rigid supports: forces that hold the tips, in 40 digits and at certified resonances."""

import itertools

import jax
import mpmath
import numpy as np
import pytest
from response.arms import bent, target, with_damping
from response.exact_chain import Chain

import jaxmodal as jm
from jaxmodal.response.driven import held_tips
from jaxmodal.statics.beam_arrays import SUPPORTS
from tests.real_arms import steel
from tests.supported_arms import TIPS, supported_two

HELD = {"tip_1.rotation": 0, "tip_2.x": 1, "tip_2.y": 1}
OUTPUTS = ["link_1@0.4.across", "link_2@0.5.y", "tip.rotation", "joint_2.relative_rotation"]


def without_supports():
    arm = with_damping(bent(joint_stiffness=3e4), 3)
    first = arm.links[0].replace(joint_angle=0.3, end_offset_y=0.05)
    return arm.replace(links=(first, arm.links[1]))


def held():
    first, second = without_supports().links
    second = second.replace(support_x_stiffness=np.inf, support_y_stiffness=np.inf)
    return jm.Arm((first.replace(support_torsional_stiffness=np.inf), second))


def undamped(arm):
    names = ("loss_factor", "kelvin_voigt_time", "joint_damping")
    return arm.replace(links=tuple(x.replace(**dict.fromkeys(names)) for x in arm.links))


def held_in_40_digits(arm, omega, source, kind=complex, outputs=OUTPUTS):
    """The arm without supports, and the forces that keep three of its motions at zero."""
    chain = Chain(arm, omega)
    targets = [target(arm, name) for name in (*outputs, *HELD)]
    moved = {name: chain.response(target(arm, name), targets) for name in (source, *HELD)}
    last = len(outputs)
    square = mpmath.matrix([[moved[s][last + k] for s in HELD] for k in range(3)])
    forces = mpmath.lu_solve(square, mpmath.matrix([moved[source][last + k] for k in range(3)]))
    return [
        kind(moved[source][o] - sum(moved[s][o] * f for s, f in zip(HELD, forces, strict=True)))
        for o in range(last)
    ]


@pytest.mark.parametrize("damped", [True, False])
def test_against_40_digits(damped):
    arm, bare = held(), without_supports()
    if not damped:
        arm, bare = undamped(arm), undamped(bare)
    first, *_, fourth = np.asarray(jm.natural_frequencies(arm, 4).omega)
    for omega in (1e-3 * first, 0.5 * first, 0.97 * fourth):
        for source in ("link_2@0.5.y", "base.x"):
            quantity = "transmissibility" if source == "base.x" else "receptance"
            found = jm.frequency_response(arm, omega, source, OUTPUTS, quantity=quantity).values
            truth = held_in_40_digits(bare, omega, source)
            np.testing.assert_allclose(found[:, 0], truth, rtol=0, atol=3e-13 * np.abs(truth).max())


@pytest.mark.parametrize("in_space", [False, True])
def test_at_resonances_of_the_arm_on_some_of_its_supports(in_space):
    """Forces of the supports found one after the other have no digits there; derivatives are those of the plane."""
    arm, bare = undamped(held()), undamped(without_supports())
    asked = jm.to_spatial(arm) if in_space else arm
    outputs = ["link_2@0.5.y", "link_1@0.5.x"]
    rigid = [(k, name) for k in range(2) for name in SUPPORTS if getattr(arm.links[k], name)]
    assert len(rigid) == 3
    for count in (1, 2):
        for removed in itertools.combinations(rigid, count):
            part = jm.set_parameters(arm, {f"link{k + 1}.{name}": 0.0 for k, name in removed})
            # where one is away the first frequency, where two are the second
            for omega in np.asarray(jm.natural_frequencies(part, count).omega)[-1:]:
                found = jm.frequency_response(asked, omega, outputs[:1], outputs).values
                truth = held_in_40_digits(bare, omega, outputs[0], outputs=outputs)
                largest = np.abs(truth).max()
                np.testing.assert_allclose(found[:, 0], truth, rtol=0, atol=1e-11 * largest)
            by_length, flat = (
                jm.response_sensitivities(
                    x, omega, outputs[0], outputs, addresses=["link1.length"]
                ).derivative
                for x in (asked, arm)
            )
            largest = np.abs(flat).max()
            np.testing.assert_allclose(by_length, flat, rtol=0, atol=1e-8 * largest)


def test_resonances_statuses_and_static_limit():
    arm = undamped(held())
    omega = np.asarray(jm.natural_frequencies(arm, 4).omega)
    at = jm.frequency_response(arm, omega, "tip.rotation", "tip.rotation")
    assert (at.status == jm.Status.resonance).all()
    beside = jm.frequency_response(
        arm, omega * (1.0 + 1e-9), "tip.rotation", ["tip.rotation", "tip.x"]
    )
    assert beside.ok
    assert not beside.values[1].any()  # where it is held
    assert not beside.values.imag.any()
    low = jm.frequency_response(arm, 1e-6 * omega[0], "tip.rotation", OUTPUTS).values
    still = jm.static_compliance(arm, "tip.rotation", OUTPUTS).values
    np.testing.assert_allclose(low.real, still, rtol=1e-10)


def test_damped_modes_against_40_digits():
    """The determinant of the arm without supports times that of its receptances where it is held."""
    bare = without_supports()
    found = jm.damped_modes(held(), 3)
    assert found.ok

    def determinant(omega):
        chain = Chain(bare, omega)
        targets = [target(bare, name) for name in HELD]
        receptances = mpmath.matrix([list(chain.response(x, targets)) for x in targets])
        return chain.determinant() * mpmath.det(receptances)

    for root in found.roots[[0, 2]]:
        near = mpmath.mpmathify(complex(root))
        starts = (near, near * (1 + mpmath.mpf("1e-7")))
        exact = mpmath.findroot(
            determinant, starts, solver="secant", tol=1e-25, verify=False, maxsteps=4
        )
        assert abs(complex(exact) - root) < 1e-12 * abs(root)


def test_many_arms_and_sums_over_modes():
    arm = held()
    lengths = [0.4, 0.5]
    omega = np.array([300.0, 900.0, 2000.0])
    many = jm.frequency_response(
        arm, omega, "link_2@0.5.y", OUTPUTS, parameters={"link2.length": lengths}
    )
    for k, length in enumerate(lengths):
        one = jm.frequency_response(
            jm.set_parameters(arm, {"link2.length": length}), omega, "link_2@0.5.y", OUTPUTS
        )
        np.testing.assert_allclose(many.values[k], one.values, rtol=1e-11)
    model = jm.modal_superposition(undamped(arm), "link_2@0.5.y", OUTPUTS, 24)
    assert jm.truncation_error(model, omega=omega[:2]).worst < 1e-6


def linkage(pin, **crank):
    """A four-bar linkage, the ground its fourth bar."""
    section = jm.rectangle(0.01, 0.03, "cowper")

    def bar(length, **more):
        return jm.Link(length, 2.1e11, 7800.0, section, poisson_ratio=0.3, **more)

    hinge = {"joint_stiffness": 0.0}
    coupler = bar(0.6, joint_angle=-1.0, **hinge)
    return jm.Arm(
        (bar(0.2, joint_angle=1.2, **crank), coupler, bar(0.4, joint_angle=-1.5, **hinge, **pin))
    )


PINS = {
    "rigid": {"support_x_stiffness": np.inf, "support_y_stiffness": np.inf},
    "springs": {"support_x_stiffness": 1e6, "support_y_stiffness": 2e5},
}


def test_a_linkage_that_swings():
    """With a loose crank it moves as one rigid mechanism below its first frequency, and bears nothing at rest."""
    loose = linkage(PINS["rigid"], joint_stiffness=0.0)
    first = jm.natural_frequencies(loose, 2).omega[1]
    omega = np.array([1e-4, 1e-3]) * first
    found = jm.frequency_response(loose, omega, "joint_1.torque", "joint_1.torque").values
    inertia = -1.0 / (omega**2 * found[0, 0].real)
    np.testing.assert_allclose(inertia[0], inertia[1], rtol=1e-5)
    assert inertia[0] > 0.0
    with pytest.raises(jm.ArmError, match="nothing holds the arm under a static load"):
        jm.static_compliance(loose, "link_2@0.5.y", "tip.x")


@pytest.mark.parametrize("pin", PINS)
def test_a_linkage_at_rest(pin):
    """Supports hold what lies beyond two hinges: the static limit of the response, and of its modes with residual."""
    locked = linkage(PINS[pin])
    names = ["joint_2.rotation", "joint_2.relative_rotation", "link_2@0.5.y", "tip_2.x"]
    still = jm.static_compliance(locked, names, names).values
    first = float(jm.natural_frequencies(locked, 1).omega[0])
    low = jm.frequency_response(locked, 1e-6 * first, names, names).values.real
    np.testing.assert_allclose(low, still, rtol=0, atol=1e-11 * np.abs(still).max())
    model = jm.modal_superposition(locked, "link_2@0.5.y", names, 12)
    assert jm.truncation_error(model, omega=[0.3 * first]).worst < 1e-6


def test_a_linkage_in_space_at_rest():
    """Without its supports it swings freely: its response grows by 1e12 there, and held none of its digits."""
    locked = jm.to_spatial(linkage(PINS["rigid"]))
    names = ["joint_2.rz", "joint_2.relative_rotation", "link_2@0.5.y", "tip_2.x"]
    still = jm.static_compliance(locked, names, names).values
    first = float(jm.natural_frequencies(locked, 1).omega[0])
    low = jm.frequency_response(locked, 1e-6 * first, names, names).values.real
    np.testing.assert_allclose(low, still, rtol=0, atol=1e-11 * np.abs(still).max())


@pytest.mark.parametrize("waves", [pytest.param(0.7, marks=pytest.mark.slow), 6.0])
def test_what_lies_beside_rigid_supports_has_no_effect(waves, monkeypatch):
    """Values, derivatives and damped modes, whose determinants have factors of the dampers."""
    arm, omega = held(), [30.0, 1700.0, 5100.0]

    def numbers():
        asked = arm, omega, "link_2@0.5.y", OUTPUTS
        slopes = jm.response_sensitivities(*asked, addresses=["link1.length", "link2.density"])
        modes = jm.damped_sensitivities(arm, 2, addresses=["link1.length"])
        return slopes.response.values, slopes.derivative, modes.modes.roots, modes.derivative

    usual = numbers()
    monkeypatch.setattr(held_tips, "SLOWEST", waves)
    for one, other in zip(usual, numbers(), strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-10 * np.abs(one).max())


@pytest.mark.slow  # compiles the response
def test_traced_responses_tell_resonances_and_have_their_digits():
    """Where the arm on some of its supports is in resonance nine digits: no mean over circles helps a traced one."""
    arm = undamped(held())
    rigid = [
        f"link{k + 1}.{name}" for k in range(2) for name in SUPPORTS if getattr(arm.links[k], name)
    ]
    fewer = [jm.set_parameters(arm, {name: 0.0}) for name in rigid]
    own, *others = (np.asarray(jm.natural_frequencies(x, 3).omega) for x in (arm, *fewer))
    omega = np.concatenate([own, *others])

    @jax.jit
    def traced(omega):
        found = jm.frequency_response(arm, omega, "link_2@0.5.y", OUTPUTS[:2])
        return found.values, found.status

    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        values, status = traced(omega)
    alone = jm.frequency_response(arm, omega, "link_2@0.5.y", OUTPUTS[:2])
    np.testing.assert_array_equal(status, alone.status)
    assert (alone.status[..., :3] == jm.Status.resonance).all()
    size = np.abs(alone.values[..., 3:]).max(axis=0)
    found = np.asarray(values)[..., 3:]
    np.testing.assert_allclose(found / size, alone.values[..., 3:] / size, rtol=0, atol=1e-9)


def test_a_rigid_support_does_not_vary():
    with pytest.raises(jm.ArmError, match=r"'link2\.support_x_stiffness' is rigid in this arm"):
        jm.frequency_response(
            held(), 3.0, "tip.x", "tip.x", parameters={"link2.support_x_stiffness": [1e5, 1e6]}
        )


def on_two_rollers(**changes):
    """Three links on a roller under the first and the last, each free along and in rotation."""
    roller = {
        "support_y_stiffness": np.inf,
        "support_x_stiffness": 0.0,
        "support_torsional_stiffness": 0.0,
    }
    link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.03, 0.85), poisson_ratio=0.3)
    link = link.replace(joint_angle=0.3, loss_factor=0.05)
    return jm.Arm(
        (link.replace(**roller), link, link.replace(**roller, **changes)), jm.Payload(1.0)
    )


def test_what_is_rigid_with_a_held_tip_stays_at_rest():
    omega = [7.0, 20.0, 55.0]
    names = ["tip.y", "payload.y", "joint_2.y", "link_1@1.y", "link_2@0.y", "link_3@1.y"]
    arm = on_two_rollers()
    for source in ("tip_2.x", "base.x"):
        quantity = "transmissibility" if source == "base.x" else "receptance"
        found = jm.frequency_response(arm, omega, source, names, quantity=quantity)
        assert found.ok
        assert not np.any(found.values)
    assert not np.any(jm.frequency_response(arm, omega, "joint_2.y", "tip_2.x").values)
    many = jm.frequency_response(
        arm, omega, "tip_2.x", names, parameters={"link2.length": [0.9, 1.1]}
    )
    assert many.ok
    assert not np.any(many.values)
    assert jm.response_peaks(arm, 5.0, 60.0, "tip_2.x", "payload.y").omega.size == 0


def test_a_link_turns_on_its_spring_at_a_clamped_tip():
    """As it does alone on the ground."""
    spring = {"joint_stiffness": 3e3, "joint_angle": 0.7}
    arm = jm.Arm((steel(**CLAMPED), steel(**spring)))
    found = jm.frequency_response(arm, [40.0, 500.0], "tip.y", "link_2@0.rotation").values
    alone = jm.frequency_response(
        jm.Arm((steel(**spring),)), [40.0, 500.0], "tip.y", "link_1@0.rotation"
    )
    np.testing.assert_allclose(found, alone.values, rtol=1e-10, atol=0.0)


def test_a_base_that_one_of_its_springs_holds():
    """Beside a rigid support: along the rigid direction the base is at rest, along the other one it moves."""
    rigid_x = [[np.inf, 0.0, 0.0], [0.0, 3e5, 0.0], [0.0, 0.0, 2e4]]
    arm = jm.Arm((steel(joint_angle=0.4, **PINNED),), base_stiffness=rigid_x)
    found = jm.frequency_response(
        arm, [40.0, 500.0], "link_1@0.5.y", ["joint_1.x", "joint_1.y"]
    ).values
    np.testing.assert_array_equal(found[0], 0.0)
    assert np.all(np.abs(found[1]) > 1e-9)


def test_what_turns_about_a_held_tip_moves():
    """At distance d from the axis along the last link, in small rotations: d cos(angle) times the rotation."""
    omega, angle = [7.0, 20.0, 55.0], 0.9
    payload = jm.Payload(1.0, inertia=0.1, centre_x=0.2)
    arm = on_two_rollers().replace(payload=payload)
    moved = jm.frequency_response(arm, omega, "tip_2.x", ["payload.y", "tip.rotation"])
    assert moved.ok
    lever = 0.2 * np.cos(angle) * moved.values[1]
    np.testing.assert_allclose(moved.values[0], lever, rtol=1e-9)
    arm = on_two_rollers(end_offset_x=-0.1)
    moved = jm.frequency_response(arm, omega, "tip_2.x", ["link_3@1.y", "tip.rotation"])
    assert moved.ok
    np.testing.assert_allclose(moved.values[0], 0.1 * np.cos(angle) * moved.values[1], rtol=1e-9)


@pytest.mark.parametrize("port", ["tip_3.y", "payload.y", "joint_2.y", "joint_1.y"])
@pytest.mark.filterwarnings("error")
def test_no_displacement_of_a_held_port(port):
    for quantity in ("dynamic_stiffness", "transmissibility"):
        names = [port, "tip_2.x"]
        with pytest.raises(jm.ArmError, match=f"'{port}' is held at rest"):
            jm.frequency_response(on_two_rollers(), 7.0, names, names, quantity=quantity)


def test_links_rigid_along_their_axes_and_rigid_supports():
    with pytest.raises(jm.ArmError, match=r"link1\.support_y_stiffness = inf: .*bending_only"):
        jm.frequency_response(on_two_rollers(), 7.0, "tip.x", "tip.x", theory="bending_only")


def test_stiffness_between_ports_on_both_sides_of_a_clamped_tip():
    """Neither side knows of the other: the entry is rounding, and no resonance."""
    arm = on_two_rollers()
    clamped = arm.links[1].replace(**dict.fromkeys(SUPPORTS, np.inf))
    arm = arm.replace(links=(arm.links[0], clamped, *arm.links[2:]))
    names = ["tip.rotation", "link_1@0.2.rotation"]
    found = jm.frequency_response(arm, [37.0, 420.0], names, names, quantity="dynamic_stiffness")
    assert found.ok
    size = found.magnitude
    assert (np.maximum(size[0, 1], size[1, 0]) < 1e-11 * np.sqrt(size[0, 0] * size[1, 1])).all()


@pytest.mark.parametrize("kind", ["springs", "rigid"])
def test_what_rigid_supports_hold_gives_nothing_at_rest(kind):
    """Exactly 0, along a link as well where the support is askew to it; a spring leaves what it gives."""
    arm = supported_two(**TIPS[kind])
    for own, turn in ((arm, "rotation"), (jm.to_spatial(arm), "rz")):
        ports = ["tip.y", "tip.x", f"tip.{turn}", "tip_1.y"]
        found = jm.static_compliance(own, ports, ports).values
        assert np.any(found[0]) == (kind == "springs")
        np.testing.assert_array_equal(found[0], found[:, 0])
        assert np.all(np.diag(found)[1:] > 0.0)


def test_supports_askew_hold_a_port_along_a_link_as_well():
    """Exactly: what bends by 2e-4 m/N leaves rounding of 2e-20 m/N beside 3e-8 m/N along the rod."""
    rod = jm.SpatialLink(0.7, 7e10, 2700.0, jm.circle(0.02, 0.9), poisson_ratio=0.3)
    triad = ((0.6, 0.8, 0.0), (-0.48, 0.36, 0.8), (0.64, -0.48, 0.6))
    held = rod.replace(supports=tuple(jm.Support("translation", d, np.inf) for d in triad))
    arm = jm.SpatialArm((held, rod.replace(joint_angle=0.7)))
    ports = ["tip_1.x", "tip_1.z", "tip_1.rz", "tip_2.y"]
    found = jm.frequency_response(arm, [30.0, 411.0], ports, ports).values
    assert not np.any(found[:2])
    assert not np.any(found[:, :2])
    assert np.all(found[2:, 2:])


CLAMPED = dict.fromkeys(SUPPORTS, np.inf)
PINNED = {"support_x_stiffness": np.inf, "support_y_stiffness": np.inf}


@pytest.mark.parametrize(("tip", "hinge"), [(CLAMPED, {}), (PINNED, {"joint_stiffness": 0.0})])
@pytest.mark.parametrize("in_space", [False, True])
def test_ports_that_supports_part_know_nothing_of_each_other(tip, hinge, in_space):
    """At resonances, too, where one of them is infinite: a link with its tip at rest keeps what lies beyond from it."""
    first, second = undamped(without_supports()).links
    first, second = first.replace(**tip), second.replace(**hinge)
    arm, alone = jm.Arm((first, second), jm.Payload(0.4, 2e-3)), jm.Arm((first,))
    roots = np.asarray(jm.natural_frequencies(arm, 5).omega)
    roots = roots[roots > 0.0]
    omega = np.concatenate([roots * (1.0 + x) for x in (0.0, 1e-12, 1e-9, 1e-4, 0.1)])
    arms = [jm.to_spatial(each) if in_space else each for each in (arm, alone)]
    places = ["link_1@0.4.y", "link_2@0.5.y", "tip.x"]
    found = jm.frequency_response(arms[0], omega, places, places)
    apart = np.asarray(found.status)[0, 1:]
    assert (apart == jm.Status.resolved).all()
    np.testing.assert_array_equal(np.asarray(found.values)[0, 1:], 0.0)
    np.testing.assert_array_equal(np.asarray(found.values)[1:, 0], 0.0)
    own = jm.frequency_response(arms[1], omega[-roots.size :], places[0], places[0])
    np.testing.assert_allclose(
        np.asarray(found.values)[0, 0, -roots.size :],
        np.asarray(own.values)[0, 0],
        rtol=1e-11,
        atol=0.0,
    )
    assert (np.asarray(found.status)[1, 1] == jm.Status.resonance).any()


@pytest.mark.parametrize("in_space", [False, True])
def test_derivatives_between_ports_that_supports_part_are_nothing(in_space):
    first, second = undamped(without_supports()).links
    arm = jm.Arm((first.replace(**CLAMPED), second), jm.Payload(0.4, 2e-3))
    roots = np.asarray(jm.natural_frequencies(arm, 4).omega)
    omega = np.concatenate([roots * (1.0 + x) for x in (1e-9, 1e-4)])
    found = jm.response_sensitivities(
        jm.to_spatial(arm) if in_space else arm,
        omega,
        ["link_1@0.4.y", "link_2@0.5.y"],
        "tip.x",
        addresses=["link1.length", "link2.youngs_modulus"],
    )
    np.testing.assert_array_equal(found.derivative[0, 0], 0.0)
    np.testing.assert_array_equal(found.by_frequency[0, 0], 0.0)
    assert np.all(np.abs(found.derivative[0, 1, 4:]).max(axis=-1) > 0.0)


def on_a_slide(angle):
    """One link whose tip moves along y alone."""
    return jm.Arm((steel(joint_angle=angle, support_x_stiffness=np.inf),))


@pytest.mark.parametrize(("in_space", "port"), [(False, "tip.along"), (True, "tip.link_x")])
def test_derivatives_of_a_port_that_a_support_holds_in_one_posture(in_space, port):
    """In the posture itself it is at rest, and its axis turns into the direction in which the tip moves."""
    arm = on_a_slide(0.0)
    arm = jm.to_spatial(arm) if in_space else arm
    found = jm.response_sensitivities(
        arm, [40.0, 900.0], "tip.y", port, addresses=["link1.joint_angle"]
    )
    np.testing.assert_array_equal(found.response.values, 0.0)
    expected = jm.frequency_response(arm, [40.0, 900.0], "tip.y", "tip.y").values
    np.testing.assert_allclose(found.derivative[..., 0], expected, rtol=1e-11, atol=0.0)


@pytest.mark.slow  # compiles the response and its derivative
def test_traced_responses_of_ports_that_supports_part():
    def along(angle):
        return jm.frequency_response(on_a_slide(angle), 40.0, "tip.y", "tip.along").values.real

    expected = jm.frequency_response(on_a_slide(0.0), 40.0, "tip.y", "tip.y").values
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        slope = jax.jit(jax.jacfwd(along))(0.0)
    np.testing.assert_allclose(slope, expected.real, rtol=1e-11, atol=0.0)

    first, second = undamped(without_supports()).links
    arm = jm.Arm((first.replace(**CLAMPED), second), jm.Payload(0.4, 2e-3))
    roots = np.asarray(jm.natural_frequencies(arm, 4).omega)
    omega = np.concatenate([roots * (1.0 + x) for x in (0.0, 1e-9, 1e-4, 0.1)])

    @jax.jit
    def across(omega):
        found = jm.frequency_response(arm, omega, ["link_1@0.4.y", "link_2@0.5.y"], "tip.x")
        return found.values, found.status

    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        values, status = across(omega)
    np.testing.assert_array_equal(values[0, 0], 0.0)
    assert (np.asarray(status)[0, 0] == jm.Status.resolved).all()
    assert np.all(np.abs(values[0, 1, -roots.size :]) > 0.0)


@pytest.mark.parametrize("in_space", [False, True])
def test_ports_that_inertia_alone_couples(in_space):
    """Past a tip that slides along x, a payload beside the axis bends the second link by its inertia: at low
    frequencies that is less than rounding."""
    first, second = steel(joint_angle=0.3), steel(joint_angle=-0.3)
    payload = jm.Payload(3.0, 0.01, 0.0, 0.01)
    bare = jm.Arm((first, second), payload)
    held = {"support_y_stiffness": np.inf, "support_torsional_stiffness": np.inf}
    arm = jm.Arm((first.replace(**held), second), payload)
    ports, supports = ["link_1@0.5.y", "link_2@0.5.y"], ["tip_1.y", "tip_1.rotation"]
    omega = np.asarray(jm.natural_frequencies(arm, 1).omega) * np.array([0.5, 1.3, 40.0])
    targets = [target(bare, name) for name in (*ports, *supports)]
    expected = []
    for each in omega:
        chain = Chain(bare, each)
        driven, *moved = (chain.response(target(bare, x), targets) for x in (ports[0], *supports))
        square = mpmath.matrix([[row[2 + k] for row in moved] for k in range(2)])
        forces = mpmath.lu_solve(square, mpmath.matrix(driven[2:]))
        given = sum(row[1] * f for row, f in zip(moved, forces, strict=True))
        expected.append(float(mpmath.re(driven[1] - given)))
    found = jm.frequency_response(jm.to_spatial(arm) if in_space else arm, omega, ports, ports)
    size = np.sqrt(np.abs(found.values[0, 0] * found.values[1, 1]))
    for one, other in ((0, 1), (1, 0)):
        error = (np.asarray(found.values)[one, other] - expected) / size
        np.testing.assert_allclose(error, 0.0, rtol=0.0, atol=1e-11)
    assert np.all(np.abs(expected / size) > 1e-9)
