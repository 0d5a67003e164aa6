"""Units of FMI of arms in space with joints that slide, springs across joints, and bases that give way, move or float.

FMPy runs them beside `simulate`. What compiles: one arm with rigid links on each of three bases.
"""

import ctypes
import dataclasses
import shutil
import subprocess
import zipfile
from typing import Any
from xml.etree import ElementTree

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

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


class Compiled:
    """The functions of the C source of a unit."""

    def __init__(self, made, folder):
        if shutil.which("cc") is None:
            pytest.skip("there is no C compiler cc")
        with zipfile.ZipFile(made.path) as unit:
            unit.extractall(folder)
        sources = [folder / "sources" / name for name in ("model.c", "arm_equations.c")]
        library = folder / "model.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, *sources, "-lm"], check=True)
        self.library, self.made = ctypes.CDLL(str(library)), made

    def __call__(self, state, given):
        """Rates of the states and outputs, by name."""
        numbers = (np.array(state, float), np.array(given, float))
        found = [np.zeros(len(names)) for names in (self.made.states, self.made.outputs)]
        for name, room in zip(("model_derivatives", "model_outputs"), found, strict=True):
            at = [x.ctypes.data_as(ctypes.c_void_p) for x in (*numbers, room)]
            getattr(self.library, name)(*at)
        names = ([f"der({name})" for name in self.made.states], self.made.outputs)
        return [dict(zip(of, room, strict=True)) for of, room in zip(names, found, strict=True)]


def turning(base):
    """A bar of 4 kg at 0.5 m that turns about z on a base of 3 kg, without gravity."""
    bar = jm.SpatialLink(
        *(0.5,),
        rigid=True,
        joint_axis=(0, 0, 1),
        stator=jm.RigidBody(3.0, inertia=(1.0, 1.5, 2.0)),
        body=jm.RigidBody(4.0, inertia=(0.3, 0.4, 0.2)),
    )
    return dynamics.flexible_arm(jm.SpatialArm((bar,)), base=base, gravity=(0.0, 0.0, 0.0))


def test_the_source_of_a_bar_on_a_base_that_is_shaken(tmp_path):
    """The moment about the joint: of the turning of both, and of the base that leaves the mass behind."""
    made = write_fmu(turning("driven"), tmp_path / "driven.fmu", build=False)
    angle, torque = 0.7, 2.5
    rates, outputs = Compiled(made, tmp_path)([angle, *np.zeros(13)], [torque, *SHAKEN])
    moment = 4.0 * 0.5 * (SHAKEN[1] * np.cos(angle) - SHAKEN[0] * np.sin(angle))
    turned = (torque - moment) / (0.2 + 4.0 * 0.5**2) - SHAKEN[5]
    assert rates["der(theta1.rate)"] == pytest.approx(turned, rel=1e-13)
    kinds = [
        f"der(base.{kind}{k}.rate)" for kind in ("displacement", "rotation") for k in (1, 2, 3)
    ]
    np.testing.assert_array_equal([rates[name] for name in kinds], SHAKEN)
    tip = [outputs[f"tip.{a}"] for a in "xyz"]
    np.testing.assert_allclose(
        tip, [0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.0], rtol=0.0, atol=1e-15
    )


