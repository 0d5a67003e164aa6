"""The page in a real browser, headless Chromium: does it show the numbers of the dataset, and move?"""

import csv
import io
import itertools
import json
import math
import threading
import time
from urllib.parse import parse_qs

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
import sweeps.store.grid
from sweeps.explorer import encoding
from sweeps.explorer.data import ordered, page_data
from sweeps.explorer.page import assembled, page_html
from sweeps.explorer.server import Server
from tests.support import synthetic_cells
from tests.support.browser import Browser


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    browser = Browser()
    browser.folder = tmp_path_factory.mktemp("downloads")
    yield browser
    browser.close()


@pytest.fixture
def browser(window):
    window.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(window.folder))
    yield window
    assert window.errors() == []


@pytest.fixture(autouse=True)
def synthetic(monkeypatch):
    monkeypatch.setattr(sweeps.store.grid, "solve_cells", synthetic_cells.solve_finite_cells)


def run(*axes, **options):
    sweep = sweeps.Sweep("example:two_link_flexible", axes, **({"num_modes": 3} | options))
    return ordered(sweeps.run(sweep))


ANGLE = sweeps.linspace("theta_2", -90, 90, 13, unit="degree")
MASS = sweeps.linspace("payload.mass", 0.0, 2.0, 9)
STIFFNESS = sweeps.axis("link2.joint_stiffness", [0.5, 1.0, 2.0, np.inf])


@pytest.fixture
def shown(browser, tmp_path):
    """Opens the page of a dataset as a file, at an address behind its #."""

    numbers = itertools.count()

    def opened(ds, address="", text=None):
        path = (
            tmp_path / f"page_{next(numbers)}.html"
        )  # of one name another address would load nothing
        path.write_text(text or page_html(ds), encoding="utf-8")
        browser.open(f"{path.as_uri()}#{address}")
        browser.settled()
        return browser

    return opened


def downloaded(browser, button):
    for path in browser.folder.iterdir():
        path.unlink()
    browser.click(button)
    end = time.monotonic() + 20.0
    while time.monotonic() < end:
        found = [path for path in browser.folder.iterdir() if path.suffix in (".csv", ".png")]
        if found and found[0].stat().st_size:
            return found[0].read_bytes()
        time.sleep(0.02)
    raise AssertionError("nothing was downloaded")


def rows_of(browser, button):
    return list(csv.DictReader(io.StringIO(downloaded(browser, button).decode())))


def spectrum(browser):
    script = "[...document.querySelectorAll('#rows tr')].map(row => [...row.children].map(cell => cell.textContent))"
    return browser.value(script)


def address(browser):
    return {
        name: values[0]
        for name, values in parse_qs(browser.value("location.hash.slice(1)")).items()
    }


def test_the_file_shows_every_number_of_the_dataset_and_loads_nothing(shown):
    ds = run(ANGLE, MASS, STIFFNESS)
    browser = shown(ds, "mode=2&at=0,0,3")
    rows = rows_of(browser, "#map-csv")
    assert len(rows) == 13 * 9
    for row in rows:
        assert row["link2_joint_stiffness [N m/rad]"] == "inf"
        place = {
            "theta_2": float(row["theta_2 [degree]"]),
            "payload_mass": float(row["payload_mass [kg]"]),
        }
        cell = ds.sel(place).sel(link2_joint_stiffness=np.inf, mode=2)
        assert float(row["frequency_2 [Hz]"]) == float(cell.frequency)
        assert row["status_2"] == "certified"
    curves = rows_of(browser, "#curves-csv")
    for row, i in zip(curves, range(13), strict=True):
        own = [float(row[f"frequency_{mode} [Hz]"]) for mode in (1, 2, 3)]
        assert (
            own
            == ds.isel(theta_2=i, payload_mass=0, link2_joint_stiffness=3).frequency.values.tolist()
        )
    assert browser.value("performance.getEntriesByType('resource').length") == 0
    assert browser.text("#place-2") == "∞"


