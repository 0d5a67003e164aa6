"""Loads of arms in space beside independent truth: planar arms, closed forms, arms without loads, and differences."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.runtime.statuses import Status
from tests.spatial.loaded_arms import (
    DOWN,
    MATERIAL,
    arm_with_everything,
    column,
    planar_booms,
    rigidities,
)

EB = "euler_bernoulli"


@pytest.fixture(scope="module")
def planar():
    return planar_booms()


@pytest.fixture(scope="module")
def arm():
    return arm_with_everything()


def test_forces_at_the_tip_as_in_the_plane(planar):
    """They leave constant axial forces, for which the planar arm is exact, but shear and moments do nothing in it."""
    loaded = planar.replace(loads=jm.Loads(tip_force_x=60.0, tip_force_y=-100.0))
    expected = jm.natural_frequencies(loaded, 3)
    found = jm.natural_frequencies(jm.to_spatial(loaded), 8)
    assert found.certified.all()
    nearest = [np.abs(found.omega / w - 1.0).min() for w in expected.omega]
    # 1e-12 are the brackets in space
    np.testing.assert_allclose(nearest, 0.0, rtol=0, atol=4e-12)
    unloaded = jm.natural_frequencies(planar, 3)
    assert (np.abs(unloaded.omega / expected.omega - 1.0) > 1e-5).all()


def test_weight_as_in_the_plane(planar):
    """Rayleigh's bounds of planar segments hold, and their extrapolation is the same."""
    loaded = planar.replace(loads=jm.Loads(gravity=9.81, base_acceleration_x=1.0))
    found = np.asarray(jm.natural_frequencies(jm.to_spatial(loaded), 6).omega)
    bounded = jm.preloaded_frequencies(loaded, 2, tolerance=1e-8)
    for own, low, high in zip(bounded.omega, bounded.lower, bounded.upper, strict=True):
        same = found[np.argmin(np.abs(found - own))]
        assert low < same < high
        np.testing.assert_allclose(same, own, rtol=1e-8, atol=0)


def test_equilibrium_and_buckling_as_in_the_plane(planar):
    flat = jm.set_parameters(planar, {"link*.section.depth": 0.02, "link*.section.width": 0.05})
    flat = flat.replace(loads=jm.Loads(gravity=0.3, tip_force_y=-3.0))
    arms = flat, jm.to_spatial(flat)
    own, found = (jm.static_equilibrium(x) for x in arms)
    moved = found.tip_displacement[[0, 1, 5]]
    np.testing.assert_allclose(moved, own.tip_displacement, rtol=1e-11, atol=0)
    np.testing.assert_allclose(found.joint_torque, own.joint_torque, rtol=1e-12, atol=1e-12)
    own, found = (jm.buckling(x, 1, addresses=["loads.tip_force_y", "link1.length"]) for x in arms)
    np.testing.assert_allclose(found.factors, own.factors, rtol=1e-11, atol=0)
    np.testing.assert_allclose(found.derivatives, own.derivatives, rtol=1e-8, atol=0)


def test_hubs_and_stators_weigh_as_in_the_plane(planar):
    """They hang on the links that carry them, also beside a joint's springs."""
    parts = {"hub_mass": 2.0, "hub_inertia": 0.01, "stator_mass": 3.0, "stator_inertia": 0.02}
    parts |= {"tip_mass": 1.0, "tip_inertia": 0.01, "base_offset_x": 0.03, "joint_stiffness": 3e4}
    links = tuple(link.replace(**parts) for link in planar.links)
    heavy = planar.replace(links=links, loads=jm.Loads(gravity=9.81, gravity_direction=-1.2))
    own, found = (jm.static_equilibrium(x) for x in (heavy, jm.to_spatial(heavy)))
    np.testing.assert_allclose(found.joint_torque, own.joint_torque, rtol=1e-12, atol=0)
    np.testing.assert_allclose(
        found.tip_displacement[[0, 1, 5]], own.tip_displacement, rtol=1e-11, atol=0
    )
    bounded = jm.preloaded_frequencies(heavy, 1, tolerance=1e-8)
    modes = np.asarray(jm.natural_frequencies(jm.to_spatial(heavy), 3).omega)
    np.testing.assert_allclose(np.abs(modes / bounded.omega - 1.0).min(), 0.0, rtol=0, atol=1e-8)


