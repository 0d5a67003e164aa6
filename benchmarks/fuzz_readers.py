"""Hostile input for the readers: arm files (TOML and JSON), tables of motions, sweep files, problem files, tables.

``python -m benchmarks.fuzz_readers --minutes 10`` changes valid documents at random, as text and as tables, and
reads them. Every input must be read, or refused with an error of the library whose message is short; none may take
longer than `SECONDS` of processor time. What fails is printed with the seed that makes it again; exit status 1.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import re
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax

from jaxmodal.runtime.errors import ImplausibleWarning

#: processor time that one input may take
SECONDS = 8.0
#: characters of a message
MESSAGE = 4000
#: what is longer than this, or has more places, is not multiplied: a line of 6 MB times a thousand is no input
LINE, PLACES = 10_000, 20_000
#: what messages of Python and its libraries say, and none of the library's
FOREIGN = re.compile(
    r"not supported between|object is not|unsupported operand|unexpected keyword|positional argument|NoneType"
    r"|must be real number|could not convert|invalid literal|unhashable|set_int_max_str_digits|ufunc|broadcast"
)

HUGE = 10**99
NUMBERS = [0, 1, -1, 2, 1000, 10**6, 10**8, 10**11, HUGE, -HUGE, 0.5, -0.5, 1e-300, 1e300, 1e-320]
NUMBERS += [float("inf"), float("-inf"), float("nan"), True, False]
TEXTS = [
    "",
    "t",
    "theta_2",
    "link*.tip_mass",
    "link2.joint_angle",
    "payload.mass",
    "link9.length",
    "x" * 50,
]
TEXTS += [
    "x" * 5000,
    "example:",
    "example:two_link_flexible",
    "/",
    ".",
    "..",
    "a\0b",
    "\ud800",
    "é",
    "degree",
]
TEXTS += [
    "log",
    "sobol",
    "today",
    "own",
    "mass",
    "timoshenko",
    "link1.section.second_moment",
    "link0.length",
]


def nested(depth: int) -> list[Any]:
    """A list inside a list, so often."""
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


def hostile(dice: random.Random) -> Any:
    """A value that stands where another is expected."""
    kind = dice.randrange(8)
    if kind < 3:
        return dice.choice(NUMBERS)
    if kind < 5:
        return dice.choice(TEXTS)
    lists: list[Any] = [[], {}, [[]], [{}], {"": 1}, {"x": {}}, [1, "a"], [[1, 2], [3]], None]
    if kind < 7:
        return dice.choice(
            [*lists, nested(30), nested(5000), ["t"], [1.0] * 300, [0, 90, 4], [0, 90, 1e9]]
        )
    return {dice.choice(TEXTS): dice.choice(NUMBERS), "mass": hostile(dice)}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in tables and lists."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, entry in entries:
        yield (*path, key)
        if isinstance(entry, (dict, list)) and len(path) < 50:
            yield from places(entry, (*path, key))


def changed(document: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """The document with one to three changes: values replaced, keys dropped, doubled, renamed, exchanged."""
    found = copy.deepcopy(document)
    for _ in range(dice.randint(1, 3)):
        known = list(places(found))
        if not 0 < len(known) < PLACES:
            break
        path = dice.choice(known)
        inside = found
        for key in path[:-1]:
            inside = inside[key]
        last, kind = path[-1], dice.randrange(8)
        if kind < 4:
            inside[last] = hostile(dice)
        elif kind == 4:
            del inside[last]
        elif kind == 5 and isinstance(inside, list) and len(inside) < 1000:
            inside *= dice.choice([2, 50, 1500])
        elif kind == 6 and isinstance(inside, dict):
            inside[
                dice.choice([*TEXTS, *(k for p in known for k in p[-1:] if isinstance(k, str))])
            ] = hostile(dice)
        else:
            other = dice.choice(known)
            value: Any = found
            try:
                for key in other:
                    value = value[key]
                inside[last] = copy.deepcopy(value)
            except (KeyError, IndexError, TypeError, RecursionError):
                continue
    return found


PIECES = [
    "[",
    "]",
    "{",
    "}",
    "[[",
    '"',
    "'",
    '"""',
    "'''",
    "\\",
    "#",
    "=",
    ".",
    ",",
    "\n",
    "\r",
    "\0",
    "\ufeff",
]
PIECES += [
    "a.",
    "0x",
    "1e9",
    "999",
    "_",
    "inf",
    "nan",
    "1979-05-27T07:32:00Z",
    "true",
    "null",
    "link1.a",
    "\ud7ff",
]


