# SPDX-License-Identifier: Apache-2.0
"""What the cores of a measured cloud did outside weir-dp in a trial: each node's switch, and the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from weir.base.cloud import CloudNode, CloudTopology
from weir.fabric.cloud.switch import userspace
from weir.fabric.outside.loads import MAIN_ROLE, core_loads, softirq_areas, spent_s, thread_area
from weir.fabric.outside.reading import Reading, read
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
        self._was = self._read(asks_first=True)

    def end(self, tsc_hz: float) -> tuple[list[AreaLoad], list[CoreLoad]]:
        """After it: areas outside weir-dp, and all cores that take part. Cycles are of that counter."""
        assert self._was is not None
        (was, before), (now, after) = self._was, self._read(asks_first=False)
        cores = core_loads(was, now, frozenset(self._topology.working_cores()))
        switched = {
            node: SwitchPorts(found.places, found.packets - before[node].packets)
            for node, found in after.items()
        }
        switches = switch_areas(was, now, switched, tsc_hz, in_kernel=not userspace())
        return [*switches, *softirq_areas(cores, tsc_hz, None)], cores

    def _read(self, *, asks_first: bool) -> tuple[Reading, dict[str, SwitchPorts]]:
        found = {node.name: self._ports(node) for node in self._topology.nodes}
        switches = {name: [pid] for name, pid in self._switches.items()}
        return read(None, switches, asks_first=asks_first), found


def switch_areas(
    was: Reading, now: Reading, switched: Mapping[str, SwitchPorts], hz: float, *, in_kernel: bool
) -> Iterator[AreaLoad]:
    """Threads of the nodes' switches, those of one role on one core together: "compute1:ovs-vswitchd.main".
    That one forwards, where no thread polls and the datapath is not `in_kernel`."""
    for node, role, core, cpu_s in spent_s(was, now):
        area = thread_area(f"{node}:{VSWITCHD}.{role}", core, "thread", cpu_s * hz)
        ports = switched[node]
        if role == MAIN_ROLE and ports.packets and not in_kernel:
            path = PathLoad(
                name="switch",
                inputs=list(ports.places),
                outputs=[],
                packets_in=ports.packets,
                packets_out=ports.packets,
                dropped=0,
            )
            area.paths = [path]
        yield area
