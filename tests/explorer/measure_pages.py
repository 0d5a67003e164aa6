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
from tests.support.browser import Browser

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
    """A new browser with a page open; MB, ms by the clock to first paint and until all is shown, and of processors."""
    browser = Browser()
    browser.command("Page.addScriptToEvaluateOnNewDocument", source=_CLOCK)
    browser.command("Performance.enable", timeDomain="threadTicks")
    before = seconds_of(browser, "renderer")
    browser.open(page.as_uri())
    browser.settled()
    return browser, {
        "MB": page.stat().st_size / 1e6,
        "first paint": browser.value(
            "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        ),
        "all shown": browser.value("window.readyAfter"),
        "processors": 1e3 * (seconds_of(browser, "renderer") - before),
    }


def frame(browser, selector, values):
    """Of a frame in which a field gets another value: ms by the clock, of the page's thread and of all its threads."""
    browser.value_later(_MOVED, selector, values[:5])
    own, every = main_thread(browser), seconds_of(browser, "renderer")
    times = browser.value_later(_MOVED, selector, values)
    own, every = main_thread(browser) - own, seconds_of(browser, "renderer") - every
    each = 1e3 / len(values)
    return {"clock": np.median(times), "thread": each * own, "processors": each * every}


def of_sweep(page, axes):
    """Figures of the page of 10^6 cells of three modes."""
    swept = ordered(sweeps.run(sweeps.Sweep("example:two_link_flexible", axes, num_modes=3)))
    sweeps.explore(swept, page)
    browser, opening = opened(page)
    low, high = np.quantile(swept.frequency.isel(mode=0).values, [0.2, 0.8]).tolist()
    levels = np.linspace(low, high, 40).tolist()
    found = {"opening": opening, "level": frame(browser, "#level", levels)}
    found["mode"] = frame(browser, "#mode", [k % 3 for k in range(40)])
    browser.run(
        f"const low = document.querySelector('#low'); low.value = {low}; low.dispatchEvent(new Event('change'));"
    )
    found["band"] = frame(browser, "#high", levels[10:])
    if len(axes) > 2:
        found["third axis"] = frame(browser, "#axes input[type=range]", list(range(40)))
    assert browser.errors() == []
    browser.close()
    return found


def of_arm(page, arm, joints, several=100):
    """Figures of the page of an arm: its opening, and ten modes with the shape of one, ms."""
    sweeps.explore(arm, page)
    browser, opening = opened(page)
    text = arm_json(arm)
    browser.value_later(_SOLVED, text, joints, MODES, 40)  # until the browser has compiled the code
    before = seconds_of(browser, "renderer", "DedicatedWorker")
    times = browser.value_later(_SOLVED, text, joints, MODES, several)
    cpu = seconds_of(browser, "renderer", "DedicatedWorker") - before
    browser.close()
    solving = {"clock": np.median(times), "most": np.max(times), "processors": 1e3 * cpu / several}
    return {"opening": opening, "ten modes": solving}


ANGLES = sweeps.linspace("theta_2", 0, 170, 1000, unit="degree")
MASSES = sweeps.linspace("payload.mass", 0, 2, 1000)


def main():
    with tempfile.TemporaryDirectory() as name:
        page = pathlib.Path(name) / "page.html"
        three = [
            sweeps.linspace("theta_2", 0, 170, 100, unit="degree"),
            *(sweeps.linspace(x, 0, 2, 100) for x in ("payload.mass", "link1.tip_mass")),
        ]
        joints = ["link2.joint_angle", "link3.joint_angle"]
        for title, found in (
            ("1000 x 1000 cells", of_sweep(page, [ANGLES, MASSES])),
            ("100 x 100 x 100 cells", of_sweep(page, three)),
            ("three links", of_arm(page, jm.examples.three_link_industrial(), joints)),
            ("six axes", of_arm(page, jm.examples.six_axis_industrial(), joints)),
        ):
            print(title)
            for what, figures in found.items():
                print(f"  {what}: " + ", ".join(f"{x} {y:.3g}" for x, y in figures.items()))


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    main()
