"""Is it said of a row of Denavit and Hartenberg that d does not bend, where nobody chose so, and nowhere else?"""

import warnings

import numpy as np
import pytest

import jaxmodal as jm
from tests.support.commands import run_command

TUBE = jm.hollow_circle(0.1, 0.004, "cowper")
LINK = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33, "section": TUBE}
#: the column of an industrial arm: d is what is long
COLUMN, UPPER, ELBOW = (0.0, 0.6, 0.3, 0.0), (0.3, 0.0, 0.5, 0.0), (0.2, 0.4, 0.0, 0.0)
FILE = """
[[links]]
denavit_hartenberg = {{ theta = 0.0, d = 0.6, a = 0.3, alpha = 0.0 }}
youngs_modulus_gpa = 70.0
poisson_ratio = 0.33
density = 2700.0
section = {{ shape = "hollow_circle", outer_diameter = 0.1, wall_thickness = 0.004, shear_coefficient = "cowper" }}
{}
"""


def arm_of(*rows, links=None, **more):
    return jm.arm_from_denavit_hartenberg(rows, links or [LINK] * len(rows), **more)


def test_a_row_with_both_warns_with_the_three_ways():
    with pytest.warns(
        jm.ImplausibleWarning, match="link1: d = 0.6 m is rigid and massless"
    ) as given:
        arm = arm_of(COLUMN, UPPER, COLUMN, name="tall")
    (one,) = given
    lines = str(one.message).splitlines()
    assert [line[:12] for line in lines] == ["tall: link1:", "tall: link3:"]
    assert all("a = 0.3 m alone bends, for along is left out" in line for line in lines)
    assert all(f"'{way}'" in lines[0] for way in ("a", "d", "straight"))
    assert one.filename == __file__
    assert [float(link.length) for link in arm.links] == [0.3, 0.5, 0.3]


@pytest.mark.parametrize("along", ["a", "d", "straight"])
def test_what_is_chosen_is_not_remarked(along):
    arm_of(COLUMN, links=[LINK | {"along": along}])  # a warning is an error here
    arm_of(UPPER, ELBOW)
    arm_of(COLUMN, links=[LINK | {"rigid": True, "joint_stiffness": 1e4}])


def test_the_way_to_the_tip_of_modified_rows():
    with pytest.warns(jm.ImplausibleWarning, match="link1: d = 0.4 m .* the way to the tip alone"):
        arm_of(ELBOW, convention="modified", tip=(0.0, 0.2, 0.0))


def test_what_is_said_is_true():
    """The default is a with a rigid d: a spring of a beam of length a; the straight beam is far softer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jm.ImplausibleWarning)
        default = arm_of(COLUMN, payload=jm.RigidBody(50.0))
    chosen, straight = (
        arm_of(COLUMN, links=[LINK | {"along": way}], payload=jm.RigidBody(50.0))
        for way in ("a", "straight")
    )
    first = [float(jm.natural_frequencies(x, 1).omega[0]) for x in (default, chosen, straight)]
    assert first[0] == first[1]
    assert first[2] < 0.7 * first[0]


def test_files_and_commands_say_it_and_check_shows_it(tmp_path):
    path = tmp_path / "column.toml"
    for more, said in (("", 1), ('along = "a"', 0), ("rigid = true\njoint_stiffness = 1e4", 0)):
        path.write_text(FILE.format(more))
        for command in (["frequencies", str(path), "--modes", "1"], ["check", str(path)]):
            shown = run_command(*command)
            assert shown.exit_code == 0, shown.output
            assert shown.stderr.count("warning: link1: d = 0.6 m is rigid") == said
    assert "rigid [m]" in shown.stdout
    facts = jm.check_arm(arm_of(COLUMN, links=[LINK | {"along": "d"}])).links[0]
    assert (facts.length, facts.rigid) == (0.6, 0.3)
    offsets = {"base_offset": (0.3, 0.4, 0.0), "end_offset": (0.0, 0.0, 0.1)}
    both = jm.SpatialLink(1.0, **LINK, **offsets)
    np.testing.assert_allclose(jm.check_arm(jm.SpatialArm((both,))).links[0].rigid, 0.6, rtol=1e-15)
