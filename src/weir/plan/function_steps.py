# SPDX-License-Identifier: Apache-2.0
"""Steps of a function, or of an instance, whoever has it: its commands, and what it may take of this host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir.base.si import MS_PER_S
from weir.base.step import Param, Step


def commands_step(
    netns: str,
    node: str,
    lines: Sequence[str],
    *,
    function: str,
    key: str,
    directory: str,
    time_limit_s: float,
    files: Mapping[str, Param] | None = None,
) -> Step:
    """`node`: what logs are called after; `function`, `key`: what errors name, of the lab's own words.
    `files`: of what they come before, which are written first."""
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
            **(files or {}),
        },
        text=f"run in {netns}: {'; '.join(lines)}",
        undo_text=f"end what they have started in {netns}",
    )


def control_group_step(
    node: str,
    netns: str,
    *,
    cores: Sequence[int] = (),
    memory_limit_mb: int,
    processes: int,
    contained: bool = False,
    isolated: Sequence[int] = (),
) -> Step:
    """`memory_limit_mb`: 0 where the machine is to say. `contained`: a container, whose runtime is in it,
    too. `isolated`: CPUs for which the lab asks for a partition."""
    memory = f"{memory_limit_mb} MB" if memory_limit_mb else "half of the available memory"
    return Step(
        kind="control-group",
        name=f"control-group:{node}",
        params={
            "netns": netns,
            "node": node,
            "cores": list(cores),
            "memory_limit_mb": memory_limit_mb,
            "processes": processes,
            "contained": contained,
            "isolated": list(isolated),
            "required": False,
        },
        text=f"limit {node} to {memory} and {processes} processes and threads",
        undo_text="kill all that is left of it, wherever it is",
    )
