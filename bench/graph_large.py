# SPDX-License-Identifier: Apache-2.0
"""graph-large: `weir graph` of a host with 300 namespaces and 3,000 links as a page, whole process, against a
limit. The links are veth pairs from each namespace to ten bridges in another one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.pairs import Line, SkipError, of_ratios

NAMESPACES, LINKS_OF_EACH = 300, 10
LIMIT_S = 10.0
TIMES = 5
PREFIX = "bench-graph"
HUB = f"{PREFIX}-hub"
WEIR = [sys.executable, "-c", "from weir.cli.main import main; main()"]


def run() -> list[Line]:
    """Ratios of the limit to the seconds: of all, and of one namespace and what it is joined to."""
    if os.geteuid() != 0:
        raise SkipError("making namespaces needs root")
    with tempfile.TemporaryDirectory() as folder, _host(Path(folder)):
        page = Path(folder) / "graph.html"
        whole = [_took_s("-f", "html", "-o", str(page)) for _ in range(TIMES)]
        part = [_took_s("-f", "html", "-o", str(page), "-n", f"{PREFIX}-7") for _ in range(TIMES)]
    return [_line("graph-large", whole), _line("graph-large-part", part)]


def _line(name: str, seconds: list[float]) -> Line:
    detail: dict[str, object] = {
        "namespaces": NAMESPACES,
        "links": NAMESPACES * LINKS_OF_EACH,
        "seconds": [round(one, 3) for one in seconds],
        "limit_s": LIMIT_S,
    }
    return of_ratios(name, [LIMIT_S / one for one in seconds], target=1.0, detail=detail)


def _took_s(*arguments: str) -> float:
    begin = time.perf_counter()
    done = subprocess.run([*WEIR, "graph", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SkipError(f"weir graph failed: {done.stderr.strip()[-200:]}")
    return time.perf_counter() - begin


@contextmanager
def _host(folder: Path) -> Iterator[None]:
    names = [HUB, *(f"{PREFIX}-{number}" for number in range(NAMESPACES))]
    try:
        _ip(folder, None, (f"netns add {name}" for name in names))
        bridges = range(LINKS_OF_EACH)
        _ip(folder, HUB, (f"link add br{bridge} up type bridge" for bridge in bridges))
        _ip(folder, HUB, _links())
        yield
    finally:
        there = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False).stdout
        left = [line.split()[0] for line in there.splitlines() if line.startswith(PREFIX)]
        _ip(folder, None, (f"netns delete {name}" for name in left))


def _links() -> Iterator[str]:
    for number in range(NAMESPACES):
        for bridge in range(LINKS_OF_EACH):
            near, far = f"p{number}-{bridge}", f"e{bridge}"
            yield f"link add {near} up master br{bridge} type veth peer name {far} netns {PREFIX}-{number}"


def _ip(folder: Path, namespace: str | None, commands: Iterator[str]) -> None:
    batch = folder / "commands"
    batch.write_text("\n".join(commands) + "\n")
    inside = ["-n", namespace] if namespace is not None else []
    subprocess.run(["ip", *inside, "-batch", str(batch)], capture_output=True, check=True)
