"""Finite elements in space under forces at rest: polynomials along slender links that neither stretch nor shear.

Written for tests and independent of the library: sections turn by exp of a rotation vector, and the geometric stiffness
is the second derivative of the work of the forces at rest on the strains ``R^T r' - e_x`` and ``(R^T R')``, formed by
matrix products. Links are joined rigidly or by one rotational spring; forces at rest are summed by hand.
"""

import numpy as np
import scipy.linalg
from numpy.polynomial import legendre

import jaxmodal as jm


def cross(v):
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def second_order(of, size):
    """Return the second derivatives at 0 of a polynomial of degree 5 at most in ``size`` values."""
    one = np.eye(size)

    def even(v):
        return 0.5 * (of(v) + of(-v)) - of(0.0 * v)

    def part(v):
        return (16.0 * even(0.5 * v) - even(v)) / 3.0

    return np.array([[part(a + b) - part(a) - part(b) for b in one] for a in one])


def strain_work(force, moment):
    """Return second derivatives of the work of a force and a moment on strains, by r' - e_x, theta and theta'."""

    def work(v):
        slope, s, rate = np.eye(3)[0] + v[:3], cross(v[3:6]), cross(v[6:])
        turn = np.eye(3) + s + 0.5 * s @ s
        k = turn.T @ (rate + 0.5 * (rate @ s + s @ rate))
        found = force @ (turn.T @ slope)
        return found + moment @ (
            0.5 * np.array([k[2, 1] - k[1, 2], k[0, 2] - k[2, 0], k[1, 0] - k[0, 1]])
        )

    return second_order(work, 9)


class Frame:
    """Links with keys ``length, axes (columns), mass, polar, twist, bend_y, bend_z``.

    They are joined rigidly or by a ``spring``, which is (axis in ground axes, stiffness). ``body`` is (mass, centre in
    ground axes, inertia) of a payload; ``loads`` are gravity, force and moment at the tip.
    """

    def __init__(self, links, body, loads, degree=11):
        self.links, self.degree = links, degree
        gravity, force, moment = loads
        mass, centre, inertia = body
        # forces and moments about the tip of each link, of what lies beyond
        beyond = [(force + mass * gravity, moment + np.cross(centre, mass * gravity))]
        for link in links[:0:-1]:
            f, m = beyond[0]
            along, own = (
                link["axes"][:, 0] * link["length"],
                link["mass"] * link["length"] * gravity,
            )
            beyond.insert(0, (f + own, m + np.cross(along, f + 0.5 * own)))
        self.count = 3 * (degree + 1) + 1
        size = self.count * len(links)
        elastic, sprung, inertial, geometric = (np.zeros((size, size)) for _ in range(4))
        for number, link in enumerate(links):
            own = slice(number * self.count, (number + 1) * self.count)
            rigid = np.array([link["twist"], link["bend_y"], link["bend_z"]])
            line = link["mass"] * gravity
            for x, weight in zip(*legendre.leggauss(degree + 6), strict=True):
                share, part = 0.5 * (1.0 + x), 0.5 * weight * link["length"]
                rows, left = self.along(link, share), (1.0 - 0.5 * (1.0 + x)) * link["length"]
                elastic[own, own] += part * (rows[9:].T * rigid) @ rows[9:]
                moving = np.array([*[link["mass"]] * 3, link["polar"], 0.0, 0.0])
                inertial[own, own] += part * (rows[:6].T * moving) @ rows[:6]
                f = beyond[number][0] + left * line
                reach = left * link["axes"][:, 0]
                m = beyond[number][1] + np.cross(reach, f - 0.5 * left * line)
                work = strain_work(link["axes"].T @ f, link["axes"].T @ m)
                # fibres off the axis lengthen as the link twists
                work[6, 6] += (link["axes"].T @ f)[0] * link["polar"] / link["mass"]
                strains = np.vstack([rows[6:9], rows[3:6], rows[9:]])
                geometric[own, own] += part * strains.T @ work @ strains
        tip = self.motion(len(links) - 1, 1.0)
        c, body_mass = cross(centre), np.zeros((6, 6))
        body_mass[:3, :3], body_mass[:3, 3:], body_mass[3:, :3] = (
            mass * np.eye(3),
            -mass * c,
            mass * c,
        )
        body_mass[3:, 3:] = inertia - mass * c @ c
        inertial += tip.T @ body_mass @ tip
        fallen = second_order(lambda t: -mass * gravity @ (0.5 * cross(t) @ cross(t) @ centre), 3)
        geometric += tip[3:].T @ fallen @ tip[3:]
        rows = [self.motion(0, 0.0)]
        for number in range(1, len(links)):
            before, after = self.motion(number - 1, 1.0), self.motion(number, 0.0)
            gap = after - before
            if "spring" not in links[number]:
                rows.append(gap)
                continue
            axis, value = links[number]["spring"]
            turned, others = axis @ gap[3:], np.linalg.svd(axis[None])[2][1:]
            rows += [gap[:3], others @ gap[3:]]
            sprung += value * np.outer(turned, turned)
            # -m . (before x after)/2, whose second derivatives are twice its symmetric part
            coupled = before[3:].T @ cross(beyond[number - 1][1]) @ after[3:]
            geometric += 0.5 * (coupled + coupled.T)
        _, values, right = np.linalg.svd(np.vstack(rows))
        self.free = right[np.sum(values > 1e-10 * values[0]) :].T
        # springs and forces at rest are not damped
        self.elastic, self.other, self.inertial = (
            self.free.T @ x @ self.free for x in (elastic, sprung + geometric, inertial)
        )

    def along(self, link, share):
        """Return displacements, rotations, and the derivatives of both, (12, coordinates of a link), in its axes."""
        n, at = self.degree + 1, 2.0 * share - 1.0
        value, first, second = (
            np.array([legendre.legval(at, legendre.legder(c, d)) for c in np.eye(n)])
            * (2.0 / link["length"]) ** d
            for d in range(3)
        )
        found = np.zeros((12, self.count))
        v, w, twist = slice(0, n), slice(n, 2 * n), slice(2 * n, 3 * n)
        found[0, -1] = 1.0
        for row, part, values in (
            *((1, v, value), (2, w, value), (3, twist, value), (4, w, -first), (5, v, first)),
            *((7, v, first), (8, w, first), (9, twist, first), (10, w, -second), (11, v, second)),
        ):
            found[row, part] = values
        return found

    def motion(self, number, share):
        """Return displacements and rotations of a section in ground axes, (6, coordinates)."""
        own = self.along(self.links[number], share)
        found = np.zeros((6, self.count * len(self.links)))
        axes = np.kron(np.eye(2), self.links[number]["axes"])
        found[:, number * self.count : (number + 1) * self.count] = axes @ own[:6]
        return found

    def modes(self, count):
        """Return frequencies, rad/s, and shapes of unit modal mass, as columns of all coordinates."""
        # the largest inverse squares, which rounding of the stiffest motions does not reach
        inverse, vectors = scipy.linalg.eigh(self.inertial, self.elastic + self.other)
        inverse, vectors = inverse[: -count - 1 : -1], vectors[:, : -count - 1 : -1]
        return 1.0 / np.sqrt(inverse), self.free @ vectors / np.sqrt(inverse)

    def roots(self, count, damped):
        """Return the complex frequencies of the damped arm, rad/s, by size."""
        squares = scipy.linalg.eigvals(damped * self.elastic + self.other, self.inertial)
        found = np.sqrt(squares[np.isfinite(squares)])
        return found[np.argsort(np.abs(found))][:count]

    def receptance(self, rows, omega, damped=1.0):
        """Return motions along rows of `motion` for unit forces there; ``damped`` multiplies the moduli of links."""
        full = damped * self.elastic + self.other - omega**2 * self.inertial
        read = rows @ self.free
        return read @ np.linalg.solve(full, read.T)


