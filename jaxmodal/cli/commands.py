"""The command ``jaxmodal`` with the places of its subcommands; the commands ``check`` and ``examples``.

Results go to standard output; errors, remedies and progress to standard error. Nothing is printed to standard output
before every arm has been read and solved. Modules are imported inside the commands that need them, so that help is
fast and double precision is enabled before anything is computed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import importlib
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
from click.shell_completion import CompletionItem

from jaxmodal import __version__
from jaxmodal.arithmetic.exactness import InexactArithmeticError
from jaxmodal.arm.built_in import EXAMPLE_PREFIX
from jaxmodal.cli.arguments import (
    ARM_HELP,
    EXIT_NOT_ALL,
    BadInput,
    format_option,
    load_any_arm,
    refusing,
)
from jaxmodal.cli.interrupts import leave, listening
from jaxmodal.cli.output import print_document, print_json, written_files
from jaxmodal.cli.paths import file_option, force_option, require_new, writing
from jaxmodal.cli.shell_words import with_choices
from jaxmodal.cli.summaries import SummarisedGroup
from jaxmodal.runtime.errors import UncertifiedError, suggestion
from jaxmodal.runtime.process_end import end_quickly
from jaxmodal.runtime.tables import printable

ENTRY_POINTS = "jaxmodal.commands"
"""The entry point group in which other packages register commands."""

NO_CACHE = "--no-cache"
NO_CHECK = "--no-check"
STRICT = "--strict"


@contextlib.contextmanager
def _disk_not_full() -> Iterator[None]:
    """Turn a full disk into a message; errors of files given by options are handled by `paths.writing`."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise BadInput(
            f"a result cannot be written ({error.strerror}); free some space, or let the output go elsewhere."
        ) from error


class LazyGroup(SummarisedGroup):
    """A group that imports its commands only when they are needed.

    Commands of other packages are registered as entry points, see `ENTRY_POINTS`.
    """

    elsewhere = MappingProxyType(
        {
            "completion": "jaxmodal.cli.completion:completion",
            "convert": "jaxmodal.cli.convert:convert",
            "frequencies": "jaxmodal.cli.frequencies:frequencies",
            "modes": "jaxmodal.cli.modes:modes",
            "sensitivities": "jaxmodal.cli.modes:sensitivities",
            "fit": "jaxmodal.cli.fit:fit",
            "move": "jaxmodal.cli.move:move",
            "speeds": "jaxmodal.cli.speeds:speeds",
            "postures": "jaxmodal.cli.postures:postures",
            "equations": "jaxmodal.cli.equations:equations",
            "export": "jaxmodal.cli.export:export",
            "simulate": "jaxmodal.cli.simulate:simulate",
            "reproduce": "jaxmodal.cli.reproduce:reproduce",
            "reproduce-motions": "jaxmodal.cli.reproduce:reproduce_motions",
            "response": "jaxmodal.cli.response:response",
            "statics": "jaxmodal.cli.at_rest:statics",
            "buckling": "jaxmodal.cli.at_rest:buckling",
            "campbell": "jaxmodal.cli.campbell:campbell",
            "resonance-map": "jaxmodal.cli.resonance_map:resonance_map",
            "verify": "jaxmodal.cli.verify:verify",
            "worst": "jaxmodal.cli.worst:worst",
            "cache": "jaxmodal.cli.cache:cache",
        }
    )

    @functools.cached_property
    def registered(self) -> dict[str, Any]:
        """Commands of other packages, by name."""
        return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self.elsewhere, *self.registered})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command: click.Command | None = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in self.elsewhere:
            module, _, attribute = self.elsewhere[cmd_name].partition(":")
            command = getattr(importlib.import_module(module), attribute)
        elif command is None and cmd_name in self.registered:
            command = self.registered[cmd_name].load()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command by name; for an unknown name the error suggests similar ones."""
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"No such command {name!r}.{suggestion(name, known)}")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move `NO_CACHE`, `NO_CHECK` and `STRICT` to the front, because they may stand anywhere in a command."""
        end = args.index("--") if "--" in args else len(args)
        for flag in (NO_CACHE, NO_CHECK, STRICT):
            if flag in args[:end]:
                kept = [arg for arg in args[:end] if arg != flag]
                args, end = [flag, *kept, *args[end:]], len(kept) + 1
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse the command line; help on a full disk ends with a message."""
        with _disk_not_full():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; unhandled Ctrl-C ends it as in `jaxmodal.cli.interrupts`, also while it is still imported.

        With `STRICT` the exit status is 1 if there was a warning, after all results are written. Inexact arithmetic, an
        uncertified frequency that a result depends on, and a full disk end the command with a message.
        """
        try:
            ctx.with_resource(listening())
            with _disk_not_full():
                result = super().invoke(ctx)
        except click.ClickException as error:
            vars(error)["message"] = printable(with_choices(error))
            raise
        except (InexactArithmeticError, UncertifiedError) as error:
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt:
            leave()
        if ctx.params.get("strict") and ctx.obj:
            click.echo(ctx.obj.verdict, err=True)
            raise SystemExit(EXIT_NOT_ALL)
        return result


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="jaxmodal")
@click.option(
    NO_CACHE,
    "no_cache",
    is_flag=True,
    help="Neither use nor keep compiled programs (see `jaxmodal cache`). May also stand after the "
    "COMMAND.",
)
@click.option(
    NO_CHECK,
    "no_check",
    is_flag=True,
    help="Do not warn of values that look like wrong units. May also stand after the COMMAND.",
)
@click.option(
    STRICT,
    "strict",
    is_flag=True,
    help="End with the exit status 1, in place of 0, if a warning was given; results and files are "
    "complete. May also stand after the COMMAND.",
)
@click.pass_context
def main(ctx: click.Context, no_cache: bool, no_check: bool, strict: bool) -> None:
    """Exact, certified natural frequencies of multilink arms, planar and in space.

    Units are SI and degrees or radians as named; frequencies are in Hz.
    """
    import jax

    from jaxmodal.cli.compiling import watched
    from jaxmodal.cli.output import terminals_obey_nothing
    from jaxmodal.cli.warned import warnings_shown
    from jaxmodal.runtime.compilation import add_cpu_flags
    from jaxmodal.runtime.default_cache import use_default_cache

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    add_cpu_flags()
    end_quickly()
    ctx.obj = ctx.with_resource(warnings_shown(implausible=not no_check))
    if no_cache:
        jax.config.update("jax_enable_compilation_cache", False)  # type: ignore[no-untyped-call]
    elif ctx.invoked_subcommand != "cache":
        use_default_cache(ctx.obj.say)
    ctx.with_resource(watched())
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    ctx.with_resource(terminals_obey_nothing())


