"""Does every bad arm, file and address get an answer that says what, where, and what instead?

Each case lists fragments of the message: the place, the value received, what is allowed or what
to do about it.
"""

import copy
import json
import math
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.arrays import beam_arrays
from tests.support.arms import link, mixed_arm

GOOD = {
    "name": "good",
    "links": [
        {
            "length": 0.5,
            "youngs_modulus": 7e10,
            "poisson_ratio": 0.3,
            "density": 2700.0,
            "section": {"shape": "rectangle", "depth": 0.01, "width": 0.05},
            "tip_mass": 0.2,
        },
        {
            "length": 0.4,
            "youngs_modulus": 7e10,
            "density": 2700.0,
            "section": {"shape": "hollow_rectangle", "depth": 0.1, "width": 0.05,
                        "wall_thickness": 0.01},
        },
        {
            "length": 0.3,
            "youngs_modulus": 7e10,
            "density": 2700.0,
            "section": {"area": 1e-4, "second_moment": 1e-9},
        },
    ],
}  # fmt: skip

REMOVE = object()

# path into GOOD, bad value (REMOVE: take the key away), fragments of the message
BAD_VALUES = [
    ("links.0.length", -0.5, ["link1.length = -0.5", "greater than 0 (m)", "metres"]),
    ("links.1.length", 0, ["link2.length = 0.0", "greater than 0 (m)"]),
    ("links.0.length", math.nan, ["link1.length = nan", "finite"]),
    ("links.0.length", math.inf, ["link1.length = inf", "finite"]),
    ("links.0.length", "0.5", ["link1.length = '0.5'", "must be a number", "(m)"]),
    ("links.0.length", True, ["link1.length = True", "must be a number"]),
    ("links.0.length", None, ["link1.length = None", "must be a number"]),
    ("links.0.length", [0.5], ["link1.length = [0.5]", "must be a number"]),
    ("links.0.length", 10**400, ["link1.length = 1000", "must be a number"]),
    ("links.0.length", REMOVE, ["link1.length is missing", "add it", "density"]),
    ("links.0.youngs_modulus", 0.0, ["link1.youngs_modulus = 0.0", "(Pa)", "2.1e11"]),
    ("links.0.youngs_modulus", REMOVE, ["link1.youngs_modulus is missing"]),
    ("links.2.density", 0.0, ["link3.density = 0.0", "massless link", "tip_mass"]),
    ("links.2.density", REMOVE, ["link3.density is missing"]),
    ("links.0.poisson_ratio", 0.6, ["link1.poisson_ratio = 0.6", "-1", "0.5"]),
    ("links.0.poisson_ratio", -1.0, ["link1.poisson_ratio = -1.0", "greater than -1"]),
    ("links.1.shear_modulus", -1, ["link2.shear_modulus = -1.0", "(Pa)"]),
    ("links.0.shear_modulus", 3e10, ["poisson_ratio = 0.3", "30000000000.0", "leave one out"]),
    ("links.0.tip_mass", -0.1, ["link1.tip_mass = -0.1", "0 or more", "(kg)"]),
    ("links.0.tip_mass", None, ["link1.tip_mass = None", "must be a number"]),
    ("links.0.tip_inertia", -0.1, ["link1.tip_inertia = -0.1", "(kg m^2)"]),
    ("links.0.joint_angle", math.nan, ["link1.joint_angle = nan", "radians"]),
    ("links.0.joint_angle_deg", math.inf, ["link1.joint_angle_deg = inf", "degrees"]),
    ("links.0.joint_angle_deg", "45", ["link1.joint_angle_deg = '45'", "must be a number"]),
    ("links.0.joint_axial_stiffness", -1.0, ["joint_axial_stiffness = -1.0", "0 (a free slide)", "N/m"]),
    ("links.0.hub_mass", -1.0, ["link1.hub_mass = -1.0", "0 or more", "leave it out"]),
    ("links.0.base_offset_y", math.inf, ["link1.base_offset_y = inf", "finite (m)"]),
    ("links.0.nonstructural_mass", math.nan, ["link1.nonstructural_mass = nan", "kg/m"]),
    ("links.0.gear_ratio", 50.0, ["rotor_inertia is missing", "gear_ratio = 50.0", "give both"]),
    ("links.0.segment", True, ["link1.segment = True", "no link before it"]),
    ("links.0.rigid", 1, ["link1.rigid = 1", "true or false"]),
    ("links.0.joint_stiffness", -5, ["link1.joint_stiffness = -5.0", "leave it out"]),
    ("links.0.joint_stiffness", math.nan, ["link1.joint_stiffness = nan", "free hinge"]),
    ("links.0.thickness_factor", 0, ["link1.thickness_factor = 0.0", "greater than 0"]),
    ("links.0.thickness_factor", 1e200, ["link1.thickness_factor = 1e+200", "nearer to 1"]),
    ("links.1.thickness_factor", 2, ["link2.thickness_factor = 2.0", "'hollow_rectangle'",
                                     "section.wall_thickness"]),
    ("links.0.section", REMOVE, ["link1.section is missing"]),
    ("links.0.section", "rectangle", ["section = 'rectangle'", "must be a table"]),
    ("links.0.section", {}, ["link1.section = {}", "hollow_circle", "second_moment"]),
    ("links.0.section.shape", "rectangel", ["section.shape = 'rectangel'", "Did you mean 're"]),
    ("links.0.section.shape", 3, ["link1.section.shape = 3", "must be one of rectangle"]),
    ("links.0.section.depth", -1, ["link1.section.depth = -1.0", "greater than 0 (m)"]),
    ("links.0.section.depth", REMOVE, ["link1.section.depth is missing", "depth, width"]),
    ("links.0.section.depth", 1e-120, ["link1.section.second_moment = 0.0", "units"]),
    ("links.0.section.height", 0.1, ["link1.section.height = 0.1", "not a known key", "depth"]),
    ("links.1.section.wall_thickness", 0.025, ["link2.section.wall_thickness = 0.025",
                                               "half the width", "'rectangle'"]),
    ("links.1.section.wall_thickness", 0.06, ["link2.section.wall_thickness = 0.06"]),
    ("links.2.section.area", 0.0, ["link3.section.area = 0.0", "(m^2)"]),
    ("links.2.section.area", REMOVE, ["link3.section.area is missing", "second_moment"]),
    ("links.2.section.second_moment", REMOVE, ["link3.section.second_moment is missing"]),
    ("links.2.section.shear_coefficient", "cowper", ["link3.section.shear_coefficient = 'cowper'",
                                                     "no shape", "'5/6'"]),
    ("links.0.section.shear_coefficient", "cowpar", ["= 'cowpar'", "Did you mean 'cowper'?"]),
    ("links.0.section.shear_coefficient", -1, ["link1.section.shear_coefficient = -1.0", "0.85"]),
    ("links.0.section.shear_coefficient", True, ["section.shear_coefficient = True", "number"]),
    ("links.1.section.shear_coefficient", "cowper", ["link2.section.shear_coefficient = 'cowper'",
                                                     "give poisson_ratio"]),
    ("links.0.lenght", 0.5, ["link1.lenght = 0.5", "not a known key", "Did you mean 'length'?"]),
    ("links.0.E", 7e10, ["link1.E = 70000000000.0", "youngs_modulus"]),
    ("links.0", 5, ["link1 = 5", "must be a table"]),
    ("links", [], ["links = []", "one table or more", "[[links]]"]),
    ("links", {"length": 1}, ["links = {'length': 1}", "[[links]]"]),
    ("links", REMOVE, ["links is missing"]),
    ("link", [], ["link = []", "Did you mean 'links'?"]),
    ("payload", 2.0, ["payload = 2.0", "must be a table"]),
    ("payload", {"mass": -2}, ["payload.mass = -2.0", "0 or more"]),
    ("payload", {"inertia": math.nan}, ["payload.inertia = nan"]),
    ("payload", {"weight": 2}, ["payload.weight = 2", "known are mass, inertia"]),
    ("name", 7, ["name = 7", "must be text"]),
]  # fmt: skip