def changed_text(text: str, dice: random.Random) -> str:
    """The text with one to four changes; some repeat a piece many thousand times."""
    for _ in range(dice.randint(1, 4)):
        at, kind = dice.randrange(len(text) + 1), dice.randrange(7)
        if kind == 0:
            text = text[:at] + dice.choice(PIECES) + text[at:]
        elif kind == 1:
            count = dice.choice([2, 30, 5000, 20_000, 300_000])
            text = text[:at] + dice.choice(PIECES) * count + text[at:]
        elif kind == 2:
            text = text[:at] + text[at + dice.choice([1, 10, 100]) :]
        elif kind == 3:
            lines = text.split("\n")
            one = dice.choice(lines)
            times = dice.choice([1, 1, 1000])
            text = "\n".join([*lines, *([one] * (times if len(one) < LINE else 1))])
        elif kind == 4:
            digits = [k for k, character in enumerate(text) if character.isdigit()]
            if digits:
                k = dice.choice(digits)
                text = text[:k] + str(dice.choice(NUMBERS)) + text[k + 1 :]
        elif kind == 5:
            text = (
                text[:at] + dice.choice("123456789") * dice.choice([20, 99, 400, 5000]) + text[at:]
            )
        else:
            other = dice.randrange(len(text) + 1)
            text = text[: min(at, other)] + text[max(at, other) :]
    return text


class Reader(NamedTuple):
    """One reader: its name, valid documents as text, and what reads a file and what reads tables."""

    name: str
    texts: list[str]
    documents: list[dict[str, Any]]
    suffix: str
    read_file: Callable[[Path], Any]
    read_tables: Callable[[Any], Any]


