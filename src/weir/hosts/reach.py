# SPDX-License-Identifier: Apache-2.0
"""Whether the head of a Ray cluster answers at all. Ray itself asks a dead one for minutes, in calls that no
signal interrupts."""

from __future__ import annotations

import os
import socket
import ssl
import time

from weir.hosts.times import FIRST_ANSWER_S
from weir.hosts.transport import HostsError

_SETTINGS, _PING, _ACK = 4, 6, 1
_HEADER_BYTES, _FRAME_BYTES_MAX, _FRAMES_MAX = 9, 16384, 32
_QUESTION = b"weir-dp?"


def _frame(kind: int, body: bytes) -> bytes:
    """Of HTTP/2, for the whole connection (RFC 9113, 4.1)."""
    return len(body).to_bytes(3, "big") + bytes((kind, 0, 0, 0, 0, 0)) + body


_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(_SETTINGS, b"") + _frame(_PING, _QUESTION)
"""What a client of gRPC says first (RFC 9113, 3.4), with empty settings; a server then says its own. The
PING has to be answered at once (6.7): so it is a server that is there, and not what once began to be one."""


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
    ends_s = time.monotonic() + FIRST_ANSWER_S
    connection.sendall(_PREFACE)
    for number in range(_FRAMES_MAX):
        header = _read(connection, _HEADER_BYTES, ends_s)
        length, kind, flags = int.from_bytes(header[:3], "big"), header[3], header[4]
        if length > _FRAME_BYTES_MAX or (number == 0 and kind != _SETTINGS):
            break
        body = _read(connection, length, ends_s)
        if kind == _PING and flags & _ACK and body == _QUESTION:
            return
    raise ConnectionError("what listens there does not answer as a server of HTTP/2 does")


def _read(connection: socket.socket, length: int, ends_s: float) -> bytes:
    """So many bytes. OSError, TimeoutError too: however slowly they come."""
    found = b""
    while len(found) < length:
        left_s = ends_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("timed out")
        connection.settimeout(left_s)
        more = connection.recv(length - len(found))
        if not more:
            raise ConnectionError("it closed the connection")
        found += more
    return found


def _context() -> ssl.SSLContext:
    """With this machine's certificate, and without a look at the other's, which is Ray's to judge."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    made.set_alpn_protocols(["h2"])
    certificate, key = (os.environ.get(f"RAY_TLS_SERVER_{name}") for name in ("CERT", "KEY"))
    if certificate and key:
        made.load_cert_chain(certificate, key)
    return made
