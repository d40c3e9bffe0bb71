# SPDX-License-Identifier: Apache-2.0
"""The sessions that fuzzing of the control protocol begins from: weir-dp does what they ask. Of one that it
refuses, fuzzing sees nothing behind the check that refused it."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.polled_core import CORE
from tests.private_data_plane import private_data_plane
from weir.protocol import DataPlaneClient

# A fuzz target has no core that polls: `start` is left out there, and with it what needs it.
NEEDS_START = {"traffic.start", "traffic.result"}
CORPUS = Path(__file__).parents[2] / "native" / "control" / "control_fuzz_corpus"


@pytest.mark.parametrize("session", ["session", "dispatch"])
def test_a_session_of_the_fuzz_corpus_is_done_as_asked(session: str) -> None:
    refused: list[dict[str, Any]] = []
    asked = (CORPUS / session).read_text().replace('"core": 1,', f'"core": {CORE},').splitlines()
    with private_data_plane(CORE, memory_mb=256, huge=False) as path:
        DataPlaneClient(path, connect_s=20).close()  # until it listens
        with socket.socket(socket.AF_UNIX) as raw, raw.makefile("rb") as answers:
            raw.settimeout(20)
            raw.connect(str(path))
            for line in asked:
                raw.sendall(line.encode() + b"\n")
                answer = json.loads(answers.readline())
                command = json.loads(line)["cmd"]
                if not answer["ok"] and command not in NEEDS_START:
                    refused.append(answer["error"] | {"command": command})
    assert not refused
    assert '"cmd": "configure"' in "".join(asked)
