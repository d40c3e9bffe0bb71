# SPDX-License-Identifier: Apache-2.0
"""A small HTTP server that answers as a real cloud did, from a recording; and does wrong where a test asks
for it.

It plays a request's answers in the order in which they were recorded, and the last one again where it is
asked more often. A fault replaces one answer, and a thing that it kept from being made is not there: nothing
else is made up.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .exchange import CLOUD, Exchange, body, path_of, rebased, scrubbed

Change = Callable[[Any], Any]
_SLOW_S = 0.1


@dataclass
class Fault:
    """In place of the answers to some requests. One of `status`, `text`, `change`, `reset`, `silent` or
    `slow`."""

    method: str
    path: str
    """A regular expression that the path matches from its beginning."""
    status: int | None = None
    said: Any = None
    """With `status`: the body, as JSON."""
    text: str | None = None
    """A body that is no JSON, with status 200."""
    change: Change | None = None
    """Of the recorded body."""
    reset: bool = False
    silent: bool = False
    """No answer, until the server ends."""
    slow: bool = False
    """An answer that comes byte by byte, and has no end."""
    times: int = 1_000_000
    met: int = 0

    def meets(self, method: str, path: str) -> bool:
        """Whether this one is to go wrong."""
        wrong = self.met < self.times and method == self.method and re.match(self.path, path) is not None
        self.met += wrong
        return wrong


@dataclass
class Replay:
    """What was recorded, what of it was played, and what was asked that never was recorded."""

    exchanges: Sequence[Exchange]
    faults: Sequence[Fault] = ()
    base: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    """Requests that were not recorded, or were sent with another body."""
    made: set[str] = field(default_factory=set)
    """Identifiers of what was made."""
    removed: set[str] = field(default_factory=set)
    over: threading.Event = field(default_factory=threading.Event)
    _played: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, path: str, sent: Any) -> tuple[Exchange, Fault | None]:
        """And what is to go wrong with it."""
        with self._lock:
            self.requests.append((method, path))
            fault = next((one for one in self.faults if one.meets(method, path)), None)
            if fault is not None and fault.change is None:
                return Exchange(method=method, path=path, status=fault.status or 200), fault
            found = self._next(method, path, sent)
            if found is None:
                return self._unknown(method, path), None
            if method in ("POST", "PUT") and "/auth/tokens" not in path and not _alike(found.sent, sent):
                self.strange.append(f"{method} {path}: {sent} where {found.sent} was recorded")
            self._noted(method, path, found)
            return found, fault

    def _next(self, method: str, path: str, sent: Any) -> Exchange | None:
        places = [n for n, one in enumerate(self.exchanges) if (one.method, one.path) == (method, path)]
        if method != "GET":
            places = [n for n in places if _alike(self.exchanges[n].sent, sent)] or places
        else:  # and not yet what it will look like when it is gone
            change = self._next_change(path)
            places = [n for n in places if n < change] or places
        if not places:
            return None
        fresh = [n for n in places if n not in self._played]
        place = fresh[0] if fresh else places[-1]
        self._played.add(place)
        if method != "GET":  # what it looked like before is past
            self._played |= {
                n
                for n, one in enumerate(self.exchanges[:place])
                if one.method == "GET" and one.path.partition("?")[0] == path
            }
        return self.exchanges[place]

    def _next_change(self, path: str) -> int:
        """The place of the next change of what has that path."""
        for n, one in enumerate(self.exchanges):
            if one.method != "GET" and n not in self._played and one.path == path:
                return n
        return len(self.exchanges)

    def _noted(self, method: str, path: str, found: Exchange) -> None:
        if method == "POST" and isinstance(found.said, dict) and found.status < 300:
            for one in found.said.values():
                if isinstance(one, dict):
                    self.made |= {str(one[key]) for key in ("id", "name") if one.get(key)}
            self.made |= {str(found.said["id"])} if "id" in found.said else set()
        if method == "DELETE" and found.status < 300:
            self.removed.add(path.rpartition("/")[2])

    def _unknown(self, method: str, path: str) -> Exchange:
        """Of something that a fault has kept from being made: it is not there, as clouds say of others."""
        for one in self.exchanges:
            alike = one.path.partition("?")[0] == path.partition("?")[0] and one.status == 200
            if method == "GET" and "name=" in path + "description=" and alike and _empty(one.said):
                return one
        if method in ("GET", "DELETE"):
            missing = {"error": {"code": 404, "message": "not found"}}
            return Exchange(method=method, path=path, status=404, said=missing)
        self.strange.append(f"{method} {path} was not recorded")
        return Exchange(method=method, path=path, status=501, said={"error": {"message": "not recorded"}})


def _empty(said: Any) -> bool:
    lists = [one for one in said.values() if isinstance(one, list)] if isinstance(said, dict) else []
    return bool(lists) and not any(lists)


def _alike(recorded: Any, sent: Any) -> bool:
    return bool(recorded == scrubbed(sent)) or isinstance(sent, str)


@contextmanager
def playing(exchanges: Sequence[Exchange], faults: Sequence[Fault] = ()) -> Iterator[Replay]:
    """For the body, at `base`."""
    replay = Replay(exchanges, faults)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            data = (
                self._chunks()
                if self.headers.get("Transfer-Encoding") == "chunked"
                else self.rfile.read(length)
            )
            sent = rebased(body(data), [(replay.base, CLOUD)])
            found, fault = replay.answer(self.command, path_of(self.path), sent)
            if fault is not None and fault.silent:
                replay.over.wait()
                self.close_connection = True
                return
            if fault is not None and fault.reset:
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.close_connection = True
                self.connection.close()
                return
            if fault is not None and fault.slow:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while not replay.over.wait(_SLOW_S):
                    self.wfile.write(b" ")
                self.close_connection = True
                return
            self._say(found, fault)

        def _chunks(self) -> bytes:
            data = b""
            while size := int(self.rfile.readline(), 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data

        def _say(self, found: Exchange, fault: Fault | None) -> None:
            said = found.said
            if fault is not None and fault.change is None:
                said = fault.text or fault.said
            elif fault is not None and fault.change is not None and found.status < 300:
                said = fault.change(said)
            text = said if isinstance(said, str) else "" if said is None else json.dumps(said)
            data = text.replace(CLOUD, replay.base).encode()
            self.send_response(found.status)
            headers = {"Content-Type": "application/json"} | found.headers
            for name, value in headers.items():
                self.send_header(name, value.replace(CLOUD, replay.base))
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD" and found.status != 204:
                self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = _do  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    replay.base = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield replay
    finally:
        replay.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
