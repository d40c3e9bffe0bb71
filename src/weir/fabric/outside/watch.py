# SPDX-License-Identifier: Apache-2.0
"""What happens outside weir-dp while a trial runs, for whoever measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from weir.base.node import KERNEL_PORT_KINDS
from weir.base.topology import Topology
from weir.fabric.openvswitch import kernel_forwards
from weir.fabric.outside.loads import core_loads, pmd_areas, softirq_areas, syscall_areas, thread_areas
from weir.fabric.outside.perf import Perf, require_perf
from weir.fabric.outside.reading import Reading, read, threads_of
from weir.fabric.outside.stacks import Sampled, sampled
from weir.fabric.site import Site
from weir.results.result import AreaLoad, CoreLoad
from weir.technology import TECHNOLOGIES

if TYPE_CHECKING:
    from weir.base.cloud import CloudTopology

_POLLED = "weir-dp"
"""Its polling threads are areas of the ledger already."""


def taking_part(topology: Topology | CloudTopology) -> frozenset[int]:
    """All cores on which something of it works."""
    return frozenset(topology.working_cores())


class Watch:
    """Looks before and after a trial. With `sample`, stacks are sampled in between, which costs some time.

    `processes`: pids by name, as they are now. `require_alive` raises FabricError if a process has ended,
    which tells more than that it does not answer.
    """

    def __init__(
        self,
        topology: Topology,
        site: Site,
        processes: Callable[[], Mapping[str, Sequence[int]]],
        require_alive: Callable[[], None],
        *,
        sample: bool,
    ) -> None:
        self._topology, self._site = topology, site
        self._require_alive = require_alive
        self._processes = processes
        self._sample = sample
        self._polled = (
            TECHNOLOGIES[topology.technology].own_core
            and any(link.network for link in topology.links)
            and not kernel_forwards(site, topology)
        )
        self._kernel = any(port.kind in KERNEL_PORT_KINDS for port in topology.ports)
        if sample and self._kernel:
            require_perf()
        self._was: Reading | None = None
        self._perf: Perf | None = None

    def begin(self) -> None:
        """Before the trial."""
        if self._perf is not None:
            self._perf.close()  # of a trial that did not come to its end
        if self._sample and self._kernel:
            self._perf = Perf(self._site.directory, f"{self._site.deployment}/{_POLLED}")
        self._was = self._read(asks_first=True)
        if self._perf is not None:
            self._perf.begin()

    def end(self, tsc_hz: float) -> tuple[list[AreaLoad], list[CoreLoad]]:
        """After it: areas outside weir-dp, and all cores that take part. Cycles are of that counter."""
        assert self._was is not None
        if self._perf is not None:
            self._perf.pause()
        was, now = self._was, self._read(asks_first=False)
        stacks = self._stacks()
        cores = core_loads(was, now, taking_part(self._topology))
        areas = [
            *pmd_areas(was, now, self._topology, tsc_hz),
            *thread_areas(was, now, self._topology, tsc_hz),
        ]
        if self._kernel:
            areas += softirq_areas(cores, tsc_hz, stacks)
            areas += syscall_areas(cores, tsc_hz, stacks or {})
        return areas, cores

    def _read(self, *, asks_first: bool) -> Reading:
        self._require_alive()
        others = {name: pids for name, pids in self._processes().items() if name != _POLLED}
        return read(self._site if self._polled else None, others, asks_first=asks_first)

    def _stacks(self) -> dict[int, Sampled] | None:
        if self._perf is None:
            return None
        ours = threads_of(pid for each in self._processes().values() for pid in each)
        perf, self._perf = self._perf, None  # ended, whatever it says
        script = perf.end()
        return sampled(script, ours)
