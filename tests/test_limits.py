"""Input that would hurt is refused before anything is built: sizes, depths, counts, in files and in tables."""

import json
import time

import numpy as np
import pytest

import design_opt
import jaxmodal as jm
import sweeps
from benchmarks.fuzz_readers import ARM, MOVING, PROBLEM, SWEEP, fuzz, toml_document
from design_opt.problem.errors import ProblemError
from design_opt.problem.files import problem_from_dict, read_problem
from jaxmodal import dynamics, moves
from jaxmodal.dynamics.files import read_simulation, simulation_from_dict
from jaxmodal.runtime import limits
from sweeps.definition.files import sweep_from_dict
from tests.support.commands import run_command

#: by the name of the reader: what reads a file, what reads tables, its error, a valid document, the suffix
READERS = {
    "arm": (jm.read_arm, jm.arm_from_dict, jm.ArmError, ARM, ".toml"),
    "JSON arm": (jm.read_arm, jm.arm_from_dict, jm.ArmError, ARM, ".json"),
    "dynamics": (read_simulation, simulation_from_dict, jm.ArmError, MOVING, ".toml"),
    "sweep": (sweeps.read_sweep, sweep_from_dict, sweeps.SweepError, SWEEP, ".toml"),
    "problem": (read_problem, problem_from_dict, ProblemError, PROBLEM, ".toml"),
}


def text_of(document, suffix):
    return json.dumps(document) if suffix == ".json" else toml_document(document)


def hurting(suffix):
    """Texts of files that no reader may spend time on, and what their refusals say."""
    json_file = suffix == ".json"
    nest = "[" * 20_000
    number = "1" * 5000
    yield ('{"name": ' + nest if json_file else f"name = {nest}"), "deeper than 20"
    yield ('{"name": ' * 20_000 if json_file else "name = " + "{ a = " * 20_000), "deeper than 20"
    yield (f'{{"name": {number}}}' if json_file else f"name = {number}"), "5,000 characters"
    yield ('{"a": 1}' + " " * limits.FILE_BYTES), "1,000,000 bytes"
    yield json.dumps({"name": "x" * 2000}) if json_file else f'name = "{"x" * 2000}"', "2,000 char"
    if not json_file:
        yield ".".join("a" * 30_000) + " = 1", "characters"
        yield " . ".join("a" * 30_000) + " = 1", "deeper than 20"
        yield "[" + ".".join(['"a"'] * 30_000) + "]", "deeper than 20"
        yield '"' + '\\"' * 400_000, "TOML"
        yield '"""' + '\\"' * 400_000, "TOML"


@pytest.mark.parametrize("name", READERS)
def test_texts_that_hurt_are_refused_at_once(name, tmp_path):
    read, _, error, _, suffix = READERS[name]
    path = tmp_path / f"input{suffix}"
    for text, words in hurting(suffix):
        path.write_text(text)
        start = time.process_time()
        with pytest.raises(error, match=words) as refused:
            read(path)
        assert str(refused.value).startswith(str(path))
        assert len(str(refused.value)) < 1000
        assert time.process_time() - start < 5.0  # was 49 s, or the end of the process


@pytest.mark.parametrize("name", READERS)
def test_tables_that_hurt_are_refused(name):
    _, read, error, document, _ = READERS[name]
    deep = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(error, match="deeper than 20"):
        read(document | {"name": deep})
    with pytest.raises(error, match="surrogates"):
        read(document | {"name": "a\ud800"})
    with pytest.raises(error, match=r"name = \['t'\]: must be text"):
        read(document | {"name": ["t"]})


@pytest.mark.parametrize("name", READERS)
def test_what_the_limits_are_around_is_read(name, tmp_path):
    read, _, _, document, suffix = READERS[name]
    path = tmp_path / f"input{suffix}"
    path.write_text(text_of(document | {"name": "x" * limits.TEXT}, suffix))
    read(path)


def test_an_arm_has_so_many_links():
    link = ARM["links"][0] | {"bodies": []}
    assert jm.arm_from_dict({"links": [link] * 10}).num_links == 10
    with pytest.raises(jm.ArmError, match="at most 1,000"):
        jm.arm_from_dict({"links": [link] * 1001})
    taper = {"section": link["section"], "pieces": 600}
    tapered = {key: value for key, value in link.items() if key != "bodies"} | {"taper": taper}
    with pytest.raises(jm.ArmError, match=r"link2\.taper: the arm then has 1,200 links"):
        jm.arm_from_dict({"links": [tapered, tapered]})
    with pytest.raises(jm.ArmError, match=r"pieces = 100000000: must be a whole number from 1 to"):
        jm.arm_from_dict({"links": [tapered | {"taper": taper | {"pieces": 10**8}}]})