def test_loads_of_zero_change_nothing(arm):
    """The arm without loads is solved by other code: all masses, springs, rotors and rigid parts are there in both."""
    found = jm.natural_frequencies(arm.replace(loads=jm.SpatialLoads(gravity_z=0.0)), 9)
    expected = jm.natural_frequencies(arm.replace(loads=None), 9)
    # brackets of 1e-12
    np.testing.assert_allclose(found.omega, expected.omega, rtol=4e-12, atol=0)
    assert found.count_below.tolist() == expected.count_below.tolist()
    names = [
        *("link1.stator.mass", "link3.stator.centre.z", "link1.gear_ratio", "link1.rotor_inertia"),
        *("link2.length", "link2.density", "link3.support1.stiffness", "base_stiffness.k44"),
        *("payload.inertia.yy", "link1.base_offset.y", "link1.joint_angle", "link3.section.width"),
    ]
    loaded, bare = (
        np.asarray(jm.sensitivities(x, 2, addresses=names).derivative)
        for x in (arm.replace(loads=jm.SpatialLoads(gravity_z=0.0)), arm.replace(loads=None))
    )
    sizes = np.abs(bare).max(axis=0)
    # errors of the modes, which are those of the roots of rounding
    np.testing.assert_allclose(loaded / sizes, bare / sizes, rtol=0, atol=1e-7)


def test_what_stands_on_a_hanging_rod_may_fall():
    """A body whose centre is c above the tip of a rod in tension: k c tanh(k L) = 1 with k^2 = F/EI."""
    weak, _ = rigidities()
    mass, centre = 100.0, 0.4
    body = jm.RigidBody(mass, (-centre, 0.0, 0.0))
    rod = jm.set_parameters(column(DOWN), {"link1.joint_angle": math.pi / 2, "link1.density": 1e-9})
    (factor,) = jm.buckling(rod.replace(payload=body), theory=EB).factors
    k = math.sqrt(factor * mass * 9.81 / weak)
    np.testing.assert_allclose(k * centre * math.tanh(k), 1.0, rtol=1e-9, atol=0)
    below = body.replace(centre=(centre, 0.0, 0.0))
    assert jm.buckling(rod.replace(payload=below), theory=EB).factors.tolist() == [math.inf]
    lifted = rod.replace(payload=body, loads=jm.SpatialLoads(gravity_z=9.81))
    turned = jm.set_parameters(lifted, {"link1.joint_angle": -math.pi / 2})
    same = jm.buckling(turned, theory=EB).factors
    np.testing.assert_allclose(same, factor, rtol=1e-12, atol=0)
    # and under loads that push it up, with a negative factor
    pushed = rod.replace(payload=body, loads=jm.SpatialLoads(gravity_z=9.81))
    both = jm.buckling(pushed, 4, theory=EB, both_signs=True).factors
    np.testing.assert_allclose(both[both < 0.0][0], -factor, rtol=1e-9, atol=0)


@pytest.mark.parametrize("part", ["base_offset_x", "end_offset_x"])
def test_offsets_against_the_tension_may_fall_as_in_the_plane(part):
    thin = jm.rectangle(depth=0.01, width=0.025, shear_coefficient="cowper")
    link = jm.Link(1.0, section=thin, joint_angle=-math.pi / 2, joint_stiffness=50.0, **MATERIAL)
    arm = jm.Arm((link,), jm.Payload(mass=100.0), loads=jm.Loads(gravity=9.81))
    for offset in (-0.4, 0.4):
        own = arm.replace(links=(link.replace(**{part: offset}),))
        expected, found = (jm.buckling(x).factors[0] for x in (own, jm.to_spatial(own)))
        assert math.isfinite(expected) == (offset < 0.0)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=0)


