"""What URDF files, and what is said beside them, are refused for: by the file, the line or the name, with a remedy."""

import re

import numpy as np
import pytest

import jaxmodal as jm
from tests.spatial.test_urdf import ALUMINIUM, SMALL, TUBE, path_of


def robot(*elements, name="made"):
    return f'<robot name="{name}">{"".join(elements)}</robot>'


BASE, ARM = '<link name="base"/>', '<link name="arm"/>'


def joint(kind="revolute", parent="base", child="arm", more="", name="hinge"):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{more}</joint>'


def inertial(mass="1", tensor=(0.01, 0.01, 0.01)):
    moments = " ".join(f'i{a}{a}="{x}"' for a, x in zip("xyz", tensor, strict=True))
    return (
        f'<link name="arm"><inertial><mass value="{mass}"/><inertia {moments}/></inertial></link>'
    )


BOMB = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><robot name="&b;"/>'
REFUSED = {
    "entities": (BOMB, "line 1: has a document type .*entities"),
    "other file": ('<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>', "document type"),
    "no XML": ("links = 3", "is not XML: .*give a URDF file"),
    "cut off": ("<robot><link name='a'/>", "is not XML: no element found"),
    "of another kind": (
        "<sdf version='1.7'><model/></sdf>",
        "is XML .its first element is <sdf>., and no URDF",
    ),
    "nothing in it": (robot(), "has no <link>"),
    "xacro": (
        robot('<xacro:include filename="x"/>'),
        "line 1: <xacro:include> is xacro.*run it first",
    ),
    "xacro value": (robot(BASE, '<link name="${prefix}arm"/>'), "is xacro"),
    "deep": (robot("<a>" * 30 + "</a>" * 30), "lie deeper than 20"),
    "two links": (robot(BASE, BASE), "two links 'base'"),
    "two joints": (
        robot(BASE, ARM, '<link name="c"/>', joint(), joint(child="c")),
        "two joints 'hinge'",
    ),
    "nameless": (robot("<link/>"), "<link> has no name"),
    "kind": (
        robot(BASE, ARM, joint("revolut")),
        "type = 'revolut': must be .*Did you mean 'revolute'",
    ),
    "parent": (robot(BASE, ARM, joint(parent="bsae")), "parent = 'bsae': is no link .*mean 'base'"),
    "no child": (
        robot(BASE, '<joint name="j" type="fixed"><parent link="base"/></joint>'),
        "<child>",
    ),
    "axis": (
        robot(BASE, ARM, joint(more='<axis xyz="0 0 0"/>')),
        "axis = 0 0 0: must have a direction",
    ),
    "numbers": (
        robot(BASE, ARM, joint(more='<origin xyz="0,0,1"/>')),
        "xyz = '0,0,1': must be 3 finite",
    ),
    "nan": (
        robot(BASE, ARM, joint(more='<origin rpy="0 nan 1"/>')),
        "rpy = '0 nan 1': must be 3 finite",
    ),
    "mass": (robot(BASE, inertial("-1"), joint()), "link 'arm': .*mass = -1.0: must be 0 or more"),
    "no mass": (robot(BASE, '<link name="arm"><inertial/></link>', joint()), "has no <mass>"),
    "tensor": (
        robot(BASE, inertial(tensor=(1, 1, 3)), joint()),
        "link 'arm': inertia.*those of a body.* taken by inertia_check = false",
    ),
    "loop": (
        robot(
            BASE,
            ARM,
            '<link name="c"/>',
            joint(),
            joint(child="c", name="i"),
            joint(parent="arm", child="c", name="k"),
        ),
        "link 'c' is the child of two joints, 'i' and 'k'",
    ),
    "cycle": (
        robot(
            BASE,
            ARM,
            '<link name="c"/>',
            joint(),
            joint(parent="arm", child="c", name="i"),
            joint(parent="c", child="base", name="k"),
        ),
        "form a loop",
    ),
    "two roots": (
        robot(BASE, ARM, '<link name="c"/>', joint()),
        "2 links have no parent: base, c; .*base",
    ),
    "nothing turns": (robot(BASE, ARM, joint("fixed")), "no joint turns or slides"),
    "floating": (
        robot(
            BASE,
            ARM,
            '<link name="c"/>',
            joint("floating"),
            joint(parent="arm", child="c", name="i"),
        ),
        "'hinge' is floating, .*choose its child 'arm' as base",
    ),
    "mimic of itself": (
        robot(BASE, ARM, joint(more='<mimic joint="hinge"/>')),
        "leads back to 'hinge'",
    ),
    "twice": (robot(BASE, ARM, joint(more="<origin/><origin/>")), "<origin> stands twice"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_files_that_are_no_robot_are_refused_by_name(fault, tmp_path):
    text, message = REFUSED[fault]
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    with pytest.raises(jm.ArmError, match=f"robot.urdf: .*{message}"):
        jm.read_urdf(path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tip": "griper"}, "tip = 'griper': there is no such link; .*Did you mean 'gripper'"),
        (
            {"base": "boom", "tip": "column"},
            "tip = 'column': is not a descendant of the base 'boom'",
        ),
        (
            {"tip": "plinth"},
            "no joint turns or slides between the base 'world' and the tip 'plinth'",
        ),
        ({"joint_stiffness": {"elbow": 1.0}}, "fits no name; there are yaw, pitch, roll, bend"),
        ({"joint_stiffness": {"pich": 1.0}}, "Did you mean 'pitch'"),
        (
            {"joint_stiffness": {"floor": 1.0}},
            "'floor' is fixed and held, so that it has no spring",
        ),
        (
            {"tip": "boom", "joint_stiffness": {"bend": 1.0}},
            "'bend' is not between the base and the tip",
        ),
        ({"joint_stiffness": 3.0}, "joint_stiffness = 3.0: must be a dict"),
        ({"joint_stiffness": {"yaw": -1.0}}, r"link1\.joint_stiffness = -1\.0: must be 0"),
        ({"positions": {"floor": 1.0}}, "'floor' is fixed and has no position"),
        ({"positions": {"yaw": np.inf}}, r"positions\['yaw'\] = inf: must be a finite"),
        ({"sections": {"camera": TUBE}}, "'camera' moves with 'boom'; give that one"),
        ({"sections": {"plinth": TUBE}}, "'plinth' stands with the base"),
        ({"sections": {"boom": TUBE}}, r"materials\['boom'\] = None: must be a dict"),
        ({"materials": {"*": ALUMINIUM}}, "no link has a section"),
        ({"sections": {"boom": TUBE}, "materials": {"*": {"desnity": 1}}}, "mean 'density'"),
        (
            {"sections": {"wrist_a": TUBE}, "materials": {"*": ALUMINIUM}},
            "no length that could deform",
        ),
        ({"section_roll": {"boom": 1.0}}, "section_roll: no link has a section"),
        (
            {
                "sections": {"boom": TUBE},
                "materials": {"*": ALUMINIUM},
                "section_roll": {"wrist_a": 0.1},
            },
            r"section_roll\['wrist_a'\] = 0.1: the link has no section that could be turned",
        ),
        ({"along": {"boom": [[0, 0, 0], [1, 0, 0]]}}, "along: no link has a section"),
        (
            {"sections": {"boom": TUBE}, "materials": {"*": ALUMINIUM}, "along": {"wrist_a": 1}},
            r"along\['wrist_a'\] = 1: the link has no section that could lie somewhere",
        ),
        (
            {"sections": {"boom": TUBE}, "materials": {"*": ALUMINIUM}, "along": {"boom": [0, 1]}},
            r"along\['boom'\] = .*must be where the beam begins and where it ends, two places",
        ),
        (
            {
                "sections": {"boom": TUBE},
                "materials": {"*": ALUMINIUM},
                "along": {"boom": np.ones((2, 3))},
            },
            "the beam begins where it ends",
        ),
        (
            {"joint_damping": {"yaw": 1.0}},
            r"joint_damping\['yaw'\] = 1.0: 'yaw' has no joint_stiffness, so that nothing moves in its damper",
        ),
        (
            {"joint_stiffness": {"yaw": 1.0}, "joint_damping": {"yaw": -1.0}},
            r"link1\.joint_damping = -1\.0: must be",
        ),
        ({"slide_damping": {"yaw": 1.0}}, "'yaw' has no slide_stiffness"),
        ({"rotors": {"pich": {}}}, "fits no name; .*Did you mean 'pitch'"),
        ({"rotors": {"floor": {}}}, "'floor' does not turn between the base and the tip"),
        ({"rotors": {"yaw": 3.0}}, r"rotors\['yaw'\] = 3.0: must be a dict of inertia"),
        ({"rotors": {"yaw": {"inertia": 1.0}}}, r"rotors\['yaw'\]: gear_ratio is missing"),
        ({"rotors": {"yaw": {"ratio": 1.0}}}, "known are inertia, gear_ratio.*Did you mean"),
        (
            {"rotors": {"yaw": {"inertia": -1.0, "gear_ratio": 3}}},
            r"link1\.rotor_inertia = -1\.0: must be finite and 0 or more",
        ),
        ({"structural_mass": "none"}, "must be 'inside' or 'beside'"),
        (
            {"sections": {"boom": jm.circle(0.15, 1.0)}, "materials": {"*": ALUMINIUM}},
            "link 'boom': its beam has 26.* kg, its inertial only 5 kg; give structural_mass = 'beside'",
        ),
        ({"payload": 3.0}, "payload = 3.0: must be a RigidBody"),
    ],
)
def test_what_is_said_beside_a_file_is_refused_by_name(values, message):
    with pytest.raises(jm.ArmError, match=f"small_arm.urdf: .*{message}"):
        jm.read_urdf(SMALL, **values)


ROTOR = {"inertia": 1e-5, "gear_ratio": 100.0, "motor": "held"}


@pytest.mark.parametrize(
    "values",
    [
        {"positions": {"y*": 0.1, "?aw": 0.2}},
        {"joint_stiffness": {"y*": 1e4, "?aw": 2e4}},
        {"rotors": {"y*": ROTOR, "?aw": ROTOR | {"gear_ratio": 80.0}}},
        {"sections": {"b*": TUBE, "boo?": jm.circle(0.05, "cowper")}},
        {
            "sections": {"boom": TUBE},
            "materials": {"b*": ALUMINIUM, "boo?": ALUMINIUM | {"density": 7850.0}},
        },
        {
            "sections": {"boom": TUBE},
            "materials": {"*": ALUMINIUM},
            "section_roll": {"b*": 0.1, "boo?": 0.2},
        },
    ],
)
def test_patterns_that_fit_one_name_and_disagree_are_refused(values):
    keyword, given = list(values.items())[-1]
    (first, one), (second, _) = given.items()
    name = "boom" if first == "b*" else "yaw"
    message = (
        f"small_arm.urdf: {re.escape(keyword)}.{re.escape(repr(first))}. = .* and {keyword}."
        f"{re.escape(repr(second))}. = .*: both fit '{name}', .*; give {keyword}.'{name}'. itself"
    )
    with pytest.raises(jm.ArmError, match=message):
        jm.read_urdf(SMALL, **values)
    # the same value twice, or the name itself, leaves nothing open
    rest = ({"materials": {"*": ALUMINIUM}} if "sections" in values else {}) | values
    for settled in ({first: one, second: one}, {**given, name: one}):
        jm.read_urdf(SMALL, **rest | {keyword: settled}, check=False)


def test_arms_that_lie_as_far_need_a_tip():
    with pytest.raises(jm.ArmError, match="left_fore, right_fore; choose one with tip"):
        jm.read_urdf(path_of("urdf/two_arms"))


def test_files_that_cannot_be_read_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "none.urdf"):
        with pytest.raises(jm.ArmError, match=r"cannot be read .*; give a URDF file"):
            jm.read_urdf(path)
    file = tmp_path / "robot.toml"
    file.write_text("urdf = 3")
    with pytest.raises(jm.ArmError, match=r"robot.toml: urdf = 3: must be the path of a URDF"):
        jm.read_arm(file)
    large = tmp_path / "large.urdf"
    large.write_text(robot(BASE, " " * 1_000_001))
    with pytest.raises(jm.ArmError, match="larger than 1,000,000 bytes"):
        jm.read_urdf(large)
