"""Rigid links that are bodies alone, of length 0 too: frequencies are those of the mass matrix by Jacobians."""

import itertools
import warnings

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.exchange import write_mjcf
from jaxmodal.runtime.statuses import Status
from tests.spatial.finite_elements import turn
from tests.spatial.rigid_chains import Joint, frequencies_hz, transform
from tests.support.commands import run_command

TUBE = jm.hollow_circle(0.09, 0.003, "cowper")
FLEXIBLE = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33, "section": TUBE}
BODY = jm.RigidBody(2.0, centre=(0.1, 0.0, 0.0), inertia=(5e-3, 2e-2, 2e-2))


def random_chain(seed, lengths, motors=("beyond_spring",)):
    """The same rigid bodies on joints, for the engine and for Jacobians; each length a rigid link along x.

    What motors do is taken in turn; a held rotor turns with the body before, as one that no gear turns.
    """
    rng = np.random.default_rng(seed)
    links, joints, before = [], [], np.eye(4)
    for length, motor in zip(lengths, itertools.cycle(motors)):
        axis, turned = rng.normal(size=3), turn(rng.normal(size=3), rng.uniform(-2.0, 2.0))
        angle, stiffness = rng.uniform(-2.0, 2.0), 10.0 ** rng.uniform(3.0, 4.5)
        rotor = (rng.uniform(1e-5, 1e-4), rng.uniform(-60.0, 90.0))
        way, bodies = np.array([length, 0.0, 0.0]), []
        for place in (np.zeros(3), way):
            root = rng.normal(size=(3, 3))
            moments = 1e-2 * root @ root.T
            tensor = np.trace(moments) * np.eye(3) - moments
            mass, centre = rng.uniform(0.5, 4.0), rng.normal(size=3) * 0.1
            bodies.append((mass, centre, 0.5 * (tensor + tensor.T), centre + place))
        hub, body = (jm.RigidBody(*values) for *values, _ in bodies)
        joint = {"joint_axis": axis, "joint_angle": angle, "joint_frame": turned}
        geared = {"rotor_inertia": rotor[0], "gear_ratio": rotor[1], "motor": motor}
        link = {"rigid": True, "joint_stiffness": stiffness, "hub": hub, "body": body}
        links.append(jm.SpatialLink(length, **joint, **geared, **link))
        # the joint turns before the link's own axes are turned on
        own = tuple((m, turned @ p, turned @ t @ turned.T) for m, _, t, p in bodies)
        turning = rotor if motor == "beyond_spring" else (rotor[0], 0.0)
        joints.append(Joint(before, axis, angle, stiffness, own, turning))
        before = transform(turned, turned @ way)
    return jm.SpatialArm(tuple(links)), joints


@pytest.mark.parametrize("lengths", [(0.3, 0.4, 0.2), (0.3, 0.0, 0.0, 0.2), (0.0, 0.5, 0.0)])
def test_rigid_links_on_springs_are_the_mass_matrix_by_jacobians(lengths):
    for seed in range(4):
        arm, joints = random_chain(seed, lengths)
        found = jm.natural_frequencies(arm, len(lengths))
        assert found.certified.all()
        np.testing.assert_allclose(found.frequencies_hz, frequencies_hz(joints), rtol=1e-11)


@pytest.mark.parametrize("motors", [("held",), ("held", "beyond_spring")])
def test_held_rotors_are_the_mass_matrix_by_jacobians(motors):
    lengths = (0.3, 0.0, 0.4, 0.2)
    for seed in range(3):
        arm, joints = random_chain(seed, lengths, motors)
        found = jm.natural_frequencies(arm, len(lengths))
        assert found.certified.all()
        np.testing.assert_allclose(found.frequencies_hz, frequencies_hz(joints), rtol=1e-11)
        other = frequencies_hz(random_chain(seed, lengths)[1])
        assert np.abs(other / frequencies_hz(joints) - 1.0).max() > 1e-3


