"""Are the written equations of arms in space those of 40-digit cases and of `jaxmodal.dynamics`, in every form?

What compiles: all terms of four arms, and one program written for JAX. C needs a compiler. Joints that slide, springs
across joints and bases that move: `test_pieces_in_space`.
"""

import re
import time

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm, linearise
from jaxmodal.runtime.errors import ArmError
from jaxmodal.symbolic import (
    function,
    linearised_equations,
    operation_counts,
    to_sympy,
    write,
    written_equations,
)
from tests.support.spatial_dynamics_cases import (
    CANCELLED,
    CASES,
    HELD,
    ROUNDING,
    model_of,
    relative,
)
from tests.support.symbolic_arms import own_terms, states, worst
from tests.support.written_forms import assert_same
from tests.symbolic.test_forms import by_program, c_program, needs_compiler

WANTED = ["B", "h", "K", "D", "g", "tau"]


@pytest.mark.parametrize("integrals", ["symbolic", "numeric"])
@pytest.mark.parametrize("name", HELD)
def test_every_term_of_the_reference_cases(name, integrals):
    case, model = CASES[name], model_of(name)
    begun = time.process_time()
    equations = written_equations(model, WANTED, integrals=integrals)
    assert time.process_time() - begun < 10.0  # up to seven joints and two flexible links
    compute = function(equations)
    for state in case["evaluations"]:
        q, rate, acceleration = (np.array(state[key]) for key in ("q", "v", "acceleration"))
        found = compute(q, rate, acceleration)
        assert relative(found["B"], state["mass_matrix"]) < ROUNDING
        assert relative(found["h"], state["bias"]) < CANCELLED
        assert relative(found["g"], state["gravity_vector"]) < ROUNDING
        assert relative(found["K"], case["stiffness_matrix"]) < ROUNDING
        assert relative(found["D"], case["damping_matrix"]) < ROUNDING
        # the case's torques drive the case's accelerations: what is left is rounding of the parts
        torques = np.zeros(model.num_coordinates)
        torques[model.layout.driven] = state["torques"]
        parts = np.abs(found["B"]) @ np.abs(acceleration) + np.abs(found["K"]) @ np.abs(q)
        assert np.abs(found["tau"] - torques).max() < 1e-13 * parts.max()


def everything(**changes):
    """Two bent links with skew axes, offsets, a rotor on a spring, bodies, friction, and a rigid link between."""
    beam = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33, "rotor_inertia": 1e-4}
    section = jm.spatial_section(2e-4, 2e-9, 5e-9, 4e-9)
    beam |= {"section": section, "gear_ratio": 20.0, "motor": "held"}
    body = jm.RigidBody(0.3, centre=(0.02, 0.01, -0.03), inertia=(0.01, 0.012, 0.015))
    links = (
        jm.SpatialLink(0.5, hub=body, base_offset=(0.05, 0.02, 0.0), **beam),
        jm.SpatialLink(0.2, rigid=True, joint_axis=(0, 1, 0), hub=body, stator=body),
        jm.SpatialLink(0.4, joint_axis=(0.0, 0.6, 0.8), joint_stiffness=300.0, **beam),
    )
    arm = jm.SpatialArm(links, payload=body)
    modes = [
        {"bending_xy": 2, "bending_xz": 1, "torsion": 1, "stretch": 1},
        1,
        {"bending_xy": 1, "torsion": 1},
    ]
    given = {"gravity": (0.7, -1.0, -9.81), "damping_ratio": 0.01, "coulomb_friction": 0.2}
    return flexible_arm(arm, modes, **given, **changes)


POSED = [
    {},
    # these two in every run by the 40-digit cases above: most are posed as the first, P1 as the second
    pytest.param({"second_order": False}, marks=pytest.mark.slow),
    pytest.param({"second_order": False, "foreshortening": False}, marks=pytest.mark.slow),
    {"rotor_motion": "reflected"},
    {"rotor_motion": "reflected", "torsion_spin": "relative"},
]


@pytest.mark.parametrize("posed", POSED, ids=str)
def test_every_way_to_pose_them(posed):
    model = everything().posed(**posed)
    vectors = states(model, 50)
    terms = {name: np.asarray(value) for name, value in own_terms(model, *vectors).items()}
    for integrals in ("symbolic", "numeric"):
        equations = written_equations(model, [*WANTED, "c"], integrals=integrals)
        found = function(equations)(*vectors)
        for name, value in worst(found, terms, model, vectors[1]).items():
            assert value < 1e-13, (name, value)


@needs_compiler
@pytest.mark.parametrize("integrals", ["symbolic", "numeric"])
def test_c(integrals, tmp_path):
    model = everything()
    equations = written_equations(model, ["B", "h", "g", "tau"], integrals=integrals)
    vectors = states(model, 30)
    program = c_program(equations, tmp_path, "-O1")
    # another order of operations than that of arrays: rounding
    assert_same(by_program(program, equations, *vectors), function(equations)(*vectors), 1e-13)


