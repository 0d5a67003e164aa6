"""Do driven and damped arms know the forces at rest in their links: against 40 digits, closed forms, arms at rest?"""

import jax
import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from tests.response.arms import bent, target, with_damping
from tests.response.exact_chain import Chain
from tests.response.test_damped_modes import assert_root

TIP = "tip.across"
PORTS = (TIP, "tip_1.x", "joint_2.torque", "link_2@0.3.rotation", "link_1@1.y", "payload.along")


def pressed(first, second, **changes):
    """A bent arm with damping, offsets and bodies whose links carry axial forces."""
    arm = bent(joint_stiffness=2e4, tip_mass=0.5)
    values = {"base_offset_x": 0.05, "end_offset_x": 0.1, "end_turning_stiffness": 50.0}
    one = arm.links[0].replace(axial_force=first, hub_mass=0.3, hub_inertia=1e-3, **values)
    two = arm.links[1].replace(axial_force=second, base_turning_stiffness=-20.0, **changes)
    return with_damping(arm.replace(links=(one, two)), 4)


@pytest.mark.parametrize(
    "forces", [(4e4, -1e4), (-2e4, 3e5), (-300.0, 20.0), (0.0, -1e-3)], ids=str
)
def test_response_against_40_digits(forces):
    """From nearly at rest, where forces are all, to high modes: compressed and stretched, little and much."""
    arm = pressed(*forces)
    every = [("timoshenko", 1e-3), ("timoshenko", 9e3), ("bending_only", 400.0)]
    for theory, omega in [*every, ("rayleigh", 40.0)] if forces[0] < -1e3 else every[:2]:
        chain = Chain(arm, omega, theory)
        exact = chain.response(target(arm, TIP), [target(arm, name) for name in PORTS])
        own = [abs(chain.response(target(arm, n), [target(arm, n)])[0]) for n in PORTS]
        found = jm.frequency_response(arm, omega, TIP, PORTS, theory=theory)
        assert found.ok
        for value, truth, size in zip(found.values[:, 0], exact, own, strict=True):
            error = abs(mpmath.mpmathify(complex(value)) - truth)
            assert error <= 1e-11 * mpmath.sqrt(size * own[0])


def test_a_rigid_link_under_force_against_40_digits():
    arm = pressed(-2e4, 1e4, rigid=True)
    found = jm.frequency_response(arm, 70.0, TIP, PORTS[:3])
    exact = Chain(arm, 70.0).response(target(arm, TIP), [target(arm, n) for n in PORTS[:3]])
    np.testing.assert_allclose(found.values[:, 0], [complex(x) for x in exact], rtol=1e-11)


def test_damped_modes_against_40_digits():
    forces = (-2e4, 3e4)
    arm = pressed(*forces)
    found = jm.damped_modes(arm, 2)
    assert found.ok
    for root in found.roots:
        assert_root(arm, root)
    batch = jm.damped_modes_batch(arm, {"link2.axial_force": [forces[1], 0.0, -2e6]}, 2)
    assert batch.status.tolist() == [[0] * 2, [0] * 2, [int(jm.Status.no_value)] * 2]
    np.testing.assert_allclose(batch.roots[0], found.roots, rtol=1e-12)
    assert np.min(np.abs(batch.roots[1] / found.roots - 1)) > 1e-4


def test_a_pinned_beam_in_closed_form():
    """E I (1 + i eta) q^4 + N q^2 = rho A s^2 at q = n pi/L: sines hold all conditions."""
    eta, length = 0.04, 1.3
    line, rigidity = 2700.0 * 4e-4, 7e10 * 0.04 * 0.01**3 / 12
    q = np.pi * np.arange(1, 4) / length
    forces = np.array([-0.9 * rigidity * q[0] ** 2, 0.0, 1e3, 1e5])
    link = jm.Link(
        length, 7e10, 2700.0, jm.rectangle(0.01, 0.04), joint_stiffness=0.0,
        support_y_stiffness=np.inf, loss_factor=eta, axial_force=0.0,
    )  # fmt: skip
    cells = {"link1.axial_force": forces}
    found = jm.damped_modes_batch(jm.Arm((link,)), cells, 3, theory="euler_bernoulli")
    exact = np.sqrt(((1 + 1j * eta) * rigidity * q**4 + forces[:, None] * q**2) / line)
    assert found.ok
    np.testing.assert_allclose(found.roots, exact, rtol=1e-11)


CRITICAL = 7e10 * 0.04 * 0.01**3 / 12 * (np.pi / 2.6) ** 2


def column(force, **changes):
    """Clamped and free; it buckles at ``CRITICAL``."""
    link = jm.Link(1.3, 7e10, 2700.0, jm.rectangle(0.01, 0.04), loss_factor=0.02, axial_force=force)
    return jm.Arm((link.replace(**changes),))


def test_a_column_near_rest_and_buckled():
    """Pushed across by F it gives F (tan(m L)/(m L) - 1) L/P, with m^2 = P/(E I); with tanh in tension."""
    theory, shares = "euler_bernoulli", np.array([-0.99, -0.5, -1e-9, 0.5, 400.0])
    damped = CRITICAL * shares
    m = np.sqrt(np.abs(damped) / ((1 + 0.02j) * 7e10 * 0.04 * 0.01**3 / 12)) * 1.3
    exact = np.where(shares < 0, np.tan(m) / m - 1, 1 - np.tanh(m) / m) * 1.3 / np.abs(damped)
    exact[2] = 1.3**3 / 3 / ((1 + 0.02j) * 7e10 * 0.04 * 0.01**3 / 12)  # next to no force
    cells = {"link1.axial_force": [*damped, -1.01 * CRITICAL, -20.0 * CRITICAL]}
    found = jm.frequency_response(column(0.0), 1e-5, TIP, TIP, theory=theory, parameters=cells)
    np.testing.assert_allclose(found.values[:5, 0, 0], exact, rtol=1e-9)
    assert found.status[:, 0, 0].tolist() == [jm.Status.resolved] * 5 + [jm.Status.unstable] * 2
    assert np.isnan(found.values[5:]).all()
    for force in (-1.01, -20.0):
        arm = column(force * CRITICAL)
        alone = jm.frequency_response(arm, [5.0, 900.0], TIP, TIP, theory=theory)
        assert (alone.status == jm.Status.unstable).all()
        assert np.isnan(alone.values).all()
        with pytest.raises(jm.UncertifiedError, match="buckle"):
            jm.damped_modes(arm, 2, theory=theory)


