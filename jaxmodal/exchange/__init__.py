"""Export of arms to other programs: formats of robot simulators, and co-simulation units (FMI)."""

from jaxmodal.exchange.fmu import SimulationUnit, write_fmu
from jaxmodal.exchange.lumping import lumped
from jaxmodal.exchange.mjcf import write_mjcf
from jaxmodal.exchange.results import LumpedArm
from jaxmodal.exchange.urdf import write_urdf
from jaxmodal.runtime.public_names import report_package

__all__ = ["LumpedArm", "SimulationUnit", "lumped", "write_fmu", "write_mjcf", "write_urdf"]

report_package(globals())
