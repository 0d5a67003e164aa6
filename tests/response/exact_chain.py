"""The harmonic response of an arm by transfer matrices in 40 digits: matrix exponentials of the equations of motion.

Nothing of the library: the six fields (u, v, psi, N, V, M) of a link obey linear equations in x, whose matrix is
exponentiated by its power series; joints, bodies and offsets are written out one by one. The unknowns are the three
forces at the base, and what each joint gives that has neither spring nor damper, which bears nothing. Springs hold tips
to a ground at rest, so that a base that moves goes without them. A port is given
as (place, link from 0, station, row over (u, v, psi)), the place "joint", "link", "tip", "relative" or "base". Under an
axial force N at rest V is the transverse force, which has the part N v' beside that of shear, and a rigid part of
length e that turns resists with N e, links besides with the turning stiffnesses of their ends.
"""

import mpmath
from mpmath import mpc, mpf

from tests.support.exact_exponentials import exponential

mpmath.mp.dps = max(mpmath.mp.dps, 40)
FIELDS = range(6)


def _number(value, absent=0):
    return mpf(absent if value is None else float(value))


def _matrix(link, factor, omega, theory):
    """Of d/dx (u, v, psi, N, V, M)."""
    shear, rotary = theory == "timoshenko", theory in ("timoshenko", "rayleigh")
    modulus, area, second = (
        mpf(float(x)) for x in (link.youngs_modulus, link.area, link.second_moment)
    )
    density = mpf(float(link.density))
    line = density * area + _number(link.nonstructural_mass)
    matrix = mpmath.zeros(6)
    if theory != "bending_only":
        matrix[0, 3] = 1 / (modulus * factor * area)
    force, give = _number(link.axial_force), mpf(0)
    if shear:
        give = 1 / (mpf(float(link.shear_modulus_effective)) * factor * area)
    matrix[1, 2] = 1 / (1 + force * give)
    matrix[1, 4] = give / (1 + force * give)
    matrix[2, 5] = 1 / (modulus * factor * second)
    matrix[3, 0] = matrix[4, 1] = -(omega**2) * line
    matrix[5, 2] = force * matrix[1, 2]
    matrix[5, 4] = force * matrix[1, 4] - 1
    if rotary:
        matrix[5, 2] -= omega**2 * density * second
    return matrix


STRETCHING, BENDING = (0, 3), (1, 2, 4, 5)
"""Fields that do not meet in a straight link: u and N, and v, psi, V and M."""


#: springs of joints and the dampers beside them, along u, v and psi
JOINTS = tuple(
    (f"joint{kind}_stiffness", f"joint{kind}_damping") for kind in ("_axial", "_shear", "")
)


