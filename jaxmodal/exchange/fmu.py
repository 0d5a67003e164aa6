"""Units of FMI 3.0, for model exchange and co-simulation: an arm's equations of motion as C, without Python."""

from __future__ import annotations

import dataclasses
import hashlib
import io
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
from jaxmodal.arm.files import place_of
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.model import FlexibleArm, require_model
from jaxmodal.exchange.unit_description import build_description, model_description
from jaxmodal.exchange.unit_models import UnitModel, arm_model, header, linear_model
from jaxmodal.response.modal.state_space import StateSpace
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.tables import ShowsTables, Table
from jaxmodal.runtime.whole_files import write_whole

#: step of the integrator times the fastest eigenvalue where no step is given
_STEP = 0.05
#: and what the method is stable up to, on the imaginary axis
_STABLE = 2.0 * np.sqrt(2.0)
#: integrators of co-simulation, and by how much a step may err whose size follows its error
INTEGRATORS, _TOLERANCE = ("rk4", "dopri5"), 1e-8
#: seconds that a compiler may take
_PATIENCE = 300
_FLAGS = ("-std=c99", "-O2", "-fPIC", "-shared")
_SYSTEMS = {"Linux": ("linux", ".so"), "Darwin": ("darwin", ".dylib")}
_MACHINES = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
_TIME = (1980, 1, 1, 0, 0, 0)


@dataclasses.dataclass(frozen=True, repr=False)
class SimulationUnit(ShowsTables):
    """A unit of FMI 3.0 that was written.

    Attributes
    ----------
    path : str
        The file.
    inputs, outputs, states : tuple of str
        Names of its variables.
    integrator : str
        Of co-simulation, with inputs held: ``"rk4"`` or ``"dopri5"``.
    step : float
        Its longest step, s; of ``"dopri5"`` the first one that it tries.
    tolerance : float
        Of a step of ``"dopri5"``; 0 of ``"rk4"``.
    fastest : float
        The largest eigenvalue of the model, rad/s.
    platform : str
        For which there is a binary in it; empty: sources alone.
    remark : str
        Why there is no binary; empty where there is one.
    """

    path: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    states: tuple[str, ...]
    integrator: str
    step: float
    tolerance: float
    fastest: float
    platform: str
    remark: str

    @property
    def stable_step(self) -> float:
        """The step up to which ``"rk4"`` is stable where nothing damps, s."""
        return float(_STABLE / self.fastest)

    def tables(self) -> list[Table]:
        """Return what the unit takes, gives, and how it is integrated."""
        rows = [
            ["inputs", ", ".join(self.inputs)],
            ["outputs", ", ".join(self.outputs)],
            ["states", ", ".join(self.states)],
            ["binary", self.platform or f"none: {self.remark}"],
        ]
        hertz = f"the fastest oscillation has {self.fastest / (2.0 * np.pi):.4g} Hz"
        if self.tolerance:
            notes = [
                f"co-simulation by {self.integrator}, steps that err by {self.tolerance:.3g} at most, relative and "
                f"absolute; {hertz}"
            ]
        else:
            notes = [
                f"co-simulation by {self.integrator}, steps of {self.step:.3g} s at most; {hertz}, and steps above "
                f"{self.stable_step:.3g} s are unstable"
            ]
        return [Table(f"{self.path}: unit of FMI 3.0", ("", "what"), rows, notes, ("", "what"))]


def write_fmu(
    model: FlexibleArm | StateSpace,
    path: str | Path,
    *,
    start: Any = None,
    step: Any = None,
    integrator: str = "rk4",
    tolerance: Any = None,
    build: bool | None = None,
    compiler: str = "cc",
) -> SimulationUnit:
    """Write a model as a unit of FMI 3.0 with C sources, and where there is a compiler with a binary for this machine.

    Parameters
    ----------
    model
        A model of an arm from `jaxmodal.dynamics.flexible_arm`, whose inputs are the torques of the motors and whose
        outputs angles and rates of the joints and the place of the tip; or a linear system from `jaxmodal.state_space`.
    path
        The file, which ends in ``.fmu``; one that exists is replaced.
    start
        Coordinates and rates (2 N) at the start; left out all are 0. They are start values of the unit's states.
    step
        Longest step of the integrator of co-simulation, s, the first one of ``"dopri5"``; left out, 0.05 over the
        fastest eigenvalue.
    integrator
        Of co-simulation: ``"rk4"``, the classical method of Runge and Kutta of order 4 with steps that are all alike,
        or ``"dopri5"``, the method of Dormand and Prince of order 5, whose steps follow their error.
    tolerance
        By how much a step of ``"dopri5"`` may err, as a share of each state and absolutely, 1e-8 if left out; an
        importer may ask for another.
    build
        True: a binary must be built; False: sources alone; None: a binary where there is a compiler.
    compiler
        The C compiler, which takes the arguments of ``cc``.

    Returns
    -------
    SimulationUnit
        What was written; to be printed.

    Raises
    ------
    ArmError
        An argument is not allowed, the file cannot be written, or the compiler is missing or fails and `build` is True.

    Notes
    -----
    Model exchange leaves the integrator to the importer. The methods of co-simulation are explicit, ``"rk4"`` stable up
    to a step of 2.8 over the fastest eigenvalue: a stiff arm needs short steps, fewer modes, or an importer with an
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
    size = _STEP / made.fastest if step is None else positive("step", step, "s")
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
        "" if binary is None else system,
        remark,
    )


def _model(model: Any, start: Any) -> UnitModel:
    if isinstance(model, StateSpace):
        if start is not None:
            raise ArmError(f"start = {shown(start)}: a linear model starts at 0; leave it out.")
        return linear_model(model)
    require_model(model)
    size = 2 * model.num_coordinates
    if start is None:
        return arm_model(model, np.zeros(size))
    expected = f"{size} numbers, the coordinates and their rates"
    return arm_model(model, finite("start", start, (size,), expected))


def _token(model: UnitModel, sources: Mapping[str, str], steps: tuple[float, float]) -> str:
    """The same of the same unit, in the form of a GUID."""
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
    """The shared library for this machine, or why there is none."""
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
    """Write the archive, the same bytes for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    try:
        write_whole(place, lambda part: part.write_bytes(buffer.getvalue()))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ArmError(
            f"{place}: cannot be written ({reason}); give a file in a folder that can."
        ) from error
