"""Is the arm that a name or a path stands for the same one on the command line, in sweeps and in problems?"""

import pytest

import design_opt
import jaxmodal as jm
import sweeps
from jaxmodal.cli.arguments import BadInput, load_any_arm
from jaxmodal.spatial.files.named_arms import arm_named

NAME = "two_link_flexible"
AXES = [{"parameter": "theta_2", "values": [0.0]}]
PROBLEM = {
    "variables": [{"parameter": "link1.length", "lower": 0.5, "upper": 1.0}],
    "objective": [{"minimise": "mass"}],
}


def of_sweep(arm, folder="."):
    return sweeps.sweep_from_dict({"arm": arm, "axes": AXES}, folder=folder).arm


def of_problem(arm, folder="."):
    return design_opt.problem_from_dict({"arm": arm, **PROBLEM}, folder=folder)[0].arm


@pytest.mark.parametrize("read", [arm_named, load_any_arm, of_sweep, of_problem])
def test_built_in_arms(read):
    assert read(f"example:{NAME}").name == jm.examples.load(NAME).name


@pytest.mark.parametrize(
    ("read", "error"),
    [
        (arm_named, jm.ArmError),
        (load_any_arm, BadInput),
        (of_sweep, sweeps.SweepError),
        (of_problem, design_opt.ProblemError),
    ],
)
def test_a_built_in_arm_without_its_prefix_is_refused(read, error):
    with pytest.raises(error, match=f"^arm = '{NAME}': no such file; .* give 'example:{NAME}'"):
        read(NAME)


@pytest.mark.parametrize("read", [of_sweep, of_problem])
def test_a_path_starts_at_the_file_that_gives_it(read, tmp_path, monkeypatch):
    beside, here = tmp_path / "beside", tmp_path / "here"
    for folder, name in ((beside, NAME), (here, "three_link_industrial")):
        folder.mkdir()
        (folder / "arm.toml").write_text(jm.examples.toml_text(name))
    monkeypatch.chdir(here)
    assert read("arm.toml", beside).num_links == 2
    with pytest.raises(ValueError, match="cannot be read"):
        read("arm.toml", tmp_path)
