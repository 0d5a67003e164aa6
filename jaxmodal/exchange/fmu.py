"""Export of models as FMI 3.0 units for model exchange and co-simulation, in C without Python."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import math
import platform
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import finite, positive, require_truth
from jaxmodal.arm.files import being_written, place_of
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.mechanics.free_bases import at_zero
from jaxmodal.dynamics.model import FlexibleModel, require_model
from jaxmodal.exchange.unit_description import build_description, model_description
from jaxmodal.exchange.unit_models import UnitModel, header, linear_model
from jaxmodal.exchange.unit_of_arm import arm_model
from jaxmodal.response.modal.state_space import StateSpace
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.tables import ShowsTables, Table
from jaxmodal.runtime.whole_files import write_whole

#: default step of the integrator times the fastest eigenvalue: small errors in all modes
_STEP = 0.05
#: the same where nothing oscillates, as in rigid links on joints without springs, s
_STEP_AT_REST = 1e-3
#: the same for what dry friction holds: it comes to rest as it should, to 2 % of a step
_STEP_OF_FRICTION = 1.0
#: stability limits of "rk4" on the imaginary and on the real axis: step times eigenvalue
_STABLE, _STABLE_DECAY = 2.0 * np.sqrt(2.0), 2.785
#: integrators of co-simulation, and the default tolerance of step size control
INTEGRATORS, _TOLERANCE = ("rk4", "dopri5"), 1e-8
#: longest run of the compiler in s
_PATIENCE = 300
_FLAGS = ("-std=c99", "-O2", "-fPIC", "-shared")
_SYSTEMS = {"Linux": ("linux", ".so"), "Darwin": ("darwin", ".dylib")}
_MACHINES = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
_TIME = (1980, 1, 1, 0, 0, 0)


@dataclasses.dataclass(frozen=True, repr=False)
class SimulationUnit(ShowsTables):
    """An FMI 3.0 unit written by `write_fmu`.

    Attributes
    ----------
    path : str
        Path of the file.
    inputs, outputs, states : tuple of str
        Names of the variables.
    integrator : str
        Integrator of co-simulation, with inputs held constant in a step: ``"rk4"`` or ``"dopri5"``.
    step : float
        Longest step of the integrator, s; for ``"dopri5"`` the initial step.
    tolerance : float
        Error tolerance of a step of ``"dopri5"``; 0 for ``"rk4"``.
    fastest : float
        Largest magnitude of the eigenvalues of the model without dry friction, rad/s; 0 if nothing oscillates.
    stiffest : float
        The same with dry friction at rest, where it is steepest, rad/s.
    platform : str
        Platform of the included binary; empty if there are only sources.
    remark : str
        Reason why there is no binary; empty if there is one.
    """

    path: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    states: tuple[str, ...]
    integrator: str
    step: float
    tolerance: float
    fastest: float
    stiffest: float
    platform: str
    remark: str

    @property
    def stable_step(self) -> float:
        """Largest stable step of ``"rk4"``, s; infinite if nothing oscillates and no joint has dry friction.

        Of oscillations with a damping ratio of about 0.5 it is up to 8 % shorter.
        """
        limit = _STABLE / self.fastest if self.fastest > 0.0 else math.inf
        held = _STABLE_DECAY / self.stiffest if self.stiffest > self.fastest else math.inf
        return float(min(limit, held))

    def tables(self) -> list[Table]:
        """Return a table of inputs, outputs and integration."""
        rows = [
            ["inputs", ", ".join(self.inputs)],
            ["outputs", ", ".join(self.outputs)],
            ["states", ", ".join(self.states)],
            ["binary", self.platform or f"none: {self.remark}"],
        ]
        hertz = "nothing oscillates"
        if self.fastest > 0.0:
            hertz = f"the fastest oscillation has {self.fastest / (2.0 * np.pi):.4g} Hz"
        stable = self.stable_step
        unstable = f", and steps above {stable:.3g} s are unstable" if stable < math.inf else ""
        if self.tolerance:
            notes = [
                f"co-simulation by {self.integrator}, steps that err by {self.tolerance:.3g} at most; {hertz}"
            ]
        else:
            notes = [
                f"co-simulation by {self.integrator}, steps of {self.step:.3g} s at most; {hertz}{unstable}"
            ]
        return [Table(f"{self.path}: unit of FMI 3.0", ("", "what"), rows, notes, ("", "what"))]


def write_fmu(
    model: FlexibleModel | StateSpace,
    path: str | Path,
    *,
    start: Any = None,
    step: Any = None,
    integrator: str = "rk4",
    tolerance: Any = None,
    build: bool | None = None,
    compiler: str = "cc",
) -> SimulationUnit:
    """Write a model as an FMI 3.0 unit with C sources, and with a binary for this machine if there is a compiler.

    Parameters
    ----------
    model
        A model of an arm from `jaxmodal.dynamics.flexible_arm`, on any base. Inputs are the torques of the motors,
        forces where joints slide, and the six accelerations of a driven base; outputs the positions and rates of the
        joints, the position of the tip, and the pose of a free base. Or a linear system from `jaxmodal.state_space`.
    path
        Path of the file, ending in ``.fmu``; an existing file is replaced.
    start
        Initial coordinates and rates, shape (2 N,), with a free base (2 N + 13,); by default 0, with the axes of a
        free base those of the ground. They are the start values of the unit's states.
    step
        Longest step of the integrator of co-simulation, s; for ``"dopri5"`` the initial step. By default 0.05 divided
        by the fastest eigenvalue, or 1 ms if nothing oscillates; with dry friction no more than 1 divided by the
        eigenvalue that it makes at rest.
    integrator
        Integrator of co-simulation: ``"rk4"``, the classical Runge-Kutta method of order 4 with equal steps, or
        ``"dopri5"``, the Dormand-Prince method of order 5 with step size control.
    tolerance
        Error tolerance of a step of ``"dopri5"``, by default 1e-8; an importer may set another. For a model of an arm
        it is relative and absolute (rad, m, and their rates), for a linear system, whose states have any unit, relative
        to the largest value of each state so far.
    build
        True: a binary is required; False: only sources; None: a binary if there is a compiler.
    compiler
        Name of the C compiler, which accepts the arguments of ``cc``.

    Returns
    -------
    SimulationUnit
        Description of the unit, which prints as a table.

    Raises
    ------
    ArmError
        If an argument is invalid, the file cannot be written, or the compiler is missing or fails and `build` is True.

    Notes
    -----
    In model exchange the importer integrates. The methods of co-simulation are explicit; ``"rk4"`` is stable up to a
    step of 2.8 divided by the fastest eigenvalue. A stiff arm needs short steps, fewer modes, or an importer with an
    implicit method.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import tempfile, jaxmodal as jm
    >>> from jaxmodal import dynamics
    >>> model = dynamics.flexible_arm(jm.examples.two_link_flexible(), modes=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = write_fmu(model, f"{folder}/arm.fmu", build=False)
    >>> made.inputs, made.outputs[-2:]
    (('torque1', 'torque2'), ('tip.x', 'tip.y'))
    """
    place = place_of(path)
    if place.suffix.lower() != ".fmu":
        raise ArmError(f"path = {shown(str(path))}: must end in .fmu.")
    if build is not None:
        require_truth("build", build)
    if integrator not in INTEGRATORS:
        raise ArmError(
            f"integrator = {shown(integrator)}: must be one of {', '.join(map(repr, INTEGRATORS))}."
        )
    if integrator == "rk4" and tolerance is not None:
        raise ArmError(
            f"tolerance = {shown(tolerance)}: steps of 'rk4' are all alike; leave it out, or take 'dopri5'."
        )
    allowed = 0.0
    if integrator != "rk4":
        allowed = _TOLERANCE if tolerance is None else positive("tolerance", tolerance, "1")
    made = _model(model, start)
    size = _usual_step(made) if step is None else positive("step", step, "s")
    identifier = re.sub(r"\W", "_", place.stem, flags=re.ASCII)
    identifier = identifier if identifier[:1].isalpha() else f"unit_{identifier}"
    unit = (resources.files("jaxmodal") / "data" / "fmi" / "unit.c").read_text(encoding="utf-8")
    sources = {"unit.c": unit, **made.sources}
    token = _token(made, sources, (size, allowed))
    sources["model.h"] = header(made, token, size, allowed)
    names = [name for name in sources if name.endswith(".c")]
    binary, remark = None, "not asked for"
    if build is not False:
        binary, remark = _built(sources, names, compiler)
        if build and binary is None:
            raise ArmError(
                f"compiler = {compiler!r}: {remark}; give build=False for sources alone."
            )
    system = (
        f"{_MACHINES.get(platform.machine(), '')}-{_SYSTEMS.get(platform.system(), ('', ''))[0]}"
    )
    files: dict[str, str | bytes] = {
        "modelDescription.xml": model_description(
            made, place.stem, identifier, token, size, allowed
        ),
        "sources/buildDescription.xml": build_description(identifier, names),
        **{f"sources/{name}": text for name, text in sources.items()},
    }
    if binary is not None:
        files[f"binaries/{system}/{identifier}{_SYSTEMS[platform.system()][1]}"] = binary
    _write(place, files)
    return SimulationUnit(
        str(place),
        tuple(v.name for v in made.inputs),
        tuple(v.name for v in made.outputs),
        tuple(v.name for v in made.states),
        integrator,
        float(size),
        float(allowed),
        made.fastest,
        made.stiffest,
        "" if binary is None else system,
        remark,
    )


def _usual_step(model: UnitModel) -> float:
    usual = _STEP / model.fastest if model.fastest > 0.0 else _STEP_AT_REST
    held = _STEP_OF_FRICTION / model.stiffest if model.stiffest > model.fastest else math.inf
    return min(usual, held)


def _model(model: Any, start: Any) -> UnitModel:
    if isinstance(model, StateSpace):
        if start is not None:
            raise ArmError(f"start = {shown(start)}: a linear model starts at 0; leave it out.")
        return linear_model(model)
    require_model(model)
    if start is None:
        return arm_model(model, np.concatenate([at_zero(model), np.zeros(model.num_rates)]))
    size = model.num_coordinates + model.num_rates
    expected = f"{size} finite numbers, the coordinates and their rates"
    return arm_model(model, finite("start", start, (size,), expected))


def _token(model: UnitModel, sources: Mapping[str, str], steps: tuple[float, float]) -> str:
    """Return the instantiation token in the form of a GUID; equal for equal units."""
    starts = [state.start for state in model.states]
    text = "\n".join(
        [*(f"{name}\n{text}" for name, text in sources.items()), repr((starts, *steps))]
    )
    digest = hashlib.sha256(text.encode()).hexdigest()
    return (
        "{"
        + "-".join([digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]])
        + "}"
    )


def _built(sources: Mapping[str, str], names: list[str], compiler: str) -> tuple[bytes | None, str]:
    """Return the shared library for this machine, or None and the reason."""
    if platform.system() not in _SYSTEMS or platform.machine() not in _MACHINES:
        return None, (
            f"binaries for {platform.system()} on {platform.machine()} are left to the importer's own compiler"
        )
    found = shutil.which(compiler)
    if found is None:
        return None, f"there is no C compiler {compiler!r} here"
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources.items():
            Path(folder, name).write_text(text, encoding="utf-8", newline="\n")
        command = [found, *_FLAGS, "-o", "unit.bin", *names, "-lm"]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return None, f"the compiler {compiler!r} did not finish ({error})"
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            return (
                None,
                f"the compiler {compiler!r} failed ({said[0] if said else done.returncode})",
            )
        return Path(folder, "unit.bin").read_bytes(), ""


def _write(place: Path, files: Mapping[str, str | bytes]) -> None:
    """Write the archive; equal files give identical bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    with being_written(place):
        write_whole(place, lambda part: part.write_bytes(buffer.getvalue()))
