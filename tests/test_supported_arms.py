"""Do files, the command line, sweeps, optimisation and pictures take arms with supports?"""

import json
import math

import numpy as np
import pytest

import jaxmodal as jm
from design_opt import FrequencyLimit, MinimiseMass, Problem, Variable, optimise
from sweeps import Sweep, axis, run
from sweeps.analysis.verify import verify
from tests.support import finite_elements
from tests.support.commands import run_command
from tests.support.problems import ORACLE
from tests.support.real_arms import relative, steel

FILE = """
[[links]]
length = 0.5
youngs_modulus = 2e11
poisson_ratio = 0.3
density = 7800
joint_stiffness = 0
section = { shape = "rectangle", depth = 0.02, width = 0.04, shear_coefficient = 0.85 }

[[links]]
length = 0.5
youngs_modulus = 2e11
poisson_ratio = 0.3
density = 7800
joint_angle_deg = 40
support_x_stiffness = 2e5
support_y_stiffness = inf
support_torsional_stiffness = 0
section = { shape = "rectangle", depth = 0.02, width = 0.04, shear_coefficient = 0.85 }
"""


def truth_of(arm, theory, count):
    return finite_elements.frequencies(finite_elements.case_from_arm(arm, theory), count, 30)


def test_files_and_the_command_line(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(FILE)
    arm = jm.read_arm(path)
    assert math.isinf(arm.links[1].support_y_stiffness)
    jm.write_arm(arm, tmp_path / "again.toml")
    assert jm.read_arm(tmp_path / "again.toml") == arm
    jm.write_arm(arm, tmp_path / "again.json")
    assert jm.read_arm(tmp_path / "again.json") == arm
    ran = run_command("frequencies", path, "--modes", "4", "--format", "json")
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.output)[0]["frequencies_hz"]
    assert np.max(relative(2 * np.pi * np.array(found), truth_of(arm, "timoshenko", 4))) <= ORACLE
    table = run_command("check", path).output
    assert "link2.support_y_stiffness" in table


def test_a_sweep_over_supports(tmp_path):
    """From none to rigid, over angles of which the first turns the arm against the ground; verified by counts."""
    first = steel(joint_stiffness=0.0)
    arm = jm.Arm((first, steel(joint_angle=0.6, support_y_stiffness=1e6)))
    sweep = Sweep(
        arm,
        [
            axis("link2.support_y_stiffness", [0.0, 1e6, np.inf]),
            axis("link1.joint_angle", [0.0, 0.7]),
            axis("link2.joint_angle", [0.3, 1.2]),
        ],
        theories=["timoshenko"],
        num_modes=4,
    )
    ds = run(sweep, tmp_path / "store.zarr").load()
    assert bool(ds.certified.all())
    assert verify(ds, 12).failures == ()
    zeros = (ds.frequency == 0.0).sum("mode").squeeze().values
    assert np.all(zeros[0] == 1)
    assert np.all(zeros[1:] == 0)
    cell = arm.with_posture([0.7, 1.2])
    found = ds.frequency.isel(link2_support_y_stiffness=1, link1_joint_angle=1, link2_joint_angle=1)
    error = relative(2 * np.pi * found.values.ravel(), truth_of(cell, "timoshenko", 4))
    assert np.max(error) <= ORACLE


def test_optimisation_with_supports():
    """The thinnest link that a spring at its tip keeps at 95 Hz; the spring counts."""
    arm = jm.Arm((steel(support_y_stiffness=1e5),))
    spring, depth = "link1.support_y_stiffness", "link1.section.depth"
    limits = [FrequencyLimit(1, at_least_hz=95.0)]
    problem = Problem(arm, [Variable(depth, 0.01, 0.03)], MinimiseMass(), limits)
    best = optimise(problem)
    assert best.status == jm.Status.converged
    stiff = jm.set_parameters(arm, {depth: float(best.values[depth])})
    lowest = float(jm.natural_frequencies(stiff, 1).frequencies_hz[0])
    assert abs(lowest / 95.0 - 1) <= 1e-6
    softer = jm.set_parameters(stiff, {spring: 0.0})
    assert float(jm.natural_frequencies(softer, 1).frequencies_hz[0]) < 85.0


def test_pictures_show_supports():
    """Rigid ones filled, springs hollow; a base that slides has no mark of a clamp."""
    pytest.importorskip("matplotlib")
    first = steel(joint_shear_stiffness=0.0)
    arm = jm.Arm(
        (first, steel(joint_angle=0.6, support_x_stiffness=1e5, support_y_stiffness=math.inf))
    )
    marks = {line.get_marker(): line.get_markerfacecolor() for line in arm.plot().lines}
    assert marks["<"] == "white"
    assert marks["^"] == "black"
    assert "s" not in marks
