"""Do results, batches, sweeps, tables, commands and files take every feature of real arms?"""

import json

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.dynamic_stiffness.joints import attachments
from sweeps import Sweep, axis, run
from sweeps.analysis.cells import arm_of_cell
from sweeps.analysis.verify import verify
from tests.support import finite_elements
from tests.support.commands import run_command
from tests.support.problems import ORACLE, SAME
from tests.support.real_arms import VALUES, random_arm, relative, steel, two


def test_free_hinges_are_counted_and_reported():
    links = (steel(joint_stiffness=0.0), steel(joint_stiffness=0.0, joint_angle=0.4), steel())
    result = jm.natural_frequencies(jm.Arm(links), 5)
    assert np.asarray(result.omega)[:2].tolist() == [0.0, 0.0]
    assert np.all(np.asarray(result.certified))
    assert np.asarray(result.multiplicity).tolist() == [2, 2, 1, 1, 1]
    assert np.asarray(result.group).tolist() == [0, 0, 2, 3, 4]
    assert np.asarray(result.count_below).tolist() == [0, 0, 2, 3, 4]
    assert int(jm.count_below(jm.Arm(links), 1e-6)) == 2
    band = jm.frequencies_in_band(jm.Arm(links), 0.0, float(result.omega[3]) * 1.001)
    assert band.first_mode == 1
    assert np.max(relative(band.omega, np.asarray(result.omega)[:4])) <= SAME
    only = jm.natural_frequencies(jm.Arm(links), 1)
    assert float(only.omega[0]) == 0.0
    assert bool(only.certified[0])
    assert jm.certify(jm.Arm(links), np.asarray(result.omega)[2:]).ok
    table = jm.sensitivities(jm.Arm(links), 4, addresses=["link1.length", "link2.joint_stiffness"])
    assert np.all(np.asarray(table.derivative)[:2] == 0.0)
    with pytest.raises(ValueError, match="free joints"):
        jm.directional_derivatives(jm.Arm(links), {"link1.length": 1.0}, 3)


def test_a_soft_spring_tends_to_the_hinge():
    soft = two(steel(joint_stiffness=1e-9))
    free = two(steel(joint_stiffness=0.0))
    omega = [np.asarray(jm.natural_frequencies(a, 5).omega) for a in (soft, free)]
    assert 0.0 < omega[0][0] < 1e-3
    assert np.max(np.abs(omega[0][1:] / omega[1][1:] - 1)) <= 1e-10


def test_batches_take_features():
    """Cells with a hub, a hinge and an impossible value beside each other."""
    arm = two(steel(joint_stiffness=1e4, hub_mass=0.0, hub_inertia=0.0), mass=1.0, centre_y=0.1)
    values = {
        "link1.hub_inertia": np.array([0.0, 0.1, 0.2, -1.0]),
        "link1.joint_stiffness": np.array([1e4, np.inf, 0.0, 1e4]),
        "payload.centre_y": np.array([0.0, 0.1, -0.2, 0.1]),
    }
    batch = jm.natural_frequencies_batch(arm, values, 4)
    for cell in range(3):
        one = jm.set_parameters(arm, {name: x[cell] for name, x in values.items()})
        truth = finite_elements.frequencies(finite_elements.case_from_arm(one, "timoshenko"), 4, 30)
        assert np.all(np.asarray(batch.certified)[cell])
        assert np.max(relative(np.asarray(batch.omega)[cell], truth)) <= ORACLE
    assert np.all(np.asarray(batch.status)[3] == jm.Status.invalid_input)


def test_a_plain_arm_is_computed_without_features():
    """What an arm does not have is not even an array of zeros, so that nothing of it is compiled."""
    plain = beam_arrays(jm.examples.three_link_industrial())
    assert attachments(plain).features == {}
    assert plain.nonstructural_mass is None
    assert len(jax.tree.leaves(plain)) == 10
    with_hub = beam_arrays(two(steel(hub_mass=1.0)))
    assert set(attachments(with_hub).features) == {"hub_mass", "hub_inertia"}


def check_cells(arm, values, batch, cells, theory="timoshenko"):
    """Some cells of a batch against finite elements."""
    assert np.all(np.asarray(batch.certified))
    for cell in cells:
        one = jm.set_parameters(arm, {name: x[cell] for name, x in values.items()})
        truth = finite_elements.frequencies(
            finite_elements.case_from_arm(one, theory), batch.omega.shape[1], 30
        )
        assert np.max(relative(np.asarray(batch.omega)[cell], truth)) <= ORACLE, cell


