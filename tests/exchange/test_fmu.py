"""Units of FMI 3.0: FMPy finds them valid and runs them to the motion that `simulate` has."""

import re
import shutil
import subprocess
import zipfile
from xml.etree import ElementTree

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics
from jaxmodal.exchange import write_fmu
from jaxmodal.symbolic.python_code import function
from jaxmodal.symbolic.terms import Writer
from jaxmodal.symbolic.writers import writer_of

BEAM = {
    "length": 0.5,
    "youngs_modulus": 7e10,
    "density": 2700.0,
    "section": jm.rectangle(depth=0.003, width=0.04),
}
TORQUES = np.array([1.5, -0.4])


def arm(**values):
    second = jm.Link(**BEAM, hub_mass=0.5, hub_inertia=0.01, joint_angle=0.4, **values)
    return jm.Arm((jm.Link(**BEAM, hub_inertia=0.01), second), jm.Payload(0.2))


def geared():
    """A spring in joint 2, whose rotor is before it: the motor has a coordinate of its own."""
    return arm(joint_stiffness=400.0, rotor_inertia=1e-5, gear_ratio=50.0, motor="held")


def model_of(**values):
    return dynamics.flexible_arm(arm(), modes=1, damping_ratio=0.01, gravity=(0.0, -9.81), **values)


def cc():
    return shutil.which("cc") or pytest.skip("there is no C compiler cc")


def fmpy():
    pytest.importorskip("fmpy.validation", reason="FMPy (pip install fmpy) is not installed")
    return pytest.importorskip("fmpy")


def run(path, kind, outputs, until, **more):
    names = [("time", float), ("torque1", float), ("torque2", float)]
    signals = np.array([(0.0, *TORQUES), (until, *TORQUES)], dtype=names)
    return fmpy().simulate_fmu(
        str(path),
        fmi_type=kind,
        stop_time=until,
        step_size=0.01,
        output_interval=0.01,
        input=signals,
        output=list(outputs),
        **more,
    )


@pytest.mark.parametrize("name", ["plain", pytest.param("geared", marks=pytest.mark.slow)])
def test_the_motion_of_the_unit_is_that_of_simulate(name, tmp_path):
    """Half a second under steady torques and gravity, by both interfaces: to 1e-6, rates relatively."""
    cc()
    model = model_of()
    if name == "geared":
        model = dynamics.flexible_arm(geared(), modes=1, gravity=(0.0, -9.81))
    q = np.zeros(model.num_coordinates)
    q[:2], q[model.layout.driven] = [0.3, -0.5], [0.3, -0.5]
    q[2] = 1e-3
    made = write_fmu(model, tmp_path / "arm.fmu", start=[*q, *(0.0 * q)], step=1e-4, build=True)
    assert fmpy().validation.validate_fmu(made.path) == []
    times = np.linspace(0.0, 0.5, 51)
    motion = dynamics.simulate(
        model,
        times,
        q,
        torque=lambda time, q, rate, model: TORQUES + 0.0 * time,
        method="rk4",
        step=1e-4,
    )
    for kind, more in (("CoSimulation", {}), ("ModelExchange", {"relative_tolerance": 1e-12})):
        seen = run(made.path, kind, made.outputs, 0.5, **more)
        np.testing.assert_allclose(seen["time"], times, rtol=0.0, atol=1e-12)
        for k in range(2):
            angle, rate = (motion[name].values[:, k] for name in ("joint_angle", "joint_rate"))
            place, names = motion["tip_position"].values[:, k], f"joint{k + 1}"
            fast = 1e-6 * np.abs(rate).max()
            np.testing.assert_allclose(seen[f"{names}.angle"], angle, rtol=0.0, atol=1e-6)
            np.testing.assert_allclose(seen[f"{names}.rate"], rate, rtol=0.0, atol=fast)
            np.testing.assert_allclose(seen[f"tip.{'xy'[k]}"], place, rtol=0.0, atol=1e-6)


