# SPDX-License-Identifier: Apache-2.0
"""The result of `weir lean`: what forwarding code costs, measured without a tester. Units are in the names.

Terms are those of [Lean], section II.D: CPP cycles per packet, IPP instructions per packet, IPC instructions
per cycle, eIPC the same without idle processing, CUR the share of a core's time that forwards. "Per packet"
is per packet that enters the chain, for stages too, so that stages add up.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from weir.base.record import Record, document_schema
from weir.results.document import LEAN_VERSION, MACHINE_VERSION, Document
from weir.results.fingerprint import Fingerprint
from weir.results.upgrades import renamed


class Spread(Record):
    """One value of many repeats."""

    median: float
    min: float
    max: float


class LeanCost(Record):
    """What the chain, or one stage of it, costs."""

    name: str
    """Of the stage: its function, numbered if it is there twice; `chain` for all of them together; `in no
    stage`, or `fast path`, for what of the chain is in none."""
    packets_in: int
    packets_out: int
    drops: dict[str, int] = {}
    """Packets by reason."""
    cycles_per_packet: Spread
    """CPP, of the core's own clock, over the repeats."""
    tsc_cycles_per_packet: Spread
    """The same of the time-stamp counter: time, whatever the core's clock is."""
    instructions_per_packet: float | None = None
    """IPP; absent where instructions cannot be counted."""
    ipc: float | None = None
    """Instructions per cycle of the core: IPP / CPP."""
    eipc: float | None = None
    """The same without idle processing. A lean measurement has no idle time, so it is the IPC."""
    l1d_misses_per_packet: float | None = None
    """Loads that missed the first level of cache; only with hardware counters."""
    llc_misses_per_packet: float | None = None
    """Accesses that missed the last level of cache; only with hardware counters."""


class LeanState(Record):
    """The chain with packets of one kind, in one state of its functions. Stages and `outside` add up to the
    chain, in cycles and in instructions."""

    chain: LeanCost
    stages: list[LeanCost]
    outside: LeanCost
    """What is in no stage: entering and leaving the chain; with the fast path also its look-ups, what its
    entries did, and remembering what the slow path decided."""


class FastPathUse(Record):
    """How packets fared with the fast path."""

    hits: int
    """Packets of known flows."""
    slow_packets: int
    """Packets that went through the stages: all that the stages' figures are about."""


class Prediction(Record):
    """Equation (6): pps = frequency x CUR / CPP."""

    frequency_hz: float
    """Cycles a second of the core that is predicted for."""
    cur: float
    """Share of its time that it forwards (CUR)."""
    pps: float


class LeanTraffic(Record):
    """What was sent."""

    pcap: str | None = None
    """Name of the capture file; absent: flows of Weir's generator."""
    flows: int | None = None
    frame: str | None = None
    """Frame size in bytes with FCS, or IMIX genome."""
    frames: int
    """Different frames in memory, sent in turn."""
    left_out: int = 0
    """Frames of the file that were cut off when captured, or are too long."""

    def text(self) -> str:
        """ "8,192 frames of 500 flows, frame 64"."""
        what = self.pcap if self.pcap is not None else f"{self.flows:,} flows, frame {self.frame}"
        return f"{self.frames:,} frames of {what}"


class LeanSamples(Record):
    """Cycles of the time-stamp counter per later packet, of every repeat, launch by launch."""

    name: str
    launches: list[list[float]]


class StageVerdict(Record):
    """The chain, or one stage of it, against the baseline."""

    name: str
    ratio: float
    """Cycles per packet, present to baseline: above 1 is slower. Median over the pairs of launches."""
    low: float
    high: float
    """95 % interval of the ratio."""
    verdict: Literal["slower", "faster", "same", "none", "neighbour"]
    """`none`: the noise exceeds the effect. `neighbour`: it moved with a stage next to it that changed by
    more, and by so little that the processor, which works on both at once, may have done it."""
    instructions_ratio: float | None = None
    """Instructions per packet, present to baseline: without noise."""
    sentence: str


class Comparison(Record):
    """Against an earlier revision, or a stored result."""

    baseline: str
    """Its revision or file."""
    interleaved: bool
    """Both ran in turn; a stored result cannot, and what changed on the machine shows too."""
    differences: list[str] = []
    """What else differs between the two: machine, versions."""
    verdicts: list[StageVerdict]
    regressions: list[str] = []
    """Stages that are slower, or `chain` if it is and no stage by itself."""


class LeanResult(Document):
    """One lean measurement."""

    VERSION: ClassVar[int] = LEAN_VERSION

    version: int = LEAN_VERSION
    """Version of this format."""
    weir: str
    """Version of Weir."""
    chain: str
    """As the command names it: a lab's name and chain, or the functions."""
    options: dict[str, dict[str, str]] = {}
    """Of each function, as it was told; none in results of older versions."""
    fastpath: FastPathUse | None = None
    traffic: LeanTraffic
    cpu: int
    """The CPU that measured."""
    batches: int
    """Batches of 32 packets a repeat."""
    repeats: int
    interrupted_batches: int
    """Batches that the host interrupted: left out of all cycles."""
    clock: Literal["hardware counter", "timed additions"]
    """By what the core's own clock is known: cycles of the time-stamp counter are times this ratio."""
    core_per_tsc: float
    """Cycles of the core for one of the time-stamp counter, while later packets were measured; median."""
    retires_most: float
    """Instructions a cycle that this core was seen to retire at most."""
    instructions_source: Literal["single-stepping"] | None = None
    later: LeanState
    """Packets of known flows, after 32 passes of all frames."""
    first: LeanState | None = None
    """The first packet of each flow, through functions that have seen none; absent with fewer than 32
    flows."""
    prediction: Prediction
    notes: list[str] = []
    """What to know when reading it."""
    samples: list[LeanSamples]
    """For comparisons to come."""
    comparison: Comparison | None = None
    fingerprint: Fingerprint

    @classmethod
    def upgrade(cls, document: dict[str, Any], version: int) -> None:
        """The fast path's packets in the slow path had another name up to version 2."""
        if version < 3:
            renamed(document.get("fastpath") or {}, "walks", "slow_packets")


class Latency(Record):
    """Cycles of one dependent load."""

    what: str
    size_bytes: int | None = None
    """Memory that the loads wander over."""
    cycles: Spread
    ns: float
    """The median."""


class MachineResult(Document):
    """What memory and other cores cost on this machine: Tables III and VI of [Lean]."""

    VERSION: ClassVar[int] = MACHINE_VERSION

    version: int = MACHINE_VERSION
    cpus: list[int]
    """Where it was measured: the CPU that loads, and the one whose lines it takes."""
    hugepages: bool
    """The memory lay in reserved pages of 2 MiB."""
    caches_bytes: dict[str, int]
    """Levels of cache as the kernel reports them."""
    latencies: list[Latency]
    notes: list[str] = []
    fingerprint: Fingerprint


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of what `weir lean --json` writes."""
    return document_schema(LeanResult, f"Weir lean result, version {LEAN_VERSION}")


def machine_schema() -> dict[str, Any]:
    """The same of `weir lean --machine --json`."""
    return document_schema(MachineResult, f"Weir lean machine, version {MACHINE_VERSION}")
