# SPDX-License-Identifier: Apache-2.0
"""A function and a report format are added as CONTRIBUTING says, and by nothing else: done here in a copy,
from the page's own code blocks. (A technology: test_technologies.py.)"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contributing import ROOT, copied, perform
from tests.report.synthetic import result
from tools.docs import dataplane_pages
from tools.nf_description import described

FUNCTION = "To add a network function"
TECHNOLOGY = "To add a switching technology"
FORMAT = "To add a report format"
BUILT = ROOT / "build" / "native"
MADE = [f"native/libweir-native.a.p/{one}.c.o" for one in ("nf_only_only", "meson-generated_.._nf_table")]
TEST = "native/libunit-tests.a.p/nf_only_only_test.c.o"
TESTING = [f"native/libweir-testing.a.p/testing_{one}.c.o" for one in ("eal", "packet")]


def run(*argv: str | Path, at: Path) -> str:
    """What a command prints; of a failure what it said."""
    env = {**os.environ, "PYTHONPATH": str(at / "src")}
    done = subprocess.run(argv, cwd=at, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{argv[0]} {argv[1]}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def linked(program: str, build: Path, *objects: str) -> Path:
    """A program of the copy's build: of it `objects`, the rest as it stands in the build that there is.

    The whole would take minutes to compile; only the function, its test and the table are new.
    """
    words = shlex.split(run("ninja", "-t", "commands", f"native/{program}", at=build).splitlines()[-1])
    libraries = [word for word in words if word.startswith("native/") and word.endswith(".a")]
    command = [
        str(ROOT / "build" / word) if word.startswith(f"native/{program}.p/") else word
        for word in words
        if word not in libraries
    ]
    start = command.index("-Wl,--start-group")
    command[start:start] = [*objects, str(BUILT / "libweir-native.a")]
    run(*command, at=build)
    return build / "native" / program


@pytest.mark.long
@pytest.mark.skipif(not (BUILT / "weir-dp").exists(), reason="weir-dp is not built: make native")
def test_a_function_is_its_source_its_test_its_page_and_one_line_of_the_build(tmp_path: Path) -> None:
    copy = copied(tmp_path, "native", "src", "meson.build", "meson_options.txt", "tools/processor-flags")
    perform(FUNCTION, copy)
    build = copy / "build"
    run("meson", "setup", "--buildtype=release", build, copy, at=copy)
    run("ninja", *MADE, TEST, *TESTING, at=build)

    run(linked("nf-only_test", build, *MADE, *TESTING), "only", at=build)

    said = described(linked("weir-dp", build, *MADE))
    (only,) = (nf for nf in said["nfs"] if nf["name"] == "only")
    assert [option["name"] for option in only["options"]] == ["protocol"]
    assert [reason["symbol"] for reason in only["drop_reasons"]] == ["other_protocol"]
    assert "More: [only.md](../../native/nf/only/only.md)." in dataplane_pages.functions(said, copy)

    (copy / "src" / "weir" / "lab" / "nf.json").write_text(json.dumps(said), encoding="utf-8")
    lab = tmp_path / "lab.yml"
    lab.write_text(
        "weir: 1\nname: a\nchain: PVP\ntechnology: direct\n"
        "functions: {default: {nf: only, options: {protocol: 6}}}\n"
    )
    load = "import sys; from weir.lab import load_lab; print(load_lab(sys.argv[1], cpus=(0, 1)).name)"
    assert run(sys.executable, "-c", load, lab, at=copy) == "a\n"


@pytest.mark.long
def test_a_report_format_is_one_module_and_its_registration(tmp_path: Path) -> None:
    copy = copied(tmp_path, "src")
    perform(FORMAT, copy)
    made = result()
    (tmp_path / "result.json").write_text(made.model_dump_json(), encoding="utf-8")
    weir = [sys.executable, "-c", "from weir.cli.main import app; app()", "report", "result.json"]
    printed = run(*weir, "--format", "tsv", at=tmp_path)
    run(*weir, "--output", "rates.tsv", at=tmp_path)
    assert (tmp_path / "rates.tsv").read_text(encoding="utf-8") == printed
    head, *rates = (line.split("\t") for line in printed.splitlines())
    assert len(rates) == sum(len(case.throughput) for setup in made.setups for case in setup.cases)
    assert {len(line) for line in rates} == {len(head)} == {7}


def test_what_the_page_adds_passes_lint(tmp_path: Path) -> None:
    copy = copied(tmp_path, "src", "native", "pyproject.toml", ".clang-format")
    for title in (FUNCTION, TECHNOLOGY, FORMAT):
        perform(title, copy)
    ruff = [sys.executable, "-m", "ruff"]
    run(*ruff, "check", "--quiet", "src", at=copy)
    run(*ruff, "format", "--quiet", "--check", "src", at=copy)
    if shutil.which("clang-format") is None:
        pytest.skip("no clang-format here: apt-get install clang-format")
    run("clang-format", "--dry-run", "--Werror", *(copy / "native" / "nf" / "only").glob("*.c"), at=copy)
