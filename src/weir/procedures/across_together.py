# SPDX-License-Identifier: Apache-2.0
"""A campaign whose chains span hosts: they are reserved together, and measure as one. Where one of them is
lost, what was being measured is void, and what is left is measured again, by other hosts if there are."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from weir.fabric import stop_signals
from weir.hosts.together import Together
from weir.hosts.transport import Hosts, HostsError, Reserving
from weir.lab.spanning import HostsOptions
from weir.procedures.across_hosts import AcrossHosts, HostsProgress
from weir.procedures.wanted import Wanted
from weir.results.result import Result
from weir.results.rounds import rounds_measured
from weir.store.store import Store

IN_VAIN = 3
"""So often in a row a host is lost before anything more has been measured, and then it ends."""


class Cluster(Hosts, Reserving, Protocol):
    """Of hosts."""


def across_together(
    wanted: Wanted,
    spanned: HostsOptions,
    connect: Callable[[], Cluster],
    store: Store,
    *,
    progress: HostsProgress,
    weir: str,
) -> list[Result]:
    """The runs of the campaign, as `AcrossHosts.run` has them. `connect`: to the cluster, anew each time.

    HostsError where it lacks hosts before anything was measured; KeyboardInterrupt while it waits for them.
    """
    until_s = None if wanted.budget_s is None else time.monotonic() + wanted.budget_s
    results: list[Result] = []
    in_vain = 0
    while in_vain < IN_VAIN:
        had = rounds_measured(wanted.before).total()
        try:
            group = _reserved(spanned, connect(), progress)
        except HostsError as error:
            if not results:
                raise
            progress.say(f"what is left is not measured again: {error}")
            return results
        results = AcrossHosts(wanted, group, store, progress, weir).run()
        before = store.runs_of_campaign(wanted.shared.id)
        left = rounds_measured(before).total() < wanted.shared.points
        if group.lost is None or not left:
            return results
        in_vain = in_vain + 1 if rounds_measured(before).total() == had else 0
        left_s = None if until_s is None else max(0.0, until_s - time.monotonic())
        wanted = replace(wanted, before=before, budget_s=left_s)
        progress.say("measures what is left again, on hosts that are there")
    progress.say(f"{IN_VAIN} times a host was lost before a point was measured")
    return results


def _reserved(spanned: HostsOptions, cluster: Cluster, progress: HostsProgress) -> Together:
    """HostsError; then, and where it is stopped, the cluster has been left."""
    hosts: Sequence[str] = spanned.names()
    try:
        with stop_signals.held(quiet=True):
            names = cluster.reserve([spanned.machines.get(host) for host in hosts], progress.say)
    except BaseException:
        cluster.close()
        raise
    machines = dict(zip(hosts, names, strict=True))
    addresses = {host: cluster.address(machine) for host, machine in machines.items()}
    progress.say(", ".join(f"{host} is {machine}" for host, machine in machines.items()))
    return Together(cluster, machines, addresses)
