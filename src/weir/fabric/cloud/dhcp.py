# SPDX-License-Identifier: Apache-2.0
"""Step kinds dhcp-server and dhcp-leases: a dnsmasq for each network, and instances that ask (RFC 2131)."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError

from weir.base.error import FabricError
from weir.fabric import process, stop_signals
from weir.fabric.cloud.interface import address
from weir.fabric.cloud.ruleset import not_installed
from weir.fabric.cloud.texts import texts
from weir.fabric.links import index
from weir.fabric.program_log import log_end
from weir.fabric.site import Facts, Site
from weir.plan import Step

_ASK_S = 20
_START_S = 20.0
_LOOK_S = 0.02
_LEASES = "leases"
_SCRIPT = """#!/bin/sh
# What udhcpc calls: notes what the server gave.
[ "$1" = bound ] && echo "$ip/$mask $router $mtu" > "$LEASE"
exit 0
"""


def lease_file(directory: Path, network: str) -> Path:
    """Of a network's server, in the run directory: a line for each address that it gave (dnsmasq(8))."""
    return directory / f"dhcp-{network}.leases"


class DhcpServer:
    """Knows its instances alone, each by its MAC address."""

    def do(self, step: Step, site: Site) -> Facts:
        """Serves when it returns."""
        params = step.params
        subnet = ipaddress.IPv4Network(str(params["subnet"]))
        hosts = texts(params["hosts"])
        name = f"dhcp-{params['network']}"
        pid_file, log = site.directory / f"{name}.pid", f"{name}.log"
        argv = ["dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--log-facility=-", "--port=0"]
        argv += ["--no-hosts", "--no-resolv", "--no-ping", "--user=root", "--group=root"]
        argv += [f"--interface={params['interface']}", "--except-interface=lo", "--bind-interfaces"]
        argv += [f"--dhcp-range={subnet.network_address},static,{subnet.netmask},infinite"]
        argv += [f"--dhcp-host={host}" for host in hosts]
        argv += [f"--dhcp-option={option}" for option in texts(params["options"])]
        argv += [f"--dhcp-option=option:mtu,{params['mtu_bytes']}", "--dhcp-authoritative"]
        leases = lease_file(site.directory, str(params["network"]))
        argv += [f"--dhcp-leasefile={leases}", f"--pid-file={pid_file}"]
        argv += [f"--dhcp-lease-max={len(hosts) + 1}"]
        pid = site.spawn(argv, netns=str(params["netns"]), env={}, cores=[], log=log)
        _serving(pid_file, pid, site.directory / log)
        return {"pid": pid}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends it."""
        site.end()

    def lacking(self, params: Mapping[str, Any]) -> str | None:  # noqa: ARG002
        """Its Debian package, if it is not installed."""
        return not_installed("dnsmasq", "dnsmasq-base")


def _serving(pid_file: Path, pid: int, log: Path) -> None:
    """dnsmasq writes the file when it has its sockets."""
    deadline = time.monotonic() + _START_S
    while not (pid_file.exists() and pid_file.read_text().strip()):
        if not process.alive(pid) or time.monotonic() > deadline:
            raise FabricError(f"dnsmasq does not start: {log_end(log)}", f"its log: {log}")
        stop_signals.check()
        time.sleep(_LOOK_S)


class DhcpLeases:
    """All instances ask at once, as machines do that are switched on together."""

    def do(self, step: Step, site: Site) -> Facts:
        """FabricError for an instance that gets no address within 20 s, or another one than planned."""
        namespaces, instances, expected = (
            texts(step.params[key]) for key in ("namespaces", "instances", "expected")
        )
        directory = site.directory / _LEASES
        directory.mkdir(exist_ok=True)
        script = directory / "script"
        script.write_text(_SCRIPT)
        script.chmod(0o755)
        interface = str(step.params["interface"])
        asking = {}
        for netns, name in zip(namespaces, instances, strict=True):
            argv = ["busybox", "udhcpc", "-f", "-q", "-n", "-i", interface, "-s", str(script)]
            argv += ["-t", str(_ASK_S), "-T", "1", "-A", "1", "-O", "mtu"]
            env = {"LEASE": str(directory / name)}
            asking[name] = site.spawn(argv, netns=netns, env=env, cores=[], log=f"{_LEASES}/{name}.log")
        for name, pid in asking.items():
            _answered(name, pid, directory)
        for netns, name, wanted in zip(namespaces, instances, expected, strict=True):
            lease = (directory / name).read_text().strip()
            if " ".join(lease.split()[:2]) != wanted:
                raise FabricError(
                    f"{name} got {lease} by DHCP, and is to have {wanted}", "does another server answer?"
                )
            try:
                _take(site, netns, interface, lease)
            except NetlinkError as error:
                raise FabricError(f"{name} cannot have what it got by DHCP, {lease}: {error}") from error
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends those that still ask."""
        site.end()

    def lacking(self, params: Mapping[str, Any]) -> str | None:  # noqa: ARG002
        """Its Debian package, if it is not installed."""
        return not_installed("busybox", "busybox")


def _answered(name: str, pid: int, directory: Path) -> None:
    deadline = time.monotonic() + 2 * _ASK_S
    while process.exit_code(pid) is None and time.monotonic() < deadline:
        stop_signals.check()
        time.sleep(_LOOK_S)
    if not (directory / name).exists():
        raise FabricError(
            f"{name} got no address by DHCP: {log_end(directory / f'{name}.log')}",
            f"its server's log is beside: {directory.parent}",
        )


def _take(site: Site, netns: str, interface: str, lease: str) -> None:
    """`lease`: "10.0.0.3/24 10.0.0.1 1500"; the MTU may be absent. NetlinkError."""
    own, router, *mtu_bytes = lease.split()
    address(site, netns, interface, [own], [f"default via {router}"])
    if mtu_bytes:
        site.route(netns).link("set", index=index(site, netns, interface), mtu=int(mtu_bytes[0]))
