"""Is one value under two names refused wherever addresses are given together?

One of the two would count, and the answer be of another arm than was asked for.
"""

import numpy as np
import pytest

import design_opt
import jaxmodal as jm
import sweeps
from jaxmodal.identification import MeasuredModes, fit_arm

ARM = jm.examples.three_link_industrial()
DAMPED = jm.Arm(tuple(link.replace(loss_factor=0.01) for link in ARM.links), ARM.payload)
IN_SPACE = jm.examples.six_axis_industrial()

ONE_CELL = {"theta_2": np.array([0.1])}
FREQUENCIES = jm.natural_frequencies_batch(ARM, ONE_CELL, 1)
#: names that stand for one value: twice the same, and a whole and its part
TWICE = [("theta_2", "link2.joint_angle"), ("link*.joint_angle", "link2.joint_angle")]

PORTS = [1.0], "tip.across", "tip.across"
SET_TOGETHER = {
    "set_parameters": lambda x: jm.set_parameters(ARM, x),
    "a batch": lambda x: jm.natural_frequencies_batch(ARM, x, 1),
    "a batch in space": lambda x: jm.natural_frequencies_batch(IN_SPACE, x, 1),
    "a posture series": lambda x: jm.natural_frequencies_batch(
        ARM, {name: np.tile(column, 200_000) for name, column in x.items()}, 1
    ),
    "modal quantities": lambda x: jm.modal_quantities_batch(ARM, x, FREQUENCIES),
    "modal quantities in space": lambda x: jm.modal_quantities_batch(
        IN_SPACE, x, jm.natural_frequencies_batch(IN_SPACE, {"theta_2": [np.nan]}, 1)
    ),
    "responses": lambda x: jm.frequency_response(DAMPED, *PORTS, parameters=x),
    "damped modes": lambda x: jm.damped_modes_batch(DAMPED, x, 1),
    "a direction": lambda x: jm.directional_derivatives(ARM, dict.fromkeys(x, 1.0), 1),
    "axes": lambda x: sweeps.Sweep(ARM, [sweeps.axis(*each) for each in x.items()]),
    "an axis of several": lambda x: sweeps.Sweep(
        ARM, [sweeps.zipped(*(sweeps.axis(*each) for each in x.items()), name="both")]
    ),
    "axes of a file": lambda x: sweeps.sweep_from_dict(
        {
            "arm": "example:three_link_industrial",
            "axes": [{"parameter": name, "values": list(column)} for name, column in x.items()],
        }
    ),
    "variables": lambda x: design_opt.Problem(
        ARM,
        [design_opt.Variable(name, 0.1, 0.2) for name in x],
        design_opt.MaximiseFrequency(1),
    ),
    "one variable": lambda x: design_opt.Problem(
        ARM, [design_opt.Variable(tuple(x), 0.1, 0.2)], design_opt.MaximiseFrequency(1)
    ),
    "what follows": lambda x: design_opt.Problem(
        ARM,
        [design_opt.Variable(min(x), 0.1, 0.2, maps={max(x): lambda value: value})],
        design_opt.MaximiseFrequency(1),
    ),
}


@pytest.mark.parametrize("names", TWICE, ids=" and ".join)
@pytest.mark.parametrize("where", SET_TOGETHER)
def test_two_names_that_set_one_value_are_refused(where, names):
    columns = {name: np.array([0.1 * k]) for k, name in enumerate(names, start=1)}
    with pytest.raises(ValueError, match=r"'link2\.joint_angle' is (given|set|varied)") as error:
        SET_TOGETHER[where](columns)
    assert all(name in str(error.value) for name in names[1:])


DERIVATIVES = {
    "frequencies": lambda x: jm.sensitivities(ARM, 1, addresses=x),
    "frequencies in space": lambda x: jm.sensitivities(IN_SPACE, 1, addresses=x),
    "a batch": lambda x: jm.modal_quantities_batch(ARM, ONE_CELL, FREQUENCIES, addresses=x),
    "responses": lambda x: jm.response_sensitivities(DAMPED, *PORTS, addresses=x),
    "damped modes": lambda x: jm.damped_sensitivities(DAMPED, 1, addresses=x),
    "buckling": lambda x: jm.buckling(ARM, gravity=(-1.0, 0.0), addresses=x),
    "a sweep": lambda x: sweeps.Sweep(
        ARM, [sweeps.axis("payload.mass", [1.0])], outputs=["sensitivity"], sensitivity_to=x
    ),
}


@pytest.mark.parametrize("names", [TWICE[0], ("link1.length", "link1.length")], ids=" and ".join)
@pytest.mark.parametrize("where", DERIVATIVES)
def test_derivatives_by_one_parameter_are_asked_for_once(where, names):
    with pytest.raises(ValueError, match="are one parameter, given twice; give it once") as error:
        DERIVATIVES[where](list(names))
    assert all(repr(name) in str(error.value) for name in names)


def test_a_whole_and_its_part_are_two_parameters():
    """The derivative by all links together is the sum of those by each of them."""
    parts = [f"link{number}.length" for number in (1, 2, 3)]
    found = jm.sensitivities(ARM, 1, addresses=["link*.length", *parts]).derivative[0]
    np.testing.assert_allclose(found[0], found[1:].sum(), rtol=1e-13)


def test_factors_of_buckling_by_a_whole_are_those_by_each_part():
    """``link*`` stands there for each link, and a part beside it for one of them again."""
    with pytest.raises(jm.ArmError, match=r"'link2\.length' is given twice, by 'link\*\.length'"):
        jm.buckling(ARM, gravity=(-1.0, 0.0), addresses=["link*.length", "link2.length"])


def test_a_map_of_a_joint_is_not_over_all_joints():
    with pytest.raises(jm.ArmError, match=r"across = 'link\*\.joint_angle': turns joint 2 as well"):
        jm.resonance_free(ARM, 10.0, 20.0, 2, across="link*.joint_angle", values=(0.0, 1.0))


def test_the_last_length_of_a_fixed_reach_is_no_variable():
    """It follows from the others, which moved it back in silence."""
    arm = jm.examples.two_link_flexible()
    with pytest.raises(ValueError, match=r"'link2\.length' is set by lengths, whose sum is held"):
        design_opt.Problem(
            arm,
            [design_opt.Variable("link2.length", 0.1, 2.0)],
            design_opt.MaximiseFrequency(1),
            lengths=design_opt.FixedReach(0.1, 2.0),
        )


@pytest.mark.parametrize(
    ("what", "values"), [("start", (1.0, 2.0)), ("bounds", ((0.1, 9.0), (0.2, 8.0)))]
)
def test_a_fit_takes_one_value_of_a_parameter(what, values):
    """By two names of it the last one counted, in silence."""
    given = dict(zip(("payload.mass", "payload_mass"), values, strict=True))
    with pytest.raises(
        jm.ArmError, match=rf"{what}\['payload_mass'\]: 'payload.mass' is given twice, by"
    ):
        fit_arm(ARM, [MeasuredModes([4.0, 30.0])], ["payload.mass"], **{what: given})
