"""Does a parameter of several values mean one thing in files and in Python, and is "before" the arm of the file?"""

import copy
import math

import numpy as np
import pytest

import design_opt
import jaxmodal as jm
from design_opt import Problem, Variable, optimise, per_link

#: two tubes whose walls differ
WALLS, DIAMETER, LENGTHS = (0.003, 0.005), 0.08, (0.9, 0.7)
LINK = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33}
DOCUMENT = {
    "arm": {
        "links": [
            LINK
            | {
                "length": length,
                "section": {
                    "shape": "hollow_circle",
                    "outer_diameter": DIAMETER,
                    "wall_thickness": wall,
                    "shear_coefficient": "cowper",
                },
            }
            for length, wall in zip(LENGTHS, WALLS, strict=True)
        ],
        "payload": {"mass": 2.0},
    },
    "variables": [],
    "objective": {"minimise": "mass"},
    "constraints": [{"kind": "frequency", "mode": 1, "at_least_hz": 10.0}],
}
BOUNDS = {"lower": 0.001, "upper": 0.01}
WHOLE = "link*.section.wall_thickness"
EACH = ["link1.section.wall_thickness", "link2.section.wall_thickness"]


def of_file(parameter, **keys) -> Problem:
    entry = {"parameter": parameter} | BOUNDS | keys
    return design_opt.problem_from_dict(copy.deepcopy(DOCUMENT) | {"variables": [entry]})[0]


def of_python(variables) -> Problem:
    arm = of_file(WHOLE).arm
    limit = design_opt.FrequencyLimit(1, at_least_hz=10.0)
    return Problem(arm, variables, design_opt.MinimiseMass(), [limit])


@pytest.mark.parametrize("parameter", [WHOLE, EACH], ids=["link*", "a list"])
def test_several_values_are_one_variable_in_files_as_in_python(parameter):
    given = parameter if isinstance(parameter, str) else tuple(parameter)
    for problem in (
        of_file(parameter),
        of_file(parameter, tied=True),
        of_python([Variable(given, **BOUNDS)]),
    ):
        assert problem.space.size == 1
        values = problem.space.values(np.array([0.5]))
        assert [float(values[address]) for address in EACH] == pytest.approx([0.0055] * 2)


@pytest.mark.parametrize("parameter", [WHOLE, EACH], ids=["link*", "a list"])
def test_untied_values_are_a_variable_each_in_files_as_in_python(parameter):
    arm = of_file(WHOLE).arm
    for problem in (
        of_file(parameter, tied=False),
        of_python(per_link(arm, parameter, **BOUNDS)),
    ):
        assert list(problem.space.names) == EACH
        values = problem.space.values(np.array([0.0, 1.0]))
        assert [float(values[address]) for address in EACH] == pytest.approx([0.001, 0.01])


def test_untied_values_have_no_common_name():
    with pytest.raises(ValueError, match="one for each of 2 values") as error:
        of_file(EACH, tied=False, name="wall")
    assert str(error.value).startswith("variables[1]: name = 'wall'")


def mass_of(walls) -> float:
    """Of the tubes and the payload, kg."""
    areas = [math.pi * wall * (DIAMETER - wall) for wall in walls]
    return 2700.0 * sum(a * length for a, length in zip(areas, LENGTHS, strict=True)) + 2.0


@pytest.fixture(scope="module")
def tied():
    """Two walls made one, which the search starts with that of link 1."""
    return optimise(of_file(WHOLE, name="wall"), max_iterations=20)


def test_before_is_the_arm_of_the_file(tied):
    arm = of_file(WHOLE).arm
    assert tied.objectives["total mass [kg]"][0] == pytest.approx(mass_of(WALLS), rel=1e-12)
    first = float(jm.natural_frequencies(arm, 1).frequencies_hz[0])
    table = tied.to_dataframe()
    assert table.loc["f1 [Hz]", "before"] == pytest.approx(first, rel=1e-12)
    assert [table.loc[f"wall: {address} [m]", "before"] for address in EACH] == list(WALLS)
    after = [table.loc[f"wall: {address} [m]", "after"] for address in EACH]
    assert after == [tied.values["wall"]] * 2


def test_where_the_search_starts_elsewhere_is_told(tied):
    text = str(tied)
    assert "the search starts at wall = 0.003 m, not at the arm before" in text
    assert "tied: wall is one variable for 2 values" in text


def test_before_a_start_of_its_own_is_the_arm_of_the_file():
    found = optimise(of_file(EACH[0], start=0.008), max_iterations=20)
    assert found.objectives["total mass [kg]"][0] == pytest.approx(mass_of(WALLS), rel=1e-12)
    assert found.to_dataframe().loc[f"{EACH[0]} [m]", "before"] == WALLS[0]
    assert "the search starts at link1.section.wall_thickness = 0.008 m" in str(found)


def test_before_a_damped_start_is_the_arm_without_damping():
    """Its peak is infinite; the search does not mind, for it starts elsewhere."""
    links = [
        link.replace(joint_damping=0.0, joint_stiffness=3e4) for link in of_file(WHOLE).arm.links
    ]
    aim = design_opt.MinimiseResponse(input="tip.across", output="tip.across", band_hz=(1.0, 60.0))
    damper = Variable("link1.joint_damping", 5.0, 5000.0, scale="log", start=100.0)
    found = optimise(Problem(jm.Arm(tuple(links)), [damper], aim), max_iterations=1)
    ((before, after),) = found.objectives.values()
    assert before == math.inf
    assert math.isfinite(after)


def test_a_search_from_the_arm_itself_says_nothing_of_its_start():
    found = optimise(of_file(WHOLE, tied=False), max_iterations=20)
    assert found.objectives["total mass [kg]"][0] == pytest.approx(mass_of(WALLS), rel=1e-12)
    assert "starts" not in str(found)
    assert "tied" not in str(found)


def test_pictures_show_the_arm_of_the_file(tied):
    pytest.importorskip("matplotlib")
    from design_opt.output.plots import sections

    outer, inner = sections(tied).axes[1].patches[0].get_path().to_polygons()
    wall = (np.abs(outer).max() - np.abs(inner).max()) * 1e-3
    assert wall == pytest.approx(WALLS[1], rel=1e-6)
