# SPDX-License-Identifier: Apache-2.0
"""What FastClick's elements have dropped, by its ControlSocket (Click's documentation of elements).

A request is a line, READ ELEMENT.HANDLER; the answer a line with a code, a line "DATA n", and n bytes.
"""

from __future__ import annotations

import socket
from pathlib import Path

from weir.base.error import FabricError
from weir.base.node import PROGRAM_DIRECTORY
from weir.catalogue.fastclick import SOCKET
from weir.fabric.function.lost import Lost, why_not
from weir.fabric.site import Site
from weir.lab.kernel import SIDES

_ANSWER_S = 5.0
_OK = "200"
_COUNTERS = "Counter"


class ControlSocket:
    """A router's, kept open."""

    def __init__(self, who: str, path: Path) -> None:
        """OSError, ValueError."""
        self._who = who
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_ANSWER_S)
        try:
            self._socket.connect(str(path))
            self._lines = self._socket.makefile("rb")
            self._line()  # whose version it is
            self._elements = self._read("list").split()[1:]
        except BaseException:
            self._socket.close()
            raise

    def close(self) -> None:
        """Ends the connection."""
        self._lines.close()
        self._socket.close()

    def lost(self) -> list[Lost]:
        """Since it was started. FabricError if it does not say."""
        try:
            found = [
                Lost("/program", name, int(self._read(f"{name}.count")))
                for name in self._elements
                if "@" not in name and self._read(f"{name}.class") == _COUNTERS
            ]
            for at, side in enumerate(SIDES):
                found.append(Lost(f".{side}", "tx_queue_full", int(self._read(f"out{at}.dropped"))))
        except (OSError, ValueError) as error:
            raise FabricError(
                f"{self._who} does not tell by its ControlSocket what it dropped: {why_not(error)}",
                "see its log",
            ) from error
        return found

    def _line(self) -> str:
        line = self._lines.readline()
        if not line:
            raise ValueError("it has closed the connection")
        return line.decode().strip()

    def _read(self, handler: str) -> str:
        self._socket.sendall(f"READ {handler}\r\n".encode())
        code = self._line()
        if not code.startswith(_OK):
            raise ValueError(f"{handler}: {code}")
        length = int(self._line().removeprefix("DATA "))
        return self._lines.read(length).decode().strip()


def fastclick(site: Site, node: str, who: str) -> ControlSocket:
    """Of that function. FabricError if its socket is not there."""
    path = site.directory / PROGRAM_DIRECTORY.format(node) / SOCKET
    try:
        return site.kept(f"fastclick:{node}", lambda: ControlSocket(who, path))
    except (OSError, ValueError) as error:
        raise FabricError(f"{who} does not answer at {path}: {error!r}", "see its log") from error
