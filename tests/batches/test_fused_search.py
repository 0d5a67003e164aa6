"""Does the fused kernel find what the portable program finds, bit for bit where the same compiler rounds both?"""

import contextlib
import importlib
import os
import subprocess
import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.arm.columns import columns_of, unpacked
from jaxmodal.batches.acceptance import CLOSE, accepted, with_neighbour
from jaxmodal.batches.fused_search import chosen_kernel, enclosed_fused
from jaxmodal.batches.kernels import EXTRA, BatchProblem, enclosed, grid_guess
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.runtime.devices import default_device
from tests.batches.test_many_arms import BATCH_ACCURACY, random_cells
from tests.support.problems import problems
from tests.support.real_arms import random_arm, steel

#: what the fused kernel may differ by from the portable program, in units of the last place
ULP = 4.0
MODES = 6


def assert_alike(fused, portable):
    """Statuses, counts, groups and multiplicities are the same, frequencies within `ULP`."""
    for name in ("status", "count_below", "count_above", "group", "multiplicity"):
        assert np.array_equal(getattr(fused, name), getattr(portable, name)), name
    omega = np.asarray(portable.omega)
    assert np.all(np.abs(np.asarray(fused.omega) - omega) <= ULP * np.spacing(omega))


def assert_same_enclosures(fused, portable):
    """The counts and flags of enclosures are the same, their frequencies within `ULP`."""
    for name in ("lower_count", "upper_count", "consistent"):
        assert np.array_equal(getattr(fused, name), getattr(portable, name)), name
    for name in ("omega", "lower", "upper"):
        exact = np.asarray(getattr(portable, name))
        error = np.abs(np.asarray(getattr(fused, name)) - exact)
        assert np.all(error <= ULP * np.spacing(exact)), name


def three_link_problem(cells):
    """BatchProblem, beams and rough frequencies of random cells of the three-link arm."""
    arm, values = jm.examples.three_link_industrial(), np.stack(list(cells.values()))
    packed = columns_of(arm, tuple(cells), values).packed
    problem = BatchProblem(theory_flags("timoshenko"), MODES)
    beams = jax.tree.map(lambda x: jnp.asarray(x[:, None]), unpacked(packed))
    return problem, beams, grid_guess(problem, packed).rough


def repeated(beams, cells):
    """The same arm in every cell, arrays of shape (n, 1, cells)."""
    return jax.tree_util.tree_map(lambda x: jnp.tile(x[:, None, None], (1, 1, cells)), beams)


def _rough(omega, seed):
    """Estimates of the lowest modes, off by up to 1 %, and of a few more."""
    known, number = np.unique(omega), MODES + EXTRA
    more = known[-1] * 1.5 ** np.arange(1.0, number + 1.0)
    noise = np.random.default_rng(seed).uniform(0.99, 1.01, number)
    return np.sort(np.concatenate([known, more])[:number] * noise)


def oracle_block(links, theory):
    """BatchProblem, beams and frequencies off by up to 1 % of all reference arms of so many links and a theory."""
    chosen = [p for p in problems().values() if len(p.entry["links"]) == links]
    chosen = [p for p in chosen if p.model == theory and p.num_modes >= MODES]
    if not chosen:
        return None
    arms = [beam_arrays(p.arm) for p in chosen]
    beams = jax.tree_util.tree_map(lambda *x: np.stack(x, axis=-1)[:, None], *arms)
    rough = np.stack([_rough(p.omega, seed) for seed, p in enumerate(chosen)], axis=1)
    # every arm several times: blocks of the kernel are full, and all cases of a number of links share a shape
    at = np.resize(np.arange(len(chosen)), 16)
    beams = jax.tree_util.tree_map(lambda x: x[..., at], beams)
    problem = BatchProblem(theory_flags(theory), MODES)
    return problem, beams, rough[:, at]


