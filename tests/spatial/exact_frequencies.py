"""Frequencies of arms in space and their derivatives in 40 digits, from nothing but the field equations.

The state of a link, six displacements and six section forces, obeys a linear system with constant coefficients, whose
matrix exponential carries it from base to tip; joints turn it, springs and rotors, offsets and bodies change it. The
determinant of the six conditions at the free tip, as a function of what holds the base, vanishes at a natural
frequency. Its differences at 80 digits give derivatives. No formula of the library is used, nor of its sections.
"""

from functools import cache

import mpmath
from mpmath import mp, mpf

import jaxmodal as jm
from tests.support.exact_exponentials import exponential

DIGITS = 80
_STEP = mpf(10) ** -22


def parameters_of(arm):
    """Exact copies of the doubles of an arm by address."""
    return {name: mpf(float(jm.get_parameter(arm, name))) for name in jm.list_addresses(arm)}


def _section(link, own):
    """Area, I_y, I_z, torsion constant, kappa_y, kappa_z; depth lies along y."""
    nu = own("poisson_ratio")
    kind = type(link.section).__name__
    if kind == "SpatialSection":
        names = ("area", "second_moment_y", "second_moment_z", "torsion_constant")
        kappas = ("shear_coefficient_y", "shear_coefficient_z")
        return tuple(own(f"section.{name}") for name in (*names, *kappas))
    if kind == "Rectangle":
        depth, width = own("section.depth"), own("section.width")
        kappa = 10 * (1 + nu) / (12 + 11 * nu)
        a, b = max(depth, width), min(depth, width)
        total = sum(mp.tanh(k * mp.pi * a / (2 * b)) / mpf(k) ** 5 for k in range(1, 60, 2))
        rest = (1 - mpf(2) ** -5) * mp.zeta(5) - sum(1 / mpf(k) ** 5 for k in range(1, 60, 2))
        torsion = a * b**3 / 3 * (1 - 192 * b / (mp.pi**5 * a) * (total + rest))
        return depth * width, depth * width**3 / 12, width * depth**3 / 12, torsion, kappa, kappa
    assert kind == "HollowCircle"
    outer, wall = own("section.outer_diameter"), own("section.wall_thickness")
    inner = outer - 2 * wall
    m2 = (inner / outer) ** 2
    kappa = 6 * (1 + nu) * (1 + m2) ** 2 / ((7 + 6 * nu) * (1 + m2) ** 2 + (20 + 12 * nu) * m2)
    second = mp.pi * (outer**4 - inner**4) / 64
    return mp.pi * (outer**2 - inner**2) / 4, second, second, 2 * second, kappa, kappa


def _cross(a):
    return mp.matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def _unit(vector):
    size = mp.sqrt(sum(x * x for x in vector))
    return [x / size for x in vector]


def _turn(axis, angle):
    k = _cross(_unit(axis))
    return mp.eye(3) + mp.sin(angle) * k + (1 - mp.cos(angle)) * (k * k)


def _blocks(a, b, c, d):
    found = mp.zeros(6, 6)
    for i in range(3):
        for j in range(3):
            found[i, j], found[i, j + 3] = a[i, j], b[i, j]
            found[i + 3, j], found[i + 3, j + 3] = c[i, j], d[i, j]
    return found


def _body(body, own, prefix):
    if body is None:
        return mp.zeros(6, 6)
    mass = own(f"{prefix}.mass")
    centre = _cross([own(f"{prefix}.centre.{x}") for x in "xyz"])
    tensor = mp.zeros(3, 3)
    for i, j, name in (
        *((0, 0, "xx"), (1, 1, "yy"), (2, 2, "zz")),
        *((0, 1, "xy"), (1, 2, "yz"), (0, 2, "xz")),
    ):
        tensor[i, j] = tensor[j, i] = own(f"{prefix}.inertia.{name}")
    return _blocks(mass * mp.eye(3), -mass * centre, mass * centre, tensor - mass * centre * centre)


def _transfer(link, own, theory, square):
    """The matrix (12, 12) that takes displacements and forces from the inner to the outer end of the beam."""
    young, density, length = own("youngs_modulus"), own("density"), own("length")
    shear = own("shear_modulus") or young / (2 * (1 + own("poisson_ratio")))
    more = (young, density, length, shear, own("nonstructural_mass"))
    return _transfer_of((*_section(link, own), *more), theory, square)


