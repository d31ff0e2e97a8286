"""The server of the live view: one page, one script, one socket; for those who know the token.

Who may come in. The server listens on 127.0.0.1 unless told otherwise. Every request must bring the token of
its start, in the address that the command prints; so other users of the machine are kept out. Its ``Host``
must be the server's own, and a socket's ``Origin`` must be that host: a page from elsewhere that is open in
the same browser cannot reach it, nor a name that is pointed at this machine. Everything else is refused with
403; nothing but the page and its script is served, no file by its name.

The socket speaks JSON from the page and JSON or packed drawings (`taction.drawing.encode`) to it
(`taction.viewer.session`). A page that reads too slowly is dropped; it connects again and gets everything.

Why not viser, which has such a server: its socket asks for neither token nor origin and has no place to ask
for them, and its scene would be a second one beside that of the replays, which has the same overlays.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hmac
import logging
import secrets
import threading
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

from taction._core.errors import BadInput
from taction.report.page import make_bare_page
from taction.report.replay import client_script
from taction.viewer.session import MOST_KEPT, Session

HOST, PORT = "127.0.0.1", 8123
ANY = ("", "0.0.0.0", "::")  # hosts that mean all addresses
LOCAL = ("127.0.0.1", "localhost", "[::1]")
IN_USE = (errno.EADDRINUSE, 10048)  # the second one of Windows
MOST_WAITING = MOST_KEPT + 2000  # messages that a page may be behind; it opens with all that is kept
MOST_HEARD = 1 << 16  # bytes of a message from a page
SILENT = logging.getLogger("taction.viewer.server")  # what a stranger sends is no matter for the terminal
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'self'; style-src 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-ancestors 'self' http://localhost:* http://127.0.0.1:*",
}


class Server:
    """Serves a session in a thread of its own.

    Args:
        session: what is shown.
        host: where it listens.
        port: 0 for any free one; None for `PORT` or, where that is taken, any free one.

    Raises:
        BadInput: websockets is not installed, or the port is taken.
    """

    def __init__(self, session: Session, *, host: str = HOST, port: int | None = None) -> None:
        try:
            from websockets.asyncio.server import serve
        except ImportError:
            raise BadInput("the live view needs websockets (pip install 'taction[view]')") from None
        if port is not None and not 0 <= port <= 65535:
            raise BadInput(f"--port {port}: a port is a number from 0 to 65535")
        self.session, self.host, self.token = session, host, secrets.token_urlsafe(18)
        self._serve = serve
        self._loop = asyncio.new_event_loop()
        self._ready: threading.Event = threading.Event()
        self._failure = ""
        self._over: asyncio.Event | None = None
        self.port = PORT if port is None else port
        self._thread = threading.Thread(target=self._run, args=(port,), name="taction-server", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure:
            self._thread.join()
            raise BadInput(self._failure)

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        host = "127.0.0.1" if self.host in ANY else f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/?token={self.token}"

    def close(self) -> None:
        """End it, the session too; pages say that the program has ended."""
        if self._over is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join(timeout=5.0)
        self.session.close()

    # ----- In the server's thread ----------------------------------------------------------------------

    def _run(self, asked: int | None) -> None:
        try:
            self._loop.run_until_complete(self._listen(asked))
        finally:
            self._ready.set()
            self._loop.close()

    async def _listen(self, asked: int | None) -> None:
        self._over = asyncio.Event()
        ports = [PORT, 0] if asked is None else [asked]
        for port in ports:
            try:
                server = await self._serve(
                    self._talk, self.host, port, process_request=self._answer, max_size=MOST_HEARD,
                    compression=None, server_header=None, logger=SILENT,
                )  # fmt: skip
            except UnicodeError:
                self._failure = f"--host {self.host[:60]}: no address"
                return
            except OSError as error:
                self._failure = f"port {port} of {self.host} cannot be used ({error.strerror or error})"
                if error.errno in IN_USE:
                    self._failure = f"port {port} is in use; choose another one with --port, or 0 for any"
                continue
            self._failure = ""
            self.port = server.sockets[0].getsockname()[1]
            self._ready.set()
            await self._over.wait()
            server.close()
            await server.wait_closed()
            return

    def _answer(self, connection: Any, request: Any) -> Any:
        """What is not a socket of ours gets an answer here; None lets a socket in."""
        try:
            return self._judge(connection, request)
        except (ValueError, LookupError):  # an address or an origin that is none, a header given twice
            return _reply(HTTPStatus.BAD_REQUEST, "not a request")

    def _judge(self, connection: Any, request: Any) -> Any:
        address = urlsplit(request.path)
        given = parse_qs(address.query).get("token", [""])[0]
        if not self._is_own(request.headers.get("Host", "")):
            return _reply(HTTPStatus.FORBIDDEN, "another host's name")
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return _reply(HTTPStatus.FORBIDDEN, "the token is missing or wrong")
        if address.path == "/socket":
            origin = request.headers.get("Origin")
            if origin is None or urlsplit(origin).netloc != request.headers.get("Host"):
                return _reply(HTTPStatus.FORBIDDEN, "a page from elsewhere")
            return None
        if address.path == "/":
            return _reply(HTTPStatus.OK, live_page(self.token), "text/html")
        if address.path == "/client.js":
            return _reply(HTTPStatus.OK, client_script(), "text/javascript")
        return _reply(HTTPStatus.NOT_FOUND, "nothing here")

    def _is_own(self, host: str) -> bool:
        """Whether a request's host is this server; any, if it listens on all addresses."""
        name, _, port = host.rpartition(":")
        if port != str(self.port):
            return False
        return name in LOCAL or name.strip("[]") == self.host or self.host in ANY

    async def _talk(self, socket: Any) -> None:
        """A page: what it says goes to the session, what the session says goes to it."""
        from websockets.exceptions import ConnectionClosed

        waiting: asyncio.Queue[str | bytes] = asyncio.Queue()

        def put(message: str | bytes) -> None:
            if waiting.qsize() > MOST_WAITING:
                self._loop.create_task(socket.close(1013, "too slow"))
            else:
                waiting.put_nowait(message)

        def send(message: str | bytes) -> None:  # called by other threads
            with contextlib.suppress(RuntimeError):  # the server has ended meanwhile
                self._loop.call_soon_threadsafe(put, message)

        async def speak() -> None:
            while True:
                await socket.send(await waiting.get())

        speaking = asyncio.create_task(speak())
        number = await self._loop.run_in_executor(None, self.session.join, send)
        try:
            async for message in socket:
                await self._loop.run_in_executor(None, self.session.hear, message)
        except ConnectionClosed:
            pass
        finally:
            self.session.leave(number)
            speaking.cancel()
            await asyncio.gather(speaking, return_exceptions=True)


def _reply(status: HTTPStatus, text: str, kind: str = "text/plain") -> Any:
    """An answer of the server."""
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    data = text.encode()
    about = {
        "Content-Type": f"{kind}; charset=utf-8",
        "Content-Length": str(len(data)),
        "Connection": "close",
    }
    return Response(status.value, status.phrase, Headers(HEADERS | about), data)


def live_page(token: str) -> str:
    """The page of the live view: the client makes everything in it."""
    parts = [f'<div id="live"></div><script src="client.js?token={token}"></script>']
    return make_bare_page("taction", parts)
