# SPDX-License-Identifier: Apache-2.0
"""`weir verify` with Kamailio and SIPp: calls through a proxy and through an IMS, all of them accounted for;
with a fault a failed case with its cause, in time, and nothing is left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.weir_command import WEIR
from weir.base.error import FabricError
from weir.cli.exits import FAILED, OK
from weir.fabric import markers
from weir.fabric.cloud.programs import require_programs
from weir.lab.application import Application
from weir.results.verification import CaseResult, Verification
from weir.verify.sip.functions import needs

from .clouds import NEEDS_CLOUDS
from .test_verify_local import broken, only, untouched, verify


def lacking() -> str | None:
    """What calls need and this machine does not have."""
    try:
        require_programs(needs(Application()))
    except FabricError as error:
        return f"{error.message}; {error.fix}"
    return None


pytestmark = [
    *NEEDS_CLOUDS,
    pytest.mark.skipif(lacking() is not None, reason=f"no calls: {lacking()}"),
    pytest.mark.usefixtures("untouched"),
]
__all__ = ["untouched"]

SUT = {
    "weir": 1,
    "name": "tiny",
    "suites": ["application"],
    "local": {"compute_nodes": 1, "security": "none"},
    "case_time_limit_s": 90,
    "sla": {"calls": {"failure_ratio": 0.0, "request_delay_p95_ms": 1000}},
}
CALLS = {
    "subscribers": 10,
    "call_rate_cps": [10],
    "duration_s": 2,
    "ring_s": 0.2,
    "talk_s": 0.3,
    "hold_s": 0.2,
}


def sut(folder: Path, **application: object) -> Path:
    (folder / "sut.yml").write_text(json.dumps(SUT | {"application": CALLS | application}))
    return folder


def cases(done: subprocess.CompletedProcess[str]) -> dict[str, CaseResult]:
    return {case.name: case for case in Verification.model_validate_json(done.stdout).suites[0].cases}


@pytest.mark.long
@pytest.mark.parametrize("variant", ["proxy", "ims"])
def test_every_call_is_set_up_and_ended_and_all_counts_agree(variant: str, tmp_path: Path) -> None:
    done, out = verify(sut(tmp_path, variant=variant), *only("sip_registration", "sip_calls"))
    assert done.returncode == OK, done.stderr + done.stdout
    (load,) = cases(done)["sip_calls"].calls
    assert (load.planned, load.created, load.successful, load.answered, load.rang) == (20,) * 5
    assert [one.calls for one in load.functions] == [20] * (1 if variant == "proxy" else 3)
    assert load.disagreements == []
    assert load.request_delay is not None
    assert load.request_delay.calls == 20
    assert "10 registered" in [one.found for one in cases(done)["sip_registration"].operations]
    assert "20 of 20 succeeded" in (out / "report.html").read_text()


@pytest.mark.slow
def test_calls_in_which_each_end_lets_the_other_wait_succeed(tmp_path: Path) -> None:
    """For longer than an answer may take; it rings for longer than functions wait by default."""
    pauses = {"ring_s": 21, "talk_s": 13, "hold_s": 13}
    done, _ = verify(sut(tmp_path, variant="proxy", **pauses), *only("sip_calls"))
    assert done.returncode == OK, done.stderr + done.stdout
    (load,) = cases(done)["sip_calls"].calls
    assert (load.planned, load.successful, load.causes) == (20, 20, {})


@pytest.mark.slow
def test_media_comes_back_to_who_sent_it(tmp_path: Path) -> None:
    done, _ = verify(sut(tmp_path, variant="proxy", media=True, talk_s=1.0), *only("sip_calls"))
    assert done.returncode == OK, done.stderr + done.stdout
    (load,) = cases(done)["sip_calls"].calls
    assert load.rtp is not None
    assert load.rtp.sent >= 20 * 40  # a second of 20 ms packets each, less what starting takes
    assert load.rtp.arrived == load.rtp.sent
    assert load.rtp.echoed == load.rtp.returned
    assert 0.9 * load.rtp.sent <= load.rtp.echoed <= load.rtp.sent


@pytest.mark.slow
def test_a_search_ends_with_a_rate_at_which_calls_succeed(tmp_path: Path) -> None:
    wanted = {"variant": "proxy", "highest_rate_cps": 40, "trial_s": 1, "search_s": 50}
    done, _ = verify(sut(tmp_path, **wanted), *only("sip_capacity"))
    capacity = cases(done)["sip_capacity"].capacity
    assert capacity is not None, done.stderr
    assert capacity.rate_cps is not None
    assert 2 <= capacity.rate_cps <= 40


@pytest.mark.slow
def test_a_wrong_key_fails_registration_with_what_sipp_says_of_it(tmp_path: Path) -> None:
    script = (
        "for word; do case $word in register.csv) "
        'sed -i "s/aka_OP=[^ ]*/aka_OP=another_operator/" $word ;; esac; done\n'
        f'exec {shutil.which("sipp")} "$@"'
    )
    done, _ = verify(sut(tmp_path), *only("sip_registration"), **broken(tmp_path, "sipp", script))
    assert done.returncode == FAILED, done.stderr
    failed = cases(done)["sip_registration"]
    assert failed.outcome == "failed"
    assert "MAC != eXpectedMAC" in (failed.why or "")
    assert failed.not_removed is None


def during_calls(folder: Path, runs: Path, server: str, signum: int, *, at: str) -> CaseResult:
    """The case `sip_calls`, in which the programs of a server get a signal as soon as there is a file `at` of
    the caller's."""
    run = subprocess.Popen(
        [*WEIR, "verify", str(folder), "--json", *only("sip_calls"), "-o", str(folder / "out")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (found := list(runs.glob(f"tiny-verify-*/programs/caller/{at}"))):
        assert time.monotonic() < deadline
        assert run.poll() is None, run.communicate()
        time.sleep(0.05)
    time.sleep(0.5)
    marker = f"{found[0].relative_to(runs).parts[0]}/programs:{server}"
    pids = markers.marked(marker)
    assert pids
    pipes_are_in_the_servers(runs, found[0].relative_to(runs).parts[0])
    for pid in pids:
        os.kill(pid, signum)
    said, complained = run.communicate(timeout=120)
    assert run.returncode == FAILED, complained
    return Verification.model_validate_json(said).suites[0].cases[0]


def pipes_are_in_the_servers(runs: Path, deployment: str) -> None:
    """Those that Kamailio's Diameter leaves: this host's /tmp has none."""
    for server in ("icscf", "scscf"):
        assert list((runs / deployment / "programs" / server / "tmp").glob("cdp_send_*"))
        for pid in markers.marked(f"{deployment}/programs:{server}"):
            assert list(Path("/tmp").glob(f"cdp_send_{pid}_*")) == []


@pytest.mark.long
def test_a_function_that_dies_in_the_middle_of_calls_fails_the_case_at_once(
    tmp_path: Path, untouched: Path
) -> None:
    folder = sut(tmp_path, variant="ims", duration_s=20)
    failed = during_calls(folder, untouched, "scscf", signal.SIGKILL, at="load-1/counts.csv")
    assert failed.outcome == "failed"
    assert (failed.why or "").startswith("the S-CSCF has ended by signal 9")
    assert failed.seconds < 40
    assert failed.not_removed is None


@pytest.mark.slow
def test_a_subscriber_server_that_is_silent_fails_registration_with_its_causes(
    tmp_path: Path, untouched: Path
) -> None:
    folder = sut(tmp_path, variant="ims", register_rate_cps=2)
    failed = during_calls(folder, untouched, "subscribers", signal.SIGSTOP, at="register/counts.csv")
    assert failed.outcome == "failed"
    assert "could register; the others: " in (failed.why or "")
    assert failed.not_removed is None
