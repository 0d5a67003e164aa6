"""What users see of an arm at rest: fields along links, torques, reactions, warnings, pictures, the command."""

import json

import jax
import numpy as np
import pytest

import jaxmodal as jm
from tests.support.commands import run_command

EB = "euler_bernoulli"
BEAM = jm.Link(2.0, 1e5, 1.0, jm.raw_section(1.0, 1.0))
DOWN = {"gravity": (0.0, -10.0)}


def close(found, truth, tolerance=1e-14):
    scale = np.max(np.abs(truth)) or 1.0
    assert np.max(np.abs(np.asarray(found) - truth)) <= tolerance * scale


def test_a_cantilever_under_its_weight_along_its_length():
    """M = -w (L - x)^2/2, v = -w x^2 (6 L^2 - 4 L x + x^2)/(24 E I), psi its slope."""
    found = jm.static_equilibrium(jm.Arm((BEAM,)), theory=EB, **DOWN)
    x, w, rigidity = 2.0 * found.stations, 10.0, 1e5
    close(found.bending_moment[0], -w * (2.0 - x) ** 2 / 2)
    close(found.shear_force[0], -w * (2.0 - x))
    close(found.displacement[0, :, 1], -w * x**2 * (24.0 - 8.0 * x + x**2) / (24 * rigidity))
    close(found.rotation[0], -w * x * (12.0 - 6.0 * x + x**2) / (6 * rigidity))
    close(found.base_reaction, [0.0, 20.0, 20.0])
    close(found.positions[0, -1], [2.0, 0.0])
    close(found.tip_displacement, [0.0, -10.0 * 16 / 8e5, -10.0 * 8 / 6e5])


def test_shear_and_stretch():
    """Timoshenko's v adds w (L x - x^2/2)/(kappa G A); hanging, u = w (L x - x^2/2)/(E A)."""
    beam = BEAM.replace(section=jm.raw_section(1.0, 1.0, 0.8), shear_modulus=50.0 / 0.8 * 1e3)
    across = jm.static_equilibrium(jm.Arm((beam,)), **DOWN)
    plain = jm.static_equilibrium(jm.Arm((beam,)), theory=EB, **DOWN)
    x = 2.0 * across.stations
    extra = (across.displacement - plain.displacement)[0, :, 1]
    assert np.max(np.abs(extra + 10.0 * (2.0 * x - x**2 / 2) / 5e4)) <= 1e-16
    hanging = jm.static_equilibrium(jm.Arm((beam,)), gravity=(10.0, 0.0))
    close(hanging.displacement[0, :, 0], 10.0 * (2.0 * x - x**2 / 2) / 1e5)
    rigid = jm.static_equilibrium(jm.Arm((beam,)), theory="bending_only", gravity=(10.0, 0.0))
    assert np.all(rigid.displacement == 0.0)


@pytest.mark.parametrize("joint", [{}, {"joint_stiffness": 3000.0}])
def test_supports_without_stiffness_hold_nothing(joint):
    plain = BEAM.replace(joint_angle=0.3, **joint)
    alone, beside = (
        jm.Arm((x,))
        for x in (plain, plain.replace(support_y_stiffness=0.0, support_x_stiffness=0.0))
    )
    found, truth = (jm.static_equilibrium(x, theory=EB, **DOWN) for x in (beside, alone))
    assert np.array_equal(found.displacement, truth.displacement)
    assert np.array_equal(found.base_reaction, truth.base_reaction)
    assert not found.reactions.any()
    factors = [jm.buckling(x, 1, theory=EB, **DOWN).factors[0] for x in (beside, alone)]
    assert abs(factors[0] / factors[1] - 1.0) <= 1e-12
    given = [jm.preloaded(x, theory=EB, **DOWN).links[0].axial_force for x in (beside, alone)]
    assert given[0] == given[1]


def test_the_whole_is_in_equilibrium():
    """Base, supports and loads of a bent arm with everything add up to nothing, moments about the base too."""
    arm = jm.examples.three_link_industrial().with_posture([0.9, -0.7])
    arm = arm.replace(
        links=(
            *arm.links[:2],
            arm.links[2].replace(support_y_stiffness=4e4, support_x_stiffness=1e4),
        ),
        payload=jm.Payload(mass=12.0, inertia=0.3, centre_x=0.1, centre_y=-0.05),
    )
    found = jm.static_equilibrium(arm, gravity=(0.0, -9.81), tip_force=(40.0, 0.0))
    tip = found.positions[-1, -1]
    weight = -9.81 * float(arm.total_mass)
    total = found.base_reaction[:2] + found.reactions[:, :2].sum(axis=0) + [40.0, weight]
    assert np.max(np.abs(total)) <= 1e-12 * abs(weight)
    moved = -found.reactions[-1, :2] - [1e4, 4e4] * found.tip_displacement[:2]
    assert np.max(np.abs(moved)) <= 1e-10 * np.max(np.abs(found.reactions))
    # the joint before carries what the section there carries
    for k in (1, 2):
        close(found.joint_torque[k], found.bending_moment[k, 0], 1e-12)
    assert np.abs(tip[0]) > 0.1


