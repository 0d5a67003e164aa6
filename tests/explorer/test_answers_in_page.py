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


def compare_slopes(tmp_path, arms, theories, in_space, modes=3, under_loads=False):
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
        arms,
        theories,
        alone,
        found,
        solved_in_page(tmp_path, cases, in_space, under_loads),
        strict=True,
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


#: an arm whose joints give way, so that motors move it
SPRUNG = PLANE.replace(links=tuple(x.replace(joint_stiffness=3e6) for x in PLANE.links))


def port_of(link, direction, station=None):
    """The port as the solver in the page takes it, and `name_of` its name in the library."""
    return {"link": link, "direction": direction} | (
        {} if station is None else {"station": station}
    )


def name_of(link, direction, station=None):
    place = "joint" if direction == "torque" else "tip" if station is None else "link"
    share = "" if station is None else f"@{station}"
    return f"{place}_{link + 1}{share}.{ {'turn': 'rotation'}.get(direction, direction) }"


@needs_node
@pytest.mark.parametrize("in_space", [False, True], ids=["plane", "space"])
def test_answers_with_the_damping_of_the_file(tmp_path, in_space):
    """Loss factors, Kelvin-Voigt times and dampers, in each link others, with forces at rest and without."""
    arm = SPACE if in_space else SPRUNG
    pressed = arm.replace(
        links=(arm.links[0], arm.links[1].replace(axial_force=-3e4), *arm.links[2:])
    )
    last = arm.num_links - 1
    pairs = [((last, "y"), (last, "y")), ((1, "x", 0.4), (last, "torque"))]
    omega, cases, arms = [60.0, 300.0, 900.0], [], []
    for each in (arm, pressed):
        links = [
            link.replace(
                joint_damping=50.0 + 10.0 * k,
                **({"loss_factor": 0.01 * k} if k % 2 else {"kelvin_voigt_time": 1e-5}),
                **({"joint_springs": tuple(x.replace(damping=30.0) for x in link.joint_springs)} if in_space else {}),
            )
            for k, link in enumerate(each.links)
        ]  # fmt: skip
        arms.append(each.replace(links=tuple(links)))
        ports = [[omega, *(port_of(*port) for port in pair), 0, True] for pair in pairs]
        cases.append(case(arms[-1], ports=ports, modes=1))
    for damped, got in zip(arms, solved_in_page(tmp_path, cases, in_space), strict=True):
        for pair, mine in zip(pairs, got["answers"], strict=True):
            names = [name_of(*port) for port in pair]
            truth = jm.frequency_response(damped, np.array(omega), *names).magnitude.ravel()
            np.testing.assert_allclose(mine, truth, rtol=2e-5, atol=0.0)


@needs_node
def test_ports_that_are_none(tmp_path):
    """Any direction by its components; a rigid joint, whose motor moves nothing; what is refused."""
    tip = {"link": 2, "direction": "y"}
    turned = {"link": 2, "direction": [3.0, 4.0]}
    wrong = [{"link": 0, "station": 1.5, "direction": "y"}, {"link": 0, "direction": [0, 0]}]
    right = [[[30.0], turned, turned], [[30.0], {"link": 0, "direction": "torque"}, tip]]
    cases = [case(PLANE, ports=right, modes=1)]
    cases += [case(PLANE, ports=[[[30.0], each, tip]], modes=1) for each in wrong]
    found, *told = solved_in_page(tmp_path, cases)
    compliance = jm.frequency_response(
        PLANE, np.array([30.0]), *[["tip_3.x", "tip_3.y"]] * 2
    ).values
    along = np.array([0.6, 0.8]) @ compliance[:, :, 0] @ np.array([0.6, 0.8])
    np.testing.assert_allclose(found["answers"][0], [abs(along)], rtol=1e-8, atol=0.0)
    assert found["answers"][1] == [0.0]
    assert "station = 1.5: must be more than 0, and less than 1" in told[0]["error"]
    assert "direction = 0,0" in told[1]["error"]


@needs_node
@pytest.mark.parametrize("in_space", [False, True], ids=["plane", "space"])
def test_answers_to_forces(tmp_path, in_space):
    """Forces and moments, at one tip or at two, over resonances: receptances of the arm without damping."""
    arm = SPACE if in_space else SPRUNG
    last, turn = arm.num_links - 1, "rz" if in_space else "turn"
    across, along = ("link_z", "link_rx") if in_space else ("across", "turn")
    pairs = [((last, "y"), (last, "y")), ((last, "y"), (0, "x")), ((1, turn), (last, "x"))]
    pairs += [((1, across, 0.3), (1, along, 0.8)), ((1, across, 0.3), (last, "torque"))]
    pairs += [((0, "torque"), (1, "torque"))]
    omega = np.linspace(3.0, 900.0, 40)
    ports = [[omega.tolist(), *(port_of(*port) for port in pair)] for pair in pairs]
    (got,) = solved_in_page(tmp_path, [case(arm, ports=ports)], in_space)

    def size_of(*ports):
        names = [name_of(*port) for port in ports]
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
    arm = SPACE if in_space else SPRUNG
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
