# SPDX-License-Identifier: Apache-2.0
"""`python -m bench [NAME …]`: every bench, or those named; one line each, and JSON in build/bench/."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import traceback

from bench import builds, results
from bench.catalogue import ALL, BENCHES
from bench.hugepages import hugepages
from bench.pairs import SkipError
from bench.pktgen import VARIABLE

MEMORY_MB = 1024  # one weir-dp and one testpmd, which does not start without hugepages


def main(argv: list[str]) -> int:
    """Runs the benches. 0 when all ran or were skipped with a reason, 1 if the build or one of them
    fails, 2 for an unknown name. A target that is missed, or of which nothing can be told, changes nothing of
    that: it is said in the bench's line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Side by side with peers: a line `name ratio min max n` each, with its target, and JSON "
        "in build/bench/, from which `python -m tools.benches` makes the tables of README and "
        "docs/design/benches.md. A target is met, MISSED or not told: that is no failure and no success, and "
        "none of the three changes the exit code. Brings the native builds up to date first.",
        epilog=f"Environment: {VARIABLE} is the path of Pktgen-DPDK 23.06.1, for generator-pktgen; "
        "L3FWD of DPDK's example l3fwd (absent: that of Debian's dpdk-doc is built); FASTCLICK of "
        "FastClick's click; with _BUILD behind it, how that was compiled.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(ALL)}; none: all but the last"
    )
    names = parser.parse_args(argv).names
    unknown = [name for name in names if name not in ALL]
    if unknown:
        print(f"bench: unknown: {', '.join(unknown)}; there are {', '.join(ALL)}", file=sys.stderr)
        return 2
    try:
        builds.make(builds.OWN)
    except SkipError as reason:
        print(f"bench: {reason}", file=sys.stderr)
        return 1
    with hugepages(MEMORY_MB):
        failed = [name for name in names or BENCHES if not _bench(name)]
    return 1 if failed else 0


def _bench(name: str) -> bool:
    """False if it failed: with an hour of benches to run, one that fails must not end the others."""
    bench = ALL[name]
    begin = time.monotonic()
    try:
        run = importlib.import_module(f"bench.{bench.module}").run
        lines = results.taken(run, both_builds=bench.both_builds)
    except SkipError as reason:
        results.save_skipped(bench, name, str(reason))
        print(f"{name} skipped: {reason}", flush=True)
        return True
    except Exception as error:
        traceback.print_exc()
        results.save_skipped(bench, name, f"it failed: {type(error).__name__}: {error}")
        print(f"{name} FAILED: {type(error).__name__}: {error}", flush=True)
        return False
    results.save(bench, name, lines, took_s=time.monotonic() - begin)
    for line in lines:
        print(line.text(), flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
