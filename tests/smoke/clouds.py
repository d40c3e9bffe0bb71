# SPDX-License-Identifier: Apache-2.0
"""Clouds that stand for a test, and what their hosts send each other."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from weir import fabric, plan
from weir.base.cloud import CloudTopology, Instance
from weir.fabric import namespace
from weir.fabric.cloud.drops import drops
from weir.lab.tenants import TenantsFile
from weir.plan import SOCKET, Step
from weir.plan.cloud import cloud_steps, cloud_topology, measured_topology
from weir.plan.cloud.data_plane import cloud_configuration
from weir.plan.cloud.names import HOST_INTERFACE
from weir.plan.cloud.topology import FEWEST_CORES
from weir.protocol import DataPlaneClient

PROGRAMS = ("ping", "ovs-vswitchd", "ovs-ofctl", "nft", "iptables-restore", "dnsmasq", "busybox")
NEEDS_CLOUDS = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
    pytest.mark.skipif(
        any(shutil.which(one) is None for one in PROGRAMS), reason=f"needs {', '.join(PROGRAMS)}"
    ),
    pytest.mark.skipif(not fabric.bridge_netfilter(), reason="br_netfilter is not loaded"),
]
"""Marks of modules in which clouds are built."""
ARRIVES_S = 2.0
ETH_P_ALL = 3
ARP, IPV4, IPV6, VLAN = 0x0806, 0x0800, 0x86DD, 0x8100
EVERYBODY = "ff:ff:ff:ff:ff:ff"
FILTERED = ("bridge-filter", "ovs-conntrack")
OPEN, CLOSED = 80, 81
"""Ports that security groups of these tests let in, and do not."""


def planned(text: str, token: str, cpus: Collection[int] = ()) -> tuple[list[Step], CloudTopology]:
    """Of a tenants file; where the CPUs are enough, to be measured on them."""
    tenants = TenantsFile.model_validate_json(text)
    deployment = plan.deployment_id(tenants.name, token)
    if len(cpus) < FEWEST_CORES:
        topology = cloud_topology(tenants, deployment)
    else:
        topology = measured_topology(tenants, deployment, sorted(cpus))
    return cloud_steps(topology), topology


@dataclass
class StandingCloud:
    """One that is deployed."""

    topology: CloudTopology
    deployment: fabric.Deployment

    def instance(self, name: str) -> Instance:
        """Of that name."""
        return self.topology.instance(name)[1]

    def run(self, host: str, *argv: str) -> subprocess.CompletedProcess[str]:
        """A command in a host, to its end."""
        with namespace.inside(self.topology.namespace(host)):
            return subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)

    def addresses(self, host: str) -> list[str]:
        """ "10.0.0.3/24" of its interface."""
        shown = json.loads(self.run(host, "ip", "-4", "-j", "addr", "show", HOST_INTERFACE).stdout)
        return [f"{one['local']}/{one['prefixlen']}" for one in shown[0]["addr_info"]]

    def pings(self, host: str, address: str) -> bool:
        """Whether an answer comes."""
        return self.run(host, "ping", "-c", "1", "-W", "1", address).returncode == 0

    def stack(self, host: str, kind: socket.SocketKind) -> socket.socket:
        """Of that host's TCP/IP stack."""
        with namespace.inside(self.topology.namespace(host)):
            made = socket.socket(socket.AF_INET, kind)
        made.settimeout(ARRIVES_S)
        return made

    def fetches(self, client: str, address: str, port: int, server: str) -> str:
        """What a server at that host has, byte for byte, by an address of it. Returns who the server sees."""
        with (
            self.stack(server, socket.SOCK_STREAM) as listening,
            self.stack(client, socket.SOCK_STREAM) as asks,
        ):
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(("0.0.0.0", port))
            listening.listen()
            asks.connect((address, port))
            accepted, peer = listening.accept()
            with accepted, asks.makefile("rb") as got:
                payload = secrets.token_bytes(100_000)
                accepted.sendall(payload)
                assert got.read(len(payload)) == payload
        return str(peer[0])

    def forwarded(self, function: str) -> int:
        """Packets that Linux has forwarded there."""
        shown = self.run(function, "cat", "/proc/net/snmp").stdout
        names, values = [line.split() for line in shown.splitlines()[:2]]
        return int(values[names.index("ForwDatagrams")])

    @contextmanager
    def wire(self, host: str, interface: str = HOST_INTERFACE) -> Iterator[socket.socket]:
        """All frames of an interface of a host's."""
        with namespace.inside(self.topology.namespace(host)):
            made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        with made:
            made.bind((interface, ETH_P_ALL))
            made.settimeout(0.2)
            yield made

    def dropped(self, of: str, reason: str) -> int:
        """Packets that filters have dropped."""
        found = drops(self.topology, self.deployment.run_dir)
        return sum(one.packets for one in found if (one.of, one.reason) == (of, reason))

    def dropped_becomes(self, of: str, reason: str, packets: int) -> None:
        """Waits until the counters, which may be behind, say so."""
        deadline = time.monotonic() + 5
        while self.dropped(of, reason) < packets and time.monotonic() < deadline:
            time.sleep(0.1)
        assert self.dropped(of, reason) == packets


