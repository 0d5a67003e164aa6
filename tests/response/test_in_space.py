"""Responses of arms in space: beside finite elements, planar arms and closed forms; reciprocal, at rest, refused."""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.receptance import recursion_in_space
from tests.response.arms import bent, with_damping
from tests.spatial.cases import bar, tube
from tests.spatial.driven_elements import DrivenChain
from tests.spatial.exact_frequencies import receptance
from tests.spatial.random_arms import random_arm

SIX = ("x", "y", "z", "rx", "ry", "rz")


def damped_tables(seed, links=3):
    """A random arm whose links, joints and springs are damped."""
    document, theory = random_arm(seed, links)
    rng = np.random.default_rng([seed, 7])
    for link in document["links"]:
        link["loss_factor"] = float(rng.uniform(0.0, 0.05))
        link["kelvin_voigt_time"] = float(10 ** rng.uniform(-7, -5))
        joint = link["joint"]
        if joint["stiffness"]:
            joint["damping"] = float(joint["stiffness"] * 10 ** rng.uniform(-6, -4))
        for spring in joint["springs"]:
            spring["damping"] = float(spring["stiffness"] * 10 ** rng.uniform(-6, -4))
    if document["payload"] is None:
        document["payload"] = {
            "mass": 0.0,
            "centre": [0.1, 0.2, 0.3],
            "inertia": np.zeros((3, 3)).tolist(),
        }
    return document, theory


def places(chain):
    """Ports of the finite elements and their names: joints, tips, stations and the payload, in both kinds of axes."""
    rng, found = np.random.default_rng(len(chain.turns)), []
    for number in range(1, len(chain.turns) + 1):
        for place in ("joint", "tip", "middle"):
            words = rng.choice([*SIX, *(f"link_{x}" for x in SIX)], 2, replace=False)
            name = (
                f"link_{number}@{chain.station()!r}" if place == "middle" else f"{place}_{number}"
            )
            found += [(((place, number), str(word)), f"{name}.{word}") for word in words]
        found.append(((("joint", number), "relative_rotation"), f"joint_{number}.torque"))
    found += [((("payload",), "y"), "payload.y"), ((("payload",), "link_rz"), "payload.link_rz")]
    return zip(*found, strict=True)


@pytest.fixture(params=[False, True], ids=["written", "recorded"])
def recorded(request, monkeypatch):
    """Whether links are added as at many frequencies, by recorded formulas, also at few."""
    if request.param:
        monkeypatch.setattr(recursion_in_space, "FEWEST", 1)
    return request.param


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    "seeds", [range(8), pytest.param(range(8, 50), marks=pytest.mark.slow, id="more")]
)
def test_random_damped_arms_beside_finite_elements(seeds):
    """To 1e-9 of each pair's largest over the frequencies, from far below the first mode to beyond the sixth.

    A load within a link makes a kink in its moment, which polynomials take in slowly: at the load itself they are no
    witness, but they are everywhere else.
    """
    for seed in seeds:
        document, theory = damped_tables(seed)
        chain = DrivenChain(document, theory, 14)
        ports, names = places(chain)
        arm = jm.arm_from_dict(document)
        modes = np.asarray(jm.natural_frequencies(arm, 6, theory=theory).omega)
        omega = np.sort(modes[-1] * 10 ** np.random.default_rng(seed).uniform(-2.5, 0.05, 7))
        found = jm.frequency_response(arm, omega, names, names, theory=theory)
        assert found.ok
        expected = np.stack([chain.response(w, ports, ports) for w in omega], axis=-1)
        size = np.sqrt(np.max(np.abs(np.einsum("iif->if", expected)), axis=-1))
        scale = size[:, None] * size[None, :]
        scale[scale == 0.0] = 1.0  # torques in rigid joints turn nothing
        error = np.abs(np.asarray(found.values) - expected).max(axis=-1) / scale
        kinks = [place[1] if place[0] == "middle" else -k for k, (place, _) in enumerate(ports)]
        error[np.equal.outer(kinks, kinks) & np.greater(kinks, 0)] = 0.0
        assert error.max() < 1e-9, (seed, theory, names[int(error.argmax() // len(names))])


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 12), marks=pytest.mark.slow, id="more")]
)
def test_random_damped_arms_in_eighty_digits(seeds):
    """All directions at the tip, below, among and above the first modes: to 1e-11 of each pair's size.

    The chain knows nothing but the equations of motion of a section, and complex moduli and springs.
    """
    for seed in seeds:
        document, _ = damped_tables(seed)
        document["links"] = [link for link in document["links"] if not link["rigid"]]
        for link in document["links"]:
            link["joint"]["stiffness"] = link["joint"]["stiffness"] or 300.0
        arm = jm.arm_from_dict(document)
        modes = np.asarray(jm.natural_frequencies(arm, 3, theory="timoshenko").omega)
        omega = [0.3 * modes[0], 0.5 * (modes[0] + modes[1]), modes[2]]
        names = [f"tip.{x}" for x in SIX]
        found = np.asarray(jm.frequency_response(arm, omega, names, names).values)
        for k, w in enumerate(omega):
            exact = np.array(receptance(arm, "timoshenko", w).tolist(), complex)
            size = np.sqrt(np.abs(np.diag(exact)))
            error = np.abs(found[..., k] - exact) / np.outer(size, size)
            assert error.max() < 1e-11, (seed, k)