@pytest.mark.parametrize("links", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_enclosures_of_the_reference_arms_are_those_of_the_portable_program(links):
    blocks = [oracle_block(links, theory) for theory in jm.THEORIES]
    blocks = [block for block in blocks if block is not None]
    assert blocks
    for block in blocks:
        portable = enclosed(*block)
        assert_same_enclosures(
            enclosed_fused(*block, arithmetic=Arithmetic.float64, interpret=True), portable
        )
        proven = portable.upper_count - portable.lower_count == 1
        assert np.asarray(proven).mean() > 0.4, "nothing was enclosed: the test shows nothing"


def cut(arm, links):
    """The same arm of so many links: each is cut into rigidly joined pieces, which changes no frequency."""
    pieces = []
    for k, link in enumerate(arm.links):
        number = links // arm.num_links + (k < links % arm.num_links)
        bare = {"tip_mass": 0.0, "tip_inertia": 0.0}
        joint = {"joint_angle": 0.0, "joint_stiffness": np.inf}
        for piece in range(number):
            changed = (joint if piece else {}) | (bare if piece < number - 1 else {})
            pieces.append(link.replace(length=link.length / number, **changed))
    return jm.Arm(tuple(pieces))


@pytest.mark.slow
@pytest.mark.parametrize(("least", "links"), [(1, 1), (2, 2), (3, 3), (4, 12)])
def test_batches_of_the_reference_arms_are_right_with_either_kernel(least, links):
    """One by one, whatever they need after float64; those of 4 links and more are cut into as many as the longest has.

    One link alone is put together in another way, and has no joint but the base.
    """
    for problem in problems().values():
        if not least <= len(problem.entry["links"]) <= links:
            continue
        arm = cut(problem.arm, links)
        # fewer cells than a vector holds XLA compiles in another way, and rounds in another way
        cell = {"link1.length": np.full(16, float(arm.links[0].length))}
        portable, fused = (
            jm.natural_frequencies_batch(arm, cell, MODES, theory=problem.model, kernel=kernel)
            for kernel in ("portable", "fused")
        )
        assert_alike(fused, portable)
        error = np.abs(np.asarray(fused.omega) / problem.omega[:MODES] - 1.0)
        assert error.max() < BATCH_ACCURACY, problem.name
        assert bool(fused.certified.all()), problem.name


@pytest.mark.slow
def test_ten_thousand_cells_are_those_of_the_portable_program():
    arm, cells = jm.examples.three_link_industrial(), random_cells(10_000, seed=11)
    portable = jm.natural_frequencies_batch(arm, cells, MODES, kernel="portable")
    fused = jm.natural_frequencies_batch(arm, cells, MODES, kernel="fused")
    assert_alike(fused, portable)
    assert bool(fused.certified.all())


@pytest.mark.slow
def test_registers_round_differently_and_find_the_same():
    """As a GPU runs it: what float64 accepts is right to float64's promise, and no count differs."""
    problem, beams, rough = three_link_problem(random_cells(1200))
    portable = enclosed(problem, beams, rough)
    fused = enclosed_fused(problem, beams, rough, arithmetic=Arithmetic.registers, interpret=True)
    number = np.arange(1, MODES + 1)[:, None]
    both = jax.tree_util.tree_map(np.asarray, (portable, fused))
    good = [accepted(e, number) & ~with_neighbour(e.omega, CLOSE) for e in both]
    assert np.mean(good[0] & good[1]) > 0.6, "nearly all others wait for a second estimate"
    settled = good[0] & good[1]
    for name in ("lower_count", "upper_count", "consistent"):
        assert np.array_equal(getattr(both[0], name)[settled], getattr(both[1], name)[settled])
    assert np.abs(both[1].omega / both[0].omega - 1.0)[settled].max() < BATCH_ACCURACY


def for_an_h100():
    """The device that a program is lowered for where there is none, which JAX wants to know from 0.11 on."""
    if jax.__version_info__ < (0, 11):
        return contextlib.nullcontext()
    kind = jax.sharding.AbstractDevice("NVIDIA H100", num_cores=None, platform="gpu")
    return jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), (), abstract_device=kind))


