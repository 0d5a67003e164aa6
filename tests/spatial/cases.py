"""The reference cases of arms in space, read key by key, and small arms for tests."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import jaxmodal as jm

DATA = Path(__file__).parent.parent / "data" / "spatial_cases.json"


@dataclass(frozen=True)
class Reference:
    name: str
    theory: str
    document: dict
    omega: np.ndarray
    multiplicities: np.ndarray
    entry: dict

    @property
    def arm(self):
        return jm.arm_from_dict(self.document)


@cache
def references():
    """All cases by name; what coincides to 1e-12 counts as one frequency, as a double-precision code sees it."""
    found = {}
    for entry in json.loads(DATA.read_text())["cases"]:
        omega = np.array([float(text) for text in entry["omega_rad_per_s"]])
        numbers = [cluster["number"] for cluster in entry["clusters_within_1e_12"]]
        for link in entry["links"]:
            if (
                link["joint"].get("rotor_inertia") is not None
            ):  # the rotors of these cases turn with the joint
                link["joint"]["motor"] = "beyond_spring"
        document = {key: entry[key] for key in ("links", "payload")} | {"name": entry["id"]}
        multiplicities = np.repeat(numbers, numbers)[: len(omega)]
        found[entry["id"]] = Reference(
            entry["id"], entry["theory"], document, omega, multiplicities, entry
        )
    return found


def tube(**changes):
    """A link of round tube with a shear coefficient in every direction."""
    section = jm.hollow_circle(0.08, 0.004, "cowper")
    values = {"length": 0.6, "youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33}
    return jm.SpatialLink(**values | {"section": section} | changes)


def bar(**changes):
    """A link of flat bar: both bending planes differ."""
    return tube(**{"section": jm.rectangle(0.03, 0.012, "cowper")} | changes)


def standing_arm():
    """The bent arm on a base that gives way in all directions, each with all others."""
    rng = np.random.default_rng(5)
    scales = np.array([3e6, 2e6, 5e6, 4e4, 6e4, 3e4]) ** 0.5
    matrix = np.eye(6) + 0.08 * rng.normal(size=(6, 6))
    stiffness = scales[:, None] * (matrix @ matrix.T) * scales
    return bent_arm().replace(base_stiffness=0.5 * (stiffness + stiffness.T))


def bent_arm():
    """Three links, none in the plane of another, with every kind of part."""
    body = jm.RigidBody(
        0.7, (0.01, -0.02, 0.03), [[4e-3, 5e-4, 0], [5e-4, 6e-3, -3e-4], [0, -3e-4, 5e-3]]
    )
    hub = jm.RigidBody(0.4, (0.0, 0.01, 0.0), (1e-3, 2e-3, 2e-3))
    return jm.SpatialArm(
        (
            bar(length=0.7, body=body, joint_stiffness=4e4),
            tube(
                joint_angle=0.9,
                joint_axis=(0.2, 1.0, -0.4),
                joint_stiffness=9e3,
                joint_springs=(
                    jm.Spring("translation", (1.0, 0.0, 0.0), 4e7),
                    jm.Spring("rotation", (0.0, 0.6, 0.8), 2e4),
                ),
                rotor_inertia=2e-4,
                gear_ratio=-40.0,
                motor="beyond_spring",
                hub=hub,
                stator=hub,
                base_offset=(0.02, 0.05, 0.0),
                end_offset=(0.03, 0.0, -0.06),
            ),
            bar(
                length=0.4,
                joint_angle=-1.1,
                joint_frame=(jm.Rotation((1.0, 0.0, 0.0), 0.6),),
                section_roll=0.35,
                nonstructural_mass=0.3,
            ),
        ),
        payload=jm.RigidBody(1.5, (0.05, 0.02, -0.01), (6e-3, 8e-3, 7e-3)),
        name="bent",
    )
