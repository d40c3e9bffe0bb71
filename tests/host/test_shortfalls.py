# SPDX-License-Identifier: Apache-2.0
"""What a machine cannot show of a tuned host."""

from __future__ import annotations

from pathlib import Path

from weir.fabric.host.reading import facts
from weir.host.facts import shortfalls

from .recorded_machine import planted


def test_a_virtual_machine_lacks_what_is_the_hypervisors(tmp_path: Path) -> None:
    found = shortfalls(facts(planted("virtual-machine", tmp_path)))
    assert {"governor", "c-states", "virtual", "numa"} <= set(found)
    assert "the hypervisor's" in found["governor"]


def test_a_server_lacks_only_what_its_boot_did_not_give_it(tmp_path: Path) -> None:
    found = shortfalls(facts(planted("two-socket-server", tmp_path)))
    assert not {"governor", "c-states", "virtual", "numa"} & set(found)
