"""Planar arms with flexible links in motion, by assumed modes: equations of motion and simulation."""

from jaxmodal.dynamics.assembly import flexible_arm, link_shapes
from jaxmodal.dynamics.events import Event, JointLimits, SlopeLimit
from jaxmodal.dynamics.frequency_equation import EndBody
from jaxmodal.dynamics.linearisation import Linearisation, linearise, linearise_along
from jaxmodal.dynamics.links import end_bodies
from jaxmodal.dynamics.model import FlexibleArm
from jaxmodal.dynamics.motions import (
    Hold,
    Motion,
    RestToRest,
    Shaped,
    SineMotion,
    SpinUp,
    TipCircle,
    TipLine,
    shaper,
    two_link_angles,
)
from jaxmodal.dynamics.simulation import simulate
from jaxmodal.dynamics.states import (
    bias,
    damping,
    energies,
    forward_dynamics,
    gravity,
    inertia_matrix,
    inverse_dynamics,
    link_positions,
    stiffness,
    tip_motion,
    tip_position,
)
from jaxmodal.dynamics.static_states import static_state
from jaxmodal.dynamics.torques import (
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
from jaxmodal.dynamics.trajectories import Trajectory, trajectory
from jaxmodal.runtime.public_names import report_package

__all__ = [
    "EndBody",
    "Event",
    "FeedForward",
    "FlexibleArm",
    "Hold",
    "JointLimits",
    "JointPD",
    "Law",
    "Limited",
    "Linearisation",
    "Motion",
    "PiecewiseConstant",
    "RestToRest",
    "SampledTorque",
    "Shaped",
    "SineMotion",
    "SineTorque",
    "SlopeLimit",
    "SpinUp",
    "TipCircle",
    "TipLine",
    "Together",
    "Trajectory",
    "bang_bang",
    "bias",
    "damping",
    "end_bodies",
    "energies",
    "flexible_arm",
    "forward_dynamics",
    "gravity",
    "inertia_matrix",
    "inverse_dynamics",
    "linearise",
    "linearise_along",
    "link_positions",
    "link_shapes",
    "shaper",
    "simulate",
    "static_state",
    "stiffness",
    "tip_motion",
    "tip_position",
    "trajectory",
    "two_link_angles",
]

report_package(globals())
