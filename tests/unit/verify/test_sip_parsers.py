# SPDX-License-Identifier: Apache-2.0
"""What SIPp and Kamailio wrote on a real machine, read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from weir.verify.driver import CloudError
from weir.verify.sip import kamailio, sipp
from weir.verify.sip.sipp import Unexpected

from .made_sip import at_a_pace, rows_file

RECORDED = Path(__file__).parent / "recorded"


def recorded(name: str) -> str:
    return (RECORDED / name).read_text(errors="replace")


def test_counts_are_the_last_row_and_the_offered_time_that_of_the_last_call_made() -> None:
    found = sipp.counts(recorded("sipp-counts.csv"))
    assert (found.created, found.current, found.successful, found.failed) == (1400, 0, 1264, 136)
    assert found.causes == {"another message than expected": 136}
    assert found.retransmissions == 441
    assert 9.9 < found.offered_s < 12.1


@pytest.mark.parametrize("pace_cps", [30, 40])
def test_a_caller_that_keeps_30_of_40_calls_a_second_for_a_second_is_told_from_one_that_keeps_them(
    pace_cps: int,
) -> None:
    found = sipp.counts(recorded(f"sipp-counts-{pace_cps}-cps.csv"))
    assert found.created == 40
    assert pace_cps <= found.offered_cps < 1.06 * pace_cps


@pytest.mark.parametrize(
    ("rate_cps", "seconds", "pace_cps"),
    [
        (20, 0.25, 15), (40, 0.5, 30), (40, 1, 36), (400, 1, 364), (400, 2, 372), (40, 10, 37.5),
        (3, 10, 2.5),
    ],
)  # fmt: skip
def test_rows_each_quarter_of_a_second_tell_a_slow_caller_from_a_right_one_in_short_loads_too(
    rate_cps: float, seconds: float, pace_cps: float
) -> None:
    planned = round(rate_cps * seconds)
    right = sipp.counts(rows_file(at_a_pace(planned, planned / rate_cps)))
    slow = sipp.counts(rows_file(at_a_pace(planned, planned / pace_cps)))
    assert right.offered_cps >= rate_cps
    assert pace_cps <= slow.offered_cps < 0.95 * rate_cps


@pytest.mark.parametrize("behind_s", [0.0, 0.0023, 0.02])
@pytest.mark.parametrize(("rate_cps", "planned"), [(0.5, 1), (1, 1), (3, 3), (40, 10), (40, 40), (400, 2000)])
def test_a_caller_whose_rows_are_a_little_behind_keeps_its_rate(
    rate_cps: float, planned: int, behind_s: float
) -> None:
    rows = at_a_pace(planned, planned / rate_cps)
    late = [(seconds + behind_s if seconds else 0.0, calls) for seconds, calls in rows]
    assert sipp.counts(rows_file(late)).offered_cps >= rate_cps


def test_a_caller_that_was_held_up_once_and_has_made_its_calls_in_time_keeps_its_rate() -> None:
    rows = [(0.0, 0), (0.252, 10), (0.504, 20), (0.756, 25), (1.008, 40), (2.7, 40)]
    assert sipp.counts(rows_file(rows)).offered_cps >= 40


def test_failures_without_a_column_of_their_own_have_a_cause_too() -> None:
    head, *rows = recorded("sipp-counts.csv").splitlines()
    place = head.split(";").index("FailedCall(C)")
    cells = rows[-1].split(";")
    cells[place] = "140"
    text = "\n".join((head, *rows[:-1], ";".join(cells)))
    assert sipp.counts(text).causes == {"another message than expected": 136, "other": 4}


@pytest.mark.parametrize("text", ["", "StartTime;CurrentTime\n", "a;b\n1;2\n", "\x00"])
def test_counts_that_are_none_are_an_error_of_the_cloud(text: str) -> None:
    with pytest.raises(CloudError, match="SIPp"):
        sipp.counts(text)


def test_response_times_are_read_in_milliseconds() -> None:
    found = sipp.delays_ms(recorded("sipp-rtt.csv"))
    assert len(found) == 11
    assert found[0] == 4.0
    for text in ("", "Date;x\n1;2\n", "Date_ms;response_time_ms;rtd_no\n1;x;2\n"):
        with pytest.raises(CloudError, match="response times"):
            sipp.delays_ms(text)


def test_a_message_that_was_not_expected_is_a_cause_and_one_of_a_call_that_is_over_is_none() -> None:
    found = sipp.unexpected(recorded("sipp-errors.log"))
    assert found == {Unexpected(2, "200", "180"): 1, Unexpected(7, "408", "200"): 2}
    first = sipp.first_error(recorded("sipp-errors.log"))
    assert first is not None
    assert first.startswith("Aborting call on unexpected message")
    assert sipp.first_error("The following events occurred:\n") is None


def test_failed_calls_have_the_messages_that_sipp_names_as_causes_where_it_counts_as_many() -> None:
    named = sipp.unexpected(recorded("sipp-errors.log"))
    other = "another message than expected"
    found = sipp.with_names({other: 4, "no answer in time": 1}, named)
    assert found == {
        other: 1, "no answer in time": 1, "200 where 180 was due": 1, "408 where 200 was due": 2,
    }  # fmt: skip
    assert sipp.with_names({other: 3}, named) == {"200 where 180 was due": 1, "408 where 200 was due": 2}
    assert sipp.with_names({"no answer in time": 1}, Counter()) == {"no answer in time": 1}


def test_a_call_whose_invite_comes_again_after_its_end_rang_once() -> None:
    assert sipp.rang("1-7@10.0.0.3\n2-7@10.0.0.3\n1-7@10.0.0.3\n") == 2
    assert sipp.rang("") == 0


def test_what_a_function_counted_is_read_by_name() -> None:
    found = kamailio.counters(recorded("kamailio-statistics.txt"))
    assert (found.registered, found.invited, found.answered, found.refused, found.cancelled) == (
        10, 60, 60, 0, 0,
    )  # fmt: skip
    assert found.active == 0
    with pytest.raises(KeyError):
        kamailio.counters("core:drop = 1\n")
    assert found.since(found).invited == 0


def test_peers_are_open_when_all_of_them_are() -> None:
    text = recorded("kamailio-peers.txt")
    assert kamailio.peers_open(text)
    assert not kamailio.peers_open(text.replace("I_Open", "Wait_I_CEA"))
    assert not kamailio.peers_open("")
