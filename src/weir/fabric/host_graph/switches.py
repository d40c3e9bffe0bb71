# SPDX-License-Identifier: Apache-2.0
"""Open vSwitch as each of its databases on this host says: the host's own, and others that run beside it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from weir.fabric.host_graph.namespaces import ONLY_ROOT, Place, command
from weir.fabric.program_log import printable
from weir.results.host_graph import Interface, Join, SwitchBridge, SwitchPort

_READ_S = 10
_ALL_S = 20.0
"""After which no other database is asked."""
_REMOTE = re.compile(r"punix:(?P<path>[^\s,]+)")
_DATABASE = re.compile(r"^unix:(?P<path>.+)$")
_USUAL = Path("/run/openvswitch/db.sock")
_PROGRAMS = ("ovsdb-server", "ovs-vswitchd")  # with DPDK its name is ovs-vswitchd-dpdk, and cut
_SECRETS = frozenset({"psk", "password", "private_key"})
_TUNNELS = frozenset({"vxlan", "gre", "geneve", "erspan", "ip6gre", "gtpu", "srv6", "bareudp"})
Row = dict[str, Any]
_Tunnel = tuple[SwitchBridge, SwitchPort]


def read_switches(places: Sequence[Place]) -> tuple[list[SwitchBridge], list[str]]:
    """Every bridge, its ports not yet with interfaces; and what could not be read."""
    databases, switches = _processes()
    if _is_there(_USUAL):
        databases.setdefault(os.path.realpath(_USUAL), None)
    bridges, unseen = [], []
    deadline_s = time.monotonic() + _ALL_S
    homes = {pid: place for place in places for pid in place.pids}
    for database in sorted(databases):
        if shutil.which("ovs-vsctl") is None:
            unseen.append(f"Open vSwitch at {database}: ovs-vsctl is not installed")
            continue
        if time.monotonic() > deadline_s:  # any user's process may call itself one, and be silent
            unseen.append(f"Open vSwitch at {database}: not asked, as others were silent for too long")
            continue
        home = homes.get(switches.get(database) or -1)
        try:
            bridges += list(_bridges(database, str(home.inode) if home else None))
        except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
            why = str(error) if _may_ask(database) else ONLY_ROOT
            unseen.append(printable(f"Open vSwitch at {database}: {why}"))
    return bridges, unseen


def _is_there(path: Path) -> bool:
    """Also where this user may not look."""
    try:
        return path.exists()
    except PermissionError:
        return True


def _may_ask(database: str) -> bool:
    """Whether this user may connect to that socket; also where it is gone, which is another reason."""
    try:
        Path(database).stat()
    except PermissionError:
        return False
    except OSError:
        return True
    return os.access(database, os.W_OK, effective_ids=True)


def _processes() -> tuple[dict[str, int | None], dict[str, int | None]]:
    """Sockets of ovsdb-servers, and the ovs-vswitchd of each."""
    databases: dict[str, int | None] = {}
    switches: dict[str, int | None] = {}
    for one in Path("/proc").iterdir():
        if not one.name.isdigit() or not command(int(one.name)).startswith(_PROGRAMS):
            continue
        with suppress(OSError):
            words = (one / "cmdline").read_bytes().decode(errors="replace").split("\0")
            serves = os.path.basename(words[0]) == "ovsdb-server"  # noqa: PTH119 - of another's argument
            for match in map(_REMOTE.search if serves else _DATABASE.match, words):
                if match:  # /var/run is /run on most hosts, and programs are told either
                    (databases if serves else switches)[os.path.realpath(match["path"])] = int(one.name)
    return databases, switches


def _bridges(database: str, namespace: str | None) -> Iterator[SwitchBridge]:
    interfaces = {one["_uuid"]: one for one in _table(database, "Interface")}
    ports = {one["_uuid"]: one for one in _table(database, "Port")}
    for bridge in _table(database, "Bridge"):
        yield SwitchBridge(
            id=f"{database}/{bridge['name']}",
            name=bridge["name"],
            database=database,
            namespace=namespace,
            datapath=bridge["datapath_type"] or "system",
            ports=[
                SwitchPort(
                    name=interface["name"],
                    type=interface["type"] or "system",
                    tag=port["tag"] if isinstance(port["tag"], int) else None,
                    interface=None,
                    options={
                        key: "(not shown)" if key in _SECRETS else str(value)
                        for key, value in interface["options"].items()
                    },
                )
                for port in (ports[uuid] for uuid in _listed(bridge["ports"]))
                for interface in (interfaces[uuid] for uuid in _listed(port["interfaces"]))
            ],
        )


def _listed(value: object) -> list[str]:
    """A set of one is written as that one."""
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def _table(database: str, name: str) -> list[Row]:
    """RFC 7047, section 5.1, with its sets, maps and references unwrapped."""
    argv = ["ovs-vsctl", f"--db=unix:{database}", "--no-wait", "--timeout=5", "--format=json", "list", name]
    done = subprocess.run(
        argv, capture_output=True, text=True, timeout=_READ_S, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise OSError(done.stderr.strip() or "ovs-vsctl fails")
    shown = json.loads(done.stdout)
    return [dict(zip(shown["headings"], map(_value, row), strict=True)) for row in shown["data"]]


def _value(atom: Any) -> Any:
    match atom:
        case str():
            return printable(atom)
        case ["uuid", text]:
            return text
        case ["map", pairs]:
            return {printable(str(key)): _value(value) for key, value in pairs}
        case ["set", items]:
            return [_value(one) for one in items]
    return atom


def with_interfaces(bridges: Sequence[SwitchBridge], interfaces: Mapping[str, Sequence[Interface]]) -> None:
    """Notes the kernel's interface of each port; `interfaces`: by namespace."""
    for bridge in bridges:
        there = {one.name: one.id for one in interfaces.get(bridge.namespace or "", ())}
        for port in bridge.ports:
            if port.type in ("system", "internal", "tap"):
                port.interface = there.get(port.name)


