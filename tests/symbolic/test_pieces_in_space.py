"""Are equations of joints that slide, springs across joints and bases that move those of the dynamics, in every form?

The dynamics differentiate the places of points; what is written here is Newton and Euler's recursion. What compiles:
all terms of four arms, one program of each.
"""

import functools

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import base_pose, flexible_arm, linearise, tip_position
from jaxmodal.symbolic import function, linearised_equations, to_sympy, write, written_equations
from jaxmodal.symbolic.writers import writer_of
from tests.support.spatial_dynamics_cases import CASES, ROUNDING, model_of, relative
from tests.support.symbolic_arms import own_terms, worst
from tests.support.written_forms import assert_same
from tests.symbolic.test_forms import by_program, c_program, needs_compiler

WANTED = ["B", "h", "g", "c", "tau"]
LINEAR = {"frames": "linear", "rotor_motion": "reflected", "torsion_spin": "relative"}
#: bases, and how the equations are posed on them
POSED = {
    "elastic": {},
    "driven": LINEAR,
    "free": {},
    "free in linear frames": LINEAR,
}


GRAVITY = (0.7, -1.0, -9.81)


def bent_and_sliding(base_stiffness=None):
    """A bent link with springs across its joint, a slide on springs and a bent link behind a spring about its axis."""
    section = jm.spatial_section(2e-4, 2e-9, 5e-9, 4e-9)
    beam = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33, "section": section}
    beam |= {"rotor_inertia": 1e-4, "gear_ratio": 20.0, "motor": "held"}
    body = jm.RigidBody(0.3, centre=(0.02, 0.01, -0.03), inertia=(0.01, 0.012, 0.015))
    springs = (
        jm.Spring("rotation", (0.6, 0.0, 0.8), 900.0),
        jm.Spring("translation", (0.0, 1.0, 0.0), 9e4),
    )
    more = (*springs, jm.Spring("rotation", (0.0, 1.0, 0.0), 700.0))
    first = jm.SpatialLink(0.5, hub=body, stator=body, joint_springs=more, **beam).replace(
        base_offset=(0.05, 0.02, 0.0), joint_frame=(jm.Rotation((0, 1, 0), 0.3),)
    )
    slide = jm.SpatialLink(0.2, rigid=True, prismatic=True, body=body, stator=body).replace(
        joint_springs=springs[::-1], base_offset=(0.3, 0.02, 0.1)
    )
    last = jm.SpatialLink(0.4, joint_axis=(0.0, 0.6, 0.8), joint_stiffness=300.0, **beam)
    return jm.SpatialArm((first, slide, last), payload=body, base_stiffness=base_stiffness)


@functools.cache
def model_on(name, shapes=True):
    """`bent_and_sliding` on a base, whose links bend or are rigid."""
    stiff = (1e5, 1e5, 1e5, 1e3, 1e3, 1e3) if name == "elastic" else None
    arm = bent_and_sliding(stiff)
    modes = [{"bending_xy": 2, "bending_xz": 1, "torsion": 1, "stretch": 1}, 1]
    modes.append({"bending_xy": 1, "torsion": 1})
    if not shapes:
        arm = arm.replace(links=tuple(link.replace(rigid=True) for link in arm.links))
        modes = 1
    more = {"gravity": GRAVITY, "damping_ratio": 0.01, "coulomb_friction": 0.2}
    base = name.split()[0]
    if base == "free":
        more["joint_position"] = (0.3, 0.1, 0.2)
    if base in ("free", "driven"):
        more["base"] = base
    return flexible_arm(arm, modes, **more).posed(**POSED[name])


