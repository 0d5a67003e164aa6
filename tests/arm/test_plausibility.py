"""Warnings about values that are allowed but look wrong, and the facts shown beside them."""

import math

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import examples
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.facts import link_facts
from jaxmodal.arm.links import Link
from jaxmodal.arm.payloads import Payload
from jaxmodal.arm.plausibility import implausible_values
from jaxmodal.arm.plausible_joints import inertia_beyond
from jaxmodal.arm.sections import circle, hollow_rectangle, raw_section, rectangle

STEEL = {"youngs_modulus": 2.1e11, "poisson_ratio": 0.3, "density": 7800.0}
SECTION = rectangle(depth=0.01, width=0.05, shear_coefficient=0.85)


def arm_with(section=SECTION, payload=None, **changes):
    link = Link(**({"length": 0.5, "section": section} | STEEL | changes))
    return Arm((link,), payload=payload or Payload())


def test_ordinary_arms_raise_no_warning():
    assert implausible_values(arm_with()) == []
    for arm in (examples.two_link_flexible(), examples.three_link_industrial()):
        assert implausible_values(arm) == []


@pytest.mark.parametrize("factor", [1.0, 10.0, 25.0, 50.0, 100.0])
def test_the_papers_thickness_factors_raise_no_warning(factor):
    assert implausible_values(examples.two_link_flexible(factor)) == []


@pytest.mark.parametrize(
    ("changes", "address", "words"),
    [
        ({"density": 7.8}, "link1.density", "g/cm^3, write 7800"),
        ({"density": 7.8e-9}, "link1.density", "t/mm^3, write 7800"),
        ({"density": 7.8e-6}, "link1.density", "kg/mm^3, write 7800"),
        ({"density": 78000.0}, "link1.density", "kg/m^3 expected"),
        ({"youngs_modulus": 210.0}, "link1.youngs_modulus", "GPa, write 2.1e+11"),
        ({"youngs_modulus": 210e3}, "link1.youngs_modulus", "MPa (N/mm^2), write 2.1e+11"),
        ({"youngs_modulus": 2.1e14}, "link1.youngs_modulus", "Pa expected"),
        ({"poisson_ratio": -0.3}, "link1.poisson_ratio", "metals near 0.3"),
        ({"poisson_ratio": 0.5}, "link1.poisson_ratio", "metals near 0.3"),
        ({"poisson_ratio": None, "shear_modulus": 81.0}, "link1.shear_modulus", "8.1e+10"),
        (
            {"poisson_ratio": None, "shear_modulus": 2.1e11},
            "link1.shear_modulus",
            "Poisson ratio of -0.5",
        ),
        ({"length": 500.0}, "link1.length", "mm, write 0.5"),
        ({"length": 5e-4}, "link1.length", "shorter than a millimetre"),
        ({"section": rectangle(0.01, 51.0)}, "link1.section.width", "mm, write 0.051"),
        ({"section": rectangle(0.61, 0.051)}, "link1.section.depth", "deeper than the link"),
        ({"section": circle(0.6)}, "link1.section.diameter", "deeper than the link"),
        (
            {"section": rectangle(0.01, 0.05), "thickness_factor": 100.0},
            "link1.section.depth",
            "thickness factor 100 included",
        ),
        (
            {"section": rectangle(0.01, 0.05, shear_coefficient=1.2)},
            "link1.section.shear_coefficient",
            "inverse, 0.833333",
        ),
        ({"section": raw_section(1e-4, 1e-3)}, "link1.section.second_moment", "m deep"),
        ({"section": raw_section(31.11, 0.965)}, "link1.section.area", "m^2 and m^4 expected"),
        ({"joint_angle": 45.0}, "link1.joint_angle", "joint_angle_deg"),
        ({"tip_mass": 6100.0}, "link1.tip_mass", "grams, write 6.1"),
        ({"tip_mass": 0.61, "tip_inertia": 1500.0}, "link1.tip_inertia", "radius of gyration"),
        (
            {"tip_mass": 5.0, "joint_stiffness": 0.5},
            "link1.joint_stiffness",
            "N m/arcmin, write 1718.87",
        ),
        ({"hub_mass": 6100.0}, "link1.hub_mass", "grams, write 6.1"),
        (
            {"stator_mass": 2.0, "stator_inertia": 90.0},
            "link1.stator_inertia",
            "radius of gyration",
        ),
        (
            {"rotor_inertia": 1.7, "gear_ratio": 100.0, "motor": "beyond_spring"},
            "link1.rotor_inertia",
            "g cm^2, write 1.7e-07",
        ),
        (
            {"rotor_inertia": 0.4, "gear_ratio": 50.0, "motor": "beyond_spring"},
            "link1.rotor_inertia",
            "kg cm^2, write 4e-05",
        ),
        ({"tip_mass": 1.0, "tip_centre_x": -120.0}, "link1.tip_centre_x", "mm, write -0.12"),
        ({"base_offset_y": 80.0}, "link1.base_offset_y", "mm, write 0.08"),
        ({"payload": Payload(mass=1.0, centre_y=40.0)}, "payload.centre_y", "mm, write 0.04"),
        ({"loss_factor": 2.0}, "link1.loss_factor", "per cent, write 0.02"),
        ({"kelvin_voigt_time": 0.1}, "link1.kelvin_voigt_time", "ms, write 0.0001"),
        (
            {"joint_stiffness": 1e4, "joint_damping": 200.0},
            "link1.joint_damping",
            # 2 sqrt(k J) of a rod of 1.95 kg and 0.5 m, J = m L^2/3
            "no longer vibrates above 80.62; for a damping ratio of 2 % write 1.612",
        ),
        # E I/L^3 = 7e3 N/m
        ({"support_y_stiffness": 1e-4}, "link1.support_y_stiffness", "N/mm, write 0.1"),
        ({"support_x_stiffness": 1e18}, "link1.support_x_stiffness", "for a rigid one write inf"),
        (
            {"support_torsional_stiffness": 1e-9},
            "link1.support_torsional_stiffness",
            "leave it out",
        ),
    ],
)
def test_a_slip_is_named_with_its_address_and_remedy(changes, address, words):
    found = {remark.address: str(remark) for remark in implausible_values(arm_with(**changes))}
    assert address in found
    assert words in found[address]
    assert found[address].startswith(f"{address} = ")


