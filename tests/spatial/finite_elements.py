"""An independent p-version finite-element model of an arm in space, in NumPy alone.

It shares nothing with the engine: no wave numbers, no stiffness of a member, no function of frequency. As in the planar
`tests.support.finite_elements` the *strains* of each link are expanded in Legendre polynomials,

    stretch u' = e,  twist phi_x' = t,  curvatures phi_z' = k and phi_y' = c,
    shear strains v' - phi_z = g and w' + phi_y = h,

and to them come the gives of all springs. A clamped chain is statically determinate, so these are free of constraints,
and all motions follow by integration from the base outwards. The strain energy is diagonal; scaled to the identity,
the model is one matrix B with kinetic energy omega^2 |B q|^2/2, whose singular values are 1/omega. A coordinate without
stiffness (a free hinge) is eliminated by the projection that minimises the kinetic energy.

Arms are the plain tables of the reference cases.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial import legendre


def turn(axis, angle):
    """Rotation about an axis, by Rodrigues' formula."""
    n = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


def moved(motion, offset):
    """The motion (6, q) of a point seen from another at ``offset``: u + phi x r."""
    result = motion.copy()
    result[:3] += np.cross(motion[3:], np.asarray(offset, float), axisa=0, axisb=0, axisc=0)
    return result


def body_rows(motion, body):
    """Rows whose squares sum up to twice the kinetic energy of a body over omega^2."""
    if body is None or (body["mass"] == 0.0 and not np.any(body["inertia"])):
        return np.zeros((0, motion.shape[1]))
    centre = moved(motion, body.get("centre", [0.0, 0.0, 0.0]))
    values, vectors = np.linalg.eigh(np.array(body["inertia"], float))
    spin = np.sqrt(np.maximum(values, 0.0))[:, None] * (vectors.T @ centre[3:])
    return np.vstack([np.sqrt(body["mass"]) * centre[:3], spin])


@cache
def tables(degree):
    """Gauss points and weights, and, there and at 1, the first and second integrals of the Legendre polynomials."""
    points, weights = legendre.leggauss(degree + 4)
    points, once, twice = np.append(points, 1.0), [], []
    for row in np.eye(degree + 1):
        first = legendre.legint(row, lbnd=-1)
        once.append(legendre.legval(points, first))
        twice.append(legendre.legval(points, legendre.legint(first, lbnd=-1)))
    return weights, points, np.array(once).T, np.array(twice).T


