"""Answers of arms in space under loads that lose energy: the solver in the page against the library, in Node."""

import math

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.spatial.modes.modal_model import modal_model
from jaxmodal.spatial.preload.equilibrium import rest_in_space
from sweeps.explorer.page import arm_page_html
from tests.explorer.page_arms import case, csv_of, needs_node, solved_in_page
from tests.explorer.test_answers_in_page import lossy, name_of, port_of
from tests.explorer.test_held_loads_in_page import FREE, HELD
from tests.explorer.test_space_in_page import BAR, HARD, SIX, supported
from tests.explorer.test_space_loads_in_page import BASE, HEAVY, TWO

TIP, INSIDE, MOTOR = (1, "z"), (0, "z", 0.35), (1, "torque")
OMEGA = [40.0, 300.0, 900.0]


def damped(arm):
    """The arm with a loss factor or a Kelvin-Voigt time in each link, and dampers in all joints."""
    return arm.replace(
        links=tuple(
            link.replace(
                **({} if link.prismatic else {"joint_damping": 50.0 + 10.0 * k}),
                joint_springs=tuple(x.replace(damping=30.0) for x in link.joint_springs),
                **({} if link.rigid else {"loss_factor": 0.02} if k % 2 else {"kelvin_voigt_time": 1e-5}),
            )
            for k, link in enumerate(arm.links)
        )
    )  # fmt: skip


def response(arm, omega, first, second):
    """The size of the library's answer at some frequencies."""
    found = jm.frequency_response(arm, np.array(omega), name_of(*first), name_of(*second))
    return found.magnitude.ravel()


def answers(tmp_path, arm, asked):
    """What the page answers to some frequencies, pairs of ports and losses."""
    ports = [[omega, port_of(*a), port_of(*b), *more] for omega, a, b, *more in asked]
    (got,) = solved_in_page(tmp_path, [case(arm, ports=ports, modes=1)], True, True)
    assert "error" not in got, got
    return got["answers"]


def same_with_the_damping_of_the_file(tmp_path, arm, tip=TIP, motor=MOTOR, turned=(0, "link_ry")):
    arm = damped(arm)
    pairs = [(tip, tip), (motor, motor), (tip, INSIDE[:1] + tip[1:] + INSIDE[2:]), (motor, turned)]
    found = answers(tmp_path, arm, [(OMEGA, *pair, 0, True) for pair in pairs])
    for pair, mine in zip(pairs, found, strict=True):
        np.testing.assert_allclose(mine, response(arm, OMEGA, *pair), rtol=1e-8, atol=0.0)


@needs_node
def test_the_damping_of_the_file(tmp_path):
    """On a clamped base; and on an elastic one, on a spring and a rigid support, with free joints."""
    same_with_the_damping_of_the_file(tmp_path, TWO)
    shared = jm.set_parameters(HELD["one"].replace(base_stiffness=BASE), FREE)
    same_with_the_damping_of_the_file(tmp_path, shared)


@needs_node
def test_the_motor_of_a_rigid_joint_moves_nothing(tmp_path):
    stiff = damped(jm.set_parameters(TWO, {"link1.joint_stiffness": math.inf}).replace(loads=HEAVY))
    ((mine,),) = [answers(tmp_path, stiff, [(OMEGA, (0, "torque"), TIP, 0, True)])]
    assert mine == [0.0] * len(OMEGA)


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize(
    ("arm", "ports"),
    [
        (HELD["springs"], {}),
        (HELD["every"], {}),
        (HARD["sliding"].replace(loads=HEAVY), {"motor": (0, "torque")}),
        # what a joint about z does not move is left out
        (HARD["rigid"].replace(loads=HEAVY), {"tip": (1, "y"), "turned": (0, "link_rz")}),
        (SIX.replace(loads=HEAVY, base_stiffness=BASE), {}),
    ],
    ids=["springs", "every", "sliding", "rigid", "base"],
)
def test_the_damping_of_other_files(tmp_path, arm, ports):
    """Springs, six rigid supports at one tip, a slide, rigid links, an elastic base."""
    same_with_the_damping_of_the_file(tmp_path, arm, **ports)


@needs_node
def test_a_loss_factor_of_all(tmp_path):
    """Beside a resonance, between two, with small losses and large ones."""
    first = float(jm.natural_frequencies(TWO, 1).omega[0])
    omega = [0.3 * first, first, 7.7 * first]
    asked = [(omega, TIP, port, loss) for port in (TIP, INSIDE) for loss in (1e-4, 0.7)]
    found = answers(tmp_path, TWO, asked)
    for (_, a, b, loss), mine in zip(asked, found, strict=True):
        truth = [response(lossy(TWO, loss, at), [at], a, b)[0] for at in omega]
        np.testing.assert_allclose(mine, truth, rtol=1e-8, atol=0.0)


