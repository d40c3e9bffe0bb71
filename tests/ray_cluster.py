# SPDX-License-Identifier: Apache-2.0
"""A Ray cluster of hosts that are namespaces: each node has a network, processes, mounts, a temporary folder
and Weir's folder of its own. No dashboard, no usage statistics; a token is asked for, all is encrypted."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.namespaced_hosts import OWN_NAMESPACES
from weir.results.host_offer import HostOffer

ROOT = Path(__file__).parents[1]
RAY = Path(sys.executable).with_name("ray")
UP_S = 90
OBJECT_STORE_BYTES = 78_643_200
"""Ray's least."""
NETWORK = "10.213.7"
ADDRESS, CLIENT_ADDRESS = f"{NETWORK}.1:6379", f"ray://{NETWORK}.1:10001"
ADDRESSES = 9


class RayCluster:
    """Hosts from 1; the first one is Ray's head."""

    def __init__(
        self, folder: Path, offers: Sequence[HostOffer | None], cpus: Mapping[int, str] | None = None
    ) -> None:
        """None: a node that measures nothing. `cpus`: of a host, where Ray may run, as taskset reads them;
        absent: on all."""
        self._cpus = cpus or {}
        self._folder = folder
        self._offers = dict(enumerate(offers, 1))
        self._mark = secrets.token_hex(2)
        self._nodes: dict[int, subprocess.Popen[bytes]] = {}
        self._token = folder / "token"
        self._token.write_text(secrets.token_hex(24))
        _certify(folder)
        try:
            self._wire()
            for number in self._offers:
                self.start(number)
        except BaseException:
            self.close()
            raise

    def run(self, number: int, *words: str) -> subprocess.Popen[str]:
        """A program of Python's, on that host: it sees its network, its processes and its files."""
        pinned = ["taskset", "-c", self._cpus[number]] if number in self._cpus else []
        (first, *_) = _children(self._nodes[number].pid)
        return subprocess.Popen(
            ["nsenter", f"--target={first}", "--pid", "--mount", "--net", *pinned, sys.executable, *words],
            env=self._environment(number), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def tell(self, program: subprocess.Popen[str], what: signal.Signals) -> None:
        """Sends it a signal."""
        for pid in _children(program.pid):  # nsenter waits for it
            os.kill(pid, what)

    def start(self, number: int) -> None:
        """Its node of Ray; waits until that is there."""
        where = ["--address", ADDRESS]
        if number == 1:
            where = ["--head", "--port", "6379", "--ray-client-server-port", "10001"]
            where += ["--include-dashboard", "false"]
        offer = self._offers[number]
        offered: list[str] = []
        if offer is not None:
            labels = ",".join("=".join(one) for one in offer.labels.items())
            offered = ["--resources", json.dumps(offer.resources), "--labels", labels]
        path = self._folder / f"node-{number}-{secrets.token_hex(2)}.log"
        with path.open("wb") as log:
            self._nodes[number] = subprocess.Popen(
                [*self._inside(number), "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
                 str(RAY), "start", *where, "--node-ip-address", f"{NETWORK}.{number}", "--num-cpus", "1",
                 "--temp-dir", f"/tmp/weir-ray-{self._mark}-{number}",
                 "--object-store-memory", str(OBJECT_STORE_BYTES),
                 *offered, "--disable-usage-stats", "--include-log-monitor", "false", "--block"],
                env=self._environment(number), stdout=log, stderr=log, cwd=self._folder,
            )  # fmt: skip
        until_s = time.monotonic() + UP_S
        while b"This command will now block" not in path.read_bytes():
            assert self._nodes[number].poll() is None, path.read_text()
            assert time.monotonic() < until_s, path.read_text()
            time.sleep(0.2)

    def kill(self, number: int) -> None:
        """All that Ray runs on that host, and what it has started, at once."""
        node = self._nodes.pop(number)
        node.kill()
        node.wait()

    def processes(self, number: int) -> list[int]:
        """All that its node has started, and is there."""
        mine = Path(f"/proc/{self._nodes[number].pid}/ns/pid_for_children").readlink()
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (path / "ns" / "pid").readlink() == mine:
                    found.append(int(path.name))
        return found

    def restart(self) -> None:
        """All nodes anew, of another cluster."""
        for number in list(self._nodes):
            self.kill(number)
        for number in self._offers:
            self.start(number)

    def run_dir(self, number: int) -> Path:
        """Where Weir keeps its journals there."""
        return self._folder / f"weir-{number}"

    def close(self) -> None:
        """Leaves nothing."""
        for number in list(self._nodes):
            self.kill(number)
        for number in self._offers:
            if Path(f"/run/netns/{self._name(number)}").exists():
                self._ip("netns", "del", self._name(number))
            shutil.rmtree(f"/tmp/weir-ray-{self._mark}-{number}", ignore_errors=True)
        if Path(f"/sys/class/net/{self._name(0)}").exists():
            self._ip("link", "del", self._name(0))

    def _wire(self) -> None:
        self._ip("link", "add", self._name(0), "type", "bridge")
        self._ip("link", "set", self._name(0), "up")
        for number in self._offers:
            self._ip("netns", "add", self._name(number))
            inside, outside = f"{self._name(number)}i", f"{self._name(number)}o"
            self._ip("link", "add", outside, "type", "veth", "peer", "name", inside)
            self._ip("link", "set", outside, "master", self._name(0), "up")
            self._ip("link", "set", inside, "netns", self._name(number), "name", "eth0")
            self._ip("-n", self._name(number), "addr", "add", f"{NETWORK}.{number}/24", "dev", "eth0")
            for one in ("lo", "eth0"):
                self._ip("-n", self._name(number), "link", "set", one, "up")

    def _environment(self, number: int) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
            "WEIR_RUN_DIR": str(self.run_dir(number)),
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self._token),
            "RAY_USE_TLS": "1",
            "RAY_TLS_SERVER_CERT": str(self._folder / "node.crt"),
            "RAY_TLS_SERVER_KEY": str(self._folder / "node.key"),
            "RAY_TLS_CA_CERT": str(self._folder / "ca.crt"),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_memory_monitor_refresh_ms": "0",
        }

    def _name(self, number: int) -> str:
        return f"wr{self._mark}{number}"

    def _inside(self, number: int) -> list[str]:
        pinned = ["taskset", "-c", self._cpus[number]] if number in self._cpus else []
        own = ["unshare", "--mount", "sh", "-c", OWN_NAMESPACES, "sh"]
        return ["ip", "netns", "exec", self._name(number), *own, *pinned]

    @staticmethod
    def _ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True)


def _children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _certify(folder: Path) -> None:
    """As docs/how-to/run-on-many-hosts.md says; here one certificate is all hosts'."""
    names = ["IP:127.0.0.1", "DNS:localhost", *(f"IP:{NETWORK}.{one}" for one in range(1, ADDRESSES + 1))]
    new = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    signed = ("-CA", "ca.crt", "-CAkey", "ca.key", "-addext", "basicConstraints=critical,CA:FALSE")
    for words in (
        (*new, "-subj", "/CN=weir-ca", "-keyout", "ca.key", "-out", "ca.crt"),
        (*new, "-subj", "/CN=node", *signed, "-addext", f"subjectAltName={','.join(names)}",
         "-keyout", "node.key", "-out", "node.crt"),
    ):  # fmt: skip
        subprocess.run(["openssl", *words], check=True, cwd=folder, capture_output=True)
