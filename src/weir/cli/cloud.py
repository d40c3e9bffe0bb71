# SPDX-License-Identifier: Apache-2.0
"""What `weir deploy`, `weir validate` and `weir inspect` do with a lab of tenants."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir.base.words import counted
from weir.cli.deploying import after_leftovers, step_lines, told
from weir.cli.exits import USAGE, CommandError

if TYPE_CHECKING:
    from weir.base.cloud import CloudTopology
    from weir.fabric import Deployment
    from weir.lab.tenants import TenantsFile
    from weir.plan import Step

NOT_READ = "-"
SHOWN_MOST = 16
"""Hosts that `deploy` lists; `inspect` has all of them."""


def require_no_chain(given: Mapping[str, object]) -> None:
    """CommandError for an option that only chains have."""
    for option, value in given.items():
        if value:
            raise CommandError(f"{option} is for chains, and the lab has tenants; leave it out", USAGE)


def deploy_cloud(lab_path: Path, *, dry_run: bool, as_json: bool) -> None:
    """Builds the lab's cloud, and leaves it until `weir destroy`."""
    from weir import plan
    from weir.fabric.cloud.check import require_cloud
    from weir.lab.tenants_load import load_tenants
    from weir.plan.cloud import cloud_steps, cloud_topology

    tenants = load_tenants(lab_path)
    deployment_id = plan.deployment_id(tenants.name, secrets.token_hex(4))
    topology = cloud_topology(tenants, deployment_id, core=min(os.sched_getaffinity(0)))
    steps = cloud_steps(topology)
    if dry_run:
        dumped = [step.model_dump() for step in steps]
        print(json.dumps(dumped, indent=2) if as_json else "\n".join(_listing(steps, topology)))
        return
    require_cloud(steps, topology)
    started = time.monotonic()
    deployment = _deployed(steps, topology, quiet=as_json)
    seconds = time.monotonic() - started
    if as_json:
        shown = {"id": deployment.id, "run_dir": str(deployment.run_dir), "seconds": round(seconds, 3)}
        print(json.dumps(shown | {"cloud": topology.model_dump(mode="json")}, indent=2))
        return
    print(f"{deployment.id} stands: {said(topology)}, built in {seconds:.2f} s")
    hosts = topology.hosts()
    for name, addresses in list(hosts.items())[:SHOWN_MOST]:
        print(f"  {name}: {addresses}")
    if len(hosts) > SHOWN_MOST:
        print(f"  and {len(hosts) - SHOWN_MOST} more: weir inspect {deployment.id}")
    print(
        f"run something in one: weir exec {deployment.id} {next(iter(hosts))} -- ip addr; take it down: "
        f"weir destroy {deployment.id}"
    )


def said(topology: CloudTopology) -> str:
    """ "3 tenants with 7 instances on 2 compute nodes, vxlan, bridge-filter"."""
    tenants, nodes = len(topology.tenant_networks), len(topology.nodes) - 1
    functions = sum(len(one.functions) for one in topology.tenant_networks)
    shared = len(topology.shared.functions) if topology.shared is not None else 0
    instances = sum(len(one.instances) for one in topology.tenant_networks) - functions
    machines = len(topology.machines())
    forwarding = f" and {counted(functions, 'function')}" if functions else ""
    forwarding += f", {counted(shared, 'function')} that they share" if shared else ""
    return (
        f"{counted(tenants, 'tenant')} with {counted(instances, 'instance')}"
        f"{f' ({machines} of them virtual machines)' if machines else ''}{forwarding} on "
        f"{counted(nodes, 'compute node')}, {topology.isolation}, security: {topology.security}"
        f"{'' if topology.router == 'linux' else f', routers: {topology.router}'}"
    )


def _listing(steps: list[Step], topology: CloudTopology) -> Iterator[str]:
    yield f"{said(topology)}: {len(steps)} steps; none was done:"
    yield from step_lines(steps)


def _deployed(steps: list[Step], topology: CloudTopology, *, quiet: bool) -> Deployment:
    from weir.fabric import stop_signals
    from weir.fabric.cloud.deployed import deployed_cloud
    from weir.fabric.deployment import ignore
    from weir.procedures.tenants.standing_cloud import polling

    on_event = ignore if quiet else told
    with after_leftovers(), deployed_cloud(steps, topology, on_event, kept=True) as deployment:
        if topology.polling_core is not None:
            with stop_signals.allowed(), polling(deployment, topology):
                pass
    return deployment


def validate_cloud(lab_path: Path, *, as_json: bool) -> None:
    """Says whether the file is good, and what it would build."""
    from weir.lab.tenants_load import load_tenants

    tenants = load_tenants(lab_path)
    if as_json:
        print(json.dumps({"valid": True, "lab": tenants.model_dump(mode="json")}, indent=2))
        return
    print("\n".join(_summary(tenants)))


