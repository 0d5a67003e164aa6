"""Robots from URDF files: masses and frequencies are those of another reading, link by link."""

import re
from pathlib import Path

import numpy as np
import pytest

import jaxmodal as jm
from tests.spatial.rigid_chains import frequencies_hz
from tests.spatial.test_joint_frames import in_space, places
from tests.spatial.urdf_trees import Tree

DATA = Path(__file__).parent.parent / "data"
SMALL = DATA / "small_arm.urdf"
SPRINGS = {"yaw": 2e4, "pitch": 1.5e4, "roll": 3e3, "bend": 2e3}
POSITIONS = {"yaw": 0.3, "pitch": -0.6, "roll": 0.5, "bend": 0.8}
FREQUENCIES = [16.08785978, 21.20520931, 48.41938925, 79.5964111]
TUBE = jm.hollow_circle(0.08, 0.003, "cowper")
ALUMINIUM = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33}

#: base, tip and the joints between of every file; those that are left out are what the reader chooses
FILES = {
    "small_arm": ({}, ("yaw", "pitch", "roll", "bend")),
    "urdf/fixed_joints": ({}, ("shoulder", "elbow")),
    "urdf/bare_links": ({}, ("yaw", "pitch", "roll")),
    "urdf/branches": ({}, ("waist", "shoulder", "wrist")),
    "urdf/prismatic": ({}, ("swivel", "lift", "elbow")),
    "urdf/gantry": ({}, ("bridge", "trolley", "mast", "wrist")),
    "urdf/telescope": ({"tip": "nozzle"}, ("slew", "first", "second")),
    "urdf/crawler": ({}, ("hip", "knee", "ankle")),
    "urdf/gripper": ({}, ("shoulder", "elbow")),
    "urdf/axes": ({}, ("one", "two", "three")),
    "urdf/mimic": ({}, ("shoulder", "elbow", "level")),
    "urdf/meshes": ({}, ("hinge",)),
    "urdf/wrist": ({}, ("elbow", "roll", "bend", "turn")),
    "urdf/two_arms": ({"tip": "left_fore"}, ("waist", "left_shoulder", "left_elbow")),
    "urdf/vehicle": ({"base": "mast"}, ("pan", "tilt")),
}


def path_of(name):
    return DATA / f"{name}.urdf"


def total(arm):
    """Mass, mass times centre, and tensor about the place of joint 1, link by link."""
    mass, moment, tensor = 0.0, np.zeros(3), np.zeros((3, 3))
    at = np.zeros(3), np.eye(3)
    for link, (axes, joint, tip) in zip(arm.links, places(arm), strict=True):
        for body, place, turned in (
            (link.stator, at[0], at[1]),
            (link.hub, joint, axes),
            (link.body, tip, axes),
        ):
            if body is None:
                continue
            centre, inertia = in_space(body, turned, place)
            own = float(body.mass)
            mass, moment = mass + own, moment + own * centre
            tensor = (
                tensor + inertia + own * (centre @ centre * np.eye(3) - np.outer(centre, centre))
            )
        if link.section is not None:
            s, length, density = link.section_values, float(link.length), float(link.density)
            own = float(link.mass)
            centre = tip - 0.5 * length * axes[:, 0]
            polar, iy, iz = (
                density * length * x
                for x in (
                    s.second_moment_y + s.second_moment_z,
                    s.second_moment_y,
                    s.second_moment_z,
                )
            )
            bent = own * length**2 / 12.0
            tensor = tensor + axes @ np.diag([polar, bent + iy, bent + iz]) @ axes.T
            tensor = tensor + own * (centre @ centre * np.eye(3) - np.outer(centre, centre))
            mass, moment = mass + own, moment + own * centre
        at = tip, axes
    return mass, moment, tensor


def moved_to(found, place):
    """The same about a point from which the former one is seen at ``place``."""
    mass, moment, tensor = found
    centre = moment / mass
    before, after = (mass * (x @ x * np.eye(3) - np.outer(x, x)) for x in (centre, centre + place))
    return mass, moment + mass * place, tensor - before + after


