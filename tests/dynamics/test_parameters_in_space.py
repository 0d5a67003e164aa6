"""Are forces of arms in space a matrix times parameters, of the rank known, and are these found again?

What compiles: regressor and inverse dynamics of three small arms.
"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm, inverse_dynamics
from jaxmodal.dynamics.parameters import (
    identify,
    parameter_names,
    parameters,
    regressor,
    with_parameters,
)
from jaxmodal.runtime.errors import ArmError

RNG = np.random.default_rng(7)
BODY = jm.RigidBody(0.3, centre=(0.02, 0.01, -0.03), inertia=(0.01, 0.012, 0.015))
SECTION = jm.spatial_section(2e-4, 2e-9, 5e-9, 4e-9)
BEAM = {"youngs_modulus": 7e10, "density": 2700.0, "section": SECTION, "poisson_ratio": 0.33}
GEARED = {"rotor_inertia": 1e-4, "gear_ratio": 20.0, "motor": "held"}


def motion(model, count=60):
    q = RNG.uniform(-1, 1, (count, model.num_coordinates))
    q[:, model.layout.modal] *= 0.03
    rate, acceleration = RNG.uniform(-1, 1, (2, count, model.num_rates))
    return q, rate, acceleration


def flexible(**given):
    links = (
        jm.SpatialLink(0.5, hub=BODY, stator=BODY, **BEAM, **GEARED),
        jm.SpatialLink(
            0.4, joint_axis=(0.0, 0.6, 0.8), base_offset=(0.1, 0.05, 0.0), **BEAM, **GEARED
        ),
    )
    modes = [{"bending_xy": 1, "bending_xz": 1, "torsion": 1}, {"bending_xy": 1, "torsion": 1}]
    arm = jm.SpatialArm(links, payload=BODY)
    return flexible_arm(arm, modes, gravity=(0.3, 1.0, -9.81), **given)


@pytest.mark.slow
@pytest.mark.parametrize("base", ["clamped", "free"])
def test_forces_are_linear_and_parameters_are_found_again(base):
    model = flexible(base=base, viscous_friction=0.2, coulomb_friction=[0.3, 0.1])
    states = motion(model)
    table = np.asarray(regressor(model, *states))
    forces = np.asarray(inverse_dynamics(model, *states))
    names, values = parameter_names(model), parameters(model)
    assert table.shape == (60, model.num_rates, len(names))
    assert len(set(names)) == len(names)
    assert {"link1.mass(1, 1)", "link1.stiffness(torsion1, torsion1)"} <= set(names)
    assert {"link2.at_tip(1, x)", "joint2.rotor_inertia", "joint1.coulomb_friction"} <= set(names)
    assert np.abs(table @ values - forces).max() < 1e-13 * np.abs(forces).max()
    found = identify(table, forces)
    assert found.rank < len(names)
    # other states, by a model of the parameters that were found
    others = motion(model)
    again = np.asarray(inverse_dynamics(with_parameters(model, found.values), *others))
    expected = np.asarray(inverse_dynamics(model, *others))
    assert np.abs(again - expected).max() < 1e-8 * np.abs(expected).max()


def test_a_rigid_arm_has_the_base_parameters_of_the_textbook():
    """An upright first axis, of whose link the inertia about it alone counts, and a second across it: 1 + 7."""
    links = (
        jm.SpatialLink(0.5, rigid=True, hub=BODY, **GEARED),
        jm.SpatialLink(0.4, rigid=True, joint_axis=(0, 1, 0), hub=BODY, **GEARED),
    )
    model = flexible_arm(jm.SpatialArm(links), gravity=(0.0, 0.0, -9.81))
    states = motion(model)
    table, forces = (np.asarray(f(model, *states)) for f in (regressor, inverse_dynamics))
    assert np.abs(table @ parameters(model) - forces).max() < 1e-13 * np.abs(forces).max()
    friction = 4  # viscous and dry, of each joint
    assert identify(table, forces).rank == 1 + 7 + friction


def test_what_is_no_parameter_is_refused():
    spring = jm.Spring("rotation", (1.0, 0.0, 0.0), 900.0)
    body = jm.RigidBody(1.0, inertia=(0.1, 0.1, 0.1))
    bar = jm.SpatialLink(0.5, rigid=True, body=body, joint_springs=(spring,))
    slider = jm.SpatialLink(0.5, rigid=True, body=body, prismatic=True)
    for model, words in (
        (flexible(damping_ratio=0.01), "has structural damping"),
        (flexible_arm(jm.SpatialArm((bar,))), "joint 1 has joint_springs"),
        (flexible_arm(jm.SpatialArm((slider,))), "has joints that slide, segments"),
    ):
        with pytest.raises(ArmError, match=words):
            regressor(model, *np.zeros((3, 1, model.num_coordinates)))
