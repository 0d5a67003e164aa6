"""Access of commands to code of the project that is not part of the installed packages."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import jaxmodal
from jaxmodal.cli.arguments import BadInput

#: package of the project that is not part of the distribution
PACKAGE = "benchmarks"
_REMEDY = (
    "give the command in the project's folder: a checkout or an unpacked source archive, with README.md and benchmarks "
    "in it"
)
_INSTALL = "install jaxmodal from that folder, with pip install '.[sweeps,plots,dynamics]'"


def project_module(name: str) -> ModuleType:
    """Import a module of `PACKAGE` from the project's folder.

    This is the folder of the library if it is used from its source, else the current folder, if that is the project's
    and of the version of the library. Other packages in it, including the library, are not imported from there.

    Parameters
    ----------
    name
        Name without `PACKAGE`, such as "studies.sweep_gallery".

    Raises
    ------
    BadInput
        If neither folder has the module, the folder is not the project's or of another version, or its imports fail
        with the installed packages.
    """
    file = Path(PACKAGE, *name.split(".")).with_suffix(".py")
    for folder in (Path(jaxmodal.__file__).parent.parent, Path.cwd()):
        if all((folder / each).is_file() for each in (file, Path(PACKAGE, "__init__.py"))):
            _require_project(folder, file)
            _import_package(folder / PACKAGE)
            try:
                return importlib.import_module(f"{PACKAGE}.{name}")
            except ImportError as error:
                raise BadInput(
                    f"{folder / file}: cannot be imported ({error}); {_INSTALL}."
                ) from error
    raise BadInput(
        f"{file}, which this command runs, is not among the installed packages, and not in the current folder, "
        f"{Path.cwd()}; {_REMEDY}."
    )


def _require_project(folder: Path, file: Path) -> None:
    """Raise an error for a folder whose file is not to be run: another project's, or of another version."""
    if _project_name(folder) != jaxmodal.__name__:
        raise BadInput(
            f"{folder / file}: is not run, because no pyproject.toml in {folder} says that it is jaxmodal's; {_REMEDY}."
        )
    own = Path(jaxmodal.__name__, "__init__.py")
    version = re.search(r'^__version__ = "(.*)"$', _text(folder / own), re.MULTILINE)
    found = "unknown" if version is None else version[1]
    if found != jaxmodal.__version__:
        raise BadInput(
            f"{folder / file}: is not run, because its version is {found}, and that of the installed packages "
            f"{jaxmodal.__version__}; {_INSTALL}."
        )


def _project_name(folder: Path) -> str | None:
    """Return the name of the project in a folder, by its ``pyproject.toml``; None if there is none."""
    try:
        project = tomllib.loads(_text(folder / "pyproject.toml")).get("project")
    except tomllib.TOMLDecodeError:
        return None
    return project.get("name") if isinstance(project, dict) else None


def _text(file: Path) -> str:
    """Return the text of a file; empty if it cannot be read."""
    try:
        return file.read_text("utf-8")
    except (OSError, ValueError):
        return ""


def _import_package(folder: Path) -> None:
    """Import `PACKAGE` from its folder, even if another package on the path has the same name."""
    if PACKAGE in sys.modules:
        return
    spec = spec_from_file_location(PACKAGE, folder / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    package = module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)
