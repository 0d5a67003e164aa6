"""The command ``jaxmodal explore``."""

from __future__ import annotations

import contextlib
import functools
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jaxmodal.cli.arguments import BadInput, WholeRange
from jaxmodal.cli.interrupts import keeping
from jaxmodal.cli.paths import file_option
from sweeps.commands.base import refusing
from sweeps.commands.plot import selected

if TYPE_CHECKING:
    import xarray as xr


@click.command()
@click.argument("store", metavar="STORE")
@file_option(
    "--html",
    remark="Write the page into this file (.html), which needs neither network nor server, and serve nothing.",
    suffixes=(".html", ".htm"),
)
@click.option(
    "--at",
    multiple=True,
    metavar="NAME=VALUE",
    help="Keep only the nearest value of an axis; more than once for several.",
)
@click.option(
    "--port",
    type=WholeRange(1, 65535),
    help="Port of this machine to serve the page at.  [default: a free one]",
)
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
def explore(
    store: str, html: Path | None, at: tuple[str, ...], port: int | None, no_open: bool
) -> None:
    """Look at the STORE of a sweep in a browser: maps, curves, spectra with certificates, the arm in its posture.

    The page is served on this machine alone, at an address with a random token, until Ctrl-C. It is made anew when it
    is reloaded, so that a sweep can be watched while it runs.
    """
    from sweeps.explorer.data import ordered
    from sweeps.explorer.page import page_html

    if html is not None and (port is not None or no_open):
        option = f"--port {port}" if port is not None else "--no-open"
        raise BadInput(f"{option}: is for a page that is served; leave it out with --html.")
    if store.lower().endswith((".toml", ".json", ".urdf")) or store.startswith("example:"):
        raise BadInput(
            f"{store}: is not the store of a sweep; run a sweep first, jaxmodal sweep run SWEEP, and give its "
            "STORE.zarr."
        )
    read = functools.partial(_read, store, at)
    with refusing():
        ds = ordered(read())
    if html is None:
        _serve(read, port, no_open)
        return
    from jaxmodal.cli.paths import writing
    from jaxmodal.runtime.whole_files import write_text

    with refusing():
        text = page_html(ds)
    with writing(f"--html {html}"):
        write_text(html, text)
    click.echo(f"wrote {html} ({len(text.encode()) / 1e6:.2f} MB)", err=True)


def _read(store: str, at: tuple[str, ...]) -> xr.Dataset:
    """What the page shows of a store, in memory; raises `StoreError` where a piece is damaged."""
    from sweeps.store.run import open_result
    from sweeps.store.zarr_store import require_whole

    require_whole(store)
    ds = selected(open_result(store), at)
    needed = ("frequency", "status", "count_below", "count_above", "bracket_lower", "bracket_upper")
    return ds[[name for name in needed if name in ds]].load()


def _serve(read: functools.partial[xr.Dataset], port: int | None, no_open: bool) -> None:
    from sweeps.explorer.server import Server

    try:
        server = Server(read, port or 0)
    except OSError as error:
        raise BadInput(
            f"--port {port}: cannot be used ({error.strerror}); give another, or leave it out for a free one."
        ) from error
    with server, keeping(lambda: "the page is closed."), contextlib.suppress(KeyboardInterrupt):
        click.echo(server.address)
        click.echo("Ctrl-C ends the page.", err=True)
        if not no_open:
            webbrowser.open(server.address)
        server.serve_forever(poll_interval=0.1)
