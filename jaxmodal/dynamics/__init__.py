"""Motion of arms with flexible links, in the plane and in space, by assumed modes."""

from jaxmodal.dynamics.assembly.flexible_arms import flexible_arm, link_shapes
from jaxmodal.dynamics.assembly.links import end_bodies
from jaxmodal.dynamics.drives.events import Event, JointLimits, SlopeLimit
from jaxmodal.dynamics.drives.motions import (
    Hold,
    Motion,
    RestToRest,
    Shaped,
    SineMotion,
    SpinUp,
    Stretched,
    TipCircle,
    TipLine,
    two_link_angles,
)
from jaxmodal.dynamics.drives.path_following import FollowedPath, follow_path
from jaxmodal.dynamics.drives.piecewise import (
    PiecewisePolynomial,
    cubic_spline,
    modal_s_curve,
    quintic_spline,
    s_curve,
    trapezoid,
)
from jaxmodal.dynamics.drives.shapers import band_shaper, shaper, share_left
from jaxmodal.dynamics.drives.tip_paths import CirclePath, LinePath
from jaxmodal.dynamics.drives.torques import (
    FeedForward,
    JointPD,
    Law,
    Limited,
    PiecewiseConstant,
    SampledTorque,
    SineTorque,
    Together,
    bang_bang,
)
from jaxmodal.dynamics.frequency_equation import EndBody
from jaxmodal.dynamics.integration.simulation import simulate
from jaxmodal.dynamics.integration.trajectories import Trajectory, trajectory
from jaxmodal.dynamics.linearisation import Linearisation, linearise, linearise_along
from jaxmodal.dynamics.mechanics.free_bases import base_pose
from jaxmodal.dynamics.mechanics.states import (
    bias,
    damping,
    energies,
    forward_dynamics,
    gravity,
    inertia_matrix,
    inverse_dynamics,
    link_positions,
    momenta,
    stiffness,
    tip_motion,
    tip_position,
    tip_rotation,
)
from jaxmodal.dynamics.mechanics.static_states import static_state
from jaxmodal.dynamics.model import FlexibleArm, FlexibleModel
from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.dynamics.turning import turning_frequencies
from jaxmodal.runtime.public_names import report_package

__all__ = [
    "CirclePath",
    "EndBody",
    "Event",
    "FeedForward",
    "FlexibleArm",
    "FlexibleModel",
    "FollowedPath",
    "Hold",
    "JointLimits",
    "JointPD",
    "Law",
    "Limited",
    "LinePath",
    "Linearisation",
    "Motion",
    "PiecewiseConstant",
    "PiecewisePolynomial",
    "RestToRest",
    "SampledTorque",
    "Shaped",
    "SineMotion",
    "SineTorque",
    "SlopeLimit",
    "SpatialFlexibleArm",
    "SpinUp",
    "Stretched",
    "TipCircle",
    "TipLine",
    "Together",
    "Trajectory",
    "band_shaper",
    "bang_bang",
    "base_pose",
    "bias",
    "cubic_spline",
    "damping",
    "end_bodies",
    "energies",
    "flexible_arm",
    "follow_path",
    "forward_dynamics",
    "gravity",
    "inertia_matrix",
    "inverse_dynamics",
    "linearise",
    "linearise_along",
    "link_positions",
    "link_shapes",
    "modal_s_curve",
    "momenta",
    "quintic_spline",
    "s_curve",
    "shaper",
    "share_left",
    "simulate",
    "static_state",
    "stiffness",
    "tip_motion",
    "tip_position",
    "tip_rotation",
    "trajectory",
    "trapezoid",
    "turning_frequencies",
    "two_link_angles",
]

report_package(globals())
