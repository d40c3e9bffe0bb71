# SPDX-License-Identifier: Apache-2.0
"""The Debian packages, installed by dpkg into a root that is thrown away, work without this source."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir import __version__

from .installed import ROOT, check_measuring, commanded

DEBS = sorted((ROOT / "build" / "deb").glob("weir*_*.deb"))
PACKAGES = [path for path in DEBS if "dbgsym" not in path.name]
INSTALL = "dpkg --install {folder}/*.deb >/dev/null\n"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="installs into a root of its own: run as root"),
    pytest.mark.skipif(len(PACKAGES) != 2, reason="no Debian packages are built: make deb"),
]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """An empty one, outside this source, beside the packages."""
    made = Path(tempfile.mkdtemp(prefix="weir-deb-"))
    for path in PACKAGES:
        shutil.copy2(path, made)
    (made / "empty").mkdir()
    yield made / "empty"
    shutil.rmtree(made)


def test_it_measures_an_example_of_its_own(folder: Path) -> None:
    check_measuring(folder, INSTALL.format(folder=folder.parent))


def test_it_says_its_versions_completes_has_manual_pages_and_goes_without_a_trace(folder: Path) -> None:
    script = f"""\
{INSTALL.format(folder=folder.parent)}
weir --version
man --where weir weir-run weir-model-calibrate weir-dp 8 weir-lean | wc -l
man 8 weir-dp | grep -c -e --socket || true
source /usr/share/bash-completion/completions/weir
COMP_WORDS=(weir vali) COMP_CWORD=1; _weir_completion weir vali weir; echo "bash ${{COMPREPLY[*]}}"
fish --command 'complete --do-complete "weir vali"' | sed 's/^/fish /'
zsh -c 'autoload -U compinit; compinit -D; echo zsh $_comps[weir]'
python3 -c 'import json; print(json.load(open("/usr/share/weir/schema/lab.schema.json"))["title"])'
ls -d /usr/share/doc/weir/examples/switching
find /usr/lib/weir -name '*.pyc' | grep -c weir/cli/__pycache__/main
dpkg --purge weir weir-dp >/dev/null
ls -d /usr/lib/weir /usr/bin/weir* /usr/share/weir 2>&1 | grep -vc 'No such file' || true
"""
    lines = commanded(script, folder).out.splitlines()
    assert lines[0].startswith(f"weir {__version__} (Python 3.11.")
    for line, program in zip(lines[1:3], ("weir-dp", "weir-lean"), strict=True):
        assert line.startswith(f"{program} {__version__} (DPDK ")
        assert line.endswith(f", -march=x86-64-v2), /usr/bin/{program}")
    assert lines[3] == "5"
    assert int(lines[4]) > 0
    assert lines[5].split()[:2] == ["bash", "validate"]
    assert lines[6].split()[:2] == ["fish", "validate"]
    assert lines[7:] == ["zsh _weir", "Weir lab file", "/usr/share/doc/weir/examples/switching", "1", "0"]
