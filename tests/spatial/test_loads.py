"""Loads of arms in space: beside planar arms, closed forms, loads of a call, and differences."""

import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from click.testing import CliRunner

import design_opt as do
import jaxmodal as jm
import sweeps
from jaxmodal.cli.commands import main
from jaxmodal.runtime.statuses import Status

EB = "euler_bernoulli"
MATERIAL = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33}
DOWN = jm.SpatialLoads(gravity_z=-9.81)


@pytest.fixture(scope="module")
def planar():
    """Two booms with a body off their line, in the plane, without loads."""
    boom = jm.Link(1.5, section=jm.rectangle(0.05, 0.02, "cowper"), end_offset_x=0.05, **MATERIAL)
    payload = jm.Payload(mass=8.0, inertia=0.1, centre_x=0.2)
    return jm.Arm((boom.replace(joint_angle=1.4), boom.replace(joint_angle=-2.2)), payload)


@pytest.fixture(scope="module")
def arm():
    """Two boxes on elastic joints and an elastic base, with all loads."""
    box = jm.hollow_rectangle(0.05, 0.03, 0.003, "cowper")
    link = jm.SpatialLink(
        0.6,
        section=box,
        joint_axis=(0, 1, 0),
        joint_stiffness=2e4,
        base_offset=(0.0, 0.02, 0.01),
        body=jm.RigidBody(1.0, (0.01, 0.02, 0.0), (0.01, 0.02, 0.015)),
        hub=jm.RigidBody(0.5),
        stator=jm.RigidBody(0.3, (0.0, 0.0, 0.02)),
        **MATERIAL,
    )
    bar = jm.SpatialLink(
        0.2, rigid=True, section=box, joint_axis=(1, 0, 0), joint_angle=0.3, **MATERIAL
    )
    held = (jm.Support("translation", (0, 1, 0), 3e4),)
    loads = jm.SpatialLoads(
        gravity_z=-9.81,
        tip_force_x=-100.0,
        tip_force_y=300.0,
        tip_moment_x=40.0,
        base_acceleration_x=2.0,
    )
    links = (
        link.replace(
            joint_angle=-1.0,
            rotor_inertia=2e-4,
            gear_ratio=50.0,
            motor="beyond_spring",
        ),
        bar,
        link.replace(joint_angle=0.7, supports=held),
    )
    payload = jm.RigidBody(8.0, (0.1, 0.0, 0.02), (0.1, 0.1, 0.1))
    base = [1e7, 1e7, 1e7, 1e5, 1e5, 1e5]
    return jm.SpatialArm(links, payload, base_stiffness=base, loads=loads)


def column(loads=None, **changes):
    """A strip that stands on the ground along z, weak about its y."""
    strip = jm.rectangle(depth=0.025, width=0.01)
    link = jm.SpatialLink(
        1.0, section=strip, joint_axis=(0, 1, 0), joint_angle=-math.pi / 2, **MATERIAL | changes
    )
    return jm.SpatialArm((link,), loads=loads)


def rigidities():
    return 7e10 * 0.025 * 0.01**3 / 12, 7e10 * 0.01 * 0.025**3 / 12


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


def test_own_loads_and_those_of_a_call_add_up(arm):
    call = {
        "gravity": (0.0, 0.0, -9.81),
        "tip_force": (-100.0, 300.0, 0.0),
        "tip_moment": (40.0, 0.0, 0.0),
    }
    call["base_acceleration"] = (2.0, 0.0, 0.0)
    bare = arm.replace(loads=None)
    half = arm.replace(
        loads=jm.SpatialLoads(
            **{
                address.removeprefix("loads."): 0.5 * jm.get_parameter(arm, address)
                for address in jm.list_addresses(arm)
                if address.startswith("loads.")
            }
        )
    )
    rest = {name: tuple(0.5 * x for x in value) for name, value in call.items()}
    expected = jm.preloaded_frequencies(bare, 3, **call).omega
    np.testing.assert_allclose(jm.natural_frequencies(arm, 3).omega, expected, rtol=4e-12, atol=0)
    found = [jm.preloaded_frequencies(x, 3, **y).omega for x, y in ((arm, {}), (half, rest))]
    np.testing.assert_allclose(found, [expected] * 2, rtol=4e-12, atol=0)
    for function in (jm.static_equilibrium, jm.buckling):
        every = [function(x, **y) for x, y in ((arm, {}), (half, rest), (bare, call))]
        name = "factors" if function is jm.buckling else "tip_displacement"
        values = [getattr(x, name) for x in every]
        np.testing.assert_allclose(values, [values[2]] * 3, rtol=1e-10, atol=1e-18)


