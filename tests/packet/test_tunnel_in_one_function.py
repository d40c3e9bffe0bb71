# SPDX-License-Identifier: Apache-2.0
"""Both ends of N3 in one function: each flow of users' packets stays in order, and the account balances.

Not shared out to workers, which a lab refuses: who brings packets to these asks the gNB, on both ways, and
what comes from the data network is in no tunnel yet.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from weir.measure.accounting import balance, seen
from weir.protocol import DataPlaneClient
from weir.protocol.traffic import TrafficConfigure

from .one_function import Functions, Way, configuration, data_plane, running
from .test_architectures_under_load import FLOWS, ends, finished, streams

FUNCTIONS: Functions = [{"nf": nf, "options": {"sessions": FLOWS}} for nf in ("gnb", "upf")]
WAYS: list[Way] = [
    {"architecture": "run-to-completion"},
    {"architecture": "pipeline"},
    {"architecture": "dispatch", "workers": 1},
]


@pytest.fixture(scope="module")
def client() -> Iterator[DataPlaneClient]:
    with data_plane() as connected:
        yield connected


def reordered(client: DataPlaneClient, way: Way) -> tuple[int, int]:
    """How many packets came out of order in flows from users, and to them; all of them are accounted for."""
    offered = streams()
    for number, stream in enumerate(offered):
        sides = ("src_ip", "dst_ip")
        stream["template"][sides[number >= FLOWS]] = f"10.45.0.{1 + number % FLOWS}"
        stream["frame"] = {"bytes": 128}
    with running(client, configuration(FUNCTIONS, way)):
        client.configure_traffic(TrafficConfigure.model_validate({"streams": offered}))
        before = seen(client.ledger(), ())
        client.start_traffic({one["id"]: 20_000 for one in offered}, 100_000_000, 50_000_000)
        result = finished(client)
        after = seen(client.ledger(), ())
    assert balance(before, after, result, [ends(one) for one in offered]).unaccounted == 0
    assert all(stream.delivered > 0 for stream in result.streams)
    late = [stream.reordered for stream in result.streams]
    return sum(late[:FLOWS]), sum(late[FLOWS:])


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way["architecture"])
def test_flows_of_users_stay_in_order_both_ways(client: DataPlaneClient, way: Way) -> None:
    assert reordered(client, way) == (0, 0)


def test_shared_out_to_workers_downlink_would_not_which_is_why_a_lab_refuses_it(
    client: DataPlaneClient,
) -> None:
    uplink, downlink = reordered(client, {"architecture": "dispatch", "workers": 3})
    assert uplink == 0
    assert downlink > 0
