# SPDX-License-Identifier: Apache-2.0
"""Hosts that one chain spans, as one host of a campaign: whose lines go where, and what a lost one ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.waiting_hosts.campaign import Told
from tests.waiting_hosts.campaign import wanted as asked
from tests.waiting_hosts.host import LOST, WEIR, WaitingHost
from tests.waiting_hosts.in_process import WaitingHosts
from weir.hosts.messages import Showed, Visited, to_host
from weir.hosts.parts import (
    CountPart,
    FromPart,
    PartCounted,
    PartDown,
    PartFailed,
    TakeDownPart,
    ToPart,
)
from weir.hosts.together import Together
from weir.hosts.transport import Heard, HostsError
from weir.procedures.across_hosts import AcrossHosts
from weir.results.result import Result
from weir.results.rounds import rounds_measured as counts
from weir.store.store import Store

DIRECT, BRIDGE = ("direct", "fw"), ("linux-bridge", "fw")
MACHINES = {"edge": "nfv1", "core": "nfv2"}
ADDRESSES = {"edge": "192.0.2.1", "core": "192.0.2.2"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path / "results.db")) as made:
        yield made


def together(edge: WaitingHost, core: WaitingHost) -> Together:
    return Together(WaitingHosts({"nfv1": edge, "nfv2": core}), MACHINES, ADDRESSES)


def go(
    hosts: Together, store: Store, rounds: int = 2, before: Sequence[Result] = ()
) -> tuple[list[Result], Told]:
    told = Told()
    wanted = asked(rounds, (DIRECT, BRIDGE), ("64",), before)
    return AcrossHosts(wanted, hosts, store, told, WEIR).run(), told


def test_the_testers_host_measures_every_point_and_each_host_knows_which_it_is(store: Store) -> None:
    edge, core = WaitingHost([DIRECT, BRIDGE]), WaitingHost([DIRECT, BRIDGE])
    runs, _ = go(together(edge, core), store)
    assert counts(runs) == {(*DIRECT, "64"): 2, (*BRIDGE, "64"): 2}
    assert (len(edge.asked), len(core.asked)) == (4, 0)
    for host, name in ((edge, "edge"), (core, "core")):
        assert host.begun is not None
        assert host.begun.place is not None
        assert host.begun.place.host == name
        assert (host.begun.place.machines, host.begun.place.addresses) == (MACHINES, ADDRESSES)
    (run,) = runs
    assert run.campaign is not None
    assert run.campaign.shared is not None
    assert run.campaign.shared.host == "nfv1+nfv2"


def test_what_one_of_them_cannot_build_is_measured_by_none_and_says_where_and_why(store: Store) -> None:
    core = WaitingHost([DIRECT, BRIDGE], refused={BRIDGE: "no module bridge"})
    runs, told = go(together(WaitingHost([DIRECT, BRIDGE]), core), store)
    assert counts(runs) == {(*DIRECT, "64"): 2}
    assert any("core (nfv2): no module bridge" in line for line in told.lines), told.lines


def test_another_weir_on_one_of_them_is_refused(store: Store) -> None:
    core = WaitingHost([DIRECT, BRIDGE], weir="0.9")
    with pytest.raises(HostsError, match=r"core \(nfv2\): has Weir 0\.9, and nfv1 has 1\.0"):
        go(together(WaitingHost([DIRECT, BRIDGE]), core), store)


class Dying(WaitingHost):
    """A host with a part, which dies while the tester's is at its second point."""

    tester: WaitingHost

    def poll(self, host: str) -> Heard | None:
        if len(self.tester.asked) == 2 and not self.ended:
            self.ended = True
            return Heard(host, (), LOST)
        return None if self.ended else super().poll(host)


def test_a_point_during_which_another_host_was_lost_counts_nothing_and_is_measured_again(
    store: Store,
) -> None:
    edge, core = WaitingHost([DIRECT, BRIDGE]), Dying([DIRECT, BRIDGE])
    core.tester = edge
    hosts = together(edge, core)
    first, told = go(hosts, store)
    assert hosts.lost == f"core (nfv2): {LOST}"
    assert edge.stopped
    assert sum(counts(first).values()) == 1
    assert any(f"given up: core (nfv2): {LOST}" in line for line in told.lines), told.lines
    again = together(WaitingHost([DIRECT, BRIDGE]), WaitingHost([DIRECT, BRIDGE]))
    assert first[0].campaign is not None
    assert first[0].campaign.shared is not None
    go(again, store, before=store.runs_of_campaign(first[0].campaign.shared.id))
    runs = store.runs_of_campaign(first[0].campaign.shared.id)
    assert counts(runs) == {(*DIRECT, "64"): 2, (*BRIDGE, "64"): 2}


class Said:
    """`Hosts` whose lines are given, and which keep what they are told."""

    def __init__(self, *heard: Heard) -> None:
        self.told: dict[str, list[str]] = {name: [] for name in MACHINES.values()}
        self.stopped: list[str] = []
        self._heard = list(heard)

    @property
    def names(self) -> Sequence[str]:
        return [*self.told]

    def says(self, *heard: Heard) -> None:
        """Next."""
        self._heard = list(heard)

    def begin(self, host: str) -> None: ...
    def close(self) -> None: ...

    def send(self, host: str, line: str) -> None:
        self.told[host].append(line)

    def stop(self, host: str) -> None:
        self.stopped.append(host)

    def heard(self, wait_s: float) -> Sequence[Heard]:  # noqa: ARG002
        found, self._heard = self._heard, []
        return found


def line(message: ToPart | PartCounted) -> str:
    return message.model_dump_json()


def test_orders_go_from_the_tester_to_a_part_and_its_answers_back() -> None:
    hosts = Said(
        Heard("nfv1", [line(ToPart(host="core", order=CountPart()))]),
        Heard("nfv2", [line(PartCounted(counts=()))]),
    )
    assert Together(hosts, MACHINES, ADDRESSES).heard(0) == []
    assert [to_host(one) for one in hosts.told["nfv2"]] == [CountPart()]
    assert [to_host(one) for one in hosts.told["nfv1"]] == [
        FromPart(host="core", answer=PartCounted(counts=()))
    ]


def test_what_the_tester_says_after_a_host_was_lost_is_not_kept() -> None:
    """Of what it was measuring it says that it was interrupted, or that it could not be measured there."""
    hosts = Said(Heard("nfv1", [Visited().model_dump_json()]), Heard("nfv2", (), LOST))
    group = Together(hosts, MACHINES, ADDRESSES)
    assert [one.lines for one in group.heard(0)] == [[Visited().model_dump_json()]]
    hosts.says(Heard("nfv1", [Visited().model_dump_json(), Showed(text="interrupted").model_dump_json()]))
    assert [one.lines for one in group.heard(0)] == [[Showed(text="interrupted").model_dump_json()]]


def test_who_asks_a_host_that_is_lost_is_answered_at_once_and_all_end() -> None:
    hosts = Said(
        Heard("nfv2", (), LOST),
        Heard("nfv1", [line(ToPart(host="core", order=one)) for one in (CountPart(), TakeDownPart())]),
    )
    group = Together(hosts, MACHINES, ADDRESSES)
    assert group.heard(0) == []
    answers = [to_host(one) for one in hosts.told["nfv1"]]
    assert answers[1:] == [
        FromPart(host="core", answer=PartFailed(why="core is lost")),
        FromPart(host="core", answer=PartDown()),
    ]
    assert hosts.stopped == ["nfv1"]
    hosts.says(Heard("nfv1", (), ""))
    assert group.heard(0) == [Heard("nfv1+nfv2", [], f"core (nfv2): {LOST}")]
