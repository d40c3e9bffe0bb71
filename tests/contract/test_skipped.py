# SPDX-License-Identifier: Apache-2.0
"""What `make test` lists at its end: each test that was skipped, under its reason, of pytest and of C."""

from __future__ import annotations

import subprocess
from pathlib import Path
from xml.sax.saxutils import escape

TOOL = Path(__file__).parents[2] / "tools" / "skipped"

PYTEST = """<testsuites><testsuite>
<testcase name="test_a"><skipped type="pytest.skip" message="needs br_netfilter">a.py:3</skipped></testcase>
<testcase name="test_b"><skipped type="pytest.xfail" message="a known fault" /></testcase>
<testcase name="test_c" />
</testsuite></testsuites>"""

CMOCKA = """[==========] Running 3 test(s).
[ RUN      ] pages_are_counted
skipped: this kernel gives no counters
[  SKIPPED ] pages_are_counted
[ RUN      ] frames_are_the_same
[       OK ] frames_are_the_same
[ RUN      ] says_nothing
[  SKIPPED ] says_nothing
[==========] 3 test(s) run."""


def listed(folder: Path, *documents: str) -> list[str]:
    files = [folder / f"{number}.xml" for number in range(len(documents))]
    for file, document in zip(files, documents, strict=True):
        file.write_text(document, encoding="utf-8")
    done = subprocess.run([TOOL, *files], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def of_meson(output: str) -> str:
    case = f"<testcase name='lean'><system-out>{escape(output)}</system-out></testcase>"
    return f"<testsuites><testsuite>{case}</testsuite></testsuites>"


def test_reasons_of_all_files_are_listed_with_their_number_the_commonest_first(tmp_path: Path) -> None:
    assert listed(tmp_path, PYTEST, of_meson(CMOCKA), PYTEST, PYTEST) == [
        "skipped: 3: needs br_netfilter",
        "skipped: 1: this kernel gives no counters",
        "skipped: 1: says_nothing says no reason",
    ]


def test_where_all_ran_it_says_so(tmp_path: Path) -> None:
    assert listed(tmp_path, of_meson(CMOCKA.replace("  SKIPPED ", "       OK "))) == ["skipped: none"]


def test_tests_that_were_not_come_to_are_told(tmp_path: Path) -> None:
    file = tmp_path / "there.xml"
    file.write_text(PYTEST, encoding="utf-8")
    done = subprocess.run([TOOL, file, tmp_path / "not.xml"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "not come to: 1 of 2 groups of tests"
