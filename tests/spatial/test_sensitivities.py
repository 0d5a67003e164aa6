"""Is every derivative in space that of the field equations in 40 digits, where frequencies coincide, too?"""

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

import jaxmodal as jm
from jaxmodal.runtime.namespace import to_host
from tests.spatial import exact_frequencies
from tests.spatial.cases import bent_arm, references, standing_arm, tube
from tests.spatial.random_arms import random_arm

EXACT = 1e-12
"""Of the largest logarithmic derivative of the mode: rounding of the shapes."""

KINDS = (
    *(
        "link1.length",
        "link1.youngs_modulus",
        "link1.section.width",
        "link2.section.wall_thickness",
    ),
    *("link2.poisson_ratio", "link2.joint_angle", "link2.joint_axis.z", "link2.joint_stiffness"),
    *("link2.joint_spring1.stiffness", "link2.joint_spring2.direction.y", "link2.gear_ratio"),
    *("link2.rotor_inertia", "link2.hub.centre.y", "link2.base_offset.y", "link2.end_offset.z"),
    *("link3.joint_frame1.angle", "link3.section_roll", "link3.nonstructural_mass"),
    *("link1.body.inertia.yz", "payload.mass", "payload.centre.y", "link3.density"),
)
"""One of each kind."""


def compare(arm, theory, mode, names=None):
    table = to_host(jm.sensitivities(arm, mode + 1, theory=theory))
    addresses = [name for name in table.addresses if np.isfinite(jm.get_parameter(arm, name))]
    names = addresses if names is None else names
    guess = table.frequencies.omega[mode]
    omega, expected = exact_frequencies.derivatives(arm, theory, guess, names)
    assert abs(guess / float(omega) - 1.0) <= 1e-15
    scale = np.array([abs(jm.get_parameter(arm, name)) or 1.0 for name in names])
    found = [table.derivative[mode, table.addresses.index(name)] for name in names]
    weighed = np.array(expected) * scale
    assert np.count_nonzero(weighed) > 0.6 * len(names)
    error = np.abs(np.array(found) * scale - weighed)
    assert np.max(error) <= EXACT * np.max(np.abs(weighed)), names[int(np.argmax(error))]


def test_each_kind_of_value_against_forty_digits():
    assert set(KINDS) <= set(jm.list_addresses(bent_arm()))
    compare(bent_arm(), "timoshenko", 2, KINDS)


@pytest.mark.slow
def test_every_address_against_forty_digits():
    """Those of a base that gives way in all directions, too."""
    compare(standing_arm(), "rayleigh", 3)


def straight_arm():
    """Of round tubes: every bending mode is double."""
    payload = jm.RigidBody(1.0, (0.0, 0.0, 0.0), (1e-3, 1e-3, 1e-3))
    return jm.SpatialArm((tube(), tube(length=0.4)), payload)


DIRECTION = {"payload.inertia.yy": 3e-4, "payload.inertia.yz": 2e-4, "link2.length": 0.05,
             "payload.centre.y": 0.02, "link2.joint_angle": 0.3}  # fmt: skip


def test_both_derivatives_of_a_double_frequency():
    """Where they say, 1e-20 of the direction on, the determinant in 80 digits changes its sign."""
    arm, theory = straight_arm(), "timoshenko"
    omega = float(jm.natural_frequencies(arm, 1).omega[0])
    slopes = np.asarray(jm.directional_derivatives(arm, DIRECTION, 2))
    assert slopes[1] - slopes[0] > 1e-3 * abs(slopes[0])
    with mpmath.workdps(exact_frequencies.DIGITS):
        values = exact_frequencies.parameters_of(arm)
        double = exact_frequencies.double_frequency(arm, values, theory, omega)
        step = mpf("1e-20")
        moved = values | {name: values[name] + step * mpf(rate) for name, rate in DIRECTION.items()}
        for slope in slopes:
            signs = [
                mp.sign(
                    exact_frequencies.determinant(
                        arm, moved, theory, double + step * mpf(float(slope)) * (1 + side)
                    )
                )
                for side in (mpf("-1e-10"), mpf("1e-10"))
            ]
            assert signs[0] * signs[1] < 0


