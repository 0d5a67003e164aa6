"""Is an arm lowered to what its equations take, and at rest under its loads, once in a call, whatever its kind?"""

import collections
import functools
import sys

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.arrays import fields_of, invalid_of
from jaxmodal.spatial.stiffness.constants import reduced_links
from jaxmodal.spatial.stiffness.model import spatial_model
from jaxmodal.statics.equilibrium import equilibrium

PLAIN = jm.examples.three_link_industrial().with_posture([0.7, 0.4])
ARMS = {
    "plain": PLAIN,
    "loaded": PLAIN.replace(loads=jm.Loads(9.81, tip_force_x=-30.0)),
    "in space": jm.examples.six_axis_industrial(),
}
CALLS = {
    "natural_frequencies": lambda arm: jm.natural_frequencies(arm, 4),
    "frequencies_in_band": lambda arm: jm.frequencies_in_band(arm, 0.0, 400.0),
    "count_below": lambda arm: jm.count_below(arm, 400.0),
    "certify": lambda arm: jm.certify(arm, np.array([400.0])),
    "mode_shapes": lambda arm: jm.mode_shapes(arm, 2, stations=3),
    "sensitivities": lambda arm: jm.sensitivities(arm, 2, addresses=[]),
    "directional_derivatives": lambda arm: jm.directional_derivatives(arm, {}, 2),
}


OF_PLANAR_ARMS = {
    "frequency_response": lambda arm: jm.frequency_response(arm, 50.0, "tip.y", "tip.y"),
    "harmonic_response": lambda arm: (
        jm.harmonic_response(arm, np.array([30.0, 60.0]), {"tip.y": 1.0}, "tip.y").values
    ),
}


@pytest.fixture
def calls(monkeypatch):
    """How often each of the functions that lower an arm is called, by its name, wherever it is called."""
    found = collections.Counter()

    def counted(function):
        @functools.wraps(function)
        def call(*given, **options):
            found[function.__name__] += 1
            return function(*given, **options)

        return call

    modules = [m for name, m in sys.modules.items() if name.partition(".")[0] == "jaxmodal"]
    for function in (fields_of, invalid_of, equilibrium, spatial_model, reduced_links):
        instead = counted(function)
        for module in modules:
            for name in [name for name, value in vars(module).items() if value is function]:
                monkeypatch.setattr(module, name, instead)
    return found


@pytest.mark.parametrize(
    ("kind", "call"),
    [(kind, call) for kind in ARMS for call in CALLS]
    + [(kind, call) for kind in ("plain", "loaded") for call in OF_PLANAR_ARMS],
)
def test_an_arm_is_lowered_once(calls, kind, call):
    (CALLS | OF_PLANAR_ARMS)[call](ARMS[kind])
    if kind == "in space":
        assert calls.pop("reduced_links") <= 2  # once in each arithmetic
        assert calls == {"spatial_model": 1}
    else:
        at_rest = {"equilibrium": 1} if kind == "loaded" else {}
        assert calls == {"fields_of": 1, "invalid_of": 1} | at_rest


def test_what_is_counted_is_lowered_anew_in_each_call(calls):
    for number in (1, 2):
        jm.natural_frequencies(ARMS["loaded"], 2)
        assert calls == dict.fromkeys(("fields_of", "invalid_of", "equilibrium"), number)
    assert np.all(jm.natural_frequencies(ARMS["loaded"], 2).certified)
