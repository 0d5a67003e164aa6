"""The dataset of a sum over modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxmodal.response.driven.labels import port_labels
from jaxmodal.response.driven.port_quantities import compliance_unit, unit_over
from jaxmodal.response.driven.ports import Port
from jaxmodal.runtime.datasets import variable

if TYPE_CHECKING:
    import xarray

    from jaxmodal.response.modal.superposition import ModalSuperposition


def modal_dataset(model: ModalSuperposition) -> xarray.Dataset:
    """Modes with their certificates, and all matrices; dims mode, of (a mode, too), output and input."""
    between, pair = ("mode", "of"), ("output", "input")
    ends = model.outputs, model.inputs
    labels = port_labels(*ends, compliance_unit)
    labels["residual_units"] = labels.pop("units")
    labels["carried_units"] = port_labels(*ends, _carried_unit)["units"]
    for name, side, ports in (("read", "output", ends[0]), ("driven", "input", ends[1])):
        units = [_modal_unit(port) for port in ports]
        labels[f"{name}_units"] = variable(side, units, f"unit of {name}")
    found = model.frequencies.to_xarray()
    variables = {
        "driven": variable(("mode", "input"), model.driven, "motion of the mode at the input"),
        "read": variable(("mode", "output"), model.read, "motion of the mode at the output"),
        "damping_ratio": variable("mode", model.damping_ratios, "damping ratio", "1"),
        "damping": variable(between, model.damping, "viscous damping", "1/s"),
        "structural": variable(between, model.structural, "structural damping", "rad^2/s^2"),
        "residual": variable(pair, model.residual, "static compliance of the modes left out"),
        "carried": variable(pair, model.carried, "motion of the output with the base"),
    }
    return found.assign(variables).assign_coords({"of": found.mode.values, **labels})


def _carried_unit(output: Port, driven: Port) -> str:
    """Unit of a motion with the base; of other inputs it is 0."""
    at_base = driven.place == "base"
    return unit_over(output.motion_unit, driven.motion_unit) if at_base else "1"


def _modal_unit(port: Port) -> str:
    """Unit of a motion in a mode of unit modal mass; at the base of the force of inertia for an acceleration of 1."""
    if port.place == "base":
        return "m kg^0.5" if port.turns else "kg^0.5"
    return "rad m^-1 kg^-0.5" if port.turns else "kg^-0.5"
