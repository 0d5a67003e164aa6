"""Access of commands to code of the project that is not part of the installed packages."""

from __future__ import annotations

import importlib
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import jaxmodal
from jaxmodal.cli.arguments import BadInput

#: package of the project that is not part of the distribution
PACKAGE = "benchmarks"


def project_module(name: str) -> ModuleType:
    """Import a module of `PACKAGE` from the project's folder.

    This is the folder of the library if it is used from its source, else the current folder. Other packages in it,
    including the library, are not imported from there.

    Parameters
    ----------
    name
        Name without `PACKAGE`, such as "studies.sweep_gallery".

    Raises
    ------
    BadInput
        If neither folder has the module, or its imports fail with the installed packages.
    """
    file = Path(PACKAGE, *name.split(".")).with_suffix(".py")
    for folder in (Path(jaxmodal.__file__).parent.parent, Path.cwd()):
        if all((folder / each).is_file() for each in (file, Path(PACKAGE, "__init__.py"))):
            _import_package(folder / PACKAGE)
            try:
                return importlib.import_module(f"{PACKAGE}.{name}")
            except ImportError as error:
                raise BadInput(
                    f"{folder / file}: cannot be imported ({error}); install jaxmodal from that folder, with "
                    "pip install '.[sweeps,plots,dynamics]'."
                ) from error
    raise BadInput(
        f"{file}, which this command runs, is not among the installed packages, and not in the current folder, "
        f"{Path.cwd()}; give the command in the project's folder: a checkout or an unpacked source archive, with "
        "README.md and benchmarks in it."
    )


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