def _summary(tenants: TenantsFile) -> Iterator[str]:
    from weir.plan import deployment_id
    from weir.plan.cloud import cloud_topology

    topology = cloud_topology(tenants, deployment_id(tenants.name, "00000000"))
    yield f"{tenants.name}: valid"
    yield f"  cloud         {said(topology)}"
    yield f"  outside       {topology.external}; the host there has {topology.outside}"
    for one in tenants.tenants:
        who = f"{one.name}-1 to {one.name}-{one.count}" if one.count > 1 else one.name
        floating = f", {one.floating} with floating addresses" if one.floating else ""
        each = " each" if one.count > 1 else ""
        through = ", ".join(function.name for function in one.functions)
        ways = f", through {through}" if through else ""
        hosts = f"{counted(one.instances, 'instance')}{each} in {one.subnet}"
        hosts += f", the last {one.machines} of them virtual machines" if one.machines else ""
        alone = "" if one.shared or not tenants.cloud.functions else ", not through what others share"
        yield f"  tenant        {who}: {hosts}{floating}{ways}{alone}"
    if tenants.cloud.functions:
        yield f"  shared        {', '.join(one.name for one in tenants.cloud.functions)}"
    yield from measured(tenants, quick=False)


_WAYS = {
    "left-to-right": "to the host outside",
    "right-to-left": "from the host outside to floating addresses",
    "bidirectional": "to the host outside, and from there to floating addresses",
}


def measured(tenants: TenantsFile, *, quick: bool) -> Iterator[str]:
    """What `weir run` would do with it."""
    wanted = tenants.measure.in_a_hurry() if quick else tenants.measure
    repeats = "" if wanted.repeats == 1 else f", {wanted.repeats} times"
    loads = ", ".join(f"{load:,.0f}" for load in wanted.loads) or "none"
    frames, way = ", ".join(map(str, tenants.traffic.frames)), _WAYS[tenants.tester.direction]
    yield f"  frames        {frames}; IPv4, UDP, {way}"
    each = "each, each way" if len(tenants.tester.directions) > 1 else "each"
    sending = ", ".join(map(str, tenants.sending()))
    yield f"  sending       {sending} of {len(tenants.all_tenants())} tenants at once"
    yield f"  loads         {loads} pps {each}{repeats}"
    if wanted.background is not None:
        behind = wanted.background
        yield f"  background    {behind.load:,.0f} pps of each of the others, {behind.frame} B"
    goals = ", ".join(f"{goal.name} (loss ratio {goal.loss_ratio:g})" for goal in wanted.goals) or "none"
    yield f"  goals         {goals}"
    if wanted.tcp is not None:
        several = "" if wanted.tcp.connections == 1 else f" over {wanted.tcp.connections} connections each"
        yield f"  TCP           iperf3, {wanted.tcp.duration_s} s{several}{repeats}"


def cloud_summary(deployment: Deployment, topology: CloudTopology) -> dict[str, Any]:
    """What `weir inspect --json` prints besides."""
    from weir.base.error import WeirError
    from weir.fabric.cloud.drops import drops
    from weir.fabric.cloud.guest import ended

    shown = {"cloud": topology.model_dump(mode="json"), "ended": ended(deployment, topology)}
    try:
        dropped = [
            {"of": one.of, "reason": one.reason, "packets": one.packets}
            for one in drops(topology, deployment.run_dir)
        ]
    except WeirError as error:
        return shown | {"drops": None, "drops_unread": str(error)}
    return shown | {"drops": dropped}


def show_cloud(deployment: Deployment, topology: CloudTopology) -> None:
    """Hosts, what they have sent and got, and what filters dropped before them."""
    from rich.table import Table

    from weir.report.blocks import new_console

    console = new_console(soft_wrap=True, width=max(new_console().width, 130))
    console.print(f"{deployment.id}  {said(topology)}")
    console.print(f"run directory: {deployment.run_dir}")
    summary = cloud_summary(deployment, topology)
    dropped: dict[str, list[str]] = {}
    for one in summary["drops"] or ():
        if one["packets"]:
            dropped.setdefault(one["of"], []).append(f"{one['packets']} {one['reason']}")
    table = Table("host", "node", "addresses", "MAC", "sent", "received", "dropped", box=None, pad_edge=False)
    where = {one.name: one for _, one in topology.all_instances()}
    hosts = topology.hosts()
    for name, addresses in hosts.items():
        at = where.get(name)
        sent, received = _counts(topology, name) if at is not None else ("", "")
        node, mac = (at.node, at.mac) if at is not None else ("", "")
        if at is not None and at.machine is not None:
            node += ", a VM" if name not in summary["ended"] else ", VM ended"
        table.add_row(name, node, addresses, mac, sent, received, ", ".join(dropped.get(name, ())))
    console.print(table)
    for name, words in summary["ended"].items():
        console.print(f"virtual machine {name} has ended: {words}", markup=False)
    for name, reasons in dropped.items():
        if name not in hosts:
            console.print(f"dropped at {name}: {', '.join(reasons)}")
    if "drops_unread" in summary:
        console.print(summary["drops_unread"])
    console.print(f"commands run in a host: weir exec {deployment.id} HOST -- COMMAND")


def _counts(topology: CloudTopology, instance: str) -> tuple[str, str]:
    """Packets that an instance sent and got."""
    from weir.fabric.counters import interfaces_of
    from weir.plan.cloud.names import HOST_INTERFACE, InstancePort

    network, at = topology.instance(instance)
    try:
        if at.machine is not None:  # its tap sends what it gets
            found = interfaces_of(topology.namespace(at.node))[InstancePort.of(network, at).tap]
            return str(found["rx_packets"]), str(found["tx_packets"])
        found = interfaces_of(topology.namespace(instance))[HOST_INTERFACE]
    except (OSError, KeyError):  # it goes at this moment, or this user may not enter
        return NOT_READ, NOT_READ
    return str(found["tx_packets"]), str(found["rx_packets"])