def test_steps_that_follow_their_error_give_the_same_motion(tmp_path):
    """By the tolerance of the unit, and by that which the importer asks for."""
    cc()
    model = model_of()
    q = np.array([0.3, -0.5, 1e-3, 0.0])
    given = {"start": [*q, *(0.0 * q)], "build": True}
    fixed = write_fmu(model, tmp_path / "fixed.fmu", step=2e-5, **given)
    free = write_fmu(model, tmp_path / "free.fmu", integrator="dopri5", tolerance=1e-9, **given)
    assert "steps that err by 1e-09 at most" in str(free)
    assert fmpy().validation.validate_fmu(free.path) == []
    truth = run(fixed.path, "CoSimulation", fixed.outputs, 0.2)
    errors = []
    for tolerance in (None, 1e-4):
        more = {} if tolerance is None else {"relative_tolerance": tolerance}
        seen = run(free.path, "CoSimulation", free.outputs, 0.2, **more)
        errors.append(max(np.abs(seen[name] - truth[name]).max() for name in free.outputs))
    assert errors[0] < 1e-6
    assert errors[0] < 0.1 * errors[1]
    assert errors[1] < 1e-2


@pytest.mark.parametrize("order", ["full", "first"])
@pytest.mark.parametrize("frames", ["rotation", "linear"])
def test_the_written_place_of_the_tip_is_that_of_the_model(order, frames):
    model = model_of(inertia_order=order, frames=frames)
    writer = Writer(model, "numeric")
    made = function(writer.written({"p": writer.tip()}, {"p": "the tip"}, "numeric"))
    q = np.array([0.4, -0.7, 0.03, -0.02])
    np.testing.assert_allclose(
        made(q, 0.0 * q)["p"], dynamics.tip_position(model, q), rtol=0.0, atol=1e-14
    )


def in_space():
    """Two joints about axes that cross, a link that bends in both planes, twists and stretches."""
    tube = {**BEAM, "section": jm.hollow_circle(0.02, 0.002, "cowper"), "poisson_ratio": 0.3}
    body = jm.RigidBody(0.5, (0.0, 0.0, 0.0), (0.01, 0.01, 0.01))
    second = jm.SpatialLink(**tube, joint_axis=(0, 1, 0), joint_angle=0.4, hub=body)
    first = jm.SpatialLink(**tube, joint_axis=(0, 0, 1), hub=body)
    return jm.SpatialArm((first, second), jm.RigidBody(0.2, (0.0, 0.02, 0.0), (1e-3, 2e-3, 2e-3)))


@pytest.mark.slow
def test_the_motion_of_an_arm_in_space_is_that_of_simulate(tmp_path):
    cc()
    model = dynamics.flexible_arm(in_space(), modes=[0, 1], gravity=(0.0, 0.0, -9.81))
    q = np.zeros(model.num_coordinates)
    q[:2] = [0.3, -0.5]
    made = write_fmu(model, tmp_path / "arm.fmu", start=[*q, *(0.0 * q)], step=1e-5, build=True)
    assert made.outputs[-3:] == ("tip.x", "tip.y", "tip.z")
    assert fmpy().validation.validate_fmu(made.path) == []
    times = np.linspace(0.0, 0.1, 11)
    torque = np.asarray(TORQUES)
    motion = dynamics.simulate(
        model, times, q, torque=lambda t, q, rate, model: torque + 0.0 * t, method="rk4", step=1e-5
    )
    seen = run(made.path, "CoSimulation", made.outputs, 0.1)
    for k in range(3):
        place = motion["tip_position"].values[:, k]
        np.testing.assert_allclose(seen[f"tip.{'xyz'[k]}"], place, rtol=0.0, atol=1e-6)
    for k in range(2):
        angle = motion["joint_angle"].values[:, k]
        np.testing.assert_allclose(seen[f"joint{k + 1}.angle"], angle, rtol=0.0, atol=1e-6)


