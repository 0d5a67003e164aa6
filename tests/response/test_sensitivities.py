"""Are sensitivities of responses and of damped modes the derivatives that 40 digits show?"""

import dataclasses

import mpmath
import numpy as np
import pytest
from beartype.door import is_bearable
from jaxtyping import Float, Inexact
from mpmath import mpf

import jaxmodal as jm
from jaxmodal.arithmetic.dual import Dual
from jaxmodal.runtime.namespace import Array
from tests.response.arms import bent, target, with_damping
from tests.response.exact_chain import Chain
from tests.response.held_arms import OUTPUTS, held, held_in_40_digits, without_supports
from tests.response.test_damped_modes import ARMS, PLAIN, _one_mass
from tests.support import real_arms


def _slope(size, centre):
    """A central difference of 40 digits, its steps of 2^-24 with Richardson's correction: 1e-12."""

    def over(step):
        high, low = np.float64(centre + step), np.float64(centre - step)
        return (size(high) - size(low)) / (mpf(float(high)) - mpf(float(low)))

    step = max(abs(centre), 1e-3) * 2.0**-24
    return complex((4 * over(step / 2) - over(step)) / 3)


def _response(arm, omega, source, output):
    return Chain(arm, omega).response(target(arm, source), [target(arm, output)])[0]


def _lightly_damped():
    arm = bent(joint_stiffness=2e4, joint_damping=0.2, loss_factor=1e-3)
    return arm.replace(links=(arm.links[0].replace(kelvin_voigt_time=1e-6), arm.links[1]))


def test_sizes_also_near_a_resonance_against_40_digits():
    arm = _lightly_damped()
    first = float(jm.natural_frequencies(arm, 1).omega[0])
    names = ["link2.joint_angle", "link1.length", "link1.youngs_modulus", "link2.joint_damping"]
    omega = np.array([0.4 * first, 1.001 * first])
    found = jm.response_sensitivities(arm, omega, "tip.across", "tip.across", addresses=names)
    size = np.abs(found.response.values[0, 0])
    by_omega = np.real(np.conj(found.response.values[0, 0]) * found.by_frequency[0, 0]) / size
    for k, w in enumerate(omega):
        truth = _slope(lambda x: abs(_response(arm, x, "tip.across", "tip.across")), w)
        np.testing.assert_allclose(by_omega[k], truth.real, rtol=1e-9)
        for p, name in enumerate(names):

            def changed(x, name=name, w=w):
                other = jm.set_parameters(arm, {name: float(x)})
                return abs(_response(other, w, "tip.across", "tip.across"))

            truth = _slope(changed, found.values[p]).real
            np.testing.assert_allclose(found.of_magnitude[0, 0, k, p], truth, rtol=1e-9)
    np.testing.assert_allclose(
        found.logarithmic, found.of_magnitude * found.values / size[:, None], rtol=1e-14
    )
    assert "link1.length" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("structure", ["offsets", "rotors", "springs", "bodies"])
def test_features_and_ports_against_40_digits(structure):
    """1e-9 of what the change of a parameter by itself would do at most, √(|H_ii H_jj|) over its value."""
    arm = with_damping(real_arms.random_arm(1, structure), 1)
    omega = np.asarray(jm.natural_frequencies(arm, 3).omega)
    omega = 0.4 * omega[1] + 0.6 * omega[2]
    values = {name: jm.get_parameter(arm, name) for name in jm.list_addresses(arm)}
    # what chains take as it is: sections and moduli are rounded on their way there
    plain = [
        name
        for name, x in values.items()
        if np.isfinite(float(x)) and float(x) != 0.0 and "section" not in name
        and not name.endswith(("poisson_ratio", "youngs_modulus", "thickness_factor"))
    ]  # fmt: skip
    rng = np.random.default_rng(3)
    names = sorted(rng.choice(plain, 6, replace=False))
    pairs = (("tip.x", "joint_2.torque"), ("link_2@0.3.rotation", "payload.y"))
    for source, output in pairs:
        found = jm.response_sensitivities(arm, omega, source, output, addresses=names)
        own = [abs(_response(arm, omega, x, x)) for x in (source, output)]
        for p, name in enumerate(names):
            truth = _slope(
                lambda x, name=name, s=source, o=output: _response(
                    jm.set_parameters(arm, {name: float(x)}), omega, s, o
                ),
                found.values[p],
            )
            size = float(mpmath.sqrt(own[0] * own[1])) / abs(found.values[p])
            assert abs(found.derivative[0, 0, 0, p] - truth) < 1e-9 * max(size, abs(truth))


