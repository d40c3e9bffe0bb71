# SPDX-License-Identifier: Apache-2.0
"""A soak whose load follows a schedule: whose turn it is, and what happened in each."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import LabFileError, load_lab
from weir.lab.delay import ScheduleStep, SoakOptions
from weir.procedures.soak import section_rows
from weir.procedures.soak.recorder import Recorder
from weir.procedures.soak.schedule import complaint, shares, turns
from weir.results.soak import SoakStep

from .looks import STREAMS, Run, new_soak

DAY = (
    ScheduleStep(load="100kpps", duration_s=20),
    ScheduleStep(load="pause", duration_s=10),
    ScheduleStep(load="1Mpps", duration_s=30),
)


def measured() -> list[SoakStep]:
    """It, before anything happened."""
    return [
        SoakStep(load="100kpps", load_pps=1e5, duration_s=20),
        SoakStep(load="pause", load_pps=0, duration_s=10),
        SoakStep(load="1Mpps", load_pps=1e6, duration_s=30),
    ]


def test_each_load_has_its_turn_and_again_until_the_end() -> None:
    assert list(turns(DAY, 0, 100)) == [(0, 0), (20, 1), (30, 2), (60, 0), (80, 1), (90, 2)]
    assert list(turns((), 0, 100)) == []


def test_what_goes_on_begins_where_the_schedule_was() -> None:
    assert list(turns(DAY, 75, 40)) == [(0, 0), (5, 1), (15, 2)]
    assert list(turns(DAY, 20, 5)) == [(0, 1)]


def test_loads_are_shares_of_the_highest() -> None:
    soak = new_soak(load="schedule", load_pps=1e6, schedule=measured())
    assert shares(soak, 0, 60) == [(0, 0.1), (20, 0), (30, 1)]
    assert shares(new_soak(), 0, 60) == []


def test_a_schedule_that_would_not_be_seen_or_cannot_be_sent_is_refused() -> None:
    assert complaint(DAY, 3600, 10) is None
    assert complaint((), 1e6, 10) is None
    assert "shorter than an interval of 15 s" in str(complaint(DAY, 3600, 15))
    short_first = [
        ScheduleStep(load="pause", duration_s=60),
        ScheduleStep(load="1Mpps", duration_s=540),
    ]  # 254.4 in the mean
    assert "256 changes of the load in 76320 s" in str(complaint(short_first, 76_320, 10))
    assert complaint(short_first, 76_260, 10) is None
    assert "300 changes of the load in 6000 s; 255 are possible" in str(complaint(DAY, 6000, 1))


def test_an_interval_belongs_to_the_load_in_whose_time_its_middle_lies() -> None:
    soak = new_soak(load="schedule", load_pps=1e6, schedule=measured())
    seen = Run(Recorder(soak, STREAMS))
    seen.begin()
    for number in range(12):
        seen.pass_by(delay_us=10.0 if number % 6 < 3 else 80.0, lost=number)
    assert [one.step for one in soak.intervals] == [1, 1, 2, 3, 3, 3] * 2
    assert [step.seconds for step in soak.schedule] == pytest.approx([40, 20, 60])
    assert [sum(one.lost for one in step.streams) for step in soak.schedule] == [0 + 1 + 6 + 7, 2 + 8, 42]
    delays = [step.streams[0].latency for step in soak.schedule]
    assert [one.p99_us for one in delays if one is not None] == pytest.approx([10.5, 10.5, 80.5], rel=0.02)
    lines = list(section_rows.step_lines(soak))
    assert [line[0] for line in lines] == ["1: 100kpps", "2: pause", "3: 1Mpps"]
    assert section_rows.load_text(soak) == "0 to 1.000 Mpps (a schedule of 3 loads, again every 60.0 s)"


@pytest.mark.parametrize(("offered", "said"), [(9_990_000, ""), (7_500_000, "0.750 Mpps were sent")])
def test_a_load_that_the_tester_did_not_send_is_not_said_to_have_been_had(offered: int, said: str) -> None:
    soak = new_soak(load="1Mpps", load_pps=1e6)
    soak.measured_s, soak.offered = 10.0, offered
    load = dict(section_rows.facts(soak))["load"]
    assert load.startswith("1.000 Mpps (1Mpps)")
    assert said in load
    assert ("were sent" in load) == bool(said)


def test_what_moves_with_the_load_has_no_drift() -> None:
    soak = new_soak(load="schedule", load_pps=1e6, schedule=measured())
    seen = Run(Recorder(soak, STREAMS))
    seen.begin()
    for _ in range(6):
        seen.pass_by()
    seen.recorder.judge(None)
    assert {one.what for one in soak.drifts} == {"resident memory", "hugepages", "in use"}


def test_a_soak_that_goes_on_adds_to_what_its_loads_had() -> None:
    soak = new_soak(load="schedule", load_pps=1e6, schedule=measured())
    for _ in range(2):
        seen = Run(Recorder(soak, STREAMS))
        seen.begin()
        for _ in range(6):
            seen.pass_by(delay_us=20)
    assert [one.step for one in soak.intervals] == [1, 1, 2, 3, 3, 3] * 2
    (left, _) = soak.schedule[2].streams
    assert left.offered == 6000
    assert left.latency is not None
    assert left.latency.packets == 6000


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("[{load: pause, duration_s: 60}]", "has pauses alone; expected a load among them"),
        ("[{load: 50% XDR, duration_s: 60}]", "is of no goal of the lab"),
        ("[{load: lots, duration_s: 60}]", "expected a share of a goal"),
        ("[{load: 1Mpps, duration_s: 0}]", "schedule[0].duration_s"),
    ],
)
def test_a_wrong_schedule_is_refused_where_it_is_wrong(schedule: str, expected: str, tmp_path: Path) -> None:
    text = (Path(__file__).parents[4] / "labs/switching/lab.yml").read_text()
    (tmp_path / "lab.yml").write_text(
        text.replace("measure:\n", f"measure:\n  soak: {{schedule: {schedule}}}\n", 1)
    )
    with pytest.raises(LabFileError, match="schedule") as raised:
        load_lab(tmp_path, quick=False)
    assert expected in str(raised.value)


def test_a_lab_has_no_schedule_unless_it_says_one() -> None:
    assert SoakOptions().schedule == ()
