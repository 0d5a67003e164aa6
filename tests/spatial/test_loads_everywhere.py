"""Every public function of an arm takes loads of an arm in space into account, or refuses them: none ignores them."""

import inspect
import re

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics, exchange, moves
from jaxmodal.identification import MeasuredModes, fit_arm
from tests.support import public_surface

ANGLES = {"link2.joint_angle": np.array([0.2, 0.7])}
MOVE = dynamics.trapezoid([0.0, 0.0], [0.1, 0.5], speed=0.5, acceleration=2.0)
PORTS = ("tip.z", "tip.z")

#: functions of values and geometry, of planar arms alone, and of what was solved before
APART = {
    *(
        "jaxmodal.attach_body",
        "jaxmodal.check_arm",
        "jaxmodal.get_parameter",
        "jaxmodal.list_addresses",
    ),
    *(
        "jaxmodal.port_names",
        "jaxmodal.resolve_address",
        "jaxmodal.set_parameters",
        "jaxmodal.to_spatial",
    ),
    *("jaxmodal.unit_of_address", "jaxmodal.write_arm"),
    *("jaxmodal.characteristic_matrix", "jaxmodal.determinant_scan", "jaxmodal.log_determinant"),
    *("jaxmodal.preloaded", "jaxmodal.symbolic.closed_form_values", "sweeps.over_limits"),
    *("design_opt.per_link", "jaxmodal.identification.read_measurements"),
    "jaxmodal.identification.read_universal_file",
    "sweeps.explore",  # the page solves the arm: see tests/explorer/test_space_loads_in_page.py
}
#: functions that know an arm by natural_frequencies_batch and mode_shapes, at too many cells for a test
BY_BATCHES = {"jaxmodal.extremes", "jaxmodal.share_below", "sweeps.report"}


def damped(arm):
    return arm.replace(links=tuple(x.replace(joint_damping=20.0) for x in arm.links))


#: numbers of functions that differ with loads
TAKE = {
    "jaxmodal.buckling": lambda arm: jm.buckling(arm, tip_force=(0.0, 0.0, -10.0)).factors,
    "jaxmodal.certify": lambda arm: (
        jm.certify(arm, np.array([27.098966, 36.488226]), tolerance=1e-6).status
    ),
    "jaxmodal.count_below": lambda arm: jm.count_below(arm, np.linspace(20.0, 40.0, 200)),
    "jaxmodal.directional_derivatives": lambda arm: jm.directional_derivatives(
        arm, {"payload.mass": 1.0}, 1
    ),
    "jaxmodal.frequencies_in_band": lambda arm: jm.frequencies_in_band(arm, 1.0, 30.0).omega,
    "jaxmodal.frequency_response": lambda arm: (
        jm.frequency_response(arm, np.array([10.0]), *PORTS).values
    ),
    "jaxmodal.harmonic_response": lambda arm: (
        jm.harmonic_response(arm, np.array([10.0]), {"tip.z": 1.0}, "tip.z").values
    ),
    "jaxmodal.modal_quantities_batch": lambda arm: (
        jm.modal_quantities_batch(
            arm, ANGLES, jm.natural_frequencies_batch(arm, ANGLES, 1)
        ).effective_mass
    ),
    "jaxmodal.mode_shapes": lambda arm: jm.mode_shapes(arm, 1, stations=2).displacement,
    "jaxmodal.natural_frequencies": lambda arm: jm.natural_frequencies(arm, 1).omega,
    "jaxmodal.natural_frequencies_batch": lambda arm: (
        jm.natural_frequencies_batch(arm, ANGLES, 1).omega
    ),
    "jaxmodal.preloaded_frequencies": lambda arm: (
        jm.preloaded_frequencies(arm, 1, tip_force=(0.0, 0.0, -10.0)).omega
    ),
    "jaxmodal.response_sensitivities": lambda arm: (
        jm.response_sensitivities(
            arm, np.array([10.0]), *PORTS, addresses=["payload.mass"]
        ).derivative
    ),
    "jaxmodal.sensitivities": lambda arm: (
        jm.sensitivities(arm, 1, addresses=["payload.mass"]).derivative
    ),
    "jaxmodal.state_space": lambda arm: jm.state_space(arm, *PORTS, 2).A,
    "jaxmodal.static_compliance": lambda arm: jm.static_compliance(arm, *PORTS).values,
    "jaxmodal.static_equilibrium": lambda arm: (
        jm.static_equilibrium(arm, tip_force=(0.0, 0.0, -10.0)).tip_displacement
    ),
}
#: the same, of which one call takes long
TAKE_LONG = {
    "jaxmodal.damped_modes": lambda arm: jm.damped_modes(damped(arm), 1).roots,
    "jaxmodal.damped_modes_batch": lambda arm: jm.damped_modes_batch(damped(arm), ANGLES, 1).roots,
    "jaxmodal.damped_sensitivities": lambda arm: (
        jm.damped_sensitivities(damped(arm), 1, addresses=["payload.mass"]).derivative
    ),
    "jaxmodal.modal_superposition": lambda arm: jm.modal_superposition(arm, *PORTS, 2).residual,
    "jaxmodal.modes_needed": lambda arm: jm.modes_needed(damped(arm), *PORTS, 1.0, 30.0).worst,
    "jaxmodal.random_response": lambda arm: (
        jm.random_response(damped(arm), lambda w: 1.0, 1.0, 30.0, *PORTS).rms
    ),
    "jaxmodal.response_peaks": lambda arm: jm.response_peaks(damped(arm), 1.0, 30.0, *PORTS).values,
    "jaxmodal.time_response": lambda arm: (
        jm.time_response(damped(arm), np.ones(9), 1e-3, *PORTS, periodic=True).values
    ),
    "jaxmodal.identification.fit_arm": lambda arm: (
        fit_arm(arm, MeasuredModes([4.3, 5.8]), ["payload.mass"]).values
    ),
}
REFUSE = {
    "jaxmodal.posture_series": lambda arm: jm.posture_series(arm, 500.0),
    "jaxmodal.postures_at": lambda arm: jm.postures_at(arm, 50.0),
    "jaxmodal.resonance_free": lambda arm: jm.resonance_free(arm, 10.0, 50.0, 2),
    "jaxmodal.dynamics.end_bodies": dynamics.end_bodies,
    "jaxmodal.dynamics.flexible_arm": lambda arm: dynamics.flexible_arm(arm, 1),
    "jaxmodal.dynamics.link_shapes": lambda arm: dynamics.link_shapes(arm, 1),
    "jaxmodal.exchange.lumped": exchange.lumped,
    "jaxmodal.exchange.write_mjcf": lambda arm: exchange.write_mjcf(arm, "never.xml"),
    "jaxmodal.exchange.write_urdf": lambda arm: exchange.write_urdf(arm, "never.urdf"),
    "jaxmodal.moves.crossings_along": lambda arm: moves.crossings_along(
        arm, MOVE, [moves.Order(1, 10.0)]
    ),
    "jaxmodal.moves.speeds_to_avoid": lambda arm: moves.speeds_to_avoid(
        arm, [moves.Order(1, 10.0)]
    ),
    **{
        f"jaxmodal.moves.{name}": lambda arm, name=name: getattr(moves, name)(arm, MOVE)
        for name in (
            "compare_shapers",
            "move_vibration",
            "quickest_stretch",
            "shape_move",
            "time_optimal",
        )
    },
}


