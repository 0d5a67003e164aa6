"""Are deflections of limits those of closed forms, forces at rest included?"""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from design_opt import DeflectionLimit
from design_opt.problem.designs import Design
from design_opt.problem.statics import tip_deflection
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.at_rest.traced import second_order_deflection
from jaxmodal.dynamic_stiffness.beams import theory_flags


def test_deflection_limits_know_forces_at_rest():
    """Loads of the arm count by themselves; beside axial forces gravity is the standard one."""
    mast = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.03, 0.05), joint_angle=0.3, axial_force=-1e4)
    loads = jm.Loads(gravity=3.0, tip_force_y=-50.0)
    limit = DeflectionLimit(1e-3, theory="rayleigh")
    pulled = jm.Arm((mast,)), 9.80665
    for arm, gravity in (pulled, (pulled[0].replace(loads=loads), 0.0)):
        design = Design(arm, jnp.zeros(0), {}, {})
        moved = second_order_deflection(arm, "rayleigh", gravity=(0.0, -gravity))
        margin = 1.0 - float(np.sum(np.asarray(moved) ** 2)) / 1e-6
        assert float(limit.margins(design, design)[0, 0]) == pytest.approx(margin, rel=1e-12)
    bare = tip_deflection(beam_arrays(jm.Arm((mast,))), theory_flags("rayleigh"))
    softer = second_order_deflection(pulled[0], "rayleigh", gravity=(0.0, -9.80665))
    assert np.hypot(*softer) > 1.2 * np.hypot(*bare)


def test_deflection_of_a_propped_arm_with_an_offset():
    """A beam of length 1 with a rigid end of 0.1, on a spring k there: F a^2 in series with the beam's own give."""
    beam = jm.Link(
        1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0), end_offset_x=0.1, support_y_stiffness=2.0
    )
    moved = tip_deflection(beam_arrays(jm.Arm((beam,))), theory_flags("rayleigh"), 0.0, (0.0, 1.0))
    own = 1 / 3 + 2 * 0.1 / 2 + 0.01
    assert float(moved[1]) == pytest.approx(1.0 / (1.0 / own + 2.0), rel=1e-13)


def test_deflection_of_an_arm_against_closed_forms():
    """Bending, shear and a spring at the base of a cantilever; an L of two links, by superposition."""
    length, load, gravity = 2.0, 30.0, 9.81
    beam = jm.Link(
        length, 7e10, 2700.0, jm.rectangle(0.1, 0.05, 0.85), poisson_ratio=0.3, joint_stiffness=4e4
    )
    arm = jm.Arm((beam,), jm.Payload(load / gravity))
    moved = tip_deflection(beam_arrays(arm), theory_flags("timoshenko"), gravity)
    weight = 2700.0 * 0.005 * gravity
    bending = weight * length**4 / 8.0 + load * length**3 / 3.0
    shear = weight * length**2 / 2.0 + load * length
    base = (weight * length**2 / 2.0 + load * length) * length / 4e4
    stiffness, shear_stiffness = 7e10 * 0.05 * 0.1**3 / 12.0, 0.85 * 7e10 / 2.6 * 0.005
    assert float(moved[1]) == pytest.approx(
        -(bending / stiffness + shear / shear_stiffness + base), rel=1e-13
    )
    assert float(moved[0]) == 0.0
    bar = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.1, 0.05))
    bent = jm.Arm((bar, bar.replace(length=0.5)), jm.Payload(1.0)).with_posture([np.pi / 2.0])
    flags = theory_flags("bending_only")
    force = 100.0
    sideways = tip_deflection(beam_arrays(bent), flags, 0.0, (force, 0.0))
    # force along x at the top of the upright: bends it, and turns the beam below with moment force * 0.5
    upright = force * 0.5**3 / 3.0
    turned = force * 0.5 * 1.0 * 0.5
    assert float(sideways[0]) == pytest.approx((upright + turned) / stiffness, rel=1e-13)
    assert float(sideways[1]) == pytest.approx(-force * 0.5 * 1.0**2 / 2.0 / stiffness, rel=1e-13)


@pytest.mark.parametrize("gravity", [9810.0, (0.0, 0.0, -9810.0)])
def test_gravity_in_another_unit(gravity):
    with pytest.warns(jm.ImplausibleWarning, match=r"gravity = .*if this is in mm/s\^2"):
        DeflectionLimit(1e-3, gravity=gravity)
