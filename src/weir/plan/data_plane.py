# SPDX-License-Identifier: Apache-2.0
"""The step that starts weir-dp, of a chain or of a cloud that is measured."""

from __future__ import annotations

from collections.abc import Sequence

from weir.base.step import Step
from weir.lab.host import Host

SOCKET = "weir-dp.sock"
LOG = "weir-dp.log"


def weir_dp_step(cores: Sequence[int], memory_mb: int, cards: Sequence[str], host: Host, text: str) -> Step:
    """`cards`: PCI addresses that it gets besides those of virtual functions."""
    return Step(
        kind="weir-dp",
        name="weir-dp",
        params={
            "cores": list(cores),
            "memory_mb": memory_mb,
            "pci": list(cards),
            "socket": SOCKET,
            "log": LOG,
            "huge": host.hugepages != "none",
            "huge_required": host.hugepages == "required",
            "pinned": host.pinning,
            "rt": host.rt is not False,
        },
        text=text,
        undo_text="end weir-dp",
    )
