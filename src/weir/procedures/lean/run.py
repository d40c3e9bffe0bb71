# SPDX-License-Identifier: Apache-2.0
"""`weir lean` as a whole: launches of weir-lean in turn, and the result that their answers make."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weir import __version__, fabric
from weir.fabric import hugepages, lean_build
from weir.fabric import lean as process
from weir.fabric.built import built
from weir.plan.lean import LeanRequest
from weir.procedures.lean import numbers, regression, unlike
from weir.results.fingerprint import differences
from weir.results.lean import Comparison, LeanCost, LeanResult, LeanSamples, LeanState, LeanTraffic
from weir.results.result import Fingerprint

LAUNCHES = 8
COMPARED = 3  # times as many at most: a comparison ends sooner when nothing is open
BATCHES = 150  # a repeat: short, so that two programs in turn see the same machine
REPEATS = 60  # a launch
STEPPED_BATCHES = 8
MEMORY_MB = 1024
HARDWARE = "hardware"


@dataclass(frozen=True)
class Program:
    """A weir-lean."""

    name: str
    path: Path


def present_program() -> Program:
    """The one of this build. FabricError if there is none."""
    return Program("present", built("weir-lean"))


def earlier_program(revision: str) -> Program:
    """The one of an earlier revision, built unless it was before. FabricError if it cannot be."""
    sha = lean_build.commit(revision)
    return Program(f"{revision} ({sha[:12]})", lean_build.build_revision(sha))


@dataclass
class _Answers:
    """What one program answered."""

    ready: dict[str, Any] = field(default_factory=dict)
    launches: list[list[numbers.Timed]] = field(default_factory=list)
    first: list[numbers.Timed] = field(default_factory=list)
    """First packets, once a launch."""
    hardware: list[numbers.Counted] = field(default_factory=list)
    later_stepped: numbers.Stepped | None = None
    first_stepped: numbers.Stepped | None = None
    retires_most: float = 0
    uncounted: str = ""
    """Why no instructions were counted."""

    @property
    def timed(self) -> list[numbers.Timed]:
        return [one for launch in self.launches for one in launch]

    @property
    def samples(self) -> list[LeanSamples]:
        return numbers.samples(self.launches)

    @property
    def core_per_tsc(self) -> float:
        known = [one.core_per_tsc for one in self.timed if one.core_per_tsc]
        return statistics.median(known) if known else 1.0

    @property
    def later(self) -> LeanState:
        found = numbers.state(self.timed, self.later_stepped, self.hardware)
        if found is None:
            raise fabric.FabricError(
                "the host interrupted every batch: there are no cycles to tell",
                "measure again with fewer programs beside, or on another --cpu",
            )
        return found


@dataclass(frozen=True)
class LeanRun:
    """One chain to measure; `request` as weir-lean takes it."""

    chain: str
    request: LeanRequest
    cpu: int
    traffic: LeanTraffic
    frequency_hz: float | None = None
    """Of equation (6); None: what the core's own clock was."""
    cur: float = 1.0
    launches: int = LAUNCHES
    inject: str | None = None
    """Makes a stage of the present program slower: "nat=5"."""
    count: bool = True
    """Instructions too, one by one: takes seconds."""
    progress: Callable[[str], None] = lambda _: None

    def measure(self, program: Program) -> LeanResult:
        """The cost of the chain."""
        return self._result(self._found([(program, self.inject)], launches=self.launches)[0])

    def against_program(self, program: Program, baseline: Program) -> LeanResult:
        """The same, and whether it is slower than an earlier program; both run in turn."""
        present, earlier = self._found(
            [(program, self.inject), (baseline, None)], launches=COMPARED * self.launches, until=_decided
        )
        result = self._result(present)
        ratios = _instruction_ratios(_by_name(earlier), _by_name(present))
        verdicts = regression.verdicts(
            earlier.samples,
            result.samples,
            interleaved=True,
            core_per_tsc=present.core_per_tsc,
            instructions_ratios=ratios,
        )
        return _compared(result, Comparison(baseline=baseline.name, interleaved=True, verdicts=verdicts))

    def against_result(self, program: Program, baseline: LeanResult, name: str) -> LeanResult:
        """The same, and whether it is slower than a stored result was."""
        result = self.measure(program)
        if [one.name for one in baseline.later.stages] != [one.name for one in result.later.stages]:
            raise fabric.FabricError(f"{name} is of other stages", "compare equal chains")
        ratios = _instruction_ratios(
            *(
                {cost.name: cost.instructions_per_packet for cost in (one.later.chain, *one.later.stages)}
                for one in (baseline, result)
            )
        )
        verdicts = regression.verdicts(
            baseline.samples,
            result.samples,
            interleaved=False,
            core_per_tsc=result.core_per_tsc,
            instructions_ratios=ratios,
        )
        comparison = Comparison(
            baseline=name,
            interleaved=False,
            differences=[
                *unlike.measured(baseline, result),
                *differences(baseline.fingerprint, result.fingerprint),
            ],
            verdicts=verdicts,
        )
        return _compared(result, comparison)

    def _found(
        self,
        programs: Sequence[tuple[Program, str | None]],
        launches: int,
        until: Callable[[Sequence[_Answers]], bool] = lambda _: False,
    ) -> list[_Answers]:
        """What the programs answer, their repeats in turn; no more launches than `until` asks for."""
        found = [_Answers() for _ in programs]
        # The same memory for all launches, decided once: others take pages and give them back.
        huge = hugepages.free_mb() >= len(programs) * MEMORY_MB
        with process.request_file(self.request) as request:
            for (program, _), one in zip(programs, found, strict=True):
                self._count(program, request, one)
            for number in range(launches):
                self.progress(f"launch {number + 1} of {launches}")
                self._launch(programs, request, huge, found)
                if number + 1 >= regression.LAUNCHES_MIN and until(found):
                    break
        return found

    def _launch(
        self,
        programs: Sequence[tuple[Program, str | None]],
        request: Path,
        huge: bool,
        found: Sequence[_Answers],
    ) -> None:
        with contextlib.ExitStack() as stack:
            launched = []
            for (program, inject), one in zip(programs, found, strict=True):
                launch = process.LeanProcess(
                    program.path,
                    request,
                    self.cpu,
                    memory_mb=MEMORY_MB,
                    huge=huge,
                    inject=inject,
                    first_batches=one.first_stepped.batches if one.first_stepped else None,
                )
                launched.append(stack.enter_context(launch))
                one.launches.append([])
            for launch, one in zip(launched, found, strict=True):
                one.ready = launch.ready
                one.retires_most = max(one.retires_most, float(launch.ready.get("retires_most", 0)))
                if "first" in launch.ready:
                    one.first.append(numbers.Timed.model_validate(launch.ready["first"]))
            if any(launch.ready["stages"] != found[0].ready["stages"] for launch in launched):
                raise fabric.FabricError("the baseline has other stages", "compare equal chains")
            for index in _turns(len(programs), REPEATS):
                found[index].launches[-1].append(numbers.Timed.model_validate(launched[index].time(BATCHES)))
                if found[index].ready["counters"] == HARDWARE:
                    counted = numbers.Counted.model_validate(launched[index].count(BATCHES))
                    found[index].hardware += [] if counted.shared else [counted]

    def _count(self, program: Program, request: Path, found: _Answers) -> None:
        """Instructions of first packets and of later ones, without what is injected. None of an earlier
        revision that counted them otherwise."""
        if not self.count:
            found.uncounted = "not asked for"
            return
        self.progress(f"counting instructions one by one: {program.name}")
        try:
            with process.LeanProcess(
                program.path, request, self.cpu, memory_mb=MEMORY_MB, step=True
            ) as launch:
                if not launch.ready["steps"]:
                    found.uncounted = "this machine does not stop a program after each of them"
                    return
                if "first_stepped" in launch.ready:
                    found.first_stepped = numbers.Stepped.model_validate(launch.ready["first_stepped"])
                found.later_stepped = numbers.Stepped.model_validate(launch.step(STEPPED_BATCHES))
        except fabric.FabricError as error:
            found.uncounted = str(error)

    def _result(self, found: _Answers) -> LeanResult:
        ready = found.ready
        later = found.later
        first = numbers.state(found.first, found.first_stepped)
        for state in (later, first):
            if state is not None:
                numbers.refuse_impossible(state, found.retires_most)
        core_hz = float(ready["tsc_hz"]) * found.core_per_tsc
        left = {"frames": ready["frames"], "left_out": ready["left_out"]}
        return LeanResult(
            weir=__version__,
            chain=self.chain,
            options=unlike.options(self.request),
            fastpath=numbers.fastpath_use(found.timed),
            traffic=self.traffic.model_copy(update=left),
            cpu=self.cpu,
            batches=BATCHES,
            repeats=len(found.timed),
            interrupted_batches=sum(one.interrupted for one in found.timed),
            clock="hardware counter" if all(one.by_hardware for one in found.timed) else "timed additions",
            core_per_tsc=found.core_per_tsc,
            retires_most=found.retires_most,
            instructions_source="single-stepping" if found.later_stepped else None,
            later=later,
            first=first,
            prediction=numbers.predicted(later.chain, self.frequency_hz or core_hz, self.cur),
            notes=list(_notes(later.chain, found)),
            samples=found.samples,
            fingerprint=_fingerprint(ready),
        )


