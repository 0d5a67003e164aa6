"""Finite elements of arms in space at rest under loads: how they bend, and their geometric stiffness.

To the elements of `tests.spatial.finite_elements` come loads and, at Gauss's points, the energy of second order that
the forces at rest have in motions of members, as `jaxmodal.spatial.preload.members` states it; of rigid parts it is
that of forces on points that turn.
"""

import numpy as np
import scipy.linalg
from numpy.polynomial import legendre

import jaxmodal as jm
from tests.spatial.finite_elements import Chain, moved, tables
from tests.spatial.random_arms import random_arm


def held_arm(seed):
    """A random arm whose free hinges have springs, as plain tables, its theory, gravity, and a load at its tip."""
    document, theory = random_arm(seed)
    for link in document["links"]:
        joint = link["joint"]
        joint["stiffness"] = 700.0 if joint["stiffness"] == 0.0 else joint["stiffness"]
        for spring in joint["springs"]:
            spring["stiffness"] = spring["stiffness"] or 900.0
    rng = np.random.default_rng(seed)
    document["base_stiffness"] = (np.diag(10 ** rng.uniform(4, 7, 6))).tolist()
    return document, theory, rng.normal(size=3) * 0.1, rng.normal(size=6) * 0.2


def hung(rotation, force, place):
    """The stiffness of a force at ``place`` from where a rigid part turns, over rotations (3, q)."""
    outer = np.outer(force, place)
    return rotation.T @ (force @ place * np.eye(3) - 0.5 * (outer + outer.T)) @ rotation


def cross(vector):
    return np.array(
        [[0, -vector[2], vector[1]], [vector[2], 0, -vector[0]], [-vector[1], vector[0], 0]]
    )


class LoadedChain(Chain):
    """Elements with what turns and gives at each joint, and the axes of the links."""

    def __init__(self, entry, theory, degree):
        super().__init__(entry, theory, degree)
        self.turns, self.before, self.beyond = [], [], []
        self.inertia = self.rows()
        self.stiffness = np.eye(self.size)

    def reduced(self, matrix):
        """A matrix over the coordinates that are free."""
        return matrix

    def unit(self):
        return np.linalg.cholesky(np.array(self.entry["base_stiffness"], float)).T

    def joint(self, link, place, before, blocks):
        motion = super().joint(link, place, before, blocks)
        # rotations of the ground in the axes of the link: columns of its own axes
        turn = (motion[3:, self.base] @ self.unit())[:, 3:].T
        last = self.turns[-1] if self.turns else np.eye(3)
        rotation = last.T @ turn
        self.turns.append(turn)
        self.before.append(np.vstack([rotation.T @ before[:3], rotation.T @ before[3:]]))
        self.beyond.append(motion)
        return motion

    def tips(self, number):
        offset = self.entry["links"][number].get("end_offset", [0, 0, 0])
        return moved(self.along[number][-1], offset)

    def at_rest(self, gravity, tip):
        """Coordinates, all of stiffness 1, under gravity and a load at the tip."""
        translations = (self.inertia[:, self.base] @ self.unit())[:, :3]
        force = self.inertia.T @ (translations @ gravity)
        turn = self.turns[-1]
        load = np.concatenate([turn.T @ tip[:3], turn.T @ tip[3:]])
        return force + self.tips(-1).T @ load

    def geometric(self, rest, gravity):
        """Of the forces at rest that `static_equilibrium` gives at the nodes, whose stations are all of them."""
        found = np.zeros((self.size, self.size))
        links = self.entry["links"]
        for i, link in enumerate(links):
            force, moment = rest.joint_force[i], rest.joint_moment[i]
            before, gap = self.before[i], self.beyond[i] - self.before[i]
            for coupling, part in ((cross(force), gap[:3]), (0.5 * cross(moment), gap[3:])):
                own = before[3:].T @ coupling @ part
                found += own + own.T
            down = self.turns[i].T @ gravity
            turned = self.beyond[i][3:]
            hub = link.get("hub")
            if hub is not None:
                found += hung(turned, hub["mass"] * down, np.array(hub["centre"], float))
                force = force - hub["mass"] * down
            found += hung(turned, force, np.array(link.get("base_offset", [0, 0, 0]), float))
            per_length = link["density"] * link["area"] + link.get("nonstructural_mass", 0.0)
            weight = per_length * link["length"] * down
            end = force - weight
            if link.get("rigid"):
                along = np.array([link["length"], 0.0, 0.0])
                found += hung(turned, end, along) + hung(turned, weight, 0.5 * along)
            else:
                found += self.member(i, rest.section_forces[i])
            turned = self.tips(i)[3:]
            found += hung(turned, end, np.array(link.get("end_offset", [0, 0, 0]), float))
            bodies = [link.get("body")] + [self.entry.get("payload")] * (i == len(links) - 1)
            for body in bodies:
                if body is not None:
                    found += hung(turned, body["mass"] * down, np.array(body["centre"], float))
        return found

    def member(self, number, forces):
        link, place = self.entry["links"][number], self.places[number]
        half, (weights, points, _, _) = 0.5 * link["length"], tables(self.degree)
        norms = half * 2.0 / (2.0 * np.arange(self.degree + 1) + 1.0)
        values = legendre.legvander(points, self.degree)
        modulus, shear = link["youngs_modulus"], link["shear_modulus"] * link["area"]

        def strain(name, stiffness):
            rows = np.zeros((points.size, self.size))
            if name in self.strains:
                rows[:, place[name]] = values / np.sqrt(stiffness * norms)
            return rows

        twist = strain("t", link["shear_modulus"] * link["torsion_constant"])
        bent_y = strain("c", modulus * link["second_moment_y"])
        bent_z = strain("k", modulus * link["second_moment_z"])
        sheared_y = strain("g", shear * link["shear_coefficient_y"])
        sheared_z = strain("h", shear * link["shear_coefficient_z"])
        gyration = (link["second_moment_y"] + link["second_moment_z"]) / link["area"]
        found = np.zeros((self.size, self.size))
        for k, weight in enumerate(half * weights):
            n, v_y, v_z, *moment = forces[k]
            x, y, z = turn = self.along[number][k][3:]
            slopes = z + sheared_y[k], -y + sheared_z[k]
            own = n * sum(np.outer(slope, slope) for slope in slopes)
            own += n * gyration * np.outer(twist[k], twist[k])
            curved = turn.T @ cross(np.array(moment)) @ np.stack([twist[k], bent_y[k], bent_z[k]])
            mixed = np.outer(x, v_y * y + v_z * z)
            # forces that keep their directions, on shear strains that turn with the section
            mixed -= 2.0 * np.outer(x, v_y * sheared_z[k] - v_z * sheared_y[k])
            # -m . (phi x phi')/2 is phi . (m x phi')/2
            own += 0.5 * (curved + curved.T) - 0.5 * (mixed + mixed.T)
            found += weight * own
        return found


