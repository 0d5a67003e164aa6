"""Random arms in space as the plain tables of the reference cases."""

import numpy as np

THEORIES = ("timoshenko", "rayleigh", "euler_bernoulli", "bending_only")


def random_direction(rng):
    vector = rng.normal(size=3)
    return [float(x) for x in vector / np.linalg.norm(vector)]


def random_body(rng, mass, size):
    """A body whose tensor is that of points, so that it is the tensor of a body."""
    points = rng.normal(size=(6, 3)) * size
    points -= points.mean(axis=0)
    share = mass / len(points)
    tensor = share * sum(np.dot(r, r) * np.eye(3) - np.outer(r, r) for r in points)
    tensor = 0.5 * (tensor + tensor.T)
    centre = [float(x) for x in rng.normal(size=3) * size]
    return {"mass": float(mass), "centre": centre, "inertia": tensor.tolist()}


def random_link(rng, stocky):
    width, depth = rng.uniform(0.01, 0.05, size=2)
    length = float(rng.uniform(0.15, 0.4) if stocky else rng.uniform(0.4, 1.2))
    second_y, second_z = depth * width**3 / 12.0, width * depth**3 / 12.0
    joint = {
        "axis": random_direction(rng),
        "angle": float(rng.uniform(-3.0, 3.0)),
        "frame": [{"axis": random_direction(rng), "angle": float(rng.uniform(-1.0, 1.0))}],
        "stiffness": None,
        "springs": [],
    }
    if rng.random() < 0.6:
        joint["stiffness"] = float(10.0 ** rng.uniform(3.0, 6.0))
        if rng.random() < 0.5:
            joint |= {"rotor_inertia": float(10.0 ** rng.uniform(-5, -3)), "gear_ratio": -60.0}
            joint["motor"] = "beyond_spring"
    if rng.random() < 0.4:
        joint["springs"] = [
            {"kind": kind, "direction": random_direction(rng), "stiffness": float(10.0**power)}
            for kind, power in (("translation", rng.uniform(6, 8)), ("rotation", rng.uniform(3, 6)))
        ]
    return {
        "length": length,
        "youngs_modulus": 7e10,
        "shear_modulus": 2.6e10,
        "density": 2700.0,
        "area": float(width * depth),
        "second_moment_y": float(second_y),
        "second_moment_z": float(second_z),
        "torsion_constant": float(0.7 * (second_y + second_z)),
        "shear_coefficient_y": 0.85,
        "shear_coefficient_z": float(rng.uniform(0.4, 0.9)),
        "nonstructural_mass": float(rng.choice([0.0, 0.5])),
        "rigid": bool(rng.random() < 0.1),
        "joint": joint,
        "base_offset": [float(x) for x in rng.normal(size=3) * 0.03],
        "end_offset": [float(x) for x in rng.normal(size=3) * 0.03],
        "hub": random_body(rng, rng.uniform(0.05, 1.0), 0.03) if rng.random() < 0.4 else None,
        "body": random_body(rng, rng.uniform(0.1, 2.0), 0.05) if rng.random() < 0.6 else None,
    }


def random_arm(seed, most_links=4):
    """The tables of an arm, and a theory, of a seed; at least one link is flexible."""
    rng = np.random.default_rng([seed, 2020])
    links = [random_link(rng, rng.random() < 0.3) for _ in range(rng.integers(1, most_links + 1))]
    links[-1]["rigid"] = False
    payload = random_body(rng, rng.uniform(0.1, 3.0), 0.05) if rng.random() < 0.7 else None
    return {"links": links, "payload": payload}, THEORIES[rng.integers(4)]