def test_16_bits_are_read_to_their_error(shown, monkeypatch):
    monkeypatch.setattr(encoding, "WHOLE", 0)
    ds = run(ANGLE, MASS, STIFFNESS, theories=["timoshenko", "rayleigh"])
    level = float(
        ds.frequency.isel(link2_joint_stiffness=1).sel(mode=3, theory="rayleigh").median()
    )
    browser = shown(ds, f"theory=1&mode=3&at=0,0,1&level={level}")
    assert browser.text("#level-text") == ""  # there is such a line
    about = page_data(ds)["frequency"]["planes"][5]
    for row in rows_of(browser, "#map-csv"):
        place = {
            "theta_2": float(row["theta_2 [degree]"]),
            "payload_mass": float(row["payload_mass [kg]"]),
        }
        true = float(
            ds.sel(place).isel(link2_joint_stiffness=1).sel(mode=3, theory="rayleigh").frequency
        )
        # the file has the digits that hold: half of the last one beside the error
        assert float(row["frequency_3 [Hz]"]) == pytest.approx(true, rel=about["error"] + 5e-4)
    assert "wrong by at most" in browser.text("#precision")


def test_keys_sliders_clicks_and_links_move_and_back_undoes(shown):
    ds = run(ANGLE, MASS)
    browser = shown(ds)
    browser.press("#map", "ArrowRight", "ArrowRight", "ArrowUp")
    assert address(browser)["at"] == "8,5"
    cell = ds.isel(theta_2=8, payload_mass=5)
    numbers = [row[1] for row in spectrum(browser)]
    assert [float(number) for number in numbers] == pytest.approx(cell.frequency.values, rel=1e-6)
    assert browser.text("#cell") == "theta_2 30°, payload_mass 1.25 kg"
    browser.press("#map", "Enter", "ArrowLeft")
    assert address(browser) | {"at": "7,5", "pin": "8,5"} == address(browser)
    change = 100 * (ds.isel(theta_2=7, payload_mass=5).frequency / cell.frequency - 1)
    texts = [f"{'+' if x >= 0 else '−'}{abs(float(x)):.2f} %" for x in change]
    assert [row[4] for row in spectrum(browser)] == texts
    browser.press("#map", "Home", "3")
    assert address(browser)["at"].startswith("0,")
    assert address(browser)["mode"] == "3"
    kept = browser.value("location.hash.slice(1)")
    browser.value("history.back()")
    browser.settled()
    assert address(browser)["mode"] == "1"
    browser.click("#map", 0.5, 0.4)
    assert address(browser)["at"] != "0,5"
    again = shown(ds, kept)
    assert address(again)["at"] == "0,5"
    assert again.value("document.querySelector('#mode').value") == "2"
    again.run(
        "const i = document.querySelector('#axis-1'); i.value = 2; i.dispatchEvent(new Event('input'))"
    )
    assert address(again)["at"] == "0,2"


@pytest.mark.parametrize(
    "text",
    ["mode=99&at=77,1&x=nothing&level=abc&pin=1", "at=&theory=-1", "%%%", "x=theta_2&y=theta_2"],
)
def test_an_address_that_makes_no_sense_shows_the_page_all_the_same(shown, text):
    browser = shown(run(ANGLE, MASS), text)
    assert len(spectrum(browser)) == 3
    assert browser.text("#cell").startswith("theta_2 ")


def test_go_to_finds_the_extremes_and_the_closest_pair(shown):
    ds = run(ANGLE, MASS, STIFFNESS)
    flat = ds.frequency.sel(mode=2).values
    browser = shown(ds, "mode=2")
    for button, find in (("#lowest", np.argmin), ("#highest", np.argmax)):
        browser.click(button)
        assert address(browser)["at"] == ",".join(
            map(str, np.unravel_index(find(flat), flat.shape))
        )
    browser.click("#closest")
    gap = ((ds.frequency.sel(mode=3) - ds.frequency.sel(mode=2)) / ds.frequency.sel(mode=3)).values
    at = tuple(map(int, address(browser)["at"].split(",")))
    assert gap[at] == pytest.approx(gap.min(), rel=1e-12)


def test_cells_that_are_not_certified_are_shown_as_such(shown):
    ds = run(ANGLE, MASS)
    ds.status[0:2, :, 0] = 1  # not certified, with a number
    ds.status[2, :, 0], ds.frequency[2, :, 0] = 3, np.nan
    ds.status[3], ds.frequency[3] = 127, np.nan
    browser = shown(ds, "at=2,4")
    text = browser.text("#map-status")
    for words in ("18 uncertified", "9 invalid_input", "9 not_computed"):
        assert words in text
    assert spectrum(browser)[0][1:] == ["no value", "invalid_input"]
    assert "make the arm of these values alone" in browser.text("#remedy")
    browser.click("#doubtful")
    assert address(browser)["at"] == "0,0"
    assert spectrum(browser)[0][2] == "uncertified"
    # their colours differ from those of certified cells, and between them
    script = """(() => { const c = document.querySelector('#map');
        const w = c.width - 146, h = c.height - 54;
        const all = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        return [0, 2, 3].map(i => { const found = new Set();
            for (let x = 62 + Math.round((i + 0.2) * w / 13); x < 62 + (i + 0.8) * w / 13; x++)
                for (let y = 10 + Math.round(h / 18); y < 10 + h / 9; y++) {
                    const k = 4 * (y * c.width + x);
                    found.add(all[k] + ',' + all[k + 1] + ',' + all[k + 2]);
                }
            return found.size; }); })()"""
    browser.run("document.activeElement.blur(); location.hash = 'at=12,4'")
    hatched, invalid, empty = browser.value(script)
    assert hatched > 3
    assert invalid > 3
    assert empty == 1


