"""Exact, certified natural frequencies of multilink arms, planar and in space.

SI units and radians throughout; frequencies in Hz only where a name says so. JAX's 64-bit mode
must be on before the first arm is made; see `X64DisabledError`.
"""

from jaxmodal.arithmetic.exactness import InexactArithmeticError
from jaxmodal.arm.addresses import list_addresses, resolve_address
from jaxmodal.arm.arm import Arm, Link, Payload
from jaxmodal.arm.checks import ArmCheck
from jaxmodal.arm.files import write_arm
from jaxmodal.arm.loads import Loads
from jaxmodal.arm.parameters import get_parameter, set_parameters
from jaxmodal.arm.sections import (
    circle,
    hollow_circle,
    hollow_rectangle,
    raw_section,
    rectangle,
)
from jaxmodal.arm.segments import attach_body, tapered
from jaxmodal.at_rest.buckling import buckling
from jaxmodal.at_rest.buckling_results import Buckling
from jaxmodal.at_rest.planar_equilibrium import StaticEquilibrium
from jaxmodal.at_rest.preloaded import preloaded, preloaded_frequencies
from jaxmodal.at_rest.spatial_equilibrium import SpatialEquilibrium
from jaxmodal.at_rest.static_equilibrium import static_equilibrium
from jaxmodal.at_rest.stresses import Stresses
from jaxmodal.batches.many_arms import natural_frequencies_batch
from jaxmodal.dynamic_stiffness.beams import THEORIES
from jaxmodal.dynamic_stiffness.characteristic import (
    characteristic_matrix,
    determinant_scan,
    log_determinant,
)
from jaxmodal.eigenspaces.clusters import RepeatedFrequencyError
from jaxmodal.frequencies.bounded import BoundedFrequencies
from jaxmodal.frequencies.certificate import Certificate
from jaxmodal.frequencies.counts import certify, count_below
from jaxmodal.frequencies.one_arm import frequencies_in_band, natural_frequencies
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.tapers import TaperedFrequencies, tapered_frequencies
from jaxmodal.modes.batch_results import ModalQuantities
from jaxmodal.modes.batches import modal_quantities_batch
from jaxmodal.modes.mode_shapes import modal_assurance, mode_shapes
from jaxmodal.modes.planar_shapes import ModeShapes
from jaxmodal.modes.sensitivities import directional_derivatives, sensitivities
from jaxmodal.modes.sensitivity_results import Sensitivities
from jaxmodal.modes.spatial_shapes import SpatialModeShapes
from jaxmodal.pictures import PICTURES
from jaxmodal.postures.inverse import postures_at
from jaxmodal.postures.inverse_results import PosturesAt
from jaxmodal.postures.resonance_maps import resonance_free
from jaxmodal.postures.resonance_results import ResonanceMap
from jaxmodal.postures.series import PostureSeries
from jaxmodal.postures.series_of_arm import posture_series
from jaxmodal.response.damped.damped_batch import DampedModesBatch, damped_modes_batch
from jaxmodal.response.damped.damped_modes import DampedModes, damped_modes
from jaxmodal.response.damped.damped_sensitivities import DampedSensitivities, damped_sensitivities
from jaxmodal.response.driven.ports import Port, port_names
from jaxmodal.response.exact.compliance import StaticCompliance, static_compliance
from jaxmodal.response.exact.exchange import response_data, write_universal_file
from jaxmodal.response.exact.frequency_response import frequency_response
from jaxmodal.response.exact.results import FrequencyResponse
from jaxmodal.response.exact.sensitivities import ResponseSensitivities, response_sensitivities
from jaxmodal.response.forced.peaks import ResponsePeaks, response_peaks
from jaxmodal.response.forced.steady import (
    HarmonicResponse,
    RandomResponse,
    harmonic_response,
    random_response,
)
from jaxmodal.response.forced.time_signals import TimeResponse, time_response
from jaxmodal.response.modal.modes_needed import ModesNeeded, modes_needed
from jaxmodal.response.modal.state_space import StateSpace, state_space
from jaxmodal.response.modal.superposition import ModalSuperposition, modal_superposition
from jaxmodal.response.modal.truncation import TruncationError, truncation_error
from jaxmodal.runtime.compilation import CompilationError, tune_cpu, use_compilation_cache
from jaxmodal.runtime.errors import (
    ArmError,
    ImplausibleWarning,
    LargeDeflectionWarning,
    RotorWarning,
    StiffMotionWarning,
    UncertifiedError,
)
from jaxmodal.runtime.first_calls import listen
from jaxmodal.runtime.memory_maps import watch
from jaxmodal.runtime.pictures import enter_pictures
from jaxmodal.runtime.precision import X64DisabledError, require_x64
from jaxmodal.runtime.public_names import report_package
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.arms.checks import check_arm
from jaxmodal.spatial.arms.joint_frames import (
    DenavitHartenberg,
    JointOrigin,
    arm_from_denavit_hartenberg,
    arm_from_joint_origins,
)
from jaxmodal.spatial.arms.planar import to_spatial
from jaxmodal.spatial.arms.tabulated import tabulated
from jaxmodal.spatial.files import examples
from jaxmodal.spatial.files.arm_files import arm_from_dict, read_arm
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.geometry import Rotation
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.loads import SpatialLoads
from jaxmodal.spatial.parts.parameters import describe_address, unit_of_address
from jaxmodal.spatial.parts.sections import spatial_section
from jaxmodal.spatial.parts.springs import Spring, Support
from jaxmodal.spatial.robots.reading import read_urdf, urdf_report
from jaxmodal.spatial.robots.tables import UrdfReport
from jaxmodal.workspace.extremes import extremes
from jaxmodal.workspace.results import Extreme, Extremes, ShareBelow
from jaxmodal.workspace.shares import share_below

