"""Loads of arms in space in use: calls, counts, batches, files, messages, remarks, commands, sweeps, optimisation."""

import json
import math

import jax
import numpy as np
import pytest

import design_opt as do
import jaxmodal as jm
import sweeps
from jaxmodal.runtime.statuses import Status
from sweeps.analysis import tracking
from sweeps.explorer.data import ordered, page_data
from tests.spatial.loaded_arms import (
    DOWN,
    MATERIAL,
    arm_with_everything,
    column,
    planar_booms,
    rigidities,
)
from tests.support.commands import run_command


@pytest.fixture(scope="module")
def planar():
    return planar_booms()


@pytest.fixture(scope="module")
def arm():
    return arm_with_everything()


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
    with pytest.raises(
        jm.ArmError, match=r"loads\.pieces = 4: belongs to planar arms; leave it out"
    ):
        jm.arm_from_dict(arm.to_dict() | {"loads": {"gravity_z": -9.81, "pieces": 4}})
    with pytest.raises(
        jm.ArmError, match=r"file: loads\.gravity_z = -9\.81: belongs to arms in space; .*gravity ="
    ):
        jm.arm_from_dict(planar.to_dict() | {"loads": {"gravity_z": -9.81}}, "file")
    with pytest.raises(jm.ArmError, match=r"it has no loads; .*SpatialLoads\(gravity_z=-9\.81\)"):
        jm.get_parameter(arm.replace(loads=None), "loads.gravity_z")
    for address, words in (
        ("loads.tip_force_z", r"no value there; give 'loads\.tip_force_z' one"),
        ("loads.gravity", r"Did you mean 'loads\.gravity_z'"),
        ("loads.gravty_z", r"Did you mean 'loads\.gravity_z'"),
    ):
        with pytest.raises(jm.ArmError, match=words):
            jm.get_parameter(arm, address)
    with pytest.raises(jm.ArmError, match=r"no load: .*loads=SpatialLoads\(gravity_z=-9\.81\)"):
        jm.buckling(column(jm.SpatialLoads(gravity_z=0.0)))


@pytest.mark.parametrize(
    "function",
    [jm.natural_frequencies, jm.buckling, jm.static_equilibrium, jm.preloaded_frequencies],
)
def test_batches_of_loads_are_refused_by_name(function):
    several = column(jm.SpatialLoads(gravity_z=np.array([-9.81, -1.6])))
    with pytest.raises(jm.ArmError, match=r"loads\.gravity_z = <float64\[2\]>: this takes one arm"):
        function(several)


@pytest.mark.parametrize("function", [jm.buckling, jm.static_equilibrium, jm.preloaded_frequencies])
def test_traced_loads_are_refused_by_name(function):
    with pytest.raises(jm.ArmError, match=f"arm: is traced, and {function.__name__} takes"):
        jax.jit(lambda g: function(column(jm.SpatialLoads(gravity_z=g))).positions)(-9.81)


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
    found = remarks(jm.SpatialLoads(gravity_x=1e-12, gravity_z=-9810.0))
    assert found[0].startswith("loads.gravity_z = -9810: m/s^2 expected")
    assert found[0].endswith("if this is in mm/s^2, write -9.81")
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
        result = run_command(words[0], file, *words[1:], "--format", "json")
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
    shown = run_command("modes", file, "--modes", "1")
    assert shown.exit_code == 0, shown.output
    result = run_command("explore", file, "--out", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "page.html").read_text()
    assert '"loads.tip_force_y"' in text
    assert '"loads.gravity_z"' in text


def test_sweeps(tmp_path):
    strip = jm.rectangle(0.03, 0.01, "cowper")
    link = jm.SpatialLink(1.0, section=strip, joint_axis=(0, 1, 0), **MATERIAL)
    arm = jm.SpatialArm((link,), jm.RigidBody(1.0), loads=DOWN.replace(tip_force_x=0.0))
    axes = [
        sweeps.axis("loads.tip_force_x", [-100.0, 0.0]),
        sweeps.axis("link1.joint_angle", [0.0, 1.0]),
    ]
    outputs = ["buckling_factor", "effective_mass", "strain_energy_fraction"]
    sweep = sweeps.Sweep(arm, axes, num_modes=1, outputs=outputs)
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
            shapes = jm.mode_shapes(own, 1, stations=2)
            mass = np.ravel(cell["effective_mass"])
            np.testing.assert_allclose(mass, shapes.effective_mass[0, :3], rtol=1e-9, atol=1e-12)
            shares = cell["strain_energy_fraction"]
            np.testing.assert_allclose(shares.sum(), 1.0, rtol=1e-12, atol=0)
            share = shapes.energies.preload.sum() / shapes.energies.strain[0]
            np.testing.assert_allclose(
                shares.sel(strain_part="preload"), float(share), rtol=1e-9, atol=1e-12
            )
    page = page_data(ordered(found))
    assert "why" not in page["exact"]  # it solves the arm between the cells, too
    assert len(page["arm"]["links"]) == 1


@pytest.mark.slow
def test_sweeps_of_damped_arms():
    tube = jm.hollow_circle(0.05, 0.002, "cowper")
    link = jm.SpatialLink(
        1.0,
        section=tube,
        joint_axis=(0, 1, 0),
        joint_stiffness=3e4,
        joint_damping=30.0,
        **MATERIAL,
    )
    arm = jm.SpatialArm((link,), jm.RigidBody(4.0), loads=DOWN)
    sweep = sweeps.Sweep(
        arm,
        [sweeps.axis("link1.joint_angle", [-1.5, 0.0])],
        num_modes=1,
        outputs=["damping_ratio", "peak_response", "tip_compliance"],
        response=sweeps.Response("tip.z", "tip.z", (1.0, 60.0)),
    )
    found = sweeps.run(sweep)
    for k, angle in enumerate((-1.5, 0.0)):
        own = jm.set_parameters(arm, {"link1.joint_angle": angle})
        cell, tip = found.isel(link1_joint_angle=k), ["tip.x", "tip.y", "tip.z"]
        ratio = jm.damped_modes(own, 1).damping_ratio
        np.testing.assert_allclose(np.ravel(cell["damping_ratio"]), ratio, rtol=1e-9, atol=0)
        values = jm.static_compliance(own, tip, tip).values
        np.testing.assert_allclose(cell["tip_compliance"], values, rtol=1e-9, atol=1e-15)
        peak = np.abs(jm.response_peaks(own, 2 * np.pi, 120 * np.pi, "tip.z", "tip.z").values).max()
        np.testing.assert_allclose(cell["peak_response"], peak, rtol=1e-9, atol=0)
    assert tracking.track(found, "link1_joint_angle").branch.values.tolist() == [[1], [1]]


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
