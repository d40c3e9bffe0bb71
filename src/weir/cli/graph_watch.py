# SPDX-License-Identifier: Apache-2.0
"""`weir graph --watch`: the network again and again, in a terminal, or as a page that this process serves.

On loopback alone, at an address that nobody else knows: another user of the host must not see what root does.
"""

from __future__ import annotations

import secrets
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTP_PORT
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from weir.cli.exits import USAGE, CommandError

if TYPE_CHECKING:
    from weir.results.host_graph import HostGraph

Look = Callable[[], "HostGraph"]
_HOST = "127.0.0.1"
_CLEAR = "\x1b[2J\x1b[H"
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def watch_text(look: Look, render: Callable[[HostGraph], str]) -> None:
    """Until Ctrl-C."""
    clear = _CLEAR if sys.stdout.isatty() else "\n"
    while True:
        print(clear + render(look()), end="", flush=True)


def watch_page(look: Look, page: Callable[[HostGraph], str], port: int) -> None:
    """Until Ctrl-C. CommandError where the port is taken."""
    served = _Served(look(), page)
    try:
        listening = served.server(port)
    except OSError as error:
        message = f"cannot serve the page: {error.strerror}; choose another --port"
        raise CommandError(message, USAGE) from error
    with listening as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"the network, live: {served.url(server)}\nCtrl-C ends it", flush=True)
        try:
            while True:
                served.graph = look()
        finally:
            server.shutdown()


def hosts_of(port: int) -> set[str]:
    """How a reader names this server in Host: HTTP's own port need not be said (RFC 9110, 7.2)."""
    named = {f"{_HOST}:{port}"}
    return named | {_HOST} if port == HTTP_PORT else named


class _Listening(ThreadingHTTPServer):
    """Says nothing of readers that go in the middle of an answer: the terminal is the user's."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Anything else is a defect of Weir's, and is shown."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Served:
    """The newest look, as a page and as JSON."""

    def __init__(self, graph: HostGraph, page: Callable[[HostGraph], str]) -> None:
        self.graph = graph
        self._page = page
        self._secret = secrets.token_urlsafe(16)

    def url(self, server: ThreadingHTTPServer) -> str:
        """Where it is."""
        return f"http://{_HOST}:{server.server_port}/{self._secret}/"

    def answer(self, path: str) -> tuple[str, str] | None:
        """Content and its type; None: there is nothing."""
        if path == f"/{self._secret}/":
            return self._page(self.graph), "text/html"
        if path == f"/{self._secret}/graph.json":
            return self.graph.model_dump_json(), "application/json"
        return None

    def server(self, port: int) -> ThreadingHTTPServer:
        """It listens."""
        served = self

        class Handler(BaseHTTPRequestHandler):
            """Answers GET."""

            server_version, sys_version = "weir", ""

            def do_GET(self) -> None:
                # A name that leads here is another site's: DNS rebinding.
                assert isinstance(self.server, ThreadingHTTPServer)
                ours = self.headers.get("Host") in hosts_of(self.server.server_port)
                found = served.answer(self.path) if ours else None
                if found is None:
                    self.send_error(HTTPStatus.NOT_FOUND)
                    return
                content, kind = found[0].encode(), found[1]
                self.send_response(HTTPStatus.OK)
                for name, value in _HEADERS.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Nothing: the terminal is the user's."""

        return _Listening((_HOST, port), Handler)
