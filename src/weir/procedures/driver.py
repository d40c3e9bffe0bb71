# SPDX-License-Identifier: Apache-2.0
"""What every measurement of a chain does around its own part: check, plan, deploy, record what was deployed,
take down; and before it, take down what killed runs have left.

A procedure (a run's searches, a soak, a migration, a calibration) is the body of `running`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weir import fabric, plan
from weir.base.error import ChainError
from weir.base.topology import Topology
from weir.fabric import stop_signals
from weir.fabric.interface_watch import InterfaceWatch
from weir.fabric.outside import TakenWatch
from weir.lab import Chain, Lab
from weir.lab.frames import CAPTURE, mean_frame_bytes
from weir.lab.measure import Measure
from weir.lab.ways import Way
from weir.measure import Traffic
from weir.measure.counting import Watched
from weir.measure.machine_state import MachineState
from weir.measure.preflight import most_beside_trials_pps
from weir.measure.tester import Counter
from weir.plan import SOCKET, Plan
from weir.plan.spanning import part
from weir.procedures.awaited import ANNOUNCED, by_n4, wait_for_links, wait_for_packets, wait_for_sessions
from weir.procedures.elsewhere import ALONE, NOTHING, Elsewhere, StandingElsewhere
from weir.protocol import DataPlaneClient, DataPlaneError, DataPlaneTester
from weir.protocol.ledger import Hello
from weir.protocol.traffic_results import Learned
from weir.results.result import Fingerprint, Setup
from weir.results.setup import N4Figures

if TYPE_CHECKING:
    from weir.lab.tenants import TenantsFile


def _unsaid(_text: str) -> None:
    """The default for `say`."""


@dataclass(frozen=True)
class RunningChain:
    """A chain that is deployed, its ports open and its loops polling."""

    lab: Lab
    plan: Plan
    deployment: fabric.Deployment
    client: DataPlaneClient
    hello: Hello
    cores: TakenWatch
    """Who has its cores, trial by trial."""
    interfaces: InterfaceWatch
    bring_up_s: float
    learned: Learned | None = None
    """Whom the tester answers; None: no stream answers another one."""
    elsewhere: StandingElsewhere = NOTHING
    """Its parts on other hosts."""

    @property
    def topology(self) -> Topology:
        """What was built."""
        return self.plan.topology

    def tester(self) -> DataPlaneTester:
        """Sends and receives on this chain."""
        # The kernel forwards in the system call of whoever sends.
        shares_cores = self.deployment.kernel_forwards()
        return DataPlaneTester(self.client, self.topology.outside_cores(), shares_cores=shares_cores)

    def watched(self, state: MachineState | None = None) -> Watched:
        """What tells of disturbances in its trials. `state`: of the run; None: a new one."""
        return Watched(self.cores, state or MachineState(), self.interfaces)

    def counters(self, *, under_load: bool = False) -> Sequence[Counter]:
        """What switch, kernel and parts on other hosts count now; `under_load`: while packets are on their
        way."""
        return self.elsewhere.counters(
            lambda: counted_outside(self.client, self.deployment, under_load=under_load)
        )

    def traffic(self, frame: str) -> Traffic:
        """The lab's, with frames of that size, or of its captures, which weir-dp reads.

        DataPlaneError says what is wrong with a file.
        """
        config = self.plan.streams[frame]
        if frame != CAPTURE:
            return Traffic.from_config(frame, mean_frame_bytes(frame), config)
        found = self.client.configure_traffic(config).captures
        # each stream has its share of the rate
        mean_bytes = sum(one.mean_frame_bytes for one in found.values()) / len(found)
        traffic = Traffic.from_config(frame, mean_bytes, config)
        return replace(traffic, captured={int(stream): one for stream, one in found.items()})

    def versions(self) -> dict[str, str]:
        """Of the software that takes part."""
        return {"dpdk": self.hello.dpdk} | self.deployment.versions()

    def fingerprint(self) -> Fingerprint:
        """The machine and its software."""
        return fabric.fingerprint(self.hello.tsc_hz, self.hello.memory, self.versions())

    def fidelity(self) -> list[str]:
        """How true to the field what was deployed is, in sentences."""
        said = fabric.fidelity(
            self.topology,
            self.lab.options(self.topology.technology),
            datapath=self.deployment.datapath(),
            memory=self.hello.memory,
            emulated=self.deployment.emulated(),
            steered=self.deployment.steered(),
            unlimited=self.deployment.unlimited(),
            translated=(self.learned.translated, self.learned.flows) if self.learned else None,
        )
        return [*said, *self.elsewhere.fidelity()]

    def n4(self) -> list[N4Figures]:
        """What was done by N4 up to now."""
        listening = self.plan.listening
        return [N4Figures.of(one.function, by_n4(self.client, one)) for one in listening]

    def describe(self, setup: Setup) -> None:
        """Writes down what was deployed, and how true to the field it is."""
        setup.bring_up_s = self.bring_up_s
        setup.topology = self.topology
        setup.datapath = self.deployment.datapath()
        setup.fidelity = self.fidelity()
        setup.other_hosts = list(self.elsewhere.other_hosts())
        setup.host = list(
            fabric.host_settings(
                self.lab, self.topology, memory=self.hello.memory, refused=self.deployment.refused()
            )
        )


def refusal(lab: Lab, technology: str, chain: Chain, host: str | None = None) -> fabric.Refusal | None:
    """Why this machine cannot deploy it, or that host's part of it; None: it can."""
    programs = lab.programs(chain.name)
    if lab.hosts is not None:
        here = host or lab.hosts.tester
        programs = tuple(one for one in programs if lab.hosts.host_of(one.function) == here)
    return fabric.check(
        technology, lab.options(technology), machines=lab.machines(chain.name), programs=programs
    )