def with_bad(path, value):
    document = copy.deepcopy(GOOD)
    *parents, last = [int(p) if p.isdigit() else p for p in path.split(".")]
    table = document
    for key in parents:
        table = table[key]
    if value is REMOVE:
        del table[last]
    else:
        table[last] = value
    return document


def assert_says(error, fragments):
    message = str(error.value)
    for fragment in fragments:
        assert fragment in message
    assert message.endswith((".", "?"))


def test_the_arm_that_every_case_spoils_is_good():
    assert jm.arm_from_dict(GOOD).num_links == 3


@pytest.mark.parametrize(
    ("path", "value", "fragments"), BAD_VALUES, ids=[f"{p}={str(v)[:12]}" for p, v, _ in BAD_VALUES]
)
def test_bad_values_in_a_file(path, value, fragments):
    with pytest.raises(jm.ArmError) as error:
        jm.arm_from_dict(with_bad(path, value), source="my-arm.toml")
    assert_says(error, ["my-arm.toml: ", *fragments])


def test_joint_angle_in_both_units():
    document = with_bad("links.1.joint_angle", 0.1)
    document["links"][1]["joint_angle_deg"] = 5.0
    with pytest.raises(jm.ArmError) as error:
        jm.arm_from_dict(document)
    assert_says(error, ["link2.joint_angle_deg = 5.0", "joint_angle is given as well"])


