"""The command ``jaxmodal explore``."""

from __future__ import annotations

import contextlib
import functools
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jaxmodal.cli.arguments import BadInput, WholeRange, format_option
from jaxmodal.cli.interrupts import keeping
from jaxmodal.cli.output import print_json, written_files
from jaxmodal.cli.paths import file_option, force_option
from jaxmodal.dynamic_stiffness.beams import THEORIES
from sweeps.commands.base import refusing
from sweeps.commands.plot import selected

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

    from jaxmodal.dynamic_stiffness.beams import TheoryName
    from sweeps.explorer.server import PageServer

#: suffixes of arm files
_ARMS = (".toml", ".json", ".urdf")


@click.command()
@click.argument("store", metavar="STORE|ARM")
@click.option(
    "--at",
    multiple=True,
    metavar="NAME=VALUE",
    help="Of a store: keep only the nearest value of an axis; more than once for several.",
)
@click.option(
    "--theory",
    type=click.Choice(THEORIES),
    help="Of an arm: the theory of its beams.  [default: timoshenko]",
)
@click.option(
    "--port",
    type=WholeRange(1, 65535),
    help="Port of this machine to serve the page at.  [default: a free one]",
)
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
@format_option(("table", "json"))
@file_option(
    "--out",
    remark="Write the page into this file (.html), which needs neither network nor server, and serve nothing.",
    suffixes=(".html", ".htm"),
    new=True,
)
@force_option
def explore(
    store: str,
    at: tuple[str, ...],
    theory: TheoryName | None,
    port: int | None,
    no_open: bool,
    output_format: str,
    out: Path | None,
) -> None:
    """Look at the STORE of a sweep, or at an ARM, in a browser.

    A sweep has maps, curves, spectra with certificates, the arm in its posture. An arm (an arm file, a robot's URDF or
    example:NAME) has sliders for its posture and more, and its modes move; one in space turns. The page solves it
    exactly, with no server.

    The page is served on this machine alone, at an address with a random token, until Ctrl-C. It is made anew when it
    is reloaded, so that a sweep can be watched while it runs.
    """
    if out is not None and (port is not None or no_open):
        option = f"--port {port}" if port is not None else "--no-open"
        raise BadInput(f"{option}: is for a page that is served; leave it out with --out.")
    if store.lower().endswith(_ARMS) or store.startswith("example:"):
        if at:
            raise BadInput(f"--at {at[0]}: is for the store of a sweep; leave it out for an arm.")
        make: functools.partial[str] = functools.partial(_arm_page, store, theory or "timoshenko")
        text = make()
        server = functools.partial(_arm_server, make)
    else:
        if theory is not None:
            raise BadInput(f"--theory {theory}: is for an arm; a store has those of its sweep.")
        read = functools.partial(_read, store, at)
        text = _store_page(read)
        server = functools.partial(_store_server, read)
    if out is None:
        _serve(server, port, no_open, output_format)
        return
    from jaxmodal.cli.paths import writing
    from jaxmodal.runtime.whole_files import write_text

    with writing(f"--out {out}"):
        write_text(out, text)
    size = len(text.encode())
    click.echo(f"wrote {out} ({size / 1e6:.2f} MB)", err=True)
    if output_format == "json":
        print_json({"page_of": store, "bytes": size, "wrote": written_files(out)})


def _arm_page(argument: str, theory: TheoryName) -> str:
    from jaxmodal.cli.arguments import load_any_arm
    from jaxmodal.cli.arguments import refusing as refusing_arms
    from jaxmodal.spatial.arms.plausibility import warn_of_implausible_values
    from sweeps.explorer.page import arm_page_html

    # also a rigid arm in space: the page shows it, and its joints can be given springs there
    arm = load_any_arm(argument, check=False)
    warn_of_implausible_values(arm, argument)
    with refusing_arms(argument):
        return arm_page_html(arm, theory)


def _store_page(read: functools.partial[xr.Dataset]) -> str:
    from sweeps.explorer.data import ordered
    from sweeps.explorer.page import page_html

    with refusing():
        return page_html(ordered(read()))


def _read(store: str, at: tuple[str, ...]) -> xr.Dataset:
    """Return the data of a store that the page shows, in memory; raises `StoreError` if a piece is damaged."""
    from sweeps.store.run import open_result
    from sweeps.store.zarr_store import require_whole

    require_whole(store)
    ds = selected(open_result(store), at)
    needed = ("frequency", "status", "count_below", "count_above", "bracket_lower", "bracket_upper")
    return ds[[name for name in needed if name in ds]].load()


def _arm_server(make: Callable[[], str], port: int) -> PageServer:
    from sweeps.explorer.server import PageServer

    return PageServer(make, port)


def _store_server(read: Callable[[], xr.Dataset], port: int) -> PageServer:
    from sweeps.explorer.server import Server

    return Server(read, port)


def _serve(
    serving: Callable[[int], PageServer], port: int | None, no_open: bool, output_format: str
) -> None:
    try:
        server = serving(port or 0)
    except OSError as error:
        raise BadInput(
            f"--port {port}: cannot be used ({error.strerror}); give another, or leave it out for a free one."
        ) from error
    with server, keeping(lambda: "the page is closed."), contextlib.suppress(KeyboardInterrupt):
        if output_format == "json":
            print_json({"address": server.address})
        else:
            click.echo(server.address)
        click.echo("Ctrl-C ends the page.", err=True)
        if not no_open:
            webbrowser.open(server.address)
        server.serve_forever(poll_interval=0.1)
