# SPDX-License-Identifier: Apache-2.0
"""`weir exec`: a command runs in a host as if it had been started there."""

from __future__ import annotations

import os
import pty
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from weir import fabric
from weir.base.cores import parse_cpus
from weir.cli.main import app
from weir.fabric.end_host import NAMES, RESOLVER
from weir.fabric.end_host_command import at_end, become
from weir.plan import end_hosts
from weir.procedures.driver import planned

from .surroundings import Surroundings
from .tiny import LAB, tiny_lab

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

INTERRUPTED, SOME_CODE = 9, 42


@pytest.fixture
def deployment(run_root: Path) -> Iterator[fabric.Deployment]:
    """Hosts that nothing joins yet."""
    assert not list(run_root.iterdir())
    lab = tiny_lab("direct")
    topology = end_hosts.with_hosts(planned(lab, "direct", lab.chains()[0]), lab)
    made = end_hosts.planned(topology, lab)
    steps = [step for step in made.steps if step.kind not in ("weir-dp", "hugepages")]
    built = fabric.Deployment.deploy(steps, topology)
    yield built
    built.destroy()


def in_left(deployment: fabric.Deployment, *argv: str) -> tuple[str, int]:
    """What the command says on a terminal, where ^C is pressed once it says "ready", and its wait status."""
    assert deployment.topology is not None
    pid, terminal = pty.fork()
    if pid == 0:
        try:
            become(at_end(deployment, deployment.topology.end_hosts[0]), argv)
        except fabric.FabricError as error:
            os.write(2, str(error).encode())
            os._exit(error.exit_code)
    said = ""
    while True:
        try:
            said += os.read(terminal, 1024).decode()
        except OSError:  # nobody has the other end any more
            break
        if "ready" in said:
            os.write(terminal, b"\x03")
            said = said.replace("ready", "was ready")
    os.close(terminal)
    return said, os.waitpid(pid, 0)[1]


def test_the_terminal_and_ctrl_c_are_the_commands(deployment: fabric.Deployment) -> None:
    script = f'trap "exit {INTERRUPTED}" INT; tty; echo ready; while :; do sleep 0.05; done'
    said, status = in_left(deployment, "sh", "-c", script)
    assert "/dev/pts/" in said
    assert os.WEXITSTATUS(status) == INTERRUPTED


def test_a_command_is_ended_by_signals_as_anywhere(deployment: fabric.Deployment) -> None:
    _, status = in_left(deployment, "sh", "-c", "kill -TERM $$")
    assert os.WTERMSIG(status) == signal.SIGTERM
    said, status = in_left(deployment, "sh", "-c", "yes | head -n 1; grep SigIgn /proc/self/status")
    ignored = int(said.split()[-1], 16)
    assert ignored & (1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)) == 0


@pytest.mark.parametrize(("command", "code"), [("no-such-command", 127), ("/etc/passwd", 126)])
def test_what_cannot_be_run_ends_as_in_a_shell(
    command: str, code: int, deployment: fabric.Deployment
) -> None:
    said, status = in_left(deployment, command)
    assert f"cannot run {command}" in said
    assert os.WEXITSTATUS(status) == code


def test_a_command_keeps_off_cores_that_poll_for_the_chain_if_there_are_others(
    deployment: fabric.Deployment,
) -> None:
    assert deployment.topology is not None
    mine = os.sched_getaffinity(0)
    polled = {core for node in deployment.topology.nodes for core in node.cores}
    said, _ = in_left(deployment, "grep", "Cpus_allowed_list", "/proc/self/status")
    assert set(parse_cpus(said.split()[-1])) == (mine - polled or mine)


def test_only_the_command_sees_the_names_of_the_hosts(deployment: fabric.Deployment) -> None:
    before = NAMES.read_text()
    said, _ = in_left(deployment, "sh", "-c", f"cat {NAMES}; getent ahosts right")
    assert "198.18.0.1 left" in said
    assert before.splitlines()[-1] in said
    assert NAMES.read_text() == before
    said, _ = in_left(deployment, "sh", "-c", f"cat {RESOLVER} || echo none")
    assert "nameserver" not in said


def test_only_the_command_sees_the_interfaces_of_its_host_in_sys(deployment: fabric.Deployment) -> None:
    before = sorted(path.name for path in Path("/sys/class/net").iterdir())
    said, _ = in_left(deployment, "sh", "-c", "ls /sys/class/net | sort; cat /sys/class/net/eth0/address")
    *listed, address = said.split()
    told, _ = in_left(deployment, "ip", "-o", "link", "show")
    links = {line.split()[1].partition("@")[0].rstrip(":"): line for line in told.splitlines()}
    assert listed == sorted(links)
    assert f"link/ether {address} " in links["eth0"]
    assert sorted(path.name for path in Path("/sys/class/net").iterdir()) == before


def begun(*words: str) -> tuple[int, IO[str]]:
    """`weir` in a child of this process, which saves its start: the pid, and where to read what it says."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        sys.stdout = sys.stderr = open(1, "w", encoding="utf-8")  # noqa: SIM115 - not pytest's own
        code = 1
        try:
            app(words)
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            sys.stdout.flush()
            os._exit(code)
    os.close(writing)
    return pid, open(reading, encoding="utf-8")  # noqa: PTH123 - a descriptor


def ended(*words: str) -> tuple[str, int]:
    """What it said to its end, and its exit code."""
    pid, says = begun(*words)
    with says:
        return says.read(), os.WEXITSTATUS(os.waitpid(pid, 0)[1])


def test_a_lab_is_deployed_with_hosts_talked_through_and_destroyed(
    surroundings: Surroundings, tmp_path: Path
) -> None:
    lab = tmp_path / "lab.yml"
    lab.write_text(LAB.read_text())
    said, code = ended("deploy", str(lab), "--ends", "hosts")
    assert code == 0, said
    (deployment,) = fabric.deployments()
    surroundings.tokens.add(deployment.id.rsplit("-", 1)[1])
    assert "host left: 198.18.0.1, 2001:2:0:1::1; reaches right at 198.19.0.1, 2001:2:0:2::1" in said
    server, listens = begun("exec", str(lab), "right", "--", sys.executable, "-c", SERVER)
    with listens:
        assert listens.readline() == "listens\n"
        client = ended("exec", str(lab), "left", "--", sys.executable, "-c", CLIENT)
        assert client == ("from 198.18.0.1\n", SOME_CODE)
        assert ended("destroy", deployment.id) == (f"{deployment.id} is gone\n", 0)
        assert os.WTERMSIG(os.waitpid(server, 0)[1]) == signal.SIGTERM  # it serves until the host is gone
    surroundings.check("destroyed")


SERVER = """
import http.server

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"from {self.client_address[0]}".encode())

    def log_message(self, *words):
        pass

server = http.server.HTTPServer(("", 80), Handler)
print("listens", flush=True)
server.serve_forever()
"""
CLIENT = """
import sys, urllib.request

print(urllib.request.urlopen("http://right/").read().decode())
sys.exit(42)
"""
