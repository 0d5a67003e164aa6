"""The reference cases of arms in space in motion, data/spatial_dynamics_cases.json, as arms and models."""

import copy
import functools
import json
import warnings
from pathlib import Path

import jax
import numpy as np

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm, inertia_matrix
from jaxmodal.dynamics.linearisation import Linearisation
from jaxmodal.dynamics.mechanics import equations, recursion_in_space
from jaxmodal.dynamics.mechanics.solves import solve_definite
from jaxmodal.runtime.errors import ImplausibleWarning

CASES = {
    case["id"]: case
    for case in json.loads(
        (Path(__file__).parent.parent / "data" / "spatial_dynamics_cases.json").read_text(
            encoding="utf-8"
        )
    )["cases"]
}
#: of the cases: those on a base that does not move
HELD = [name for name, case in CASES.items() if "base" not in case["arm"]]
_FAMILIES = {"monomial": "monomial", "clamped_free": "clamped_free", "fixed_free": "clamped_free"}


def arm_of(case):
    """The arm of a case; the rotors of springs stand at the motor."""
    links = []
    for entry in copy.deepcopy(case["arm"]["links"]):
        for name in ("shapes", "torsional_inertia"):
            entry.pop(name, None)
        for name in ("hub", "body"):
            entry[name]["inertia_check"] = (
                False  # of moments that no body has the case makes exact inputs
            )
        joint = entry["joint"]
        joint.pop("viscous_friction", None)
        if joint["stiffness"] is None:
            del joint["stiffness"]
        if joint.get("rotor_inertia") is not None:
            joint["motor"] = "held"
        links.append(entry)
    base = case["arm"].get("base")
    if (
        base is not None
    ):  # of the cases' base its body is seen from its point, of a stator from joint 1
        centre = np.subtract(base["body"]["centre"], base["joint_position"])
        links[0]["stator"] = {**base["body"], "centre": centre.tolist()}
    document = {"links": links, "name": case["id"]}
    if case["arm"].get("payload"):
        document["payload"] = case["arm"]["payload"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImplausibleWarning)
        return jm.arm_from_dict(document)


#: of sums of some hundred products in float64, over the largest entry
ROUNDING = 1e-14
#: Coriolis forces lose digits where parts of them cancel
CANCELLED = 5e-14


def relative(found, expected):
    """Largest difference over the largest entry."""
    scale = np.abs(np.asarray(expected)).max()
    return np.abs(np.asarray(found) - np.asarray(expected)).max() / (scale or 1.0)


@jax.jit
def all_terms(model, q, rate, torques, wrench=None):
    """Every term of the equations, and accelerations by the dense matrix and by the recursion, where it is known.

    ``wrench`` acts on a base that floats.
    """
    inertia = equations.inertia(model, q)
    right = equations.applied(model, torques) - equations.resistance(model, q, rate)
    right = right if wrench is None else right.at[-6:].add(wrench)
    dense = solve_definite(inertia, right)[0]
    known = model.frames == "rotation"
    return {
        "mass_matrix": inertia,
        "bias": equations.velocity_forces(model, q, rate),
        "gravity_vector": equations.weight(model, q),
        "energies": equations.energies(model, q, rate),
        "momenta": equations.momenta(model, q, rate) if model.floats else None,
        "tip_position": equations.tip(model, q),
        "tip_rotation": equations.tip_axes(model, q),
        "acceleration": dense,
        "recursion": recursion_in_space.solved(model, q, right)[0] if known else dense,
        "forces": equations.generalised_forces(model, q, rate, dense),
        "applied": equations.applied(model, torques),
    }


def locked_frequencies(model, places):
    """Frequencies of a clamped arm with its motors held, rad/s; without loads inertia and stiffness are all of it.

    A linearisation, which tells the same, takes five times as long to compile.
    """
    q = np.zeros(model.num_coordinates)
    q[: model.num_links], q[model.layout.driven] = places, places
    moving = np.setdiff1d(np.arange(q.size), model.layout.driven)
    mass, stiffness = (
        np.asarray(matrix)[np.ix_(moving, moving)]
        for matrix in (inertia_matrix(model, q), model.stiffness)
    )
    names = tuple(model.layout.names[k] for k in moving)
    inputs = np.zeros((moving.size, 0))
    return Linearisation(mass, 0.0 * mass, stiffness, inputs, names).natural_frequencies()


@functools.cache
def model_of(name):
    """The model of a case, posed as it says."""
    case = CASES[name]
    links, choices = case["arm"]["links"], dict(case["model"])
    modes = [{d: s["number"] for d, s in link["shapes"].items()} for link in links]
    families = [{d: _FAMILIES[s["family"]] for d, s in link["shapes"].items()} for link in links]
    inertias = [link.get("torsional_inertia") for link in links]
    base = case["arm"].get("base")
    floating = {} if base is None else {"base": "free", "joint_position": base["joint_position"]}
    return flexible_arm(
        arm_of(case),
        modes,
        shapes=families,
        coordinates="tip_deflection",
        gravity=case["arm"]["gravity"],
        viscous_friction=[link["joint"].get("viscous_friction", 0.0) for link in links],
        frames=choices["frames"],
        foreshortening=choices["foreshortening"],
        second_order=choices.get("second_order", False),
        rotor_motion=choices["rotor"],
        torsion_spin=choices["torsion_spin"],
        torsional_inertia=inertias,
        **floating,
    )
