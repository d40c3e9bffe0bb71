# SPDX-License-Identifier: Apache-2.0
"""`weir migrate`: one live migration of a virtual machine while traffic runs through it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from weir.base.si import MS_PER_S
from weir.cli.exits import INTERRUPTED, USAGE, CommandError, failed
from weir.cli.labfile import (
    ChainName,
    FrameName,
    LabPath,
    Quick,
    Variant,
    Wait,
    chosen_chain,
    chosen_frame,
    here_named,
    own_cores,
    require_packets,
)
from weir.cli.quantities import bandwidth_bps, rate_pps, seconds
from weir.cli.stored import JsonResult, ReportFolder, StoreLocation, check_reports, write_reports

if TYPE_CHECKING:
    from weir.lab import Chain, Lab
    from weir.procedures.migration.run import MigrationSettings


TECHNOLOGY = "linux-bridge"
RATE, SETTLE, TIME_LIMIT, DOWNTIME_LIMIT = "1kpps", "3s", "5min", "300ms"


def migrate(
    lab_path: LabPath,
    *,
    function: Annotated[
        str | None,
        typer.Option("--function", help="Which function of the chain; absent: its first of kind vm."),
    ] = None,
    rate: Annotated[
        str, typer.Option(metavar="RATE", help='Load, both directions together: "1kpps", "1.5Mpps".')
    ] = RATE,
    settle: Annotated[
        str, typer.Option(metavar="TIME", help="Traffic before the migration, and after it.")
    ] = SETTLE,
    bandwidth: Annotated[
        str | None,
        typer.Option(metavar="RATE", help='Most that memory is sent with, as "10G"; absent: QEMU\'s own.'),
    ] = None,
    downtime_limit: Annotated[
        str, typer.Option(metavar="TIME", help="Longest that QEMU may plan to stop the guest.")
    ] = DOWNTIME_LIMIT,
    time_limit: Annotated[
        str, typer.Option(metavar="TIME", help="A migration that is not over then is cancelled.")
    ] = TIME_LIMIT,
    variant: Variant = None,
    chain: ChainName = None,
    frame: FrameName = None,
    quick: Quick = False,
    wait: Wait = False,
    as_json: JsonResult = False,
    output: ReportFolder = None,
    store: StoreLocation = None,
) -> None:
    """Migrate a loaded virtual machine to a second QEMU. What was lost, when and how long; by failover pairs.

    Under linux-bridge, of a function whose guest's kernel forwards (vm.forwarder: kernel). Exit code 1 if the
    migration failed, or its packets cannot be accounted for.
    """

    from weir import fabric
    from weir.cli.progress import Progress
    from weir.procedures.driver import planned
    from weir.procedures.migration.run import MigrationRun
    from weir.report.blocks import new_console
    from weir.store.open_case import OpenCaseStore

    lab, variant = here_named(lab_path, quick=quick, variant=variant)
    require_packets(lab, "weir migrate")
    chosen = chosen_chain(lab, chain)
    settings = _settings(
        lab,
        chosen,
        variant=variant,
        node=_node(lab, chosen, function),
        frame=frame,
        rate=rate,
        bandwidth=bandwidth,
        times=(settle, time_limit, downtime_limit),
    )
    fabric.require_to_measure()
    check_reports(output)
    console = new_console(stderr=as_json)
    cores = own_cores([planned(lab, TECHNOLOGY, chosen)], wait=wait)
    with (
        cores,
        OpenCaseStore(store) as database,
        Progress() as progress,
    ):
        result = MigrationRun(lab, quick=quick, store=database, progress=progress).run(settings)
    stems = {"html": "report", "markdown": "report", "json": "result"}
    write_reports(result, output, stems, console, as_json=as_json, store=store)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)
    found = result.setups[0].cases[0].migration
    if found is None or found.status != "completed" or not found.restored or found.faults:
        reasons = [] if found is None else [*filter(None, [found.why]), *found.faults]
        failed(f"the migration failed: {reasons[0] if reasons else 'its primaries did not come back'}")


def _node(lab: Lab, chain: Chain, name: str | None) -> str:
    """The place in the chain of the virtual machine of that name, or of the first. CommandError: none can."""
    machines = [one for one in chain.functions if lab.functions[one].kind == "vm"]
    if not machines:
        listed = ", ".join(dict.fromkeys(chain.functions))
        raise CommandError(
            f"chain {chain.name} has no virtual machine: its functions are {listed}; expected one of kind vm",
            USAGE,
        )
    if name is not None and name not in machines:
        raise CommandError(
            f"--function {name}: chain {chain.name} has no such virtual machine; it has"
            f" {', '.join(dict.fromkeys(machines))}",
            USAGE,
        )
    name = name or machines[0]
    if TECHNOLOGY not in lab.technology:
        raise CommandError(
            f"the lab has {', '.join(lab.technology)}, and a machine is migrated under {TECHNOLOGY} only: the"
            " devices of its failover pairs are tap interfaces",
            USAGE,
        )
    machine = lab.functions[name].machine()
    assert machine is not None
    if machine.forwards_by() != "kernel":
        who = "an image of yours" if machine.forwards_by() is None else "weir-dp"
        raise CommandError(
            f"{name} is {who}, and only a guest's kernel pairs a primary with its stand-by, in images of"
            " `weir image build`; expected vm.forwarder: kernel",
            USAGE,
        )
    if machine.queues > 1:
        raise CommandError(
            f"{name} has {machine.queues} pairs of queues, and the primary of a failover pair has one;"
            " expected vm.queues: 1",
            USAGE,
        )
    return f"f{chain.functions.index(name) + 1}"


def _settings(
    lab: Lab,
    chain: Chain,
    *,
    variant: str | None,
    node: str,
    frame: str | None,
    rate: str,
    bandwidth: str | None,
    times: tuple[str, str, str],
) -> MigrationSettings:
    from weir.procedures.migration.run import MigrationSettings

    return MigrationSettings(
        technology=TECHNOLOGY,
        variant=variant,
        chain=chain,
        node=node,
        frame=chosen_frame(lab, frame),
        load=rate,
        load_pps=rate_pps(rate),
        settle_s=seconds("--settle", times[0], 0.1, 3600.0),
        time_limit_s=seconds("--time-limit", times[1], 1.0, 24 * 3600.0),
        downtime_limit_ms=round(MS_PER_S * seconds("--downtime-limit", times[2], 0.001, 2000.0)),
        bandwidth_bps=None if bandwidth is None else bandwidth_bps(bandwidth),
    )
