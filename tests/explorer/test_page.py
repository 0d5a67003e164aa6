"""The page of a sweep as a file: what is kept of the numbers, what it may load, and names that hold markup."""

import base64
import hashlib
import html.parser
import json
import re
import zlib

import numpy as np
import pytest
import xarray as xr

import sweeps
import sweeps.store.grid
from sweeps.explorer import encoding
from sweeps.explorer.data import cell_values, ordered, page_data
from sweeps.explorer.page import assembled, code, page_html
from tests.support import synthetic_cells
from tests.support.small_sweeps import small_sweep


def inflated(text, dtype):
    return np.frombuffer(zlib.decompress(base64.b64decode(text), -15), dtype)


def read_back(found, shape):
    """What stands in the text, by its description: read without the code that wrote it."""
    if found["bits"] == 64:
        return inflated(found["data"], "<f8").reshape(shape)
    low, high = inflated(found["data"], np.uint8).reshape(2, *shape).astype(np.int64)
    folded = low + 256 * high
    steps = np.where(folded % 2 == 0, folded // 2, -(folded + 1) // 2)
    levels = np.cumsum(np.cumsum(steps, axis=-1), axis=-2) % 65536
    values = np.empty(shape)
    for plane, level, about in zip(values, levels, found["planes"], strict=True):
        ends = np.array([about["low"], about["high"]])
        ends = np.log(ends) if about["logarithmic"] else ends
        places = ends[0] + (level - 1) / 65534 * (ends[1] - ends[0])
        plane[...] = np.where(
            level == 0, np.nan, np.exp(places) if about["logarithmic"] else places
        )
    return values


def wavy(*shape):
    grid = np.indices(shape).reshape(len(shape), -1).T
    return (40.0 + 30.0 * np.sin(grid @ (0.01 + 0.1 * np.arange(len(shape))))).reshape(shape)


@pytest.mark.parametrize("shape", [(2, 400, 300), (1, 70_000, 1), (3, 7, 80, 90), (1, 1, 66_000)])
def test_16_bits_keep_every_number_to_the_error_that_is_said(shape):
    values = wavy(*shape)
    values[0].flat[5:50] = np.nan
    found = encoding.encoded(values)
    back = read_back(found, shape)
    assert found["bits"] == 16
    for plane, own, about in zip(values, back, found["planes"], strict=True):
        np.testing.assert_array_equal(np.isnan(plane), np.isnan(own))
        assert about["logarithmic"]
        assert np.nanmax(abs(own / plane - 1.0)) <= about["error"] < 3e-5


def test_the_error_holds_over_twelve_decades_and_beside_zero():
    decades = np.geomspace(1e-6, 1e6, 70_000).reshape(1, 700, 100)
    found = encoding.encoded(decades)
    (about,) = found["planes"]
    assert np.max(abs(read_back(found, decades.shape) / decades - 1.0)) <= about["error"] < 3e-4
    zero = np.linspace(0.0, 50.0, 70_000).reshape(1, 700, 100)  # an arm that floats
    found = encoding.encoded(zero)
    (about,) = found["planes"]
    back = read_back(found, zero.shape)
    assert not about["logarithmic"]
    assert np.max(abs(back - zero)) <= about["error"] < 4e-4
    assert back[0, 0, 0] == 0.0


@pytest.mark.parametrize("value", [np.nan, 0.0, 7.25])
def test_a_plane_of_one_number_or_none_is_kept_exactly(value):
    values = np.full((1, 300, 300), value)
    np.testing.assert_allclose(
        read_back(encoding.encoded(values), values.shape), values, rtol=1e-15
    )


def test_small_stores_are_kept_whole():
    values = wavy(3, 20, 30)
    found = encoding.encoded(values)
    assert found["bits"] == 64
    np.testing.assert_array_equal(read_back(found, values.shape), values)


@pytest.fixture
def synthetic(monkeypatch):
    monkeypatch.setattr(sweeps.store.grid, "solve_cells", synthetic_cells.solve_finite_cells)


@pytest.fixture
def dataset(synthetic):
    return sweeps.run(small_sweep())


def test_the_page_holds_the_numbers_and_status_of_the_dataset(dataset):
    data = page_data(ordered(dataset))
    values = dataset.frequency.transpose("theory", "mode", ...).values
    np.testing.assert_array_equal(read_back(data["frequency"], values.shape), values)
    status = dataset.status.transpose("theory", "mode", ...).values
    np.testing.assert_array_equal(inflated(data["status"], np.uint8).reshape(status.shape), status)
    assert 3 in status  # there are invalid cells among them
    assert data["statuses"]["3"]["name"] == "invalid_input"
    assert data["statuses"]["127"]["name"] == "not_computed"


def test_axes_are_in_order_and_infinity_is_the_last(synthetic):
    axes = [
        sweeps.axis("link2.joint_stiffness", [np.inf, 2.5, 0.5]),
        sweeps.axis("theta_2", [90.0, 0.0], unit="degree"),
    ]
    ds = ordered(sweeps.run(sweeps.Sweep("example:two_link_flexible", axes, num_modes=1)))
    stiffness, angle = page_data(ds)["axes"]
    assert stiffness["columns"][0]["values"] == [0.5, 2.5, "Infinity"]
    assert angle["columns"][0]["values"] == [0.0, 90.0]
    direct = ds.sel(link2_joint_stiffness=np.inf, theta_2=90.0).frequency.values
    assert np.isfinite(direct).all()
    assert cell_values(ds, 0, (2, 1))["frequency"] == direct.tolist()


def test_samples_selected_axes_and_one_cell(synthetic):
    ranges = [sweeps.Range("link1.length", 0.4, 0.6), sweeps.Range("payload.mass", 0.1, 1.0)]
    samples = sweeps.random_design(ranges, num=6, seed=1, name="sample")
    sweep = sweeps.Sweep("example:two_link_flexible", [samples, sweeps.axis("theta_2", [0.0])])
    (sample, _) = page_data(ordered(sweeps.run(sweep)))["axes"]
    assert not sample["single"]
    assert [column["name"] for column in sample["columns"]] == ["link1_length", "payload_mass"]
    one = page_data(ordered(sweeps.run(small_sweep()).isel(theta_2=1, payload_mass=2)))
    assert one["axes"] == []
    fixed = {entry["name"]: entry["value"] for entry in one["fixed"]}
    assert fixed == {"theta_2": 45.0, "payload_mass": 2.0}


def test_the_arm_is_drawn_where_the_library_puts_it(synthetic):
    from jaxmodal.arm.arrays import beam_values
    from jaxmodal.eigenspaces.modal_mass import link_starts
    from sweeps.analysis.cells import arm_of_cell

    axes = [
        sweeps.axis("theta_2", [0.0, 30.0, 90.0], unit="degree"),
        sweeps.axis("link*.length", [0.4, 0.5]),
        sweeps.axis("payload.mass", [0.0, 1.0]),
    ]
    ds = ordered(sweeps.run(sweeps.Sweep("example:two_link_flexible", axes, num_modes=1)))
    arm = page_data(ds)["arm"]
    for at in np.ndindex(3, 2, 2):
        places = {field: np.array(values) for field, values in arm["rest"].items()}
        for change in arm["changes"]:
            places[change["field"]][change["link"]] = change["values"][at[change["axis"]]]
        own, _ = arm_of_cell(
            ds.isel(theta_2=at[0], **{ds.frequency.dims[1]: at[1]}, payload_mass=at[2])
        )
        beams = beam_values(own)
        np.testing.assert_allclose(places["length"], beams.length, rtol=1e-15)
        np.testing.assert_allclose(places["joint_angle"], beams.joint_angle, rtol=1e-15)
        angle = places["joint_angle"][0]
        second = places["length"][0] * np.array([np.cos(angle), np.sin(angle)])
        np.testing.assert_allclose(link_starts(beams)[1], second, rtol=0.0, atol=1e-15)


def test_a_page_too_large_is_refused_with_what_to_do(dataset, monkeypatch):
    monkeypatch.setattr("sweeps.explorer.data.LIMIT", 10)
    with pytest.raises(sweeps.SweepError, match="--at NAME=VALUE"):
        page_data(dataset)
    with pytest.raises(sweeps.SweepError, match="definition"):
        page_data(xr.Dataset({"frequency": dataset.frequency, "status": dataset.status}))


@pytest.mark.parametrize("index", [(0,), (0, 3), (5, 0), (-1, 0), (0, 0, 0)])
def test_a_cell_that_is_none_is_refused(dataset, index):
    with pytest.raises(sweeps.SweepError, match="index"):
        cell_values(ordered(dataset), 0, index)


# ---- what the file may do ----


class Tags(html.parser.HTMLParser):
    """The elements of a page with their attributes, and the text in each."""

    def __init__(self, text):
        super().__init__()
        self.found, self.texts, self.inside = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        self.texts.append("")
        self.inside = True

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.texts[-1] += data

    def of(self, tag):
        return [
            (attributes, text)
            for (name, attributes), text in zip(self.found, self.texts, strict=True)
            if name == tag
        ]


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&lt;$policy ${x} \u2028"


def test_the_page_runs_its_own_code_alone_and_loads_nothing(dataset):
    tags = Tags(page_html(ordered(dataset)))
    (policy,) = [a["content"] for a, _ in tags.of("meta") if a.get("http-equiv")]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["connect-src"] == "'none'"
    (style,) = [text for _, text in tags.of("style")]
    scripts = tags.of("script")
    (own,) = [text for attributes, text in scripts if "type" not in attributes]
    for name, text in (("script-src", own), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[name] == f"'sha256-{digest}'"
    for _, attributes in tags.found:
        assert not [name for name in attributes if name.startswith("on") or name == "src"]
        assert attributes.get("href", "data:,") == "data:,"
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", own + style)


def test_served_pages_ask_their_own_server(dataset):
    assert "connect-src 'self'" in page_html(ordered(dataset), served=True)


def test_names_with_markup_are_text(dataset):
    plain = Tags(page_html(ordered(dataset)))
    data = page_data(ordered(dataset)) | {"served": False}
    named = {"title": HOSTILE, "arm_name": HOSTILE, "versions": {HOSTILE: HOSTILE}}
    hostile = Tags(assembled(data | named))
    # the same elements as without, and the name in the title as it is
    assert [tag for tag, _ in hostile.found] == [tag for tag, _ in plain.found]
    (read,) = [
        json.loads(text) for attributes, text in hostile.of("script") if "type" in attributes
    ]
    assert read["title"] == read["arm_name"] == HOSTILE
    assert hostile.of("title")[0][1].startswith("</script><script>alert(1)")


def test_the_code_is_small():
    assert sum(len(part.encode()) for part in code()) <= 150_000


@pytest.mark.slow
def test_a_million_cells_of_three_modes_take_5_megabytes(synthetic):
    axes = [
        sweeps.linspace("theta_2", 0, 170, 1000, unit="degree"),
        sweeps.linspace("payload.mass", 0, 2, 1000),
    ]
    ds = sweeps.run(sweeps.Sweep("example:two_link_flexible", axes, num_modes=3))
    assert len(page_html(ordered(ds)).encode()) <= 5_000_000
