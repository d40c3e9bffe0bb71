# SPDX-License-Identifier: Apache-2.0
"""Chains of an OpenStack cloud's servers, with the tester on this host at a network of the cloud's."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from weir import fabric, plan
from weir.base.cloud import OUTSIDE, CloudTester
from weir.base.error import FabricError
from weir.base.topology import Topology
from weir.fabric.cloud.system.session import Session
from weir.lab.performance import INSTANCES, Performance
from weir.lab.sut import OpenStackCloud, SutFile
from weir.measure.machine_state import MachineState
from weir.plan import PlanError
from weir.plan.attached import PORT, attached_steps, attached_topology
from weir.plan.cloud.topology import cloud_tester
from weir.results.result import Ceiling
from weir.verify.driver import ChainWanted, CloudError
from weir.verify.drivers.local_errors import building, own_cores
from weir.verify.drivers.tester_alone import TesterAlone

from . import chain_sentences
from .chain import Attach, OpenStackChain, Surroundings, attached
from .chain_building import ChainBuilding, StandingChain
from .chain_function import ReadFunction
from .chain_script import said_of
from .connection import Cloud, Deadline
from .journal import Journal
from .stack import OpenStackStack

_LACKED: Mapping[str, str] = {
    "ovs-conntrack": "a cloud filters in the way that its agents are configured for, and its API cannot ask "
    "for another",
}
_NO_TESTER = "`openstack.chains.interface` of the file does not say how the tester reaches the cloud"
_SSH_S = 30.0
"""For a log-in, once a server has said that it forwards: its counters are of use, and no condition."""
_TOKEN_DIGITS = 8
_CHAIN_NAMES = {instances: name for name, instances in INSTANCES.items()}


class OpenStackChains:
    """Of one run. `key`: whom servers let in; `attach`: how the tester comes to be."""

    def __init__(
        self, cloud: Callable[[], Cloud], sut: SutFile, key: Callable[[], Path], attach: Attach = attached
    ) -> None:
        assert sut.openstack is not None
        self._cloud = cloud
        self._options: OpenStackCloud = sut.openstack
        self._performance = sut.performance
        self._called = f"{sut.name[:20]}-verify"
        self._key = key
        self._attach = attach
        self._state = MachineState()
        self._alone = TesterAlone(self._state)

    def require_tester(self) -> None:
        """FabricError where this host cannot have one, or somebody else has its core; nothing, where the file
        asks for none."""
        if self._options.chains is None:
            return
        refusal = fabric.check("direct")
        if refusal is not None:
            raise FabricError(f"the tester cannot stand here: {refusal.missing}", refusal.fix)
        anyone = CloudTester(core=0, system_cores=(), senders=())
        steps = attached_steps(
            self._topology("PVP", "0" * _TOKEN_DIGITS, anyone), self._options.chains.interface
        )
        missing = [why for why in map(fabric.lacking, steps) if why is not None]
        if missing:
            raise FabricError(
                f"the tester cannot stand here: {'; '.join(missing)}", "see `openstack.chains.interface`"
            )
        with suppress(PlanError):  # cases say so
            tester = self._tester(self._performance)
            with own_cores(self._topology("PVP", "0" * _TOKEN_DIGITS, tester)):
                pass

    def cannot_build(self, wanted: ChainWanted) -> str | None:
        """What can be said before the cloud is asked for anything."""
        if self._options.chains is None:
            return _NO_TESTER
        for acceleration, why in _LACKED.items():
            if wanted.uses(acceleration):
                return f"OpenStack has no {acceleration} to be asked for: {why}"
        try:
            self._tester(wanted.performance)
        except PlanError as error:
            return str(error)
        return None

    def needs(self) -> Sequence[str]:
        """Of the cloud, the image and this host, in sentences."""
        chains = self._options.chains
        return () if chains is None else chain_sentences.needs(self._options, chains)

    def tester_alone(self, performance: Performance) -> Mapping[str, Ceiling]:
        """Measured once."""
        return self._alone.measured(self._called, self._tester(performance), performance)

    @contextmanager
    def chain(self, wanted: ChainWanted, made: Journal, deadline: Deadline) -> Iterator[OpenStackChain]:
        """Built in the cloud first, which takes longest; then the tester begins to poll. Its core is nobody
        else's meanwhile."""
        began_s = time.monotonic()
        chains, key = self._options.chains, self._key()
        assert chains is not None  # or the case is skipped
        tester, token = self._tester(wanted.performance), made.path.stem[-_TOKEN_DIGITS:]
        topology = self._topology(_CHAIN_NAMES[wanted.instances], token, tester)
        with own_cores(topology), ExitStack() as held:
            servers = ChainBuilding(self._cloud(), self._options, made, deadline)
            built = servers.chain(wanted, chains, topology.port(PORT).mac, key.with_suffix(".pub"))
            stack = OpenStackStack(built.standing, key, self._options.ssh_user, made.tag, deadline)
            for one in built.standing.servers if chains.image is None else ():
                _await_forwarding(stack, one, deadline)
            with building(lambda: 0.0), ExitStack() as begun:
                functions = self._functions(stack, built, made.tag, begun)
                around = Surroundings(chains, wanted.performance, topology, built, functions)
                on = begun.enter_context(self._attach(topology, chains.interface, self._state))
                standing = OpenStackChain(on, around)
                standing.begin(deadline)
                held.push(begun.pop_all())
            standing.bring_up_s = round(time.monotonic() - began_s, 3)
            yield standing

    def _tester(self, performance: Performance) -> CloudTester:
        """PlanError where this machine has no CPUs for it."""
        cores = performance.cores.model_copy(update={"system": None})
        return cloud_tester(cores, sorted(os.sched_getaffinity(0)), (OUTSIDE,))

    def _topology(self, chain: str, token: str, tester: CloudTester) -> Topology:
        return attached_topology(self._called, plan.deployment_id(self._called, token), chain, tester)

    def _functions(
        self, stack: OpenStackStack, built: StandingChain, marker: str, held: ExitStack
    ) -> list[ReadFunction]:
        """Those that let their counters be read."""
        found = []
        for name, server in built.standing.servers.items():
            try:
                stack.run(name, "true", _SSH_S)
            except CloudError:
                continue
            session = Session(
                server.floating, user=self._options.ssh_user, private_key=self._key(), marker=marker
            )
            held.callback(session.close)
            found.append(ReadFunction(name, built.macs[name], session))
        return found


def _await_forwarding(stack: OpenStackStack, name: str, deadline: Deadline) -> None:
    """CloudError with what its script said that went wrong, or with the end of its console."""
    console = ""

    def forwards() -> bool:
        nonlocal console
        console = stack.console(name)
        said = said_of(console)
        if said:
            raise CloudError(f"{name} does not forward: {said}")
        return said is not None

    def otherwise() -> str:
        last = " | ".join(console.strip().splitlines()[-3:])[-240:]
        return f"{name} has not said that it forwards (its console ends with {last!r})"

    deadline.until(forwards, otherwise)