def postures(name):
    """A file's tree and arm at five random positions of its joints, and random springs."""
    ends, joints = FILES[name]
    rng = np.random.default_rng(len(name))
    free = [
        joint
        for joint, element in Tree(path_of(name)).joints.items()
        if element.get("type") in ("revolute", "continuous", "prismatic")
        and element.find("mimic") is None
    ]
    for _ in range(5):
        positions = {joint: float(rng.uniform(-0.5, 0.5)) for joint in free}
        stiffness = {joint: float(10.0 ** rng.uniform(3.0, 4.5)) for joint in joints}
        tree = Tree(path_of(name), positions)
        slides = {j: k for j, k in stiffness.items() if tree.joints[j].get("type") == "prismatic"}
        arm = jm.read_urdf(
            path_of(name),
            **ends,
            positions=positions,
            joint_stiffness={j: k for j, k in stiffness.items() if j not in slides},
            slide_stiffness=slides,
            check=False,
        )
        yield tree, arm, stiffness


def assert_total(arm, axes, place, expected):
    """The arm's axes are those of the base, at the place of joint 1: both are seen from the root."""
    mass, moment, tensor = total(arm)
    found = moved_to((mass, axes @ moment, axes @ tensor @ axes.T), place)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * np.max(np.abs(other)))


@pytest.mark.parametrize("name", FILES)
def test_the_whole_robot_and_its_frequencies_are_those_of_another_reading(name):
    """In five postures each, of joints beside the chain too."""
    ends, joints = FILES[name]
    links = {"mast", "arm", "hand"} if "base" in ends else None
    for tree, arm, stiffness in postures(name):
        assert [link.name for link in arm.links] == list(joints)
        axes = tree.frames[ends.get("base", tree.root)][:3, :3]
        assert_total(arm, axes, tree.before[joints[0]][:3, 3], tree.total(links))
        result = jm.natural_frequencies(arm, len(joints))
        assert result.certified.all()
        np.testing.assert_allclose(
            result.frequencies_hz, frequencies_hz(tree.chain(joints, stiffness)), rtol=1e-10
        )


def test_small_arm_and_its_file_have_the_same_frequencies_to_the_last_bit(tmp_path):
    arm = jm.read_urdf(SMALL, positions=POSITIONS, joint_stiffness=SPRINGS)
    found = jm.natural_frequencies(arm, 4)
    np.testing.assert_allclose(found.frequencies_hz, FREQUENCIES, rtol=1e-9)
    assert arm.name == "small_arm"
    assert float(arm.total_mass) == pytest.approx(26.0, abs=1e-12)
    for file in ("arm.toml", "arm.json"):
        jm.write_arm(arm, tmp_path / file)
        again = jm.read_arm(tmp_path / file)
        assert again == arm
        assert np.array_equal(jm.natural_frequencies(again, 4).omega, found.omega)
    # the posture of a robot is one angle for each joint
    other = jm.read_urdf(SMALL, joint_stiffness=SPRINGS).with_posture(list(POSITIONS.values()))
    assert other == arm
    assert "pitch" in str(arm)


def test_patterns_give_values_to_many_and_exact_names_count_first():
    arm = jm.read_urdf(SMALL, joint_stiffness={"*": 1e4, "?aw": 5.0, "bend": 7.0, "yaw": 6.0})
    assert [float(link.joint_stiffness) for link in arm.links] == [6.0, 1e4, 1e4, 7.0]
    arm = jm.read_urdf(SMALL, joint_stiffness={"[yp]*": 1e4, "[!yp]*": 2e4, "r*": 2e4})
    assert [float(link.joint_stiffness) for link in arm.links] == [1e4, 1e4, 2e4, 2e4]


