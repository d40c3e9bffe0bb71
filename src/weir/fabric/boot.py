# SPDX-License-Identifier: Apache-2.0
"""Which boot of the machine this is: what is known of its cores holds until the next one."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def boot_id(proc: Path = Path("/proc")) -> str:
    """As the kernel tells it; empty where it does not."""
    with suppress(OSError):
        return (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""
