# SPDX-License-Identifier: Apache-2.0
"""Entries of the fast path in an XDP program: the same frames leave as without it, and are counted."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyroute2 import IPRoute
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_Router_Alert
from scapy.layers.l2 import Dot1Q, Ether

from tests.polled_core import CORE
from tests.private_data_plane import private_data_plane
from weir.fabric import namespace
from weir.lab.function import FunctionOptions
from weir.lab.traffic import Flows
from weir.protocol import DataPlaneClient, DataPlaneError
from weir.protocol.configuration import Configure
from weir.protocol.ledger import PathLedger

from .tiny import tiny_lab
from .trials import trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

ETH_P_ALL = 0x0003
STAG = ("tx-vlan-stag-hw-insert", "off")
HOPS = {port: f"02:00:00:00:01:{port:02x}" for port in (1, 2)}
FLOWS = range(6000, 6004)
ELEPHANT = 8  # packets within a quarter of a second
NAT = {"nf": "nat", "name": "nat", "options": {"external": "192.0.2.1"}}
FIREWALL = {"nf": "firewall", "name": "firewall", "options": {"default": "permit"}}
L3FWD = {"nf": "l3fwd", "name": "l3fwd", "options": {"route_list": f"0.0.0.0/0 {HOPS[1]}"}}


@contextmanager
def wires(*, finished: bool = True) -> Iterator[str]:
    """A namespace with two veth pairs, a0-a1 and b0-b1, that leave nothing to a card."""
    name = f"weirtest-{secrets.token_hex(3)}"
    namespace.create(name)
    try:
        with namespace.inside(name), IPRoute() as route:
            Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
            for pair in "ab":
                route.link("add", ifname=f"{pair}0", kind="veth", state="up", peer={"ifname": f"{pair}1"})
                route.link("set", ifname=f"{pair}1", state="up")
            for end in ("a0", "a1", "b0", "b1") if finished else ():
                subprocess.run(
                    ["ethtool", "-K", end, "tx", "off", "txvlan", "off", *STAG],
                    check=True,
                    capture_output=True,
                )
        yield name
    finally:
        namespace.delete(name)


class Chain:
    """Functions of weir-dp between two wires, and the raw sockets at their far ends."""

    def __init__(self, client: DataPlaneClient, left: socket.socket, right: socket.socket, name: str) -> None:
        self.client, self.left, self.right, self.namespace = client, left, right, name

    def path(self, name: str = "outbound") -> PathLedger:
        return next(path for path in self.client.ledger().areas[0].paths if path.name == name)

    def sent(self, frame: bytes) -> bytes | None:
        """What it becomes; None: nothing comes out. An answer of the last frame never is another's."""
        before = self.path()
        self.left.send(frame)
        try:
            return self.right.recv(4096)
        except TimeoutError:
            after = self.path()
            assert after.rx_packets == before.rx_packets + 1
            return None

    def until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + 10
        while not holds():
            assert time.monotonic() < end, self.path()
            time.sleep(0.02)

    def make_elephants(self, packets: int = 40) -> None:
        for _ in range(packets):
            for flow in FLOWS:
                assert self.sent(udp(flow)) is not None

    def change_route(self, port: int) -> None:
        self.client.command("chain", "l3fwd", "route-add", {"prefix": "0.0.0.0/0", "next_hop": HOPS[port]})


@contextmanager
def chain(*stages: dict[str, Any], offload: dict[str, Any] | None) -> Iterator[Chain]:
    """Both ways through the functions; the outbound way is from a to b."""
    with (
        wires() as name,
        private_data_plane(CORE, memory_mb=256, huge=False) as path,
        DataPlaneClient(path, connect_s=20) as client,
        opened(name, "a0") as left,
        opened(name, "b0") as right,
    ):
        configured(client, configuration(name, stages, offload))
        client.start()
        yield Chain(client, left, right, name)


def configured(client: DataPlaneClient, request: Configure) -> None:
    """Skips where this weir-dp cannot: CI's and the packages' can."""
    try:
        client.configure(request)
    except DataPlaneError as error:
        skip_without_xdp(error)
        raise


def skip_without_xdp(error: DataPlaneError) -> None:
    if "was built without offload" in str(error):
        pytest.skip(str(error))


def configuration(
    name: str, stages: tuple[dict[str, Any], ...], offload: dict[str, Any] | None, kind: str = "packet_socket"
) -> Configure:
    port: dict[str, Any] = {"kind": kind}
    if kind == "packet_socket":
        port["netns"] = f"/run/netns/{name}"
    ports = [{"name": end, **port, **({"interface": f"{end}1"} if len(port) > 1 else {})} for end in "ab"]
    again = [{"nf": stage["nf"], "name": stage["name"]} for stage in reversed(stages)]
    paths = [
        {"name": "outbound", "direction": "outbound", "in": "a", "stages": list(stages), "out": "b"},
        {"name": "inbound", "direction": "inbound", "in": "b", "stages": again, "out": "a"},
    ]
    area = {"name": "chain", "core": CORE, "kind": "chain", "paths": paths, "fastpath_flows": 1024}
    return Configure.model_validate({"ports": ports, "areas": [{**area, "offload": offload}], "mbufs": 4096})