def test_shapes_and_derivatives_of_links_without_length():
    """The derivative by a length of 0 is that of Jacobians, for which a way may be negative."""
    arm, _ = random_chain(5, (0.3, 0.0, 0.2))
    shapes = jm.mode_shapes(arm, 3)
    assert shapes.residuals.max() < 1e-12
    np.testing.assert_allclose(shapes.energies.strain, shapes.energies.kinetic, rtol=1e-11)
    (slopes,) = np.asarray(jm.sensitivities(arm, 3, addresses=["link2.length"]).derivative_hz).T
    step = 1e-4

    def moved(way):
        joints = random_chain(5, (0.3, 0.0, 0.2))[1]
        further = joints[2].fixed[:3, :3] @ [way, 0.0, 0.0]
        hub, (mass, centre, tensor) = joints[1].bodies
        joints[1] = joints[1]._replace(bodies=(hub, (mass, centre + further, tensor)))
        joints[2] = joints[2]._replace(fixed=transform(joints[2].fixed[:3, :3], further))
        return frequencies_hz(joints)

    expected = (8.0 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (
        12 * step
    )
    np.testing.assert_allclose(slopes, expected, rtol=1e-9)


@pytest.mark.parametrize("section", [TUBE, jm.hollow_rectangle(0.08, 0.05, 0.003, "cowper")])
def test_a_rigid_link_without_section_is_one_of_nearly_no_mass(section):
    """Between links that deform: what is left is the mass of 1e-9 kg/m^3."""

    def arm(**own):
        bar = jm.SpatialLink(
            0.2, rigid=True, body=BODY, joint_axis=(0, 1, 0), joint_angle=0.7, **own
        )
        ends = [jm.SpatialLink(0.4, joint_stiffness=2e4, **FLEXIBLE) for _ in range(2)]
        return jm.SpatialArm((ends[0], bar, ends[1]), payload=BODY)

    light = arm(**FLEXIBLE | {"density": 1e-9, "section": section})
    first, second = (jm.natural_frequencies(x, 6) for x in (light, arm()))
    assert second.certified.all()
    np.testing.assert_allclose(second.frequencies_hz, first.frequencies_hz, rtol=1e-10)
    assert float(arm().total_mass) == pytest.approx(float(light.total_mass), rel=1e-11)
    shapes = jm.mode_shapes(arm(), 6)
    assert shapes.residuals.max() < 1e-12
    cells = {
        "link2.joint_angle": np.linspace(0.0, 1.0, 20),
        "link2.body.mass": np.linspace(1, 3, 20),
    }
    batch = jm.natural_frequencies_batch(arm(), cells, 4)
    assert np.asarray(batch.certified).all()
    one = jm.set_parameters(arm(), {name: float(x[7]) for name, x in cells.items()})
    alone = jm.natural_frequencies(one, 4).frequencies_hz
    np.testing.assert_allclose(batch.frequencies_hz[7], alone, rtol=1e-13)


def test_bodies_alone_are_no_reason_for_a_warning_and_files_keep_them(tmp_path):
    links = [
        jm.SpatialLink(x, rigid=True, hub=BODY, joint_axis=(0, 1, 0), joint_stiffness=1e4)
        for x in (0.3, 0.0, 2e-4)
    ]
    arm = jm.SpatialArm(tuple(links), payload=jm.RigidBody(1.0))
    assert jm.check_arm(arm).remarks == ()
    assert [fact.shape for fact in jm.check_arm(arm).links] == ["none"] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jm.write_arm(arm, tmp_path / "arm.toml")
        assert jm.read_arm(tmp_path / "arm.toml") == arm
    assert "density" not in arm.to_toml()
    # a payload in grams is still seen beside the links, which are their bodies
    heavy = arm.replace(payload=jm.RigidBody(1e5))
    assert "in grams" in str(jm.check_arm(heavy).remarks[0])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"length": 0.3}, "youngs_modulus, density and section are missing: .* rigid = true"),
        ({"length": 0.3, "rigid": True, "density": 1.0}, "section is missing: .*both or neither"),
        ({"length": 0.3, "rigid": True, "section": TUBE}, "density is missing: .*both or neither"),
        ({"length": -0.1, "rigid": True}, r"length = -0\.1: must be finite and 0 or more \(m\)"),
        ({"length": 0.0, **FLEXIBLE}, r"length = 0\.0: must be finite and greater than 0 \(m\)"),
        ({"length": 0.1, "rigid": True, "torsion_constant": 1e-8}, "belongs to a section"),
    ],
)
def test_a_link_that_deforms_has_all_of_its_material(values, message):
    with pytest.raises(jm.ArmError, match=message):
        jm.SpatialLink(**values)


def test_free_joints_that_move_nothing_of_mass_are_refused():
    def rigid(length, **values):
        return jm.SpatialLink(length, rigid=True, joint_axis=(0, 1, 0), **values)

    held = rigid(0.3, hub=BODY, joint_stiffness=1e4)
    bare = jm.SpatialArm((held, rigid(0.0, joint_stiffness=0.0)))
    with pytest.raises(jm.ArmError, match=r"link2\.joint_stiffness = 0\.0: .*nothing of mass"):
        jm.natural_frequencies(bare, 1)
    two = jm.SpatialArm(
        (held, rigid(0.0, joint_stiffness=0.0), rigid(0.2, hub=BODY, joint_stiffness=0.0))
    )
    with pytest.raises(jm.ArmError, match=r"link3\.joint_stiffness = 0\.0: .*other free joints"):
        jm.mode_shapes(two, 1)
    slide = jm.Spring("translation", (1, 0, 0), 0.0)
    last = jm.SpatialArm((held, rigid(0.1, joint_springs=[slide])))
    with pytest.raises(jm.ArmError, match=r"link2\.joint_spring1\.stiffness = 0\.0"):
        jm.natural_frequencies(last, 1)
    # a rotor alone is enough, and so is a link that deforms
    geared = rigid(
        0.0, joint_stiffness=0.0, rotor_inertia=1e-4, gear_ratio=50.0, motor="beyond_spring"
    )
    assert jm.natural_frequencies(jm.SpatialArm((held, geared)), 2).frequencies_hz[0] == 0.0
    beam = jm.SpatialLink(0.3, joint_stiffness=0.0, joint_axis=(0, 1, 0), **FLEXIBLE)
    found = jm.natural_frequencies(jm.SpatialArm((held, rigid(0.0), beam)), 3)
    assert found.frequencies_hz[0] == 0.0
    assert found.certified.all()