def test_means_of_double_frequencies():
    """By each address the mean of the two one-sided derivatives; no single one is given."""
    arm = straight_arm()
    with pytest.raises(jm.RepeatedFrequencyError, match="modes 1 to 2"):
        jm.sensitivities(arm, 2)
    table = to_host(jm.sensitivities(arm, 2, repeated="mean"))
    assert not np.any(table.individual)
    for name in ("payload.inertia.yy", "link1.section.outer_diameter", "link2.length"):
        both = np.asarray(jm.directional_derivatives(arm, {name: 1.0}, 2))
        mean = table.derivative[:, table.addresses.index(name)]
        np.testing.assert_allclose(mean, np.mean(both), rtol=1e-10)


def test_of_a_simple_frequency_the_direction_is_the_gradient():
    arm, rates = bent_arm(), {"link*.density": 30.0, "link2.joint_axis.x": -0.2}
    table = to_host(jm.sensitivities(arm, 3, addresses=list(rates)))
    found = np.asarray(jm.directional_derivatives(arm, rates, 3))
    np.testing.assert_allclose(found, table.derivative @ list(rates.values()), rtol=1e-11)


STIFF = ("youngs_modulus", "shear_modulus", "joint_stiffness", ".stiffness")


def test_scaling_of_all_stiffness_and_of_all_mass():
    """Frequencies go with the root of all stiffnesses together, and with the inverse root of all masses."""
    for seed in range(40, 43):
        document, theory = random_arm(seed, 3)
        table = to_host(jm.sensitivities(jm.arm_from_dict(document), 3, theory=theory))
        stiff = [name.endswith(STIFF) for name in table.addresses]
        heavy = [
            ".inertia." in name or name.endswith(("density", "mass", "rotor_inertia"))
            for name in table.addresses
        ]
        np.testing.assert_allclose(table.logarithmic[:, stiff].sum(axis=1), 0.5, rtol=EXACT)
        np.testing.assert_allclose(table.logarithmic[:, heavy].sum(axis=1), -0.5, rtol=EXACT)


def test_free_hinges_and_modes_that_are_not_there():
    """Zero frequencies stay zero; the stiffness of a rigid joint changes nothing."""
    case = references()["S12"]
    table = to_host(jm.sensitivities(case.arm, 4, theory=case.theory))
    np.testing.assert_array_equal(table.derivative[:2], 0.0)
    assert np.all(np.any(table.derivative[2:] != 0.0, axis=1))
    rigid = [np.isinf(value) for value in table.values]
    np.testing.assert_array_equal(table.derivative[:, rigid], 0.0)
    with pytest.raises(ValueError, match="free joints"):
        jm.directional_derivatives(case.arm, {"link1.length": 1.0}, 4, theory=case.theory)
    with pytest.raises(jm.ArmError, match="Did you mean"):
        jm.sensitivities(bent_arm(), 2, addresses=["link2.joint_axis.w"])


def test_tables_and_datasets():
    table = jm.sensitivities(bent_arm(), 2)
    data = table.to_xarray()
    assert data["unit"].sel(parameter="link2.hub.inertia.xx").item() == "kg m^2"
    assert "link2.joint_angle" in str(table)
    assert "link2.joint_axis.z" not in str(table)  # of all, what can be built


def test_what_rounding_makes_of_springs_that_move_no_mass_leaves_other_modes_their_derivatives():
    """A mass on its axis turns about z alone, by c = 1/k + 0.64/30: omega = 1/(L sqrt(c m))."""
    mass, length, stiffness = 2.0, 0.5, 100.0
    link = jm.SpatialLink(
        length,
        rigid=True,
        joint_axis=(0, 0, 1),
        joint_stiffness=stiffness,
        joint_springs=(jm.Spring("rotation", (0.6, 0.0, 0.8), 30.0),),
    )
    arm = jm.SpatialArm((link,), payload=jm.RigidBody(mass))
    names = ["link1.joint_stiffness", "payload.mass", "link1.length"]
    table = jm.sensitivities(arm, 2, addresses=names, throw=False)
    give = 1.0 / stiffness + 0.64 / 30.0
    omega = 1.0 / (length * np.sqrt(give * mass))
    expected = omega * np.array([0.5 / (give * stiffness**2), -0.5 / mass, -1.0 / length])
    np.testing.assert_allclose(table.derivative[0], expected, rtol=1e-13, atol=0.0)
    assert np.isnan(table.derivative[1]).all()
