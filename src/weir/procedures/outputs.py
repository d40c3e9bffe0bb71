# SPDX-License-Identifier: Apache-2.0
"""What programs of the user's said, kept with the run: a file of each deployment in the run's own folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from weir import fabric
from weir.results.result import ProgramOutput, Setup
from weir.store.files import FileError, write_file

FOLDER = "programs"
"""In the run's folder."""
SETUP_BYTES_MAX = 64 << 20
"""Of all files of one set-up: many rounds, or resumed soaks, do not fill a disk."""
_ODD = re.compile(r"[^A-Za-z0-9._-]+")

ReportFolder = Callable[[str], Path]
"""Where the reports of the run of that id go."""


class OutputKeeper:
    """Of one run."""

    def __init__(self, folder: Path | None, say: Callable[[str], None]) -> None:
        """`folder`: the run's; None: nothing is kept."""
        self._folder = folder
        self._say = say

    def of(self, setup: Setup) -> Callable[[fabric.Deployment], None]:
        """What keeps the output of a deployment that is down; `setup` names its files then."""

        def keep(deployment: fabric.Deployment) -> None:
            for node, said in deployment.outputs.items():
                self._keep(setup, node, said)

        return keep

    def _keep(self, setup: Setup, node: str, said: fabric.Output) -> None:
        before = [one for one in setup.outputs if one.node == node]
        if self._folder is None or not said.end:
            return
        if sum(one.kept_bytes for one in setup.outputs) + len(said.end) > SETUP_BYTES_MAX:
            return
        name = _ODD.sub("_", f"{setup.name}-{setup.chain}-{node}-{len(before) + 1}.log")
        try:
            write_file(
                self._folder / FOLDER / name,
                said.end.decode(errors="replace"),
                "the run itself is in the store",
                folders=True,
            )
        except FileError as error:
            self._say(f"what {node} said is not kept: {error}")
            return
        setup.outputs.append(
            ProgramOutput(
                node=node, file=f"{FOLDER}/{name}", said_bytes=said.said_bytes, kept_bytes=len(said.end)
            )
        )
