"""Do heavy hubs and geared rotors at joints, and soft springs beside them, keep the digits of shapes and derivatives?

Against transfer matrices in 40 digits. A rotor of inertia J and gear ratio N stands for J N^2 at its joint and for J N
between the two sides of it, which is thousands of times the inertia of a link in these arms.
"""

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from tests.response.exact_chain import Chain
from tests.support.real_arms import random_arm, steel

EXACT = 1e-12
"""Of the largest motion of its kind. Rounding of the fields, 1e-16, grows with the ratio of the waves in one link to
the motion of its ends and as 1 over the distance to the next mode, each up to 1e2 here."""

DERIVATIVE = 2e-12
"""Relative: squares of such motions."""

CLEAR = 1e-3
"""What moves less than this, of the largest, is not compared relatively."""

ORTHOGONAL = 1e-12
"""That of all random arms (`tests/dynamic_stiffness/test_real_arms.py`)."""

CONDITIONS = 1e-10
"""That of all random arms."""


def heavy_hub(stiffness):
    """A hub of 10^8 times the mass of the links on a spring, between two links."""
    spring = {"joint_stiffness": stiffness, "joint_axial_stiffness": 1e5}
    hub = {"hub_mass": 3e8, "hub_inertia": 1e7, "joint_shear_stiffness": 1e6}
    links = (steel(joint_stiffness=1e4), steel(joint_angle=0.6, **spring, **hub))
    return jm.Arm(links, jm.Payload(1.0, 0.01))


def heavy_rotor():
    """A rotor of 10^5 times the inertia of a link, with its gear."""
    driven = steel(
        joint_angle=0.6,
        joint_stiffness=1e6,
        rotor_inertia=1.0,
        gear_ratio=160.0,
        motor="beyond_spring",
    )
    return jm.Arm((steel(joint_stiffness=1e4), driven), jm.Payload(1.0, 0.01))


def resonant_rotor(off):
    """The rotor and the spring are in resonance with each other at about the first frequency of the rest."""
    arm = jm.Arm(
        (
            steel(),
            steel(
                joint_angle=0.6,
                joint_stiffness=1e3,
                rotor_inertia=1e-9,
                gear_ratio=100.0,
                motor="beyond_spring",
            ),
        )
    )
    omega = float(jm.natural_frequencies(arm, 3).omega[2])
    return jm.set_parameters(arm, {"link2.rotor_inertia": (1.0 + off) * 0.1 / omega**2})


CASES = {
    "rotors 32": (random_arm(32, "rotors"), "bending_only", 5),
    "rotors 44": (random_arm(44, "rotors"), "rayleigh", 5),
    "rotors 89": (random_arm(89, "rotors"), "timoshenko", 5),
    "rotors 94": (random_arm(94, "rotors"), "timoshenko", 1),
    "rotors 142": (random_arm(142, "rotors"), "bending_only", 5),
    "soft springs 18": (random_arm(18, "hubs"), "bending_only", 5),
    "soft springs 21": (random_arm(21, "rigid"), "bending_only", 4),
    "heavy hub": (heavy_hub(1e3), "timoshenko", 3),
    "heavy hub, stiff": (heavy_hub(np.inf), "timoshenko", 3),
    "heavy rotor": (heavy_rotor(), "timoshenko", 2),
    "rotor in resonance": (resonant_rotor(1e-3), "timoshenko", 2),
    "rotor near resonance": (resonant_rotor(0.12), "timoshenko", 2),
}
"""An arm, a theory, and the mode (from 0) that lost most."""


def exact_motions(arm, theory, omega):
    """The frequency in 40 digits, and u, v, psi at both ends of each link and the turns of the joints, (n, 7)."""
    places = [
        (place, number, None, row)
        for number in range(len(arm.links))
        for place in ("joint", "tip")
        for row in ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    ]
    places += [("relative", number, None, (0, 0, 1)) for number in range(len(arm.links))]

    def passed(w):
        return Chain(arm, w, theory)._pass((None, None, None, (0, 0, 0)), places)

    def determinant(w):
        return mpmath.re(Chain(arm, w, theory).determinant())

    with mpmath.workdps(40):
        start = mpmath.mpf(float(omega))
        exact = mpmath.findroot(
            determinant, (start, start * (1 + mpmath.mpf("1e-15"))), solver="secant", verify=False
        )
        state, rows = passed(exact)
        conditions = state[3:6, 0:3].apply(mpmath.re)
        _, _, right = mpmath.svd_r(conditions)
        forces = right[2, :].T
        found = [(row[0, 0:3].apply(mpmath.re) * forces)[0] for row in rows]
        largest = max(abs(x) for x in found)
        values = np.array([float(x / largest) for x in found])
        n = len(arm.links)
        return float(exact), np.hstack([values[: 6 * n].reshape(n, 6), values[6 * n :, None]])


def sprung(arm):
    """Addresses of the torsional springs of an arm, and their links from 0."""
    given = [float(link.joint_stiffness) for link in arm.links]
    links = [k for k, stiffness in enumerate(given) if 0.0 < stiffness < np.inf]
    return [f"link{k + 1}.joint_stiffness" for k in links], links


#: others of the same structures are fast
SLOW = {"rotors 44", "rotors 94", "rotors 142", "soft springs 18"}


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=[pytest.mark.slow] if x in SLOW else []) for x in CASES]
)
def test_shapes_and_derivatives_against_forty_digits(name):
    arm, theory, mode = CASES[name]
    addresses, links = sprung(arm)
    shapes = jm.mode_shapes(arm, 6, theory=theory, stations=2)
    table = jm.sensitivities(arm, 6, theory=theory, addresses=addresses)
    exact, motions = exact_motions(arm, theory, float(shapes.omega[mode]))
    found = [np.asarray(x)[mode] for x in (shapes.u, shapes.v, shapes.psi)]
    true = [motions[:, [kind, 3 + kind]] for kind in range(3)]
    largest = np.unravel_index(np.argmax(np.abs(true[2])), true[2].shape)
    scale = found[2][largest] / true[2][largest]
    if all(link.base_offset_x is None for link in arm.links):  # else the ends are not at joints
        for x, y in zip(found, true, strict=True):
            assert np.max(np.abs(x / scale - y)) <= EXACT * np.max(np.abs(y))
    # the derivative by a spring is the square of its turn, over 2 omega, of a mode of unit modal mass
    turns = np.sqrt(2.0 * exact * np.asarray(table.derivative)[mode]) / np.abs(scale)
    expected = np.abs(motions[links, 6])
    clear = expected > CLEAR * np.max(expected)
    assert clear.any()
    assert np.max(np.abs(turns / expected - 1.0)[clear]) <= DERIVATIVE


@pytest.mark.parametrize("name", CASES)
def test_modes_are_orthogonal_and_meet_their_conditions(name):
    arm, theory, _ = CASES[name]
    shapes = jm.mode_shapes(arm, 6, theory=theory, stations=2)
    assert np.max(np.abs(np.asarray(shapes.orthogonality) - np.eye(6))) <= ORTHOGONAL
    assert np.max(np.asarray(shapes.residuals)) <= CONDITIONS
