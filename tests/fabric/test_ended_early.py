# SPDX-License-Identifier: Apache-2.0
"""A program that ends before it is ready: what is said of it, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.base.error import FabricError
from weir.fabric import process
from weir.fabric.function import program
from weir.fabric.site import Site

PARAMS = {
    "node": "f1",
    "function": "default",
    "netns": "none",
    "directory": ".",
    "user": "root",
    "bundle": "",
    "ready_time_limit_ms": 1000,
}


@pytest.mark.parametrize(("code", "foreground"), [(0, True), (2, False)])
def test_one_that_ends_without_an_error_is_to_stay_in_the_foreground(
    code: int, foreground: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f1.program.log").write_text("listening\n")
    monkeypatch.setattr(process, "exit_code", lambda _: code)
    monkeypatch.setattr(program, "_require_within_limits", lambda *_: None)
    with pytest.raises(FabricError, match=f"has ended with exit code {code} before it was ready") as ended:
        program._wait(
            {"pid": 1, "ready": "^ready$", "socket": "", "makes": []},
            PARAMS,
            Site("x", tmp_path, None),  # type: ignore[arg-type]
        )
    assert "listening" in ended.value.message
    assert ("keep it in the foreground" in str(ended.value.fix)) is foreground
