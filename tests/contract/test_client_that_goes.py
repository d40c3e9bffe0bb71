# SPDX-License-Identifier: Apache-2.0
"""A port that waits for its switch, and a switch that comes and goes."""

from __future__ import annotations

import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from weir.protocol import DataPlaneClient, DataPlaneError
from weir.protocol.configuration import Configure, PortConfig
from weir.protocol.ledger import Configured

OPENINGS = 3
IN_TIME = 3  # how often the client has to be
PATIENCE_S = 20.0
TRIES = 50
DEVICE = "net_virtio_user7"


def come_and_go(path: Path, came: set[int], enough: threading.Event) -> None:
    """Connects again and again, and closes at once; `came` has when each socket that it met was made."""
    deadline = time.monotonic() + PATIENCE_S
    while not enough.is_set() and time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                made_ns = path.stat().st_ctime_ns
                client.connect(str(path))
                came.add(made_ns)
            except (FileNotFoundError, ConnectionRefusedError):
                pass
        time.sleep(0.005)


def go_and_come_back(path: Path, went: set[int], enough: threading.Event) -> None:
    """Connects, closes, and connects again at once, as a switch does that reconfigures its port. Where that
    was in time for the socket that it had met, it waits until it is hung up on, for ever if it is not: no
    later opening finds a client then. `went` has that socket."""
    while not enough.is_set():
        first, met = connected(path, enough)
        first.close()
        second, now = connected(path, enough)
        with second:
            if now == met and hung_up_on(second, enough):
                went.add(met)


def connected(path: Path, enough: threading.Event) -> tuple[socket.socket, int]:
    """And when the socket was made that it met."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(0.01)
    made_ns = 0
    while not enough.is_set():
        with suppress(FileNotFoundError, ConnectionRefusedError, TimeoutError, BlockingIOError):
            made_ns = path.stat().st_ctime_ns
            client.connect(str(path))
            break
    return client, made_ns


def hung_up_on(client: socket.socket, enough: threading.Event) -> bool:
    while not enough.is_set():
        with suppress(TimeoutError):
            try:
                return client.recv(4096) == b""
            except ConnectionResetError:
                return True
    return False


@contextmanager
def met_by(switch: Callable[[Path, set[int], threading.Event], None]) -> Iterator[tuple[Configure, set[int]]]:
    """A port that waits for a switch that does so, and what the switch notes; no socket is left of it."""
    noted: set[int] = set()
    enough = threading.Event()
    with tempfile.TemporaryDirectory(prefix="weir-", dir="/tmp") as directory:
        path = Path(directory) / "port.sock"
        devargs = f"{DEVICE},path={path},queues=1,queue_size=256,packed_vq=1,server=1"
        thread = threading.Thread(target=switch, args=(path, noted, enough))
        thread.start()
        try:
            yield Configure(ports=(PortConfig(name="port", devargs=devargs),)), noted
        finally:
            enough.set()
            thread.join()
        assert not path.exists()


def test_a_client_that_comes_back_before_the_port_is_opened_again_is_hung_up_on_and_so_comes_once_more(
    weir_dp: DataPlaneClient,
) -> None:
    """Else it would wait for ever at the socket that the driver has left open, and weir-dp at another one."""
    with met_by(go_and_come_back) as (wanted, went):
        # The client is a thread of ours, in time when the scheduler likes: hence more tries than one. The
        # first time that it is in time and not hung up on, it stays, and no opening after that meets it.
        for _ in range(TRIES):
            with pytest.raises(DataPlaneError, match=f"cannot open {DEVICE}"):
                weir_dp.ask("configure", Configured, wanted, timeout_s=PATIENCE_S)
            if len(went) >= IN_TIME:
                break
        assert len(went) >= IN_TIME


def test_a_client_that_goes_at_once_is_waited_for_again_and_no_socket_is_left(
    weir_dp: DataPlaneClient,
) -> None:
    with met_by(come_and_go) as (wanted, came):
        with pytest.raises(DataPlaneError, match=f"cannot open {DEVICE}"):
            weir_dp.configure(wanted)
        assert len(came) == OPENINGS


def test_a_socket_that_no_path_is_short_enough_for_is_refused_with_how_long_it_may_be(
    weir_dp: DataPlaneClient,
) -> None:
    path = f"/tmp/{'x' * 120}"
    port = PortConfig(name="port", devargs=f"{DEVICE},path={path},queues=1,server=1")
    with pytest.raises(DataPlaneError, match=f"no socket can have the path {path}") as found:
        weir_dp.configure(Configure(ports=(port,)))
    assert found.value.expected == "a socket's path shorter than 108 bytes"