def test_payload_and_later_links_are_looked_at():
    light = Link(length=0.5, section=SECTION, **STEEL)
    wrong = light.replace(density=7.8)
    arm = Arm((light, wrong), payload=Payload(mass=1e5, inertia=1e9))
    addresses = [remark.address for remark in implausible_values(arm)]
    assert addresses == ["link2.density", "payload.mass", "payload.inertia"]


def test_an_inertia_without_mass_is_a_rotor_and_no_slip():
    assert implausible_values(arm_with(tip_inertia=2.0)) == []


def test_gears_and_rotors_of_ordinary_machines_raise_no_warning():
    """Harmonic drives from 3 to 160 N m/arcmin, rotors from 1e-6 kg m^2, on a heavy and on a light arm."""
    geared = {
        "rotor_inertia": 1.7e-4,
        "gear_ratio": 100.0,
        "motor": "beyond_spring",
        "stator_mass": 3.0,
        "hub_mass": 1.0,
    }
    for size, stiffness in ((1.0, 1e5), (0.2, 1e3)):
        section = rectangle(depth=0.08 * size, width=0.08 * size, shear_coefficient=0.85)
        changes = geared | {"length": size, "joint_stiffness": stiffness, "tip_mass": 5.0 * size}
        if size < 1.0:
            changes |= {"rotor_inertia": 1e-6, "gear_ratio": 160.0, "motor": "beyond_spring"}
        assert implausible_values(arm_with(section, **changes)) == []
    assert implausible_values(arm_with(joint_stiffness=0.0)) == []
    assert (
        implausible_values(arm_with(joint_stiffness=1e-9)) == []
    )  # a hinge, nearly: no unit explains it