ARM = {
    "name": "arm",
    "links": [
        {
            "length": 0.5,
            "youngs_modulus": 7e10,
            "density": 2700,
            "poisson_ratio": 0.3,
            "section": {"shape": "rectangle", "depth": 0.01, "width": 0.05, "shear_coefficient": "cowper"},
            "bodies": [{"position": 0.2, "mass": 0.1, "inertia": 0.0}],
        },
        {
            "length": 0.4,
            "youngs_modulus": 7e10,
            "density": 2700,
            "shear_modulus": 2.6e10,
            "section": {"shape": "rectangle", "depth": 0.01, "width": 0.05, "shear_coefficient": 0.85},
            "taper": {"section": {"shape": "rectangle", "depth": 0.005, "width": 0.05, "shear_coefficient": 0.85},
                      "pieces": 3},
            "joint_angle_deg": 30,
            "joint_stiffness": 1e4,
            "rotor_inertia": 1e-5,
            "gear_ratio": 50,
            "motor": "held",
        },
    ],
    "payload": {"mass": 0.5, "inertia": 0.01, "centre_x": 0.1},
}  # fmt: skip
MOVING = {
    "links": [ARM["links"][0], {
        **ARM["links"][0],
        "joint_stiffness": 1e3, "rotor_inertia": 1e-4, "gear_ratio": 20, "motor": "held",
    }],
    "dynamics": {
        "modes": [2, 1],
        "shapes": "polynomial",
        "coordinates": "tip_deflection",
        "gravity": [0.0, -9.81],
        "kelvin_voigt_time": 1e-4,
        "damping_ratio": [0.01, 0.02],
        "viscous_friction": 0.1,
        "coulomb_friction": 0.1,
        "coulomb_width": 0.01,
        "inertia_order": "full",
        "frames": "rotation",
        "foreshortening": True,
        "method": "rk4",
        "rtol": 1e-8,
        "step": 1e-3,
        "max_steps": 1000,
        "until": 1.0,
        "every": 0.01,
        "start_deg": [10, 20],
        "start_rates_deg": [0, 1],
    },
}  # fmt: skip
MOTORS = [
    {"kind": "locked"},
    {"kind": "bang_bang", "torques": [1.0, 2.0], "half": 0.5},
    {"kind": "pd", "target_deg": [0, 90], "duration": 0.5, "proportional": 10.0, "derivative": [1.0, 0.5],
     "feed_forward": True},
    {"kind": "sampled", "times": [0, 0.5, 1], "torques": [[0, 1], [2, 3], [0, 0]]},
]  # fmt: skip
SWEEP = {
    "name": "sweep",
    "arm": "example:two_link_flexible",
    "theories": ["timoshenko", "rayleigh"],
    "num_modes": 3,
    "outputs": ["multiplicity", "sensitivity"],
    "sensitivity_to": ["link1.length"],
    "axes": [
        {"parameter": "theta_2", "unit": "degree", "linspace": {"start": 0, "stop": 90, "num": 5}},
        {"parameter": "thickness_factor", "geomspace": {"start": 1, "stop": 100, "num": 3}, "name": "s"},
        {"name": "load", "zip": [{"parameter": "payload.mass", "values": [0, 5]},
                                 {"parameter": "payload.inertia", "values": [0, 0.2]}]},
        {"random": {"method": "sobol", "num": 8, "seed": 1, "ranges": [
            {"parameter": "link1.length", "low": 0.4, "high": 0.6},
            {"parameter": "link2.joint_stiffness", "low": 1e2, "high": 1e6, "scale": "log"}]}},
    ],
}  # fmt: skip
PROBLEM = {
    "name": "problem",
    "arm": "example:three_link_industrial",
    "theory": "timoshenko",
    "aggregate": "ks",
    "sharpness": 100.0,
    "variables": [
        {"parameter": "link*.section.wall_thickness", "tied": False, "lower": 0.003, "upper": 0.03},
        {"parameter": ["link1.section.depth"], "lower": 0.1, "upper": 0.3, "scale": "log", "start": 0.2,
         "name": "d", "follow": {"link1.section.width": 1.0}},
    ],
    "lengths": {"lower": 0.2, "upper": 3.0},
    "objective": [{"maximise": "frequency", "mode": 1, "postures": "workspace", "weight": 1.0, "cluster": 1},
                  {"minimise": "mass", "weight": 0.1}],
    "constraints": [
        {"kind": "mass", "at_most": "today"},
        {"kind": "frequency", "mode": 2, "at_least_hz": 10.0, "at_most_hz": 1e3},
        {"kind": "band", "low_hz": 20.0, "high_hz": 22.0, "modes_below": 1, "modes": 3},
        {"kind": "wall", "at_least": 0.002, "depth_over_wall": 50.0},
        {"kind": "deflection", "at_most": 0.01, "gravity": 9.81},
    ],
    "postures": {"workspace": {"grid_deg": {"theta_2": [-90, 90, 3], "theta_3": [0, 90, 2]}},
                 "few": {"list_deg": [[0, 45], [10, 20]]}},
    "solver": {"method": "slsqp", "starts": 2, "seed": 3, "tolerance": 1e-6, "max_iterations": 50},
}  # fmt: skip


def toml(value: Any) -> str:
    """A value as TOML, tables inline."""
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{json.dumps(str(k))} = {toml(v)}" for k, v in value.items()) + " }"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value).replace("Infinity", "inf").replace("NaN", "nan")


def toml_document(document: dict[str, Any]) -> str:
    """A document as TOML, one line for each key."""
    return "".join(f"{key} = {toml(value)}\n" for key, value in document.items())


