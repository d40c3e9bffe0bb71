# SPDX-License-Identifier: Apache-2.0
"""A soak in the store, interval by interval, and what every report says of it."""

from __future__ import annotations

from pathlib import Path

from weir.report import render
from weir.results.result import Case, Fingerprint, Result, Setup
from weir.store.open_case import OpenCaseStore

from .looks import POOLS, START_S, Run, closed, run


def result() -> Result:
    """A run without setups."""
    fingerprint = Fingerprint(
        cpu="Imaginary", cores=2, kernel="6.1", cmdline="", governor="none", smt="off", isolated="",
        numa_nodes=1, hugepages_2m=0, memory="hugepages", hypervisor="", tsc_hz=10**9, offloads="",
        versions={},
    )  # fmt: skip
    return Result(
        weir="0", id="soaked", lab="lab", title="Soaked", quick=False, spec_sha256="0" * 64, seed=1,
        started_at="2027-01-15T08:00:00Z", baseline="direct", fingerprint=fingerprint, spec={},
    )  # fmt: skip


def stored(path: Path, seen: Run) -> Result:
    """The soak as it is after its intervals, the last of which was never finished by add_case."""
    case = Case(frame="64", mean_frame_bytes=64.0, soak=seen.recorder.soak)
    with OpenCaseStore(path) as store:
        store.begin(result())
        place = store.add_setup("soaked", Setup(technology="direct", chain="PVP", datapath="none"))
        for interval in seen.recorder.soak.intervals:
            store.add_interval(place, case, interval)
        return store.load("soaked")


def test_intervals_come_back_from_the_store_and_the_soak_goes_on_there(tmp_path: Path) -> None:
    seen = run()
    for _ in range(7):
        seen.pass_by(lost=1, losses=[(1.0, 1)])
    found = stored(tmp_path / "results.db", seen).setups[0].cases[0].soak
    assert found is not None
    assert found == seen.recorder.soak
    with OpenCaseStore(tmp_path / "results.db") as store:
        place = store.reopen_soak("soaked")
        assert store.intervals(place, Case(frame="64", mean_frame_bytes=64.0)) == found.intervals
        store.add_case(place, Case(frame="64", mean_frame_bytes=64.0, soak=found))
        again = store.load("soaked").setups[0].cases
    assert len(again) == 1
    assert again[0].soak == found


def test_every_report_has_the_soak(tmp_path: Path) -> None:
    seen = run()
    for at in range(12):
        seen.pass_by(lost=at == 5, losses=[(51.5, 1)] if at == 5 else [])
    drops = [{"place": "area f1", "reason": "denied", "packets": 1}]
    end = closed(24_000, 23_999, drops=drops)
    seen.recorder.end(end, POOLS, START_S + 120, queues={}, warmed=0, complete=True)
    seen.recorder.judge(None)
    whole = stored(tmp_path / "results.db", seen)
    text = render(whole, "terminal")
    assert "balanced to the packet" in text
    assert "area f1 denied 1" in text
    assert "1 packet lost" in text
    assert "1 min" in text
    rows = render(whole, "csv").splitlines()
    assert len(rows) == 1 + 12 * 2
    assert rows[0].startswith("run,interval,segment,at")
    page = render(whole, "html")
    assert 'class="rows soak-plots"' in page
    assert "all back in their pools" in page
    assert Result.model_validate_json(render(whole, "json")) == whole
