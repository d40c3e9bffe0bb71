# SPDX-License-Identifier: Apache-2.0
"""A calibration takes minutes, and a log says that it goes on."""

from __future__ import annotations

import pytest

from weir.planning.calibration.command import progress


def test_a_log_has_the_first_step_and_one_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    say = progress(lambda: now[0])
    for second in range(150):
        now[0] = float(second)
        say(f"step {second}")
    assert capsys.readouterr().err.splitlines() == ["step 0", "step 60", "step 120"]


def test_a_terminal_has_every_step(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    say = progress(lambda: 0.0)
    say("one")
    say("two")
    assert capsys.readouterr().err.splitlines() == ["one", "two"]
