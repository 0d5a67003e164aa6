"""Lookup of arms by name or path, for the command line, sweeps and files of other packages."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from jaxmodal.arm.built_in import EXAMPLE_PREFIX
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.arms.plausibility import warn_of_implausible_values
from jaxmodal.spatial.files import examples
from jaxmodal.spatial.files.arm_files import arm_from_dict, read_arm


def arm_named(
    source: str | Path,
    *,
    folder: str | Path | None = None,
    check: bool = True,
    error: type[ValueError] = ArmError,
) -> AnyArm:
    """Return the arm named ``"example:NAME"``, or the arm of a file.

    Parameters
    ----------
    source
        The name or the path.
    folder
        Folder that a relative path starts from; by default the working directory.
    error
        Type of the error raised if the name of a built-in arm lacks ``example:``.

    Raises
    ------
    ArmError
        As for `read_arm`; or if there is no such built-in arm.
    """
    if isinstance(source, str) and source.startswith(EXAMPLE_PREFIX):
        return examples.load(source.removeprefix(EXAMPLE_PREFIX))
    path = source if folder is None else Path(folder) / source
    # os.path.exists: Path.exists raises for long names
    if not os.path.exists(path) and str(source) in examples.names():
        raise error(
            f"arm = {str(source)!r}: no such file; for the built-in arm of this name give "
            f"'{EXAMPLE_PREFIX}{source}'."
        )
    return read_arm(path, check=check)


def arm_of_entry(entry: object, folder: str | Path, error: type[ValueError]) -> AnyArm:
    """Return the arm of the key ``arm`` of a file: tables of an arm, or a name or path for `arm_named`.

    Raises
    ------
    ValueError
        If the entry is neither, or its tables describe no valid arm; the type is ``error``.
    ArmError
        As for `arm_named`.
    """
    if isinstance(entry, Mapping):
        try:
            arm = arm_from_dict(entry)
        except ArmError as refused:
            raise error(f"arm: {refused}") from refused
        warn_of_implausible_values(arm, "arm")
        return arm
    if isinstance(entry, str):
        return arm_named(entry, folder=folder, error=error)
    raise error(
        f"arm = {shown(entry)}: must be the path of an arm file, 'example:NAME' or the tables of an arm."
    )
