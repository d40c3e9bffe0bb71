# SPDX-License-Identifier: Apache-2.0
"""`weir run` of a lab with connections: the same set-ups, stores and ends, another measurement."""

from __future__ import annotations

import time
from collections.abc import Container, Mapping, Sequence
from functools import partial
from typing import Any

from weir import plan
from weir.base.topology import Topology
from weir.fabric.function.connections import forget
from weir.lab import Lab
from weir.lab.frames import CONNECTIONS, mean_frame_bytes
from weir.lab.ways import Way
from weir.measure.one_case import PhaseStarted, TrialFinished
from weir.measure.outside import NOTHING
from weir.measure.tester import ANNOUNCE_FRAMES, no_counters
from weir.measure.trial import PortGoneError
from weir.plan.connections import connections
from weir.procedures.campaign import Campaign
from weir.procedures.connections.measure import UNITS, Alone, ConnectionMeasurer
from weir.procedures.connections.sessions import Sessions
from weir.procedures.connections.trial import as_searched
from weir.procedures.driver import RunningChain, new_id, running
from weir.procedures.order import Asked
from weir.procedures.outputs import ReportFolder
from weir.procedures.rounds import MeasuredSetup
from weir.procedures.stored_result import CampaignProgress, RunStore
from weir.results.connections import NAME, ConnectionsFound, ConnectionTrial
from weir.results.result import Case, Ceiling
from weir.results.rounds import INTERRUPTED


class ConnectionsCampaign(Campaign):
    """One run of such a lab."""

    def __init__(
        self,
        lab: Lab,
        compared: Sequence[Way],
        *,
        quick: bool,
        store: RunStore,
        progress: CampaignProgress,
        reports: ReportFolder | None = None,
        asked: Asked | None = None,
    ) -> None:
        super().__init__(
            lab, compared, quick=quick, store=store, progress=progress, reports=reports, asked=asked
        )
        # By port kind, and by variant.
        self._alone: dict[tuple[str, str | None], Alone] = {}

    def _calibrated(self, way: Way, topology: Topology) -> dict[str, Ceiling]:
        """None of packets. What the tester can do is measured once a run, kind of port and variant."""
        connections(topology, way.lab)  # what it refuses is refused before anything stands
        kind = topology.ports[0].kind, way.variant
        if kind not in self._alone:
            with running(way.lab, plan.loopback(topology, new_id(way.lab))) as loop:
                measurer = self._measurer(way, loop, "calibrate", counted=False)
                self._alone[kind] = measurer.alone()
        return {}

    def _measure(
        self,
        visited: MeasuredSetup,
        topology: Topology,
        found: dict[str, Ceiling],  # noqa: ARG002 - of packets
        frames: Container[str] | None,  # noqa: ARG002 - there is one case
    ) -> None:
        way = visited.way
        with running(way.lab, topology, self._keeper.of(visited.setup)) as chain:
            self._kept.stands(visited, chain)
            began = time.monotonic()
            measurer = self._measurer(way, chain, "search")
            problem: str | None = INTERRUPTED
            try:
                problem = measurer.measure(self._alone[topology.ports[0].kind, way.variant])
            except PortGoneError as gone:
                chain.deployment.keep_logs(gone)
                problem = str(gone)
            except Exception as error:
                chain.deployment.keep_logs(error)
                problem = str(error)
                raise
            finally:
                case = Case(
                    frame=CONNECTIONS,
                    mean_frame_bytes=mean_frame_bytes(CONNECTIONS),
                    records={NAME: measurer.record.model_dump(mode="json")},
                    problem=problem,
                    seconds=time.monotonic() - began,
                )
                self._keep_case(visited, case)
            self._finished += 1
            self._progress.case(case)
            for one in measurer.record.found:
                self._progress.say(f"  {said(one)}")

    def _measurer(
        self, way: Way, chain: RunningChain, phase: str, *, counted: bool = True
    ) -> ConnectionMeasurer:
        """Its connections are configured."""
        chain.client.announce(ANNOUNCE_FRAMES)
        chain.client.call("connections.configure", connections(chain.topology, way.lab).arguments())

        def on_phase(step: int, steps: int) -> None:
            self._progress.event(
                PhaseStarted(CONNECTIONS, "calibrate" if phase == "calibrate" else "search", step, steps)
            )

        def on_trial(trial: ConnectionTrial) -> None:
            as_packets = as_searched("search", trial)
            self._progress.event(TrialFinished(CONNECTIONS, mean_frame_bytes(CONNECTIONS), as_packets))

        return ConnectionMeasurer(
            way.lab,
            chain.client,
            chain.counters if counted else no_counters,
            chain.cores,
            on_phase,
            outside=chain.deployment.watch(sample_stacks=way.lab.measure.sample_stacks)
            if counted
            else NOTHING,
            forget=Sessions(chain.client, partial(forget, chain.topology)).forget,
            on_trial=on_trial,
        )


def nothing_found(records: Sequence[Mapping[str, Any]]) -> str | None:
    """What a command says of records that have none of what was asked; None: they have some."""
    found = (one for record in records for one in record.get("found", ()))
    return None if any(one["load"] is not None for one in found) else "no goal of the connections was reached"


CAMPAIGN = ConnectionsCampaign


def said(found: ConnectionsFound) -> str:
    """ "new-connections: 12,345 connections a second"; or why there is none."""
    unit = UNITS[found.goal]
    if found.load is None:
        return f"{found.goal}: irregular: {found.why}"
    doubts = [" (tester-bound)" * found.tester_bound, " (all that the lab allows)" * found.lab_bound]
    doubts += [f" until a table is full: {found.full_table}"] if found.full_table else []
    return f"{found.goal}: {found.load:,.0f} {unit}{''.join(doubts)}"
