"""Motors, and what drives a base, that move as they are told, beside the factorised B; what nothing has inertia along.

What compiles: both ways of three arms, one short simulation, and one step of two rigid bars and of a planar arm.
"""

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm, simulate
from jaxmodal.dynamics.mechanics import equations, recursion, recursion_in_space
from jaxmodal.dynamics.mechanics.free_bases import at_zero
from jaxmodal.dynamics.mechanics.solves import solve_held
from jaxmodal.runtime.errors import ArmError
from tests.support.spatial_dynamics_cases import model_of, relative

BODY = jm.RigidBody(0.7, (0.01, -0.02, 0.03), [[4e-3, 5e-4, 0], [5e-4, 6e-3, 0], [0, 0, 5e-3]])
BEAM = jm.SpatialLink(
    0.6, 7e10, 2700.0, jm.rectangle(0.012, 0.03, "cowper"), poisson_ratio=0.33, body=BODY
)
#: a beam, and one that slides on two springs
SHAKEN = jm.SpatialArm(
    (
        BEAM,
        BEAM.replace(
            prismatic=True,
            base_offset=(0.2, 0.03, -0.02),
            joint_springs=(
                jm.Spring("translation", (1.0, 0.0, 0.0), 2e5),
                jm.Spring("rotation", (0.0, 1.0, 0.5), 900.0),
            ),
            stator=jm.RigidBody(0.3, (0.0, 0.01, 0.0), (1e-3, 1e-3, 1e-3)),
        ),
    ),
    jm.RigidBody(0.5),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["P3", "P4", "driven"])
def test_what_moves_as_it_is_told_by_recursion(name):
    """Motors before and without springs with carried rotors, a free base, a driven one: beside the factorised B."""
    model = flexible_arm(SHAKEN, 1, base="driven") if name == "driven" else model_of(name)
    layout, rng = model.layout, np.random.default_rng(0)
    q = at_zero(model) + rng.uniform(-0.3, 0.3, model.num_coordinates)
    rate, told, pushed = rng.uniform(-1.0, 1.0, (3, model.num_rates))
    torques, told = pushed[: model.num_links], told * (1.0 - layout.free)

    @jax.jit
    def both(q, rate):
        matrix, resisting = equations.inertia(model, q), equations.resistance(model, q, rate)
        found, _ = solve_held(matrix, -resisting, layout.free, told)
        shaken = told * (1.0 - layout.loose)
        right = equations.applied(model, torques) - resisting
        pairs = [
            (equations.accelerations_held(model, q, rate, told)[0], found),
            (
                equations.accelerations_held(model, q, rate, told)[1],
                (matrix @ found + resisting)[layout.driven],
            ),
        ]
        if layout.given.size:
            moved = equations.accelerations(model, q, rate, torques, told[layout.given])[0]
            pairs.append((moved, solve_held(matrix, right, layout.loose, shaken)[0]))
        return pairs

    for by_recursion, dense in both(q, rate):
        assert relative(by_recursion, dense) < 1e-10  # the condition of B is up to 1e6


def test_planar_motors_that_move_as_they_are_told_by_recursion():
    """Before, behind and beyond springs, rotors carried: inverse dynamics, which solve nothing, need these forces."""
    rotor = {"rotor_inertia": 2e-3, "gear_ratio": 5.0, "motor": "held"}
    flexible = jm.Link(0.4, 7e10, 2700.0, jm.rectangle(0.004, 0.03), hub_inertia=0.01, **rotor)
    links = (
        flexible,
        flexible.replace(joint_stiffness=30.0, stator_mass=0.2, stator_inertia=0.02),
        flexible.replace(joint_stiffness=20.0, motor="beyond_spring", tip_mass=0.1),
        flexible.replace(length=0.3),
    )
    model = flexible_arm(jm.Arm(links, jm.Payload(0.1, 5e-4)), [2, 1, 2, 0], gravity=(0.0, -9.81))
    assert recursion.pays(model)
    layout, rng = model.layout, np.random.default_rng(1)
    sizes = np.where(np.isin(np.arange(layout.size), np.arange(layout.size)[layout.modal]), 0.02, 1)
    q, rate = sizes * rng.uniform(-1.0, 1.0, (2, layout.size))
    told = np.zeros(layout.size)
    told[layout.driven] = rng.uniform(-5.0, 5.0, 4)

    @jax.jit
    def forward_and_back(q, rate, told):
        found, torques, _ = equations.accelerations_held(model, q, rate, told)
        return found, torques, equations.generalised_forces(model, q, rate, found)

    found, torques, forces = map(np.asarray, forward_and_back(q, rate, told))
    np.testing.assert_array_equal(found[layout.driven], told[layout.driven])
    expected = np.zeros(layout.size)
    expected[layout.driven] = torques
    largest = float(np.abs(model.stiffness @ q).max())
    np.testing.assert_allclose(forces, expected, rtol=0.0, atol=1e-12 * largest)
    assert np.abs(torques).min() > 1e-2


def test_torques_of_two_bars_that_are_told_how_to_turn():
    """Point masses at the tips of two bars without mass: the textbook's equations."""
    first, second, near, far = 0.6, 0.4, 1.5, 0.8
    links = (
        jm.SpatialLink(first, rigid=True, joint_axis=(0, 0, 1), body=jm.RigidBody(near)),
        jm.SpatialLink(second, rigid=True, joint_axis=(0, 0, 1), body=jm.RigidBody(far)),
    )
    model = flexible_arm(jm.SpatialArm(links), 1)
    assert recursion_in_space.pays(model)
    q, rate, told = np.array([[0.3, 0.7], [1.1, -2.0], [0.5, 3.0]])
    moved, torques, _ = jax.jit(equations.accelerations_held)(model, q, rate, told)
    np.testing.assert_allclose(moved, told, rtol=1e-15, atol=0.0)
    outer, across = far * second**2, far * first * second
    along, aside = across * np.cos(q[1]), across * np.sin(q[1])
    whole = (near + far) * first**2 + outer + 2.0 * along
    expected = [
        whole * told[0]
        + (outer + along) * told[1]
        - aside * (2.0 * rate[0] * rate[1] + rate[1] ** 2),
        (outer + along) * told[0] + outer * told[1] + aside * rate[0] ** 2,
    ]
    np.testing.assert_allclose(torques, expected, rtol=1e-13, atol=0.0)


@pytest.mark.slow
def test_a_joint_that_moves_nothing_with_inertia_is_told():
    """A point mass on the axis of its joint."""
    axial = jm.SpatialLink(0.5, rigid=True, joint_axis=(1.0, 0.0, 0.0))
    model = flexible_arm(jm.SpatialArm((axial,), jm.RigidBody(1.0)))
    with pytest.raises(ArmError, match=r"nothing has inertia along theta1.* must move a body"):
        simulate(model, [0.0, 1e-3], method="rk4", step=1e-3)
