# SPDX-License-Identifier: Apache-2.0
"""Reports of a live migration: facts and phases, in the terminal and on the page."""

from __future__ import annotations

from tests.report.synthetic import result
from weir.report import render
from weir.results.migration import Migration, MigrationPhase, PhaseStream, QemuFigures
from weir.results.result import Result


def migrated(**changes: object) -> Result:
    """The first case of a run, as if it had been migrated."""
    stream = PhaseStream(
        stream=0,
        direction="left-to-right",
        offered=1000,
        delivered=790,
        missing=210,
        outage_ms=420.0,
        longest_gap_ms=418.0,
        max_delay_ms=12.5,
    )
    fields: dict[str, object] = {
        "function": "default",
        "node": "f1",
        "load": "1kpps",
        "load_pps": 1000.0,
        "downtime_limit_ms": 300,
        "primary": "an emulated card",
        "status": "completed",
        "restored": True,
        "qemu": QemuFigures(
            total_ms=1830,
            downtime_ms=41,
            setup_ms=3,
            transferred_bytes=42 << 20,
            memory_bytes=256 << 20,
            rounds=3,
        ),
        "phases": [MigrationPhase(name="switchover", from_s=3.5, to_s=3.6, streams=[stream])],
    }
    made = result()
    made.setups[0].cases[0].migration = Migration.model_validate(fields | changes)
    return made


def test_terminal_and_page_say_what_qemu_and_what_the_traffic_saw() -> None:
    for form in ("terminal", "html"):
        text = " ".join(render(migrated(), form).split())
        assert "migration of f1 (default)" in text
        assert "down for 41 ms, 1.83 s in all" in text
        assert "switchover" in text
        assert "420.0" in text
        assert "loss-derived, RFC 6413" in text


def test_a_failed_migration_says_why() -> None:
    text = render(migrated(status="failed", why="State blocked", restored=False, qemu=None), "terminal")
    assert "failed: State blocked" in text
    assert "did not come back" in text


def test_a_run_without_one_has_no_section() -> None:
    assert "Live migration" not in render(result(), "html")
