"""Common arguments of commands: arms by file or built-in name, shared options, and error messages."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click
import numpy as np

from jaxmodal.arm.descriptions import first_angle_matters
from jaxmodal.arm.serial_arms import ArmKind
from jaxmodal.cli.shell_words import in_shell_words
from jaxmodal.dynamic_stiffness.beams import THEORIES
from jaxmodal.runtime import limits
from jaxmodal.spatial.arms.arm import AnyArm

EXIT_NOT_ALL = 1
EXIT_BAD_INPUT = 2

ARM_HELP = "ARM is a TOML or JSON file, a robot's URDF, or example:NAME for a built-in arm (see `jaxmodal examples`)."


class BadInput(click.ClickException):
    """Invalid input: one message on standard error, exit status 2."""

    exit_code = EXIT_BAD_INPUT


def end_unless(all_found: Any) -> None:
    """End the command with exit status 1, unless all that it was asked for was found and certified."""
    if not np.all(all_found):
        raise SystemExit(EXIT_NOT_ALL)


@contextlib.contextmanager
def refusing(argument: str = "", *others: type[Exception]) -> Iterator[None]:
    """Convert errors of the library, and ``others``, in the context to one message that begins with the argument."""
    kinds: tuple[type[Exception], ...] = (
        ValueError,
        ImportError,
        *others,
    )  # ArmError is a ValueError
    try:
        yield
    except kinds as error:
        message = in_shell_words(str(error), argument)
        raise BadInput(f"{argument}: {message}" if argument else message) from error


def ascii_number(text: str) -> float:
    """Convert a text with the digits 0 to 9 to a number; a ValueError for digits of other scripts."""
    if not text.isascii():
        raise ValueError(f"{text!r} is not written in the digits 0 to 9")
    return float(text)


class _Written:
    """Base class of numbers in the digits 0 to 9; Python also accepts digits of other scripts, which may be misread."""

    fail: Callable[..., Any]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not value.isascii():
            self.fail(f"{value!r} is not written in the digits 0 to 9.", param, ctx)
        return super().convert(value, param, ctx)  # type: ignore[misc]


class Number(_Written, type(click.FLOAT)):  # type: ignore[misc]
    """Option type: a number."""

    name = "number"


class WholeRange(_Written, click.IntRange):
    """Option type: a whole number between bounds."""

    name = "whole number"


class NumberRange(_Written, click.FloatRange):
    """Option type: a finite number between bounds."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):  # of NaN no bound complains
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return found


def several_numbers(
    remark: str, holds: Callable[..., bool] = lambda *values: True
) -> Callable[..., tuple[float, ...] | None]:
    """Return a callback for options with comma-separated finite numbers; the remark states the expected values."""

    def parsed(
        ctx: click.Context, param: click.Parameter, value: str | None
    ) -> tuple[float, ...] | None:
        if value is None:
            return None
        try:
            values = tuple(ascii_number(part) for part in value.split(","))
        except ValueError:
            values = (math.nan,)
        if not all(map(math.isfinite, values)) or not holds(*values):
            raise click.BadParameter(f"{value!r}{remark}", ctx, param)
        return values

    return parsed


def two_numbers(
    remark: str, holds: Callable[[float, float], bool] = lambda low, high: True
) -> Callable[..., tuple[float, ...] | None]:
    """Return a callback for options with two comma-separated finite numbers."""
    return several_numbers(remark, lambda *values: len(values) == 2 and holds(*values))


#: a frequency band in Hz; None for an omitted end
Band = tuple[float | None, float | None]


