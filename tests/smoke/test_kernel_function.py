# SPDX-License-Identifier: Apache-2.0
"""Functions that are network namespaces in which Linux forwards: every packet is accounted for, what a lab's
commands do holds, and nothing of it stays."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from weir import fabric, plan
from weir.base.topology import Topology
from weir.fabric import markers
from weir.fabric.function.commands import OUTPUT_BYTES_MAX
from weir.fabric.function.port import core_mask
from weir.fabric.namespace import DIRECTORY
from weir.fabric.program_log import MORE
from weir.lab import Lab, load_lab
from weir.lab.function import FunctionOptions
from weir.lab.lab import DEFAULT_FUNCTION
from weir.lab.ways import ways
from weir.results.result import Trial

from .tiny import tiny_lab
from .trials import AS_FAST_AS_IT_CAN, standing, trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

PEERS = Path(__file__).parents[2] / "labs" / "peers"
GENTLE_PPS, DURATION_S, DRAIN_MS = 1000, 0.2, 300
SAID_S = 10.0
RULES = """table inet filter {
  counter refused { }
  chain forward {
    type filter hook forward priority filter
    udp sport 1024-1063 counter name refused drop
    udp sport 1064-1073 drop
  }
}
"""


def kernel_lab(technology: str, chain: str = "PVP", ip: int = 4, /, **kernel: object) -> Lab:
    tiny = tiny_lab(technology)
    function = FunctionOptions.model_validate({"kind": "kernel", "kernel": kernel})
    traffic = tiny.traffic.model_copy(update={"ip": ip, "frames": ("128",)})
    update = {"chain": (chain,), "functions": {DEFAULT_FUNCTION: function}, "traffic": traffic}
    return tiny.model_copy(update=update)


def lost(trial: Trial, place: str, reason: str) -> int:
    return sum(drop.packets for drop in trial.drops if (drop.place, drop.reason) == (place, reason))


@pytest.mark.parametrize(
    ("technology", "chain", "ip"),
    [
        ("linux-bridge", "PVVP", 4),
        pytest.param("linux-bridge", "PVP", 6, marks=pytest.mark.slow),
        pytest.param("ovs", "PVP", 4, marks=pytest.mark.slow),
        pytest.param("ovs", "PVVP", 6, marks=pytest.mark.slow),
    ],
)
def test_the_simplest_file_forwards_and_accounts_for_every_packet(
    technology: str, chain: str, ip: int, run_root: Path
) -> None:
    trials: list[Trial] = []
    lab = kernel_lab(technology, chain, ip)
    with standing(lab, trials.append, drain_ms=DRAIN_MS) as (_, runner):
        runner.run("curve", GENTLE_PPS, DURATION_S)
        runner.run("curve", AS_FAST_AS_IT_CAN, DURATION_S)
    gentle, hard = trials
    assert gentle.offered > 0
    assert gentle.delivered == gentle.offered, gentle.drops
    assert hard.delivered > 0
    assert (gentle.unaccounted, hard.unaccounted) == (0, 0), hard.drops
    assert any(area.kind == "softirq" for area in hard.areas)
    assert [*run_root.iterdir()] == []


def test_what_is_said_of_steering_is_what_the_interfaces_have(run_root: Path) -> None:
    trials: list[Trial] = []
    with standing(kernel_lab("linux-bridge"), trials.append) as (deployment, _):
        topology = deployment.topology
        assert topology is not None
        node, ports = topology.namespaced()[0], [port for port in topology.ports if port.node == "f1"]
        assert node.cores
        steered = [
            rps_cpus(port.netns or "", port.interface or "") == core_mask([*node.cores]) for port in ports
        ]
        assert deployment.steered() == (["f1"] if all(steered) else [])
    assert [*run_root.iterdir()] == []


def rps_cpus(netns: str, interface: str) -> str:
    """As the kernel shows it, as wide as ours; empty where it has no such file."""
    argv = ["ip", "netns", "exec", netns, "cat", f"/sys/class/net/{interface}/queues/rx-0/rps_cpus"]
    shown = subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
    return (
        core_mask([bit for bit in range(4096) if int(shown.replace(",", ""), 16) >> bit & 1]) if shown else ""
    )


@pytest.mark.long
@pytest.mark.skipif(shutil.which("nft") is None, reason="nftables is not installed")
def test_what_rules_drop_is_told_by_their_counters_and_the_rest_is_not_returned(
    run_root: Path, tmp_path: Path
) -> None:
    (tmp_path / "rules.nft").write_text(RULES)
    lab = kernel_lab(
        "linux-bridge",
        commands=["nft -f rules.nft"],
        directory=str(tmp_path),
        drop_counters=["inet filter refused"],
    )
    (trial,) = trials_of(lab, 1, 5000, DURATION_S, drain_ms=DRAIN_MS)
    refused, others = lost(trial, "f1/kernel/nft", "refused"), lost(trial, "f1/kernel/linux", "not_returned")
    assert refused > 2 * others > 0  # forty of the flows, and ten
    assert trial.unaccounted == 0
    assert [*run_root.iterdir()] == []


@pytest.mark.slow
def test_packets_without_a_route_are_counted_by_that_reason_though_linux_answers_them(run_root: Path) -> None:
    lab = kernel_lab("linux-bridge", commands=["ip route flush dev {right.name} proto static"])
    (trial,) = trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert lost(trial, "f1/kernel/linux", "ip_in_no_routes") == trial.offered - trial.delivered > 0
    assert trial.unaccounted == 0
    assert [*run_root.iterdir()] == []


@pytest.mark.slow
def test_a_queue_that_a_command_makes_says_what_it_drops(run_root: Path) -> None:
    lab = kernel_lab(
        "linux-bridge", commands=["tc qdisc add dev {right.name} root tbf rate 100kbit burst 2kb limit 3000"]
    )
    (trial,) = trials_of(lab, 1, 5000, DURATION_S, drain_ms=DRAIN_MS)
    assert lost(trial, "f1.right", "queue_full") > 0
    assert trial.unaccounted == 0
    assert [*run_root.iterdir()] == []


XDP = """
#define SECTION(name) __attribute__((section(name), used))
struct xdp_md { unsigned int data, data_end; };
SECTION("xdp") int odd_ports(struct xdp_md *frame)
{
	unsigned char *data = (unsigned char *)(unsigned long)frame->data;
	if (data + 42 > (unsigned char *)(unsigned long)frame->data_end)
		return 2; /* XDP_PASS */
	return data[37] & 1 ? 1 : 2; /* XDP_DROP for odd destination ports */
}
char license_text[] SECTION("license") = "GPL";
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
def test_an_xdp_program_is_loaded_by_a_command(run_root: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.c").write_text(XDP)
    build = ["clang", "-O2", "-target", "bpf", "-c", "odd.c", "-o", "odd.o"]
    if subprocess.run(build, cwd=tmp_path, check=False).returncode != 0:
        pytest.skip("this clang builds no BPF programs")
    load = "ip link set dev {left.name} xdpgeneric obj odd.o sec xdp"
    lab = kernel_lab("linux-bridge", commands=[load], directory=str(tmp_path))
    (trial,) = trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert 0 < lost(trial, "f1/kernel/linux", "not_returned") < trial.offered
    assert trial.unaccounted == 0
    assert [*run_root.iterdir()] == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nft") is None, reason="nftables is not installed")
@pytest.mark.parametrize("chain", ["router", "firewall"])
def test_the_lab_of_peers_carries_the_same_packets_either_way(chain: str, run_root: Path) -> None:
    for way in ways(load_lab(PEERS, quick=True, cpus=sorted(os.sched_getaffinity(0)))):
        lab = way.lab.model_copy(update={"chain": ((chain,),)})
        (trial,) = trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
        assert trial.delivered == trial.offered > 0, (way.name, trial.drops)
        assert trial.unaccounted == 0
    assert [*run_root.iterdir()] == []


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        ({"commands": [["sh", "-c", "echo no such thing; exit 3"]]}, ("exit code 3", "no such thing")),
        (
            {"commands": ["true", "sleep 60"], "commands_time_limit_s": 1},
            ("command 2", "sleep 60", "1 s"),
        ),
        ({"sysctls": {"net.ipv4.conf.left.no_such": 1}}, ("net.ipv4.conf.left.no_such",)),
        ({"sysctls": {"net.ipv4.ip_forward": "perhaps"}}, ("net.ipv4.ip_forward", "perhaps")),
    ],
    ids=["fails", "takes too long", "no such setting", "no such value"],
)
def test_what_fails_in_the_namespace_is_said_and_leaves_nothing(
    kernel: dict[str, object], said: tuple[str, ...], run_root: Path
) -> None:
    lab = kernel_lab("linux-bridge", **kernel)
    before = {*DIRECTORY.glob("weir-*-f1")}
    with pytest.raises(fabric.FabricError) as refused:
        trials_of(lab, 1, GENTLE_PPS, DURATION_S)
    assert all(word in str(refused.value) for word in said), refused.value
    assert {*DIRECTORY.glob("weir-*-f1")} <= before
    assert [*run_root.iterdir()] == []