def joins(bridges: Sequence[SwitchBridge]) -> Iterator[Join]:
    """Of ports, patches and tunnels between bridges of this host."""
    owner = {(bridge.database, port.name): bridge for bridge in bridges for port in bridge.ports}
    for bridge in bridges:
        for port in bridge.ports:
            if port.interface is not None:
                yield Join(kind="port", ends=(port.interface, bridge.id))
            peer = owner.get((bridge.database, port.options.get("peer", "")))
            if (
                port.type == "patch"
                and peer is not None
                and (bridge.id, port.name) < (peer.id, port.options["peer"])
            ):
                names = port.name, port.options["peer"]
                yield Join(kind="patch", ends=(bridge.id, peer.id), ports=names)
    tunnels = [(bridge, port) for bridge in bridges for port in bridge.ports if port.type in _TUNNELS]
    # Clouds beside each other may have the same addresses: whose tunnel comes here then is not known.
    met = [[index for index, other in enumerate(tunnels) if _meet(one, other)] for one in tunnels]
    for here, there in enumerate(met):
        if len(there) == 1 and here < there[0] and met[there[0]] == [here]:
            (bridge, port), (other, back) = tunnels[here], tunnels[there[0]]
            yield Join(kind="tunnel", ends=(bridge.id, other.id), ports=(port.name, back.name))


def _meet(one: _Tunnel, other: _Tunnel) -> bool:
    """Each is where the other one sends, from another bridge and by a tunnel of the same kind."""
    (bridge, port), (far, back) = one, other
    if bridge.id == far.id or port.type != back.type:
        return False
    ends = [(each.options.get("local_ip"), each.options.get("remote_ip")) for each in (port, back)]
    return None not in ends[0] and ends[0] == ends[1][::-1]
