"""A server for the page of one store or arm, reachable only from this machine.

It listens at 127.0.0.1 and answers only addresses that begin with a random token, and only requests that name this
host and come from its own page or from an address typed by the user. The page is made from the store at every request,
so that a store in which a run is still writing shows its present state.
"""

from __future__ import annotations

import hmac
import http.server
import json
import re
import secrets
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sweeps.definition.errors import SweepError
from sweeps.explorer.data import cell_values, ordered
from sweeps.explorer.page import page_html

if TYPE_CHECKING:
    import xarray as xr

#: longest time in s that the server waits for a connection
PATIENCE = 10.0
#: largest number of simultaneous connections; further ones are closed at once
CONNECTIONS = 16
#: longest address of a request, in characters
LONGEST = 2048
#: address of a cell: number of the theory, index along each axis
_CELL = re.compile(r"cell/([0-9]{1,3})/([0-9]{1,9}(?:,[0-9]{1,9}){0,31})?", re.ASCII)


class PageServer(http.server.ThreadingHTTPServer):
    """Server of the page that ``make`` returns; it runs until `shutdown`.

    Parameters
    ----------
    make
        Returns the page as HTML. Called for every request of the page, one at a time.
    port
        Port; 0 for any free one.

    Raises
    ------
    OSError
        The port is in use or not allowed.
    """

    daemon_threads = True
    allow_reuse_address = False
    request_queue_size = CONNECTIONS

    def __init__(self, make: Callable[[], str], port: int = 0) -> None:
        self.make, self.token = make, secrets.token_urlsafe(24)
        self.reading, self.slots = threading.Lock(), threading.BoundedSemaphore(CONNECTIONS)
        super().__init__(("127.0.0.1", port), _Requests)
        self.hosts = {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}

    @property
    def address(self) -> str:
        """Address of the page, with the token."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def page(self) -> str:
        """Return the page in its present state."""
        with self.reading:
            return self.make()

    def cell(self, theory: int, index: tuple[int, ...]) -> dict[str, Any]:
        """Return a cell of the dataset in the last page; this server has none."""
        raise SweepError("This page has no cells.")

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self.slots.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: a browser that closes its connection is not an error."""


class Server(PageServer):
    """Server of the page of the dataset that ``read`` returns.

    Parameters
    ----------
    read
        Returns the dataset, loaded into memory. Called for every page, one at a time.
    port
        See `PageServer`.
    """

    def __init__(self, read: Callable[[], xr.Dataset], port: int = 0) -> None:
        self.read = read
        self.shown: xr.Dataset | None = None
        super().__init__(self._made, port)

    def _made(self) -> str:
        self.shown = ordered(self.read())
        return page_html(self.shown, served=True)

    def cell(self, theory: int, index: tuple[int, ...]) -> dict[str, Any]:
        with self.reading:
            if self.shown is None:
                self.shown = ordered(self.read())
            return cell_values(self.shown, theory, index)


class _Requests(http.server.BaseHTTPRequestHandler):
    server: PageServer
    timeout = PATIENCE
    server_version, sys_version = "jaxmodal", ""

    def do_GET(self) -> None:
        if refusal := self._refusal():
            self._answer(*refusal)
            return
        asked = self.path.removeprefix(f"/{self.server.token}/")
        cell = _CELL.fullmatch(asked)
        try:
            if asked == "":
                self._answer(200, self.server.page(), "text/html")
            elif cell:
                index = tuple(map(int, cell[2].split(","))) if cell[2] else ()
                found = self.server.cell(int(cell[1]), index)
                self._answer(200, json.dumps(_plain(found)), "application/json")
            else:
                self._answer(404, "This address does not exist.")
        except SweepError as error:
            self._answer(404, str(error))
        except (ValueError, RuntimeError, OSError) as error:  # a run may be writing
            self._answer(503, f"{error}\nReload the page to try again.")

    def _refusal(self) -> tuple[int, str] | None:
        """Return status and reason to refuse a request (other host, other page, wrong token); None to allow it."""
        if len(self.path) > LONGEST:
            return 414, "The address is too long."
        if self.headers.get("Host") not in self.server.hosts:
            return 403, "The host is not the host of this page."
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.server.hosts}:
            return 403, "The request comes from another page."
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return 403, "The request comes from another page."
        token = self.path.partition("?")[0].split("/")[1] if self.path.startswith("/") else ""
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            return (
                403,
                "The token in the address is missing or wrong: open the address that the command has printed.",
            )
        return None

    def _answer(self, code: int, text: str, kind: str = "text/plain") -> None:
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Connection", "close"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


def _plain(values: dict[str, list[float]]) -> dict[str, list[float | None]]:
    """Return values with None for NaN and infinities, which JSON cannot hold."""
    return {
        name: [x if isinstance(x, int) or abs(x) < float("inf") else None for x in row]
        for name, row in values.items()
    }
