# SPDX-License-Identifier: Apache-2.0
"""A control plane function by Scapy, which speaks to a upf over a socket in a network namespace."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pyroute2 import IPRoute
from scapy.contrib import pfcp
from scapy.contrib.pfcp import PFCP
from scapy.packet import Packet as ScapyPacket

from weir.fabric import namespace

from . import pfcp_messages as messages
from . import pfcp_usage_messages as metering
from .replay import Options

N4 = "127.0.0.5"
PORT = 8805
SESSION_REPORT_REQUEST = 56
LOOPBACK = 1  # its index in every namespace


def upf(**more: int) -> tuple[str, Options]:
    """A user plane function whose sessions an SMF sets up, in a chain."""
    return "upf", {"sessions": 0, "sessions_max": 300, "n4_address": N4, **more}


@contextmanager
def network() -> Iterator[str]:
    """A new namespace, in which the loopback interface is up: its name."""
    name = f"weir-n4-{secrets.token_hex(4)}"
    namespace.create(name)
    try:
        with namespace.inside(name), IPRoute() as link:
            link.link("set", index=LOOPBACK, state="up")
        yield name
    finally:
        namespace.delete(name)


class ControlPlane:
    """One SMF; its requests are numbered."""

    def __init__(self, netns: str, ip: str = "127.0.0.9", answer_s: float = 5.0) -> None:
        with namespace.inside(netns):
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((ip, PORT))
        self._socket.connect((N4, PORT))
        self._socket.settimeout(answer_s)
        self.ip = ip
        self.sequence = 0
        self._reports: list[bytes] = []

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> ControlPlane:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def tell(self, message: bytes) -> bytes | None:
        """Sends it; the answer, or None: there was none."""
        self._socket.send(message)
        try:
            return self._answer()
        except TimeoutError:
            return None

    def _answer(self) -> bytes:
        """The next message that is no report: those are kept. TimeoutError: there is none."""
        while True:
            message = self._socket.recv(4096)
            if not is_report(message):
                return message
            self._reports.append(message)

    def report(self) -> PFCP:
        """The next one that nobody asked for, which is not answered. TimeoutError: there is none."""
        while not self._reports:
            message = self._socket.recv(4096)
            assert is_report(message), PFCP(message).summary()
            self._reports.append(message)
        read = PFCP(self._reports[0])
        assert bytes(read) == self._reports.pop(0)
        return read

    def hears_nothing(self, for_s: float = 0.3) -> bool:
        """No report comes in that time."""
        answer_s = self._socket.gettimeout()
        self._socket.settimeout(for_s)
        try:
            self.report()
        except TimeoutError:
            return True
        finally:
            self._socket.settimeout(answer_s)
        return False

    def tell_nothing(self, message: bytes) -> None:
        """Sends what nobody answers."""
        self._socket.send(message)

    def accept(self, report: PFCP, up_seid: int) -> None:
        """Says that it has the report."""
        self._socket.send(messages.of_session(up_seid, report.seq, metering.report_taken()))

    def tell_all(self, many: Sequence[bytes]) -> list[bytes]:
        """Sends them all, then takes as many answers. TimeoutError: there were fewer."""
        for message in many:
            self._socket.send(message)
        return [self._answer() for _ in many]

    def quiet(self, *sent: bytes) -> bool:
        """Nothing answers any of these, though a heartbeat behind them is answered."""
        for one in sent:
            self._socket.send(one)
        answer = self.ask(None, pfcp.PFCPHeartbeatRequest(IE_list=[messages.recovery()]))
        return isinstance(answer.payload, pfcp.PFCPHeartbeatResponse)

    def number(self, seid: int | None, message: ScapyPacket) -> bytes:
        """The message with the next number; `seid`: None for one of nodes."""
        self.sequence += 1
        if seid is None:
            return messages.of_nodes(self.sequence, message)
        return messages.of_session(seid, self.sequence, message)

    def ask(self, seid: int | None, message: ScapyPacket) -> PFCP:
        """Sends it with the next number; the answer, which has the same."""
        answer = self.tell(self.number(seid, message))
        assert answer is not None
        read = PFCP(answer)
        assert read.seq == self.sequence
        assert bytes(read) == answer
        return read

    def associate(self, since_s: int = messages.RECOVERY_S) -> PFCP:
        """Sets the association up, as an SMF that was started then."""
        began = messages.recovery(since_s)
        setup = pfcp.PFCPAssociationSetupRequest(IE_list=[messages.node(self.ip), began])
        return self.ask(None, setup)


def is_report(message: bytes) -> bool:
    """Whether it is a Session Report Request."""
    return message[1] == SESSION_REPORT_REQUEST


def cause(answer: PFCP) -> int:
    """Of a response."""
    return int(element(answer, pfcp.IE_Cause).cause)


def element(answer: ScapyPacket, kind: type[ScapyPacket]) -> ScapyPacket:
    """The first one of that kind in the message, or in a group of it."""
    return next(one for one in elements(answer) if isinstance(one, kind))


def elements(answer: ScapyPacket) -> Iterator[ScapyPacket]:
    """All of them, those in groups behind their group."""
    whole = answer.payload if isinstance(answer, PFCP) else answer
    for one in whole.IE_list:
        yield one
        if isinstance(one, pfcp.IE_Compound):
            yield from elements(one)
