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
from weir.base.node import PROGRAM_PEERS, Node
from weir.base.topology import Topology
from weir.fabric import stop_signals
from weir.fabric.outside import TakenWatch
from weir.lab import Chain, Lab
from weir.lab.frames import CAPTURE, mean_frame_bytes
from weir.lab.ways import Way
from weir.measure import Traffic
from weir.plan import SOCKET, Plan
from weir.plan.plan import Listening
from weir.plan.topology import next_hop
from weir.protocol import DataPlaneClient, DataPlaneError, DataPlaneTester
from weir.protocol.ledger import Hello
from weir.protocol.traffic_results import Learned
from weir.results.result import Fingerprint, N4Figures, Setup

if TYPE_CHECKING:
    from weir.lab.tenants import TenantsFile

_LOOK_S = 0.01
_N4_LOOK_S = 0.2  # each look goes through all sessions, in the thread that sets them up
_ANNOUNCED = 3
_BY_N4 = "n4_"
"""What the names of figures begin with."""
_PACKET_PPS, _PACKET_S = 1000.0, 0.05  # one packet, and how long it may be on its way


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
    bring_up_s: float
    learned: Learned | None = None
    """Whom the tester answers; None: no stream answers another one."""

    @property
    def topology(self) -> Topology:
        """What was built."""
        return self.plan.topology

    def tester(self) -> DataPlaneTester:
        """Sends and receives on this chain."""
        # The kernel forwards in the system call of whoever sends.
        shares_cores = self.deployment.kernel_forwards()
        return DataPlaneTester(self.client, self.topology.outside_cores(), shares_cores=shares_cores)

    def counters(self) -> Sequence[fabric.Counter]:
        """What switch and kernel count now."""
        return counted_outside(self.client, self.deployment)

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
        return fabric.fidelity(
            self.topology,
            self.lab.options(self.topology.technology),
            datapath=self.deployment.datapath(),
            memory=self.hello.memory,
            emulated=self.deployment.emulated(),
            steered=self.deployment.steered(),
            unlimited=self.deployment.unlimited(),
            translated=(self.learned.translated, self.learned.flows) if self.learned else None,
        )

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
        setup.host = list(
            fabric.host_settings(
                self.lab, self.topology, memory=self.hello.memory, refused=self.deployment.refused()
            )
        )


def refusal(lab: Lab, technology: str, chain: Chain) -> fabric.Refusal | None:
    """Why this machine cannot deploy it; None: it can."""
    return fabric.check(
        technology,
        lab.options(technology),
        machines=lab.machines(chain.name),
        programs=lab.programs(chain.name),
    )


def refused(way: Way, chain: Chain) -> str | None:
    """The same of what a lab compares, in words: for want of CPUs, or of what the technology needs."""
    lacking = refusal(way.lab, way.technology, chain)
    reasons = (way.refused, f"{lacking.missing}: {lacking.fix}" if lacking is not None else None)
    return "; ".join(why for why in reasons if why is not None) or None


def planned(lab: Lab, technology: str, chain: Chain) -> Topology:
    """Of a new deployment. PlanError for what does not fit on the machine."""
    return plan.build_topology(lab, technology, chain, new_id(lab))


def impossible(way: Way, chain: Chain) -> str | None:
    """Why it can be neither measured here nor planned; None: it may go well."""
    why = refused(way, chain)
    if why is None:
        try:
            planned(way.lab, way.technology, chain)
        except plan.PlanError as error:
            return str(error)
    return why


def all_planned(compared: Iterable[Way]) -> list[Topology]:
    """Of a deployment of each that can be planned: why another one cannot is said when its turn comes."""
    found = []
    for way in compared:
        for chain in way.lab.chains() if way.refused is None else ():
            with suppress(plan.PlanError):
                found.append(planned(way.lab, way.technology, chain))
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
) -> Iterator[RunningChain]:
    """Deployed, configured and polling for the body; taken down after it, however it ends. `down`: called
    then, with what has been said there. `say`: told what is waited for.

    Ctrl-C, held by the caller with `stop_signals.held`, is let through in the body alone. FabricError,
    DataPlaneError.
    """
    began = time.monotonic()
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
            yield RunningChain(lab, made, deployment, client, hello, cores, took_s, _learned(client, made))
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
            _wait_for_links(client, deployment, made.topology, program)
    client.start()
    for one in made.listening:
        client.listen(one.area, one.stage, one.netns)
    for one in made.listening:
        _wait_for_sessions(client, one, deployment.require_alive, say)
    waiting = [node for node in made.topology.functions() if node.program and node.program.ready_packets]
    if waiting and made.streams:
        _wait_for_packets(client, deployment, made, waiting)
    return hello


