"""Export of frequency responses to python-control and to universal files (UFF)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jaxmodal.arm.quantities import shown
from jaxmodal.response.driven.ports import IN_SPACE, Port
from jaxmodal.response.exact.results import FrequencyResponse
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.optional import require_control, require_pyuff
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.whole_files import write_whole

#: data types of universal files: of motions by quantity, of a force, and of a frequency
_MOTIONS = {
    "receptance": (8, "Displacement", ""),
    "mobility": (11, "Velocity", "/s"),
    "accelerance": (12, "Acceleration", "/s^2"),
}
_FORCE, _FREQUENCY = 13, 18
#: direction codes of universal files: 1 and 2 are x and y, 6 is the rotation about z
_DIRECTIONS = {"along": 1, "across": 2, "rotation": 6, "relative_rotation": 6} | {
    name: ["x", "y", "z", "rx", "ry", "rz"].index(name.removeprefix("link_")) + 1
    for name in IN_SPACE
}


def response_data(found: FrequencyResponse) -> Any:
    """Return the response of one arm as ``FrequencyResponseData`` of python-control; needs ``jaxmodal[control]``.

    Parameters
    ----------
    found
        Response at one or more ascending frequencies, with all entries finite.

    Raises
    ------
    ArmError
        If the response is of many arms, an entry is not finite, or frequencies do not ascend.
    ImportError
        If python-control is not installed.
    """
    _require_response(found)
    control = require_control()
    omega, values = _one_arm(found)
    names = [
        [name.replace(".", "_") for name in side]
        for side in (found.input_names, found.output_names)
    ]
    return control.FrequencyResponseData(values, omega, inputs=names[0], outputs=names[1], dt=0)


def write_universal_file(found: FrequencyResponse, path: str | Path) -> Path:
    """Write the response of one arm to a universal file, one data set 58 per pair of ports; needs ``jaxmodal[uff]``.

    Parameters
    ----------
    found
        Receptance, mobility or accelerance at two or more ascending frequencies, with all entries finite.
    path
        The file, usually ``.uff`` or ``.unv``; replaced if it exists.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ArmError
        If the response is of another quantity, of many arms, at one frequency only, or not finite.
    ImportError
        If pyuff is not installed.

    Notes
    -----
    The file is text in SI units: values with 12 digits, frequencies in Hz with the 6 digits of the format. Places are
    numbered as nodes from 1, in the order of the outputs and inputs; each set names the places of its nodes. Along and
    x have direction 1, across and y 2, rotations in the plane 6; in space x, y, z are 1 to 3 and rx, ry, rz 4 to 6, for
    ground axes and link axes alike. A rotation relative to the previous link is 6.
    """
    _require_response(found)
    pyuff = require_pyuff()
    if found.quantity not in _MOTIONS:
        raise ArmError(
            f"quantity = {found.quantity!r}: universal files of this kind hold receptance, mobility or accelerance."
        )
    omega, values = _one_arm(found)
    if omega.size < 2:
        raise ArmError("omega: a universal file needs at least 2 frequencies; 1 is given.")
    places = list(dict.fromkeys(_place(port) for port in (*found.outputs, *found.inputs)))
    kind, label, per = _MOTIONS[found.quantity]
    sets = []
    for o, output in enumerate(found.outputs):
        for i, into in enumerate(found.inputs):
            nodes = [places.index(_place(port)) + 1 for port in (output, into)]
            sets.append(
                pyuff.prepare_58(
                    binary=0,
                    id1=f"{found.quantity} by jaxmodal ({found.theory})",
                    id2=found.pair(o, i)[:80],
                    id3=f"node {nodes[0]}: {_place(output)}; node {nodes[1]}: {_place(into)}"[:80],
                    func_type=4,
                    rsp_node=nodes[0],
                    rsp_dir=_DIRECTIONS[output.direction],
                    ref_node=nodes[1],
                    ref_dir=_DIRECTIONS[into.direction],
                    abscissa_spacing=0,
                    abscissa_spec_data_type=_FREQUENCY,
                    abscissa_axis_units_lab="Hz",
                    ordinate_spec_data_type=kind,
                    ordinate_axis_units_lab=f"{output.motion_unit}{per}",
                    orddenom_spec_data_type=_FORCE,
                    orddenom_axis_units_lab=into.force_unit,
                    data=values[o, i],
                    x=omega / (2.0 * np.pi),
                )
                | {
                    "abscissa_axis_lab": "Frequency",
                    "ordinate_axis_lab": label,
                    "orddenom_axis_lab": "Force",
                }
            )
    return write_whole(Path(path), lambda part: pyuff.UFF(str(part)).write_sets(sets, "overwrite"))


def _require_response(found: object) -> None:
    if not isinstance(found, FrequencyResponse):
        raise ArmError(f"found = {shown(found)}: must be what frequency_response returned.")


def _place(port: Port) -> str:
    return str(port).rpartition(".")[0]


def _one_arm(found: FrequencyResponse) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies (F,) and finite values (outputs, inputs, F) of one arm, or raise an ArmError."""
    if found.cells is not None:
        raise ArmError(
            f"the response has {np.shape(found.cells)[1]} arms; must have one: compute it without parameters."
        )
    omega = np.atleast_1d(np.asarray(found.omega))
    values = np.asarray(found.values).reshape(len(found.outputs), len(found.inputs), omega.size)
    if not np.all(np.isfinite(values)):
        wrong = omega[~np.isfinite(values).all(axis=(0, 1))][0]
        buckled = np.any(np.asarray(found.status) == Status.unstable)
        remedy = (
            f"for {Status.unstable.cause}; {Status.unstable.remedy}"
            if buckled
            else "must be: give the arm damping, or other frequencies"
        )
        raise ArmError(f"the response at {float(wrong)!r} rad/s is not finite; {remedy}.")
    if np.any(np.diff(omega) <= 0.0):
        raise ArmError("omega: must ascend, for the program that reads it.")
    return omega, values.astype(np.complex128)