def test_quantities_links_together_and_what_has_no_derivative():
    arm = _lightly_damped()
    omega = np.array([30.0, 200.0])
    names, ports = ["link*.length", "link1.length", "link2.length"], ["tip.x", "tip.rotation"]

    def found(quantity):
        return jm.response_sensitivities(
            arm, omega, ports, ports, quantity=quantity, addresses=names
        )

    plain = found("receptance")
    np.testing.assert_allclose(
        plain.derivative[..., 0], plain.derivative[..., 1:].sum(axis=-1), rtol=1e-12
    )
    moving = found("mobility")
    h = plain.response.values
    np.testing.assert_allclose(
        moving.derivative, 1j * omega[:, None] * plain.derivative, rtol=1e-14
    )
    np.testing.assert_allclose(
        moving.by_frequency, 1j * (h + omega * plain.by_frequency), rtol=1e-12
    )
    stiff = found("dynamic_stiffness")
    z = stiff.response.values
    total = np.einsum("ijfp,jkf->ikfp", stiff.derivative, h)
    total += np.einsum("ijf,jkfp->ikfp", z, plain.derivative)
    scale = np.abs(np.einsum("ijf,jkfp->ikfp", np.abs(z), np.abs(plain.derivative)))
    assert (np.abs(total) < 1e-11 * scale).all()
    ratio = found("transmissibility").derivative
    np.testing.assert_allclose(ratio[0, 0], 0.0, rtol=0.0, atol=1e-13)
    quotient = plain.derivative[1, 0] / h[0, 0][:, None]
    quotient = quotient - (h[1, 0] / h[0, 0] ** 2)[:, None] * plain.derivative[0, 0]
    np.testing.assert_allclose(ratio[1, 0], quotient, rtol=1e-10)
    undamped = jm.examples.three_link_industrial()
    at = jm.natural_frequencies(undamped, 1).omega
    none = jm.response_sensitivities(undamped, at, "tip.across", "tip.across")
    assert np.isnan(none.derivative).all()
    assert none.status.tolist() == [[[jm.Status.resonance]]]
    lost = dataclasses.replace(plain, derivative=np.full_like(plain.derivative, np.nan))
    assert plain.ok
    assert (lost.status == jm.Status.not_resolved).all()
    rigid = jm.response_sensitivities(
        bent(), 50.0, "tip.x", "tip.x", addresses=["link2.joint_stiffness"]
    )
    assert rigid.derivative.shape == (1, 1, 1, 1)
    assert rigid.derivative[0, 0, 0, 0] == 0.0  # a rigid joint
    with pytest.raises(jm.ArmError, match=r"link9\.length"):
        jm.response_sensitivities(arm, omega, "tip.x", "tip.x", addresses=["link9.length"])
    with pytest.raises(jm.ArmError, match="is no port"):
        jm.response_sensitivities(arm, omega, "tip", "tip.x")


