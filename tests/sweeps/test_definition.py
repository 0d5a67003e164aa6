"""Definitions of sweeps: axes, fingerprints, chunks, and what is refused."""

import copy
import math

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from jaxmodal.runtime.errors import ImplausibleWarning
from sweeps.definition.descriptions import differences
from sweeps.store.grid import make_grid

TWO_LINK = "example:two_link_flexible"
THREE_LINK = "example:three_link_industrial"


def theta(values=(0.0, 90.0), number=2, **options):
    return sweeps.axis(f"theta_{number}", values, unit="degree", **options)


# ---- axes ----


def test_an_axis_keeps_the_unit_given_and_computes_in_si():
    column = sweeps.axis("link2.joint_angle", [0, 45, 180], unit="degree").columns[0]
    assert (column.name, column.unit) == ("link2_joint_angle", "degree")
    assert column.values.tolist() == [0.0, 45.0, 180.0]
    assert column.si_values.tolist() == [0.0, math.pi / 4, math.pi]
    assert sweeps.axis("theta_3", [1.0]).columns[0].unit == "rad"
    assert sweeps.axis("link1.tip_mass", [1.0], unit="kg").columns[0].unit == "kg"


@pytest.mark.parametrize(
    ("parameter", "address", "name"),
    [
        ("theta_2", "link2.joint_angle", "theta_2"),
        ("thickness_factor", "link*.thickness_factor", "thickness_factor"),
        ("payload_mass", "payload.mass", "payload_mass"),
        ("link*.section.depth", "link*.section.depth", "section_depth"),
        ("link1.youngs_modulus", "link1.youngs_modulus", "link1_youngs_modulus"),
    ],
)
def test_names_and_aliases(parameter, address, name):
    made = sweeps.axis(parameter, [0.5])
    assert (made.name, made.columns[0].name, made.columns[0].address) == (name, name, address)
    assert sweeps.axis(parameter, [0.5], name="mine").name == "mine"


def test_spaces_include_both_ends():
    even = sweeps.linspace("theta_2", -180, 180, 5, unit="degree").columns[0].values
    assert even.tolist() == [-180.0, -90.0, 0.0, 90.0, 180.0]
    ratios = sweeps.geomspace("thickness_factor", 1, 100, 3).columns[0].values
    np.testing.assert_allclose(ratios, [1.0, 10.0, 100.0], rtol=1e-15)


@pytest.mark.parametrize("method", ["latin_hypercube", "sobol"])
def test_a_random_design_fills_every_range_evenly_and_repeats_with_its_seed(method):
    ranges = [
        sweeps.Range("payload.mass", 1.0, 100.0, scale="log"),
        sweeps.Range("theta_2", -90.0, 90.0, unit="degree"),
    ]
    make = {"ranges": ranges, "num": 16, "method": method}
    mass, angle = (column.values for column in sweeps.random_design(**make, seed=3).columns)
    # both designs put exactly one sample into each sixteenth of every range
    for fraction in (np.log(mass) / math.log(100.0), (angle + 90.0) / 180.0):
        assert sorted(np.floor(16 * fraction)) == list(range(16))
    again, other = (sweeps.random_design(**make, seed=seed) for seed in (3, 4))
    assert np.array_equal(again.columns[0].values, mass)
    assert not np.array_equal(other.columns[0].values, mass)


