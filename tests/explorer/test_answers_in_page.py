"""What the solver in the page says beside frequencies, against the library: derivatives, and answers to forces."""

import json

import numpy as np
import pytest

import jaxmodal as jm
from sweeps.explorer.solver import arm_json
from tests.explorer.page_arms import THEORIES, case, needs_node, random_arm, solved_in_page
from tests.explorer.test_space_in_page import random_in_space

PLANE = jm.examples.three_link_industrial().with_posture([0.4, -1.1, 0.8])
SPACE = jm.examples.six_axis_industrial()


def compare_slopes(tmp_path, arms, theories, in_space, modes=3):
    """Logarithmic derivatives with respect to every value of the page, of modes that stand alone."""
    found = [
        jm.natural_frequencies(arm, modes + 1, theory=theory)
        for arm, theory in zip(arms, theories, strict=True)
    ]
    alone = []
    for each in found:
        omega = np.asarray(each.omega)
        gaps = np.diff(omega) > 1e-2 * omega[1:]
        alone.append(
            [k for k in range(modes) if omega[k] > 0 and np.all(gaps[max(k - 1, 0) : k + 1])]
        )
    cases = [
        case(arm, theory, modes=modes + 1, slopes=own)
        for arm, theory, own in zip(arms, theories, alone, strict=True)
    ]
    compared = 0
    for arm, theory, own, each, got in zip(
        arms, theories, alone, found, solved_in_page(tmp_path, cases, in_space), strict=True
    ):
        names = json.loads(arm_json(arm, theory))["addresses"]
        table = jm.sensitivities(arm, modes + 1, theory=theory, addresses=names)
        truth = np.asarray(table.derivative) / np.asarray(each.omega)[:, None]
        for k, row in zip(own, got["slopes"], strict=True):
            mine = np.array([np.nan if x is None else x for x in row])
            there = np.isfinite(mine)
            least = 1e-9 * np.nanmax(np.abs(truth[k, there]))
            np.testing.assert_allclose(mine[there], truth[k, there], rtol=1e-6, atol=least)
            compared += 1
    assert compared >= len(arms)


@needs_node
def test_derivatives_of_planar_arms(tmp_path):
    arms = [PLANE, *(random_arm(seed) for seed in (3, 8, 10))]
    compare_slopes(tmp_path, arms, ["timoshenko", *THEORIES[:3]], False)


@needs_node
def test_derivatives_of_arms_in_space(tmp_path):
    arms = [SPACE, random_in_space(2)]
    compare_slopes(tmp_path, arms, ["timoshenko", "rayleigh"], True)


@needs_node
@pytest.mark.parametrize("in_space", [False, True], ids=["plane", "space"])
def test_answers_to_forces(tmp_path, in_space):
    """Forces and moments, at one tip or at two, over resonances: receptances of the arm without damping."""
    arm = SPACE if in_space else PLANE
    last, turn = arm.num_links - 1, "rz" if in_space else "turn"
    pairs = [((last, "y"), (last, "y")), ((last, "y"), (0, "x")), ((1, turn), (last, "x"))]
    omega = np.linspace(3.0, 900.0, 40)
    ports = [
        [omega.tolist(), *({"link": k, "direction": name} for k, name in pair)] for pair in pairs
    ]
    (got,) = solved_in_page(tmp_path, [case(arm, ports=ports)], in_space)
    own = {"turn": "rotation"}

    def size_of(*ports):
        names = [f"tip_{k + 1}.{own.get(name, name)}" for k, name in ports]
        return jm.frequency_response(arm, omega, *names).magnitude.ravel()

    for pair, mine in zip(pairs, got["answers"], strict=True):
        found, truth = np.array(mine, float), size_of(*pair)
        there = np.isfinite(found)
        # digits of an answer at another port are left of the larger ones at both: of a square of 1e-8 half of them
        np.testing.assert_allclose(found[there], truth[there], rtol=2e-5, atol=0.0)
        beside = np.sqrt(size_of(pair[0], pair[0]) * size_of(pair[1], pair[1]))
        assert np.all(truth[~there] < 1.01e-4 * beside[~there])
        assert np.sum(there) > 20


def lossy(arm, loss, omega):
    """The arm with a loss factor in all that gives way, at one frequency."""

    def with_losses(link):
        given = {} if link.rigid else {"loss_factor": loss}
        if np.isfinite(link.joint_stiffness):
            given["joint_damping"] = loss * link.joint_stiffness / omega
        if springs := getattr(link, "joint_springs", ()):
            given["joint_springs"] = tuple(
                x.replace(damping=loss * x.stiffness / omega) for x in springs
            )
        return link.replace(**given)

    return arm.replace(links=tuple(map(with_losses, arm.links)))


@needs_node
@pytest.mark.parametrize("in_space", [False, True], ids=["plane", "space"])
def test_answers_with_losses(tmp_path, in_space):
    """Next to a resonance, between two, with small losses and large ones."""
    arm = (
        SPACE
        if in_space
        else PLANE.replace(links=tuple(x.replace(joint_stiffness=3e6) for x in PLANE.links))
    )
    last = arm.num_links - 1
    first = float(jm.natural_frequencies(arm, 1).omega[0])
    pairs = [((last, "y"), (last, "y")), ((last, "y"), (0, "x"))]
    omega = [0.3 * first, first, 1.01 * first, 7.7 * first]
    ports = [
        [omega, *({"link": k, "direction": name} for k, name in pair), loss]
        for pair in pairs
        for loss in (1e-4, 0.05, 0.7)
    ]
    (got,) = solved_in_page(tmp_path, [case(arm, ports=ports)], in_space)
    for (_, a, b, loss), answers in zip(ports, got["answers"], strict=True):
        names = [f"tip_{port['link'] + 1}.{port['direction']}" for port in (a, b)]
        for at, mine in zip(omega, answers, strict=True):
            truth = jm.frequency_response(lossy(arm, loss, at), np.array([at]), *names)
            np.testing.assert_allclose(mine, float(truth.magnitude.ravel()[0]), rtol=2e-5, atol=0.0)
