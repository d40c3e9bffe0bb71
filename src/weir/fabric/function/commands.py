# SPDX-License-Identifier: Apache-2.0
"""Step kind commands: a lab's own commands in the network namespace of a function."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.base.si import MS_PER_S
from weir.fabric import ending, process, stop_signals
from weir.fabric.function import program_files
from weir.fabric.function.control_group import group_of
from weir.fabric.program_log import BEGINNING, log_end
from weir.fabric.site import Facts, Site
from weir.lab.kernel import filled
from weir.plan import Step

OUTPUT_BYTES_MAX = 16 << 20
"""Kept of what a command says, and what it leaves running after it."""
# Two steps: else the command, and what it leaves running, would have one more end of what is read.
_LIMITED = f'exec {BEGINNING.format(bytes=OUTPUT_BYTES_MAX)}; exec "$@"'
_LOOK_S, _LAST_WORDS_S = 0.005, 1.0
_LAST_LINES = 6
_MEND = "mend it in {}; it runs in the function's network namespace, without a shell"


class Commands:
    """One after the other. What they leave running in the namespace belongs to the step, and ends with it,
    whatever it has done to its environment and its session."""

    def do(self, step: Step, site: Site) -> Facts:
        """FabricError for the first one that fails, or is not done in time: with its exit code and output."""
        params = step.params
        commands = params["commands"]
        assert isinstance(commands, list)
        limit_s = int(str(params["time_limit_ms"])) / MS_PER_S
        deadline = time.monotonic() + limit_s
        values = program_files.written(params, site) if "file_names" in params else {}
        for number, line in enumerate(map(str, commands), 1):
            log = f"{params['node']}.command-{number}.log"
            own = filled(shlex.split(line), values)
            what = f"command {number} of {params['function']}, `{shlex.join(own)}`,"
            running = run(params, site, ["bash", "-c", _LIMITED, "weir", *own], log)
            running.wait(what, deadline, limit_s, str(params["key"]))
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends what is left of them."""
        site.end()
        group_of(site, params["node"]).end()
        ending.end_inside(params["netns"])


@dataclass(frozen=True)
class Running:
    """A program in a function's namespace."""

    pid: int
    log: Path

    def wait(self, what: str, deadline: float, limit_s: float, key: str, mend: str = _MEND) -> None:
        """Returns when it has ended well. FabricError if it fails, or is not done by `deadline`; `limit_s`:
        what was given to all of them, `key`: where the lab names them."""
        while (code := process.exit_code(self.pid)) is None:
            if time.monotonic() > deadline:
                raise FabricError(
                    f"{what} has not come to its end, and all commands may take {limit_s:g} s: "
                    f"{log_end(self.log, _LAST_LINES)}",
                    f"raise {key}_time_limit_s, or mend the command",
                )
            stop_signals.check()
            time.sleep(_LOOK_S)
        if code != 0:
            self._wait_for_last_words()
            how = f"exit code {code}" if code > 0 else f"signal {-code}"
            said = log_end(self.log, _LAST_LINES)
            raise FabricError(f"{what} failed with {how}: {said}", mend.format(key))

    def _wait_for_last_words(self) -> None:
        """Who reads its output is in its process group; so may be what it has started, which is not waited
        for."""
        deadline = time.monotonic() + _LAST_WORDS_S
        with suppress(ProcessLookupError):
            while time.monotonic() < deadline:
                os.killpg(self.pid, 0)
                time.sleep(_LOOK_S)


def run(params: Mapping[str, Any], site: Site, words: Sequence[str], log: str) -> Running:
    """Starts a program where the function is. `params`: with `netns`, `node` and `directory`."""
    # As `ip netns exec` has it, /sys is the namespace's too.
    argv = ["ip", "netns", "exec", str(params["netns"]), *words]
    directory = Path(str(params["directory"]))
    groups = group_of(site, str(params["node"])).entrances()
    pid = site.spawn(argv, netns=None, env={}, cores=[], log=log, directory=directory, groups=groups)
    return Running(pid, site.directory / log)