def test_a_joint_may_be_rigid():
    stiffness = sweeps.axis("link2.joint_stiffness", [1e3, math.inf])
    assert sweeps.Sweep(TWO_LINK, [stiffness]).num_cells == 2


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sweeps.axis("link2.joint_angel", [0.0]), ("joint_angel", "link1.joint_angle")),
        (
            lambda: sweeps.Sweep(TWO_LINK, [sweeps.axis("thicknes_factor", [1.0])]),
            ("thicknes_factor", "thickness_factor"),
        ),
        (lambda: sweeps.axis(7, [1.0]), ("parameter = 7", "text")),
        (lambda: sweeps.axis("theta_2", []), ("theta_2", "one number or more")),
        (lambda: sweeps.axis("theta_2", 3.0), ("theta_2", "list")),
        (lambda: sweeps.axis("theta_2", ["a"]), ("theta_2", "must be numbers")),
        (lambda: sweeps.axis("theta_2", [True]), ("theta_2", "must be numbers")),
        (lambda: sweeps.axis("theta_2", [0.0, math.nan]), ("theta_2", "nan", "finite")),
        (lambda: sweeps.axis("theta_2", [math.inf]), ("theta_2", "inf", "finite")),
        (lambda: sweeps.axis("theta_2", [1.0, 2.0, 1.0]), ("value 1.0", "twice")),
        (lambda: sweeps.axis("theta_2", [1.0], unit="gon"), ("'gon'", "'rad' or 'degree'")),
        (lambda: sweeps.axis("payload.mass", [1.0], unit="g"), ("'g'", "'kg'")),
        (lambda: sweeps.axis("theta_2", [1.0], name="mode"), ("'mode'", "axis name")),
        (lambda: sweeps.axis("theta_2", [1.0], name="theta 2"), ("'theta 2'", "axis name")),
        (lambda: sweeps.linspace("theta_2", 0, 1, 0), ("num = 0", "whole number")),
        (lambda: sweeps.linspace("theta_2", 0, 1, 2.5), ("num = 2.5", "whole number")),
        (lambda: sweeps.linspace("theta_2", "a", 1, 2), ("'a'", "finite number")),
        (lambda: sweeps.geomspace("theta_2", 0, 1, 2), ("same sign", "linspace")),
        (lambda: sweeps.zipped(name="pair"), ("'pair'", "empty")),
        (lambda: sweeps.zipped([theta((1.0,))], name="pair"), ("'pair'", "one after the other")),
        (
            lambda: sweeps.zipped(theta((1.0,)), theta((1.0, 2.0), 3), name="pair"),
            ("differ in length", "theta_2 1", "theta_3 2"),
        ),
        (lambda: sweeps.random_design([], 4, seed=1), ("one range or more",)),
        (
            lambda: sweeps.random_design([sweeps.Range("theta_2", 0, 1)], 4, seed=-1),
            ("seed = -1", "0 or more"),
        ),
        (
            lambda: sweeps.random_design(
                [sweeps.Range("theta_2", 0, 1)], 6, seed=1, method="sobol"
            ),
            ("num = 6", "power of 2", "8"),
        ),
        (
            lambda: sweeps.random_design([sweeps.Range("theta_2", 0, 1)], 4, seed=1, method="sobl"),
            ("'sobl'", "Did you mean 'sobol'"),
        ),
        (
            lambda: sweeps.random_design([sweeps.Range("theta_2", 1, 0)], 4, seed=1),
            ("from 1.0 to 0.0", "low must be less than high"),
        ),
        (
            lambda: sweeps.random_design([sweeps.Range("theta_2", 0, 1, scale="log")], 4, seed=1),
            ("log scale", "greater than 0"),
        ),
        (
            lambda: sweeps.random_design([sweeps.Range("theta_2", 0, 1, scale="lg")], 4, seed=1),
            ("'lg'", "'linear' or 'log'"),
        ),
    ],
)
def test_a_wrong_axis_is_refused(make, words):
    with pytest.raises(sweeps.SweepError) as refused:
        make()
    for word in words:
        assert word in str(refused.value)


# ---- sweeps ----


