# SPDX-License-Identifier: Apache-2.0
"""Whether two runs were of one machine, and what it can do at its best."""

from __future__ import annotations

from pathlib import Path

from weir.results.fingerprint import differences
from weir.results.result import MachineBest
from weir.store.store import Store

from .made import fingerprint, run


def test_fingerprints_that_differ_say_in_what() -> None:
    other = fingerprint(kernel="6.9.0", isolated="1", versions={"dpdk": "23.11", "weir": "0.1", "ovs": "3.1"})
    assert differences(fingerprint(), other) == [
        "The kernel differs: 6.1.0 and 6.9.0.",
        "The list of isolated cores differs: none and 1.",
        "The version of dpdk differs: 22.11 and 23.11.",
        "The version of ovs differs: none and 3.1.",
    ]


def test_the_same_machine_after_a_reboot_has_the_same_fingerprint() -> None:
    assert differences(fingerprint(isolated=""), fingerprint(isolated="none")) == []
    assert differences(fingerprint(), fingerprint(tsc_hz=2_500_000_123)) == []


def test_the_machines_best_is_of_all_runs_of_one_boot_and_version(tmp_path: Path) -> None:
    def machine(boot: str, pace: float, distance: float) -> MachineBest:
        return MachineBest(boot_id=boot, piece_cycles={0: pace}, distances_cycles={"0-1": distance})

    with Store(tmp_path / "results.db") as store:
        assert store.machine_best("now", "0.1") == MachineBest(boot_id="now")
        for number, known in enumerate(
            (machine("now", 600, 1300), machine("now", 650, 260), machine("before", 500, 200), None)
        ):
            store.begin(run(f"switching-{number}").model_copy(update={"machine": known}))
        assert store.machine_best("now", "0.1") == machine("now", 600, 260)
        assert store.machine_best("now", "0.2") == MachineBest(boot_id="now")