class Chain:
    """One arm at one frequency."""

    def __init__(self, arm, omega, theory="timoshenko"):
        if arm.base_stiffness is not None or arm.loads is not None:
            raise ValueError("an elastic base and loads are not written here")
        self.arm, self.theory = arm, theory
        self.omega = mpmath.mpmathify(omega)
        self._exponentials = {}

    def _along(self, number, length):
        """The transfer matrix over a length of a link."""
        key = (number, mpmath.nstr(length, 30))
        if key not in self._exponentials:
            link = self.arm.links[number]
            i = mpc(0, 1)
            eta, tau = _number(link.loss_factor), _number(link.kelvin_voigt_time)
            factor = 1 + i * eta + i * self.omega * tau
            if link.rigid:
                self._exponentials[key] = self._rigid(link, length)
            else:
                matrix = _matrix(link, factor, self.omega, self.theory)
                self._exponentials[key] = exponential(matrix * length, (STRETCHING, BENDING))
        return self._exponentials[key]

    def _rigid(self, link, length):
        area, second, density = (
            mpf(float(x)) for x in (link.area, link.second_moment, link.density)
        )
        mass = (density * area + _number(link.nonstructural_mass)) * length
        turning = density * second * length * (self.theory in ("timoshenko", "rayleigh"))
        w = self.omega**2
        t = mpmath.eye(6)
        t[1, 2] = length
        t[3, 0] = t[4, 1] = -w * mass
        t[4, 2] = -w * mass * length / 2
        # the moment about the start falls by that of the inertia forces; about the end by length times the shear there
        t[5, 1] = -w * mass * length / 2 + length * w * mass
        t[5, 2] = -w * (mass * length**2 / 3 + turning) + length * w * mass * length / 2
        t[5, 2] += _number(link.axial_force) * length
        t[5, 4] = -length
        return t

    def response(self, source, targets):
        """Motions of the targets for a unit force (or ground motion) at the source."""
        rows, value = self._solve(source, targets)
        return [value(row) for row in rows]

    def determinant(self):
        """Of the conditions at the free tip and at free joints on all unknowns; its zeros are the arm's."""
        state, _ = self._pass((None, None, None, None), [])
        return mpmath.det(state[3:, : state.cols - 1])

    def _solve(self, source, targets):
        state, rows = self._pass(source, targets)
        last = state.cols - 1
        full = mpmath.matrix([*mpmath.lu_solve(state[3:, :last], -state[3:, last]), 1])
        return rows, lambda row: (row * full)[0]

    def _pass(self, source, targets):
        """The state beyond the tip and what free joints bear, over all unknowns and 1, and a row for each target."""
        arm, w = self.arm, self.omega**2
        free = [
            (number, k)
            for number, link in enumerate(arm.links)
            for k, (spring, damper) in enumerate(JOINTS)
            if getattr(link, spring) == 0.0 and not getattr(link, damper)
        ]
        one = 3 + len(free)
        state = mpmath.zeros(6 + len(free), one + 1)
        for k in range(3):
            state[3 + k, k] = mpf(1)
        place, of_link, station, row = source
        rows = [None] * len(targets)

        def load(here, number, at=None):
            if (place, of_link) == (here, number) and station == at:
                for k in range(3):
                    state[3 + k, one] -= row[k]

        def read(here, number, at=None):
            for index, (its_place, its_link, its_station, its_row) in enumerate(targets):
                if (its_place, its_link, its_station) == (here, number, at):
                    rows[index] = sum(
                        (its_row[k] * state[k, :] for k in range(3)), mpmath.zeros(1, one + 1)
                    )

        # numbers stand behind rows: before them mpmath writes the row into an error's words at each product
        def moved(x, y):
            state[0, :] = state[0, :] - state[2, :] * y
            state[1, :] = state[1, :] + state[2, :] * x
            state[5, :] = state[5, :] + state[3, :] * y - state[4, :] * x

        def body(mass, inertia, x=0, y=0):
            u, v, p = state[0, :], state[1, :], state[2, :]
            state[3, :] = state[3, :] - (u - p * y) * (w * mass)
            state[4, :] = state[4, :] - (v + p * x) * (w * mass)
            turning = inertia + mass * (x * x + y * y)
            state[5, :] = state[5, :] - (p * turning + (v * x - u * y) * mass) * w

        def resist(link, name):
            offset = _number(getattr(link, f"{name}_offset_x"))
            stiffness = _number(getattr(link, f"{name}_turning_stiffness"))
            state[5, :] += state[2, :] * (stiffness + _number(link.axial_force) * offset)

        def held(link, angle):
            """Springs of a tip along x, y and about an axis of the ground, from which the link turns by the angle."""
            x, y, turning = (
                _number(getattr(link, f"support_{name}_stiffness"))
                for name in ("x", "y", "torsional")
            )
            s, c = mpmath.sin(angle), mpmath.cos(angle)
            u, v = state[0, :], state[1, :]
            along, across = (u * c - v * s) * x, (u * s + v * c) * y
            state[3, :] = state[3, :] + along * c + across * s
            state[4, :] = state[4, :] + across * c - along * s
            state[5, :] = state[5, :] + state[2, :] * turning

        heading = mpf(0)
        if place == "base":
            for k in range(3):
                state[k, one] = row[k]
        for number, link in enumerate(arm.links):
            heading += mpf(float(link.joint_angle))
            if number:
                body(_number(link.stator_mass), _number(link.stator_inertia))
            if number:
                angle = mpf(float(link.joint_angle))
                s, c = mpmath.sin(angle), mpmath.cos(angle)
                for a, b in ((0, 1), (3, 4)):
                    first, second = state[a, :], state[b, :]
                    state[a, :], state[b, :] = first * c + second * s, second * c - first * s
            iw = mpc(0, 1) * self.omega
            for k in range(2):
                spring, damper = (getattr(link, name) for name in JOINTS[k])
                if (number, k) in free:
                    at = free.index((number, k))
                    state[6 + at, :] = state[3 + k, :]
                    state[k, 3 + at] += 1
                elif spring is not None and float(spring) != float("inf"):
                    state[k, :] = state[k, :] + state[3 + k, :] / (
                        mpf(float(spring)) + iw * _number(damper)
                    )
            before = state[2, :]
            ratio = 0 if link.motor == "held" else _number(link.gear_ratio, 1)
            rotor = w * _number(link.rotor_inertia)
            moment = state[5, :] - before * (rotor * (1 - ratio) ** 2)
            if (place, of_link) == ("relative", number):
                moment[0, one] += row[2]
            if (number, 2) in free:
                at = free.index((number, 2))
                state[2, 3 + at] += 1
                state[6 + at, :] = moment - state[2, :] * (rotor * (1 - ratio) * ratio)
            elif float(link.joint_stiffness) != float("inf"):
                k = mpf(float(link.joint_stiffness)) + iw * _number(link.joint_damping)
                turned = (before * k + moment) / (k + rotor * (1 - ratio) * ratio)
                state[2, :] = turned
            for index, target in enumerate(targets):
                if target[:2] == ("relative", number):
                    rows[index] = state[2, :] - before
            after = state[2, :] * ratio + before * (1 - ratio)
            state[5, :] = state[5, :] - after * (rotor * (1 - ratio))
            state[5, :] = state[5, :] - after * (rotor * ratio)
            body(_number(link.hub_mass), _number(link.hub_inertia))
            load("joint", number)
            read("joint", number)
            resist(link, "base")
            moved(_number(link.base_offset_x), _number(link.base_offset_y))
            every = [source, *targets]
            stations = {s for p, n, s, _ in every if (p, n) == ("link", number)} | {1.0}
            last = 0.0
            if 0.0 in stations:
                load("link", number, 0.0)
                read("link", number, 0.0)
            for each in sorted(stations - {0.0}):
                length = mpf(float(link.length)) * (mpf(each) - mpf(last))
                state[:6, :] = self._along(number, length) * state[:6, :]
                load("link", number, each)
                read("link", number, each)
                last = each
            moved(_number(link.end_offset_x), _number(link.end_offset_y))
            resist(link, "end")
            body(
                *(
                    _number(getattr(link, f"tip_{x}"))
                    for x in ("mass", "inertia", "centre_x", "centre_y")
                )
            )
            if number == len(arm.links) - 1:
                p = arm.payload
                body(*(_number(x) for x in (p.mass, p.inertia, p.centre_x, p.centre_y)))
            held(link, heading)
            load("tip", number)
            read("tip", number)
        return state, rows
