# SPDX-License-Identifier: Apache-2.0
"""`weir run --on ADDRESS`: the same job on the hosts of a Ray cluster."""

from __future__ import annotations

import itertools
import re
import secrets
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from weir.cli.exits import USAGE, CommandError, judged_runs
from weir.cli.hosts_progress import HostsProgress
from weir.cli.labfile import Part
from weir.cli.measured import Measured
from weir.cli.stored import check_reports, point_on, stored, write_reports
from weir.fabric import weir_version
from weir.lab import Lab
from weir.lab.load import load_open_lab, stored_lab
from weir.lab.ways import ways
from weir.procedures.across_hosts import AcrossHosts
from weir.procedures.across_together import Cluster, across_together
from weir.procedures.order import Asked
from weir.procedures.resuming import campaign_of, shared_budget_s
from weir.procedures.throughput.command import stems
from weir.procedures.wanted import Wanted
from weir.report.blocks import new_console
from weir.results.campaign import SharedCampaign
from weir.store.store import Store

_ADDRESS = re.compile(r"auto|(ray://)?[^/]+:\d{1,5}")
_PORTS = range(1, 1 << 16)


def run_on_hosts(
    on: str,
    lab_path: Path | None,
    part: Part,
    asked: Asked,
    *,
    how: Measured,
    quick: bool,
    dry_run: bool,
    as_json: bool,
    output: Path | None,
    store: str | None,
) -> None:
    """Measures a lab there, then reports each host's run. `asked.resumed`: any run of the campaign."""
    if _ADDRESS.fullmatch(on) is None or (on != "auto" and int(on.rpartition(":")[2]) not in _PORTS):
        raise CommandError(
            f"--on {on}: expected HOST:PORT of a Ray cluster that this machine is a node of, such as "
            "nfv1:6379; auto, the one that it is; or ray://HOST:PORT of a client server",
            USAGE,
        )
    if as_json:
        raise CommandError("--json prints one run, and --on makes one a host; see `weir export`", USAGE)
    console = new_console()
    check_reports(output)
    if asked.resumed is None:
        lab, wanted = _new(lab_path, part, asked, how, quick=quick)
    else:
        lab, wanted = _resumed(asked, lab_path, store)
    if dry_run:
        what = f"{wanted.points} points of {len(wanted.setups)} set-ups"
        if asked.resumed is not None:
            what += f", of which {len(list(wanted.left()))} are left"
        console.print(f"{what}, on the hosts of {on}", markup=False)
        return
    hosts, weir = _connected(on), weir_version()
    with Store(store) as database, HostsProgress() as progress:
        progress.say(f"campaign {wanted.shared.id} on {', '.join(hosts.names) or 'no host'}")
        if lab.hosts is None:
            results = AcrossHosts(wanted, hosts, database, progress, weir).run()
        else:
            clusters = itertools.chain([hosts], iter(lambda: _connected(on), None))
            results = across_together(
                wanted, lab.hosts, lambda: next(clusters), database, progress=progress, weir=weir
            )
    for result in results:
        if result.campaign is not None and result.campaign.shared is not None:
            console.print(f"on {result.campaign.shared.host}:", markup=False)
        write_reports(result, output / result.id if output else None, stems(lab), console, store=store)
    if results:
        point_on(results[0], console, store, on)
    judged_runs(lab, results)


def _connected(on: str) -> Cluster:
    made: Cluster = import_module("weir.hosts.by_ray").RayHosts(on)
    return made


def _new(
    lab_path: Path | None, part: Part, asked: Asked, how: Measured, *, quick: bool
) -> tuple[Lab, Wanted]:
    if lab_path is None:
        raise CommandError("expected a LAB, or --resume RUN", USAGE)
    lab = load_open_lab(lab_path, quick=quick)
    lab, compared = how.of(*part.of(lab, ways(lab)))
    setups = [(way.name, chain.name) for way in compared for chain in way.lab.chains()]
    frames = [str(one) for one in lab.traffic.frames]
    shared = SharedCampaign(
        id=f"{lab.name}-on-hosts-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}",
        host="",
        points=len(setups) * len(frames) * lab.measure.rounds,
        spec=lab.model_dump(mode="json"),
    )
    budget_s = asked.budget_s
    return lab, Wanted(shared, setups, frames, lab.measure.rounds, quick, asked.seed, budget_s, budget_s)


def _resumed(asked: Asked, lab_path: Path | None, store: str | None) -> tuple[Lab, Wanted]:
    """What is left of a stored campaign. CommandError for a run that is of none, ResumeError."""
    assert asked.resumed is not None
    if lab_path is not None:
        raise CommandError("LAB: --resume with --on goes on with the stored lab; leave it out", USAGE)
    result = stored(asked.resumed, store)
    record = campaign_of(result)
    if record.shared is None:
        raise CommandError(f"run {result.id} was measured on one machine; leave --on out", USAGE)
    with Store(store, reading=True) as database:
        before = database.runs_of_campaign(record.shared.id)
    lab = stored_lab(record.shared.spec)
    setups = [(way.name, chain.name) for way in ways(lab) for chain in way.lab.chains()]
    frames = [str(one) for one in lab.traffic.frames]
    left_s, of_all_s = shared_budget_s(before, asked.budget_s)
    return lab, Wanted(
        record.shared, setups, frames, record.rounds, result.quick, record.seed, left_s, of_all_s, before
    )