def test_euler_in_both_planes():
    """A column becomes unstable at pi^2 E I/(4 L^2) of its weak plane, and a second time at that of the strong."""
    critical = [math.pi**2 * own / 4.0 for own in rigidities()]
    unstable = []
    for load in critical:
        for share in (1.0 - 1e-6, 1.0 + 1e-6):
            pressed = column(jm.SpatialLoads(tip_force_z=-share * load))
            unstable.append(int(jm.count_below(pressed, 1e-3, theory=EB)))
    assert unstable == [0, 1, 1, 2]
    near = column(jm.SpatialLoads(tip_force_z=-(1.0 - 1e-6) * critical[0]))
    slow = jm.natural_frequencies(near, 1, theory=EB)
    free = jm.natural_frequencies(column(), 1, theory=EB)
    # the square falls to 0 almost linearly
    assert slow.certified.all()
    assert 0.9e-3 < slow.omega[0] / free.omega[0] < 1.1e-3
    beyond = column(jm.SpatialLoads(tip_force_z=-1.001 * critical[0]))
    found = jm.natural_frequencies(beyond, 2, theory=EB, throw=False)
    assert set(np.asarray(found.status).tolist()) == {int(Status.unstable)}
    assert np.isnan(found.omega).all()
    with pytest.raises(jm.UncertifiedError, match="unstable"):
        jm.natural_frequencies(beyond, 2, theory=EB)


def test_prandtl():
    """A blade under a dead load at its tip across its weak plane: 4.0126 sqrt(EI_weak GJ)/L^2."""
    shear, twist = 2.6e10, 4e-9
    strip = jm.spatial_section(1e-4, 1e-10, 1e-3, torsion_constant=twist)
    link = jm.SpatialLink(1.0, 7e10, 2700.0, strip, shear_modulus=shear)
    load = 4.01259934 * math.sqrt(7e10 * 1e-10 * shear * twist)
    arm = jm.SpatialArm((link,), loads=jm.SpatialLoads(tip_force_y=-load))
    found = jm.buckling(arm, 1, theory=EB)
    # the stiff plane has 1e7 times the rigidity of the weak one
    np.testing.assert_allclose(found.factors, 1.0, rtol=2e-6, atol=0)
    sound = []
    for share in (0.9999, 1.0001):
        own = jm.set_parameters(arm, {"loads.tip_force_y": -share * load})
        sound.append(bool(jm.natural_frequencies(own, 1, theory=EB, throw=False).certified[0]))
    assert sound == [True, False]


def test_a_pendulum():
    """A hanging rod on a free hinge turns about it as gravity has it, and has no frequency of zero."""
    rod = jm.SpatialLink(
        0.5,
        section=jm.circle(0.08),
        joint_axis=(0, 1, 0),
        joint_angle=math.pi / 2,
        joint_stiffness=0.0,
        **MATERIAL,
    )
    hanging = jm.SpatialArm((rod,), loads=DOWN)
    found = jm.natural_frequencies(hanging, 2, theory=EB)
    # sqrt(3 g/(2 L)); the rod's bending lowers it by its weight beside its rigidity
    np.testing.assert_allclose(found.omega[0], math.sqrt(1.5 * 9.81 / 0.5), rtol=1e-5, atol=0)
    assert found.certified.all()
    assert jm.natural_frequencies(hanging.replace(loads=None), 1, theory=EB).omega[0] == 0.0
    standing = hanging.with_posture([-math.pi / 2])
    assert (
        int(jm.natural_frequencies(standing, 1, theory=EB, throw=False).status[0])
        == Status.unstable
    )
    with pytest.raises(jm.ArmError, match=r"link1\.joint_stiffness = 0: nothing holds the arm"):
        jm.natural_frequencies(hanging.with_posture([0.0]), 1, theory=EB)


@pytest.mark.parametrize("theory", ["timoshenko", "rayleigh", EB])
@pytest.mark.parametrize("pull", [-9.81, 0.1, 300.0])
def test_an_arm_turns_freely_about_the_direction_of_its_loads(theory, pull):
    """By symmetry: a free hinge along weight and a force at the tip has the frequency 0, whatever shears beyond it."""
    links = (
        jm.SpatialLink(
            0.5, section=jm.rectangle(0.04, 0.06, 0.85), joint_stiffness=0.0, **MATERIAL
        ),
        jm.SpatialLink(
            0.6,
            section=jm.rectangle(0.03, 0.05, 0.85),
            joint_axis=(0.3, 1.0, 0.2),
            joint_angle=0.6,
            joint_stiffness=3e4,
            **MATERIAL,
        ),
    )
    loads = jm.SpatialLoads(gravity_z=pull, tip_force_z=20.0 * pull)
    arm = jm.SpatialArm(links, payload=jm.RigidBody(mass=2.0), loads=loads)
    found = jm.natural_frequencies(arm, 3, theory=theory)
    assert found.certified.all()
    assert found.omega[0] == 0.0
    assert found.omega[1] > 1.0