def test_ordinary_damping_and_supports_raise_no_warning():
    """Rubber, a well-damped joint, air bearings and bungees (1 Hz), and what stands for rigid in damped arms."""
    heavy = {"joint_stiffness": 1e4, "joint_damping": 40.0, "loss_factor": 0.9}
    assert implausible_values(arm_with(**heavy, kelvin_voigt_time=1e-3)) == []
    assert implausible_values(arm_with(joint_stiffness=0.0, joint_damping=50.0)) == []
    assert implausible_values(arm_with(support_x_stiffness=80.0, support_y_stiffness=80.0)) == []
    assert implausible_values(arm_with(support_y_stiffness=math.inf)) == []
    assert implausible_values(arm_with(support_y_stiffness=1e6 * 7e3)) == []
    rigid = arm_with(rigid=True, kelvin_voigt_time=1e3, joint_stiffness=1e4)
    assert implausible_values(rigid) == []


def test_offsets_are_seen_where_the_lengths_are_in_millimetres_too():
    arm = arm_with(length=500.0, payload=Payload(mass=1.0, centre_x=120.0))
    found = {remark.address: str(remark) for remark in implausible_values(arm)}
    assert found["payload.centre_x"].endswith("m expected; if this is in mm, write 0.12")


@pytest.mark.parametrize("number", [1, 2])
def test_inertia_beyond_a_joint_is_that_of_the_closed_form(number):
    """Two equal slender rods with points at their tips, about either joint."""
    rod = Link(length=0.5, section=SECTION, **STEEL, tip_mass=2.0)
    arm = Arm((rod, rod), payload=Payload(mass=1.0, inertia=0.3))
    m, count = float(rod.mass), 3 - number
    length = 0.5 * count
    points = 2.0 * (length**2 + (0.25 if number == 1 else 0.0)) + 1.0 * length**2 + 0.3
    expected = count * m * length**2 / 3.0 + points
    assert inertia_beyond(arm, number) == pytest.approx(expected, rel=1e-14)


def test_check_shows_all_that_an_arm_has_and_what_looks_wrong():
    arm = arm_with(joint_stiffness=0.5, tip_mass=5.0, hub_inertia=0.01)
    found = jm.check_arm(arm)
    assert [remark.address for remark in found.remarks] == ["link1.joint_stiffness"]
    text = str(found)
    for part in (
        "N m/arcmin",
        "link1.hub_inertia",
        "link1.youngs_modulus",
        "7800",
        "warning: link1",
    ):
        assert part in text
    assert "&lt;" not in found._repr_html_()
    assert "no implausible values found" in str(jm.check_arm(arm_with()))


def test_traced_arms_are_not_checked():
    with pytest.raises(jm.ArmError, match="one number"):
        jm.check_arm(arm_with().with_payload(mass=np.zeros(3)))


def test_facts_of_the_slender_arm_are_those_of_table_1():
    first, second = link_facts(examples.two_link_flexible())
    assert (first.mass, second.mass) == pytest.approx((0.121, 0.129), rel=1e-12)
    assert second.length_over_depth == pytest.approx(0.54 / 0.0006, rel=1e-12)
    assert second.slenderness == pytest.approx(math.sqrt(12.0) * 900.0, rel=1e-12)
    shear_speed = math.sqrt(0.85 * 0.203 / (first.second_moment * 2.6) / (0.121 / 0.5 / first.area))
    radius = math.sqrt(first.second_moment / first.area)
    assert first.cutoff_hz == pytest.approx(shear_speed / radius / (2.0 * math.pi), rel=1e-12)


def test_facts_add_the_payload_to_the_last_tip_and_leave_out_what_is_unknown():
    arm = Arm(
        (Link(1.0, 7e10, 2700.0, raw_section(1e-3, 1e-6), tip_mass=1.0),), payload=Payload(2.0, 0.5)
    )
    (fact,) = link_facts(arm)
    assert (fact.tip_mass, fact.tip_inertia) == (3.0, 0.5)
    assert fact.cutoff_hz is None
    assert fact.length_over_depth is None
    assert fact.shear_coefficient is None


def test_extent_of_a_tube_is_its_depth():
    (fact,) = link_facts(arm_with(hollow_rectangle(0.15, 0.2, 0.01, 0.44), length=1.5))
    assert fact.length_over_depth == pytest.approx(10.0, rel=1e-12)