def test_a_steady_acceleration_is_gravity_against_it():
    arm = jm.Arm((BEAM.replace(joint_angle=0.4, tip_mass=2.0),))
    moved = jm.static_equilibrium(arm, theory=EB, gravity=(0.0, -9.0), base_acceleration=(3.0, 1.0))
    still = jm.static_equilibrium(arm, theory=EB, gravity=(-3.0, -10.0))
    assert np.array_equal(moved.displacement, still.displacement)


def test_large_deflections_are_told():
    soft = jm.Arm((BEAM.replace(youngs_modulus=100.0),))
    with pytest.warns(jm.LargeDeflectionWarning, match=r"turns by 0\.133 rad .* moves by 10 %"):
        found = jm.static_equilibrium(soft, theory=EB, **DOWN)
    assert not found.ok
    assert "TOO LARGE" in str(found)


def test_results_show_themselves():
    found = jm.static_equilibrium(jm.Arm((BEAM,)), theory=EB, **DOWN)
    assert "joint torque" in str(found)
    dataset = found.to_xarray()
    assert float(dataset.joint_torque[0]) == found.joint_torque[0]
    assert dataset.bending_moment.attrs["units"] == "N m"
    assert float(dataset.reaction.sel(ground="base", component="force_y")) == 20.0
    for field in ("deflection", "bending_moment"):
        axes = found.plot(field=field)
        assert field.replace("_", " ") in axes.get_title()
    with pytest.raises(jm.ArmError, match="field = 'stress': choose one of 'deflection'"):
        found.plot(field="stress")


@pytest.mark.parametrize(
    ("link", "options", "message"),
    [
        (BEAM, {}, "no load"),
        (BEAM, {"gravity": (0.0, -1e308), "tip_force": (0.0, -1e308)}, "at rest are not finite in fl"),
        (BEAM, {"stations": [2.0], **DOWN}, "stations = .*shares of the length from 0 to 1"),
        (BEAM.replace(joint_stiffness=0.0), DOWN, r"link1.joint_stiffness = 0: nothing holds the arm .* a moment"),
        (BEAM.replace(joint_shear_stiffness=0.0), DOWN, r"link1.joint_shear_stiffness = 0: .* a force"),
    ],
)  # fmt: skip
def test_refused(link, options, message):
    with pytest.raises(jm.ArmError, match=message):
        jm.static_equilibrium(jm.Arm((link,)), theory=EB, **options)


def test_command(tmp_path):
    path, picture = tmp_path / "beam.toml", tmp_path / "beam.svg"
    jm.write_arm(jm.Arm((BEAM,)), path)
    words = ["--no-check", "statics", str(path), "--gravity", "0,-10", "--theory", EB]
    run = run_command(*words, "--format", "json", "--plot", picture)
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    close(found["joint_torque"], [-20.0])
    close(found["tip_displacement"][1], -2e-4)
    assert picture.stat().st_size > 5000
    turned = run_command(*words, "--posture-deg", "90")
    assert "joint torque" in turned.output
    bad = run_command("--no-check", "statics", path, "--theory", EB)
    assert bad.exit_code == 2
    assert "no load" in bad.output
    assert "--gravity 0,-9.81" in " ".join(bad.output.split())


@pytest.mark.parametrize("call", [jm.static_equilibrium, jm.buckling, jm.preloaded])
def test_traced_arms_are_told_what_to_do(call):
    arm = jm.examples.two_link_flexible()

    def asked(length):
        return call(jm.set_parameters(arm, {"link1.length": length}), gravity=(0.0, -9.81))

    words = rf"is traced, and {call.__name__} takes .*; call it outside of jit, vmap and grad"
    with pytest.raises(jm.ArmError, match=words):
        jax.jit(asked)(1.0)


def test_traced_loads_are_told_so():
    planar, in_space = jm.examples.two_link_flexible(), jm.examples.six_axis_industrial()
    for asked in (
        lambda g: jm.static_equilibrium(planar, gravity=(0.0, g)),
        lambda g: jm.buckling(in_space, gravity=(0.0, 0.0, g)),
        lambda g: jm.buckling(in_space, gravity=g * np.ones(3)),
    ):
        with pytest.raises(jm.ArmError, match=r"gravity = .*: is traced by jax\.jit.* outside"):
            jax.jit(asked)(1.0)
