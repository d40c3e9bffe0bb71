# SPDX-License-Identifier: Apache-2.0
"""`weir deploy`: build one chain under one technology, or a cloud of tenants, and leave it forwarding until
`weir destroy`."""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from weir.base.printable import printable
from weir.cli.deploying import after_leftovers, step_lines, told
from weir.cli.end_hosts import host_lines
from weir.cli.exits import USAGE, CommandError
from weir.cli.labfile import (
    ChainName,
    LabPath,
    Quick,
    TechnologyName,
    Variant,
    Wait,
    chosen_chain,
    chosen_technology,
    here,
    own_cores,
    require_possible,
)

if TYPE_CHECKING:
    from weir.base.topology import Topology
    from weir.fabric import Deployment
    from weir.lab import Lab
    from weir.plan import Plan, Step


def deploy(
    lab_path: LabPath,
    *,
    technology: TechnologyName = None,
    chain: ChainName = None,
    variant: Variant = None,
    ends: Annotated[
        Literal["tester", "hosts"],
        typer.Option(help="What is at the ends: the tester, or hosts with a TCP/IP stack, for `weir exec`."),
    ] = "tester",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the ordered steps and do nothing. Needs no root.")
    ] = False,
    quick: Quick = False,
    wait: Wait = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the steps, or the deployment, as JSON.")
    ] = False,
) -> None:
    """Build a chain or a cloud, and leave it standing. A chain of the lab, or the cloud of its tenants;
    `weir destroy` takes it down."""
    from weir import fabric, plan
    from weir.cli.cloud import deploy_cloud, require_no_chain
    from weir.fabric.fidelity import without_limits
    from weir.lab.of_tenants import has_tenants
    from weir.plan import end_hosts

    if has_tenants(lab_path):
        given = {"--technology": technology, "--chain": chain, "--variant": variant, "--quick": quick}
        require_no_chain(given | {"--ends": ends == "hosts", "--wait": wait})
        deploy_cloud(lab_path, dry_run=dry_run, as_json=as_json)
        return
    lab = here(lab_path, quick=quick, variant=variant, spanning=dry_run)
    technology = chosen_technology(lab, technology)
    chosen = chosen_chain(lab, chain)
    deployment_id = plan.deployment_id(lab.name, secrets.token_hex(4))
    topology = plan.build_topology(lab, technology, chosen, deployment_id)
    if lab.hosts is not None:
        _show_parts(lab, topology, with_hosts=ends == "hosts", as_json=as_json)
        return
    if ends == "hosts":
        topology = end_hosts.with_hosts(topology, lab)
        made = end_hosts.planned(topology, lab)
    else:
        made = plan.Plan.of(topology, lab)
    steps, skipped = fabric.possible(made.steps)
    for one in skipped:
        print(f"skipped: {one.step.text}: {one.why}", file=sys.stderr)
    if dry_run:
        print(
            json.dumps([step.model_dump() for step in steps], indent=2)
            if as_json
            else _listing(steps, topology)
        )
        _warn_if_impossible(lab, topology, hosts=ends == "hosts")
        return
    require_possible(lab, topology.technology, topology.chain, hosts=ends == "hosts")
    with own_cores([topology], wait=wait):
        started = time.monotonic()
        deployment = _deployed(made, steps, quiet=as_json)
        seconds = time.monotonic() - started
    for sentence in without_limits(deployment.unlimited()):
        print(sentence, file=sys.stderr)
    if as_json:
        shown = {"id": deployment.id, "run_dir": str(deployment.run_dir), "seconds": round(seconds, 3)}
        print(json.dumps(shown | {"topology": topology.model_dump(mode="json")}, indent=2))
        return
    print(f"{deployment.id} forwards: {topology.chain} under {technology}, built in {seconds:.2f} s")
    for line in host_lines(topology):
        print(line)
    print(f"look at it: weir inspect {deployment.id}; take it down: weir destroy {deployment.id}")


def _show_parts(lab: Lab, topology: Topology, *, with_hosts: bool, as_json: bool) -> None:
    """What each host of a chain that spans hosts would build. What this machine cannot do says nothing of
    them."""
    from weir.plan import Plan
    from weir.plan.spanning import part

    assert lab.hosts is not None
    if with_hosts:
        raise CommandError("--ends hosts: not of a chain that spans hosts", USAGE)
    parts = {host: part(topology, host) for host in lab.hosts.names()}
    steps = {host: list(Plan.of(one, lab).steps) for host, one in parts.items()}
    if as_json:
        print(
            json.dumps({host: [step.model_dump() for step in each] for host, each in steps.items()}, indent=2)
        )
        return
    for host, one in parts.items():
        print(f"On {host}: {_listing(steps[host], one)}")


def _warn_if_impossible(lab: Lab, topology: Topology, *, hosts: bool) -> None:
    """Anybody may look at the steps, on any machine; who could build them here learns what it lacks."""
    from weir.base.error import WeirError

    if os.geteuid() != 0:
        return
    try:
        require_possible(lab, topology.technology, topology.chain, hosts=hosts)
    except WeirError as error:
        print(f"weir: not as things are: {printable(str(error))}", file=sys.stderr)


def _listing(steps: list[Step], topology: Topology) -> str:
    return "\n".join(
        [
            f"{topology.chain} under {topology.technology} in {len(steps)} steps; none was done:",
            *step_lines(steps),
            "Then weir-dp gets its ports and areas, and starts to forward.",
        ]
    )


def _deployed(made: Plan, steps: list[Step], *, quiet: bool) -> Deployment:
    """Makes everything and starts the loops; takes everything down again if any of it fails."""
    from weir.fabric import stop_signals
    from weir.fabric.deployed import deployed
    from weir.fabric.deployment import ignore
    from weir.plan import SOCKET
    from weir.procedures.driver import configured
    from weir.protocol import DataPlaneClient

    on_event = ignore if quiet else told
    with (
        after_leftovers(),
        deployed(steps, made.topology, on_event, kept=True) as deployment,
        stop_signals.allowed(),
        DataPlaneClient(deployment.run_dir / SOCKET) as client,
    ):
        configured(client, made, deployment, lambda text: print(text, file=sys.stderr))
    return deployment
