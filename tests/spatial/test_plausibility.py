"""Values of arms in space that look like a wrong unit are found with their address and what was probably meant."""

import math

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.spatial.arms.plausibility import implausible_values, most_modes
from tests.spatial.cases import bent_arm, standing_arm, tube
from tests.support.commands import run_command


def one(**changes):
    return jm.SpatialArm((tube(**changes),))


ARCMIN = 180.0 * 60.0 / math.pi
RAW = jm.spatial_section(1e-3, 2e-7, 1e-4, 3e-7, 0.8, 2.0)


def calibrated(twist, d):
    """Two joints by rows, the second of which is turned by ``twist`` from the first and ``d`` along it."""
    usual = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33, "along": "a"}
    usual["section"] = jm.hollow_circle(0.1, 0.005, "cowper")
    rows = [(0.0, 0.0, 0.4, twist), (0.3, d, 0.4, 0.0)]
    return jm.arm_from_denavit_hartenberg(rows, [usual] * 2)


@pytest.mark.parametrize(("twist", "said"), [(1e-3, True), (0.0, False), (1.5, False)])
def test_axes_that_are_all_but_parallel_are_the_cause_of_a_far_offset(twist, said):
    (found,) = implausible_values(calibrated(twist, -300.0))
    assert found.address == "link2.base_offset.z"
    assert ("joints 1 and 2 are parallel but for 0.001 rad" in found.message) == said
    assert ("joint_origin" in found.message) == said
    assert ("if this is in mm" in found.message) != said


@pytest.mark.parametrize(
    ("arm", "address", "words"),
    [
        (one(density=7.8), "link1.density", "write 7800"),
        (one(youngs_modulus=70.0), "link1.youngs_modulus", "GPa"),
        (
            one(poisson_ratio=None, shear_modulus=9e10, section=jm.circle(0.05)),
            "link1.shear_modulus",
            "Poisson ratio",
        ),
        (one(length=600.0), "link1.length", "write 0.6"),
        (one(section=jm.rectangle(0.9, 0.1)), "link1.section.depth", "no beam theory"),
        (one(section=jm.rectangle(0.1, 0.9)), "link1.section.width", "no beam theory"),
        (one(length=0.05), "link1.section.outer_diameter", "no beam theory"),
        (one(section=jm.rectangle(0.1, 0.1, 1.2)), "link1.section.shear_coefficient", "0.833333"),
        (one(section=RAW), "link1.section.shear_coefficient_z", "write its inverse, 0.5"),
        (one(section=RAW), "link1.section.second_moment_z", "1.09545 m deep"),
        (one(joint_angle=90.0), "link1.joint_angle", "use joint_angle_deg"),
        (
            one(joint_stiffness=5.0, body=jm.RigidBody(40.0)),
            "link1.joint_stiffness",
            f"write {5 * ARCMIN:.6g}",
        ),
        (
            one(rotor_inertia=2.0, gear_ratio=10.0, motor="beyond_spring"),
            "link1.rotor_inertia",
            "kg cm^2",
        ),
        (one(body=jm.RigidBody(5000.0)), "link1.body.mass", "write 5"),
        (
            one(hub=jm.RigidBody(1.0, None, (50.0, 60.0, 55.0))),
            "link1.hub.inertia.yy",
            "radius of gyration",
        ),
        (one(body=jm.RigidBody(1.0, (0.0, 30.0, 0.0))), "link1.body.centre.y", "write 0.03"),
        (one(end_offset=(0.0, 0.0, 40.0)), "link1.end_offset.z", "write 0.04"),
        (
            one().replace(payload=jm.RigidBody(9000.0)),
            "payload.mass",
            "if this is in grams, write 9",
        ),
    ],
)
def test_what_looks_wrong_is_found(arm, address, words):
    found = {remark.address: str(remark) for remark in implausible_values(arm)}
    assert address in found
    assert words in found[address]


def test_ordinary_arms_have_nothing_to_remark():
    examples = jm.examples.six_axis_industrial(), jm.examples.canadarm2_like()
    for arm in (one(), bent_arm(), standing_arm(), *examples):
        assert implausible_values(arm) == []


def test_files_warn_and_check_shows(tmp_path):
    path = tmp_path / "arm.toml"
    jm.write_arm(jm.set_parameters(bent_arm(), {"link2.density": 2.7}), path)
    with pytest.warns(jm.ImplausibleWarning, match=r"link2\.density = 2\.7: .*write 2700"):
        jm.read_arm(path)
    shown = run_command("check", path)
    assert shown.exit_code == 0
    assert "warning: link2.density = 2.7" in shown.output
    warned = run_command("frequencies", path, "--modes", "1")
    assert "warning: " in warned.output
    assert "link2.density" in warned.output


def test_check_tells_of_every_link_what_follows():
    arm = bent_arm()
    found = jm.check_arm(arm)
    assert found.remarks == ()
    assert found.total_mass == pytest.approx(float(arm.total_mass))
    fact = found.links[1]
    section = arm.links[1].section_values
    assert (fact.shape, fact.bodies) == ("hollow_circle", pytest.approx(0.8))
    assert fact.torsion_constant == pytest.approx(2.0 * fact.second_moment_y)
    speed = arm.links[1].shear_modulus_value * section.area / (2700.0 * section.second_moment_y)
    expected = math.sqrt(float(section.shear_coefficient_y) * float(speed)) / (2.0 * math.pi)
    assert fact.cutoff_hz == pytest.approx(expected)
    assert found.links[2].bodies == pytest.approx(1.5)  # the payload
    text = str(found)
    for part in (
        "bent: 3 links",
        "link2.gear_ratio",
        "link3.joint_frame1.angle",
        "no implausible values",
    ):
        assert part in text
    assert "link1.joint_axis" not in text  # the usual axis is nothing to tell


def test_rigid_links_have_as_many_modes_as_springs():
    """In the plane as in space: those beyond have no frequency."""
    bar = jm.Link(0.5, 7e10, 2700.0, jm.circle(0.02), poisson_ratio=0.3, rigid=True)
    hinge = bar.replace(
        joint_stiffness=1e4, joint_axial_stiffness=1e6, joint_shear_stiffness=math.inf
    )
    for arm, number in (
        (jm.Arm((bar, bar)), 0),
        (jm.Arm((hinge, bar)), 2),
        (jm.Arm((hinge, bar), base_stiffness=[1e6, 1e6, math.inf]), 4),
    ):
        spatial = [] if arm.base_stiffness is not None else [jm.to_spatial(arm)]
        assert [most_modes(each) for each in (arm, *spatial)] == [number] * (1 + len(spatial))
        nothing = [
            remark for remark in implausible_values(arm) if "nothing gives way" in str(remark)
        ]
        assert len(nothing) == (number == 0)
    arm = jm.Arm((hinge, bar))
    omega = np.asarray(jm.natural_frequencies(arm, 3, theory="rayleigh", throw=False).omega)
    np.testing.assert_array_equal(np.isfinite(omega), [True, True, False])
    assert most_modes(jm.Arm((hinge, bar.replace(rigid=False)))) == math.inf
