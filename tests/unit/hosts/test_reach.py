# SPDX-License-Identifier: Apache-2.0
"""A head that does not answer is told at once, before Ray asks it for minutes."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from weir.hosts import by_ray, reach
from weir.hosts.reach import require_head
from weir.hosts.transport import HostsError

SETTINGS = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
PONG = bytes((0, 0, 8, 6, 1, 0, 0, 0, 0)) + b"weir-dp?"


def answering(server: socket.socket, answer: bytes) -> threading.Thread:
    """One connection: what is said first is read, then answered, with TLS where the server has that."""

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            assert connection.recv(1024).startswith(b"PRI * HTTP/2.0")
            connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def address(server: socket.socket) -> str:
    return "{}:{}".format(*server.getsockname())


def test_one_that_speaks_http2_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = answering(server, SETTINGS + bytes((0, 0, 4, 8, 0, 0, 0, 0, 0)) + b"1234" + PONG)
        require_head(address(server))
        thread.join()


def test_nobody_there_one_that_says_nothing_and_one_that_hangs_up_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reach, "FIRST_ANSWER_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = address(server)
        with pytest.raises(HostsError, match=f"no head of a Ray cluster answers at {place}: timed out; exp"):
            require_head(place)
        server.accept()[0].close()
        thread = answering(server, b"")
        with pytest.raises(HostsError, match="it closed the connection"):
            require_head(place)
        thread.join()
    with pytest.raises(HostsError, match="Connection refused"):
        require_head(place)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b"SSH-2.0-OpenSSH_9.2p1\r\n", "does not answer as a server of HTTP/2"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not answer as a server of HTTP/2"),
        (bytes((21, 3, 3, 0, 2, 2, 70)) * 9, "does not answer as a server of HTTP/2"),
        (SETTINGS, "it closed the connection"),
        (SETTINGS * 40, "does not answer as a server of HTTP/2"),
        (PONG, "does not answer as a server of HTTP/2"),
    ],
    ids=["ssh", "http", "alerts", "settings alone", "settings without end", "no settings"],
)
def test_what_else_listens_there_is_no_head(answer: bytes, says: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = answering(server, answer)
        with pytest.raises(HostsError, match=says):
            require_head(address(server))
        thread.join()


def test_one_that_says_a_byte_now_and_then_has_no_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "FIRST_ANSWER_S", 0.3)
    gone = threading.Event()

    def trickle(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection, suppress(OSError):
            while not gone.wait(0.05):
                connection.sendall(b"\0")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=trickle, args=(server,))
        thread.start()
        with pytest.raises(HostsError, match="timed out"):
            require_head(address(server))
        gone.set()
        thread.join()


def test_ray_is_not_asked_then(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = MagicMock()
    monkeypatch.setattr(by_ray, "import_module", lambda _name: ray)
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = address(server)
    with pytest.raises(HostsError, match="no head"):
        by_ray.RayHosts(place)
    ray.init.assert_not_called()
    by_ray.RayHosts("auto")
    ray.init.assert_called_once()


def test_with_tls_it_is_asked_by_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = tmp_path / "crt", tmp_path / "key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
         "/CN=head", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificate)
    context.load_cert_chain(certificate, key)
    context.verify_mode = ssl.CERT_REQUIRED
    monkeypatch.setenv("RAY_USE_TLS", "1")
    monkeypatch.setenv("RAY_TLS_SERVER_CERT", str(certificate))
    monkeypatch.setenv("RAY_TLS_SERVER_KEY", str(key))
    with context.wrap_socket(socket.create_server(("127.0.0.1", 0)), server_side=True) as server:
        thread = answering(server, SETTINGS + bytes((0, 0, 4, 8, 0, 0, 0, 0, 0)) + b"1234" + PONG)
        require_head(address(server))
        thread.join()
