"""Counts of natural frequencies and errors of frequencies in 113-bit floats, by a program of its own in C.

`extended_counts.c` says how. It takes from the library what the values of an arm are, `BeamArrays`, and nothing else.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = Path(__file__).with_suffix(".c")
#: values of one link by their names in `BeamArrays`, in the order of the C program, and what stands for nothing
FIELDS: dict[str, float] = {
    "length": math.nan, "youngs_modulus": math.nan, "area": math.nan, "second_moment": math.nan,
    "density": math.nan, "nonstructural_mass": 0.0, "shear_modulus_effective": math.inf,
    "tip_mass": 0.0, "tip_inertia": 0.0, "joint_angle": 0.0, "joint_stiffness": math.inf,
    "joint_axial_stiffness": math.inf, "joint_shear_stiffness": math.inf,
    "hub_mass": 0.0, "hub_inertia": 0.0, "rotor_inertia": 0.0, "gear_ratio": 1.0,
    "base_offset_x": 0.0, "base_offset_y": 0.0, "end_offset_x": 0.0, "end_offset_y": 0.0,
    "tip_moment_x": 0.0, "tip_moment_y": 0.0, "flexible": 1.0,
    "support_x_stiffness": 0.0, "support_y_stiffness": 0.0, "support_torsional_stiffness": 0.0, "ground_angle": 0.0,
    "axial_force": 0.0, "base_turning_stiffness": 0.0, "end_turning_stiffness": 0.0,
    "base_xx": math.inf, "base_xy": 0.0, "base_xr": 0.0,
    "base_yy": math.inf, "base_yr": 0.0, "base_rr": math.inf,
}  # fmt: skip
#: the same of a link in space (docs/spatial.md), whose body is centred at its tip
FIELDS_IN_SPACE = (
    "length", "youngs_modulus", "shear_modulus", "density", "area", "second_moment_y", "second_moment_z",
    "torsion_constant", "shear_coefficient_y", "shear_coefficient_z", "joint_angle",
    "axis_x", "axis_y", "axis_z", "joint_stiffness", "mass", "inertia_x", "inertia_y", "inertia_z",
)  # fmt: skip
_THEORIES = {
    "timoshenko": (1, 1, 1),
    "rayleigh": (0, 1, 1),
    "euler_bernoulli": (0, 0, 1),
    "bending_only": (0, 0, 0),
}


def missing() -> str | None:
    """Why there are no such counts here, or None."""
    if shutil.which("gcc") is None:
        return "no gcc, whose __float128 the counts are in"
    try:
        _library()
    except (OSError, subprocess.CalledProcessError) as error:
        return f"gcc does not build {SOURCE.name}: {error}"
    return None


@functools.cache
def _library() -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        built = os.path.join(folder, "extended_counts.so")
        command = ["gcc", "-O2", "-shared", "-fPIC", "-o", built, str(SOURCE), "-lquadmath", "-lm"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        return ctypes.CDLL(built)


def link_values(beams: Any) -> np.ndarray:
    """Values of the links of cells, shape (cells, links, fields), from `BeamArrays` of shape (links, cells)."""
    shape = np.shape(beams.length)
    found = np.empty((*shape, len(FIELDS)))
    for place, (name, nothing) in enumerate(FIELDS.items()):
        value = getattr(beams, name)
        found[..., place] = nothing if value is None else value
    return np.ascontiguousarray(np.moveaxis(found, 0, 1))


def link_values_in_space(links: list[dict[str, Any]], cells: int) -> np.ndarray:
    """Values of links in space by name, numbers or columns (cells,); shape (cells, links, fields)."""
    found = np.empty((cells, len(links), len(FIELDS_IN_SPACE)))
    for place, link in enumerate(links):
        for field, name in enumerate(FIELDS_IN_SPACE):
            found[:, place, field] = link[name]
    return found


def _flags(values: np.ndarray, theory: str) -> np.ndarray:
    in_space = values.shape[2] == len(FIELDS_IN_SPACE)
    return np.array([*_THEORIES[theory], in_space], np.int32)


def _pointer(array: np.ndarray) -> Any:
    return array.ctypes.data_as(ctypes.c_void_p)


def counts_below(
    values: np.ndarray, theory: str, omega: np.ndarray, rest: np.ndarray | None = None
) -> np.ndarray:
    """J of every cell at its frequencies ``omega + rest`` in rad/s, shape (cells, points); negative: none found."""
    omega = np.ascontiguousarray(omega, np.float64)
    rest = np.zeros_like(omega) if rest is None else np.ascontiguousarray(rest, np.float64)
    found = np.zeros(omega.shape, np.int64)
    cells, points = omega.shape
    flags = _flags(values, theory)
    given = ctypes.c_long(cells), ctypes.c_int(values.shape[1]), _pointer(values), _pointer(flags)
    _library().counts(*given, ctypes.c_int(points), *map(_pointer, (omega, rest, found)))
    return found


def relative_errors(
    values: np.ndarray, theory: str, omega: np.ndarray, numbers: np.ndarray
) -> np.ndarray:
    """Relative errors of frequencies that are claimed to be modes of these numbers, from 1; shape (cells, modes).

    To 1e-3 of themselves or 4e-17. NaN where the mode is farther than 2 % away, or ``omega`` not above 0.
    """
    omega = np.ascontiguousarray(omega, np.float64)
    numbers = np.ascontiguousarray(np.broadcast_to(numbers, omega.shape), np.int64)
    found = np.full(omega.shape, np.nan)
    cells, modes = omega.shape
    flags = _flags(values, theory)
    given = ctypes.c_long(cells), ctypes.c_int(values.shape[1]), _pointer(values), _pointer(flags)
    _library().errors(*given, ctypes.c_int(modes), *map(_pointer, (omega, numbers, found)))
    return found