@pytest.mark.parametrize("document", [None, 3, "text", [GOOD]])
def test_a_document_that_is_no_table(document):
    with pytest.raises(jm.ArmError) as error:
        jm.arm_from_dict(document, source="x")
    assert_says(error, ["x: an arm = ", "must be a table"])


@pytest.mark.parametrize(
    ("name", "content", "fragments"),
    [
        ("arm.toml", "length 0.5", ["arm.toml: is not TOML", "line 1"]),
        ("arm", "length 0.5", ["arm: is not TOML"]),
        ("arm.toml", json.dumps(GOOD), ["arm.toml: is an arm (it has links) in JSON", ".json"]),
        ("arm.toml", "", ["arm.toml: links is missing"]),
        ("arm.toml", 'name = "a"\nname = "b"', ["arm.toml: name is given twice (line 2)"]),
        ("arm.json", '{"links": [', ["arm.json: is not JSON", "line 1"]),
        ("arm", '{"links": [', ["arm: is not JSON"]),
        ("arm.json", '{"name": "a", "name": "b"}', ["arm.json: name is given twice"]),
        ("arm.json", "[]", ["arm.json: an arm = []", "must be a table"]),
        ("arm.toml", b"name = '\xff'", ["arm.toml: is not text in UTF-8"]),
    ],
)
def test_files_that_are_not_arms(tmp_path, name, content, fragments):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(jm.ArmError) as error:
        jm.read_arm(file)
    assert_says(error, [str(tmp_path), *fragments])


