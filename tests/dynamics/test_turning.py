"""Arms that turn steadily: beside 40-digit frequencies, printed tables and a governor by hand; their picture.

What compiles: relative rest and a linearisation of three small arms, and of one of them without foreshortening.
"""

import numpy as np
import pytest
import xarray

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm, linearise, turning_frequencies
from jaxmodal.plots.turning import plot_campbell
from jaxmodal.runtime.errors import ArmError
from tests.support.spatial_dynamics_cases import CASES, model_of


def relative(found, expected):
    return np.abs(np.asarray(found) - np.asarray(expected)).max() / np.abs(expected).max()


#: frequencies of flapping of a rotating uniform beam over sqrt(EI/(m L^4)), as printed, by its rate in the same unit
#: and by a mass at its tip over its own
FLAPPING = {
    (0.0, 0.0): (3.516, 22.034, 61.697),
    (12.0, 0.0): (13.17, 37.603, 79.614),
    (0.0, 1.0): (1.557, 16.25),
    (12.0, 1.0): (12.48, 50.86),
}


@pytest.mark.parametrize(
    ("eta", "tip_mass", "base"),
    [
        *((*each, "clamped") for each in FLAPPING),
        pytest.param(12.0, 1.0, "driven", marks=pytest.mark.slow),  # and at rest
    ],
)
def test_a_rotating_beam_flaps_as_printed(eta, tip_mass, base):
    section = jm.spatial_section(1e-4, 1e-9, 1e-9, 2e-9)
    mass = 1000.0 * 1e-4 * 2.0
    beam = jm.SpatialLink(
        2.0, 1e10, 1000.0, section, poisson_ratio=0.3, body=jm.RigidBody(tip_mass * mass)
    )
    given = {"torsional_inertia": 0.0, "base": base}
    model = flexible_arm(jm.SpatialArm((beam,)), {"bending_xz": 10}, **given)
    unit = np.sqrt(1e10 * 1e-9 / (1000.0 * 1e-4 * 2.0**4))
    found = turning_frequencies(model, [eta * unit])
    omega = 2.0 * np.pi * found["frequency"].values[0] / unit
    printed = np.array(FLAPPING[eta, tip_mass])
    last_digit = [10.0 ** -len(str(x).split(".")[1]) for x in printed]
    assert np.all(np.abs(omega[: printed.size] - printed) < last_digit)


@pytest.mark.slow
def test_a_spinning_beam_is_unstable_without_shortening():
    """All frequencies of the case at its rates; without foreshortening it diverges from its first frequency on."""
    states = CASES["P7"]["linearisations"]
    model = model_of("P7")
    found = turning_frequencies(model, [state["rate"] for state in states])
    assert found["settled"].all()
    for row, state in zip(found["frequency"].values, states, strict=True):
        assert relative(2.0 * np.pi * row, state["omega_rad_per_s"]) < 1e-12
    # the first frequency of the shapes, which are the beam's own
    first = linearise(model, np.zeros(7), joints="locked").natural_frequencies()[0]
    assert abs(first - 2.9107) < 1e-4
    plain = model.posed(foreshortening=False)
    below, above, three = turning_frequencies(
        plain, [first * (1.0 - 1e-6), first * (1.0 + 1e-6), 3.0], num_modes=1
    )["real_part"].values[:, 0]
    assert below < 1e-10
    assert above > 1e-4
    # in the plane w'' = (rate^2 - omega_1^2) w
    assert abs(three - np.sqrt(9.0 - first**2)) < 1e-9