def readers() -> list[Reader]:
    """The five readers."""
    from design_opt.problem.files import problem_from_dict, problem_text, read_problem
    from jaxmodal import examples
    from jaxmodal.dynamics.files import read_simulation, simulation_from_dict
    from jaxmodal.spatial.files.arm_files import arm_from_dict, read_arm
    from sweeps.definition.files import read_sweep, sweep_from_dict, sweep_text

    arm_texts = [toml_document(ARM), examples.toml_text("three_link_industrial")]
    moving = [MOVING | {"dynamics": MOVING["dynamics"] | {"motors": motors}} for motors in MOTORS]
    moving_texts = [toml_document(document) for document in moving]
    sweep_texts = [toml_document(SWEEP), sweep_text("three_link_payload")]
    problem_texts = [toml_document(PROBLEM), problem_text("three_link_lightest")]
    return [
        Reader("arm", arm_texts, [ARM], ".toml", read_arm, arm_from_dict),
        Reader("JSON arm", [json.dumps(ARM)], [ARM], ".json", read_arm, arm_from_dict),
        Reader("dynamics", moving_texts, moving, ".toml", read_simulation, simulation_from_dict),
        Reader("sweep", sweep_texts, [SWEEP], ".toml", read_sweep, sweep_from_dict),
        Reader("problem", problem_texts, [PROBLEM], ".toml", read_problem, problem_from_dict),
    ]


def examine(seed: int, every: list[Reader], folder: Path) -> tuple[str, str, float]:
    """Read the input that a seed makes; return what went wrong (empty: nothing), which reader, and the time."""
    from design_opt.problem.errors import ProblemError
    from jaxmodal.runtime.errors import ArmError
    from sweeps.definition.errors import SweepError

    dice = random.Random(seed)
    reader = every[seed % len(every)]
    how = dice.randrange(3)
    action: Callable[[], Any]
    if how == 0:
        document = changed(dice.choice(reader.documents), dice)

        def action() -> Any:
            return reader.read_tables(document)
    else:
        text = changed_text(dice.choice(reader.texts), dice)
        if how == 2:
            try:
                document = changed(dice.choice(reader.documents), dice)
                text = json.dumps(document) if reader.suffix == ".json" else toml_document(document)
            except RecursionError:
                pass
        path = folder / f"input{reader.suffix}"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))

        def action() -> Any:
            return reader.read_file(path)

    start = time.process_time()
    wrong = ""
    try:
        action()
    except (ArmError, SweepError, ProblemError) as error:
        if FOREIGN.search(str(error)):
            wrong = f"a message of another library: {error}"
        if len(str(error)) > MESSAGE:
            wrong = f"a message of {len(str(error))} characters: {str(error)[:200]}"
    except Exception:
        wrong = traceback.format_exc(limit=-4)
    took = time.process_time() - start
    if took > SECONDS:
        wrong += f"took {took:.1f} s"
    return wrong, f"{reader.name} {('tables', 'text', 'file')[how]}", took


def fuzz(seeds: Iterator[int], until: float = float("inf")) -> tuple[list[str], int, float]:
    """Examine seeds until a time; return what went wrong, how many were examined, and the longest time."""
    failures, number, longest = [], 0, 0.0
    every = readers()
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore", ImplausibleWarning)  # odd values are what is tried
        for seed in seeds:
            wrong, what, took = examine(seed, every, Path(name))
            number, longest = number + 1, max(longest, took)
            if wrong:
                failures.append(f"seed {seed}, {what}: {wrong}")
            if time.monotonic() > until:
                break
    return failures, number, longest


def main() -> int:
    """Run for some minutes and print what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0, help="the first one; others follow")
    parser.add_argument("--inputs", type=int, default=10**12, help="at most so many")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    seeds = iter(range(options.seed, options.seed + options.inputs))
    failures, number, longest = fuzz(seeds, time.monotonic() + 60.0 * options.minutes)
    for line in failures[:50]:
        print(line)
    print(f"{number} inputs, {len(failures)} failures, longest {longest:.2f} s of processor time")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