def opened(name: str, interface: str) -> socket.socket:
    with namespace.inside(name):
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    raw.setsockopt(263, 23, 1)  # PACKET_IGNORE_OUTGOING
    raw.bind((interface, ETH_P_ALL))
    raw.settimeout(0.25)
    return raw


def ethernet() -> Ether:
    return Ether(src="02:00:00:00:00:0a", dst="02:00:00:00:00:0b")


def udp(port: int, payload: bytes = b"x" * 30, **ip: Any) -> bytes:
    return bytes(
        ethernet() / IP(src="10.0.0.1", dst="198.51.100.1", **ip) / UDP(sport=port, dport=53) / payload
    )


def mixture() -> list[bytes]:
    """Of known flows, and what must not be taken for them."""
    flow = FLOWS[0]
    to: dict[str, Any] = {"src": "10.0.0.1", "dst": "198.51.100.1"}
    ports: dict[str, Any] = {"sport": flow, "dport": 53}
    unsummed = bytes(ethernet() / IP(**to) / UDP(**ports, chksum=0) / b"no checksum")
    return [
        udp(flow, b"odd"),
        udp(FLOWS[1], bytes(1400)),
        udp(flow, ttl=1),
        udp(flow, ttl=2),
        udp(flow, tos=184, id=7),
        unsummed,
        udp(flow, b"a" * 64, flags="MF"),
        udp(flow, b"a" * 64, frag=8),
        udp(flow, options=[IPOption_Router_Alert()]),
        udp(flow, chksum=0x1234),
        udp(flow)[:36],
        udp(flow) + bytes(20),  # padding behind the packet
        bytes(Ether(src="02:00:00:00:00:0a", dst="01:00:5e:00:00:01") / IP(**to) / UDP(**ports) / b"group"),
        bytes(ethernet() / Dot1Q(vlan=5) / IP(**to) / UDP(**ports) / b"tagged"),
        bytes(ethernet() / IP(**to) / ICMP(id=9, seq=1) / b"echo"),
        *(
            bytes(ethernet() / IP(**to) / TCP(sport=7000, dport=80, flags=flags) / b"data")
            for flags in "SAAFR"
        ),
        *(udp(one, bytes([one & 255]) * 20) for one in FLOWS),
    ]


STAGES = {"l3fwd": (L3FWD,), "firewall-nat-l3fwd": (FIREWALL, NAT, L3FWD)}


def run_through(stages: tuple[dict[str, Any], ...], offload: dict[str, Any] | None) -> list[bytes | None]:
    with chain(*stages, offload=offload) as one:
        one.make_elephants()
        if offload is not None:
            one.until(lambda: one.path().offload.flows == len(FLOWS))  # type: ignore[union-attr]
        became = [one.sent(frame) for frame in mixture()]
        one.change_route(2)
        became += [one.sent(frame) for frame in mixture()]
        if offload is not None:
            split = one.path().offload
            assert split is not None
            assert (split.put, split.revoked >= len(FLOWS)) == (split.flows + split.revoked, True)
            assert split.packets > 0
        return became


@pytest.mark.long
@pytest.mark.parametrize("stages", STAGES.values(), ids=STAGES)
def test_the_same_leaves_with_and_without(stages: tuple[dict[str, Any], ...]) -> None:
    plain = run_through(stages, None)
    below = run_through(stages, {"kind": "xdp", "packets": ELEPHANT})
    for frame, one, other in zip(mixture() * 2, plain, below, strict=True):
        assert one == other, frame.hex()
    assert any(one is None for one in plain)
    assert sum(one is not None for one in plain) > len(plain) // 2


def test_offloaded_packets_pass_weir_dp_by_and_are_in_its_ledger() -> None:
    with chain(L3FWD, offload={"kind": "xdp", "packets": ELEPHANT, "flows": 2}) as one:
        one.make_elephants()
        one.until(lambda: one.path().offload.flows == 2)  # type: ignore[union-attr]
        time.sleep(0.3)
        before = one.path()
        heard = one.client.ledger().ports[0].rx_packets
        frames = [udp(flow, bytes(20)) for flow in FLOWS for _ in range(25)]
        assert None not in [one.sent(frame) for frame in frames]
        # What software sends is counted once the kernel has taken it: its reader may be earlier.
        one.until(lambda: one.path().tx_packets - before.tx_packets >= len(frames))
        after = one.path()
        assert before.offload is not None
        assert after.offload is not None
        below = after.offload.packets - before.offload.packets
        assert below == 50
        assert after.offload.bytes_ - before.offload.bytes_ == 50 * len(frames[0])
        assert one.client.ledger().ports[0].rx_packets - heard == 50
        assert after.rx_packets - before.rx_packets == after.tx_packets - before.tx_packets == 100
        assert after.offload.refused["full"] == 2


