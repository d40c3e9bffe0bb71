# SPDX-License-Identifier: Apache-2.0
"""VPP is asked for what it dropped by the vppctl that lies beside it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from weir.base.error import FabricError
from weir.fabric.function.lost import Lost
from weir.fabric.function.vpp import lost

ANSWERS = "echo '         3        acl-plugin-in-ip4-fa                 ACL deny packets            error'"
ELSEWHERE = "echo another VPP is asked; exit 1"
DENIED = [Lost("/program", "acl_plugin_in_ip4_fa_acl_deny_packets", 3)]


def made(path: Path, says: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def site(tmp_path: Path) -> Any:
    """All that is asked of one is its directory."""
    return SimpleNamespace(directory=tmp_path / "run")


@pytest.mark.parametrize("whole", [False, True])
def test_it_lies_beside_vpp_wherever_weir_was_started(
    whole: bool, site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = made(tmp_path / "lab" / "bin" / "vppctl", ANSWERS)
    monkeypatch.chdir(made(tmp_path / "elsewhere" / "bin" / "vppctl", ELSEWHERE).parents[1])
    program = str(beside.with_name("vpp")) if whole else "bin/vpp"
    assert lost(site, "f1", "program f1", str(tmp_path / "lab"), program) == DENIED


def test_it_is_that_of_path_where_vpp_is_or_none_lies_beside_it(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(made(tmp_path / "path" / "vppctl", ANSWERS).parent), prepend=":")
    for program in ("vpp", "bin/vpp"):
        assert lost(site, "f1", "program f1", str(tmp_path), program) == DENIED
    monkeypatch.setenv("PATH", "")
    with pytest.raises(FabricError, match="program f1 has no vppctl"):
        lost(site, "f1", "program f1", str(tmp_path), "vpp")