@pytest.mark.parametrize("whole", [encoding.WHOLE, 0], ids=["doubles", "levels"])
def test_the_band_to_avoid_counts_what_is_known(shown, monkeypatch, whole):
    monkeypatch.setattr(encoding, "WHOLE", whole)
    ds = run(ANGLE, MASS, num_modes=4)
    values = ds.frequency.values
    low, high = 4.0, 5.5
    inside = ((values >= low) & (values <= high)).any(axis=-1)
    unknown = ~inside & (
        values[..., -1] < low
    )  # above the highest mode computed there may be others
    browser = shown(ds, f"low={low}&high={high}")
    text = browser.text("#band-text")
    share = 100.0 * (~inside & ~unknown).mean()
    assert float(text.split(" %")[0]) == pytest.approx(share, abs=0.06)
    ds.status[0] = 1
    known = 100.0 * (~inside & ~unknown)[1:].sum() / inside.size
    text = shown(ds, f"low={low}&high={high}").text("#band-text")
    assert float(text.split(" %")[0]) == pytest.approx(known, abs=0.06)
    assert "not known" in text


@pytest.mark.parametrize("axes", [(), (ANGLE,), (STIFFNESS, MASS), (ANGLE, MASS, STIFFNESS)])
def test_stores_of_any_number_of_axes(shown, axes):
    ds = run(ANGLE).isel(theta_2=3) if not axes else run(*axes)
    browser = shown(ds)
    assert browser.value("document.querySelector('#map-view').hidden") == (len(axes) < 2)
    assert browser.value("document.querySelector('#curves-view').hidden") == (len(axes) < 1)
    assert len(spectrum(browser)) == 3
    middle = ds.isel(
        {name: (ds.sizes[name] - 1) // 2 for name in ds.frequency.dims if name != "mode"}
    )
    assert [float(row[1]) for row in spectrum(browser)] == pytest.approx(
        middle.frequency.values, rel=1e-6
    )


def test_five_axes_and_samples(shown):
    more = [sweeps.axis(f"link{k}.tip_mass", [0.1, 0.2, 0.3]) for k in (1, 2)]
    ds = run(ANGLE, MASS, STIFFNESS, *more)
    browser = shown(ds, "x=link1_tip_mass&y=link2_joint_stiffness&at=1,2,3,1,2")
    cell = ds.isel(
        theta_2=1, payload_mass=2, link2_joint_stiffness=3, link1_tip_mass=1, link2_tip_mass=2
    )
    assert [float(row[1]) for row in spectrum(browser)] == pytest.approx(
        cell.frequency.values, rel=1e-6
    )
    ranges = [sweeps.Range("link1.length", 0.4, 0.6), sweeps.Range("payload.mass", 0.1, 1.0)]
    ds = run(sweeps.random_design(ranges, num=6, seed=1, name="sample"))
    browser = shown(ds, "at=2")
    assert browser.text("#place-0").startswith("3: link1_length ")


HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">&lt;b&gt;"


def test_names_with_markup_are_shown_as_text(shown):
    ds = run(ANGLE, MASS)
    data = page_data(ds) | {"served": False, "title": HOSTILE, "arm_name": HOSTILE}
    data["axes"][0]["name"] = data["axes"][0]["columns"][0]["name"] = HOSTILE
    data["theories"] = [HOSTILE]
    browser = shown(ds, text=assembled(data))
    assert browser.text("#title") == HOSTILE
    assert browser.value("document.querySelectorAll('img, b').length") == 0
    assert browser.value("document.title").startswith(HOSTILE)
    assert HOSTILE in browser.text("#cell")


def test_damaged_data_are_told(browser, tmp_path):
    data = page_data(run(ANGLE, MASS)) | {"served": False}
    data["frequency"]["data"] = data["frequency"]["data"][:40]
    path = tmp_path / "damaged.html"
    path.write_text(assembled(data), encoding="utf-8")
    browser._send("POST", f"{browser.session}/url", {"url": path.as_uri()})
    browser.until("document.querySelector('#summary').textContent.includes('cannot show its data')")
    assert len(browser.errors()) == 1  # of the console; the page has said it


def test_a_screen_reader_has_a_name_for_every_control(shown):
    browser = shown(run(ANGLE, MASS, STIFFNESS, theories=["timoshenko", "rayleigh"]))
    nodes = browser.command("Accessibility.getFullAXTree")["nodes"]
    roles = {"button", "slider", "combobox", "spinbutton", "checkbox", "image", "table", "status"}
    found = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in roles - {"table", "status"}
    ]
    assert {role for role, _ in found} == roles - {"table", "status"}
    assert [role for role, name in found if not name.strip()] == []
    browser.press("#map", "ArrowRight")
    assert "theta_2 15°" in browser.text("#said")
    assert "Map of mode 1" in browser.value(
        "document.querySelector('#map').getAttribute('aria-label')"
    )