@pytest.mark.parametrize("name", [pytest.param("everything", marks=pytest.mark.slow), "overdamped"])
def test_damped_modes_against_40_digits(name):
    arm = ARMS[name][0]
    names = ["link1.joint_damping", "link2.length", "link2.joint_angle", "link2.loss_factor"]
    names = [x for x in names if x in jm.list_addresses(arm) and float(jm.get_parameter(arm, x))]
    found = jm.damped_sensitivities(arm, 1, addresses=names[:3])
    names = names[:3]
    for k, root in enumerate(found.modes.roots):
        near = mpmath.mpmathify(complex(root))
        exact = mpmath.findroot(
            lambda w: Chain(arm, w).determinant(),
            (near, near * (1 + mpf("1e-7"))),
            solver="secant",
            tol=1e-30,
            verify=False,
        )
        step = exact * mpf("1e-12")
        by_root = Chain(arm, exact + step).determinant() - Chain(arm, exact - step).determinant()
        by_root /= 2 * step

        def share(x, address, exact=exact, by_root=by_root):
            """The determinant at the root, over its slope there: what changes it moves the root by its negative."""
            other = jm.set_parameters(arm, {address: float(x)})
            return -Chain(other, exact).determinant() / by_root

        for p, address in enumerate(names):
            truth = _slope(lambda x, a=address: share(x, a), found.values[p])
            assert abs(found.derivative[k, p] - truth) < 1e-9 * abs(truth)
    assert names[0] in str(found)


def test_damping_of_one_mass_in_closed_form():
    """s = i c/(2 J) + sqrt(k/J - (c/(2 J))^2), ratio c/(2 sqrt(k J))."""
    ratio = 0.3
    arm, omega = _one_mass(ratio)
    names = ["link1.joint_damping", "link1.joint_stiffness"]
    found = jm.damped_sensitivities(arm, 1, theory="euler_bernoulli", addresses=names)
    damping, stiffness = found.values
    np.testing.assert_allclose(
        found.of_damping_ratio[0], [ratio / damping, -0.5 * ratio / stiffness], rtol=1e-10
    )
    np.testing.assert_allclose(
        found.of_decay_rate[0], [ratio * omega / damping, 0.0], rtol=0.0, atol=1e-9
    )
    root = omega * np.sqrt(1 - ratio**2)
    by_stiffness = 0.5 * omega**2 / stiffness / root
    np.testing.assert_allclose(
        2 * np.pi * found.of_frequency_hz[0],
        [-((ratio * omega) ** 2) / damping / root, by_stiffness],
        rtol=1e-10,
    )
    critical = jm.damped_sensitivities(
        _one_mass(1.0)[0], 1, theory="euler_bernoulli", addresses=["link1.joint_damping"]
    )
    assert np.isnan(critical.derivative).all()
    free = bent(joint_stiffness=0.0, loss_factor=0.01)
    found = jm.damped_sensitivities(free, 2, addresses=["link2.loss_factor"])
    assert np.isnan(found.derivative[0]).all()  # a root of zero frequency is double
    assert found.of_damping_ratio[1, 0] > 0.0


def test_undamped_roots_have_the_derivatives_of_natural_frequencies():
    names = ["link1.length", "link2.joint_stiffness", "link2.tip_mass"]
    found = jm.damped_sensitivities(PLAIN, 3, addresses=names)
    truth = jm.sensitivities(PLAIN, 3, addresses=names).derivative
    np.testing.assert_allclose(found.derivative.real, truth, rtol=1e-9)
    with pytest.raises(jm.ArmError, match="Did you mean"):
        jm.damped_sensitivities(PLAIN, 3, addresses=["link1.lenght"])


def test_annotations_of_arrays_take_dual_numbers_by_their_type_and_shape():
    real = Dual(np.ones((2, 1)), np.zeros((3, 2, 1)))
    whole = Dual(np.ones((2, 1), np.int64), np.zeros((3, 2, 1)))
    assert is_bearable(real, Float[Array, "links cells"])
    assert is_bearable(real + 1j, Inexact[Array, "..."])
    assert not is_bearable(real + 1j, Float[Array, "..."])
    assert not is_bearable(real, Float[Array, " links"])
    assert not is_bearable(whole, Inexact[Array, "..."])


