# SPDX-License-Identifier: Apache-2.0
"""What functions in network namespaces lost, from texts of the kernel and of nft."""

from __future__ import annotations

import json

import pytest

from weir.base.error import FabricError
from weir.base.node import KernelFunction, Node, Port
from weir.fabric.counters import Counter, counted_once
from weir.fabric.function.counters import _nft_drops, generated, ip_drops, lost, nft_drops
from weir.fabric.function.port import _steer, core_mask

SNMP = """Ip: Forwarding InReceives InHdrErrors InAddrErrors FragFails
Ip: 1 100 3 4 5
Icmp: InMsgs OutMsgs
Icmp: 0 6
"""
NETSTAT = """TcpExt: SyncookiesSent
TcpExt: 0
IpExt: InNoRoutes InCsumErrors
IpExt: 7 9
"""
SNMP6 = "Ip6InHdrErrors 	8\nIp6InTooBigErrors 	2\nIp6FragFails 	2\nIcmp6OutMsgs 	10\n"
PORTS = [
    Port(
        name=f"f1.{side}", node="f1", side=side, mac="02:57:00:00:00:00", kind="veth", link=0, interface=side
    )
    for side in ("left", "right")
]


def test_each_packet_is_in_one_of_the_kernels_reasons() -> None:
    found = {one.reason: one.value for one in ip_drops("f1", SNMP, NETSTAT, SNMP6) if one.value}
    assert found == {
        "ip_in_hdr_errors": 3,
        "ip_in_addr_errors": 4,
        "ip_frag_fails": 5,
        "ip_in_no_routes": 7,
        "ip6_in_hdr_errors": 8,
        "ip6_in_too_big_errors": 2,
    }


def test_what_no_reason_covers_was_not_returned_and_answers_of_the_kernel_are_no_return() -> None:
    assert generated(SNMP, SNMP6) == 16
    left = {"rx_packets": 100, "tx_packets": 50, "tx_dropped": 2}
    right = {"rx_packets": 50, "tx_packets": 70, "tx_dropped": 0}
    told = [Counter("f1/kernel/linux", "ip_in_hdr_errors", "drop", 5)]
    found = {
        one.reason: one.value
        for one in lost("f1/kernel/linux", PORTS, {"left": left, "right": right}, told, 5)
    }
    assert found["not_returned"] == 150 + 5 - 122 - 5
    assert found["interface_tx_dropped"] == 0  # the last one's: each port has its own


def test_a_counter_of_nftables_is_a_reason_and_one_that_is_not_there_is_named() -> None:
    counter = {"family": "inet", "table": "filter", "name": "refused", "packets": 12, "bytes": 99}
    listed = json.dumps({"nftables": [{"metainfo": {}}, {"counter": counter}]})
    assert nft_drops("f1", ["inet filter refused"], listed) == [
        Counter("f1/kernel/nft", "refused", "drop", 12)
    ]
    with pytest.raises(FabricError, match=r"called inet filter refuse, and it has: inet filter refused"):
        nft_drops("f1", ["inet filter refuse"], listed)


def test_a_program_that_is_gone_is_an_error_of_the_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(argv: list[str], **_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory", argv[0])

    monkeypatch.setattr("subprocess.run", absent)
    kernel = KernelFunction(
        addressing="none",
        commands_time_limit_s=1,
        directory=".",
        drop_counters=("inet filter refused",),
        rps=True,
    )
    with pytest.raises(FabricError, match=r"cannot run ip in wf1: No such file.*install .* iproute2"):
        list(_nft_drops(Node(name="f1", role="function", kernel=kernel), "wf1"))
    with pytest.raises(FabricError, match=r"cannot run ip in wf1: No such file.*install .* iproute2"):
        _steer("wf1", "left", [0])


def test_a_full_backlog_is_counted_at_the_sending_end_alone() -> None:
    sender, receiver = {"rx_dropped": 0, "tx_dropped": 5}, {"rx_dropped": 7, "tx_dropped": 0}
    assert counted_once(receiver, sender)["rx_dropped"] == 2
    assert counted_once(sender, receiver) == sender
    assert counted_once(receiver, None) == receiver


@pytest.mark.parametrize(
    ("cores", "mask"), [([0], "00000001"), ([1, 3], "0000000a"), ([32], "00000001,00000000")]
)
def test_cores_are_written_as_sysfs_wants_them(cores: list[int], mask: str) -> None:
    assert core_mask(cores) == mask