def test_it_fits_a_phone_and_follows_the_dark_theme(shown):
    browser = shown(run(ANGLE, MASS, STIFFNESS), "pin=1,1,1")
    light = browser.value("getComputedStyle(document.body).backgroundColor")
    try:
        features = [{"name": "prefers-color-scheme", "value": "dark"}]
        browser.command("Emulation.setEmulatedMedia", features=features)
        with browser.as_a_phone():
            assert browser.value("getComputedStyle(document.body).backgroundColor") != light
    finally:
        browser.command("Emulation.setEmulatedMedia", features=[])


def test_a_picture_is_a_png(shown):
    assert downloaded(shown(run(ANGLE, MASS)), "#map-png").startswith(b"\x89PNG")


def test_the_served_page_reads_all_digits_of_a_cell_from_the_store(browser, monkeypatch):
    monkeypatch.setattr(encoding, "WHOLE", 0)
    ds = run(ANGLE, MASS)
    with Server(lambda: ds) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        browser.open(f"{server.address}#at=3,4")
        true = ds.isel(theta_2=3, payload_mass=4).frequency.values
        texts = json.dumps([f"{value:.9g}" for value in true])
        shown = "[...document.querySelectorAll('#rows tr')].map(row => row.children[1].textContent)"
        browser.until(
            f"JSON.stringify({shown}.map(Number)) === JSON.stringify({texts}.map(Number))"
        )
        server.shutdown()


def limited():
    """A crane of two joints, of which the second has limits, over angles beyond them."""
    links = (
        jm.SpatialLink(0.4, 7e10, 2700.0, jm.circle(0.03, "cowper"), poisson_ratio=0.33, joint_axis=(0, 0, 1)),
        jm.SpatialLink(
            0.6, 7e10, 2700.0, jm.circle(0.02, "cowper"), poisson_ratio=0.33, joint_axis=(0, 1, 0),
            joint_limits=(math.radians(-40.0), math.radians(60.0)),
        ),
    )  # fmt: skip
    arm = jm.SpatialArm(links, jm.RigidBody(0.5))
    axes = (ANGLE, sweeps.linspace("payload.mass", 0.0, 2.0, 9))
    return ordered(sweeps.run(sweeps.Sweep(arm, axes, num_modes=2)))


@pytest.mark.filterwarnings("ignore::jaxmodal.ImplausibleWarning")
def test_cells_beyond_the_limits_of_joints_are_veiled_and_count_in_no_share(shown):
    ds = limited()
    within = (ds.theta_2 >= -40.0) & (ds.theta_2 <= 60.0)
    inside = ds.where(within, drop=True).frequency.values
    low, high = np.quantile(inside, [0.3, 0.5]).tolist()
    browser = shown(ds, f"low={low}&high={high}&mode=1")
    assert "Beyond the limits of joints" in browser.text("#map-status")
    hit = ((inside >= low) & (inside <= high)).any(axis=-1)
    known = hit | (inside[..., -1] >= low)
    text = browser.text("#band-text")
    assert f"of the {inside[..., 0].size} cells within the limits of joints" in text
    assert float(text.split(" %")[0]) == pytest.approx(100.0 * (~hit & known).mean(), abs=0.06)
    for button, find in (("#lowest", np.min), ("#highest", np.max)):
        browser.click(button)
        at = tuple(map(int, address(browser)["at"].split(",")))
        assert float(ds.frequency.values[at][0]) == find(inside[..., 0])
        assert bool(within[at[0]])