def refused(way: Way, chain: Chain, host: str | None = None) -> str | None:
    """The same of what a lab compares, in words: for want of CPUs, or of what the technology needs."""
    lacking = refusal(way.lab, way.technology, chain, host)
    reasons = (way.refused, f"{lacking.missing}: {lacking.fix}" if lacking is not None else None)
    return "; ".join(why for why in reasons if why is not None) or None


def planned(
    lab: Lab, technology: str, chain: Chain, host: str | None = None, deployment: str | None = None
) -> Topology:
    """Of a new deployment, or one of that name. Where the chain spans hosts: the part of that one; absent: of
    the tester's. PlanError for what does not fit on the machine."""
    whole = plan.build_topology(lab, technology, chain, deployment or new_id(lab))
    return whole if lab.hosts is None else part(whole, host or lab.hosts.tester)


def impossible(way: Way, chain: Chain, host: str | None = None) -> str | None:
    """Why it can be neither measured here nor planned; None: it may go well. `host`: whose part, as for
    `planned`."""
    why = refused(way, chain, host)
    if why is None:
        try:
            topology = planned(way.lab, way.technology, chain, host)
        except plan.PlanError as error:
            return str(error)
        wires = plan.steps(topology, way.lab) if topology.spans else ()
        lacking = (fabric.lacking(step) for step in wires if step.kind == "span")
        why = next((one for one in lacking if one is not None), None)
    return why


def all_planned(compared: Iterable[Way], host: str | None = None) -> list[Topology]:
    """Of a deployment of each that can be planned: why another one cannot is said when its turn comes."""
    found = []
    for way in compared:
        for chain in way.lab.chains() if way.refused is None else ():
            with suppress(plan.PlanError):
                found.append(planned(way.lab, way.technology, chain, host))
    return found


def new_id(lab: Lab | TenantsFile) -> str:
    """A new deployment's name: the lab's, and a random token."""
    return plan.deployment_id(lab.name, secrets.token_hex(4))


