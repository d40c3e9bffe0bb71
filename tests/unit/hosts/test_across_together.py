# SPDX-License-Identifier: Apache-2.0
"""Campaigns whose chains span hosts that wait instead of measuring: what becomes of them when hosts die."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.waiting_hosts.campaign import Told
from tests.waiting_hosts.campaign import wanted as asked
from tests.waiting_hosts.host import WEIR, WaitingHost
from tests.waiting_hosts.in_process import WaitingHosts
from weir.hosts.transport import HostsError
from weir.lab.spanning import HostsOptions
from weir.procedures.across_together import IN_VAIN, across_together
from weir.results.result import Result
from weir.results.rounds import rounds_measured as counts
from weir.store.store import Store

DIRECT = ("direct", "fw")
SPANNED = HostsOptions(tester="edge", functions={"fw": "core"}, machines={"edge": "nfv1"})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path / "results.db")) as made:
        yield made


class WaitingCluster(WaitingHosts):
    """One whose hosts can be had together, as long as there are two."""

    wanted: Sequence[str | None] = ()

    def reserve(self, wanted: Sequence[str | None], say: Callable[[str], None]) -> Sequence[str]:
        say("reserves")
        self.wanted = wanted
        if len(self.hosts) < len(wanted):
            raise HostsError("these offer themselves to Weir: nfv1")
        return [*self.hosts][: len(wanted)]

    def address(self, host: str) -> str:
        return f"address of {host}"


def measuring(dies_at: int | None = None) -> WaitingHost:
    return WaitingHost([DIRECT], dies_at=dies_at)


def go(store: Store, *clusters: WaitingCluster, rounds: int = 3) -> tuple[list[Result], Told]:
    told, of = Told(), iter(clusters)
    wanted = asked(rounds, (DIRECT,), ("64",), ())
    results = across_together(wanted, SPANNED, lambda: next(of), store, progress=told, weir=WEIR)
    return results, told


def test_hosts_are_asked_for_together_and_the_machine_that_the_lab_names_by_its_name(store: Store) -> None:
    cluster = WaitingCluster({"nfv1": measuring(), "nfv2": measuring()})
    results, told = go(store, cluster)
    assert cluster.wanted == ["nfv1", None]
    assert "edge is nfv1, core is nfv2" in told.lines
    assert counts(results) == {(*DIRECT, "64"): 3}
    assert cluster.closed
    begun = cluster.hosts["nfv2"].begun
    assert begun is not None
    assert begun.place is not None
    assert begun.place.addresses == {"edge": "address of nfv1", "core": "address of nfv2"}


def test_what_was_left_when_a_host_died_is_measured_by_others(store: Store) -> None:
    dying = WaitingCluster({"nfv1": measuring(dies_at=2), "nfv2": measuring()})
    spare = WaitingCluster({"nfv3": measuring(), "nfv2": measuring()})
    results, told = go(store, dying, spare)
    assert counts(results) == {(*DIRECT, "64"): 3}
    assert len(spare.hosts["nfv3"].asked) == 2  # the one that died, from its beginning, and the last
    assert "measures what is left again, on hosts that are there" in told.lines
    assert dying.closed
    assert spare.closed
    assert not any(one.campaign is None or one.campaign.left_out for one in results)


def test_where_no_hosts_are_left_it_keeps_what_it_has_and_says_what_is_lacking(store: Store) -> None:
    dying = WaitingCluster({"nfv1": measuring(dies_at=2), "nfv2": measuring()})
    results, told = go(store, dying, WaitingCluster({"nfv2": measuring()}))
    assert counts(results) == {(*DIRECT, "64"): 1}
    assert "what is left is not measured again: these offer themselves to Weir: nfv1" in told.lines


def test_a_cluster_that_lacks_hosts_from_the_start_is_an_error_and_is_left(store: Store) -> None:
    cluster = WaitingCluster({"nfv1": measuring()})
    with pytest.raises(HostsError, match="these offer themselves"):
        go(store, cluster)
    assert cluster.closed


def test_hosts_that_die_before_anything_is_measured_are_not_tried_for_ever(store: Store) -> None:
    clusters = [
        WaitingCluster({"nfv1": measuring(dies_at=1), "nfv2": measuring()}) for _ in range(IN_VAIN + 1)
    ]
    results, told = go(store, *clusters)
    assert not counts(results).total()
    assert told.lines[-1].startswith(f"{IN_VAIN} times a host was lost")
    assert [bool(one.hosts["nfv1"].asked) for one in clusters] == [True] * IN_VAIN + [False]