def test_a_sweep_is_the_product_of_its_axes():
    pair = sweeps.zipped(
        sweeps.axis("payload.mass", [0, 1, 2]),
        sweeps.axis("payload.inertia", [0, 1, 2]),
        name="load",
    )
    sweep = sweeps.Sweep(TWO_LINK, [theta(), pair], theories=["timoshenko", "rayleigh"])
    assert (sweep.shape, sweep.num_cells) == ((2, 3), 6)
    assert sweep.dims == ("theory", "theta_2", "load", "mode")
    assert sweep.outputs == ("frequency", "status", "certified")
    arm = sweep.arm_at(1, 2)
    assert float(arm.links[1].joint_angle) == math.pi / 2
    assert (float(arm.payload.mass), float(arm.payload.inertia)) == (2.0, 2.0)
    for index in ((1,), (1, 2, 0), (2, 0), (0, -4), (0.0, 1)):
        with pytest.raises(sweeps.SweepError) as error:
            sweep.arm_at(*index)
        assert f"index = {index}" in str(error.value)
        assert "(2, 3)" in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((TWO_LINK, []), {}, ("axes is empty",)),
        ((TWO_LINK, ["theta_2"]), {}, ("'theta_2' is not an axis",)),
        ((TWO_LINK, [theta(), theta(name="again")]), {}, ("link2.joint_angle", "varied by another")),
        ((TWO_LINK, [theta(), theta(number=1, name="theta_2")]), {}, ("'theta_2' is taken",)),
        ((TWO_LINK, [theta(name="frequency")]), {}, ("'frequency' is taken",)),
        ((TWO_LINK, [theta(number=3)]), {}, ("link3.joint_angle", "2 link(s)")),
        ((TWO_LINK, [sweeps.axis("link1.length", [0.5, -1.0])]), {}, ("link1_length", "-1.0")),
        ((TWO_LINK, [sweeps.axis("link1.section.depth", [0.0])]), {}, ("depth", "greater than 0")),
        (
            (
                THREE_LINK,
                [
                    sweeps.axis("link1.section.depth", [-0.1, 0.1]),
                    sweeps.axis("link1.section.wall_thickness", [0.01]),
                ],
            ),
            {},
            ("link1.section.depth = -0.1", "greater than 0"),
        ),
        (
            (TWO_LINK, [theta(), sweeps.axis("link*.tip_mass", [1.0]), sweeps.axis("link1.tip_mass", [1.0])]),
            {},
            ("link1.tip_mass", "twice"),
        ),
        ((THREE_LINK, [sweeps.axis("thickness_factor", [2.0])]), {}, ("wall_thickness",)),
        ((TWO_LINK, [theta()]), {"num_modes": 0}, ("num_modes = 0",)),
        ((TWO_LINK, [theta()]), {"num_modes": True}, ("num_modes = True",)),
        ((TWO_LINK, [theta()]), {"theories": "timoshenk"}, ("Did you mean 'timoshenko'",)),
        ((TWO_LINK, [theta()]), {"theories": []}, ("theories is empty",)),
        ((TWO_LINK, [theta()]), {"theories": ["rayleigh"] * 2}, ("'rayleigh' is given twice",)),
        ((TWO_LINK, [theta()]), {"outputs": ["frequencies"]}, ("Did you mean 'frequency'",)),
        ((TWO_LINK, [theta()]), {"outputs": ["multiplicity"] * 2}, ("'multiplicity' is given twice",)),
        (("two_link_flexible", [theta()]), {}, ("example:two_link_flexible",)),
        ((3, [theta()]), {}, ("arm = 3", "path")),
    ],
)  # fmt: skip
def test_a_wrong_sweep_is_refused(arguments, options, words):
    with pytest.raises(sweeps.SweepError) as refused:
        sweeps.Sweep(*arguments, **options)
    for word in words:
        assert word in str(refused.value)


def test_an_unknown_arm_is_refused_by_the_arm_reader():
    with pytest.raises(jm.ArmError, match="two_link_flexible"):
        sweeps.Sweep("example:two_link", [theta()])
    with pytest.raises(jm.ArmError, match="cannot be read"):
        sweeps.Sweep("none.toml", [theta()])


def test_timoshenko_needs_shear_data():
    section = jm.raw_section(1e-4, 1e-9)
    arm = jm.Arm((jm.Link(1.0, 7e10, 2700.0, section),))
    load = [sweeps.axis("payload.mass", [1.0])]
    with pytest.raises(sweeps.SweepError, match="shear_coefficient"):
        sweeps.Sweep(arm, load)
    assert sweeps.Sweep(arm, load, theories="rayleigh").theories == ("rayleigh",)