def test_the_six_axis_example_beside_finite_elements():
    """All of its directions at the tool, across its first modes; its links are those of a real robot."""
    arm = jm.examples.six_axis_industrial()
    names = [f"tip.{x}" for x in SIX]
    ports = [(("tip", arm.num_links), x) for x in SIX]
    chain = DrivenChain(plain_tables(arm), "timoshenko", 14)
    omega = 2 * np.pi * np.array([0.5, 9.0, 31.0, 77.0, 140.0])
    found = np.asarray(jm.frequency_response(arm, omega, names, names).values)
    expected = np.stack([chain.response(w, ports, ports) for w in omega], axis=-1)
    size = np.sqrt(np.abs(np.einsum("iif->if", expected)))
    scale = size[:, None] * size[None, :]
    assert np.max(np.abs(found - expected) / scale) < 1e-9
    np.testing.assert_array_less(np.abs(found - found.swapaxes(0, 1)) / scale, 1e-12)


def plain_tables(arm):
    """An arm as the plain tables of the reference cases."""
    links = []
    for link in arm.links:
        values = link.section_values
        frame = [
            {"axis": [float(x) for x in turn.axis], "angle": float(turn.angle)}
            for turn in link.joint_frame
        ]
        stiffness = float(link.joint_stiffness)
        entry = {
            "joint": {
                "axis": [float(x) for x in link.joint_axis],
                "angle": float(link.joint_angle),
                "frame": frame,
                "stiffness": None if np.isinf(stiffness) else stiffness,
                "springs": [
                    {
                        "kind": spring.kind,
                        "direction": [float(x) for x in spring.direction],
                        "stiffness": float(spring.stiffness),
                    }
                    for spring in link.joint_springs
                ],
            },
            "length": float(link.length),
            "rigid": link.rigid,
            "density": float(link.density or 0.0),
            "area": float(values.area),
            "second_moment_y": float(values.second_moment_y),
            "second_moment_z": float(values.second_moment_z),
        }
        if not link.rigid:
            entry |= {
                "youngs_modulus": float(link.youngs_modulus),
                "shear_modulus": float(link.shear_modulus_value),
                "torsion_constant": float(values.torsion_constant),
                "shear_coefficient_y": float(values.shear_coefficient_y),
                "shear_coefficient_z": float(values.shear_coefficient_z),
            }
        if link.rotor_inertia is not None:
            entry["joint"] |= {
                "rotor_inertia": float(link.rotor_inertia),
                "gear_ratio": float(link.gear_ratio),
                "motor": link.motor,
            }
        for name in ("hub", "body", "base_offset", "end_offset"):
            value = getattr(link, name)
            if value is not None:
                entry[name] = (
                    [float(x) for x in value] if name.endswith("offset") else body_table(value)
                )
        links.append(entry)
    assert all(link.stator is None for link in arm.links)
    return {"links": links, "payload": body_table(arm.payload)}


def body_table(body):
    found = {"mass": float(body.mass), "inertia": np.zeros((3, 3)).tolist()}
    if body.inertia is not None:
        found["inertia"] = [[float(x) for x in row] for row in body.inertia.rows()]
    if body.centre is not None:
        found["centre"] = [float(x) for x in body.centre]
    return found


@pytest.mark.parametrize("quantity", ["receptance", "accelerance", "transmissibility"])
def test_planar_arms_in_space_answer_as_in_the_plane(quantity):
    """Near a held resonance both lose some digits (docs/response.md): 1e-11 of each pair's largest."""
    planar = with_damping(
        bent(joint_stiffness=3e4, joint_axial_stiffness=5e7, joint_shear_stiffness=4e7), 3
    )
    arm = jm.to_spatial(planar)
    omega = np.geomspace(1.0, 2e4, 200)
    base = ["base.x", "base.y", "base.rotation"] if quantity == "transmissibility" else []
    inputs = [
        "tip.x",
        "joint_2.torque",
        "link_1@0.4.across",
        "payload.rotation",
        "joint_2.x",
        *base,
    ]
    outputs = ["tip.y", "tip_1.rotation", "link_2@0.7.along", "joint_2.relative_rotation"]
    word = {"across": "link_y", "along": "link_x", "rotation": "rz"}
    in_space = [
        [f"{place}.{word.get(x, x)}" for place, x in (name.rsplit(".", 1) for name in names)]
        for names in (inputs, outputs)
    ]
    expected = jm.frequency_response(planar, omega, inputs, outputs, quantity=quantity)
    found = jm.frequency_response(arm, omega, *in_space, quantity=quantity)
    assert found.ok
    assert found.unit(1, 0) == expected.unit(1, 0)
    scale = np.abs(expected.values).max(axis=-1, keepdims=True)
    np.testing.assert_array_less(np.abs(found.values - expected.values) / scale, 1e-11)


