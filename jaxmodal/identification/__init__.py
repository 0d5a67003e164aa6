"""What measurements say of an arm: parameters fitted to frequencies and responses, and what to measure next."""

from jaxmodal.identification.fitting import fit_arm
from jaxmodal.identification.measurements import MeasuredModes, MeasuredResponse
from jaxmodal.identification.results import ArmFit, Pair, ResponseFit
from jaxmodal.runtime.public_names import report_package

__all__ = ["ArmFit", "MeasuredModes", "MeasuredResponse", "Pair", "ResponseFit", "fit_arm"]

report_package(globals())