@pytest.mark.slow
def test_a_hinged_bar_leans_as_a_governor_and_swings_as_one():
    """A rigid bar on a sprung hinge that turns about the vertical: rest and frequency of one equation."""
    mass, length, stiffness, gravity = 2.0, 0.6, 30.0, 9.81
    hub = jm.SpatialLink(0.0, rigid=True)
    bar = jm.SpatialLink(
        length,
        rigid=True,
        joint_axis=(0.0, 1.0, 0.0),
        joint_stiffness=stiffness,
        rotor_inertia=1e-3,
        gear_ratio=1.0,
        motor="held",
        body=jm.RigidBody(mass),
    )
    arm = jm.SpatialArm((hub, bar))
    model = flexible_arm(arm, gravity=(0.0, 0.0, -gravity))
    rates = np.array([0.0, 2.0, 5.0])
    found = turning_frequencies(model, rates, angles=[0.0, 0.3])
    leaning = found["coordinates"].values[:, 1]
    moment = mass * length**2
    sine, cosine = np.sin(leaning), np.cos(leaning)
    # about the hinge, the angle downwards from the horizontal: spring, weight, centrifugal force
    torque = (
        stiffness * (leaning - 0.3)
        - mass * gravity * length * cosine
        + moment * rates**2 * sine * cosine
    )
    assert np.all(np.abs(torque) < 1e-9)
    slope = stiffness + mass * gravity * length * sine + moment * rates**2 * np.cos(2.0 * leaning)
    omega = 2.0 * np.pi * found["frequency"].values[:, 0]
    assert relative(omega / np.sqrt(slope / moment), np.ones(3)) < 1e-10
    # a spring in the first joint carries no torque while that turns
    sprung = hub.replace(
        joint_stiffness=50.0,
        rotor_inertia=1e-3,
        gear_ratio=1.0,
        motor="held",
        body=jm.RigidBody(0.1, inertia=(0.01, 0.01, 0.01)),
    )
    model = flexible_arm(jm.SpatialArm((sprung, bar)), gravity=(0.0, 0.0, -gravity))
    soft = turning_frequencies(model, rates, angles=[0.0, 0.3])
    assert relative(soft["coordinates"].values[:, 1], leaning) < 1e-10
    with pytest.raises(ArmError, match="is not along the axis of the first joint"):
        turning_frequencies(flexible_arm(arm, gravity=(0.0, 1.0, -9.81)), rates)
    with pytest.raises(
        ArmError, match=r"rates: of shape \(1, 3\); must be one finite rate or more"
    ):
        turning_frequencies(model, [rates])
    with pytest.raises(ArmError, match="modes = 3: must be a whole number from 1 to 2"):
        turning_frequencies(model, rates, num_modes=3)


def test_an_arm_in_which_nothing_moves_is_refused():
    bar = jm.SpatialLink(0.5, rigid=True, body=jm.RigidBody(1.0))
    with pytest.raises(ArmError, match="nothing moves while its motors are held"):
        turning_frequencies(flexible_arm(jm.SpatialArm((bar,))), [1.0])


@pytest.mark.slow
def test_gravity_along_the_axis_alone_is_steady_in_the_plane_too():
    """A planar arm turns in the plane of its gravity; without it, as that in space."""
    link = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.004, 0.03, 0.85), poisson_ratio=0.3)
    arm = jm.Arm((link,))
    with pytest.raises(ArmError, match=r"gravity = \[0.0, -9.81\]: is not along the axis"):
        turning_frequencies(flexible_arm(arm, gravity=(0.0, -9.81)), [1.0])
    planar = flexible_arm(arm, 2, shapes="polynomial")
    in_space = flexible_arm(jm.to_spatial(arm), {"bending_xy": 2}, torsional_inertia=0.0)
    rates = [0.0, 40.0]
    found, expected = (turning_frequencies(each, rates) for each in (in_space, planar))
    assert relative(found["frequency"], expected["frequency"].values) < 1e-12


def test_a_campbell_diagram_shows_orders_and_what_grows(tmp_path):
    rates, hertz = np.array([0.0, 10.0]), np.array([[1.0, 3.0], [2.0, 3.5]])
    found = xarray.Dataset(
        {
            "frequency": (("rate", "mode"), hertz),
            "real_part": (("rate", "mode"), np.array([[0.0, 0.0], [0.4, 0.0]])),
            "settled": ("rate", [True, True]),
        },
        {"rate": rates},
    )
    (axes,) = plot_campbell(found, tmp_path / "campbell.png", orders=(1, 2)).axes
    assert len(axes.lines) == 5
    assert axes.lines[2].get_xydata().tolist() == [[10.0, 2.0]]
    assert np.allclose(axes.lines[3].get_ydata(), rates / (2.0 * np.pi), rtol=1e-14, atol=1e-14)
    assert (tmp_path / "campbell.png").stat().st_size > 5000
    with pytest.raises(ArmError, match=r"orders = \(0,\): must be numbers greater than 0"):
        plot_campbell(found, orders=(0,))
    with pytest.raises(ArmError, match="has no real_part; must be a dataset of"):
        plot_campbell(found.drop_vars("real_part"))
