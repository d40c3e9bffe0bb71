# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.waiting_hosts.program SETUPS SECONDS`: one host as a program, in the place of the one that
measures: so many set-ups can be measured there, and each point takes so long."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from tests.waiting_hosts.host import WaitingHost
from weir.hosts.messages import Measure, to_host
from weir.lab.ways import Key


def setups(count: int) -> Sequence[Key]:
    """So many."""
    return [(f"switch-{number}", "PVP") for number in range(count)]


def main() -> int:
    """Until its input ends, or it is told to."""
    count, wait_s = int(sys.argv[1]), float(sys.argv[2])
    host = WaitingHost(setups(count))
    for line in sys.stdin:
        host.hear(line)
        left_s = wait_s if isinstance(to_host(line), Measure) else 0.0
        while (heard := host.poll("")) is not None:
            print("".join(f"{one}\n" for one in heard.lines), end="", flush=True)
            if heard.ended is not None:
                return 0
            time.sleep(left_s)  # in the middle of the point
            left_s = 0.0
    return 0


if __name__ == "__main__":
    sys.exit(main())
