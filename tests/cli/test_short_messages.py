"""Do mistakes get one short sentence: the near word alone, and options where the shell asked, arguments in Python?"""

import pytest

import jaxmodal as jm
from tests.support.commands import run_command
from tests.test_other_kinds_of_files import URDF

PLANE = """
[[links]]
length = 0.5
youngs_modulus = 2.1e11
density = 7800
section = { shape = "rectangle", depth = 0.01, width = 0.05 }

[[links]]
length = 0.5
youngs_modulus = 2.1e11
density = 7800
section = { shape = "rectangle", depth = 0.01, width = 0.05 }
"""
SPACE = """
dimensions = 3
[[links]]
length = 0.6
youngs_modulus = 7e10
density = 2700.0
poisson_ratio = 0.33
section = { shape = "circle", diameter = 0.05 }
"""
SWEEP = """
arm = "plane.toml"
outputs = ["effective_mas"]
[[axes]]
parameter = "theta_2"
values = [0, 1]
"""
BEAM = "--theory rayleigh"
ARM = "example:two_link_flexible"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plane.toml").write_text(PLANE)
    (tmp_path / "space.toml").write_text(SPACE)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "robot.urdf").write_text(URDF)
    return tmp_path


def said(words):
    result = run_command(*words.split())
    assert result.exit_code == 2, result.output
    return result.stderr.splitlines()[-1].removeprefix("Error: ")


@pytest.mark.parametrize("text", [PLANE, SPACE])
@pytest.mark.parametrize(
    ("slip", "meant"), [("densty", "density"), ("joint_stifness", "joint_stiffness")]
)
def test_keys_are_listed_only_where_none_is_near(text, slip, meant, folder):
    (folder / "arm.toml").write_text(text + f"{slip} = 1.0\n")
    number = text.count("[[links]]")
    message = said("check arm.toml")
    assert message.startswith(
        f"arm.toml: link{number}.{slip} = 1.0: is not a known key. Did you mean '{meant}'"
    )
    assert len(message) < 130
    (folder / "arm.toml").write_text(text + "xyzzy = 1.0\n")
    message = said("check arm.toml")
    assert "known are length, youngs_modulus, density" in message
    assert "Did you mean" not in message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("frequencie plane.toml", "No such command 'frequencie'. Did you mean 'frequencies'?"),
        ("sweep statu a.zarr", "No such command 'statu'. Did you mean 'status'"),
        (
            "sweep plan sweep.toml",
            "sweep.toml: outputs: 'effective_mas' is unknown. Did you mean 'effective_mass'",
        ),
        (
            "response plane.toml --input tip.x --output tip.y --quantity mobilty",
            "Invalid value for '--quantity': 'mobilty' is not one of 'receptance', 'mobility', 'accelerance', "
            "'dynamic_stiffness', 'transmissibility'. Did you mean 'mobility'?",
        ),
        (
            f"response plane.toml {BEAM} --input joint_1.torqu --output tip.x --points 2",
            "plane.toml: --input: port 'joint_1.torqu': direction = 'torqu': is none at a joint. Did you mean 'torque'",
        ),
        (
            f"response plane.toml {BEAM} --input tip.z --output tip.x --points 2",
            "plane.toml: --input: port 'tip.z': this arm has no direction 'z'; arms in a plane have the directions "
            "along, across, x, y, rotation (moment).",
        ),
        (
            "sensitivities space.toml --address link1.tip_mass",
            "space.toml: --address link1.tip_mass: 'link1.tip_mass' is not a parameter of this arm: it is one "
            "of arms in a plane; of an arm in space the same is 'link1.body.mass', where the link has one.",
        ),
        (
            "sensitivities plane.toml --address link1.hub.mass",
            "plane.toml: --address link1.hub.mass: 'link1.hub.mass' is not a parameter of this arm: it is one "
            "of arms in space; of an arm in a plane the same is 'link1.hub_mass', where the link has one.",
        ),
    ],
)
def test_what_was_meant(words, message):
    assert said(words).startswith(message)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "response plane.toml --input tip.y",
            "Missing option '--output'. Where the motion is read, such as tip.y; more than once for several.",
        ),
        (
            "simulate example:two_link_flexible",
            "example:two_link_flexible: is a built-in arm, which says nothing of a motion; write it with `jaxmodal "
            "examples two_link_flexible --out arm.toml`, and add a table [dynamics] (docs/dynamics.md).",
        ),
        (
            f"frequencies plane.toml {BEAM} --tip-moment 1,2,3",
            "plane.toml: --tip-moment 1,2,3: is taken of arms in space alone.",
        ),
        (
            f"frequencies plane.toml {BEAM} --gravity 0,0,-9.81",
            "plane.toml: --gravity 0,0,-9.81: must be two finite numbers, along x and y of the base, in m/s^2, such as "
            "0,-9.81.",
        ),
        (
            "statics space.toml --gravity 0,-9.81",
            "space.toml: --gravity 0,-9.81: must be three finite numbers, along x, y and z of the ground, in m/s^2, "
            "such as 0,0,-9.81.",
        ),
        (
            f"worst space.toml {BEAM}",
            "space.toml: --range: the arm has one joint, which changes no frequency; give the ranges of other "
            "parameters, such as payload.mass=0,5.",
        ),
        (
            "frequencies plane.toml --posture-deg elbow=9",
            "--posture-deg elbow=9: is no joint; there are theta_1, theta_2.",
        ),
        (
            f"speeds plane.toml {BEAM} --order elbow:2",
            "plane.toml: --order elbow: must be one joint of the arm, by number or name: 1, 2.",
        ),
        (
            "equations plane.toml --shapes sines",
            "plane.toml: --shapes sines: must be one of 'clamped_mass'",
        ),
        (
            "equations space.toml --inertia-order first",
            "space.toml: --inertia-order first: is written for arms in a plane; must be 'full' in space, where "
            "equations have the full inertia matrix alone.",
        ),
        (
            "convert robot.urdf --out arm.toml --joint-stiffness elbow=1",
            "robot.urdf: --joint-stiffness elbow=1.0: fits no name; there are j.",
        ),
    ],
)
def test_what_is_lacking_is_said_in_the_words_of_the_shell(words, message):
    assert said(words).startswith(message)


