"""Does a file become the arm it describes, and an arm a file that describes it?"""

import json
import math
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxmodal as jm

TOML = """\
name = "two-link flexible arm"
[[links]]
length = 0.5                 # m
youngs_modulus = 2.1e11      # Pa
poisson_ratio = 0.3          # or shear_modulus; both is refused
density = 7800.0             # kg/m^3
section = { shape = "rectangle", depth = 0.00061, width = 0.051, shear_coefficient = 0.85 }
tip_mass = 0.61              # kg, default 0
tip_inertia = 1.5e-3         # kg m^2, default 0
joint_angle = 0.0
joint_stiffness = 1e6        # N m/rad
[[links]]
length = 1                   # an integer is a number
youngs_modulus = 7e10
shear_modulus = 2.6e10
density = 2700
section = { area = 1e-4, second_moment = 2e-9, shear_coefficient = "5/6" }
joint_angle_deg = 45.0
thickness_factor = 2.0
[payload]
mass = 2.0
inertia = 0.01
"""

ARM = jm.Arm(
    (
        jm.Link(
            0.5, 2.1e11, 7800.0, jm.rectangle(0.00061, 0.051, 0.85), poisson_ratio=0.3,
            tip_mass=0.61, tip_inertia=1.5e-3, joint_stiffness=1e6,
        ),
        jm.Link(
            1.0, 7e10, 2700.0, jm.raw_section(1e-4, 2e-9, "5/6"), shear_modulus=2.6e10,
            joint_angle=math.pi / 4, thickness_factor=2.0,
        ),
    ),
    jm.Payload(2.0, 0.01),
    "two-link flexible arm",
)  # fmt: skip


@pytest.mark.parametrize("name", ["arm.toml", "ARM.TOML", "arm", "arm.txt"])
def test_toml_by_suffix_or_content(tmp_path, name):
    (tmp_path / name).write_text(TOML)
    assert jm.read_arm(tmp_path / name) == ARM
    assert jm.read_arm(str(tmp_path / name)) == ARM


@pytest.mark.parametrize("name", ["arm.json", "arm.JSON", "arm", "arm.txt"])
def test_json_by_suffix_or_content(tmp_path, name):
    (tmp_path / name).write_text("\n " + json.dumps(tomllib.loads(TOML)))
    assert jm.read_arm(tmp_path / name) == ARM


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_byte_order_mark_and_line_ends_do_not_matter(tmp_path, encoding, newline):
    file = tmp_path / "arm.toml"
    file.write_bytes(TOML.replace("\n", newline).encode(encoding))
    assert jm.read_arm(file) == ARM


def test_null_in_json_is_a_rigid_joint_and_no_shear_coefficient():
    link = tomllib.loads(TOML)["links"][1]
    link |= {"joint_stiffness": None, "poisson_ratio": None}
    link["section"]["shear_coefficient"] = None
    arm = jm.arm_from_dict(json.loads(json.dumps({"links": [link]})))
    assert arm.links[0].joint_stiffness == math.inf
    assert arm.links[0].section == jm.raw_section(1e-4, 2e-9)


def test_what_is_left_out_takes_its_default():
    section = {"shape": "circle", "diameter": 0.1}
    link = {"length": 1, "youngs_modulus": 2, "density": 3, "section": section}
    (made,) = jm.arm_from_dict({"links": [link]}).links
    zero = (made.tip_mass, made.tip_inertia, made.joint_angle)
    assert zero == (0.0, 0.0, 0.0)
    assert (made.joint_stiffness, made.thickness_factor) == (math.inf, 1.0)
    assert (made.poisson_ratio, made.shear_modulus) == (None, None)


