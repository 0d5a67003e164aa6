"""The table of references: it holds, its rows name tests that exist, its data are those of the tests, it can fail."""

import ast
import dataclasses
import json
from pathlib import Path

import jax
import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from benchmarks.reproduction import published
from jaxmodal.at_rest import buckling
from jaxmodal.frequencies import one_arm
from jaxmodal.references import verification
from tests.spatial.cases import references
from tests.support.commands import run_command
from tests.support.problems import problems

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "validation.md"
CLAIMS = verification.load_claims()


@pytest.fixture(scope="module")
def verified():
    return verification.verify()


def test_every_claim_holds(verified):
    assert verified.ok, verified
    assert len(verified.rows) == len(CLAIMS) > 20
    for row in verified.rows:
        if row.claim.tolerance is not None:
            assert row.difference <= 1e-12
    assert {"machine", "versions"} == set(verified.machine)
    assert f"jaxlib {jax.lib.__version__}" in str(verified)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.case)
def test_a_row_names_a_test_that_exists(claim):
    file, _, name = claim.test.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_proven_values_are_those_that_the_tests_hold():
    """Arms and digits of the package beside those of the tests."""
    seen = 0
    for claim in CLAIMS:
        name = claim.arm["name"]
        if name in problems():
            known, values = problems()[name].arm, problems()[name].digits
        elif name in references():
            known, values = references()[name].arm, references()[name].entry["f_hz"]
        else:
            continue
        seen += 1
        assert claim.values == tuple(values)
        arm = jm.arm_from_dict(dict(claim.arm))
        np.testing.assert_array_equal(*map(jax.tree_util.tree_leaves, (arm, known)))
    assert seen == 16


#: of the claims that quote a table of the paper: its column
QUOTED = {"Table 2": "T", "Table 6": "T", "Table 10": "EB_dagger", "Table 11": "T"}


def test_printed_values_of_the_paper_are_those_of_its_tables():
    """Arms, theories and digits of the package beside the tables; no misprint is among them."""
    quoting = {claim.source.rpartition(", ")[2]: claim for claim in CLAIMS}
    tables = {table.title: table for table in published.load_tables()}
    assert quoting.keys() & tables.keys() == QUOTED.keys()
    wrong = {misprint.cell for misprint in published.load_misprints()}
    for title, column in QUOTED.items():
        claim, table = quoting[title], tables[title]
        arm = jm.arm_from_dict(dict(claim.arm))
        posture = np.array([float(link.joint_angle) for link in arm.links[1:]])
        known = jm.examples.load(table.example).with_posture(posture)
        if table.thickness_factor != 1.0:
            known = known.with_thickness_factor(table.thickness_factor)
        np.testing.assert_array_equal(*map(jax.tree_util.tree_leaves, (arm, known)))
        where = table.name, tuple(f"{angle:g}" for angle in np.degrees(posture))
        cells = [
            cell
            for cell in published.load_cells()
            if (cell.table, cell.posture_deg) == where and cell.column == column
        ]
        assert claim.values == tuple(cell.printed for cell in cells)
        assert claim.theory == published.FREQUENCY_COLUMNS[column]
        assert claim.tolerance is None
        assert wrong.isdisjoint(cells)


def test_macleans_arm_by_its_frequency_equation():
    """Pinned base, tip mass mu of the beam's: cot x - coth x = 2 mu x. The fourth root is not what is printed."""
    (claim,) = (claim for claim in CLAIMS if claim.exact)
    with mpmath.workdps(40):
        mu, length, speed = map(mpmath.mpf, ("5.18", "3.372", "5.974"))
        s, c, S, C = (getattr(mpmath, name) for name in ("sin", "cos", "sinh", "cosh"))
        x = mpmath.findroot(
            lambda x: c(x) * S(x) - s(x) * C(x) - 2 * mu * x * s(x) * S(x),
            (12.57, 12.6),
            solver="anderson",
        )
        omega = speed * (x / length) ** 2
    assert mpmath.nstr(omega, 4) == claim.exact == "83.07"
    arm = jm.arm_from_dict(dict(claim.arm))
    found = jm.natural_frequencies(arm, 5, theory="bending_only")
    assert found.omega[0] == 0.0  # the joint turns freely
    np.testing.assert_allclose(found.omega[4], float(omega), rtol=1e-12, atol=0.0)
    assert abs(float(claim.values[0]) / float(omega) - 1) > 3e-3


def tampered(claim, text):
    return dataclasses.replace(claim, values=(text, *claim.values[1:]))


def test_a_wrong_value_fails_and_is_told(monkeypatch):
    cantilever, rod = CLAIMS[:2]
    wrong = tampered(cantilever, "1.87510408"), tampered(rod, "1.570796326797")
    found = verification.verify(claims=(cantilever, *wrong))
    assert [row.holds for row in found.rows] == [True, False, False]
    assert [row.worst for row in found.rows[1:]] == [0, 0]
    monkeypatch.setattr(verification, "load_claims", lambda: (cantilever, wrong[1]))
    answer = run_command("verify")
    assert answer.exit_code == 1
    assert "FAILS" in answer.stdout
    assert "1 of 2 claims hold" in answer.stdout
    answer = run_command("verify", "--format", "json")
    assert answer.exit_code == 1
    document = json.loads(answer.stdout)
    assert document["ok"] is False
    assert [claim["holds"] for claim in document["claims"]] == [True, False]
    assert document["claims"][1]["printed"][0] == "1.570796326797"


def test_what_is_not_certified_does_not_hold(monkeypatch):
    """All digits as they are, and the certificate of one mode, or factor, taken away."""
    cantilever = CLAIMS[0]
    column = next(claim for claim in CLAIMS if claim.quantity == "critical load")

    def uncertified(solve, name, value):
        def solved(*arguments, **options):
            found = solve(*arguments, **options)
            spoilt = np.array(getattr(found, name))
            spoilt[-1] = value
            return dataclasses.replace(found, **{name: spoilt})

        return solved

    code = int(jm.Status.uncertified)
    for module, solver, name, value, claim in (
        (one_arm, "natural_frequencies", "status", code, cantilever),
        (buckling, "buckling", "certified", False, column),
    ):
        (row,) = verification.verify(claims=(claim,)).rows
        assert row.holds
        monkeypatch.setattr(module, solver, uncertified(getattr(module, solver), name, value))
        (spoilt,) = verification.verify(claims=(claim,)).rows
        assert (spoilt.ours, spoilt.holds, spoilt.verdict) == (row.ours, False, "FAILS")


def test_a_print_said_to_be_wrong_must_be_wrong():
    (claim,) = (claim for claim in CLAIMS if claim.exact)
    (row,) = verification.verify(claims=(dataclasses.replace(claim, values=("83.07",)),)).rows
    assert not row.holds


def without_what_was_seen(line):
    cells = line.split(" | ")
    return [*cells[:6], *cells[7:]]


def test_the_page_has_the_table(verified):
    """``python tests/references/test_verification.py`` writes it anew; what was seen differs by the machine."""
    page = PAGE.read_text(encoding="utf-8").splitlines()
    shown = [line for line in page if line.startswith("|")]
    written = list(verification.as_markdown(verified))
    assert [*map(without_what_was_seen, shown)] == [*map(without_what_was_seen, written)]


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [number for number, line in enumerate(lines) if line.startswith("|")]
    lines[rows[0] : rows[-1] + 1] = verification.as_markdown(verification.verify())
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
