"""The harmonic and the static response of arms in space by the finite elements of `finite_elements`, with damping.

Arms are the plain tables of the reference cases, links with ``loss_factor`` and ``kelvin_voigt_time``, joints with
``damping`` about their axis and springs with ``damping``.
"""

import numpy as np

from tests.spatial.finite_elements import Chain, moved, tables, turn

AXES = {"x": 0, "y": 1, "z": 2}


class DrivenChain(Chain):
    """Motions of places over all coordinates, and the stiffness of these as complex numbers."""

    def __init__(self, entry, theory, degree):
        super().__init__(entry, theory, degree)
        self.joints, self.turns, self.spring_rows = [], [], []
        self.inertia = self.rows()

    def joint(self, link, place, before, blocks):
        motion = super().joint(link, place, before, blocks)
        joint = link["joint"]
        rotation = turn(joint["axis"], joint["angle"])
        for part in joint["frame"]:
            rotation = rotation @ turn(part["axis"], part["angle"])
        last = self.turns[-1] if self.turns else np.eye(3)
        self.turns.append(last @ rotation)
        self.joints.append(motion)
        give = np.zeros(self.size)
        if joint["stiffness"] is not None:
            give[place["axis"]] = 1.0 / np.sqrt(joint["stiffness"] or 1.0)
        self.spring_rows.append(give)
        return motion

    def stiffness(self, omega):
        """Of every coordinate: 1, complex with damping, 0 where it is free."""
        found = np.ones(self.size, complex)
        found[self.free] = 0.0
        for link, place in zip(self.entry["links"], self.places, strict=True):
            joint = link["joint"]
            for number, spring in enumerate(joint["springs"]):
                found[place[number]] += (
                    1j * omega * spring.get("damping", 0.0) / (spring["stiffness"] or 1.0)
                )
            if "axis" in place:
                found[place["axis"]] += (
                    1j * omega * joint.get("damping", 0.0) / (joint["stiffness"] or 1.0)
                )
            loss = link.get("loss_factor", 0.0) + omega * link.get("kelvin_voigt_time", 0.0)
            for name, at in place.items():
                if isinstance(name, str) and name != "axis":
                    found[at] += 1j * loss
        return found

    def row(self, place, direction):
        """What is read in a direction: ``("tip", 2)``, ``("joint", 1)``, ``("payload",)`` or ``("middle", 1)``."""
        number = len(self.turns) if place[0] == "payload" else place[1]
        link = self.entry["links"][number - 1]
        if direction == "relative_rotation":
            return self.spring_rows[number - 1]
        if place[0] == "joint":
            motion = self.joints[number - 1]
        elif place[0] == "middle":
            _, points, _, _ = tables(self.degree)
            motion = self.along[number - 1][np.argmin(np.abs(points[:-1]))]
        else:
            motion = moved(self.along[number - 1][-1], link.get("end_offset", [0, 0, 0]))
            if place[0] == "payload":
                motion = moved(motion, self.entry["payload"].get("centre", [0, 0, 0]))
        turns = np.eye(3) if direction.startswith("link_") else self.turns[number - 1]
        rows = motion[3:] if "r" in direction.removeprefix("link_") else motion[:3]
        return (turns @ rows)[AXES[direction[-1]]]

    def station(self):
        """x/L of ``"middle"``."""
        points = tables(self.degree)[1][:-1]
        return 0.5 * (1.0 + float(points[np.argmin(np.abs(points))]))

    def response(self, omega, driven, read):
        """Displacements of what is read for unit forces, (read, driven); ``omega`` may be 0."""
        square = np.diag(self.stiffness(omega)) - omega**2 * (self.inertia.T @ self.inertia)
        into, out = (np.array([self.row(*each) for each in ports]) for ports in (driven, read))
        return out @ np.linalg.solve(square, into.T)
