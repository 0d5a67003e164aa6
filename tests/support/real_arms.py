"""Random arms with every feature: joints, hubs, rotors, bodies off the axis, offsets, rigid links.

The structure of an arm (which features it has at all) decides what is compiled, so there are a few structures
and many values.
"""

import numpy as np

import jaxmodal as jm

#: the features of each link and of the payload, by name of the structure
STRUCTURES = {
    "springs": "springs",
    "hubs": "hub stator",
    "rotors": "rotor stator",
    "offsets": "offset",
    "bodies": "centre line",
    "rigid": "rigid offset",
    "everything": "springs hub stator rotor offset centre line rigid hinge",
}
NUM_LINKS = 3


def random_arm(seed, structure):
    """Three links: L/h from 5 to 200; springs over 9 decades; a value of a feature is nothing one time in four."""
    rng = np.random.default_rng(seed)
    features = STRUCTURES[structure].split()
    links = [_link(rng, features, k) for k in range(NUM_LINKS)]
    payload = {"mass": _log(rng, 1e-2, 10.0), "inertia": _log(rng, 1e-5, 1e-1)}
    if "centre" in features:
        payload |= {"centre_x": rng.uniform(-0.3, 0.3), "centre_y": rng.uniform(-0.3, 0.3)}
    return jm.Arm(tuple(links), jm.Payload(**payload), name=f"{structure} {seed}")


def _log(rng, low, high):
    return float(10 ** rng.uniform(np.log10(low), np.log10(high)))


def _maybe(rng, value, nothing=0.0):
    return nothing if rng.random() < 0.25 else value


def _link(rng, features, number):
    length, width, young = _log(rng, 0.2, 1.5), _log(rng, 0.01, 0.1), _log(rng, 1e10, 2e11)
    depth = length / _log(rng, 5, 200)
    stiffness = young * width * depth**3 / (12 * length)
    mass = 2700.0 * width * depth * length
    values = {
        "joint_angle": rng.uniform(-np.pi, np.pi) if number else 0.0,
        "joint_stiffness": _maybe(rng, stiffness * _log(rng, 1e-4, 1e5), np.inf),
        "tip_mass": _maybe(rng, mass * _log(rng, 1e-2, 1e2)),
        "tip_inertia": _maybe(rng, mass * length**2 * _log(rng, 1e-4, 1.0)),
    }
    if "hinge" in features and rng.random() < 0.3:
        values["joint_stiffness"] = 0.0
    if "springs" in features:
        across = stiffness / length**2
        values["joint_axial_stiffness"] = _maybe(rng, across * _log(rng, 1e-2, 1e6), np.inf)
        values["joint_shear_stiffness"] = _maybe(rng, across * _log(rng, 1e-2, 1e6), np.inf)
    for name in ("hub", "stator"):
        if name in features:
            values[f"{name}_mass"] = _maybe(rng, mass * _log(rng, 1e-2, 1e2))
            values[f"{name}_inertia"] = _maybe(rng, mass * length**2 * _log(rng, 1e-4, 1.0))
    if "rotor" in features:
        values["rotor_inertia"] = _maybe(rng, mass * length**2 * _log(rng, 1e-6, 1e-1))
        values["gear_ratio"] = float(rng.choice([1.0, -1.0, 0.5, -60.0, 30.0, 160.0]))
        values["motor"] = "beyond_spring"
    if "offset" in features:
        for name in ("base_offset_x", "base_offset_y", "end_offset_x", "end_offset_y"):
            values[name] = _maybe(rng, length * rng.uniform(-0.3, 0.3))
    if "centre" in features:
        values["tip_centre_x"] = _maybe(rng, length * rng.uniform(-0.3, 0.3))
        values["tip_centre_y"] = _maybe(rng, length * rng.uniform(-0.3, 0.3))
    if "line" in features:
        values["nonstructural_mass"] = _maybe(rng, mass / length * _log(rng, 1e-2, 1e1))
    return jm.Link(
        length,
        young,
        2700.0,
        jm.rectangle(depth, width, 0.85),
        poisson_ratio=0.3,
        rigid="rigid" in features and number == 1,
        **values,
    )


VALUES = {
    "joint_stiffness": 2e3, "joint_axial_stiffness": 3e5, "joint_shear_stiffness": 1e5,
    "hub_mass": 0.7, "hub_inertia": 0.02, "stator_mass": 1.3, "stator_inertia": 0.01,
    "rotor_inertia": 2e-5, "gear_ratio": 60.0, "motor": "beyond_spring", "base_offset_x": 0.04, "base_offset_y": 0.06,
    "end_offset_x": 0.05, "end_offset_y": -0.07, "tip_centre_x": 0.03, "tip_centre_y": 0.05,
    "nonstructural_mass": 1.5, "tip_mass": 2.0, "tip_inertia": 0.02,
}  # fmt: skip


def steel(**changes):
    values = {"length": 0.5, "youngs_modulus": 2e11, "density": 7800.0, "poisson_ratio": 0.3}
    return jm.Link(section=jm.rectangle(0.02, 0.04, 0.85), **values | changes)


def two(first, second=None, **payload):
    second = steel(joint_angle=0.6, tip_mass=0.5) if second is None else second
    return jm.Arm((first, second), jm.Payload(**payload))


def relative(found, truth):
    """Errors relative to the truth; where that is zero the value itself."""
    return np.abs(np.asarray(found) - truth) / np.where(truth == 0.0, 1.0, truth)
