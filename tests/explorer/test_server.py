"""The server of the page: who is answered, with what, and who is not."""

import http.client
import json
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import sweeps
import sweeps.store.grid
from sweeps.explorer import server as serving
from sweeps.explorer.server import Server
from tests.support import synthetic_cells
from tests.support.small_sweeps import small_sweep

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def dataset(monkeypatch):
    monkeypatch.setattr(sweeps.store.grid, "solve_cells", synthetic_cells.solve_cells)
    return sweeps.run(small_sweep())


@pytest.fixture
def served(dataset):
    with Server(lambda: dataset) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def asked(server, path, method="GET", **headers):
    """Status, headers and text of what the server answers; ``path`` behind its token, or all of it from a /."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection._encode_request = lambda request: request.encode(
        "latin-1"
    )  # as a hostile client may
    path = path if path.startswith("/") else f"/{server.token}/{path}"
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    reply = connection.getresponse()
    return reply.status, reply.headers, reply.read().decode()


def test_it_serves_the_page_and_cells_with_all_digits(served, dataset):
    status, headers, text = asked(served, "")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert (headers["Cache-Control"], headers["X-Frame-Options"]) == ("no-store", "DENY")
    assert "connect-src 'self'" in text
    status, _, text = asked(served, "cell/1/2,1")
    values = dataset.isel(theory=1, theta_2=2, payload_mass=1)
    assert status == 200
    assert json.loads(text)["frequency"] == values.frequency.values.tolist()
    _, _, text = asked(served, "cell/0/4,0")  # an invalid cell
    assert json.loads(text)["frequency"] == [None, None]


@pytest.mark.parametrize("token", ["", "wrong", "é".encode().decode("latin-1")])
def test_a_wrong_token_gets_nothing(served, token):
    status, _, text = asked(served, f"/{token}/")
    assert status == 403
    assert "token" in text
    assert "jaxmodal" not in text


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_other_hosts_and_other_pages_get_nothing(served, headers):
    status, _, text = asked(served, "", **headers)
    assert status == 403
    assert "<" not in text


@pytest.mark.parametrize(
    "path",
    [
        *("../", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "page.html", "..%2f", "cell/"),
        *(
            "cell/0/9,0",
            "cell/2/0,0",
            "cell/0/0",
            "cell/0/0,0,0",
            "cell/0/-1,0",
            "cell/0/0,0/",
            "cell/0/٣,0",
        ),
        "cell/0/" + ",".join(["0"] * 33),
    ],
)
def test_there_is_nothing_else(served, path):
    assert asked(served, path.encode().decode("latin-1"))[0] == 404


def test_long_addresses_and_other_methods_are_refused(served):
    assert asked(served, "x" * 3000)[0] == 414
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert asked(served, "", method)[0] == 501


def test_it_listens_on_this_machine_alone(served):
    assert served.server_address[0] == "127.0.0.1"
    assert len(served.token) >= 32


def test_further_connections_are_closed_at_once(served, monkeypatch):
    monkeypatch.setattr(serving._Requests, "timeout", 3600.0)
    address = ("127.0.0.1", served.server_port)
    silent = [socket.create_connection(address) for _ in range(serving.CONNECTIONS + 5)]
    end, closed = time.monotonic() + 10.0, []
    while len(closed) < 5 and time.monotonic() < end:
        closed, _, _ = select.select(silent, [], [], 0.1)
    assert len(closed) == 5
    for connection in silent:
        connection.close()


def test_who_keeps_a_connection_open_is_cut_off_and_others_are_answered(served, monkeypatch):
    assert serving._Requests.timeout == serving.PATIENCE
    monkeypatch.setattr(serving._Requests, "timeout", 0.3)
    silent = [socket.create_connection(("127.0.0.1", served.server_port)) for _ in range(40)]
    end = time.monotonic() + 10.0
    while True:
        try:
            assert asked(served, "")[0] == 200
            break
        except (ConnectionError, http.client.HTTPException):
            assert time.monotonic() < end
            time.sleep(0.1)
    for connection in silent:
        connection.close()


def test_a_store_that_cannot_be_read_is_said_and_tried_again(dataset):
    def read():
        if not calls:
            calls.append(1)
            raise sweeps.StoreError("chunk 3 is torn")
        return dataset

    calls = []
    with Server(read) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        status, _, text = asked(server, "")
        assert (status, text.splitlines()[0]) == (503, "chunk 3 is torn")
        assert asked(server, "")[0] == 200
        server.shutdown()


def test_a_growing_store_shows_what_it_has(dataset):
    early = dataset.copy(deep=True)
    early.status[:, 2:] = 127
    early.frequency[:, 2:] = np.nan
    early.attrs["certificate_summary"] = "not finished"
    shown = [early, dataset]
    with Server(lambda: shown.pop(0)) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        assert '"summary":"not finished"' in asked(server, "")[2]
        assert '"summary":"not finished"' not in asked(server, "")[2]
        server.shutdown()


# ---- the command ----

COMMAND = "from sweeps.commands.explore import explore; explore()"
#: a shell that runs in the background hands on that Ctrl-C is ignored
HEARD = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
START = f"{HEARD}; import jax; jax.config.update('jax_enable_x64', True); {COMMAND}"


def command(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", START, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        **options,
    )


@pytest.fixture
def store(dataset, tmp_path):
    path = tmp_path / "small.zarr"
    sweeps.run(small_sweep(), path)
    return path


def test_the_command_serves_until_it_is_stopped(store):
    with command(store, "--no-open") as process:
        address = process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]+)/", address)
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=30)
        connection.request("GET", f"/{found[2]}/")
        assert connection.getresponse().status == 200
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(20) == 0
        finally:
            process.kill()
        assert "Traceback" not in process.stderr.read()


def invoked(*arguments):
    from click.testing import CliRunner

    from sweeps.commands.explore import explore

    return CliRunner().invoke(explore, list(map(str, arguments)))


def test_the_command_writes_one_file(store, tmp_path):
    out = tmp_path / "page.html"
    result = invoked(store, "--out", out, "--at", "payload_mass=1")
    assert result.exit_code == 0, result.output
    text = out.read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert '"name":"payload_mass","unit":"kg","value":1.0' in text
    assert sorted(tmp_path.iterdir()) == [out, store]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--out", "page.txt"], ["--out page.txt", ".html"]),
        (["--out", "nowhere/page.html"], ["nowhere"]),
        (["--out", "page.html", "--port", "8000"], ["--port 8000", "--out"]),
        (["--out", "page.html", "--no-open"], ["--no-open"]),
        (["--port", "0"], ["--port", "65535"]),
        (["--at", "theta_9=1", "--no-open"], ["theta_9", "theta_2"]),
    ],
)
def test_bad_options_are_refused_and_nothing_is_written(
    store, tmp_path, monkeypatch, arguments, words
):
    monkeypatch.chdir(tmp_path)
    result = invoked(store, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    for word in words:
        assert word in result.stderr
    assert list(tmp_path.iterdir()) == [store]


def test_what_is_no_store_is_refused(tmp_path):
    result = invoked(tmp_path / "none.zarr", "--no-open")
    assert result.exit_code == 2
    assert "none.zarr" in result.stderr


def test_a_damaged_chunk_is_named_and_no_page_written(store, tmp_path):
    piece = next((store / "frequency").glob("c.*"))
    data = piece.read_bytes()
    piece.write_bytes(data[:-4] + bytes(4))
    out = tmp_path / "page.html"
    result = invoked(store, "--out", out)
    assert result.exit_code == 2
    assert "frequency/c." in result.stderr
    assert not out.exists()


def test_a_port_that_is_taken_is_said(store):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = invoked(store, "--port", port, "--no-open")
    assert result.exit_code == 2
    assert f"--port {port}" in result.stderr