def test_sweeps_have_so_many_points_cells_modes():
    angles = {"parameter": "theta_2", "linspace": {"start": 0, "stop": 1, "num": 10**11}}
    base = {"arm": "example:three_link_industrial"}
    with pytest.raises(sweeps.SweepError, match=r"num = 100000000000: .* 1 to 10,000,000"):
        sweep_from_dict(base | {"axes": [angles]})
    wide = {"start": 0, "stop": 1, "num": 10**5}
    axes = [{"parameter": f"theta_{k}", "linspace": wide} for k in (2, 3)]
    with pytest.raises(
        sweeps.SweepError, match=r"100000 x 100000 are 10,000,000,000 cells; at most"
    ):
        sweep_from_dict(base | {"axes": axes})
    long = {"parameter": "theta_2", "linspace": {"start": 0, "stop": [0, 90] * 1500, "num": 3}}
    with pytest.raises(sweeps.SweepError, match=r"end \[0, 90, .{1,200}: must be a finite number"):
        sweep_from_dict(base | {"axes": [long]})
    samples = [sweeps.Range(f"link{k}.length", 0.5, 1.0) for k in (1, 2)]
    with pytest.raises(sweeps.SweepError, match="6,000,000 samples of 2 parameters"):
        sweeps.random_design(samples, 6_000_000, seed=1)
    with pytest.raises(sweeps.SweepError, match=r"num_modes = 100000000: .* from 1 to 1,000"):
        sweeps.Sweep(base["arm"], [sweeps.axis("theta_2", [0.0])], num_modes=10**8)
    large = sweeps.Sweep(base["arm"], [sweeps.linspace("theta_2", 0, 1, 10**6)], num_modes=1000)
    with pytest.raises(sweeps.SweepError, match="give a store"):
        sweeps.run(large)


def test_problems_have_so_many_postures_and_proper_options():
    grid = {"theta_2": [-90, 90, 10**5], "theta_3": [-90, 90, 10**4]}
    with pytest.raises(ProblemError, match=r"grid of 1000000000 postures: at most 1,000,000"):
        problem_from_dict(PROBLEM | {"postures": {"workspace": {"grid_deg": grid}}})
    for key, value in (("seed", "a"), ("seed", -1), ("starts", 10**9), ("tolerance", "x")):
        with pytest.raises(ProblemError, match=f"{key} = {value!r}: must be"):
            problem_from_dict(PROBLEM | {"solver": {key: value}})
    problem, _ = problem_from_dict(PROBLEM)
    with pytest.raises(ProblemError, match="seed = 'a': must be"):
        design_opt.optimise(problem, seed="a")


def test_calls_have_so_many_modes():
    arm = jm.examples.two_link_flexible()
    for call in (
        lambda n: jm.natural_frequencies(arm, n),
        lambda n: jm.natural_frequencies_batch(arm, {"link2.joint_angle": np.zeros(2)}, n),
        lambda n: jm.sensitivities(arm, n),
    ):
        with pytest.raises(ValueError, match="num_modes = 100000000; expected at most 1,000"):
            call(10**8)
    answer = run_command("frequencies", "example:two_link_flexible", "--modes", "9999")
    assert answer.exit_code == 2
    assert "1<=x<=1000" in answer.stderr


def test_calls_have_so_many_samples():
    """A thousand million of them once filled the memory, and the process was killed."""
    arm = jm.examples.two_link_flexible()
    move = dynamics.trapezoid([0.0, 0.0], [0.1, 0.2], 1.0, 2.0)
    more = {"theory": "euler_bernoulli"}
    calls = {
        "num_postures": lambda n: moves.move_vibration(arm, move, 1, num_postures=n, **more),
        "points": lambda n: moves.time_optimal(arm, move, acceleration=1.0, points=n),
        "samples": lambda n: jm.share_below(arm, 1.0, samples=n),
        "starts": lambda n: jm.extremes(arm, starts=n),
        "climbs": lambda n: jm.extremes(arm, climbs=n),
        "stations": lambda n: jm.mode_shapes(arm, 1, stations=n, **more),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"{name} = 1000000000.*1,000,000"):
            call(10**9)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('name = "a"\nname = "b"\n', "name is given twice (line 2)"),
        ("[payload]\nmass = 1\n[payload]\nmass = 2\n", "[payload] is given twice (line 3)"),
        ("payload = { mass = 1, mass = 2 }\n", "mass is given twice (line 1)"),
        ("payload = { mass = 1 }\n[payload]\n", "[payload] is given twice (line 2)"),
        ("a = [1,\n 2]\n a = [1,\n 2]\n", "a is given twice"),
    ],
)
def test_keys_that_are_given_twice_are_named(text, words, tmp_path):
    path = tmp_path / "twice.toml"
    path.write_text(text)
    for read, error in ((jm.read_arm, jm.ArmError), (read_problem, ProblemError)):
        with pytest.raises(error) as refused:
            read(path)
        assert str(refused.value).startswith(f"{path}: ")
        assert words in str(refused.value)


@pytest.mark.parametrize("key", ["theories", "outputs"])
def test_a_long_value_is_shortened_in_its_message(key):
    with pytest.raises(
        sweeps.SweepError, match=rf"{key}: \[1, 2, 1, 2.*\.\.\. is unknown"
    ) as refused:
        sweeps.sweep_from_dict(SWEEP | {key: [[1, 2] * 2000]})
    assert len(str(refused.value)) < 1000


def test_changed_documents_are_read_or_refused():
    """Some hundred of the inputs of ``python -m benchmarks.fuzz_readers``, which runs for minutes."""
    failures, number, _ = fuzz(iter(range(20_000, 20_200)))
    assert failures == []
    assert number == 200