def test_an_undamped_resonance_is_said():
    """The bare clamped bar at its own frequency, and beside it."""
    arm = jm.SpatialArm((bar(),))
    omega = float(jm.natural_frequencies(arm, 1).omega[0])  # bends about y, where the bar is thin
    found = jm.frequency_response(arm, [omega, omega * 1.01], "tip.z", ["tip.z", "tip.y"])
    assert found.status.tolist() == [
        [[jm.Status.resonance, jm.Status.resolved]],
        [[jm.Status.resolved] * 2],
    ]
    assert np.isinf(found.values[0, 0, 0].real)
    assert np.isfinite(found.values[0, 0, 1])
    assert found.values[1, 0, 0] == 0.0


def test_the_static_compliance_of_a_cantilever():
    """All thirty-six entries at the tip of one link of Timoshenko's theory, by hand."""
    link = bar(length=0.5)
    values, length = link.section_values, float(link.length)
    modulus, shear = float(link.youngs_modulus), float(link.shear_modulus_value)
    second_y, second_z = float(values.second_moment_y), float(values.second_moment_z)
    give_y, give_z = (
        length / (float(kappa) * shear * float(values.area))
        for kappa in (values.shear_coefficient_y, values.shear_coefficient_z)
    )
    expected = np.diag(
        [
            length / (modulus * float(values.area)),
            length**3 / (3 * modulus * second_z) + give_y,
            length**3 / (3 * modulus * second_y) + give_z,
            length / (shear * float(values.torsion_constant)),
            length / (modulus * second_y),
            length / (modulus * second_z),
        ]
    )
    expected[1, 5] = expected[5, 1] = length**2 / (2 * modulus * second_z)
    expected[2, 4] = expected[4, 2] = -(length**2) / (2 * modulus * second_y)
    names = [f"tip.{x}" for x in SIX]
    found = jm.static_compliance(jm.SpatialArm((link,)), names, names).values
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14 * expected.max() * 1e-6)


def test_static_compliances_beside_finite_elements():
    """Random arms, with elastic bases, to 1e-10 of each pair's size; and the response far below the first mode."""
    for seed in range(60, 66):
        document, theory = random_arm(seed, 3)
        scales = 10.0 ** np.array([6.0, 6.5, 6.2, 4.0, 4.4, 4.2])
        matrix = np.eye(6) + 0.1 * np.random.default_rng(seed).normal(size=(6, 6))
        matrix = matrix @ matrix.T * np.sqrt(np.outer(scales, scales))
        document["base_stiffness"] = matrix.tolist()
        chain = DrivenChain(document, theory, 12)
        ports = [
            ((place, k), x)
            for k in sorted({1, len(chain.turns)})
            for place in ("joint", "tip")
            for x in SIX
        ]
        names = [f"{place}_{k}.{x}" for (place, k), x in ports]
        arm = jm.arm_from_dict(document)
        found = jm.static_compliance(arm, names, names, theory=theory).values
        expected = chain.response(0.0, ports, ports).real
        size = np.sqrt(np.diag(expected))
        np.testing.assert_array_less(np.abs(found - expected) / np.outer(size, size), 1e-10)
        slow = 1e-7 * float(jm.natural_frequencies(arm, 1, theory=theory).omega[0])
        limit = np.asarray(jm.frequency_response(arm, slow, names, names, theory=theory).values)
        np.testing.assert_array_less(np.abs(limit.real - found) / np.outer(size, size), 1e-10)


def test_free_joints_at_rest():
    """What a free joint lets go is refused; what does not move it is answered."""
    hinge = tube(joint_axis=(0, 0, 1), joint_stiffness=0.0)
    arm = jm.SpatialArm((tube(), hinge))
    with pytest.raises(jm.ArmError, match=r"link2\.joint_stiffness = 0: nothing holds the arm"):
        jm.static_compliance(arm, "tip.y", "tip.y")
    held = jm.SpatialArm((tube(), hinge.replace(joint_stiffness=None)))
    for name in ("tip.z", "tip.x", "tip_1.y"):
        found = jm.static_compliance(arm, name, name).values
        np.testing.assert_allclose(found, jm.static_compliance(held, name, name).values, rtol=1e-13)


