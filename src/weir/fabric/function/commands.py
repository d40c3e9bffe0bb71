# SPDX-License-Identifier: Apache-2.0
"""Step kind commands: a lab's own commands in the network namespace of a function."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.base.si import MS_PER_S
from weir.fabric import process, stop_signals
from weir.fabric.errors import FabricError
from weir.fabric.process import log_end
from weir.fabric.step_handlers import Facts, Site
from weir.plan import Step

_LOOK_S = 0.005
_LAST_LINES = 6


class Commands:
    """One after the other. What they leave running belongs to the step, and ends with it."""

    def do(self, step: Step, site: Site) -> Facts:
        """FabricError for the first one that fails, or is not done in time: with its exit code and output."""
        params = step.params
        commands = params["commands"]
        assert isinstance(commands, list)
        limit_s = int(str(params["time_limit_ms"])) / MS_PER_S
        deadline = time.monotonic() + limit_s
        for number, line in enumerate(map(str, commands), 1):
            log = f"{params['node']}.command-{number}.log"
            pid = site.spawn(
                # As `ip netns exec` has it, /sys is the namespace's too.
                ["ip", "netns", "exec", str(params["netns"]), *shlex.split(line)],
                netns=None,
                env={},
                cores=[],
                log=log,
                directory=Path(str(params["directory"])),
            )
            _wait(
                pid,
                f"command {number} of {params['function']}, `{line}`,",
                deadline,
                limit_s,
                site.directory / log,
            )
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends what is left of them."""
        site.end()


def _wait(pid: int, what: str, deadline: float, limit_s: float, log: Path) -> None:
    """Returns when it has ended well."""
    while (code := process.exit_code(pid)) is None:
        if time.monotonic() > deadline:
            raise FabricError(
                f"{what} has not come to its end, and all commands may take {limit_s:g} s: "
                f"{log_end(log, _LAST_LINES)}",
                "raise kernel.commands_time_limit_s, or mend the command",
            )
        stop_signals.check()
        time.sleep(_LOOK_S)
    if code != 0:
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        raise FabricError(
            f"{what} failed with {how}: {log_end(log, _LAST_LINES)}",
            "mend it in kernel.commands; it runs in the function's network namespace, without a shell",
        )