@pytest.mark.long
def test_a_change_takes_effect_at_once_while_packets_flow() -> None:
    with chain(L3FWD, offload={"kind": "xdp", "packets": ELEPHANT}) as one:
        for turn in range(3):
            one.make_elephants()
            one.until(lambda: one.path().offload.flows == len(FLOWS))  # type: ignore[union-attr]
            port = 2 - turn % 2
            one.change_route(port)
            frame = one.sent(udp(FLOWS[0]))
            assert frame is not None
            assert frame[:6] == bytes.fromhex(HOPS[port].replace(":", ""))


@pytest.mark.long
def test_a_session_lives_as_long_as_its_offloaded_packets_come() -> None:
    short = {**NAT, "options": {"external": "192.0.2.1", "udp_timeout_s": 2}}
    with chain(short, L3FWD, offload={"kind": "xdp", "packets": ELEPHANT}) as one:
        one.make_elephants()
        one.until(lambda: one.path().offload.flows == len(FLOWS))  # type: ignore[union-attr]
        first, end = one.sent(udp(FLOWS[0])), time.monotonic() + 5
        while time.monotonic() < end:
            assert one.sent(udp(FLOWS[0])) == first
            time.sleep(0.1)
        split = one.path().offload
        assert split is not None
        assert split.flows == 1  # the others fell silent


@pytest.mark.long
def test_what_an_output_refuses_is_a_drop_of_the_path() -> None:
    with chain(L3FWD, offload={"kind": "xdp", "packets": ELEPHANT}) as one:
        one.make_elephants()
        one.until(lambda: one.path().offload.flows == len(FLOWS))  # type: ignore[union-attr]
        before = one.path()
        with namespace.inside(one.namespace), IPRoute() as route:
            route.link("set", ifname="b1", mtu=500)
        assert [one.sent(udp(FLOWS[0], bytes(1000))) for _ in range(3)] == [None] * 3
        after = one.path()
        assert after.drops["redirect_failed"] - before.drops["redirect_failed"] == 3
        assert after.tx_packets == before.tx_packets


@pytest.mark.parametrize(
    ("offload", "kind", "said"),
    [
        ({"kind": "rte_flow"}, "packet_socket", "no port that DPDK drives"),
        ({"kind": "rte_flow"}, "null", "net_null takes no rules"),
        ({"kind": "xdp"}, "null", "vhost-user, memif, rings"),
        ({"kind": "xdp"}, "packet_socket", "tx-checksum"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(offload: dict[str, Any], kind: str, said: str) -> None:
    with (
        wires(finished=False) as name,
        private_data_plane(CORE, memory_mb=128, huge=False) as path,
        DataPlaneClient(path, connect_s=20) as client,
        pytest.raises(DataPlaneError, match=said),
    ):
        configured(client, configuration(name, (L3FWD,), offload, kind))


OFFLOADED = {"nf": "l3fwd", "fastpath": True, "offload": {"kind": "xdp", "packets": ELEPHANT}}
LOAD_PPS = 4000


@pytest.mark.long
@pytest.mark.parametrize("technology", ["linux-bridge", "ovs"])
@pytest.mark.usefixtures("run_root")
def test_a_lab_s_trials_balance_to_the_packet_with_what_was_offloaded(technology: str) -> None:
    lab = tiny_lab(technology)
    functions = {"default": FunctionOptions.model_validate(OFFLOADED)}
    traffic = lab.traffic.model_copy(update={"flows": Flows(count=4, vary=("src_port",))})
    lab = lab.model_copy(update={"functions": functions, "traffic": traffic})
    try:
        trials = trials_of(lab, 3, LOAD_PPS, 0.5)
    except DataPlaneError as error:
        skip_without_xdp(error)
        raise
    for trial in trials:
        assert trial.unaccounted == 0, trial.drops
        assert trial.offered == trial.delivered + sum(drop.packets for drop in trial.drops)
    (area,) = (one for one in trials[-1].areas if one.name == "f1")
    assert area.packets == area.offloaded + area.handled
    assert area.offloaded > trials[-1].offered // 2, area.paths
    assert {path.offload.kind for path in area.paths if path.offload is not None} == {"xdp"}
