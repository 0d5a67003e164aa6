"""Damped arms and their ports for the exact chain."""

import numpy as np

import jaxmodal as jm
from jaxmodal.response.driven.ports import port, port_row


def target(arm, name):
    """A port as `exact_chain.Chain` takes it."""
    found = port(name, arm)
    if found.place == "base":
        row = port_row(jm.Port("joint", found.direction, 1), arm).row
        return ("base", None, None, [float(x) for x in row])
    link, place, station, row = port_row(found, arm)
    if found.direction == "relative_rotation":
        place = "relative"
    return (place, link, station if place == "link" else None, [float(x) for x in row])


def with_damping(arm, seed):
    """Loss factors to 10 %, Kelvin-Voigt times to 0.1 ms, dampers of 1e-5 to 1e-2 s of their springs."""
    rng = np.random.default_rng(seed)
    links = []
    for link in arm.links:
        values = {
            "loss_factor": rng.uniform(0, 0.1),
            "kelvin_voigt_time": 10 ** rng.uniform(-6, -4),
        }
        for kind in ("", "_axial", "_shear"):
            spring = getattr(link, f"joint{kind}_stiffness")
            if spring is not None and np.isfinite(spring):
                values[f"joint{kind}_damping"] = float(spring or 1.0) * 10 ** rng.uniform(-5, -2)
        links.append(link.replace(**values))
    return arm.replace(links=tuple(links))


def bent(**changes):
    """Two stout aluminium links with a right angle between them."""
    link = jm.Link(0.8, 7e10, 2700.0, jm.rectangle(0.03, 0.05, 0.85), poisson_ratio=0.3)
    second = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.02, 0.05, 0.85), poisson_ratio=0.3)
    return jm.Arm((link, second.replace(**({"joint_angle": 1.1} | changes))))
