# SPDX-License-Identifier: Apache-2.0
"""Chains that span hosts, which are namespaces without a cluster: real packets, one ledger, hosts that are
killed. With a cluster: test_spanning_on_ray.py."""

from __future__ import annotations

import json
import os
import platform
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.namespaced_hosts import NamespacedHosts, six
from tests.waiting_hosts.campaign import Told
from weir.fabric import weir_version
from weir.hosts.together import Together
from weir.hosts.transport import HostsError
from weir.lab import Lab
from weir.lab.load import load_open_lab
from weir.measure.spans import LOST_BETWEEN
from weir.procedures.across_hosts import AcrossHosts
from weir.procedures.wanted import Wanted
from weir.results.campaign import SharedCampaign
from weir.results.result import Result, Trial
from weir.results.rounds import rounds_measured
from weir.store.store import Store

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces: run as root"),
]
LAB = """\
weir: 1
name: spans
technology: {technology}
chain: [[{chain}]]
functions:
  a: {{nf: l2fwd, options: {{mode: mac-rewrite}}}}
  b: {{nf: l2fwd, options: {{mode: mac-rewrite}}}}
  linux: {{kind: kernel}}
hosts: {hosts}
traffic: {{frames: {frames}}}
technologies:
  direct: {{queue_size: 256}}
measure:
  goals: [{{name: PDR, loss_ratio: 0.5}}]
  relative_width: 0.5
  trial: {{duration_s: 0.02, initial_duration_s: 0.02, duration_sum_s: 0.02, drain_ms: 20, retries: 2}}
  warm_up_s: 0
  repeats: 1
  confirm_trials: 1
  min_load: 0.5
  max_load_pps: 10000
  time_limit_s: 2
  curve: {{points: {points}, duration_s: {duration_s}}}
  calibration: {{duration_s: 0.02}}
  revisit_s: 0
"""
TWO = "{tester: edge, functions: {a: core, linux: core}}"
THREE = "{tester: edge, functions: {a: core, b: far}}"
CARDS = "{tester: edge, functions: {a: core}, wire: {kind: card, cards: {edge: [e1, e2], core: [c1, c2]}}}"
VLANS = "{tester: edge, functions: {a: core}, wire: {kind: vlan, vlan: 7, cards: {edge: [e1], core: [c1]}}}"
SOON_S = 60.0
EVERY_TENTH = "udp dport 4789 numgen inc mod 10 == 0 counter drop"


@pytest.fixture
def two(tmp_path: Path) -> Iterator[NamespacedHosts]:
    yield from hosts_of(tmp_path, ["nfv1", "nfv2"])


@pytest.fixture
def three(tmp_path: Path) -> Iterator[NamespacedHosts]:
    yield from hosts_of(tmp_path, ["nfv1", "nfv2", "nfv3"])


def hosts_of(folder: Path, names: Sequence[str]) -> Iterator[NamespacedHosts]:
    made = NamespacedHosts(folder, names)
    try:
        yield made
    finally:
        made.remove()


def lab_of(folder: Path, technology: str, hosts: str = TWO, **parts: object) -> Lab:
    said = {"chain": "a", "frames": "[64]", "points": 2, "duration_s": 0.05} | parts
    path = folder / "lab.yml"
    path.write_text(LAB.format(technology=technology, hosts=hosts, **said))
    return load_open_lab(path)


class Campaign:
    """One lab on such hosts; its store."""

    def __init__(self, folder: Path, lab: Lab, hosts: NamespacedHosts) -> None:
        assert lab.hosts is not None
        self.hosts = hosts
        machines = dict(zip(lab.hosts.names(), hosts.names, strict=False))
        addresses = {host: hosts.addresses[machine] for host, machine in machines.items()}
        self.together = Together(hosts, machines, addresses)
        self.lab, self.told = lab, Told()
        self._store = folder / "results.db"
        setups = [(name, chain.name) for name in lab.technology for chain in lab.chains()]
        frames = [str(frame) for frame in lab.traffic.frames]
        spec = lab.model_dump(mode="json")
        shared = SharedCampaign(id=f"spans-{secrets.token_hex(4)}", host="", points=len(setups), spec=spec)
        self._wanted = Wanted(shared, setups, frames, lab.measure.rounds, quick=False)

    def run(self, store: Store | None = None) -> list[Result]:
        with Store(str(self._store)) as opened:
            before = opened.runs_of_campaign(self._wanted.shared.id)
            wanted = replace(self._wanted, before=before)
            AcrossHosts(wanted, self.together, store or opened, self.told, weir_version()).run()
            return opened.runs_of_campaign(self._wanted.shared.id)

    def again(self) -> list[Result]:
        """The rest of it, by new programs on the same hosts."""
        self.hosts.reset()
        self.together = Together(self.hosts, self.together.machines, self.together.addresses)
        return self.run()


