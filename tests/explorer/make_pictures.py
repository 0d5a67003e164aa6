"""The pictures of the pages in results/explorer, made again: ``python -m tests.explorer.make_pictures``.

Needs Chromium, and Pillow, which Matplotlib brings.
"""

import pathlib
import tempfile

import jax
from PIL import Image

import jaxmodal as jm
import sweeps
from sweeps.explorer.data import ordered
from tests.support.browser import Browser

FOLDER = pathlib.Path(__file__).parents[2] / "results" / "explorer"
WIDTH, REPORT = 1280, 1100
CURVES = "document.getElementById('along-note').textContent.startsWith('A click')"
MAP = "document.getElementById('map-progress').textContent.startsWith('{0} x {0} ')"
#: what is shown of the page of a planar arm, and of one in space
ARM = (
    "mode=3&link2.joint_angle=-0.6&link3.joint_angle=1.1&pin=&force=tip_3.y&motion=tip_3.y&loss=0.01"
    "&along=link2.joint_angle&over=link2.joint_angle,link3.joint_angle&low=30&high=34"
)
ROBOT = (
    "mode=2&link3.section.outer_diameter=0.2&pin=&force=tip_6.z&motion=tip_6.z&loss=0.01"
    "&along=link3.joint_angle&over=link3.joint_angle,link5.joint_angle&low=14&high=16"
)


def shot(browser, page, address, ready, name):
    """The whole page at an address, when it is ready and its arm stands still."""
    browser._send("POST", f"{browser.session}/url", {"url": "about:blank"})
    browser.open(f"{page.as_uri()}#{address}")
    browser.until(ready, 120)
    if "still" in browser.value("document.getElementById('still')?.textContent ?? ''"):
        browser.click("#still")
    browser.value("scrollTo(0, 0)")
    browser.settled()
    browser.picture(FOLDER / name)
    assert browser.errors() == []


def beside_each_other(path):
    """A high picture as two columns, in few colours."""
    picture = Image.open(path).convert("RGB")
    half = -(-picture.height // 2)
    found = Image.new("RGB", (2 * picture.width, half), "white")
    found.paste(picture.crop((0, 0, picture.width, half)), (0, 0))
    found.paste(picture.crop((0, half, picture.width, picture.height)), (picture.width, 0))
    found.convert("P", palette=Image.Palette.ADAPTIVE).save(path, optimize=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        browser = Browser(WIDTH, 1000)
        swept = sweeps.run(sweeps.read_sweep("example:three_link_posture_map"))
        sweeps.explore(ordered(swept), page)
        solved = "document.getElementById('between-rows').rows.length === 10"
        address = "mode=3&at=100,150&between=-38.4,33.2"
        shot(browser, page, address, solved, "page.png")
        for arm, what, name, cells in (
            (jm.examples.three_link_industrial(), ARM, "arm.png", 65),
            (jm.examples.six_axis_industrial(), ROBOT, "arm_in_space.png", 17),
        ):
            sweeps.explore(arm, page)
            shot(browser, page, what, f"{CURVES} && {MAP.format(cells)}", name)
        sweeps.report(jm.examples.six_axis_industrial(), page)
        browser._send("POST", f"{browser.session}/url", {"url": page.as_uri()})
        browser._resize(REPORT, 1000, 1)
        browser.settled()
        browser.picture(FOLDER / "report.png")
        beside_each_other(FOLDER / "report.png")
        browser.close()


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    main()