@pytest.mark.parametrize("theory", ["timoshenko", "bending_only"])
def test_a_batch_over_every_kind_of_address(theory):
    """600 cells, enough for guesses from pilot cells; an arm with a free hinge and a rigid link."""
    links = (
        steel(**VALUES | {"joint_stiffness": 0.0}),
        steel(**VALUES, rigid=True, joint_angle=0.4),
        steel(segment=True, tip_mass=0.3, tip_centre_y=0.02, nonstructural_mass=0.4),
    )
    arm = jm.Arm(links, jm.Payload(1.0, 0.01, 0.1, -0.05))
    ranges = {
        "link1.rotor_inertia": (0.0, 4e-5), "link2.gear_ratio": (-80.0, 80.0),
        "link2.base_offset_y": (-0.1, 0.1), "link1.end_offset_x": (0.0, 0.1),
        "link2.hub_mass": (0.0, 2.0), "link1.stator_inertia": (0.0, 0.02),
        "link2.joint_shear_stiffness": (1e4, 1e7), "link2.joint_axial_stiffness": (1e4, 1e7),
        "link3.nonstructural_mass": (0.0, 2.0), "link3.length": (0.3, 0.6),
        "link1.tip_centre_y": (-0.1, 0.1), "payload.centre_x": (-0.2, 0.2),
    }  # fmt: skip
    rng = np.random.default_rng(0)
    values = {name: rng.uniform(*ends, 600) for name, ends in ranges.items()}
    batch = jm.natural_frequencies_batch(arm, values, 4, theory=theory)
    assert np.all(np.asarray(batch.omega)[:, 0] == 0.0)
    check_cells(arm, values, batch, range(0, 600, 120), theory)


def test_a_sweep_over_features(tmp_path):
    """Springs to the rigid limit, a hinge, two theories; verified by counts, and against finite elements."""
    arm = two(steel(), steel(joint_angle=0.6, joint_axial_stiffness=1e6, joint_shear_stiffness=1e6))
    sweep = Sweep(
        arm,
        [
            axis("link2.joint_shear_stiffness", [1e4, 1e6, np.inf]),
            axis("link2.joint_stiffness", [0.0, 1e4]),
        ],
        theories=["timoshenko", "rayleigh"],
        num_modes=4,
        outputs=["difference_to_euler_bernoulli"],
    )
    ds = run(sweep, tmp_path / "store.zarr").load()
    assert bool(ds.certified.all())
    assert ds.link2_joint_shear_stiffness.attrs["units"] == "N/m"
    found = verify(ds, 12)
    assert (found.cells, found.modes, found.failures) == (12, 48, ())
    loose = ds.isel(link2_joint_stiffness=0)
    assert np.all(loose.frequency.sel(mode=1).values == 0.0)
    assert bool(loose.difference_to_euler_bernoulli.sel(mode=1).isnull().all())
    for theory in ("timoshenko", "rayleigh"):
        cell = ds.sel(theory=theory, link2_joint_shear_stiffness=1e4, link2_joint_stiffness=1e4)
        case = finite_elements.case_from_arm(arm_of_cell(cell)[0], theory)
        truth = finite_elements.frequencies(case, 4, 30)
        assert np.max(relative(2 * np.pi * cell.frequency.values, truth)) <= ORACLE
    wrong = ds.copy(deep=True)
    wrong.frequency[:, :, 0, 0] = 1e-3  # a frequency above zero where a hinge turns freely
    assert len(verify(wrong, 12).failures) == 6


FILE = """
[[links]]
length = 0.5
youngs_modulus = 2e11
poisson_ratio = 0.3
density = 7800
section = { shape = "rectangle", depth = 0.02, width = 0.04, shear_coefficient = 0.85 }
joint_stiffness = 0
hub_mass = 1.0
end_offset_y = 0.1
bodies = [ { position = 0.2, mass = 0.5, centre_y = 0.03 } ]

[[links]]
rigid = true
length = 0.2
youngs_modulus = 2e11
poisson_ratio = 0.3
density = 7800
section = { shape = "rectangle", depth = 0.02, width = 0.04, shear_coefficient = 0.85 }
joint_stiffness = 1e4
joint_shear_stiffness = 1e6
rotor_inertia = 1e-4
gear_ratio = 50
motor = "beyond_spring"
"""


