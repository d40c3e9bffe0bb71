# SPDX-License-Identifier: Apache-2.0
"""What the tutorial shows of commands that it cannot run in a test has the layout that they print today."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.report.disturbed import disturbed
from tests.unit.cli.fake_fabric import FakeDeployment
from weir.cli import inspect
from weir.cli.stored import write_reports
from weir.report import render
from weir.results.result import Result

from .test_commands import ROOT, console

STEMS = {"html": "report", "markdown": "report", "json": "result", "csv": "throughput"}
"""Of `weir run`."""


def shown(command: str) -> str:
    """What the tutorial shows of the command that begins so."""
    text = (ROOT / "docs" / "tutorial" / "first-lab.md").read_text(encoding="utf-8")
    (found,) = (one.output for one in console(text) if one.command.startswith(command))
    return found


def layout(report: str) -> Iterator[tuple[str, ...]]:
    """The title, the facts below it, and headings, in order, without what differs from run to run."""
    for number, line in enumerate(one for one in report.splitlines() if one):
        if number == 0:
            yield ("title",)
        elif " · " in line and not line.startswith(" "):
            kind, *_, mode, _, _ = line.split(" · ")
            yield (kind, mode.split()[-1])
        elif found := re.fullmatch(r"(\w+), ratios to linux-bridge", line):
            yield (found[1],)
        elif line.startswith("Frame"):
            yield tuple(dict.fromkeys(line.split()))
        elif re.match(r"[A-Z`]", line):
            yield (re.sub(r"\W.*", "", line.strip("`")),)


def test_what_the_tutorial_says_of_its_run_is_what_that_printed() -> None:
    text = (ROOT / "docs" / "tutorial" / "first-lab.md").read_text(encoding="utf-8")
    run = shown("weir run")
    (said,) = (one for one in text.split("\n\n") if one.startswith("The title's question"))
    rates = re.findall(r"[0-9]+\.[0-9]+", said)
    assert rates
    assert [one for one in rates if not re.search(rf"\b{re.escape(one)} ", run)] == []
    ids = set(re.findall(r"first-[0-9]{8}-[0-9]{6}-[0-9a-f]{4}", text))
    assert len(ids) == 1
    (processor,) = re.findall(r"^throughput · (\S+)", run, flags=re.MULTILINE)
    assert processor.partition("(")[0] in text[: text.index("## Set up")]


@pytest.fixture
def measured() -> Result:
    """Of the tutorial's two chains, in full, with remarks of every kind."""
    made = disturbed(quick=False)
    made.setups = [
        one.model_copy(update={"chain": chain}) for chain in ("PVP", "PVVP") for one in made.setups
    ]
    return made


def test_a_runs_report_has_the_parts_that_the_tutorial_shows(measured: Result) -> None:
    report = shown("weir run first.yml")
    report = report[report.index("Does a second function halve the rate?") : report.index("\nreport: ")]
    assert list(layout(report)) == list(layout(render(measured, "terminal")))


def test_a_run_ends_with_its_reports(
    measured: Result, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    out = StringIO()
    write_reports(measured, None, STEMS, Console(file=out, width=100), as_json=False)
    last = out.getvalue().splitlines()[-1]
    (wanted,) = re.findall(r"^report: .*$", shown("weir run first.yml"), re.MULTILINE)
    assert re.sub(r"results/[\w-]+/", "", last) == re.sub(r"results/[\w-]+/", "", wanted)


def test_what_stands_is_shown_with_the_columns_of_inspect() -> None:
    out = StringIO()
    made = FakeDeployment("first-9a1e51ff")
    Console(file=out, width=200).print(inspect._ports(made.topology, None))
    (heads,) = re.findall(r"^port .*$", shown("weir inspect"), re.MULTILINE)
    assert heads.split() == out.getvalue().splitlines()[0].split()
