"""Questions without a good answer get none that misleads: modes that are not there, angles without digits."""

import dataclasses

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.quantities import LARGEST_ANGLE
from jaxmodal.frequencies.zero_modes import with_zero_modes
from jaxmodal.runtime.namespace import to_host

#: next to a posture of the three-link arm in which modes 2 and 3 coincide
DOUBLE_ROOT = (-2.7054340505089725, -1.120472464322084)
NOT_CONVERGED = int(jm.Status.not_converged)


def rigid_link(**changes):
    section = jm.rectangle(0.3, 0.05, shear_coefficient=0.85)
    values = {"poisson_ratio": 0.3, "rigid": True} | changes
    return jm.Link(0.5, 7e10, 2700.0, section, **values)


@pytest.mark.parametrize("springs", [1, 2])
def test_rigid_links_have_as_many_modes_as_springs(springs):
    links = [rigid_link(joint_stiffness=1e3, joint_angle=0.3 * k) for k in range(springs)]
    arm = jm.Arm((*links, rigid_link(joint_angle=0.2)))
    found = jm.natural_frequencies(arm, springs + 2, throw=False)
    assert np.all(np.asarray(found.certified)[:springs])
    assert np.all(np.isnan(found.omega[springs:]))  # was 1e102 Hz
    assert np.all(found.status[springs:] == NOT_CONVERGED)
    if springs == 1:  # one pendulum: omega^2 = k / I, I about the base
        mass, length = 0.3 * 0.05 * 0.5 * 2700.0, 0.5
        own = mass / length * length**3 / 12.0 + 2700.0 * 0.05 * 0.3**3 / 12.0 * length
        reach = np.array([length + 0.25 * np.cos(0.2), 0.25 * np.sin(0.2)])
        second = own + mass * 0.0625 + own + mass * reach @ reach
        assert float(found.omega[0]) == pytest.approx(np.sqrt(1e3 / second), rel=1e-12)
    with pytest.raises(jm.UncertifiedError, match="ask for fewer"):
        jm.natural_frequencies(arm, springs + 1)


def test_no_more_modes_are_sought_than_there_are_where_no_more_are_asked():
    rigid, flexible = (
        jm.Arm(tuple(rigid_link(joint_stiffness=1e3, joint_angle=0.3, rigid=x) for _ in range(2)))
        for x in (True, False)
    )
    for modes in (1, 2):
        few, many = (jm.natural_frequencies(arm, modes) for arm in (rigid, flexible))
        assert few.evaluations <= many.evaluations


@pytest.mark.parametrize("name", ["two_link_flexible", "six_axis_industrial"])
def test_values_that_nothing_has_checked_are_told(name):
    """A negative payload, as a step of an optimiser may leave it: arms in space had certified frequencies."""
    arm = jm.examples.load(name)
    leaves, tree = jax.tree_util.tree_flatten(arm)
    (at,) = (
        k
        for k, (path, _) in enumerate(jax.tree_util.tree_leaves_with_path(arm))
        if jax.tree_util.keystr(path) == ".payload.mass"
    )
    arm = jax.tree_util.tree_unflatten(tree, [*leaves[:at], np.float64(-3.0), *leaves[at + 1 :]])
    found = jm.natural_frequencies(arm, 2, throw=False)
    assert np.all(np.isnan(found.omega))
    assert np.all(found.status == int(jm.Status.invalid_input))
    assert np.all(jm.certify(arm, np.array([100.0])).status == int(jm.Status.invalid_input))
    np.testing.assert_array_equal(jm.count_below(arm, np.array([0.0, 100.0])), -1)
    with pytest.raises(jm.ArmError, match="has an invalid value"):
        jm.frequencies_in_band(arm, 1.0, 100.0)


def test_a_count_below_what_is_no_frequency_says_so_where_it_is_traced():
    """One program: concrete ones are refused."""
    arm = jm.examples.two_link_flexible()

    @jax.jit
    def counts(omega, length):
        return jm.count_below(
            arm.replace(links=(arm.links[0].replace(length=length), arm.links[1])), omega
        )

    omega = np.array([0.0, 10.0, -10.0, np.nan, np.inf, -np.inf])
    length = float(arm.links[0].length)
    known = int(jm.count_below(arm, 10.0))
    np.testing.assert_array_equal(counts(omega, length), [0, known, -1, -1, -1, -1])
    np.testing.assert_array_equal(counts(omega, -length), [-1] * 6)
    with pytest.raises(ValueError, match="negative or not finite"):
        jm.count_below(arm, omega)


FREE = {"joint_stiffness": 0.0, "joint_axial_stiffness": 0.0, "joint_shear_stiffness": 0.0}
RIGID = {
    "one bar afloat": ((FREE,), 3),
    "two bars afloat": ((FREE, {"joint_angle": 0.6}), 3),
    "two bars afloat, hinged": ((FREE, {"joint_angle": 0.6, "joint_stiffness": 0.0}), 4),
    "a pendulum": (({"joint_stiffness": 0.0},), 1),
}


