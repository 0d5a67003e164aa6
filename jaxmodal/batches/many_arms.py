"""Certified natural frequencies of many arms that differ in some parameters: float64 where it suffices, else exact.

A few hundred pilot cells are solved first; they give every other cell a guess (`pilots`), from which `work` goes
on. Large batches of postures alone are left to the posture series. `plan` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxmodal.arm.addresses import full_address, set_together
from jaxmodal.arm.arguments import cell_columns, positive_integer
from jaxmodal.arm.arm import Arm, require_arm
from jaxmodal.arm.columns import require_variants
from jaxmodal.arm.documents import table
from jaxmodal.batches.first_batches import SPENT
from jaxmodal.batches.fused_search import chosen_kernel
from jaxmodal.batches.in_space import PlanInSpace
from jaxmodal.batches.plan import Plan, Question
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.eigenspaces.frequency_derivatives import require_concrete
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.runtime import limits
from jaxmodal.runtime.devices import default_device
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.precision import require_x64
from jaxmodal.spatial.arms.arm import SpatialArm


def natural_frequencies_batch(
    arm: Arm | SpatialArm,
    parameters: Mapping[str, Any],
    num_modes: int = 10,
    *,
    theory: TheoryName = "timoshenko",
    chunk_size: int | None = None,
    kernel: str = "auto",
) -> NaturalFrequencies:
    """Lowest natural frequencies of many variants of an arm, each certified.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm that all cells share but for ``parameters``.
    parameters : mapping of str to array, shape (N,)
        Values by address, such as ``{"link2.joint_angle": angles}`` (rad, SI); all of one length.
        ``link*`` sets a value of every link. A masked value is none: its cell is invalid. Columns of pandas and xarray
        must have the same labels in the same order.
    num_modes : int
        How many frequencies, from the lowest.
    theory : str
        As for `natural_frequencies`.
    chunk_size : int, optional
        Cells solved side by side on one core. The default keeps the working set in cache, solves large batches in
        which only joint angles, masses, inertias and joint springs vary by the posture series
        (docs/posture-series.md), and up to 10,240 cells, or 131,072 postures of the series, in NumPy, for which nothing
        is compiled; where such batches come by the hundred, give a number.
    kernel : str
        ``"portable"`` leaves the search to XLA, ``"fused"`` makes one kernel of it (docs/gpu.md), and ``"auto"`` takes
        that on a GPU that can compile it. Statuses and counts are the same.

    Returns
    -------
    NaturalFrequencies
        With a leading axis: ``omega`` of shape (N, num_modes) in rad/s. ``status`` speaks for each mode: a cell
        with an impossible value gets ``invalid_input`` and NaN, and nothing is raised for it.

    Raises
    ------
    ValueError
        Lengths differ, an array is not one-dimensional, or ``num_modes``, ``theory``, ``chunk_size`` or ``kernel``
        is not usable.
    ArmError
        An address is unknown, two of them set one value, labels differ, or the arm lacks what the theory needs.

    Notes
    -----
    The bracket of a mode is at most 4e-8 wide (relative) and the counts at its ends prove the mode; the frequency
    inside it is the zero of the determinant, good to about 1e-13; ``omega_error`` states how good. Modes that float64
    cannot part are solved in double-double. Memory: the chunks in work and the result.

    Arms in space: in float64, with brackets 4e-8 wide at most, where several ways to round agree, else in
    double-double; ``omega_error`` states how good. Where the angles of up to three joints alone vary, the posture
    series solves large batches, with brackets of 2e-12. ``kernel="portable"`` takes the compiled program, whatever the
    number of cells, ``"fused"`` the same.

    What compiles nothing comes first: NumPy solves batches until it has done as much in this process as the programs
    would have taken to compile, and small ones always. Both are certified alike and agree within ``omega_error``.

    Examples
    --------
    >>> import jaxmodal as jm, numpy as np
    >>> arm = jm.examples.two_link_flexible()
    >>> result = jm.natural_frequencies_batch(arm, {"link2.joint_angle": np.radians([0, 45, 90])}, num_modes=2)
    >>> [[f"{f:.4f}" for f in cell] for cell in result.frequencies_hz]
    [['0.2002', '0.9557'], ['0.2114', '0.8269'], ['0.2490', '0.6531']]
    >>> bool(result.certified.all())
    True
    """
    require_x64()
    parameters = table("parameters", parameters, ArmError)
    require_concrete((arm, dict(parameters)), planar=not isinstance(arm, SpatialArm))
    modes = positive_integer(num_modes, "num_modes", limits.MODES)
    theory_flags(theory)
    chosen_kernel(kernel, default_device())  # a name that is not known is refused first
    require_arm(arm)
    addresses, values = columns_of(arm, parameters)
    if isinstance(arm, Arm):
        require_variants(arm, theory, dict(zip(addresses, values, strict=True)))
    chunk = None if chunk_size is None else positive_integer(chunk_size, "chunk_size")
    question = arm, addresses, modes, theory
    cells = values.shape[1]
    few = None
    if chunk is None and kernel == "auto":
        few = SPENT.in_numpy(arm, modes, cells)
    return plan_of(*question, values, cells, chunk, kernel, few).solve(values)


def plan_of(
    arm: Arm | SpatialArm,
    addresses: tuple[str, ...],
    modes: int,
    theory: TheoryName,
    sample: np.ndarray,
    cells: int,
    chunk: int | None = None,
    kernel: str = "auto",
    few: bool | None = None,
) -> Plan | PlanInSpace:
    """The plan for so many ``cells`` of an arm of either kind, from the values (addresses, samples) of some of them."""
    given = sample, cells, chunk, kernel
    if isinstance(arm, SpatialArm):
        return PlanInSpace.of(Question(arm, addresses, modes, theory), *given, few=few)
    return Plan.of(Question(arm, addresses, modes, theory), *given, few=few)


def columns_of(
    arm: Arm | SpatialArm, parameters: Mapping[str, Any]
) -> tuple[tuple[str, ...], np.ndarray]:
    """Addresses and their values, shape (addresses, cells)."""
    if not parameters:
        raise ValueError("parameters is empty; expected at least one address with its values")
    set_together(arm, parameters)
    columns = cell_columns(parameters)
    for address, column in columns.items():
        if column.ndim != 1 or column.size == 0:
            raise ValueError(
                f"parameters[{address!r}] has shape {column.shape}; expected a one-dimensional array with a value per "
                "cell, of one cell or more; what is the same in all cells, set in the arm with set_parameters"
            )
    if len({c.size for c in columns.values()}) > 1:
        lengths = ", ".join(f"{a}: {c.size}" for a, c in columns.items())
        raise ValueError(
            f"parameters have different lengths ({lengths}); expected one value per cell in each"
        )
    found = tuple(full_address(parameter, arm) for parameter in parameters)
    return found, np.stack(list(columns.values()))
