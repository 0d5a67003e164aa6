"""Is the frequency response the exact one: against 40 digits, closed forms, finite elements, and laws of physics?"""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from mpmath import mpf

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm
from jaxmodal.response.driven.port_quantities import QUANTITIES
from tests.response.arms import bent, target, with_damping
from tests.response.exact_chain import Chain
from tests.support import real_arms
from tests.support.finite_elements import case_from_arm, hinges, mass_factor

PORTS = (
    "tip.across", "tip_1.x", "joint_2.y", "joint_2.torque", "link_2@0.3.rotation", "payload.along", "joint_1.torque",
    "link_1@1.across", "link_3@0.x", "joint_3.rotation",
)  # fmt: skip


@pytest.mark.parametrize("structure", real_arms.STRUCTURES)
def test_every_feature_against_40_digits(structure):
    """Relative to the receptances of both ports: 1e-11, for stiffnesses of these arms span nine decades."""
    arm = with_damping(real_arms.random_arm(1, structure), 1)
    omega = np.asarray(jm.natural_frequencies(arm, 5).omega)
    omega = 0.5 * (omega[-2] + omega[-1])
    source = "payload.y" if structure in ("springs", "bodies") else "joint_2.torque"
    every = tuple(dict.fromkeys((*PORTS, source)))
    chain = Chain(arm, omega)
    exact = chain.response(target(arm, source), [target(arm, name) for name in every])
    own = [abs(chain.response(target(arm, n), [target(arm, n)])[0]) for n in every]
    driven = own[every.index(source)]
    found = jm.frequency_response(arm, omega, source, every)
    assert found.ok
    for value, truth, size in zip(found.values[:, 0], exact, own, strict=True):
        assert abs(mpmath.mpmathify(complex(value)) - truth) <= 1e-11 * mpmath.sqrt(size * driven)


@pytest.mark.parametrize(
    "rotor",
    [
        {},
        {"rotor_inertia": 0.3, "gear_ratio": 1.0, "motor": "beyond_spring"},
        {"rotor_inertia": 1e-3, "gear_ratio": 20.0, "motor": "beyond_spring"},
        {"rotor_inertia": 0.3, "gear_ratio": 20.0, "motor": "held"},
    ],
)
def test_free_hinges_and_slides_against_40_digits(rotor):
    """With a rotor on a joint that turns freely, driven through its gear and from the tip."""
    arm = bent(joint_stiffness=0.0, joint_shear_stiffness=0.0, loss_factor=0.02, **rotor)
    names = ("tip.across", "joint_2.torque", "joint_2.y", "link_1@0.4.x")
    chain = Chain(arm, 300.0)
    found = jm.frequency_response(arm, 300.0, names[:2], names)
    for into, name in enumerate(names[:2]):
        exact = chain.response(target(arm, name), [target(arm, n) for n in names])
        np.testing.assert_allclose(found.values[:, into], [complex(x) for x in exact], 1e-12)


@pytest.mark.parametrize("theory", jm.THEORIES)
def test_theories_and_both_sides_of_the_cutoff_against_40_digits(theory):
    arm = with_damping(bent(joint_stiffness=2e4, tip_mass=0.5), 3)
    cutoff = np.sqrt(0.85 * 7e10 / 2.6 / 2700.0 * 12) / 0.03
    for omega in (50.0, 5e3, 0.97 * cutoff, 1.31 * cutoff):
        names = ("tip.across", "tip.x", "link_1@0.4.y")
        with mpmath.workdps(
            100
        ):  # transfer matrices lose what their exponentials grow by, here 1e40
            exact = Chain(arm, omega, theory).response(
                target(arm, "tip.across"), [target(arm, n) for n in names]
            )
        found = jm.frequency_response(arm, omega, "tip.across", names, theory=theory)
        np.testing.assert_allclose(found.values[:, 0], [complex(x) for x in exact], rtol=1e-12)