def test_an_output_brings_the_theory_that_it_compares_with():
    sweep = sweeps.Sweep(TWO_LINK, [theta()], outputs=["difference_to_euler_bernoulli"])
    assert sweep.solved_theories == ("timoshenko", "euler_bernoulli")
    assert sweep.theories == ("timoshenko",)


# ---- fingerprints ----


def test_the_fingerprint_tells_definitions_apart_and_nothing_else():
    base = {"theories": "timoshenko", "num_modes": 3, "outputs": ["multiplicity"]}
    sweep = sweeps.Sweep(TWO_LINK, [theta()], **base)
    with pytest.warns(ImplausibleWarning, match="reaches 90 rad"):
        in_radians = sweeps.Sweep(TWO_LINK, [sweeps.axis("theta_2", [0.0, 90.0])], **base)
    assert sweep.fingerprint == sweeps.Sweep(TWO_LINK, [theta()], **base, name="title").fingerprint
    others = [
        sweeps.Sweep(THREE_LINK, [theta()], **base),
        sweeps.Sweep(TWO_LINK, [theta((0.0, np.nextafter(90.0, 91.0)))], **base),
        sweeps.Sweep(TWO_LINK, [theta(name="angle")], **base),
        in_radians,
        *(
            sweeps.Sweep(TWO_LINK, [theta()], **base | change)
            for change in ({"theories": "rayleigh"}, {"num_modes": 4}, {"outputs": []})
        ),
    ]
    prints = {other.fingerprint for other in others}
    assert len(prints) == len(others)
    assert sweep.fingerprint not in prints


def test_differences_name_the_place_and_both_values():
    old = sweeps.Sweep(TWO_LINK, [theta()]).description()
    new = copy.deepcopy(old)
    new["num_modes"] = 3
    new["axes"]["theta_2"]["theta_2"]["unit"] = "rad"
    new["arm"]["links"][1]["length"] = 2.0
    assert sorted(differences(old, new)) == [
        "arm.links[2].length: 0.54 in the store, 2.0 now",
        'axes.theta_2.theta_2.unit: "degree" in the store, "rad" now',
        "num_modes: 10 in the store, 3 now",
    ]
    assert differences(old, copy.deepcopy(old)) == []


def test_values_of_an_axis_differ_by_their_ends_or_between_them():
    """Digests say nothing to a reader."""
    old, longer, other = (
        sweeps.Sweep(TWO_LINK, [sweeps.axis("theta_2", values)]).description()
        for values in ([0.0, 1.0, 3.0], [0.0, 1.0, 2.0, 4.0], [0.0, 2.0, 3.0])
    )
    place = "axes.theta_2.theta_2"
    assert differences(old, longer) == [
        f"{place}.size: 3 in the store, 4 now",
        f"{place}.last: 3.0 in the store, 4.0 now",
    ]
    assert differences(old, other) == [
        f"{place}: other values between the same ends in the store than now"
    ]


# ---- chunks ----


@pytest.mark.parametrize("chunk_cells", [1, 4, 7, 35, 1000])
def test_chunks_cover_every_cell_once(chunk_cells):
    sweep = sweeps.Sweep(TWO_LINK, [theta(range(5)), theta(range(7), 1)])
    grid = make_grid(sweep, chunk_cells)
    assert grid.most_cells <= chunk_cells
    seen = np.zeros(sweep.shape, int)
    for chunk in range(grid.num_shards):
        seen[grid.region(chunk)] += 1
        assert seen[grid.region(chunk)].size == grid.num_cells(chunk)
    assert np.all(seen == 1)


@pytest.mark.parametrize("wrong", [0, -3, 2.5, True])
def test_a_wrong_chunk_size_is_refused(wrong):
    sweep = sweeps.Sweep(TWO_LINK, [theta()])
    with pytest.raises(sweeps.SweepError, match="chunk_cells"):
        make_grid(sweep, wrong)