@pytest.mark.parametrize(
    ("modes", "structure"), [(1, None), (10, None), (40, None), (10, "everything")]
)
def test_the_kernel_lowers_for_cuda_without_a_gpu(modes, structure):
    arm = jm.examples.three_link_industrial()
    arm = arm if structure is None else random_arm(3, structure)
    problem = BatchProblem(theory_flags("timoshenko"), modes, hinged=structure is not None)
    beams = repeated(beam_arrays(arm), 33)
    rough = jnp.linspace(1.0, 99.0, modes + EXTRA)[:, None] * jnp.ones((1, 33))
    leaves, structure = jax.tree_util.tree_flatten((problem, beams, rough))

    @jax.jit
    def run(*leaves):
        values = jax.tree_util.tree_unflatten(structure, leaves)
        return enclosed_fused(*values, arithmetic=Arithmetic.registers, interpret=False).omega

    with for_an_h100():
        text = run.trace(*leaves).lower(lowering_platforms=("cuda",)).as_text()
    assert text.count("xla.gpu.triton") == 1, "one kernel, compiled by Triton"


@pytest.mark.slow
def test_hinges_and_attachments_reach_the_kernel():
    arm = random_arm(3, "everything")
    modes = MODES
    beams = repeated(beam_arrays(arm), 16)
    problem = BatchProblem(theory_flags("timoshenko"), modes, hinged=True)
    free = int((np.asarray(beam_arrays(arm).joint_stiffness) == 0.0).sum())
    truth = np.asarray(jm.natural_frequencies(arm, modes + EXTRA + free).omega)[free:]
    rough = jnp.asarray(truth[:, None] * np.random.default_rng(0).uniform(0.995, 1.005, 16))
    portable = enclosed(problem, beams, rough)
    assert_same_enclosures(
        enclosed_fused(problem, beams, rough, arithmetic=Arithmetic.float64, interpret=True),
        portable,
    )
    assert free > 0
    assert np.mean(np.asarray(portable.upper_count - portable.lower_count) == 1) > 0.9


@pytest.mark.slow
def test_supports_reach_the_kernel():
    """A hinge, a slide and supports at both tips, one of them rigid, which leave one motion without strain."""
    arm = jm.Arm(
        (
            steel(joint_angle=0.3, joint_stiffness=0.0, support_x_stiffness=1e6),
            steel(joint_angle=0.6, joint_stiffness=0.0, support_torsional_stiffness=np.inf),
            steel(joint_angle=-0.9, joint_stiffness=0.0, support_y_stiffness=0.0),
        )
    )
    beams = repeated(beam_arrays(arm), 16)
    problem = BatchProblem(theory_flags("timoshenko"), MODES, hinged=True)
    omega = np.asarray(jm.natural_frequencies(arm, MODES + EXTRA + 1).omega)
    assert np.sum(omega == 0.0) == 1
    rough = jnp.asarray(omega[1:, None] * np.random.default_rng(0).uniform(0.995, 1.005, 16))
    portable = enclosed(problem, beams, rough)
    assert_same_enclosures(
        enclosed_fused(problem, beams, rough, arithmetic=Arithmetic.float64, interpret=True),
        portable,
    )
    assert np.mean(np.asarray(portable.upper_count - portable.lower_count) == 1) > 0.9


@pytest.mark.slow
def test_axial_forces_reach_the_kernel():
    first = steel(axial_force=-3e4, end_offset_x=0.05)
    arm = jm.Arm((first, steel(joint_angle=0.6, axial_force=8e4, tip_mass=0.5)))
    beams = repeated(beam_arrays(arm), 16)
    problem = BatchProblem(theory_flags("timoshenko"), MODES, hinged=False)
    omega = np.asarray(jm.natural_frequencies(arm, MODES + EXTRA).omega)
    rough = jnp.asarray(omega[:, None] * np.random.default_rng(0).uniform(0.995, 1.005, 16))
    portable = enclosed(problem, beams, rough)
    assert_same_enclosures(
        enclosed_fused(problem, beams, rough, arithmetic=Arithmetic.float64, interpret=True),
        portable,
    )
    assert np.mean(np.asarray(portable.upper_count - portable.lower_count) == 1) > 0.9


