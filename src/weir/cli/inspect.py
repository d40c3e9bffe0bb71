# SPDX-License-Identifier: Apache-2.0
"""`weir inspect`: what is deployed, and what each port and area has counted."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.deployments import DeploymentId, one_of
from weir.cli.end_hosts import host_lines

if TYPE_CHECKING:
    from rich.table import Table

    from weir.base.node import Port
    from weir.base.topology import Topology
    from weir.fabric import Deployment
    from weir.protocol.ledger import Ledger

ANSWER_S = 1.0
LEAST_COLUMNS = 130
"""Names are for copying: a narrower terminal wraps lines, and none is cut."""


def inspect(
    deployment_id: DeploymentId = None,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON: an object of a single deployment, else a list.")
    ] = False,
) -> None:
    """Show what is deployed. Nodes, ports, links, cores, and the counters of weir-dp."""
    from weir import fabric

    found = fabric.deployments()
    if deployment_id is None and len(found) != 1:
        print(json.dumps([_summary(one) for one in found], indent=2) if as_json else _overview(found))
        return
    deployment = one_of(found, deployment_id)
    if deployment.unreadable() is not None or (deployment.tuning is not None and not as_json):
        print(json.dumps(_summary(deployment), indent=2) if as_json else _overview([deployment]))
        return
    cloud = deployment.cloud
    if cloud is not None:
        from weir.cli.cloud import cloud_summary, show_cloud

        if as_json:
            print(json.dumps(_summary(deployment) | cloud_summary(deployment, cloud), indent=2))
        else:
            show_cloud(deployment, cloud)
        return
    ledger = _ledger(deployment)
    if as_json:
        counted = ledger.model_dump(mode="json") if ledger else None
        print(json.dumps(_summary(deployment) | {"ledger": counted}, indent=2))
        return
    _show(deployment, ledger)


def _ledger(deployment: Deployment) -> Ledger | None:
    """What weir-dp has counted; None if it does not answer or is not configured."""
    from weir.plan import SOCKET
    from weir.protocol import DataPlaneClient, DataPlaneError

    try:
        with DataPlaneClient(deployment.run_dir / SOCKET, connect_s=0, timeout_s=ANSWER_S) as client:
            return client.ledger()
    except DataPlaneError:
        return None


def _summary(deployment: Deployment) -> dict[str, Any]:
    why = deployment.unreadable()
    if why is not None:
        return {"id": deployment.id, "run_dir": str(deployment.run_dir), "unreadable": why}

    topology, cloud = deployment.topology, deployment.cloud
    return {
        "id": deployment.id,
        "run_dir": str(deployment.run_dir),
        "topology": topology.model_dump(mode="json") if topology else None,
        "tuning": deployment.tuning.model_dump(mode="json") if deployment.tuning else None,
        "cloud": cloud.model_dump(mode="json") if cloud else None,
        "ended": deployment.ended() if topology else None,
    }


def _overview(found: list[Deployment]) -> str:
    if not found:
        return "nothing is deployed"
    lines = []
    for deployment in found:
        lines.append(f"{deployment.id}  {_what(deployment)}")
    return "\n".join(lines)


def _what(deployment: Deployment) -> str:
    why = deployment.unreadable()
    if why is not None:
        return why
    if deployment.topology is not None:
        return f"{deployment.topology.chain} under {deployment.topology.technology}"
    if deployment.tuning is not None:
        from weir.base.cores import named_cpus

        return f"this host, tuned for {deployment.tuning.lab} on {named_cpus(deployment.tuning.cpus)}"

    cloud = deployment.cloud
    if cloud is not None:
        from weir.cli.cloud import said

        return said(cloud)
    return "nothing that this Weir knows"


def _show(deployment: Deployment, ledger: Ledger | None) -> None:
    from weir.report.blocks import new_console

    console = new_console(soft_wrap=True, width=max(new_console().width, LEAST_COLUMNS))
    console.print(_overview([deployment]))
    console.print(f"run directory: {deployment.run_dir}")
    if (ended := deployment.ended()) is not None:
        console.print(ended, style="bold red", markup=False)
    if deployment.topology is not None:
        for line in host_lines(deployment.topology):
            console.print(line)
        console.print(_ports(deployment.topology, ledger))
    if ledger is None:
        console.print("weir-dp does not answer: it is not configured, or another user's")
        return
    console.print(_areas(ledger))


def _ports(topology: Topology, ledger: Ledger | None) -> Table:
    from rich.table import Table

    counted = {port.name: port for port in ledger.ports} if ledger else {}
    networks = {name: link.name for link in topology.links for name in (link.left, link.right)}
    table = Table(
        "port", "link", "kind", "MAC", "received", "sent", "missed", "interface", box=None, pad_edge=False
    )
    for port in topology.ports:
        numbers = counted.get(port.name)
        shown = (
            (numbers.rx_packets, numbers.tx_packets, numbers.rx_missed) if numbers else _of_interface(port)
        )
        place = f"{port.interface} in {port.netns}" if port.interface and port.netns else port.interface or ""
        table.add_row(port.name, networks[port.name], port.kind, port.mac, *map(str, shown), place)
    return table


def _of_interface(port: Port) -> tuple[int | str, ...]:
    """What the kernel counted where weir-dp does not."""
    from weir.fabric.counters import interfaces_of

    found = None
    if port.interface and port.netns:
        with suppress(OSError):  # it goes at this moment, or this user may not enter
            found = interfaces_of(port.netns).get(port.interface)
    return ("", "", "") if found is None else (found["rx_packets"], found["tx_packets"], found["rx_dropped"])


def _areas(ledger: Ledger) -> Table:
    from rich.table import Table

    table = Table("area", "core", "kind", "polls", "idle polls", box=None, pad_edge=False)
    for area in ledger.areas:
        table.add_row(area.name, str(area.core), area.kind, str(area.polls), str(area.empty_polls))
    return table