def test_counts_bands_and_certificates(arm):
    found = jm.natural_frequencies(arm, 4)
    assert found.certified.all()
    assert (np.asarray(found.omega_error) < 2e-12).all()
    between = np.sqrt(np.asarray(found.omega)[1:] * np.asarray(found.omega)[:-1])
    assert jm.count_below(arm, np.array([0.0, *between])).tolist() == [0, 1, 2, 3]
    band = jm.frequencies_in_band(arm, between[0], between[2])
    np.testing.assert_allclose(band.omega, found.omega[1:3], rtol=4e-12, atol=0)
    assert band.first_mode == 2
    assert jm.certify(arm, found.omega).certified.all()
    bare = jm.natural_frequencies(arm.replace(loads=None), 4).omega
    assert not jm.certify(arm, bare).certified.any()


def test_batches_are_single_arms(arm):
    cells = {
        "link1.joint_angle": np.array([-1.0, 0.2, 0.0]),
        "loads.tip_force_y": np.array([0.0, 500.0, 0.0]),
        "payload.mass": np.array([8.0, 4.0, -1.0]),
    }
    batch = jm.natural_frequencies_batch(arm, cells, 2)
    for k in range(2):
        own = jm.set_parameters(arm, {name: float(x[k]) for name, x in cells.items()})
        np.testing.assert_allclose(
            batch.omega[k], jm.natural_frequencies(own, 2).omega, rtol=1e-14, atol=0
        )
    assert batch.certified[:2].all()
    assert (np.asarray(batch.status[2]) == Status.invalid_input).all()


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


def test_files_addresses_and_tables(arm, tmp_path):
    for suffix in ("toml", "json"):
        jm.write_arm(arm, tmp_path / f"arm.{suffix}")
        assert jm.read_arm(tmp_path / f"arm.{suffix}") == arm
    document = arm.to_dict()
    assert document["loads"]["gravity_z"] == -9.81
    given = jm.arm_from_dict(document | {"loads": {"tip_force_x": 2e3}})
    assert given.loads == jm.SpatialLoads(tip_force_x=2e3)
    assert jm.unit_of_address("loads.tip_moment_x") == "N m"
    assert jm.describe_address("loads.gravity_z") == "gravity along z"
    assert "loads: gravity_z -9.81 m/s^2" in str(arm)
    assert any(address == "loads.gravity_z" for address, *_ in jm.check_arm(arm).features)
    assert jm.set_parameters(arm, {"loads.tip_force_y": 1.0}).loads.tip_force_y == 1.0


def test_messages(arm, planar):
    with pytest.raises(
        jm.ArmError, match=r"loads = 3: must be SpatialLoads; give SpatialLoads\(gravity_z"
    ):
        arm.replace(loads=3)
    with pytest.raises(jm.ArmError, match=r"must be SpatialLoads"):
        arm.replace(loads=jm.Loads(gravity=9.81))
    with pytest.raises(jm.ArmError, match=r"must be Loads"):
        planar.replace(loads=DOWN)
    with pytest.raises(
        jm.ArmError, match=r"loads: there is none; give one of gravity_x, .*gravity_z = -9\.81"
    ):
        jm.SpatialLoads()
    with pytest.raises(jm.ArmError, match=r"loads\.tip_force_x = nan: must be finite \(N\)"):
        jm.SpatialLoads(tip_force_x=math.nan)
    with pytest.raises(
        jm.ArmError, match=r"loads\.gravity = 9\.81: belongs to planar arms; .*gravity_z"
    ):
        jm.arm_from_dict(arm.to_dict() | {"loads": {"gravity": 9.81}})
    with pytest.raises(jm.ArmError, match=r"it has no loads; .*SpatialLoads\(gravity_z=-9\.81\)"):
        jm.get_parameter(arm.replace(loads=None), "loads.gravity_z")
    with pytest.raises(jm.ArmError, match=r"'loads\.tip_force_z'"):
        jm.get_parameter(arm, "loads.tip_force_z")
    with pytest.raises(jm.ArmError, match=r"no load: .*loads=SpatialLoads\(gravity_z=-9\.81\)"):
        jm.buckling(column(jm.SpatialLoads(gravity_z=0.0)))


def test_implausible_loads():
    weak, _ = rigidities()
    critical = math.pi**2 * weak / 4.0

    def remarks(loads, of=None):
        return [str(x) for x in jm.check_arm((of or column()).replace(loads=loads)).remarks]

    assert remarks(jm.SpatialLoads(tip_force_z=-0.5 * critical)) == []
    (near,) = remarks(jm.SpatialLoads(tip_force_z=-0.9 * critical))
    assert "loads.tip_force_z" in near
    assert "more than 80 % of the critical load" in near
    (beyond,) = remarks(jm.SpatialLoads(tip_force_z=-1.1 * critical))
    assert "beyond the critical load" in beyond
    (far,) = remarks(jm.SpatialLoads(tip_force_x=0.5 * critical))
    assert "% of its length under its loads" in far
    assert any("mm/s^2" in x for x in remarks(jm.SpatialLoads(gravity_z=-9810.0)))
    hinge = column()
    hinge = hinge.replace(links=(hinge.links[0].replace(joint_stiffness=0.0),))
    (loose,) = remarks(jm.SpatialLoads(tip_force_x=1.0), hinge)
    assert "nothing holds the arm" in loose
    (out,) = remarks(DOWN, hinge)
    assert "push the arm out of this posture" in out


