"""The server of the live view: who may come in, what is served, and that nothing outside ends it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time as clock
from collections.abc import Iterator

import pytest

import taction as ta
from helpers import has_one_line, hide_module
from taction.viewer.server import MOST_HEARD, Server
from taction.viewer.session import MOST_KEPT, Session
from taction.viewer.sources import Choice, Folder
from taction.viewer.view import view_folder, view_run, view_simulation

client = pytest.importorskip("websockets.sync.client")
from websockets.exceptions import ConnectionClosed, InvalidStatus  # noqa: E402


@pytest.fixture
def server(tmp_path) -> Iterator[Server]:
    server = Server(Session(Folder(tmp_path)), port=0)
    yield server
    server.close()


def get(server: Server, path: str, *, host: str | None = None, method: str = "GET", **headers: str):
    """Status, text and headers of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    own = host if host is not None else f"127.0.0.1:{server.port}"
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in {"Host": own, **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, dict(answer.getheaders())


def connect(server: Server, *, token: str | None = None, origin: str | None = "own", path: str = "/socket"):
    own = f"127.0.0.1:{server.port}"
    return client.connect(
        f"ws://{own}{path}?token={server.token if token is None else token}",
        origin=f"http://{own}" if origin == "own" else origin,
        compression=None,
        max_size=None,
    )


def hear(page, kind: str) -> dict:
    """The next message of a kind."""
    while True:
        message = page.recv(timeout=20)
        if isinstance(message, str) and json.loads(message)["is"] == kind:
            return json.loads(message)


def one_line(**options) -> str:
    with pytest.raises(ta.BadInput) as caught:
        view_folder(".", **options)
    assert has_one_line(caught.value)
    return str(caught.value)


# ----- Who may come in -------------------------------------------------------------------------------------


def test_page_and_script(server):
    status, page, headers = get(server, f"/?token={server.token}")
    assert status == 200 and f"client.js?token={server.token}" in page
    assert (
        headers["Cache-Control"] == "no-store" and "default-src 'self'" in headers["Content-Security-Policy"]
    )
    status, script, headers = get(server, f"/client.js?token={server.token}")
    assert status == 200 and len(script) > 100_000 and headers["Content-Type"].startswith("text/javascript")
    assert server.url == f"http://127.0.0.1:{server.port}/?token={server.token}"


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", "?token=%ff", "?other=1", "?token={}x"])
@pytest.mark.parametrize("path", ["/", "/client.js", "/socket", "/nothing"])
def test_without_the_token_nothing_is_answered(server, path, query):
    status, text, _ = get(server, path + query.format(server.token))
    assert status == 403 and server.token not in text


@pytest.mark.parametrize(
    "host", ["evil.example:{}", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{}", ""]
)
def test_another_host(server, host):
    assert get(server, f"/?token={server.token}", host=host.format(server.port))[0] == 403


@pytest.mark.parametrize(
    "path", ["/../etc/passwd", "/client.js/../x", "/%2e%2e/etc/passwd", "/socket/", "/client", "//x/y"]
)
def test_nothing_else_is_served(server, path):
    assert get(server, f"{path}?token={server.token}")[0] == 404


@pytest.mark.parametrize("path", ["//[", "/?token=%zz&token"])
def test_requests_that_are_none(server, path):
    assert get(server, path)[0] in (400, 403)


def test_other_methods_and_noise_are_quiet(server, capfd):
    for data in (b"", b"\x16\x03\x01 noise\r\n\r\n", b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as plain:
            plain.sendall(data)
            plain.shutdown(socket.SHUT_WR)
            while plain.recv(1000):
                pass
    double = {"Origin": "http://a", "origin": "http://b"}
    assert get(server, f"/socket?token={server.token}", **double)[0] == 400
    assert get(server, f"/?token={server.token}")[0] == 200
    assert capfd.readouterr() == ("", "")


def test_sockets(server):
    with connect(server) as page:
        assert hear(page, "offers")["laws"]
    for options in (
        {"token": "wrong"},
        {"token": ""},
        {"origin": None},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"https://evil.example:{server.port}"},
    ):
        with pytest.raises(InvalidStatus) as caught:
            connect(server, **options)
        assert caught.value.response.status_code == 403, options


# ----- Pages -----------------------------------------------------------------------------------------------


def test_two_pages_and_one_that_breaks_off(server):
    session = server.session
    with connect(server) as first, connect(server) as second:
        first.send(json.dumps({"do": "open", "choice": {"scenario": "block-slope"}}))
        assert hear(first, "busy")["text"]
        for page in (first, second):
            while hear(page, "state")["choice"]["scenario"] != "block-slope":
                pass
        first.send('{"do": "run"}')
        while not (hear(second, "state")["time"] or 0.0) > 0.05:
            pass
        second.socket.shutdown(socket.SHUT_RDWR)  # without a goodbye
        begin = hear(first, "state")["time"]
        while not hear(first, "state")["time"] > begin + 0.3:
            pass
        first.send("nonsense")
        while "does not know" not in hear(first, "state")["error"]:
            pass
        first.send('{"do": "pause"}')
        while hear(first, "state")["isRunning"]:
            pass
    end = clock.monotonic() + 10
    while session._listeners and clock.monotonic() < end:
        clock.sleep(0.01)
    assert not session._listeners


def test_a_message_that_is_too_long_ends_that_page_only(server):
    with connect(server) as first, connect(server) as second:
        hear(first, "offers")
        first.send("x" * (MOST_HEARD + 1))
        with pytest.raises(ConnectionClosed):
            while True:
                first.recv(timeout=20)
        assert hear(second, "offers")


def test_who_comes_late_is_not_too_slow(server):
    """All that is kept comes, however much that is."""
    with server.session._lock:
        server.session._kept[:] = [number.to_bytes(4, "little") for number in range(MOST_KEPT)]
    with connect(server) as page:
        got = []
        while len(got) < MOST_KEPT:
            message = page.recv(timeout=20)
            if isinstance(message, bytes):
                got.append(int.from_bytes(message, "little"))
        assert got == list(range(MOST_KEPT))


# ----- Ports and ends --------------------------------------------------------------------------------------


def test_ports(server, tmp_path):
    assert f"port {server.port} is in use" in (text := one_line(port=server.port)) and "--port" in text
    assert "99999" in (text := one_line(port=99999)) and "--port" in text
    assert "-1" in one_line(port=-1)
    assert "cannot be used" in one_line(port=0, host="192.0.2.1")
    assert "no address" in one_line(port=0, host="a" * 80)
    assert not [
        t for t in threading.enumerate() if t.name == "taction-view" and t is not server.session._thread
    ]


def test_close_ends_threads_and_frees_the_port(tmp_path):
    before = set(threading.enumerate())
    view = view_folder(tmp_path, Choice(scenario="block-slope"), browser=False, port=0)
    server = view._server
    with connect(server) as page:
        page.send('{"do": "run"}')
        while not hear(page, "state")["isRunning"]:
            pass
        view.close()
        with pytest.raises(ConnectionClosed) as caught:
            while True:
                page.recv(timeout=20)
        assert caught.value.rcvd.code == 1001
    end = clock.monotonic() + 10
    while set(threading.enumerate()) - before and clock.monotonic() < end:
        clock.sleep(0.01)
    assert not set(threading.enumerate()) - before
    again = Server(Session(Folder(tmp_path)), port=server.port)
    again.close()
    view.close()  # twice does no harm


def test_views_in_python(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    box = ta.free_body("box", ta.Box((0.3, 0.3, 0.2)), mass=2.0, position=(0, 0, 0.1))
    simulation = ta.Simulation(ta.World(box, ground=ta.Plane()), dt=1e-3)
    with view_simulation(simulation, port=0, folder=tmp_path, v=[1.0, 0, 0, 0, 0, 0]) as view:
        assert opened == [view.url] and view.url in repr(view) and view.url in view._repr_html_()
        port = view._server.port
        for wrong in ({"v": [1.0]}, {"weather": 1}, {"control_dt": 0.5e-3}, {"port": port}):
            with pytest.raises(ta.BadInput) as caught:
                view_simulation(simulation, **{"browser": False, "port": 0, "folder": tmp_path} | wrong)
            assert has_one_line(caught.value)
        with pytest.raises(ta.BadInput, match="in use"):
            view_run(simulation.run(0.01), browser=False, port=port)
    names = [t.name for t in threading.enumerate()]
    assert "taction-view" not in names and "taction-server" not in names


def test_addresses(server):
    server.host = "::1"
    assert server.url.startswith(f"http://[::1]:{server.port}/")
    server.host = "0.0.0.0"
    assert server.url.startswith(f"http://127.0.0.1:{server.port}/")
    assert server._is_own(f"machine.example:{server.port}") and not server._is_own("machine.example:1")


def test_without_websockets(monkeypatch):
    hide_module(monkeypatch, "websockets")
    assert "taction[view]" in one_line(port=0)
