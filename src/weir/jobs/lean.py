# SPDX-License-Identifier: Apache-2.0
"""`weir lean` as a whole: launches of weir-lean in turn, and the result that their answers make."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weir import __version__, fabric
from weir.fabric import lean as process
from weir.fabric import lean_build
from weir.measure import lean as numbers
from weir.measure import regression
from weir.store.fingerprint import differences
from weir.store.lean import Comparison, LeanCost, LeanResult, LeanSamples, LeanTraffic, StageVerdict
from weir.store.result import Fingerprint

LAUNCHES = 8  # at most: a comparison ends sooner when nothing is open
BATCHES = 150  # a repeat: short, so that two programs in turn see the same machine
REPEATS = 60  # a launch
COUNTED_BATCHES = 256
MEMORY_MB = 1024
HARDWARE = "hardware"


@dataclass(frozen=True)
class Program:
    """A weir-lean; `counted` is the one that callgrind runs, of the same source."""

    name: str
    path: Path
    counted: Path


def present_program() -> Program:
    """The one of this build. FabricError if there is none."""
    path = process.lean_binary()
    return Program("present", path, process.counted_binary(path))


def earlier_program(revision: str) -> Program:
    """The one of an earlier revision, built unless it was before. FabricError if it cannot be."""
    sha = lean_build.commit(revision)
    path = lean_build.build_revision(sha)
    counted = lean_build.build_revision(sha, portable=True) if lean_build.needs_portable() else path
    return Program(f"{revision} ({sha[:12]})", path, counted)


@dataclass
class _Found:
    """What one program answered."""

    ready: dict[str, Any] = field(default_factory=dict)
    launches: list[list[numbers.Timed]] = field(default_factory=list)
    hardware: list[numbers.Counted] = field(default_factory=list)
    callgrind: numbers.Counted | None = None
    uncounted: str = ""
    """Why callgrind counted nothing."""

    @property
    def counted(self) -> list[numbers.Counted]:
        """The best there is: hardware counters, then callgrind."""
        return self.hardware or ([self.callgrind] if self.callgrind is not None else [])

    @property
    def timed(self) -> list[numbers.Timed]:
        return [one for launch in self.launches for one in launch]

    @property
    def samples(self) -> list[LeanSamples]:
        # An earlier revision's weir-lean does not tell the step: the other's holds for both.
        return numbers.samples(self.launches, float(self.ready.get("clock_step_cycles", 0)))


@dataclass(frozen=True)
class LeanRun:
    """One chain to measure; `request` as weir-lean takes it."""

    chain: str
    request: dict[str, Any]
    cpu: int
    traffic: LeanTraffic
    frequency_hz: float | None = None
    """Of equation (6); None: the rate of the time-stamp counter."""
    cur: float = 1.0
    launches: int = LAUNCHES
    inject: str | None = None
    """Makes a stage of the present program slower: "nat=5"."""
    count: bool = True
    """Instructions too, where nothing but callgrind can count them: takes seconds."""
    progress: Callable[[str], None] = lambda _: None

    def measure(self, program: Program) -> LeanResult:
        """The cost of the chain."""
        return self._result(self._found([(program, self.inject)])[0])

    def against_program(self, program: Program, baseline: Program) -> LeanResult:
        """The same, and whether it is slower than an earlier program; both run in turn."""
        present, earlier = self._found([(program, self.inject), (baseline, None)], until=_decided)
        result = self._result(present)
        ratios = _instruction_ratios(_by_name(earlier), _by_name(present))
        verdicts = _verdicts(earlier.samples, result.samples, interleaved=True, ratios=ratios)
        return _compared(result, Comparison(baseline=baseline.name, interleaved=True, verdicts=verdicts))

    def against_result(self, program: Program, baseline: LeanResult, name: str) -> LeanResult:
        """The same, and whether it is slower than a stored result was."""
        result = self.measure(program)
        if [one.name for one in baseline.stages] != [one.name for one in result.stages]:
            raise fabric.FabricError(f"{name} is of other stages", "compare equal chains")
        ratios = _instruction_ratios(
            *(
                {cost.name: cost.instructions_per_packet for cost in (one.total, *one.stages)}
                for one in (baseline, result)
            )
        )
        verdicts = _verdicts(baseline.samples, result.samples, interleaved=False, ratios=ratios)
        comparison = Comparison(
            baseline=name,
            interleaved=False,
            differences=[
                *_other_packets(baseline, result),
                *differences(baseline.fingerprint, result.fingerprint),
            ],
            verdicts=verdicts,
        )
        return _compared(result, comparison)

    def _found(
        self,
        programs: Sequence[tuple[Program, str | None]],
        until: Callable[[Sequence[_Found]], bool] = lambda _: False,
    ) -> list[_Found]:
        """What the programs answer, their repeats in turn; no more launches than `until` asks for."""
        found = [_Found() for _ in programs]
        # The same memory for all launches, decided once: others take pages and give them back.
        huge = process.free_hugepages_mb() >= len(programs) * MEMORY_MB
        with process.request_file(self.request) as request:
            for (program, _), one in zip(programs, found, strict=True):
                self._count(program, request, one)
            for number in range(self.launches):
                self.progress(f"launch {number + 1} of {self.launches}")
                self._launch(programs, request, huge, found)
                if number + 1 >= regression.LAUNCHES_MIN and until(found):
                    break
        return found

    def _launch(
        self,
        programs: Sequence[tuple[Program, str | None]],
        request: Path,
        huge: bool,
        found: Sequence[_Found],
    ) -> None:
        with contextlib.ExitStack() as stack:
            launched = []
            for (program, inject), one in zip(programs, found, strict=True):
                launch = process.LeanProcess(
                    program.path, request, self.cpu, memory_mb=MEMORY_MB, huge=huge, inject=inject
                )
                launched.append(stack.enter_context(launch))
                one.launches.append([])
            for launch, one in zip(launched, found, strict=True):
                one.ready = launch.ready
            if any(launch.ready["stages"] != found[0].ready["stages"] for launch in launched):
                raise fabric.FabricError("the baseline has other stages", "compare equal chains")
            for index in _turns(len(programs), REPEATS):
                found[index].launches[-1].append(numbers.Timed.model_validate(launched[index].time(BATCHES)))
                if found[index].ready["counters"] == HARDWARE:
                    counted = numbers.Counted.model_validate(launched[index].count(BATCHES))
                    found[index].hardware += [] if counted.shared else [counted]

    def _count(self, program: Program, request: Path, found: _Found) -> None:
        """Instructions by callgrind, without what is injected: that waits by the clock.

        Hardware counters, where there are some, come with the repeats.
        """
        missing = process.callgrind_missing()
        if missing is not None or not self.count:
            found.uncounted = missing or "not asked for"
            return
        self.progress(f"counting instructions with callgrind: {program.name}")
        try:
            answer = process.callgrind(
                program.counted,
                request,
                self.cpu,
                memory_mb=MEMORY_MB,
                batches=COUNTED_BATCHES,
            )
        except fabric.FabricError as error:
            found.uncounted = str(error)
            return
        found.callgrind = numbers.Counted.model_validate(answer)

    def _result(self, found: _Found) -> LeanResult:
        timed, ready = found.timed, found.ready
        total, stages = numbers.costs(timed, found.counted)
        by_hardware = bool(found.hardware)
        left = {"frames": ready["frames"], "left_out": ready["left_out"]}
        return LeanResult(
            weir=__version__,
            chain=self.chain,
            fastpath=numbers.fastpath_use(timed),
            traffic=self.traffic.model_copy(update=left),
            cpu=self.cpu,
            batches=BATCHES,
            repeats=len(timed),
            interrupted_batches=sum(one.interrupted for one in timed),
            cycles_source="hardware counter" if by_hardware else "time-stamp counter",
            instructions_source="hardware counter"
            if by_hardware
            else "callgrind"
            if found.callgrind
            else None,
            total=total,
            stages=stages,
            prediction=numbers.predicted(total, self.frequency_hz or float(ready["tsc_hz"]), self.cur),
            notes=list(_notes(total, found)),
            samples=found.samples,
            fingerprint=_fingerprint(ready),
        )


def _turns(programs: int, repeats: int) -> Iterator[int]:
    """A B, B A, A B …: whatever drifts, drifts for both."""
    for repeat in range(repeats):
        order = range(programs)
        yield from order if repeat % 2 == 0 else reversed(order)


def _verdicts(
    baseline: Sequence[LeanSamples],
    present: Sequence[LeanSamples],
    *,
    interleaved: bool,
    ratios: dict[str, float],
) -> list[StageVerdict]:
    """Of what both have measured."""
    before = {one.name: one for one in baseline}
    return [
        regression.verdict(
            before[new.name], new, interleaved=interleaved, instructions_ratio=ratios.get(new.name)
        )
        for new in present
        if new.name in before
    ]


def _decided(found: Sequence[_Found]) -> bool:
    """No verdict of the first program against the second is open."""
    present, earlier = (one.samples for one in found)
    verdicts = _verdicts(earlier, present, interleaved=True, ratios={})
    return all(one.verdict != "none" for one in verdicts)


def _by_name(found: _Found) -> dict[str, float | None]:
    total, stages = numbers.costs(found.timed, found.counted)
    return {cost.name: cost.instructions_per_packet for cost in (total, *stages)}


def _instruction_ratios(
    baseline: dict[str, float | None], present: dict[str, float | None]
) -> dict[str, float]:
    ratios = {}
    for name, after in present.items():
        before = baseline.get(name)
        if before and after:
            ratios[name] = after / before
    return ratios


def _other_packets(one: LeanResult, other: LeanResult) -> list[str]:
    same = one.traffic == other.traffic
    return (
        []
        if same
        else ["The packets differ: " + " and ".join(str(result.traffic) for result in (one, other)) + "."]
    )


def _compared(result: LeanResult, comparison: Comparison) -> LeanResult:
    slower = regression.regressions(comparison.verdicts, numbers.CHAIN)
    return result.model_copy(update={"comparison": comparison.model_copy(update={"regressions": slower})})


def _notes(total: LeanCost, found: _Found) -> Iterator[str]:
    ready = found.ready
    if not found.hardware:
        yield (
            f"No hardware counters here ({ready['no_counters'] or 'shared with other programs'}): cycles are "
            f"those of the time-stamp counter, {ready['tsc_hz'] / 1e9:.2f} GHz, not the core's own clock."
        )
    if not found.counted:
        yield f"No instruction counts: {found.uncounted}."
    elif not found.hardware:
        yield "Instructions are callgrind's, in user space, over the same code: the same number each time."
    if ready["memory"] == "no-huge":
        yield "No hugepages: large tables cost more than they would with them."
    if ready["left_out"]:
        yield f"{ready['left_out']} frames of the file were left out: cut off when captured, or too long."
    if total.packets_out == 0:
        reasons = ", ".join(total.drops) or "no reason counted"
        yield f"No packet left the chain ({reasons}): look at the options of its functions."


def _fingerprint(ready: dict[str, Any]) -> Fingerprint:
    return fabric.fingerprint(ready["tsc_hz"], ready["memory"], {"dpdk": ready["dpdk"]})
