# SPDX-License-Identifier: Apache-2.0
"""Where the time of one trial went: areas with their paths and stages, and cores."""

from __future__ import annotations

from weir.base.record import Record


class StageLoad(Record):
    """One stage of a path in one trial."""

    nf: str
    packets_in: int
    cycles: int
    long_cycles: int = 0
    """Of these, in batches that took longer than a stall, the host's time included; 0: or not counted."""
    dropped: int
    """By its own decision, for whatever reason."""
    originated: int = 0
    """Packets that it made itself."""


class OffloadLoad(Record):
    """What of a path's packets was forwarded below weir-dp in one trial; its core saw none of them."""

    kind: str
    """Where: "xdp"."""
    packets: int
    """Of the path's packets_in; they cost time where the interface's packets are received."""
    l2_bytes: int
    """Of them, without FCS."""
    flows: int
    """Below at its end."""
    put: int
    """Flows that went down: as many packets came within a quarter of a second as the function's `offload`
    asks for."""
    revoked: int
    """Flows that came up again: something that they rest on changed, or they were silent."""
    refused: dict[str, int] = {}
    """Flows that stay in software, by reason."""


class PathLoad(Record):
    """One path of an area in one trial: packets from its inputs, through its stages, to its outputs."""

    name: str
    inputs: list[str]
    """Ports, or rings, that it empties."""
    outputs: list[str]
    """Ports, or rings, that it fills."""
    packets_in: int
    packets_out: int
    dropped: int
    """Found no room in an output; or, of offloaded packets, was refused by its interface."""
    fastpath_cycles: int = 0
    """Of what the fast path decided; slow packets' are the stages'."""
    offload: OffloadLoad | None = None
    """Only of a function with `offload`."""
    stages: list[StageLoad] = []
    """In their order."""


class PollingLoad(Record):
    """What a polling thread of Open vSwitch counted besides."""

    polls: int
    """Rounds over all its ports, with packets or without."""
    batches: int
    """Bursts that it sent."""
    upcalls: int
    """Packets that no flow in its tables fitted."""
    upcalls_lost: int
    waited_cycles: int = 0
    """In which others had its core; in none of its area's cycles."""


POLLS_RATIO = 0.9
"""A thread that runs for so much of its time under load also without, or at half of it, waits by polling."""


class AreaLoad(Record):
    """Time and packets of one execution area in one trial. Cycles are of the time-stamp counter."""

    name: str
    core: int
    kind: str
    """In weir-dp: chain, dispatcher, state_core, rewrite_worker, collector, generator or receiver.
    Outside of it: pmd, a polling thread of Open vSwitch; thread, another one of it; guest, one of a virtual
    machine or of what else was started for the chain; softirq, the kernel's receive path; syscalls, the rest
    of the kernel's work for these threads (only where stacks are sampled)."""
    busy_cycles: int
    """Of polls that handled a packet; of a thread or the kernel, the time that it ran."""
    idle_cycles: int
    """Of polls that found none, from before the trial until its last packets were waited for."""
    kernel_cycles: int = 0
    """Of busy_cycles, those in which the kernel's areas ran on this core, in its system calls: they are in
    the busy_cycles of those areas too. So a core's Σ busy - Σ kernel is what was done there."""
    long_polls: int = 0
    """With packets, longer than the lab's `stall_threshold_us`, and not because the host had the core."""
    long_cycles: int = 0
    paths: list[PathLoad] = []
    """None of the tester's areas, nor of threads that forward nothing."""
    polling: PollingLoad | None = None
    """Only of a pmd."""

    @property
    def own_cycles(self) -> int:
        """Busy, without the kernel's areas inside."""
        return self.busy_cycles - self.kernel_cycles

    @property
    def packets(self) -> int:
        """That came in by all paths; 0 of the tester's areas, which have none."""
        return sum(path.packets_in for path in self.paths)

    @property
    def offloaded(self) -> int:
        """Of those, forwarded below weir-dp."""
        return sum(path.offload.packets for path in self.paths if path.offload is not None)

    @property
    def handled(self) -> int:
        """Of those, by the area itself: what its cycles were spent on."""
        return self.packets - self.offloaded

    @property
    def dropped(self) -> int:
        """For want of room, or by a stage's decision."""
        return sum(path.dropped + sum(stage.dropped for stage in path.stages) for path in self.paths)


class CoreLoad(Record):
    """Time of one core, as the kernel counts it: by its clock ticks, unless it was built to do better.

    From before the trial until its last packets were waited for.
    """

    core: int
    window_s: float
    user_s: float
    system_s: float
    softirq_s: float
    """Receive and transmit work of the kernel; in a thread's system call or in ksoftirqd."""
    irq_s: float
    steal_s: float
    """The hypervisor had the core, as far as it tells."""
    idle_s: float
    frames: int
    """That the receive softirq took up there, of all interfaces of the machine."""
    dropped: int
    """Frames that found the core's backlog full."""
    squeezed: int
    """Times that the softirq stopped with frames left, since its time or budget was over."""
    accounted: float
    """Share of the window that some area was busy or polling in, or that was idle; the rest is programs
    that take no part, and what the host took without telling. Ticks are rough: it can be a little above 1."""


PIECES_MIN = 100
"""Of timed work in a trial; fewer say little."""


class CoreSpeed(Record):
    """Pieces of the same work that a polling core timed between its polls during the trial.

    The more cycles a piece took, the slower the core was: by another thread of its physical core, of which
    a virtual machine knows nothing, or by a lower clock.
    """

    core: int
    pieces: int
    cycles: int
    """Of the time-stamp counter, of all pieces."""
