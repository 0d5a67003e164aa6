"""Has every input a name of its own, that no output has, wherever responses and systems are shown or handed on?"""

import itertools

import numpy as np
import pytest
from matplotlib.figure import Figure

import jaxmodal as jm
from jaxmodal.plots import draw_bode, draw_nyquist
from jaxmodal.response.driven.port_quantities import QUANTITIES, signal_names
from jaxmodal.response.driven.ports import DIRECTIONS, RELATIVE, port, ports

OMEGA = np.array([5.0, 40.0, 300.0])
TUBE = jm.hollow_circle(0.06, 0.002, 0.53)
#: typed as inputs, and the names that come back
TYPED = {
    "joint_2.torque": "joint_2.torque",
    "tip.moment": "tip_2.moment",
    "tip.force_x": "tip_2.force_x",
    "link_1@0.5.force_across": "link_1@0.5.force_across",
    "payload.y": "payload.force_y",
    "joint_1.relative_rotation": "joint_1.torque",
}
BOTH = ["joint_2.torque", "tip.x", "tip.rotation", "link_1@0.5.across"]


@pytest.fixture(scope="module")
def arm():
    link = jm.Link(1.0, 7e10, 2700.0, TUBE, poisson_ratio=0.33, tip_mass=1.0, loss_factor=0.01)
    elbow = link.replace(joint_angle=0.8, joint_stiffness=3e3)
    return jm.Arm((link.replace(joint_stiffness=2e4), elbow), jm.Payload(mass=2.0, centre_x=0.05))


def responses(arm):
    return [
        jm.frequency_response(arm, OMEGA, BOTH, BOTH, quantity=quantity) for quantity in QUANTITIES
    ]


def test_every_port_has_two_names_and_each_is_read_back(arm):
    motions, forces = set(), set()
    for place in jm.port_names(arm):
        words = (*DIRECTIONS, RELATIVE) if place.startswith("joint") else DIRECTIONS
        for word in words:
            found = port(f"{place.replace('@s', '@0.3')}.{word}", arm)
            assert port(found.imposed_name, arm) == port(found.force_name, arm) == found
            motions.add(str(found))
            if found.place != "base":  # its motion is imposed, and never an output
                forces |= {found.force_name, found.imposed_name}
    assert not motions & forces
    assert len(forces) == 2 * sum(not name.startswith("base.") for name in motions)


@pytest.mark.parametrize("word", ["moment", "force_x", "force_across", "torque"])
def test_no_force_acts_at_the_base(arm, word):
    """Its motion is what is imposed, so a force there would be taken for another thing."""
    with pytest.raises(jm.ArmError, match=rf"base\.{word}.*no force acts at the base"):
        port(f"base.{word}", arm)


def test_words_of_forces_come_back_as_they_were_typed(arm):
    system = jm.state_space(arm, list(TYPED), "tip.x", 4)
    assert system.inputs == tuple(TYPED.values())
    assert system.to_xarray()["input"].values.tolist() == list(TYPED.values())
    labels = [name.replace(".", "_") for name in TYPED.values()]
    assert system.to_control().input_labels == labels
    with pytest.raises(jm.ArmError, match=r"'tip\.moment' is given twice"):
        jm.state_space(arm, ["tip.rotation", "tip.moment"], "tip.x", 4)


@pytest.mark.parametrize("quantity", ["receptance", "mobility", "accelerance"])
def test_systems_connected_by_name_close_no_loop_by_themselves(arm, quantity):
    control = pytest.importorskip("control", reason="python-control is an extra")
    system = jm.state_space(arm, [*BOTH, "base.x"], BOTH, 5, damping_ratio=0.01, quantity=quantity)
    assert not set(system.inputs) & set(system.outputs)
    plant = system.to_control()
    alone = control.interconnect([plant], inplist=plant.input_labels, outlist=plant.output_labels)
    for name in "ABCD":
        np.testing.assert_allclose(getattr(alone, name), getattr(system, name), rtol=1e-14)


