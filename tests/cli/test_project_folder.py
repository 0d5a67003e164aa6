"""Commands that run code of the project's folder: where they find it, and what they say elsewhere."""

import sys
import tomllib
from pathlib import Path

import pytest

import design_opt.commands.optimise  # noqa: F401  # before a test hides the project
import jaxmodal
import sweeps.commands.sweep  # noqa: F401
from jaxmodal.cli.arguments import BadInput
from jaxmodal.cli.project_folder import PACKAGE, project_module
from tests.support.commands import run_command

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "reproduce --out out": "benchmarks/reproduction/commands.py",
    "reproduce-motions --out out": "benchmarks/reproduction/commands.py",
    "joint-study --out out": "benchmarks/reproduction/joint_study.py",
    "sweep gallery --out out": "benchmarks/studies/sweep_gallery.py",
    "optimise --gallery out": "benchmarks/studies/optimisation_gallery.py",
}


@pytest.fixture
def installed_elsewhere(tmp_path, monkeypatch):
    """As from a wheel: no project beside the library, nothing of it imported, an empty current folder."""
    elsewhere = tmp_path / "site-packages"
    monkeypatch.setattr(jaxmodal, "__file__", str(elsewhere / "jaxmodal" / "__init__.py"))
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]  # those of a test; the others come back


@pytest.mark.parametrize(("command", "file"), COMMANDS.items(), ids=COMMANDS)
def test_elsewhere_a_command_says_where_its_code_is(command, file, installed_elsewhere):
    answer = run_command(*command.split())
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert f"{file}, which this command runs, is not among the installed packages" in answer.stderr
    assert f"not in the current folder, {installed_elsewhere};" in answer.stderr
    assert "give the command in the project's folder" in answer.stderr
    assert not list(installed_elsewhere.iterdir())


@pytest.mark.parametrize("command", COMMANDS)
def test_elsewhere_help_is_there(command, installed_elsewhere):
    *words, option, _ = command.split()
    answer = run_command(*words, "--help")
    assert answer.exit_code == 0
    assert option in answer.stdout
    assert "project's folder" in " ".join(answer.stdout.split())


NAMED = '[project]\nname = "jaxmodal"\n'


def project(folder, text, named=NAMED, version=jaxmodal.__version__):
    (folder / "pyproject.toml").write_text(named)
    (folder / "jaxmodal").mkdir()
    (folder / "jaxmodal" / "__init__.py").write_text(f'"""Arms."""\n__version__ = "{version}"\n')
    (folder / "benchmarks" / "studies").mkdir(parents=True)
    (folder / "benchmarks" / "__init__.py").touch()
    (folder / "benchmarks" / "studies" / "__init__.py").touch()
    (folder / "benchmarks" / "studies" / "optimisation_gallery.py").write_text(text)


def test_a_folder_that_is_no_package_is_not_the_project_s(installed_elsewhere):
    project(installed_elsewhere, "")
    (installed_elsewhere / "benchmarks" / "__init__.py").unlink()
    with pytest.raises(BadInput, match=r"which this command runs, is not .* in the current folder"):
        project_module("studies.optimisation_gallery")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"named": ""}, "no pyproject.toml in .* says that it is jaxmodal's; give the command in"),
        ({"named": '[project]\nname = "other"\n'}, "says that it is jaxmodal's"),
        ({"named": 'project = "jaxmodal"\n'}, "says that it is jaxmodal's"),
        ({"named": "[project\n"}, "says that it is jaxmodal's"),
        ({"version": "99.0"}, r"its version is 99\.0, and that of .*; install jaxmodal from that"),
    ],
)
def test_code_of_another_project_or_version_is_not_run(changed, message, installed_elsewhere):
    project(installed_elsewhere, "raise AssertionError('it was run')", **changed)
    (installed_elsewhere / "benchmarks" / "__init__.py").write_text("raise AssertionError")
    with pytest.raises(
        BadInput, match=rf"optimisation_gallery\.py: is not run, because .*{message}"
    ):
        project_module("studies.optimisation_gallery")


def test_without_its_settings_or_its_library_a_folder_is_not_the_project_s(installed_elsewhere):
    project(installed_elsewhere, "raise AssertionError('it was run')")
    (installed_elsewhere / "jaxmodal" / "__init__.py").unlink()
    with pytest.raises(BadInput, match="is not run, because its version is unknown"):
        project_module("studies.optimisation_gallery")
    (installed_elsewhere / "pyproject.toml").unlink()
    with pytest.raises(BadInput, match="is not run, because no pyproject"):
        project_module("studies.optimisation_gallery")


def test_the_current_folder_is_looked_into_whatever_else_is_called_so(
    installed_elsewhere, monkeypatch
):
    """Another package of that name comes first on the path; the path itself stays as it was."""
    other = installed_elsewhere.parent / "site-packages" / "benchmarks"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("raise AssertionError('the other package')")
    monkeypatch.syspath_prepend(str(other.parent))
    path = list(sys.path)
    project(installed_elsewhere, "def make_gallery(folder, tell):\n    tell(f'made {folder}')\n")
    answer = run_command("optimise", "--gallery", "out")
    assert (answer.exit_code, answer.stdout) == (0, "made out\n")
    assert sys.path == path


def test_a_project_that_does_not_go_with_the_library_is_told(installed_elsewhere):
    project(installed_elsewhere, "from jaxmodal.references import nothing_of_the_kind\n")
    with pytest.raises(
        BadInput, match=r"optimisation_gallery\.py: cannot be imported .*nothing"
    ) as told:
        project_module("studies.optimisation_gallery")
    assert "install jaxmodal from that folder, with pip install" in str(told.value)


def test_beside_the_library_the_current_folder_does_not_matter(tmp_path, monkeypatch):
    project(tmp_path, "raise AssertionError('the current folder')")
    monkeypatch.chdir(tmp_path)
    found = project_module("studies.optimisation_gallery")
    assert Path(found.__file__) == ROOT / "benchmarks" / "studies" / "optimisation_gallery.py"


def test_no_package_is_built_of_the_project_s_own_code():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    assert settings["targets"]["wheel"]["packages"] == ["jaxmodal", "sweeps", "design_opt"]
    assert f"/{PACKAGE}" in settings["targets"]["sdist"]["include"]
    for file in COMMANDS.values():
        assert (ROOT / file).is_file()