def _turns(programs: int, repeats: int) -> Iterator[int]:
    """A B, B A, A B …: whatever drifts, drifts for both."""
    for repeat in range(repeats):
        order = range(programs)
        yield from order if repeat % 2 == 0 else reversed(order)


def _decided(found: Sequence[_Answers]) -> bool:
    """No verdict of the first program against the second is open."""
    present, earlier = found
    verdicts = regression.verdicts(
        earlier.samples, present.samples, interleaved=True, core_per_tsc=present.core_per_tsc
    )
    return all(one.verdict != "none" for one in verdicts)


def _by_name(found: _Answers) -> dict[str, float | None]:
    stepped = found.later_stepped
    if stepped is None:
        return {}
    names = [numbers.CHAIN, *(stage.name for stage in found.timed[0].stages)]
    each = (stepped.instructions, *stepped.stages)
    return {name: one / stepped.packets for name, one in zip(names, each, strict=False)}


def _instruction_ratios(
    baseline: dict[str, float | None], present: dict[str, float | None]
) -> dict[str, float]:
    ratios = {}
    for name, after in present.items():
        before = baseline.get(name)
        if before and after:
            ratios[name] = after / before
    return ratios


def _compared(result: LeanResult, comparison: Comparison) -> LeanResult:
    slower = regression.regressions(comparison.verdicts, numbers.CHAIN)
    return result.model_copy(update={"comparison": comparison.model_copy(update={"regressions": slower})})


