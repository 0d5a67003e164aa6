"""Pages within a notebook: a frame that is cut off, in which names stay text and sliders move without an address."""

import html
import re
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from jaxmodal.runtime import pages
from sweeps.explorer.data import ordered
from sweeps.explorer.page import arm_page_html, page_html
from tests.explorer.test_page import HOSTILE, Tags
from tests.support.small_sweeps import small_sweep

SIX = jm.examples.six_axis_industrial()
TWO = jm.examples.two_link_flexible()


@pytest.fixture
def framed(window, tmp_path):
    """Opens a notebook with one output, and goes into its frame; the console stays silent."""

    def opened(page):
        path = tmp_path / "notebook.html"
        text = f"<!doctype html><meta charset='utf-8'><title>notebook</title>{page._repr_html_()}"
        path.write_text(text, encoding="utf-8")
        window._send("POST", f"{window.session}/url", {"url": path.as_uri()})
        window._send("POST", f"{window.session}/frame", {"id": 0})
        window.until("document.documentElement.dataset.ready === 'true'")
        return window

    yield opened
    window._send("POST", f"{window.session}/frame", {"id": None})
    assert window.errors() == []


def test_the_frame_holds_the_page_and_is_cut_off():
    ds = sweeps.run(small_sweep())
    pages = {
        "a sweep": (sweeps.explore(ds), page_html(ordered(ds))),
        "in the plane": (sweeps.explore(TWO, theory="rayleigh"), arm_page_html(TWO, "rayleigh")),
        "in space": (sweeps.explore(SIX), arm_page_html(SIX)),
    }
    for page, text in pages.values():
        ((tag, attributes),) = Tags(page._repr_html_()).found
        assert tag == "iframe"
        assert attributes["srcdoc"] == page.text == text
        assert attributes["sandbox"] == "allow-scripts allow-downloads"  # not of the same origin
        assert "src" not in attributes
    assert repr(pages["in space"][0]).startswith("<page of six-axis industrial arm: shown by")


def test_arms_and_datasets_show_their_page_themselves(monkeypatch, tmp_path):
    """Arms by the entry point that the project registers, datasets by what sweeps adds to xarray."""
    ds = sweeps.run(small_sweep())
    assert ds.explore().text == sweeps.explore(ds).text
    assert ds.explore(tmp_path / "sweep.html") == tmp_path / "sweep.html"
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    known = project["project"]["entry-points"][pages.ENTRY_POINTS]

    def registered(group, name):
        return [EntryPoint(name, known[name], group)] if group == pages.ENTRY_POINTS else []

    monkeypatch.setattr(pages, "entry_points", registered)
    assert TWO.explore(theory="rayleigh").text == arm_page_html(TWO, "rayleigh")
    assert SIX.explore(tmp_path / "six.html").read_text("utf-8") == arm_page_html(SIX)
    monkeypatch.setattr(pages, "entry_points", lambda group, name: [])
    with pytest.raises(
        ImportError, match=r"explore needs the package sweeps.*sweeps\.explore\(arm\)"
    ):
        TWO.explore()


def test_names_with_markup_end_no_attribute():
    name = f'{HOSTILE}" onload="alert(3)'
    shown = sweeps.explore(SIX.replace(name=name))._repr_html_()
    ((tag, attributes),) = Tags(shown).found
    assert tag == "iframe"
    assert attributes["title"] == name
    assert set(attributes) == {"srcdoc", "title", "sandbox", "width", "height", "style"}
    inside = html.unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])
    plain = [tag for tag, _ in Tags(arm_page_html(SIX)).found]
    assert [tag for tag, _ in Tags(inside).found] == plain


def test_an_arm_is_solved_in_the_frame_and_its_sliders_move(framed):
    for arm in (TWO, SIX):
        browser = framed(sweeps.explore(arm))
        first = float(browser.text("#rows tr td"))
        found = jm.natural_frequencies(arm, 1).frequencies_hz[0]
        np.testing.assert_allclose(first, found, rtol=1e-8, atol=0.0)  # nine digits
        browser.run(
            "const range = document.getElementById('at link2.joint_angle');"
            "range.value = 0; for (const kind of ['input', 'change']) range.dispatchEvent(new Event(kind));"
        )
        browser.until(f"Number(document.querySelector('#rows tr td').textContent) !== {first!r}")
        assert browser.value("location.hash") == ""
        browser.run("document.getElementById('undo').click()")
        browser.until(f"Number(document.querySelector('#rows tr td').textContent) === {first!r}")
        assert (
            browser.value(
                "(() => { try { return parent.document.title; } catch { return null; } })()"
            )
            is None
        )


def test_a_sweep_moves_in_the_frame(framed):
    ds = sweeps.run(small_sweep(theories=["timoshenko"]))
    browser = framed(sweeps.explore(ds))
    first = browser.text("#cell")
    browser.run(
        "const range = document.getElementById('axis-0');"
        "range.value = 4; range.dispatchEvent(new Event('input'));"
    )
    browser.until(f"document.getElementById('cell').textContent !== {first!r}")
    browser.click("#lowest")
    lowest = float(ds.frequency.sel(mode=1).min())
    shown = float(browser.value("document.querySelector('[aria-current] td').textContent"))
    assert shown == pytest.approx(lowest, rel=1e-6)  # seven digits
    assert browser.value("document.getElementById('link').hidden")
