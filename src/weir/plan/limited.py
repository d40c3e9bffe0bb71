# SPDX-License-Identifier: Apache-2.0
"""The step that limits what something may take of this host."""

from __future__ import annotations

from collections.abc import Sequence

from weir.base.step import Step


def control_group_step(
    node: str,
    netns: str,
    *,
    cores: Sequence[int] = (),
    memory_limit_mb: int,
    processes: int,
    contained: bool = False,
) -> Step:
    """`memory_limit_mb`: 0 where the machine is to say. `contained`: a container, whose runtime is in it too."""
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
            "required": False,
        },
        text=f"limit {node} to {memory} and {processes} processes and threads",
        undo_text="kill all that is left of it, wherever it is",
    )
