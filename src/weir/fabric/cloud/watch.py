# SPDX-License-Identifier: Apache-2.0
"""What the cores of a measured cloud did outside weir-dp in a trial: each node's switch, and the kernel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from weir.base.cloud import CloudNode, CloudTopology
from weir.fabric.outside.loads import THREAD_SHARE_MIN, core_loads, role_of, softirq_areas
from weir.fabric.outside.reading import Reading, Thread, read_times
from weir.results.result import AreaLoad, CoreLoad, PathLoad

VSWITCHD = "ovs-vswitchd"


@dataclass(frozen=True)
class SwitchPorts:
    """What a node's switch receives at: places as counters name them, and packets that have come there."""

    places: tuple[str, ...]
    packets: int


class CloudWatch:
    """Looks before and after a trial. `switches`: pids of the nodes' switches. `ports`: of one node, now."""

    def __init__(
        self,
        topology: CloudTopology,
        switches: Mapping[str, int],
        ports: Callable[[CloudNode], SwitchPorts],
    ) -> None:
        self._topology = topology
        self._switches = switches
        self._ports = ports
        self._was: tuple[Reading, dict[str, SwitchPorts]] | None = None

    def begin(self) -> None:
        """Before the trial."""
        self._was = self._read()

    def end(self, tsc_hz: float) -> tuple[list[AreaLoad], list[CoreLoad]]:
        """After it: areas outside weir-dp, and all cores that take part. Cycles are of that counter."""
        assert self._was is not None
        (was, before), (now, after) = self._was, self._read()
        cores = core_loads(was, now, frozenset(self._topology.working_cores()))
        switched = {
            node: SwitchPorts(found.places, found.packets - before[node].packets)
            for node, found in after.items()
        }
        return [*switch_areas(was, now, switched, tsc_hz), *softirq_areas(cores, tsc_hz, None)], cores

    def _read(self) -> tuple[Reading, dict[str, SwitchPorts]]:
        found = {node.name: self._ports(node) for node in self._topology.nodes}
        return read_times({name: [pid] for name, pid in self._switches.items()}), found


def switch_areas(
    was: Reading, now: Reading, switched: Mapping[str, SwitchPorts], hz: float
) -> Iterator[AreaLoad]:
    """Threads of the nodes' switches, those of one role on one core together: "compute1:ovs-vswitchd.main".
    That one forwards, where the datapath is in user space and no thread polls."""
    least_s = THREAD_SHARE_MIN * (now.at_s - was.at_s)
    for node, present in now.threads.items():
        earlier = {thread.tid: thread.cpu_s for thread in was.threads.get(node, [])}
        for (role, core), cpu_s in _spent_s(present, earlier).items():
            if cpu_s < least_s:
                continue
            area = AreaLoad(
                name=f"{node}:{VSWITCHD}.{role}",
                core=core,
                kind="thread",
                busy_cycles=round(cpu_s * hz),
                idle_cycles=0,
            )
            ports = switched[node]
            if role == "main" and ports.packets:
                area.paths = [
                    PathLoad(
                        name="switch",
                        inputs=list(ports.places),
                        outputs=[],
                        packets_in=ports.packets,
                        packets_out=ports.packets,
                        dropped=0,
                    )
                ]
            yield area


def _spent_s(present: Sequence[Thread], earlier: Mapping[int, float]) -> dict[tuple[str, int], float]:
    spent_s: dict[tuple[str, int], float] = defaultdict(float)
    for thread in present:
        spent_s[role_of(thread, present), thread.core] += thread.cpu_s - earlier.get(thread.tid, 0.0)
    return spent_s