def test_the_source_of_a_bar_on_a_base_that_floats(tmp_path):
    """Place and quaternion by rotations of SciPy; the rest keeps momentum, its moment and energy."""
    made = write_fmu(turning("free"), tmp_path / "free.fmu", build=False)
    place, turn = np.array([0.1, -0.2, 0.3]), np.array([0.9, 0.3, -0.6, 0.2])
    velocity, spin = np.array([0.4, -0.7, 0.5]), np.array([1.1, 0.6, -0.8])
    angle, rate, longer = 0.7, -0.9, 1.7

    unit = Compiled(made, tmp_path)
    state = np.array([angle, *place, *(longer * turn), rate, *velocity, *spin])
    rates, outputs = unit(state, [0.0])
    slopes = np.array(list(rates.values()))
    exact = turn / np.linalg.norm(turn)
    seen = [outputs[f"base.quaternion.{a}"] for a in "wxyz"]
    np.testing.assert_allclose(seen, exact, rtol=0.0, atol=1e-15)
    seen = [outputs[f"base.position.{a}"] for a in "xyz"]
    np.testing.assert_array_equal(seen, place)
    assert (outputs["joint1.angle"], outputs["joint1.rate"]) == (angle, rate)

    stands = Rotation.from_quat(exact, scalar_first=True)
    np.testing.assert_allclose(slopes[1:4], stands.apply(velocity), rtol=0.0, atol=1e-14)
    step = 1e-6
    ahead, behind = (
        (stands * Rotation.from_rotvec(sign * step * spin)).as_quat(scalar_first=True)
        for sign in (1.0, -1.0)
    )
    expected = longer * np.linalg.norm(turn) * (ahead - behind) / (2.0 * step)
    np.testing.assert_allclose(slopes[4:8], expected, rtol=0.0, atol=1e-9)

    def kept(state):
        axes = Rotation.from_quat(state[4:8], scalar_first=True)
        of_bar = axes * Rotation.from_rotvec([0.0, 0.0, state[0]])
        base, omega = axes.apply(state[9:12]), axes.apply(state[12:15])
        lever = of_bar.apply([0.5, 0.0, 0.0])
        spun = omega + axes.apply([0.0, 0.0, state[8]])
        pushed = 4.0 * (base + np.cross(spun, lever))
        own = of_bar.apply(np.array([0.3, 0.4, 0.2]) * of_bar.inv().apply(spun))
        of_base = axes.apply(np.array([1.0, 1.5, 2.0]) * state[12:15])
        whole = 3.0 * base + pushed
        about = of_base + own + np.cross(state[1:4], whole) + np.cross(lever, pushed)
        turns = (spun @ own + omega @ of_base) / 2.0
        energy = turns + 1.5 * base @ base + pushed @ pushed / 8.0
        return np.array([*whole, *about, energy])

    step = 1e-5
    changes = (kept(state + step * slopes) - kept(state - step * slopes)) / (2.0 * step)
    np.testing.assert_allclose(changes, 0.0, rtol=0.0, atol=1e-8)


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
    units = {}
    for unit in (made, driven):
        text = zipfile.ZipFile(unit.path).read("modelDescription.xml")
        units |= {
            x.get("name"): x.get("unit") for x in ElementTree.fromstring(text).iter("Float64")
        }
    assert (units["force1"], units["torque2"]) == ("N", "N.m")
    assert (units["joint1.position"], units["joint2.angle"]) == ("m", "rad")
    assert (units["joint1.rate"], units["joint2.rate"]) == ("m/s", "rad/s")
    assert (units["base.displacement1"], units["base.rotation1"]) == ("m", "rad")
    accelerations = [units[f"base.{of}1.acceleration"] for of in ("displacement", "rotation")]
    assert accelerations == ["m/s/s", "rad/s/s"]
    assert (units["base.x"], units["base.vx"], units["base.wx"]) == ("m", "m/s", "rad/s")


def test_the_longest_step_heeds_dampers(tmp_path):
    """A mode with losses K times a time: the roots of its quadratic, which are real where that is long."""
    beam = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.003, 0.04), hub_inertia=0.01)
    fastest = [
        write_fmu(
            dynamics.flexible_arm(jm.Arm((beam,)), 1, kelvin_voigt_time=time),
            tmp_path / f"{time}.fmu",
            build=False,
        ).fastest
        for time in (0.0, 1.0)
    ]
    half = 0.5 * fastest[0] ** 2
    expected = half + np.sqrt(half**2 - fastest[0] ** 2)
    assert fastest[1] == pytest.approx(expected, rel=1e-10)


def test_a_base_that_floats_begins_somewhere(tmp_path):
    model = small(base="free")
    start = np.zeros(model.num_coordinates + model.num_rates)
    with pytest.raises(jm.ArmError, match=r"start: its last four entries are 0"):
        write_fmu(model, tmp_path / "free.fmu", start=start, build=False)
    with pytest.raises(
        jm.ArmError, match=f"{start.size} finite numbers, the coordinates and their rates"
    ):
        write_fmu(model, tmp_path / "free.fmu", start=start[1:], build=False)


def test_what_has_no_inertia_is_refused_before_it_is_written(tmp_path):
    rotor = {"rotor_inertia": 1e-4, "gear_ratio": 20.0, "motor": "beyond_spring"}
    beam = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.003, 0.04), joint_stiffness=300.0, **rotor)
    model = dynamics.flexible_arm(jm.Arm((beam,)), 1)
    with pytest.raises(jm.ArmError, match="motor 1 must have inertia to move freely"):
        write_fmu(model, tmp_path / "arm.fmu", build=False)