@main.command(epilog=ARM_HELP)
@click.argument("arm", metavar="ARM")
@format_option(("table", "json"))
@click.pass_context
def check(ctx: click.Context, arm: str, output_format: str) -> None:
    """Masses, slenderness, cut-off frequencies of an ARM, and values that look implausible.

    Exit status: 0, with or without warnings, with --strict 1 with warnings; 2 when the ARM cannot be read.
    """
    from jaxmodal.spatial.arms.checks import check_arm as checked

    found = checked(load_any_arm(arm, check=False))
    if output_format == "json":
        features = [
            {"address": address, "value": value, "unit": unit}
            for address, value, unit in found.features
        ]
        more = {
            "links": [vars(fact) for fact in found.links],
            "features": features,
            "remarks": list(map(str, found.remarks)),
        }
        print_json({"arm": arm, **vars(found), **more})
    else:
        click.echo(str(dataclasses.replace(found, name=found.name or arm)))
    ctx.obj.count(found.remarks)


def _built_in_arms(
    ctx: click.Context, parameter: click.Parameter, start: str
) -> list[CompletionItem]:
    """Return the built-in arms whose keys begin with ``start``, with their names, for completion."""
    from jaxmodal.spatial.files import examples as built_in

    keys = [key for key in built_in.names() if key.startswith(start)]
    return [CompletionItem(key, help=built_in.load(key).name) for key in keys]


@main.command()
@click.argument("name", metavar="[NAME]", required=False, shell_complete=_built_in_arms)
@format_option(("table", "json"), "json of one is the file of an arm, too.")
@file_option("--out", "out_file", remark="Write the arm to this file instead of printing it.")
@force_option
def examples(name: str | None, output_format: str, out_file: Path | None) -> None:
    """List the built-in arms, or print or write the TOML file of one."""
    from jaxmodal.runtime.tables import Table
    from jaxmodal.spatial.files import examples as built_in

    if name is None:
        if out_file is not None:
            raise click.UsageError(
                f"--out {out_file}: give the NAME of the arm to write as well; "
                f"known are {', '.join(built_in.names())}."
            )
        arms = {known: built_in.load(known) for known in built_in.names()}
        rows = [[known, arm.name, str(arm.num_links)] for known, arm in arms.items()]
        if output_format == "json":
            print_json(
                [
                    {"name": key, "arm": arm.name, "num_links": arm.num_links}
                    for key, arm in arms.items()
                ]
            )
            return
        headings = ("name", "arm", "links")
        click.echo(Table("", headings, rows, (), headings[:2]).text())
        click.echo("print one: jaxmodal examples NAME; use one: jaxmodal frequencies example:NAME")
        return
    with refusing():
        text = built_in.toml_text(name.removeprefix(EXAMPLE_PREFIX))
    if out_file is None:
        print_document(text, output_format)
        return
    with writing(f"--out {out_file}"):
        if not (out_file.is_file() and out_file.read_bytes() == text.encode()):
            require_new("--out", out_file)
        out_file.write_text(text, encoding="utf-8", newline="\n")
    click.echo(f"wrote {out_file}", err=True)
    if output_format == "json":
        print_json({"example": name, "wrote": written_files(out_file)})
