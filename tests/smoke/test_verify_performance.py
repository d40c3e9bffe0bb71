# SPDX-License-Identifier: Apache-2.0
"""`weir verify --suite performance` of Weir's own cloud: packets go from outside through an instance and
back, all of them are accounted for, and an instance that drops some or does not forward is the cause of its
case's failure."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

import pytest

from weir.cli.exits import FAILED
from weir.fabric import stop_signals
from weir.lab.performance import Performance
from weir.lab.sla import Sla
from weir.lab.sut import LocalCloud, SutFile
from weir.measure.trial import TrialRunner
from weir.results.trial import Trial
from weir.results.verification import Verification
from weir.verify.driver import ChainWanted, CloudError
from weir.verify.drivers.local_chain import LocalChains

from .test_verify_local import pytestmark as needs_what_verify_needs
from .test_verify_local import verify

pytestmark = needs_what_verify_needs
LIGHT_PPS, TRIAL_S = 500.0, 0.5
_NTH = "-m statistic --mode nth --every 10 --packet 0"
EVERY_TENTH = f"iptables -t raw -A PREROUTING -p udp --dport 9 {_NTH} -j DROP"
NO_FORWARDING = "sysctl -q -w net.ipv4.ip_forward=0"
MORE_THAN_ANY_PPS = 2e6
"""The switches' first queue overflows at that."""


def file(commands: tuple[str, ...] = (), nodes: int = 1, security: str = "bridge-filter") -> SutFile:
    """With a name of its own: others may run beside it."""
    local = LocalCloud.model_validate({"compute_nodes": nodes, "security": security})
    performance = Performance(instance_commands=commands)
    return SutFile(
        weir=1, name=f"tiny-{secrets.token_hex(2)}", driver="local", local=local, performance=performance
    )


def trials(of: SutFile, instances: int, *loads_pps: float) -> list[Trial]:
    """One at each load, through a chain that stands."""
    found: list[Trial] = []
    wanted = ChainWanted(instances, "generic", 0, of.performance)
    with stop_signals.held(), LocalChains(of).chain(wanted) as chain:
        on = chain.measured({}, Sla())
        traffic = chain.traffic("64", 8)
        on.tester.configure_traffic(traffic.config)
        options = of.performance.measured(60).trial
        runner = TrialRunner(
            on.tester, on.counters, traffic, options=options, on_trial=found.append, outside=on.outside
        )
        for load_pps in loads_pps:
            runner.run("curve", load_pps, TRIAL_S)
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("instances", "nodes", "security"), [(1, 1, "bridge-filter"), (2, 2, "ovs-conntrack")]
)
@pytest.mark.usefixtures("run_root")
def test_every_packet_through_a_chain_is_delivered_or_counted_where_it_was_lost(
    instances: int, nodes: int, security: str
) -> None:
    """At a light load, and far above what the chain carries."""
    light, flat_out = trials(file(nodes=nodes, security=security), instances, LIGHT_PPS, MORE_THAN_ANY_PPS)
    for one in (light, flat_out):
        assert one.offered > 0
        assert one.unaccounted == 0
        assert one.offered == one.delivered + sum(drop.packets for drop in one.drops)
        assert "accounting" not in one.doubted
    assert light.delivered == light.offered
    assert 0 < flat_out.delivered < flat_out.offered
    assert all(one.streams[0].latency is not None for one in (light, flat_out))


@pytest.mark.long
@pytest.mark.usefixtures("run_root")
def test_of_an_instance_that_drops_every_tenth_packet_just_those_are_missing_and_it_is_named() -> None:
    (one,) = trials(file((EVERY_TENTH,)), 1, LIGHT_PPS)
    lost = one.offered - one.delivered
    assert one.unaccounted == 0
    assert one.offered // 10 <= lost <= one.offered // 10 + 1
    assert {drop.place for drop in one.drops} == {"shared.vnf1"}


@pytest.mark.long
@pytest.mark.usefixtures("run_root")
def test_an_instance_that_does_not_forward_is_named_before_anything_is_measured() -> None:
    of = file((NO_FORWARDING,))
    wanted = ChainWanted(1, "generic", 0, of.performance)
    with (
        stop_signals.held(),
        pytest.raises(CloudError, match=r"nothing that outside sends arrives .* at shared\.vnf1"),
        LocalChains(of).chain(wanted),
    ):
        pass


@pytest.mark.long
def test_the_command_fails_with_the_instance_as_the_cause_and_skips_what_is_not_there(
    tmp_path: Path, run_root: Path
) -> None:
    text = f"""weir: 1
name: tiny
suites: [performance]
local: {{compute_nodes: 1}}
performance:
  chains: PVP
  techniques: [generic, sr-iov]
  traffic: {{frames: 64}}
  instance_commands: ["{NO_FORWARDING}"]
"""
    (tmp_path / "sut.yml").write_text(text)
    done, out = verify(tmp_path)
    assert done.returncode == FAILED, done.stderr
    found = Verification.model_validate_json(done.stdout)
    generic, sriov = found.suites[0].cases
    assert (generic.outcome, sriov.outcome) == ("failed", "skipped")
    assert "at shared.vnf1" in (generic.why or "")
    assert "has no sr-iov" in (sriov.why or "")
    assert json.loads((out / "verification.json").read_text())["suites"][0]["name"] == "performance"
    assert list(run_root.glob("*.journal")) == []
