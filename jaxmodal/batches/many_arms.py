"""Certified natural frequencies of many arms that differ in some parameters: in float64 where it is accurate enough.

A few hundred pilot cells are solved first; they give every other cell a guess (`pilots`), from which `work` continues.
Large batches in which only postures vary use the posture series. `plan` chooses the method.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxmodal.arm.addresses import full_address, set_together
from jaxmodal.arm.arguments import cell_columns, positive_integer
from jaxmodal.arm.arm import require_arm
from jaxmodal.arm.documents import table
from jaxmodal.batches.first_batches import SPENT
from jaxmodal.batches.fused_search import chosen_kernel
from jaxmodal.batches.in_space import PlanInSpace
from jaxmodal.batches.kinds import PLANS
from jaxmodal.batches.plan import Plan, Question
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.eigenspaces.frequency_derivatives import require_concrete
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.runtime import limits
from jaxmodal.runtime.devices import default_device
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.precision import require_x64
from jaxmodal.spatial.arms.arm import AnyArm


def natural_frequencies_batch(
    arm: AnyArm,
    parameters: Mapping[str, Any],
    num_modes: int = 10,
    *,
    theory: TheoryName = "timoshenko",
    chunk_size: int | None = None,
    kernel: str = "auto",
) -> NaturalFrequencies:
    """Return the lowest natural frequencies of many variants of an arm, each certified.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm; its variants (cells) differ only in ``parameters``.
    parameters : mapping of str to array, shape (N,)
        Values by address in SI units and rad, such as ``{"link2.joint_angle": angles}``, all of the same length.
        ``link*`` sets a value of every link. A cell with a masked value is invalid. Columns of pandas and xarray must
        have the same labels in the same order.
    num_modes : int
        Number of lowest frequencies.
    theory : str
        Beam theory, see `natural_frequencies`.
    chunk_size : int, optional
        Number of cells that one core solves together. By default the working set fits the cache; large batches in which
        only joint angles, masses, inertias, springs, and in the plane gear ratios and supports vary use the posture
        series (docs/posture-series.md); and up to 10,240 cells, or 131,072 postures of the series, are solved in NumPy
        without compilation. Give a number for hundreds of such batches.
    kernel : str
        ``"portable"``: search compiled by XLA. ``"fused"``: search in one kernel (docs/gpu.md). ``"auto"``: the latter
        on a GPU that can compile it, otherwise the former. Statuses and counts are the same.

    Returns
    -------
    NaturalFrequencies
        Fields with a leading axis of cells: ``omega`` has shape (N, num_modes), in rad/s, and ``status`` describes each
        mode. A cell with an invalid value has the status ``invalid_input`` and NaN; no error is raised for it.

    Raises
    ------
    ValueError
        If lengths differ, an array is not one-dimensional, or ``num_modes``, ``theory``, ``chunk_size`` or ``kernel``
        is invalid.
    ArmError
        If an address is unknown, two addresses set the same value, labels differ, or the arm lacks values that the
        theory needs.

    Notes
    -----
    The bracket of a mode has a relative width of at most 4e-8, and the counts at its ends prove the mode. The frequency
    is the zero of the determinant inside, accurate to about 1e-13; ``omega_error`` states its accuracy. Modes that
    float64 cannot separate are solved in double-double. Memory is needed for the result and the chunks being solved.

    Arms in space are solved in float64 with brackets of at most 4e-8 if results with perturbed rounding agree, else in
    double-double; ``omega_error`` states the accuracy. If only angles of up to three joints vary, or these with masses,
    inertias and springs, the posture series solves large batches, with brackets of 2e-12. ``kernel="portable"`` and
    ``"fused"`` use the compiled program for any number of cells.

    NumPy always solves small batches, and larger ones until its work in this process exceeds the compile time of the
    programs. Both certify in the same way and agree within ``omega_error``.

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
    require_concrete((arm, dict(parameters)))
    modes = positive_integer(num_modes, "num_modes", limits.MODES)
    theory_flags(theory)
    chosen_kernel(kernel, default_device())  # raises an error for an unknown name
    require_arm(arm)
    addresses, values = columns_of(arm, parameters)
    PLANS.of(arm).require_theory(arm, theory, dict(zip(addresses, values, strict=True)))
    chunk = None if chunk_size is None else positive_integer(chunk_size, "chunk_size")
    question = arm, addresses, modes, theory
    cells = values.shape[1]
    few = None
    if chunk is None and kernel == "auto":
        few = SPENT.in_numpy(arm, modes, cells)
    return plan_of(*question, values, cells, chunk, kernel, few).solve(values)


def plan_of(
    arm: AnyArm,
    addresses: tuple[str, ...],
    modes: int,
    theory: TheoryName,
    sample: np.ndarray,
    cells: int,
    chunk: int | None = None,
    kernel: str = "auto",
    few: bool | None = None,
) -> Plan | PlanInSpace:
    """Return the plan for ``cells`` cells of either kind of arm, from values (addresses, samples) of some of them."""
    question: Question[Any] = Question(arm, addresses, modes, theory)
    made: Plan | PlanInSpace = PLANS.of(arm).of(question, sample, cells, chunk, kernel, few=few)
    return made


def columns_of(arm: AnyArm, parameters: Mapping[str, Any]) -> tuple[tuple[str, ...], np.ndarray]:
    """Return addresses, and their values with shape (addresses, cells)."""
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
