# SPDX-License-Identifier: Apache-2.0
"""Programs of benches answer for what they measure: a bench that only skips would go unnoticed."""

from __future__ import annotations

import pytest

from bench.native_program import QUIET, printed
from tests.polled_core import CORE

EAL = ("-l", str(CORE), "-m", "256", "--no-huge", "--no-shconf", *QUIET)


@pytest.mark.parametrize(
    ("to", "contender"),
    [
        (("203.0.113.10", "80"), ("nf=lb", "services=203.0.113.10:80/udp 10.0.0.1:8080")),
        (("198.51.100.1", "80"), ("nf=nat", "external=203.0.113.0/27")),
        (("198.51.100.1", "80"), ("nf=firewall", "default=permit")),
    ],
)
def test_a_stage_is_measured_beside_l3fwd(to: tuple[str, str], contender: tuple[str, ...]) -> None:
    l3fwd = ("nf=l3fwd", "dst_mac=02:00:00:00:00:09")
    rounds = printed("stage-bench", [*EAL, "--", "64", "2", *to, *contender, *l3fwd])
    assert len(rounds) == 2
    for cycles in rounds:
        assert cycles.keys() == {contender[0].removeprefix("nf="), "l3fwd"}
        assert all(each > 0 for each in cycles.values())


def test_without_rounds_new_flows_a_second_are_measured() -> None:
    lb = ("nf=lb", "services=203.0.113.10:80/udp 10.0.0.1:8080")
    (per_s,) = printed("stage-bench", [*EAL, "--", "64", "0", "203.0.113.10", "80", *lb])
    assert per_s.keys() == {"lb"}
    assert per_s["lb"] > 0


def test_what_the_memory_alone_takes_is_measured_for_none_one_and_two_lines_a_packet() -> None:
    rounds = printed("cache-lines-bench", [*EAL, "--", "4096", "2"])
    assert [list(cycles) for cycles in rounds] == [["lines_0", "lines_1", "lines_2"]] * 2
    assert all(each > 0 for cycles in rounds for each in cycles.values())


def test_sets_of_two_sizes_are_built_and_looked_up_with_the_right_rules() -> None:
    rounds = printed("classifier-bench", [*EAL, "--", "acl", "400", "40", "2"])
    assert [one["disagreements"] for one in rounds] == [0, 0]
    assert all(one[key] > 0 for one in rounds for key in ("many", "few"))


def test_connections_that_are_counted_as_open_are_open_at_both_ends() -> None:
    (answer,) = printed("connections-open-bench", ["0.01"])
    assert (answer["open_clients"], answer["open_servers"]) == (10_000, 10_000)
    assert answer["resident_bytes"] > 0