def test_files_that_cannot_be_opened(tmp_path):
    for path, reason in ((tmp_path / "none.toml", "No such file"), (tmp_path, "directory")):
        with pytest.raises(jm.ArmError) as error:
            jm.read_arm(path)
        assert_says(error, [str(path), "cannot be read", reason])


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (lambda: jm.Arm(()), ["links = ()", "one Link or more"]),
        (lambda: jm.Arm(link()), ["links = Link(", "must be a tuple"]),
        (lambda: jm.Arm((link(), 3)), ["link2 = 3", "must be a Link"]),
        (lambda: jm.Arm((link(),), payload=2.0), ["payload = 2.0", "Payload(mass="]),
        (lambda: jm.Arm((link(),), name=3), ["name = 3", "must be text"]),
        (lambda: link(section=0.1), ["section = 0.1", "cross-section", "raw_section"]),
        (lambda: link(length=1j), ["length = 1j", "must be a number"]),
        (lambda: link(length=np.array("x")), ["length = 'x'", "must be a number"]),
        (lambda: link(length=jnp.array(True)), ["length = True", "must be a number"]),
        (lambda: link().replace(lenght=1.0), ["Link has no field 'lenght'. Did you mean 'length'?"]),
        (lambda: jm.rectangle(0.0, 1.0), ["section.depth = 0.0", "greater than 0 (m)"]),
        (lambda: jm.rectangle(1.0, 1.0, "6/5"), ["'6/5'", "'cowper', '5/6'"]),
        (lambda: jm.hollow_circle(0.1, 0.05), ["wall_thickness = 0.05", "half", "'circle'"]),
        (lambda: jm.circle(0.1, "cowper").replace(shear_coefficient=0.9),
         ["shear_coefficient = 0.9", "'cowper'", "one of the two", "shear_rule=None"]),
        (lambda: jm.circle(0.1).replace(shear_coefficient="cow"),
         ["shear_coefficient = 'cow'", "'cowper', '5/6'"]),
        (lambda: jm.circle(0.1).replace(shear_rule="cow"), ["= 'cow'", "'cowper', '5/6'"]),
        (lambda: jm.Payload(mass=-1.0), ["payload.mass = -1.0", "0 or more (kg)"]),
    ],
)  # fmt: skip
def test_bad_values_in_python(make, fragments):
    with pytest.raises(jm.ArmError) as error:
        make()
    assert_says(error, fragments)


@pytest.mark.parametrize(
    ("angles", "fragments"),
    [
        ([], ["posture = []", "has 0 values", "3 links", "takes 2", "or 3"]),
        ([0.1], ["posture = [0.1]", "has 1 value;"]),
        ([0.1, 0.2, 0.3, 0.4], ["has 4 values", "takes 2 (theta_2 to theta_n) or 3"]),
        (np.zeros(5), ["<float64[5]>", "has 5 values"]),
        (jnp.zeros((4, 2)), ["array of shape (4, 2)", "jax.vmap"]),
        (0.5, ["posture = 0.5", "list or one-dimensional array of 2 or 3"]),
        (np.float64(0.5), ["posture = 0.5", "one-dimensional"]),
        (None, ["posture = None", "one-dimensional"]),
        ("ab", ["posture = 'ab'", "list or one-dimensional array of 2 or 3"]),
        ([0.1, math.nan], ["link3.joint_angle = nan", "finite and at most 1e6 in size (rad)"]),
        ([0.1, "b"], ["link3.joint_angle = 'b'", "must be a number"]),
    ],
)
def test_bad_postures(angles, fragments):
    with pytest.raises(jm.ArmError) as error:
        jm.examples.three_link_industrial().with_posture(angles)
    assert_says(error, fragments)


def test_thickness_factor_of_a_tube_names_the_dimension_even_when_traced():
    arm = jm.examples.three_link_industrial()
    with pytest.raises(jm.ArmError) as error:
        jax.jit(lambda s: beam_arrays(arm.with_thickness_factor(s)))(2.0)
    assert_says(error, ["link1.thickness_factor", "traced", "section.wall_thickness"])
    with pytest.raises(jm.ArmError, match=r"link1\.thickness_factor = 1\.0.*wall_thickness"):
        arm.with_thickness_factor(1.0)


@pytest.mark.parametrize(
    ("address", "fragments"),
    [
        ("link1.lenght", ["'link1.lenght'", "Did you mean 'link1.length'"]),
        ("link9.length", ["'link9.length'", "6 link(s)", "counted from 1"]),
        ("link0.length", ["'link0.length'", "Did you mean"]),
        ("length", ["'length'", "Did you mean"]),
        ("link*.section.diameter", ["'link*.section.diameter'", "'link1.section.diameter'"]),
        ("link2.thickness_factor", ["'circle'", "'link2.section.diameter'"]),
        ("link*.thickness_factor", ["'circle'", "'link2.section.diameter'"]),
        ("link1.shear_modulus", ["'link1.shear_modulus'", "Did you mean"]),
        ("payload.weight", ["'payload.weight'", "'payload."]),
        ("", ["''", "'link1.length'"]),
    ],
)
def test_unknown_addresses(address, fragments):
    for call in (jm.get_parameter, jm.resolve_address, lambda a, x: jm.set_parameters(a, {x: 1.0})):
        with pytest.raises(jm.ArmError) as error:
            call(mixed_arm(), address)
        assert_says(error, fragments)


