"""Buckling of random arms against finite elements with geometric stiffness, and against frequencies that vanish."""

import dataclasses

import numpy as np
import pytest
import scipy.linalg

import jaxmodal as jm
from tests.support import finite_elements as fe
from tests.support.real_arms import STRUCTURES, random_arm

INF = np.inf
pytestmark = pytest.mark.filterwarnings("ignore::jaxmodal.LargeDeflectionWarning")
GRAVITY = np.array([4.0, -9.81])


def held_arm(seed, structure):
    """A random arm without slides beyond its base, hinges held by springs; one in three leans on supports."""
    arm, rng = random_arm(seed, structure), np.random.default_rng(seed)
    links = []
    for number, link in enumerate(arm.links):
        changes = {}
        if float(link.joint_stiffness) == 0.0:
            changes["joint_stiffness"] = 3e3
        if number:
            changes |= {"joint_axial_stiffness": None, "joint_shear_stiffness": None}
        links.append(link.replace(**changes))
    if seed % 3 == 0:
        links[0] = links[0].replace(support_y_stiffness=float(10 ** rng.uniform(2, 8)))
        links[2] = links[2].replace(support_x_stiffness=1e7 if seed % 4 == 3 else INF)
    return arm.replace(links=tuple(links))


def loaded_case(arm, theory, factor):
    """The finite elements' arm under a factor of its weight, the forces at rest by hand: sums from tip to base."""
    case = fe.case_from_arm(arm, theory)
    # of a millionth of the weight, under which none buckles
    rest = jm.static_equilibrium(arm, theory=theory, gravity=1e-6 * GRAVITY, stations=[0.0, 1.0])
    angles = np.cumsum([float(link.joint_angle) for link in arm.links])
    tip, links = np.zeros(2), []
    for number in reversed(range(len(case.links))):
        link, angle = case.links[number], angles[number]
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        tip = tip + 1e6 * rest.reactions[number, :2]
        bodies = [(link.M, *link.centre), (link.payload[0], *link.payload[2:])]
        if number + 1 < len(case.links):
            bodies.append((case.links[number + 1].stator[0], 0.0, 0.0))
        down = turn @ GRAVITY
        end = tip + sum(mass for mass, *_ in bodies) * GRAVITY
        turning = sum(mass * (down[0] * x + down[1] * y) for mass, x, y in bodies)
        force = turn @ end
        turning += force @ link.end
        start = end + (link.rho * link.A + link.q) * link.L * GRAVITY
        forces = ((turn @ start)[0], force[0])
        at_start = (turn @ start) @ link.base
        links.append(
            dataclasses.replace(
                link,
                axial=tuple(factor * x for x in forces),
                turning=(factor * at_start, factor * turning),
            )
        )
        tip = start + link.hub[0] * GRAVITY
    return fe.Case(tuple(reversed(links)), theory)


def negative(case, degree=14):
    """Negative eigenvalues of the finite elements' stiffness, by the signs of a factorisation (Sylvester's law).

    None where tension makes the bending of a link one of layers at its ends too thin for a few elements.
    """
    layers = [np.sqrt(np.max(np.abs(x.axial)) * x.L**2 / (x.E * x.I)) for x in case.links]
    if max(layers) > 100.0:
        return None
    full = fe.stiffness(case, degree, elements=[2 + int(x / 25.0) for x in layers])
    size = 1.0 / np.sqrt(
        np.maximum(1.0, np.abs(np.diag(full)))
    )  # strong tension would hide the rest
    _, blocks, _ = scipy.linalg.ldl(full * size[:, None] * size)
    return int(np.sum(scipy.linalg.eigvalsh_tridiagonal(np.diag(blocks), np.diag(blocks, 1)) < 0))


def compare(seed, structure, theory):
    """No factor is missed or invented: the finite elements count one more across each. How many were compared."""
    arm, compared = held_arm(seed, structure), 0
    found = jm.buckling(arm, 2, theory=theory, gravity=GRAVITY)
    known = found.factors[np.isfinite(found.factors)]
    assert found.certified[np.isfinite(found.factors)].all(), (seed, structure)
    for k, factor in enumerate(known, start=1):
        counts = [negative(loaded_case(arm, theory, factor * x)) for x in (1 - 1e-6, 1 + 1e-6)]
        if None not in counts:
            assert counts == [k - 1, k], (seed, structure, theory, factor, counts)
            compared += 1
    return compared


def own_seeds(structure):
    """Two of four: each has another theory, so that every theory meets several structures."""
    first = list(STRUCTURES).index(structure)
    return first % 4, (first + 2) % 4


@pytest.mark.parametrize("structure", STRUCTURES)
def test_random_arms(structure):
    sizes = [compare(seed, structure, fe.THEORIES[seed % 4]) for seed in own_seeds(structure)]
    assert sum(sizes) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
def test_many_random_arms(structure):
    """Each structure under every theory, with and without supports."""
    for seed in set(range(10)) - set(own_seeds(structure)):
        compare(seed, structure, fe.THEORIES[seed % 4])


def test_frequencies_vanish_at_the_buckling_load():
    """With the forces of a straight column given to its links, the square of the lowest frequency falls to zero.

    Linearly at the end: twice as near, half the square. Beyond, the solver calls the arm unstable.
    """
    beam = jm.Link(
        1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.03, "cowper"), poisson_ratio=0.33, axial_force=-1e4
    )
    arm = jm.Arm(
        (beam, beam.replace(axial_force=-3e4, joint_stiffness=2e4, support_y_stiffness=3e4))
    )
    factor = float(jm.buckling(arm).factors[0])

    def lowest(share):
        forces = {f"link{k}.axial_force": factor * share * f for k, f in ((1, -1e4), (2, -3e4))}
        return jm.natural_frequencies(jm.set_parameters(arm, forces), 1, throw=False)

    near, nearer = (float(lowest(1 - x).omega[0]) ** 2 for x in (2e-6, 1e-6))
    assert abs(near / nearer - 2.0) <= 1e-5
    assert not bool(lowest(1 + 1e-9).certified[0])
    assert bool(lowest(1 - 1e-9).certified[0])
