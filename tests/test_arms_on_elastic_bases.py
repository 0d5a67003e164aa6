"""What else takes an elastic base: responses, equilibria, postures, files, commands, pictures, sweeps, optimisation."""

import json
import math

import numpy as np
import pytest

import jaxmodal as jm
from design_opt import FrequencyLimit, MinimiseMass, Problem, ProblemError, Variable, optimise
from sweeps import Sweep, axis, run
from sweeps.analysis.verify import verify
from tests.support.commands import run_command
from tests.support.elastic_bases import TWO, on_base, on_rigid_link
from tests.support.real_arms import relative, steel

PORTS = ["tip.x", "tip.rotation", "tip_1.y"]
ON_LINK = ["tip.x", "tip.rotation", "tip_2.y"]


def test_responses():
    """Damped, of forces and of a ground that moves, at rest, and damped modes: as on the rigid link."""
    links = tuple(link.replace(loss_factor=0.01, joint_damping=3.0) for link in TWO)
    arm, omega = on_base(links=links), np.array([30.0, 200.0, 950.0, 4000.0])
    other = on_rigid_link(arm)
    found = jm.frequency_response(arm, omega, PORTS, PORTS).values
    truth = jm.frequency_response(other, omega, ON_LINK, ON_LINK).values
    assert np.max(np.abs(found - truth) / np.abs(truth)) <= 1e-11
    moved = {"quantity": "transmissibility"}
    found = jm.frequency_response(arm, omega, ["base.x", "base.y"], PORTS, **moved).values
    truth = jm.frequency_response(other, omega, ["base.x", "base.y"], ON_LINK, **moved).values
    assert np.max(np.abs(found - truth) / np.abs(truth)) <= 1e-11
    found = jm.static_compliance(arm, PORTS, PORTS).values
    truth = jm.static_compliance(other, ON_LINK, ON_LINK).values
    assert np.max(np.abs(found - truth) / np.abs(truth)) <= 1e-13
    found, truth = (jm.damped_modes(x, 4).damping_ratio for x in (arm, other))
    assert np.max(np.abs(found / truth - 1)) <= 1e-11


def test_a_ground_that_is_accelerated_slowly():
    """A shift of the ground turns nothing: rotations are those under steady forces of inertia, and no digit is lost."""
    arm = on_base()
    first = float(jm.natural_frequencies(arm, 1).omega[0])
    ports = ["tip_1.rotation", "tip.rotation", "joint_1.relative_rotation"]
    for direction, acceleration in (("base.x", (1.0, 0.0)), ("base.y", (0.0, 1.0))):
        rest = jm.static_equilibrium(arm, base_acceleration=acceleration)
        truth = np.array([*rest.rotation[:, -1], rest.joint_torque[0] / 1e5])
        for share in (1e-6, 1e-8):
            found = jm.harmonic_response(arm, share * first, {direction: 1.0}, ports).values[:, 0]
            assert np.max(np.abs(found / truth - 1)) <= 1e-11


def test_responses_of_cells_and_their_derivatives():
    """Postures that turn against the base one by one; derivatives by differences."""
    arm, omega = on_base(), np.array([30.0, 200.0, 950.0])
    cells = {
        "link1.joint_angle": np.linspace(0.0, 1.0, 4),
        "base_stiffness.k33": np.linspace(3e4, 6e4, 4),
    }
    many = np.asarray(
        jm.frequency_response(arm, omega, "tip.x", "tip_1.y", parameters=cells).values
    )
    singles = [{a: float(v[k]) for a, v in cells.items()} for k in range(4)]
    for k, values in enumerate(singles):
        one = jm.frequency_response(
            jm.set_parameters(arm, values), omega, "tip.x", "tip_1.y"
        ).values
        assert np.max(np.abs(many[k] - one)) <= 1e-13 * np.max(np.abs(one))
    names = ["base_stiffness.k13", "link1.joint_angle"]
    table = jm.response_sensitivities(arm, omega, "tip.x", "tip.x", addresses=names)
    for column, name in enumerate(names):
        value = float(jm.get_parameter(arm, name))
        step = 1e-5 * value
        ends = [
            jm.frequency_response(
                jm.set_parameters(arm, {name: value + s}), omega, "tip.x", "tip.x"
            )
            for s in (-step, step)
        ]
        slope = np.ravel(ends[1].values - ends[0].values) / (2 * step)
        found = np.asarray(table.derivative)[..., column].ravel()
        assert np.max(np.abs(found - slope)) <= 1e-6 * np.max(np.abs(slope)), name


def test_a_base_that_is_free_lets_no_motion_of_the_ground_through():
    """Exactly none along its free direction; rounding once passed for resonances, and the sum's residual was NaN."""
    sliding = on_base([0.0, 1e6, 1e4])
    found = jm.frequency_response(
        sliding, [1e-3, 5.0, 50.0], ["base.x", "base.y"], "tip.x", quantity="transmissibility"
    )
    assert np.all(found.values[0, 0] == 0.0)
    assert np.all(found.status[0, 0] == jm.Status.resolved)
    assert np.all(np.abs(found.values[0, 1]) > 1e-12)
    summed = jm.modal_superposition(sliding, "base.x", "tip.x", num_modes=6, damping_ratio=0.01)
    assert np.all(np.isfinite(summed.residual))
    assert jm.truncation_error(summed, omega=[1.0, 5.0]).worst < 1e-3


