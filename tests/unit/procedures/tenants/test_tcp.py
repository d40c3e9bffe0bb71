# SPDX-License-Identifier: Apache-2.0
"""What iperf3 writes as goodput, and what repeats of it say of a tenant."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from weir.base.error import FabricError
from weir.fabric.cloud.goodput import Goodput, read
from weir.lab.tenants_measure import TcpOptions
from weir.procedures.tenants import tcp
from weir.procedures.tenants.tcp import share
from weir.results.tenants import TenantsTcp

SAID = {"end": {"sum_sent": {"retransmits": 7}, "sum_received": {"bits_per_second": 2.5e8}}}


def test_what_arrived_and_what_was_sent_again_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(SAID))
    assert read("a.1", tmp_path / "a.json", 1) == [Goodput("a.1", received_bps=2.5e8, retransmits=7)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (json.dumps({"error": "unable to connect to server: Connection refused"}), "Connection refused"),
        ('{"start": {', "not done in time"),
        ("{}", "has no sums"),
        (json.dumps({"end": {"sum_received": {"bits_per_second": None}}}), "has no sums"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "a.json").write_text(text)
    for directions in (1, 2):
        found = read("a.1", tmp_path / "a.json", directions)
        assert [one.received_bps for one in found] == [None] * directions
        assert all(why in (one.why or "") for one in found)


def test_of_both_directions_at_once_each_is_read(tmp_path: Path) -> None:
    back = {
        "sum_sent_bidir_reverse": {"retransmits": 3},
        "sum_received_bidir_reverse": {"bits_per_second": 1e8},
    }
    (tmp_path / "a.json").write_text(json.dumps({"end": SAID["end"] | back}))
    assert read("a.1", tmp_path / "a.json", 2) == [Goodput("a.1", 2.5e8, 7), Goodput("a.1", 1e8, 3)]


def test_a_tenants_goodput_is_the_median_of_the_repeats_that_found_some() -> None:
    known = [Goodput("a.1", bps, again) for bps, again in ((3e6, 4), (1e6, 2), (2e6, 9))]
    refused = Goodput("a.1", why="refused")
    found = share("a", "right-to-left", [refused, *known])
    assert (found.repeats, found.goodput_bps) == (3, 2e6)
    assert (found.goodput_min_bps, found.goodput_max_bps) == (1e6, 3e6)
    assert (found.direction, found.retransmits) == ("right-to-left", 4)
    assert share("a", "right-to-left", [refused]).why == "refused"


def test_the_record_has_each_repeat_of_each_tenant_and_those_that_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[list[Goodput] | FabricError] = [
        [Goodput("a.1", 1e6, 0), Goodput("b.1", 2e6, 0)],
        FabricError("iperf3 does not serve a.1"),
    ]

    def once(*_: Any, **__: Any) -> list[Goodput]:
        run = runs.pop(0)
        if isinstance(run, FabricError):
            raise run
        return run

    monkeypatch.setattr(tcp, "goodput", once)
    monkeypatch.setattr(tcp, "lacking", lambda: None)
    tester = SimpleNamespace(
        core=0, system_cores=(1,), senders=("a.1", "b.1", "c.1"), directions=("left-to-right",)
    )
    on = SimpleNamespace(topology=SimpleNamespace(tester=tester, router="linux"), deployment=None)
    record = TenantsTcp(tenants=["a", "b"], standing=3, duration_s=5, connections=1)
    tcp.tcp_case(cast("Any", on), TcpOptions(), 2, record)
    assert record.runs_bps == [[1e6, 2e6], [None, None]]
    assert [(one.tenant, one.repeats, one.goodput_bps) for one in record.shares] == [
        ("a", 1, 1e6),
        ("b", 1, 2e6),
    ]