def test_a_column_that_a_rigid_support_holds():
    """It does not buckle, though it would without the support."""
    arm = column(-6.0 * CRITICAL, support_y_stiffness=np.inf)
    ports = "link_1@0.5.across", "tip.rotation"
    found = jm.frequency_response(arm, 30.0, *ports, theory="rayleigh")
    assert found.ok
    softer = jm.set_parameters(arm, {"link1.support_y_stiffness": 1e12})
    soft = jm.frequency_response(softer, 30.0, *ports, theory="rayleigh")
    np.testing.assert_allclose(found.values, soft.values, rtol=1e-6)


def test_loads_between_rigid_supports():
    """Forces at rest are those that the supports make, not those of the dampers beside them."""
    link = jm.Link(
        1.3, 7e10, 2700.0, jm.rectangle(0.01, 0.04), loss_factor=0.02, support_x_stiffness=np.inf
    )
    arm = jm.Arm((link,), loads=jm.Loads(gravity=900.0, gravity_direction=0.0, pieces=2))
    cut = jm.preloaded(arm, theory="rayleigh", gravity=(0.0, 0.0), pieces=2)
    assert float(cut.links[0].axial_force) > 100.0 > -100.0 > float(cut.links[1].axial_force)
    middle = "link_1@0.5.across", "link_1@0.5.rotation"
    there = "link_1@1.across", "link_1@1.rotation"
    found = jm.frequency_response(arm, 60.0, *middle, theory="rayleigh")
    truth = jm.frequency_response(cut, 60.0, *there, theory="rayleigh")
    np.testing.assert_allclose(found.values, truth.values, rtol=1e-12)
    roots, exact = (jm.damped_modes(x, 2, theory="rayleigh") for x in (arm, cut))
    assert roots.ok
    np.testing.assert_allclose(roots.roots, exact.roots, rtol=1e-12)
    free = jm.damped_modes(
        arm.replace(links=(link.replace(support_x_stiffness=None),)), 1, theory="rayleigh"
    )
    assert np.abs(free.roots[0] / roots.roots[0] - 1.0) > 1e-2


def test_arms_under_loads_against_40_digits():
    """Each link is segments with their own forces; ports stand where they stood."""
    arm = jm.set_parameters(pressed(-2e3, 1e3, stator_mass=0.2), {"link1.joint_angle": 0.4})
    arm = arm.replace(loads=jm.Loads(gravity=9.81, tip_force_x=-900.0, pieces=3))
    names = ("tip.across", "link_1@0.5.y", "joint_2.torque", "tip_1.x", "link_2@0.rotation")
    cut = jm.preloaded(arm, gravity=(0.0, 0.0), pieces=3)
    there = ("tip.across", "link_2@0.5.y", "joint_4.torque", "tip_3.x", "link_4@0.rotation")
    found = jm.frequency_response(arm, 120.0, TIP, names)
    exact = Chain(cut, 120.0).response(target(cut, TIP), [target(cut, n) for n in there])
    np.testing.assert_allclose(found.values[:, 0], [complex(x) for x in exact], rtol=1e-10)
    cells = {"theta_2": [float(arm.links[1].joint_angle), -0.5], "loads.gravity": [9.81, 3e4]}
    many = jm.frequency_response(arm, 120.0, TIP, names, parameters=cells)
    np.testing.assert_allclose(many.values[0], found.values, rtol=1e-12)
    assert (many.status[1] == jm.Status.unstable).all()
    modes = jm.damped_modes(arm, 2)
    assert modes.ok
    assert_root(cut, modes.roots[0])


@pytest.mark.slow
def test_derivatives_by_a_force_and_traced_arms():
    """Against differences in 40 digits; of an arm that buckles there is neither value nor derivative."""
    arm, omega, theory = column(0.0), 40.0, "rayleigh"

    @jax.jit
    def found(force):
        def real(force):
            own = jm.set_parameters(arm, {"link1.axial_force": force})
            answer = jm.frequency_response(own, omega, TIP, TIP, theory=theory)
            return answer.values[0, 0].real, answer.status[0, 0]

        return jax.value_and_grad(real, has_aux=True)(force)

    def exact(force):
        own = column(force)
        return Chain(own, omega, theory).response(target(own, TIP), [target(own, TIP)])[0].real

    force, step = -0.5 * CRITICAL, 2.0**-20
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        (value, status), rate = found(force)
        (none, unstable), no_rate = found(-1.5 * CRITICAL)
    assert status == jm.Status.resolved
    np.testing.assert_allclose(value, float(exact(force)), rtol=1e-12)
    difference = (exact(force + step) - exact(force - step)) / (2 * step)
    np.testing.assert_allclose(rate, float(difference), rtol=1e-10)
    assert unstable == jm.Status.unstable
    assert np.isnan(none)
    assert np.isnan(no_rate)
