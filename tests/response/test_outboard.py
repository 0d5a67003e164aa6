"""Postures that share their outermost links: beside finite elements, exact at resonances, and computed once."""

import copy
import gc
import weakref

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.receptance import recursion_in_space
from tests.response.test_in_space import SIX, damped_tables, places
from tests.spatial.cases import tube
from tests.spatial.driven_elements import DrivenChain
from tests.spatial.exact_frequencies import receptance

OMEGA = np.linspace(20.0, 900.0, recursion_in_space.FEWEST)


def damped_arm():
    arm = jm.examples.six_axis_industrial()
    return arm.replace(links=tuple(link.replace(loss_factor=0.01) for link in arm.links))


def of_postures(seed):
    """Tables of a damped random arm in three postures: its address and angles, and the tables."""
    document, theory = damped_tables(seed, 4)
    number = int(np.random.default_rng(seed).integers(len(document["links"])))
    angles = [document["links"][number]["joint"]["angle"] + turn for turn in (0.0, 0.8, -1.9)]
    turned = []
    for angle in angles:
        turned.append(copy.deepcopy(document))
        turned[-1]["links"][number]["joint"]["angle"] = angle
    return {f"link{number + 1}.joint_angle": angles}, turned, theory


@pytest.mark.parametrize(
    "seeds", [range(6), pytest.param(range(6, 40), marks=pytest.mark.slow, id="more")]
)
def test_random_damped_arms_in_three_postures_beside_finite_elements(seeds, monkeypatch):
    """Ports everywhere, in axes of links and of the ground: to 1e-9 of each pair's largest over the frequencies."""
    monkeypatch.setattr(recursion_in_space, "FEWEST", 1)
    monkeypatch.setattr(recursion_in_space, "FEWEST_OF_MANY", 1)
    for seed in seeds:
        cells, documents, theory = of_postures(seed)
        chains = [DrivenChain(document, theory, 14) for document in documents]
        ports, names = places(chains[0])
        arm = jm.arm_from_dict(documents[0])
        modes = np.asarray(jm.natural_frequencies(arm, 6, theory=theory).omega)
        omega = np.sort(modes[-1] * 10 ** np.random.default_rng(seed).uniform(-2.5, 0.05, 4))
        found = jm.frequency_response(arm, omega, names, names, theory=theory, parameters=cells)
        assert found.ok
        kinks = [place[1] if place[0] == "middle" else -k for k, (place, _) in enumerate(ports)]
        for chain, values in zip(chains, np.asarray(found.values), strict=True):
            expected = np.stack([chain.response(w, ports, ports) for w in omega], axis=-1)
            size = np.sqrt(np.max(np.abs(np.einsum("iif->if", expected)), axis=-1))
            scale = size[:, None] * size[None, :]
            scale[scale == 0.0] = 1.0  # torques in rigid joints turn nothing
            error = np.abs(values - expected).max(axis=-1) / scale
            error[np.equal.outer(kinks, kinks) & np.greater(kinks, 0)] = 0.0
            assert error.max() < 1e-9, (seed, theory, names[int(error.argmax() // len(names))])


@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 8), marks=pytest.mark.slow, id="more")]
)
def test_random_damped_arms_in_three_postures_in_eighty_digits(seeds, monkeypatch):
    """All directions at the tip, below, among and above the first modes: to 1e-11 of each pair's size."""
    monkeypatch.setattr(recursion_in_space, "FEWEST_OF_MANY", 1)
    for seed in seeds:
        document, _ = damped_tables(seed, 4)
        document["links"] = [link for link in document["links"] if not link["rigid"]]
        for link in document["links"]:
            link["joint"]["stiffness"] = link["joint"]["stiffness"] or 300.0
        arm, address = jm.arm_from_dict(document), f"link{len(document['links'])}.joint_angle"
        modes = np.asarray(jm.natural_frequencies(arm, 3, theory="timoshenko").omega)
        omega = [0.3 * modes[0], 0.5 * (modes[0] + modes[1]), modes[2]]
        names, angles = [f"tip.{x}" for x in SIX], [0.3, 0.9, -1.7]
        found = jm.frequency_response(arm, omega, names, names, parameters={address: angles})
        for angle, values in zip(angles, np.asarray(found.values), strict=True):
            one = jm.set_parameters(arm, {address: angle})
            for k, w in enumerate(omega):
                exact = np.array(receptance(one, "timoshenko", w).tolist(), complex)
                size = np.sqrt(np.abs(np.diag(exact)))
                error = np.abs(values[..., k] - exact) / np.outer(size, size)
                assert error.max() < 1e-11, (seed, angle, k)


