# SPDX-License-Identifier: Apache-2.0
"""While an SMF sets up, hands over and deletes sessions by PFCP, those of others lose no packet."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from scapy.contrib import pfcp

from tests.polled_core import CORE
from weir import plan
from weir.lab import Lab
from weir.measure.accounting import balance, seen
from weir.protocol import DataPlaneClient
from weir.protocol.traffic import TrafficConfigure

from . import pfcp_messages as messages
from .control_plane import N4, ControlPlane
from .one_function import Way, data_plane, running
from .test_upf_sessions import STANDING, ends, streams

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace: run as root"),
    pytest.mark.long,
]

SESSIONS = 2000
DURATION_NS = 1_500_000_000
WINDOW = 32
UE_FIRST = int.from_bytes(socket.inet_aton("10.50.0.1"), "big")


@pytest.fixture(scope="module")
def client() -> Iterator[DataPlaneClient]:
    with data_plane() as connected:
        yield connected


def configuration(way: Way) -> dict[str, Any]:
    lab = Lab.model_validate(
        {
            "weir": 1,
            "name": "n4",
            "chain": [["ran", "upf"]],
            "technology": "direct",
            "technologies": {"direct": {"wire": "memory"}},
            "functions": {
                "ran": {"nf": "gnb", "options": {"sessions": STANDING, "teid_first": 0x1000}},
                "upf": {
                    "nf": "upf",
                    "options": {
                        "sessions": STANDING,
                        "teid_first": 0x1000,
                        "sessions_max": 2 * SESSIONS,
                        "n4_address": N4,
                    },
                    **way,
                },
            },
            "cores": {"tester": [CORE], "functions": [CORE], "switch": [CORE]},
        }
    )
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "n4-00000000")
    return plan.configure(topology, lab).arguments()


class Requests:
    """Of many sessions, from one that Scapy wrote: Scapy takes milliseconds for each."""

    def __init__(self) -> None:
        self._opened = messages.of_session(0, 0, messages.establishment())
        self._moved = messages.of_session(0, 0, messages.handover())
        self._closed = messages.of_session(0, 0, pfcp.PFCPSessionDeletionRequest())
        self._ue = socket.inet_aton(messages.UE)

    @staticmethod
    def _numbered(message: bytes, seid: int, sequence: int) -> bytes:
        return message[:4] + struct.pack(">QI", seid, sequence << 8) + message[16:]

    def opening(self, number: int, sequence: int) -> bytes:
        """Of the UE of that number."""
        ue = (UE_FIRST + number).to_bytes(4, "big")
        return self._numbered(self._opened.replace(self._ue, ue), 0, sequence)

    def moving(self, seid: int, sequence: int) -> bytes:
        """To the other gNB."""
        return self._numbered(self._moved, seid, sequence)

    def closing(self, seid: int, sequence: int) -> bytes:
        return self._numbered(self._closed, seid, sequence)


def in_a_window(smf: ControlPlane, requests: list[bytes]) -> list[bytes]:
    """The answers, in the order of the requests, of which some are under way at a time."""
    answers: list[bytes] = []
    for begin in range(0, len(requests), WINDOW):
        answers += smf.tell_all(requests[begin : begin + WINDOW])
    return answers


@pytest.mark.parametrize(
    "way",
    [{"architecture": "run-to-completion"}, {"architecture": "dispatch", "workers": 3}],
    ids=lambda way: way["architecture"],
)
def test_while_an_smf_changes_sessions_others_lose_no_packet(
    client: DataPlaneClient, netns: str, way: Way
) -> None:
    area = "f2" if way["architecture"] == "run-to-completion" else "f2.dispatcher"
    made, offered, requests = 0, streams(), Requests()
    ended = threading.Event()
    causes: set[int] = set()

    def change() -> None:
        nonlocal made
        with ControlPlane(netns) as smf:
            smf.associate()
            while not ended.is_set():
                count, first = min(SESSIONS, 4 * WINDOW), smf.sequence + 1
                opened = in_a_window(smf, [requests.opening(i, first + i) for i in range(count)])
                seids = [int.from_bytes(answer[35:43], "big") for answer in opened]
                moved = [requests.moving(seid, first + count + i) for i, seid in enumerate(seids)]
                closed = [requests.closing(seid, first + 2 * count + i) for i, seid in enumerate(seids)]
                causes.update(answer[29] for answer in opened)
                causes.update(answer[20] for answer in in_a_window(smf, moved + closed))
                smf.sequence += 3 * count
                made += count

    with running(client, configuration(way)):
        client.listen(area, "upf", f"/run/netns/{netns}")
        client.configure_traffic(TrafficConfigure.model_validate({"streams": offered}))
        before = seen(client.ledger(), ())
        thread = threading.Thread(target=change)
        client.start_traffic({one["id"]: 2_000 for one in offered}, DURATION_NS, 50_000_000)
        thread.start()
        while (result := client.traffic_result(100)) is None:
            pass
        ended.set()
        thread.join()
        after = seen(client.ledger(), ())
        figures = list(client.report(area, "upf").figures.values())
    account = balance(before, after, result, [ends(one) for one in offered])
    assert causes == {1}
    assert made >= WINDOW
    assert all(
        (one["sessions"], one["sessions_added"], one["sessions_modified"]) == (STANDING, made, made)
        for one in figures
    )
    assert not [drop for drop in account.drops if drop.packets]
    assert account.delivered == account.offered > 0
    for stream in result.streams:
        assert (stream.reordered, stream.duplicates, stream.too_late) == (0, 0, 0)
