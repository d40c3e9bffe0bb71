# SPDX-License-Identifier: Apache-2.0
"""Sessions of a upf that come, change and go: byte by byte against Scapy's GTP-U, and under traffic of
others, which loses nothing."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet as ScapyPacket

from tests.polled_core import CORE
from weir import plan
from weir.base.node import Direction
from weir.lab import Lab
from weir.measure.accounting import balance, seen
from weir.measure.tester import Stream
from weir.protocol import DataPlaneClient, DataPlaneError
from weir.protocol.ledger import NfReport
from weir.protocol.traffic import TrafficConfigure

from .frames import framed
from .one_function import Way, data_plane, running
from .replay import Dropped, Forwarded, Replay, replay

N3, GNB, OTHER_GNB, SERVER = "192.0.2.1", "192.0.2.2", "192.0.2.3", "203.0.113.9"
TEID_FIRST = 0x1000
ROOM = 300  # and so places are the lowest nine bits above the first TEID
PLACE_BITS = 9


def teid(place: int, above: int) -> int:
    """A TEID that leads to that place."""
    return (TEID_FIRST + place + (above << PLACE_BITS)) % (1 << 32)


def up(tunnel: int, ue: str) -> tuple[bytes, bytes]:
    """What a gNB sends of that UE, and what the UE sent."""
    user = IP(src=ue, dst=SERVER) / UDP(sport=4000, dport=53) / b"from the UE, and not short"
    outer = IP(src=GNB, dst=N3) / UDP(sport=2152, dport=2152)
    header = GTP_U_Header(teid=tunnel, gtp_type=255) / GTPPDUSessionContainer(type=1, QFI=5)
    return framed(outer / header / user), framed(user)


def down(ue: str) -> ScapyPacket:
    return IP(src=SERVER, dst=ue) / UDP(sport=53, dport=4000) / b"for the UE, and not short"


def arrives(chain: Replay, ue: str) -> tuple[str, int, int]:
    """To which gNB, in which of its tunnels, as which QoS flow a packet for that UE goes, whole."""
    outcome = chain.send(framed(down(ue)), "inbound")
    assert isinstance(outcome, Forwarded)
    assert outcome.frame.endswith(bytes(down(ue)))
    seen = Ether(outcome.frame)
    again = seen[IP].copy()
    del again.chksum
    assert IP(bytes(again)).chksum == seen[IP].chksum
    return seen[IP].dst, seen[GTP_U_Header].teid, seen[GTPPDUSessionContainer].QFI


def figures(report: NfReport, *names: str) -> tuple[int, ...]:
    """Over all workers."""
    return tuple(sum(of_area[name] for of_area in report.figures.values()) for name in names)


def test_a_session_is_added_handed_over_and_removed_between_packets_of_others() -> None:
    mine, others = "10.46.0.1", "10.45.0.1"
    options = {"sessions": 4, "sessions_max": ROOM, "teid_first": TEID_FIRST, "gnb_teid_first": 0x9000}
    tunnel = teid(7, 0x5A5A5)
    frame, inside = up(tunnel, mine)
    frame_of_others, inside_of_others = up(TEID_FIRST, others)
    with replay(("upf", options)) as chain:
        assert chain.send(frame) == Dropped("unknown_teid", "upf")
        chain.command("upf0", "sessions-add", sessions=f"ue={mine} teid={tunnel} gnb={GNB} gnb_teid=77 qfi=5")
        for _ in range(3):
            assert chain.send_all([frame, frame_of_others]) == [
                Forwarded(inside),
                Forwarded(inside_of_others),
            ]
        assert arrives(chain, mine) == (GNB, 77, 5)
        assert chain.send(up(teid(7, 0x5A5A4), mine)[0]) == Dropped("unknown_teid", "upf")
        chain.command("upf0", "sessions-modify", sessions=f"ue={mine} gnb={OTHER_GNB} gnb_teid=4000000000")
        assert arrives(chain, mine) == (OTHER_GNB, 4000000000, 5)
        assert arrives(chain, others) == (GNB, 0x9000, 9)
        assert chain.send(frame) == Forwarded(inside)
        chain.command("upf0", "sessions-modify", sessions=f"ue={mine} gate_uplink=closed downlink=drop")
        assert chain.send(frame) == Dropped("gate_closed", "upf")
        assert chain.send(framed(down(mine)), "inbound") == Dropped("forwarding_action", "upf")
        with pytest.raises(DataPlaneError, match=r"there is no session of ue=10\.46\.0\.2"):
            chain.command("upf0", "sessions-remove", sessions=f"ue={mine}, ue=10.46.0.2")
        chain.command("upf0", "sessions-remove", sessions=f"ue={mine}")
        assert chain.send(frame) == Dropped("unknown_teid", "upf")
        assert chain.send(framed(down(mine)), "inbound") == Dropped("unknown_ue", "upf")
        assert chain.send(frame_of_others) == Forwarded(inside_of_others)
        report = chain.report("upf0")
    passed = {counter.labels["direction"]: counter.packets for counter in report.counters}
    assert passed == {"uplink": 8, "downlink": 3}
    assert figures(report, "sessions", "sessions_max", "sessions_added", "sessions_modified") == (
        4,
        ROOM,
        1,
        2,
    )
    assert figures(report, "sessions_removed") == (1,)


@pytest.mark.long
def test_sessions_at_random_are_those_of_a_plain_dictionary() -> None:
    dice = random.Random(29)
    known: dict[str, tuple[int, str, int]] = {}  # UE: its TEID, its gNB and its TEID there
    places = list(range(ROOM))
    dice.shuffle(places)
    ues = [f"10.46.{number // 200}.{number % 200 + 1}" for number in range(400)]
    with replay(("upf", {"sessions": 0, "sessions_max": ROOM, "teid_first": TEID_FIRST})) as chain:
        for _ in range(20):
            new = dice.sample([ue for ue in ues if ue not in known], min(len(places), dice.randrange(1, 40)))
            for ue in new:
                gnb = dice.choice((GNB, OTHER_GNB))
                known[ue] = teid(places.pop(), dice.getrandbits(23)), gnb, dice.getrandbits(32) or 1
            chain.command("upf0", "sessions-add", sessions=",".join(_words(ue, known[ue]) for ue in new))
            moved = dice.sample(sorted(known), dice.randrange(1, len(known) + 1))[:100]
            for ue in moved:
                known[ue] = known[ue][0], dice.choice((GNB, OTHER_GNB)), dice.getrandbits(32) or 1
            words = [f"ue={ue} gnb={known[ue][1]} gnb_teid={known[ue][2]}" for ue in moved]
            chain.command("upf0", "sessions-modify", sessions=",".join(words))
            gone = dice.sample(sorted(known), dice.randrange(1, len(known) + 1))[:100]
            chain.command("upf0", "sessions-remove", sessions=",".join(f"ue={ue}" for ue in gone))
            left = [known.pop(ue)[0] for ue in gone]
            places += [(one - TEID_FIRST) % (1 << PLACE_BITS) for one in left]
            dice.shuffle(places)
            asked = dice.sample(sorted(known), min(5, len(known)))
            frames = [up(known[ue][0], ue) for ue in asked]
            assert chain.send_all([sent for sent, _ in frames]) == [Forwarded(inside) for _, inside in frames]
            assert [arrives(chain, ue)[:2] for ue in asked] == [known[ue][1:] for ue in asked]
            assert chain.send(up(left[0], gone[0])[0]) == Dropped("unknown_teid", "upf")
            assert figures(chain.report("upf0"), "sessions") == (len(known),)


def _words(ue: str, session: tuple[int, str, int]) -> str:
    return f"ue={ue} teid={session[0]} gnb={session[1]} gnb_teid={session[2]}"


STANDING = 8  # sessions with traffic, each a stream each way
WORKERS = 3
DURATION_NS = 400_000_000


@pytest.fixture(scope="module")
def client() -> Iterator[DataPlaneClient]:
    with data_plane() as connected:
        yield connected


def configuration(way: Way) -> dict[str, Any]:
    """A gnb, and behind it the upf, which runs that way; all on one core."""
    shared = {"sessions": STANDING, "teid_first": TEID_FIRST}
    lab = Lab.model_validate(
        {
            "weir": 1,
            "name": "sessions",
            "chain": [["ran", "upf"]],
            "technology": "direct",
            "technologies": {"direct": {"wire": "memory"}},
            "functions": {
                "ran": {"nf": "gnb", "options": shared},
                "upf": {"nf": "upf", "options": {**shared, "sessions_max": ROOM}, **way},
            },
            "cores": {"tester": [CORE], "functions": [CORE], "switch": [CORE]},
        }
    )
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "sessions-00000000")
    return plan.configure(topology, lab).arguments()


def streams() -> list[dict[str, Any]]:
    """Of each standing session one up and one down."""
    made = []
    for number in range(2 * STANDING):
        there = number < STANDING
        sides = ("tester.left", "tester.right")
        addresses = (f"10.45.0.{1 + number % STANDING}", SERVER)
        template = {
            "src_mac": "02:00:00:00:00:01",
            "dst_mac": "02:00:00:00:00:02",
            "src_ip": addresses[not there],
            "dst_ip": addresses[there],
        }
        made.append(
            {
                "id": number,
                "port": sides[not there],
                "to": sides[there],
                "frame": {"bytes": 128},
                "template": template,
            }
        )
    return made


def ends(stream: Mapping[str, Any]) -> Stream:
    direction: Direction = "left-to-right" if stream["id"] < STANDING else "right-to-left"
    return Stream(stream["id"], direction, stream["port"], stream["to"])


def of_worker(place: int, number: int) -> int:
    """A TEID of that place which leads to the worker of UE 10.45.0.1 + `number`."""
    return next(
        teid(place, above)
        for above in itertools.count(0x1234)
        if (place + above) % WORKERS == number % WORKERS
    )


@pytest.mark.parametrize(
    "way",
    [{"architecture": "run-to-completion"}, {"architecture": "dispatch", "workers": WORKERS}],
    ids=lambda way: way["architecture"],
)
def test_while_sessions_come_change_and_go_those_that_stay_lose_no_packet(
    client: DataPlaneClient, way: Way
) -> None:
    come = range(STANDING, STANDING + 100)  # their UEs follow the others
    ues = [f"10.45.0.{1 + number}" for number in come]
    added = ",".join(
        f"ue={ue} teid={of_worker(number, number)} gnb_teid=5" for ue, number in zip(ues, come, strict=True)
    )
    rewritten = ",".join(
        f"ue=10.45.0.{1 + number} gnb={GNB} gnb_teid={1 + number} mbr_uplink_bps=1000000000"
        for number in range(STANDING)
    )
    gone = ",".join(f"ue={ue}" for ue in ues)
    area = "f2" if way["architecture"] == "run-to-completion" else "f2.dispatcher"
    changes = (("sessions-add", added), ("sessions-modify", rewritten), ("sessions-remove", gone))
    offered, rounds = streams(), 0
    with running(client, configuration(way)):
        client.configure_traffic(TrafficConfigure.model_validate({"streams": offered}))
        before = seen(client.ledger(), ())
        client.start_traffic({one["id"]: 2_000 for one in offered}, DURATION_NS, 50_000_000)
        while (result := client.traffic_result(1)) is None:
            for name, sessions in changes:
                client.command(area, "upf", name, {"sessions": sessions})
            rounds += 1
        after = seen(client.ledger(), ())
        report = client.report(area, "upf")
    account = balance(before, after, result, [ends(one) for one in offered])
    workers = 1 if area == "f2" else WORKERS
    assert rounds >= 3
    assert figures(report, "sessions", "sessions_added", "sessions_modified", "sessions_removed") == tuple(
        workers * many for many in (STANDING, 100 * rounds, STANDING * rounds, 100 * rounds)
    )
    assert not [drop for drop in account.drops if drop.packets]
    assert account.unaccounted == 0
    assert account.delivered == account.offered > 0
    for stream in result.streams:
        assert (stream.reordered, stream.duplicates, stream.too_late) == (0, 0, 0)
