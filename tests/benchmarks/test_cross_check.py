"""The counts in 113-bit floats are right, and the campaign made of them finds what is wrong."""

import dataclasses
import json
import shutil
import types
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest

import jaxmodal as jm
from benchmarks import campaign, cross_check, extended_counts
from benchmarks.cross_check_arms import KINDS, case

if extended_counts.missing() is not None:
    pytest.skip(extended_counts.missing(), allow_module_level=True)

PUBLIC = json.loads((Path(__file__).parent.parent / "data/cases_public.json").read_text())["cases"]
#: of a public case by their names in `BeamArrays`
NAMES = {
    "length": "L", "youngs_modulus": "E", "area": "A", "second_moment": "I", "density": "rho",
    "shear_modulus_effective": "kG", "tip_mass": "M", "tip_inertia": "J", "joint_angle": "theta",
    "joint_stiffness": "kT",
}  # fmt: skip
TWO_PI = 2 * Decimal("3.14159265358979323846264338327950288419716939937511")
#: distances at which counts are taken; roots closer to each other than 1e-12 are one group of a public case
NEAR = ("2e-12", "1e-7")
FEW = 6


def values_of(public):
    columns = {
        name: np.array([[np.inf if link[key] is None else link[key]] for link in public["links"]])
        for name, key in NAMES.items()
    }
    return extended_counts.link_values(
        types.SimpleNamespace(**dict.fromkeys(extended_counts.FIELDS) | columns)
    )


@pytest.mark.parametrize("public", PUBLIC, ids=lambda public: public["id"])
def test_counts_on_both_sides_of_published_frequencies(public):
    places, expected = [], []
    with localcontext() as context:
        context.prec = 40
        omegas = [Decimal(one["f_hz"]) * TWO_PI for one in public["distinct"]]
        for one, omega in zip(public["distinct"], omegas, strict=True):
            last = one is public["distinct"][-1]  # its group may go on
            for side in (-1,) if last else (-1, 1):
                passed = one["first_index"] - 1 + (one["multiplicity"] if side > 0 else 0)
                for distance in map(Decimal, NEAR):
                    at = omega * (1 + side * distance)
                    if any(x != omega and abs(x / omega - 1) <= distance for x in omegas):
                        continue
                    places.append((float(at), float(at - Decimal(float(at)))))
                    expected.append(passed)
    omega, rest = np.array(places).T[:, None]
    found = extended_counts.counts_below(values_of(public), public["model"], omega, rest)
    assert found[0].tolist() == expected


def plain_in_space(case):
    """The values of its links, or None where one has more than a body at its tip and a spring about its axis."""
    links = []
    for link in case["links"]:
        joint, body = link["joint"], link["body"]
        bodies = [body, case["payload"]] if link is case["links"][-1] else [body]
        inertia = sum(np.array(b["inertia"]) for b in bodies)
        more = [link["base_offset"], link["end_offset"], *link["hub"].values(), link["rigid"]]
        more += [link["nonstructural_mass"], inertia - np.diag(np.diag(inertia))]
        more += [b["centre"] for b in bodies]
        if any(np.any(x) for x in more) or joint["frame"] or joint["springs"]:
            return None
        rigid = joint["stiffness"] is None
        of_joint = {"joint_angle": joint["angle"], "mass": sum(b["mass"] for b in bodies)}
        of_joint["joint_stiffness"] = np.inf if rigid else joint["stiffness"]
        of_joint |= {f"axis_{x}": value for x, value in zip("xyz", joint["axis"], strict=True)}
        of_joint |= {f"inertia_{x}": inertia[k, k] for k, x in enumerate("xyz")}
        links.append(link | of_joint)
    return links


IN_SPACE = json.loads((Path(__file__).parent.parent / "data/spatial_cases.json").read_text())
PLAIN_IN_SPACE = [one for one in IN_SPACE["cases"] if plain_in_space(one) is not None]


@pytest.mark.parametrize("one", PLAIN_IN_SPACE, ids=lambda one: one["id"])
def test_counts_on_both_sides_of_frequencies_in_space(one):
    values = extended_counts.link_values_in_space(plain_in_space(one), 1)
    for near in (1e-9, 1e-6):
        places, expected = [], []
        for group in one["distinct"]:
            omega = float(group["omega_rad_per_s"])
            roots = np.array([float(x["omega_rad_per_s"]) for x in one["distinct"]])
            if np.sum(np.abs(roots / omega - 1.0) < 3.0 * near) > 1:
                continue
            passed = group["first_index"] - 1
            places += [omega * (1.0 - near), omega * (1.0 + near)]
            expected += [passed, passed + group["multiplicity"]]
        found = extended_counts.counts_below(values, one["theory"], np.array([places]))
        assert found[0].tolist() == expected


def test_there_are_cases_in_space():
    assert len(PLAIN_IN_SPACE) >= 7


