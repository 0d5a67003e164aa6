"""What makes a batch compile: a new shape, and nothing else."""

import json
import os
import subprocess
import sys

#: counts the programs that are compiled in a fresh process by each of some batches; the numbers of modes are those of
#: tests/batches/test_many_arms.py and tests/sweeps/test_sensitivities.py, whose programs then serve
PROGRAM = """
import json
import jax

jax.config.update("jax_enable_x64", True)
programs = []

def listen(name, seconds, **about):
    if name.endswith("backend_compile_duration"):
        programs.append(about.get("fun_name"))

jax.monitoring.register_event_duration_secs_listener(listen)
import numpy as np
import jaxmodal as jm

rng = np.random.default_rng(0)
arm = jm.examples.three_link_industrial()
other = jm.Arm(tuple(jm.set_parameters(arm, {"link*.length": 0.7}).links), name="another")
found = {}

def count(name, arm, cells, kernel="portable", **ranges):
    programs.clear()
    columns = {a.replace("_", ".", 1): rng.uniform(*r, cells) for a, r in ranges.items()}
    result = jm.natural_frequencies_batch(arm, columns, 6, kernel=kernel)
    assert not np.asarray(result.status).any(), name
    found[name] = len(programs)

angles = {"link2_joint_angle": (-3.0, 3.0), "link3_joint_angle": (-3.0, 3.0)}
payload = {"payload_mass": (0.0, 9.0)}
count("small", arm, 20, "auto", **angles)
count("larger", arm, 900, "auto", **angles, **payload)
count("postures", arm, 7000, "auto", **angles)
count("first", arm, 600, **angles, **payload)
count("more cells", arm, 777, **angles, **payload)
count("one address", arm, 600, **payload)
count("another arm and name", other, 600, **angles)
count("small again", other, 511, "auto", **payload)

def count_modal(name, arm, addresses, cells, **ranges):
    columns = {a.replace("_", ".", 1): rng.uniform(*r, cells) for a, r in ranges.items()}
    result = jm.natural_frequencies_batch(arm, columns, 3)
    programs.clear()
    jm.modal_quantities_batch(arm, columns, result, addresses=addresses)
    found[name] = len(programs)

from jaxmodal.modes import batches

batches._CONVERGED = -1.0  # no null vector is good enough: both programs, that of modes that stand apart and the other
count_modal("first modes", arm, ["link2.length"], 20, **angles, **payload)
count_modal("modes of another arm by other addresses", other, ["link*.density", "payload.mass"], 40, **angles)
print(json.dumps(found))
"""


def test_another_arm_name_address_or_number_of_cells_compiles_nothing_new():
    flags = os.environ.get("XLA_FLAGS", "")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        env=os.environ | {"XLA_FLAGS": flags},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    first = found.pop("first")
    assert 0 < first <= 4, "the grid, the search, open modes and double-double"
    assert found.pop("first modes") == 2
    assert set(found.values()) == {0}, found