class Chain:
    """Coordinates are counted first, then motions are laid out over all of them."""

    def __init__(self, entry, theory, degree):
        self.entry, self.theory, self.degree = entry, theory, degree
        self.strains = {"timoshenko": "etkcgh", "bending_only": "tkc"}.get(theory, "etkc")
        self.rotary = theory in ("timoshenko", "rayleigh")
        self.size = 0
        self.free = []
        self.places = []
        self.along = []
        self.base = None
        if entry.get("base_stiffness") is not None:
            self.base = slice(0, 6)
            self.size = 6
        for link in entry["links"]:
            place = {}
            joint = link["joint"]
            for number, spring in enumerate(joint["springs"]):
                place[number] = self.coordinate(spring["stiffness"])
            if joint["stiffness"] is not None:
                place["axis"] = self.coordinate(joint["stiffness"])
            if not link.get("rigid"):
                for strain in self.strains:
                    place[strain] = slice(self.size, self.size + degree + 1)
                    self.size += degree + 1
            self.places.append(place)

    def coordinate(self, stiffness):
        self.size += 1
        if stiffness == 0.0:
            self.free.append(self.size - 1)
        return self.size - 1

    def rows(self):
        """B, scaled so that the strain energy is |q|^2/2 in all coordinates but the free ones."""
        motion, blocks = np.zeros((6, self.size)), []
        if self.base is not None:
            factor = np.linalg.cholesky(np.array(self.entry["base_stiffness"], float))
            motion[:, self.base] = np.linalg.inv(factor).T
        for link, place in zip(self.entry["links"], self.places, strict=True):
            motion = self.joint(link, place, motion, blocks)
            motion = moved(motion, link.get("base_offset", [0, 0, 0]))
            motion = self.beam(link, place, motion, blocks)
            motion = moved(motion, link.get("end_offset", [0, 0, 0]))
            blocks.append(body_rows(motion, link.get("body")))
        blocks.append(body_rows(motion, self.entry.get("payload")))
        return np.vstack(blocks)

    def joint(self, link, place, before, blocks):
        joint = link["joint"]
        rotation = turn(joint["axis"], joint["angle"])
        for part in joint["frame"]:
            rotation = rotation @ turn(part["axis"], part["angle"])
        motion = np.vstack([rotation.T @ before[:3], rotation.T @ before[3:]])
        axis = np.asarray(joint["axis"], float) / np.linalg.norm(joint["axis"])
        own = rotation.T @ axis
        about = np.zeros(self.size)
        for number, spring in enumerate(joint["springs"]):
            direction = np.asarray(spring["direction"], float)
            scale = 1.0 / np.sqrt(spring["stiffness"] or 1.0)
            rows = slice(0, 3) if spring["kind"] == "translation" else slice(3, 6)
            motion[rows, place[number]] += scale * direction / np.linalg.norm(direction)
        if joint["stiffness"] is not None:
            scale = 1.0 / np.sqrt(joint["stiffness"] or 1.0)
            motion[3:, place["axis"]] += scale * own
            about[place["axis"]] = scale
        if joint.get("rotor_inertia"):
            turns = 0.0 if joint["motor"] == "held" else joint["gear_ratio"]
            spin = axis @ before[3:] + turns * about
            blocks.append(np.sqrt(joint["rotor_inertia"]) * spin[None])
        blocks.append(body_rows(motion, link.get("hub")))
        return motion

    def beam(self, link, place, start, blocks):
        half, weights = 0.5 * link["length"], tables(self.degree)[0]
        motions = [self.at(link, place, start, number) for number in range(len(weights) + 1)]
        self.along.append(np.stack(motions))
        polar = link["second_moment_y"] + link["second_moment_z"]
        per_length = link["density"] * link["area"] + link.get("nonstructural_mass", 0.0)
        inertia = link["density"] * np.array(
            [polar, self.rotary * link["second_moment_y"], self.rotary * link["second_moment_z"]]
        )
        factors = np.sqrt(np.array([per_length] * 3 + [*inertia]))
        for motion, weight in zip(motions, weights * half, strict=False):
            blocks.append(np.sqrt(weight) * factors[:, None] * motion)
        return motions[-1]

    def at(self, link, place, start, number):
        """Motion of the section at a point of `tables`."""
        _, points, once, twice = tables(self.degree)
        half, once, twice = 0.5 * link["length"], once[number], twice[number]
        motion = moved(start, [half * (1.0 + points[number]), 0.0, 0.0])
        if link.get("rigid"):
            return motion
        modulus, shear, area = link["youngs_modulus"], link["shear_modulus"], link["area"]
        norms = (
            half * 2.0 / (2.0 * np.arange(self.degree + 1) + 1.0)
        )  # integral of P_n^2 over the length

        def added(row, strain, stiffness, values):
            if strain in self.strains:
                motion[row, place[strain]] += values / np.sqrt(stiffness * norms)

        bending_z, bending_y = modulus * link["second_moment_z"], modulus * link["second_moment_y"]
        added(0, "e", modulus * area, half * once)
        added(3, "t", shear * link["torsion_constant"], half * once)
        added(5, "k", bending_z, half * once)
        added(1, "k", bending_z, half * half * twice)
        added(4, "c", bending_y, half * once)
        added(2, "c", bending_y, -half * half * twice)
        added(1, "g", link["shear_coefficient_y"] * shear * area, half * once)
        added(2, "h", link["shear_coefficient_z"] * shear * area, half * once)
        return motion


def frequencies(entry, theory, degree=20):
    """Natural frequencies in rad/s, ascending, those of free hinges (zero) first; from above."""
    chain = Chain(entry, theory, degree)
    rows = chain.rows()
    elastic = np.delete(rows, chain.free, axis=1)
    if chain.free:
        q, _ = np.linalg.qr(rows[:, chain.free])
        elastic = elastic - q @ (q.T @ elastic)
    values = np.linalg.svd(elastic, compute_uv=False)
    return np.concatenate([np.zeros(len(chain.free)), 1.0 / values[values > 0.0]])


def mode_motions(entry, theory, degree, modes):
    """The lowest modes of an arm without free hinges, of unit modal mass, up to their signs.

    Motions (u, v, w, phi_x, phi_y, phi_z) in the links' axes at the points of `tables`, shape (modes, n, points, 6).
    """
    chain = Chain(entry, theory, degree)
    assert not chain.free
    _, values, coordinates = np.linalg.svd(chain.rows(), full_matrices=False)
    coordinates = coordinates[:modes] / values[:modes, None]
    return np.einsum("npfq,mq->mnpf", np.stack(chain.along), coordinates)
