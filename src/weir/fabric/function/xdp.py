# SPDX-License-Identifier: Apache-2.0
"""eBPF programs at a function's interfaces: compiled, loaded, and asked what became of packets.

Generic XDP, which every interface has: what a veth pair's own would redirect, the peer takes only if it has a
program too (Documentation/networking/xdp in the kernel's; net/core/dev.c, do_xdp_generic()).
"""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.base.node import Port
from weir.catalogue import XdpProgram
from weir.fabric.counters import Counter
from weir.fabric.function.commands import Running, run
from weir.fabric.site import Site
from weir.lab.kernel import SIDES

_CALL_S = 10.0
_COUNTS = ("forwarded", "left_to_linux")
"""By their places in the map, as bpf/counts.h of the catalogue has them."""
_MAP = "counts"


def loading(
    params: Mapping[str, Any], site: Site, program: XdpProgram, ends: Mapping[str, str]
) -> Iterator[tuple[str, Running]]:
    """What each command is, and the command, which must have ended well before the next one is taken.
    `ends`: names of both interfaces, by `left.name` and `right.name`."""
    found = {
        one.get_attr("IFLA_IFNAME"): one["index"] for one in site.route(str(params["netns"])).get_links()
    }
    indices = {side: int(found[ends[f"{side}.name"]]) for side in SIDES}
    built = site.directory / f"{params['node']}.bpf.o"
    yield "clang", run(params, site, compiler(program, indices, built), f"{built.name}.log")
    for side in SIDES:
        interface = ends[f"{side}.name"]
        words = ["ip", "link", "set", "dev", interface, "xdpgeneric", "obj", str(built), "sec", f"xdp_{side}"]
        yield " ".join(words[:6]), run(params, site, words, f"{params['node']}.xdp-{side}.log")


def compiler(program: XdpProgram, indices: Mapping[str, int], built: Path) -> list[str]:
    """What compiles it. `indices`: of both interfaces, by side."""
    defines = {**program.defines, **{f"{side.upper()}_INDEX": str(one) for side, one in indices.items()}}
    words = ["clang", "-O2", "-g", "-target", "bpf", "-Wall", "-Werror"]
    words.append(f"-I/usr/include/{platform.machine()}-linux-gnu")  # asm/types.h, on Debian
    words += [f"-D{name}={value}" for name, value in sorted(defines.items())]
    return [*words, "-c", str(program.source), "-o", str(built)]


def counters(site: Site, netns: str, ports: Sequence[Port]) -> Iterator[Counter]:
    """What the programs at these interfaces did with packets; none of it is a drop. FabricError if bpftool
    does not tell."""
    programs = {}
    for one in site.route(netns).get_links():
        attached = one.get_attr("IFLA_XDP")
        number = attached.get_attr("IFLA_XDP_PROG_ID") if attached is not None else None
        if number:
            programs[one.get_attr("IFLA_IFNAME")] = int(number)
    for port in ports:
        if port.interface in programs:
            for count, packets in _packets(programs[port.interface]).items():
                yield Counter(f"{port.name} xdp_{count}", None, "packets", packets)


def _packets(program: int) -> dict[str, int]:
    for number in _asked("prog", "show", "id", str(program)).get("map_ids", []):
        if _asked("map", "show", "id", str(number)).get("name") == _MAP:
            return counted(_asked("map", "dump", "id", str(number)))
    return {}


def counted(dumped: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Packets by what became of them, of `bpftool --json map dump`; each CPU counts for itself."""
    found = {}
    for entry in dumped:
        shown = entry["formatted"]
        found[_COUNTS[int(shown["key"])]] = sum(int(one["value"]) for one in shown["values"])
    return found


def _asked(*words: str) -> Any:
    argv = ["bpftool", "--json", *words]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_CALL_S, check=True)
        return json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", "") or ""
        raise FabricError(
            f"`{' '.join(argv)}` does not tell what XDP did with packets: {said.strip() or error}",
            "install the Debian package bpftool, or leave out kernel.counterpart",
        ) from error