def test_the_written_place_of_the_tip_in_space_is_that_of_the_model():
    model = dynamics.flexible_arm(in_space(), modes=1)
    writer = writer_of(model, "numeric")
    made = function(writer.written({"p": writer.tip()}, {"p": "the tip"}, "numeric"))
    q = np.random.default_rng(0).uniform(-0.3, 0.3, model.num_coordinates)
    np.testing.assert_allclose(
        made(q, 0.0 * q)["p"], dynamics.tip_position(model, q), rtol=0.0, atol=1e-14
    )


@pytest.mark.parametrize(
    ("integrator", "force"),
    [("rk4", 1.0), ("dopri5", 1.0), ("dopri5", 1e-9), ("the importer's", 1.0)],
)
def test_a_linear_model_is_a_unit_too(integrator, force, tmp_path):
    """Its response to a step is that of the matrix exponential, to the same digits whatever the size of the step.

    Importers judge errors by the sizes of states that a unit says are usual.
    """
    from scipy.linalg import expm

    cc()
    link = jm.Link(**BEAM, joint_stiffness=500.0, joint_damping=1.0)
    system = jm.state_space(
        jm.Arm((link,)), ["tip_1.force_y"], ["tip_1.y"], 2, theory="euler_bernoulli"
    )
    here = integrator in ("rk4", "dopri5")
    given = {"build": True, "step": 1e-4} | ({"integrator": integrator} if here else {})
    made = write_fmu(system, tmp_path / "linear.fmu", **given)
    assert fmpy().validation.validate_fmu(made.path) == []
    signals = np.array(
        [(0.0, force), (0.1, force)], dtype=[("time", float), ("tip_1.force_y", float)]
    )
    seen = fmpy().simulate_fmu(
        made.path,
        fmi_type="CoSimulation" if here else "ModelExchange",
        relative_tolerance=None if here else 1e-8,
        stop_time=0.1,
        output_interval=0.01,
        step_size=0.01,
        input=signals,
        output=["tip_1.y"],
    )
    size = system.A.shape[0]
    matrix = np.block([[system.A, force * system.B], [np.zeros((1, size + 1))]])
    expected = [
        system.C[0] @ expm(matrix * t)[:size, size] + force * system.D[0, 0] for t in seen["time"]
    ]
    np.testing.assert_allclose(seen["tip_1.y"], expected, rtol=0.0, atol=1e-6 * max(expected))


