# SPDX-License-Identifier: Apache-2.0
"""What a DPDK program's telemetry tells of lost packets, as DPDK 22.11 answers; the arguments it gets."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from weir.base.error import FabricError
from weir.fabric import hugepages
from weir.fabric.function import dpdk
from weir.fabric.function.dpdk import Telemetry
from weir.fabric.function.lost import Lost
from weir.fabric.site import Site

LEFT, RIGHT, OTHER = "net_virtio_user0", "net_vhost1", "0000:03:00.0"
ANSWERS: Mapping[str, Any] = {
    "/ethdev/list": [0, 1, 2],
    "/ethdev/info,0": {"name": LEFT},
    "/ethdev/info,1": {"name": RIGHT},
    "/ethdev/info,2": {"name": OTHER},
    "/ethdev/stats,0": {"ipackets": 9, "imissed": 3, "ierrors": 2, "oerrors": 1, "rx_nombuf": 77},
    "/ethdev/stats,1": {"ipackets": 9, "imissed": 0, "ierrors": 0, "oerrors": 5, "rx_nombuf": 0},
    "/ethdev/xstats,0": {"rx_good_packets": 9, "rx_q0_dropped": 4, "rx_missed_errors": 3},
    "/ethdev/xstats,1": {"tx_good_packets": 9},
}


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Served at `tmp_path`/t by something that answers as DPDK's telemetry does."""
    told = dict(ANSWERS)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(tmp_path / "t"))
        listening.listen()

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.send(b'{"version":"DPDK 22.11.11","pid":1,"max_output_len":16384}')
                while command := connection.recv(1024).decode():
                    body = told[command]
                    name = command.partition(",")[0]
                    connection.send(body if isinstance(body, bytes) else json.dumps({name: body}).encode())

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield told
    thread.join(5)


def test_ports_that_weir_named_tell_what_they_lost_and_why(answers: dict[str, Any], tmp_path: Path) -> None:
    with closing(Telemetry("program f1", tmp_path / "t")) as telemetry:
        found = {(one.where, one.reason): one.packets for one in telemetry.lost()}
    assert found == {
        (".left", "rx_missed"): 3,
        (".left", "rx_errors"): 2,
        (".left", "tx_errors"): 1,
        (".left", "rx_q0_dropped"): 4,
        (".right", "rx_missed"): 0,
        (".right", "rx_errors"): 0,
        (".right", "tx_queue_full"): 5,
    }
    assert answers["/ethdev/stats,0"]["rx_nombuf"] == 77  # attempts, not packets


@pytest.mark.parametrize("garbage", [b"\xff\xfe", b"[]", b'{"/ethdev/stats": null}', b"{}"])
def test_one_that_answers_garbage_is_named(garbage: bytes, answers: dict[str, Any], tmp_path: Path) -> None:
    with closing(Telemetry("program f1 (mine)", tmp_path / "t")) as telemetry:
        answers["/ethdev/stats,0"] = garbage
        with pytest.raises(FabricError, match=r"program f1 \(mine\) does not tell by DPDK's telemetry"):
            telemetry.lost()


PORT = {
    "name": "eth",
    "mac": "02:00:00:00:00:11",
    "address": "169.254.1.2/30",
    "gateway": "169.254.1.1",
    "address6": "fd57::2/64",
    "gateway6": "fd57::1",
    "gateway_mac": "02:00:00:00:00:01",
}
VALUES = {"left.vdev": "net_virtio_user0,path=/a", "right.vdev": "net_virtio_user1,path=/b"}