def _notes(total: LeanCost, found: _Answers) -> Iterator[str]:
    ready = found.ready
    if ready["counters"] != HARDWARE:
        yield (
            f"No hardware counters here ({ready['no_counters']}): the core's own clock is known by "
            "additions of which each waits for the one before, timed between the batches."
        )
    elif not found.hardware:
        yield "Other programs had the hardware counters meanwhile: there are no misses to tell."
    if found.later_stepped is None:
        yield f"No instruction counts: {found.uncounted}."
    if found.first_stepped is not None and found.first:
        measured = found.first[0].packets
        yield f"First packets: {measured} of them, the same ones timed in each launch and counted."
    elif not found.first:
        yield "First packets are not told: there are fewer flows than a batch has packets, 32."
    if ready["memory"] == "no-huge":
        yield "No hugepages: large tables cost more than they would with them."
    if ready["left_out"]:
        yield f"{ready['left_out']} frames of the file were left out: cut off when captured, or too long."
    if total.packets_out == 0:
        reasons = ", ".join(total.drops) or "no reason counted"
        yield f"No packet left the chain ({reasons}): look at the options of its functions."


def _fingerprint(ready: dict[str, Any]) -> Fingerprint:
    return fabric.fingerprint(ready["tsc_hz"], ready["memory"], {"dpdk": ready["dpdk"]})
