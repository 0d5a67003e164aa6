"""Another reading of URDF files, by the standard library's ElementTree and homogeneous transforms, from the root down.

It shares nothing with the package: every link is placed on its own, nothing is lumped.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np

from tests.spatial.finite_elements import turn
from tests.spatial.rigid_chains import Joint, rpy, transform


class Tree:
    """The links of a file with their frames seen from the root, at positions of joints by name."""

    def __init__(self, path, positions=()):
        root = ElementTree.parse(path).getroot()
        self.positions = dict(positions)
        self.bodies = {}
        for link in root.findall("link"):
            inertial = link.find("inertial")
            if inertial is not None:
                self.bodies[link.get("name")] = self._body(inertial)
        self.joints = {j.get("name"): j for j in root.findall("joint")}
        children = {j.find("child").get("link") for j in self.joints.values()}
        (self.root,) = {link.get("name") for link in root.findall("link")} - children
        self.frames = {self.root: np.eye(4)}
        self.before = {}
        while len(self.before) < len(self.joints):
            for name, joint in self.joints.items():
                parent, child = (joint.find(x).get("link") for x in ("parent", "child"))
                if parent in self.frames and child not in self.frames:
                    self.before[name] = self.frames[parent] @ self._origin(joint)
                    self.frames[child] = self.before[name] @ self._motion(name)

    @staticmethod
    def _origin(element):
        origin = element.find("origin")
        if origin is None:
            return np.eye(4)
        place = [float(x) for x in origin.get("xyz", "0 0 0").split()]
        return transform(rpy(*(float(x) for x in origin.get("rpy", "0 0 0").split())), place)

    def _body(self, inertial):
        at, found = self._origin(inertial), inertial.find("inertia")
        values = {} if found is None else found.attrib
        tensor = [
            [float(values.get("i" + "".join(sorted(a + b)), 0)) for a in "xyz"] for b in "xyz"
        ]
        mass = float(inertial.find("mass").get("value"))
        return mass, at[:3, 3], at[:3, :3] @ np.array(tensor) @ at[:3, :3].T

    def axis(self, name):
        axis = self.joints[name].find("axis")
        return (1.0, 0.0, 0.0) if axis is None else tuple(float(x) for x in axis.get("xyz").split())

    def position(self, name):
        mimic = self.joints[name].find("mimic")
        if name in self.positions or mimic is None or mimic.get("joint") not in self.joints:
            return self.positions.get(name, 0.0)
        factor, offset = (float(mimic.get(*x)) for x in (("multiplier", "1"), ("offset", "0")))
        return factor * self.position(mimic.get("joint")) + offset

    def _motion(self, name):
        axis, kind, position = self.axis(name), self.joints[name].get("type"), self.position(name)
        if kind in ("revolute", "continuous"):
            return transform(turn(axis, position), np.zeros(3))
        if kind != "prismatic":
            return np.eye(4)
        return transform(np.eye(3), np.array(axis) / np.linalg.norm(axis) * position)

    def total(self, links=None):
        """Mass, centre of gravity and tensor about the origin of some links, or of all, seen from the root."""
        mass, moment, tensor = 0.0, np.zeros(3), np.zeros((3, 3))
        for name, (own, centre, inertia) in self.bodies.items():
            if links is None or name in links:
                at = self.frames[name]
                place = at[:3, :3] @ centre + at[:3, 3]
                mass, moment = mass + own, moment + own * place
                tensor = tensor + at[:3, :3] @ inertia @ at[:3, :3].T
                tensor = tensor + own * (place @ place * np.eye(3) - np.outer(place, place))
        return mass, moment, tensor

    def chain(self, names, stiffness):
        """The joints of these names, one behind the other, as `rigid_chains` takes them."""
        found, before = [], np.eye(4)
        carriers = [self.joints[name].find("child").get("link") for name in names]
        for name, link in zip(names, carriers, strict=True):
            at = self.frames[link]
            bodies = []
            for other, (mass, centre, tensor) in self.bodies.items():
                if self.carrier(other, carriers) == link:
                    seen = np.linalg.inv(at) @ self.frames[other]
                    place = seen[:3, :3] @ centre + seen[:3, 3]
                    bodies.append((mass, place, seen[:3, :3] @ tensor @ seen[:3, :3].T))
            fixed = np.linalg.inv(before) @ self.before[name]
            own = self.axis(name), self.position(name), stiffness[name], tuple(bodies)
            slides = self.joints[name].get("type") == "prismatic"
            found.append(Joint(fixed, *own, slides=slides))
            before = at
        return found

    def carrier(self, link, carriers):
        """The first of these links on the way from a link to the root."""
        above = {
            j.find("child").get("link"): j.find("parent").get("link") for j in self.joints.values()
        }
        while link is not None and link not in carriers:
            link = above.get(link)
        return link
