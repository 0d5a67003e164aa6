"""Sizes and times of pages in Chromium, as docs/explorer.md has them: ``python -m tests.explorer.measure_pages``.

Times are those of the clock, which other work makes longer, and of the processors: of the threads of the page, which
that hardly does. Chromium draws in software here.
"""

import pathlib
import tempfile

import jax
import numpy as np

import jaxmodal as jm
import sweeps
from sweeps.explorer.arms import MODES
from sweeps.explorer.data import ordered
from sweeps.explorer.solver import arm_json
from tests.browser import Browser

#: a clock that starts with the page and stops when it is ready
_CLOCK = (
    "new MutationObserver((_, own) => {"
    "  if (document.documentElement?.dataset.ready !== 'true') return;"
    "  own.disconnect(); window.readyAfter = performance.now();"
    "}).observe(document, { subtree: true, childList: true, attributes: true });"
)
#: one input for each value in turn, each drawn before the next
_MOVED = (
    "const [selector, values, done] = arguments, field = document.querySelector(selector), times = [];"
    "const next = () => {"
    "  if (times.length === values.length) return done(times);"
    "  const begin = performance.now();"
    "  field.value = values[times.length];"
    "  for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, { bubbles: true }));"
    "  requestAnimationFrame(() => { const own = new MessageChannel();"
    "    own.port1.onmessage = () => { times.push(performance.now() - begin); next(); }; own.port2.postMessage(0); });"
    "};"
    "next();"
)
#: ten modes and the shape of one, of an arm whose joints turn a little from question to question
_SOLVED = (
    "const [text, names, modes, several, done] = arguments, times = [];"
    "const own = [...document.scripts].find((x) => !x.type).textContent;"
    'const solver = JSON.parse(/const SOLVER = (".*");/.exec(own)[1]);'
    "const worker = window.measured ??= new Worker(URL.createObjectURL(new Blob([solver])));"
    "const ask = () => worker.postMessage({ ask: { modes, mode: 2, points: 15,"
    "  values: Object.fromEntries(names.map((name, k) => [name, 0.3 + 0.02 * times.length - 0.1 * k])) } });"
    "worker.onmessage = ({ data: { answer, error } }) => {"
    "  if (error) return done([error]);"
    "  times.push(answer.ms);"
    "  if (times.length === several) done(times); else ask();"
    "};"
    "worker.postMessage({ arm: text }); ask();"
)


def seconds_of(browser, kind, thread=""):
    """Processor time of the processes of this browser of one kind, of their threads of one name, s."""
    total, tick = 0.0, 100.0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_text()
            if f"--type={kind}" not in command or not _descends(process, browser.driver.pid):
                continue
            for task in (process / "task").iterdir():
                if thread in (task / "comm").read_text():
                    fields = (task / "stat").read_text().rpartition(")")[2].split()
                    total += (int(fields[11]) + int(fields[12])) / tick
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return total


def _descends(process, ancestor):
    at = int(process.name)
    while at > 1 and at != ancestor:
        at = int(pathlib.Path(f"/proc/{at}/stat").read_text().rpartition(")")[2].split()[1])
    return at == ancestor


def main_thread(browser):
    """Processor time of the page's own thread, s."""
    found = browser.command("Performance.getMetrics")["metrics"]
    return next(x["value"] for x in found if x["name"] == "TaskDuration")


def opened(page):
    """Open a page in a new browser; it, and how long that took."""
    browser = Browser()
    browser.command("Page.addScriptToEvaluateOnNewDocument", source=_CLOCK)
    browser.command("Performance.enable", timeDomain="threadTicks")
    before = seconds_of(browser, "renderer")
    browser.open(page.as_uri())
    browser.settled()
    cpu = seconds_of(browser, "renderer") - before
    first = browser.value("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
    ready = browser.value("window.readyAfter")
    print(
        f"  {page.stat().st_size / 1e6:.2f} MB; first paint after {first:.0f} ms, all shown after {ready:.0f} ms;"
        f" {1e3 * main_thread(browser):.0f} ms of processor time in the page's thread, {1e3 * cpu:.0f} in all"
    )
    return browser


def frames(browser, name, selector, values):
    """How long a frame takes in which a field gets another value."""
    browser.value_later(_MOVED, selector, values[:5])
    own, every = main_thread(browser), seconds_of(browser, "renderer")
    times = browser.value_later(_MOVED, selector, values)
    own, every = main_thread(browser) - own, seconds_of(browser, "renderer") - every
    print(
        f"  {name}: {np.median(times):.0f} ms by the clock, {1e3 * own / len(values):.1f} ms of processor time in the"
        f" page's thread, {1e3 * every / len(values):.1f} in all"
    )


def measure_sweep(folder, name, axes):
    print(f"{name}, 10^6 cells of three modes")
    swept = ordered(sweeps.run(sweeps.Sweep("example:two_link_flexible", axes, num_modes=3)))
    page = folder / "page.html"
    sweeps.explore(swept, page)
    browser = opened(page)
    low, high = np.quantile(swept.frequency.isel(mode=0).values, [0.2, 0.8]).tolist()
    levels = np.linspace(low, high, 40).tolist()
    frames(browser, "level", "#level", levels)
    frames(browser, "mode", "#mode", [k % 3 for k in range(40)])
    browser.run(
        f"const low = document.querySelector('#low'); low.value = {low}; low.dispatchEvent(new Event('change'));"
    )
    frames(browser, "band", "#high", levels[10:])
    if len(axes) > 2:
        frames(browser, "third axis", "#axes input[type=range]", list(range(40)))
    browser.close()


def measure_arm(folder, name, arm, joints):
    print(f"{name}: {MODES} modes and the shape of one")
    page = folder / "arm.html"
    sweeps.explore(arm, page)
    browser = opened(page)
    text, many = arm_json(arm), 100
    browser.value_later(_SOLVED, text, joints, MODES, 40)
    before = seconds_of(browser, "renderer", "DedicatedWorker")
    times = browser.value_later(_SOLVED, text, joints, MODES, many)
    cpu = seconds_of(browser, "renderer", "DedicatedWorker") - before
    print(
        f"  {np.median(times):.0f} ms by the clock ({np.min(times):.0f} to {np.max(times):.0f}), "
        f"{1e3 * cpu / many:.0f} ms of processor time in the worker"
    )
    browser.close()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        angle = [sweeps.linspace("theta_2", 0, 170, n, unit="degree") for n in (1000, 100)]
        measure_sweep(
            folder, "1000 x 1000", [angle[0], sweeps.linspace("payload.mass", 0, 2, 1000)]
        )
        masses = [sweeps.linspace(x, 0, 2, 100) for x in ("payload.mass", "link1.tip_mass")]
        measure_sweep(folder, "100 x 100 x 100", [angle[1], *masses])
        planar = jm.examples.three_link_industrial()
        measure_arm(folder, "three links", planar, ["link2.joint_angle", "link3.joint_angle"])
        robot = jm.examples.six_axis_industrial()
        measure_arm(folder, "six axes", robot, ["link2.joint_angle", "link3.joint_angle"])


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    main()