@pytest.mark.parametrize("name", RIGID)
def test_rigid_arms_without_springs_have_their_zeros_and_no_other_mode(name):
    """As many as a rigid part is free to move in a plane and joints let go; a count above all modes proves it."""
    changes, zeros = RIGID[name]
    arm = jm.Arm(tuple(rigid_link(**change) for change in changes))
    cells = {"link1.tip_mass": np.array([0.0, 2.0])}
    for found in (
        jm.natural_frequencies(arm, zeros + 1, throw=False),
        jm.natural_frequencies_batch(arm, cells, zeros + 1),
    ):
        found = to_host(found)
        assert np.all(found.omega[..., :zeros] == 0.0)
        assert np.all(found.certified[..., :zeros])
        assert np.all(found.multiplicity[..., :zeros] == zeros)
        assert np.all(np.isnan(found.omega[..., zeros]))
        assert np.all(found.status[..., zeros] == NOT_CONVERGED)
    assert jm.natural_frequencies(arm, zeros).ok


def test_a_wrong_number_of_zeros_is_not_certified_where_no_mode_lies_above():
    found = to_host(jm.natural_frequencies(jm.Arm((rigid_link(**FREE),)), 4, throw=False))
    none = dataclasses.replace(  # what a search finds of it, before its zeros are put in
        found,
        **{
            name: np.repeat(getattr(found, name)[-1:], 4, axis=0)
            for name in ("omega", "status", "count_below", "count_above", "bracket", "group")
        },
    )
    for zeros in (2, 3, 4):
        certified = with_zero_modes(none, np.arange(1, 5), np.int64(zeros)).certified
        assert certified.tolist() == [zeros == 3] * 3 + [False]


def test_modes_that_there_are_not_have_no_shape_and_no_derivative():
    arm = jm.Arm((rigid_link(joint_stiffness=1e3),))
    shapes = jm.mode_shapes(arm, 2, throw=False)
    assert np.isfinite(shapes.v[0]).all()
    assert np.isnan(shapes.v[1]).all()
    assert shapes.orthogonality[0, 0] == pytest.approx(1.0, abs=1e-12)
    table = jm.sensitivities(arm, 2, addresses=["link1.joint_stiffness"], throw=False)
    assert table.logarithmic[0, 0] == pytest.approx(0.5, abs=1e-12)
    assert np.isnan(table.logarithmic[1, 0])


def test_derivatives_of_a_list_with_modes_that_there_are_not_are_those_of_the_others():
    """Outside of jit, where the search says that there is no third one: a value and a rate that are not numbers."""
    arm = jm.Arm((rigid_link(joint_stiffness=1e3), rigid_link(joint_stiffness=1e3)))

    def omega(length, number):
        changed = jm.set_parameters(arm, {"link2.length": length})
        return jm.natural_frequencies(changed, number, throw=False).omega

    (value, rate), (two, rates) = (
        jax.jvp(lambda x, n=number: omega(x, n), (1.0,), (1.0,)) for number in (3, 2)
    )
    assert isinstance(value, jax.Array)
    assert isinstance(rate, jax.Array)
    np.testing.assert_array_equal(value, [*two, np.nan])
    np.testing.assert_array_equal(rate, [*rates, np.nan])
    assert np.all(np.isfinite(rates))


def test_a_band_without_modes_leaves_none_out():
    found = jm.frequencies_in_band(jm.examples.three_link_industrial(), 0.0, 1.0)
    assert (found.omega.shape, found.first_mode, found.ok) == ((0,), 1, True)
    assert (found.left_out.shape, int(found.left_out)) == ((), 0)


@pytest.mark.slow
def test_a_certificate_has_no_derivative():
    arm = jm.examples.two_link_flexible()

    def ratio(mass):
        changed = jm.set_parameters(arm, {"payload.mass": mass})
        return jm.certify(changed, np.array([0.2])).residual_ratio[0]

    assert float(jax.grad(ratio)(3.0)) == 0.0


def test_angles_that_carry_no_digits_are_refused():
    arm = jm.examples.three_link_industrial()
    with pytest.warns(jm.ImplausibleWarning, match="more than two turns"):
        turned = jm.natural_frequencies(arm.with_posture([0.5 + 200.0 * np.pi, 0.2]), 2)
    straight = jm.natural_frequencies(arm.with_posture([0.5, 0.2]), 2)
    np.testing.assert_allclose(turned.omega, straight.omega, rtol=1e-12)
    for angle in (2.0 * LARGEST_ANGLE, -1e18, 1e300):
        with pytest.raises(jm.ArmError, match=r"link2\.joint_angle = .*at most 1e6 in size"):
            arm.with_posture([angle, 0.2])
    cells = {"link2.joint_angle": np.array([0.1, 1e300])}
    status = np.asarray(jm.natural_frequencies_batch(arm, cells, 2).status)
    assert np.array_equal(status == int(jm.Status.invalid_input), [[False] * 2, [True] * 2])


