# SPDX-License-Identifier: Apache-2.0
"""l2fwd and l3fwd by XDP: eBPF programs of the kernel's, which have a packet before anything else has it.

l3fwd asks the namespace's routes and neighbours, which are set up as for Linux itself, and leaves to Linux
whatever needs more than new addresses and one less in its TTL (as the kernel's samples/bpf/xdp_fwd_kern.c).
"""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path

from weir.catalogue.rewrite import addresses_of
from weir.catalogue.routes import routes
from weir.catalogue.setup import Ends, Options, Setup, XdpProgram, given

_FOLDER = Path(str(resources.files("weir.catalogue"))) / "bpf"


def xdp_rewrite(options: Options, ends: Ends) -> Setup:
    """Of both directions: addresses of the next hop, or both exchanged."""
    if given("l2fwd", options, "mode") == "mac-swap":
        return Setup(xdp=XdpProgram(_source("l2fwd"), {"SWAP": "1"}))
    defines = {"SWAP": "0"}
    for side in ("left", "right"):
        src, dst = addresses_of(side, options, ends)
        defines |= {f"{side.upper()}_SRC": _bytes(src), f"{side.upper()}_DST": _bytes(dst)}
    return Setup(xdp=XdpProgram(_source("l2fwd"), defines))


def xdp_routes(options: Options, ends: Ends) -> Setup:
    """Linux's own set-up with the program before it."""
    return replace(routes(options, ends), xdp=XdpProgram(_source("l3fwd")))


def _bytes(mac: str) -> str:
    return ",".join(f"0x{octet}" for octet in mac.split(":"))


def _source(name: str) -> Path:
    return _FOLDER / f"{name}.bpf.c"
