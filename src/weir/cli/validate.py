# SPDX-License-Identifier: Apache-2.0
"""`weir validate`: is this lab file good?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.labfile import LabPath, Quick, by_reason, compared_here, machine_cpus

if TYPE_CHECKING:
    from weir.lab import Lab
    from weir.lab.capture import CaptureFile, Side
    from weir.lab.ways import Way


def validate(
    lab_path: LabPath,
    *,
    quick: Quick = False,
    any_machine: Annotated[
        bool, typer.Option("--any-machine", help="Accept cores that this machine does not have.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the complete lab, or all problems, as JSON.")
    ] = False,
) -> None:
    """Check a lab file and say everything that is wrong with it. Touches nothing and needs no root."""
    from weir.cli.cloud import require_no_chain, validate_cloud
    from weir.cli.lab_check import unfit
    from weir.lab import load_lab
    from weir.lab.of_tenants import has_tenants
    from weir.lab.problem import LabFileError
    from weir.lab.ways import ways

    if has_tenants(lab_path):
        require_no_chain({"--quick": quick})
        validate_cloud(lab_path, as_json=as_json)
        return
    if any_machine:
        lab = load_lab(lab_path, quick=quick, spanning=True)
        compared = ways(lab)
    else:
        lab, compared = compared_here(lab_path, quick=quick, spanning=True)
    problems = list(unfit(lab_path, compared, machine_cpus()[-1]))
    if problems:
        raise LabFileError(problems)
    if as_json:
        print(json.dumps({"valid": True, "lab": lab.model_dump(mode="json", by_alias=True)}, indent=2))
        return
    lines = [*_summary(lab, compared), *_limits(lab)]
    print("\n".join(lines if any_machine else [*lines, *_unlimited(compared), *_left_out(compared)]))


def _summary(lab: Lab, compared: Sequence[Way]) -> list[str]:
    from weir.technology import TECHNOLOGIES

    chains = ", ".join(chain.name for chain in lab.chains())
    lines = [
        f"{lab.name}: valid",
        f"  chains        {chains}",
        f"  {'variants    ' if lab.variants else 'technologies'}  {', '.join(lab.compared())}; "
        f"ratios to {lab.baseline}",
        *_unused(lab),
        *(_connections(lab) or _framed(lab)),
        *_unjudged(lab),
        *_hosts(lab),
    ]
    for way in compared:
        if way.refused is not None:
            lines.append(f"  cores         {way.name}: not here: {way.refused}")
            continue
        cores = way.lab.cores_for(way.technology)
        functions = way.lab.function_cpus(way.technology)
        said = [f"tester {_listed(cores.tester)}", f"functions {_listed(functions)}"]
        if TECHNOLOGIES[way.technology].own_core:
            said.append(f"switch {_listed(cores.switch)}")
        under = f" ({way.technology})" if way.variant is not None else ""
        lines.append(f"  cores         {way.name}{under}: {', '.join(said)}")
    return lines


def _left_out(compared: Sequence[Way]) -> list[str]:
    """What `weir run` would leave out on this machine for want of something besides cores, which have lines
    of their own; nothing for whoever could not run it, and may not look."""
    from weir import fabric
    from weir.base.error import FabricError

    try:
        fabric.require_to_measure()
    except FabricError:
        return []
    found = by_reason(way for way in compared if way.refused is None)
    return [f"  left out here {', '.join(setups)}: {why}" for why, setups in found.items() if why is not None]


def _hosts(lab: Lab) -> list[str]:
    """What is where, and what each chain's wires between hosts are; nothing of a lab on one machine."""
    hosts = lab.hosts
    if hosts is None:
        return []
    lines = []
    for host in hosts.names():
        named = dict.fromkeys(name for chain in lab.chains() for name in chain.functions)
        has = ["tester"] if host == hosts.tester else []
        has += [name for name in named if hosts.host_of(name) == host]
        machine = hosts.machines.get(host, "any machine of the cluster")
        lines.append(f"  host          {host}: {', '.join(has) or 'nothing'}; {machine}")
    for chain in lab.chains():
        along = hosts.along(chain.functions)
        wires = [f"{along[at]} to {along[at + 1]}" for at in hosts.crossings(chain.functions)]
        lines.append(f"  wires         {chain.name}: {', '.join(wires) or 'none'} ({hosts.wire.kind})")
    return lines


def _unused(lab: Lab) -> list[str]:
    """Technologies that no variant has."""
    used = {technology for name in lab.variants for technology in lab.variant_technologies(name)}
    unused = [name for name in lab.technology if name not in used] if lab.variants else []
    return [f"  not measured  {', '.join(unused)}: no variant has it"] if unused else []