def test_every_mode_of_each_posture_is_a_resonance_of_a_fine_sweep_and_nothing_else():
    arm = jm.examples.six_axis_industrial()
    cells = {"link2.joint_angle": [0.4, 0.9, -0.6], "link3.joint_angle": [0.9, 0.2, 1.4]}
    each = [{name: angles[k] for name, angles in cells.items()} for k in range(3)]
    modes = np.array([jm.natural_frequencies(jm.set_parameters(arm, x), 4).omega for x in each])
    between = np.geomspace(0.3 * modes.min(), 1.1 * modes.max(), 800)
    between = between[np.abs(between[:, None] / modes.ravel() - 1.0).min(axis=1) > 1e-9]
    omega = np.concatenate([between, modes.ravel()])
    names = ["tip.x", "tip.y", "tip.z", "tip.rx"]
    found = jm.frequency_response(arm, omega, names, names, parameters=cells)
    infinite = np.asarray(found.status == jm.Status.resonance).any(axis=(1, 2))
    own = np.array([[w in row for w in omega] for row in modes])
    np.testing.assert_array_equal(infinite, own)


@pytest.fixture
def added(monkeypatch):
    """The links that are added, each as the numbers of its loads and of the entries asked for."""
    calls, recorded = [], recursion_in_space.recorded_link

    def spy(link, planes, squared, w, loads, asked, counted):
        calls.append((len(loads), len(asked)))
        return recorded(link, planes, squared, w, loads, asked, counted)

    monkeypatch.setattr(recursion_in_space, "recorded_link", spy)
    return calls


def test_shared_links_are_added_once(added):
    """Joint 3 of six turns: four links are alike, and two are left of each posture from the third on."""
    arm = damped_arm()
    cells = {"link3.joint_angle": [0.1, 0.5, -0.4, 1.3]}
    jm.frequency_response(arm, OMEGA, "tip.x", "tip.z", parameters=cells)
    assert len(added) == 6 + (4 + 2) + 2 + 2
    assert [loads for loads, _ in added] == 6 * [2] + 4 * [3] + 6 * [2]


def test_links_that_change_are_not_shared(added):
    arm = damped_arm()
    cells = {"payload.mass": [5.0, 6.0, 7.0]}
    found = jm.frequency_response(arm, OMEGA, "tip.x", "tip.z", parameters=cells)
    assert len(added) == 18
    for mass, values in zip(cells["payload.mass"], found.values, strict=True):
        one = jm.set_parameters(arm, {"payload.mass": mass})
        alone = jm.frequency_response(one, OMEGA, "tip.x", "tip.z").values
        np.testing.assert_array_equal(values, alone)


def test_what_is_shared_is_made_anew_after_a_link_changed():
    """An angle, the payload, the same angle: what was kept of the first payload is not taken for the second."""
    arm = jm.examples.six_axis_industrial()
    cells = {
        "link2.joint_angle": [0.1, 0.2, 0.3, 0.1, 0.2, 0.3],
        "payload.mass": [5.0, 5.0, 5.0, 9.0, 9.0, 9.0],
    }
    found = np.asarray(jm.frequency_response(arm, OMEGA, "tip.x", "tip.z", parameters=cells).values)
    for k, values in enumerate(found):
        one = jm.set_parameters(arm, {name: column[k] for name, column in cells.items()})
        alone = np.asarray(jm.frequency_response(one, OMEGA, "tip.x", "tip.z").values)
        finite = np.isfinite(alone)
        np.testing.assert_array_equal(finite, np.isfinite(values))
        np.testing.assert_allclose(
            values[finite], alone[finite], rtol=1e-9, atol=1e-12 * np.abs(alone[finite]).max()
        )


