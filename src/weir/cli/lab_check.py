# SPDX-License-Identifier: Apache-2.0
"""What of a lab only shows when it is planned, or when its functions are made: said before anything is
built, where the lab says it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from weir.base.error import ChainError, FabricError
from weir.fabric.built import built
from weir.fabric.capture_file import capture_sent
from weir.fabric.function.counterparts import require_set_up
from weir.fabric.lean import LeanProcess, LeanRefusalError, request_file
from weir.lab.function import FunctionOptions, NfOptions
from weir.lab.load import LAB_FILE
from weir.lab.nf import network_functions
from weir.lab.problem import Problem
from weir.lab.source import KeyPath, Source, read_source
from weir.lab.traffic import Flows, Traffic
from weir.lab.ways import Way
from weir.plan import Plan
from weir.plan.lean import chain_of_functions, lean_request
from weir.procedures.driver import planned

MEMORY_MB = 2048
"""Of weir-lean, at most: pages that it does not touch are none."""
STAGES_MAX = 16
"""In one path of weir-dp's."""
_TEXTS = ("text", "file", "prefix", "prefix6")
"""Options of which only the function itself knows what it takes."""
_NO_MEMORY = "no_memory"
_STAGE = re.compile(r"areas\[0\]\.paths\[0\]\.stages\[(\d+)\](.*)")
_KEY = re.compile(r"[^.\[\]]+")
_Named = tuple[str, FunctionOptions]


def unfit(lab_path: Path, compared: Sequence[Way], cpu: int) -> Iterator[Problem]:
    """What `weir run` would refuse of a well-formed lab, in each way that this machine has CPUs for."""
    source = read_source(lab_path / LAB_FILE if lab_path.is_dir() else lab_path)
    here = [way for way in compared if way.refused is None]
    yield from _unread(source, compared)
    yield from _unplanned(source, here)
    yield from _unmade(source, here, cpu)


def _unread(source: Source, compared: Iterable[Way]) -> Iterator[Problem]:
    """Captures that weir-dp cannot read, or of which nothing passes the filter."""
    traffics = [way.lab.traffic for way in compared]
    traffic = next((one for one in traffics if one.capture is not None), None)  # no way changes it
    if traffic is None or traffic.capture is None:
        return
    capture, recorded = traffic.capture, any(one.pacing == "recorded" for one in traffics)
    try:
        program = built("weir-dp")
    except FabricError:  # where only labs are checked
        return
    timed: KeyPath = ("traffic", "pacing") if capture.rate is None else ("traffic", "capture", "rate")
    for side, file in capture.files().items():
        try:
            known = capture_sent(program, side, file, stamped=capture.stamp)
        except FabricError as error:
            place = source.place(("traffic", "capture", side))
            yield Problem(source.file, place.line, place.column, f"traffic.capture.{side}", str(error))
            continue
        if recorded and not known.own_pps:
            place = source.place(timed)
            yield Problem(
                source.file, place.line, place.column, ".".join(map(str, timed)),
                f"{file.file} has no time between its frames, so it has no rate of its own",
                "a capture of two frames or more, at times that go up; or no `rate` and no such `pacing`",
            )  # fmt: skip


def _unplanned(source: Source, compared: Iterable[Way]) -> Iterator[Problem]:
    """What cannot be planned, or not be set up from its options by those that are not weir-dp."""
    found: dict[str, list[str]] = {}
    for way in compared:
        for chain in way.lab.chains():
            try:
                for host in way.lab.hosts.names() if way.lab.hosts is not None else (None,):
                    made = Plan.of(planned(way.lab, way.technology, chain, host), way.lab)
                    for step in made.steps:
                        require_set_up(step)
            except ChainError as error:
                found.setdefault(str(error), []).append(f"{chain.name} under {way.name}")
    place = source.place(("chain",))
    for message, cases in found.items():
        yield Problem(source.file, place.line, place.column, place.key, f"{', '.join(cases)}: {message}")


def _unmade(source: Source, compared: Iterable[Way], cpu: int) -> Iterator[Problem]:
    """weir-lean makes the functions once, as any user and without hugepages, and sends them a packet."""
    try:
        program = built("weir-lean")
    except FabricError:  # where only labs are checked
        return
    waiting = list(_fitting(_distinct(compared)))
    while waiting:
        together = waiting.pop(0)
        refusal = _refusal(program, together, cpu) if together else None
        if refusal is None:
            continue
        stage = _STAGE.search(refusal.where)
        if stage is not None and refusal.code != _NO_MEMORY:
            at, key = _written(together, int(stage[1]))
            key += stage[2]
            place = source.place(_path(key))
            yield Problem(source.file, place.line, place.column, key, refusal.what)
            waiting.append([*together[:at], *together[at + 1 :]])
        elif len(together) > 1:  # too much memory for all: a run has as much as its plan says
            waiting += [[one] for one in together]


def _distinct(compared: Iterable[Way]) -> Iterator[_Named]:
    """Functions that chains name and that have such options, once where ways do not change them."""
    asked: set[str] = set()
    for way in compared:
        for name in dict.fromkeys(one for chain in way.lab.chains() for one in chain.functions):
            function = way.lab.functions[name]
            known = json.dumps([name, *(one.model_dump(mode="json") for one in function.nfs())])
            if known not in asked and any(map(_has_texts, function.nfs())):
                asked.add(known)
                yield name, function


def _has_texts(one: NfOptions) -> bool:
    return any(option.type in _TEXTS for option in network_functions()[one.nf].options)


def _fitting(functions: Iterable[_Named]) -> Iterator[list[_Named]]:
    """As many together as a path takes: each launch is half a second."""
    together: list[_Named] = []
    for one in functions:
        if sum(len(function.nfs()) for _, function in (*together, one)) > STAGES_MAX:
            yield together
            together = []
        together.append(one)
    yield together


def _written(functions: Sequence[_Named], stage: int) -> tuple[int, str]:
    """Which of them has that stage of all, and where a lab says it."""
    for at, (name, function) in enumerate(functions):
        if stage < len(function.nfs()):
            return at, function.written(stage, name)
        stage -= len(function.nfs())
    raise AssertionError(stage)


def _refusal(program: Path, functions: Sequence[_Named], cpu: int) -> LeanRefusalError | None:
    chain = chain_of_functions([function for _, function in functions])
    request = lean_request(chain, cpu, traffic=Traffic(flows=Flows(count=1)), frame="64")
    with request_file(request) as file:
        try:
            with LeanProcess(program, file, cpu, memory_mb=MEMORY_MB, first_batches=1) as launch:
                _ = launch.ready
        except LeanRefusalError as error:
            return error
        except FabricError:  # it cannot start here: a run says why
            return None
    return None


def _path(key: str) -> KeyPath:
    return tuple(int(part) if part.isdigit() else part for part in _KEY.findall(key))