def trials(results: Sequence[Result]) -> list[Trial]:
    assert not [setup.refused for result in results for setup in result.setups if setup.refused is not None]
    cases = [case for result in results for _, case in result.cases()]
    assert cases
    assert not [case.problem for case in cases if case.problem is not None]
    return [trial for case in cases for trial in (*case.trials, *case.curve)]


def accounted(measured: Sequence[Trial], *, lossless: bool = True) -> None:
    """Over all hosts. What still waits in a queue of a host whose core others had is in no place, and makes a
    trial invalid."""
    balanced = [trial for trial in measured if not trial.unaccounted]
    assert all(trial.unaccounted > 0 and not trial.valid for trial in measured if trial not in balanced)
    assert 2 * len(balanced) > len(measured)
    assert all(
        trial.offered == trial.delivered + sum(drop.packets for drop in trial.drops) > 0 for trial in balanced
    )
    assert any(trial.delivered == trial.offered for trial in balanced) == lossless


def journals(hosts: NamespacedHosts) -> list[Path]:
    return [path for name in hosts.names for path in hosts.run_dir(name).glob("*.journal")]


def soon(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def lost(trial: Trial) -> Mapping[tuple[str, str], int]:
    return {(drop.place, drop.reason): drop.packets for drop in trial.drops}


@pytest.mark.parametrize(
    ("technology", "chain"),
    [
        ("direct", "a"),
        pytest.param("linux-bridge", "a", marks=pytest.mark.long),
        pytest.param("linux-bridge", "linux", marks=pytest.mark.long),
    ],
)
def test_each_packet_of_a_chain_on_two_hosts_is_accounted_for(
    two: NamespacedHosts, tmp_path: Path, technology: str, chain: str
) -> None:
    campaign = Campaign(tmp_path, lab_of(tmp_path, technology, chain=chain), two)
    results = campaign.run()
    accounted(trials(results))
    (setup,) = results[0].setups
    assert setup.topology is not None
    assert [node.host for node in setup.topology.nodes] == ["edge", "core"]
    name = "wire" if technology == "direct" else "net"
    assert any(f"{name}0 from edge to core and {name}1 from core to edge" in one for one in setup.fidelity)
    assert any(one.startswith("Host core") for one in setup.fidelity)
    (there,) = setup.other_hosts
    assert (there.host, there.nodes, there.fingerprint.kernel) == ("core", ["f1"], platform.release())
    assert not journals(two)


@pytest.mark.long
def test_functions_on_three_hosts_are_one_chain(three: NamespacedHosts, tmp_path: Path) -> None:
    lab = lab_of(tmp_path, "[direct, linux-bridge]", THREE, chain="a, b")
    measured = trials(Campaign(tmp_path, lab, three).run())
    accounted(measured)
    assert not journals(three)


@pytest.mark.skipif(shutil.which("nft") is None, reason="nftables is not installed")
def test_packets_that_the_network_between_hosts_drops_are_named_at_the_wire_that_lost_them(
    two: NamespacedHosts, tmp_path: Path
) -> None:
    """A rule drops one of ten tunnel packets as they leave the tester's host, and counts them: the ledger's
    sum over all trials is that of the rule, less the announcements, which belong to no trial."""
    campaign = Campaign(tmp_path, lab_of(tmp_path, "direct"), two)
    table = f"weir-test-{secrets.token_hex(3)}"
    chain = f"type filter hook ingress device {two.netns('nfv1')}o priority 0"
    rules = f"add table netdev {table}\nadd chain netdev {table} in {{ {chain}; }}\n"
    rules += f"add rule netdev {table} in {EVERY_TENTH}\n"
    subprocess.run(["nft", "-f", "-"], input=rules, text=True, check=True)
    try:
        measured = trials(campaign.run())
        listed = subprocess.run(
            ["nft", "--json", "list", "table", "netdev", table], check=True, capture_output=True, text=True
        ).stdout
    finally:
        subprocess.run(["nft", "delete", "table", "netdev", table], check=True)
    accounted(measured, lossless=False)
    places = {place for trial in measured for place, reason in lost(trial) if reason == LOST_BETWEEN}
    assert places == {"wire0:edge-core", "wire1:edge-core"}  # to the function, from both ends of the tester
    counted = sum(
        packets
        for trial in measured
        for (_, reason), packets in lost(trial).items()
        if reason == LOST_BETWEEN
    )
    announcements = 2 * 3  # three of each port
    elsewhen = sum(
        trial.unaccounted for trial in measured
    )  # what of it comes later is dropped between trials
    assert 0 <= dropped(listed) - counted <= announcements + elsewhen
    assert counted >= 0.09 * sum(trial.offered for trial in measured)


def dropped(listed: str) -> int:
    found = [one["rule"]["expr"] for one in json.loads(listed)["nftables"] if "rule" in one]
    (packets,) = [part["counter"]["packets"] for expr in found for part in expr if "counter" in part]
    return int(packets)


@pytest.mark.long
def test_a_wire_may_be_an_interface_of_each_host(two: NamespacedHosts, tmp_path: Path) -> None:
    for number in (1, 2):
        two.join("nfv1", f"e{number}", "nfv2", f"c{number}")
    lab = lab_of(tmp_path, "[direct, linux-bridge]", CARDS, frames="[64, 1518]")
    measured = trials(Campaign(tmp_path, lab, two).run())
    accounted(measured)
    for host, card in (("nfv1", "e1"), ("nfv2", "c2")):
        assert two.has(host, card)  # it is the host's own, and stays


def has_vlans(hosts: NamespacedHosts, interface: str) -> bool:
    """Whether this kernel makes any."""
    netns = ["ip", "-n", hosts.netns("nfv1"), "link"]
    tried = [*netns, "add", "link", interface, "name", "tried", "type", "vlan", "id", "9"]
    if subprocess.run(tried, capture_output=True, check=False).returncode != 0:
        return False
    subprocess.run([*netns, "delete", "tried"], check=True)
    return True


@pytest.mark.long
def test_wires_may_be_vlans_of_one_interface_of_each_host(two: NamespacedHosts, tmp_path: Path) -> None:
    two.join("nfv1", "e1", "nfv2", "c1")
    campaign = Campaign(tmp_path, lab_of(tmp_path, "[direct, linux-bridge]", VLANS, frames="[64, 1518]"), two)
    if has_vlans(two, "e1"):
        accounted(trials(campaign.run()))
    else:  # it says so of each technology, and leaves nothing
        (result,) = campaign.run()
        assert len(result.setups) == 2
        for setup in result.setups:
            assert "load the kernel's module 8021q" in str(setup.refused), setup
    for host, card in (("nfv1", "e1"), ("nfv2", "c1")):
        assert two.has(host, card)


@pytest.mark.long
def test_a_tunnel_may_be_over_ipv6(two: NamespacedHosts, tmp_path: Path) -> None:
    edge, core = (six(two.addresses[name]) for name in two.names)
    wire = f"{{addresses: {{edge: '{edge}', core: '{core}'}}}}"
    lab = lab_of(
        tmp_path, "direct", f"{{tester: edge, functions: {{a: core}}, wire: {wire}}}", frames="[1448]"
    )
    results = Campaign(tmp_path, lab, two).run()
    accounted(trials(results))
    (setup,) = results[0].setups
    assert setup.topology is not None
    assert {(span.left.address, span.overhead_bytes) for span in setup.topology.spans} == {
        (edge, 70),
        (core, 70),
    }


@pytest.mark.long
def test_frames_that_do_not_fit_between_the_hosts_are_refused_with_what_to_do(
    two: NamespacedHosts, tmp_path: Path
) -> None:
    campaign = Campaign(tmp_path, lab_of(tmp_path, "direct", frames="[64, 1518]"), two)
    with pytest.raises(HostsError) as refused:
        campaign.run()
    said = str(refused.value)
    assert "core (nfv2): frames of 1518 bytes do not fit: by vxlan they need an MTU of 1550 bytes" in said
    assert "`ip link set eth0 mtu 1550`" in said
    assert "frames of at most 1468 bytes" in said
    two.set_mtu(1550)
    two.reset()
    measured = trials(Campaign(tmp_path, campaign.lab, two).run())
    accounted(measured)


class Killing(Store):
    """A store in which the first trials of a case are the last that a host lives for."""

    def __init__(self, path: str, kill: Callable[[], None], at: int) -> None:
        super().__init__(path)
        self._kill, self._left = kill, at

    def add_trial(self, setup: int, frame: str, mean_frame_bytes: float, trial: Trial) -> None:
        super().add_trial(setup, frame, mean_frame_bytes, trial)
        self._left -= 1
        if self._left == 0:
            self._kill()


@pytest.mark.long
@pytest.mark.parametrize("killed", ["nfv1", "nfv2"])
def test_a_killed_host_voids_what_was_being_measured_the_other_cleans_up_and_it_is_measured_again(
    two: NamespacedHosts, tmp_path: Path, killed: str
) -> None:
    campaign = Campaign(tmp_path, lab_of(tmp_path, "direct", points=8), two)
    with Killing(str(tmp_path / "results.db"), lambda: two.kill(killed), at=5) as store:
        results = campaign.run(store)
    assert campaign.together.lost is not None
    assert killed in campaign.together.lost
    assert not rounds_measured(results).total()
    soon(lambda: not journals(two))  # of the killed one by its lifeline
    again = campaign.again()
    assert rounds_measured(again) == {("direct", "a", "64"): 1}


@pytest.mark.long
def test_ctrl_c_takes_every_part_down_before_it_ends(two: NamespacedHosts, tmp_path: Path) -> None:
    def press() -> None:
        assert len(journals(two)) == 2  # a part on each
        raise KeyboardInterrupt

    campaign = Campaign(tmp_path, lab_of(tmp_path, "direct", points=8), two)
    with Killing(str(tmp_path / "results.db"), press, at=5) as store:
        (result,) = campaign.run(store)
    assert result.interrupted
    assert campaign.together.lost is None
    assert not journals(two)
    assert not rounds_measured([result]).total()
