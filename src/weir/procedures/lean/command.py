# SPDX-License-Identifier: Apache-2.0
"""`weir lean`: what forwarding code costs, without a tester, a network card or a switch."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import USAGE, CommandError, failed
from weir.cli.labfile import TechnologyName, Wait, chosen_chain, here, machine_cpus, own_cpus, require_packets
from weir.procedures.lean.baseline_command import before, check_injected
from weir.procedures.lean.outside_command import OUTSIDE_LOAD, Asked, measure_outside, say

if TYPE_CHECKING:
    from weir.lab import Lab
    from weir.lab.traffic import Traffic
    from weir.plan.lean import LeanChain
    from weir.procedures.lean.run import LeanRun, Program
    from weir.results.lean import LeanResult

FLOWS = 1000
CPU_MOST = 4095
"""As weir-dp numbers them."""
RATE_MOST_PPS = 1e12


def lean(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="LAB|CHAIN",
            help="A lab file, or functions joined by commas: nat,l3fwd. Options follow colons: "
            "nat:external=203.0.113.0/24:sessions=1000.",
        ),
    ] = None,
    *,
    chain: Annotated[str | None, typer.Option("--chain", "-c", help="Of a lab; absent: its first.")] = None,
    variant: Annotated[
        str | None,
        typer.Option("--variant", help="One of the lab's variants; absent: the lab without any."),
    ] = None,
    pcap: Annotated[
        Path | None,
        typer.Option("--pcap", metavar="FILE", help="Packets of a capture file, instead of flows."),
    ] = None,
    flows: Annotated[
        int | None,
        typer.Option("--flows", min=1, max=1_000_000, help="Five-tuples; absent: the lab's, or 1000."),
    ] = None,
    frame: Annotated[
        str | None,
        typer.Option(
            "--frame", help="Bytes with FCS, IMIX, jumbo, or imix:GENOME; absent: the lab's first, or 64."
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="REV|FILE",
            help="Compare with a git revision, built and run in turn, or with a file of --json. Exit code 1 "
            "if a stage is slower.",
        ),
    ] = None,
    cpu_ghz: Annotated[
        float | None,
        typer.Option(
            "--cpu-ghz", min=0.1, max=10, help="Predict for that clock; absent: the core's as measured."
        ),
    ] = None,
    cur: Annotated[
        float, typer.Option("--cur", min=0.01, max=1, help="Predict for that share of the core's time.")
    ] = 1.0,
    cpu: Annotated[
        int | None, typer.Option("--cpu", min=0, max=CPU_MOST, help="CPU that measures; absent: the last.")
    ] = None,
    launches: Annotated[
        int,
        typer.Option(
            "--launches", min=5, max=100, help="Processes; with --baseline up to three times as many."
        ),
    ] = 8,
    inject: Annotated[
        str | None,
        typer.Option("--inject", metavar="STAGE=PERCENT", help="Make a stage slower, to try the detector."),
    ] = None,
    fastpath: Annotated[
        bool,
        typer.Option("--fastpath", help="With the fast path, of functions named here; a lab says it itself."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    wait: Wait = False,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help=f"Load of functions outside weir-dp, both directions; absent: {OUTSIDE_LOAD}.",
        ),
    ] = None,
    technology: TechnologyName = None,
    machine: Annotated[
        bool, typer.Option("--machine", help="Measure caches, memory and lines of another core instead.")
    ] = False,
    speedup: Annotated[
        Path | None,
        typer.Option(
            "--speedup", metavar="FILE", help="Fit the speed-up model to a CSV of cores,pps instead."
        ),
    ] = None,
    reference_pps: Annotated[
        float | None,
        typer.Option(
            "--reference-pps",
            min=1,
            max=RATE_MOST_PPS,
            help="With --speedup: one core without parallel overhead, as predicted.",
        ),
    ] = None,
) -> None:
    """Measure what a chain costs, without a tester. Cycles and instructions of each stage, and the rate.

    Needs no root, no tester, no network card and no switch. Of a lab's functions outside weir-dp (Linux,
    programs, containers, virtual machines) it measures the CPU time a packet, with all of these.
    """
    given = [target is not None, machine, speedup is not None]
    if sum(given) != 1:
        raise CommandError("expected one of: a lab or chain, --machine, --speedup FILE", USAGE)
    if machine:
        _machine(as_json)
    elif speedup is not None:
        _speedup(speedup, reference_pps, as_json)
    else:
        assert target is not None
        lab = _lab(target, variant)
        outside = None if lab is None else _outside_lab(lab, chain)
        if outside is not None:
            given_here = {"pcap": pcap, "flows": flows, "baseline": baseline, "cpu-ghz": cpu_ghz}
            given_here |= {"cpu": cpu, "inject": inject, "fastpath": fastpath or None}
            asked = Asked(chain, frame, rate, technology)
            measure_outside(outside, asked, launches, given_here, as_json=as_json, wait=wait)
            return
        _of_outside_alone({"rate": rate, "technology": technology})
        known, traffic = _chain(target, lab, chain, fastpath)
        if pcap is None and flows is None and frame is None:
            pcap = _captured(traffic)
        check_injected(inject, known)
        run = _run(known, _sent(traffic, pcap, flows, frame), cpu=cpu, pcap=pcap)
        earlier = None if baseline is None else before(baseline)
        with _own_cpu(run.cpu, wait=wait), _about_capture(pcap):
            _measure(_with(run, cpu_ghz, cur, launches, inject), earlier, baseline or "", as_json)


@contextmanager
def _about_capture(pcap: Path | None) -> Iterator[None]:
    """What weir-lean refuses of the file is said with its name, as a wrong argument."""
    from weir.fabric.lean import LeanRefusalError

    try:
        yield
    except LeanRefusalError as error:
        if not error.of_capture or pcap is None:
            raise
        named = "" if str(pcap) in error.what else f"{pcap}: "
        fix = f"; {error.fix}" if error.fix else ""
        raise CommandError(f"{named}{error.what}{fix}", USAGE) from error


def _lab(target: str, variant: str | None) -> Lab | None:
    """With that variant laid over it; None of functions that are named."""
    from weir.lab import load_lab

    if not Path(target).exists():
        if variant is not None:
            raise CommandError(f"--variant {variant}: of a lab, and there is none at {target}", USAGE)
        return None
    if variant is not None:
        return here(Path(target), quick=False, variant=variant)
    return load_lab(Path(target), cpus=machine_cpus())


def _outside_lab(lab: Lab, chain: str | None) -> Lab | None:
    """It, if it has functions outside weir-dp in that chain."""
    functions = [lab.functions[name] for name in chosen_chain(lab, chain).functions]
    return lab if any(one.kind != "process" for one in functions) else None


def _of_outside_alone(given: dict[str, object]) -> None:
    named = [f"--{name}" for name, value in given.items() if value is not None]
    if named:
        raise CommandError(
            f"{', '.join(named)}: of functions outside weir-dp, and this chain has none: what it costs is "
            "measured without a load",
            USAGE,
        )


def _own_cpu(cpu: int, *, wait: bool) -> AbstractContextManager[None]:
    """That CPU alone. An ordinary user, who may lock none, is told if somebody has it."""
    from weir import fabric

    if fabric.may_claim():
        return own_cpus([cpu], wait=wait)
    if fabric.somebody_has(cpu):
        whose = f"weir: a weir of another user has core {cpu}, or was killed there"
        print(f"{whose}: what is measured may be too slow; choose another --cpu", file=sys.stderr)
    return nullcontext()


def _with(run: LeanRun, cpu_ghz: float | None, cur: float, launches: int, inject: str | None) -> LeanRun:
    from dataclasses import replace

    frequency_hz = None if cpu_ghz is None else cpu_ghz * 1e9
    return replace(run, frequency_hz=frequency_hz, cur=cur, launches=launches, inject=inject)


def _measure(run: LeanRun, earlier: LeanResult | Program | None, baseline: str, as_json: bool) -> None:
    """`baseline`: what the user calls `earlier`."""
    from weir.procedures.lean import text
    from weir.procedures.lean.numbers import ImpossibleError
    from weir.procedures.lean.run import Program, present_program

    program = present_program()
    try:
        if earlier is None:
            result = run.measure(program)
        elif isinstance(earlier, Program):
            result = run.against_program(program, earlier)
        else:
            result = run.against_result(program, earlier, baseline)
    except ImpossibleError:
        say("")
        raise
    say("")
    print(
        result.model_dump_json(indent=2) if as_json else text.render(result),
        end="\n" if as_json else "",
    )
    if result.comparison is not None and result.comparison.regressions:
        failed(f"slower than the baseline: {', '.join(result.comparison.regressions)}")


def _chain(target: str, lab: Lab | None, name: str | None, fastpath: bool) -> tuple[LeanChain, Traffic]:
    """The chain, and the traffic of its lab, or the usual one."""
    from weir.lab.traffic import Flows, Traffic
    from weir.plan.lean import chain_of_lab, chain_of_text

    if lab is not None:
        require_packets(lab, "weir lean")
        return chain_of_lab(lab, chosen_chain(lab, name)), lab.traffic
    return chain_of_text(target, fastpath=fastpath), Traffic(flows=Flows(count=FLOWS))


def _captured(traffic: Traffic) -> Path | None:
    """The capture that the lab sends from the left, before frames of a size; None: it sends none."""
    from weir.lab.frames import CAPTURE

    sent = None if traffic.capture is None else traffic.capture.left
    if sent is None or traffic.frames[0] != CAPTURE:
        return None
    if sent.filter or sent.addresses:
        raise CommandError(
            "weir lean takes a capture as it is, and the lab's has a filter or other addresses: "
            "write a file of just those frames, and give it with --pcap",
            USAGE,
        )
    return Path(sent.file)


def _sent(traffic: Traffic, pcap: Path | None, flows: int | None, frame: str | None) -> Traffic:
    """The traffic with what the command line says of it."""
    from pydantic import ValidationError

    from weir.lab.files import no_file
    from weir.lab.traffic import Traffic

    if pcap is not None and (flows is not None or frame is not None):
        raise CommandError("--pcap brings its own packets: it takes no --flows and no --frame", USAGE)
    why = no_file(pcap) if pcap is not None else None
    if why is not None:
        raise CommandError(why, USAGE)
    said = traffic.model_dump()
    if flows is not None:
        said["flows"]["count"] = flows
    if frame is not None:
        said["frames"] = (frame,)
    try:
        return Traffic.model_validate(said)
    except ValidationError as error:
        raise CommandError(
            f"--frame {error.errors()[0]['msg'].removeprefix('Value error, ')}", USAGE
        ) from None


def _run(known: LeanChain, traffic: Traffic, *, cpu: int | None, pcap: Path | None) -> LeanRun:
    from weir.plan.lean import lean_request
    from weir.procedures.lean.run import LeanRun
    from weir.results.lean import LeanTraffic

    cpus = machine_cpus()
    if cpu is not None and cpu not in cpus:
        allowed = ", ".join(map(str, sorted(cpus)))
        raise CommandError(f"this process may not use CPU {cpu}; it may use {allowed}", USAGE)
    chosen = cpus[-1] if cpu is None else cpu
    frame = traffic.frames[0]
    if pcap is None:
        sent = LeanTraffic(flows=traffic.flows.count, frame=frame, frames=0)
    else:
        sent = LeanTraffic(pcap=pcap.name, frames=0)
    path = None if pcap is None else str(pcap.resolve())
    request = lean_request(known, chosen, traffic=traffic, frame=frame, pcap=path)
    return LeanRun(known.name, request, chosen, sent, progress=say)


def _machine(as_json: bool) -> None:
    from weir.procedures.lean import text
    from weir.procedures.lean.machine import measure_machine

    result = measure_machine()
    print(
        result.model_dump_json(indent=2) if as_json else text.render_machine(result),
        end="\n" if as_json else "",
    )


def _speedup(path: Path, reference_pps: float | None, as_json: bool) -> None:
    from weir.base.read_file import read_text
    from weir.planning.model import speedup as model

    try:
        points = model.points_of_csv(read_text(path))
        fitted = model.fit(points, reference_pps=reference_pps)
    except (OSError, ValueError) as error:
        raise CommandError(f"{path}: {error}", USAGE) from None
    print(model.as_json(fitted) if as_json else "\n".join(model.sentences(fitted)))
