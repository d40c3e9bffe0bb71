# SPDX-License-Identifier: Apache-2.0
"""A run that is killed or interrupted goes on: every point once, and the same result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.smoke.killed import kill, survived
from weir.comparison.samples import of_runs
from weir.comparison.warnings import warnings
from weir.lab import file_digests
from weir.lab.file_digests import digests
from weir.lab.load import load_lab, stored_lab
from weir.procedures.order import Asked
from weir.procedures.resuming import (
    ResumeError,
    campaign_of,
    require_files,
    require_same,
    require_same_machine,
)
from weir.results.rounds import rounds_measured
from weir.store.store import Store, UnfinishedRun

from .two_chains import POINTS, FakeMeasure, Runs, as_stored, is_whole, nothing_is_built, rates

__all__ = ["nothing_is_built"]


@pytest.mark.long
@pytest.mark.parametrize("seed", [None, 7])
def test_killed_at_any_point_a_run_goes_on_to_the_result_of_one_that_was_not(
    tmp_path: Path, seed: int | None
) -> None:
    for place, numbers in {
        "case begins": (1, 2, 6),
        "trial stored": (1, 9, 24),
        "case stored": (1, 4, 12),
    }.items():
        for number in numbers:
            killed = Runs(tmp_path / f"{place} {number}")
            times = 0

            def reached(here: str, place: str = place, number: int = number) -> None:
                nonlocal times
                times += here == place
                if times == number and here == place:
                    kill()

            killed.measure = FakeMeasure(killed.folder / "log", reached)
            assert not survived(lambda killed=killed: killed.run(Asked(seed))), (place, number)  # type: ignore[misc]
            # The fake writes its log before the store: what is not stored is measured again.
            done = rounds_measured([killed.stored()]).total()
            (killed.folder / "log").write_text("x\n" * done)
            killed.measure = FakeMeasure(killed.folder / "log")
            result = killed.go_on()
            is_whole(result)
            assert killed.measure.count() == POINTS, (place, number)
            assert killed.told.counts[0] == POINTS - done
            is_whole(killed.stored())
            assert as_stored(killed.stored()) == as_stored(result)
            assert result.campaign is not None
            assert len(result.campaign.resumed_at) == 1


def test_a_case_that_ctrl_c_ended_is_measured_anew_from_its_beginning(runs: Runs) -> None:
    for interrupt_at in (0, 5, 5, 11):
        runs.measure.interrupt_at = interrupt_at
        result = runs.run(Asked()) if interrupt_at == 0 else runs.go_on()
        assert result.interrupted
        assert result.campaign is not None
        assert result.campaign.left_out_points == POINTS - interrupt_at
        assert rounds_measured([runs.stored()]).total() == interrupt_at
    runs.measure.interrupt_at = None
    is_whole(runs.go_on())
    whole = runs.stored()
    is_whole(whole)
    assert not whole.interrupted
    assert {len(samples.values) for key, samples in of_runs([whole]).items() if key[3] == "NDR"} == {3}


def test_a_shuffled_run_has_its_set_ups_in_the_order_of_the_lab_and_goes_on_in_its_own(runs: Runs) -> None:
    straight = Runs(runs.folder.parent / "straight")
    whole = straight.run(Asked(seed=5))
    runs.measure.interrupt_at = 7
    runs.run(Asked(seed=5))
    runs.measure.interrupt_at = None
    assert rates(runs.go_on()) == rates(whole)


def test_a_killed_run_of_the_lab_is_known_until_another_one_came_to_its_end(runs: Runs) -> None:
    def reached(place: str) -> None:
        if place == "trial stored":
            kill()

    runs.measure = FakeMeasure(runs.folder / "log", reached)
    assert not survived(lambda: runs.run(Asked()))
    killed = runs.stored()
    with Store(runs.store) as store:
        found = UnfinishedRun(killed.id, "killed", on_hosts=False)
        assert store.unfinished_of(killed.spec_sha256) == found
        assert store.unfinished_of("another") is None
    runs.measure = FakeMeasure(runs.folder / "log")
    runs.go_on()
    with Store(runs.store) as store:
        assert store.unfinished_of(killed.spec_sha256) is None


def test_a_finished_run_and_one_of_another_procedure_are_refused(runs: Runs) -> None:
    whole = runs.run(Asked())
    with pytest.raises(ResumeError, match="has measured all its 12 points: nothing is left"):
        campaign_of(whole)
    whole.campaign = None
    with pytest.raises(ResumeError, match="is none of `weir run` that can be gone on with"):
        campaign_of(whole)


def test_another_lab_and_one_that_has_changed_are_refused(runs: Runs) -> None:
    runs.measure.interrupt_at = 3
    result = runs.run(Asked())
    require_same(result, runs.lab, "lab.yml")
    require_same(result, stored_lab(result.spec), "lab.yml")
    with pytest.raises(ResumeError, match=r"other\.yml is lab other, and run two-.* is of lab two"):
        require_same(result, runs.lab.model_copy(update={"name": "other"}), "other.yml")
    changed = runs.lab.measure.model_copy(update={"warm_up_s": 0.25})
    with pytest.raises(ResumeError, match=r"lab\.yml is not the lab of run two-.*: it has changed since"):
        require_same(result, runs.lab.model_copy(update={"measure": changed}), "lab.yml")


@pytest.mark.parametrize(
    ("field", "said"),
    [("kernel", "another kernel: 2.4"), ("cpu", "another CPU: 2.4"), ("host", "another host: 2.4")],
)
def test_another_machine_or_kernel_or_weir_is_refused(runs: Runs, field: str, said: str) -> None:
    runs.measure.interrupt_at = 3
    result = runs.run(Asked())
    require_same_machine(result)
    other = result.model_copy(update={"fingerprint": result.fingerprint.model_copy(update={field: "2.4"})})
    with pytest.raises(ResumeError, match=f"was begun with {said}; here it is"):
        require_same_machine(other)
    result.fingerprint.versions["weir"] = "0.0.1"
    with pytest.raises(ResumeError, match=r"was begun by Weir 0\.0\.1, and this is"):
        require_same_machine(result)


def test_a_run_whose_files_are_gone_is_refused_as_it_is_and_not_given_up(runs: Runs, tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    (folder / "rules").mkdir(parents=True)
    place = folder / "lab.yml"
    place.write_text(
        "weir: 1\nname: linux\nchain: [[f]]\ntechnology: linux-bridge\n"
        "functions: {f: {kind: kernel, kernel: {directory: rules}}}\n"
    )
    lab = load_lab(place)
    run = runs.run(Asked())
    require_files(run, lab)
    folder.rename(tmp_path / "away")
    with pytest.raises(ResumeError) as refused:
        require_files(run, lab)
    assert str(refused.value) == (
        f"run {run.id} cannot go on: functions.f.kernel.directory: there is no directory {folder / 'rules'}; "
        "put it back where it was when the run began, or begin a new run"
    )


def test_a_run_whose_files_have_something_else_in_them_is_refused(runs: Runs, tmp_path: Path) -> None:
    rules = tmp_path / "fw.rules"
    rules.write_text("deny any any 203.0.113.0/24\n")
    place = tmp_path / "lab.yml"
    place.write_text(
        "weir: 1\nname: filtered\nchain: [[f]]\ntechnology: direct\n"
        "functions: {f: {nf: firewall, options: {rules: fw.rules}}}\n"
    )
    lab = load_lab(place)
    run = runs.run(Asked()).model_copy(update={"files_sha256": digests(lab)})
    require_files(run, lab)
    rules.write_text("deny any any 0.0.0.0/0\n")
    with pytest.raises(ResumeError) as refused:
        require_files(run, lab)
    assert str(refused.value) == (
        f"{rules}, which its lab names, has changed since run {run.id} began: rounds of both do not belong "
        "together; put back what it was, or begin a new run"
    )
    other = run.model_copy(update={"files_sha256": digests(lab)})
    assert "Files that the lab names have something else in them: fw.rules." in warnings([run], [other])


def test_the_ends_and_the_size_of_a_large_file_tell_it_from_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_digests, "WHOLE_BYTES", 8)
    place = tmp_path / "capture.pcap"
    seen = set()
    for content in (b"abcd-efgh", b"abcd--efgh", b"abcd-efgx", b"xbcd-efgh", b"abcdefgh"):
        place.write_bytes(content)
        seen.add(file_digests.digest(place))
    assert len(seen) == 5
