# SPDX-License-Identifier: Apache-2.0
"""The namespaces that it runs in: begun, looked at and ended from this host."""

from __future__ import annotations

import ipaddress
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from . import guest, place

_NAMESPACES = ("--mount", "--pid", "--net", "--ipc", "--uts")
_UNSHARE = ("unshare", *_NAMESPACES, "--fork", "--kill-child=SIGKILL", "--mount-proc")
_START_S, _END_S = 900.0, 60.0
_ROOT = Path(__file__).parents[3]
_RECORD = place.STATE / "process.json"


class HarnessError(Exception):
    """It does not stand, or does not end."""


def begin() -> float:
    """Brings it up, and says how many seconds that took. HarnessError with the end of its log."""
    if alive() is not None:
        raise HarnessError(f"it stands already, process {alive()}")
    for name in (place.LINK, place.TESTER_LINK):
        if _there(name):
            raise HarnessError(f"{name} is there already, and not of a cloud in {place.STATE}")
    _require_free()
    end()
    began = time.monotonic()
    place.LOGS.mkdir(parents=True)
    place.STATE.chmod(0o755)
    guest.make(place.IMAGE_FILE)  # its packages come from outside
    with (place.LOGS / "harness.log").open("w") as log:
        run = subprocess.Popen(
            [*_UNSHARE, sys.executable, "-m", "tests.openstack_cloud.harness.inside"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=_ROOT,
        )  # fmt: skip
    _RECORD.write_text(json.dumps({"pid": run.pid, "started": _started(run.pid)}))
    try:
        _wire(run)
        while not place.READY.exists():
            if place.FAILED.exists() or run.poll() is not None or time.monotonic() - began > _START_S:
                raise HarnessError("\n".join((place.LOGS / "harness.log").read_text().splitlines()[-25:]))
            time.sleep(0.5)
    except BaseException:
        _stop()
        raise
    return time.monotonic() - began


def _there(interface: str) -> bool:
    return Path(f"/sys/class/net/{interface}").exists()


def _require_free() -> None:
    """HarnessError where this host has one of its networks: what follows would take it away."""
    wanted = [
        ipaddress.ip_network(one, strict=False) for one in (f"{place.OUTER_ADDRESS}/24", place.FLOATING)
    ]
    said = subprocess.run(["ip", "-json", "route"], capture_output=True, check=True).stdout
    for route in json.loads(said):
        if route["dst"] == "default":
            continue
        there = ipaddress.ip_network(route["dst"])
        if any(one.overlaps(there) for one in wanted):
            raise HarnessError(f"this host has {there}, which it needs")


def _wire(run: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 10
    while inner(run.pid) is None:
        if run.poll() is not None or time.monotonic() > deadline:
            raise HarnessError(f"no namespaces: {(place.LOGS / 'harness.log').read_text()[-300:]}")
        time.sleep(0.05)
    inside = str(inner(run.pid))
    for name, other in ((place.TESTER_LINK, place.INNER_TESTER_LINK), (place.LINK, place.INNER_LINK)):
        ip("link", "add", name, "type", "veth", "peer", "name", other, "netns", inside)
    Path(f"/proc/sys/net/ipv6/conf/{place.TESTER_LINK}/disable_ipv6").write_text("1")
    ip("link", "set", place.TESTER_LINK, "up")
    ip("addr", "add", f"{place.OUTER_ADDRESS}/30", "dev", place.LINK)
    ip("link", "set", place.LINK, "up")
    ip("route", "add", place.FLOATING, "via", place.HOST, "dev", place.LINK)


def ip(*words: str) -> None:
    """One command of ip(8). CalledProcessError."""
    subprocess.run(["ip", *words], check=True, stdin=subprocess.DEVNULL)


def alive() -> int | None:
    """The process that holds it, if it runs."""
    try:
        record = json.loads(_RECORD.read_text())
    except (OSError, ValueError):
        return None
    pid = int(record["pid"])
    return pid if _started(pid) == record["started"] is not None else None


def _started(pid: int) -> str | None:
    """When it started, in clock ticks since boot: a process of the same number later is another one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None


def inner(pid: int) -> int | None:
    """Its first process, by this host's number."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    if not children or Path(f"/proc/{children[0]}/ns/net").readlink() == Path("/proc/self/ns/net").readlink():
        return None
    return int(children[0])


def entrance() -> list[str]:
    """Words in front of a command that is to run inside. HarnessError where nothing stands."""
    pid = alive()
    inside = inner(pid) if pid is not None else None
    if inside is None:
        raise HarnessError("it does not stand")
    return ["nsenter", "--target", str(inside), *_NAMESPACES]


def _stop() -> None:
    pid = alive()
    if pid is None:
        return
    os.kill(pid, signal.SIGKILL)  # the kernel ends its first process by that, and with it all others
    deadline = time.monotonic() + _END_S
    while alive() is not None or any(map(_there, (place.LINK, place.TESTER_LINK))):
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        if time.monotonic() > deadline:
            raise HarnessError(f"process {pid} or {place.LINK} does not go")
        time.sleep(0.1)


def end(*, keep_logs: bool = False) -> None:
    """Takes it down, and its directory away; all of it, also after a kill."""
    _stop()
    for path in place.STATE.iterdir() if place.STATE.is_dir() else ():
        if keep_logs and path == place.LOGS:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if place.STATE.is_dir() and not keep_logs:
        place.STATE.rmdir()
