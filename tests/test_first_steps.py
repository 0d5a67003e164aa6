"""What a new user tries by mistake: is the answer what to write instead?"""

import inspect
import re
import subprocess
import sys

import pytest

import jaxmodal as jm

TUBE = {"length": 1.0, "youngs_modulus": 7e10, "density": 2700.0}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"E": 7e10}, ["no field 'E'", "Did you mean 'youngs_modulus'?"]),
        ({"joint_angle_deg": 60}, ["no field 'joint_angle_deg'", "give joint_angle in rad"]),
        ({"tip_mas": 1.0}, ["no field 'tip_mas'", "Did you mean 'tip_mass'"]),
        ({"length_mm": 900}, ["give length in m"]),
        ({"colour": 1}, ["no field 'colour'", "It has length, youngs_modulus"]),
    ],
)
def test_a_wrong_name_gets_the_right_one(given, words):
    with pytest.raises(jm.ArmError) as error:
        jm.Link(**TUBE, section=jm.circle(0.05), **given)
    for word in words:
        assert word in str(error.value)
    with pytest.raises(jm.ArmError, match=re.escape(words[0])):
        jm.Link(**TUBE, section=jm.circle(0.05)).replace(**given)


def test_help_of_a_link_tells_every_parameter():
    documented = inspect.getdoc(jm.Link).partition("Raises\n")[0]
    names = set(re.findall(r"^(\w[\w, ]*)$", documented, re.MULTILINE))
    told = {name.strip() for line in names for name in line.split(",")}
    parameters = inspect.signature(jm.Link).parameters
    assert len(parameters) >= 28
    assert set(parameters) <= told
    assert str(parameters["length"]) == "length: 'Scalar'"


@pytest.mark.parametrize("package", ["jaxmodal", "jaxmodal.dynamics", "sweeps", "design_opt"])
def test_dir_shows_public_names_alone(package):
    module = __import__(package, fromlist=["x"])
    shown = [name for name in dir(module) if not name.startswith("__")]
    assert shown == sorted(module.__all__)


@pytest.mark.parametrize("package", ["jaxmodal", "sweeps", "design_opt"])
def test_help_tells_the_theories(package):
    """The four names stand in the signature, also where there may be several or none."""
    module = __import__(package, fromlist=["x"])
    shown = {}
    for name in module.__all__:
        found = getattr(module, name)
        if (inspect.isclass(found) and issubclass(found, Exception)) or not callable(found):
            continue
        for parameter in inspect.signature(found).parameters.values():
            if parameter.name in ("theory", "theories"):
                shown[f"{name}({parameter.name})"] = str(parameter.annotation)
    assert shown
    for place, annotation in shown.items():
        assert all(f"'{theory}'" in annotation for theory in jm.THEORIES), place


def test_a_theory_nearly_right():
    with pytest.raises(ValueError, match="Did you mean 'euler_bernoulli'"):
        jm.characteristic_matrix(jm.examples.two_link_flexible(), 1.0, theory="Euler-Bernoulli")


WRONG_ARMS = """
import sys
import jax
jax.config.update("jax_enable_x64", True)
import numpy as np
import jaxmodal as jm
from jaxmodal import dynamics
link = jm.Link(1.0, 7e10, 2700.0, jm.circle(0.05, shear_coefficient=0.9), poisson_ratio=0.3)
tube = jm.hollow_circle(0.08, 0.004, "cowper")
in_space = jm.SpatialArm((jm.SpatialLink(0.6, 7e10, 2700.0, tube, poisson_ratio=0.3),))
for call in (
    lambda: jm.natural_frequencies("arm.toml"),
    lambda: jm.mode_shapes("arm.toml"),
    lambda: jm.sensitivities("arm.toml"),
    lambda: jm.natural_frequencies_batch("arm.toml", {"theta_2": np.zeros(2)}),
    lambda: jm.postures_at("arm.toml", 1.0),
    lambda: jm.resonance_free("arm.toml", 1.0, 2.0),
    lambda: jm.set_parameters("arm.toml", {"theta_2": 0.0}),
    lambda: jm.check_arm("arm.toml"),
    lambda: jm.to_spatial("arm.toml"),
    lambda: jm.natural_frequencies(link),
    lambda: jm.natural_frequencies({"links": []}),
    lambda: jm.characteristic_matrix(in_space, 1.0),
    lambda: jm.determinant_scan(in_space, [1.0, 2.0]),
    lambda: jm.attach_body(in_space, 1, 0.1, 0.2),
    lambda: dynamics.link_shapes(in_space, 2),
    lambda: dynamics.end_bodies(in_space),
):
    try:
        print("taken", call())
    except jm.ArmError as error:
        print(error)
"""


def test_what_is_no_arm_gets_the_way_to_one_and_what_is_in_space_who_takes_it():
    """In a process of its own: here the annotations are checked before the functions are called."""
    done = subprocess.run(
        [sys.executable, "-c", WRONG_ARMS], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    kinds = "an Arm or a SpatialArm"
    said = f"arm = 'arm.toml': must be {kinds}; read a file with jaxmodal.read_arm('arm.toml')."
    assert lines[:9] == [said] * 9
    assert "Arm(links=(link, ...))" in lines[9]
    assert "arm_from_dict" in lines[10]
    for line in lines[11:]:
        assert line.startswith("arm = SpatialArm(...): must be an Arm"), line
        assert "Arms in space are taken by natural_frequencies" in line
    assert len(lines) == 16
