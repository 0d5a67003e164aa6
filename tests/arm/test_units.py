"""Keys of arm files with a unit behind their names: do they mean what they say?"""

import math

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.units import ARCMINUTES, SUFFIXES

PLAIN = {
    "length": 0.9,
    "youngs_modulus": 70e9,
    "density": 2700.0,
    "section": {"shape": "hollow_circle", "outer_diameter": 0.08, "wall_thickness": 0.003},
    "joint_stiffness": 31.0 * ARCMINUTES,
    "joint_angle": math.radians(60.0),
    "rotor_inertia": 1.69e-4,
    "gear_ratio": 100.0,
    "motor": "beyond_spring",
}
WITH_UNITS = {
    "length_mm": 900,
    "youngs_modulus_gpa": 70,
    "density_g_per_cm3": 2.7,
    "section": {"shape": "hollow_circle", "outer_diameter_mm": 80, "wall_thickness_mm": 3},
    "joint_stiffness_nm_per_arcmin": 31,
    "joint_angle_deg": 60,
    "rotor_inertia_kg_cm2": 1.69,
    "gear_ratio": 100,
    "motor": "beyond_spring",
}


def arm(link, **more):
    return jm.arm_from_dict({"links": [link], **more})


def test_values_with_units_are_those_in_si_to_the_last_bit():
    payload = {"mass": 4.0, "centre_x": 0.12}
    with_units = arm(WITH_UNITS, payload={"mass": 4.0, "centre_x_mm": 120})
    assert with_units == arm(PLAIN, payload=payload)
    raw = {"area": 3e-5, "second_moment": 9.18e-10}
    in_mm = {"area_mm2": 30, "second_moment_mm4": 918}
    assert arm(PLAIN | {"section": in_mm}) == arm(PLAIN | {"section": raw})
    bodies = [{"position": 0.3, "mass": 1.0}], [{"position_mm": 300, "mass": 1.0}]
    assert arm(PLAIN | {"bodies": bodies[1]}) == arm(PLAIN | {"bodies": bodies[0]})


def test_a_minute_of_arc_is_a_sixtieth_of_a_degree():
    """A spring of 1 N m/arcmin answers 1 N m with a turn of one minute of arc."""
    stiffness = float(arm(WITH_UNITS).links[0].joint_stiffness)
    assert math.degrees(31.0 / stiffness) * 60.0 == pytest.approx(1.0, rel=1e-15)
    assert pytest.approx(3437.7467707849396, rel=1e-15) == ARCMINUTES


def test_every_suffix_is_for_values_of_one_unit_and_no_name_ends_so():
    units = {
        item: jm.unit_of_address(f"link1.{item}")
        for item in ("length", "youngs_modulus", "joint_angle")
    }
    assert set(units.values()) <= {replaced for replaced, _, _ in SUFFIXES.values()}
    for address in jm.list_addresses(arm(PLAIN)):
        assert not address.endswith(tuple(SUFFIXES))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"length": 0.9, "length_mm": 900}, ["length_mm = 900", "length is given as well"]),
        ({"length_mm": -900}, ["length = -0.9", "greater than 0", "given as length_mm = -900"]),
        ({"length_mm": "900"}, ["length_mm = '900'", "must be a number", "(mm)"]),
        ({"length_mm": math.nan}, ["length_mm = nan", "finite (mm)"]),
        ({"length_gpa": 900}, ["length_gpa = 900", "not a known key", "_mm"]),
        ({"lenght_mm": 900}, ["lenght_mm = 900", "Did you mean 'length_mm'"]),
        ({"tip_mass_deg": 1}, ["tip_mass_deg = 1", "not a known key"]),
        ({"joint_stiffness_nm_per_arcmin": -1}, ["0 (a free hinge)", "nm_per_arcmin = -1"]),
    ],
)
def test_a_wrong_value_is_named_as_it_was_given(changes, words):
    link = {key: value for key, value in WITH_UNITS.items() if key != "length_mm"} | changes
    if not any(key.startswith("len") for key in changes):
        link["length_mm"] = 900
    with pytest.raises(jm.ArmError) as error:
        arm(link)
    assert "link1." in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_degrees_in_python():
    two = jm.examples.three_link_industrial()
    angles = [45.0, -90.0]
    expected = two.with_posture([math.radians(x) for x in angles])
    assert two.with_posture_deg(angles) == expected
    assert two.with_posture_deg(np.array(angles)) == expected
    with pytest.raises(jm.ArmError, match="degrees"):
        two.with_posture_deg([1.0])
    with pytest.raises(jm.ArmError, match=r"posture = 1\.0: must be a list .* \(degrees\)"):
        two.with_posture_deg(1.0)  # of the value that came in


def test_angles_beyond_two_turns_are_remarked():
    two = jm.examples.two_link_flexible()
    with pytest.warns(jm.ImplausibleWarning, match=r"link2.joint_angle = 60: .*with_posture_deg"):
        two.with_posture([60.0])
    two.with_posture([12.0])  # no warning: every warning is an error here
    two.with_posture_deg([1000.0])


def test_names_of_angles_are_addresses_everywhere():
    two = jm.examples.two_link_flexible()
    assert jm.set_parameters(two, {"theta_2": 0.5}) == two.with_posture([0.5])
    assert float(jm.get_parameter(two.with_posture([0.5]), "theta_2")) == 0.5
    assert jm.unit_of_address("theta_2") == "rad"
    assert jm.describe_address("theta_2") == jm.describe_address("link2.joint_angle")
    assert jm.get_parameter(two, "thickness_factor").shape == (2,)
    batch = jm.natural_frequencies_batch(two, {"theta_2": np.array([0.5])}, 1)
    assert float(batch.omega[0, 0]) == pytest.approx(
        float(jm.natural_frequencies(two.with_posture([0.5]), 1).omega[0]), rel=1e-12
    )
    with pytest.raises(jm.ArmError, match="theta_3"):
        jm.set_parameters(two, {"theta_3": 0.5})
