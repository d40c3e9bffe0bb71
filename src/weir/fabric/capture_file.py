# SPDX-License-Identifier: Apache-2.0
"""What a capture file is, as weir-dp reads it: one reader, so that nobody else has to agree with it."""

from __future__ import annotations

import functools
import json
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.base.si import NS_PER_S
from weir.lab.capture import CaptureFile, Side
from weir.results.replay import CaptureSent

READ_S = 60
_GZIP = b"\x1f\x8b"
DIRECTIONS: dict[Side, str] = {"left": "left-to-right", "right": "right-to-left"}


def capture_sent(program: Path, side: Side, sent: CaptureFile, *, stamped: bool) -> CaptureSent:
    """Reads it by that weir-dp, once. FabricError says what is wrong with it; `stamped`: also where a frame
    has no room for a stamp."""
    if _compressed(Path(sent.file)):
        raise FabricError(f"{sent.file} is compressed", "name the capture itself: gunzip it")
    known = _read(program, sent.file, sent.filter, stamped)
    return CaptureSent(
        direction=DIRECTIONS[side],
        frames=known["frames"],
        mean_frame_bytes=known["mean_frame_bytes"],
        own_pps=known["recorded_pps"],
        own_seconds=(known["lead_ns"] + known["span_ns"]) / NS_PER_S,
    )


def _compressed(path: Path) -> bool:
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return file.read(len(_GZIP)) == _GZIP
    return False


@functools.cache
def _read(program: Path, file: str, passing: str, stamped: bool) -> dict[str, Any]:
    argv = [str(program), "--capture", file, "--filter", passing, *(["--stamp"] if stamped else [])]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=READ_S)
    except subprocess.TimeoutExpired:
        raise FabricError(f"{file} was not read in {READ_S} s", "see what holds its disk up") from None
    if done.returncode != 0:
        raise FabricError(done.stderr.strip() or f"weir-dp could not read {file}")
    known: dict[str, Any] = json.loads(done.stdout)
    return known
