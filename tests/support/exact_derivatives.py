"""Derivatives of natural frequencies in 40 digits and more, from nothing but the beam equations.

The state (u, v, psi, N, V, M) of a link obeys a linear system with constant coefficients; its exponential carries
the state from base to tip, joints turn it and bodies and springs change it. The determinant of the three
conditions at the free tip, as a function of what clamps the base, vanishes at a natural frequency. Its differences
at 80 digits give the derivative of the frequency by the implicit function theorem. No formula of the library is
used, and no solution of the beam equations but the exponential of their matrix.
"""

from functools import cache

import mpmath
import numpy as np
from mpmath import mp, mpf

import jaxmodal as jm

#: working precision: the determinant cancels some of it, the differences half of the rest
DIGITS = 80
_STEP = "1e-22"
#: stands for a rigid support, N/m and N m/rad
_RIGID = "1e30"


def parameters_of(arm):
    """The values of an arm by address, as exact decimal copies of its doubles."""
    return {name: float(jm.get_parameter(arm, name)) for name in jm.list_addresses(arm)}


def link_values(values, number, shapes):
    """Length, E, A, I, rho, kappa G, tip mass and inertia, angle and joint stiffness of one link."""
    own = {
        name.removeprefix(f"link{number}."): value
        for name, value in values.items()
        if name.startswith(f"link{number}.")
    }
    young = own["youngs_modulus"]
    shear = own.get("shear_modulus")
    if shear is None:
        shear = young / (2 * (1 + own["poisson_ratio"]))
    factor = own.get("thickness_factor", mpf(1))
    if shapes[number - 1] == "raw":
        area, second = own["section.area"] * factor, own["section.second_moment"] * factor**3
    elif shapes[number - 1] == "rectangle":
        depth, width = own["section.depth"] * factor, own["section.width"]
        area, second = depth * width, width * depth**3 / 12
    else:
        depth, width, wall = (own[f"section.{key}"] for key in ("depth", "width", "wall_thickness"))
        area = depth * width - (depth - 2 * wall) * (width - 2 * wall)
        second = (width * depth**3 - (width - 2 * wall) * (depth - 2 * wall) ** 3) / 12
    kappa_g = own["section.shear_coefficient"] * shear
    rest = ("tip_mass", "tip_inertia", "joint_angle", "joint_stiffness")
    return (own["length"], young, area, second, own["density"], kappa_g, *(own[k] for k in rest))


def base_states(values):
    """The motions that the base allows, as columns u, v, psi, N, V, M: a displacement 1 on a spring, or a force 1."""
    names = ("joint_axial_stiffness", "joint_shear_stiffness", "joint_stiffness")
    states = [[mpf(0)] * 6 for _ in range(3)]
    for k, name in enumerate(names):
        spring = values.get(f"link1.{name}", mpf("inf"))
        if mp.isfinite(spring):
            states[k][k], states[k][3 + k] = mpf(1), spring
        else:
            states[k][3 + k] = mpf(1)
    if "base_stiffness.k11" not in values:
        return states
    return [
        _on_base(values, [values.get(f"link1.{name}", mpf("inf")) for name in names], k)
        for k in range(3)
    ]


def _on_base(values, springs, k):
    """The state beyond the springs of joint 1 where the elastic base moves by 1 in a direction of the ground."""
    turn = values["link1.joint_angle"]
    c, s = mp.cos(turn), mp.sin(turn)
    moved = [mpf(i == k) for i in range(3)]
    force = [values[f"base_stiffness.k{min(i, k) + 1}{max(i, k) + 1}"] for i in range(3)]
    state = []
    for x, y, about in (moved, force):
        state += [c * x + s * y, c * y - s * x, about]
    for i, spring in enumerate(springs):
        if mp.isfinite(spring):
            state[i] = state[i] + state[3 + i] / spring
    return state


def with_supports(values, number, state):
    """The state beyond the supports at the tip of a link."""
    springs = [
        values.get(f"link{number}.support_{name}_stiffness", mpf(0))
        for name in ("x", "y", "torsional")
    ]
    if not any(springs):
        return state
    along_x, along_y, about = (mpf(_RIGID) if mp.isinf(k) else k for k in springs)
    angle = mp.fsum(values[f"link{k}.joint_angle"] for k in range(1, number + 1))
    c, s = mp.cos(angle), mp.sin(angle)
    u, v, psi, normal, shear, moment = state
    x, y = along_x * (c * u - s * v), along_y * (s * u + c * v)
    return [u, v, psi, normal + c * x + s * y, shear - s * x + c * y, moment + about * psi]