def band_option(remark: str, required: bool = False) -> Callable[..., Any]:
    """Return the option ``--band-hz``; if it is not required, either end may be omitted: ``,50``."""
    more = "" if required else ", or leave one end out, such as ,50"

    def parsed(ctx: click.Context, param: click.Parameter, value: str | None) -> Band | None:
        if value is None:
            return None
        ends: list[float | None] = []
        try:
            for part in value.split(","):
                ends.append(ascii_number(part) if part.strip() or required else None)
        except ValueError:
            ends = []
        known = [end for end in ends if end is not None]
        right = len(ends) == 2 and known and all(0.0 < end < math.inf for end in known)
        if not right or known != sorted(set(known)):
            raise click.BadParameter(
                f"{value!r} is not a band; give two frequencies above 0 in Hz, the lower first, such as 40,50{more}.",
                ctx,
                param,
            )
        return ends[0], ends[1]

    return click.option(
        "--band-hz", metavar="FROM,TO", callback=parsed, required=required, help=remark
    )


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that have values, by name."""
    return {name: value for name, value in options.items() if value is not None}


def load_any_arm(argument: str, check: bool = True) -> AnyArm:
    """Read the arm, planar or in space, named by a command-line argument; errors become one message."""
    from jaxmodal.spatial.files.named_arms import arm_named

    with refusing():
        return arm_named(argument, check=check)


def load_vibrating_arm(argument: str) -> AnyArm:
    """Read the arm named by a command-line argument; an arm that cannot vibrate is an error."""
    from jaxmodal.spatial.arms.plausibility import most_modes, warn_of_implausible_values, why_still
    from jaxmodal.spatial.files.robot_files import is_robot

    arm = load_any_arm(argument, check=False)
    if (still := why_still(arm)) is not None:
        remedy = f"{still.remedy}."
        if is_robot(argument) and most_modes(arm) == 0:
            remedy = (
                f"a URDF does not say what does. Run `jaxmodal convert {argument} --out arm.toml --joint-stiffness "
                f"'*=2e4'` (N m/rad, by the names of joints), or write an arm file with urdf = \"{argument}\" and "
                "joint_stiffness or sections (docs/robots.md)."
            )
        raise BadInput(f"{argument}: {still.reason}, so there are no frequencies; {remedy}")
    warn_of_implausible_values(arm, argument)
    return arm


#: a posture of the command line: n - 1 or n angles in degrees (prismatic joints: m), or some by the names of joints
Posture = tuple[float, ...] | dict[str, float]


def posed(
    arm: ArmKind, argument: str, posture_deg: Posture | None, loaded: bool = False
) -> ArmKind:
    """Return the arm in the posture of the command line, if given; ``loaded`` is True if loads act on it."""
    if posture_deg is None:
        return arm
    if isinstance(posture_deg, dict):
        given = ",".join(f"{name}={angle:g}" for name, angle in posture_deg.items())
        with refusing(f"--posture-deg {given}"):
            return arm.with_posture_deg(posture_deg)
    given = ",".join(f"{angle:g}" for angle in posture_deg)
    num_links = len(arm.joints)
    if len(posture_deg) not in (num_links - 1, num_links):
        some = "1 angle (theta_2)"
        if num_links > 2:
            some = f"{num_links - 1} angles (theta_2 to theta_n)"
        allowed = f"{some} or {num_links}"
        if any(map(arm.slides, arm.joints)):
            allowed = f"{num_links - 1} values (all but the first) or {num_links}, in degrees and m"
        if num_links == 1:
            idle = "" if loaded or first_angle_matters(arm) else ", which changes no frequency,"
            allowed = f"1 angle{idle} or none: leave the option out"
        every = num_links == arm.num_links and not any(map(arm.slides, arm.joints))
        what = "link" if every else "joint"
        raise BadInput(
            f"--posture-deg {given}: {len(posture_deg)} given, but {argument} has {num_links} "
            f"{what}{'s' * (num_links > 1)} and takes {allowed}."
        )
    with refusing(f"--posture-deg {given}"):
        return arm.with_posture_deg(posture_deg)


def _posture(ctx: click.Context, param: click.Parameter, value: str | None) -> Posture | None:
    """Return a posture from comma-separated angles, or from names of joints with angles."""
    remark = (
        " is not a list of angles; give finite numbers in degrees separated by commas, such as -45,90, or joints by "
        "name, such as elbow=90."
    )
    if value is None or "=" not in value:
        return several_numbers(remark)(ctx, param, value)
    found: dict[str, float] = {}
    for part in value.split(","):
        name, _, number = part.rpartition("=")
        name = name.strip()
        angles = several_numbers(remark)(ctx, param, number)
        if not name or name in found or angles is None:
            raise click.BadParameter(
                f"{value!r}{f' names {name!r} twice; give it once.' if name in found else remark}",
                ctx,
                param,
            )
        (found[name],) = angles
    return found


def posture_option(remark: str = ", such as -45,90.") -> Callable[..., Any]:
    """Return the option ``--posture-deg``; the remark is appended to its help."""
    return click.option(
        "--posture-deg",
        metavar="DEG,DEG,...",
        callback=_posture,
        help="Joint angles theta_2 to theta_n, or all n, or some by name, elbow=90,theta_3=20, in degrees"
        + remark,
    )


def format_option(
    formats: Sequence[str] = ("table", "json", "csv"), remark: str | None = None
) -> Callable[..., Any]:
    """Return the option ``--format``, with a table as the default."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(list(formats)),
        default="table",
        show_default=True,
        help=remark,
    )


no_plot_option = click.option("--no-plot", is_flag=True, help="Draw no pictures.")
theory_option = click.option(
    "--theory", type=click.Choice(THEORIES), default="timoshenko", show_default=True
)
#: default number of modes
_USUAL_MODES = 10
modes_option = click.option(
    "--modes",
    type=WholeRange(1, limits.MODES),
    show_default=f"{_USUAL_MODES}, and those that an arm of rigid links has",
)


def modes_of(arm: AnyArm, given: int | None) -> int:
    """Return the number of modes: as given, or the default, but no more than the arm has (rigid links)."""
    from jaxmodal.spatial.arms.plausibility import most_modes

    if given is not None:
        return given
    return int(min(_USUAL_MODES, most_modes(arm)))


digits_option = click.option(
    "--digits",
    type=WholeRange(2, 17),
    default=5,
    show_default=True,
    help="Significant digits of frequencies in tables; json and csv have all.",
)
