# SPDX-License-Identifier: Apache-2.0
"""What VPP has dropped, by `show errors` of its command line (https://docs.fd.io/vpp, "Show Errors").

An error is a node's counter: packets that it dropped, if its severity is error, by a reason in words.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from weir.base.error import FabricError
from weir.base.node import PROGRAM_DIRECTORY
from weir.catalogue.vpp import SOCKET
from weir.fabric.function.lost import Lost, why_not
from weir.fabric.site import Site

_CALL_S = 10.0
_LINE = re.compile(r"\s*(?P<packets>\d+)\s+(?P<node>\S+)\s{2,}(?P<reason>\S.*?)\s{2,}(?P<severity>\w+)\s*")
_NO_LOSS = re.compile(
    r"\bgood\b|processed|generated|permit|checked|received block|timed out block|succe|\bhits?\b|received by|"
    r"transmitted|new sessions added|existing session|restart session",
    re.IGNORECASE,
)
"""Counters of what went well, which VPP calls errors too."""
_OTHER = re.compile(r"[^a-z0-9]+")


def lost(site: Site, node: str, who: str, directory: str, program: str) -> list[Lost]:
    """Since it was started. `program`: how it was started, in `directory`; vppctl is looked for beside it.
    FabricError if it does not say."""
    beside = Path(directory, program).with_name("vppctl") if "/" in program else None
    vppctl = str(beside) if beside is not None and beside.exists() else shutil.which("vppctl")
    if vppctl is None:
        raise FabricError(f"{who} has no vppctl, which tells what it dropped", "install vpp with vppctl")
    path = site.directory / PROGRAM_DIRECTORY.format(node) / SOCKET
    argv = [vppctl, "-s", str(path), "show", "errors"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_CALL_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise FabricError(
            f"{who} does not tell by `{' '.join(argv)}`: {why_not(error)}", "see its log"
        ) from error
    return [*errors(done.stdout)]


def errors(shown: str) -> Iterator[Lost]:
    """Of what `show errors` prints; workers have a line each."""
    found: dict[str, int] = {}
    for line in shown.splitlines():
        told = _LINE.fullmatch(line)
        if told is None or told["severity"] != "error" or _NO_LOSS.search(told["reason"]):
            continue
        reason = _OTHER.sub("_", f"{told['node']} {told['reason']}".lower()).strip("_")
        found[reason] = found.get(reason, 0) + int(told["packets"])
    yield from (Lost("/program", reason, packets) for reason, packets in found.items())