def test_names_that_look_like_patterns_are_names(tmp_path):
    file = tmp_path / "odd.urdf"
    file.write_text(
        path_of("urdf/axes").read_text().replace('"one"', '"j[2]"').replace('"two"', '"j2"')
    )
    arm = jm.read_urdf(file, joint_stiffness={"j[2]": 1e3, "j2": 2e3})
    assert [float(link.joint_stiffness) for link in arm.links] == [1e3, 2e3, np.inf]


@pytest.mark.parametrize("structural_mass", ["inside", "beside"])
def test_links_with_sections_deform_and_the_robot_keeps_its_mass(structural_mass):
    values = {"sections": {"boom": TUBE}, "materials": {"*": ALUMINIUM}}
    values |= {"structural_mass": structural_mass, "joint_stiffness": SPRINGS}
    report = jm.urdf_report(SMALL, positions=POSITIONS, **values)
    arm, (_, boom, _, _) = report.arm, report.joints
    beam = float(arm.links[1].mass)
    assert not arm.links[1].rigid
    assert beam == pytest.approx(2700.0 * np.pi / 4 * (0.08**2 - 0.074**2) * np.hypot(0.55, 0.02))
    assert boom.beam == pytest.approx(beam)
    assert boom.mass == pytest.approx(5.4)
    added = beam if structural_mass == "beside" else 0.0
    assert boom.beam + boom.bodies == pytest.approx(5.4 + added)
    expected = Tree(SMALL, POSITIONS)
    mass, moment, tensor = moved_to(total(arm), expected.before["yaw"][:3, 3])
    assert mass == pytest.approx(26.0 + added, rel=1e-13)
    if structural_mass == "inside":
        for one, other in zip((moment, tensor), expected.total()[1:], strict=True):
            np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-12 * np.max(np.abs(other)))
    # a beam 1e9 times as stiff is rigid, wherever its bodies are fixed
    stiff = jm.set_parameters(arm, {"link2.youngs_modulus": 7e19})
    found = jm.natural_frequencies(stiff, 4).frequencies_hz
    if structural_mass == "inside":
        np.testing.assert_allclose(found, FREQUENCIES, rtol=2e-8)
    assert np.all(jm.natural_frequencies(arm, 4).frequencies_hz < found)


def test_rotors_are_those_of_another_reading():
    rotors = {
        "pitch": {"inertia": 3e-5, "gear_ratio": 120.0, "motor": "beyond_spring"},
        "b*": {"inertia": 1e-5, "gear_ratio": -80.0, "motor": "beyond_spring"},
    }
    arm = jm.read_urdf(SMALL, positions=POSITIONS, joint_stiffness=SPRINGS, rotors=rotors)
    geared = {"pitch": (3e-5, 120.0), "bend": (1e-5, -80.0)}
    chain = [
        joint._replace(rotor=geared.get(name, joint.rotor))
        for name, joint in zip(
            SPRINGS, Tree(SMALL, POSITIONS).chain(list(SPRINGS), SPRINGS), strict=True
        )
    ]
    found = jm.natural_frequencies(arm, 4).frequencies_hz
    np.testing.assert_allclose(found, frequencies_hz(chain), rtol=1e-10)


def test_sections_are_turned_about_their_links():
    flat = jm.rectangle(0.04, 0.01, "cowper")
    values = {"sections": {"boom": flat}, "materials": {"*": ALUMINIUM}, "joint_stiffness": SPRINGS}
    arm = jm.read_urdf(SMALL, **values)
    # by default the section's z is as near the joint's axis as can be: here along it
    frame = arm.frames()[1]
    axis = frame.section[:, 2]
    before = arm.frames()[0].axes
    joint_axis = before @ np.array([float(x) for x in arm.links[1].joint_axis])
    np.testing.assert_allclose(axis, joint_axis, rtol=0.0, atol=1e-12)
    turned = jm.read_urdf(SMALL, **values, section_roll={"b*m": np.pi / 2})
    upright = jm.read_urdf(
        SMALL, **values | {"sections": {"boom": jm.rectangle(0.01, 0.04, "cowper")}}
    )
    found, expected = (jm.natural_frequencies(x, 4).omega for x in (turned, upright))
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    assert not np.allclose(found, jm.natural_frequencies(arm, 4).omega, rtol=1e-3)


