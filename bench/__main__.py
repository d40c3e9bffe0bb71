# SPDX-License-Identifier: Apache-2.0
"""`python -m bench [NAME …]`: every bench, or those named; one line each, and JSON in build/bench/."""

from __future__ import annotations

import argparse
import importlib
import sys

from bench.hugepages import hugepages
from bench.pairs import SkipError
from bench.pktgen import VARIABLE

# name on the command line and in the output → module of this package that has run() -> Line
BENCHES = {
    "generator-txonly": "generator_txonly",
    "generator-flowgen": "generator_flowgen",
    "generator-pktgen": "generator_pktgen",
    "ledger": "ledger",
    "l2fwd-macswap": "l2fwd_macswap",
    "l3fwd-dpdk": "l3fwd_dpdk",
    "l3fwd-fastclick": "l3fwd_fastclick",
    "lb-64k": "lb_64k",
    "lb-1m": "lb_1m",
    "nat-64k": "nat_64k",
    "nat-1m": "nat_1m",
    "firewall-new-flows": "firewall_new_flows",
    "firewall-classifier": "firewall_classifier",
    "firewall-10k-flows": "firewall_10k_flows",
    "firewall-40k-rules": "firewall_40k_rules",
    "dpi": "dpi",
    "shaper-rate": "shaper_rate",
    "fastpath-chain-a": "fastpath_chain_a",
    "fastpath-chain-b": "fastpath_chain_b",
    "fastpath-length": "fastpath_length",
    "flow-index": "flow_index",
    "prefix-table": "prefix_table",
    "planted-delay": "planted_delay",
    "delay-cost": "delay_cost",
    "self-loop-floor": "self_loop_floor",
    "stall-host": "stall_host",
    "stall-function": "stall_function",
    "handover": "handover",
    "search": "search",
    "bring-up": "bring_up",
    "stage-cycles": "lean_stages",
    "lean-ipc": "lean_ipc",
    "crossover": "crossover",
    "explain-planted": "explain_planted",
    "lean-injection": "lean_injection",
    "lean-detector": "lean_detector",
    "model-error": "model_error",
    "predicted-delay": "predicted_delay",
    "placement-2000": "placement_2000",
    "placement-10000": "placement_10000",
    "placement-direct": "placement_direct",
}
# Only when named: it takes as long as it says.
LONG = {"soak-30min": "soak_30min"}

MEMORY_MB = 1024  # one weir-dp and one testpmd, which does not start without hugepages


def main(argv: list[str]) -> int:
    """Runs the benches. 0 when all ran or were skipped with a reason, 2 for an unknown name."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Side by side with peers: a line `name ratio min max n` each, and JSON in build/bench/.",
        epilog=f"Environment: {VARIABLE} is the path of Pktgen-DPDK 23.06.1, for generator-pktgen; "
        "L3FWD of DPDK's example l3fwd; FASTCLICK of FastClick's click.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES | LONG)}; none: all but the last"
    )
    names = parser.parse_args(argv).names
    unknown = [name for name in names if name not in BENCHES | LONG]
    if unknown:
        print(f"bench: unknown: {', '.join(unknown)}; there are {', '.join(BENCHES | LONG)}", file=sys.stderr)
        return 2
    with hugepages(MEMORY_MB):
        for name in names or BENCHES:
            _bench(name)
    return 0


def _bench(name: str) -> None:
    try:
        found = importlib.import_module(f"bench.{(BENCHES | LONG)[name]}").run()
    except SkipError as reason:
        print(f"{name} skipped: {reason}", flush=True)
        return
    found.save()
    print(found.text(), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