@pytest.fixture(scope="module")
def bare():
    tube = jm.hollow_circle(0.05, 0.002, "cowper")
    link = jm.SpatialLink(
        0.6, 7e10, 2700.0, tube, poisson_ratio=0.33, joint_axis=(0, 1, 0), joint_stiffness=2e4
    )
    links = link.replace(joint_angle=-1.0), link.replace(joint_angle=0.7)
    return jm.SpatialArm(links, jm.RigidBody(8.0))


@pytest.fixture(scope="module")
def arm(bare):
    return bare.replace(loads=jm.SpatialLoads(gravity_z=-9.81, tip_force_y=100.0))


def test_every_function_is_here():
    """A new one has to say which it is."""
    found = set()
    for name, function in public_surface.functions().items():
        given = inspect.signature(inspect.unwrap(function)).parameters
        kinds = " ".join(str(x.annotation) for x in given.values())
        if "arm" in given or {"SpatialArm", "AnyArm"} & set(re.findall(r"\w+", kinds)):
            found.add(name)
    assert found == APART | BY_BATCHES | set(TAKE) | set(TAKE_LONG) | set(REFUSE)


@pytest.mark.parametrize(
    "name", [*TAKE, *(pytest.param(name, marks=pytest.mark.slow) for name in TAKE_LONG)]
)
@pytest.mark.filterwarnings("ignore::jaxmodal.LargeDeflectionWarning")
def test_they_change_results(name, arm, bare):
    of = (TAKE | TAKE_LONG)[name]
    found, without = np.asarray(of(arm)), np.asarray(of(bare))
    assert np.isfinite(found).all()
    assert np.isfinite(without).all()  # what is not a number differs from itself
    assert not np.array_equal(found, without)


@pytest.mark.parametrize("name", REFUSE)
def test_they_are_refused(name, arm):
    with pytest.raises(jm.ArmError, match="loads: ") as caught:
        REFUSE[name](arm)
    assert "what is asked here" not in str(caught.value)