def test_a_controller_is_connected_by_the_names_of_torque_and_angle(arm):
    """A torque of -k times the angle is a spring at the joint: the poles are those of an arm with a stiffer one."""
    control = pytest.importorskip("control", reason="python-control is an extra")
    # of this arm alone: without a residual, so that no part of D closes the loop
    options = {"num_modes": 12, "damping_ratio": 0.0, "residual": False}
    plant = jm.state_space(arm, "joint_2.torque", BOTH, **options).to_control()
    spring = control.ss(
        *([], [], [], [[-1e3]]), inputs=["joint_2_relative_rotation"], outputs=["joint_2_torque"]
    )
    closed = control.interconnect([plant, spring], inplist=[], outlist=plant.output_labels)
    at_output = plant.output_labels.index("joint_2_relative_rotation")
    truth = np.linalg.eigvals(plant.A - 1e3 * plant.B @ plant.C[[at_output]])
    np.testing.assert_allclose(np.sort(np.abs(closed.poles())), np.sort(np.abs(truth)), rtol=1e-8)
    stiffer = jm.set_parameters(arm, {"link2.joint_stiffness": 4e3})
    certified = jm.natural_frequencies(stiffer, 2).omega
    np.testing.assert_allclose(np.sort(np.abs(closed.poles()))[[0, 2]], certified, rtol=1e-3)


def test_systems_of_other_ports_are_not_connected_either(arm):
    """The force of one system at a place where another reads the motion: names that have nothing in common."""
    driven = jm.state_space(arm, "tip.x", "tip.y", 4)
    read = jm.state_space(arm, "joint_2.torque", ["tip.x", "joint_2.torque"], 4)
    for one, other in itertools.permutations((driven, read)):
        assert not set(one.inputs) & set(other.outputs)


def test_no_response_has_a_name_on_both_sides(arm):
    pytest.importorskip("control", reason="python-control is an extra")
    for found in responses(arm):
        assert not set(found.input_names) & set(found.output_names)
        data = found.to_xarray()
        sides = [data[side].values.tolist() for side in ("input", "output")]
        assert sides == [found.input_names, found.output_names]
        given = jm.response_data(found)
        assert not set(given.input_labels) & set(given.output_labels)


def test_a_dynamic_stiffness_gives_forces_for_motions_that_are_imposed(arm):
    tip = ports(["tip.x", "joint_2.torque"], arm, "inputs")
    assert signal_names("dynamic_stiffness", tip, tip) == (
        ["tip_2.imposed_x", "joint_2.imposed_relative_rotation"],
        ["tip_2.force_x", "joint_2.torque"],
    )
    assert signal_names("transmissibility", ports("base.x", arm, ""), tip)[0] == ["base.x"]


def test_tables_and_legends_tell_forces_from_motions(arm):
    for found in responses(arm):
        pairs = [found.pair(o, i) for o in range(4) for i in range(4)]
        assert all(pair.split(" / ")[0] != pair.split(" / ")[1] for pair in pairs)
        headings = [x for x in found.tables()[0].headings if " / " in x]
        assert [x.partition(" [")[0] for x in headings] == pairs[:4]
        figure = Figure()
        above, _ = draw_bode(found, tuple(figure.subplots(2, 1)))
        for axes in (above, draw_nyquist(found, Figure().add_subplot())):
            drawn = [text.get_text().partition(" [")[0] for text in axes.get_legend().get_texts()]
            assert drawn == pairs
    tip = ("tip.x", "tip.x")
    assert "from tip_2.force_x to tip_2.x" in str(jm.response_peaks(arm, 5.0, 400.0, *tip))
    assert "from tip_2.force_x to tip_2.x" in str(jm.state_space(arm, *tip, 4))
    assert "from tip_2.force_x to tip_2.x" in str(jm.modal_superposition(arm, *tip, 4))
    noise = jm.random_response(arm, 1.0, 5.0, 50.0, *tip, tolerance=1e-2)
    assert "under a random tip_2.force_x" in str(noise)
    assert noise.to_xarray().attrs["inputs"] == "tip_2.force_x"