@pytest.mark.slow
def test_sensitivities_are_central_differences(arm):
    names = [
        *(
            "loads.gravity_z",
            "loads.tip_force_y",
            "loads.tip_moment_x",
            "loads.base_acceleration_x",
        ),
        *("link1.joint_angle", "link1.length", "link3.section.width", "link1.stator.mass"),
        *("payload.centre.z", "link1.gear_ratio", "link3.support1.stiffness", "link2.length"),
        *("link2.density", "base_stiffness.k44", "link1.joint_stiffness", "link1.base_offset.y"),
    ]
    table = jm.sensitivities(arm, 3, addresses=names)
    for k, name in enumerate(names):
        value = float(jm.get_parameter(arm, name))
        step = 1e-4 * abs(value)
        ends = [
            np.asarray(jm.natural_frequencies(jm.set_parameters(arm, {name: value + x}), 3).omega)
            for x in (-step, step)
        ]
        slope = (ends[1] - ends[0]) / (2.0 * step)
        # brackets of 1e-12 over the step, and the curvature
        rounding = 2e-12 * np.asarray(table.frequencies.omega) / step
        np.testing.assert_array_less(
            np.abs(slope - table.derivative[:, k]),
            1e-6 * np.abs(slope).max() + 4.0 * rounding,
            err_msg=name,
        )
    mass = jax.grad(
        lambda x: jm.natural_frequencies(jm.set_parameters(arm, {"link1.stator.mass": x}), 1).omega[
            0
        ]
    )(0.3)
    np.testing.assert_allclose(mass, table.derivative[0, 7], rtol=1e-9, atol=0)


def test_repeated_frequencies_have_the_derivatives_of_both():
    """A round rod in tension bends alike in all directions; a body with two moments of inertia parts the modes."""
    rod = jm.SpatialLink(
        0.7,
        section=jm.circle(0.02, "cowper"),
        body=jm.RigidBody(1.0, inertia=(1e-3, 1e-3, 1e-3)),
        **MATERIAL,
    )
    pulled = jm.SpatialArm((rod,), loads=jm.SpatialLoads(tip_force_x=2e3))
    found = jm.natural_frequencies(pulled, 2)
    assert found.multiplicity.tolist() == [2, 2]
    assert found.certified.all()
    both = jm.directional_derivatives(pulled, {"link1.body.inertia.yy": 1.0}, 2)
    table = jm.sensitivities(pulled, 2, addresses=["link1.body.inertia.yy"], repeated="mean")
    np.testing.assert_allclose(table.derivative[:, 0], np.mean(both), rtol=1e-9, atol=0)
    step = 1e-6
    moved = jm.set_parameters(pulled, {"link1.body.inertia.yy": 1e-3 + step})
    slope = (np.asarray(jm.natural_frequencies(moved, 2).omega) - found.omega) / step
    np.testing.assert_allclose(both, slope, rtol=1e-3, atol=1e-4 * abs(slope[0]))


def test_springs_across_a_joint_turn_with_the_link_before():
    """Two rigid bars on springs in closed form: the second derivatives of the potential energy of a dead tip force."""
    bar = dict(MATERIAL, section=jm.rectangle(0.05, 0.03, "cowper"), density=1e-9, rigid=True)
    first, second, mass, inertia = 0.7, 0.5, (3.0, 5.0), (0.02, 0.03)
    stiffness, turned = np.array([4e3, 2e3, 3e4, 5e4]), np.array([0.4, 0.8])
    force = np.array([120.0, -260.0])
    springs = {"joint_shear_stiffness": stiffness[2], "joint_axial_stiffness": stiffness[3]}
    links = (
        jm.Link(first, joint_stiffness=4e3, joint_angle=0.4, tip_mass=3.0, tip_inertia=0.02, **bar),
        jm.Link(second, joint_stiffness=2e3, joint_angle=0.8, **springs, **bar),
    )
    arm = jm.to_spatial(jm.Arm(links, jm.Payload(mass[1], inertia=inertia[1])))
    loaded = arm.replace(loads=jm.SpatialLoads(tip_force_x=force[0], tip_force_y=force[1]))

    def turn(angle):
        return jnp.array([[jnp.cos(angle), -jnp.sin(angle)], [jnp.sin(angle), jnp.cos(angle)]])

    def ends(q):
        before = turned[0] + q[0]
        joint = turn(before) @ jnp.array([first, 0.0])
        moved = turn(before + turned[1]) @ q[3:1:-1]
        return joint, joint + moved + turn(before + turned[1] + q[1]) @ jnp.array([second, 0.0])

    def energy(q, force):
        return 0.5 * jnp.sum(stiffness * q**2) - force @ ends(q)[1]

    rest, curvature = np.zeros(4), jax.jit(jax.hessian(energy))
    along = np.concatenate(jax.jit(jax.jacobian(ends))(rest))
    spun = np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]])
    inertial = along.T @ np.diag(np.repeat(mass, 2)) @ along + spun.T @ np.diag(inertia) @ spun
    for one, pushed in ((arm, 0.0 * force), (loaded, force)):
        elastic = np.asarray(curvature(rest, pushed))
        expected = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(inertial, elastic)).real))
        found = jm.natural_frequencies(one, 4, theory=EB)
        np.testing.assert_allclose(found.omega, expected, rtol=1e-11, atol=0)