@pytest.mark.parametrize("address", ["length", "link.length", "link0.length", "link1.lenght", ""])
def test_addresses_without_unit(address):
    for call in (jm.unit_of_address, jm.describe_address):
        with pytest.raises(jm.ArmError, match=f"'{address}' is not an address"):
            call(address)


def test_bad_values_and_double_values_by_address():
    arm = mixed_arm()
    with pytest.raises(jm.ArmError) as error:
        jm.set_parameters(arm, {"link5.section.wall_thickness": 0.03})
    assert_says(error, ["link5.section.wall_thickness = 0.03", "half the width"])
    with pytest.raises(jm.ArmError) as error:
        jm.set_parameters(arm, {"link*.tip_mass": 1.0, "link2.tip_mass": 2.0})
    assert_says(error, ["'link2.tip_mass' is given twice", "'link*.tip_mass'"])


def test_a_theory_with_shear_names_what_is_missing():
    from jaxmodal.arm.refusals import require_shear

    require_shear(jm.Arm((link(), link())))
    with pytest.raises(jm.ArmError) as error:
        require_shear(jm.Arm((link(), link(jm.circle(0.1)))))
    assert_says(error, ["link2.section.shear_coefficient is missing", "'cowper'"])
    with pytest.raises(jm.ArmError) as error:
        require_shear(jm.Arm((link(), link(), link(poisson_ratio=None))))
    assert_says(error, ["link3.poisson_ratio is missing", "shear_modulus"])


def test_traced_and_batched_arms_are_not_written():
    batched = jm.set_parameters(mixed_arm(), {"link2.section.diameter": jnp.ones(3)})
    with pytest.raises(jm.ArmError) as error:
        batched.to_toml()
    assert_says(error, ["link2.section.diameter = <float64[3]>", "one number"])
    with pytest.raises(jm.ArmError, match=r"payload\.mass = <traced float64\[\]>"):
        jax.jit(lambda m: jm.Payload(m).mass if mixed_arm().with_payload(m).to_toml() else m)(1.0)


def test_unknown_example():
    with pytest.raises(jm.ArmError) as error:
        jm.examples.load("two_link")
    assert_says(error, ["'two_link'", "known are canadarm2_like", "two_link_flexible"])


PROGRAM = """
import sys, jax
import jaxmodal as jm
assert not jax.config.jax_enable_x64, "importing the library changed JAX's settings"
section = {"shape": "rectangle", "depth": 0.01, "width": 0.05}
link = {"length": 0.5, "youngs_modulus": 7e10, "density": 2700.0, "section": section}
calls = [
    lambda: jm.rectangle(0.01, 0.05), lambda: jm.Payload(), lambda: jm.examples.load("two_link_flexible"),
    lambda: jm.arm_from_dict({"links": [link]}), lambda: jm.read_arm(sys.argv[1]),
]
messages = set()
for call in calls:
    try:
        call()
    except jm.X64DisabledError as error:
        messages.add(str(error))
    else:
        raise AssertionError("no error while 64-bit mode is off")
(message,) = messages
(line,) = [line for line in message.splitlines() if "config.update" in line]
assert line.strip() == 'import jax; jax.config.update("jax_enable_x64", True)   # first, before any array'
exec(line.strip())
for call in calls:
    call()
print("all refused, then mended")
"""


def test_without_double_precision_everything_is_refused_with_the_line_that_mends_it(tmp_path):
    file = tmp_path / "arm.toml"
    file.write_text(jm.examples.toml_text("two_link_flexible"))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(file)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "all refused, then mended\n", done.stderr
