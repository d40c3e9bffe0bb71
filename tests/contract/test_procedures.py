# SPDX-License-Identifier: Apache-2.0
"""A procedure is one folder and its place in the list: no format knows one, and a new one works at once."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.report.synthetic import result
from tests.syntax import tree_of
from weir.procedures import PROCEDURES
from weir.report.sections import Section, sections

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "weir"
FORMATS = sorted(
    path for path in (PACKAGE / "report").rglob("*.py") if path.name not in ("__init__.py", "sections.py")
)

SECTION = '''
"""How long the link was down, in reports: a procedure that a test adds."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from weir.base.record import Record
from weir.report import numbers
from weir.report.page.markup import tag
from weir.report.sections import HOW_TO_READ, CsvTable, Note, PagePart, Section
from weir.results.result import Result


class LinkDown(Record):
    """What the procedure found."""

    outage_ms: float


def found(result: Result) -> Iterator[tuple[str, LinkDown]]:
    for setup in result.setups:
        for case in setup.cases:
            if "linkdown" in case.records:
                yield f"{setup.name} {setup.chain}", LinkDown.model_validate(case.records["linkdown"])


def tables(result: Result) -> Iterator[RenderableType]:
    for name, one in found(result):
        yield Text(f"{name}: the link was down for {numbers.time_s(one.outage_ms / 1e3)}")


def parts(result: Result) -> Iterator[PagePart]:
    lines = [tag("p", f"{name}: {one.outage_ms} ms") for name, one in found(result)]
    yield PagePart("Outage", "Link down", "Without a link.", (lines,))


SECTION = Section(
    terminal=tables,
    notes=lambda _: [Note(HOW_TO_READ, ["Outage: without carrier."])],
    page=parts,
    csv=lambda result: CsvTable(
        ("system", "outage_ms"),
        [{"system": name, "outage_ms": one.outage_ms} for name, one in found(result)],
    ),
    leads=True,
)
'''

COMMAND = '''
"""`weir linkdown`."""

from __future__ import annotations

from weir.cli.labfile import LabPath


def linkdown(lab_path: LabPath) -> None:
    """Take the link down under load."""
    print(f"would take it down in {lab_path}")
'''

LINE = '    Procedure("linkdown", "linkdown"),\n'


@pytest.mark.parametrize("path", FORMATS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_format_has_a_branch_on_a_procedure(path: Path) -> None:
    """What a soak or a migration found is asked for in their folders alone."""
    own = {one.name for one in PROCEDURES} - {"throughput", "latency"}  # these are words of every report
    attributes = {node.attr for node in ast.walk(tree_of(path)) if isinstance(node, ast.Attribute)}
    assert not attributes & own


@pytest.mark.parametrize("name", [one.name for one in PROCEDURES])
def test_each_is_a_folder_of_that_name(name: str) -> None:
    """With a part of reports; lean has results of its own, and a text of them."""
    part = "text.py" if name == "lean" else "section.py"
    assert (PACKAGE / "procedures" / name / part).is_file()


def test_only_sections_of_what_was_done_are_loaded() -> None:
    names = {one.name for one in PROCEDURES if one.every_run}
    assert len(sections(result())) == len(names) < len(PROCEDURES)
    assert all(isinstance(one, Section) for one in sections(result()))


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of Weir with one folder more, and a line in the list."""
    root = tmp_path_factory.mktemp("extended")
    copy = root / "weir"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    folder = copy / "procedures" / "linkdown"
    folder.mkdir()
    for name, text in (("__init__.py", ""), ("section.py", SECTION), ("command.py", COMMAND)):
        (folder / name).write_text(text)
    listed = copy / "procedures" / "__init__.py"
    text = listed.read_text()
    listed.write_text(
        text.replace('    Procedure("lean", "lean"),\n', LINE + '    Procedure("lean", "lean"),\n')
    )
    assert listed.read_text() == text.replace('    Procedure("lean"', LINE + '    Procedure("lean"')
    assert LINE in listed.read_text()
    return root


def weir(root: Path, *arguments: str) -> str:
    """What that copy prints."""
    start = "from weir.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", start, *arguments],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_a_new_procedure_is_one_folder_and_one_line_in_the_list(extended: Path, tmp_path: Path) -> None:
    made = result()
    made.setups[0].cases[0].records["linkdown"] = {"outage_ms": 12.5}
    path = tmp_path / "result.json"
    path.write_text(made.model_dump_json())
    name = f"{made.setups[0].name} {made.setups[0].chain}"
    terminal = weir(extended, "report", "-v", str(path))
    assert f"{name}: the link was down for 12.5 ms" in terminal
    assert "Outage: without carrier." in terminal
    assert weir(extended, "report", str(path), "-f", "csv").split() == [
        "system,outage_ms",
        *f"{name},12.5".split(),
    ]
    page = weir(extended, "report", str(path), "-f", "html")
    assert '<a href="#outage">Outage</a>' in page
    assert f"<p>{name}: 12.5 ms</p>" in page
    assert "linkdown" in weir(extended, "--help")
    assert weir(extended, "linkdown", "lab.yml") == "would take it down in lab.yml\n"


@pytest.mark.long
def test_runs_without_it_are_reported_as_before(extended: Path, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(result().model_dump_json())
    for name in ("terminal", "csv", "html"):
        assert weir(extended, "report", str(path), "-f", name) == weir(
            PACKAGE.parent, "report", str(path), "-f", name
        )