@pytest.mark.parametrize(
    ("table", "section"),
    [
        ({"shape": "rectangle", "depth": 0.1, "width": 0.2}, jm.rectangle(0.1, 0.2)),
        (
            {"shape": "hollow_rectangle", "depth": 0.1, "width": 0.2, "wall_thickness": 0.03},
            jm.hollow_rectangle(0.1, 0.2, 0.03),
        ),
        ({"shape": "circle", "diameter": 0.1}, jm.circle(0.1)),
        (
            {"shape": "hollow_circle", "outer_diameter": 0.1, "wall_thickness": 0.02},
            jm.hollow_circle(0.1, 0.02),
        ),
        ({"area": 0.1, "second_moment": 0.2}, jm.raw_section(0.1, 0.2)),
    ],
    ids=lambda value: value.get("shape", "raw") if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("kappa", [None, 0.7, "5/6"])
def test_every_section(table, section, kappa):
    rule = {"shear_rule": kappa} if kappa == "5/6" else {"shear_coefficient": kappa}
    link = {"length": 1.0, "youngs_modulus": 2.0, "density": 3.0, "section": dict(table)}
    if kappa is not None:
        link["section"]["shear_coefficient"] = kappa
    arm = jm.arm_from_dict({"links": [link]})
    assert arm.links[0].section == section.replace(**rule)
    assert arm.to_dict() == {"links": [link]}


def test_degrees():
    document = tomllib.loads(TOML)
    for degrees in (-90, 45.0, 1e-5):
        document["links"][1]["joint_angle_deg"] = degrees
        assert jm.arm_from_dict(document).links[1].joint_angle == math.radians(degrees)


@pytest.mark.parametrize("name", jm.examples.names())
def test_the_packaged_files_can_be_read_from_disk(tmp_path, name):
    (tmp_path / "arm.toml").write_text(jm.examples.toml_text(name), encoding="utf-8")
    assert jm.read_arm(tmp_path / "arm.toml") == jm.examples.load(name)


positive = st.floats(1e-30, 1e30)
angle = st.floats(-1e3, 1e3)
kappa = st.one_of(st.none(), st.just("5/6"), positive)
sections = st.one_of(
    st.builds(jm.raw_section, positive, positive, kappa),
    st.builds(jm.rectangle, positive, positive, kappa),
    st.builds(jm.circle, positive, kappa),
    st.builds(lambda t, k: jm.hollow_rectangle(3 * t, 2.5 * t, t, k), positive, kappa),
    st.builds(lambda t, k: jm.hollow_circle(2.1 * t, t, k), positive, kappa),
)
links = st.one_of(
    st.builds(
        jm.Link, positive, positive, positive, sections, poisson_ratio=st.floats(-0.999, 0.5),
        tip_mass=st.floats(0, 1e30), tip_inertia=st.floats(0, 1e30), joint_angle=angle,
    ),
    st.builds(
        jm.Link, positive, positive, positive, st.builds(jm.rectangle, positive, positive),
        shear_modulus=positive, joint_stiffness=positive, thickness_factor=st.floats(0.1, 100),
    ),
)  # fmt: skip
text = st.text(st.characters(codec="utf-8"))
arms = st.builds(
    jm.Arm,
    st.lists(links, min_size=1, max_size=3).map(tuple),
    st.builds(jm.Payload, st.floats(0, 1e30), st.floats(0, 1e30)),
    text,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("arms")


@settings(max_examples=20)
@given(arm=arms)
def test_written_files_read_back_to_the_same_arm(folder, arm):
    for name in ("arm.toml", "arm.json"):
        jm.write_arm(arm, folder / name)
        assert jm.read_arm(folder / name, check=False) == arm
    assert jm.arm_from_dict(tomllib.loads(arm.to_toml())) == arm
    assert jm.arm_from_dict(json.loads(json.dumps(arm.to_dict()))) == arm


@pytest.mark.parametrize("name", ['a "quoted" \\ name', "tab\tnew\nline", "\x00\x1f\x7f", "θ₂ 🦾"])
def test_names_that_need_escapes(name):
    arm = ARM.replace(name=name)
    assert jm.arm_from_dict(tomllib.loads(arm.to_toml())) == arm


def test_the_written_format_is_the_documented_one(tmp_path):
    jm.write_arm(ARM, tmp_path / "arm.toml")
    assert (tmp_path / "arm.toml").read_text() == ARM.to_toml()
    document = tomllib.loads(TOML)
    document["links"][0].pop("joint_angle")
    document["links"][1]["joint_angle"] = math.radians(document["links"][1].pop("joint_angle_deg"))
    assert tomllib.loads(ARM.to_toml()) == document
    assert ARM.to_toml().splitlines()[:3] == ['name = "two-link flexible arm"', "", "[[links]]"]
