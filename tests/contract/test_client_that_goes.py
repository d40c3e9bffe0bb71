# SPDX-License-Identifier: Apache-2.0
"""A port that waits for its switch, and a switch that comes and goes."""

from __future__ import annotations

import socket
import tempfile
import threading
import time
from pathlib import Path

import pytest

from weir.protocol import DataPlaneClient, DataPlaneError
from weir.protocol.configuration import Configure, PortConfig

OPENINGS = 3
PATIENCE_S = 20.0


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


def test_a_client_that_goes_at_once_is_waited_for_again_and_no_socket_is_left(
    weir_dp: DataPlaneClient,
) -> None:
    came: set[int] = set()
    enough = threading.Event()
    with tempfile.TemporaryDirectory(prefix="weir-", dir="/tmp") as directory:
        path = Path(directory) / "port.sock"
        devargs = f"net_virtio_user7,path={path},queues=1,queue_size=256,packed_vq=1,server=1"
        switch = threading.Thread(target=come_and_go, args=(path, came, enough))
        switch.start()
        try:
            with pytest.raises(DataPlaneError, match="cannot open net_virtio_user7"):
                weir_dp.configure(Configure(ports=(PortConfig(name="port", devargs=devargs),)))
        finally:
            enough.set()
            switch.join()
        assert len(came) == OPENINGS
        assert not path.exists()
