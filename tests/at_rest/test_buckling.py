"""Buckling factors: closed forms, series of 40 digits, nonlinear potentials of rigid chains, bounds on both sides."""

import math

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.at_rest.loaded_arms import LoadedArm
from jaxmodal.statics.load_factors import factors
from jaxmodal.statics.pieces import Prestress
from tests.at_rest.columns import BEAM, EB, INF, PUSH, SUPPORTS, WEIGHT, close, column


def euler(name, count):
    """Loads of ideal columns over E I/L^2."""
    n = np.arange(1, count + 1)
    tangents = [
        float(mpmath.findroot(lambda x: mpmath.sin(x) - x * mpmath.cos(x), (k + 0.5) * np.pi - 0.1))
        for k in n
    ]
    both = np.sort(np.append((2 * n * np.pi) ** 2, 4 * np.array(tangents) ** 2))
    return {
        "clamped-free": ((n - 0.5) * np.pi) ** 2,
        "pinned-pinned": (n * np.pi) ** 2,
        "clamped-pinned": np.array(tangents) ** 2,
        "pinned-clamped": np.array(tangents) ** 2,
        "clamped-clamped": both[:count],
    }[name]


@pytest.mark.parametrize("name", SUPPORTS)
def test_euler_loads(name):
    found = jm.buckling(column(name), 4, theory=EB, **PUSH)
    close(found.factors, euler(name, 4), 1e-12)
    assert found.certified.all()
    assert list(found.count_below) == [0, 1, 2, 3]
    assert np.all(found.multiplicity == 1)


@pytest.mark.parametrize("spring", [1e-5, 1e-9, 1e-13, 1e-17])
def test_springs_that_hold_next_to_nothing(spring):
    """On a spring at its tip of this much of E I/L^3 a column is nearly free; buckles where tan x = x - x^3/spring."""
    found = jm.buckling(column("clamped-free", support_y_stiffness=spring), 2, theory=EB, **PUSH)
    with mpmath.workdps(40):
        exact = [
            float(
                mpmath.findroot(
                    lambda x: (x - x**3 / spring) * mpmath.cos(x) - mpmath.sin(x),
                    (k + 0.5) * mpmath.pi,
                )
                ** 2
            )
            for k in range(2)
        ]
    close(found.factors, exact, 1e-12)


@pytest.mark.parametrize("name", ["clamped-free", "pinned-pinned", "clamped-clamped"])
def test_engesser_loads(name):
    """With shear, P = P_E/(1 + P_E/(kappa G A)) where both ends stay plane, and no load exceeds kappa G A."""
    stocky = column(name, section=jm.raw_section(1.0, 1.0, 1.0), shear_modulus=30.0)
    found = jm.buckling(stocky, 1, theory="timoshenko", **PUSH)
    ideal = euler(name, 1)
    close(found.factors, ideal / (1 + ideal / 30.0), 1e-12)
    if name == "pinned-pinned":
        ideal = euler(name, 12)
        many = jm.buckling(stocky, 12, theory="timoshenko", **PUSH)
        close(many.factors, ideal / (1 + ideal / 30.0), 1e-11)
        assert many.factors[-1] < 30.0


def own_weight(name):
    """q L^3/(E I) from the series of w'''' + q ((1 - x) w')' = 0 in 40 digits."""
    with mpmath.workdps(40):

        def motions(q):
            """Of each of four solutions at x = 1: w, w', w'', w''', from w, w', w'', w''' at 0."""
            found, terms = [], 120  # of 75^m/(2 m)!, 1e-67 beyond
            for k in range(4):
                c = [mpmath.mpf(0)] * terms
                c[k] = 1 / mpmath.factorial(k)
                for m in range(terms - 4):
                    rest = (m + 2) * c[m + 2] - (m + 1) * c[m + 1]
                    c[m + 4] = -q * rest / ((m + 4) * (m + 3) * (m + 2))
                found.append(
                    [sum(c[m] * math.perm(m, d) for m in range(d, terms)) for d in range(4)]
                )
            return found

        base, tip = {
            "clamped-free": ((2, 3), (2, 3)),
            "pinned-pinned": ((1, 3), (0, 2)),
            "clamped-pinned": ((2, 3), (0, 2)),
            "pinned-clamped": ((1, 3), (0, 1)),
            "clamped-clamped": ((2, 3), (0, 1)),
        }[name]  # what is free at the base, what vanishes at the tip (no axial force there)

        def condition(q):
            m = motions(q)
            return m[base[0]][tip[0]] * m[base[1]][tip[1]] - m[base[0]][tip[1]] * m[base[1]][tip[0]]

        return mpmath.findroot(condition, OWN_WEIGHT[name])


