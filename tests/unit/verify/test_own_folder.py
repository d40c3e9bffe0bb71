# SPDX-License-Identifier: Apache-2.0
"""Where a verification has its keys: nobody else gets in, and the next one removes a killed one's."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest

from weir.verify import command


@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_keys_of_a_killed_verification_go_with_the_next_one(
    user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_RUN_DIR" if user == "root" else "XDG_RUNTIME_DIR", str(tmp_path / "own"))
    monkeypatch.setattr(os, "geteuid", lambda: 0 if user == "root" else 1000)
    child = os.fork()
    if child == 0:
        with command._own_folder() as made:
            (made / "id_ed25519").touch()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = tmp_path.glob("own/**/id_ed25519")
    with command._own_folder() as first, command._own_folder() as second:
        assert not left.exists()
        assert first != second
        assert first.is_dir()
        assert stat.S_IMODE(first.stat().st_mode) == 0o700
    assert [path.name for path in tmp_path.glob("own/**/verify-*")] == []


def test_a_place_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from weir.base.error import FabricError

    (tmp_path / "file").touch()
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "file" / "run"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(FabricError, match=r"cannot make .*/file/run: Not a directory"), command._own_folder():
        pass