def test_a_list_that_ends_inside_a_double_root_says_so():
    arm = jm.examples.three_link_industrial()
    found = jm.natural_frequencies(arm.with_posture(list(DOUBLE_ROOT)), 3)
    posture = arm.with_posture(list(DOUBLE_ROOT))
    gap = float(found.omega[2] - found.omega[1]) / float(found.omega[1])
    assert gap < 1e-8
    tolerance = 1e-6
    ending = jm.certify(posture, found.omega[:2], tolerance=tolerance)
    assert ending.ok
    assert int(ending.left_out) == 1
    whole = jm.certify(posture, found.omega, tolerance=tolerance)
    assert whole.ok
    assert int(whole.left_out) == 0
    assert int(jm.certify(posture, found.omega[:1]).left_out) == 0


def test_shapes_that_are_equal_have_a_mac_of_one_in_every_theory():
    """A rigid link on a spring turns in every theory; its rotary inertia, 3 % of the inertia, counts in two of them."""
    arm = jm.Arm((rigid_link(joint_stiffness=1e3),))
    shapes = [jm.mode_shapes(arm, 1, theory=theory) for theory in jm.THEORIES]
    for a in shapes:
        for b in shapes:
            assert float(jm.modal_assurance(a, b)[0, 0]) == pytest.approx(1.0, abs=1e-14)


def test_the_mac_is_symmetric_and_at_most_one():
    arm = jm.examples.two_link_flexible(50.0)
    a, b = (
        jm.mode_shapes(arm, 4),
        jm.mode_shapes(arm.with_payload(2.0, 0.1), 4, theory="euler_bernoulli"),
    )
    mac = np.asarray(jm.modal_assurance(a, b))
    np.testing.assert_allclose(mac, np.asarray(jm.modal_assurance(b, a)).T, rtol=1e-13)
    assert np.all((mac >= 0.0) & (mac <= 1.0))


def on_a_soft_spring(stiffness):
    """Eight pieces of a beam on a soft spring with a heavy end: there the links' inertia is lost in rounding."""
    area = 0.4 + 1e-8 * np.array([-4.7, -9.4, -9.3, -6.9, -3.5, -1.1, 0.5, 0.6])
    links = [
        jm.Link(0.125, 1.0, 1.0, jm.raw_section(float(a), float(a)), joint_stiffness=k)
        for a, k in zip(area, [stiffness, *[float("inf")] * 7], strict=True)
    ]
    return jm.Arm(tuple(links), jm.Payload(1e7))


@pytest.mark.parametrize("form", ["at once", pytest.param("compiled", marks=pytest.mark.slow)])
def test_counts_far_below_all_modes_are_those_at_zero(form):
    arm, noisy = on_a_soft_spring(1e-7), np.logspace(-30, -8, 45)

    def answers(arm):
        wrong = jm.certify(arm, np.array([2.6e-28]), theory="bending_only")
        return jm.count_below(arm, noisy, theory="bending_only"), wrong.status

    below, wrong = (jax.jit(answers) if form == "compiled" else answers)(arm)
    assert not np.any(below)
    assert np.all(wrong == int(jm.Status.uncertified))


def test_a_soft_spring_far_below_the_links_own_frequencies():
    """A rigid beam on the spring, sqrt(k/(m L^2)), and bending between supports, pi^2; both to first order in 1e-7."""
    found = jm.natural_frequencies(on_a_soft_spring(1e-7), 2, theory="bending_only")
    np.testing.assert_allclose(found.omega, [1e-7, np.pi**2], rtol=1e-6)


@pytest.mark.slow
def test_an_impossible_arm_has_no_derivatives_and_leaves_others_theirs():
    """Zero would say that nothing matters; the difference of two possible arms says what does."""
    bar = jm.Link(0.8, 7e10, 2700.0, jm.rectangle(0.02, 0.04, 0.85), poisson_ratio=0.3)
    arm = jm.Arm((bar,), jm.Payload(1.0))

    def first(mass):
        changed = jm.set_parameters(arm, {"payload.mass": mass})
        return jm.natural_frequencies(changed, 1, theory="euler_bernoulli").omega[0]

    masses = np.array([1.0, -1.0, np.nan, np.inf, 2.0])
    both = jax.jit(jax.vmap(jax.value_and_grad(first)))
    omega, rates = (np.asarray(x) for x in both(masses))
    assert np.isnan(omega).tolist() == np.isnan(rates).tolist() == [False, True, True, True, False]
    for mass, rate in zip(masses[[0, 4]], rates[[0, 4]], strict=True):
        difference = (float(first(mass + 1e-4)) - float(first(mass - 1e-4))) / 2e-4
        assert rate == pytest.approx(difference, rel=1e-7)


@pytest.mark.parametrize("mass", [-1.0, np.nan])
def test_nor_has_an_impossible_arm_derivatives_outside_of_jit(mass):
    def first(mass):
        changed = jm.set_parameters(on_a_soft_spring(1.0), {"payload.mass": mass})
        return jm.natural_frequencies(changed, 1, theory="bending_only", throw=False).omega[0]

    assert np.isnan(jax.grad(first)(mass))
    _, rate = jax.jvp(first, (mass,), (1.0,))
    assert np.isnan(rate)