def loaded_pair(**changes):
    """Return an arm of two thin strips, an elastic joint between them, under all loads, and its finite elements."""
    area, y, z, twist = 4e-4, 0.05 * 0.008**3 / 12.0, 0.008 * 0.05**3 / 12.0, 7.7e-9
    strip = jm.spatial_section(area, y, z, torsion_constant=twist)
    link = jm.SpatialLink(
        0.9, 7e10, 2700.0, strip, poisson_ratio=0.33, joint_axis=(0, 1, 0), joint_angle=-0.6
    )
    turned = {"joint_axis": (0.6, 0.0, 0.8), "joint_angle": 1.1, "joint_stiffness": 2e3}
    body = jm.RigidBody(2.0, (0.05, -0.03, 0.08), (0.01, 0.012, 0.015))
    names = [f"{name}_{x}" for name in ("gravity", "tip_force", "tip_moment") for x in "xyz"]
    values = [1.0, 0.0, -9.81, 20.0, -12.0, 0.0, 3.0, -4.0, 5.0]
    loads = jm.SpatialLoads(**dict(zip(names, values, strict=True)))
    second = link.replace(length=0.7, **turned)
    links = tuple(x.replace(**changes) for x in (link, second))
    arm = jm.SpatialArm(links, body, loads=loads)
    frames, shear = arm.frames(), 7e10 / 2.66
    parts = {
        "mass": 2700.0 * area,
        "polar": 2700.0 * (y + z),
        "twist": shear * twist,
        "bend_y": 7e10 * y,
        "bend_z": 7e10 * z,
    }
    rods = [dict(parts, length=x.length, axes=at.axes) for x, at in zip(links, frames, strict=True)]
    rods[1]["spring"] = frames[0].axes @ np.array([0.6, 0.0, 0.8]), 2e3
    axes = frames[1].axes
    payload = (
        2.0,
        axes @ np.array([0.05, -0.03, 0.08]),
        axes @ np.diag([0.01, 0.012, 0.015]) @ axes.T,
    )
    given = (np.array(values[k : k + 3]) for k in (0, 3, 6))
    return arm, Frame(rods, payload, tuple(given))
