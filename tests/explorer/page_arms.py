"""Random planar arms with everything that the solver in the page knows, and the solver run by Node."""

import json
import math
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import jaxmodal as jm
from sweeps.explorer.arms import MODES
from sweeps.explorer.page import arm_page_html
from sweeps.explorer.solver import arm_json, module_text

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs node, which runs the page's solver")
_SCRIPT = pathlib.Path(__file__).with_name("solve_arms.mjs")


def solved_in_page(tmp_path, cases, in_space=False, under_loads=False):
    """What the solver finds of arms; each case a dict of `solve_arms.mjs`, its arm as text."""
    module, arms = tmp_path / "solver.mjs", tmp_path / "arms.json"
    module.write_text(module_text(in_space, under_loads), encoding="utf-8")
    arms.write_text(json.dumps(cases), encoding="utf-8")
    command = [NODE, str(_SCRIPT), str(module), str(arms)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def file_of(browser, button):
    """The text that a button of the page offers as a file."""
    script = (
        "const [id, done] = arguments, { createObjectURL } = URL, { click } = HTMLAnchorElement.prototype;"
        "HTMLAnchorElement.prototype.click = () => {};"
        "URL.createObjectURL = (blob) => { blob.text().then(done); return createObjectURL.call(URL, blob); };"
        "document.getElementById(id).click();"
        "Object.assign(URL, { createObjectURL }); Object.assign(HTMLAnchorElement.prototype, { click });"
    )
    return browser.value_later(script, button)


def csv_of(browser, button):
    """The rows behind the head of what a button of a page gives as CSV."""
    return [line.split(",") for line in file_of(browser, button).splitlines()[1:]]


def pixels(browser):
    """What the picture shows, as one text."""
    return browser.value("document.querySelector('#arm').toDataURL()")


def hertz_and_certified(browser):
    """All digits of the table, as its button gives them."""
    rows = csv_of(browser, "csv")
    return [float(row[1]) for row in rows], [row[2] == "certified" for row in rows]


def found_by_the_library(arm, theory="timoshenko"):
    """The modes that have a frequency: Hz, and whether they are certified."""
    found = jm.natural_frequencies(arm, MODES, theory=theory, throw=False)
    there = np.isfinite(np.asarray(found.omega))
    return np.asarray(found.frequencies_hz)[there], np.asarray(found.certified)[there].tolist()


def _compare(name, asked, answer):
    (found, certified), (hertz, sure) = answer, found_by_the_library(*asked)
    np.testing.assert_allclose(found, hertz, rtol=1e-9, atol=0.0, err_msg=str(name))
    assert certified == sure, name


def compare_pages(shown, arms):
    """Each of some arms, with its theory, on a page of its own."""
    for name, asked in arms.items():
        _compare(name, asked, hertz_and_certified(shown(arm_page_html(*asked))))


def compare_in_one_page(browser, arms):
    """Some arms, with their theories, by the worker of a page: of each arm alone its text is another."""
    found = solved_by_its_worker(browser, [arm_json(*asked) for asked in arms.values()], MODES)
    for (name, asked), answer in zip(arms.items(), found, strict=True):
        _compare(name, asked, answer)


def solved_by_its_worker(browser, texts, modes):
    """Frequencies, Hz, and certificates of arms as the worker of the page that is open finds them, one by one."""
    script = (
        "const [texts, modes, done] = arguments, found = [];"
        "const own = [...document.scripts].find((x) => !x.type).textContent;"
        'const solver = JSON.parse(/const SOLVER = (".*");/.exec(own)[1]);'
        "const worker = new Worker(URL.createObjectURL(new Blob([solver])));"
        "const next = () => {"
        "  if (found.length === texts.length) { worker.terminate(); return done(found); }"
        "  worker.postMessage({ arm: texts[found.length] });"
        "  worker.postMessage({ ask: { kind: 'frequencies', values: {}, modes } });"
        "};"
        "worker.onmessage = ({ data: { answer, error } }) => {"
        "  if (error) return done([error]);"
        "  found.push([Array.from(answer.omega), Array.from(answer.certified)]);"
        "  next();"
        "};"
        "next();"
    )
    answers = []
    for start in range(0, len(texts), 16):
        answers += browser.value_later(script, texts[start : start + 16], modes)
    return [
        ([x / (2.0 * math.pi) for x in omega], [x == 1 for x in sure]) for omega, sure in answers
    ]


def case(arm, theory="timoshenko", **more):
    return {"arm": arm_json(arm, theory), "modes": 8, **more}


def random_arm(seed):
    """One to four links; each kind of section, joint, body, offset, support and base in some of them."""
    rng = np.random.default_rng([seed, 43])

    def often(share):
        return rng.random() < share

    links, base, number = [], None, int(rng.integers(1, 5))
    for k in range(number):
        length = 10.0 ** rng.uniform(-0.6, 0.3)
        size = length / 10.0 ** rng.uniform(0.8, 1.8)
        sections = [
            jm.rectangle(size, 0.6 * size, 0.85),
            jm.circle(size, "cowper"),
            jm.hollow_circle(size, 0.1 * size, 0.6),
            jm.hollow_rectangle(size, 0.7 * size, 0.1 * size, "5/6"),
        ]
        stiffness = [math.inf, 10.0 ** rng.uniform(3, 7), 0.0]
        more = {"joint_stiffness": stiffness[rng.choice(3, p=[0.5, 0.4, 0.1])]}
        if often(0.15):
            for name in ("joint_axial_stiffness", "joint_shear_stiffness"):
                more[name] = 10.0 ** rng.uniform(5, 9)
        if often(0.2):
            more |= {"hub_mass": rng.uniform(0, 3), "hub_inertia": rng.uniform(0, 0.05)}
            more |= {"stator_mass": rng.uniform(0, 3), "stator_inertia": rng.uniform(0, 0.05)}
        if often(0.2):
            more |= {
                "rotor_inertia": 1e-4 * rng.uniform(0, 1),
                "gear_ratio": rng.uniform(-100, 100),
                "motor": str(rng.choice(["held", "beyond_spring"])),
            }
            if math.isinf(more["joint_stiffness"]):
                more["joint_stiffness"] = 1e5
        if often(0.25):
            more |= {"base_offset_x": rng.uniform(0, 0.1), "base_offset_y": rng.uniform(-0.1, 0.1)}
            more |= {"end_offset_x": rng.uniform(0, 0.1), "end_offset_y": rng.uniform(-0.1, 0.1)}
        if often(0.4):
            more |= {"tip_mass": rng.uniform(0, 10), "tip_inertia": rng.uniform(0, 0.2)}
            if often(0.4):
                more |= {
                    "tip_centre_x": rng.uniform(-0.1, 0.1),
                    "tip_centre_y": rng.uniform(-0.1, 0.1),
                }
        if often(0.15):
            more["nonstructural_mass"] = rng.uniform(0, 5)
        if often(0.12):
            more["support_x_stiffness"] = 10.0 ** rng.uniform(3, 7)
            more["support_torsional_stiffness"] = 10.0 ** rng.uniform(2, 5)
        if often(0.05) and k == number - 1:
            more["support_y_stiffness"] = 1e9 if seed % 4 == 3 else math.inf
        if often(0.15) and number > 1 and "support_y_stiffness" not in more:
            more["rigid"] = True
        links.append(
            jm.Link(
                length, 10.0 ** rng.uniform(10.3, 11.3), rng.uniform(1500, 8000), sections[rng.integers(4)],
                poisson_ratio=0.3, joint_angle=rng.uniform(-3, 3) if k else rng.uniform(-1, 1), **more,
            )
        )  # fmt: skip
    if often(0.2):
        turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        size = 10.0 ** rng.uniform([4, 4, 3], [8, 8, 6])
        base = (turned * rng.uniform(0.2, 1, 3)) @ turned.T * np.sqrt(size[:, None] * size)
        base = (base + base.T) / 2
        nothing = ("rotor_inertia", "gear_ratio", "stator_mass", "stator_inertia")
        links[0] = links[0].replace(**dict.fromkeys(nothing))
    if all(link.rigid for link in links):
        links[0] = links[0].replace(rigid=False)
    payload = jm.Payload(rng.uniform(0, 5), rng.uniform(0, 0.1)) if often(0.5) else jm.Payload()
    return jm.Arm(tuple(links), payload, **({} if base is None else {"base_stiffness": base}))


THEORIES = ("timoshenko", "rayleigh", "euler_bernoulli", "bending_only")
