# SPDX-License-Identifier: Apache-2.0
"""The doctor names what of Weir's stands or was left, and which programs take the CPUs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weir import plan
from weir.fabric.host.use import in_use
from weir.fabric.journal import Journal
from weir.fabric.own_folder import own_folder
from weir.host.checks import diagnose
from weir.host.facts import Cpus, Facts, Standing, Taker
from weir.lab import Lab

MACHINE = Facts(cpus=Cpus(online=(0, 1), allowed=(0, 1)))


def said(seen: Facts, subject: str) -> list[tuple[str, str, str]]:
    found = [one for one in diagnose(seen, 0.5).findings if one.subject == subject]
    return [(one.severity, one.what, one.mend) for one in found]


def journal(name: str, *, keep: bool) -> Journal:
    spec = {"weir": 1, "name": "first", "chain": "PVP", "technology": ["direct"]}
    lab = Lab.model_validate(spec | {"cores": {"tester": [0], "functions": [0]}})
    made = Journal.begin(plan.build_topology(lab, "direct", lab.chains()[0], name))
    if keep:
        made.write({"keep": True})
    return made


@pytest.mark.parametrize(
    ("state", "severity", "what"),
    [
        ("abandoned", "warning", "x-1: left by a weir that was killed"),
        ("kept", "note", "x-1 stands"),
        ("in use", "note", "x-1: another weir works on it"),
        ("unreadable", "warning", "x-1: its journal cannot be read"),
    ],
)
def test_a_deployment_is_named_with_what_becomes_of_it(state: str, severity: str, what: str) -> None:
    seen = MACHINE.model_copy(
        update={"deployments": (Standing.model_validate({"id": "x-1", "state": state}),)}
    )
    ((found_severity, found_what, mend),) = said(seen, "deployments")
    assert (found_severity, found_what) == (severity, what)
    assert ("x-1" in mend) == (state != "in use")


def test_none_is_said_only_where_somebody_looked() -> None:
    assert said(MACHINE.model_copy(update={"deployments": ()}), "deployments")[0][0] == "ok"
    assert said(MACHINE, "deployments") == []


def test_programs_that_take_cpus_are_named_and_weirs_own_are_not() -> None:
    takers = (
        Taker(name="stress", pid=7, cpu=1, share=0.98),
        Taker(name="weir-dp", pid=8, cpu=0, share=2.0, own=True),
        Taker(name="sshd", pid=9, cpu=0, share=0.02),
    )
    ((severity, what, mend),) = said(MACHINE.model_copy(update={"takers": takers}), "cpu time")
    assert (severity, what) == ("warning", "CPU time is taken: stress (7) 98% of CPU 1")
    assert mend.startswith("end them")


def test_journals_are_told_from_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "weir"))
    assert in_use(MACHINE, look_s=0.01).deployments == ()
    journal("kept-00000001", keep=True).close()
    journal("left-00000002", keep=False).close()
    working = journal("work-00000003", keep=False)
    torn = tmp_path / "weir" / "torn-00000004.journal"
    torn.write_text("{}\n")
    stands = {one.id: one.state for one in in_use(MACHINE, look_s=0.01).deployments or ()}
    assert stands == {
        "kept-00000001": "kept",
        "left-00000002": "abandoned",
        "work-00000003": "in use",
        "torn-00000004": "unreadable",
    }
    working.close()


def test_a_program_that_spins_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "weir"))
    spinning = subprocess.Popen([sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=-1)
    try:
        assert spinning.stdout is not None
        spinning.stdout.readline()
        found = {one.pid: one for one in in_use(MACHINE).takers or ()}
        assert found[spinning.pid].share > 0
        assert found[spinning.pid].cpu in os.sched_getaffinity(0)
    finally:
        spinning.kill()
        spinning.wait()


def test_the_folder_of_a_killed_verification_is_named_and_that_of_a_running_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "weir"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with own_folder() as running:
        killed = running.with_name("verify_killed")
        killed.mkdir()
        seen = in_use(MACHINE, look_s=0.01)
    assert seen.folders_left == (str(killed),)
    what = f"{killed}: left by a `weir verify` that was killed"
    assert ("warning", what, "weir destroy --all") in said(seen, "deployments")


def test_disks_of_guests_whose_deployment_is_gone_are_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "weir"))
    monkeypatch.setenv("WEIR_GUEST_DIR", str(tmp_path / "guests"))
    assert in_use(MACHINE, look_s=0.01).guests_left == ()
    journal("here-00000001", keep=True).close()
    for name in ("here-00000001", "gone-00000002"):
        (tmp_path / "guests" / name).mkdir(parents=True)
        (tmp_path / "guests" / name / "journal").symlink_to(tmp_path / "weir" / f"{name}.journal")
    seen = in_use(MACHINE, look_s=0.01)
    path = tmp_path / "guests" / "gone-00000002"
    assert seen.guests_left == (str(path),)
    warnings = [one for one in said(seen, "deployments") if one[0] == "warning"]
    assert warnings == [
        ("warning", f"{path}: left of a deployment that is gone, as after a reboot", f"rm -r {path}")
    ]