def states(model, count, seed=0):
    """q, q' and q'' at random; quaternions of length 1."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.0, 1.0, (count, model.num_coordinates))
    q[:, : model.num_links] *= 3.0
    q[:, model.layout.modal] *= 0.03
    if model.floats:
        q[:, -4:] /= np.linalg.norm(q[:, -4:], axis=1)[:, None]
    return (q, *rng.uniform(-1.0, 1.0, (2, count, model.num_rates)))


@pytest.mark.slow
@pytest.mark.parametrize("name", POSED)
def test_every_term_is_that_of_the_dynamics(name):
    model = model_on(name)
    vectors = states(model, 20)
    terms = {key: np.asarray(value) for key, value in own_terms(model, *vectors).items()}
    for integrals in ("symbolic", "numeric"):
        found = function(written_equations(model, WANTED, integrals=integrals))(*vectors)
        for key, value in worst(found, terms, model, vectors[1]).items():
            assert value < 1e-13, (key, value)
    writer = writer_of(model, "numeric")
    tip = function(writer.written({"p": writer.tip()}, {"p": "the tip"}, "numeric"))
    np.testing.assert_allclose(
        tip(*vectors[:2])["p"], tip_position(model, vectors[0]), rtol=0.0, atol=1e-13
    )


@pytest.mark.parametrize("name", ["driven", "free"])
def test_linear_frames_of_rigid_pieces_are_frames_that_turn(name):
    """Without shapes no frame stretches: forces on three axes are Newton's and Euler's."""
    rigid = {"rotor_motion": "reflected", "torsion_spin": "relative"}
    exact = model_on(name, shapes=False).posed(**rigid)
    linear = exact.posed(frames="linear")
    vectors = states(exact, 5)
    found, truth = ({}, {})
    for model, values in ((linear, found), (exact, truth)):
        writer = writer_of(model, "numeric")
        tip = function(writer.written({"p": writer.tip()}, {"p": "the tip"}, "numeric"))
        values |= function(written_equations(model, ["B", "h", "g", "tau"]))(*vectors)
        values |= tip(*vectors[:2])
    assert_same(found, truth, 1e-13)


def test_the_weight_on_a_free_base_is_that_of_the_arm():
    """M g in the axes of the base, which the quaternion (w, u) turns: v - 2 w u x v + 2 u x (u x v)."""
    model = model_on("free", shapes=False)
    q = states(model, 5)[0]
    w, u = q[:, -4:-3], q[:, -3:]
    weight = bent_and_sliding().total_mass * np.array(GRAVITY)
    seen = weight - 2.0 * w * np.cross(u, weight) + 2.0 * np.cross(u, np.cross(u, weight))
    found = function(written_equations(model, ["g"]))(q, np.zeros((5, model.num_rates)))["g"]
    np.testing.assert_allclose(found[:, -6:-3], -seen, rtol=0.0, atol=1e-13 * 9.81 * 10.0)


def test_a_free_base_carries_the_rotor_of_its_joint():
    """With T = J (N q' + a . omega)^2/2 in place of J (N q')^2/2, and the moment of its spin, which turns with it."""
    axis, inertia, ratio = np.array([0.36, 0.48, 0.8]), 0.02, 30.0
    body = jm.RigidBody(0.3, centre=(0.02, 0.01, -0.03), inertia=(0.01, 0.012, 0.015))
    link = jm.SpatialLink(0.5, rigid=True, joint_axis=tuple(axis), body=body, stator=body).replace(
        rotor_inertia=inertia, gear_ratio=ratio, motor="held"
    )
    model = flexible_arm(jm.SpatialArm((link,)), base="free", joint_position=(0.3, 0.1, 0.2))
    q, rate, _ = states(model, 5)
    found = [
        function(written_equations(model.posed(rotor_motion=way), ["B", "h"]))(q, rate)
        for way in ("carried", "reflected")
    ]
    more = np.zeros((7, 7))
    more[4:, 4:] = inertia * np.outer(axis, axis)
    more[0, 4:] = more[4:, 0] = inertia * ratio * axis
    spin = rate[:, 4:]
    momentum = inertia * (ratio * rate[:, :1] + (spin @ axis)[:, None]) * axis
    moment = np.cross(spin, momentum)
    np.testing.assert_allclose(found[0]["B"] - found[1]["B"], [more] * 5, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(
        found[0]["h"] - found[1]["h"], np.pad(moment, ((0, 0), (4, 0))), rtol=0.0, atol=1e-13
    )


def test_the_free_base_of_the_cases():
    """40 digits; there the six rates of the base stand first."""
    case, model = CASES["P4"], model_of("P4")
    compute = function(written_equations(model, ["B", "h", "g", "tau"]))
    for state in case["evaluations"]:
        pose = base_pose(state["base_position"], state["base_rotation_vector"])
        q = np.concatenate([state["q"], pose])
        order = np.r_[6 : model.num_rates, 0:6]
        rate, acceleration = (np.array(state[key])[order] for key in ("v", "acceleration"))
        found = compute(q, rate, acceleration)
        mass = np.array(state["mass_matrix"])[np.ix_(order, order)]
        assert relative(found["B"], mass) < ROUNDING
        assert relative(found["h"], np.array(state["bias"])[order]) < ROUNDING
        forces = np.zeros(model.num_rates)
        forces[model.layout.driven], forces[-6:] = state["torques"], state["base_wrench"]
        # what is left is rounding of the parts
        parts = np.abs(mass) @ np.abs(acceleration)
        assert np.abs(found["tau"] - forces).max() < 1e-13 * parts.max()


@needs_compiler
@pytest.mark.parametrize(
    "name", ["elastic", "free", pytest.param("free in linear frames", marks=pytest.mark.slow)]
)
def test_c(name, tmp_path):
    model = model_on(name)
    equations = written_equations(model, ["B", "h", "g", "tau"])
    vectors = states(model, 10)
    program = c_program(equations, tmp_path, "-O0")
    # another order of operations than that of arrays: rounding
    assert_same(by_program(program, equations, *vectors), function(equations)(*vectors), 1e-13)


@pytest.mark.slow
def test_jax_compiles():
    model = model_on("free")
    equations = written_equations(model, ["g"])
    vectors = states(model, 3)[:2]
    found = jax.jit(function(equations, "jax"))(*vectors)
    assert_same(found, function(equations)(*vectors), 1e-13)


def test_other_forms_have_the_names_of_the_base():
    model = model_on("free")
    equations = written_equations(model, ["g"])
    q = states(model, 1)[0]
    assert equations.coordinates[-7:-3] == (*(f"base_p_{a}" for a in "xyz"), "base_quaternion_w")
    assert equations.rates[-1] == "base_omega_z"
    assert {"slide_2", "spring_1_1"} < set(equations.coordinates)
    assert r"\epsilon_{w}" in write(equations, "latex", "arm")["arm.tex"]
    with pytest.raises(ValueError, match="rate: of shape"):
        function(equations)(q, q)
    header = write(equations, "c", "arm")["arm.h"]
    size = model.num_rates
    assert f"const double q[{size + 1}], const double rate[{size}]" in header
    assert "The quaternion must have length 1." in header
    on_springs = written_equations(model_on("elastic"), ["Q"])
    assert on_springs.symbols["base_displacement_1"].unit == "m"
    assert on_springs.symbols["slide_2"].unit == "m"
    pytest.importorskip("sympy", reason="sympy is not installed")
    assert to_sympy(on_springs).matrices["Q"].shape == (len(on_springs.coordinates), 3)


@pytest.mark.slow
def test_matrices_of_small_motions():
    model = model_on("elastic")
    written = linearised_equations(model, deflections=True)
    q = states(model, 1)[0][0]
    rate = np.zeros(model.num_rates)
    found, expected = function(written)(q, rate), linearise(model, q)
    for name, value in zip("MDKG", expected[:4], strict=True):
        assert relative(found[name], value) < 1e-13, name
