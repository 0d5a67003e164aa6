"""Identification of arms from measurements: parameter fits to frequencies and responses, and what to measure next."""

from jaxmodal.identification.compared import Pair, ResponseFit
from jaxmodal.identification.files import read_measurements
from jaxmodal.identification.fitting import fit_arm
from jaxmodal.identification.measurements import MeasuredModes, MeasuredResponse
from jaxmodal.identification.proposals import Proposals, next_posture, next_sensor
from jaxmodal.identification.results import ArmFit
from jaxmodal.identification.universal_files import read_universal_file
from jaxmodal.runtime.public_names import report_package

__all__ = [
    "ArmFit",
    "MeasuredModes",
    "MeasuredResponse",
    "Pair",
    "Proposals",
    "ResponseFit",
    "fit_arm",
    "next_posture",
    "next_sensor",
    "read_measurements",
    "read_universal_file",
]

report_package(globals())
