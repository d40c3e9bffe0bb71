# SPDX-License-Identifier: Apache-2.0
"""Interfaces of a chain that somebody changes while it is measured: what, and whose, is said."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

import pytest
from pyroute2 import IPRoute

from weir import plan
from weir.base.node import Port
from weir.base.topology import switch_namespace
from weir.fabric import namespace
from weir.measure.tester import Counter
from weir.measure.trial import TrialRunner
from weir.procedures.driver import RunningChain, running
from weir.results.result import Trial

from .tiny import tiny_lab

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

LOAD_PPS, DURATION_S = 1000.0, 0.05
MAC = "02:00:00:00:00:07"


@pytest.fixture
def chain(run_root: Path) -> Iterator[RunningChain]:
    assert run_root
    lab = tiny_lab("linux-bridge")
    deployment = plan.deployment_id(lab.name, secrets.token_hex(4))
    topology = plan.build_topology(lab, "linux-bridge", lab.chains()[0], deployment)
    with running(lab, topology) as found:
        yield found


@pytest.fixture
def port(chain: RunningChain) -> Port:
    return chain.topology.port("f1.left")


def change(netns: str | None, name: str, **how: object) -> None:
    assert netns is not None
    with namespace.inside(netns), IPRoute() as route:
        (index,) = route.link_lookup(ifname=name)
        route.link("set", index=index, **how)


def trial_of(chain: RunningChain, meanwhile: Callable[[], None]) -> Trial:
    """One trial, in which that happens."""
    trials: list[Trial] = []
    tester = chain.tester()
    tester.announce(3)
    traffic = chain.traffic(str(chain.lab.traffic.frames[0]))
    tester.configure_traffic(traffic.config)

    looks = count()

    def counters() -> Sequence[Counter]:
        if next(looks) == 1:  # the first is before the trial
            meanwhile()
        return chain.counters()

    options = chain.lab.measure.trial
    runner = TrialRunner(
        tester, counters, traffic, options=options, on_trial=trials.append, watched=chain.watched()
    )
    runner.run("curve", LOAD_PPS, DURATION_S)
    return trials[0]


def test_an_interface_that_stays_as_it_is_is_nothing_to_say(chain: RunningChain) -> None:
    trial = trial_of(chain, lambda: None)
    assert not any("chain that was built" in why for why in trial.invalid_because)


def test_what_changes_in_a_trial_makes_it_invalid_and_is_named(chain: RunningChain, port: Port) -> None:
    trial = trial_of(chain, lambda: change(port.netns, port.side, mtu=1400, address=MAC))
    assert re.match(
        rf"left of f1 has an MTU of 1400 bytes, and had \d+; left of f1 has the MAC address {MAC}, and had"
        r" [0-9a-f:]{17}: that is not the chain that was built\.",
        trial.invalid_because[0],
    )


def test_what_is_down_is_said_of_each_trial_until_it_is_up_again(chain: RunningChain, port: Port) -> None:
    watch = chain.interfaces
    switch = switch_namespace(chain.topology)
    change(switch, port.name, state="down")
    for _ in range(2):
        watch.begin()
        assert watch.altered() == ["f1.left of the switch is down"]
    change(switch, port.name, state="up")
    assert watch.altered() == []


def test_an_mtu_before_the_first_trial_is_how_all_are_measured(chain: RunningChain, port: Port) -> None:
    watch = chain.interfaces
    change(port.netns, port.side, mtu=1400)
    for _ in range(2):
        watch.begin()
        assert watch.altered() == []


def test_an_mtu_that_a_program_changed_is_said_of_each_trial_until_it_is_as_it_was(
    chain: RunningChain, port: Port
) -> None:
    watch = chain.interfaces
    watch.begin()
    change(port.netns, port.side, mtu=100)
    for _ in range(2):
        assert watch.altered() == ["left of f1 has an MTU of 100 bytes, and had 1518"]
        watch.begin()
    change(port.netns, port.side, mtu=1518)
    assert watch.altered() == []


def test_one_with_another_name_is_gone_from_where_it_was(chain: RunningChain, port: Port) -> None:
    change(port.netns, port.side, state="down")
    change(port.netns, port.side, ifname="other")
    assert chain.interfaces.altered() == ["left of f1 is gone or renamed"]
    change(port.netns, "other", ifname=port.side)
    change(port.netns, port.side, state="up")
    assert chain.interfaces.altered() == []
