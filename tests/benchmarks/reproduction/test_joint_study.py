"""The study of flexible joints (Table 7): certified, right against finite elements, and as the report says."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import jaxmodal as jm
from benchmarks.reproduction import joint_study, published
from jaxmodal.references.printed import agrees_with_print
from tests.support import finite_elements
from tests.support.commands import run_command

FOLDER = Path(__file__).parents[3] / "results" / "paper"

BATCH = 1e-12
"""Batches promise about 1e-13; the finite elements 2e-14."""

CELLS = [
    (1.0, 0.0, 0.1, 0.1),
    (1.0, 45.0, 0.0, 0.0),
    (100.0, 0.0, 0.0, np.inf),
    (1.0, 90.0, 1e11, 10.0),
    (10.0, 45.0, 1e3, np.inf),
    (25.0, 90.0, 0.1, 1e11),
    (50.0, 0.0, np.inf, 0.1),
    (100.0, 45.0, 1e6, 1e6),
    (100.0, 90.0, 0.1, 1e3),
]


@pytest.fixture(scope="module")
def dataset():
    with xr.open_dataset(FOLDER / "joint_stiffness.nc") as ds:
        return ds.load()


def test_every_frequency_is_certified(dataset):
    assert bool(dataset.certified.all())
    assert dataset.frequency.shape == (5, 3, 27, 27, 10)
    assert dataset.frequency.attrs["units"] == "Hz"
    assert dataset.k_T1.values[:2].tolist() == [0.0, 0.1]
    assert float(dataset.k_T1[-2]) == 1e11


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_cells_against_finite_elements(dataset, cell):
    factor, posture, shoulder, elbow = cell
    values = {
        "link*.thickness_factor": factor,
        "link2.joint_angle": np.deg2rad(posture),
        "link1.joint_stiffness": shoulder,
        "link2.joint_stiffness": elbow,
    }
    arm = jm.set_parameters(jm.examples.two_link_flexible(), values)
    case = finite_elements.case_from_arm(arm, "timoshenko")
    truth = finite_elements.frequencies(case, 10, 36) / (2 * np.pi)
    place = {"thickness_factor": factor, "theta_2": posture, "k_T1": shoulder, "k_T2": elbow}
    found = dataset.frequency.sel(place).values
    assert np.array_equal(found == 0.0, truth == 0.0)
    assert np.max(np.abs(found - truth) / np.where(truth == 0.0, 1.0, truth)) <= BATCH


def test_rigid_joints_are_the_printed_tables(dataset):
    """Tables 2 to 6, column T, all ten modes in all three postures."""
    factors = {t.name: t.thickness_factor for t in published.load_tables()}
    known = {m.cell.key for m in published.load_misprints()}
    cells = [
        c
        for c in published.load_cells()
        if c.column == "T" and c.table in {f"table{k}" for k in range(2, 7)} and c.key not in known
    ]
    assert len(cells) >= 140
    for cell in cells:
        place = {"thickness_factor": factors[cell.table], "theta_2": float(cell.posture_deg[0])}
        rigid = dataset.frequency.sel(place | {"mode": cell.mode}).isel(k_T1=-1, k_T2=-1)
        assert agrees_with_print(float(rigid), cell.printed), cell


def test_stiffer_joints_raise_every_frequency(dataset):
    for joint in ("k_T1", "k_T2"):
        assert np.all(
            dataset.frequency.diff(joint).values >= -BATCH * dataset.frequency.max().item()
        )


def test_the_report_and_its_claims(dataset):
    text = (FOLDER / "joint_stiffness.md").read_text(encoding="utf-8")
    assert text == joint_study.report(dataset)
    change = joint_study.largest_change(dataset, 1e6).values
    assert np.all(np.diff(change) > 0)
    assert change[0] < 1e-5  # the most slender arm: the paper's claim holds
    assert change[1] < 0.01 < change[2] < 0.02
    assert change[3] > 0.05  # at s = 50 it does not
    down_to = joint_study.constant_down_to(dataset, 0.01).values
    both = joint_study.both_joints(dataset)
    for i, stiffness in enumerate(down_to):
        kept = both.isel(thickness_factor=i)
        assert float(kept.where(kept.stiffness >= stiffness).min()) >= 0.99
        below = kept.where(kept.stiffness < stiffness).dropna("stiffness")
        below = below.sortby("stiffness")
        assert float(below.isel(stiffness=-1).min()) < 0.99


def test_the_command_refuses_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    answer = run_command("joint-study", "--out", tmp_path / "file" / "x")
    assert answer.exit_code == 2
    assert "is no folder" in answer.output


@pytest.mark.slow
def test_the_command_makes_the_committed_dataset_again(tmp_path, dataset):
    answer = run_command("joint-study", "--out", tmp_path)
    assert answer.exit_code == 0, answer.output
    assert (tmp_path / "joint_stiffness.png").stat().st_size > 10_000
    with xr.open_dataset(tmp_path / "joint_stiffness.nc") as again:
        known = dataset.frequency.values
        error = np.abs(again.frequency.values - known) / np.where(known == 0.0, 1.0, known)
    assert np.max(error) <= BATCH
