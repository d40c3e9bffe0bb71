# SPDX-License-Identifier: Apache-2.0
"""Where tenants lost packets: at devices that they pass, and at no others."""

from __future__ import annotations

import pytest

from tests.report import synthetic
from tests.unit.procedures.tenants.made import mixed
from weir.procedures.tenants import section
from weir.procedures.tenants.section_rows import groups
from weir.procedures.tenants.section_where import QUEUED, UNKNOWN, where
from weir.results.tenants import Senders
from weir.results.trial import Drop

SENDING = Senders(
    tenants=["plain", "c-1"], standing=3, through={"plain": [], "c-1": ["dpi", "shared.shaper"]}
)


def told(place: str, tenant: int, record: Senders = SENDING) -> bool:
    """Whether a loss there is told of that tenant."""
    group = groups(record)[tenant]
    return where([Drop(place=place, reason="queue_full", packets=9)], group, record) != UNKNOWN


@pytest.mark.parametrize("place", ["shared.shaper:eth0", "shared.shaper", "compute1:qvo of shared.shaper"])
def test_a_tenant_off_the_shared_functions_has_lost_nothing_there(place: str) -> None:
    assert not told(place, 0)
    assert told(place, 1)


def test_a_shared_function_that_is_not_in_the_way_has_none_of_the_losses() -> None:
    assert not told("shared.firewall:eth0", 1)


@pytest.mark.parametrize(
    "place",
    ["compute1:qvo of other.1", "other.1:eth0", "other.router", "filter of other", "network:qr3"],
)
def test_devices_of_tenants_in_the_background_are_nobodys_who_sends(place: str) -> None:
    assert not told(place, 0)
    assert not told(place, 1)


@pytest.mark.parametrize(
    "place", ["c-1.1:eth0", "compute1:qvo of c-1.dpi", "c-1.router:qg", "filter of c-1", "network:qr2"]
)
def test_a_tenants_own_devices_are_its_own_alone(place: str) -> None:
    assert told(place, 1)
    assert not told(place, 0)


@pytest.mark.parametrize("place", ["network:eth1", "compute1:openvswitch", "filter of compute1"])
def test_what_all_pass_is_told_of_all(place: str) -> None:
    assert told(place, 0)
    assert told(place, 1)


def test_where_the_ways_are_not_known_shared_functions_are_in_them() -> None:
    assert told("shared.shaper:eth0", 0, Senders(tenants=["a"], standing=1))


def test_the_tables_name_no_function_that_a_tenant_never_passes() -> None:
    lines = section.lines(synthetic.result(setups=[mixed(3, 150e6)]))
    assert [line[-1] for line in lines] == [UNKNOWN, "shared.shaper:eth0 (queue_full) 84%, 1 more place"]


def test_what_no_device_has_dropped_is_in_a_queue() -> None:
    assert where([], groups(SENDING)[0], SENDING) == QUEUED
