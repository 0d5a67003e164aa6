"""Does every function that takes an arm know the axial forces of its links, or refuse them by name?"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics
from sweeps import Sweep, axis, run
from tests.support import finite_elements
from tests.support.real_arms import relative, steel

FORCE = 5e4
TIP = "tip.across"


def loaded(force=FORCE, **first):
    return jm.Arm((steel(axial_force=force, **first), steel(joint_angle=0.4)))


def frequencies(arm, num_modes=4):
    return np.asarray(jm.natural_frequencies(arm, num_modes).omega)


def damped():
    return loaded(loss_factor=0.01)


REFUSED = {
    "static_equilibrium": lambda: jm.static_equilibrium(loaded(), gravity=(0.0, -9.81)),
    "a base that turns": lambda: jm.modal_superposition(loaded(), "base.rotation", TIP),
    "flexible_arm": lambda: dynamics.flexible_arm(loaded()),
    "posture_series": lambda: jm.posture_series(loaded(), omega_max=1e3),
}  # fmt: skip


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED.keys())
def test_refused_by_name(call):
    with pytest.raises(ValueError, match=r"axial[_ ]force"):
        call()


@pytest.mark.parametrize("theory", ["timoshenko", "bending_only"])
def test_the_characteristic_matrix(theory):
    """Its determinant changes sign at the frequencies of finite elements, pressed and pulled; of segments, too."""
    for force in (-3000.0, 3000.0):
        arm = loaded(force)
        truth = finite_elements.frequencies(finite_elements.case_from_arm(arm, theory), 4, 24)
        for mode, omega in enumerate(truth):
            beside = (omega * (1.0 - 1e-8), omega * (1.0 + 1e-8))
            signs = [int(jm.log_determinant(arm, x, theory=theory)[0]) for x in beside]
            assert signs == [(-1) ** mode, -((-1) ** mode)]
    heavy = jm.Arm((steel(), steel(joint_angle=0.4)), loads=jm.Loads(gravity=9.81, pieces=2))
    assert jm.characteristic_matrix(heavy, 10.0, theory=theory).shape == (24, 24)


def test_counts_bands_and_certificates():
    omega = frequencies(loaded())
    assert omega[0] / frequencies(loaded(None))[0] > 1.02
    between = 0.5 * (omega[1:] + omega[:-1])
    assert jm.count_below(loaded(), between).tolist() == [1, 2, 3]
    found = jm.frequencies_in_band(loaded(), between[0], between[-1])
    assert np.max(relative(found.omega[:2], omega[1:3])) <= 1e-13
    assert bool(np.all(jm.certify(loaded(), omega).certified))


def test_shapes_and_modal_quantities():
    shapes = jm.mode_shapes(loaded(), 3)
    cells = {"link1.axial_force": np.array([FORCE])}
    found = jm.natural_frequencies_batch(loaded(1.0), cells, 3)
    assert np.max(relative(found.omega[0], shapes.frequencies.omega)) <= 1e-12
    own = np.asarray(jm.modal_assurance(shapes, shapes))
    assert np.max(np.abs(own - np.eye(3))) <= 1e-9
    other = np.asarray(jm.modal_assurance(shapes, jm.mode_shapes(loaded(None), 3)))
    assert np.max(np.abs(other - own)) > 1e-4


def test_postures_with_a_frequency():
    """Angles at which a frequency is met, and borders of a map, are those of arms made there."""
    there = frequencies(loaded().with_posture((0.0, 0.9)))
    found = jm.postures_at(loaded(), there[1])
    assert np.nanmin(np.abs(np.asarray(found.angle) - 0.9)) <= 1e-9
    band = there[1] * np.array([0.99, 1.01])
    chart = jm.resonance_free(loaded(), *band.tolist())
    borders = np.asarray(chart.border)[np.isfinite(chart.border)]
    assert borders.size
    for angle in borders:
        near = frequencies(loaded().with_posture((0.0, float(angle))), 3)
        assert np.min(np.abs(near[:, None] / band - 1)) <= 1e-9


def test_links_that_are_cut():
    """A body of no mass, and a taper to the same section, change nothing, the forces of rigid parts included."""
    arm = loaded(base_turning_stiffness=3e4, end_turning_stiffness=5e4)
    link = arm.links[0]
    bodied = jm.attach_body(arm, 1, 0.2, 1e-12)
    pieces = arm.replace(links=(*jm.tapered(link, link.section, 3), arm.links[1]))
    for changed in (bodied, pieces):
        assert np.max(relative(frequencies(changed), frequencies(arm))) <= 1e-11


def test_files_and_parameters(tmp_path):
    jm.write_arm(loaded(), tmp_path / "arm.json")
    assert jm.read_arm(tmp_path / "arm.json") == loaded()
    assert "link1.axial_force" in jm.list_addresses(loaded())
    assert float(jm.get_parameter(loaded(), "link1.axial_force")) == FORCE
    assert jm.set_parameters(loaded(1.0), {"link1.axial_force": FORCE}) == loaded()


def test_sweeps():
    ds = run(Sweep(loaded(), [axis("link2.length", [0.5, 0.6])], num_modes=2)).squeeze()
    truth = frequencies(loaded(), 2) / (2 * np.pi)
    assert np.max(relative(ds.frequency.values[0], truth)) <= 1e-12
