# SPDX-License-Identifier: Apache-2.0
"""The step that runs a lab's own commands in a function, of a chain or of a tenant."""

from __future__ import annotations

from collections.abc import Sequence

from weir.base.si import MS_PER_S
from weir.base.step import Step


def commands_step(
    netns: str,
    node: str,
    lines: Sequence[str],
    *,
    function: str,
    key: str,
    directory: str,
    time_limit_s: float,
) -> Step:
    """`node`: what logs are called after; `function`, `key`: what errors name, of the lab's own words."""
    return Step(
        kind="commands",
        name=f"commands:{node}",
        params={
            "netns": netns,
            "node": node,
            "function": function,
            "key": key,
            "commands": list(lines),
            "directory": directory,
            "time_limit_ms": round(time_limit_s * MS_PER_S),
        },
        text=f"run in {netns}: {'; '.join(lines)}",
        undo_text=f"end what they have started in {netns}",
    )
