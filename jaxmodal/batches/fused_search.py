"""The float64 search of a batch as one GPU kernel: every lane isolates and encloses its mode in registers.

A lane is a mode of a cell. The kernel runs `guided_search` on `condensation.evaluate_links`, the same functions as
`kernels.enclosed`; only the access to values of links and of other lanes differs. On a GPU, Pallas compiles it with
Triton; elsewhere it is interpreted, for tests. Modes left open are treated alike.

JAX calls Pallas experimental and its Triton backend deprecated. So both are imported only when a kernel is needed, and
without them the portable program is used.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import warnings
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.batches.guided_search import Others, enclose_from
from jaxmodal.batches.kernels import BatchProblem, enclosed
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.condensation import evaluate_links, log_at_zero
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.dynamic_stiffness.link_constants import LinkConstants, link_constants
from jaxmodal.dynamic_stiffness.rigid_motions import number_of_zero_modes
from jaxmodal.frequencies.brackets import Enclosure
from jaxmodal.frequencies.root_search import separating_trials
from jaxmodal.frequencies.zero_modes import without_zero_modes
from jaxmodal.runtime.devices import is_gpu
from jaxmodal.statics.beam_arrays import BeamArrays

#: lanes (one per thread) and warps of one program of the kernel; with more modes the portable program is used
_LANES, _WARPS = 128, 4
#: lanes of an interpreted program: so XLA vectorises it like the portable program, with the same rounding
_INTERPRETED_LANES = 1024
_FIELDS = tuple(field.name for field in dataclasses.fields(Enclosure))


KERNELS = ("auto", "portable", "fused")
#: least compute capability of NVIDIA GPUs that Triton supports
_LEAST_CAPABILITY = 8.0


@dataclasses.dataclass(frozen=True)
class Kernel:
    """The program that encloses the modes of a block of cells.

    Attributes
    ----------
    fused : bool
        True for `enclosed_fused`, False for `kernels.enclosed`.
    on_gpu : bool
        True if programs run on a GPU; elsewhere the fused kernel is interpreted.
    """

    fused: bool
    on_gpu: bool

    def enclosed(self, problem: BatchProblem, beams: BeamArrays, rough: Array) -> Enclosure:
        """Return enclosures of the roughly known modes of ``beams``, shape (n, 1, cells)."""
        if not self.fused or problem.modes > _LANES:
            return enclosed(problem, beams, rough)
        arithmetic = Arithmetic.registers if self.on_gpu else Arithmetic.float64
        return enclosed_fused(
            problem, beams, rough, arithmetic=arithmetic, interpret=not self.on_gpu
        )


def chosen_kernel(name: str, device: Any) -> Kernel:
    """Return the kernel named in `KERNELS` for a device; ``"auto"`` is ``"fused"`` on NVIDIA GPUs that can compile it.

    If JAX cannot compile the kernel, ``"auto"`` is ``"portable"``, with a `RuntimeWarning`.

    Raises
    ------
    ValueError
        The name is unknown, or ``"fused"`` is not possible: the GPU is too old, or JAX cannot compile it.
    """
    if name not in KERNELS:
        known = ", ".join(map(repr, KERNELS))
        raise ValueError(f"kernel = {name!r} is not known; choose one of {known}")
    on_gpu = is_gpu(device)
    capability = _capability(device)
    if name == "fused" and on_gpu and capability is not None and capability < _LEAST_CAPABILITY:
        raise ValueError(
            f"kernel = 'fused' needs a GPU of compute capability {_LEAST_CAPABILITY} or more, and"
            f" {device.device_kind} has {capability}; leave kernel out, or choose 'portable'"
        )
    suits = on_gpu and capability is not None and capability >= _LEAST_CAPABILITY
    if name == "portable" or not (name == "fused" or suits):
        return Kernel(False, on_gpu)
    missing = _missing(on_gpu)
    if not missing:
        return Kernel(True, on_gpu)
    if name == "fused":
        raise ValueError(f"kernel = 'fused' {missing}; leave kernel out, or choose 'portable'")
    # at a single place, so that Python shows the warning once per process
    warnings.warn(
        f"the fused kernel {missing}; the portable program of XLA is used, which finds the same and is slower"
        " (docs/gpu.md). kernel = 'portable' chooses it without this warning",
        RuntimeWarning,
        stacklevel=1,
    )
    return Kernel(False, on_gpu)


def _missing(compiled: bool) -> str:
    """Return the reason why JAX cannot run the fused kernel, interpreted or ``compiled`` by Triton; empty if it can."""
    try:
        pl = _pallas()
        _ = pl.pallas_call, pl.BlockSpec, pl.ds
        if compiled:
            _ = _triton().CompilerParams
    except Exception as error:  # deprecated modules may fail with errors of any kind
        what = "Pallas and its Triton backend" if compiled else "Pallas"
        return f"needs {what}, which jax {jax.__version__} does not provide here ({type(error).__name__}: {error})"
    return ""


def _pallas() -> Any:
    return importlib.import_module("jax.experimental.pallas")


def _triton() -> Any:
    """Return the Pallas backend for NVIDIA GPUs."""
    return importlib.import_module("jax.experimental.pallas.triton")


def _capability(device: Any) -> float | None:
    """Return the compute capability of an NVIDIA GPU; None for other devices."""
    try:
        return float(device.compute_capability)
    except (AttributeError, TypeError, ValueError):
        return None


@functools.partial(jax.jit, static_argnames=("arithmetic", "interpret", "lanes", "warps"))
def enclosed_fused(
    problem: BatchProblem,
    beams: BeamArrays,
    rough: Array,
    *,
    arithmetic: Arithmetic,
    interpret: bool,
    lanes: int | None = None,
    warps: int = _WARPS,
) -> Enclosure:
    """Return `kernels.enclosed`, computed by one kernel.

    Parameters
    ----------
    beams : BeamArrays
        Beams of shape (n, 1, cells).
    rough : Array, shape (modes + extra, cells)
        Roughly known frequencies, rad/s.
    arithmetic : Arithmetic
        ``registers`` for a compiled kernel; ``float64`` computes as the portable program does, division by division.
    interpret : bool
        True to run the kernel in JAX's interpreter, on any device; False to compile it for a GPU.
    lanes, warps : int
        Lanes and warps of one program of the kernel; at least as many lanes as the number of modes, rounded up to a
        power of two.
    """
    pl = _pallas()

    cells = rough.shape[1]
    rows = _power_of_two(problem.modes)
    width = (lanes or (_INTERPRETED_LANES if interpret else _LANES)) // rows
    padded = -(-cells // width) * width

    def filled(x: Array) -> Array:
        more = [(0, 0)] * (x.ndim - 1) + [(0, padded - cells)]
        return jnp.pad(x, more, mode="edge")

    constants = link_constants(beams, problem.flags)
    leaves, structure = jax.tree_util.tree_flatten(constants)
    shape = (beams.length.shape[0], cells)
    values = jnp.stack([jnp.broadcast_to(x[:, 0], shape) for x in leaves])
    # surplus rows repeat the last mode
    row = jnp.minimum(jnp.arange(rows), problem.modes - 1)
    trial = separating_trials(rough, problem.modes)
    free = number_of_zero_modes(beams).astype(jnp.float64)
    flags = problem.flags
    arrays = [
        values,
        rough[: problem.modes][row],
        trial[row],
        rough[problem.modes :],
        jnp.broadcast_to(free, (1, cells)),
    ]
    arrays = [filled(x) for x in arrays]
    kernel = functools.partial(
        _kernel,
        structure=structure,
        modes=problem.modes,
        hinged=problem.hinged,
        arithmetic=arithmetic,
    )
    shape_of: Any = jax.ShapeDtypeStruct
    found = pl.pallas_call(
        kernel,
        grid=(padded // width,),
        in_specs=[pl.BlockSpec((4,), lambda i: (0,)), *(_columns(x.shape, width) for x in arrays)],
        out_specs=_columns((len(_FIELDS), rows, padded), width),
        out_shape=shape_of((len(_FIELDS), rows, padded), jnp.float64),
        compiler_params=None
        if interpret
        else _triton().CompilerParams(num_warps=warps, num_stages=1),
        interpret=interpret,
        name="enclosed",
    )(jnp.stack([flags.shear, flags.rotary_inertia, flags.axial, flags.axial]), *arrays)
    fields = dict(zip(_FIELDS, found[:, : problem.modes, :cells], strict=True))
    return Enclosure(**fields | {"consistent": fields["consistent"] > 0.0})


def _columns(shape: tuple[int, ...], width: int) -> Any:
    """Return the Pallas ``BlockSpec`` of blocks of ``width`` cells (last axis)."""
    pl = _pallas()

    rest = (0,) * (len(shape) - 1)
    return pl.BlockSpec((*shape[:-1], width), lambda i: (*rest, i))


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


def _kernel(
    flags_ref: Any,
    values_ref: Any,
    own_ref: Any,
    trial_ref: Any,
    beyond_ref: Any,
    free_ref: Any,
    found_ref: Any,
    *,
    structure: Any,
    modes: int,
    hinged: bool,
    arithmetic: Arithmetic,
) -> None:
    """Compute one block of cells with all their modes; the references are the arrays of `enclosed_fused`, in order."""
    pl = _pallas()

    flags = Theory(flags_ref[0], flags_ref[1], flags_ref[2])
    links = values_ref.shape[1]

    def link_at(i: Array | int) -> LinkConstants | BeamArrays:
        leaves = [values_ref[k, pl.ds(i, 1), :] for k in range(values_ref.shape[0])]
        link: LinkConstants | BeamArrays = jax.tree_util.tree_unflatten(structure, leaves)
        return link

    def evaluate(omega: Array) -> Evaluation:
        value = evaluate_links(link_at, links, flags, omega, arithmetic)
        if not hinged:
            return value
        return without_zero_modes(value, free_ref[...].astype(jnp.int64), omega)

    place = jax.lax.broadcasted_iota(jnp.int32, (own_ref.shape[0], 1), 0)

    def row(x: Array, j: int) -> Array:
        return jnp.sum(jnp.where(place == j, x, 0.0), axis=0, keepdims=True)

    beyond = tuple(beyond_ref[pl.ds(j, 1), :] for j in range(beyond_ref.shape[0]))
    numbers = jnp.minimum(place + 1, modes).astype(jnp.float64)
    others = Others(modes, beyond, row)
    e = enclose_from(evaluate, numbers, own_ref[...], trial_ref[...], others, log_at_zero(links))
    for k, name in enumerate(_FIELDS):
        found_ref[k] = getattr(e, name).astype(jnp.float64)