def deployed(*lines: str) -> tuple[Topology, fabric.Deployment]:
    """A function with these commands, in a shell each, and no weir-dp."""
    lab = kernel_lab("linux-bridge", commands=[["sh", "-c", line] for line in lines])
    topology = plan.build_topology(
        lab, "linux-bridge", lab.chains()[0], plan.deployment_id(lab.name, secrets.token_hex(4))
    )
    steps = [step for step in plan.steps(topology, lab) if step.kind not in ("weir-dp", "hugepages")]
    return topology, fabric.Deployment.deploy(steps, topology, shares_cores=True)


def test_of_what_commands_say_while_they_stay_the_beginning_is_kept(run_root: Path) -> None:
    _, deployment = deployed("yes &")
    try:
        (log,) = run_root.rglob("*.command-1.log")
        deadline = time.monotonic() + SAID_S
        while log.stat().st_size < OUTPUT_BYTES_MAX and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.2)
        more = f"\n{MORE.format(bytes=OUTPUT_BYTES_MAX)}\n"
        assert log.read_bytes()[OUTPUT_BYTES_MAX:] == more.encode()
    finally:
        deployment.destroy()
    assert [*run_root.iterdir()] == []


def test_what_commands_leave_running_ends_with_the_deployment(run_root: Path) -> None:
    lines = ("sleep 600", "setsid env -i sleep 600")
    topology, deployment = deployed(*(f"{line} </dev/null >/dev/null 2>&1 &" for line in lines))
    namespaces = [*map(topology.namespace_of, topology.namespaced())]
    deadline = time.monotonic() + SAID_S
    # Who read what the commands said ends behind them.
    while len(running := markers.inside(*namespaces)) > len(lines) and time.monotonic() < deadline:
        time.sleep(0.01)
    deployment.destroy()
    assert len(running) == len(lines)
    assert not any(Path(f"/proc/{pid}/exe").exists() for pid in running)
    assert [*run_root.iterdir()] == []