OWN_WEIGHT = {
    "clamped-free": 7.8373474389,
    "pinned-pinned": 18.56872484,
    "clamped-pinned": 52.50066308,
    "pinned-clamped": 30.00942113,
    "clamped-clamped": 74.62856872,
}


@pytest.mark.parametrize("name", SUPPORTS)
def test_columns_under_their_own_weight(name):
    """Against 40 digits, and these against printed values."""
    truth = own_weight(name)
    assert abs(truth - OWN_WEIGHT[name]) <= 0.6 * 10 ** (-10 if name == "clamped-free" else -8)
    found = jm.buckling(column(name), 1, theory=EB, **WEIGHT)
    assert found.certified[0]
    close(found.factors, float(truth), 1e-13)
    if name == "clamped-free":  # Bessel's function of order -1/3, and the critical length
        zero = mpmath.findroot(lambda x: mpmath.besselj(-mpmath.mpf(1) / 3, x), 1.87)
        close(found.factors, float((1.5 * zero) ** 2), 1e-13)
        assert abs(found.factors[0] ** (1 / 3) - 1.9863527074) <= 0.6e-10


@pytest.mark.parametrize("name", SUPPORTS)
def test_bounds_by_constant_forces(name):
    """Pieces that carry the most and the least of the weight bound the factor on both sides, ever closer."""
    exact, widths = jm.buckling(column(name), 1, theory=EB, **WEIGHT).factors[0], []
    for pieces in (4, 16):
        first = BEAM.replace(
            length=1.0 / pieces, joint_stiffness=SUPPORTS[name].get("joint_stiffness", INF)
        )
        rest = BEAM.replace(length=1.0 / pieces, segment=True)
        tip = {k: v for k, v in SUPPORTS[name].items() if k.startswith("support")}
        links = [first, *[rest] * (pieces - 1)]
        links[-1] = links[-1].replace(**tip)
        beams = beam_values(jm.Arm(tuple(links)))
        zero = np.zeros(pieces)
        ends = []
        for at in (np.arange(pieces), np.arange(1, pieces + 1)):  # the most and the least
            force = -(1.0 - at / pieces)
            problem = LoadedArm(beams, 0.0, 1.0, Prestress(force, force, *[zero] * 4))
            ends.append(next(factors(problem)).value)
        assert ends[0] < exact < ends[1]
        widths.append(ends[1] - ends[0])
    assert widths[1] < 0.3 * widths[0]


def rigid_chain(count, seed, slides=False):
    """Rigid bars with offsets on torsional springs, some on springs along and across, bodies off the axis."""
    rng = np.random.default_rng(seed)
    links = []
    for number in range(count):
        more = {}
        if slides and number:
            more = {
                "joint_axial_stiffness": rng.uniform(1.0, 3.0) * 100,
                "joint_shear_stiffness": rng.uniform(1.0, 3.0) * 100,
            }
        links.append(
            BEAM.replace(
                length=rng.uniform(0.5, 1.5),
                joint_angle=rng.uniform(-1.0, 1.0),
                joint_stiffness=rng.uniform(5.0, 9.0),
                tip_mass=rng.uniform(0.0, 2.0),
                hub_mass=rng.uniform(0.0, 1.0),
                tip_centre_x=rng.uniform(-0.3, 0.3),
                tip_centre_y=rng.uniform(-0.3, 0.3),
                base_offset_x=rng.uniform(-0.2, 0.2),
                base_offset_y=rng.uniform(-0.2, 0.2),
                end_offset_x=rng.uniform(-0.2, 0.2),
                end_offset_y=rng.uniform(-0.2, 0.2),
                rigid=True,
                **more,
            )
        )
    return jm.Arm(tuple(links), jm.Payload(mass=1.5, centre_x=0.2, centre_y=-0.1))