def test_heavy_rigid_bars_about_three_axes():
    """The second derivatives of the potential energy of three bars on single springs, with finite rotations."""
    thin, length, mass = jm.circle(1e-3), np.array([0.5, 0.4, 0.3]), np.array([2.0, 3.0, 1.5])
    axes, angles = np.eye(3)[[1, 2, 0]], np.array([0.4, -0.7, 0.9])
    stiffness = np.array([200.0, 150.0, 90.0])
    starts = np.array([[0.02, 0.05, -0.03], [0.0, -0.04, 0.06], [0.03, 0.02, 0.05]])
    bodies, places = (
        np.array([1.0, 2.0, 4.0]),
        np.array([[0.1, 0.05, 0.02], [0.0, 0.1, 0.1], [0.1, -0.1, 0.2]]),
    )
    links = tuple(
        jm.SpatialLink(
            length[k],
            7e10,
            mass[k] / (length[k] * 0.25e-6 * math.pi),
            thin,
            rigid=True,
            joint_axis=tuple(axes[k]),
            joint_angle=angles[k],
            joint_stiffness=stiffness[k],
            base_offset=tuple(starts[k]),
            body=jm.RigidBody(bodies[k], tuple(places[k])),
        )
        for k in range(3)
    )
    gravity, force = np.array([1.0, -2.0, -9.0]), np.array([20.0, -15.0, 8.0])
    names = [f"{name}_{x}" for name in ("gravity", "tip_force") for x in "xyz"]
    loads = jm.SpatialLoads(**dict(zip(names, [*gravity, *force], strict=True)))

    def turn(axis, angle):
        cross = jnp.cross(axis, jnp.eye(3), axisb=0, axisc=0)
        return jnp.eye(3) + jnp.sin(angle) * cross + (1.0 - jnp.cos(angle)) * cross @ cross

    def masses(q):
        """Return the places of the ends and the middle of each bar, of its body, and of the tip last."""
        at, axes_here, found = jnp.zeros(3), jnp.eye(3), []
        for k in range(3):
            axes_here = axes_here @ turn(jnp.array(axes[k]), angles[k] + q[k])
            at = at + axes_here @ starts[k]
            along = axes_here[:, 0] * length[k]
            found += [at + share * along for share in (0.0, 0.5, 1.0)]
            at = at + along
            found.append(at + axes_here @ places[k])
        return jnp.stack([*found, at])

    # a sixth of a bar at both its ends and the rest in its middle have its mass and its inertia
    weights = np.concatenate(
        [[*(mass[k] * np.array([1.0, 4.0, 1.0]) / 6.0), bodies[k]] for k in range(3)] + [[0.0]]
    )

    def energy(q):
        at = masses(q)
        return 0.5 * jnp.sum(stiffness * q**2) - weights @ at @ gravity - at[-1] @ force

    elastic = np.asarray(jax.jit(jax.hessian(energy))(np.zeros(3)))
    moved = np.asarray(jax.jit(jax.jacobian(masses))(np.zeros(3)))
    inertial = np.einsum("k,kxi,kxj->ij", weights, moved, moved)
    expected = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(inertial, elastic)).real))
    found = jm.natural_frequencies(jm.SpatialArm(links, loads=loads), 3, theory=EB)
    # the thickness of the bars
    np.testing.assert_allclose(found.omega, expected, rtol=1e-6, atol=0)