@pytest.mark.parametrize(
    "value", [np.nan, *(pytest.param(value, marks=pytest.mark.slow) for value in (np.inf, -1.0))]
)
def test_values_that_no_arm_has_get_a_status_beside_a_free_joint(value):
    """Set without a check, as under a transformation of JAX."""
    link = jm.SpatialLink(0.3, rigid=True, hub=BODY, joint_axis=(0, 1, 0), joint_stiffness=0.0)
    leaves, structure = jax.tree_util.tree_flatten(jm.SpatialArm((link,)))
    for k in range(len(leaves)):
        changed = [np.float64(value) if i == k else x for i, x in enumerate(leaves)]
        arm = jax.tree_util.tree_unflatten(structure, changed)
        with np.errstate(all="ignore"):
            found = jm.natural_frequencies(arm, 1, throw=False)
        allowed = [Status.invalid_input]
        if not np.isnan(value):  # an axis may be turned round, a joint rigid
            allowed += [Status.certified, Status.not_converged]
        assert int(found.status[0]) in map(int, allowed)


def assert_commands_refuse(arm, path, words):
    jm.write_arm(arm, path)
    for command in ("frequencies", "modes", "sensitivities"):
        shown = run_command(command, path)
        assert (shown.exit_code, shown.stdout) == (2, "")
        assert shown.stderr.startswith(f"Error: {path}: {words}")


def test_an_arm_in_which_nothing_gives_way_is_remarked_and_refused_by_commands(tmp_path):
    rigid = jm.SpatialLink(0.3, rigid=True, hub=BODY, joint_axis=(0, 1, 0))
    spring = jm.Spring("rotation", (1, 0, 0), 1e4)
    still = jm.SpatialArm((rigid, rigid))
    (remark,) = jm.check_arm(still).remarks
    assert "nothing gives way" in str(remark)
    for moves in (
        jm.SpatialArm((rigid, rigid.replace(joint_stiffness=1e4))),
        jm.SpatialArm((rigid.replace(joint_springs=(spring,)), rigid)),
        still.replace(base_stiffness=[1e6] * 3 + [1e4] * 3),
    ):
        assert jm.check_arm(moves).remarks == ()
        assert jm.natural_frequencies(moves, 1).certified.all()
    assert_commands_refuse(still, tmp_path / "arm.toml", "nothing gives way")


def test_an_arm_in_which_nothing_has_mass_is_remarked_and_refused_by_commands(tmp_path):
    massless = jm.SpatialLink(0.3, rigid=True, joint_stiffness=1e4, joint_axis=(0, 1, 0))
    still = jm.SpatialArm((massless, massless))
    held = massless.replace(rotor_inertia=1e-4, gear_ratio=10.0, motor="held")
    for arm in (
        still,
        jm.SpatialArm((massless.replace(stator=BODY), massless)),
        jm.SpatialArm((held, massless)),
    ):
        (remark,) = jm.check_arm(arm).remarks
        assert "nothing has mass" in str(remark)
    on_springs = jm.SpatialArm((massless.replace(stator=BODY), massless))
    on_springs = on_springs.replace(base_stiffness=[1e6] * 3 + [1e4] * 3)
    thin = jm.RigidBody(inertia=[1e-3, 1e-3, 1e-3])
    for arm in (
        still.replace(payload=BODY),
        still.replace(payload=thin),
        jm.SpatialArm(
            (massless, massless.replace(rotor_inertia=1e-4, gear_ratio=1.0, motor="beyond_spring"))
        ),
        on_springs,
    ):
        assert not any("nothing has mass" in str(remark) for remark in jm.check_arm(arm).remarks)
        assert jm.natural_frequencies(arm, 1).certified.all()
    assert_commands_refuse(still, tmp_path / "arm.toml", "nothing has mass")
    with pytest.raises(jm.ArmError, match="nothing has mass"):
        write_mjcf(still, tmp_path / "arm.xml")
