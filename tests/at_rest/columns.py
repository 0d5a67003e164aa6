"""Columns on all kinds of supports, and what presses them."""

import numpy as np

import jaxmodal as jm

INF = np.inf
EB = "euler_bernoulli"
BEAM = jm.Link(1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0))
SUPPORTS = {
    "clamped-free": {},
    "pinned-pinned": {"joint_stiffness": 0.0, "support_y_stiffness": INF},
    "clamped-pinned": {"support_y_stiffness": INF},
    "pinned-clamped": {
        "joint_stiffness": 0.0, "support_y_stiffness": INF, "support_torsional_stiffness": INF
    },
    "clamped-clamped": {"support_y_stiffness": INF, "support_torsional_stiffness": INF},
}  # fmt: skip
PUSH = {"tip_force": (-1.0, 0.0)}
WEIGHT = {"gravity": (-1.0, 0.0)}


def column(name, **changes):
    return jm.Arm((BEAM.replace(**SUPPORTS[name], **changes),))


def close(found, truth, tolerance):
    assert np.all(np.abs(np.asarray(found) / truth - 1.0) <= tolerance), (found, truth)