def potential(arm, gravity, tip, turns, gives):
    """Of dead loads at finite turns of the joints and gives of their slides, which stand in the part before."""
    x, angle, turned = mpmath.matrix([0, 0]), mpmath.mpf(0), mpmath.mpf(0)
    total = mpmath.mpf(0)

    def at(point, along, across, direction):
        c, s = mpmath.cos(direction), mpmath.sin(direction)
        return mpmath.matrix([point[0] + c * along - s * across, point[1] + s * along + c * across])

    def weigh(mass, point):
        return -mass * (gravity[0] * point[0] + gravity[1] * point[1])

    for i, link in enumerate(arm.links):
        angle += mpmath.mpf(float(link.joint_angle))
        x = at(x, gives[2 * i], gives[2 * i + 1], angle + turned)
        turned += turns[i]
        now = angle + turned
        total += weigh(float(link.hub_mass), x)
        x = at(x, float(link.base_offset_x), float(link.base_offset_y), now)
        total += weigh(float(link.mass), at(x, float(link.length) / 2, 0, now))
        x = at(x, float(link.length) + float(link.end_offset_x), float(link.end_offset_y), now)
        bodies = [(link.tip_mass, link.tip_centre_x, link.tip_centre_y)]
        if link is arm.links[-1]:
            bodies.append((arm.payload.mass, arm.payload.centre_x, arm.payload.centre_y))
        for mass, along, across in bodies:
            total += weigh(float(mass), at(x, float(along), float(across), now))
    return total - tip[0] * x[0] - tip[1] * x[1]


@pytest.mark.parametrize("slides", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_rigid_chains_by_their_nonlinear_potential(slides, seed):
    """K + factor H, H the second derivatives of the exact potential of all dead loads by finite turns and gives."""
    arm, gravity, tip = rigid_chain(2, seed, slides), (0.7, -1.0), (-1.0, 0.5)
    names = [(0, 2), (1, 2), *([(1, 0), (1, 1)] if slides else [])]
    with mpmath.workdps(30):
        step = mpmath.mpf(10) ** -8

        def value(moves):
            turns, gives = [mpmath.mpf(0)] * 2, [mpmath.mpf(0)] * 4
            for (i, k), move in zip(names, moves, strict=True):
                if k == 2:
                    turns[i] = move
                else:
                    gives[2 * i + k] = move
            return potential(arm, gravity, tip, turns, gives)

        size = len(names)
        hessian = np.zeros((size, size))
        for a in range(size):
            for b in range(size):
                total = 0
                for p in (1, -1):
                    for q in (1, -1):
                        moves = [mpmath.mpf(0)] * size
                        moves[a] += p * step
                        moves[b] += q * step
                        total += p * q * value(moves)
                hessian[a, b] = float(total / (4 * step**2))
    springs = ("joint_axial_stiffness", "joint_shear_stiffness", "joint_stiffness")
    stiffness = np.diag([float(getattr(arm.links[i], springs[k])) for i, k in names])
    inverse = np.linalg.eigvals(-np.linalg.solve(stiffness, hessian)).real
    truth = 1.0 / inverse[np.abs(inverse) > 1e-12]
    truth = truth[np.argsort(np.abs(truth))]
    found = jm.buckling(arm, truth.size, theory=EB, gravity=gravity, tip_force=tip, both_signs=True)
    close(found.factors, truth, 1e-10)
    assert found.certified.all()
    beyond = jm.buckling(
        arm, truth.size + 1, theory=EB, gravity=gravity, tip_force=tip, both_signs=True
    ).factors[-1]
    assert not np.isfinite(beyond)  # no more than these


def test_two_columns_that_do_not_feel_each_other_buckle_at_once():
    """A straight arm clamped in its middle: each half is a column of its own, equally loaded; a double factor."""
    middle = {"support_y_stiffness": INF, "support_torsional_stiffness": INF}
    arm = jm.Arm((BEAM.replace(**middle), BEAM.replace(segment=True, **middle)))
    found = jm.buckling(arm, 3, theory=EB, addresses=["link1.length"], **PUSH)
    close(found.factors, np.array([4, 4, 4 * 4.493409457909064**2 / np.pi**2]) * np.pi**2, 1e-12)
    assert list(found.multiplicity) == [2, 2, 2]
    assert found.certified.all()
    assert np.isnan(found.derivatives).all()


def test_both_signs_and_no_factor():
    hanging = jm.buckling(column("clamped-free"), 2, theory=EB, gravity=(1.0, 0.0))
    assert np.isposinf(hanging.factors).all()
    assert hanging.certified.all()
    both = jm.buckling(column("clamped-free"), 2, theory=EB, gravity=(1.0, 0.0), both_signs=True)
    close(both.factors, [-7.837347438943488, -55.977029681], 1e-9)
    assert np.all(both.bracket[0] < 0.0)
