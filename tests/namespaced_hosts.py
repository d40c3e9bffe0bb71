# SPDX-License-Identifier: Apache-2.0
"""Hosts that are namespaces, without a cluster: each has a network, mounts, named namespaces and Weir's
folder of its own. `weir.hosts.transport.Hosts` of such."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from weir.fabric.line_program import LineProgram
from weir.hosts.transport import PROGRAM, Heard

ROOT = Path(__file__).parents[1]
NETWORK = "10.213.8"
OWN_NAMESPACES = 'mount -t tmpfs none /run/netns && exec "$@"'
"""Of a shell in mounts of its own: the rest of its words see no named namespaces of other hosts."""
_LOOK_S = 0.02


class NamespacedHosts:
    """Of those names, joined by a bridge; their MTU is Ethernet's."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.addresses = {name: f"{NETWORK}.{number}" for number, name in enumerate(names, 1)}
        self._folder = folder
        self._mark = secrets.token_hex(2)
        self._programs: dict[str, LineProgram] = {}
        self._ended: set[str] = set()
        try:
            self._wire()
        except BaseException:
            self.remove()
            raise

    @property
    def names(self) -> Sequence[str]:
        return [*self.addresses]

    def begin(self, host: str) -> None:
        environment = {
            "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
            "WEIR_RUN_DIR": str(self.run_dir(host)),
            "PATH": os.environ["PATH"],
        }
        told = [f"{key}={value}" for key, value in environment.items()]
        self._programs[host] = LineProgram(self.inside(host, "env", *told, sys.executable, *PROGRAM))

    def inside(self, host: str, *words: str) -> list[str]:
        """Words that run those on that host."""
        own = ["unshare", "--mount", "sh", "-c", OWN_NAMESPACES, "sh"]
        return ["ip", "netns", "exec", self.netns(host), *own, *words]

    def send(self, host: str, line: str) -> None:
        self._programs[host].send(line)

    def heard(self, wait_s: float) -> Sequence[Heard]:
        found = []
        for host, program in self._programs.items():
            if host in self._ended:
                continue
            code = program.code
            lines = program.lines(min(wait_s, _LOOK_S))
            ended = None
            if code is not None and not lines:
                ended = "" if code == 0 else f"its weir ended with {code}: {program.said or 'without a word'}"
                self._ended.add(host)
            if lines or ended is not None:
                found.append(Heard(host, lines, ended))
        return found

    def stop(self, host: str) -> None:
        self._programs[host].stop()

    def close(self) -> None:
        for program in self._programs.values():
            program.close(60)

    def kill(self, host: str) -> None:
        """The program there, at once."""
        os.kill(self._programs[host].pid, signal.SIGKILL)

    def run_dir(self, host: str) -> Path:
        """Where Weir keeps its journals there."""
        return self._folder / f"weir-{host}"

    def netns(self, host: str) -> str:
        return f"wn{self._mark}{[*self.addresses].index(host)}"

    def set_mtu(self, mtu_bytes: int) -> None:
        """Of all interfaces between them."""
        for host in self.addresses:
            _ip("link", "set", f"{self.netns(host)}o", "mtu", str(mtu_bytes))
            _ip("-n", self.netns(host), "link", "set", "eth0", "mtu", str(mtu_bytes))

    def reset(self) -> None:
        """Its programs have ended, and others may begin."""
        self.close()
        self._programs.clear()
        self._ended.clear()

    def join(self, one: str, interface: str, other: str, peer: str) -> None:
        """A cable between two hosts."""
        _ip("link", "add", interface, "netns", self.netns(one), "type", "veth",
            "peer", "name", peer, "netns", self.netns(other))  # fmt: skip
        _ip("-n", self.netns(one), "link", "set", interface, "up")
        _ip("-n", self.netns(other), "link", "set", peer, "up")

    def has(self, host: str, interface: str) -> bool:
        """Whether it has that interface."""
        listed = ["ip", "-n", self.netns(host), "link", "show", interface]
        return subprocess.run(listed, capture_output=True, check=False).returncode == 0

    def remove(self) -> None:
        """Leaves nothing."""
        for program in self._programs.values():
            program.close(60)
        for host in self.addresses:
            if Path(f"/run/netns/{self.netns(host)}").exists():
                _ip("netns", "del", self.netns(host))
        if Path(f"/sys/class/net/wn{self._mark}").exists():
            _ip("link", "del", f"wn{self._mark}")

    def _wire(self) -> None:
        bridge = f"wn{self._mark}"
        _ip("link", "add", bridge, "type", "bridge")
        _ip("link", "set", bridge, "up")
        for host, address in self.addresses.items():
            netns = self.netns(host)
            _ip("netns", "add", netns)
            _ip("link", "add", f"{netns}o", "type", "veth", "peer", "name", "eth0", "netns", netns)
            _ip("link", "set", f"{netns}o", "master", bridge, "up")
            _ip("-n", netns, "addr", "add", f"{address}/24", "dev", "eth0")
            _ip("-n", netns, "addr", "add", f"{six(address)}/64", "dev", "eth0", "nodad")
            for one in ("lo", "eth0"):
                _ip("-n", netns, "link", "set", one, "up")


def six(address: str) -> str:
    """The IPv6 address of the host with that IPv4 address."""
    return f"fd00:213:8::{address.rpartition('.')[2]}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