def test_rigid_supports_against_40_digits():
    arm, bare, omega = held(), without_supports(), 300.0
    names = ["link1.length", "link2.joint_damping", "link2.support_x_stiffness"]
    found = jm.response_sensitivities(arm, omega, "link_2@0.5.y", OUTPUTS, addresses=names)
    for p, (name, output) in enumerate(zip(names[:2], (0, 3), strict=True)):

        def changed(x, name=name, output=output):
            other = jm.set_parameters(bare, {name: float(x)})
            return held_in_40_digits(other, omega, "link_2@0.5.y", mpmath.mpmathify)[output]

        truth = _slope(changed, found.values[p])
        # what the damper hardly matters to is known to rounding of the response, and no better
        rounding = 1e-13 * abs(found.response.values[output, 0]) / found.values[p]
        assert abs(found.derivative[output, 0, 0, p] - truth) < 1e-9 * abs(truth) + rounding
    assert (found.derivative[..., 2] == 0.0).all()  # a support that is rigid already
    data = found.to_xarray()
    assert data.derivative.dims == ("output", "input", "frequency", "parameter")
    assert data.parameter_units.values.tolist() == ["m", "N m s/rad", "N/m"]


def test_a_shaken_base_on_rigid_supports_against_40_digits():
    arm, bare, omega = held(), without_supports(), 300.0
    outputs = ["link_2@0.5.y", "link_1@0.5.x"]
    found = jm.response_sensitivities(
        *(arm, omega, "base.x", outputs), addresses=["link1.length"], quantity="transmissibility"
    )
    for k in range(2):

        def changed(x, k=k):
            other = jm.set_parameters(bare, {"link1.length": float(x)})
            return held_in_40_digits(other, omega, "base.x", mpmath.mpmathify, outputs)[k]

        truth = _slope(changed, found.values[0])
        assert abs(found.derivative[k, 0, 0, 0] - truth) < 1e-9 * abs(truth)


def test_damped_modes_on_rigid_supports():
    """Without damping they move as natural frequencies do; with it as the roots themselves."""
    first, second = PLAIN.links
    arm = jm.Arm((first, second.replace(support_y_stiffness=np.inf)))
    names = ["link1.length", "link2.joint_angle", "link2.support_y_stiffness"]
    found = jm.damped_sensitivities(arm, 3, addresses=names)
    truth = jm.sensitivities(arm, 3, addresses=names[:2]).derivative
    np.testing.assert_allclose(found.derivative[:, :2].real, truth, rtol=1e-9)
    assert (found.derivative[:, 2] == 0.0).all()
    damped = arm.replace(links=(arm.links[0].replace(loss_factor=0.1), arm.links[1]))
    found = jm.damped_sensitivities(damped, 2, addresses=names[:2])
    for p, (name, value) in enumerate(zip(names[:2], found.values, strict=True)):
        step = 1e-5 * np.array([1.0, -1.0])
        high, low = jm.damped_modes_batch(damped, {name: value + step}, 2).roots
        np.testing.assert_allclose(found.derivative[:, p], (high - low) / 2e-5, rtol=1e-7)
    data = found.to_xarray()
    assert data.of_damping_ratio.dims == ("root", "parameter")
    assert data.of_frequency.attrs["units"] == "Hz"
    np.testing.assert_array_equal(data.of_decay_rate, found.of_decay_rate)


def test_sizes_of_zero_have_no_derivatives_and_no_warnings():
    """Bending does not move a straight arm along itself: warnings are errors in tests."""
    link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05, 0.85), poisson_ratio=0.3)
    found = jm.response_sensitivities(
        jm.Arm((link,)), 50.0, "tip.across", "tip.along", addresses=["link1.length"]
    )
    assert found.response.values[0, 0] == 0.0
    for slopes in (found.of_magnitude, found.of_phase, found.logarithmic):
        assert np.isnan(slopes).all()