@pytest.mark.slow
def test_jax_compiles_and_differentiates():
    model = model_of("P5")
    equations = written_equations(model, ["h"])
    compute = function(equations, "jax")
    (q, rate, _), plain = states(model, 3), function(equations)
    assert_same(jax.jit(compute)(q, rate), plain(q, rate), 1e-13)
    slope = np.asarray(jax.jit(jax.jacfwd(lambda at: compute(q[0], at)["h"]))(rate[0]))
    # forces of the second power of the rates: Euler's theorem
    assert np.allclose(slope @ rate[0], 2.0 * plain(q[0], rate[0])["h"], rtol=1e-12, atol=1e-15)


def test_sympy():
    pytest.importorskip("sympy", reason="sympy is not installed")
    model = model_of("P7")
    equations = written_equations(model, ["K", "Q"])
    made = to_sympy(equations)
    values = {symbol: made.values[symbol] for symbol in made.values}
    found = np.array(made.matrices["K"].subs(values).tolist(), dtype=float)
    assert relative(found, model.stiffness) < 1e-15
    assert [str(x) for x in made.symbols][:1] == ["theta_1"]


@pytest.mark.parametrize(("deflections", "rates"), [(False, False), (True, True)])
def test_matrices_of_small_motions(deflections, rates):
    model = model_of("P5")
    written = linearised_equations(model, deflections=deflections, rates=rates)
    q, rate, _ = (vector[0] for vector in states(model, 1))
    q[model.layout.modal] *= deflections
    rate = rate * rates
    found, expected = function(written)(q, rate), linearise(model, q, rate)
    for name, value in zip("MDKG", expected[:4], strict=True):
        value = np.asarray(value)
        rows, columns = np.abs(value).max(axis=1), np.abs(value).max(axis=0)
        scale = np.sqrt(np.outer(rows, columns)) if name != "G" else np.ones(value.shape)
        assert np.all(np.abs(found[name] - value) <= 1e-12 * scale + 1e-300), name


def test_the_matrix_of_coriolis_forces():
    """C q' = h, and B' - 2 C is skew: B' of the written B, by differences."""
    model = model_of("P5")
    compute = function(written_equations(model, ["B", "h", "C"]))
    q, rate, _ = (vector[0] for vector in states(model, 1))
    found = compute(q, rate)
    assert relative(found["C"] @ rate, found["h"]) < 1e-13
    step = 1e-5
    ends = [compute(q + side * step * rate, rate)["B"] for side in (1, -1)]
    skew = (ends[0] - ends[1]) / (2 * step) - 2.0 * found["C"]
    assert np.abs(skew + skew.T).max() < 1e-8 * np.abs(found["C"]).max()


def test_a_six_axis_arm_with_two_flexible_links_is_written_in_seconds():
    section = jm.spatial_section(2e-4, 2e-9, 5e-9, 4e-9)
    beam = {"youngs_modulus": 7e10, "density": 2700.0, "section": section, "poisson_ratio": 0.33}
    body = jm.RigidBody(2.0, centre=(0.02, 0.01, -0.03), inertia=(0.01, 0.012, 0.015))
    axes = ((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0))
    links = [
        jm.SpatialLink(0.5, joint_axis=axis, hub=body, **(beam if i in (1, 2) else {"rigid": True}))
        for i, axis in enumerate(axes)
    ]
    modes = {"bending_xy": 2, "bending_xz": 2, "torsion": 1}
    model = flexible_arm(jm.SpatialArm(tuple(links)), modes, gravity=(0.0, 0.0, -9.81))
    begun = time.process_time()
    equations = written_equations(model, ["B", "h", "g", "tau"])
    texts = write(equations, "c", "arm")
    print(f"{time.process_time() - begun:.1f} s, {operation_counts(equations)}")
    assert time.process_time() - begun < 20.0
    assert sorted(texts) == ["arm.c", "arm.h", "arm_test.c"]
    assert operation_counts(equations).total < 40_000
    links = [jm.SpatialLink(0.5, joint_axis=axis, hub=body, rigid=True) for axis in axes]
    rigid = flexible_arm(jm.SpatialArm(tuple(links)), gravity=(0.0, 0.0, -9.81))
    assert operation_counts(written_equations(rigid, ["tau"])).total < 2_000


def test_what_is_not_known_is_refused():
    free = model_of("P4")
    for words, write_out in (
        ("inertia_order = 'first'", lambda: written_equations(everything(inertia_order="first"))),
        ("the matrix 'C' of written equations needs", lambda: written_equations(free, ["C"])),
        ("symbolic.linearised_equations needs", lambda: linearised_equations(free)),
    ):
        with pytest.raises(ArmError, match=re.escape(words)):
            write_out()
