# SPDX-License-Identifier: Apache-2.0
"""A Ray cluster of hosts that are namespaces: each node has a network, processes, a temporary folder and
Weir's folder of its own. The dashboard and usage statistics are off, tokens are asked for."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

from weir.results.host_offer import HostOffer

ROOT = Path(__file__).parents[2]
RAY = Path(sys.executable).with_name("ray")
UP_S = 60
OBJECT_STORE_BYTES = 78_643_200
"""Ray's least."""


class RayCluster:
    """Hosts a and b, and more; the first one is Ray's head, and `weir run` is started there."""

    def __init__(self, folder: Path, offers: list[HostOffer]) -> None:
        self._folder = folder
        self._mark = secrets.token_hex(2)
        self._nodes: dict[int, subprocess.Popen[bytes]] = {}
        self._token = folder / "token"
        self._token.write_text(secrets.token_hex(24))
        self.address = "ray://10.213.7.1:10001"
        self._ip("link", "add", self._name(0), "type", "bridge")
        self._ip("link", "set", self._name(0), "up")
        for number in range(1, len(offers) + 1):
            self._ip("netns", "add", self._name(number))
            inside, outside = f"{self._name(number)}i", f"{self._name(number)}o"
            self._ip("link", "add", outside, "type", "veth", "peer", "name", inside)
            self._ip("link", "set", outside, "master", self._name(0), "up")
            self._ip("link", "set", inside, "netns", self._name(number), "name", "eth0")
            self._ip("-n", self._name(number), "addr", "add", f"10.213.7.{number}/24", "dev", "eth0")
            for one in ("lo", "eth0"):
                self._ip("-n", self._name(number), "link", "set", one, "up")
        for number, offer in enumerate(offers, 1):
            self._start(number, offer)

    def run(self, *words: str) -> subprocess.Popen[str]:
        """A program of Python's, in the network of the head."""
        return subprocess.Popen(
            [*self._inside(1), sys.executable, *words],
            env=self._environment(1), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def kill(self, number: int) -> None:
        """All that runs on that host, at once."""
        node = self._nodes.pop(number)
        node.kill()
        node.wait()

    def run_dir(self, number: int) -> Path:
        """Where Weir keeps its journals there."""
        return self._folder / f"weir-{number}"

    def close(self) -> None:
        for number in list(self._nodes):
            self.kill(number)
        for number in range(1, 10):
            if Path(f"/run/netns/{self._name(number)}").exists():
                self._ip("netns", "del", self._name(number))
        self._ip("link", "del", self._name(0))

    def _start(self, number: int, offer: HostOffer) -> None:
        import json

        where = ["--address", "10.213.7.1:6379"]
        if number == 1:
            where = ["--head", "--port", "6379", "--ray-client-server-port", "10001"]
            where += ["--include-dashboard", "false"]
        labels = ",".join("=".join(one) for one in offer.labels.items())
        log = (self._folder / f"node-{number}.log").open("wb")
        self._nodes[number] = subprocess.Popen(
            [*self._inside(number), "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
             str(RAY), "start", *where, "--node-ip-address", f"10.213.7.{number}", "--num-cpus", "1",
             "--temp-dir", f"/tmp/weir-ray-{self._mark}-{number}",
             "--object-store-memory", str(OBJECT_STORE_BYTES),
             "--resources", json.dumps(offer.resources), "--labels", labels,
             "--disable-usage-stats", "--include-log-monitor", "false", "--block"],
            env=self._environment(number), stdout=log, stderr=log, cwd=self._folder,
        )  # fmt: skip
        log.close()
        until_s = time.monotonic() + UP_S
        while b"This command will now block" not in (self._folder / f"node-{number}.log").read_bytes():
            assert time.monotonic() < until_s, (self._folder / f"node-{number}.log").read_text()
            time.sleep(0.2)

    def _environment(self, number: int) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
            "WEIR_RUN_DIR": str(self.run_dir(number)),
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self._token),
            "RAY_USAGE_STATS_ENABLED": "0",
        }

    def _name(self, number: int) -> str:
        return f"wr{self._mark}{number}"

    def _inside(self, number: int) -> list[str]:
        return ["ip", "netns", "exec", self._name(number)]

    @staticmethod
    def _ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True)
