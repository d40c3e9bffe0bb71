# SPDX-License-Identifier: Apache-2.0
"""Speaking QMP with QEMU: the threads of its virtual CPUs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from qemu.qmp import QMPClient, QMPError

from weir.fabric.errors import FabricError

ANSWER_S = 20.0


def vcpu_threads(path: Path) -> list[int]:
    """Thread ids of the virtual CPUs, in their order (query-cpus-fast)."""
    answer = execute(path, "query-cpus-fast")
    return [int(cpu["thread-id"]) for cpu in sorted(answer, key=lambda cpu: int(cpu["cpu-index"]))]


def execute(path: Path, command: str, arguments: dict[str, Any] | None = None) -> Any:
    """The answer to one command. FabricError if QEMU refuses it or does not answer."""
    return asyncio.run(_execute(path, command, arguments))


async def _execute(path: Path, command: str, arguments: dict[str, Any] | None) -> Any:
    client = QMPClient("weir")
    try:
        async with asyncio.timeout(ANSWER_S):
            await client.connect(str(path))
            try:
                return await client.execute(command, arguments)
            finally:
                await client.disconnect()
    except (QMPError, OSError, TimeoutError) as error:
        raise FabricError(
            f"QEMU does not do {command}: {error or 'no answer'}", f"its socket: {path}"
        ) from error
