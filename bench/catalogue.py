# SPDX-License-Identifier: Apache-2.0
"""All benches: where each is, against what it measures, and how both sides were built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench import builds
from bench.conditions import machine


def _none() -> str:
    return "no peer: a limit that is asked for"


def _linux() -> str:
    return f"the kernel's, Linux {machine().kernel}"


def _same() -> str:
    return "the same build"


def _ray() -> str:
    return builds.python_package("ray")


def _rte_acl() -> str:
    return f"{builds.dpdk()}; rte_acl takes AVX2 at run time, AVX-512 in the lines -avx512"


def _example() -> str:
    return f"built here by its Makefile, -O3 -march={builds.packaged_march()}; {builds.dpdk()}"


def _hyperscan() -> str:
    return builds.package("libhyperscan5", "which takes the processor's vector code at run time")


@dataclass(frozen=True)
class Bench:
    """One of them; its module of this package has run()."""

    module: str
    against: str
    peer: Callable[[], str] = _none
    ours: Callable[[], str] = builds.ours
    both_builds: bool = False
    """Ours is measured a second time, compiled for what the distribution compiles its peer for."""
    headline: bool = False
    """A main one: README says what came of it."""
    shares: str | None = None
    """The bench whose measurement this one looks at, if that has just been made."""


_NEW_FLOWS = "40,000 rules, each packet a new flow"
_ON_A_WIRE = ", each a system under test with one core on a vhost-user wire: at full load, NDR, PDR"
_PYTHON = builds.python
# name on the command line and in the output → bench
BENCHES = {
    "generator-txonly": Bench(
        "generator_txonly",
        "testpmd txonly, 64 B, one flow, null port, one core",
        builds.dpdk,
        both_builds=True,
        headline=True,
    ),
    "generator-flowgen": Bench(
        "generator_flowgen",
        "testpmd flowgen, 64 B, 1,024 flows, null port that gives it nothing to receive, one core",
        builds.dpdk,
        both_builds=True,
        headline=True,
    ),
    "generator-fields": Bench(
        "generator_fields",
        "Weir's generator without `fields`: a random five-tuple a packet beside 1,024 flows, 64 B, null "
        "port, one core",
        _same,
    ),
    "generator-pktgen": Bench(
        "generator_pktgen",
        "Pktgen-DPDK 23.06.1 in range mode, virtio-user/vhost wire, counted where packets arrive",
        lambda: builds.named("PKTGEN"),
        headline=True,
    ),
    "generator-trex": Bench(
        "generator_trex",
        "TRex's published 14.4 Mpps a core with one changing field, on a card; ours 64 B on a null port",
        lambda: "not run here: a figure that its makers publish",
    ),
    "ledger": Bench("ledger", "l2fwd without the ledger, null port", _same, headline=True),
    "l2fwd-macswap": Bench(
        "l2fwd_macswap", "testpmd macswap, null port, one core", builds.dpdk, both_builds=True, headline=True
    ),
    "l3fwd-dpdk": Bench(
        "l3fwd_dpdk",
        "DPDK's example l3fwd, 1,000 routes; ours checks, counts and updates checksums besides",
        lambda: builds.named("L3FWD", _example),
        both_builds=True,
        headline=True,
    ),
    "l3fwd-fastclick": Bench(
        "l3fwd_fastclick",
        "the same router of FastClick's elements",
        lambda: builds.named("FASTCLICK"),
        headline=True,
    ),
    "l2fwd-wire": Bench(
        "l2fwd_wire",
        f"testpmd macswap{_ON_A_WIRE}",
        builds.dpdk,
        headline=True,
    ),
    "l3fwd-wire": Bench(
        "l3fwd_wire",
        f"DPDK's example l3fwd, 1,000 routes{_ON_A_WIRE}",
        lambda: builds.named("L3FWD", _example),
        headline=True,
    ),
    "l3fwd-fastclick-wire": Bench(
        "l3fwd_fastclick_wire",
        f"the same router of FastClick's elements{_ON_A_WIRE}",
        lambda: builds.named("FASTCLICK"),
    ),
    "fastclick-wire-most": Bench(
        "fastclick_wire_most",
        "that router of FastClick's elements on a vhost-user wire; in ours' place testpmd io, which hands "
        "packets back and does nothing else: at full load",
        lambda: builds.named("FASTCLICK"),
    ),
    "lb-64k": Bench("lb_64k", "l3fwd, 65,536 flows", _same),
    "lb-1m": Bench("lb_1m", "l3fwd, 1,048,576 flows", _same),
    "lb-10m": Bench("lb_10m", "l3fwd, 10,000,000 flows, functions alone, cycles a packet", _same),
    "lb-new-sessions": Bench("lb_new_sessions", "1,000,000 new connections a second of one core"),
    "nat-64k": Bench("nat_64k", "l3fwd, 65,536 flows", _same),
    "nat-1m": Bench("nat_1m", "l3fwd, 1,048,576 flows", _same),
    "nat-10m": Bench("nat_10m", "l3fwd, 10,000,000 flows, functions alone, cycles a packet", _same),
    "nat-new-sessions": Bench("nat_new_sessions", "1,000,000 new mappings a second of one core"),
    "nat-nftables": Bench(
        "nat_nftables",
        "nftables' NAT with connection tracking, 10,000 flows, behind one Linux bridge",
        _linux,
    ),
    "lb-nftables": Bench(
        "lb_nftables",
        "nftables' hash with connection tracking, 10,000 flows, behind one Linux bridge",
        _linux,
    ),
    "lb-ipvs": Bench(
        "lb_ipvs", "IP Virtual Server with Maglev's hash, 10,000 flows, behind one Linux bridge", _linux
    ),
    "upf-64k": Bench("upf_64k", "l3fwd, 65,536 flows, the same packets without tunnels", _same),
    "upf-960k": Bench("upf_960k", "l3fwd, 960,000 flows, the same packets without tunnels", _same),
    "firewall-new-flows": Bench(
        "firewall_new_flows",
        f"rte_acl, which keeps no sessions; {_NEW_FLOWS} and a new session for ours",
        _rte_acl,
        both_builds=True,
        headline=True,
    ),
    "firewall-classifier": Bench(
        "firewall_classifier",
        f"rte_acl; {_NEW_FLOWS}, no sessions",
        _rte_acl,
        both_builds=True,
        shares="firewall-new-flows",
    ),
    "firewall-10k-flows": Bench(
        "firewall_10k_flows",
        "rte_acl; 40,000 rules, 10,000 flows of which ours has the sessions",
        _rte_acl,
        both_builds=True,
        shares="firewall-new-flows",
    ),
    "firewall-40k-rules": Bench("firewall_40k_rules", "the classifier at 1,000 rules; ours at 40,000", _same),
    "firewall-500k-rules": Bench(
        "firewall_500k_rules",
        "the classifier at 40,000 rules, ours at 500,000; in the lines -build 5 s to build these",
        _same,
    ),
    "rule-changes": Bench(
        "rule_changes", "100,000 rule changes a second while packets flow, 1,000 and 40,000 rules"
    ),
    "dpi": Bench(
        "dpi",
        "Hyperscan alone in streaming mode, 40,000 expressions; ours with 10,000 address rules besides",
        _hyperscan,
        both_builds=True,
    ),
    "shaper-rate": Bench("shaper_rate", "the rate that was asked for, 1 Mbit/s to 1 Gbit/s"),
    "fastpath-chain-a": Bench(
        "fastpath_chain_a", "nat, dpi, l3fwd without the fast path, cycles a packet", _same, headline=True
    ),
    "fastpath-chain-b": Bench(
        "fastpath_chain_b", "acl, lb, l3fwd without the fast path, cycles a packet", _same, headline=True
    ),
    "offload-xdp": Bench(
        "offload_xdp",
        "firewall, nat, l3fwd with the fast path and without offload, linux-bridge; `-core`: cycles of the "
        "function's core, `-system`: CPU time of all, a packet",
        _same,
    ),
    "fastpath-length": Bench("fastpath_length", "one function; ours six, both with the fast path", _same),
    "flow-index": Bench("flow_index", "rte_hash, 1,048,576 flows, 32 at once", builds.dpdk, both_builds=True),
    "prefix-table": Bench(
        "prefix_table", "rte_fib, 1,000,000 IPv4 routes, 32 look-ups at once", builds.dpdk, both_builds=True
    ),
    "connections": Bench("connections", "1,000,000 new connections a second of one core, IPv4 and IPv6"),
    "connections-open": Bench("connections_open", "4 GiB for 10,000,000 connections at the same time"),
    "planted-delay": Bench("planted_delay", "the delay that was planted"),
    "delay-cost": Bench("delay_cost", "a receiver that only counts", _same),
    "self-loop-floor": Bench("self_loop_floor", "2 µs of median latency, tester and wire alone"),
    "stall-host": Bench("stall_host", "100 stops of weir-dp, attributed to the host"),
    "stall-function": Bench("stall_function", "a function's pauses, attributed to it"),
    "handover": Bench("handover", "30 cycles to hand a packet to another core"),
    "search": Bench(
        "search",
        "RFC 2544 bisection with 60 s trials, fifty simulated devices, virtual time for NDR and PDR together"
        "; bisection finds an NDR only where a minute passes without loss",
        lambda: "of RFC 2544, here in Python",
        _PYTHON,
        headline=True,
    ),
    "disturbed-devices": Bench(
        "disturbed_devices",
        "the truth of simulated devices that the host takes away for 30 % of the time",
        ours=_PYTHON,
    ),
    "disturbed": Bench(
        "disturbed",
        "rates found without a program that takes a core in bursts, three technologies, two chains",
        _same,
        headline=True,
    ),
    "own-pauses": Bench("own_pauses", "what a function carries that pauses by itself", _same, headline=True),
    "repeat": Bench(
        "repeat", "labs/switching --quick, ten runs against their own medians", _same, headline=True
    ),
    "bring-up": Bench(
        "bring_up",
        "Mininet, 16 functions under Linux bridges",
        lambda: builds.package("mininet", "Python"),
        _PYTHON,
        headline=True,
    ),
    "cloud-up": Bench(
        "cloud_up", "limits that are asked for: 4 tenants in 5 s, 64 in 60 s, down in 20 s", ours=_PYTHON
    ),
    "graph-large": Bench(
        "graph_large", "a limit that is asked for: 300 namespaces and 3,000 links drawn in 10 s", ours=_PYTHON
    ),
    "store-100k": Bench(
        "store_100k",
        "a limit that is asked for: a store of 100,000 trials listed and filtered in 1 s",
        ours=_PYTHON,
    ),
    "serve-pages": Bench(
        "serve_pages",
        "limits that are asked for: of five years of nightly runs any page in 1 s, and in 300 KB compressed",
        ours=_PYTHON,
    ),
    "serve-cost": Bench(
        "serve_cost",
        "the generator, and the tester's latency, on one core while server and reader of pages are stopped; "
        "ours while pages are read",
        _same,
    ),
    "campaign-hosts": Bench(
        "campaign_hosts",
        "the same campaign over one node of a Ray cluster, ours over two; trials that only wait",
        _ray,
        _PYTHON,
    ),
    "ray-cost": Bench(
        "ray_cost",
        "the generator on one core while the node of Ray on its host is stopped; ours while it runs",
        _ray,
    ),
    "trend-steps": Bench(
        "trend_steps",
        "limits that are asked for: of 200 histories 95 % of planted steps of 3 %, a false alarm in 1 %",
        ours=_PYTHON,
    ),
    "host-threads": Bench(
        "host_threads", "limits that are asked for: a thread waits 100 ms at most, a grace period of RCU 1 s"
    ),
    "stage-cycles": Bench(
        "lean_stages", "cycles of the whole path; ours those of its stages together", _same
    ),
    "lean-ipc": Bench("lean_ipc", "the IPC of the stages together, each weighted with its cycles", _same),
    "crossover": Bench("crossover", "the pipeline, chain A, 10,000 flows, cycles a packet", _same),
    "explain-planted": Bench("explain_planted", "limits that were planted; ours those that are named"),
    "lean-injection": Bench("lean_injection", "the slowdown that was asked for"),
    "lean-detector": Bench(
        "lean_detector", "95 % of slowdowns of 5 %, 80 % of 2 % found; 98 % of runs silent", headline=True
    ),
    "model-error": Bench(
        "model_error",
        "a mean error of 3 % and one of 6 % at the 90th percentile; the paper has 3.7 % in the mean",
    ),
    "predicted-delay": Bench("predicted_delay", "measured P50 delays, below saturation"),
    "placement-2000": Bench("placement_2000", "a gap that is proved within the limit", ours=_PYTHON),
    "placement-10000": Bench("placement_10000", "a gap that is proved within the limit", ours=_PYTHON),
    "placement-direct": Bench(
        "placement_direct",
        "the best gap of HiGHS, SCIP and CP-SAT on the plain model in the same time",
        lambda: "their makers' wheels, in requirements-bench.lock",
        _PYTHON,
    ),
}
# Only when named: it takes as long as it says.
LONG = {"soak-30min": Bench("soak_30min", "weir-dp's memory when the soak began")}
ALL = BENCHES | LONG