__version__ = "0.1.0"

__all__ = [
    "THEORIES",
    "Arm",
    "ArmCheck",
    "ArmError",
    "BoundedFrequencies",
    "Buckling",
    "Certificate",
    "CompilationError",
    "DampedModes",
    "DampedModesBatch",
    "DampedSensitivities",
    "DenavitHartenberg",
    "Extreme",
    "Extremes",
    "FrequencyResponse",
    "HarmonicResponse",
    "ImplausibleWarning",
    "InexactArithmeticError",
    "JointOrigin",
    "LargeDeflectionWarning",
    "Link",
    "Loads",
    "ModalQuantities",
    "ModalSuperposition",
    "ModeShapes",
    "ModesNeeded",
    "NaturalFrequencies",
    "Payload",
    "Port",
    "PostureSeries",
    "PosturesAt",
    "RandomResponse",
    "RepeatedFrequencyError",
    "ResonanceMap",
    "ResponsePeaks",
    "ResponseSensitivities",
    "Result",
    "RigidBody",
    "Rotation",
    "RotorWarning",
    "Sensitivities",
    "ShareBelow",
    "SpatialArm",
    "SpatialEquilibrium",
    "SpatialLink",
    "SpatialLoads",
    "SpatialModeShapes",
    "Spring",
    "StateSpace",
    "StaticCompliance",
    "StaticEquilibrium",
    "Status",
    "StiffMotionWarning",
    "Stresses",
    "Support",
    "TaperedFrequencies",
    "TimeResponse",
    "TruncationError",
    "UncertifiedError",
    "UrdfReport",
    "X64DisabledError",
    "arm_from_denavit_hartenberg",
    "arm_from_dict",
    "arm_from_joint_origins",
    "attach_body",
    "buckling",
    "certify",
    "characteristic_matrix",
    "check_arm",
    "circle",
    "count_below",
    "damped_modes",
    "damped_modes_batch",
    "damped_sensitivities",
    "describe_address",
    "determinant_scan",
    "directional_derivatives",
    "examples",
    "extremes",
    "frequencies_in_band",
    "frequency_response",
    "get_parameter",
    "harmonic_response",
    "hollow_circle",
    "hollow_rectangle",
    "list_addresses",
    "log_determinant",
    "modal_assurance",
    "modal_quantities_batch",
    "modal_superposition",
    "mode_shapes",
    "modes_needed",
    "natural_frequencies",
    "natural_frequencies_batch",
    "port_names",
    "posture_series",
    "postures_at",
    "preloaded",
    "preloaded_frequencies",
    "random_response",
    "raw_section",
    "read_arm",
    "read_urdf",
    "rectangle",
    "require_x64",
    "resolve_address",
    "resonance_free",
    "response_data",
    "response_peaks",
    "response_sensitivities",
    "sensitivities",
    "set_parameters",
    "share_below",
    "spatial_section",
    "state_space",
    "static_compliance",
    "static_equilibrium",
    "tabulated",
    "tapered",
    "tapered_frequencies",
    "time_response",
    "to_spatial",
    "truncation_error",
    "tune_cpu",
    "unit_of_address",
    "urdf_report",
    "use_compilation_cache",
    "write_arm",
    "write_universal_file",
]

report_package(globals())
enter_pictures(PICTURES)
listen()
watch()
