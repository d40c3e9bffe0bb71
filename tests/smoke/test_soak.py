# SPDX-License-Identifier: Apache-2.0
"""A soak of a real chain: killed, gone on with, interrupted; what was finished stays, the gap shows."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.weir_command import WEIR
from weir import fabric
from weir.cli.exits import FAILED, INTERRUPTED
from weir.results.result import Case, Result
from weir.store.store import Store

from .tiny import LAB

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

SOON_S = 60.0
CALM_TRIES = 5


class Soaks:
    """`weir soak` of the tiny lab, in a session of its own."""

    def __init__(self, folder: Path, technology: str = "direct", retries: int = 0) -> None:
        lab = LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", f"[{technology}]")
        lab = lab.replace("retries: 0", f"retries: {retries}").replace("time_limit_s: 2", "time_limit_s: 20")
        (folder / "lab.yml").write_text(lab)
        self._folder = folder
        self.store = folder / "results.db"

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Its output is one text."""
        argv = ["soak", *words, "--store", str(self.store), "--output", str(self._folder / "report")]
        return subprocess.Popen(
            [*WEIR, *argv],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    def new(self, duration: str, *load: str) -> subprocess.Popen[str]:
        """A soak of the lab, at 5 kpps unless it is to be another load."""
        how = load or ("--rate", "5kpps")
        return self.start(str(self._folder), *how, "--duration", duration, "--interval", "300ms")

    def result(self) -> Result | None:
        """The newest stored run."""
        if not self.store.exists():
            return None
        with Store(self.store) as store:
            return store.latest()

    def case(self) -> Case:
        """Its case, with a soak."""
        result = self.result()
        assert result is not None
        (case,) = result.setups[0].cases
        assert case.soak is not None
        return case

    def intervals(self) -> int:
        """In the store."""
        result = self.result()
        cases = [case for setup in result.setups for case in setup.cases] if result else []
        return sum(len(case.soak.intervals) for case in cases if case.soak is not None)


def until(happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + SOON_S
    while not happened():
        assert process.poll() is None, process.stdout and process.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.long
def test_a_killed_soak_goes_on_where_it_was_and_every_packet_of_its_rest_is_counted(
    tmp_path: Path, run_root: Path
) -> None:
    soaks = Soaks(tmp_path)
    killed = soaks.new("2s")
    until(lambda: soaks.intervals() >= 2, killed)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    finished = soaks.intervals()
    assert [one.ended for one in soaks.case().soak.segments] == ["open"]  # type: ignore[union-attr]
    again = soaks.start("--resume", "latest")
    said, _ = again.communicate(timeout=SOON_S)
    assert "going on with" in said, said
    assert "took down" in said
    soak = soaks.case().soak
    assert soak is not None
    assert [one.ended for one in soak.segments] == ["killed", "complete"], said
    assert len(soak.intervals) > finished
    assert [one.number for one in soak.intervals] == [*range(1, len(soak.intervals) + 1)]
    assert soak.segments[1].from_s > (soak.segments[0].to_s or 0.0)
    assert soak.measured_s >= 1.9
    assert soak.unaccounted == 0
    assert "Nothing is known of the" in said
    with (tmp_path / "report/result.json").open() as file:
        assert json.load(file)["setups"][0]["cases"][0]["soak"]["segments"][0]["ended"] == "killed"
    assert len((tmp_path / "report/intervals.csv").read_text().splitlines()) == 1 + 2 * len(soak.intervals)
    assert fabric.deployments() == []
    once_more = soaks.start("--resume", "latest")
    said, _ = once_more.communicate(timeout=SOON_S)
    assert "nothing is left" in said
    assert not list(run_root.iterdir())


@pytest.mark.long
def test_ctrl_c_ends_a_soak_with_its_last_packet_counted_and_a_report(tmp_path: Path, run_root: Path) -> None:
    soaks = Soaks(tmp_path)
    process = soaks.new("10min")
    until(lambda: soaks.intervals() >= 2, process)
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=SOON_S)
    assert process.returncode == INTERRUPTED, said
    assert "Traceback" not in said
    assert "weir soak --resume" in said
    result = soaks.result()
    assert result is not None
    assert result.interrupted
    (segment,) = soaks.case().soak.segments  # type: ignore[union-attr]
    assert segment.ended == "interrupted"
    assert segment.trial is not None
    assert segment.trial.unaccounted == 0
    assert segment.trial.intended < 5_000 * SOON_S
    assert (tmp_path / "report/report.html").exists()
    assert not list(run_root.iterdir())


@pytest.mark.long
def test_the_load_is_searched_for_before_the_soak(tmp_path: Path, run_root: Path) -> None:
    soaks = Soaks(tmp_path, retries=20)
    for _ in range(CALM_TRIES):
        said, _ = soaks.new("1s", "--load", "50% PDR").communicate(timeout=SOON_S)
        case = soaks.case()
        if not any("sent" in fault for fault in case.soak.faults):  # type: ignore[union-attr]
            break  # else the host stood still at its end, and what was not sent by then is a fault
    (found,) = case.throughput
    assert found.load_pps is not None
    assert case.soak is not None
    assert [fault for fault in case.soak.faults if "taken away" not in fault] == [], said
    assert case.soak.load_pps == pytest.approx(found.load_pps / 2)
    assert case.soak.unaccounted == 0
    assert {trial.purpose for trial in case.trials} >= {"search", "confirm"}
    assert not list(run_root.iterdir())


@pytest.mark.long
@pytest.mark.parametrize("load", [("--rate", "5kpps"), ("--load", "50% PDR")])
def test_a_chain_that_lets_nothing_of_a_direction_through_is_given_up_at_once_with_the_reason(
    load: tuple[str, str], tmp_path: Path, run_root: Path
) -> None:
    soaks = Soaks(tmp_path)
    lab = tmp_path / "lab.yml"
    options = "{default: deny, rule_list: 'permit any 198.18.0.0/16 any'}"
    functions = f"functions: {{default: {{nf: acl, options: {options}}}}}\n"
    lab.write_text(lab.read_text().replace("measure:\n", f"{functions}measure:\n", 1))
    process = soaks.new("10min", *load)
    said, _ = process.communicate(timeout=SOON_S)
    assert process.returncode == FAILED, said
    sent = r"of (\d+) packets 198\.19\.0\.1 → 198\.18\.0\.1 udp \(right-to-left\)"
    reason = (
        rf"Nothing comes through: {sent}, 1000 a second, none arrived\. Dropped: \1 at f1/acl \(denied\)\.$"
    )
    assert re.search(reason, said.splitlines()[-1]), said
    assert not list(run_root.iterdir())


@pytest.mark.long
def test_a_schedule_of_loads_is_sent_load_by_load_and_what_each_had_is_told(
    tmp_path: Path, run_root: Path
) -> None:
    soaks = Soaks(tmp_path)
    lab = tmp_path / "lab.yml"
    steps = "[{load: 2kpps, duration_s: 0.6}, {load: pause, duration_s: 0.6}, {load: 8kpps, duration_s: 0.6}]"
    lab.write_text(lab.read_text().replace("measure:\n", f"measure:\n  soak: {{schedule: {steps}}}\n", 1))
    process = soaks.start(str(tmp_path), "--duration", "3.6s", "--interval", "300ms")
    said, _ = process.communicate(timeout=SOON_S)
    soak = soaks.case().soak
    assert soak is not None, said
    (segment,) = soak.segments
    assert segment.trial is not None, said
    # Twice 0.6 s at each rate: (2,000 + 8,000) packets a second.
    assert segment.trial.intended == 12_000
    assert (soak.unaccounted, soak.load) == (0, "schedule")
    few, none, many = soak.schedule
    sent = [sum(stream.offered for stream in step.streams) for step in (few, none, many)]
    assert sum(sent) == soak.offered
    assert sent[1] < sent[0] < sent[2], said
    assert "Loads of the schedule" in said
    assert "0 to 8.000 kpps (a schedule of 3 loads" in said
    assert not list(run_root.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("technology", ["linux-bridge", "ovs", "ovs-dpdk"])
def test_every_packet_of_a_soak_behind_a_switch_is_counted(
    technology: str, tmp_path: Path, run_root: Path
) -> None:
    refusal = fabric.check(technology)
    if refusal is not None:
        pytest.skip(f"{refusal.missing}: {refusal.fix}")
    soaks = Soaks(tmp_path, technology)
    said, _ = soaks.new("2s").communicate(timeout=SOON_S)
    soak = soaks.case().soak
    assert soak is not None
    assert [one.ended for one in soak.segments] == ["complete"], said
    assert soak.measured_s >= 1.9
    assert soak.unaccounted == 0, said
    assert soak.delivered > 0.9 * soak.offered > 0
    assert not list(run_root.iterdir())
