# SPDX-License-Identifier: Apache-2.0
"""How long what a cloud was asked for, and has not answered for, is looked for by the next run."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from weir.verify.drivers.openstack import kinds, removal
from weir.verify.drivers.openstack.connection import REQUEST_S, Cloud
from weir.verify.drivers.openstack.journal import Journal, left

ANYWHERE: dict[str, str] = {}
LOOKS = 6
"""At the last of them the cloud has made it."""


@pytest.mark.parametrize(
    ("given_up", "age_s", "comes"),
    [
        (False, 1.0, True),
        (False, REQUEST_S + 1, True),
        (False, REQUEST_S + removal.UNSURE_S - 2, True),
        (False, REQUEST_S + removal.UNSURE_S + 1, False),
        (True, removal.UNSURE_S - 2, True),
        (True, removal.UNSURE_S + 1, False),
    ],
)
def test_what_a_killed_run_waited_for_is_looked_for_while_its_request_and_a_service_behind_it_may_last(
    *, given_up: bool, age_s: float, comes: bool, journals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = Journal.begin("c0ffee", ANYWHERE)
    killed.announce("network", "weir-c0ffee-own")
    if given_up:
        killed.unanswered("network", "weir-c0ffee-own")
    killed._lock.release(gone=False)
    then_s = time.time() - age_s
    os.utime(killed.path, (then_s, then_s))
    looks: list[str] = []
    removed: list[str] = []

    def found(_cloud: Cloud, one: object, *_: object, **__: object) -> list[str]:
        looks.append(str(one))
        return ["17"] if len(looks) == LOOKS else []

    def delete(id_: str, **_: object) -> None:
        removed.append(id_)

    monkeypatch.setattr(kinds, "found", found)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    (journal,) = left(ANYWHERE)
    network = SimpleNamespace(delete_network=delete)
    removal.remove(
        Cloud(SimpleNamespace(session=SimpleNamespace(), network=network), "a", frozenset()), journal
    )
    assert (len(looks), removed) == ((LOOKS, ["17"]) if comes else (2, []))
    assert list(journals.iterdir()) == []
