"""The reference cases of data/dynamics_cases.json as arms and models; the file says what its numbers mean."""

import functools
import json
from pathlib import Path

import numpy as np

import jaxmodal as jm
from jaxmodal.dynamics import EndBody, flexible_arm, link_shapes

CASES = {
    case["case"]: case
    for case in json.loads(
        (Path(__file__).parent.parent / "data" / "dynamics_cases.json").read_text(encoding="utf-8")
    )["cases"]
}
VARIANTS = {
    "full_linear": ("full", "linear", False),
    "first_linear": ("first", "linear", False),
    "full_rotation": ("full", "rotation", False),
}
MODULUS, AREA = 7e10, 1e-4


def uniform_link(length, bending, line_mass, **more):
    """A link by its bending stiffness EI and its mass per length."""
    section = jm.raw_section(area=AREA, second_moment=bending / MODULUS)
    return jm.Link(
        length=length, youngs_modulus=MODULUS, density=line_mass / AREA, section=section, **more
    )


def arm_of(case):
    """The arm of a case; lumped masses along its links become segments."""
    described = case["arm"]
    links = []
    for entry, joint in zip(described["links"], described["joints"], strict=True):
        more = {"hub_mass": joint["hub_mass_kg"], "hub_inertia": joint["hub_inertia_kg_m2"]}
        if joint["rotor_inertia_kg_m2"]:
            more |= {
                "rotor_inertia": joint["rotor_inertia_kg_m2"],
                "gear_ratio": joint["gear_ratio"],
                "motor": "held",
            }
        beam = uniform_link(
            entry["length_m"],
            entry["bending_stiffness_N_m2"],
            entry["mass_per_length_kg_per_m"],
            **more,
        )
        bodies = sorted(entry["lumped_masses"], key=lambda body: body["station_m"])
        at_end = [body for body in bodies if body["station_m"] == entry["length_m"]]
        for body in at_end:
            beam = beam.replace(tip_mass=body["mass_kg"], tip_inertia=body["inertia_kg_m2"])
        pieces = jm.Arm((beam,))
        passed = 0.0
        for body in bodies[: len(bodies) - len(at_end)]:
            pieces = jm.attach_body(
                pieces,
                pieces.num_links,
                body["station_m"] - passed,
                body["mass_kg"],
                body["inertia_kg_m2"],
            )
            passed = body["station_m"]
        links += pieces.links
    payload = described["payload"]
    return jm.Arm(tuple(links), jm.Payload(payload["mass_kg"], payload["inertia_kg_m2"]))


def shapes_of(case, modes=None):
    """The shapes of a case, by its own end bodies."""
    links = case["arm"]["links"]
    counts = [entry["number_of_modes"] for entry in links]
    families = {entry["shapes"].get("family", "clamped_mass") for entry in links}
    (family,) = families
    bodies = None
    if family == "clamped_mass":
        bodies = [
            EndBody(
                entry["shapes"].get("end_mass_kg", 0.0),
                entry["shapes"].get("end_inertia_kg_m2", 0.0),
                entry["shapes"].get("end_first_moment_kg_m", 0.0),
            )
            for entry in links
        ]
    return link_shapes(arm_of(case), modes or counts, family, bodies)


@functools.cache
def model_of(name, coordinates="tip_deflection"):
    """The model of a case, full, with rotation and without foreshortening; `posed` gives its other variants."""
    case = CASES[name]
    described = case["arm"]
    ratio = 0.0
    if "structural_damping" in described:  # D = 0.1 sqrt(K), with modal mass = link mass = 0.1
        ratio = 0.05 / np.sqrt(0.1)
    return flexible_arm(
        arm_of(case),
        shapes=shapes_of(case),
        coordinates=coordinates,
        gravity=described["gravity_m_per_s2"],
        kelvin_voigt_time=[entry["kelvin_voigt_time_s"] for entry in described["links"]],
        damping_ratio=ratio,
        viscous_friction=[joint["viscous_friction_N_m_s_per_rad"] for joint in described["joints"]],
        foreshortening=False,
    )


def vector_of(entry, angles, modal):
    """Generalised coordinates from the angles and the modal table of a case."""
    return np.concatenate([entry[angles], *list(entry[modal])]).astype(float)


def state_of(entry):
    """q and q' of an evaluation."""
    return (
        vector_of(entry, "joint_angles_rad", "modal_tip_deflections_m"),
        vector_of(entry, "joint_rates_rad_per_s", "modal_tip_deflection_rates_m_per_s"),
    )