def _unjudged(lab: Lab) -> list[str]:
    """Where the service level limits what a run does not measure."""
    if lab.sla is None or lab.measure.latency is not None or not lab.sla.limits_packets():
        return []
    ran = "its rates alone" if lab.sla.throughput else "none of it"
    return [
        f"  sla           weir soak judges its loss and delays; weir run {ran}: measure.latency is absent"
    ]


def _limits(lab: Lab) -> list[str]:
    """Of programs of the user's."""
    lines = []
    for name, function in lab.functions.items():
        program = function.programmed()
        if program is not None:
            most = f"{program.memory_limit_mb} MB" if program.memory_limit_mb else "half of free memory"
            lines.append(f"  limits        {name}: {most}, {program.processes} processes and threads")
    return lines


def _unlimited(compared: Sequence[Way]) -> list[str]:
    """Why this machine limits none of them, where it does not."""
    from weir.fabric.function.control_group import ControlGroup
    from weir.plan.tuning import isolated_cpus

    found: dict[str, None] = {}
    for way in (one for one in compared if one.refused is None):
        cores = way.lab.cores_for(way.technology).functions or ()
        for one in way.lab.functions.values():
            asked = {"cores": one.cores or cores, "isolated": isolated_cpus(way.lab, way.technology)}
            if one.programmed() is not None and (why := ControlGroup().lacking(asked)) is not None:
                found[why] = None
    return [f"  limits        not here: {why}" for why in found]


def _framed(lab: Lab) -> list[str]:
    from weir.lab.frames import CAPTURE

    frames = ", ".join(lab.traffic.frames)
    kinds = f"IPv{lab.traffic.ip}, {lab.traffic.l4.upper()}"
    if all(frame == CAPTURE for frame in lab.traffic.frames):
        kinds = "as captured"
    goals = ", ".join(f"{goal.name} (loss ratio {goal.loss_ratio:g})" for goal in lab.measure.goals) or "none"
    return [
        f"  frames        {frames}; {kinds}, {lab.tester.direction}",
        *([] if kinds == "as captured" else [f"  addresses     {'; '.join(_sent(lab))}"]),
        *(f"  captures      {one}" for one in _captures(lab)),
        f"  goals         {goals}"
        if lab.traffic.capture is None or lab.traffic.capture.rate is None
        else f"  replayed      {lab.traffic.capture.rate}",
    ]


def _connections(lab: Lab) -> list[str]:
    """Clients, services and goals; nothing of a lab without."""
    wanted = lab.traffic.connections
    if wanted is None:
        return []
    (source, _), (destination, _) = lab.traffic.sent()
    first, last = wanted.client_ports
    services = ", ".join(f"{one.l4.upper()} {one.port}" for one in wanted.services)
    return [
        f"  connections   {wanted.clients} clients from {source} on, ports {first} to {last} → "
        f"{wanted.servers} from {destination} on: {services}",
        f"  goals         {', '.join(wanted.goals)} (success ratio {wanted.success_ratio:g})",
    ]


def _sent(lab: Lab) -> list[str]:
    """ "198.18.0.1 port 1024 → 198.19.0.1 port 1024", and the way back if it is another."""
    ways = [lab.traffic.sent(back=back) for back in (False, True)]
    both = lab.tester.direction == "bidirectional" and ways[1] != ways[0][::-1]
    said = [(f"{source} port {port}", f"{other} port {peer}") for (source, port), (other, peer) in ways]
    return [f"{source} → {other}" for source, other in (said if both else said[:1])]


def _captures(lab: Lab) -> list[str]:
    capture = lab.traffic.capture
    if capture is None:
        return []
    return [
        f"{side} sends {sent.file}{f', what passes {sent.filter!r}' if sent.filter else ''}: "
        f"{_recorded(side, sent, capture.stamp)}"
        for side, sent in capture.files().items()
    ]


def _recorded(side: Side, sent: CaptureFile, stamped: bool) -> str:
    """Its own rate and how long it takes."""
    from weir.base.error import FabricError
    from weir.fabric.built import built
    from weir.fabric.capture_file import capture_sent

    try:
        known = capture_sent(built("weir-dp"), side, sent, stamped=stamped)
    except FabricError as error:
        return f"not read: {error}"
    rate = f"{known.own_pps:,.1f} a second" if known.own_pps else "no time between them"
    return (
        f"{known.frames:,} frames of {known.mean_frame_bytes:.0f} B in the mean in "
        f"{known.own_seconds:.6g} s, {rate}"
    )


def _listed(cores: tuple[int, ...] | None) -> str:
    return ",".join(map(str, cores or ()))
