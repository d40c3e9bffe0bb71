# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.took WHAT BEGUN`: how long that took, of which commit and on which machine.

BEGUN: seconds of the epoch. What pages say of such times is rounded, and "about".
"""

from __future__ import annotations

import sys
import time

from bench.conditions import Conditions, here


def sentence(what: str, seconds: float, on: Conditions) -> str:
    """One line."""
    minutes, rest = divmod(round(seconds), 60)
    virtual = (
        f" of a virtual machine ({on.machine.hypervisor})"
        if on.machine.hypervisor not in ("", "none")
        else ""
    )
    return (
        f"took: {what} {minutes} min {rest} s, commit {on.commit}, {on.date}, on {on.machine.cpu}, "
        f"{on.machine.cores} cores{virtual}"
    )


if __name__ == "__main__":
    print(sentence(sys.argv[1], time.time() - float(sys.argv[2]), here()))