def test_reciprocity_and_links_of_quantities():
    arm = with_damping(real_arms.random_arm(0, "springs"), 0)
    omega = np.geomspace(0.2, 3e3, 200)
    names = ("tip.across", "joint_3.y", "link_2@0.3.y", "tip_1.rotation")
    h = jm.frequency_response(arm, omega, names, names).values
    own = np.sqrt(np.abs(np.einsum("iif,jjf->ijf", h, h)))
    assert (np.abs(h - h.transpose(1, 0, 2)) / own).max() < 1e-12

    def quantity(name, **ports):
        return jm.frequency_response(arm, omega, names, names, quantity=name).values

    np.testing.assert_allclose(quantity("mobility"), 1j * omega * h, rtol=1e-15)
    np.testing.assert_allclose(quantity("accelerance"), -(omega**2) * h, rtol=1e-15)
    product = np.einsum("ijf,jkf->fik", quantity("dynamic_stiffness"), h)
    scale = np.sqrt(np.abs(np.einsum("iif->fi", h)))
    unit = product * scale[:, None, :] ** -1 * scale[:, :, None]
    np.testing.assert_allclose(unit, np.broadcast_to(np.eye(4), unit.shape), rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(
        quantity("transmissibility"), h / np.einsum("iif->if", h)[None], rtol=1e-12
    )


def test_power_in_is_power_dissipated_in_the_dampers():
    """Half the real part of force and velocity against half c times the squared rate of every joint; 1e-10."""
    arm = bent(joint_stiffness=2e4, joint_damping=3.0)
    arm = arm.replace(
        links=(arm.links[0].replace(joint_stiffness=1e5, joint_damping=8.0), arm.links[1])
    )
    omega = np.linspace(5.0, 2e3, 60)
    found = jm.frequency_response(
        arm,
        omega,
        "tip.across",
        ["tip.across", "joint_1.torque", "joint_2.torque"],
        quantity="mobility",
    ).values[:, 0]
    lost = 0.5 * (8.0 * np.abs(found[1]) ** 2 + 3.0 * np.abs(found[2]) ** 2)
    np.testing.assert_allclose(0.5 * found[0].real, lost, rtol=1e-10)


def test_finite_elements_and_their_dissipation():
    """The p-version of the tests with complex stiffnesses, 1e-10. Power in is what springs and strains dissipate."""
    arm = with_damping(real_arms.random_arm(2, "springs"), 5)
    links = (*arm.links[:2], arm.links[2].replace(end_offset_x=0.1, end_offset_y=-0.05))
    arm = arm.replace(links=links, payload=jm.Payload(2.0, 0.02, 0.04, 0.03))
    for link in links:  # large strains would want more elements, not another law
        assert not link.rigid
    case, degree = case_from_arm(arm, "timoshenko"), 24
    tips = []
    factor = mass_factor(case, degree, tips=tips)
    assert hinges(case) == 0
    per_link = 3 * (degree + 1)
    for omega in (20.0, 300.0):
        stiffness = []
        for link in arm.links:
            pairs = (("_axial", "kx"), ("_shear", "ky"), ("", "kT"))
            for kind, _ in pairs:
                spring = getattr(link, f"joint{kind}_stiffness")
                if spring is not None and np.isfinite(spring):
                    damper = getattr(link, f"joint{kind}_damping") or 0.0
                    stiffness.append(1 + 1j * omega * damper / spring)
            material = 1 + 1j * (link.loss_factor + omega * link.kelvin_voigt_time)
            stiffness += [material] * per_link
        stiffness = np.array(stiffness)
        tip, elbow = tips[-1], tips[0]
        answer = np.linalg.solve(np.diag(stiffness) - omega**2 * factor.T @ factor, tip[1] + 0j)
        truth = [tip[0] @ answer, tip[1] @ answer, tip[2] @ answer, elbow[1] @ answer]
        names = ["tip.along", "tip.across", "tip.rotation", "tip_1.across"]
        found = jm.frequency_response(arm, omega, "tip.across", names).values[:, 0]
        np.testing.assert_allclose(found, truth, rtol=1e-10)
        dissipated = 0.5 * omega * np.sum(stiffness.imag * np.abs(answer) ** 2)
        np.testing.assert_allclose(0.5 * (1j * omega * found[1]).real, dissipated, rtol=1e-10)


def test_motion_of_the_ground():
    arm = with_damping(bent(tip_mass=1.0), 2)
    arm = arm.replace(
        links=(
            arm.links[0].replace(joint_angle=0.3, joint_stiffness=5e4, joint_damping=2.0),
            arm.links[1],
        )
    )
    for source in ("base.x", "base.across", "base.rotation"):
        names = ("tip.x", "tip.y", "joint_1.torque", "link_1@0.5.across")
        exact = Chain(arm, 400.0).response(target(arm, source), [target(arm, n) for n in names])
        found = jm.frequency_response(arm, 400.0, source, names, quantity="transmissibility")
        np.testing.assert_allclose(found.values[:, 0], [complex(x) for x in exact], rtol=1e-12)


def test_at_an_undamped_resonance_the_answer_is_inf_and_says_so():
    arm = jm.examples.three_link_industrial().with_posture([0.5, -1.0])
    omega = np.asarray(jm.natural_frequencies(arm, 8).omega)
    found = jm.frequency_response(arm, omega, "tip.across", ["tip.across", "joint_2.y"])
    assert (found.status == jm.Status.resonance).all()
    assert np.isinf(found.magnitude).all()
    assert not found.ok
    assert "resonance: an undamped resonance" in str(found)
    near = jm.frequency_response(arm, omega * (1 + 1e-10), "tip.across", "tip.across")
    assert near.ok
    tip = target(arm, "tip.across")
    for k in (0, 5):  # ten digits of the distance to the resonance are lost
        exact = Chain(arm, omega[k] * (1 + 1e-10)).response(tip, [tip])
        np.testing.assert_allclose(near.values[0, 0, k], complex(exact[0]), rtol=1e-4)
    alone = jm.frequency_response(
        arm, omega, "tip.across", "tip.across", quantity="transmissibility"
    )
    np.testing.assert_array_equal(alone.values, 1.0)


def test_many_arms_are_single_arms():
    arm = with_damping(bent(joint_stiffness=2e4), 4)
    omega = np.geomspace(1.0, 1e4, 5000)
    angles, mass = np.linspace(-2.0, 2.0, 9), np.linspace(0.0, 3.0, 9)
    names = ("tip.x", "link_2@0.7.across")
    for columns in (
        {"theta_2": angles},
        {"theta_2": angles, "payload.mass": mass, "link2.length": 0.3 + mass},
    ):
        found = jm.frequency_response(arm, omega, "tip.x", names, parameters=columns)
        assert found.values.shape == (9, 2, 1, 5000)
        cell = {name: column[5] for name, column in columns.items()}
        alone = jm.frequency_response(jm.set_parameters(arm, cell), omega, "tip.x", names)
        np.testing.assert_allclose(found.values[5], alone.values, rtol=1e-12)
    bad = jm.frequency_response(
        arm, [3.0], "tip.x", names, parameters={"link1.loss_factor": [0.1, -0.1]}
    )
    assert bad.status[:, 0, 0, 0].tolist() == [jm.Status.resolved, jm.Status.invalid_input]
    assert np.isnan(bad.values[1]).all()
    data = found.to_xarray()
    assert data.receptance.dims == ("cell", "output", "input", "frequency")
    assert data.units.values.tolist() == [["m/N"], ["m/N"]]
    assert data.link2_length.attrs["units"] == "m"
    assert "largest tip_2.x / tip_2.force_x [m/N]" in str(found)
    assert str(found).count("\n") < 30


def test_damping_leaves_natural_frequencies_alone_and_files_keep_it():
    arm = with_damping(bent(joint_stiffness=2e4), 4)
    plain = bent(joint_stiffness=2e4)
    np.testing.assert_array_equal(
        jm.natural_frequencies(arm, 4).omega, jm.natural_frequencies(plain, 4).omega
    )
    assert jm.arm_from_dict(arm.to_dict()) == arm
    assert "link2.joint_damping" in jm.list_addresses(arm)
    assert jm.unit_of_address("link2.joint_damping") == "N m s/rad"
    with pytest.raises(
        jm.ArmError, match=r"joint_damping = -1.0: must be finite and 0 or more \(N m s/rad\)"
    ):
        plain.links[1].replace(joint_damping=-1.0)
    with pytest.raises(jm.ArmError, match="a segment continues the previous link"):
        plain.links[0].replace(segment=True, joint_damping=1.0)
    with pytest.raises(jm.ArmError, match=r"link1.loss_factor = .*: the dynamics take damping"):
        flexible_arm(arm, 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"inputs": "elbow.x"}, "'elbow.x': is no port"),
        ({"outputs": []}, r"outputs = \[\]"),
        ({"omega": 0.0}, "omega = 0.0: must be finite and greater than 0"),
        ({"omega": True}, "omega = True: holds something other than real numbers; give floats"),
        ({"omega": [1.0, -2.0]}, r"omega\[1\] = -2.0"),
        ({"omega": []}, "at least one"),
        ({"omega": 3.0 + 1j}, "other than real numbers"),
        ({"omega": np.ones((2, 2))}, r"shape \(2, 2\)"),
        ({"quantity": "mobilty"}, "Did you mean 'mobility'"),
        ({"inputs": "base.x"}, "a motion of the ground and no force"),
        ({"outputs": "base.x"}, "take it as an input"),
        ({"quantity": "dynamic_stiffness", "outputs": "tip.x"}, "needs the same ports"),
        ({"theory": "timoshenk"}, "theory = 'timoshenk'"),
        ({"parameters": {"link9.length": [1.0]}}, "link9.length"),
        ({"parameters": {"theta_2": 1.0}}, "one-dimensional"),
    ],
)
def test_bad_input(change, words):
    values = {"omega": 3.0, "inputs": "tip.across", "outputs": "tip.across"} | change
    with pytest.raises(ValueError, match=words):
        jm.frequency_response(bent(), **values)