def test_beams_lie_where_they_are_said_to():
    """What is left of the way to both joints is rigid; mass, moments and joints of the robot stay where they are."""
    values = {"sections": {"boom": TUBE}, "materials": {"*": ALUMINIUM}, "joint_stiffness": SPRINGS}
    way = np.array([0.55, 0.0, 0.02])  # of the next joint, in the file
    whole = jm.read_urdf(SMALL, positions=POSITIONS, **values)
    outer = jm.read_urdf(SMALL, positions=POSITIONS, **values, along={"bo*": [0.5 * way, way]})
    ends = {"along": {"boom": [[0.0, 0.0, 0.03], [0.5, 0.0, 0.03]]}, "structural_mass": "beside"}
    higher = jm.read_urdf(SMALL, positions=POSITIONS, **values, **ends)
    for arm, length, offset in ((outer, 0.5 * np.hypot(*way[[0, 2]]), 0.5), (higher, 0.5, 0.03)):
        link = arm.links[1]
        np.testing.assert_allclose(float(link.length), length, rtol=1e-14, atol=0)
        start = np.linalg.norm([float(x) for x in link.base_offset])
        shift = length if arm is outer else offset
        np.testing.assert_allclose(start, shift, rtol=1e-13, atol=0)
        for one, other in zip(arm.frames(), whole.frames(), strict=True):
            np.testing.assert_allclose(one.tip, other.tip, rtol=0, atol=1e-14)
    assert float(outer.total_mass) == pytest.approx(float(whole.total_mass), rel=1e-14)
    for one, other in zip(total(outer), total(whole), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.max(np.abs(other)))
    # a beam of half the length on a rigid half is stiffer
    found = (jm.natural_frequencies(arm, 4).omega for arm in (outer, whole))
    np.testing.assert_array_less(*reversed(list(found)))


def test_joints_and_links_of_a_robot_are_damped():
    """Dampers beside springs and lossy materials are those of the arm made by hand."""
    values = {"sections": {"boom": TUBE}, "joint_stiffness": SPRINGS}
    lossy = ALUMINIUM | {"loss_factor": 0.02, "kelvin_voigt_time": 1e-6}
    plain = jm.read_urdf(SMALL, **values, materials={"*": ALUMINIUM})
    dampers = {"pitch": 3.0, "y*": 4.0}
    arm = jm.read_urdf(SMALL, **values, materials={"*": lossy}, joint_damping=dampers)
    first, second, *others = plain.links
    second = second.replace(joint_damping=3.0, loss_factor=0.02, kelvin_voigt_time=1e-6)
    assert arm == plain.replace(links=(first.replace(joint_damping=4.0), second, *others))
    slides = jm.read_urdf(
        path_of("urdf/prismatic"),
        slide_stiffness={"*": 1e5},
        slide_damping={"*": 30.0},
        check=False,
    )
    (spring,) = next(link for link in slides.links if link.prismatic).joint_springs
    assert float(spring.damping) == 30.0


def test_a_payload_is_given_in_the_axes_of_the_tip():
    tool = jm.RigidBody(2.0, (0.1, 0.02, 0.0), (0.01, 0.02, 0.03))
    arm = jm.read_urdf(SMALL, positions=POSITIONS, joint_stiffness=SPRINGS, payload=tool)
    tree = Tree(SMALL, POSITIONS)
    tree.bodies["payload"] = (2.0, np.array([0.1, 0.02, 0.0]), np.diag([0.01, 0.02, 0.03]))
    tree.frames["payload"] = tree.frames["gripper"]
    tree.carrier = lambda link, carriers: Tree.carrier(
        tree, "gripper" if link == "payload" else link, carriers
    )
    expected = frequencies_hz(tree.chain(list(SPRINGS), SPRINGS))
    np.testing.assert_allclose(jm.natural_frequencies(arm, 4).frequencies_hz, expected, rtol=1e-10)


