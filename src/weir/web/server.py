# SPDX-License-Identifier: Apache-2.0
"""Listens, and serves until it is ended."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn

from weir.base.error import USAGE, WeirError
from weir.web.app import application
from weir.web.connection import Connection
from weir.web.guard import LOOPBACK_NAMES, TOKEN_CHARACTERS_LEAST, Access
from weir.web.live import Live
from weir.web.reading import Reading

TOKEN_BYTES = 24
IDLE_S = 15
"""Connections that ask for nothing are closed then."""
END_S = 3
"""Who reads slowly when it is ended has this long for the rest."""
BACKLOG = 16
"""Accepted at once, before one above the limit is closed."""


class ServeError(WeirError):
    """It cannot listen there, or the token will not do."""

    exit_code = USAGE


def access_for(address: str, token: str | None) -> Access:
    """On loopback without a token, unless one is given; elsewhere with one, made up where none is given.
    ServeError."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError as error:
        raise ServeError(f"--listen {address}: expected an address, such as 127.0.0.1 or 10.0.0.7") from error
    if token is not None and (
        len(token) < TOKEN_CHARACTERS_LEAST or not (token.isascii() and token.isprintable())
    ):
        raise ServeError(
            f"the token: expected {TOKEN_CHARACTERS_LEAST} printable ASCII characters or more, such as"
            " `openssl rand -hex 16` makes"
        )
    if token is None and not found.is_loopback:
        token = secrets.token_urlsafe(TOKEN_BYTES)
    return Access(LOOPBACK_NAMES | {address}, token)


def serve(  # noqa: PLR0917
    address: str,
    port: int,
    location: str | None,
    access: Access,
    model_path: Path | None,
    say: Callable[[str], None],
) -> None:
    """Until this process is told to end. `say` gets the address of the pages once it listens. ServeError."""
    reading = Reading(location)
    live = Live(reading)
    config = uvicorn.Config(
        application(reading, access, model_path, live),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=END_S,
        http=Connection,
        backlog=BACKLOG,
        lifespan="off",
        ws="none",
    )
    with _listening(address, port) as listening:
        say(_url(address, listening.getsockname()[1], access))
        try:
            _Server(config, live).run(sockets=[listening])
        finally:
            reading.close()


class _Server(uvicorn.Server):
    """Waits for no stream that would last as long as a run."""

    def __init__(self, config: uvicorn.Config, live: Live) -> None:
        super().__init__(config)
        self._live = live

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Of uvicorn: this process was told to end."""
        self._live.end()
        super().handle_exit(sig, frame)


def _listening(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address, port))
        made.listen(socket.SOMAXCONN)
    except OSError as error:
        made.close()
        raise ServeError(
            f"cannot listen on {address} port {port}: {error.strerror}; choose another --port or --listen"
        ) from error
    return made


def _url(address: str, port: int, access: Access) -> str:
    host = f"[{address}]" if ":" in address else address
    return f"http://{host}:{port}/" + (f"?token={access.token}" if access.token is not None else "")
