# SPDX-License-Identifier: Apache-2.0
"""`weir serve` as a process of its own, for tests and benches."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 60
"""On a machine that others load."""
WEIR = "import sys; from weir.cli.start import main; sys.exit(main())"
HURRIED = (
    "from weir.web import connection, server; connection.REQUEST_S = connection.READ_S = server.IDLE_S = 2; "
)
"""Said before it: it waits for nobody as long as it does otherwise."""


@contextmanager
def served(
    place: Path, *words: str, before: Sequence[str] = (), how: str = WEIR, **environment: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Its pages' address; it is ended as by Ctrl-C. `before`: a program that becomes it; `how`:
    what Python runs."""
    process = subprocess.Popen(
        [*before, sys.executable, "-c", how, "serve", "--port", "0", "--store", str(place), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"weir: pages at (\S+)\n", line)
        assert found, line or process.communicate()[1]
        yield found[1], process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
