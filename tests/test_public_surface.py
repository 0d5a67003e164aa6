"""Do the public functions keep one vocabulary: names, order and kinds of arguments, results that say their status?"""

import inspect
import json
import re

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status, explained
from tests.support.public_surface import (
    HEADING,
    PAGE,
    PLACE,
    classes,
    functions,
    listing,
    methods,
    surface,
)

#: what an argument is called instead, everywhere
ONE_NAME = {
    "omegas": "omega",
    "frequencies": "omega, or the result `frequencies`",
    "input": "inputs",
    "output": "outputs",
    "damping_ratios": "damping_ratio",
    "modes": "num_modes for how many",
}
#: functions whose argument of such a name means something else
OTHER_MEANING = {
    "jaxmodal.modal_quantities_batch": {"frequencies"},  # the result of natural_frequencies_batch
    "jaxmodal.dynamics.flexible_arm": {"modes"},  # shapes of each link, as in files
    "jaxmodal.dynamics.link_shapes": {"modes"},
    "jaxmodal.symbolic.closed_form_integrals": {"modes"},
    "jaxmodal.symbolic.closed_form_values": {"modes"},
    "jaxmodal.moves.shape_move": {"modes"},  # numbers of modes, from 1
    "jaxmodal.moves.compare_shapers": {"modes"},
}
RESULTS = {name: kind for name, kind in classes().items() if issubclass(kind, Result)}


def test_the_surface_is_that_of_the_list():
    """After a change that is meant: ``python tests/support/public_surface.py``, and a line in the CHANGELOG."""
    found = surface()
    assert found == json.loads(PLACE.read_text())
    assert "".join(PAGE.read_text().partition(HEADING)[1:]) == listing(found)


@pytest.mark.parametrize("name", sorted(functions()))
def test_arguments_have_one_name_one_order_and_are_documented(name):
    function = functions()[name]
    parameters = inspect.signature(function).parameters
    for key, each in parameters.items():
        assert key not in ONE_NAME or key in OTHER_MEANING.get(name, ()), ONE_NAME.get(key)
        assert key != "theory" or each.kind == each.KEYWORD_ONLY, "theory goes by keyword"
    if "arm" in parameters:
        assert list(parameters).index("arm") == 0 or name in (
            "jaxmodal.unit_of_address",  # of an address, in which an arm is an option
            "jaxmodal.identification.read_measurements",  # of a file
            "jaxmodal.identification.read_universal_file",
        )
    text = inspect.getdoc(function)
    for key in parameters.keys() - {"arm", "model"}:
        assert re.search(rf"\b{key}\b", text), f"{key} is not in the docstring"


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_every_result_says_its_status_and_becomes_tables_and_a_dataset(name):
    kind = RESULTS[name]
    fields = getattr(kind, "__dataclass_fields__", {})
    if kind is not Result:
        assert "status" in fields or isinstance(getattr(kind, "status", None), property)
        assert {"tables", "to_xarray", "ok", "explain", "to_dataframe"} <= set(dir(kind))
        for key in ("tables", "to_xarray"):
            assert methods(kind)[key] is not getattr(Result, key), f"{key} is not written"


def test_statuses_explain_themselves():
    codes = [int(each) for each in Status]
    assert codes == list(range(len(codes)))
    for each in Status:
        assert each.cause
        assert bool(each.remedy) or each.usable
        assert f"{each}" == str(each) == each.name
    both = np.array([[Status.certified, Status.unstable], [Status.certified, Status.certified]])
    lines = explained(both).splitlines()
    assert lines[0].startswith("3 of 4 certified: ")
    assert lines[1].startswith("1 of 4 unstable (at 0, 1): ")
    assert Status.worst(both) is Status.unstable
    assert Status.worst([Status.resolved]) is Status.resolved
    with pytest.raises(ValueError, match="codes: there are none"):
        Status.worst([])


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0, 127], "hold 127.*from 0 to 24.*not been computed"),
        ([0, -1], "hold -1.*from 0 to 24"),
        ([2**40], "hold 1099511627776"),  # not counted, which would take as much memory
        ([0.0, np.nan], "hold nan"),
        (None, "hold None"),
        (["certified"], "hold certified"),
    ],
)
def test_codes_of_no_status_are_refused(codes, message):
    for ask in (Status.worst, explained):
        with pytest.raises(ValueError, match=message):
            ask(codes)


def test_traced_statuses_are_refused_in_words():
    for ask in (Status.worst, explained, lambda codes: _Plain(codes).ok):
        with pytest.raises(TypeError, match=r"status: is traced.*what jit returns"):
            jax.jit(ask)(np.zeros(2, np.int64))


class _Plain(Result):
    def __init__(self, codes):
        self.codes = codes

    @property
    def status(self):
        return self.codes


def test_one_question_needs_no_new_word():
    """The same lines for an arm in the plane, in space and a batch."""
    planar = jm.examples.two_link_flexible()
    space = jm.to_spatial(planar)
    for arm in (planar, space):
        found = (
            jm.natural_frequencies(arm, 3, theory="rayleigh"),
            jm.natural_frequencies_batch(arm, {"payload.mass": [0.1, 0.2]}, 3, theory="rayleigh"),
            jm.sensitivities(arm, 2, theory="rayleigh", addresses=["link1.length"]),
            jm.mode_shapes(arm, 2, theory="rayleigh"),
            jm.frequency_response(arm, [1.0, 2.0], "tip.y", "tip.y", theory="rayleigh"),
            jm.static_compliance(arm, "tip.y", "tip.y", theory="rayleigh"),
            jm.harmonic_response(arm, 1.0, {"tip.y": 1.0}, "tip.y", theory="rayleigh"),
        )
        for each in found:
            assert isinstance(each, Result)
            assert each.ok, each.explain()
            assert each.explain()
            assert each.to_xarray().sizes
            assert str(each)


def test_what_is_not_usable_is_not_ok():
    arm = jm.examples.two_link_flexible()
    omega = float(jm.natural_frequencies(arm, 1).omega[0])
    response = jm.frequency_response(arm, [omega, 0.5 * omega], "tip.across", "tip.across")
    assert not response.ok
    assert response.explain().startswith("1 of 2 resolved")
    assert "1 of 2 resonance (at 0, 0, 0)" in response.explain()
    driven = jm.harmonic_response(arm, omega, {"tip.across": 1.0}, "tip.across")
    assert not driven.ok
    assert driven.status.tolist() == [[Status.resonance]]
    # a frequency beyond what double precision holds
    beyond = jm.harmonic_response(arm, [omega / 2.0, 1e300], {"tip.across": 1.0}, "tip.across")
    assert np.isnan(beyond.values[0, 1])
    assert beyond.status.tolist() == [[Status.resolved, Status.not_resolved]]
    assert not beyond.ok
