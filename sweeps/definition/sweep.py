"""What a sweep is: an arm, named axes, theories, number of modes, outputs by name."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxmodal import examples
from jaxmodal.arm.arguments import is_whole
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.built_in import EXAMPLE_PREFIX
from jaxmodal.arm.columns import require_variants
from jaxmodal.arm.parameters import addresses, resolve, set_parameters
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import THEORIES
from jaxmodal.runtime.errors import ArmError, ImplausibleWarning, suggestion
from jaxmodal.runtime.limits import MODES
from jaxmodal.runtime.tables import ShowsTables, Table
from jaxmodal.spatial.arm import SpatialArm
from jaxmodal.spatial.files import read_arm
from sweeps.definition import limits
from sweeps.definition.axes import RESERVED_NAMES, Axis, address_of
from sweeps.definition.descriptions import described_axis
from sweeps.definition.errors import SweepError
from sweeps.solution.outputs import ALWAYS, LABELS, QUANTITIES

FORMAT = 1


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Sweep(ShowsTables):
    """Definition of a sweep; validated when it is made.

    Parameters
    ----------
    arm
        An `Arm` or a `SpatialArm`, or ``"example:NAME"`` for a built-in one, or the path of an arm file.
    axes
        The dimensions, from `axis`, `linspace`, `geomspace`, `zipped`, `random_design`; the sweep
        runs over their full product. One or more, no parameter twice.
    theories
        Name of one theory or several; with more than one the dataset has a dimension ``theory``.
    num_modes
        Number of frequencies from the lowest, 1 or more.
    outputs
        Names of further quantities (see ``sweeps.QUANTITIES``); frequency, status and certified are
        always there.
    sensitivity_to
        Parameters (addresses or aliases) that the outputs ``sensitivity`` and ``frequency_derivative``
        refer to; all of the arm if left out.
    name
        Title, for files and pictures; not part of the fingerprint.

    Raises
    ------
    SweepError
        If a name is unknown, a parameter is set twice, or an axis holds a value that the arm refuses.
    ArmError
        If the arm cannot be read.

    Examples
    --------
    >>> from sweeps import Sweep, linspace
    >>> sweep = Sweep("example:two_link_flexible", [linspace("theta_2", 0, 180, 5, unit="degree")])
    >>> sweep.shape, sweep.num_cells, len(sweep.fingerprint)
    ((5,), 5, 64)
    """

    arm: Arm | SpatialArm
    axes: tuple[Axis, ...]
    theories: tuple[str, ...]
    num_modes: int
    outputs: tuple[str, ...]
    sensitivity_to: tuple[str, ...]
    name: str

    def __init__(
        self,
        arm: Arm | SpatialArm | str | Path,
        axes: Sequence[Axis],
        *,
        theories: str | Sequence[str] = "timoshenko",
        num_modes: int = 10,
        outputs: Sequence[str] = (),
        sensitivity_to: Sequence[str] = (),
        name: str = "",
    ) -> None:
        values = {
            "arm": arm if isinstance(arm, Arm | SpatialArm) else _read(arm),
            "axes": tuple(axes),
            "theories": _names("theories", theories, THEORIES),
            "num_modes": _number_of_modes(num_modes),
            "outputs": _outputs(outputs),
            "name": name,
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)
        object.__setattr__(self, "sensitivity_to", _parameters(self, sensitivity_to))
        _check_names(self)
        _check_values(self)
        _check_outputs(self)

    def tables(self) -> list[Table]:
        """Return the axes, and what is computed at their points."""
        rows = [
            [entry.name, column.address, str(entry.size), *column.ends, column.unit]
            for entry in self.axes
            for column in entry.columns
        ]
        headings = ("axis", "parameter", "values", "from", "to", "unit")
        cells = (
            f"{' x '.join(map(str, self.shape))} cells"
            if len(self.axes) > 1
            else f"{self.num_cells} cells"
        )
        title = (
            f"sweep {self.name or self.arm.name or 'of an arm'}: {cells}, {self.num_modes} modes"
        )
        notes = [f"theories: {', '.join(self.theories)}; outputs: {', '.join(self.outputs)}"]
        return [Table(title, headings, rows, notes, ("axis", "parameter", "unit"))]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of points along each axis."""
        return tuple(entry.size for entry in self.axes)

    @property
    def num_cells(self) -> int:
        """Number of arms in the sweep: the product of the axes' sizes."""
        return math.prod(self.shape)

    @property
    def dims(self) -> tuple[str, ...]:
        """Dimensions of a quantity per mode: theory if there are several, the axes, mode."""
        theory = ("theory",) if len(self.theories) > 1 else ()
        return (*theory, *(entry.name for entry in self.axes), "mode")

    def dims_of(self, output: str) -> tuple[str, ...]:
        """Dimensions of an output: those of a quantity per mode, and its own behind them."""
        return (*self.dims, *QUANTITIES[output].dims)

    def labels(self, dimension: str) -> tuple[str | int, ...]:
        """Return what the points of a dimension behind mode are called."""
        if dimension == "link":
            return tuple(range(1, self.arm.num_links + 1))
        return self.sensitivity_to if dimension == "parameter" else LABELS[dimension]

    def cell_shape(self, output: str) -> tuple[int, ...]:
        """Shape of an output in one cell: modes, and its own dimensions behind them."""
        own = QUANTITIES[output].dims
        return (self.num_modes, *(len(self.labels(name)) for name in own))

    @property
    def solved_theories(self) -> tuple[str, ...]:
        """The theories to be solved: those asked for, and those that an output compares with."""
        needed = [theory for name in self.outputs for theory in QUANTITIES[name].needs]
        return tuple(dict.fromkeys([*self.theories, *needed]))

    def description(self) -> dict[str, Any]:
        """Return everything that determines the numbers, as plain values, fit for comparison."""
        return {
            "format": FORMAT,
            "arm": self.arm.to_dict(),
            "axes": {entry.name: described_axis(entry) for entry in self.axes},
            "theories": list(self.theories),
            "num_modes": self.num_modes,
            "outputs": list(self.outputs),
            "sensitivity_to": list(self.sensitivity_to),
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of `description`, 64 hexadecimal digits."""
        text = json.dumps(self.description(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def arm_at(self, *index: int) -> Arm | SpatialArm:
        """Return the arm of one cell, given its index along each axis.

        Raises
        ------
        ArmError
            If the values of the cell do not fit together.
        """
        values = {
            column.address: float(column.si_values[place])
            for entry, place in zip(self.axes, index, strict=True)
            for column in entry.columns
        }
        return set_parameters(self.arm, values)


def _read(arm: str | Path) -> Arm | SpatialArm:
    if isinstance(arm, str) and arm.startswith(EXAMPLE_PREFIX):
        return examples.load(arm.removeprefix(EXAMPLE_PREFIX))
    if not isinstance(arm, (str, Path)):
        raise SweepError(
            f"arm = {shown(arm)}: must be an Arm or a SpatialArm, 'example:NAME' or the path of an arm file."
        )
    if arm in examples.names() and not Path(arm).exists():
        raise SweepError(
            f"arm = {shown(arm)}: no such file; for the built-in arm of this name give "
            f"'{EXAMPLE_PREFIX}{arm}'."
        )
    return read_arm(arm)


def _names(key: str, given: str | Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    known = list(known)
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in known:
            raise SweepError(
                f"{key}: {shown(name)} is unknown; known are {', '.join(known)}."
                f"{suggestion(str(name)[:100], known)}"
            )
        if names.count(name) > 1:
            raise SweepError(f"{key}: {shown(name)} is given twice; give it once.")
    if not names and key == "theories":
        raise SweepError(f"theories is empty; give one or more of {', '.join(known)}.")
    return names


def _outputs(given: Sequence[str]) -> tuple[str, ...]:
    names = _names("outputs", given, QUANTITIES)
    first = next((k for k, name in enumerate(names) if QUANTITIES[name].modal), None)
    if first is not None and "modal_status" not in names:
        names = (*names[:first], "modal_status", *names[first:])
    return tuple(dict.fromkeys([*ALWAYS, *names]))


def _parameters(sweep: Sweep, given: Sequence[str]) -> tuple[str, ...]:
    """Addresses of the sensitivities, all of the arm unless told otherwise."""
    needed = any("parameter" in QUANTITIES[name].dims for name in sweep.outputs)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SweepError(
            f"sensitivity_to = {shown(given)}: must be a list of parameters, such as ['link1.length']."
        )
    found = [address_of(name) for name in given]
    if found and not needed:
        raise SweepError(
            "sensitivity_to is given, but no output refers to it; add 'sensitivity' or "
            "'frequency_derivative' to outputs, or leave it out."
        )
    for address in found:
        try:
            resolve(sweep.arm, address)
        except ArmError as error:
            raise SweepError(f"sensitivity_to: {error}") from error
        if found.count(address) > 1:
            raise SweepError(f"sensitivity_to: {address!r} is given twice; give it once.")
    return tuple(found or (addresses(sweep.arm) if needed else ()))


def _number_of_modes(value: Any) -> int:
    if not is_whole(value, 1, MODES):
        raise SweepError(f"num_modes = {shown(value)}: must be a whole number from 1 to {MODES:,}.")
    return int(value)


def _check_names(sweep: Sweep) -> None:
    if not sweep.axes:
        raise SweepError("axes is empty; give one axis or more, such as linspace('theta_2', ...).")
    if len(sweep.axes) > limits.AXES:
        raise SweepError(f"axes: there are {len(sweep.axes)}; at most {limits.AXES}.")
    if not isinstance(sweep.name, str):
        raise SweepError(f"name = {shown(sweep.name)}: must be text.")
    for entry in sweep.axes:
        if not isinstance(entry, Axis):
            raise SweepError(
                f"axes: {shown(entry)} is not an axis; make it with axis, linspace, geomspace, zipped or "
                "random_design."
            )
    if sweep.num_cells > limits.CELLS:
        raise SweepError(
            f"axes: {' x '.join(map(str, sweep.shape))} are {sweep.num_cells:,} cells; at most {limits.CELLS:,}. "
            "Give fewer points, or cut the sweep in several."
        )
    taken = [*RESERVED_NAMES, *QUANTITIES, "branch", "branch_flag"]
    for entry in sweep.axes:
        own = [column.name for column in entry.columns]
        for name in dict.fromkeys([entry.name, *own]):
            if name in taken or own.count(name) > 1:
                raise SweepError(
                    f"axis {entry.name!r}: the name {name!r} is taken already; give another one with "
                    "name = ..."
                )
            taken.append(name)


def _check_values(sweep: Sweep) -> None:
    """Refuse parameters that the arm lacks, and values that it refuses whatever the others are.

    Dimensions of a section that change together may be valid only together; cells where they are
    not get the status invalid_input.
    """
    columns = [column for entry in sweep.axes for column in entry.columns]
    first = {}
    for column in columns:
        largest = float(np.abs(column.values).max())
        if column.unit == "rad" and largest > 4.0 * math.pi:
            warnings.warn(
                f"axis {column.name!r}: {column.address} reaches {largest:.6g} rad, more than two turns; if this is in "
                "degrees, give unit = 'degree'",
                ImplausibleWarning,
                stacklevel=4,
            )
        if column.address in first:
            raise SweepError(
                f"axis {column.name!r}: {column.address!r} is varied by another axis already; vary it "
                "once."
            )
        first[column.address] = column.si_values[:1]
    _set(sweep.arm, first, "axes")
    tied = [column for column in columns if ".section." in column.address]
    for column in columns:
        ends = [float(column.si_values.min()), float(column.si_values.max())]
        if column not in tied or len(tied) == 1:
            for end in ends:
                _set(sweep.arm, {column.address: end}, f"axis {column.name!r}")
        elif not ends[0] > 0.0:
            raise SweepError(
                f"axis {column.name!r}: {column.address} = {ends[0]!r}: must be greater than 0."
            )
    values = {column.address: column.si_values for entry in sweep.axes for column in entry.columns}
    for theory in sweep.solved_theories:
        try:
            _require_theory(sweep.arm, theory, values)
        except ArmError as error:
            raise SweepError(f"theories: {error}") from error


def _require_theory(arm: Arm | SpatialArm, theory: str, values: Mapping[str, np.ndarray]) -> None:
    """Refuse an arm that lacks shear coefficients, of either kind, or that a theory cannot take with these values."""
    if not isinstance(arm, SpatialArm):
        require_variants(arm, theory, values)
    elif theory == "timoshenko":
        arm.model(theory)


def _check_outputs(sweep: Sweep) -> None:
    """Refuse outputs of mode shapes where there are none."""
    modal = [name for name in sweep.outputs if QUANTITIES[name].modal and name != "modal_status"]
    if isinstance(sweep.arm, SpatialArm) and modal:
        plain = ", ".join(name for name, quantity in QUANTITIES.items() if not quantity.modal)
        raise SweepError(
            f"outputs: {modal[0]!r} needs mode shapes, which sweeps have of planar arms only; of an arm in space take "
            f"of {plain}."
        )


def _set(arm: Arm | SpatialArm, values: dict[str, Any], place: str) -> None:
    try:
        set_parameters(arm, values)
    except ArmError as error:
        raise SweepError(f"{place}: {error}") from error
