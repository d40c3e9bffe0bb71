# SPDX-License-Identifier: Apache-2.0
"""Lab files in the documentation are labs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir.lab import load_lab
from weir.lab.of_tenants import has_tenants
from weir.lab.sut import load_sut
from weir.lab.tenants_load import load_tenants

ROOT = Path(__file__).resolve().parents[2]


def examples() -> Iterator[tuple[str, str]]:
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").glob("**/*.md")]):
        for number, text in enumerate(
            re.findall(r"```yaml\n(weir: .*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        ):
            yield f"{page.relative_to(ROOT)} {number + 1}", text


@pytest.mark.parametrize(("name", "text"), list(examples()), ids=lambda value: value.split("\n")[0])
def test_lab_in_the_documentation_is_valid(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / "lab.yml"
    file.write_text(text, encoding="utf-8")
    for capture in re.findall(r"[\w-]+\.pcap", text):
        (tmp_path / capture).touch()
    if "\ndriver:" in text:
        assert load_sut(file).name, name
        return
    if has_tenants(file):
        assert load_tenants(file).name, name
        return
    for quick in (False, True) if "\nquick:" in text else (False,):
        assert load_lab(file, quick=quick, spanning=True).name, name


def test_the_tutorial_has_a_lab() -> None:
    assert any(name.startswith("docs/tutorial/") for name, _ in examples())


@pytest.mark.parametrize("page", sorted(ROOT.glob("labs/*/README.md")), ids=lambda page: page.parent.name)
def test_the_number_of_frame_sizes_beside_a_command_is_the_lab_s(page: Path) -> None:
    told = re.findall(r"weir run (labs/\S+)( --quick)? +# (\d+) frame sizes", page.read_text())
    for lab, quick, count in told:
        assert len(load_lab(ROOT / lab, quick=bool(quick)).traffic.frames) == int(count), lab + quick