def test_errors_are_those_of_a_displaced_frequency():
    public = PUBLIC[0]
    omega = np.array([[2.0 * np.pi * float(f) for f in public["f_hz"][:3]]])
    moved = omega * (1.0 + np.array([1e-13, -1e-9, 0.1]))
    found = extended_counts.relative_errors(
        values_of(public), public["model"], moved, np.arange(1, 4)
    )
    assert found[0, 0] == pytest.approx(1e-13, abs=1e-15)
    assert found[0, 1] == pytest.approx(-1e-9, rel=2e-3)
    assert np.isnan(found[0, 2])


@pytest.mark.parametrize(
    "kind", ["springs", "supports", "elastic_bases", "four_bars", "gravity", "space"]
)
def test_certified_modes_of_a_few_cells_of_each_kind(kind):
    given = case(kind, 0, 0, FEW)
    found = campaign.check_case(given, kind)
    assert found.certified > 0.5 * found.modes
    assert (found.certified_and_wrong, found.miscounted, found.beyond_bound) == (0, 0, 0)
    assert found.largest_error < campaign.BOUND
    assert found.offenders == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "number"),
    [("four_bars", 39), ("four_bars", 36), ("offsets", 9), ("masses", 21), ("springs", 33)],
)
def test_what_is_stated_of_a_frequency_is_true(kind, number):
    """Of batches of the campaign whose modes were up to twice as far off as was stated of them."""
    found = campaign.check_case(case(kind, 11, number, 1024), kind)
    assert found.certified == found.modes
    assert found.beyond_bound == 0


@pytest.fixture(scope="module")
def solved():
    given = case("masses", 0, 0, FEW)
    result = jm.natural_frequencies_batch(
        given.arm, given.parameters, given.modes, theory=given.theory
    )
    whole = dataclasses.replace(
        result, **{x: np.array(getattr(result, x)) for x in ("omega", "bracket", "count_above")}
    )
    assert np.asarray(whole.certified).all()
    assert campaign.check_result(given, whole, "whole").offenders == []
    return given, whole


def spoilt(result, field, at, value):
    array = getattr(result, field).copy()
    array[at] = value(array[at])
    return dataclasses.replace(result, **{field: array})


def test_a_bracket_beside_its_mode_is_found(solved):
    given, result = solved
    for shift in (1.0 + 1e-6, 1.0 - 1e-6):
        found = campaign.check_result(
            given, spoilt(result, "bracket", (2, 3), lambda x, s=shift: x * s), "moved"
        )
        assert (found.certified_and_wrong, found.beyond_bound) == (1, 0)
        (told,) = found.offenders
        assert (told["cell"], told["mode"], told["wrong"]) == (2, 4, True)
        assert told["counts"] == told["counts_in_double_double"]
        assert told["counts"] in ([4, 4], [3, 3])


def test_a_frequency_beyond_its_bound_is_found_with_its_error(solved):
    given, result = solved
    moved = spoilt(result, "omega", (1, 0), lambda x: x * (1.0 + 3e-12))
    found = campaign.check_result(given, moved, "moved")
    assert (found.certified_and_wrong, found.beyond_bound) == (0, 1)
    assert found.largest_error == pytest.approx(3e-12, rel=0.2)


def test_a_count_that_is_not_that_of_its_end_is_found(solved):
    given, result = solved
    found = campaign.check_result(
        given, spoilt(result, "count_above", (0, 1), lambda x: x + 1), "miscounted"
    )
    assert (found.certified_and_wrong, found.miscounted) == (0, 1)


def test_a_mode_that_is_not_certified_is_not_looked_at(solved):
    given, result = solved
    moved = spoilt(result, "bracket", (2, 3), lambda x: 1.1 * x)
    status = np.array(result.status)
    status[2, 3] = 1
    found = campaign.check_result(given, dataclasses.replace(moved, status=status), "open")
    assert (found.certified, found.certified_and_wrong) == (status.size - 1, 0)


def test_a_case_is_drawn_again_by_its_name():
    for kind in KINDS:
        one, same, other = (case(kind, 5, number, 4) for number in (1, 1, 2))
        assert one.arm == same.arm
        for name, column in one.parameters.items():
            np.testing.assert_array_equal(column, same.parameters[name])
        differs = any(
            name not in other.parameters or (column != other.parameters[name]).any()
            for name, column in one.parameters.items()
        )
        assert differs, kind


def test_the_command_writes_what_it_found(tmp_path, capsys):
    out = tmp_path / "campaign.json"
    command = ["--kinds", "hubs", "--cells", "5", "--batch", "5", "--seed", "3", "--out", str(out)]
    cross_check.main(command)
    found = json.loads(out.read_text())["kinds"]["hubs"]
    assert (found["cells"], found["certified_and_wrong"]) == (5, 0)
    assert "hubs" in capsys.readouterr().out
    cross_check.main(["--replay", "hubs:3:0:5"])
    again = json.loads(capsys.readouterr().out)
    assert {x: again[x] for x in again if "seconds" not in x} == {
        x: found[x] for x in found if "seconds" not in x
    }
    with pytest.raises(SystemExit, match="expected all or some of springs, masses"):
        cross_check.main(["--kinds", "hub"])


def test_without_gcc_it_is_skipped_with_the_reason(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    cross_check.main(["--kinds", "hubs"])
    assert capsys.readouterr().out.startswith("skipped: no gcc")