def test_commands_take_features(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(FILE)

    def answer(*arguments):
        result = run_command(*arguments, path)
        assert result.exit_code == 0, result.output
        return result.output

    entry = json.loads(answer("frequencies", "--modes", "3", "--format", "json"))[0]
    case = finite_elements.case_from_arm(jm.read_arm(path), "timoshenko")
    truth = finite_elements.frequencies(case, 3, 30)
    assert truth[0] == entry["frequencies_hz"][0] == 0.0
    assert np.max(relative(2 * np.pi * np.array(entry["frequencies_hz"]), truth)) <= ORACLE
    assert all(entry["certified"])
    assert "3 links" in answer("check")
    table = answer("modes", "--modes", "2", "--digits", "10")
    (rotor,) = [line.split("│") for line in table.splitlines() if line.startswith("│    2 │")]
    assert float(rotor[2]) == pytest.approx(entry["frequencies_hz"][1])
    assert float(rotor[8]) > 90.0  # of the kinetic energy is that of the hub and the rotor
    table = answer("sensitivities", "--modes", "2")
    assert "link3.gear_ratio" in table
    assert "link2.joint_stiffness" not in table


@pytest.mark.parametrize(
    ("line", "wrong", "fragment"),
    [
        ("hub_mass = 1.0", "hub_mass = -1.0", r"link1\.hub_mass = -1\.0: must be finite and 0 or"),
        ("hub_mass = 1.0", "hubmass = 1.0", r"link1\.hubmass.*hub_mass"),
        ("end_offset_y = 0.1", "end_offset_y = nan", r"link1\.end_offset_y = nan: must be finite"),
        ("gear_ratio = 50", "", r"link2\.gear_ratio is missing"),
        (
            "joint_shear_stiffness = 1e6",
            "joint_shear_stiffness = -1",
            r"0 \(a free slide\) or more",
        ),
        ("rigid = true", "rigid = 1", r"link2\.rigid = 1: must be true or false"),
        ("rigid = true", "segment = true", r"link2\.joint_stiffness = 10000\.0: a segment"),
        ("joint_stiffness = 0\n", "joint_stiffness = -1\n", r"0 \(a free hinge\) or more"),
    ],
)
def test_messages_of_files(tmp_path, line, wrong, fragment):
    path = tmp_path / "arm.toml"
    path.write_text(FILE.replace(line, wrong, 1))
    with pytest.raises(jm.ArmError, match=fragment):
        jm.read_arm(path)


@pytest.mark.parametrize(
    "structure",
    [
        "offsets",
        *(pytest.param(s, marks=pytest.mark.slow) for s in ("springs", "hubs", "rotors", "bodies")),
    ],
)
def test_the_determinant_of_the_definition_has_the_parity_of_the_count(structure):
    arm = random_arm(3, structure)
    omega = np.asarray(jm.natural_frequencies(arm, 6).omega)
    between = np.sqrt(omega[1:] * omega[:-1])
    signs = [float(jm.log_determinant(arm, x)[0]) for x in between]
    assert signs == [(-1.0) ** k for k in range(1, 6)]


def test_the_definition_is_that_of_elastic_links():
    with pytest.raises(jm.ArmError, match=r"link2\.rigid"):
        jm.characteristic_matrix(random_arm(3, "rigid"), 10.0)


def test_files_read_back(tmp_path):
    arm = random_arm(7, "everything")
    segment = steel(segment=True, tip_mass=0.1)
    arm = arm.replace(links=(*arm.links, segment))
    for name in ("arm.toml", "arm.json"):
        jm.write_arm(arm, tmp_path / name)
        assert jm.read_arm(tmp_path / name) == arm


def test_addresses_of_features():
    arm = two(steel(hub_mass=1.0))
    assert "link1.hub_mass" in jm.list_addresses(arm)
    assert jm.unit_of_address("link1.hub_mass") == "kg"
    assert "link2.hub_mass" not in jm.list_addresses(arm)
    with pytest.raises(jm.ArmError, match=r"no value there; give 'link2\.hub_mass'"):
        jm.set_parameters(arm, {"link2.hub_mass": 1.0})
    assert float(jm.set_parameters(arm, {"link1.hub_mass": 3.0}).links[0].hub_mass) == 3.0
    assert float(two(steel(hub_mass=1.0)).total_mass - two(steel()).total_mass) == pytest.approx(
        1.0
    )


def test_segments_have_no_joint():
    arm = jm.Arm((steel(), steel(segment=True), steel(), steel(segment=True)))
    assert arm.joints == (1, 3)
    posed = arm.with_posture([0.7])
    assert [float(link.joint_angle) for link in posed.links] == [0.0, 0.0, 0.7, 0.0]
    with pytest.raises(jm.ArmError, match="segment continues the previous link"):
        steel(segment=True, joint_angle=0.1)
    with pytest.raises(jm.ArmError, match="segment continues the previous link"):
        steel(segment=True, hub_mass=0.1)
