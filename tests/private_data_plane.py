# SPDX-License-Identifier: Apache-2.0
"""A weir-dp of one `with` block, for tests and benches."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weir.fabric.built import built

_END_S = 20


@contextmanager
def private_data_plane(*cores: int, memory_mb: int, huge: bool) -> Iterator[Path]:
    """The socket of a weir-dp that polls on these CPUs, ended after the body; `huge`: in hugepages.

    FabricError if weir-dp is not built. Its socket is there only when it is ready: a client waits for it.
    """
    with tempfile.TemporaryDirectory(prefix="weir-", dir="/tmp") as directory:
        path = Path(directory) / "dp.sock"
        argv = [str(built("weir-dp")), "--socket", str(path), "--cores", ",".join(map(str, cores))]
        argv += ["--memory-mb", str(memory_mb)]
        process = subprocess.Popen([*argv, *([] if huge else ["--no-huge"])], stderr=subprocess.DEVNULL)
        try:
            yield path
        finally:
            process.terminate()
            process.wait(timeout=_END_S)
