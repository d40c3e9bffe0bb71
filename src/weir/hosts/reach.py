# SPDX-License-Identifier: Apache-2.0
"""Whether the head of a Ray cluster answers at all. Ray itself asks a dead one for minutes, in calls that no
signal interrupts."""

from __future__ import annotations

import os
import socket
import ssl

from weir.hosts.times import FIRST_ANSWER_S
from weir.hosts.transport import HostsError

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""What a client of gRPC says first (RFC 9113, 3.4), with empty settings; a server then says its own."""


def require_head(address: str) -> None:
    """`address`: HOST:PORT. HostsError if nothing that speaks gRPC answers there in FIRST_ANSWER_S; with TLS
    where Ray's environment asks for it. Who is there, and whether it takes this one, Ray finds out."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), FIRST_ANSWER_S) as plain:
            plain.settimeout(FIRST_ANSWER_S)
            if os.environ.get("RAY_USE_TLS", "0").lower() not in ("1", "true"):
                _require_answer(plain)
                return
            with _context().wrap_socket(plain, server_hostname=host.strip("[]")) as wrapped:
                _require_answer(wrapped)
    except OSError as error:  # of time-outs, names and TLS too
        why = error.strerror or str(error) or type(error).__name__
        raise HostsError(
            f"no head of a Ray cluster answers at {address}: {why}; expected one that runs (`ray start "
            "--head`) and that this machine can reach"
        ) from error


def _require_answer(connection: socket.socket) -> None:
    connection.sendall(_PREFACE)
    if not connection.recv(1):
        raise ConnectionError("it closed the connection")


def _context() -> ssl.SSLContext:
    """With this machine's certificate, and without a look at the other's, which is Ray's to judge."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    made.set_alpn_protocols(["h2"])
    certificate, key = (os.environ.get(f"RAY_TLS_SERVER_{name}") for name in ("CERT", "KEY"))
    if certificate and key:
        made.load_cert_chain(certificate, key)
    return made