@cache
def _transfer_of(values, theory, square):
    assert theory in ("timoshenko", "rayleigh")
    area, iy, iz, torsion, ky, kz, young, density, length, shear, line = values
    mass = density * area + line
    gives = 1 if theory == "timoshenko" else 0
    slope = mp.zeros(12, 12)
    # u, phi_x
    slope[0, 6], slope[6, 0] = 1 / (young * area), -square * mass
    slope[3, 9], slope[9, 3] = 1 / (shear * torsion), -square * density * (iy + iz)
    # v' = V_y/(kappa G A) + phi_z, M_z' = -V_y - omega^2 rho I_z phi_z
    slope[1, 7], slope[1, 5] = gives / (ky * shear * area), 1
    slope[5, 11], slope[7, 1] = 1 / (young * iz), -square * mass
    slope[11, 7], slope[11, 5] = -1, -square * density * iz
    # w' = V_z/(kappa G A) - phi_y, M_y' = V_z - omega^2 rho I_y phi_y
    slope[2, 8], slope[2, 4] = gives / (kz * shear * area), -1
    slope[4, 10], slope[8, 2] = 1 / (young * iy), -square * mass
    slope[10, 8], slope[10, 4] = 1, -square * density * iy
    return exponential(slope * length, ([0, 6], [3, 9], [1, 5, 7, 11], [2, 4, 8, 10]))


def determinant(arm, values, theory, omega):
    """The determinant of the conditions at the tip; zero at a natural frequency."""
    return mp.det(_tip(arm, values, theory, omega)[1])


def receptance(arm, theory, omega, moved=None):
    """Motions of the tip of a damped arm under unit forces and moments there, 6 x 6, in the axes of the ground.

    Moduli and springs are complex: losses, Kelvin and Voigt's times, dampers beside springs. Values by address may be
    ``moved``.
    """
    with mpmath.workdps(DIGITS):
        values, omega = parameters_of(arm) | (moved or {}), mpf(omega)
        for number, link in enumerate(arm.links, start=1):
            own = f"link{number}."
            lost = values.get(f"{own}loss_factor", 0) + omega * values.get(
                f"{own}kelvin_voigt_time", 0
            )
            for name in ("youngs_modulus", "shear_modulus"):
                if f"{own}{name}" in values:
                    values[f"{own}{name}"] *= 1 + 1j * lost
            names = [f"joint_spring{k}." for k, _ in enumerate(link.joint_springs, start=1)]
            for name in ("joint_", *names):
                damping = values.get(f"{own}{name}damping", 0)
                values[f"{own}{name}stiffness"] += 1j * omega * damping
        motion, carried, axes = _tip(arm, values, theory, omega)
        turned = _blocks(axes, mp.zeros(3, 3), mp.zeros(3, 3), axes)
        return turned * motion * mp.inverse(carried) * turned.T