@needs_node
def test_a_base_loses_energy(tmp_path):
    """As the springs of a joint do that give way in the same six directions."""
    k = [2e5, 3e5, 2e5, 4e4, 5e4, 3e4]
    based = TWO.replace(links=(BAR, TWO.links[1]), base_stiffness=np.diag(k))
    moved = [jm.Spring("translation", tuple(np.eye(3)[i]), k[i]) for i in range(3)]
    turned = [jm.Spring("rotation", tuple(np.eye(3)[i]), k[3 + i]) for i in (0, 2)]
    first = BAR.replace(joint_springs=(*moved, *turned), joint_stiffness=k[4])
    jointed = TWO.replace(links=(first, TWO.links[1]))
    found = answers(tmp_path, based, [(OMEGA, TIP, INSIDE, loss) for loss in (0.05, 0.7)])
    for loss, mine in zip((0.05, 0.7), found, strict=True):
        truth = [response(lossy(jointed, loss, at), [at], TIP, INSIDE)[0] for at in OMEGA]
        np.testing.assert_allclose(mine, truth, rtol=1e-8, atol=0.0)


@needs_node
def test_supports_lose_energy(tmp_path):
    """As springs between the tip and the ground change the answers of the arm without them, under the same forces."""
    given = {2: [("translation", (0, 1, 1), 1e5), ("translation", (1, 0.3, 1), math.inf)]}
    held, directions = supported(TWO, given), [np.array([0, 1, 1]), np.array([1, 0.3, 1])]
    model = modal_model(held.replace(loads=None).model("timoshenko"))
    rest = rest_in_space(model, held.loads.dead())
    forces = zip(("tip_force_x", "tip_force_y", "tip_force_z"), rest.pushes[-1][:3], strict=True)
    pushed = TWO.replace(loads=TWO.loads.replace(**{name: float(x) for name, x in forces}))
    # of a port in the library along x, y, z and inside: supports, then the two that are asked
    ways = np.zeros((4, 4))
    for k, direction in enumerate(directions):
        ways[:3, k] = direction / np.linalg.norm(direction)
    ways[2, 2] = ways[3, 3] = 1.0
    names = ["tip_2.x", "tip_2.y", "tip_2.z", name_of(*INSIDE)]
    found = answers(tmp_path, held, [(OMEGA, TIP, INSIDE, loss) for loss in (0.05, 0.7)])
    for loss, mine in zip((0.05, 0.7), found, strict=True):
        for at, answer in zip(OMEGA, mine, strict=True):
            alone = jm.frequency_response(lossy(pushed, loss, at), np.array([at]), names, names)
            every = ways.T @ alone.values[:, :, 0] @ ways
            gives = np.diag([1.0 / (1e5 * (1.0 + 1j * loss)), 0.0])
            held_back = np.linalg.solve(gives + every[:2, :2], every[:2, 3])
            truth = abs(every[2, 3] - every[2, :2] @ held_back)
            np.testing.assert_allclose(answer, truth, rtol=1e-8, atol=0.0)


@needs_node
def test_what_is_refused(tmp_path):
    """A frequency beyond all pieces; a loss factor of all on supports under axial forces alone."""
    tip = port_of(*TIP)
    (high,) = solved_in_page(
        tmp_path, [case(TWO, modes=1, ports=[[[1e9], tip, tip, 0.1]])], True, True
    )
    assert "1000000000 rad/s: a link would need too many pieces" in high["error"]
    pressed = case(HARD["pressed"], modes=1, ports=[[[40.0], tip, tip, 0.1]])
    (told,) = solved_in_page(tmp_path, [pressed], True)
    assert "the page has no loss factor for all of an arm with supports" in told["error"]


def test_a_page_answers_with_the_damping_of_its_file(shown):
    shared = jm.set_parameters(HELD["one"].replace(base_stiffness=BASE), FREE)
    arm, port = damped(shared), name_of(*TIP)
    browser = shown(arm_page_html(arm), f"force={port}&motion={port}")
    browser.until(
        "document.getElementById('response-note').textContent.startsWith('With the damping')"
    )
    browser.until("document.getElementById('response-plot').toDataURL().length > 4000")
    hertz, found = np.array(csv_of(browser, "response-csv")[:20], float).T
    truth = response(arm, 2.0 * math.pi * hertz, TIP, TIP)
    np.testing.assert_allclose(found, truth, rtol=1e-8, atol=0.0)
