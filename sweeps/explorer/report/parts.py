"""Parts of the report on an arm: texts, tables and pictures."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import jax
import numpy as np

import jaxmodal
from jaxmodal.arm.addresses import joint_named
from jaxmodal.arm.checks import ArmCheck
from jaxmodal.arm.descriptions import posture_text
from jaxmodal.arm.parameters import get_parameter
from jaxmodal.batches.many_arms import natural_frequencies_batch
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.frequencies.tables import DIGITS, hertz_text
from jaxmodal.modes.exact_shapes import shapes_table
from jaxmodal.modes.mode_shapes import mode_shapes
from jaxmodal.modes.sensitivities import sensitivities
from jaxmodal.modes.sensitivity_results import by_size, sensitivities_table
from jaxmodal.plots.bent_arms import AnyShapes, bent
from jaxmodal.runtime.namespace import to_host
from jaxmodal.runtime.statuses import remarks_on
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.arms.checks import check_arm
from jaxmodal.workspace.extremes import extremes
from jaxmodal.workspace.ranges import Ranges
from sweeps.definition.axes import linspace
from sweeps.definition.sweep import Sweep
from sweeps.explorer.report.pictures import (
    Picture,
    drawable,
    of_arm,
    of_modes,
    of_postures,
    of_sensitivities,
)
from sweeps.store.run import run

if TYPE_CHECKING:
    import xarray as xr

#: number of parameters in the part on what matters most: as many as a page shows well
TOP = 12
#: number of modes in the posture map
MAPPED = 3
#: postures along each of two joints, and along a single joint: steps of 20 and of 5 degrees over a whole turn
POSTURES, ALONE = 19, 73
#: postures per joint at which the joints of the map are chosen: steps of 30 degrees over a whole turn
TRIED = 13
#: coordinates below this share of the largest one are rounding errors
_STILL = 1e-12
#: number of best starts from which the search for the lowest posture continues
_CLIMBS = 3


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of a report.

    Attributes
    ----------
    heading : str
        Heading.
    texts : tuple of str
        Paragraphs below the heading.
    pictures : tuple of Picture
        Pictures below the paragraphs.
    tables : tuple of Table
        Tables below the pictures.
    """

    heading: str
    texts: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclasses.dataclass(frozen=True)
class Asked:
    """Arm and settings of a report; see `sweeps.report`."""

    arm: AnyArm
    theory: TheoryName
    modes: int
    starts: int
    digits: int = DIGITS


#: number of parts that `parts` yields
NUMBER = 7


def parts(asked: Asked) -> Iterator[Part]:
    """Yield the parts of a report as they are computed; the last has the versions.

    Raises
    ------
    ArmError, ValueError
        See `jaxmodal.mode_shapes`.
    """
    shapes = to_host(mode_shapes(asked.arm, asked.modes, theory=asked.theory, throw=False))
    found = check_arm(asked.arm)
    yield _model(asked, found, shapes)
    yield _frequencies(asked, shapes)
    yield _what_matters(asked)
    yield _map(asked)
    yield _lowest(asked, shapes)
    yield _remarks(found)
    yield _versions()


def ok(asked: Asked) -> bool:
    """Return True if the counts certify all requested frequencies of the arm."""
    found = jaxmodal.natural_frequencies(asked.arm, asked.modes, theory=asked.theory, throw=False)
    return bool(np.all(found.certified))


def _model(asked: Asked, found: ArmCheck, shapes: AnyShapes) -> Part:
    head, links = found.tables()[:2]
    kind = "An arm in space" if "z" in asked.arm.directions else "A planar arm"
    posture = posture_text(asked.arm)
    places = zip("xyz", centre_of_gravity(asked.arm, shapes).tolist(), strict=False)
    centre = ", ".join(f"{axis} {value:.5g} m" for axis, value in places)
    said = f"{kind}{f', {posture}' if posture else ''}: {'; '.join(head.notes)}; centre of gravity at {centre}."
    return Part(
        "Model and masses", (said,), (of_arm(asked.arm, "The arm at rest, to scale"),), (links,)
    )


def centre_of_gravity(arm: AnyArm, shapes: AnyShapes) -> np.ndarray:
    """Return the centre of gravity of the arm at rest, from its base, in m; shape (2,), in space (3,)."""
    ends = np.asarray(shapes.position)[:, [0, -1]]  # links are uniform
    drawn, size = bent(shapes, 0), ends.shape[-1]
    masses = np.concatenate([[float(link.mass) for link in arm.links], drawn.masses])
    points = np.concatenate([ends.mean(axis=1), drawn.centres[:, :size]])
    found = masses @ points / masses.sum()
    return np.where(abs(found) > _STILL * np.abs(points).max(), found, 0.0)


def _frequencies(asked: Asked, shapes: AnyShapes) -> Part:
    table = shapes_table(shapes, digits=asked.digits)
    left = [str(k + 1) for k in range(len(shapes.omega)) if k not in drawable(shapes)]
    texts = [
        "Exact for the model: a certified frequency is a natural frequency of the arm with this mode number, because "
        "modes were counted below and above it."
    ]
    if left:
        several = "modes" if len(left) > 1 else "mode"
        texts.append(f"Without a picture, since there is no shape: {several} {', '.join(left)}.")
    untitled = dataclasses.replace(table, title="")
    return Part("Frequencies and modes", tuple(texts), tuple(of_modes(shapes)), (untitled,))


