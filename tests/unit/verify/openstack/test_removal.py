# SPDX-License-Identifier: Apache-2.0
"""What a case made goes again, whatever kind of cloud it was made in."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Playing
from .made_routers import interfaces_of
from .test_healthcheck import standing


@pytest.mark.parametrize(
    "owner",
    [
        "network:router_interface",
        "network:router_interface_distributed",
        "network:ha_router_replicated_interface",
    ],
)
def test_routers_go_with_their_interfaces_whether_they_are_plain_distributed_or_highly_available(
    owner: str, played: Playing, journals: Path
) -> None:
    with played("healthcheck", case="tenantnetwork1", faults=interfaces_of(owner)) as cloud:
        found = cloud.case()
    assert (found.outcome, found.why, found.not_removed) == ("passed", None, None)
    assert cloud.replay.strange == []
    left = [path for method, path in cloud.replay.requests if path.endswith("/remove_router_interface")]
    router = left[0].split("/")[-2]
    assert len(left) == 1
    asked = cloud.replay.requests
    assert asked.index(("PUT", left[0])) < asked.index(("DELETE", f"/network/v2.0/routers/{router}"))
    assert standing(cloud.replay) == set()
    assert list(journals.iterdir()) == []