def by_n4(client: DataPlaneClient, one: Listening) -> dict[str, int]:
    """What weir-dp counts of it; of several workers one has the agent."""
    reported = client.report(one.area, one.stage, limit=0).figures.values()
    return {
        name.removeprefix(_BY_N4): count
        for figures in reported
        for name, count in figures.items()
        if name.startswith(_BY_N4)
    }


def _wait_for_sessions(
    client: DataPlaneClient, one: Listening, require_alive: Callable[[], None], say: Callable[[str], None]
) -> None:
    """As many as the lab says, by N4. FabricError where they do not come in time."""
    wanted, limit_s = one.options.sessions, one.options.time_limit_s
    deadline, said = time.monotonic() + limit_s, False
    while (there := (found := by_n4(client, one)).get("sessions", 0)) < wanted:
        if not said:
            say(f"{one.function} waits for {wanted:,} sessions by N4 at {one.where}, {limit_s:g} s at most")
            said = True
        require_alive()
        if time.monotonic() > deadline:
            raise fabric.FabricError(
                f"{one.function}: {there:,} of {wanted:,} sessions stand by N4 at {one.where} after"
                f" {limit_s:g} s ({_heard(found)})",
                "start an SMF that sets them up, or change n4.sessions or n4.time_limit_s of the function",
            )
        stop_signals.check()
        time.sleep(_N4_LOOK_S)


def _heard(found: dict[str, int]) -> str:
    """What there was instead."""
    said = {name: count for name, count in found.items() if count and name != "sessions"}
    return ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in said.items()) or "nobody spoke"


def _learned(client: DataPlaneClient, made: Plan) -> Learned | None:
    """What arrives of each flow, for what is said of the chain; who measures learns it again, in time."""
    for config in made.streams.values():
        if any(stream.answers is not None for stream in config.streams):
            tester = DataPlaneTester(client)
            tester.announce(_ANNOUNCED)
            tester.configure_traffic(config)
            return tester.learn(config)
    return None


def _wait_for_links(
    client: DataPlaneClient, deployment: fabric.Deployment, topology: Topology, node: Node
) -> None:
    """Between weir-dp and a program's sockets. FabricError if one is not up within the program's time."""
    ports = [port for port in topology.ports if port.node == node.name and port.kind in PROGRAM_PEERS]
    peers = {next_hop(topology, port).name for port in ports if not topology.links[port.link].network}
    limit_s = node.program.ready_time_limit_s if node.program is not None else 0.0
    deadline = time.monotonic() + limit_s
    while down := [port.name for port in client.ledger().ports if port.name in peers and port.gone]:
        deployment.require_alive()
        if time.monotonic() > deadline:
            raise fabric.FabricError(
                f"the link of {down[0]} to {node.name} is not up in {limit_s:g} s: nobody is at the other end"
                " of its socket",
                f"see what it says: {deployment.run_dir}; or raise program.ready_time_limit_s",
            )
        stop_signals.check()
        time.sleep(_LOOK_S)


def _wait_for_packets(
    client: DataPlaneClient, deployment: fabric.Deployment, made: Plan, waiting: Sequence[Node]
) -> None:
    """One packet at a time, until there was one of each stream. FabricError where none comes in time."""
    limit_s = max(node.program.ready_time_limit_s for node in waiting if node.program is not None)
    config = next(iter(made.streams.values()))
    tester = DataPlaneTester(client)
    tester.announce(_ANNOUNCED)
    tester.configure_traffic(config)
    lacking = {stream.id: stream.port for stream in config.streams if stream.to is not None}
    rates_pps = {stream.id: _PACKET_PPS for stream in config.streams}
    deadline = time.monotonic() + limit_s
    while True:
        tester.learn(config)  # whom a program that translates lets through
        for stream in tester.run(rates_pps, 1 / _PACKET_PPS, _PACKET_S).streams:
            if stream.delivered:
                lacking.pop(stream.id, None)
        deployment.require_alive()
        if not lacking:
            return
        if time.monotonic() > deadline:
            through, sent_at = ", ".join(node.name for node in waiting), next(iter(lacking.values()))
            raise fabric.FabricError(
                f"no packet that was sent at {sent_at} came through {through} in {limit_s:g} s",
                f"see what it says: {deployment.run_dir}; or raise program.ready_time_limit_s",
            )
        stop_signals.check()


def counted_outside(client: DataPlaneClient, deployment: fabric.Deployment) -> Sequence[fabric.Counter]:
    """What switch and kernel count now, and what functions outside weir-dp lost."""
    ports = client.ledger().ports
    return deployment.counters(
        {port.name: port.rx_packets for port in ports}, {port.name: port.tx_packets for port in ports}
    )


def take_down_leftovers(say: Callable[[str], None]) -> None:
    """Takes all of it down, and says what. Within `stop_signals.held`."""
    for name in fabric.clean_leftovers():
        say(f"took down {name}, which a killed run had left")
