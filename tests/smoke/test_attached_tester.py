# SPDX-License-Identifier: Apache-2.0
"""The tester of an OpenStack cloud's chains, at an interface of a host, without a cloud: namespaces are the
servers, made forward by the script that servers are booted with."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from weir.base.cloud import CloudTester
from weir.base.topology import Topology
from weir.fabric import FabricError, deployments, namespace, stop_signals
from weir.fabric.cloud.system import ssh
from weir.fabric.cloud.system.session import Session
from weir.lab.performance import Performance
from weir.lab.sla import Sla
from weir.lab.sut import CloudChains
from weir.measure.machine_state import MachineState
from weir.measure.trial import TrialRunner
from weir.plan.attached import PORT, attached_topology
from weir.results.trial import Trial
from weir.verify.drivers.openstack.chain import OpenStackChain, Surroundings, attached
from weir.verify.drivers.openstack.chain_building import StandingChain
from weir.verify.drivers.openstack.chain_function import ReadFunction
from weir.verify.drivers.openstack.chain_script import FORWARDS, script
from weir.verify.drivers.openstack.connection import Deadline
from weir.verify.drivers.openstack.stack import Standing

from .test_verify_local import pytestmark as needs_what_verify_needs

pytestmark = [*needs_what_verify_needs, pytest.mark.long]
INTERFACE, BRIDGE = "up0", "net0"
PPS, TRIAL_S = 1000.0, 0.5


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, stdin=subprocess.DEVNULL)


@dataclass
class Network:
    """A host with an interface at a bridge, and servers there."""

    host: str
    servers: dict[str, str]
    """MAC address by name, which is that of the namespace, too."""
    token: str

    def topology(self) -> Topology:
        tester = CloudTester(core=0, system_cores=(1,), senders=())
        return attached_topology("attached", f"attached-{self.token}", "PVP", tester)


@contextmanager
def network(servers: int) -> Iterator[Network]:
    token = secrets.token_hex(4)
    host, names = f"wt{token}-host", [f"wt{token}-vnf{number}" for number in range(1, servers + 1)]
    made = [host, f"wt{token}-net", *names]
    with ExitStack() as held:
        for one in made:
            ip("netns", "add", one)
            held.callback(ip, "netns", "del", one)
        ip("-n", made[1], "link", "add", BRIDGE, "type", "bridge")
        ip("-n", made[1], "link", "set", BRIDGE, "up")
        for one in (host, *names):
            inner = INTERFACE if one == host else "port0"
            ip("-n", one, "link", "add", inner, "type", "veth", "peer", "name", one[2:], "netns", made[1])
            ip("-n", one, "link", "set", inner, "up")
            ip("-n", made[1], "link", "set", one[2:], "master", BRIDGE, "up")
        yield Network(host, {one: mac_of(one) for one in names}, token)


def mac_of(server: str) -> str:
    words = ["ip", "netns", "exec", server, "cat", "/sys/class/net/port0/address"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def booted(network: Network, commands: tuple[str, ...]) -> None:
    """Each has run its script."""
    macs = list(network.servers.values())
    following = [*macs[1:], network.topology().port(PORT).mac]
    for (name, mac), after in zip(network.servers.items(), following, strict=True):
        words = ["ip", "netns", "exec", name, "sh"]
        text = script(name, mac, after, commands)
        said = subprocess.run(words, input=text, text=True, capture_output=True, check=False)
        assert FORWARDS in said.stdout, said.stdout + said.stderr


def logged_in(network: Network, monkeypatch: pytest.MonkeyPatch, held: ExitStack) -> list[ReadFunction]:
    """A shell in each, without SSH between."""
    monkeypatch.setattr(ssh, "words", lambda to, *_: ["ip", "netns", "exec", to, "sh"])
    monkeypatch.setattr(ssh, "ENVIRONMENT", {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    found = []
    for name, mac in network.servers.items():
        shell = held.enter_context(Session(name, user="root", private_key=Path("/x"), marker="attached/test"))
        found.append(ReadFunction(name.partition("-")[2], mac, shell))
    return found


def trials(network: Network, functions: list[ReadFunction], *loads_pps: float) -> list[Trial]:
    """One at each load, by the host's tester."""
    topology, performance = network.topology(), Performance()
    macs = {name.partition("-")[2]: mac for name, mac in network.servers.items()}
    built = StandingChain(Standing(None, ""), macs, ())  # type: ignore[arg-type]
    around = Surroundings(CloudChains(interface=INTERFACE), performance, topology, built, functions)
    found: list[Trial] = []
    with (
        namespace.inside(network.host),
        stop_signals.held(),
        attached(topology, INTERFACE, MachineState()) as on,
    ):
        chain = OpenStackChain(on, around)
        chain.begin(Deadline(30.0))
        traffic, of = chain.traffic("64", 8), chain.measured({}, Sla())
        of.tester.configure_traffic(traffic.config)
        runner = TrialRunner(
            of.tester, of.counters, traffic, options=performance.measured(60).trial, on_trial=found.append,
            outside=of.outside,
        )  # fmt: skip
        for load_pps in loads_pps:
            runner.run("curve", load_pps, TRIAL_S)
    return found


