"""Are recorded recursions of many planar arms right to 40 digits, and to the bit those of few arms?"""

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.receptance import port_motions, recorded_recursion
from jaxmodal.statics.beam_arrays import SUPPORTS
from tests.response.arms import bent, target, with_damping
from tests.response.exact_chain import Chain
from tests.response.held_arms import held, undamped
from tests.response.test_varied_amounts import full as supported
from tests.support.elastic_bases import on_base

CELLS, OMEGA = 64, np.geomspace(1.0, 2e4, 64)
AT = (np.s_[5], np.s_[::21])
PORTS = ("tip.across", "link_1@0.3.y", "joint_2.relative_rotation")


def even(low, high, seed=0):
    return np.random.default_rng(seed).uniform(low, high, CELLS)


def full():
    """An arm with all that sits at joints and tips but supports, which the chain of 40 digits does not know."""
    free = dict.fromkeys(SUPPORTS)
    arm = supported()
    return arm.replace(links=tuple(x.replace(**free) for x in arm.links))


def offset():
    """All that moves the ends of links."""
    arm = full()
    parts = {"base_offset_x": 0.1, "base_offset_y": -0.03, "end_offset_x": 0.02}
    return arm.replace(links=(arm.links[0], arm.links[1].replace(end_offset_y=0.05, **parts)))


LONG = {"link1.length": even(0.5, 1.5), "link2.length": even(0.4, 1.0, 1)}
TURNED = {"theta_2": even(-2.0, 2.0, 2), "link1.length": even(0.5, 1.5)}
LOADED = {"payload.mass": even(0.0, 9.0, 3), "link2.density": even(2e3, 7e3, 1)}
ARMS = {
    "lengths": (full(), LONG),
    "undamped": (undamped(full()), LONG),
    "straight": (with_damping(bent(joint_angle=0.0, joint_stiffness=2e4), 2), LONG),
    "a free hinge": (with_damping(bent(joint_stiffness=0.0), 2), LONG),
    "an angle and a length": (full(), TURNED),
    "bodies and materials": (full(), LOADED),
    "offsets": (offset(), {"link2.end_offset_x": even(0.0, 0.1), **TURNED}),
}
AMONG = [(name, PORTS, "receptance") for name in ARMS] + [
    ("lengths", ("base.x",), "transmissibility")
]


@pytest.fixture
def recorded(monkeypatch):
    """How often the recursion was recorded and not."""
    count = {True: 0, False: 0}

    def counted(*arguments):
        found = recorded_recursion.inward_recorded(*arguments)
        count[found is not None] += 1
        return found

    monkeypatch.setattr(port_motions, "inward_recorded", counted)
    return count


def few(monkeypatch):
    """Record no more."""
    monkeypatch.setattr(recorded_recursion, "FEWEST", CELLS * OMEGA.size + 1)


@pytest.mark.parametrize(("name", "inputs", "quantity"), AMONG)
def test_of_many_arms_as_in_40_digits_and_to_the_bit_as_of_few(
    name, inputs, quantity, recorded, monkeypatch
):
    arm, columns = ARMS[name]
    given = {"quantity": quantity, "parameters": columns}
    found = jm.frequency_response(arm, OMEGA, inputs, PORTS, **given)
    assert (before := recorded[True]) > 0
    few(monkeypatch)
    written = jm.frequency_response(arm, OMEGA, inputs, PORTS, **given)
    assert recorded[True] == before
    assert np.array_equal(found.values, written.values)
    assert np.array_equal(found.status, written.status)
    cell, some = AT
    here = jm.set_parameters(arm, {key: float(x[cell]) for key, x in columns.items()})
    exact = np.empty((len(PORTS), len(inputs), OMEGA[some].size), complex)
    with mpmath.workdps(100):
        for k, omega in enumerate(OMEGA[some]):
            chain = Chain(here, omega)
            for i, each in enumerate(inputs):
                exact[:, i, k] = chain.response(
                    target(here, each), [target(here, x) for x in PORTS]
                )
    values = np.asarray(found.values)[cell][..., some]
    np.testing.assert_allclose(values, exact, rtol=1e-9, atol=1e-11 * np.max(np.abs(exact)))


@pytest.mark.parametrize("arm", [held(), supported()], ids=["rigid supports", "springs"])
def test_on_supports_the_bits_are_those_of_few(arm, recorded, monkeypatch):
    ports = ("link_2@0.5.y", "tip_1.x")
    found = jm.frequency_response(arm, OMEGA, *ports, parameters=LONG)
    assert recorded[True] > 0
    few(monkeypatch)
    written = jm.frequency_response(arm, OMEGA, *ports, parameters=LONG)
    assert np.array_equal(found.values, written.values)


def test_an_elastic_base_is_not_recorded(recorded):
    arm = on_base(links=full().links)
    jm.frequency_response(arm, OMEGA, "tip.x", "tip.x", parameters=LONG)
    assert recorded[True] == 0 < recorded[False]