def test_commands(tmp_path):
    strip = jm.rectangle(0.03, 0.01, "cowper")
    link = jm.SpatialLink(1.0, section=strip, joint_axis=(0, 1, 0), **MATERIAL)
    arm = jm.SpatialArm((link,), jm.RigidBody(1.0), loads=DOWN.replace(tip_force_y=5.0))
    file = str(tmp_path / "arm.toml")
    jm.write_arm(arm, file)

    def answer(*words):
        result = CliRunner().invoke(main, [words[0], file, *words[1:], "--format", "json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.output)

    (found,) = answer("frequencies", "--modes", "2", "--tip-force", "0,1,0")
    assert found["loads"] == {"gravity": [0.0, 0.0, -9.81], "tip_force": [0.0, 6.0, 0.0]}
    more = jm.set_parameters(arm, {"loads.tip_force_y": 6.0})
    expected = jm.natural_frequencies(more, 2).frequencies_hz
    np.testing.assert_allclose(found["frequencies_hz"], expected, rtol=4e-12, atol=0)
    found = answer("buckling")
    factors = [each["load_factor"] for each in found["factors"]]
    np.testing.assert_allclose(factors, jm.buckling(arm).factors, rtol=1e-12, atol=0)
    result = CliRunner().invoke(main, ["modes", file, "--modes", "1"])
    assert result.exit_code == 2
    assert "loads: the arm has some, and mode_shapes takes no arm with loads" in result.output


def test_sweeps(tmp_path):
    strip = jm.rectangle(0.03, 0.01, "cowper")
    link = jm.SpatialLink(1.0, section=strip, joint_axis=(0, 1, 0), **MATERIAL)
    arm = jm.SpatialArm((link,), jm.RigidBody(1.0), loads=DOWN.replace(tip_force_x=0.0))
    axes = [
        sweeps.axis("loads.tip_force_x", [-100.0, 0.0]),
        sweeps.axis("link1.joint_angle", [0.0, 1.0]),
    ]
    sweep = sweeps.Sweep(arm, axes, num_modes=1, outputs=["buckling_factor"])
    found = sweeps.run(sweep, tmp_path / "store.zarr")
    for k, force in enumerate((-100.0, 0.0)):
        for j, angle in enumerate((0.0, 1.0)):
            own = jm.set_parameters(arm, {"loads.tip_force_x": force, "link1.joint_angle": angle})
            values = jm.natural_frequencies(own, 1).frequencies_hz, jm.buckling(own).factors
            cell = found.isel(loads_tip_force_x=k, link1_joint_angle=j)
            np.testing.assert_allclose(np.ravel(cell["frequency"]), values[0], rtol=4e-12, atol=0)
            np.testing.assert_allclose(
                np.ravel(cell["buckling_factor"]), values[1], rtol=1e-12, atol=0
            )
    with pytest.raises(
        sweeps.SweepError, match=r"'effective_mass' is not known of arms in space with loads"
    ):
        sweeps.Sweep(arm, axes, num_modes=1, outputs=["effective_mass"])


@pytest.mark.slow
def test_optimisation():
    """The lightest rod that its loads leave 8 Hz has 8 Hz under them, and is heavier than one without loads."""
    rod = jm.SpatialLink(
        0.8,
        section=jm.circle(0.03, "cowper"),
        joint_axis=(0, 1, 0),
        joint_angle=-math.pi / 2,
        **MATERIAL,
    )
    masses = []
    for loads in (None, jm.SpatialLoads(gravity_z=-9.81, tip_force_z=-300.0)):
        problem = do.Problem(
            jm.SpatialArm((rod,), jm.RigidBody(2.0), loads=loads),
            [do.Variable("link1.section.diameter", 0.02, 0.06)],
            do.MinimiseMass(),
            [do.FrequencyLimit(at_least_hz=8.0)],
        )
        best = do.optimise(problem)
        assert (best.status.name, best.certified) == ("converged", True)
        own = jm.set_parameters(problem.arm, dict(best.values))
        np.testing.assert_allclose(
            jm.natural_frequencies(own, 1).frequencies_hz, 8.0, rtol=1e-6, atol=0
        )
        masses.append(float(own.total_mass))
    assert masses[1] > 1.01 * masses[0]


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