@pytest.mark.parametrize("servers", [1, 2])
@pytest.mark.usefixtures("run_root")
def test_packets_go_through_all_servers_and_back_and_nothing_of_the_tester_stays(
    servers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with network(servers) as there, ExitStack() as held:
        booted(there, ())
        functions = logged_in(there, monkeypatch, held)
        before = [one.passed() for one in functions]
        (one,) = trials(there, functions, PPS)
        passed = [now.passed().sent - was.sent for now, was in zip(functions, before, strict=True)]
        assert one.offered == one.delivered > 0
        assert one.unaccounted == 0
        assert all(packets >= one.delivered for packets in passed)
        assert one.streams[0].latency is not None
        assert [left.id for left in deployments()] == []
        links = subprocess.run(
            ["ip", "-n", there.host, "-o", "link"], check=True, capture_output=True, text=True
        ).stdout
        assert "macvlan" not in links
        assert f"{INTERFACE}@" in links


@pytest.mark.usefixtures("run_root")
def test_losses_are_where_they_are_seen_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The second server drops every tenth; and without its counters the cloud has not returned them."""
    rules = tmp_path / "rules"
    rules.write_text(
        "table ip t {\n chain c {\n  type filter hook forward priority 0\n  numgen inc mod 10 0 drop\n }\n}\n"
    )
    with network(2) as there, ExitStack() as held:
        booted(there, ())
        last = list(there.servers)[-1]
        subprocess.run(["ip", "netns", "exec", last, "nft", "-f", str(rules)], check=True)
        functions = logged_in(there, monkeypatch, held)
        (seen,) = trials(there, functions, PPS)
        (unseen,) = trials(there, functions[:1], PPS)
    for one, place in ((seen, ("vnf2", "not_forwarded")), (unseen, (f"cloud:vnf1-{PORT}", "not_returned"))):
        lost = one.offered - one.delivered
        assert one.unaccounted == 0
        assert one.offered // 10 <= lost <= one.offered // 10 + 1
        assert lost > 0
        assert {(drop.place, drop.reason): drop.packets for drop in one.drops} == {place: lost}


@pytest.mark.usefixtures("run_root")
def test_a_server_that_does_not_forward_is_the_cause_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with network(1) as there, ExitStack() as held:
        booted(there, ("sysctl -q -w net.ipv4.ip_forward=0",))
        functions = logged_in(there, monkeypatch, held)
        with pytest.raises(
            FabricError, match=rf"nothing that {PORT} sends arrives .* at vnf1 \(not_forwarded\)"
        ):
            trials(there, functions, PPS)


@pytest.mark.usefixtures("run_root")
def test_an_interface_that_is_not_there_or_down_is_named() -> None:
    with network(1) as there:
        ip("-n", there.host, "link", "set", INTERFACE, "down")
        with pytest.raises(FabricError, match=f"interface {INTERFACE} is down: `ip link set"):
            trials(there, [], PPS)
        ip("-n", there.host, "link", "del", INTERFACE)
        with pytest.raises(FabricError, match=f"this host has no interface {INTERFACE}"):
            trials(there, [], PPS)