def test_many_arms_at_once():
    """Each cell is its own arm; one whose value cannot be is invalid."""
    arm = jm.examples.six_axis_industrial()
    cells = {"link2.joint_angle": [0.1, -0.4, 0.2], "payload.mass": [1.0, 2.0, -3.0]}
    found = jm.frequency_response(arm, [50.0, 90.0], "tip.z", ["tip.z", "tip.rx"], parameters=cells)
    assert found.status[:, 0, 0, 0].tolist() == [
        jm.Status.resolved,
        jm.Status.resolved,
        jm.Status.invalid_input,
    ]
    assert found.values.shape == (3, 2, 1, 2)
    for k in range(2):
        values = {name: column[k] for name, column in cells.items()}
        one = jm.frequency_response(
            jm.set_parameters(arm, values), [50.0, 90.0], "tip.z", ["tip.z", "tip.rx"]
        )
        np.testing.assert_array_equal(found.values[k], one.values)
    assert found.to_xarray().sizes["cell"] == 3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tip.across", "this arm has no direction 'across'"),
        ("tip.rotation", r"directions x, y, z, rx \(moment_x\)"),
        ("tip_9.x", r"the arm has 1 link\(s\)"),
        ("base.x", "is a motion of the ground and no force"),
    ],
)
def test_ports_that_an_arm_in_space_has_not(name, message):
    with pytest.raises(jm.ArmError, match=message):
        jm.frequency_response(jm.SpatialArm((tube(),)), 1.0, name, "tip.x")


def test_planar_arms_have_no_direction_out_of_the_plane():
    with pytest.raises(
        jm.ArmError, match=r"this arm has no direction 'z'.* directions along, across"
    ):
        jm.frequency_response(bent(), 1.0, "tip.z", "tip.x")


def test_displacements_imposed_where_nothing_moves():
    arm = jm.SpatialArm((tube(),))
    with pytest.raises(jm.ArmError, match=r"'joint_1\.x' is held at rest"):
        jm.frequency_response(arm, 1.0, "joint_1.x", "tip.x", quantity="transmissibility")
    found = jm.frequency_response(arm, 1.0, "base.z", "tip.z", quantity="transmissibility")
    assert abs(complex(found.values[0, 0]) - 1.0) < 1e-4  # slowly it follows


def test_the_words_of_forces_and_moments():
    arm = jm.SpatialArm((tube(),))
    found = jm.frequency_response(
        arm, 1.0, ["tip.moment_x", "tip.force_link_y"], ["tip.rx", "tip.x"]
    )
    assert found.input_names == ["tip_1.moment_x", "tip_1.force_link_y"]
    assert found.output_names == ["tip_1.rx", "tip_1.x"]
    assert found.unit(0, 0) == "rad/(N m)"
    assert found.unit(1, 1) == "m/N"


def test_postures_of_one_call_are_those_of_each_alone():
    """What links are is computed once, and anew where a link changes."""
    arm = jm.examples.six_axis_industrial()
    arm = arm.replace(links=tuple(link.replace(loss_factor=0.01) for link in arm.links))
    cells = {"link3.joint_angle": [0.3, -0.9, 0.3], "link2.length": [0.6, 0.6, 0.7]}
    omega = 2 * np.pi * np.array([5.0, 16.0, 40.0])
    found = jm.frequency_response(arm, omega, "tip.x", "tip.z", parameters=cells).values
    for k in range(3):
        one = jm.set_parameters(arm, {name: values[k] for name, values in cells.items()})
        alone = jm.frequency_response(one, omega, "tip.x", "tip.z").values
        np.testing.assert_array_equal(found[k], alone)


@pytest.mark.parametrize(
    ("quantity", "inputs", "outputs"),
    [
        ("receptance", ("tip.x", "link_1@0.4.link_y"), ("tip.z", "tip_2.ry")),
        ("dynamic_stiffness", ("tip.x", "tip_1.y"), ("tip.x", "tip_1.y")),
        ("transmissibility", ("base.z",), ("tip.x", "tip.ry")),
        ("transmissibility", ("tip.y",), ("tip.x", "tip_1.z")),
    ],
)
@pytest.mark.parametrize("damped", [True, False])
def test_at_many_frequencies_the_bits_are_those_at_few(
    quantity, inputs, outputs, damped, monkeypatch
):
    arm = jm.examples.six_axis_industrial()
    if damped:
        links = (x.replace(loss_factor=0.02, joint_damping=50.0) for x in arm.links)
        arm = arm.replace(links=tuple(links))
    omega = np.linspace(20.0, 900.0, recursion_in_space.FEWEST)
    found = jm.frequency_response(arm, omega, inputs, outputs, quantity=quantity)
    monkeypatch.setattr(recursion_in_space, "FEWEST", omega.size + 1)
    written = jm.frequency_response(arm, omega, inputs, outputs, quantity=quantity)
    assert np.array_equal(found.values, written.values)