def buckling_factors(geometric, stiffness):
    """All real factors at which ``stiffness + factor * geometric`` is singular, ascending by size."""
    values = scipy.linalg.eigh(geometric, stiffness, eigvals_only=True)
    values = values[np.abs(values) > 1e-9 * np.abs(values).max()]
    return np.array(sorted(-1.0 / values, key=abs))


def loads(gravity, tip, factor=1.0):
    """Gravity and a load at the tip as functions of arms at rest take them."""
    parts = (gravity, tip[:3], tip[3:])
    names = ("gravity", "tip_force", "tip_moment")
    return dict(zip(names, (factor * np.asarray(x) for x in parts), strict=True))


def require_same_motions(found, chain, coordinates, tolerance):
    """Displacements and rotations at all nodes, to a share of the largest of each link."""
    for i, turn in enumerate(chain.turns):
        motions = chain.along[i] @ coordinates
        expected = np.hstack([motions[:, :3] @ turn.T, motions[:, 3:] @ turn.T])
        own = np.hstack([found.displacement[i], found.rotation[i]])
        np.testing.assert_allclose(own, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def require_same_factors_and_frequencies(arm, chain, theory, gravity, tip, tolerance):
    """Buckling factors of both signs, and frequencies at a third of the first, between their bounds."""
    found = jm.buckling(arm, 2, theory=theory, both_signs=True, **loads(gravity, tip))
    assert found.certified.all()
    third = found.factors[0] / 3.0
    stations = 0.5 * (1.0 + tables(chain.degree)[1])
    given = loads(gravity, tip, third)
    rest = jm.static_equilibrium(arm, theory=theory, stations=stations, **given)
    geometric = chain.reduced(chain.geometric(rest, third * gravity))
    stiffness = chain.reduced(chain.stiffness)
    expected = third * buckling_factors(geometric, stiffness)[:2]
    np.testing.assert_allclose(found.factors, expected, rtol=tolerance, atol=0)
    free = jm.preloaded_frequencies(arm, 4, theory=theory, **given)
    mass = chain.reduced(chain.inertia.T @ chain.inertia)
    squares = scipy.linalg.eigh(mass, stiffness + geometric, eigvals_only=True)
    omega = 1.0 / np.sqrt(squares[::-1][:4])
    np.testing.assert_allclose(free.omega, omega, rtol=tolerance, atol=0)
    assert np.all((free.lower < free.omega) & (free.omega < free.upper))