def test_the_sources_build_without_a_warning_and_say_what_is_in_them(tmp_path):
    made = write_fmu(model_of(), tmp_path / "arm.fmu", build=False)
    assert (made.platform, made.remark) == ("", "not asked for")
    with zipfile.ZipFile(made.path) as archive:
        archive.extractall(tmp_path / "unit")
        assert not [name for name in archive.namelist() if name.startswith("binaries")]
    folder = tmp_path / "unit" / "sources"
    described = ElementTree.parse(folder / "buildDescription.xml").getroot()
    names = [file.get("name") for file in described.iter("SourceFile")]
    assert sorted(names) == sorted(path.name for path in folder.glob("*.c"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fPIC", "-shared"]
    command = [cc(), *flags, "-o", str(tmp_path / "unit.so"), *names, "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    functions = set(
        re.findall(
            r"fmi3\w+",
            subprocess.run(
                ["nm", "-D", "--defined-only", str(tmp_path / "unit.so")],
                capture_output=True,
                text=True,
                check=False,
            ).stdout,
        )
    )
    assert {"fmi3DoStep", "fmi3GetContinuousStateDerivatives", "fmi3GetFloat32"} <= functions


def test_the_same_model_gives_the_same_bytes(tmp_path):
    texts = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        made = write_fmu(model_of(), tmp_path / name / "arm.fmu", build=False)
        with open(made.path, "rb") as file:
            texts.append(file.read())
    assert texts[0] == texts[1]


def test_steps_are_for_the_fastest_oscillation(tmp_path):
    """The largest of those of the linearised model with free joints is a lower bound, its posture being one of many."""
    model = dynamics.flexible_arm(arm(), modes=1)
    made = write_fmu(model, tmp_path / "arm.fmu", build=False)
    omega = dynamics.linearise(model, np.zeros(4)).natural_frequencies().max()
    assert omega * (1.0 - 1e-6) <= made.fastest < 2.0 * omega
    assert made.step == pytest.approx(0.05 / made.fastest, rel=1e-14, abs=0.0)
    assert write_fmu(model, tmp_path / "arm.fmu", build=False, step=1e-5).step == 1e-5
    assert "unstable" in str(made)


def test_dry_friction_that_holds_an_arm_holds_it_in_the_unit_too(tmp_path):
    """Smoothed friction lets a bar creep at w artanh(torque of its weight/friction); long steps chattered past that."""
    cc()
    link = jm.Link(**BEAM, rigid=True, hub_inertia=0.01)
    model = dynamics.flexible_arm(
        jm.Arm((link,), jm.Payload(0.2)), 0, gravity=(0.0, -9.81), coulomb_friction=10.0
    )
    mass = 2700.0 * 0.003 * 0.04 * 0.5
    inertia = mass * 0.5**2 / 3.0 + 0.2 * 0.5**2 + 0.01
    weight = 9.81 * (mass * 0.25 + 0.2 * 0.5)
    made = write_fmu(model, tmp_path / "held.fmu", build=True)
    assert made.fastest == 0.0
    assert made.stiffest == pytest.approx(10.0 / 0.01 / inertia, rel=1e-12)
    assert made.step == pytest.approx(1.0 / made.stiffest, rel=1e-14)
    assert made.stable_step == pytest.approx(2.785 / made.stiffest, rel=1e-14)
    assert "unstable" in str(made)
    seen = fmpy().simulate_fmu(
        made.path, stop_time=0.2, output_interval=0.1, output=list(made.outputs)
    )
    expected = -0.01 * np.arctanh(weight / 10.0)
    assert seen["joint1.rate"][-1] == pytest.approx(expected, rel=1e-3, abs=1e-9)
    assert seen["joint1.angle"][-1] == pytest.approx(0.2 * expected, rel=1e-2, abs=1e-9)


def test_where_there_is_no_compiler_there_are_sources_and_a_word(tmp_path):
    made = write_fmu(model_of(), tmp_path / "arm.fmu", compiler="no_such_cc")
    assert made.platform == ""
    assert made.remark == "there is no C compiler 'no_such_cc' here"
    with pytest.raises(jm.ArmError, match="compiler = 'no_such_cc': there is no C compiler"):
        write_fmu(model_of(), tmp_path / "arm.fmu", compiler="no_such_cc", build=True)
    with pytest.raises(jm.ArmError, match=r"compiler = 'false': the compiler 'false' failed"):
        write_fmu(model_of(), tmp_path / "arm.fmu", compiler="false", build=True)


@pytest.mark.parametrize(
    ("model", "values", "message"),
    [
        (model_of, {"path": "arm.xml"}, r"must end in \.fmu"),
        (model_of, {"start": [1.0]}, "start = .*8 finite numbers, the coordinates and their rates"),
        (model_of, {"step": -1.0}, "step"),
        (model_of, {"integrator": "euler"}, "integrator = 'euler': must be one of 'rk4', 'dopri5'"),
        (model_of, {"tolerance": 1e-6}, "tolerance = 1e-06: steps of 'rk4' are all alike"),
        (model_of, {"integrator": "dopri5", "tolerance": 0.0}, "tolerance"),
        (model_of, {"build": "yes"}, "build = 'yes': must be True or False"),
        (arm, {}, "flexible_arm"),
    ],
)
def test_arguments_that_are_refused(model, values, message, tmp_path):
    path = tmp_path / values.pop("path", "arm.fmu")
    with pytest.raises(jm.ArmError, match=message):
        write_fmu(model(), path, **values)
