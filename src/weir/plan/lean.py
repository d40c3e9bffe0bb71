# SPDX-License-Identifier: Apache-2.0
"""What weir-lean is asked: a chain, of a lab or named on the command line, and the packets for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from weir.base.error import USAGE, WeirError
from weir.lab.frames import untagged_max_bytes
from weir.lab.function import DEFAULT_FASTPATH_FLOWS, FunctionOptions
from weir.lab.lab import Chain, Lab
from weir.lab.named_functions import named_functions, numbered
from weir.lab.nf import Scalar, network_functions
from weir.lab.traffic import Traffic
from weir.plan.architecture import native_options
from weir.plan.streams import flows, frame_size, packet_fields, template
from weir.protocol.configuration import ChainArea, Configure, PathConfig, PortConfig, Request, StageConfig
from weir.protocol.errors import refusing
from weir.protocol.traffic import StreamConfig

AREA = "chain"
PATH = "outbound"
_FRAMES_MIN = 8192  # in memory: more than any cache of decisions of a batch or two could know
_SEED = 1
_MBUFS = 4096  # some hundreds wait at a time; functions may hold some more
_LEFT, _RIGHT = "02:57:00:00:00:01", "02:57:00:00:00:02"


class LeanError(WeirError):
    """The chain is none for one area. Says why, and what was expected."""

    exit_code = USAGE


@dataclass(frozen=True)
class Stage:
    """One function of the chain, with its options."""

    name: str
    nf: str
    options: dict[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True)
class LeanChain:
    """Functions from left to right, in one area."""

    name: str
    stages: tuple[Stage, ...]
    fastpath_flows: int = 0
    both_ways: bool = False
    """A function may send packets back where they came from."""


def chain_of_text(text: str, *, fastpath: bool = False) -> LeanChain:
    """`nat,l3fwd`; options follow a colon each: `nat:external=203.0.113.0/24:sessions=1000,l3fwd`.
    LabFileError: it is none."""
    functions = [FunctionOptions(nf=one.nf, options=one.options) for one in named_functions(text)]
    return chain_of_functions(functions, name=text, fastpath_flows=DEFAULT_FASTPATH_FLOWS if fastpath else 0)


def chain_of_lab(lab: Lab, chain: Chain) -> LeanChain:
    """All functions of one chain of a lab, as if one area ran them.

    LeanError if one of them runs in several areas, or only some have the fast path: then no one area does
    what the lab asks for.
    """
    functions = {name: lab.functions[name] for name in chain.functions}
    for name, function in functions.items():
        if function.architecture != "run-to-completion":
            raise LeanError(
                f"{name} runs as {function.architecture}, in areas that hand packets to each other; expected "
                "run-to-completion: a lean measurement is of one area on one core. Choose another chain with "
                "--chain, or measure this one with `weir run`"
            )
        if (below := function.offloaded()) is not None:
            raise LeanError(
                f"{name} has its fast path offloaded to {below.kind}; expected no `offload`: "
                "a lean measurement is of what a core does, with no interface that packets could stay at. "
                "Leave it out here, or measure this one with `weir run`"
            )
    quick = [name for name, function in functions.items() if function.fastpath]
    if 0 < len(quick) < len(functions):
        without = next(name for name in functions if name not in quick)
        raise LeanError(
            f"{quick[0]} has the fast path and {without} has none; expected all functions of the chain or "
            "none: a lean measurement is of one area"
        )
    flows = [functions[name].fastpath_flows or DEFAULT_FASTPATH_FLOWS for name in quick]
    return chain_of_functions(
        list(functions.values()), name=f"{lab.name} {chain.name}", fastpath_flows=max(flows, default=0)
    )


def chain_of_functions(
    functions: Sequence[FunctionOptions], *, name: str = "", fastpath_flows: int = 0
) -> LeanChain:
    """All network functions of weir-dp in these, as if one area ran them."""
    stages = [one for function in functions for one in _stages(function)]
    both_ways = any(function.both_ways() for function in functions)
    return LeanChain(name, _numbered(stages), fastpath_flows, both_ways)


def _stages(function: FunctionOptions) -> list[Stage]:
    return [Stage(one.nf, one.nf, dict(one.options)) for one in function.nfs()]


def _numbered(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Stages of one name would share their state."""
    names = numbered([stage.name for stage in stages])
    return tuple(Stage(name, stage.nf, _addressed(stage)) for name, stage in zip(names, stages, strict=True))


def _addressed(stage: Stage) -> dict[str, Scalar]:
    """The options, with next hops where the function writes some and the user gives none."""
    known = network_functions()[stage.nf]
    options = dict(stage.options)
    for name, mac in (("src_mac", _LEFT), ("dst_mac", _RIGHT)):
        if known.option(name) is not None and options.get("mode") != "mac-swap":
            options.setdefault(name, mac)
    return options


class LeanInput(Request):
    """What weir-lean gives its chain: a capture's packets, or frames of a stream."""

    pcap: str | None = None
    frames: int | None = None
    stream: StreamConfig | None = None


class LeanRequest(Request):
    """What weir-lean is asked: a chain between two null ports, and what it gets."""

    configure: Configure
    area: str
    path: str
    traffic: LeanInput


@refusing()
def lean_request(
    chain: LeanChain, cpu: int, *, traffic: Traffic, frame: str, pcap: str | None = None
) -> LeanRequest:
    """The chain on that CPU, and frames of that size or the capture's."""
    path = PathConfig(
        name=PATH,
        in_="left",
        out=("right", "left") if chain.both_ways else "right",
        stages=tuple(
            StageConfig(
                nf=stage.nf,
                name=stage.name,
                options=native_options(stage.options, both_ways=stage.nf if chain.both_ways else None),
            )
            for stage in chain.stages
        ),
    )
    remembered = chain.fastpath_flows or None
    return LeanRequest(
        configure=Configure(
            ports=tuple(PortConfig(name=name, kind="null") for name in ("left", "right")),
            areas=(ChainArea(name=AREA, core=cpu, kind="chain", paths=(path,), fastpath_flows=remembered),),
            mbufs=_MBUFS,
            frame_bytes_max=untagged_max_bytes((frame,), vlan=traffic.vlan is not None),
        ),
        area=AREA,
        path=PATH,
        traffic=LeanInput(pcap=pcap) if pcap is not None else _frames(traffic, frame),
    )


def _frames(traffic: Traffic, frame: str) -> LeanInput:
    """Enough for every flow to come once, in whole batches."""
    return LeanInput(
        frames=-(-max(traffic.flows.count, _FRAMES_MIN) // 32) * 32,
        stream=StreamConfig(
            id=0,
            port="left",
            frame=frame_size(frame),
            template=template(traffic, _LEFT, _RIGHT),
            flows=flows(traffic, _SEED),
            fields=packet_fields(traffic, _SEED),
        ),
    )
