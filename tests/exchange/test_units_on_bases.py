"""Units of FMI of arms in space with joints that slide, springs across joints, and bases that give way, move or float.

FMPy runs them beside `simulate`. What compiles: one arm with rigid links on each of three bases.
"""

import dataclasses
import shutil
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics
from jaxmodal.dynamics.mechanics.free_bases import at_zero, coordinate_rates
from jaxmodal.exchange import write_fmu
from tests.symbolic.test_pieces_in_space import model_on

TORQUES = np.array([1.5, -4.0, 0.8])
#: of a driven base, m/s^2 and rad/s^2
SHAKEN = np.array([3.0, -2.0, 1.0, 8.0, -5.0, 6.0])
UNTIL = 0.05


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class Steadily(dynamics.Motion):
    """From rest with constant accelerations."""

    acceleration: Any

    def angles(self, time):
        return 0.5 * jnp.asarray(self.acceleration) * time**2


def runner():
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler cc")
    pytest.importorskip("fmpy.validation", reason="FMPy (pip install fmpy) is not installed")
    return pytest.importorskip("fmpy")


def started(model):
    """Joints turned and slid, springs strained by a little, all in motion; a driven base begins at rest."""
    rng = np.random.default_rng(3)
    layout = model.layout
    q, rate = at_zero(model), 0.5 * rng.uniform(-1.0, 1.0, model.num_rates)
    q[: layout.size] = 1e-3 * rng.uniform(-1.0, 1.0, layout.size)
    q[: model.num_links] = [0.7, 0.2, -0.5]
    q[layout.driven] = q[: model.num_links]
    q[layout.given] = rate[layout.given] = 0.0
    if model.floats:
        q[-7:] = [0.1, -0.2, 0.3, 0.9, 0.3, -0.6, 0.2]  # a quaternion need not have length 1
    return q, rate


@pytest.mark.slow
@pytest.mark.parametrize("base", ["elastic", "driven", "free"])
def test_the_unit_moves_as_simulate_does(base, tmp_path):
    """Derivatives at the start to 1e-9 of the largest of their kind, and a motion of 50 ms, to 1e-6."""
    fmpy = runner()
    usual = {"frames": "rotation", "rotor_motion": "carried", "torsion_spin": "absolute"}
    model = model_on(base, shapes=False).posed(**usual)
    q, rate = started(model)
    made = write_fmu(model, tmp_path / "arm.fmu", start=[*q, *rate], step=2e-5, build=True)
    assert fmpy.validation.validate_fmu(made.path) == []
    assert made.inputs[:3] == ("torque1", "force2", "torque3")
    values = np.concatenate([TORQUES, SHAKEN[: len(made.inputs) - 3]])
    signals = np.array(
        [(0.0, *values), (UNTIL, *values)],
        dtype=[(name, float) for name in ("time", *made.inputs)],
    )
    slopes = [f"der({name})" for name in made.states]
    seen = fmpy.simulate_fmu(
        made.path,
        stop_time=UNTIL,
        step_size=0.01,
        output_interval=0.01,
        input=signals,
        output=[*slopes, *made.outputs],
    )
    more = {"base_acceleration": SHAKEN} if base == "driven" else {}
    expected = [
        np.asarray(coordinate_rates(model, jnp.asarray(q), jnp.asarray(rate))),
        np.asarray(dynamics.forward_dynamics(model, q, rate, TORQUES, **more)),
    ]
    found = np.array([seen[name][0] for name in slopes])
    for part, truth in zip(np.split(found, [q.size]), expected, strict=True):
        np.testing.assert_allclose(part, truth, rtol=0.0, atol=1e-9 * np.abs(truth).max())
    motion = dynamics.simulate(
        model,
        np.linspace(0.0, UNTIL, 6),
        q,
        rate,
        torque=lambda time, q, rate, model: TORQUES + 0.0 * time,
        base_motion=Steadily(SHAKEN) if base == "driven" else None,
        method="rk4",
        step=2e-5,
    )
    pairs = {f"joint{k}.rate": motion["joint_rate"].values[:, k - 1] for k in (1, 2, 3)}
    for k, name in enumerate(("joint1.angle", "joint2.position", "joint3.angle")):
        pairs[name] = motion["joint_angle"].values[:, k]
    pairs |= {f"tip.{a}": motion["tip_position"].values[:, k] for k, a in enumerate("xyz")}
    if base == "free":
        pairs |= {
            f"base.position.{a}": motion["base_position"].values[:, k] for k, a in enumerate("xyz")
        }
        pairs |= {
            f"base.quaternion.{a}": motion["base_quaternion"].values[:, k]
            for k, a in enumerate("wxyz")
        }
    assert set(pairs) == set(made.outputs)
    for name, truth in pairs.items():
        scale = max(1.0, np.abs(truth).max())
        np.testing.assert_allclose(seen[name], truth, rtol=0.0, atol=1e-6 * scale, err_msg=name)


def small(**changes):
    """A rigid link that turns on a slide."""
    body = jm.RigidBody(4.0, inertia=(1.0, 1.0, 1.0))
    slide = jm.SpatialLink(0.0, rigid=True, prismatic=True, stator=body, body=body)
    bar = jm.SpatialLink(0.5, rigid=True, body=body)
    return dynamics.flexible_arm(jm.SpatialArm((slide, bar)), gravity=(0, 0, -9.81), **changes)


def test_variables_have_the_units_of_what_they_are(tmp_path):
    made = write_fmu(small(base="free"), tmp_path / "free.fmu", build=False)
    assert made.inputs == ("force1", "torque2")
    assert made.outputs[:2] == ("joint1.position", "joint2.angle")
    assert made.states[2:9] == ("base.x", "base.y", "base.z", *(f"base.q{a}" for a in "wxyz"))
    assert made.states[-6:] == (*(f"base.v{a}" for a in "xyz"), *(f"base.w{a}" for a in "xyz"))
    assert (made.fastest, made.step, made.stable_step) == (0.0, 1e-3, np.inf)
    assert "nothing oscillates" in str(made)
    driven = write_fmu(small(base="driven"), tmp_path / "driven.fmu", build=False)
    assert driven.inputs[2] == "base.displacement1.acceleration"


def test_a_base_that_floats_begins_somewhere(tmp_path):
    model = small(base="free")
    start = np.zeros(model.num_coordinates + model.num_rates)
    with pytest.raises(jm.ArmError, match=r"start: its last four entries are 0"):
        write_fmu(model, tmp_path / "free.fmu", start=start, build=False)
    with pytest.raises(jm.ArmError, match=f"{start.size} numbers, the coordinates and their rates"):
        write_fmu(model, tmp_path / "free.fmu", start=start[1:], build=False)


def test_what_has_no_inertia_is_refused_before_it_is_written(tmp_path):
    rotor = {"rotor_inertia": 1e-4, "gear_ratio": 20.0, "motor": "beyond_spring"}
    beam = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.003, 0.04), joint_stiffness=300.0, **rotor)
    model = dynamics.flexible_arm(jm.Arm((beam,)), 1)
    with pytest.raises(jm.ArmError, match="motor 1 must have inertia to move freely"):
        write_fmu(model, tmp_path / "arm.fmu", build=False)