def _tip(arm, values, theory, omega):
    """Motions of the tip and what is carried there, (6, 6) each over what holds the base, and the axes of the tip."""
    axes = mp.eye(3)
    square = omega * omega
    motion, force = mp.zeros(6, 6), mp.eye(6)
    if arm.base_stiffness is not None:
        stiffness = mp.matrix(
            [
                [values[f"base_stiffness.k{min(i, j)}{max(i, j)}"] for j in range(1, 7)]
                for i in range(1, 7)
            ]
        )
        motion, force = mp.eye(6), stiffness
    for number, link in enumerate(arm.links, start=1):

        def own(name, number=number):
            return values.get(f"link{number}.{name}", mpf(0))

        force = force - square * _body(link.stator, own, "stator") * motion
        rotation = _turn([own(f"joint_axis.{x}") for x in "xyz"], own("joint_angle"))
        for k, _ in enumerate(link.joint_frame, start=1):
            axis = [own(f"joint_frame{k}.axis.{x}") for x in "xyz"]
            rotation = rotation * _turn(axis, own(f"joint_frame{k}.angle"))
        axes = axes * rotation
        back = _blocks(rotation.T, mp.zeros(3, 3), mp.zeros(3, 3), rotation.T)
        motion, force = back * motion, back * force
        axis = rotation.T * mp.matrix(_unit([own(f"joint_axis.{x}") for x in "xyz"]))
        about = mp.matrix([0, 0, 0, *axis])
        moved = motion.copy()
        if mp.isfinite(own("joint_stiffness")):
            inertia = own("rotor_inertia")
            ratio = mpf(0) if link.motor == "held" else own("gear_ratio")
            before = about.T * motion
            stiffness = own("joint_stiffness") + square * inertia * ratio * (1 - ratio)
            give = (about.T * force - square * inertia * (1 - ratio) * before) / stiffness
            force = force - square * inertia * about * (before + ratio * give)
            moved = moved + about * give
        else:
            force = force - square * own("rotor_inertia") * about * (about.T * motion)
        for k, spring in enumerate(link.joint_springs, start=1):
            unit = _unit([own(f"joint_spring{k}.direction.{x}") for x in "xyz"])
            six = mp.matrix([0, 0, 0, *unit] if spring.kind == "rotation" else [*unit, 0, 0, 0])
            moved = moved + six * (six.T * force) / own(f"joint_spring{k}.stiffness")
        motion = moved
        force = force - square * _body(link.hub, own, "hub") * motion
        motion, force = _to_offset(motion, force, [own(f"base_offset.{x}") for x in "xyz"])
        roll = _turn([1, 0, 0], own("section_roll"))
        rolled = _blocks(roll, mp.zeros(3, 3), mp.zeros(3, 3), roll)
        inner = _stacked(rolled.T * motion, rolled.T * force)
        state = _transfer(link, own, theory, square) * inner
        motion, force = rolled * state[:6, :], rolled * state[6:, :]
        motion, force = _to_offset(motion, force, [own(f"end_offset.{x}") for x in "xyz"])
        # forces are those that the outer part exerts: a body takes its share of them
        force = force - square * _body(link.body, own, "body") * motion
    payload = _body(arm.payload, lambda name: values.get(name, mpf(0)), "payload")
    return motion, force - square * payload * motion, axes


def frequency(arm, values, theory, guess):
    """The root near a guess that is right to double precision."""
    with mpmath.workdps(DIGITS):
        low, high = mpf(guess) * (1 - mpf("1e-14")), mpf(guess) * (1 + mpf("1e-14"))
        return mp.findroot(
            lambda w: determinant(arm, values, theory, w),
            (low, high),
            solver="secant",
            tol=1e-60,
            verify=False,
        )


def double_frequency(arm, values, theory, guess):
    """The place near a guess where the determinant has a double zero: where its slope vanishes."""
    with mpmath.workdps(DIGITS):
        step = mpf(guess) * mpf(10) ** -18

        def slope(w):
            return determinant(arm, values, theory, w + step) - determinant(
                arm, values, theory, w - step
            )

        low, high = mpf(guess) * (1 - mpf("1e-14")), mpf(guess) * (1 + mpf("1e-14"))
        return mp.findroot(slope, (low, high), solver="secant", tol=1e-90, verify=False)


def derivatives(arm, theory, guess, addresses):
    """The derivatives of a simple frequency by addresses, rad/s per unit, by the implicit function theorem."""
    with mpmath.workdps(DIGITS):
        values = parameters_of(arm)
        omega = frequency(arm, values, theory, guess)

        def difference(change):
            """Of the determinant, for a step forward and back."""
            return change(_STEP) - change(-_STEP)

        slope = difference(lambda h: determinant(arm, values, theory, omega * (1 + h))) / omega
        found = []
        for name in addresses:
            size = abs(values[name]) or mpf(1)

            def stepped(h, name=name, size=size):
                moved = values | {name: values[name] + h * size}
                return determinant(arm, moved, theory, omega)

            found.append(float(-difference(stepped) / size / slope))
        return omega, found


def _stacked(upper, lower):
    return mp.matrix(upper.tolist() + lower.tolist())


def _to_offset(motion, force, offset):
    cross = _cross(offset)
    zero = mp.zeros(3, 3)
    return (
        _blocks(mp.eye(3), -cross, zero, mp.eye(3)) * motion,
        _blocks(mp.eye(3), zero, -cross, mp.eye(3)) * force,
    )
