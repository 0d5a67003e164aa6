"""Small stumbles: values under the names that they were given with, nothing dropped, folders in place of files."""

import inspect
import math

import jax
import numpy as np
import pytest

import jaxmodal as jm

LINK = {
    "length": 0.5,
    "youngs_modulus": 7e10,
    "density": 2700.0,
    "section": {"area": 1e-4, "second_moment": 1e-9},
}


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (1, "link1 = 1: must be a table of keys and values"),
        (LINK | {"bodies": [3]}, r"link1\.bodies\[1\] = 3: must be a table"),
        (LINK | {"bodies": [{"position": 0.1, "mass": -1}]}, r"link1\.bodies\[1\]\.mass = -1.0: must be"),
        (LINK | {"bodies": [{"position": 0.1, "mass": "x"}]}, r"link1\.bodies\[1\]\.mass = 'x': must be"),
        (LINK | {"bodies": [{"position": 0.1, "mass": 1, "inertia": -1}]}, r"bodies\[1\]\.inertia = -1.0"),
        (LINK | {"bodies": [{"position": 0.1, "mass": 1, "centre_x": math.nan}]}, r"\]\.centre_x = nan"),
    ],
)  # fmt: skip
def test_messages_name_what_the_file_names(link, words):
    with pytest.raises(jm.ArmError, match=words):
        jm.arm_from_dict({"links": [link]})


def test_imaginary_parts_are_not_dropped():
    arm, complex_values = jm.examples.two_link_flexible(), np.array([3.0, 5.0 + 1e-3j])
    for call in (
        lambda: jm.count_below(arm, complex_values),
        lambda: jm.certify(arm, complex_values),
        lambda: jm.characteristic_matrix(arm, 3.0 + 1j),
        lambda: jm.log_determinant(arm, complex_values),
        lambda: jm.determinant_scan(arm, complex_values),
        lambda: jm.natural_frequencies_batch(arm, {"link2.joint_angle": complex_values}, 1),
        lambda: jm.mode_shapes(arm, 1, stations=np.array([0.0, 1j])),
    ):
        with pytest.raises(ValueError, match="other than real numbers"):
            call()


def test_one_frequency_is_asked_for_where_several_are_given():
    arm = jm.examples.two_link_flexible()
    for call in (jm.log_determinant, jm.characteristic_matrix):
        with pytest.raises(
            ValueError, match=r"omega: has the shape \(2,\); expected one.*jax\.vmap"
        ):
            call(arm, np.array([3.0, 5.0]))


@pytest.mark.parametrize("omega", [0.0, -1.0, np.nan, np.inf])
def test_a_determinant_is_one_at_a_frequency_above_0(omega):
    arm = jm.examples.two_link_flexible()
    for call in (jm.log_determinant, jm.characteristic_matrix):
        with pytest.raises(ValueError, match=rf"omega = {omega}: expected a finite frequency > 0"):
            call(arm, omega)


def test_what_decides_the_computation_is_not_traced():
    arm = jm.examples.two_link_flexible()
    words = "is traced by jax.jit, jax.vmap or jax.grad, and its value decides"
    for name, call, value in (
        ("num_modes", lambda n: plain(jm.natural_frequencies)(arm, n).omega, 2),
        ("omega_max", lambda w: plain(jm.frequencies_in_band)(arm, 0.0, w)[0].omega, 9.0),
    ):
        with pytest.raises(ValueError, match=f"{name} = <traced.*{words}"):
            jax.jit(call)(value)
    with pytest.raises(ValueError, match=r"num_modes = 2, an array of JAX; .*take int\(\.\.\.\)"):
        plain(jm.natural_frequencies)(arm, jax.device_put(np.int32(2)))
    with pytest.raises(ValueError, match=r"num_modes = 2, an array of NumPy; .*take int\(\.\.\.\)"):
        plain(jm.natural_frequencies)(arm, np.array(2))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([True, False], "holds something other than real numbers"),  # a choice of cells
        (2.0, r"has shape \(\); .*the same in all cells, set in the arm with set_parameters"),
        ([], r"has shape \(0,\); .*of one cell or more"),
    ],
)
def test_values_of_a_batch(values, words):
    with pytest.raises(ValueError, match=rf"parameters\['payload.mass'\].*{words}"):
        jm.natural_frequencies_batch(jm.examples.two_link_flexible(), {"payload.mass": values}, 1)


def test_a_taper_is_built_by_a_function():
    with pytest.raises(ValueError, match=r"build = 3: must be a function \(pieces, bound\)"):
        plain(jm.tapered_frequencies)(3)


def test_a_traced_base_is_set_by_address():
    arm = jm.examples.two_link_flexible().replace(base_stiffness=[1e6, 1e6, 1e5])
    remedy = r"base_stiffness: is of traced values; .* set_parameters\(arm, .'base_stiffness.k11'"
    for given in (lambda k: [1e6, 1e6, k], lambda k: k * np.ones(3)):
        with pytest.raises(jm.ArmError, match=remedy):
            jax.jit(lambda k, g=given: arm.replace(base_stiffness=g(k)).links[0].length)(1e5)
    varied = jax.jit(lambda k: jm.set_parameters(arm, {"base_stiffness.k33": k}).base_stiffness.k33)
    assert float(varied(2e5)) == 2e5