def determinant(values, shapes, theory, omega):
    """The determinant of the conditions at the tip; zero at a natural frequency."""
    square = omega * omega
    states = base_states(values)
    count = len(shapes)
    for number in range(1, count + 1):
        length, young, area, second, density, kappa_g, mass, inertia, angle, spring = link_values(
            values, number, shapes
        )
        if number == count:
            mass = mass + values["payload.mass"]
            inertia = inertia + values["payload.inertia"]
        cosine, sine = (mpf(1), mpf(0)) if number == 1 else (mp.cos(angle), mp.sin(angle))
        axial, bending = (
            _axial(theory, square, length, young * area, density * area),
            _bending(
                theory,
                square,
                length,
                young * second,
                density * area,
                density * second,
                kappa_g * area,
            ),
        )
        for state in states:
            u, v, psi, normal, shear, moment = state
            u, v = cosine * u + sine * v, cosine * v - sine * u
            normal, shear = cosine * normal + sine * shear, cosine * shear - sine * normal
            if number > 1 and mp.isfinite(spring):
                psi = psi + moment / spring
            u, normal = axial[0] * u + axial[1] * normal, axial[2] * u + axial[3] * normal
            v, psi, moment, shear = (
                sum(entry * x for entry, x in zip(row, (v, psi, moment, shear), strict=True))
                for row in bending
            )
            beyond = [
                u,
                v,
                psi,
                normal - square * mass * u,
                shear - square * mass * v,
                moment - square * inertia * psi,
            ]
            state[:] = with_supports(values, number, beyond)
    (a, b, c), (d, e, f), (g, h, i) = (state[3:] for state in states)
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def _axial(theory, square, length, stiffness, line):
    """The exponential of the axial system as (uu, uN, Nu, NN)."""
    if theory == "bending_only":  # axially rigid: the link follows its base
        return mpf(1), mpf(0), -square * line * length, mpf(1)
    wave = mp.sqrt(square * line / stiffness)
    cosine, sine = mp.cos(wave * length), mp.sin(wave * length)
    return cosine, sine / (stiffness * wave), -stiffness * wave * sine, cosine


@cache
def _bending(theory, square, length, rigidity, line, rotary, shear):
    """The exponential of the bending system in v, psi, M, V: a polynomial in its matrix (Cayley and Hamilton).

    Kept, for a difference by one address leaves all links but one as they are.
    """
    zero = mpf(0)
    rotary = rotary if theory in ("timoshenko", "rayleigh") else zero
    flexibility = 1 / shear if theory == "timoshenko" else zero
    matrix = mpmath.matrix(
        [
            [zero, length, zero, length * flexibility],
            [zero, zero, length / rigidity, zero],
            [zero, -square * rotary * length, zero, -length],
            [-square * line * length, zero, zero, zero],
        ]
    )
    twice = matrix * matrix
    # the squares of the eigenvalues are the roots of z^2 - trace z + norm
    trace = -square * length**2 * (rotary / rigidity + line * flexibility)
    norm = -square * line * length**4 / rigidity * (1 - square * rotary * flexibility)
    root = mp.sqrt(trace * trace - 4 * norm)
    second = (trace - root) / 2
    first = norm / second
    even, odd = [], []
    for z in (first, second):
        wave = mp.sqrt(z)
        even.append(mp.re(mp.cosh(wave)))
        odd.append(mp.re(mp.sinh(wave) / wave) if z != 0 else mpf(1))
    slope_even = (even[0] - even[1]) / (first - second)
    slope_odd = (odd[0] - odd[1]) / (first - second)
    identity = mpmath.eye(4)
    whole = (even[0] - slope_even * first) * identity + slope_even * twice
    whole += matrix * ((odd[0] - slope_odd * first) * identity + slope_odd * twice)
    return tuple(tuple(whole[row, column] for column in range(4)) for row in range(4))


def frequency_and_derivatives(arm, shapes, theory, omega):
    """The natural frequency nearest to ``omega``, and its derivative by every address; mpf numbers.

    The derivative by an infinite joint stiffness is zero and not differenced.
    """
    with mp.workdps(DIGITS):
        values = {name: mpf(value) for name, value in parameters_of(arm).items()}
        step = mpf(_STEP)

        def at(omega, **changes):
            return determinant(values | changes, shapes, theory, omega)

        start = mpf(float(omega))
        ends = (start * (1 - mpf("1e-11")), start * (1 + mpf("1e-11")))
        exact = mp.findroot(lambda w: at(w), ends, solver="secant", tol=mpf("1e-120"), verify=False)
        h = exact * step
        slope = (at(exact + h) - at(exact - h)) / (2 * h)
        found = {}
        for name, value in values.items():
            if mp.isinf(value):
                found[name] = mpf(0)
                continue
            h = step * (abs(value) if value != 0 else mpf(1))
            change = at(exact, **{name: value + h}) - at(exact, **{name: value - h})
            found[name] = -change / (2 * h) / slope
        return exact, found


def assert_sensitivities(arm, shapes, theory, modes, frequency_error, derivative_error):
    """Of an arm by all addresses; errors of derivatives, each times its value, relative to the largest.

    A derivative by what is 0 is taken as it is; rigid joints are no parameters.
    """
    table = jm.sensitivities(arm, max(modes) + 1, theory=theory)
    values = parameters_of(arm)
    scale = np.array([abs(values[a]) or 1.0 for a in table.addresses])
    scale[~np.isfinite(scale)] = 0.0
    for mode in modes:
        omega = float(table.frequencies.omega[mode])
        exact, derivatives = frequency_and_derivatives(arm, shapes, theory, omega)
        assert abs(omega / float(exact) - 1) <= frequency_error
        assert set(derivatives) == set(table.addresses)
        expected = np.array([float(derivatives[a]) for a in table.addresses])
        weighted = np.abs(np.asarray(table.derivative)[mode] - expected) * scale
        assert np.max(weighted) <= derivative_error * np.max(np.abs(expected) * scale), mode
