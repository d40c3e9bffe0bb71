# SPDX-License-Identifier: Apache-2.0
"""Runs of chains that span hosts, compared: what differs between the hosts without the tester, too."""

from __future__ import annotations

from tests.unit.store.made import fingerprint, run, setup
from weir.comparison.warnings import warnings
from weir.results.result import Result
from weir.results.setup import OtherHost


def spanning(host: str, **changed: object) -> Result:
    made = run()
    made.finished_at = "2026-11-21T06:10:00Z"
    made.setups = [setup()]
    made.setups[0].other_hosts = [OtherHost(host=host, nodes=["f1"], fingerprint=fingerprint(**changed))]
    return made


def test_another_kernel_on_a_host_without_the_tester_is_said_with_the_hosts_name() -> None:
    assert warnings([spanning("core")], [spanning("core", kernel="6.9.0")]) == [
        "On core: The kernel differs: 6.1.0 and 6.9.0."
    ]
    assert warnings([spanning("core")], [spanning("core")]) == []


def test_hosts_of_other_names_are_compared_by_the_lab_alone() -> None:
    assert warnings([spanning("core")], [spanning("far", kernel="6.9.0")]) == []