def test_frequencies_at_which_shared_links_are_not_finite_are_computed_link_by_link(monkeypatch):
    arm = damped_arm()
    cells = {"link2.joint_angle": [0.1, 0.5, -0.4]}
    redone, of_loads = [], recursion_in_space.under_loads_of

    def spoiled(system, w, shares, omega):
        entries = [x.copy() if isinstance(x, np.ndarray) else x for x in w.entries]
        w = type(w)(entries)
        w[0, 6][7], w[6, 7][20] = np.inf, np.nan
        found, lost = of_loads(system, w, shares, omega)
        redone.append(np.flatnonzero(lost).tolist())
        return found, lost

    monkeypatch.setattr(recursion_in_space, "under_loads_of", spoiled)
    found = jm.frequency_response(arm, OMEGA, "tip.x", "tip.z", parameters=cells).values
    assert redone == [[7, 20], [7, 20]]
    for angle, values in zip(cells["link2.joint_angle"], found, strict=True):
        one = jm.set_parameters(arm, {"link2.joint_angle": angle})
        alone = jm.frequency_response(one, OMEGA, "tip.x", "tip.z").values
        np.testing.assert_allclose(values, alone, rtol=1e-10, atol=1e-13 * np.abs(alone).max())


@pytest.mark.parametrize("stiffness", [1e-3, 1.0, 2e5])
def test_loads_through_the_axis_of_a_soft_joint_keep_their_digits(stiffness, monkeypatch):
    """The response is a hundred millionth of that to a load across; links are oblique to the load, in 80 digits."""
    monkeypatch.setattr(recursion_in_space, "FEWEST_OF_MANY", 1)
    damped = tube(loss_factor=0.01)
    arm = jm.SpatialArm(
        links=(
            damped.replace(joint_stiffness=2e5),
            damped.replace(joint_stiffness=stiffness, joint_angle=0.2),
            damped.replace(joint_stiffness=2e5, joint_angle=0.7),
        )
    )
    lever = 0.2 + 0.5 * 0.7  # of two equal links, to the first one
    angles, omega, names = [0.4, -lever, 1.1], [0.01, 0.3, 20.0], [f"tip.{x}" for x in SIX]
    found = jm.frequency_response(
        arm, omega, names, names, parameters={"link1.joint_angle": angles}
    )
    for angle, values in zip(angles, np.asarray(found.values), strict=True):
        one = jm.set_parameters(arm, {"link1.joint_angle": angle})
        for k, w in enumerate(omega):
            exact = np.array(receptance(one, "timoshenko", w).tolist(), complex)
            size = np.sqrt(np.abs(np.diag(exact)))
            error = np.abs(values[..., k] - exact) / np.outer(size, size)
            assert error.max() < 1e-11, (angle, w)


def test_blocks_that_are_not_kept_are_added_with_their_own_loads(added, monkeypatch):
    monkeypatch.setattr(recursion_in_space, "_KEPT", 1)
    arm, omega = damped_arm(), np.linspace(20.0, 900.0, 2 * recursion_in_space.FEWEST)
    monkeypatch.setattr(recursion_in_space, "BLOCK", recursion_in_space.FEWEST)
    monkeypatch.setattr("jaxmodal.response.receptance.in_space.BLOCK", recursion_in_space.FEWEST)
    cells = {"link3.joint_angle": [0.1, 0.5, -0.4]}
    jm.frequency_response(arm, omega, "tip.x", "tip.z", parameters=cells)
    assert len(added) == 2 * 6 + (4 + 2) + 6 + 2 + 6


def test_what_is_kept_of_shared_links_is_freed_after_the_call(monkeypatch):
    """At once, not when Python next looks for circles."""
    kept, of_loads = [], recursion_in_space.under_loads_of

    def spy(system, w, shares, omega):
        kept.append(weakref.ref(w[0, 0]))
        return of_loads(system, w, shares, omega)

    monkeypatch.setattr(recursion_in_space, "under_loads_of", spy)
    cells = {"link3.joint_angle": [0.1, 0.5, -0.4]}
    gc.disable()
    try:
        jm.frequency_response(damped_arm(), OMEGA, "tip.x", "tip.z", parameters=cells)
        assert [found() for found in kept] == [None, None]
    finally:
        gc.enable()
