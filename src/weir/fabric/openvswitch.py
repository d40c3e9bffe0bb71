# SPDX-License-Identifier: Apache-2.0
"""Step kinds of Open vSwitch: a private ovsdb-server and ovs-vswitchd, bridges and ports.

The host's own Open vSwitch is never spoken to: every socket, database, pid file and log is the deployment's.
One `ovs-vsctl` call makes a bridge or a port; it returns when ovs-vswitchd has done it.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.base.topology import Topology
from weir.fabric import hugepages, probe
from weir.fabric.host import isolated
from weir.fabric.hugepages import node_of
from weir.fabric.process import run_tool, wait_for
from weir.fabric.site import Facts, Site
from weir.plan import Step
from weir.technology.openvswitch import DIRECTORY

_SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
_WITH_DPDK = Path("/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk")
CALL_S = 30
_TOOLS = "ovs-tools"  # of no step: they end with their maker
SMALL_PAGES_MIN_MB = 1024
_RECEIVE_BYTES = 65_536
_OWN_VLAN = 4094
"""Of a bridge's own interface, which must not get what is flooded: functions that leave addresses alone send
on what the next network has not learnt, and a copy of each such packet would be written to the kernel."""


def control_socket(site: Site, directory: str) -> Path:
    """ovs-vswitchd's unixctl socket."""
    return site.directory / directory / "vswitchd.ctl"


def environment(directory: Path) -> dict[str, str]:
    """Nothing of the host's Open vSwitch: its programs look here for everything."""
    return {f"OVS_{name}": str(directory) for name in ("RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR")}