@contextmanager
def standing(text: str, token: str | None = None, run_dir: Path | None = None) -> Iterator[StandingCloud]:
    """For the body. `run_dir`: for the body too; absent: as it is."""
    steps, topology = planned(text, token or secrets.token_hex(4))
    with pytest.MonkeyPatch.context() as patch:
        if run_dir is not None:
            patch.setenv("WEIR_RUN_DIR", str(run_dir))
        deployment = fabric.Deployment.deploy(steps, topology)
        try:
            if topology.polling_core is not None and topology.tester is None:
                with DataPlaneClient(deployment.run_dir / SOCKET) as client:
                    client.configure(cloud_configuration(topology))
                    client.start()
            yield StandingCloud(topology, deployment)
        finally:
            deployment.destroy()


def cloud_of_each(tenants: Callable[..., str], *arguments: object) -> object:
    """A fixture for a module, of the name that it is assigned to there: a cloud for all its tests, of what
    `tenants` says of each of these arguments; the first of them names it."""

    @pytest.fixture(scope="module", params=arguments, ids=lambda param: param[0])
    def cloud(
        request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
    ) -> Iterator[StandingCloud]:
        with standing(tenants(*request.param), run_dir=tmp_path_factory.mktemp("run")) as made:
            yield made

    return cloud


def frames(wire: socket.socket) -> list[bytes]:
    """All that come until none comes for a while."""
    found = []
    while True:
        try:
            found.append(wire.recv(2048))
        except TimeoutError:
            return found


def arrives(wire: socket.socket, sent: bytes) -> bool:
    """Whether a frame comes that begins so, within ARRIVES_S of the one before."""
    wire.settimeout(ARRIVES_S)
    while True:
        try:
            if wire.recv(2048)[: len(sent)] == sent:
                return True
        except TimeoutError:
            return False


def mac(text: str) -> bytes:
    """Six bytes."""
    return bytes.fromhex(text.replace(":", ""))


def ethernet(to: str, whose: str, protocol: int, payload: bytes) -> bytes:
    """A frame."""
    return (mac(to) + mac(whose) + struct.pack("!H", protocol) + payload).ljust(60, b"\0")


def udp(source: str, destination: str, ports: tuple[int, int], payload: bytes) -> bytes:
    """An IPv4 packet with a UDP datagram without checksum (RFC 768)."""
    length = 28 + len(payload)
    head = struct.pack("!BBHHHBBH", 0x45, 0, length, 0, 0, 64, socket.IPPROTO_UDP, 0)
    head += socket.inet_aton(source) + socket.inet_aton(destination)
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = ~(total + (total >> 16)) & 0xFFFF
    head = head[:10] + struct.pack("!H", checksum) + head[12:]
    return head + struct.pack("!HHHH", *ports, 8 + len(payload), 0) + payload


def arp(sender_mac: str, sender: str, target: str) -> bytes:
    """Who has `target`? RFC 826."""
    head = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1)
    ends = mac(sender_mac) + socket.inet_aton(sender) + bytes(6) + socket.inet_aton(target)
    return head + ends