def device(platform, capability=None):
    found = {} if capability is None else {"compute_capability": capability}
    return types.SimpleNamespace(platform=platform, device_kind=f"a {platform}", **found)


@pytest.mark.parametrize(
    ("name", "where", "fused", "on_gpu"),
    [
        ("auto", device("cpu"), False, False),
        ("auto", device("gpu", "9.0"), True, True),
        ("auto", device("gpu", "7.5"), False, True),
        ("portable", device("gpu", "9.0"), False, True),
        ("fused", device("cpu"), True, False),
        ("fused", device("gpu", "8.0"), True, True),
        ("auto", device("rocm", "gfx942"), False, True),
        ("auto", device("tpu"), False, False),
    ],
)
def test_which_kernel_runs_where(name, where, fused, on_gpu):
    chosen = chosen_kernel(name, where)
    assert (chosen.fused, chosen.on_gpu) == (fused, on_gpu)


def test_what_cannot_be_fused_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"kernel = 'triton' is not known; choose one of 'auto'"):
        jm.natural_frequencies_batch(
            jm.examples.two_link_flexible(), {"link2.joint_angle": [0.1]}, 2, kernel="triton"
        )
    with pytest.raises(ValueError, match=r"capability 8.0 or more, and a gpu has 7.5; leave"):
        chosen_kernel("fused", device("gpu", "7.5"))


PALLAS, TRITON = "jax.experimental.pallas", "jax.experimental.pallas.triton"


@pytest.mark.parametrize("hidden", [PALLAS, TRITON, "what the backend holds"])
def test_without_the_backend_that_compiles_the_kernel_the_portable_program_runs(
    monkeypatch, hidden
):
    if hidden in (PALLAS, TRITON):
        monkeypatch.setitem(sys.modules, hidden, None)
    else:
        monkeypatch.delattr(importlib.import_module(TRITON), "CompilerParams")
    where = device("gpu", "9.0")
    words = "fused kernel needs Pallas and its Triton backend, which jax .* does not provide here"
    with pytest.warns(RuntimeWarning, match=f"{words} .*; the portable program of XLA is used"):
        chosen = chosen_kernel("auto", where)
    assert (chosen.fused, chosen.on_gpu) == (False, True)
    with pytest.raises(ValueError, match=r"kernel = 'fused' needs Pallas .*; leave kernel out"):
        chosen_kernel("fused", where)
    assert not chosen_kernel("portable", where).fused  # what was asked for, without a word
    assert not chosen_kernel("auto", device("cpu")).fused


WITHOUT_PALLAS = f"""
import sys
sys.modules["{PALLAS}"] = None  # as where JAX has no such module
import types
import jax; jax.config.update("jax_enable_x64", True)
import jaxmodal as jm
from jaxmodal.batches.fused_search import chosen_kernel
for _ in range(3):
    assert not chosen_kernel("auto", types.SimpleNamespace(platform="gpu", compute_capability="9.0")).fused
arm, cells = jm.examples.two_link_flexible(), {{"link2.joint_angle": [0.1]}}
print(bool(jm.natural_frequencies_batch(arm, cells, 2).certified.all()))
try:
    jm.natural_frequencies_batch(arm, cells, 2, kernel="fused")
except ValueError as error:
    print(error)
"""


def test_without_pallas_everything_else_works_and_the_word_is_said_once():
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_PALLAS], capture_output=True, text=True, env=os.environ
    )
    certified, *refusal = result.stdout.splitlines()
    assert certified == "True", result.stderr
    assert refusal[0].startswith("kernel = 'fused' needs Pallas"), result.stderr
    assert result.stderr.count("RuntimeWarning") == 1


def test_the_default_device_decides(monkeypatch):
    """Also where JAX's first device is no CPU, as here a stand-in."""
    cpu, first = jax.local_devices(backend="cpu")[0], device("gpu", "9.0")
    devices = {None: [first], "cpu": [cpu]}
    monkeypatch.setattr(jax, "local_devices", lambda backend=None: devices[backend])
    assert default_device() is first
    for chosen in (cpu, "cpu"):
        with jax.default_device(chosen):
            assert default_device() is cpu