def plain(function):
    """The function as users call it, without the checks of annotations that the tests put before it."""
    return inspect.unwrap(function)


@pytest.fixture(scope="module")
def two_links():
    arm = jm.examples.two_link_flexible()
    return arm, jm.posture_series(arm, 2.0), jm.resonance_free(arm, 1.3, 1.5, points=2)


def test_what_is_of_another_kind_is_refused_by_name(two_links):
    """Lists of addresses, directions, shapes and results of batches."""
    arm = two_links[0]
    shapes = jm.mode_shapes(arm, 1)
    quantities = plain(jm.modal_quantities_batch)
    calls = {
        "addresses = 3j": lambda: plain(jm.sensitivities)(arm, 1, addresses=3j),
        "addresses = 'payload.mass'": lambda: plain(jm.sensitivities)(arm, 1, addresses="payload.mass"),
        "direction": lambda: plain(jm.directional_derivatives)(arm, 3, 1),
        "b = .*: must be mode shapes": lambda: plain(jm.modal_assurance)(shapes, arm),
        "a = .*: must be mode shapes": lambda: plain(jm.modal_assurance)(3.0, shapes),
        "frequencies = 'x'": lambda: quantities(arm, {"payload.mass": [0.1]}, "x"),
        "address = 3j": lambda: plain(jm.describe_address)(3j),
    }  # fmt: skip
    for words, call in calls.items():
        with pytest.raises(jm.ArmError, match=words):
            call()


@pytest.mark.parametrize(
    "wrong", [3.0 + 1j, np.array([3.0, 1j]), "a", None, [[1.0], [1.0, 2.0]], {}]
)
def test_what_is_no_real_number_is_refused_by_name(two_links, wrong):
    arm, series, resonance = two_links
    link = arm.links[0]

    def build(pieces, bound):
        return jm.Arm(jm.tapered(link, link.section, pieces, bound))

    band, tapers = plain(jm.frequencies_in_band), plain(jm.tapered_frequencies)
    calls = {
        "omega": lambda: plain(jm.postures_at)(arm, wrong),
        "omega_min": lambda: band(arm, wrong, 100.0),
        "omega_max": lambda: band(arm, 1.0, wrong),
        "omega_max ": lambda: plain(jm.posture_series)(arm, wrong),
        "omega_min ": lambda: plain(jm.resonance_free)(arm, wrong, 10.0),
        "omega_max  ": lambda: plain(jm.resonance_free)(arm, 1.0, wrong),
        "omega ": lambda: series.evaluate(wrong, [[0.0]]),
        "angles": lambda: series.evaluate([1.0], wrong),
        "angles ": lambda: resonance.on_grid(wrong),
        "tolerance": lambda: plain(jm.certify)(arm, np.ones(1), tolerance=wrong),
        "tolerance ": lambda: tapers(build, 1, tolerance=wrong),
        "cluster_tolerance": lambda: plain(jm.sensitivities)(arm, 1, cluster_tolerance=wrong),
        "pieces": lambda: tapers(build, 1, pieces=wrong),
        "max_pieces": lambda: tapers(build, 1, max_pieces=wrong),
        "points": lambda: plain(jm.resonance_free)(arm, 1.0, 2.0, points=wrong),
        "link": lambda: plain(jm.attach_body)(arm, wrong, 0.1, 1.0),
    }
    if wrong is not None:
        calls["postures"] = lambda: plain(jm.postures_at)(arm, 3.0, postures=wrong)
        calls["across"] = lambda: plain(jm.resonance_free)(arm, 1.0, 2.0, across=wrong)
    if not isinstance(wrong, dict):
        calls["values"] = lambda: plain(jm.set_parameters)(arm, wrong)
        calls["parameters"] = lambda: plain(jm.natural_frequencies_batch)(arm, wrong, 1)
    for name, call in calls.items():
        with pytest.raises(ValueError, match=rf"\b{name.strip()} = ") as refused:
            call()
        assert type(refused.value) in (ValueError, jm.ArmError)  # the library's, not NumPy's


def test_directions_are_finite():
    arm = jm.examples.two_link_flexible()
    for rate in (math.nan, math.inf):
        with pytest.raises(jm.ArmError, match=r"direction\['link1.length'\] = .*finite"):
            jm.directional_derivatives(arm, {"link1.length": rate}, 1)


def test_an_arm_is_not_written_to_a_folder(tmp_path):
    arm = jm.examples.two_link_flexible()
    for place in (tmp_path, tmp_path / "none" / "arm.toml"):
        with pytest.raises(jm.ArmError, match=r"cannot be written .*; give a file"):
            jm.write_arm(arm, place)


def test_what_names_no_file_is_refused():
    arm = jm.examples.two_link_flexible()
    reading = (lambda: plain(jm.read_arm)(3), lambda: plain(jm.read_urdf)(3))
    for call in (*reading, lambda: plain(jm.write_arm)(arm, 3)):
        with pytest.raises(jm.ArmError, match=r"path = 3: must be the name of a file"):
            call()