def test_python_is_told_in_its_own_words():
    arm = jm.examples.two_link_flexible()
    with pytest.raises(
        jm.ArmError,
        match=r"^tip_moment = \(1.0, 2.0, 3.0\): is taken of arms in space alone; jaxmod",
    ):
        jm.preloaded_frequencies(arm, 1, theory="rayleigh", tip_moment=(1.0, 2.0, 3.0))


@pytest.mark.parametrize("group", ["", "sweep "])
def test_help_has_the_whole_first_sentence_of_every_command(group):
    result = run_command(*group.split(), "--help")
    _, _, commands = result.output.partition("Commands:")
    assert "..." not in commands.replace("PART...", "")
    known = " ".join(commands.split())
    if group:
        assert "run Compute a SWEEP into a store, or what is missing of it, and " in known
    else:
        assert "modes Mode shapes of an ARM: energies, effective masses, residuals" in known
        assert "optimize The same as optimise." in known


def test_motors_that_cannot_move_freely_are_locked_in_the_words_of_the_file(folder):
    beyond = (
        'joint_stiffness = 1e4\nrotor_inertia = 1e-4\ngear_ratio = 100\nmotor = "beyond_spring"\n'
    )
    (folder / "arm.toml").write_text(f"{PLANE}{beyond}[dynamics]\nmodes = 1\nuntil = 0.01\n")
    message = said("simulate arm.toml")
    assert message.startswith("arm.toml: model: motor 2 must have inertia to move freely")
    assert "in a file kind = 'locked' in the table [dynamics.motors]" in message


def test_values_of_files_are_not_taken_for_options(folder):
    """Only an option that was given is named."""
    (folder / "arm.toml").write_text(PLANE + "[dynamics]\ngravity = [1]\nuntil = 1\n")
    assert "--gravity" not in said("equations arm.toml")
    assert "--gravity 1,2,3: must be" in said("equations arm.toml --gravity 1,2,3")


@pytest.mark.parametrize(
    "words",
    [
        "sensitivities ARM --address payload.mas",
        "buckling ARM --tip-force -1,0 --address payload.mas",
        "response ARM --input tip.y --output tip.y --band-hz 1,2 --points 2 --sensitivities --address payload.mas",
        "worst ARM --range payload.mas=1,2",
        "speeds ARM --order 2:81 --range payload.mas=1,2",
        "resonance-map ARM --band-hz 8,9 --range payload.mas=1,2",
        "postures ARM --frequency 8 --joint payload.mass --range payload.mas=1,2",
        "postures ARM --frequency 8 --joint payload.mas",
    ],
)
def test_an_unknown_address_is_told_with_its_option(words):
    option = next(word for word in reversed(words.split()) if word.startswith("--"))
    message = said(words.replace("ARM", ARM)).removeprefix(f"{ARM}: ")
    assert message == (
        f"{option} payload.mas: 'payload.mas' is not a parameter of this arm. Did you mean 'payload.mass' or "
        "'payload_mass'?"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "postures ARM --frequency 8 --joint 3",
            "--joint 3: expected the number of a link from 2 to 2, whose base has the joint.",
        ),
        (
            "postures ARM --frequency 8 --joint \u0663",
            "--joint \u0663: '\u0663' is not a parameter of this arm. It has, for one, 'link1.length'.",
        ),
        (
            "resonance-map ARM --band-hz 8,9 --across 2",
            "--across 2: expected the address of a parameter.",
        ),
        (
            "modes ARM --modes 2.5",
            "Invalid value for '--modes': '2.5' is not a valid whole number.",
        ),
        (
            "campbell ARM --rates 0,5 --order nan",
            "Invalid value for '--order': 'nan' is not a finite number.",
        ),
        (
            "campbell ARM --rates 0,5 --order inf",
            "Invalid value for '--order': 'inf' is not a finite number.",
        ),
        (
            "equations ARM --out arm.zip",
            "--out arm.zip: give a file that ends in .c or .py or .m or .tex.",
        ),
    ],
)
def test_a_value_that_is_none_is_told_with_its_option(words, message):
    assert said(words.replace("ARM", ARM)).removeprefix(f"{ARM}: ") == message
