"""Planar arms with flexible links in motion, by assumed modes: equations of motion and simulation."""

from jaxmodal.dynamics.assembly import flexible_arm, link_shapes
from jaxmodal.dynamics.frequency_equation import EndBody
from jaxmodal.dynamics.links import end_bodies
from jaxmodal.dynamics.model import FlexibleArm
from jaxmodal.dynamics.states import (
    bias,
    damping,
    energies,
    forward_dynamics,
    gravity,
    inertia_matrix,
    inverse_dynamics,
    stiffness,
    tip_motion,
    tip_position,
)

__all__ = [
    "EndBody",
    "FlexibleArm",
    "bias",
    "damping",
    "end_bodies",
    "energies",
    "flexible_arm",
    "forward_dynamics",
    "gravity",
    "inertia_matrix",
    "inverse_dynamics",
    "link_shapes",
    "stiffness",
    "tip_motion",
    "tip_position",
]
