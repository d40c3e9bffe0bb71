# SPDX-License-Identifier: Apache-2.0
"""If Weir is killed, what it was building or measuring is taken down at once, and not by the next run.

A shell waits at a pipe whose other end only this process has. When that ends, however it does, the shell
looks for journals, and only if there are any it starts a Weir that takes down the abandoned ones. What is
kept, and what other Weirs work on, is left alone.
"""

from __future__ import annotations

import os
import subprocess
import sys

from weir.fabric.journal import SUFFIX, root

OFF = "WEIR_LEAVE_KILLED"
"""Set in the environment: what a killed Weir leaves stays as it is, to be looked at."""
_SCRIPT = """read -r _; for left in "$1"/*"$2"; do [ -e "$left" ] && exec "$3" -P -c "$4"; done"""
"""-P: what lies in the current directory, which may be anybody's, is not imported."""
_TAKE_DOWN = f"""
import os
import time
from weir.fabric.deployment import clean_leftovers

os.environ["{OFF}"] = "1"
for _ in range(5):  # a child of the killed one may hold a lock for a moment yet
    clean_leftovers()
    time.sleep(0.5)
"""
"""Without a lifeline of its own, which would begin again for ever where something cannot be taken down."""

_pipes: dict[str, tuple[int, int]] = {}
"""By root: the process that made it, and its end."""


def hold() -> None:
    """For all deployments of this process. To be called before the first one is begun."""
    place = str(root())
    if OFF in os.environ or _pipes.get(place, (0, 0))[0] == os.getpid():
        return
    read, write = os.pipe()
    subprocess.Popen(
        ["weir-lifeline", "-c", _SCRIPT, "weir-lifeline", place, SUFFIX, sys.executable, _TAKE_DOWN],
        executable="/bin/sh",
        stdin=read,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(read)
    _pipes[place] = os.getpid(), write