def _what_matters(asked: Asked) -> Part:
    heading = "What matters most"
    try:
        table = to_host(
            sensitivities(asked.arm, asked.modes, theory=asked.theory, repeated="mean", throw=False)
        )
    except ValueError as error:
        return _without(heading, error)
    top = min(TOP, len(by_size(table)))
    text = (
        f"The {top} parameters to which the frequencies are most sensitive: per cent of a frequency for one per cent "
        "of the parameter, of an angle for one degree."
    )
    remedies = remarks_on(table.frequencies.status)
    rows = dataclasses.replace(sensitivities_table(table, top=top), title="", notes=remedies)
    return Part(heading, (text,), (of_sensitivities(table, top),), (rows,))


def map_of(asked: Asked) -> xr.Dataset | None:
    """Return frequencies over the one or two joints that change them most; None if no rotation does."""
    arm = asked.arm
    turning = _matter_most(asked)
    if not turning:
        return None
    points = POSTURES if len(turning) == 2 else ALONE
    axes = [
        linspace(
            address,
            math.degrees(low),
            math.degrees(high),
            points,
            unit="degree",
            name=_angle(address),
        )
        for address, low, high in turning
    ]
    sweep = Sweep(arm, axes, theories=asked.theory, num_modes=min(asked.modes, MAPPED), name="")
    return run(sweep)


def _matter_most(asked: Asked) -> list[tuple[str, float, float]]:
    """Return the two revolute joints that change the lowest non-zero mode most, with ranges in rad, base to tip."""
    arm, inside = asked.arm, Ranges.of(asked.arm, None)
    ends = zip(inside.addresses, map(float, inside.low), map(float, inside.high), strict=True)
    turning = [each for each in ends if each[0].endswith(".joint_angle")]
    if len(turning) <= 2:
        return turning
    cells = {
        address: np.full((len(turning), TRIED), float(get_parameter(arm, address)))
        for address, *_ in turning
    }
    for row, (address, low, high) in enumerate(turning):
        cells[address][row] = np.linspace(low, high, TRIED)
    own = natural_frequencies(arm, asked.modes, theory=asked.theory, throw=False)
    free = int(np.sum(np.asarray(own.omega) == 0.0))
    flat = {address: values.ravel() for address, values in cells.items()}
    found = natural_frequencies_batch(arm, flat, free + 1, theory=asked.theory)
    omega = np.asarray(found.omega)[:, free].reshape(len(turning), TRIED)
    change = (np.max(omega, axis=1) - np.min(omega, axis=1)) / np.max(omega, axis=1)
    most = sorted(np.argsort(-change, kind="stable")[:2])
    return [turning[k] for k in most]


def _angle(address: str) -> str:
    return f"theta_{address.partition('.')[0].removeprefix('link')}"


def _map(asked: Asked) -> Part:
    heading = "Posture map"
    try:
        ds = map_of(asked)
    except ValueError as error:
        return _without(heading, error)
    if ds is None:
        return Part(heading, ("None: no joint that turns changes the frequencies.",))
    names = tuple(str(name) for name in ds.frequency.dims if str(name).startswith("theta_"))
    cells = int(np.prod([ds.sizes[name] for name in names]))
    called = [_called(asked.arm, name) for name in names]
    scales = " Each mode has colours of its own." if len(names) == 2 else ""
    text = (
        f"Frequencies [Hz] over {' and '.join(called)}, the other joints as above: {cells} postures, "
        f"{ds.attrs['certificate_summary']}.{scales}"
    )
    return Part(heading, (text,), (of_postures(ds, names),))


def _called(arm: AnyArm, name: str) -> str:
    number = name.removeprefix("theta_")
    own = joint_named(arm, f"link{number}.joint_angle")
    return f"the angle of joint {number}{f' ({own})' if own else ''}"


def _lowest(asked: Asked, shapes: AnyShapes) -> Part:
    heading = "Lowest and highest posture"
    free = int(
        np.sum(np.asarray(shapes.omega) == 0.0)
    )  # modes of frequency 0 are free in every posture
    mode = free + 1
    try:
        found = extremes(
            asked.arm,
            None,
            mode,
            theory=asked.theory,
            starts=asked.starts,
            climbs=min(_CLIMBS, asked.starts),
        )
    except ValueError as error:
        return _without(heading, error)
    low = found.lowest
    table = dataclasses.replace(found.tables(digits=asked.digits)[0], title="")
    over = len(found.addresses)
    text = (
        f"Mode {mode} over the range{'s' * (over > 1)} of {over} joint{'s' * (over > 1)}: the lowest that was found is "
        f"{hertz_text(low.frequency_hz, asked.digits)} Hz, in the posture of the picture. That no other posture has a "
        "lower frequency is not proved."
    )
    picture = of_arm(low.arm, "The arm in the posture with the lowest frequency that was found")
    return Part(heading, (text,), (picture,), (table,))


def _remarks(found: ArmCheck) -> Part:
    texts = [str(remark) for remark in found.remarks] or ["No implausible values found."]
    return Part("Remarks", tuple(texts))


def _versions() -> Part:
    rows = [
        ("jaxmodal", jaxmodal.__version__),
        ("JAX", jax.__version__),
        ("NumPy", np.__version__),
    ]
    return Part("Versions", (), (), (Table("", ("", "version"), rows, (), ("", "version")),))


def _without(heading: str, error: ValueError) -> Part:
    """Return a part without content that states the reason."""
    return Part(heading, (f"None: {error}",))