def test_ports_that_depend_on_each_other_have_no_dynamic_stiffness():
    names = ["tip.x", "tip.y", "tip.along"]
    found = jm.frequency_response(bent(), [5.0], names, names, quantity="dynamic_stiffness")
    assert (found.status == jm.Status.not_resolved).all()
    assert np.isnan(found.values).all()
    assert set(QUANTITIES) >= {"receptance", "dynamic_stiffness"}


@pytest.mark.slow
def test_derivatives_against_40_digits():
    """Of |H| by parameters and frequency, also 0.1 % from a resonance: differences of 40 digits, to 1e-9."""
    arm = bent(joint_stiffness=2e4, joint_damping=0.2, loss_factor=1e-3)
    arm = arm.replace(links=(arm.links[0].replace(kelvin_voigt_time=1e-6), arm.links[1]))
    first = float(jm.natural_frequencies(arm, 1).omega[0])
    names = [
        "link2.joint_angle",
        "link1.length",
        "link2.loss_factor",
        "link2.joint_damping",
        "link1.youngs_modulus",
    ]
    values = np.array([float(jm.get_parameter(arm, name)) for name in names])

    def size(x, omega):
        changed = jm.set_parameters(arm, dict(zip(names, x, strict=True)))
        return jm.frequency_response(changed, omega, "tip.across", "tip.across").magnitude[0, 0]

    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        program = jax.jit(jax.value_and_grad(size, argnums=(0, 1)))
        for omega in (0.4 * first, 1.001 * first):
            value, (by_values, by_omega) = program(jnp.asarray(values), jnp.asarray(omega))
            here = jm.frequency_response(arm, omega, "tip.across", "tip.across")
            np.testing.assert_allclose(value, here.magnitude[0, 0], rtol=1e-11)
            found = [*np.asarray(by_values), float(by_omega)]
            for k, name in enumerate([*names, None]):
                truth = _difference(arm, name, values[k] if name else None, omega)
                np.testing.assert_allclose(found[k], float(truth), rtol=1e-9)


def _difference(arm, name, value, omega):
    """A central difference of 40 digits, its steps of 2^-24 with Richardson's correction."""

    def size(x):
        changed = jm.set_parameters(arm, {name: float(x)}) if name else arm
        chain = Chain(changed, omega if name else x)
        return abs(
            chain.response(target(changed, "tip.across"), [target(changed, "tip.across")])[0]
        )

    centre = value if name else omega

    def slope(step):
        high, low = np.float64(centre + step), np.float64(centre - step)
        return (size(high) - size(low)) / (mpf(float(high)) - mpf(float(low)))

    step = max(abs(centre), 1e-3) * 2.0**-24
    return (4 * slope(step / 2) - slope(step)) / 3
