# SPDX-License-Identifier: Apache-2.0
"""A campaign over hosts that wait instead of measuring: what its store has, whoever dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.waiting_hosts.campaign import Told, loads, stored
from tests.waiting_hosts.campaign import wanted as asked
from tests.waiting_hosts.host import LOST, WEIR, WaitingHost
from tests.waiting_hosts.in_process import HeadKilledError, WaitingHosts
from tests.waiting_hosts.program import setups
from weir.hosts import messages
from weir.hosts.transport import Heard, HostsError
from weir.lab.ways import Key
from weir.procedures import across_hosts
from weir.procedures.across_hosts import AcrossHosts
from weir.procedures.order import Budget
from weir.procedures.wanted import Wanted
from weir.results.result import Result
from weir.results.rounds import rounds_done
from weir.results.rounds import rounds_measured as counts
from weir.store.store import Store

OVS, BRIDGE = ("ovs", "PVP"), ("bridge", "PVP")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path / "results.db")) as made:
        yield made


def wanted(
    rounds: int,
    of: Sequence[Key] = (OVS, BRIDGE),
    frames: Sequence[str] = ("64",),
    before: Sequence[Result] = (),
) -> Wanted:
    return asked(rounds, of, frames, before)


def go(hosts: WaitingHosts, store: Store, of: Wanted) -> tuple[list[Result], Told]:
    told = Told()
    return AcrossHosts(of, hosts, store, told, WEIR).run(), told


def test_what_a_host_that_dies_was_at_is_measured_elsewhere_and_what_it_had_finished_is_kept(
    store: Store,
) -> None:
    hosts = {"a": WaitingHost([OVS, BRIDGE], dies_at=2), "b": WaitingHost([OVS, BRIDGE])}
    runs, told = go(WaitingHosts(hosts), store, wanted(3))
    assert counts(runs) == {(*OVS, "64"): 3, (*BRIDGE, "64"): 3}
    died = next(run for run in runs if run.id.startswith("a-"))
    assert sum(counts([died]).values()) == 1
    again = hosts["a"].asked[1]
    assert again in hosts["b"].asked
    assert any(line.startswith(f"a: given up: {LOST}; {again.name} ") for line in told.lines), told.lines
    assert not any(run.interrupted or run.campaign is None or run.campaign.left_out for run in runs)


def test_a_campaign_whose_only_host_dies_says_what_is_left_and_goes_on_elsewhere(store: Store) -> None:
    runs, told = go(WaitingHosts({"a": WaitingHost([OVS, BRIDGE], dies_at=3)}), store, wanted(2))
    assert sum(counts(runs).values()) == 2
    assert "2 points are left, and no host to measure them" in told.lines
    assert runs[0].campaign is not None
    assert sum(one.left_out for one in runs[0].campaign.left_out) == 2
    runs, _ = go(WaitingHosts({"b": WaitingHost([OVS, BRIDGE])}), store, wanted(2, before=stored(store)))
    assert counts(runs) == {(*OVS, "64"): 2, (*BRIDGE, "64"): 2}
    assert all(run.campaign is not None and not run.campaign.left_out for run in runs)


def test_a_host_goes_on_with_its_own_run_and_a_round_that_was_killed_is_measured_anew(store: Store) -> None:
    with pytest.raises(HeadKilledError):
        go(WaitingHosts({"a": WaitingHost([OVS, BRIDGE])}, killed_at=3), store, wanted(2))
    assert sum(counts(stored(store)).values()) == 2
    host = WaitingHost([OVS, BRIDGE])
    runs, told = go(WaitingHosts({"a": host}), store, wanted(2, before=stored(store)))
    assert len(runs) == 1
    assert counts(runs) == {(*OVS, "64"): 2, (*BRIDGE, "64"): 2}
    assert (len(host.asked), told.cases) == (2, 2)
    assert len(set(loads(runs))) == 4


class Interrupted(WaitingHosts):
    """Ctrl-C comes when each of them is at its third point."""

    def heard(self, wait_s: float) -> Sequence[Heard]:
        hosts = self.hosts.values()
        if all(len(one.asked) == 3 for one in hosts) and not any(one.stopped for one in hosts):
            os.kill(os.getpid(), signal.SIGINT)
        return super().heard(wait_s)


def test_ctrl_c_stops_every_host_waits_for_its_end_and_keeps_what_was_finished(store: Store) -> None:
    hosts = Interrupted({name: WaitingHost([OVS, BRIDGE]) for name in "ab"})
    runs, told = go(hosts, store, wanted(5))
    assert hosts.closed
    assert all(one.stopped and one.ended for one in hosts.hosts.values())
    assert all(run.interrupted and run.finished_at for run in runs)
    assert sum(counts(runs).values()) == 4
    assert told.lines[-1].startswith("interrupted: hosts took everything down")
    again = WaitingHosts({name: WaitingHost([OVS, BRIDGE]) for name in "ab"})
    runs, _ = go(again, store, wanted(5, before=stored(store)))
    assert counts(runs) == {(*OVS, "64"): 5, (*BRIDGE, "64"): 5}
    assert not any(run.interrupted for run in runs)


def test_what_no_host_can_measure_is_told_before_anything_is_measured(store: Store) -> None:
    hosts = {
        "a": WaitingHost([OVS, BRIDGE], refused={OVS: "no ovs"}),
        "b": WaitingHost([OVS, BRIDGE], refused={OVS: "no root"}),
    }
    runs, told = go(WaitingHosts(hosts), store, wanted(2))
    said = "left out, since no host can measure it: ovs PVP (a: no ovs; b: no root)"
    assert said in told.lines[:3], told.lines
    assert told.left_out == 2
    assert counts(runs) == {(*BRIDGE, "64"): 2}
    assert runs[0].campaign is not None
    assert [(one.name, one.left_out) for one in runs[0].campaign.left_out] == [("ovs", 2)]


def test_a_lab_that_no_host_can_measure_is_refused_with_what_each_lacks(store: Store) -> None:
    lacking = {OVS: "no ovs", BRIDGE: "no root"}
    hosts = WaitingHosts({"a": WaitingHost([OVS, BRIDGE], refused=lacking)})
    with pytest.raises(HostsError, match=r"ovs PVP \(a: no ovs\); bridge PVP \(a: no root\)") as error:
        go(hosts, store, wanted(1))
    assert error.value.exit_code == 3
    assert hosts.closed
    assert not stored(store)


def test_a_set_up_that_fails_on_one_host_is_measured_on_another(store: Store) -> None:
    hosts = {"a": WaitingHost([OVS, BRIDGE], fails=[OVS]), "b": WaitingHost([OVS, BRIDGE])}
    runs, _ = go(WaitingHosts(hosts), store, wanted(4))
    assert counts(runs) == {(*OVS, "64"): 4, (*BRIDGE, "64"): 4}
    assert [one.name for one in hosts["a"].asked].count("ovs") == 1


def test_a_host_of_another_revision_is_refused_and_the_others_measure(store: Store) -> None:
    hosts = {"a": WaitingHost([OVS, BRIDGE], weir="1.0+g1234567"), "b": WaitingHost([OVS, BRIDGE])}
    runs, told = go(WaitingHosts(hosts), store, wanted(2))
    assert f"a: given up: has Weir 1.0+g1234567, and here it is {WEIR}; install the same" in told.lines
    assert hosts["a"].stopped
    assert not hosts["a"].asked
    assert counts(runs) == {(*OVS, "64"): 2, (*BRIDGE, "64"): 2}


def test_a_host_that_waits_too_long_is_given_up_with_what_it_waits_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(across_hosts, "OFFERS_S", 0.1)
    waits = "waits: weir run of pid 4711 has CPUs 0-1"
    hosts = {"a": WaitingHost([OVS], waits=waits), "b": WaitingHost([OVS])}
    runs, told = go(WaitingHosts(hosts), store, wanted(1, [OVS]))
    assert f"a: given up: has offered nothing within 0 s; its last word: {waits}" in told.lines
    assert counts(runs) == {(*OVS, "64"): 1}


def test_where_all_hosts_are_of_another_revision_nothing_is_measured(store: Store) -> None:
    with pytest.raises(HostsError, match=r"no host can measure: a: has Weir 2\.0, and here it is 1\.0"):
        go(WaitingHosts({"a": WaitingHost([OVS, BRIDGE], weir="2.0")}), store, wanted(1))
    assert not stored(store)


def test_what_a_host_measures_again_hides_no_point_that_was_not_measured(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = {"a": WaitingHost([OVS], again=True)}
    with monkeypatch.context() as patch:
        patch.setattr(Budget, "fits", lambda budget, _setup: not budget._took_s)
        runs, _ = go(WaitingHosts(hosts), store, asked(2, [OVS], budget_s=60))
    assert len(loads(runs)) == 2  # a round, and the same once more
    assert counts(runs) == {(*OVS, "64"): 1}
    assert runs[0].campaign is not None
    assert [(one.measured, one.left_out) for one in runs[0].campaign.left_out] == [(1, 1)]
    again = WaitingHost([OVS])
    runs, _ = go(WaitingHosts({"a": again}), store, wanted(2, [OVS], before=stored(store)))
    assert [one.round for one in again.asked] == [1]
    assert runs[0].campaign is not None
    assert not runs[0].campaign.left_out


def measured_by(runs: Sequence[Result]) -> dict[tuple[str, int], set[str]]:
    """Of each technology and round: on which hosts."""
    found: dict[tuple[str, int], set[str]] = {}
    for run in runs:
        assert run.campaign is not None
        assert run.campaign.shared is not None
        for (name, _, _), numbers in rounds_done([run]).items():
            for number in numbers:
                found.setdefault((name, number), set()).add(run.campaign.shared.host)
    return found


def test_what_a_host_has_begun_of_a_round_it_goes_on_with_after_the_head_was_killed(store: Store) -> None:
    with pytest.raises(HeadKilledError):
        go(WaitingHosts({name: WaitingHost([OVS, BRIDGE]) for name in "ab"}, killed_at=3), store, wanted(2))
    had = measured_by(stored(store))
    assert 0 < len(had) < 4
    # The hosts are there in another order, so that the first one would be given the first point that is left.
    hosts = {name: WaitingHost([OVS, BRIDGE]) for name in "ba"}
    runs, _ = go(WaitingHosts(hosts), store, wanted(2, before=stored(store)))
    found = measured_by(runs)
    assert len(found) == 4
    for number in range(2):
        assert found["ovs", number] == found["bridge", number], found
        assert len(found["ovs", number]) == 1


def test_a_run_that_its_host_does_not_go_on_with_stays_as_it_was(store: Store) -> None:
    go(WaitingHosts({"a": WaitingHost([OVS, BRIDGE], dies_at=2)}), store, wanted(2))
    (before,) = stored(store)
    before.finished_at, before.interrupted = "2020-01-01T00:00:00+00:00", True
    store.update(before)
    hosts = {"a": WaitingHost([OVS, BRIDGE], goes_on=False, dies_at=2)}
    runs, _ = go(WaitingHosts(hosts), store, wanted(2, before=stored(store)))
    old, new = runs
    assert (old.id, old.finished_at, old.interrupted) == (before.id, before.finished_at, True)
    assert old.setups == before.setups
    assert new.id != old.id
    assert counts(runs) == {(*OVS, "64"): 1, (*BRIDGE, "64"): 1}


def test_a_run_that_is_longer_than_a_line_may_be_comes_to_its_host_in_pieces(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "PIECE_CHARACTERS", 500)
    go(WaitingHosts({"a": WaitingHost([OVS, BRIDGE], dies_at=4)}), store, wanted(4))
    host = WaitingHost([OVS, BRIDGE])
    runs, _ = go(WaitingHosts({"a": host}), store, wanted(4, before=stored(store)))
    assert len(host.pieces) > 5
    assert max(len(one.text) for one in host.pieces) == 500
    assert len(runs) == 1
    assert counts(runs) == {(*OVS, "64"): 4, (*BRIDGE, "64"): 4}
    assert len(set(loads(runs))) == 8


@pytest.mark.long
def test_of_a_thousand_points_none_is_lost_or_doubled_when_head_and_hosts_are_killed(store: Store) -> None:
    ten = setups(10)
    frames = [str(64 + number) for number in range(20)]

    def hosts() -> dict[str, WaitingHost]:
        return {f"host-{number}": WaitingHost(ten) for number in range(8)}

    points = 0
    for killed_at in (333, 250):
        some = hosts()
        some["host-3"].dies_at, some["host-5"].dies_at = 7, 20
        with pytest.raises(HeadKilledError):
            go(WaitingHosts(some, killed_at), store, wanted(5, ten, frames, stored(store)))
        assert points < sum(counts(stored(store)).values()) < 1000
        points = sum(counts(stored(store)).values())
    runs, told = go(WaitingHosts(hosts()), store, wanted(5, ten, frames, stored(store)))
    assert counts(runs) == {(*setup, frame): 5 for setup in ten for frame in frames}
    assert told.cases == 1000 - points
    assert len(loads(runs)) == len(set(loads(runs))) == 1000
