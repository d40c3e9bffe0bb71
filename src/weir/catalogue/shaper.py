# SPDX-License-Identifier: Apache-2.0
"""shaper by tc: a token bucket and a queue for each tenant and direction (tc-htb, tc-bfifo's pfifo).

Packets of no tenant pass by a class of their own, at a rate that no interface here reaches.
"""

from __future__ import annotations

import ipaddress

from weir.catalogue.setup import CatalogueError, Ends, Options, Setup, given, lines

_TC_BATCH = ("tc", "-batch")
_MS_PER_S, _BITS_PER_BYTE = 1000, 8
_LEAST_BURST_BYTES = 2 * 1518
_OVERHEAD_BYTES = {"ip": -14, "l2": 4, "l1": 24}
"""What a layer counts beside what Linux does, which is the frame without its FCS."""
_UNSHAPED = "rate 1000gbit burst 10m"
_FIRST_CLASS, _OTHERS = 0x10, 0xFFF0


def shaper(options: Options, ends: Ends) -> Setup:
    """The longest prefix counts. CatalogueError for tenants that are VLANs: frames have no tags here."""
    tenants = [_tenant(where, line) for where, line in lines(options, "tenants", "tenants_file", commas=True)]
    ordered = sorted(tenants, key=lambda one: -one[0].prefixlen if one[0] is not None else 1)
    overhead = _OVERHEAD_BYTES[str(given("shaper", options, "layer"))]
    limit = given("shaper", options, "queue_packets")
    found: list[str] = []
    for side, address in (("right", "src"), ("left", "dst")):
        interface = ends[f"{side}.name"]
        root = f"qdisc replace dev {interface} stab overhead {overhead} linklayer ethernet root handle 1:"
        found.append(f"{root} htb default {_OTHERS:x}")
        found.append(f"class add dev {interface} parent 1: classid 1:{_OTHERS:x} htb {_UNSHAPED}")
        for number, (prefix, rate_bps, burst_bytes) in enumerate(ordered):
            class_id = f"1:{_FIRST_CLASS + number:x}" if prefix is not None else f"1:{_OTHERS:x}"
            verb = "add" if prefix is not None else "replace"
            shape = f"rate {rate_bps}bit ceil {rate_bps}bit burst {burst_bytes} cburst {burst_bytes}"
            found.append(f"class {verb} dev {interface} parent 1: classid {class_id} htb {shape}")
            found.append(f"qdisc add dev {interface} parent {class_id} pfifo limit {limit}")
            if prefix is not None:
                match = f"u32 match ip {address} {prefix} flowid {class_id}"
                order = f"protocol ip prio {number + 1}"
                found.append(f"filter add dev {interface} parent 1: {order} {match}")
    return Setup(((_TC_BATCH, "".join(f"{line}\n" for line in found)),))


def _tenant(where: str, line: str) -> tuple[ipaddress.IPv4Network | None, int, int]:
    """Its prefix, None for all others; its rate in bit/s; its burst in bytes."""
    name, *words = line.split()
    said = dict(word.partition("=")[::2] for word in words)
    wanted = "a prefix or default, rate_bps= and, if wanted, burst_bytes="
    if not set(said) <= {"rate_bps", "burst_bytes"} or not all(one.isdecimal() for one in said.values()):
        raise CatalogueError(f"{where}: no tenant: `{line}`", f"expected {wanted}")
    if "rate_bps" not in said or name.startswith("vlan:"):
        raise CatalogueError(f"{where}: `{line}` is no tenant that Linux can have here", f"expected {wanted}")
    try:
        prefix = None if name == "default" else ipaddress.IPv4Network(name)
    except ValueError as error:
        raise CatalogueError(f"{where}: {error}", f"expected {wanted}") from None
    rate_bps = int(said["rate_bps"])
    in_a_ms = rate_bps // (_BITS_PER_BYTE * _MS_PER_S)
    return prefix, rate_bps, int(said.get("burst_bytes", max(in_a_ms, _LEAST_BURST_BYTES)))