def test_the_report_says_what_was_held_lumped_and_passed_over():
    report = jm.urdf_report(path_of("urdf/branches"), positions={"finger": 0.03, "neck": 0.2})
    text = str(report)
    for part in (
        "3 joints from 'base' to 'left'",
        "joint 'neck' is beside the chain and held at 0.2 rad",
        "joint 'other_finger' is prismatic and held at 0.03 m",
        "mimic of 'finger' gives joint 'other_finger' its position, and couples no motion",
        "fixed to 'body': 'camera'",
        "the tip might as well be 'right'",
        "joint_stiffness of waist, shoulder, wrist: taken as rigid",
        "nothing gives way",
    ):
        assert part in text, part
    assert report.joints[1].fixed == ()
    assert report.joints[2].fixed == ("left", "right")
    text = str(jm.urdf_report(path_of("urdf/prismatic")))
    assert "joint 'lift' is at 0, beyond its limits 0.1 to 0.8" in text
    text = str(jm.urdf_report(path_of("urdf/bare_links")))
    assert "without inertial, and so without mass: 'world', 'yoke', 'tcp'" in text
    assert "without moments of inertia, as points: 'arm'" in text
    text = str(jm.urdf_report(path_of("urdf/meshes")))
    assert "mimic of 'no_joint', which is no joint, is passed over at joint 'hinge'" in text
    assert "meshes and other shapes of 2 links are not read" in text
    report = jm.urdf_report(path_of("urdf/vehicle"), base="mast")
    assert "left out: 'world', 'chassis', 'wheel'" in str(report)
    assert (report.joints[0].lower, report.ground_mass) == (-2.5, 12.0)


def test_a_robot_on_which_nothing_gives_way_is_warned_of():
    with pytest.warns(jm.ImplausibleWarning, match="nothing gives way"):
        jm.read_arm(SMALL)
    with pytest.warns(jm.ImplausibleWarning, match=r"link1\.joint_stiffness = .*arcmin"):
        jm.read_urdf(
            path_of("urdf/wrist"),
            joint_stiffness={"*": 2.0},
            sections={"fore": TUBE},
            materials={"*": ALUMINIUM},
            structural_mass="beside",
        )


ODD = (0.06, 0.08, 0.012)


def test_tensors_that_no_body_has_are_taken_where_asked_for(tmp_path):
    """Principal moments as published: one is greater than the sum of the other two."""
    text = path_of("urdf/axes").read_text()
    for axis, moment in zip("xyz", ODD, strict=True):
        text = re.sub(f'i{axis}{axis}="[^"]*"', f'i{axis}{axis}="{moment}"', text)
    file = tmp_path / "odd.urdf"
    file.write_text(text)
    stiffness = {"one": 1e3, "two": 2e3, "three": 3e3}
    with pytest.raises(jm.ArmError, match=r"link 'a': inertia\..*taken by inertia_check = false"):
        jm.read_urdf(file, joint_stiffness=stiffness)
    with pytest.warns(jm.ImplausibleWarning, match=r"hub\.inertia\.yy.*0\.08 .*0\.072"):
        arm = jm.read_urdf(file, joint_stiffness=stiffness, inertia_check=False)
    assert "which no body has: 'base', 'a', 'b', 'c'" in str(
        jm.urdf_report(file, inertia_check=False)
    )
    found = jm.natural_frequencies(arm, 3)
    expected = frequencies_hz(Tree(file).chain(list(stiffness), stiffness))
    np.testing.assert_allclose(found.frequencies_hz, expected, rtol=1e-10)
    jm.write_arm(arm, tmp_path / "arm.toml")
    assert jm.read_arm(tmp_path / "arm.toml", check=False) == arm
    assert float(arm.links[0].stator.mass) == 5.0  # at rest: its tensor is left out
    assert not np.any(arm.links[0].stator.inertia.rows())