@contextmanager
def running(
    lab: Lab,
    topology: Topology,
    down: Callable[[fabric.Deployment], None] | None = None,
    say: Callable[[str], None] = _unsaid,
    elsewhere: Elsewhere = ALONE,
) -> Iterator[RunningChain]:
    """Deployed, configured and polling for the body; taken down after it, however it ends. `down`: called
    then, with what has been said there. `say`: told what is waited for. `elsewhere`: how other hosts are
    reached that have parts of it.

    Ctrl-C, held by the caller with `stop_signals.held`, is let through in the body alone. FabricError,
    DataPlaneError, PartError.
    """
    began = time.monotonic()
    with elsewhere.standing(topology) as parts, _running_here(lab, topology, down, say, began) as chain:
        yield replace(chain, elsewhere=parts)


@contextmanager
def _running_here(
    lab: Lab,
    topology: Topology,
    down: Callable[[fabric.Deployment], None] | None,
    say: Callable[[str], None],
    began: float,
) -> Iterator[RunningChain]:
    made = Plan.of(topology, lab)
    steps, _ = fabric.possible(made.steps)
    deployment = fabric.Deployment.deploy(steps, topology)
    try:
        with (
            stop_signals.allowed(),
            DataPlaneClient(deployment.run_dir / SOCKET) as client,
            closing(deployment.core_watch()) as cores,
        ):
            hello = configured(client, made, deployment, say)
            took_s = round(time.monotonic() - began, 3)
            interfaces = deployment.interface_watch()
            learned = _learned(client, made, lab.measure)
            yield RunningChain(lab, made, deployment, client, hello, cores, interfaces, took_s, learned)
    except ChainError as error:
        deployment.keep_logs(error)
        raise
    finally:
        deployment.destroy()
        if down is not None:
            down(deployment)


def configured(
    client: DataPlaneClient,
    made: Plan,
    deployment: fabric.Deployment,
    say: Callable[[str], None] = _unsaid,
) -> Hello:
    """Opens the ports of a deployment that stands, waits for what comes up then, and lets the loops poll.
    `say`: told what is waited for.

    DataPlaneError, FabricError.
    """
    hello = client.hello()
    try:
        client.configure(made.opened(str(deployment.run_dir), deployment.devices))
    except DataPlaneError as error:
        error.put_in_terms(made.keys)
        raise
    deployment.settle()
    for program in made.topology.functions():
        if program.program is not None:
            wait_for_links(client, deployment, made.topology, program)
    client.start()
    for one in made.listening:
        client.listen(one.area, one.stage, one.netns)
    for one in made.listening:
        wait_for_sessions(client, one, deployment.require_alive, say)
    waiting = [node for node in made.topology.functions() if node.program and node.program.ready_packets]
    if waiting and made.streams:
        wait_for_packets(client, deployment, made, waiting)
    return hello


def _learned(client: DataPlaneClient, made: Plan, measure: Measure) -> Learned | None:
    """What arrives of each flow, for what is said of the chain; who measures learns it again, in time."""
    for frame, config in made.streams.items():
        if any(stream.answers is not None for stream in config.streams):
            tester = DataPlaneTester(client)
            tester.announce(ANNOUNCED)
            tester.configure_traffic(config)
            return tester.learn(config, most_beside_trials_pps(measure, mean_frame_bytes(frame)))
    return None


def counted_outside(
    client: DataPlaneClient, deployment: fabric.Deployment, *, under_load: bool = False
) -> Sequence[fabric.Counter]:
    """What switch and kernel count now, and what functions outside weir-dp lost."""
    ports = client.ledger().ports
    return deployment.counters(
        {port.name: port.rx_packets for port in ports},
        {port.name: port.tx_packets for port in ports},
        under_load=under_load,
    )


def take_down_leftovers(say: Callable[[str], None]) -> None:
    """Takes all of it down, and says what. Within `stop_signals.held`."""
    for name in fabric.clean_leftovers():
        say(f"took down {name}, which a killed run had left")