def test_the_environment_has_cores_memory_and_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    params = {"node": "f1", "memory_mb": 512, "later_memory_mb": 256, "huge": True}
    monkeypatch.setattr(hugepages, "free_mb", lambda: 767)
    assert dpdk.environment_words(params, [2, 4], VALUES) == [
        "--lcores=0@(2,4),1@2,2@4",
        "--no-pci",
        "--file-prefix=f1",
        *("--no-huge", "--no-shconf", "-m", "512"),
        "--vdev=net_virtio_user0,path=/a",
        "--vdev=net_virtio_user1,path=/b",
    ]
    monkeypatch.setattr(hugepages, "free_mb", lambda: 768)
    assert dpdk.memory_words(params) == [
        *("--in-memory", "--single-file-segments"),
        *("-m", "512", "--socket-limit=512"),
    ]
    assert dpdk.memory_words(params | {"huge": False})[0] == "--no-huge"


@pytest.mark.parametrize(("on_each_node_mb", "said"), [(48, ""), (47, " page-size 4k")])
def test_vpp_has_hugepages_where_each_node_has_enough(
    on_each_node_mb: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hugepages, "free_mb", lambda: 1000)
    monkeypatch.setattr(hugepages, "free_on_each_node_mb", lambda: on_each_node_mb)
    values = [f"{side}.{key}={value}" for side in ("left", "right") for key, value in PORT.items()]
    params = {
        "function": "vpp1",
        "counterpart": "vpp",
        "does": '{"nf": "l3fwd", "options": {}}',
        "values": values,
        "left_prefixes": [],
        "sockets": ["", ""],
        "memory_mb": 48,
        "later_memory_mb": 100,
        "huge": True,
    }
    startup = dpdk.started_as(params, [2, 3]).files["startup"]
    assert f"buffers {{ buffers-per-numa 16384{said} }}" in startup


def test_it_stands_where_the_command_says() -> None:
    assert dpdk.expanded(["nf", "{eal}", "--", "{eal}x"], ["-a", "-b"]) == ["nf", "-a", "-b", "--", "{eal}x"]


def test_only_what_was_lost_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A driver counts a packet that waits as often as the program tries to send it."""
    from weir.base.node import Node, Port, ProgramFunction
    from weir.base.topology import Link, Topology
    from weir.fabric.counters import Counter
    from weir.fabric.function import counters

    class Told:
        def lost(self) -> list[Lost]:
            return [Lost(".left", "rx_missed", 3), Lost(".right", "tx_queue_full", 500)]

    monkeypatch.setattr(counters, "telemetry", lambda *_: Told())
    program = ProgramFunction(
        command=("nf",),
        commands_time_limit_s=1,
        directory=".",
        ready=None,
        ready_time_limit_s=1,
        user=None,
        stop_signal="SIGTERM",
        stop_time_limit_s=1,
        output_mb=1,
    )
    node = Node(name="f1", role="function", program=program)

    def port(name: str, link: int) -> Port:
        return Port(
            name=name, node=name.partition(".")[0], side="left", mac="02:57:00:00:00:00",
            kind="program-virtio-user", link=link,
        )  # fmt: skip

    topology = Topology(
        lab="l",
        technology="direct",
        chain="PVP",
        nodes=(Node(name="tester", role="tester"), node),
        ports=(port("tester.left", 0), port("f1.left", 0), port("f1.right", 1), port("tester.right", 1)),
        links=(
            Link(index=0, name="wire0", network=False, left="tester.left", right="f1.left"),
            Link(index=1, name="wire1", network=False, left="f1.right", right="tester.right"),
        ),
    )
    outside = [
        Counter("weir-dp:tester.left tx_packets", None, "packets", 100),
        Counter("weir-dp:tester.left rx_packets", None, "packets", 0),
        Counter("weir-dp:tester.right tx_packets", None, "packets", 0),
        Counter("weir-dp:tester.right rx_packets", None, "packets", 90),
    ]
    site = Site("l", tmp_path, None)  # type: ignore[arg-type]
    told = [*counters.socket_counters(topology, site, node, outside)]
    assert [(one.place, one.reason, one.value) for one in told] == [
        ("f1.left", "rx_missed", 3),
        ("f1.right", "tx_queue_full", 7),
        ("f1/program", "not_returned", 0),
    ]
