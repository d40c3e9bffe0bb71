# SPDX-License-Identifier: Apache-2.0
"""What is tried of an installed Weir, however it was installed: without this source, in an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "build" / "dist"
"""Where `make wheel` and `make deb` put what they build."""
WHEELS = ROOT / "build" / "wheels"
"""The libraries of requirements.lock, from `make wheels`."""
OVER_THIS_MACHINE = (str(Path(__file__).with_name("throwaway-root")), str(ROOT))
"""This machine's files, without this source."""
# 1: no rate, where others have the cores. Packets are accounted for all the same.
_WHOLE_TRIAL = """\
weir examples --copy labs >&2
weir validate labs/switching >&2
weir run labs/switching --quick --wait -t direct -c PVP --frame 64 --json > run.json || test $? = 1
weir report --format csv > report.csv
grep -c '<html' results/*/report.html >&2
cat run.json
"""


@dataclass(frozen=True)
class Said:
    """By commands that were done."""

    out: str
    err: str


def commanded(
    script: str, folder: Path, path: Sequence[Path] = (), inside: Sequence[str] = OVER_THIS_MACHINE
) -> Said:
    """What a shell says that runs it as root, where this source is not and what it writes is thrown away.

    `path`: folders that the PATH begins with. `inside`: words before the command, which put it there.
    AssertionError with all that was said, if a command fails.
    """
    clean = {
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "WEIR_RUN_DIR": "/tmp/run",  # in what is thrown away: it waits for no other's cores
        "PATH": os.pathsep.join([*map(str, path), "/usr/sbin", "/usr/bin", "/sbin", "/bin"]),
    }
    done = subprocess.run(
        [*inside, "bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (
        f"{done.returncode} of\n{script}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    )
    return Said(done.stdout, done.stderr)


def check_measuring(
    folder: Path,
    before: str = "",
    path: Sequence[Path] = (),
    inside: Sequence[str] = OVER_THIS_MACHINE,
) -> None:
    """It validates, measures and reports an example of its own, and every packet is accounted for."""
    said = commanded(f"{before}\n{_WHOLE_TRIAL}", folder, path, inside)
    (setup,) = json.loads(said.out)["setups"]
    (case,) = setup["cases"]
    assert (setup["technology"], setup["chain"], case["frame"], case["problem"]) == (
        "direct",
        "PVP",
        "64",
        None,
    )
    assert case["trials"]
    assert all(
        trial["delivered"] + sum(drop["packets"] for drop in trial["drops"]) + trial["unaccounted"]
        == trial["offered"]
        for trial in case["trials"]
    )
    assert sum(trial["delivered"] for trial in case["trials"]) > 0
    assert not [trial for trial in case["trials"] if trial["valid"] and trial["unaccounted"]]
    (ndr,) = (one for one in case["throughput"] if one["goal"] == "NDR")
    assert ndr["load_pps"] is None or ndr["load_pps"] > 0