def call(argv: list[str], directory: Path) -> str:
    """Runs one of Open vSwitch's tools; its output. FabricError with what it said if it fails."""
    try:
        done = run_tool(
            argv,
            marker=f"{directory.parent.name}/{_TOOLS}",
            env=environment(directory) | {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            timeout_s=CALL_S,
        )
    except subprocess.TimeoutExpired as late:
        raise FabricError(f"{argv[0]} does not answer", f"logs in {directory}") from late
    if done.returncode != 0:
        raise FabricError(f"{argv[0]} failed: {done.stderr.strip()}", f"logs in {directory}")
    return done.stdout


def vsctl(directory: Path, *words: str) -> str:
    """ovs-vsctl on the deployment's own database."""
    return call(["ovs-vsctl", f"--db=unix:{directory}/db.sock", "--timeout=20", *words], directory)


class OvsdbServer:
    """The configuration database."""

    def do(self, step: Step, site: Site) -> Facts:
        """Makes an empty database and serves it."""
        directory = site.directory / str(step.params["directory"])
        directory.mkdir(exist_ok=True)
        call(["ovsdb-tool", "create", str(directory / "conf.db"), str(_SCHEMA)], directory)
        argv = ["ovsdb-server", str(directory / "conf.db"), f"--remote=punix:{directory}/db.sock"]
        argv += [f"--unixctl={directory}/ovsdb.ctl", f"--pidfile={directory}/ovsdb-server.pid"]
        argv += [f"--log-file={directory}/ovsdb-server.log", "-vconsole:off"]
        pid = site.spawn(
            argv, netns=str(step.params["netns"]), env=environment(directory), cores=[],
            log=f"{step.params['directory']}/ovsdb-server.out",
        )  # fmt: skip
        wait_for("ovsdb-server", directory / "db.sock", pid, directory / "ovsdb-server.log")
        vsctl(directory, "--no-wait", "init")
        return {"pid": pid}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends it."""
        site.end()


class OvsVswitchd:
    """The switch. With DPDK: poll-mode threads on pmd_cores, everything else on lcores."""

    def do(self, step: Step, site: Site) -> Facts:
        """Sets other_config before the start, because DPDK reads it once; then waits until it answers."""
        params = step.params
        directory = site.directory / str(params["directory"])
        cores = params["cores"]
        assert isinstance(cores, list)
        settings, pmd_cores = [], step.numbers("pmd_cores")
        if params["dpdk"]:
            settings = [
                "other_config:dpdk-init=true",
                f"other_config:pmd-cpu-mask={_mask(params['pmd_cores'])}",
                f"other_config:dpdk-lcore-mask={_mask(_outside(step.numbers('lcores')))}",
                *_memory(pmd_cores, step.params["socket_memory_mb"]),
            ]
        if settings:
            vsctl(directory, "--no-wait", "set", "Open_vSwitch", ".", *settings)
        socket_path = control_socket(site, str(params["directory"]))
        argv = [
            vswitchd(dpdk=bool(params["dpdk"])),
            f"unix:{directory}/db.sock",
            f"--unixctl={socket_path}",
        ]
        argv += [f"--pidfile={directory}/ovs-vswitchd.pid"]
        argv += [f"--log-file={directory}/ovs-vswitchd.log", "-vconsole:off"]
        pid = site.spawn(
            argv, netns=str(params["netns"]), env=environment(directory),
            cores=[] if params["dpdk"] else [int(core) for core in cores],
            log=f"{params['directory']}/ovs-vswitchd.out",
        )  # fmt: skip
        wait_for("ovs-vswitchd", socket_path, pid, directory / "ovs-vswitchd.log")
        return {"pid": pid, "polling_switch": pid} if params["dpdk"] else {"pid": pid}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends it; its bridges and ports go with it and with the run directory."""
        site.end()


class OvsBridge:
    """A bridge that learns addresses (action NORMAL)."""

    def do(self, step: Step, site: Site) -> Facts:
        """`auto`: the kernel's datapath if this kernel has it, else the userspace one."""
        params = step.params
        kind = str(params["datapath"])
        if kind == "auto":
            kind = "kernel" if probe.ovs_datapath() else "netdev"
        bridge = str(params["bridge"])
        vsctl(
            site.directory / str(params["directory"]),
            "add-br", bridge,
            "--", "set", "Bridge", bridge, f"datapath_type={'system' if kind == 'kernel' else 'netdev'}",
            "fail-mode=standalone", f"other_config:mac-aging-time={params['ageing_s']}",
            "mcast_snooping_enable=false", "stp_enable=false",
            "--", "set", "Port", bridge, f"tag={_OWN_VLAN}",
        )  # fmt: skip
        return {"datapath": kind}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: it ends with its switch."""

    def datapath(self, facts: Facts) -> str:
        """Which of both it has."""
        return f"Open vSwitch {version()} ({'kernel' if self.in_kernel(facts) else 'userspace'} datapath)"

    def in_kernel(self, facts: Facts) -> bool:
        """The kernel's, if it has one."""
        return facts.get("datapath") == "kernel"


class OvsPort:
    """A port: a kernel interface, or a vhost-user socket that weir-dp opens."""

    def do(self, step: Step, site: Site) -> Facts:
        """Adds it to its bridge."""
        params = step.params
        port = str(params["port"])
        words = ["add-port", str(params["bridge"]), port]
        if params["type"] == "dpdkvhostuserclient":
            path = site.directory / str(params["socket"])
            words += ["--", "set", "Interface", port, "type=dpdkvhostuserclient"]
            words += [f"options:vhost-server-path={path}"]
        if params["mtu_bytes"]:
            words += ["--", "set", "Interface", port, f"mtu_request={params['mtu_bytes']}"]
        vsctl(site.directory / str(params["directory"]), *words)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: it ends with its switch."""


def vswitchd(*, dpdk: bool) -> str:
    """The program: Debian keeps the one with DPDK beside the plain one."""
    return str(_WITH_DPDK) if dpdk and _WITH_DPDK.exists() else "ovs-vswitchd"


def version() -> str:
    """ "3.1.0"; "unknown" where it is not there."""
    if shutil.which("ovs-vswitchd") is None:
        return "unknown"
    out = subprocess.run(["ovs-vswitchd", "--version"], capture_output=True, text=True, check=False).stdout
    return out.splitlines()[0].rsplit(" ", 1)[-1] if out else "unknown"


def _mask(cores: Any) -> str:
    return hex(sum(1 << int(core) for core in cores))


def _outside(lcores: list[int]) -> list[int]:
    """Isolated CPUs are for polling threads alone: the switch's other threads stay where this process is."""
    held = isolated.holding(lcores)
    return [cpu for cpu in lcores if cpu not in held] or [min(os.sched_getaffinity(0))]


def _memory(pmd_cores: list[int], memory_mb: object) -> list[str]:
    """Settings of DPDK's memory: hugepages on the nodes of the cores that poll, and none on others ("0,512");
    ordinary pages where too few are free, as weir-dp does."""
    assert isinstance(memory_mb, int)
    homes = {node_of(int(cpu)) for cpu in pmd_cores}
    if hugepages.free_mb() < memory_mb * len(homes):
        # A buffer may not lie across two small pages, so each has one of its own: about twice the memory. And
        # too large a pool, which Open vSwitch tries first, does not give back what it took.
        # Open vSwitch adds --in-memory, which forbids --no-huge, unless it sees --legacy-mem.
        # So each port has a small pool. Of one for all, Open vSwitch wants 262,144 buffers, then fewer,
        # but only where DPDK says ENOMEM; by what is left of its memory it may say ENOBUFS.
        return [
            "other_config:per-port-memory=true",
            f"other_config:dpdk-alloc-mem={max(SMALL_PAGES_MIN_MB, 2 * memory_mb * len(homes))}",
            'other_config:dpdk-extra="--no-huge --legacy-mem --no-shconf --no-telemetry --no-pci"',
        ]
    by_node = ",".join(str(memory_mb if node in homes else 0) for node in range(max(homes) + 1))
    return [
        f"other_config:dpdk-socket-mem={by_node}",
        # No more than that: its first pool would have weir-dp's pages, which begins later.
        f"other_config:dpdk-socket-limit={by_node}",
        # In memory: no file in hugetlbfs that a killed switch would leave.
        'other_config:dpdk-extra="--in-memory --no-telemetry --no-pci"',
    ]


def appctl(site: Site, *words: str) -> str:
    """What ovs-vswitchd answers to a command.

    As ovs-appctl asks it (ovs-vswitchd(8), JSON-RPC 1.0), without a process for each of hundreds of trials.
    FabricError if it refuses or does not answer.
    """
    request = {"id": 0, "method": words[0], "params": words[1:]}
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(CALL_S)
            connection.connect(str(control_socket(site, DIRECTORY)))
            connection.sendall(json.dumps(request).encode())
            answer = _answer(connection)
    except OSError as error:
        raise FabricError(
            f"ovs-vswitchd does not answer {words[0]}: {error}", f"logs in {site.directory / DIRECTORY}"
        ) from error
    if answer.get("error") is not None:
        raise FabricError(f"ovs-vswitchd refuses {words[0]}: {answer['error']}".strip())
    return str(answer["result"])


def _answer(connection: socket.socket) -> dict[str, Any]:
    """The next JSON object; nothing else says where it ends. OSError if there comes none."""
    received = b""
    while data := connection.recv(_RECEIVE_BYTES):
        received += data
        with suppress(ValueError):
            answer = json.loads(received)
            if isinstance(answer, dict):
                return answer
    raise ConnectionError("it closed the connection")


def kernel_forwards(site: Site, topology: Topology) -> bool:
    """Whether the chain's bridges have the kernel's datapath, of which ovs-vswitchd polls nothing."""
    link = next(link.name for link in topology.links if link.network)
    return OvsBridge().in_kernel(site.facts_of(f"ovs-bridge:{link}"))


def ports_shown(site: Site, *, in_kernel: bool) -> str:
    """`dpctl/show -s` of one of both datapaths: live counters, where the database's are seconds old."""
    return appctl(site, "dpctl/show", "-s", "system@ovs-system" if in_kernel else "netdev@ovs-netdev")