def test_at_rest():
    """Deflections add what the base gives under its reaction; a buckling factor's derivatives are differences."""
    arm = on_base()
    rest = jm.static_equilibrium(arm, gravity=(1.0, -9.81))
    other = jm.static_equilibrium(on_rigid_link(arm), gravity=(1.0, -9.81))
    assert np.allclose(rest.tip_displacement, other.tip_displacement, rtol=1e-12, atol=0)
    names = ["base_stiffness.k13", "link1.joint_angle"]
    found = jm.buckling(arm, 1, tip_force=(-1000.0, -300.0), addresses=names)
    for name, slope in zip(names, np.ravel(found.derivatives), strict=True):
        value = float(jm.get_parameter(arm, name))
        ends = [
            float(
                jm.buckling(
                    jm.set_parameters(arm, {name: x}), 1, tip_force=(-1000.0, -300.0)
                ).factors[0]
            )
            for x in (value * (1 - 1e-4), value * (1 + 1e-4))
        ]
        assert abs((ends[1] - ends[0]) / (2e-4 * value) / slope - 1) <= 1e-5, name


def test_postures_with_a_frequency():
    """The angle of link 1 turns all against the base, and every angle turns the arm against a support at the tip."""
    held = jm.Arm((TWO[0], TWO[1].replace(support_x_stiffness=1e6)))
    for arm in (on_base(), held):
        omega = float(jm.natural_frequencies(arm, 2).omega[1])
        found = jm.postures_at(arm, omega)
        angles = np.asarray(found.angle)[np.asarray(found.certified)]
        assert np.min(np.abs(angles - 0.7)) <= 1e-11
        for angle in angles:
            own = np.asarray(jm.natural_frequencies(arm.with_posture([angle]), 3).omega)
            assert np.min(np.abs(own / omega - 1)) <= 1e-11


def test_files_the_command_line_and_pictures(tmp_path):
    arm = on_base(name="on springs")
    for name in ("arm.toml", "arm.json"):
        jm.write_arm(arm, tmp_path / name)
        assert jm.read_arm(tmp_path / name) == arm
    ran = run_command("frequencies", tmp_path / "arm.toml", "--modes", "3", "--format", "json")
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.output)[0]["frequencies_hz"]
    assert (
        np.max(relative(found, np.asarray(jm.natural_frequencies(arm, 3).frequencies_hz))) <= 1e-14
    )
    checked = run_command("check", tmp_path / "arm.json").output
    assert "base_stiffness.k12" in checked
    assert "base: k11 3e+06 N/m" in str(arm)
    assert "posture 22.9183°, 40.107°" in str(arm)
    free = [row[:2] for row in jm.check_arm(on_base([1e6, math.inf, 0.0])).features]
    assert ("base_stiffness.k33", 0.0) in free
    (tmp_path / "wrong.json").write_text(json.dumps(arm.to_dict() | {"base_stiffness": "stiff"}))
    ran = run_command("check", tmp_path / "wrong.json")
    assert (ran.exit_code, "base_stiffness = 'stiff': must be three rows" in ran.output) == (
        2,
        True,
    )
    pytest.importorskip("matplotlib")
    marks = {line.get_marker(): line.get_markerfacecolor() for line in arm.plot().lines}
    assert marks["s"] == "white"


def test_a_sweep_and_an_optimum(tmp_path):
    """Over an entry of the matrix; and the softest base that keeps a frequency."""
    values = [3e4, 5e4, math.inf]
    sweep = Sweep(
        on_base([3e6, 2e6, 5e4]),
        [axis("base_stiffness.k33", values)],
        theories=["timoshenko"],
        num_modes=3,
    )
    ds = run(sweep, tmp_path / "store.zarr").load()
    assert bool(ds.certified.all())
    assert verify(ds, 9).failures == ()
    for k, value in enumerate(values):
        own = jm.natural_frequencies(on_base([3e6, 2e6, value]), 3).frequencies_hz
        found = ds.frequency.isel(base_stiffness_k33=k).values.ravel()
        assert np.max(relative(found, np.asarray(own))) <= 1e-13
    arm = on_base([3e6, 2e6, 5e4], links=(steel(),))
    depth = "link1.section.depth"
    problem = Problem(
        arm, [Variable(depth, 0.01, 0.03)], MinimiseMass(), [FrequencyLimit(1, at_least_hz=40.0)]
    )
    best = optimise(problem)
    assert best.status == jm.Status.converged
    lowest = jm.natural_frequencies(jm.set_parameters(arm, {depth: float(best.values[depth])}), 1)
    assert abs(float(lowest.frequencies_hz[0]) / 40.0 - 1) <= 1e-6
    free = on_base([0.0, 2e6, 5e4], links=(steel(),))
    with pytest.raises(
        ProblemError, match=r"mode 1 is a motion .*base_stiffness\.k11 = 0.* mode = 2"
    ):
        Problem(free, [Variable(depth, 0.01, 0.03)], MinimiseMass(), problem.constraints)
