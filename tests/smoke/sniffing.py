# SPDX-License-Identifier: Apache-2.0
"""What comes in at an interface, as a socket of the kernel sees it."""

from __future__ import annotations

import socket
import threading
import time

from weir.fabric import namespace


class Sniffing:
    """What comes in at an interface of a namespace during the body."""

    def __init__(self, netns: str, interface: str, seen: list[bytes]) -> None:
        self._netns, self._interface, self._seen = netns, interface, seen
        self._ends = threading.Event()
        self._ready = threading.Event()

    def __enter__(self) -> None:
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        assert self._ready.wait(5)

    def __exit__(self, *_: object) -> None:
        time.sleep(0.1)
        self._ends.set()
        self._thread.join()

    def _look(self) -> None:
        with (
            namespace.inside(self._netns),
            socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as ear,
        ):
            ear.bind((self._interface, 3))
            ear.settimeout(0.05)
            self._ready.set()
            while not self._ends.is_set():
                try:
                    frame, (_, _, kind, *_) = ear.recvfrom(65536)
                except TimeoutError:
                    continue
                if kind != socket.PACKET_OUTGOING:
                    self._seen.append(frame)
